/*
 * hprda.c - HP-RDA's stream, groups and fragments; the only file that uses OpenMP.
 *
 * Threads of a parallel loop have their own working memory and tally, by thread
 * number. After an error in one thread the others finish their iteration; the first
 * call that sees the error returns it.
 *
 * The paper does not describe the join across fragments: here a fragment is one more
 * level of pieces. A reuse from fragment i to fragment j has distance latest of the
 * line in i, plus the distinct lines of each fragment between, plus first of the line
 * in j, where latest and first are sums over blocks as they are inside a fragment.
 * When j ends, such distances beyond M, all lines seen so far, are multiplied by M /
 * sum of the counts of all local traces so far.
 */
#include "distance/hprda/hprda.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <reusescope/error.h>

/* Enough blocks for many threads, in little memory (8 bytes per reference and up to 24 per node). */
#define GROUP_REFERENCES (1u << 22)
#define GROUP_BLOCKS_MAX 1024u

int rsc_hprda_has_openmp(void) {
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}

static uint32_t this_worker(void) {
#ifdef _OPENMP
    return (uint32_t)omp_get_thread_num();
#else
    return 0;
#endif
}

static uint32_t block_references(const struct rsc_hprda *hprda) {
    return hprda->options.local * RSC_HPRDA_BLOCK_TRACES;
}

/* ---- making and freeing ---- */

static int check(struct rsc_hprda_options *options) {
    if (!options->local) options->local = RSC_HPRDA_LOCAL;
    if (!options->fragment) options->fragment = RSC_HPRDA_FRAGMENT;
    if (!options->workers) options->workers = 1;
    if (!rsc_hprda_has_openmp()) options->workers = 1;
    if (options->local < RSC_HPRDA_LOCAL_MIN || options->local > RSC_HPRDA_LOCAL_MAX || options->fragment > INT32_MAX)
        return RSC_EINVAL;
    uint32_t block = options->local * RSC_HPRDA_BLOCK_TRACES;
    if (!options->group_blocks) options->group_blocks = GROUP_REFERENCES / block ? GROUP_REFERENCES / block : 1;
    if (options->group_blocks > GROUP_BLOCKS_MAX) options->group_blocks = GROUP_BLOCKS_MAX;
    /* more threads than blocks or parts would be idle */
    uint32_t most = options->group_blocks > RSC_HPRDA_PARTS ? options->group_blocks : RSC_HPRDA_PARTS;
    if (options->workers > most) options->workers = most;
    return 0;
}

static int allocate(struct rsc_hprda *hprda) {
    hprda->group_room = hprda->options.group_blocks * block_references(hprda);
    hprda->group = malloc(hprda->group_room * sizeof *hprda->group);
    hprda->blocks = calloc(hprda->options.group_blocks, sizeof *hprda->blocks);
    hprda->works = calloc(hprda->options.workers, sizeof *hprda->works);
    if (!hprda->group || !hprda->blocks || !hprda->works || rsc_hprda_sums_init(&hprda->sums) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < hprda->options.workers; i++)
        if (rsc_hprda_work_init(&hprda->works[i], hprda->options.local) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < RSC_HPRDA_PARTS; i++)
        if (rsc_hprda_part_init(&hprda->parts[i]) < 0) return RSC_ENOMEM;
    return 0;
}

int rsc_hprda_init(struct rsc_hprda *hprda, const struct rsc_hprda_options *options) {
    memset(hprda, 0, sizeof *hprda);
    hprda->options = *options;
    int status = check(&hprda->options);
    if (!status) status = allocate(hprda);
    if (status < 0) rsc_hprda_free(hprda);
    return status;
}

