/* time_choice.c - see time_choice.h. */
#include "simulate/sampling/time_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/rng.h"

#define INTERVALS_MAX 65536u /* drawing is quadratic in it */

int rsc_cold_start_named(const char *name) {
    for (int i = 0; i < RSC_START_COUNT; i++)
        if (!strcmp(name, rsc_cold_start_names[i])) return i;
    return -1;
}

static int refuse(struct rsc_error *error, const char *text, const char *why) {
    return rsc_fail(error, RSC_EINVAL, "--sample-time %.60s: %s", text, why);
}

/* Parses one of the words after N,LEN. */
static int take_word(struct rsc_time_choice *choice, const char *word, size_t length) {
    if (length == 10 && !strncmp(word, "systematic", 10)) choice->random = 0;
    else if (length == 12 && !strncmp(word, "instructions", 12)) choice->in_accesses = 0;
    else if (length == 8 && !strncmp(word, "accesses", 8)) choice->in_accesses = 1;
    else if (length >= 6 && !strncmp(word, "random", 6)) {
        choice->random = 1;
        if (length > 6 && (word[6] != ':' || rsc_parse_u64(word + 7, length - 7, &choice->seed) < 0)) return -1;
    } else return -1;
    return 0;
}

int rsc_time_choice_parse(struct rsc_time_choice *choice, const char *text, struct rsc_error *error) {
    const char *at = strchr(text, ',');
    *choice = (struct rsc_time_choice){.seed = 1};
    size_t length = at ? strcspn(at + 1, ",") : 0;
    if (!at || rsc_parse_u64(text, (size_t)(at - text), &choice->intervals) < 0 ||
        rsc_parse_u64(at + 1, length, &choice->length) < 0)
        return refuse(error, text, "not N,LEN[,systematic|random[:SEED]][,accesses], as 30,10M");
    if (!choice->intervals || !choice->length) return refuse(error, text, "N and LEN must be at least 1");
    if (choice->intervals > INTERVALS_MAX) return refuse(error, text, "more than 65536 intervals");
    for (at += 1 + length; *at; at += 1 + length) {
        length = strcspn(at + 1, ",");
        if (take_word(choice, at + 1, length) < 0)
            return refuse(error, text, "after N,LEN: systematic, random[:SEED], instructions or accesses");
        if (!at[1 + length]) break;
    }
    return 0;
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Draws `wanted` of 0 .. count - 1, without replacement and in order (Floyd's method: memory independent of count). */
static void draw(uint64_t *out, uint64_t wanted, uint64_t count, uint64_t seed) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, seed, 0);
    for (uint64_t i = 0; i < wanted; i++) {
        uint64_t top = count - wanted + i, pick = rsc_rng_below(&rng, top + 1);
        for (uint64_t j = 0; j < i; j++)
            if (out[j] == pick) {
                pick = top;
                break;
            }
        out[i] = pick;
    }
    qsort(out, wanted, sizeof *out, ascending);
}

int rsc_time_choice_place(const struct rsc_time_choice *choice, uint64_t total, uint64_t *starts,
                          struct rsc_error *error) {
    const uint64_t n = choice->intervals, length = choice->length;
    if (length > total || n > total / length)
        return rsc_fail(error, RSC_EINVAL, "--sample-time: %llu intervals of %llu %s do not fit in a trace of %llu",
                        (unsigned long long)n, (unsigned long long)length,
                        choice->in_accesses ? "accesses" : "instructions", (unsigned long long)total);
    if (choice->random) {
        draw(starts, n, total / length, choice->seed);
        for (uint64_t i = 0; i < n; i++) starts[i] *= length;
        return 0;
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t begin = (uint64_t)((unsigned __int128)total * i / n);
        uint64_t end = (uint64_t)((unsigned __int128)total * (i + 1) / n);
        starts[i] = begin + (end - begin - length) / 2;
    }
    return 0;
}
