/*
 * remote_watch.h - samples and watches the threads of a running process from outside, for `attach`: PMU events and
 * debug registers are opened on its threads, and everything is read here. Nothing is loaded into the process, no signal
 * is sent, and it is never stopped.
 *
 * Gaps. A sample is read some time after its access, so the word's next use may have passed before a register watches
 * it. An interval is therefore taken between two traps, which the kernel records with the counters of the same group:
 * both are exact, however late we are. Uses of a word often come in bursts (a read, a write, then nothing for long),
 * and the first trap is likely to begin one: so the interval begins at a trap chosen at random among the first
 * REMOTE_STARTS. After the second trap of the interval the kernel switches the register off by itself, so that a word in
 * constant use costs a few traps, not one per use.
 *
 * The sample keeps its own place and time; the interval is reported as if it began there. A watch that is replaced, or
 * still waits at the end, is censored after the time since its last trap, or since it was armed if there was none.
 */
#ifndef RSC_COLLECT_PERF_REMOTE_WATCH_H
#define RSC_COLLECT_PERF_REMOTE_WATCH_H

#include <sys/types.h>

#include "collect/perf/perf_probe.h"
#include "collect/perf/watch_drain.h"

struct rsc_remote_watch;

struct rsc_remote_options {
    pid_t pid;
    uint64_t period; /* accesses between samples; 0: as many as give `rate` */
    uint64_t rate;   /* samples per second of a thread's processor time */
    uint64_t seed;
    uint32_t registers;
    int whole_lines; /* watch parts of lines (runtime/watch/watch_shapes.h), not words */
};

/* Opens the events of all threads. RSC_EUNSUPPORTED: not permitted, or it has ended. */
int rsc_remote_watch_new(struct rsc_remote_watch **out, const struct rsc_perf_pmu *pmu,
                         const struct rsc_remote_options *options, struct rsc_error *error);
void rsc_remote_watch_free(struct rsc_remote_watch *remote); /* NULL is allowed */

/* As rsc_watch_drain_take(); waits a few milliseconds for something to come. */
int rsc_remote_watch_take(struct rsc_remote_watch *remote, int ended, const struct rsc_watch_record **records,
                          size_t *count, struct rsc_error *error);

struct rsc_remote_stats {
    struct rsc_watch_stats watch;
    uint64_t multiplexed;      /* samples not used: the PMU's counters were shared */
    uint32_t unwatched, code;  /* threads whose events could not be opened, and errno of the last */
    uint32_t held, held_code;  /* watches that could not be set, and errno of the last */
};
void rsc_remote_watch_stats(const struct rsc_remote_watch *remote, struct rsc_remote_stats *stats);

/* Puts the file mappings into a profile that is not sealed. Returns 0 or RSC_ENOMEM. */
int rsc_remote_watch_fill(const struct rsc_remote_watch *remote, struct rsc_profile *profile);

#endif
