/* session_state.h - what a Session's two files share: what lasts from chunk to chunk, work space, limits. */
#ifndef RSC_GPU_SESSION_STATE_H
#define RSC_GPU_SESSION_STATE_H

#include "session.h"

struct Stack {
    rsc_gpu_stack options;
    bool wide = false; /* 64-bit ids */
    DeviceArray<unsigned long long> slots, regions, histograms; /* histograms: rd, then ri, then capped */
    DeviceArray<u32> region_counts;                             /* numbered, seen */
    u32 region_count = 0;
    DeviceArray<unsigned char> carry_ids; /* u32 or u64 */
    DeviceArray<u64> carry_times, next_times;
    DeviceArray<u32> carry_tags;
    u32 carried = 0;
    u64 time = 0;       /* words so far */
    u64 references = 0; /* of them, kept */
    DeviceArray<u64> thread_times;  /* with stacks per thread only: see ByThread */
    DeviceArray<u32> own_start;
};

/* Work space for `room` positions. */
struct Work {
    u32 room = 0;
    bool wide = false;
    DeviceArray<unsigned char> ids, sorted_ids,
        temporary; /* sorted_ids later holds prev, temporary pairs and elements */
    DeviceArray<u32> positions, sorted_positions;
    DeviceArray<uint2> elements, ranks;
    DeviceArray<u32> counts, before, status, small;
    DeviceArray<unsigned char> sum_space;
    /* sampled, or per thread */
    DeviceArray<u64> times;
    /* sampled: a chunk's kept words */
    DeviceArray<u64> kept_words, kept_times;
    DeviceArray<u32> kept_marks, kept_counts, kept_before;
    DeviceArray<unsigned char> kept_sum_space;
    /* per thread: before ordering, and the order */
    DeviceArray<unsigned char> unordered_ids;
    DeviceArray<u32> threads, sorted_threads;
    /* where outcomes are wanted: tags by position; distances by value; then by reference */
    DeviceArray<u32> tags, by_value, rd, last_tag;
    DeviceArray<u64> ri;
};

/*
 * Words of the first chunk, of the chunks after it, and of any. Measured on an H200, end
 * to end: 40 and 53 Mi words of real programs came to 6.0 to 6.4 G words a second in
 * chunks of 4 or 8 Mi, to 5.7 to 5.9 in chunks of 16 Mi, to 3.7 to 3.9 in one; 512 Mi over
 * 1 M lines to 6.3, 6.83 and 6.76 with 4, 8 and 16 Mi. Longer chunks only start later.
 *
 * Many carried lines take time with every chunk: at 10.5 M of them, chunks of 4, 8, 16 and
 * 32 Mi came to 3.57, 5.30, 6.70 and 6.59. From both: a chunk takes 0.2 ms, 0.053 a million
 * carried lines and 0.098 a million words, where copying a million words takes 0.144. They
 * are even at 4.4 M words and 1.2 for each carried line.
 */
#ifndef RSC_GPU_CHUNK_FIRST
#define RSC_GPU_CHUNK_FIRST (4ull << 20)
#define RSC_GPU_CHUNK_STEADY (8ull << 20)
#define RSC_GPU_CHUNK_MOST (64ull << 20)
#endif
static const u64 CHUNK_FIRST = RSC_GPU_CHUNK_FIRST, CHUNK_STEADY = RSC_GPU_CHUNK_STEADY,
                 CHUNK_MOST = RSC_GPU_CHUNK_MOST;
static inline u64 steady_words(u64 carried) {
    u64 even = CHUNK_FIRST + carried + carried / 4;
    return even > CHUNK_STEADY ? even : CHUNK_STEADY;
}
static const u32 POSITIONS_MOST = 0x3ffffff0; /* PREV_NONE and the look-back words have 30 bits */

/* Indices of host_counts_. */
enum { HOST_LAST_USES, HOST_REUSES, HOST_KEPT, HOST_REGIONS };

/* Phases of the timing, in the order they run. */
enum {
    PHASE_IDS,
    PHASE_SORT,
    PHASE_PAIRS,
    PHASE_RANK,
    PHASE_COUNT,
    PHASE_LAST,
    PHASE_CARRY,
    PHASE_HPRDA_RUNS,
    PHASE_HPRDA_LOCAL,
    PHASE_HPRDA_THREADS,
    PHASE_HPRDA_BLOCKS,
    PHASE_HPRDA_ADJUST,
    PHASE_END
};

#endif
