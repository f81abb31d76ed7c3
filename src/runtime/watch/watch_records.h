/*
 * watch_records.h - sampled uses and the outcomes of their watches, as plain records: the words of watch_ring.h with
 * positions converted to references and call paths to numbers.
 */
#ifndef RSC_RUNTIME_WATCH_WATCH_RECORDS_H
#define RSC_RUNTIME_WATCH_WATCH_RECORDS_H

#include <stdint.h>

#include "runtime/watch/watch_slots.h"

/* An access was sampled. */
struct rsc_watch_sample {
    uint64_t count; /* the thread's references up to and including this one */
    uint64_t address; /* its first byte; the aligned word that contains it is watched */
    uint64_t pc; /* 0: not known */
    uint64_t context; /* key by which attribution groups uses (a call path and pc, hashed; or the pc); any number */
    uint64_t stands_for; /* references per sample at that time: the period */
    uint32_t slot; /* slot armed with it; RSC_NO_SLOT: none */
    uint32_t path; /* call path: index into the profile's contexts, which the collector fills; or RSC_NO_CONTEXT */
    double chance; /* rsc_watch_choice.chance */
    uint32_t cycles; /* of the access; 0: not known */
    uint32_t source; /* enum rsc_data_source: where its data came from */
    uint32_t shape; /* enum rsc_watch_shape: what is watched */
};

/* A watch ended. */
struct rsc_watch_end {
    uint64_t count; /* the thread's references up to and including the reuse, or up to another end */
    uint64_t pc; /* REUSED: of the reuse; 0: not known */
    double chance; /* REUSED and UNUSED: the watch's chance, from its release */
    uint32_t slot;
    uint32_t path; /* REUSED: call path, as above */
    enum rsc_watch_ending ending;
};

/* A thread's progress. */
struct rsc_watch_progress {
    uint64_t pid, tid;
    uint64_t references, accesses; /* absolute: the last record counts */
};

enum rsc_watch_record_type { RSC_WATCH_RECORD_SAMPLE, RSC_WATCH_RECORD_END, RSC_WATCH_RECORD_PROGRESS };

struct rsc_watch_record {
    enum rsc_watch_record_type type;
    uint32_t thread; /* dense from 0 */
    union {
        struct rsc_watch_sample sample;
        struct rsc_watch_end end;
        struct rsc_watch_progress progress;
    };
};

#endif
