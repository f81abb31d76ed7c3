/* pmu_parameters.c - parses "period=5M,registers=4", the parameters after featherlight: on a command line. */
#include <stdio.h>
#include <string.h>

#include "base/key_values.h"
#include "featherlight/simulated_pmu.h"

/* The words a parameter accepts, ending with NULL; a value is the word's index. */
static const char *const spacings[] = {"random", "fixed", NULL};
static const char *const replacements[] = {"reservoir", "naive", NULL};
static const char *const attributions[] = {"censored", "proportional", "since-last", "inverse", "none", NULL};

/* HOTL needs the times of first uses, which are not known here. */
static int take_model(void *into, const char *value, size_t length) {
    struct rsc_pmu_options *options = into;
    int place = rsc_find_word(value, length, rsc_ri_model_names);
    options->estimate.model = (enum rsc_ri_model_kind)place;
    return place < 0 || place == RSC_RI_HOTL ? -1 : 0;
}

#define PLACE(field) offsetof(struct rsc_pmu_options, field), sizeof(((struct rsc_pmu_options *)0)->field)

static const struct rsc_key keys[] = {
    {"period", NULL, PLACE(period), 1, 1ull << 40, NULL, NULL},
    {"registers", NULL, PLACE(registers), 1, RSC_WATCH_SLOTS_MAX, NULL, NULL},
    {"skid", NULL, PLACE(skid), 0, 65536, NULL, NULL},
    {"shadow", NULL, PLACE(shadow), 0, 65536, NULL, NULL},
    {"spacing", NULL, PLACE(fixed), 0, 0, spacings, NULL},
    {"replacement", NULL, PLACE(replacement), 0, 0, replacements, NULL},
    {"attribution", NULL, PLACE(estimate.attribution), 0, 0, attributions, NULL},
    {"rd", "one of statstack, aet, shen", .take = take_model},
    {.name = NULL},
};

int rsc_pmu_parse(struct rsc_pmu_options *options, const char *text, struct rsc_error *error) {
    *options = (struct rsc_pmu_options){.registers = 4, .estimate = {.model = RSC_RI_AET}};
    return rsc_key_values_parse(options, keys, "engine 'featherlight'", text, error);
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
        {options->estimate.model != RSC_RI_AET, "rd", rsc_ri_model_names[options->estimate.model], 0},
    };
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        used = strlen(text);
        if (!rest[i].told) continue;
        if (rest[i].word) snprintf(text + used, bytes - used, ",%s=%s", rest[i].name, rest[i].word);
        else snprintf(text + used, bytes - used, ",%s=%u", rest[i].name, rest[i].number);
    }
}
