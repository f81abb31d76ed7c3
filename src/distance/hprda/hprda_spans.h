/*
 * hprda_spans.h - the counts of distinct lines of consecutive pieces of a trace,
 * with the sum and the largest of any span of them.
 *
 * HP-RDA merges at three levels (local traces in a block, blocks in a fragment,
 * fragments in a trace); formula 1 needs the sum of the counts between two pieces,
 * and the lower bound of a distance needs the largest of them. Sums come from a
 * running total, maxima from a table that grows with each count: level k holds, for
 * every piece, the largest of the 2^k counts that end there.
 */
#ifndef RSC_DISTANCE_HPRDA_HPRDA_SPANS_H
#define RSC_DISTANCE_HPRDA_HPRDA_SPANS_H

#include <stdint.h>

#define RSC_SPAN_LEVELS 32

struct rsc_hprda_spans {
    uint32_t count, room;
    uint64_t *total;                  /* total[i]: sum of the first i counts */
    uint32_t *most[RSC_SPAN_LEVELS]; /* most[k][i]: largest of counts i - 2^k + 1 to i; NULL above the levels needed */
};

/* A zeroed struct is empty and may be freed. */
void rsc_hprda_spans_free(struct rsc_hprda_spans *spans);

static inline void rsc_hprda_spans_clear(struct rsc_hprda_spans *spans) { spans->count = 0; }

/* Appends a count. Returns 0 or RSC_ENOMEM. */
int rsc_hprda_spans_add(struct rsc_hprda_spans *spans, uint32_t count);

/* Of the pieces from `first` to before `end`; 0 where there are none. */
static inline uint64_t rsc_hprda_span_sum(const struct rsc_hprda_spans *spans, uint32_t first, uint32_t end) {
    return first < end ? spans->total[end] - spans->total[first] : 0;
}
static inline uint32_t rsc_hprda_span_most(const struct rsc_hprda_spans *spans, uint32_t first, uint32_t end) {
    if (first >= end) return 0;
    uint32_t level = 31 - (uint32_t)__builtin_clz(end - first);
    uint32_t late = spans->most[level][end - 1], early = spans->most[level][first + (1u << level) - 1];
    return late > early ? late : early;
}

#endif
