/* units.c - numbers for people: bytes, counts, percentages, times. */
#include "report/draw/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct rsc_shown rsc_show_threads(uint64_t threads) {
    struct rsc_shown shown;
    snprintf(shown.text, sizeof shown.text, "%.30s thread%s", rsc_show_count(threads).text, threads == 1 ? "" : "s");
    return shown;
}

uint64_t rsc_lines_to_bytes(uint64_t lines, uint64_t line_bytes) {
    uint64_t bytes;
    return __builtin_mul_overflow(lines, line_bytes, &bytes) ? UINT64_MAX : bytes;
}

/* Three significant digits without trailing zeros: 1.25, 12.5, 48, 1023. */
static void three_digits(double value, char *text, size_t room) {
    snprintf(text, room, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    if (!strchr(text, '.')) return;
    size_t length = strlen(text);
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    text[length] = 0;
}

struct rsc_shown rsc_show_bytes(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct rsc_shown shown;
    double value = (double)bytes;
    unsigned unit = 0;
    while (value >= 1023.5 && unit < 6) {
        value /= 1024;
        unit++;
    }
    char number[24];
    three_digits(value, number, sizeof number);
    snprintf(shown.text, sizeof shown.text, "%s %s", number, units[unit]);
    return shown;
}

struct rsc_shown rsc_show_count(uint64_t count) {
    struct rsc_shown shown;
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *to = shown.text;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return shown;
}

struct rsc_shown rsc_show_cycles(double cycles) {
    return rsc_show_short(cycles < 1e19 ? (uint64_t)cycles : 10000000000000000000ull);
}

struct rsc_shown rsc_show_short(uint64_t count) {
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    if (count < 10000) return rsc_show_count(count);
    struct rsc_shown shown;
    double value = (double)count;
    unsigned unit = 0;
    while (value >= 999.5) {
        value /= 1000;
        unit++;
    }
    snprintf(shown.text, sizeof shown.text, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
    return shown;
}

struct rsc_shown rsc_show_percent(double ratio) {
    struct rsc_shown shown;
    double percent = ratio * 100;
    char number[24];
    if (percent > 99.95 && percent < 100) snprintf(number, sizeof number, "> 99.9");
    else if (percent > 0 && percent < 0.001) snprintf(number, sizeof number, "< 0.001");
    else if (percent > 0 && percent < 0.1) snprintf(number, sizeof number, "%.3f", percent);
    else three_digits(percent, number, sizeof number);
    snprintf(shown.text, sizeof shown.text, "%s %%", number);
    return shown;
}

struct rsc_shown rsc_show_share(double ratio) {
    struct rsc_shown shown;
    double percent = ratio * 100;
    if (percent > 0 && percent < 0.05) snprintf(shown.text, sizeof shown.text, "<0.1 %%");
    else if (percent > 99.95 && percent < 100) snprintf(shown.text, sizeof shown.text, ">99.9 %%");
    else snprintf(shown.text, sizeof shown.text, "%.1f %%", percent);
    return shown;
}

struct rsc_shown rsc_show_seconds(double seconds) {
    struct rsc_shown shown;
    char number[24];
    if (seconds >= 120) {
        double minutes = floor(seconds / 60);
        snprintf(shown.text, sizeof shown.text, "%.0f min %.0f s", minutes, floor(seconds - 60 * minutes));
        return shown;
    }
    double scale = seconds >= 1 || seconds <= 0 ? 1 : seconds >= 1e-3 ? 1e3 : 1e6;
    three_digits(seconds * scale, number, sizeof number);
    snprintf(shown.text, sizeof shown.text, "%s %s", number, scale == 1 ? "s" : scale == 1e3 ? "ms" : "us");
    return shown;
}

const char *rsc_show_model(const char *model) {
    if (!model) return "";
    return !strcmp(model, "private")  ? " (one cache per thread)"
           : !strcmp(model, "shared") ? " (one cache for all threads)"
                                      : "";
}
