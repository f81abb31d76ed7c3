/*
 * perf_probe.h - what perf_event_open() can do on this machine, found by opening events
 * and never by the kernel's version.
 *
 * Debug registers (breakpoints) catch reuses; a rebuilt program needs nothing else. A PMU
 * that samples loads and stores with their addresses chooses uses in programs that were
 * not rebuilt: on Intel by precise memory events, on AMD by IBS.
 */
#ifndef RSC_COLLECT_PERF_PERF_PROBE_H
#define RSC_COLLECT_PERF_PERF_PROBE_H

#include <stdint.h>

#include <reusescope/error.h>

struct perf_event_attr;
struct rsc_perf_events;

/* kernel.perf_event_paranoid, or -100 when it cannot be read. */
int rsc_perf_paranoid(void);

struct rsc_perf_breakpoints {
    unsigned count; /* opened at once, up to 4 */
    int code;       /* errno of the first that failed; 0: all 4 opened */
    int sigtrap;    /* a trap was taken, with its address */
};
void rsc_perf_probe_breakpoints(struct rsc_perf_breakpoints *found);

/* A PMU that samples addresses. */
enum rsc_perf_pmu_kind { RSC_PMU_NONE, RSC_PMU_INTEL, RSC_PMU_AMD_IBS, RSC_PMU_PAGE_FAULTS };

struct rsc_perf_pmu {
    enum rsc_perf_pmu_kind kind;
    uint32_t type;            /* perf_event_attr.type */
    uint64_t loads, stores;   /* Intel: config value */
    uint64_t leader; /* Intel: config of the event that must lead a group with latencies (mem-loads-aux); 0: none */
    uint64_t latency_config1; /* Intel: minimum latency in config1 (ldlat); 0: not offered */
    uint64_t config, config2; /* IBS: counts uops, not cycles; software excludes the kernel */
    int precise; /* highest precise_ip that opened */
    int user_only_by_exclude; /* exclude_kernel is accepted */
    int counts_together; /* loads and stores can form one group, read with each sample */
    int latency; /* samples carry latency (PERF_SAMPLE_WEIGHT) and source (PERF_SAMPLE_DATA_SRC) */
    char name[80]; /* for messages */
};

/*
 * Returns 0, or RSC_EUNSUPPORTED with a one-line reason and fix. `root`: "" or, for tests, a folder that contains
 * sys/.
 */
int rsc_perf_probe_pmu(struct rsc_perf_pmu *pmu, const char *root, struct rsc_error *error);

/*
 * Whether this is a virtual machine. Some hypervisors lose the cause of a debug trap now and then (on one with KVM, once
 * in about 200,000): the kernel then takes it for a breakpoint instruction of the program and sends SIGTRAP, which ends
 * a program that does not handle it.
 */
int rsc_perf_is_virtual(void);

/* The events of its samples (runtime/watch/perf_group.h). */
void rsc_perf_events_of(const struct rsc_perf_pmu *pmu, struct rsc_perf_events *events);

/* Why breakpoints are unavailable and how to fix it, in one line. */
void rsc_perf_explain_breakpoints(const struct rsc_perf_breakpoints *found, char *text, unsigned long room);

#endif
