/*
 * engine_requests_shards.c - miss ratio curves of caches of whole objects from a sample
 * of objects, with error bars (SHARDS with sizes).
 *
 * Objects are chosen by hash (shards/line_choice.h), at rate R. A distance counted in
 * bytes of chosen objects represents 1/R times as many bytes, plus the object's own size;
 * a request represents 1/R requests. As in SHARDS-adj, what the chosen requests lack (or
 * exceed) goes to the smallest distances: misses(c) = misses of the chosen / R.
 *
 * Error bars: the chosen objects fall into GROUPS groups by further bits of the hash, and
 * each group has a stack of its own at rate R/GROUPS. These are independent estimates of
 * the same curves; their spread, over the root of their number, gives Student's interval
 * around the estimate of all. Sizes with heavy tails need no model of their own this way.
 * A bar is never narrower than one chosen object more or less would make it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "distance/engine_kind.h"
#include "distance/requests/byte_stack.h"
#include "distance/shards/engine_shards.h"
#include "distance/shards/kept_sum.h"
#include "estimate/statistics.h"
#include "profile/profile_rows.h"

#define GROUPS 16u /* a power of two */
#define BLOCK 1024u

/* The chosen requests of one stack. */
struct sample {
    struct rsc_byte_stack stack;
    double scale; /* bytes and requests that one stands for */
    struct rsc_histogram rd, rd_bytes;
    uint64_t cold, cold_bytes;
    uint32_t count; /* in the block */
    uint64_t object[BLOCK];
    uint32_t size[BLOCK];
};

struct requests_shards {
    struct rsc_line_choice choice;
    double confidence;
    uint64_t seed;
    uint64_t requests, requested, threads;
    uint64_t kept;
    struct rsc_histogram ri; /* in requests of the whole trace */
    uint64_t above[BLOCK], interval[BLOCK];
    struct rsc_u64_table last; /* chosen object -> time of its last request + 1 */
    struct sample samples[GROUPS + 1]; /* the last is of all */
};

static void destroy(void *state) {
    struct requests_shards *engine = state;
    if (!engine) return;
    for (uint32_t g = 0; g <= GROUPS; g++) {
        rsc_byte_stack_free(&engine->samples[g].stack);
        rsc_histogram_free(&engine->samples[g].rd);
        rsc_histogram_free(&engine->samples[g].rd_bytes);
    }
    rsc_u64_table_free(&engine->last);
    rsc_histogram_free(&engine->ri);
    free(engine);
}

static int parse(void *parameters, const char *text, struct rsc_error *error) {
    struct rsc_shards_parameters *wanted = parameters;
    if (text && rsc_parse_rate(text, strlen(text), &wanted->rate) == 0) return 0;
    return rsc_fail(error, RSC_EINVAL,
                    "engine 'requests-shards': a rate above 0 and up to 1 is missing, such as requests-shards:0.01");
}

static int create(void **state, const struct rsc_engine_options *options, const void *parameters,
                  struct rsc_error *error) {
    struct requests_shards *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "requests-shards engine");
    rsc_line_choose(&engine->choice, ((const struct rsc_shards_parameters *)parameters)->rate, options->seed);
    engine->seed = options->seed;
    engine->confidence = options->confidence;
    int failed = rsc_histogram_init(&engine->ri, RSC_BINS_FINE) < 0 || rsc_u64_table_init(&engine->last, 1024) < 0;
    for (uint32_t g = 0; !failed && g <= GROUPS; g++) {
        struct sample *sample = &engine->samples[g];
        sample->scale = (g < GROUPS ? GROUPS : 1) / engine->choice.rate;
        failed = rsc_histogram_init(&sample->rd, RSC_BINS_FINE) < 0 ||
                 rsc_histogram_init(&sample->rd_bytes, RSC_BINS_FINE) < 0 ||
                 rsc_byte_stack_init(&sample->stack, g < GROUPS ? 4096 : 0) < 0;
    }
    if (failed) {
        destroy(engine);
        return rsc_fail_memory(error, "requests-shards engine");
    }
    *state = engine;
    return 0;
}

/* ---- requests ---- */

static int run_block(struct requests_shards *engine, struct sample *sample) {
    if (rsc_byte_stack_run(&sample->stack, sample->object, sample->size, sample->count, engine->above,
                           engine->interval) < 0)
        return RSC_ENOMEM;
    for (uint32_t i = 0; i < sample->count; i++) {
        uint64_t size = sample->size[i];
        if (engine->above[i] == RSC_BYTES_COLD) {
            sample->cold++;
            sample->cold_bytes += size;
            continue;
        }
        double distance = (double)engine->above[i] * sample->scale + (double)(size - 1);
        uint32_t bin = rsc_bin_of_fine(distance < 0x1p62 ? (uint64_t)distance : (uint64_t)1 << 62);
        sample->rd.count[bin]++;
        sample->rd_bytes.count[bin] += size;
    }
    sample->count = 0;
    return 0;
}

