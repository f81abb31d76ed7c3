/* truth_lines.c - see truth_lines.h. */
#include "distance/time/truth_lines.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/histogram.h"

#define NO_PART RSC_SAMPLE_PARTS
/* Counting a distance costs much more than a reference of the pass: this many are free, then one per this many
 * references. */
#define MOVES_FREE 65536u
#define MOVES_SHARE 512u
#define REPEATS_PER_MOVE 16u /* that cost about the same */
#define RATE_SHIFT_MAX 40u

int rsc_truth_lines_init(struct rsc_truth_lines *sample, uint64_t seed) {
    memset(sample, 0, sizeof *sample);
    rsc_rng_seed(&sample->rng, seed, 1);
    sample->offset = rsc_line_offset(seed);
    sample->first_from = UINT64_MAX;
    sample->bin_count = rsc_bins_count(RSC_BINS_FINE);
    sample->tree = aligned_alloc(sizeof *sample->tree, (RSC_SAMPLE_PLACES + 1) * sizeof *sample->tree);
    sample->live = aligned_alloc(sizeof *sample->live, sizeof *sample->live);
    sample->line_at = malloc(RSC_SAMPLE_PLACES * sizeof *sample->line_at);
    sample->time_at = malloc(RSC_SAMPLE_PLACES * sizeof *sample->time_at);
    sample->part_at = malloc(RSC_SAMPLE_PLACES);
    sample->first = calloc(sample->bin_count, sizeof *sample->first);
    sample->ri = calloc((size_t)RSC_SAMPLE_PARTS * sample->bin_count, sizeof *sample->ri);
    sample->rd = calloc((size_t)(RSC_SAMPLE_PARTS + 1) * sample->bin_count, sizeof *sample->rd);
    if (!sample->tree || !sample->live || !sample->line_at || !sample->time_at || !sample->part_at || !sample->first ||
        !sample->ri || !sample->rd || rsc_u64_table_init(&sample->lines, RSC_SAMPLE_LINES + 1) < 0) {
        rsc_truth_lines_free(sample);
        return RSC_ENOMEM;
    }
    memset(sample->tree, 0, (RSC_SAMPLE_PLACES + 1) * sizeof *sample->tree);
    memset(sample->live, 0, sizeof *sample->live);
    return 0;
}

void rsc_truth_lines_free(struct rsc_truth_lines *sample) {
    rsc_u64_table_free(&sample->lines);
    free(sample->tree);
    free(sample->live);
    free(sample->line_at);
    free(sample->time_at);
    free(sample->part_at);
    free(sample->first);
    free(sample->ri);
    free(sample->rd);
    memset(sample, 0, sizeof *sample);
}

/* ---- order of last uses ---- */

static void tree_add(struct rsc_truth_lines *sample, uint32_t place, uint32_t part, uint16_t amount) {
    for (uint32_t k = place + 1; k <= RSC_SAMPLE_PLACES; k += k & -k) sample->tree[k][part] += amount;
}

static void append(struct rsc_truth_lines *sample, uint64_t line, uint64_t time, uint32_t part) {
    tree_add(sample, sample->next, part, 1);
    sample->line_at[sample->next] = line;
    sample->time_at[sample->next] = time;
    sample->part_at[sample->next++] = (uint8_t)part;
}

/* Renumbers the lines, dropping those no longer sampled at the rate. */
static void renumber(struct rsc_truth_lines *sample) {
    uint32_t places = sample->next, kept = 0;
    memset(sample->tree, 0, (RSC_SAMPLE_PLACES + 1) * sizeof *sample->tree);
    memset(sample->live, 0, sizeof *sample->live);
    memset(sample->lines.entries, 0, rsc_u64_table_bytes(&sample->lines));
    for (uint32_t place = 0; place < places; place++) {
        uint64_t line = sample->line_at[place];
        uint32_t part = sample->part_at[place];
        if (part == NO_PART || !rsc_hash_in_share(rsc_line_hash(line, sample->offset), sample->rate_shift)) continue;
        *rsc_u64_table_find(&sample->lines, line) = (struct rsc_u64_entry){line, kept + 1};
        sample->line_at[kept] = line;
        sample->time_at[kept] = sample->time_at[place];
        sample->part_at[kept] = (uint8_t)part;
        sample->tree[kept + 1][part]++;
        (*sample->live)[part]++;
        kept++;
    }
    sample->next = sample->count = kept;
    sample->scaled_for = 0;
    for (uint32_t k = 1; k <= RSC_SAMPLE_PLACES; k++)
        if (k + (k & -k) <= RSC_SAMPLE_PLACES) sample->tree[k + (k & -k)] += sample->tree[k];
}

static void sample_less(struct rsc_truth_lines *sample) {
    sample->rate_shift++;
    renumber(sample);
}

/* ---- counting ---- */

static void set_shares(struct rsc_truth_lines *sample) {
    for (uint32_t part = 0; part <= RSC_SAMPLE_PARTS; part++) {
        double of = (double)sample->count - 1 - (part < RSC_SAMPLE_PARTS ? (*sample->live)[part] : 0);
        sample->share[part] = of > 0 ? 1 / of : 0;
    }
    sample->scaled_for = sample->count;
}

