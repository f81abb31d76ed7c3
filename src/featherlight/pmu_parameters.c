/* pmu_parameters.c - "period=5M,registers=4": what stands behind featherlight: on a command line. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "featherlight/simulated_pmu.h"

#define PERIOD_MAX (1ull << 40)
#define LATE_MAX 65536u /* of skid and shadow */

/* Words a parameter takes, ending with NULL; a value is its place. */
static const char *const spacings[] = {"random", "fixed", NULL};
static const char *const replacements[] = {"reservoir", "naive", NULL};
static const char *const attributions[] = {"censored", "proportional", "inverse", "none", NULL};
static const char *const models[] = {"statstack", "aet", "hotl", "shen", NULL}; /* as enum rsc_ri_model_kind */

static int find_word(const char *const *words, const char *text, size_t length) {
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], text, length)) return i;
    return -1;
}

static int take_number(const char *name, const char *value, size_t length, uint64_t low, uint64_t high,
                       uint64_t *number, struct rsc_error *error) {
    if (rsc_parse_u64(value, length, number) == 0 && *number >= low && *number <= high) return 0;
    return rsc_fail(error, RSC_EINVAL, "engine 'featherlight': %s=%.*s: not a number from %llu to %llu", name,
                    length < 40 ? (int)length : 40, value, (unsigned long long)low, (unsigned long long)high);
}

static int take_word(const char *name, const char *value, size_t length, const char *const *words, int *place,
                     struct rsc_error *error) {
    *place = find_word(words, value, length);
    if (*place >= 0 && strcmp(words[*place], "hotl")) return 0;
    char list[100] = "";
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], "hotl")) continue; /* a model that needs when words were first used */
        if (list[0]) strncat(list, ", ", sizeof list - strlen(list) - 1);
        strncat(list, words[i], sizeof list - strlen(list) - 1);
    }
    return rsc_fail(error, RSC_EINVAL, "engine 'featherlight': %s=%.*s: not one of %s", name,
                    length < 40 ? (int)length : 40, value, list);
}

static int take_parameter(struct rsc_pmu_options *options, const char *text, size_t length, struct rsc_error *error) {
    static const char *const names[] = {"period",      "registers",   "skid", "shadow", "spacing",
                                        "replacement", "attribution", "rd",   NULL};
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : length;
    int which = equals ? find_word(names, text, name_length) : -1, place = 0;
    uint64_t number = 0;
    if (which < 0)
        return rsc_fail(
            error, RSC_EINVAL,
            "engine 'featherlight': '%.*s': not one of period=, registers=, skid=, shadow=, spacing=, replacement=, attribution=, rd=",
            length < 40 ? (int)length : 40, text);
    const char *value = equals + 1, *name = names[which];
    size_t bytes = length - name_length - 1;
    int status = 0;
    switch (which) {
    case 0: return take_number(name, value, bytes, 1, PERIOD_MAX, &options->period, error);
    case 1:
        status = take_number(name, value, bytes, 1, RSC_WATCH_SLOTS_MAX, &number, error);
        if (status == 0) options->registers = (uint32_t)number;
        return status;
    case 2:
        status = take_number(name, value, bytes, 0, LATE_MAX, &number, error);
        if (status == 0) options->skid = (uint32_t)number;
        return status;
    case 3:
        status = take_number(name, value, bytes, 0, LATE_MAX, &number, error);
        if (status == 0) options->shadow = (uint32_t)number;
        return status;
    case 4:
        status = take_word(name, value, bytes, spacings, &place, error);
        if (status == 0) options->fixed = place;
        return status;
    case 5:
        status = take_word(name, value, bytes, replacements, &place, error);
        if (status == 0) options->replacement = (enum rsc_watch_replacement)place;
        return status;
    case 6:
        status = take_word(name, value, bytes, attributions, &place, error);
        if (status == 0) options->estimate.attribution = (enum rsc_attribution_kind)place;
        return status;
    default:
        status = take_word(name, value, bytes, models, &place, error);
        if (status == 0) options->estimate.model = (enum rsc_ri_model_kind)place;
        return status;
    }
}

int rsc_pmu_parse(struct rsc_pmu_options *options, const char *text, struct rsc_error *error) {
    *options = (struct rsc_pmu_options){.registers = 4, .estimate = {.model = RSC_RI_AET}};
    while (text) {
        size_t length = strcspn(text, ",");
        int status = take_parameter(options, text, length, error);
        if (status < 0) return status;
        text = text[length] ? text + length + 1 : NULL;
    }
    return 0;
}

void rsc_pmu_name(const struct rsc_pmu_options *options, char *text, size_t bytes) {
    size_t used;
    if (options->period)
        snprintf(text, bytes, "featherlight:period=%llu,registers=%u", (unsigned long long)options->period,
                 options->registers);
    else snprintf(text, bytes, "featherlight:registers=%u", options->registers);
    const struct {
        int told;
        const char *name;
        const char *word; /* NULL: the number */
        uint32_t number;
    } rest[] = {
        {options->skid != 0, "skid", NULL, options->skid},
        {options->shadow != 0, "shadow", NULL, options->shadow},
        {options->fixed, "spacing", spacings[options->fixed], 0},
        {options->replacement != RSC_REPLACE_RESERVOIR, "replacement", replacements[options->replacement], 0},
        {options->estimate.attribution != RSC_ATTRIBUTE_CENSORED, "attribution",
         attributions[options->estimate.attribution], 0},
        {options->estimate.model != RSC_RI_AET, "rd", models[options->estimate.model], 0},
    };
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        used = strlen(text);
        if (!rest[i].told) continue;
        if (rest[i].word) snprintf(text + used, bytes - used, ",%s=%s", rest[i].name, rest[i].word);
        else snprintf(text + used, bytes - used, ",%s=%u", rest[i].name, rest[i].number);
    }
}
