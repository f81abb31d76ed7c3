/* advise_text.c - advice as text and as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "profile/pair_ancestor.h"
#include "report/advise/advise.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"
#include "report/ranking.h"

const char *rsc_sureness_words(enum rsc_sureness sure) {
    static const char *const words[] = {"low", "medium", "high"};
    return words[sure];
}

void rsc_advice_gain_words(const struct rsc_advice *advice, uint64_t size_bytes, const struct rsc_machine *machine,
                           char words[RSC_ADVICE_TEXT]) {
    const struct rsc_advice_gain *gain = &advice->gain;
    size_t used = (size_t)snprintf(words, RSC_ADVICE_TEXT, "Up to %s misses in %s", rsc_show_short(gain->misses).text,
                                   rsc_show_bytes(size_bytes).text);
    for (size_t i = 0; machine && i < machine->level_count && used < RSC_ADVICE_TEXT; i++)
        if (gain->at[i] && machine->levels[i].size_bytes != size_bytes)
            used += (size_t)snprintf(words + used, RSC_ADVICE_TEXT - used, ", %s in %s",
                                     rsc_show_short(gain->at[i]).text, machine->levels[i].name);
    if (gain->cycles >= 1 && used < RSC_ADVICE_TEXT)
        used += (size_t)snprintf(words + used, RSC_ADVICE_TEXT - used, "; they wait about %s cycles",
                                 rsc_show_short((uint64_t)gain->cycles).text);
    if (used < RSC_ADVICE_TEXT) snprintf(words + used, RSC_ADVICE_TEXT - used, ".");
}

static void put_gain(struct rsc_text *text, const struct rsc_advice *advice, const struct rsc_advices *advices,
                     const struct rsc_report_style *style) {
    char words[RSC_ADVICE_TEXT];
    if (!advice->gain.is_known) return;
    rsc_advice_gain_words(advice, advices->size_bytes, style->machine, words);
    rsc_text_put(text, "   gain: ");
    rsc_text_paragraph(text, 9, style->width, words);
}

/* Source lines are cut to the width. */
static void put_change(struct rsc_text *text, const char *change, unsigned width) {
    for (int first = 1; *change; first = 0) {
        size_t length = strcspn(change, "\n");
        rsc_text_put(text, "%s", first ? "   code: " : "         ");
        unsigned room = width > text->column ? width - text->column : 0;
        rsc_text_tint(text, RSC_DIM);
        rsc_text_put(text, "%.*s", (int)(length < room ? length : room), change);
        rsc_text_tint(text, RSC_PLAIN);
        rsc_text_put(text, "\n");
        change += length + (change[length] == '\n');
    }
}

/* Advice of earlier profiles, which is not repeated for another model of the same run. */
#define SAID_MOST 64u
struct said {
    size_t count;
    struct {
        const char *rule;
        const struct rsc_place *place;
    } items[SAID_MOST];
};

static void say(struct said *said, const struct rsc_advice *advice) {
    if (said->count == SAID_MOST || !advice->place) return;
    said->items[said->count].rule = advice->rule;
    said->items[said->count++].place = advice->place;
}

static int was_said(const struct said *said, size_t count, const struct rsc_advice *advice) {
    for (size_t i = 0; i < count; i++)
        if (advice->place && said->items[i].rule == advice->rule &&
            !rsc_place_compare(said->items[i].place, advice->place))
            return 1;
    return 0;
}

static int put_profile(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style,
                       struct said *said) {
    struct rsc_advices advices;
    char sure[RSC_ADVICE_TEXT + 16];
    int status = rsc_advise(&advices, profile, style);
    if (status < 0) return status;
    if (!advices.count)
        rsc_text_put(text, "Nothing to advise for a cache of %s.\n", rsc_show_bytes(advices.size_bytes).text);
    else rsc_text_put(text, "For a cache of %s:\n", rsc_show_bytes(advices.size_bytes).text);
    size_t before = said->count, again = 0;
    for (size_t i = 0; i < advices.count; i++) {
        const struct rsc_advice *advice = &advices.items[i];
        if (was_said(said, before, advice)) {
            again++;
            continue;
        }
        say(said, advice);
        rsc_text_put(text, "\n ");
        rsc_text_tint(text, RSC_BOLD);
        rsc_text_put(text, "%s", advice->title);
        rsc_text_tint(text, RSC_DIM);
        rsc_text_put(text, "  [%s]", advice->rule);
        rsc_text_tint(text, RSC_PLAIN);
        rsc_text_put(text, "\n   seen: ");
        rsc_text_paragraph(text, 9, style->width, advice->evidence);
        rsc_text_put(text, "   try:  ");
        rsc_text_paragraph(text, 9, style->width, advice->attempt);
        put_gain(text, advice, &advices, style);
        rsc_text_put(text, "   sure: ");
        snprintf(sure, sizeof sure, "%s; %s.", rsc_sureness_words(advice->sure), advice->why_sure);
        rsc_text_paragraph(text, 9, style->width, sure);
        put_change(text, advice->change, style->width);
    }
    if (again)
        rsc_text_put(text, "\n %s\n", again == advices.count ? "The same as before." : "And the rest as before.");
    rsc_advices_free(&advices);
    return 0;
}