/* Counts the interval since the object's last request. */
static int note_interval(struct requests_shards *engine, uint64_t object) {
    struct rsc_u64_entry *entry = rsc_u64_table_find(&engine->last, object);
    if (!entry->value) {
        if (rsc_u64_table_needs_rebuild(&engine->last)) {
            if (rsc_u64_table_rebuild(&engine->last) < 0) return RSC_ENOMEM;
            entry = rsc_u64_table_find(&engine->last, object);
        }
        entry->key = object;
        engine->last.used++;
    } else {
        engine->ri.count[rsc_bin_of_fine(engine->requests + 1 - entry->value)]++;
    }
    entry->value = engine->requests + 1;
    return 0;
}

static int keep(struct requests_shards *engine, uint64_t object, uint32_t size, uint64_t hash) {
    struct sample *both[] = {&engine->samples[rsc_hash_group(hash, GROUPS)], &engine->samples[GROUPS]};
    engine->kept++;
    if (note_interval(engine, object) < 0) return RSC_ENOMEM;
    for (int i = 0; i < 2; i++) {
        both[i]->object[both[i]->count] = object;
        both[i]->size[both[i]->count++] = size;
        if (both[i]->count == BLOCK && run_block(engine, both[i]) < 0) return RSC_ENOMEM;
    }
    return 0;
}

static int push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct requests_shards *engine = state;
    for (uint32_t i = 0; i < batch->count; i++, engine->requests++) {
        uint64_t meta = batch->meta[i], hash = rsc_line_hash(batch->addr[i], engine->choice.offset);
        uint32_t size = rsc_meta_size(meta) ? rsc_meta_size(meta) : 1;
        engine->requested += size;
        if ((meta >> 40) + 1 > engine->threads) engine->threads = (meta >> 40) + 1;
        if (engine->requested > INT64_MAX)
            return rsc_fail(error, RSC_ELIMIT, "requests-shards engine: more than 8 EiB were requested");
        if (hash <= engine->choice.limit && keep(engine, batch->addr[i], size, hash) < 0)
            return rsc_fail_memory(error, "requests-shards engine");
    }
    return 0;
}

/* ---- the profile ---- */

/* Scaled counts that sum to `total`. */
static int settle(const struct rsc_histogram *counts, double scale, uint64_t total, struct rsc_histogram *into) {
    double *scaled = malloc(counts->bin_count * sizeof *scaled);
    if (!scaled) return RSC_ENOMEM;
    for (uint32_t bin = 0; bin < counts->bin_count; bin++) scaled[bin] = (double)counts->count[bin] * scale;
    rsc_kept_settle(scaled, counts->bin_count, total, into);
    free(scaled);
    return 0;
}

static uint64_t scale_up(uint64_t count, double scale, uint64_t most) {
    double value = (double)count * scale + 0.5;
    return value < (double)most ? (uint64_t)value : most;
}

/* The groups' missed shares at falling cache sizes. */
struct tails {
    const struct requests_shards *engine;
    int bytes; /* of bytes, else of requests */
    uint32_t bin;
    double missed[GROUPS], whole, quantile, least;
};

static void begin_tails(struct tails *tails, const struct requests_shards *engine, int bytes) {
    *tails = (struct tails){.engine = engine, .bytes = bytes, .bin = engine->ri.bin_count};
    tails->whole = (double)(bytes ? engine->requested : engine->requests);
    tails->quantile = rsc_student_quantile(0.5 + engine->confidence / 200, GROUPS - 1);
    double objects = (double)engine->last.used, mean = objects ? (double)engine->kept / objects : 1;
    tails->least = bytes ? 0 : mean / engine->choice.rate / tails->whole;
    for (uint32_t g = 0; g < GROUPS; g++)
        tails->missed[g] = (double)(bytes ? engine->samples[g].cold_bytes : engine->samples[g].cold);
}

