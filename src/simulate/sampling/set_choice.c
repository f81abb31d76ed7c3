/* set_choice.c - see set_choice.h. */
#include "simulate/sampling/set_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/rng.h"

/* ---- parsing ---- */

static int refuse(struct rsc_error *error, const char *text, const char *why) {
    return rsc_fail(error, RSC_EINVAL, "--sample-sets %.60s: %s", text, why);
}

/* LO-HI[=VALUE|=all] */
static int parse_bits(struct rsc_set_choice *choice, const char *bits) {
    uint64_t low, high;
    const char *dash = strchr(bits, '-'), *equals = strchr(bits, '=');
    const char *end = equals ? equals : bits + strlen(bits);
    if (!dash || dash > end || rsc_parse_u64(bits, (size_t)(dash - bits), &low) < 0 ||
        rsc_parse_u64(dash + 1, (size_t)(end - dash - 1), &high) < 0)
        return -1;
    if (low > high || high > 63 || high - low >= RSC_SAMPLE_BITS_MAX) return -1;
    choice->bits_given = 1;
    choice->low = (uint32_t)low;
    choice->width = (uint32_t)(high - low + 1);
    if (!equals) return 0;
    choice->all_values = !strcmp(equals + 1, "all");
    if (choice->all_values) return 0;
    return rsc_parse_u64(equals + 1, strlen(equals + 1), &choice->value) < 0 || choice->value >> choice->width ? -1 : 0;
}

int rsc_set_choice_parse(struct rsc_set_choice *choice, const char *text, struct rsc_error *error) {
    const char *comma = strchr(text, ','), *slash = strchr(text, '/');
    size_t end = comma ? (size_t)(comma - text) : strlen(text);
    *choice = (struct rsc_set_choice){.seed = 1};
    if (!slash || slash != text + 1 || text[0] != '1' || rsc_parse_u64(slash + 1, end - 2, &choice->denominator) < 0 ||
        choice->denominator < 2 || choice->denominator > 1u << RSC_SAMPLE_BITS_MAX)
        return refuse(error, text, "not a fraction of 1/2 or less, as 1/16 or 1/16,random or 1/16,bits:8-11=3");
    if (comma && !strncmp(comma + 1, "random", 6)) {
        const char *seed = comma + 7;
        choice->random = 1;
        if (*seed && (*seed != ':' || rsc_parse_u64(seed + 1, strlen(seed + 1), &choice->seed) < 0))
            return refuse(error, text, "random takes only a seed, as random:7");
        return 0;
    }
    if (comma && !strcmp(comma + 1, "all")) {
        choice->all_values = 1;
    } else if (comma) {
        if (strncmp(comma + 1, "bits:", 5)) return refuse(error, text, "not random, all or bits:LO-HI[=VALUE|=all]");
        if (parse_bits(choice, comma + 6) < 0)
            return refuse(error, text, "not bits:LO-HI[=VALUE|=all] with bits from 0 to 63 and a value they can have");
        if (choice->denominator != 1ull << choice->width)
            return rsc_fail(error, RSC_EINVAL, "--sample-sets %.60s: %u constant bits take 1/%llu of the sets", text,
                            choice->width, 1ull << choice->width);
    }
    if (choice->denominator & (choice->denominator - 1))
        return refuse(error, text,
                      "constant bits take 1/2, 1/4, 1/8 ... of the sets; only random takes other fractions");
    return 0;
}

size_t rsc_set_choice_text(const struct rsc_set_choice *choice, char *text, size_t room) {
    int wrote;
    if (choice->random) wrote = snprintf(text, room, "random sets (seed %llu)", (unsigned long long)choice->seed);
    else
        wrote = snprintf(text, room, "constant bits %u-%u = %llu", choice->low, choice->low + choice->width - 1,
                         (unsigned long long)choice->value);
    return wrote > 0 && (size_t)wrote < room ? (size_t)wrote : 0;
}

/* ---- which bits ---- */

static const char *not_by_sets(const struct rsc_cache_config *cache) {
    if (cache->policy == RSC_POLICY_DRRIP) return "drrip's set dueling makes its sets dependent";
    if (rsc_cache_prefetches(cache)) return "its prefetches fill other sets than the one that missed";
    if (cache->victim_blocks) return "all its sets share a victim cache";
    if (cache->buffer_blocks) return "all its sets share a write buffer";
    return NULL;
}

static uint32_t log2_of(uint64_t power) { return (uint32_t)__builtin_ctzll(power); }

/* Address bits low .. *end - 1 are in the index unchanged. *why is the reason that they end there. */
static void index_bits(const struct rsc_cache_config *cache, uint32_t *low, uint32_t *end, const char **why) {
    uint64_t sets = rsc_cache_sets(cache);
    uint32_t width = log2_of(sets); /* if sets are not a power of two: the largest power of two that divides them */
    *low = log2_of(cache->block_bytes);
    *why = "its index ends there";
    if (cache->indexing == RSC_INDEX_PID) {
        width = width > 8 ? width - 8 : 0;
        *why = "its upper eight index bits are hashed with the process id";
    }
    *end = *low + width;
    if (cache->indexing == RSC_INDEX_PAGES && *end > RSC_SIM_PAGE_SHIFT) {
        *end = RSC_SIM_PAGE_SHIFT > *low ? RSC_SIM_PAGE_SHIFT : *low;
        *why = "its bits above the page offset are translated";
    }
}

