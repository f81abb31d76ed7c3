/*
 * ranking.c - groups rows and sorts the groups.
 *
 * Pointers to the rows are sorted by the group's key, so that each group is a range;
 * then the groups are sorted by cost. Only pointers and sums are kept: histograms stay
 * in the profile and are added up when a median is requested.
 */
#include "report/ranking.h"

#include <stdlib.h>
#include <string.h>

#include "profile/row_tables.h"
#include "report/draw/place_text.h"
#include "report/draw/units.h"
#include "report/own_code.h"

/* ---- rows of any kind ---- */

static const struct rsc_row_table *table_of(enum rsc_ranked what) {
    return what == RSC_RANK_PAIRS     ? &rsc_row_table_pairs
           : what == RSC_RANK_OBJECTS ? &rsc_row_table_objects
                                      : &rsc_row_table_code;
}

/* ---- group keys ---- */

static int compare_text(const char *a, const char *b) { return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b); }

int rsc_place_has_line(const struct rsc_place *place) { return place->file && place->line; }

static int compare_source(const struct rsc_place *a, const struct rsc_place *b) {
    int order = compare_text(a->file, b->file);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

int rsc_place_compare(const struct rsc_place *a, const struct rsc_place *b) {
    int loader = rsc_place_is_loader(a);
    if (loader || rsc_place_is_loader(b)) return rsc_place_is_loader(b) - loader;
    int known = rsc_place_has_line(a), order = known - rsc_place_has_line(b);
    if (!order) order = compare_text(a->function, b->function);
    if (order) return order;
    if (known) return compare_source(a, b);
    order = compare_text(a->module, b->module);
    return order || a->function ? order : (a->pc > b->pc) - (a->pc < b->pc);
}

static int by_line(const void *left, const void *right) {
    const struct rsc_code_row *a = *(const void *const *)left, *b = *(const void *const *)right;
    return rsc_place_compare(&a->place, &b->place);
}

static int by_own(const void *left, const void *right) {
    const struct rsc_code_row *a = *(const void *const *)left, *b = *(const void *const *)right;
    return rsc_place_compare(rsc_own_place(a), rsc_own_place(b));
}

static int by_source(const void *left, const void *right) {
    const struct rsc_code_row *a = *(const void *const *)left, *b = *(const void *const *)right;
    return compare_source(&a->place, &b->place);
}

static int by_ends(const void *left, const void *right) {
    const struct rsc_pair_row *a = *(const void *const *)left, *b = *(const void *const *)right;
    int order = rsc_place_compare(&a->use, &b->use);
    return order ? order : rsc_place_compare(&a->reuse, &b->reuse);
}

static int by_name(const void *left, const void *right) {
    const struct rsc_object_row *a = *(const void *const *)left, *b = *(const void *const *)right;
    int order = compare_text(a->kind, b->kind);
    return order ? order : compare_text(a->name, b->name);
}

static int (*order_of(enum rsc_ranked what))(const void *, const void *) {
    switch (what) {
    case RSC_RANK_SOURCE: return by_source;
    case RSC_RANK_OWN: return by_own;
    case RSC_RANK_PAIRS: return by_ends;
    case RSC_RANK_OBJECTS: return by_name;
    case RSC_RANK_LINES: break;
    }
    return by_line;
}

/* ---- rankings ---- */

static size_t collect_rows(struct rsc_ranking *ranking, const struct rsc_row_table *table) {
    size_t count = 0;
    for (size_t i = 0; i < rsc_row_table_count(table, ranking->profile); i++) {
        const void *row = rsc_row_table_row(table, ranking->profile, i);
        const struct rsc_place *place = &((const struct rsc_code_row *)row)->place;
        if (ranking->what == RSC_RANK_SOURCE && !rsc_place_has_line(place)) continue;
        if (ranking->what == RSC_RANK_OWN && !rsc_own_place(row)) continue;
        if (ranking->what == RSC_RANK_LINES && rsc_place_is_other(place)) continue;
        ranking->rows[count++] = row;
    }
    return count;
}

/* By place: processes that run the same program have pcs of their own, but share the rows of its code. */
static int by_place(const void *left, const void *right) {
    return rsc_place_compare(&(*(const struct rsc_code_row *const *)left)->place,
                             &(*(const struct rsc_code_row *const *)right)->place);
}

/* Adds a row for each pair that ends in code without a line of the user, if its call path has one. */
static size_t add_calls(struct rsc_ranking *ranking, size_t count) {
    const struct rsc_profile *profile = ranking->profile;
    size_t own = count;
    qsort(ranking->rows, own, sizeof *ranking->rows, by_place);
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct rsc_pair_row *pair = &profile->pairs[i];
        const struct rsc_code_row end = {.place = pair->reuse}, *key = &end;
        const struct rsc_place *caller = rsc_own_caller(profile, pair->reuse_context);
        if (!caller || bsearch(&key, ranking->rows, own, sizeof *ranking->rows, by_place)) continue;
        struct rsc_code_row *call = &ranking->calls[ranking->call_count++];
        *call = (struct rsc_code_row){.place = *caller, .references = pair->references, .rd = pair->rd};
        ranking->rows[count++] = call;
    }
    return count;
}