void rsc_hprda_free(struct rsc_hprda *hprda) {
    for (uint32_t i = 0; hprda->works && i < hprda->options.workers; i++) rsc_hprda_work_free(&hprda->works[i]);
    for (uint32_t i = 0; hprda->blocks && i < hprda->options.group_blocks; i++) rsc_hprda_block_free(&hprda->blocks[i]);
    for (uint32_t i = 0; i < RSC_HPRDA_PARTS; i++) rsc_hprda_part_free(&hprda->parts[i]);
    free(hprda->group);
    free(hprda->works);
    free(hprda->blocks);
    rsc_hprda_spans_free(&hprda->block_counts);
    rsc_hprda_spans_free(&hprda->fragment_counts);
    rsc_hprda_sums_free(&hprda->sums);
    memset(hprda, 0, sizeof *hprda);
}

/* ---- the parallel steps ---- */

static void note(int *failed, int status) {
    if (status < 0) __atomic_store_n(failed, status, __ATOMIC_RELAXED);
}

/* Local analysis and merging of local traces, one block at a time. */
static int analyse_blocks(struct rsc_hprda *hprda, uint32_t blocks) {
    uint32_t full = block_references(hprda);
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hprda->options.workers)
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t start = i * full, count = hprda->filled - start < full ? hprda->filled - start : full;
        note(&failed,
             rsc_hprda_block_run(&hprda->works[this_worker()], &hprda->blocks[i], hprda->group + start, count));
    }
    return failed;
}

static struct rsc_hprda_place place_of(const struct rsc_hprda *hprda, uint32_t first_block, uint64_t in_fragment) {
    struct rsc_hprda_place place = {
        &hprda->block_counts, &hprda->fragment_counts, first_block, {in_fragment, hprda->distinct}};
    if (hprda->options.no_adjust) place.known[RSC_HPRDA_BLOCKS] = place.known[RSC_HPRDA_FRAGMENTS] = UINT64_MAX;
    return place;
}

static int merge_blocks(struct rsc_hprda *hprda, uint32_t blocks, const struct rsc_hprda_place *place) {
    double seconds = 0;
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hprda->options.workers) reduction(+ : seconds)
    for (uint32_t i = 0; i < RSC_HPRDA_PARTS; i++) {
        double begun = rsc_hprda_clock();
        note(&failed, rsc_hprda_part_merge(&hprda->parts[i], i, hprda->blocks, blocks, place,
                                           &hprda->works[this_worker()].tally));
        seconds += rsc_hprda_clock() - begun;
    }
    hprda->seconds[RSC_HPRDA_SECONDS_MERGE_BLOCKS] += seconds;
    return failed;
}

static void end_fragment_of_parts(struct rsc_hprda *hprda, const struct rsc_hprda_place *place) {
    double seconds = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hprda->options.workers) reduction(+ : seconds)
    for (uint32_t i = 0; i < RSC_HPRDA_PARTS; i++) {
        double begun = rsc_hprda_clock();
        rsc_hprda_part_end_fragment(&hprda->parts[i], place);
        seconds += rsc_hprda_clock() - begun;
    }
    hprda->seconds[RSC_HPRDA_SECONDS_MERGE_BLOCKS] += seconds;
}

static void adjust(struct rsc_hprda *hprda, const struct rsc_hprda_factors *factors) {
    double seconds = 0;
#pragma omp parallel for schedule(static, 1) num_threads(hprda->options.workers) reduction(+ : seconds)
    for (uint32_t i = 0; i < hprda->options.workers; i++) {
        double begun = rsc_hprda_clock();
        rsc_hprda_tally_adjust(&hprda->works[i].tally, hprda->options.no_adjust ? NULL : factors);
        seconds += rsc_hprda_clock() - begun;
    }
    hprda->seconds[RSC_HPRDA_SECONDS_ADJUST] += seconds;
}

/* ---- groups and fragments ---- */

static uint64_t lines_in_fragment(const struct rsc_hprda *hprda) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < RSC_HPRDA_PARTS; i++) sum += hprda->parts[i].in_fragment;
    return sum;
}

