/*
 * perf_records.h - samples of a PMU as the kernel leaves them in a perf event's ring
 * buffer: which access was made, and what the counters of its group stood at.
 *
 * Two layouts. Intel: loads and stores are events of one group, each sampled with its
 * address, and their sum is the clock. AMD: IBS tags one micro-operation in so many, of
 * whatever sort; of those the loads and stores with a valid linear address are samples, and
 * the clock is micro-operations times the share of them that were such.
 *
 * Pure functions on memory: no system calls, no allocation. What a record says is bounded
 * by its own size.
 */
#ifndef RSC_RUNTIME_WATCH_PERF_RECORDS_H
#define RSC_RUNTIME_WATCH_PERF_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/data_source.h"

#define RSC_PERF_RECORD_MAX 1024u /* bytes; ours are below 400 */
#define RSC_PERF_GROUP_MAX 4u     /* events */

enum rsc_perf_layout { RSC_PERF_INTEL, RSC_PERF_AMD_IBS };

/* What a thread's events were opened with. */
struct rsc_perf_layouts {
    enum rsc_perf_layout layout;
    int has_weight;   /* PERF_SAMPLE_WEIGHT and PERF_SAMPLE_DATA_SRC are in each sample */
    uint64_t loads_id, stores_id; /* PERF_EVENT_IOC_ID; IBS: loads_id is the event */
};

struct rsc_perf_sample {
    uint64_t ip, time, address; /* address 0: the sample has none */
    uint64_t count;             /* loads and stores of the thread so far; IBS: micro-operations */
    uint64_t latency;           /* cycles; 0: not known */
    uint64_t source;            /* PERF_SAMPLE_DATA_SRC; 0: not known */
    uint32_t tid;
    uint8_t is_memory;  /* a load or a store with an address */
    uint8_t is_store;
    uint8_t is_shared;  /* the counters did not run all the time (multiplexing): count means nothing */
};

enum rsc_perf_record { RSC_PERF_NOTHING, RSC_PERF_SAMPLE, RSC_PERF_LOST, RSC_PERF_OTHER, RSC_PERF_BAD };

/* PERF_SAMPLE_* that a layout is read with. */
uint64_t rsc_perf_sample_type(enum rsc_perf_layout layout, int has_weight);

/*
 * The record at *tail of a ring of `size` bytes (a power of two) that is written up to `head`:
 * copied whole to `record` (RSC_PERF_RECORD_MAX bytes, aligned to 8), *tail moves behind it. Returns its bytes,
 * or 0 when there is none. One that makes no sense moves *tail to head.
 */
uint32_t rsc_perf_ring_next(const uint8_t *ring, uint64_t size, uint64_t head, uint64_t *tail, void *record);

/* What a record of so many bytes is, and if it is a sample what it says. *lost: samples that the kernel dropped. */
enum rsc_perf_record rsc_perf_decode(const struct rsc_perf_layouts *layouts, const void *record, uint32_t bytes,
                                     struct rsc_perf_sample *sample, uint64_t *lost);

/* Which level of memory a PERF_SAMPLE_DATA_SRC names. */
enum rsc_data_source rsc_perf_source(uint64_t source);

/* What read() of a group's leader gives: the same values as in a sample. Returns 0, or -1 when it makes no sense. */
int rsc_perf_read_group(const struct rsc_perf_layouts *layouts, const uint64_t *words, size_t count, uint64_t *value,
                        int *is_shared);

#endif
