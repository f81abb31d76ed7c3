/* report.c - the tables of formats and of kinds of results, and who renders which. */
#include "report/report.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "profile/cost.h"
#include "report/advise/advise.h"
#include "report/compare/accuracy.h"
#include "report/compare/diff.h"
#include "report/page/page.h"
#include "report/results/results.h"
#include "report/source/annotate.h"
#include "report/text/tables.h"

static const struct {
    const char *name, *suffix;
    enum rsc_report_format format;
} formats[] = {
    {"text", ".txt", RSC_REPORT_TEXT},
    {"json", ".json", RSC_REPORT_JSON},
    {"csv", ".csv", RSC_REPORT_CSV},
    {"folded", ".folded", RSC_REPORT_FOLDED},
    {"speedscope", ".speedscope.json", RSC_REPORT_SPEEDSCOPE},
    {"callgrind", ".callgrind", RSC_REPORT_CALLGRIND},
    {"pprof", ".pb.gz", RSC_REPORT_PPROF},
    {"html", ".html", RSC_REPORT_HTML},
    {"sarif", ".sarif", RSC_REPORT_SARIF},
    {"github", "", RSC_REPORT_GITHUB}, /* chosen by name only */
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

const char *rsc_report_format_name(enum rsc_report_format format) {
    size_t i = 0;
    while (formats[i].format != format) i++;
    return formats[i].name;
}

static int profiles_json(const struct rsc_result *result, const struct rsc_report_style *style, char **text,
                         size_t *bytes, struct rsc_error *error) {
    for (size_t i = 0; i < result->count; i++) {
        struct rsc_profile *profile = result->profiles[i];
        profile->cost_machine =
            style && style->costs && rsc_cost_is_known(profile, style->machine) ? style->machine : NULL;
    }
    int status = rsc_profiles_json_text(result->profiles, result->count, text, bytes, error);
    for (size_t i = 0; i < result->count; i++) result->profiles[i]->cost_machine = NULL;
    return status;
}

static int save_profiles(const struct rsc_result *result, const char *path, int keep_old, struct rsc_error *error) {
    return rsc_profiles_save(result->profiles, result->count, path, keep_old, error);
}

/* Loops as profiles; nothing if none was analysed. */
static int save_loops(const struct rsc_result *result, const char *path, int keep_old, struct rsc_error *error) {
    struct rsc_profile **profiles = NULL;
    size_t count;
    int status = rsc_loops_profiles(result->loops, &profiles, &count, error);
    if (!status && count) status = rsc_profiles_save(profiles, count, path, keep_old, error);
    if (profiles) rsc_profiles_free(profiles, count);
    return status;
}

/* A page that shows the JSON of a result other than profiles. */
static int page_of_json(const struct rsc_result *result, const struct rsc_report_style *style, char **text,
                        size_t *bytes, struct rsc_error *error) {
    struct rsc_report_style with = style ? *style : (struct rsc_report_style){0};
    char *json = NULL;
    size_t json_bytes;
    int status = rsc_report_render(result, RSC_REPORT_JSON, style, &json, &json_bytes, error);
    if (status < 0) return status;
    with.page = &(struct rsc_page_extras){.documents = (const char *const *)&json, .document_count = 1};
    status = rsc_report_page(&(struct rsc_result){.kind = RSC_RESULT_PROFILES}, &with, text, bytes, error);
    free(json);
    return status;
}

/* Kinds of results: their formats, and how to save one as a container of profiles (NULL: not possible). */
static const struct {
    rsc_renderer *render[RSC_REPORT_FORMATS];
    int (*save)(const struct rsc_result *result, const char *path, int keep_old, struct rsc_error *error);
} kinds[RSC_RESULT_KINDS] = {
    [RSC_RESULT_PROFILES] = {{[RSC_REPORT_TEXT] = rsc_report_text,
                              [RSC_REPORT_JSON] = profiles_json,
                              [RSC_REPORT_CSV] = rsc_report_csv,
                              [RSC_REPORT_FOLDED] = rsc_report_folded,
                              [RSC_REPORT_SPEEDSCOPE] = rsc_report_speedscope,
                              [RSC_REPORT_CALLGRIND] = rsc_report_callgrind,
                              [RSC_REPORT_PPROF] = rsc_report_pprof,
                              [RSC_REPORT_HTML] = rsc_report_page},
                             save_profiles},
    [RSC_RESULT_SIM] = {{[RSC_REPORT_TEXT] = rsc_sim_text,
                         [RSC_REPORT_JSON] = rsc_sim_json,
                         [RSC_REPORT_CSV] = rsc_sim_csv,
                         [RSC_REPORT_HTML] = page_of_json},
                        NULL},
    [RSC_RESULT_OBJECTS] = {{[RSC_REPORT_TEXT] = rsc_objects_text,
                             [RSC_REPORT_JSON] = rsc_objects_json,
                             [RSC_REPORT_CSV] = rsc_objects_csv,
                             [RSC_REPORT_HTML] = page_of_json},
                            NULL},
    [RSC_RESULT_STUDY] =
        {{[RSC_REPORT_TEXT] = rsc_study_text, [RSC_REPORT_JSON] = rsc_study_json, [RSC_REPORT_HTML] = page_of_json},
         NULL},
    [RSC_RESULT_LOOPS] = {{[RSC_REPORT_TEXT] = rsc_loops_text,
                           [RSC_REPORT_JSON] = rsc_loops_json,
                           [RSC_REPORT_CSV] = rsc_loops_csv,
                           [RSC_REPORT_HTML] = page_of_json},
                          save_loops},
    [RSC_RESULT_DIFF] = {{[RSC_REPORT_TEXT] = rsc_diff_text,
                          [RSC_REPORT_JSON] = rsc_diff_json,
                          [RSC_REPORT_SARIF] = rsc_diff_sarif,
                          [RSC_REPORT_GITHUB] = rsc_diff_github},
                         NULL},
    [RSC_RESULT_ACCURACY] = {{[RSC_REPORT_TEXT] = rsc_accuracy_text, [RSC_REPORT_JSON] = rsc_accuracy_json}, NULL},
    [RSC_RESULT_ADVICE] = {{[RSC_REPORT_TEXT] = rsc_advise_text, [RSC_REPORT_JSON] = rsc_advise_json}, NULL},
    [RSC_RESULT_ANNOTATION] = {{[RSC_REPORT_TEXT] = rsc_annotate_text, [RSC_REPORT_CSV] = rsc_annotate_csv}, NULL},
    [RSC_RESULT_TABLE] = {{[RSC_REPORT_TEXT] = rsc_table_text, [RSC_REPORT_CSV] = rsc_table_csv}, NULL},
};

int rsc_report_renders(enum rsc_result_kind kind, enum rsc_report_format format) {
    assert(kind < RSC_RESULT_KINDS && format < RSC_REPORT_FORMATS);
    return kinds[kind].render[format] != NULL;
}

const char *rsc_report_format_list(enum rsc_result_kind kind, char words[80]) {
    size_t used = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (rsc_report_renders(kind, formats[i].format))
            used += (size_t)snprintf(words + used, 80 - used, "%s%s", used ? ", " : "", formats[i].name);
    assert(used < 80);
    return words;
}

int rsc_report_render(const struct rsc_result *result, enum rsc_report_format format,
                      const struct rsc_report_style *style, char **text, size_t *bytes, struct rsc_error *error) {
    if (!rsc_report_renders(result->kind, format)) return rsc_fail(error, RSC_EINVAL, "no such report format");
    return kinds[result->kind].render[format](result, style, text, bytes, error);
}

int rsc_report_saves(enum rsc_result_kind kind) { return kinds[kind].save != NULL; }

int rsc_report_save(const struct rsc_result *result, const char *path, int keep_old, struct rsc_error *error) {
    assert(rsc_report_saves(result->kind));
    return kinds[result->kind].save(result, path, keep_old, error);
}
