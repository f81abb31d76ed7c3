/* accumulate.c - counts distances; accumulate.h explains why threads and phases cost almost nothing. */
#include "distance/count/accumulate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/word_bits.h"
#include "trace/references.h"

#define COLD UINT32_MAX
#define PHASE_LENGTH_FIRST 1u
#define PHASE_DETAIL 32u       /* fine phases per requested phase... */
#define PHASES_FINE_MAX 65536u /* ...but at most this many in all: each takes 2 KiB */

int rsc_accumulator_init(struct rsc_accumulator *sum, uint32_t phases, uint64_t rd_cap, uint32_t bins_per_octave) {
    memset(sum, 0, sizeof *sum);
    sum->rd_cap = rd_cap;
    sum->phases_asked = phases;
    sum->phase_length = PHASE_LENGTH_FIRST;
    sum->bins_per_octave = bins_per_octave;
    sum->count_values = RSC_WIDE_PICK(rsc_simd_best(), rsc_accumulate_values);
    int failed = rsc_histogram_init(&sum->rd, RSC_BINS_FINE) < 0 || rsc_histogram_init(&sum->ri, RSC_BINS_FINE) < 0;
    if (bins_per_octave) {
        struct rsc_bins bins = rsc_bins_per_octave(bins_per_octave);
        failed |= rsc_histogram_init(&sum->rd_binned, bins) < 0 || rsc_histogram_init(&sum->ri_binned, bins) < 0;
    }
    if (phases) {
        uint32_t detail = PHASES_FINE_MAX / phases / 2 * 2;
        sum->phase_room = phases * (detail > PHASE_DETAIL ? PHASE_DETAIL : detail < 2 ? 2 : detail);
        /* one more than fills up: the last phase of the trace may be cut short */
        sum->phases = calloc(sum->phase_room + 1, sizeof *sum->phases);
        failed |= !sum->phases || rsc_histogram_init(&sum->phase_start, RSC_BINS_FINE) < 0;
    }
    if (!failed) return 0;
    rsc_accumulator_free(sum);
    return RSC_ENOMEM;
}

void rsc_accumulator_free(struct rsc_accumulator *sum) {
    rsc_histogram_free(&sum->rd);
    rsc_histogram_free(&sum->ri);
    rsc_histogram_free(&sum->rd_binned);
    rsc_histogram_free(&sum->ri_binned);
    rsc_histogram_free(&sum->phase_start);
    for (uint32_t i = 0; i < sum->thread_count; i++) rsc_histogram_free(&sum->threads[i].rd);
    for (uint32_t i = 0; i < sum->phase_count; i++) rsc_histogram_free(&sum->phases[i].rd);
    for (uint32_t i = 0; i < RSC_KIND_SLOTS; i++) rsc_histogram_free(&sum->kinds[i].rd);
    free(sum->threads);
    free(sum->phases);
    memset(sum, 0, sizeof *sum);
}

int rsc_accumulator_copy(struct rsc_accumulator *copy, const struct rsc_accumulator *sum) {
    *copy = *sum;
    copy->threads = RSC_COPY(sum->threads, sum->thread_count, sum->thread_room);
    copy->phases = sum->phases ? calloc(sum->phase_room + 1, sizeof *sum->phases) : NULL;
    int failed = !copy->threads || (sum->phases && !copy->phases);
    if (!copy->threads) copy->thread_count = 0;
    if (!copy->phases) copy->phase_count = 0;
    else memcpy(copy->phases, sum->phases, sum->phase_count * sizeof *sum->phases);
    struct rsc_histogram *const all[] = {&copy->rd, &copy->ri, &copy->rd_binned, &copy->ri_binned, &copy->phase_start};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) failed |= rsc_histogram_own(all[i]);
    for (uint32_t i = 0; i < copy->thread_count; i++) failed |= rsc_histogram_own(&copy->threads[i].rd);
    for (uint32_t i = 0; i < copy->phase_count; i++) failed |= rsc_histogram_own(&copy->phases[i].rd);
    for (uint32_t i = 0; i < RSC_KIND_SLOTS; i++) failed |= rsc_histogram_own(&copy->kinds[i].rd);
    if (!failed) return 0;
    rsc_accumulator_free(copy);
    return RSC_ENOMEM;
}

