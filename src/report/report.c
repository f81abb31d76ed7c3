/* report.c - choosing a format and rendering in it. */
#include "report/report.h"

#include <string.h>

#include "base/fail.h"
#include "report/page/page.h"

static const struct {
    const char *name, *suffix;
    enum rsc_report_format format;
} formats[] = {
    {"text", ".txt", RSC_REPORT_TEXT},
    {"json", ".json", RSC_REPORT_JSON},
    {"csv", ".csv", RSC_REPORT_CSV},
    {"folded", ".folded", RSC_REPORT_FOLDED},
    {"speedscope", ".speedscope.json", RSC_REPORT_SPEEDSCOPE},
    {"html", ".html", RSC_REPORT_HTML},
};

enum rsc_report_format rsc_report_format_of_path(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name), longest = 0;
    enum rsc_report_format format = RSC_REPORT_NONE;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        size_t suffix = strlen(formats[i].suffix);
        if (suffix > length || suffix <= longest || strcmp(name + length - suffix, formats[i].suffix)) continue;
        longest = suffix; /* x.speedscope.json is not a .json */
        format = formats[i].format;
    }
    return format;
}

enum rsc_report_format rsc_report_format_of_name(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!strcmp(name, formats[i].name)) return formats[i].format;
    return RSC_REPORT_NONE;
}

int rsc_report_render(struct rsc_profile *const *profiles, size_t count, enum rsc_report_format format,
                      const struct rsc_report_style *style, char **text, size_t *bytes, struct rsc_error *error) {
    switch (format) {
    case RSC_REPORT_TEXT: return rsc_report_text(profiles, count, style, text, bytes, error);
    case RSC_REPORT_JSON: return rsc_profiles_json_text(profiles, count, text, bytes, error);
    case RSC_REPORT_CSV: return rsc_report_csv(profiles, count, text, bytes, error);
    case RSC_REPORT_FOLDED: return rsc_report_folded(profiles, count, style, text, bytes, error);
    case RSC_REPORT_SPEEDSCOPE: return rsc_report_speedscope(profiles, count, style, text, bytes, error);
    case RSC_REPORT_HTML: return rsc_report_page(profiles, count, style, text, bytes, error);
    case RSC_REPORT_NONE: break;
    }
    return rsc_fail(error, RSC_EINVAL, "no such report format");
}