int rsc_advise_text(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                    struct rsc_error *error) {
    struct rsc_profile *const *profiles = result->profiles;
    struct rsc_report_style settled = *style;
    struct rsc_text out;
    struct said said = {.count = 0};
    int status = 0;
    if (settled.width < RSC_REPORT_WIDTH_MIN) settled.width = RSC_REPORT_WIDTH_MIN;
    rsc_text_init(&out, settled.unicode, settled.colour);
    for (size_t i = 0; !status && i < result->count; i++) {
        if (result->count > 1)
            rsc_text_put(&out, "%sProfile %zu%s: ", i ? "\n" : "", i + 1,
                         profiles[i]->made.loop ? "" : rsc_show_model(profiles[i]->made.model));
        if (profiles[i]->made.loop) {
            rsc_text_foreign(&out, profiles[i]->made.loop, 40);
            rsc_text_put(&out, ", %s: ", rsc_show_threads(profiles[i]->made.threads).text);
        }
        status = put_profile(&out, profiles[i], &settled, &said);
    }
    int taken = rsc_text_take(&out, text, bytes);
    if (status < 0 && !taken) free(*text);
    return status < 0 || taken < 0 ? rsc_fail_memory(error, "advice") : 0;
}

static void put_place(struct rsc_json *json, const char *key, const struct rsc_place *place) {
    rsc_json_key(json, key);
    if (!place) {
        rsc_json_null(json);
        return;
    }
    rsc_json_object(json);
    rsc_json_key_string(json, "function", place->function);
    rsc_json_key_string(json, "file", place->file);
    rsc_json_key_u64(json, "line", place->line);
    rsc_json_object_end(json);
}

static void put_loop(struct rsc_json *json, const struct rsc_profile *profile, uint32_t loop) {
    put_place(json, "loop", loop ? &profile->loops[loop - 1].place : NULL);
}

/* What it gains, at the size and in the machine's caches. */
static void put_json_gain(struct rsc_json *json, const struct rsc_advice *advice, const struct rsc_machine *machine) {
    rsc_json_key(json, "gain");
    if (!advice->gain.is_known) {
        rsc_json_null(json);
        return;
    }
    rsc_json_object(json);
    rsc_json_key_u64(json, "misses", advice->gain.misses);
    rsc_json_key_array(json, "caches");
    for (size_t i = 0; machine && i < machine->level_count; i++) {
        rsc_json_object(json);
        rsc_json_key_string(json, "name", machine->levels[i].name);
        rsc_json_key_u64(json, "bytes", machine->levels[i].size_bytes);
        rsc_json_key_u64(json, "misses", advice->gain.at[i]);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    if (advice->gain.cycles > 0) rsc_json_key_double(json, "cycles", advice->gain.cycles);
    rsc_json_object_end(json);
}

/* The pairs it is about, and their common ancestor. */
static void put_pairs(struct rsc_json *json, const struct rsc_profile *profile, const struct rsc_advice *advice) {
    rsc_json_key_array(json, "pairs");
    for (size_t i = 0; i < advice->pair_count; i++) {
        const struct rsc_advice_pair *pair = &advice->pairs[i];
        struct rsc_pair_ancestor common = rsc_pair_ancestor(profile, pair->row);
        rsc_json_object(json);
        rsc_json_key_double(json, "share", pair->share);
        rsc_json_key_u64(json, "median_lines", pair->median_lines);
        put_place(json, "use", &pair->row->use);
        put_place(json, "reuse", &pair->row->reuse);
        put_loop(json, profile, common.around);
        rsc_json_key_string(json, "object", pair->row->object);
        if (pair->row->latency > 0) rsc_json_key_double(json, "latency", pair->row->latency);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

int rsc_advise_json(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                    struct rsc_error *error) {
    struct rsc_profile *const *profiles = result->profiles;
    struct rsc_json json;
    int status = 0;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-advice/1");
    rsc_json_key_array(&json, "profiles");
    for (size_t i = 0; !status && i < result->count; i++) {
        struct rsc_advices advices;
        status = rsc_advise(&advices, profiles[i], style);
        if (status < 0) break;
        rsc_json_row(&json);
        if (profiles[i]->made.loop) {
            rsc_json_key_string(&json, "loop", profiles[i]->made.loop);
            rsc_json_key_u64(&json, "threads", profiles[i]->made.threads);
        }
        rsc_json_key_u64(&json, "cache_bytes", advices.size_bytes);
        rsc_json_key_array(&json, "advice");
        for (size_t a = 0; a < advices.count; a++) {
            const struct rsc_advice *advice = &advices.items[a];
            rsc_json_row(&json);
            rsc_json_key_string(&json, "rule", advice->rule);
            rsc_json_key_double(&json, "share", advice->share);
            rsc_json_key_string(&json, "evidence", advice->evidence);
            rsc_json_key_string(&json, "try", advice->attempt);
            put_json_gain(&json, advice, style->machine);
            rsc_json_key_string(&json, "sure", rsc_sureness_words(advice->sure));
            rsc_json_key_string(&json, "sure_because", advice->why_sure);
            rsc_json_key_string(&json, "change", advice->change[0] ? advice->change : NULL);
            put_place(&json, "place", advice->place);
            put_place(&json, "used_before", advice->other);
            put_loop(&json, profiles[i], advice->loop);
            rsc_json_key(&json, "pays_below_bytes");
            if (advice->pays_below) rsc_json_u64(&json, advice->pays_below);
            else rsc_json_null(&json);
            put_pairs(&json, profiles[i], advice);
            rsc_json_object_end(&json);
        }
        rsc_json_array_end(&json);
        rsc_json_object_end(&json);
        rsc_advices_free(&advices);
    }
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    if (status < 0) {
        rsc_json_free(&json);
        return rsc_fail_memory(error, "advice");
    }
    return rsc_json_take(&json, "advice", text, bytes, error);
}