/* The bar of the estimate `ratio` at a cache of `size` bytes; sizes must fall from call to call. */
static void bar_at(struct tails *tails, uint64_t size, double ratio, double *low, double *high) {
    double sum = 0, squares = 0;
    while (tails->bin && rsc_bin_lo(RSC_BINS_FINE, tails->bin - 1) >= size) {
        tails->bin--;
        for (uint32_t g = 0; g < GROUPS; g++) {
            const struct sample *sample = &tails->engine->samples[g];
            tails->missed[g] += (double)(tails->bytes ? &sample->rd_bytes : &sample->rd)->count[tails->bin];
        }
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        double share = tails->missed[g] * tails->engine->samples[g].scale / tails->whole;
        sum += share;
        squares += share * share;
    }
    double variance = fmax(0, squares - sum * sum / GROUPS) / (GROUPS - 1);
    double half = fmax(tails->quantile * sqrt(variance / GROUPS), tails->least);
    *low = fmax(0, ratio - half);
    *high = fmin(1, ratio + half);
}

static int set_curves(const struct requests_shards *engine, struct rsc_profile *profile) {
    struct rsc_request_bytes *bytes = &profile->requests;
    struct tails requests, sizes;
    if (rsc_profile_derive_mrc(profile) < 0) return RSC_ENOMEM;
    if (engine->choice.rate >= 1 || !profile->mrc_count) return 0;
    bytes->low = malloc(profile->mrc_count * sizeof *bytes->low);
    bytes->high = malloc(profile->mrc_count * sizeof *bytes->high);
    if (!bytes->low || !bytes->high || rsc_requests_derive(profile) < 0) return RSC_ENOMEM;
    begin_tails(&requests, engine, 0);
    begin_tails(&sizes, engine, 1);
    for (size_t i = profile->mrc_count; i-- > 0;) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        bar_at(&requests, point->lines, point->miss_ratio, &point->low, &point->high);
        bar_at(&sizes, point->lines, bytes->miss_ratio[i], &bytes->low[i], &bytes->high[i]);
    }
    return 0;
}

static int finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct requests_shards *engine = state;
    const struct sample *all = &engine->samples[GROUPS];
    struct rsc_profile *profile = *out = rsc_profile_new();
    char text[160];
    for (uint32_t g = 0; g <= GROUPS; g++)
        if (run_block(engine, &engine->samples[g]) < 0) return rsc_fail_memory(error, "requests-shards engine");
    if (!profile || rsc_profile_set_requests(profile) < 0 ||
        rsc_profile_set_text(&profile->made.by, "requests-shards") < 0)
        return rsc_fail_memory(error, "profile");
    double scale = all->scale;
    profile->made.threads = engine->threads;
    profile->made.line_bytes = 1;
    profile->accesses = profile->references = engine->requests;
    profile->cold = scale_up(all->cold, scale, engine->requests);
    /* a trace with requests has an object, even if the sample has none */
    if (!profile->cold && engine->requests) profile->cold = 1;
    profile->distinct = profile->cold;
    profile->requests.requested = engine->requested;
    profile->requests.cold = scale_up(all->cold_bytes, scale, engine->requested);
    profile->requests.footprint = scale_up(all->stack.peak, scale, INT64_MAX);
    if (settle(&all->rd, scale, engine->requests - profile->cold, &profile->rd) < 0 ||
        settle(&all->rd_bytes, scale, engine->requested - profile->requests.cold, &profile->requests.rd) < 0 ||
        settle(&engine->ri, scale, engine->requests - profile->cold, &profile->ri) < 0)
        return rsc_fail_memory(error, "profile");
    profile->ri.count[1] += profile->ri.count[0]; /* the least interval is 1 */
    profile->ri.count[0] = 0;
    if (set_curves(engine, profile) < 0) return rsc_fail_memory(error, "profile");
    if (engine->choice.rate >= 1) return 0;
    snprintf(text, sizeof text, "objects by hash, rate %.6g, seed %llu, %llu kept; %g %% bars", engine->choice.rate,
             (unsigned long long)engine->seed, (unsigned long long)engine->last.used, engine->confidence);
    return rsc_profile_set_text(&profile->made.sampling, text) < 0 ? rsc_fail_memory(error, "profile") : 0;
}

static uint64_t memory(const struct rsc_engine_options *options, const void *parameters, uint64_t objects) {
    (void)options;
    return (uint64_t)(250 * (double)objects * ((const struct rsc_shards_parameters *)parameters)->rate);
}

const struct rsc_engine_kind rsc_engine_requests_shards = {
    .name = "requests-shards",
    .parameter = ":RATE",
    .what = "a sample of whole objects with sizes, this share of them; with error bars",
    .can = RSC_TAKES_REQUESTS,
    .parse = parse,
    .memory = memory,
    .create = create,
    .push = push,
    .finish = finish,
    .destroy = destroy,
};