static int costs_more(const void *left, const void *right) {
    const struct rsc_rank *a = left, *b = right;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    if (a->misses != b->misses) return a->misses < b->misses ? 1 : -1;
    if (a->references != b->references) return a->references < b->references ? 1 : -1;
    return a->rows < b->rows ? -1 : a->rows > b->rows;
}

static void sort_ranks(struct rsc_ranking *ranking) {
    if (ranking->count) qsort(ranking->ranks, ranking->count, sizeof *ranking->ranks, costs_more);
}

/* The latency of pairs without a measurement: the mean of the others, 1 if there are none. */
static double usual_latency(const struct rsc_profile *profile) {
    double sum = 0, weight = 0;
    for (size_t i = 0; i < profile->pair_count; i++) {
        if (!(profile->pairs[i].latency > 0)) continue;
        sum += profile->pairs[i].latency * (double)profile->pairs[i].references;
        weight += (double)profile->pairs[i].references;
    }
    return weight > 0 ? sum / weight : 1;
}

int rsc_ranking_make(struct rsc_ranking *ranking, const struct rsc_profile *profile, enum rsc_ranked what,
                     uint64_t size_lines) {
    int (*order)(const void *, const void *) = order_of(what);
    const struct rsc_row_table *table = table_of(what);
    size_t most = rsc_row_table_count(table, profile) + (what == RSC_RANK_OWN ? profile->pair_count : 0);
    *ranking = (struct rsc_ranking){.profile = profile, .what = what, .size_lines = size_lines};
    ranking->rows = calloc(most + 1, sizeof *ranking->rows);
    ranking->ranks = calloc(most + 1, sizeof *ranking->ranks);
    if (what == RSC_RANK_OWN) ranking->calls = calloc(profile->pair_count + 1, sizeof *ranking->calls);
    if (!ranking->rows || !ranking->ranks || (what == RSC_RANK_OWN && !ranking->calls)) {
        rsc_ranking_free(ranking);
        return RSC_ENOMEM;
    }
    size_t count = collect_rows(ranking, table);
    if (what == RSC_RANK_OWN) count = add_calls(ranking, count);
    double usual = what == RSC_RANK_PAIRS ? usual_latency(profile) : 1;
    const struct rsc_split split = rsc_split_at(profile, size_lines);
    qsort(ranking->rows, count, sizeof *ranking->rows, order);
    for (size_t i = 0; i < count; i++) {
        if (!i || order(&ranking->rows[i - 1], &ranking->rows[i]))
            ranking->ranks[ranking->count++].rows = (const void *const *)&ranking->rows[i];
        struct rsc_rank *rank = &ranking->ranks[ranking->count - 1];
        struct rsc_row_counts row = rsc_row_counts(table, ranking->rows[i]);
        rank->row_count++;
        rank->references += *row.references;
        if (row.cold) rank->cold += *row.cold;
        if (row.invalidated) rank->invalidated += *row.invalidated;
        rank->error += *row.error;
        uint64_t misses = rsc_row_misses(row, &split);
        rank->misses += misses;
        double latency = what == RSC_RANK_PAIRS ? ((const struct rsc_pair_row *)ranking->rows[i])->latency : 1;
        rank->cost += (double)misses * (latency > 0 ? latency : usual);
    }
    sort_ranks(ranking);
    return 0;
}

void rsc_ranking_by_cycles(struct rsc_ranking *ranking, const struct rsc_machine *machine) {
    for (size_t i = 0; i < ranking->count; i++) {
        struct rsc_rank *rank = &ranking->ranks[i];
        uint64_t misses[RSC_MACHINE_LEVELS_MAX];
        for (size_t level = 0; level < machine->level_count; level++)
            misses[level] = rsc_rank_misses(ranking, rank, rsc_cost_lines(ranking->profile, machine, level));
        rank->cost = rsc_cost_of_misses(misses, rank->invalidated, machine);
    }
    sort_ranks(ranking);
}