/* Rows exist from the second thread on; the totals so far belong to the first. */
static int add_threads(struct rsc_accumulator *sum, uint32_t wanted) {
    if (wanted > RSC_THREAD_ROWS_MAX) wanted = RSC_THREAD_ROWS_MAX;
    if (wanted > sum->thread_room) {
        uint32_t room = sum->thread_room ? sum->thread_room : 4;
        while (room < wanted) room *= 2;
        struct rsc_thread_counts *threads = realloc(sum->threads, room * sizeof *threads);
        if (!threads) return RSC_ENOMEM;
        sum->threads = threads;
        sum->thread_room = room;
    }
    while (sum->thread_count < wanted) {
        struct rsc_thread_counts *row = &sum->threads[sum->thread_count];
        *row = (struct rsc_thread_counts){.tid = sum->thread_count};
        sum->thread_count++;
        if (sum->thread_count == 1) continue;
        if (rsc_histogram_init(&row->rd, RSC_BINS_COARSE) < 0) return RSC_ENOMEM;
        struct rsc_thread_counts *first = &sum->threads[0];
        if (first->rd.count) continue;
        if (rsc_histogram_init(&first->rd, RSC_BINS_COARSE) < 0) return RSC_ENOMEM;
        rsc_histogram_merge(&first->rd, &sum->rd);
        if (sum->rd_capped) rsc_histogram_add(&first->rd, sum->rd_cap, sum->rd_capped);
        first->references = sum->references;
        first->cold = sum->cold;
        first->invalidated = sum->invalidated;
    }
    return 0;
}

static uint32_t kind_slot(uint64_t meta) { return rsc_who_kind_slot(rsc_meta_who(meta)); }

/* Rows exist from the second kind on; the totals so far belong to the first. */
static int add_kinds(struct rsc_accumulator *sum, uint32_t seen) {
    int first_split = !rsc_accumulator_by_kind(sum) && (seen & (seen - 1)) != 0;
    for (uint32_t k = 0; k < RSC_KIND_SLOTS && (seen & (seen - 1)); k++) {
        struct rsc_kind_counts *row = &sum->kinds[k];
        if (!(seen >> k & 1) || row->rd.count) continue;
        if (rsc_histogram_init(&row->rd, RSC_BINS_FINE) < 0) return RSC_ENOMEM;
        if (!first_split || !(sum->kinds_seen >> k & 1)) continue;
        rsc_histogram_merge(&row->rd, &sum->rd);
        if (sum->rd_capped) rsc_histogram_add(&row->rd, sum->rd_cap, sum->rd_capped);
        row->cold = sum->cold;
        row->invalidated = sum->invalidated;
    }
    sum->kinds_seen = seen;
    return 0;
}

static int see_kinds(struct rsc_accumulator *sum, const struct rsc_batch *batch) {
    uint32_t seen = sum->kinds_seen;
    for (uint32_t i = 0; i < batch->count; i++) seen |= 1u << kind_slot(batch->meta[i]);
    return seen == sum->kinds_seen ? 0 : add_kinds(sum, seen);
}

