/*
 * ranks_sums.c - see ranks_sums.h.
 *
 * A message has: the fixed part, the fine histograms (and those of the second binning,
 * which all ranks have or none), one row per thread, one per kind of access seen, the
 * table of threads. An accumulator that has seen only thread 0, or only one kind, has
 * no row for it, as its totals are the row; a message always has the row.
 */
#include "distance/ranks/ranks_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct fixed_part {
    uint64_t accesses, references, cold, rd_capped, threads_seen, kinds_seen;
    uint64_t rows, threads;
    struct rsc_rank_costs costs;
};

struct wire_row {
    uint64_t references, cold;
    /* and the counts of a coarse histogram; a kind's: a fine one, and no references */
};

/* ---- counting ---- */

static struct rsc_thread_counts *row_of(struct rsc_accumulator *sum, uint32_t thread) {
    return sum->thread_count > 1 && thread < sum->thread_count ? &sum->threads[thread] : NULL;
}

int rsc_sums_add_reuse(struct rsc_accumulator *sum, uint32_t thread, uint32_t kind, uint64_t rd, uint64_t ri) {
    if (rsc_accumulator_need_rows(sum, thread + 1ull, 1u << kind) < 0) return RSC_ENOMEM;
    struct rsc_thread_counts *row = row_of(sum, thread);
    uint64_t cap = sum->rd_cap ? sum->rd_cap : UINT64_MAX, shown = rd < cap ? rd : cap;
    if (ri) sum->ri.count[rsc_bin_of_fine(ri)]++;
    if (rd < cap) sum->rd.count[rsc_bin_of_fine(rd)]++;
    else sum->rd_capped++;
    if (row) row->rd.count[rsc_bin_of_coarse(shown)]++;
    if (rsc_accumulator_by_kind(sum)) sum->kinds[kind].rd.count[rsc_bin_of_fine(shown)]++;
    if (!sum->bins_per_octave) return 0;
    rsc_histogram_add(&sum->rd_binned, shown, 1);
    if (ri) rsc_histogram_add(&sum->ri_binned, ri, 1);
    return 0;
}

int rsc_sums_add_cold(struct rsc_accumulator *sum, uint32_t thread, uint32_t kind) {
    if (rsc_accumulator_need_rows(sum, thread + 1ull, 1u << kind) < 0) return RSC_ENOMEM;
    struct rsc_thread_counts *row = row_of(sum, thread);
    sum->cold++;
    if (row) row->cold++;
    if (rsc_accumulator_by_kind(sum)) sum->kinds[kind].cold++;
    return 0;
}

/* ---- on the wire ---- */

static size_t histogram_bytes(const struct rsc_histogram *histogram) {
    return histogram->bin_count * sizeof *histogram->count;
}

static size_t row_bytes(void) { return sizeof(struct wire_row) + rsc_bins_count(RSC_BINS_COARSE) * sizeof(uint64_t); }

static size_t kind_bytes(void) { return sizeof(struct wire_row) + rsc_bins_count(RSC_BINS_FINE) * sizeof(uint64_t); }

static size_t wire_bytes(const struct rsc_accumulator *sum, const struct fixed_part *fixed) {
    uint64_t rows = fixed->rows, threads = fixed->threads, kinds = (uint64_t)__builtin_popcountll(fixed->kinds_seen);
    return sizeof(struct fixed_part) + histogram_bytes(&sum->rd) + histogram_bytes(&sum->ri) +
           histogram_bytes(&sum->rd_binned) + histogram_bytes(&sum->ri_binned) + rows * row_bytes() +
           kinds * kind_bytes() + threads * sizeof(struct rsc_thread);
}

static char *put(char *to, const void *from, size_t bytes) {
    if (bytes) memcpy(to, from, bytes);
    return to + bytes;
}

/* Writes row `i`, as sent, to `to`. */
static char *put_row(char *to, const struct rsc_accumulator *sum, uint32_t i, struct rsc_histogram *room) {
    int alone = sum->thread_count == 1;
    const struct rsc_thread_counts *kept = &sum->threads[i];
    struct wire_row row = {alone ? sum->references : kept->references, alone ? sum->cold : kept->cold};
    memset(room->count, 0, histogram_bytes(room));
    rsc_histogram_merge(room, alone ? &sum->rd : &kept->rd);
    if (alone && sum->rd_capped) rsc_histogram_add(room, sum->rd_cap, sum->rd_capped);
    to = put(to, &row, sizeof row);
    return put(to, room->count, histogram_bytes(room));
}

/* The same for kind `k`; `room` has fine bins. */
static char *put_kind(char *to, const struct rsc_accumulator *sum, uint32_t k, struct rsc_histogram *room) {
    int alone = !rsc_accumulator_by_kind(sum);
    struct wire_row row = {.cold = alone ? sum->cold : sum->kinds[k].cold};
    memset(room->count, 0, histogram_bytes(room));
    rsc_histogram_merge(room, alone ? &sum->rd : &sum->kinds[k].rd);
    if (alone && sum->rd_capped) rsc_histogram_add(room, sum->rd_cap, sum->rd_capped);
    to = put(to, &row, sizeof row);
    return put(to, room->count, histogram_bytes(room));
}