void rsc_ranking_free(struct rsc_ranking *ranking) {
    free(ranking->rows);
    free(ranking->ranks);
    free(ranking->calls);
    *ranking = (struct rsc_ranking){0};
}

uint64_t rsc_rank_misses(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t size_lines) {
    const struct rsc_split split = rsc_split_at(ranking->profile, size_lines);
    uint64_t misses = 0;
    for (size_t i = 0; i < rank->row_count; i++)
        misses += rsc_row_misses(rsc_row_counts(table_of(ranking->what), rank->rows[i]), &split);
    return misses;
}

/* At most the largest possible distance, and not inside the open bin of a cap. */
static uint64_t within_bounds(const struct rsc_profile *profile, uint64_t distance) {
    uint64_t known = rsc_rows_told_apart(profile);
    if (distance >= known) return known;
    uint64_t footprint = rsc_profile_footprint(profile);
    if (profile->made.sampling || !footprint || distance < footprint) return distance;
    return footprint - 1;
}

uint64_t rsc_rank_median(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t from) {
    return rsc_rank_quantile(ranking, rank, from, 0.5);
}

uint64_t rsc_rank_quantile(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t from,
                           double share) {
    uint64_t counts[RSC_BINS_COARSE_COUNT] = {0};
    struct rsc_histogram sum = {RSC_BINS_COARSE, RSC_BINS_COARSE_COUNT, counts};
    for (size_t i = 0; i < rank->row_count; i++)
        rsc_histogram_merge(&sum, rsc_row_counts(table_of(ranking->what), rank->rows[i]).rd);
    const struct rsc_split split = rsc_split_at(ranking->profile, from);
    long double part = (long double)rsc_split_far(&split, &sum) * (1 - (long double)share), above = 0;
    if (part <= 0) return UINT64_MAX;
    for (uint32_t bin = RSC_BINS_COARSE_COUNT; bin-- > 0;) {
        if (above + counts[bin] < part || !counts[bin]) {
            above += counts[bin];
            continue;
        }
        uint64_t median = rsc_split_distance(ranking->profile, bin, (double)((part - above) / counts[bin]));
        return within_bounds(ranking->profile, median > from ? median : from);
    }
    return UINT64_MAX;
}

#define ROOM_SHARE 0.001 /* fewer misses for want of room than this share of references do not matter */

/* The index of the largest cache that misses for want of room; level_count: none does. */
static size_t largest_too_small(const struct rsc_profile *profile, const struct rsc_machine *machine) {
    for (size_t i = machine->level_count; i-- > 0;) {
        uint64_t lines = machine->levels[i].size_bytes / profile->made.line_bytes;
        if (lines > rsc_rows_told_apart(profile)) lines = rsc_rows_told_apart(profile);
        uint64_t misses = rsc_profile_far_reuses(profile, lines ? lines : 1);
        if ((double)misses >= ROOM_SHARE * (double)profile->references && misses) return i;
    }
    return machine->level_count;
}

static void choose_size(struct rsc_rank_size *size, const struct rsc_profile *profile,
                        const struct rsc_machine *machine) {
    size->bytes = 1 << 20;
    if (!machine || !machine->level_count) return;
    size_t at = largest_too_small(profile, machine), last = machine->level_count - 1;
    size->why = at > last ? RSC_SIZE_ALL_FIT : RSC_SIZE_TOO_SMALL;
    size->bytes = machine->levels[at > last ? 0 : at].size_bytes;
}

struct rsc_rank_size rsc_rank_size(const struct rsc_profile *profile, const struct rsc_report_style *style,
                                   uint64_t bytes) {
    const struct rsc_machine *machine = style->machine;
    struct rsc_rank_size size = {.bytes = bytes};
    if (!size.bytes) choose_size(&size, profile, machine);
    size.lines = size.bytes / profile->made.line_bytes;
    if (!size.lines) size.lines = 1, size.bytes = profile->made.line_bytes;
    uint64_t known = rsc_rows_told_apart(profile); /* misses at larger sizes are not known */
    if (size.lines > known) {
        size.lowered = 1;
        size.why = RSC_SIZE_GIVEN;
        size.lines = known;
        size.bytes = rsc_lines_to_bytes(known, profile->made.line_bytes);
    }
    for (size_t i = 0; machine && i < machine->level_count; i++)
        if (machine->levels[i].size_bytes == size.bytes) size.level = &machine->levels[i];
    return size;
}
