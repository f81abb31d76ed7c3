/* hprda_spans.c - growing the tables of hprda_spans.h. */
#include "distance/hprda/hprda_spans.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#define ROOM_FIRST 64u

void rsc_hprda_spans_free(struct rsc_hprda_spans *spans) {
    free(spans->total);
    for (uint32_t level = 0; level < RSC_SPAN_LEVELS; level++) free(spans->most[level]);
    memset(spans, 0, sizeof *spans);
}

/* Levels exist as far as `room` counts need, each of that length. */
static int grow(struct rsc_hprda_spans *spans) {
    uint32_t room = spans->room ? 2 * spans->room : ROOM_FIRST;
    if (room < spans->room) return RSC_ENOMEM;
    uint64_t *total = realloc(spans->total, ((size_t)room + 1) * sizeof *total);
    if (!total) return RSC_ENOMEM;
    if (!spans->total) total[0] = 0;
    spans->total = total;
    for (uint32_t level = 0; level < RSC_SPAN_LEVELS && 1u << level <= room; level++) {
        uint32_t *most = realloc(spans->most[level], room * sizeof *most);
        if (!most) return RSC_ENOMEM;
        spans->most[level] = most;
    }
    spans->room = room;
    return 0;
}

int rsc_hprda_spans_add(struct rsc_hprda_spans *spans, uint32_t count) {
    if (spans->count == spans->room && grow(spans) < 0) return RSC_ENOMEM;
    uint32_t at = spans->count++;
    spans->total[at + 1] = spans->total[at] + count;
    spans->most[0][at] = count;
    for (uint32_t level = 1; level < RSC_SPAN_LEVELS && 1u << level <= at + 1; level++) {
        uint32_t late = spans->most[level - 1][at], early = spans->most[level - 1][at - (1u << (level - 1))];
        spans->most[level][at] = late > early ? late : early;
    }
    return 0;
}
