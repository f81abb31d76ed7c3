/*
 * perf_group.h - a thread's PMU events: one group that samples loads and stores with their addresses into one ring
 * buffer, and whose counters are the clock. Opened by a thread for itself (`run --with perf`) or from outside
 * (`attach`). No allocation.
 */
#ifndef RSC_RUNTIME_WATCH_PERF_GROUP_H
#define RSC_RUNTIME_WATCH_PERF_GROUP_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "runtime/watch/perf_records.h"

#define RSC_PERF_RING_OWN 8192u     /* bytes of samples that a thread reads itself: tens of them */
#define RSC_PERF_RING_OUTSIDE 16384u /* that another process reads, when it gets to it */
#define RSC_PERF_PERIOD_FIRST 100000u

/* What to open, as found by probing (collect/perf/perf_probe.h). */
struct rsc_perf_events {
    uint32_t type;
    uint64_t loads, stores; /* stores 0: one event samples both */
    uint64_t leader;        /* 0: loads lead */
    uint64_t config1, config2;
    int precise, exclude;
    struct rsc_perf_layouts layouts; /* without ids: these are each thread's own */
};

struct rsc_perf_group {
    int leader, loads, stores; /* -1, or 0 before the first open: none */
    struct perf_event_mmap_page *page;
    uint32_t ring_bytes; /* behind the page */
    struct rsc_perf_layouts layouts;
    uint64_t last_count;   /* of the counters */
    double position;       /* loads and stores up to there */
    uint64_t seen, memory; /* samples, and loads and stores among them: IBS */
};

/*
 * Opens the events of a thread (0: the caller), disabled, and maps their ring. Returns 0, or -1 with errno; close it in
 * either case.
 */
int rsc_perf_group_open(struct rsc_perf_group *group, const struct rsc_perf_events *events, pid_t tid, uint64_t period,
                        uint32_t ring_bytes);
void rsc_perf_group_close(struct rsc_perf_group *group);
void rsc_perf_group_set_period(const struct rsc_perf_group *group, uint64_t period);

/* The next record of the ring, as rsc_perf_ring_next(), and its bytes; 0: none. */
uint32_t rsc_perf_group_next(struct rsc_perf_group *group, void *record);

/* The thread's loads and stores when the counters were at `count`, which may be before the last one. */
uint64_t rsc_perf_group_advance(struct rsc_perf_group *group, uint64_t count);

/* The same, now. Returns -1 if the counters had to share the PMU; *position is then the last one known. */
int rsc_perf_group_now(struct rsc_perf_group *group, uint64_t *position);

#endif
