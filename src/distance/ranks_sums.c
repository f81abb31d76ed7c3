/*
 * ranks_sums.c - see ranks_sums.h.
 *
 * On the wire: the fixed part, the fine histograms (and those of the second binning,
 * which all ranks have or none), one row a thread, the table of threads. An accumulator
 * that has seen thread 0 alone keeps no row for it, its totals are that; on the wire
 * there is always a row.
 */
#include "distance/ranks_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct fixed_part {
    uint64_t accesses, references, cold, rd_capped, threads_seen;
    uint64_t rows, threads;
    struct rsc_rank_costs costs;
};

struct wire_row {
    uint64_t references, cold;
    /* and the counts of a coarse histogram */
};

/* ---- counting ---- */

int rsc_sums_see_thread(struct rsc_accumulator *sum, uint32_t thread) {
    if (thread < sum->threads_seen) return 0;
    const uint64_t addr = 0, meta = rsc_meta(1, RSC_READ, thread);
    const struct rsc_batch batch = {.count = 1, .addr = &addr, .meta = &meta};
    return rsc_accumulator_see_threads(sum, &batch);
}

static struct rsc_thread_counts *row_of(struct rsc_accumulator *sum, uint32_t thread) {
    return sum->thread_count > 1 && thread < sum->thread_count ? &sum->threads[thread] : NULL;
}

int rsc_sums_add_reuse(struct rsc_accumulator *sum, uint32_t thread, uint64_t rd, uint64_t ri) {
    if (rsc_sums_see_thread(sum, thread) < 0) return RSC_ENOMEM;
    struct rsc_thread_counts *row = row_of(sum, thread);
    uint64_t cap = sum->rd_cap ? sum->rd_cap : UINT64_MAX, shown = rd < cap ? rd : cap;
    sum->ri.count[rsc_bin_of_fine(ri)]++;
    if (rd < cap)
        sum->rd.count[rsc_bin_of_fine(rd)]++;
    else
        sum->rd_capped++;
    if (row) row->rd.count[rsc_bin_of_coarse(shown)]++;
    if (!sum->bins_per_octave) return 0;
    rsc_histogram_add(&sum->rd_binned, shown, 1);
    rsc_histogram_add(&sum->ri_binned, ri, 1);
    return 0;
}

int rsc_sums_add_cold(struct rsc_accumulator *sum, uint32_t thread) {
    if (rsc_sums_see_thread(sum, thread) < 0) return RSC_ENOMEM;
    struct rsc_thread_counts *row = row_of(sum, thread);
    sum->cold++;
    if (row) row->cold++;
    return 0;
}

/* ---- on the wire ---- */

static size_t histogram_bytes(const struct rsc_histogram *histogram) {
    return histogram->bin_count * sizeof *histogram->count;
}

static size_t row_bytes(void) { return sizeof(struct wire_row) + rsc_bins_count(RSC_BINS_COARSE) * sizeof(uint64_t); }

static size_t wire_bytes(const struct rsc_accumulator *sum, uint64_t rows, uint64_t threads) {
    return sizeof(struct fixed_part) + histogram_bytes(&sum->rd) + histogram_bytes(&sum->ri) +
           histogram_bytes(&sum->rd_binned) + histogram_bytes(&sum->ri_binned) + rows * row_bytes() +
           threads * sizeof(struct rsc_thread);
}

static char *put(char *to, const void *from, size_t bytes) {
    if (bytes) memcpy(to, from, bytes);
    return to + bytes;
}

/* Row `i` as it is sent, written at `to`. */
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

static int send_sum(struct rsc_ranks *ranks, const struct rsc_accumulator *sum, const struct rsc_thread_table *threads,
                    const struct rsc_rank_costs *costs, struct rsc_error *error) {
    struct fixed_part fixed = {sum->accesses,     sum->references,   sum->cold,      sum->rd_capped,
                               sum->threads_seen, sum->thread_count, threads->count, *costs};
    struct rsc_histogram room = {0};
    size_t bytes = wire_bytes(sum, fixed.rows, fixed.threads);
    char *message = malloc(bytes), *to = message;
    if (!message || rsc_histogram_init(&room, RSC_BINS_COARSE) < 0) {
        free(message);
        return rsc_fail_memory(error, "counts");
    }
    to = put(to, &fixed, sizeof fixed);
    to = put(to, sum->rd.count, histogram_bytes(&sum->rd));
    to = put(to, sum->ri.count, histogram_bytes(&sum->ri));
    to = put(to, sum->rd_binned.count, histogram_bytes(&sum->rd_binned));
    to = put(to, sum->ri_binned.count, histogram_bytes(&sum->ri_binned));
    for (uint32_t i = 0; i < fixed.rows; i++) to = put_row(to, sum, i, &room);
    put(to, threads->threads, fixed.threads * sizeof *threads->threads);
    int status = rsc_ranks_send_sized(ranks, ranks->rank - 1, message, bytes, error);
    rsc_histogram_free(&room);
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

/* Room for `count` threads by number; new ones say nothing. */
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
    if (fixed.rows > RSC_THREAD_ROWS_MAX || fixed.threads > RSC_THREADS_MAX ||
        bytes != wire_bytes(sum, fixed.rows, fixed.threads))
        return rsc_fail(error, RSC_EFORMAT, "counts of %zu bytes", bytes);
    /* Rows first: a row for thread 0 begins as what was counted here so far. */
    if ((fixed.threads_seen && rsc_sums_see_thread(sum, (uint32_t)fixed.threads_seen - 1) < 0) ||
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
        status = rsc_ranks_send_sized(ranks, ranks->rank + 1, common.threads, common.count * sizeof *common.threads,
                                      error);
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
    for (uint32_t i = 0; !status && i < count; i++) status = rsc_sums_see_thread(sum, map[i]);
    /* The first of several rows begins as all that was counted; here it is empty like the others. */
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