static int send_sum(struct rsc_ranks *ranks, const struct rsc_accumulator *sum, const struct rsc_thread_table *threads,
                    const struct rsc_rank_costs *costs, struct rsc_error *error) {
    struct fixed_part fixed = {sum->accesses,   sum->references,   sum->cold,      sum->rd_capped, sum->threads_seen,
                               sum->kinds_seen, sum->thread_count, threads->count, *costs};
    struct rsc_histogram room = {0}, fine = {0};
    size_t bytes = wire_bytes(sum, &fixed);
    char *message = malloc(bytes), *to = message;
    int status = 0;
    if (!message || rsc_histogram_init(&room, RSC_BINS_COARSE) < 0 || rsc_histogram_init(&fine, RSC_BINS_FINE) < 0) {
        status = rsc_fail_memory(error, "counts");
        goto out;
    }
    to = put(to, &fixed, sizeof fixed);
    to = put(to, sum->rd.count, histogram_bytes(&sum->rd));
    to = put(to, sum->ri.count, histogram_bytes(&sum->ri));
    to = put(to, sum->rd_binned.count, histogram_bytes(&sum->rd_binned));
    to = put(to, sum->ri_binned.count, histogram_bytes(&sum->ri_binned));
    for (uint32_t i = 0; i < fixed.rows; i++) to = put_row(to, sum, i, &room);
    for (uint32_t k = 0; k < RSC_KIND_SLOTS; k++)
        if (sum->kinds_seen >> k & 1) to = put_kind(to, sum, k, &fine);
    put(to, threads->threads, fixed.threads * sizeof *threads->threads);
    status = rsc_ranks_send_sized(ranks, ranks->rank - 1, message, bytes, error);
out:
    rsc_histogram_free(&room);
    rsc_histogram_free(&fine);
    free(message);
    return status;
}

static const char *add_counts(const char *from, uint64_t *counts, uint32_t bins) {
    for (uint32_t i = 0; i < bins; i++, from += sizeof(uint64_t)) {
        uint64_t more;
        memcpy(&more, from, sizeof more);
        counts[i] += more;
    }
    return from;
}

static int known(const struct rsc_thread *thread, uint32_t number) { return thread->pid || thread->tid != number; }

/* Makes room for `count` threads by number; new ones are unknown. */
static int make_table(struct rsc_thread_table *table, uint32_t count) {
    if (count <= table->count) return 0;
    struct rsc_thread *threads = realloc(table->threads, count * sizeof *threads);
    if (!threads) return RSC_ENOMEM;
    for (uint32_t i = table->count; i < count; i++) threads[i] = (struct rsc_thread){0, i};
    table->threads = threads;
    table->count = count;
    table->room = table->last = 0; /* only a list from here on */
    return 0;
}

static int add_message(const char *from, size_t bytes, struct rsc_accumulator *sum, struct rsc_thread_table *threads,
                       struct rsc_rank_costs *costs, struct rsc_error *error) {
    struct fixed_part fixed;
    if (bytes < sizeof fixed) return rsc_fail(error, RSC_EFORMAT, "counts of %zu bytes", bytes);
    memcpy(&fixed, from, sizeof fixed);
    from += sizeof fixed;
    if (fixed.rows > RSC_THREAD_ROWS_MAX || fixed.threads > RSC_THREADS_MAX || fixed.threads_seen > RSC_THREADS_MAX ||
        fixed.kinds_seen >> RSC_KIND_SLOTS || bytes != wire_bytes(sum, &fixed))
        return rsc_fail(error, RSC_EFORMAT, "counts of %zu bytes", bytes);
    /* Rows first: the row of thread 0, or of the only kind seen here, starts with the counts so far. */
    if (rsc_accumulator_need_rows(sum, fixed.threads_seen, (uint32_t)fixed.kinds_seen) < 0 ||
        make_table(threads, (uint32_t)fixed.threads) < 0)
        return rsc_fail_memory(error, "thread rows");
    sum->accesses += fixed.accesses;
    sum->references += fixed.references;
    sum->cold += fixed.cold;
    sum->rd_capped += fixed.rd_capped;
    from = add_counts(from, sum->rd.count, sum->rd.bin_count);
    from = add_counts(from, sum->ri.count, sum->ri.bin_count);
    from = add_counts(from, sum->rd_binned.count, sum->rd_binned.bin_count);
    from = add_counts(from, sum->ri_binned.count, sum->ri_binned.bin_count);
    for (uint32_t i = 0; i < fixed.rows; i++) {
        struct wire_row row;
        struct rsc_thread_counts *into = row_of(sum, i);
        memcpy(&row, from, sizeof row);
        if (into) {
            into->references += row.references;
            into->cold += row.cold;
            add_counts(from + sizeof row, into->rd.count, into->rd.bin_count);
        }
        from += row_bytes();
    }
    for (uint32_t k = 0; k < RSC_KIND_SLOTS; k++) {
        if (!(fixed.kinds_seen >> k & 1)) continue;
        struct wire_row row;
        memcpy(&row, from, sizeof row);
        if (rsc_accumulator_by_kind(sum)) {
            sum->kinds[k].cold += row.cold;
            add_counts(from + sizeof row, sum->kinds[k].rd.count, sum->kinds[k].rd.bin_count);
        }
        from += kind_bytes();
    }
    for (uint32_t i = 0; i < fixed.threads; i++, from += sizeof(struct rsc_thread))
        if (!known(&threads->threads[i], i)) memcpy(&threads->threads[i], from, sizeof(struct rsc_thread));
    costs->first_touches += fixed.costs.first_touches;
    costs->replayed += fixed.costs.replayed;
    costs->sent_bytes += fixed.costs.sent_bytes;
    if (fixed.costs.replayed_most > costs->replayed_most) costs->replayed_most = fixed.costs.replayed_most;
    if (fixed.costs.slice_seconds > costs->slice_seconds) costs->slice_seconds = fixed.costs.slice_seconds;
    if (fixed.costs.exchange_seconds > costs->exchange_seconds) costs->exchange_seconds = fixed.costs.exchange_seconds;
    return 0;
}

