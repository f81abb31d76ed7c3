/*
 * profile_json.c - a profile as JSON text (docs/schema/profile.schema.json).
 *
 * Long arrays have one item per line, everything else is compact: a text diff of two
 * profiles then shows only the items that differ. Keys always come in the order of
 * this file, so that equal profiles are equal bytes.
 */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "base/output_file.h"
#include "profile/cost.h"
#include "profile/profile_rows.h"

static void key_number_or_null(struct rsc_json *json, const char *key, double value) {
    rsc_json_key(json, key);
    if (isnan(value)) rsc_json_null(json);
    else rsc_json_double(json, value);
}

/* `bars`: the profile whose rd this is; NULL: another list, which has no error bars. */
static void put_list(struct rsc_json *json, const char *key, const struct rsc_bin *list, size_t count,
                     const struct rsc_profile *bars) {
    rsc_json_newline(json);
    rsc_json_key_array(json, key);
    for (size_t i = 0; i < count; i++) {
        rsc_json_newline(json);
        if (bars && rsc_profile_has_bars(bars)) rsc_json_bars(json, bars, &list[i]);
        else rsc_json_bin(json, list[i].lo, list[i].hi, list[i].count);
    }
    rsc_json_end_lines(json, count);
}

static void put_watching(struct rsc_json *json, const struct rsc_made *made) {
    rsc_json_key_object(json, "overhead");
    key_number_or_null(json, "slowdown", made->overhead);
    rsc_json_key_double(json, "handler_seconds", made->watching.handler_seconds);
    rsc_json_key_u64(json, "samples", made->watching.samples);
    rsc_json_key_u64(json, "traps", made->watching.traps);
    rsc_json_key_u64(json, "dropped", made->watching.dropped);
    rsc_json_key_u64(json, "censored", made->watching.censored);
    rsc_json_object_end(json);
}

static void put_made(struct rsc_json *json, const struct rsc_made *made) {
    rsc_json_newline(json);
    rsc_json_key_object(json, "made");
    rsc_json_key_string(json, "by", made->by ? made->by : "");
    rsc_json_key_string(json, "source", made->source ? made->source : "");
    rsc_json_key_string(json, "model", made->model ? made->model : "single");
    rsc_json_key_u64(json, "line", made->line_bytes);
    rsc_json_key_u64(json, "threads", made->threads);
    rsc_json_key_u64(json, "workers", made->workers);
    rsc_json_key_string(json, "sampling", made->sampling);
    if (made->modelled) rsc_json_key_string(json, "modelled", made->modelled);
    if (made->loop) rsc_json_key_string(json, "loop", made->loop);
    rsc_json_key_array(json, "command");
    for (char **word = made->command; word && *word; word++) rsc_json_string(json, *word);
    rsc_json_array_end(json);
    rsc_json_key_double(json, "seconds", made->seconds);
    if (made->watching.is_known) put_watching(json, made);
    else key_number_or_null(json, "overhead", made->overhead);
    key_number_or_null(json, "coverage", made->coverage);
    if (made->instructions) rsc_json_key_u64(json, "instructions", made->instructions);
    if (made->threads_unseen) rsc_json_key_u64(json, "threads_unseen", made->threads_unseen);
    rsc_json_object_end(json);
}

static void put_bar(struct rsc_json *json, const char *name, const struct rsc_count_bar *bar) {
    if (!bar->is_known) return;
    rsc_json_key_object(json, name);
    rsc_json_key_u64(json, "low", bar->low);
    rsc_json_key_u64(json, "high", bar->high);
    rsc_json_object_end(json);
}

static void put_bars(struct rsc_json *json, const struct rsc_total_bars *bars) {
    if (!bars->cold.is_known && !bars->invalidated.is_known && !bars->distinct.is_known) return;
    rsc_json_newline(json);
    rsc_json_key_object(json, "bars");
    put_bar(json, "cold", &bars->cold);
    put_bar(json, "invalidated", &bars->invalidated);
    put_bar(json, "distinct", &bars->distinct);
    rsc_json_object_end(json);
}

static void put_turns(struct rsc_json *json, const struct rsc_turns *turns) {
    rsc_json_newline(json);
    rsc_json_key_object(json, "turns");
    rsc_json_key_u64(json, "version", 1);
    rsc_json_key_u64(json, "accesses", turns->accesses);
    rsc_json_key_u64(json, "turns", turns->turns);
    rsc_json_key_u64(json, "others", turns->others);
    rsc_json_key_u64(json, "mixed", turns->mixed);
    rsc_json_key_u64(json, "mixed_turns", turns->mixed_turns);
    rsc_json_key_u64(json, "threads", turns->threads);
    rsc_json_key_u64(json, "regular", turns->regular);
    rsc_json_key_u64(json, "grain", turns->grain);
    rsc_json_object_end(json);
}

static void put_totals(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_newline(json);
    rsc_json_key_u64(json, "accesses", profile->accesses);
    rsc_json_key_u64(json, "references", profile->references);
    rsc_json_key_u64(json, "cold", profile->cold);
    rsc_json_key_u64(json, "invalidated", profile->invalidated);
    rsc_json_key_u64(json, "distinct", profile->distinct);
    rsc_json_newline(json);
    rsc_json_key_u64(json, "last_touch", profile->last_touch);
    rsc_json_key_u64(json, "pruned", profile->pruned);
    rsc_json_key_u64(json, "censored", profile->censored);
    if (profile->rd_cap) rsc_json_key_u64(json, "max_distance", profile->rd_cap);
    put_bars(json, &profile->bars);
    if (profile->turns.others) put_turns(json, &profile->turns);
}