int rsc_accumulator_see_threads(struct rsc_accumulator *sum, const struct rsc_batch *batch) {
    const struct rsc_word_bits bits = rsc_word_bits(batch->meta, batch->count);
    uint64_t differ = bits.differ, first = batch->count ? batch->meta[0] : 0, highest = first >> 40;
    /* most batches have reads and writes only, and need no further look at their kinds */
    const uint64_t kinds = bits.any >> 32 & 0xff, usual = 1u << RSC_READ | 1u << RSC_WRITE;
    const int is_usual = kinds <= RSC_WRITE && (sum->kinds_seen & usual) == usual;
    for (uint32_t i = 0; differ >> 40 && i < batch->count; i++) {
        uint64_t thread = batch->meta[i] >> 40;
        if (thread > highest) highest = thread;
    }
    /* nor does a batch of the only kind seen so far */
    if (batch->count && !is_usual && ((differ >> 32 & 0xff) || sum->kinds_seen != 1u << kind_slot(first)) &&
        see_kinds(sum, batch) < 0)
        return RSC_ENOMEM;
    if (batch->count && highest + 1 > sum->threads_seen) sum->threads_seen = highest + 1;
    if (sum->threads_seen > sum->thread_count && add_threads(sum, (uint32_t)sum->threads_seen) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < sum->thread_count; i++) {
        sum->threads[i].pid = batch->threads[i].pid;
        sum->threads[i].tid = batch->threads[i].tid;
    }
    return 0;
}

/*
 * References of one thread, in its row. Without branches: where stacks are private, which references have a distance is
 * random. Distance 0, up to half of them, and none are counted in registers: each increment of one counter in memory
 * would wait for the one before.
 */
static void count_turn(struct rsc_thread_counts *row, const uint32_t *rd, uint32_t count, uint64_t cap) {
    uint64_t *const counts = row->rd.count;
    uint64_t other[8] = {0};
    uint32_t repeats = 0, cold = 0, invalidated = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bin = rsc_bin_of_coarse(rd[i] < cap ? rd[i] : cap);
        uint64_t *const counter = rd[i] - 1 < RSC_RD_INVALIDATED - 1 ? &counts[bin] : &other[i & 7];
        ++*counter;
        repeats += rd[i] == 0;
        cold += rd[i] == COLD;
        invalidated += rd[i] == RSC_RD_INVALIDATED;
    }
    counts[0] += repeats;
    row->references += count;
    row->cold += cold;
    row->invalidated += invalidated;
}

/* In the rows of threads. */
static void count_threads(struct rsc_accumulator *sum, const uint32_t *who, const uint32_t *rd, uint32_t count) {
    const uint64_t cap = sum->rd_cap ? sum->rd_cap : UINT64_MAX;
    for (uint32_t first = 0, end; first < count; first = end) {
        const uint32_t thread = rsc_who_thread(who[first]);
        end = first + 1;
        while (end < count && rsc_who_thread(who[end]) == thread) end++;
        if (thread < sum->thread_count) count_turn(&sum->threads[thread], rd + first, end - first, cap);
    }
}

/* Those at the cap or above were counted as distances of the cap. */
static void count_capped(struct rsc_accumulator *sum, const uint32_t *rd, uint32_t count) {
    uint64_t capped = 0;
    for (uint32_t i = 0; i < count; i++) capped += rd[i] >= sum->rd_cap && rd[i] < RSC_RD_INVALIDATED;
    if (capped) sum->rd.count[rsc_bin_of_fine(sum->rd_cap)] -= capped;
    sum->rd_capped += capped;
}

static void count_binned(struct rsc_accumulator *sum, const uint32_t *rd, const uint64_t *ri, uint32_t count) {
    const uint64_t cap = sum->rd_cap ? sum->rd_cap : UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (rd[i] >= RSC_RD_INVALIDATED) continue;
        rsc_histogram_add(&sum->rd_binned, rd[i] < cap ? rd[i] : cap, 1);
        if (ri) rsc_histogram_add(&sum->ri_binned, ri[i], 1);
    }
}

void rsc_accumulate_part(struct rsc_accumulator *sum, const uint32_t *who, const uint32_t *rd, const uint64_t *ri,
                         uint32_t count) {
    sum->references += count;
    sum->count_values(sum, rsc_accumulator_by_kind(sum) ? who : NULL, rd, ri, count);
    if (sum->rd_cap) count_capped(sum, rd, count);
    if (sum->thread_count > 1) count_threads(sum, who, rd, count);
    if (sum->bins_per_octave) count_binned(sum, rd, ri, count);
}

