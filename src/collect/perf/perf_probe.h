/*
 * perf_probe.h - what this machine and its settings let perf_event_open() do: found out by
 * opening, never by the kernel's version.
 *
 * Debug registers (breakpoints) catch reuses; they are all that a rebuilt program needs.
 * A PMU that samples loads and stores with their addresses chooses uses in programs that
 * were not rebuilt: Intel's by its precise memory events, AMD's by IBS.
 */
#ifndef RSC_COLLECT_PERF_PERF_PROBE_H
#define RSC_COLLECT_PERF_PERF_PROBE_H

#include <stdint.h>

#include <reusescope/error.h>

struct perf_event_attr;

/* kernel.perf_event_paranoid, or -100 when it cannot be read. */
int rsc_perf_paranoid(void);

struct rsc_perf_breakpoints {
    unsigned count; /* that could be opened at once, up to 4 */
    int code;       /* errno of the first that could not; 0: none was refused below 4 */
    int sigtrap;    /* a trap was really taken, with its address */
};
void rsc_perf_probe_breakpoints(struct rsc_perf_breakpoints *found);

/* A PMU that samples addresses. */
enum rsc_perf_pmu_kind { RSC_PMU_NONE, RSC_PMU_INTEL, RSC_PMU_AMD_IBS, RSC_PMU_PAGE_FAULTS };

struct rsc_perf_pmu {
    enum rsc_perf_pmu_kind kind;
    uint32_t type;            /* perf_event_attr.type */
    uint64_t loads, stores;   /* Intel: config */
    uint64_t leader; /* Intel: config of the event that must lead a group with latencies (mem-loads-aux); 0: none */
    uint64_t latency_config1; /* Intel: least latency in config1 (ldlat); 0: not offered */
    uint64_t config, config2; /* IBS: uops, not cycles; filtering of the kernel by software */
    int precise; /* precise_ip that could be opened */
    int user_only_by_exclude; /* exclude_kernel is taken */
    int counts_together; /* loads and stores can be one group, read with each sample */
    int latency; /* samples carry latency (PERF_SAMPLE_WEIGHT) and source (PERF_SAMPLE_DATA_SRC) */
    char name[80]; /* for people */
};

/* Returns 0, or RSC_EUNSUPPORTED with one line that says why not and what to do. `root`: "" or, for tests, a folder that has sys/ in it. */
int rsc_perf_probe_pmu(struct rsc_perf_pmu *pmu, const char *root, struct rsc_error *error);

/* Why breakpoints cannot be had and what to do, as one line. */
void rsc_perf_explain_breakpoints(const struct rsc_perf_breakpoints *found, char *text, unsigned long room);

#endif
