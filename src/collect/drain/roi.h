/*
 * roi.h - a region of interest given by function, for rebuilt programs: they record all
 * the time, and the parent drops the records outside of the region.
 *
 * Each thread has its own region: from its call of the function, or of a copy that the compiler made of it
 * (f.constprop.0, f._omp_fn.0), until that call is left, in whatever way. A jump to it (a tail call) counts as a call.
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

#endif