static void find_who(const struct rsc_batch *batch, const uint32_t *from, uint32_t *who, uint32_t count) {
    const uint64_t *meta = batch->meta + from[0];
    if (rsc_references_are_accesses(from, count))
        for (uint32_t i = 0; i < count; i++) who[i] = rsc_meta_who(meta[i]);
    else
        for (uint32_t i = 0; i < count; i++) who[i] = rsc_meta_who(batch->meta[from[i]]);
}

#define PART 512u
static void count_part(struct rsc_accumulator *sum, const struct rsc_batch *batch, const uint32_t *from,
                       const uint32_t *rd, const uint64_t *ri, uint32_t count) {
    uint32_t who[PART];
    for (uint32_t done = 0, part; done < count; done += part) {
        part = count - done < PART ? count - done : PART;
        const int wanted = sum->thread_count > 1 || rsc_accumulator_by_kind(sum);
        if (wanted) find_who(batch, from + done, who, part);
        rsc_accumulate_part(sum, wanted ? who : NULL, rd + done, ri ? ri + done : NULL, part);
    }
}

/* Joins neighbours in pairs, which frees half of the table and doubles the phase length. */
static void join_phase_pairs(struct rsc_accumulator *sum) {
    uint32_t kept = 0;
    assert(sum->phase_count % 2 == 0);
    for (uint32_t i = 0; i < sum->phase_count; i += 2) {
        struct rsc_phase_counts left = sum->phases[i], right = sum->phases[i + 1];
        left.references += right.references;
        left.cold += right.cold;
        left.invalidated += right.invalidated;
        rsc_histogram_merge(&left.rd, &right.rd);
        rsc_histogram_free(&right.rd);
        sum->phases[kept++] = left;
    }
    sum->phase_count = kept;
    sum->phase_length *= 2;
}

/* Ends the current phase: its counts are the growth of the totals since it began. */
static int cut_phase(struct rsc_accumulator *sum) {
    struct rsc_phase_counts phase = {
        .first = sum->phase_start_references,
        .references = sum->references - sum->phase_start_references,
        .cold = sum->cold - sum->phase_start_cold,
        .invalidated = sum->invalidated - sum->phase_start_invalidated,
    };
    if (rsc_histogram_init(&phase.rd, RSC_BINS_COARSE) < 0) return RSC_ENOMEM;
    for (uint32_t bin = 0; bin < sum->rd.bin_count; bin++) {
        uint64_t grown = sum->rd.count[bin] - sum->phase_start.count[bin];
        if (grown) rsc_histogram_add(&phase.rd, rsc_bin_lo(RSC_BINS_FINE, bin), grown);
    }
    uint64_t capped = sum->rd_capped - sum->phase_start_capped;
    if (capped) rsc_histogram_add(&phase.rd, sum->rd_cap, capped);
    sum->phases[sum->phase_count++] = phase;
    memcpy(sum->phase_start.count, sum->rd.count, sum->rd.bin_count * sizeof *sum->rd.count);
    sum->phase_start_references = sum->references;
    sum->phase_start_cold = sum->cold;
    sum->phase_start_invalidated = sum->invalidated;
    sum->phase_start_capped = sum->rd_capped;
    return 0;
}

int rsc_accumulate(struct rsc_accumulator *sum, const struct rsc_batch *batch, const uint32_t *from, const uint32_t *rd,
                   const uint64_t *ri, uint32_t count) {
    for (uint32_t done = 0; done < count;) {
        uint32_t part = count - done;
        if (sum->phases_asked) {
            uint64_t left = sum->phase_start_references + sum->phase_length - sum->references;
            if (left < part) part = (uint32_t)left;
        }
        count_part(sum, batch, from + done, rd + done, ri ? ri + done : NULL, part);
        done += part;
        if (!sum->phases_asked || sum->references - sum->phase_start_references < sum->phase_length) continue;
        if (sum->phase_count == sum->phase_room)
            join_phase_pairs(sum); /* the current phase continues to its new length */
        else if (cut_phase(sum) < 0) return RSC_ENOMEM;
    }
    return 0;
}

