/*
 * roi.h - a region of interest by function, for rebuilt programs, which record all
 * the time then: the parent leaves out what is not in it.
 *
 * The region lasts from a call of the function, or of a copy that the compiler made
 * of it (f.constprop.0, f._omp_fn.0), to its return to the caller; all threads count
 * meanwhile. A jump into it (a tail call) counts as a call.
 */
#ifndef RSC_COLLECT_DRAIN_ROI_H
#define RSC_COLLECT_DRAIN_ROI_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

struct rsc_roi_range {
    uint64_t start, stop; /* as linked */
};

struct rsc_roi {
    char *path;      /* of the program */
    int moves;       /* it is position-independent: addresses are from where it is loaded */
    struct rsc_roi_range *ranges;
    size_t count;
    uint64_t base;   /* where it is loaded */
    int placed;      /* base is known */
    int inside;      /* the region lasts */
    uint32_t thread; /* whose call began it */
    uint32_t depth;  /* calls open in that thread while it lasts, at least */
};

/* Finds the function in the program's symbol table. No such function is no error: nothing will be in the region. */
int rsc_roi_open(struct rsc_roi *roi, const char *path, const char *function, struct rsc_error *error);
void rsc_roi_close(struct rsc_roi *roi);

/* A file of the first process is mapped there. */
void rsc_roi_mapped(struct rsc_roi *roi, const char *path, size_t path_bytes, uint64_t file_offset, uint64_t start);

static inline int rsc_roi_holds(const struct rsc_roi *roi, uint64_t pc) {
    if (!roi->placed) return 0;
    for (size_t i = 0; i < roi->count; i++)
        if (pc - roi->base >= roi->ranges[i].start && pc - roi->base < roi->ranges[i].stop) return 1;
    return 0;
}

/* A thread is in code at `pc` with so many calls open, one of them being how it came there. */
static inline void rsc_roi_enter(struct rsc_roi *roi, uint32_t thread, uint32_t depth, uint64_t pc) {
    if (roi->inside || !depth || !rsc_roi_holds(roi, pc)) return;
    roi->inside = 1;
    roi->thread = thread;
    roi->depth = depth;
}

/* A thread has so many calls open after a return. */
static inline void rsc_roi_return(struct rsc_roi *roi, uint32_t thread, uint32_t depth) {
    if (roi->inside && roi->thread == thread && depth < roi->depth) roi->inside = 0;
}

#endif
