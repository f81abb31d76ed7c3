/* page_rows.c - see page_rows.h. */
#include "report/page/page_rows.h"

#include <stdlib.h>
#include <string.h>

#include "profile/row_tables.h"
#include "report/ranking.h"

#define SIZES 48u /* powers of two, in lines */

/* All misses at each size. */
struct sums {
    double misses[SIZES];
    struct rsc_split splits[SIZES];
};

static void sum_up(struct sums *sums, const struct rsc_profile *profile) {
    for (uint32_t i = 0; i < SIZES; i++) {
        sums->misses[i] = (double)rsc_profile_misses(profile, 1ull << i);
        sums->splits[i] = rsc_split_at(profile, 1ull << i);
    }
}

static int matters(const struct sums *sums, struct rsc_row_counts row) {
    for (uint32_t i = 0; i < SIZES; i++) {
        double misses = (double)rsc_row_misses(row, &sums->splits[i]);
        if (misses > 0 && misses >= sums->misses[i] * RSC_PAGE_ROW_SHARE) return 1;
    }
    return 0;
}

/* The rows of a table that matter, the others behind them if `others`. Returns how many matter. */
static size_t keep(const struct rsc_row_table *table, const struct rsc_profile *profile, const struct sums *sums,
                   void *rows, int others) {
    const size_t count = rsc_row_table_count(table, profile), bytes = table->row_bytes;
    size_t kept = 0, left = count;
    for (size_t i = 0; i < count; i++) {
        const void *row = rsc_row_table_row(table, profile, i);
        if (matters(sums, rsc_row_counts(table, row))) memcpy((char *)rows + kept++ * bytes, row, bytes);
        else if (others) memcpy((char *)rows + --left * bytes, row, bytes);
    }
    return kept;
}

/* ---- code that is summed up ---- */

