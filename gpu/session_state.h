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
    DeviceArray<unsigned char> ids, sorted_ids, temporary; /* sorted_ids later holds prev, temporary pairs and elements */
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
};

/*
 * Words of the first chunk, of the chunks it grows to, and of any. On an H200 a chunk
 * takes 0.3 ms beside its kernels, which do 10 G references a second: at 16 Mi that is
 * 1.9 ms, while copying them takes 2.4. Longer chunks only start later; shorter ones, or
 * many carried lines, and the bus waits for the kernels.
 */
#ifndef RSC_GPU_CHUNK_FIRST
#define RSC_GPU_CHUNK_FIRST (4ull << 20)
#define RSC_GPU_CHUNK_STEADY (16ull << 20)
#define RSC_GPU_CHUNK_MOST (64ull << 20)
#endif
static const u64 CHUNK_FIRST = RSC_GPU_CHUNK_FIRST, CHUNK_STEADY = RSC_GPU_CHUNK_STEADY, CHUNK_MOST = RSC_GPU_CHUNK_MOST;
static const u32 POSITIONS_MOST = 0x3ffffff0; /* PREV_NONE and the look-back words have 30 bits */

/* Indices of host_counts_. */
enum { HOST_LAST_USES, HOST_REUSES, HOST_KEPT, HOST_REGIONS };

/* Phases of the timing, in the order they run. */
enum { PHASE_IDS, PHASE_SORT, PHASE_PAIRS, PHASE_RANK, PHASE_COUNT, PHASE_LAST, PHASE_CARRY, PHASE_END };

#endif