static int refuse_dependent(const struct rsc_sim_config *sim, struct rsc_error *error) {
    for (size_t i = 0; i < sim->count; i++) {
        const char *why = not_by_sets(&sim->caches[i]);
        if (why)
            return rsc_fail(error, RSC_EINVAL, "%s cannot be sampled by sets: %s (sample time instead)",
                            sim->caches[i].name, why);
    }
    return 0;
}

int rsc_set_bits(const struct rsc_sim_config *sim, uint32_t *low, uint32_t *width, struct rsc_error *error) {
    uint32_t from = 0, to = 64;
    const char *narrowest = "", *reason = "";
    int status = refuse_dependent(sim, error);
    if (status < 0) return status;
    for (size_t i = 0; i < sim->count; i++) {
        uint32_t first, end;
        const char *why;
        index_bits(&sim->caches[i], &first, &end, &why);
        if (first > from) from = first;
        if (end < to) {
            to = end;
            narrowest = sim->caches[i].name;
            reason = why;
        }
    }
    if (to <= from)
        return rsc_fail(
            error, RSC_EINVAL,
            "no address bit is in the index of every cache: blocks take bits 0-%u, and %s has none from bit %u "
            "on: %s",
            from ? from - 1 : 0, narrowest, to, reason);
    *low = from;
    *width = to - from < RSC_SAMPLE_BITS_MAX ? to - from : RSC_SAMPLE_BITS_MAX;
    return 0;
}

int rsc_set_bits_check(const struct rsc_sim_config *sim, uint32_t low, uint32_t width, struct rsc_error *error) {
    int status = refuse_dependent(sim, error);
    for (size_t i = 0; !status && i < sim->count; i++) {
        const struct rsc_cache_config *cache = &sim->caches[i];
        uint32_t first, end;
        const char *why;
        index_bits(cache, &first, &end, &why);
        if (low < first)
            status = rsc_fail(error, RSC_EINVAL,
                              "a sample by bits %u-%u does not fit %s: bits below %u are inside its blocks", low,
                              low + width - 1, cache->name, first);
        else if (low + width > end)
            status = rsc_fail(error, RSC_EINVAL, "a sample by bits %u-%u does not fit %s beyond bit %u: %s", low,
                              low + width - 1, cache->name, end - 1, why);
    }
    return status;
}

/* ---- a choice and its sample ---- */

int rsc_set_choice_settle(struct rsc_set_choice *choice, const struct rsc_sim_config *sim, struct rsc_error *error) {
    uint32_t low, width;
    if (!choice->random && choice->bits_given) return rsc_set_bits_check(sim, choice->low, choice->width, error);
    int status = rsc_set_bits(sim, &low, &width, error);
    if (status < 0) return status;
    if (choice->random) {
        if ((1ull << width) / choice->denominator < 2)
            return rsc_fail(
                error, RSC_EINVAL,
                "--sample-sets 1/%llu: the caches share index bits %u-%u, %llu sets at the least: too few for a "
                "random sample",
                (unsigned long long)choice->denominator, low, low + width - 1, 1ull << width);
        return 0;
    }
    uint32_t wanted = log2_of(choice->denominator);
    if (wanted > width)
        return rsc_fail(error, RSC_EINVAL,
                        "--sample-sets 1/%llu needs %u bits that every cache indexes with; there are %u (bits %u-%u)",
                        (unsigned long long)choice->denominator, wanted, width, low, low + width - 1);
    choice->low = low;
    choice->width = wanted;
    return 0;
}

/* Draws `wanted` of 2^width values without replacement: a shuffle that stops early. */
static int draw(struct rsc_block_sample *sample, uint64_t wanted, uint64_t seed, struct rsc_error *error) {
    uint64_t count = 1ull << sample->width;
    uint32_t *order = malloc(count * sizeof *order);
    struct rsc_rng rng;
    if (!order) return rsc_fail_memory(error, "sample of sets");
    rsc_rng_seed(&rng, seed, 0);
    for (uint64_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    for (uint64_t i = 0; i < wanted; i++) {
        uint64_t other = i + rsc_rng_below(&rng, count - i);
        uint32_t taken = order[other];
        order[other] = order[i];
        rsc_block_sample_add(sample, taken);
    }
    free(order);
    return 0;
}

int rsc_set_choice_sample(const struct rsc_set_choice *choice, const struct rsc_sim_config *sim,
                          struct rsc_block_sample *sample, struct rsc_error *error) {
    uint32_t low, width;
    if (!choice->random) return rsc_block_sample_init(sample, choice->low, choice->width, choice->value, error);
    int status = rsc_set_bits(sim, &low, &width, error);
    if (!status) status = rsc_block_sample_init(sample, low, width, RSC_UNKNOWN, error);
    if (!status) status = draw(sample, (1ull << width) / choice->denominator, choice->seed, error);
    return status;
}