/* Distances with all parts, and without each; scaled to `distinct` lines. */
static void count_distance(struct rsc_truth_lines *sample, const rsc_part_counts *apart, uint32_t own,
                           double distinct) {
    uint64_t weight = 1ull << sample->rate_shift;
    double dither = 0;
    uint32_t all = 0;
    if (sample->scaled_for != sample->count) set_shares(sample);
    for (uint32_t part = 0; part < RSC_SAMPLE_PARTS; part++) all += (*apart)[part];
    /* A count of sampled lines represents a range: without this, the curve would have steps of 2^k lines. */
    if (sample->rate_shift) dither = rsc_rng_double(&sample->rng) - 0.5;
    for (uint32_t part = 0; part <= RSC_SAMPLE_PARTS; part++) {
        if (part == own) continue;
        uint32_t seen = part < RSC_SAMPLE_PARTS ? all - (*apart)[part] : all;
        double distance = seen ? (seen + dither) * (distinct - 1) * sample->share[part] + 0.5 : 0;
        if (distance > distinct - 1) distance = distinct - 1;
        sample->rd[(size_t)part * sample->bin_count + rsc_bin_of_fine((uint64_t)distance)] += weight;
    }
}

/* A line that is not in the sample, used from `time` until `until`. */
static void add_line(struct rsc_truth_lines *sample, uint64_t line, uint64_t time, uint64_t until) {
    uint64_t hash = rsc_line_hash(line, sample->offset);
    /* the rate may be lower than when these references were picked */
    while (rsc_hash_in_share(hash, sample->rate_shift) && sample->count == RSC_SAMPLE_LINES &&
           sample->rate_shift < RATE_SHIFT_MAX)
        sample_less(sample);
    if (!rsc_hash_in_share(hash, sample->rate_shift) || sample->count == RSC_SAMPLE_LINES) return;
    if (sample->next == RSC_SAMPLE_PLACES) renumber(sample);
    uint32_t part = rsc_hash_group(hash, RSC_SAMPLE_PARTS);
    *rsc_u64_table_find(&sample->lines, line) = (struct rsc_u64_entry){line, sample->next + 1};
    append(sample, line, until, part);
    (*sample->live)[part]++;
    sample->count++;
    if (time >= sample->first_from) sample->first[rsc_bin_of_fine(time)] += 1ull << sample->rate_shift;
}

/* A line of the sample is used again; `distinct` lines were seen by then. */
static void move_line(struct rsc_truth_lines *sample, struct rsc_u64_entry *entry, uint64_t time, uint64_t until,
                      double distinct) {
    uint32_t place = (uint32_t)entry->value - 1, part = sample->part_at[place];
    uint64_t line = entry->key, interval = time - sample->time_at[place];
    sample->ri[(size_t)part * sample->bin_count + rsc_bin_of_fine(interval)] += 1ull << sample->rate_shift;
    if (place + 1 == sample->next) { /* distance 0: never misses */
        sample->time_at[place] = until;
        sample->repeats++;
        return;
    }
    rsc_part_counts upto = {0};
    for (uint32_t k = place + 1; k; k &= k - 1) upto += sample->tree[k];
    if (!sample->rate_shift) distinct = sample->count; /* all are in the sample */
    rsc_part_counts apart = *sample->live - upto;
    count_distance(sample, &apart, part, distinct);
    tree_add(sample, place, part, (uint16_t)-1);
    sample->part_at[place] = NO_PART;
    if (sample->next == RSC_SAMPLE_PLACES) {
        renumber(sample); /* leaves the line out temporarily */
        entry = rsc_u64_table_find(&sample->lines, line);
        entry->key = line;
        (*sample->live)[part]++;
        sample->count++;
    }
    entry->value = sample->next + 1;
    append(sample, line, until, part);
    sample->moves++;
}

void rsc_truth_lines_take(struct rsc_truth_lines *sample, const struct rsc_line_uses *uses) {
    for (uint32_t s = 0; s < uses->picked_count; s++) {
        uint32_t i = uses->picked[s], from = uses->index ? uses->index[i] : i,
                 to = uses->index ? uses->index[i + 1] : i + 1;
        struct rsc_u64_entry *entry = rsc_u64_table_find(&sample->lines, uses->line[i]);
        double distinct =
            uses->distinct_before + (uses->distinct_after - uses->distinct_before) * (from + 1) / uses->count;
        if (entry->value) move_line(sample, entry, uses->now + from + 1, uses->now + to, distinct);
        else add_line(sample, uses->line[i], uses->now + from + 1, uses->now + to);
    }
    if (sample->moves + sample->repeats / REPEATS_PER_MOVE > MOVES_FREE + (uses->now + uses->count) / MOVES_SHARE &&
        sample->rate_shift < RATE_SHIFT_MAX) {
        /* past cost does not count: the new rate is judged by its cost from now on */
        sample->moves -= sample->moves / 2;
        sample->repeats -= sample->repeats / 2;
        sample_less(sample);
    }
}