static int compare_text(const char *a, const char *b) {
    if (!a || !b) return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

static int by_function(const void *a, const void *b) {
    const struct rsc_place *x = &((const struct rsc_code_row *)a)->place, *y = &((const struct rsc_code_row *)b)->place;
    int order = compare_text(x->module, y->module);
    return order ? order : compare_text(x->function, y->function);
}

static void add_row(struct rsc_code_row *sum, const struct rsc_code_row *row) {
    sum->references += row->references;
    sum->cold += row->cold;
    sum->invalidated += row->invalidated;
    sum->error += row->error;
    rsc_histogram_merge(&sum->rd, &row->rd);
}

/* Sums rows of one function up into `to`; its histogram is initialised. */
static void sum_function(struct rsc_code_row *to, const struct rsc_code_row *rows, size_t count) {
    to->place =
        (struct rsc_place){.pc = rows->place.pc, .function = rows->place.function, .module = rows->place.module};
    for (size_t i = 0; i < count; i++) add_row(to, &rows[i]);
}

static int begin_row(struct rsc_page_rows *rows, size_t at) {
    memset(&rows->code[at], 0, sizeof *rows->code);
    if (rsc_histogram_init(&rows->code[at].rd, RSC_BINS_COARSE)) return RSC_ENOMEM;
    rows->shown.code_count = at + 1;
    return 0;
}

/* The `count` rows at `small` follow those kept: by function, then all that are still too small as one row. */
static int add_small(struct rsc_page_rows *rows, const struct sums *sums, struct rsc_code_row *small, size_t count) {
    static char no_place[] = RSC_PAGE_SMALL_PLACES;
    const size_t rest = rows->kept_code;
    qsort(small, count, sizeof *small, by_function);
    if (begin_row(rows, rest)) return RSC_ENOMEM;
    rows->code[rest].place.function = no_place;
    for (size_t i = 0, end; i < count; i = end) {
        const size_t at = rows->shown.code_count;
        for (end = i + 1; end < count && !by_function(&small[i], &small[end]);) end++;
        if (begin_row(rows, at)) return RSC_ENOMEM;
        sum_function(&rows->code[at], &small[i], end - i);
        if (small[i].place.function && matters(sums, rsc_row_counts(&rsc_row_table_code, &rows->code[at]))) continue;
        add_row(&rows->code[rest], &rows->code[at]);
        rsc_histogram_free(&rows->code[at].rd);
        rows->shown.code_count = at;
    }
    return 0;
}

static int keep_code(struct rsc_page_rows *rows, const struct rsc_profile *profile, const struct sums *sums) {
    const size_t count = profile->code_count;
    struct rsc_code_row *all = malloc((count + 1) * sizeof *all);
    rows->code = malloc((2 * count + 2) * sizeof *rows->code);
    if (!all || !rows->code) {
        free(all);
        return RSC_ENOMEM;
    }
    rows->kept_code = rows->shown.code_count = keep(&rsc_row_table_code, profile, sums, all, 1);
    memcpy(rows->code, all, rows->kept_code * sizeof *all);
    const size_t small = count - rows->kept_code;
    int status = small ? add_small(rows, sums, all + rows->kept_code, small) : 0;
    rows->shown.code = rows->code;
    rows->left_out += small;
    free(all);
    return status;
}

/* ---- the curve ---- */

static int repeats(const struct rsc_profile *profile, size_t i) {
    const struct rsc_mrc_point *a = &profile->mrc[i - 1], *b = &profile->mrc[i], *c = &profile->mrc[i + 1];
    return a->miss_ratio == b->miss_ratio && b->miss_ratio == c->miss_ratio && a->low == b->low && b->low == c->low &&
           a->high == b->high && b->high == c->high;
}

static int keep_curve(struct rsc_page_rows *rows, const struct rsc_profile *profile) {
    size_t kept = 0;
    if (profile->requests.miss_ratio) return 0; /* a second curve beside it */
    rows->mrc = malloc((profile->mrc_count + 1) * sizeof *rows->mrc);
    if (!rows->mrc) return RSC_ENOMEM;
    for (size_t i = 0; i < profile->mrc_count; i++)
        if (!i || i + 1 == profile->mrc_count || !repeats(profile, i)) rows->mrc[kept++] = profile->mrc[i];
    rows->shown.mrc = rows->mrc;
    rows->shown.mrc_count = kept;
    return 0;
}

int rsc_page_rows_make(struct rsc_page_rows *rows, const struct rsc_profile *profile) {
    struct rsc_profile places = *profile;
    struct sums sums;
    *rows = (struct rsc_page_rows){.shown = *profile};
    rows->shown.code_count = 0;
    rows->pairs = malloc((profile->pair_count + 1) * sizeof *rows->pairs);
    rows->objects = malloc((profile->object_count + 1) * sizeof *rows->objects);
    if (!rows->pairs || !rows->objects) return RSC_ENOMEM;
    sum_up(&sums, profile);
    /* the last one is no place */
    if (places.code_count && rsc_place_is_other(&places.code[places.code_count - 1].place)) places.code_count--;
    rows->shown.pairs = rows->pairs;
    rows->shown.objects = rows->objects;
    rows->shown.pair_count = keep(&rsc_row_table_pairs, profile, &sums, rows->pairs, 0);
    rows->shown.object_count = keep(&rsc_row_table_objects, profile, &sums, rows->objects, 0);
    rows->left_out = profile->pair_count - rows->shown.pair_count + profile->object_count - rows->shown.object_count;
    int status = keep_code(rows, &places, &sums);
    return status ? status : keep_curve(rows, profile);
}

void rsc_page_rows_free(struct rsc_page_rows *rows) {
    for (size_t i = rows->kept_code; i < rows->shown.code_count; i++) rsc_histogram_free(&rows->code[i].rd);
    free(rows->code);
    free(rows->pairs);
    free(rows->objects);
    free(rows->mrc);
}
