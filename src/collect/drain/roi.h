/*
 * roi.h - a region of interest given by function, for rebuilt programs: they record all
 * the time, and the parent drops the records outside of the region.
 *
 * The region lasts from a call of the function, or of a copy that the compiler made of
 * it (f.constprop.0, f._omp_fn.0), until it returns to the caller; all threads are
 * recorded meanwhile. A jump to it (a tail call) counts as a call.
 */
#ifndef RSC_COLLECT_DRAIN_ROI_H
#define RSC_COLLECT_DRAIN_ROI_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

struct rsc_roi_range {
    uint64_t start, stop; /* link-time address */
};

struct rsc_roi {
    char *path;      /* of the program */
    int moves;       /* position-independent: addresses are relative to the load address */
    struct rsc_roi_range *ranges;
    size_t count;
    uint64_t base;   /* load address */
    int placed;      /* base is known */
    int inside;      /* inside the region */
    uint32_t thread; /* thread whose call began it */
    uint32_t depth;  /* minimum number of open calls in that thread inside the region */
};

/* Finds the function in the program's symbol table. A missing function is not an error: the region stays empty. */
int rsc_roi_open(struct rsc_roi *roi, const char *path, const char *function, struct rsc_error *error);
void rsc_roi_close(struct rsc_roi *roi);

/* The first process mapped a file there. */
void rsc_roi_mapped(struct rsc_roi *roi, const char *path, size_t path_bytes, uint64_t file_offset, uint64_t start);

static inline int rsc_roi_holds(const struct rsc_roi *roi, uint64_t pc) {
    if (!roi->placed) return 0;
    for (size_t i = 0; i < roi->count; i++)
        if (pc - roi->base >= roi->ranges[i].start && pc - roi->base < roi->ranges[i].stop) return 1;
    return 0;
}

/* A thread runs code at `pc` with this many open calls, including the one that led there. */
static inline void rsc_roi_enter(struct rsc_roi *roi, uint32_t thread, uint32_t depth, uint64_t pc) {
    if (roi->inside || !depth || !rsc_roi_holds(roi, pc)) return;
    roi->inside = 1;
    roi->thread = thread;
    roi->depth = depth;
}

/* A thread has this many open calls after a return. */
static inline void rsc_roi_return(struct rsc_roi *roi, uint32_t thread, uint32_t depth) {
    if (roi->inside && roi->thread == thread && depth < roi->depth) roi->inside = 0;
}

#endif