int rsc_sums_hand_on(struct rsc_ranks *ranks, struct rsc_accumulator *sum, struct rsc_thread_table *threads,
                     struct rsc_rank_costs *costs, struct rsc_error *error) {
    int status = 0;
    if (ranks->rank + 1 < ranks->size) {
        void *message;
        size_t bytes;
        status = rsc_ranks_receive_sized(ranks, ranks->rank + 1, &message, &bytes, error);
        if (!status) status = add_message(message, bytes, sum, threads, costs, error);
        free(message);
    }
    if (!status && ranks->rank) status = send_sum(ranks, sum, threads, costs, error);
    return status;
}

/* ---- threads ---- */

int rsc_sums_common_threads(struct rsc_ranks *ranks, struct rsc_thread_table *threads, uint32_t **map,
                            struct rsc_error *error) {
    struct rsc_thread_table common = {0};
    void *before = NULL;
    size_t bytes = 0;
    int64_t number = 0;
    int status = 0;
    *map = malloc((threads->count + 1) * sizeof **map);
    if (!*map) return rsc_fail_memory(error, "threads");
    if (ranks->rank) status = rsc_ranks_receive_sized(ranks, ranks->rank - 1, &before, &bytes, error);
    for (size_t i = 0; !status && number >= 0 && i < bytes / sizeof(struct rsc_thread); i++) {
        const struct rsc_thread *thread = (const struct rsc_thread *)before + i;
        number = rsc_thread_number(&common, thread->pid, thread->tid);
    }
    for (uint32_t i = 0; !status && number >= 0 && i < threads->count; i++) {
        number = rsc_thread_number(&common, threads->threads[i].pid, threads->threads[i].tid);
        (*map)[i] = (uint32_t)number;
    }
    if (!status && number < 0)
        status = number == RSC_ELIMIT ? rsc_fail(error, RSC_ELIMIT, "more than %u threads", RSC_THREADS_MAX)
                                      : rsc_fail_memory(error, "threads");
    if (!status && ranks->rank + 1 < ranks->size)
        status =
            rsc_ranks_send_sized(ranks, ranks->rank + 1, common.threads, common.count * sizeof *common.threads, error);
    free(before);
    rsc_thread_table_free(threads);
    *threads = common;
    return status;
}

int rsc_sums_renumber(struct rsc_accumulator *sum, const uint32_t *map) {
    uint32_t count = sum->thread_count, same = 1;
    int alone = count == 1, status = 0;
    for (uint32_t i = 0; i < count; i++) same &= map[i] == i;
    if (same) return 0;
    struct rsc_thread_counts *old = sum->threads;
    if (alone) { /* it has no row yet */
        status = rsc_histogram_init(&old[0].rd, RSC_BINS_COARSE);
        if (status < 0) return status;
        rsc_histogram_merge(&old[0].rd, &sum->rd);
        if (sum->rd_capped) rsc_histogram_add(&old[0].rd, sum->rd_cap, sum->rd_capped);
        old[0].references = sum->references;
        old[0].cold = sum->cold;
    }
    sum->threads = NULL;
    sum->thread_count = sum->thread_room = 0;
    sum->threads_seen = 0;
    for (uint32_t i = 0; !status && i < count; i++) status = rsc_accumulator_need_rows(sum, map[i] + 1ull, 0);
    /* Normally the first of several rows starts with all counts; here it is empty like the others. */
    for (uint32_t i = 0; !status && sum->thread_count > 1 && i < sum->thread_count; i++) {
        sum->threads[i].references = sum->threads[i].cold = 0;
        memset(sum->threads[i].rd.count, 0, histogram_bytes(&sum->threads[i].rd));
    }
    for (uint32_t i = 0; !status && i < count; i++) {
        struct rsc_thread_counts *row = row_of(sum, map[i]);
        if (!row) continue;
        row->references = old[i].references;
        row->cold = old[i].cold;
        rsc_histogram_merge(&row->rd, &old[i].rd);
    }
    for (uint32_t i = 0; i < count; i++) rsc_histogram_free(&old[i].rd);
    free(old);
    return status;
}