void rsc_accumulate_intervals(struct rsc_accumulator *sum, const uint64_t *ri, uint32_t count) {
    uint64_t none = 0;
    for (uint32_t i = 0; i < count; i++) {
        none += ri[i] == 0;
        sum->ri.count[rsc_bin_of_fine_any(ri[i])]++;
        if (sum->bins_per_octave) rsc_histogram_add(&sum->ri_binned, ri[i], ri[i] != 0);
    }
    sum->ri.count[0] -= none;
}

/* ---- in parts ---- */

int rsc_accumulator_need_rows(struct rsc_accumulator *sum, uint64_t threads, uint32_t kinds) {
    if (threads > sum->threads_seen) sum->threads_seen = threads;
    if (threads > sum->thread_count && add_threads(sum, (uint32_t)threads) < 0) return RSC_ENOMEM;
    return kinds & ~sum->kinds_seen ? add_kinds(sum, sum->kinds_seen | kinds) : 0;
}

/* Adds the rows by kind of `from`. If it has no rows, its totals are those of its only kind. */
static void merge_kinds(struct rsc_accumulator *into, const struct rsc_accumulator *from) {
    for (uint32_t k = 0; rsc_accumulator_by_kind(into) && k < RSC_KIND_SLOTS; k++) {
        struct rsc_kind_counts *row = &into->kinds[k];
        if (!(from->kinds_seen >> k & 1)) continue;
        int alone = !rsc_accumulator_by_kind(from);
        row->cold += alone ? from->cold : from->kinds[k].cold;
        row->invalidated += alone ? from->invalidated : from->kinds[k].invalidated;
        rsc_histogram_merge(&row->rd, alone ? &from->rd : &from->kinds[k].rd);
        if (alone && from->rd_capped) rsc_histogram_add(&row->rd, from->rd_cap, from->rd_capped);
    }
}

int rsc_accumulator_merge(struct rsc_accumulator *into, const struct rsc_accumulator *from) {
    assert(!from->phases_asked && into->rd_cap == from->rd_cap && into->bins_per_octave == from->bins_per_octave);
    if (rsc_accumulator_need_rows(into, from->threads_seen, from->kinds_seen) < 0) return RSC_ENOMEM;
    merge_kinds(into, from);
    for (uint32_t i = 0; into->thread_count > 1 && i < into->thread_count; i++) {
        struct rsc_thread_counts *row = &into->threads[i];
        if (from->thread_count > 1 && i < from->thread_count) {
            row->references += from->threads[i].references;
            row->cold += from->threads[i].cold;
            row->invalidated += from->threads[i].invalidated;
            rsc_histogram_merge(&row->rd, &from->threads[i].rd);
        } else if (i == 0) {
            row->references += from->references;
            row->cold += from->cold;
            row->invalidated += from->invalidated;
            rsc_histogram_merge(&row->rd, &from->rd);
            if (from->rd_capped) rsc_histogram_add(&row->rd, from->rd_cap, from->rd_capped);
        }
    }
    into->references += from->references;
    into->cold += from->cold;
    into->invalidated += from->invalidated;
    into->rd_capped += from->rd_capped;
    rsc_histogram_merge(&into->rd, &from->rd);
    rsc_histogram_merge(&into->ri, &from->ri);
    if (!into->bins_per_octave) return 0;
    rsc_histogram_merge(&into->rd_binned, &from->rd_binned);
    rsc_histogram_merge(&into->ri_binned, &from->ri_binned);
    return 0;
}

/* ---- into a profile ---- */

/* Joins the fine phases into the requested number, as evenly as possible. */
static int fill_phases(struct rsc_accumulator *sum, struct rsc_profile *profile) {
    if (!sum->phases_asked) return 0;
    if (sum->references > sum->phase_start_references && cut_phase(sum) < 0) return RSC_ENOMEM;
    uint32_t wanted = sum->phase_count < sum->phases_asked ? sum->phase_count : sum->phases_asked;
    if (rsc_profile_set_phases(profile, wanted) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < sum->phase_count; i++) {
        const struct rsc_phase_counts *part = &sum->phases[i];
        uint64_t middle = part->first + part->references / 2;
        uint64_t target = (uint64_t)((unsigned __int128)middle * wanted / sum->references);
        /* A row may stay empty only if there are fewer parts than rows. */
        if (sum->phase_count == wanted) target = i;
        struct rsc_phase_row *row = &profile->phases[target];
        if (!row->references) row->first = part->first;
        row->references += part->references;
        row->cold += part->cold;
        row->invalidated += part->invalidated;
        rsc_histogram_merge(&row->rd, &part->rd);
    }
    return 0;
}

