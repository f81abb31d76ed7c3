/*
 * perf_records.h - reads a PMU's samples from a perf event's ring buffer: the access, and
 * the values of its group's counters.
 *
 * Two layouts. Intel: loads and stores are events of one group, each sampled with its
 * address, and their sum is the clock. AMD: IBS tags one micro-operation per period, of any
 * kind; the loads and stores with a valid linear address among them are samples, and the
 * clock is micro-operations times the share of such samples.
 *
 * Pure functions on memory: no system calls, no allocation. Values in a record are bounded
 * by its own size.
 */
#ifndef RSC_RUNTIME_WATCH_PERF_RECORDS_H
#define RSC_RUNTIME_WATCH_PERF_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/data_source.h"

#define RSC_PERF_RECORD_MAX 1024u /* bytes; ours are below 400 */
#define RSC_PERF_GROUP_MAX 8u     /* events: leader, loads, stores and debug registers */

enum rsc_perf_layout { RSC_PERF_INTEL, RSC_PERF_AMD_IBS };

/* How a thread's events were opened. */
struct rsc_perf_layouts {
    enum rsc_perf_layout layout;
    int has_weight;   /* PERF_SAMPLE_WEIGHT and PERF_SAMPLE_DATA_SRC are in each sample */
    uint64_t loads_id, stores_id; /* PERF_EVENT_IOC_ID; IBS: loads_id is the event */
};

struct rsc_perf_sample {
    uint64_t ip, time, address; /* address 0: the sample has none */
    uint64_t count;             /* loads and stores of the thread so far; IBS: micro-operations */
    uint64_t running_ns;        /* time of the thread since its events were opened */
    uint64_t latency;           /* cycles; 0: not known */
    uint64_t source;            /* PERF_SAMPLE_DATA_SRC; 0: not known */
    uint32_t tid;
    uint8_t is_memory;  /* a load or a store with an address */
    uint8_t is_store;
    uint8_t is_shared;  /* the counters did not run all the time (multiplexing): count is invalid */
};

enum rsc_perf_record { RSC_PERF_NOTHING, RSC_PERF_SAMPLE, RSC_PERF_LOST, RSC_PERF_OTHER, RSC_PERF_BAD };

/* PERF_SAMPLE_* flags of a layout. */
uint64_t rsc_perf_sample_type(enum rsc_perf_layout layout, int has_weight);

/*
 * Copies the record at *tail of a ring of `size` bytes (a power of two), written up to `head`, whole to
 * `record` (RSC_PERF_RECORD_MAX bytes, aligned to 8), and moves *tail past it. Returns its bytes, or 0 if there
 * is none. An invalid record moves *tail to head.
 */
uint32_t rsc_perf_ring_next(const uint8_t *ring, uint64_t size, uint64_t head, uint64_t *tail, void *record);

/* The kind of a record of this many bytes, and for a sample its contents. *lost: samples that the kernel dropped. */
enum rsc_perf_record rsc_perf_decode(const struct rsc_perf_layouts *layouts, const void *record, uint32_t bytes,
                                     struct rsc_perf_sample *sample, uint64_t *lost);

/* The memory level that a PERF_SAMPLE_DATA_SRC names. */
enum rsc_data_source rsc_perf_source(uint64_t source);

/*
 * Parses the result of read() on a group's leader: the same values as in a sample. Returns 0, or -1 if it is invalid.
 */
int rsc_perf_read_group(const struct rsc_perf_layouts *layouts, const uint64_t *words, size_t count, uint64_t *value,
                        int *is_shared);

#endif
