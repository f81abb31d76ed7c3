/*
 * roi.h - a region of interest given by function. Rebuilt programs record all the time, and the parent drops the records
 * outside of the region; for other programs it only looks whether they have the function.
 *
 * Each thread has its own region: from its call of the function, or of a copy that the compiler made of it
 * (f.constprop.0, f._omp_fn.0), until that call is left, in whatever way. A jump to it (a tail call) counts as a call.
 * main() and the first function of a thread are called by code that was not rebuilt: there the pc decides
 * (enum rsc_region_root). A child that is forked in the region begins in it.
 */
#ifndef RSC_COLLECT_DRAIN_ROI_H
#define RSC_COLLECT_DRAIN_ROI_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

struct rsc_roi_range {
    uint64_t start, stop; /* link-time address */
};

/* A program file, and where the function is in it. Owned by the region. */
struct rsc_roi_program {
    char *path;
    int moves; /* position-independent: addresses are relative to the load address */
    struct rsc_roi_range *ranges;
    size_t count;
    size_t named; /* of these, functions with just that name; the others are copies */
};

/* A process runs one program. All zeros: not known yet. */
struct rsc_roi_process {
    size_t program; /* index, plus 1 */
    uint64_t base;  /* load address */
    int placed;     /* base is known */
};

struct rsc_roi {
    char *function;
    struct rsc_roi_program *programs;
    size_t program_count, program_room;
    struct rsc_roi_process *processes; /* by number */
    size_t process_count, process_room;
};

/*
 * Finds the function in the symbol table of the program that is to run. A missing function is not an error: the region
 * stays empty there.
 */
int rsc_roi_open(struct rsc_roi *roi, const char *path, const char *function, struct rsc_error *error);
void rsc_roi_close(struct rsc_roi *roi);

/* The process with that number, from 0 on, runs this program. A file that cannot be read has no function. RSC_ENOMEM
 * or 0. */
int rsc_roi_runs(struct rsc_roi *roi, uint32_t process, const char *path, size_t path_bytes);
/* It mapped a file there. */
void rsc_roi_mapped(struct rsc_roi *roi, uint32_t process, const char *path, size_t path_bytes, uint64_t file_offset,
                    uint64_t start);

/* `pc` is the process's own address. */
static inline int rsc_roi_holds(const struct rsc_roi *roi, uint32_t process, uint64_t pc) {
    if (process >= roi->process_count || !roi->processes[process].placed) return 0;
    const struct rsc_roi_program *program = &roi->programs[roi->processes[process].program - 1];
    pc -= roi->processes[process].base;
    for (size_t i = 0; i < program->count; i++)
        if (pc >= program->ranges[i].start && pc < program->ranges[i].stop) return 1;
    return 0;
}

#endif