static int fill_threads(struct rsc_accumulator *sum, struct rsc_profile *profile) {
    if (rsc_profile_set_threads(profile, sum->thread_count) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < sum->thread_count; i++) {
        struct rsc_thread_row *row = &profile->threads[i];
        row->pid = sum->threads[i].pid;
        row->tid = sum->threads[i].tid;
        int alone = sum->thread_count == 1;
        row->references = alone ? sum->references : sum->threads[i].references;
        row->cold = alone ? sum->cold : sum->threads[i].cold;
        row->invalidated = alone ? sum->invalidated : sum->threads[i].invalidated;
        rsc_histogram_merge(&row->rd, alone ? &sum->rd : &sum->threads[i].rd);
        if (alone && sum->rd_capped) rsc_histogram_add(&row->rd, sum->rd_cap, sum->rd_capped);
    }
    return 0;
}

static int fill_kinds(struct rsc_accumulator *sum, struct rsc_profile *profile) {
    uint64_t references[RSC_KIND_NAMES] = {0};
    size_t count = 0;
    if (!rsc_accumulator_by_kind(sum)) return 0;
    for (uint32_t k = 0; k < RSC_KIND_NAMES; k++) {
        if (!(sum->kinds_seen >> k & 1)) continue;
        references[k] = sum->kinds[k].cold + sum->kinds[k].invalidated + rsc_histogram_total(&sum->kinds[k].rd);
        count += references[k] != 0;
    }
    if (count < 2) return 0;
    if (rsc_profile_set_kinds(profile, count) < 0) return RSC_ENOMEM;
    for (uint32_t k = count = 0; k < RSC_KIND_NAMES; k++) {
        if (!references[k]) continue;
        struct rsc_kind_row *row = &profile->kinds[count++];
        row->kind = rsc_kind_names[k];
        row->references = references[k];
        row->cold = sum->kinds[k].cold;
        row->invalidated = sum->kinds[k].invalidated;
        rsc_histogram_merge(&row->rd, &sum->kinds[k].rd);
        rsc_histogram_merge(&row->rd_fine, &sum->kinds[k].rd);
    }
    return 0;
}

void rsc_accumulator_warn(const struct rsc_accumulator *sum, const struct rsc_log *log) {
    if (sum->threads_seen > sum->thread_count)
        rsc_log_line(log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)sum->threads_seen, sum->thread_count);
}

struct rsc_profile *rsc_accumulator_profile(struct rsc_accumulator *sum, uint64_t distinct) {
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) return NULL;
    if (fill_phases(sum, profile) < 0 || fill_threads(sum, profile) < 0 || fill_kinds(sum, profile) < 0 ||
        rsc_profile_set_bins(profile, sum->bins_per_octave) < 0) {
        rsc_profile_free(profile);
        return NULL;
    }
    profile->accesses = sum->accesses;
    profile->references = sum->references;
    profile->cold = sum->cold;
    profile->invalidated = sum->invalidated;
    profile->distinct = distinct;
    profile->rd_cap = sum->rd_cap;
    profile->rd_capped = sum->rd_capped;
    rsc_histogram_merge(&profile->rd, &sum->rd);
    rsc_histogram_merge(&profile->ri, &sum->ri);
    if (sum->bins_per_octave) {
        rsc_histogram_merge(&profile->rd_binned, &sum->rd_binned);
        rsc_histogram_merge(&profile->ri_binned, &sum->ri_binned);
    }
    profile->made.threads = sum->threads_seen;
    return profile;
}