/* What a load waits for, and the cycles that all misses cost; those of rows are with them. */
static void put_cost(struct rsc_json *json, const struct rsc_profile *profile) {
    const struct rsc_machine *machine = profile->cost_machine;
    rsc_json_newline(json);
    rsc_json_key_object(json, "cost");
    rsc_json_key_string(json, "machine", machine->name);
    rsc_json_key_string(json, "latencies", rsc_latencies_words(machine));
    rsc_json_key_array(json, "caches");
    for (size_t i = 0; i < machine->level_count; i++) {
        rsc_json_object(json);
        rsc_json_key_string(json, "name", machine->levels[i].name);
        rsc_json_key_u64(json, "bytes", machine->levels[i].size_bytes);
        rsc_json_key_double(json, "cycles", machine->levels[i].cycles);
        rsc_json_key_u64(json, "misses", rsc_profile_misses(profile, rsc_cost_lines(profile, machine, i)));
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    rsc_json_key_double(json, "memory_cycles", machine->memory_cycles);
    rsc_json_key_double(json, "cycles", rsc_cost_of_profile(profile, machine));
    rsc_json_object_end(json);
}

static void put_mrc(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_newline(json);
    rsc_json_key_array(json, "mrc");
    for (size_t i = 0; i < profile->mrc_count; i++) {
        const struct rsc_mrc_point *point = &profile->mrc[i];
        rsc_json_row(json);
        rsc_json_key_u64(json, "lines", point->lines);
        rsc_json_key_u64(json, "bytes", point->bytes);
        rsc_json_key_double(json, "miss_ratio", point->miss_ratio);
        rsc_json_key_double(json, "low", point->low);
        rsc_json_key_double(json, "high", point->high);
        if (profile->requests.miss_ratio) rsc_json_key_double(json, "byte_miss_ratio", profile->requests.miss_ratio[i]);
        if (profile->requests.low) {
            rsc_json_key_double(json, "byte_low", profile->requests.low[i]);
            rsc_json_key_double(json, "byte_high", profile->requests.high[i]);
        }
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->mrc_count);
}

static void put_bins(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_newline(json);
    rsc_json_key_object(json, "bins");
    rsc_json_key_u64(json, "per_octave", profile->bins_per_octave);
    rsc_json_histogram(json, "rd", &profile->rd_binned, profile->rd_cap);
    rsc_json_histogram(json, "ri", &profile->ri_binned, 0);
    rsc_json_object_end(json);
}

void rsc_profile_to_json(const struct rsc_profile *profile, struct rsc_json *json) {
    rsc_json_object(json);
    rsc_json_key_string(json, "schema", "reusescope-profile/1");
    put_made(json, &profile->made);
    put_totals(json, profile);
    if (profile->cost_machine) put_cost(json, profile);
    put_list(json, "rd", profile->rd_list, profile->rd_list_count, profile);
    put_list(json, "ri", profile->ri_list, profile->ri_list_count, NULL);
    put_mrc(json, profile);
    if (rsc_profile_is_requests(profile)) rsc_json_requests(json, profile);
    if (profile->bins_per_octave) put_bins(json, profile);
    rsc_json_rows(json, profile);
    rsc_json_object_end(json);
}

int rsc_profiles_json_text(struct rsc_profile *const *profiles, size_t count, char **text, size_t *bytes,
                           struct rsc_error *error) {
    struct rsc_json json;
    int rc = rsc_profiles_check_rows(profiles, count, error);
    if (rc < 0) return rc;
    rsc_json_init(&json);
    if (count == 1) {
        rsc_profile_to_json(profiles[0], &json);
    } else {
        rsc_json_object(&json);
        rsc_json_key_string(&json, "schema", "reusescope-profiles/1");
        rsc_json_key_array(&json, "profiles");
        for (size_t i = 0; i < count; i++) {
            rsc_json_newline(&json);
            rsc_profile_to_json(profiles[i], &json);
        }
        rsc_json_end_lines(&json, count);
        rsc_json_object_end(&json);
    }
    rc = rsc_json_take(&json, "JSON text of the profile", text, bytes, error);
    if (rc < 0) return rc;
    rc = rsc_profiles_check_size(*text, *bytes, "the profile cannot be written", error);
    if (rc < 0) {
        free(*text);
        *text = NULL;
    }
    return rc;
}

int rsc_profile_json(const struct rsc_profile *profile, char **text, size_t *bytes, struct rsc_error *error) {
    struct rsc_profile *one = (struct rsc_profile *)profile; /* for the array's type; it is not modified */
    return rsc_profiles_json_text(&one, 1, text, bytes, error);
}

void rsc_text_free(char *text) { free(text); }

int rsc_profile_write_json(const struct rsc_profile *profile, const char *path, struct rsc_error *error) {
    char *text = NULL;
    size_t bytes = 0;
    int rc = rsc_profile_json(profile, &text, &bytes, error);
    if (rc) return rc;
    rc = rsc_output_whole(path, text, bytes, 0, error);
    free(text);
    return rc;
}
