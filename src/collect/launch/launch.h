/*
 * launch.h - starting a program with the collector inside, under QEMU or, when it
 * was built with `reusescope cc`, by itself, and seeing it through to its end.
 *
 * The program runs in our process group with our terminal, input and output. Keys
 * that send signals (Ctrl-C) reach it directly; signals sent to us alone are passed
 * on. Its end is ours: rsc_launch_finish() tells how it exited.
 */
#ifndef RSC_COLLECT_LAUNCH_LAUNCH_H
#define RSC_COLLECT_LAUNCH_LAUNCH_H

#include <sys/resource.h>
#include <sys/types.h>

#include <reusescope/error.h>

#include "collect/launch/target.h"
#include "runtime/ring/ring.h"

struct rsc_perf_pmu;

struct rsc_launch_options {
    int contexts, follow, strict, objects;
    const char *roi;       /* function, or "marked"; NULL: all of it */
    uint64_t skip, length; /* instructions; length 0: to the end */
    uint64_t seed;
    const char *sysroot; /* QEMU's -L; NULL: chosen for the guest */
    int keep_lines;      /* of a rebuilt program: only references to lines of a sample, as ring.h has it */
    uint64_t keep_limit, keep_offset;
    uint32_t keep_shift;
    int sampled;         /* of a rebuilt program: it samples references itself; 2: locks are synchronisation too */
    uint64_t planned;    /* samples after which the period doubles; 0: never */
    uint64_t planned_first; /* the same of the first period */
    struct rsc_sampler_options sampler;
    int rebuilt;         /* built with `reusescope cc`: it records by itself, without QEMU */
    int watch;           /* rebuilt: it does not record but watches its own reuses, as follows */
    uint64_t watch_period, watch_rate; /* as in struct rsc_watch_area */
    uint32_t watch_registers;
    int watch_lines; /* parts of lines of 64 bytes, not words */
    const struct rsc_perf_pmu
        *pmu; /* not rebuilt: a library is loaded into it that samples with this; NULL: otherwise */
    int unread;          /* and nobody reads it: to measure */
};

struct rsc_launch {
    struct rsc_ring *ring; /* mapped; the memory has no name */
    int ring_fd;
    pid_t pid;
    int running;
    int status; /* of waitpid() */
    struct rusage usage;
    double seconds; /* wall */
    uint64_t started_ns, stopped_ns; /* stopped_ns: 0 while it is not */
};

/* What is missing to launch anything, as one line with the fix; 0 when nothing is. */
int rsc_launch_check(enum rsc_guest guest, struct rsc_error *error);

/* Absolute path of the plugin, or of the guest's preload library; NULL when not found. Static storage. */
const char *rsc_launch_plugin_path(void);
const char *rsc_launch_preload_path(enum rsc_guest guest);
const char *rsc_launch_perf_path(void); /* of the library that samples with a PMU */
const char *rsc_launch_qemu_path(enum rsc_guest guest);
const char *rsc_launch_cpu(enum rsc_guest guest); /* QEMU's -cpu */

int rsc_launch_start(struct rsc_launch *launch, const struct rsc_target *target, char *const *argv,
                     const struct rsc_launch_options *options, struct rsc_error *error);

/*
 * Runs the program once without QEMU, its input and output cut off, and measures
 * its processor time in seconds. RSC_EUNSUPPORTED for another machine's program.
 */
int rsc_launch_native_seconds(const struct rsc_target *target, char *const *argv, double *seconds,
                              struct rsc_error *error);

/* Has the program ended? Fills status and usage when it has. */
int rsc_launch_poll(struct rsc_launch *launch);

/* Unmaps the ring and restores signal handling. */
void rsc_launch_close(struct rsc_launch *launch);

#endif