static int run_group(struct rsc_hprda *hprda) {
    uint32_t full = block_references(hprda), blocks = (hprda->filled + full - 1) / full;
    if (!blocks) return 0;
    int status = analyse_blocks(hprda, blocks);
    uint32_t first_block = hprda->block_counts.count;
    for (uint32_t i = 0; !status && i < blocks; i++) {
        status = rsc_hprda_spans_add(&hprda->block_counts, hprda->blocks[i].distinct);
        hprda->local_counts += hprda->blocks[i].local_counts;
    }
    if (status < 0) return status;
    struct rsc_hprda_place place = place_of(hprda, first_block, lines_in_fragment(hprda));
    status = merge_blocks(hprda, blocks, &place);
    hprda->distinct = 0;
    for (uint32_t i = 0; i < RSC_HPRDA_PARTS; i++) hprda->distinct += hprda->parts[i].count;
    hprda->in_fragment += hprda->filled;
    hprda->filled = 0;
    return status;
}

static int end_fragment(struct rsc_hprda *hprda) {
    uint64_t distinct = lines_in_fragment(hprda);
    if (!distinct) return 0;
    struct rsc_hprda_place place = place_of(hprda, 0, distinct);
    end_fragment_of_parts(hprda, &place);
    int status = rsc_hprda_spans_add(&hprda->fragment_counts, (uint32_t)distinct);
    if (status < 0) return status;

    hprda->local_counts_so_far += hprda->local_counts;
    struct rsc_hprda_factors factors = {
        .inside = {distinct, hprda->local_counts},
        .across = {hprda->distinct, hprda->local_counts_so_far},
    };
    adjust(hprda, &factors);
    for (uint32_t i = 0; i < hprda->options.workers; i++)
        rsc_hprda_tally_collect(&hprda->works[i].tally, distinct, hprda->distinct, &hprda->sums);
    rsc_hprda_spans_clear(&hprda->block_counts);
    hprda->local_counts = 0;
    hprda->in_fragment = 0;
    return 0;
}

int rsc_hprda_push(struct rsc_hprda *hprda, const uint64_t *lines, uint32_t count) {
    for (uint32_t i = 0; i < count;) {
        uint32_t left = hprda->options.fragment - hprda->in_fragment;
        uint32_t room = left < hprda->group_room ? left : hprda->group_room, filled = hprda->filled;
        uint64_t last = hprda->last;
        /* The paper's preprocessing: a repeat is dropped, with distance 0. The very first reference has no
         * predecessor. */
        if (!hprda->references) last = ~lines[0];
        uint32_t begun = i;
        for (; i < count && filled < room; i++) {
            hprda->group[filled] = lines[i];
            filled += lines[i] != last;
            last = lines[i];
        }
        hprda->repeats += (i - begun) - (filled - hprda->filled);
        hprda->references += i - begun;
        hprda->filled = filled;
        hprda->last = last;
        if (filled < room) break;
        int status = run_group(hprda);
        if (!status && hprda->in_fragment == hprda->options.fragment) status = end_fragment(hprda);
        if (status < 0) return status;
    }
    return 0;
}

int rsc_hprda_finish(struct rsc_hprda *hprda) {
    int status = run_group(hprda);
    if (!status) status = end_fragment(hprda);
    if (status < 0) return status;
    rsc_histogram_add(&hprda->sums.estimate, 0, hprda->repeats);
    rsc_histogram_add(&hprda->sums.low, 0, hprda->repeats);
    rsc_histogram_add(&hprda->sums.high, 0, hprda->repeats);
    for (uint32_t i = 0; i < hprda->options.workers; i++) {
        hprda->seconds[RSC_HPRDA_SECONDS_LOCAL] += hprda->works[i].local_seconds;
        hprda->seconds[RSC_HPRDA_SECONDS_MERGE_LOCALS] += hprda->works[i].merge_seconds;
    }
    return 0;
}
