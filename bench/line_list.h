/*
 * line_list.h - a trace as the list of lines it touches, in memory: made by a
 * generator, or the data accesses of a file. For benchmarks of engines' inner loops.
 */
#ifndef RSC_BENCH_LINE_LIST_H
#define RSC_BENCH_LINE_LIST_H

#include <reusescope/reusescope.h>

#include "bench/measure.h"
#include "trace/generate/generate.h"
#include "trace/references.h"

#define LINE_LIST_BLOCK 2048u

struct line_list {
    uint64_t *lines; /* room for `most` of them, the caller's */
    uint32_t count, most;
};

static inline void line_list_add(struct line_list *list, const struct rsc_batch *batch) {
    uint32_t from[LINE_LIST_BLOCK];
    struct rsc_reference_cursor cursor;
    rsc_references_start(&cursor, batch, 6);
    for (;;) {
        uint32_t room = list->most - list->count < LINE_LIST_BLOCK ? list->most - list->count : LINE_LIST_BLOCK;
        uint32_t filled = room ? rsc_references_fill(&cursor, list->lines + list->count, from, room) : 0;
        if (!filled) return;
        list->count += filled;
    }
}

static inline void line_list_make(struct line_list *list, const char *spec) {
    struct rsc_source *source;
    struct rsc_batch batch;
    struct rsc_error error;
    list->count = 0;
    need(rsc_generator_open(&source, spec, list->most, 1, &error), spec);
    while (source->ops->next(source, &batch, &error) > 0) line_list_add(list, &batch);
    source->ops->close(source);
}

static inline void line_list_load(struct line_list *list, const char *path) {
    struct rsc_filter data_only = RSC_FILTER_ALL;
    data_only.kinds = RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE);
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &data_only};
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    list->count = 0;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while (list->count < list->most && rsc_trace_next(trace, &batch, &error) > 0) line_list_add(list, batch);
    rsc_trace_close(trace);
}

#endif
