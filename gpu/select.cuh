/*
 * select.cuh - what may come before the sort: keeping only the lines of a sample,
 * and ordering references by thread.
 *
 * Stacks per thread need no other kernels than one stack for all. Positions are
 * ordered by thread, stably: of each thread, first the lines carried over, in order
 * of last use, then its references of this chunk. Ids contain the thread, so a
 * reference's previous use is in its own thread's stretch of positions, and what
 * is counted between the two is that thread's alone. All threads go through the
 * same launches.
 *
 * In both cases positions and times differ, so each position's time is written
 * down (Clock::times).
 */
#ifndef RSC_GPU_SELECT_CUH
#define RSC_GPU_SELECT_CUH

#include "distance/gpu/gpu_plugin.h"
#include "lines.cuh"

constexpr u32 THREAD_BITS = 16, THREAD_NUMBERS = 1u << THREAD_BITS;

/* ---- a sample ---- */

__device__ __forceinline__ bool is_kept(const rsc_gpu_stack &sample, u64 word) {
    u64 hash = rsc_gpu_line_hash(word >> sample.line_shift, sample.sample_seed);
    return hash >= sample.sample_low && hash <= sample.sample_high;
}

/* Which words are kept, 32 to a word, and how many. Rounds up. */
__global__ void mark_kept(const u64 *words, u32 count, rsc_gpu_stack sample, u32 *marks, u32 *counts) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 bits = __ballot_sync(ALL_LANES, i < count && is_kept(sample, words[i < count ? i : 0]));
    if (lane_number() == 0 && i / 32 <= count / 32) {
        marks[i / 32] = bits;
        counts[i / 32] = (u32)__popc(bits);
    }
}

/* before[] is the running sum of counts. Writes the kept words and when they came; *kept is how many. */
__global__ void gather_kept(const u64 *words, u32 count, const u32 *marks, const u32 *before, u64 start, u64 *out,
                            u64 *times, u32 *kept) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i / 32 > count / 32) return;
    u32 bits = marks[i / 32], bit = 1u << (i % 32);
    u32 at = before[i / 32] + (u32)__popc(bits & (bit - 1));
    if (i == count) *kept = at;
    if (!(bits & bit)) return;
    out[at] = words[i];
    times[at] = start + i;
}

/* ---- threads ---- */

__device__ __forceinline__ u32 thread_of(const RegionTable &table, u32 id) {
    return (u32)(table.regions[id >> REGION_BITS] >> (64 - THREAD_BITS - REGION_BITS));
}
__device__ __forceinline__ u32 thread_of(const RegionTable &, u64 id) { return (u32)(id >> (64 - THREAD_BITS)); }

template <class Id> __global__ void write_threads(const Id *ids, u32 count, RegionTable table, u32 *threads) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) threads[i] = thread_of(table, ids[i]);
}

/* Positions after ordering; source[p] is where p came from: below `carried` a carried line. */
struct ByThread {
    const u32 *threads; /* ordered */
    const u32 *source;
    u32 count, carried;
    u32 *own_start;     /* by thread: its first position that is no carried line, where this chunk has any */
    u64 *time;          /* by thread: its references so far */
};

__global__ void find_stretches(ByThread a) {
    u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= a.count || a.source[p] < a.carried) return;
    u32 thread = a.threads[p];
    if (p == 0 || a.threads[p - 1] != thread || a.source[p - 1] < a.carried) a.own_start[thread] = (u32)p;
}

template <class Id>
__global__ void take_by_thread(ByThread a, const Id *from, const u64 *carried_times, Id *ids, u64 *times) {
    u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= a.count) return;
    u32 source = a.source[p], thread = a.threads[p];
    ids[p] = from[source];
    times[p] = source < a.carried ? carried_times[source] : a.time[thread] + (p - a.own_start[thread]);
}

/* For the next chunk: times go on. */
__global__ void advance_threads(ByThread a) {
    u64 p = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= a.count || a.source[p] < a.carried) return;
    u32 thread = a.threads[p];
    if (p + 1 == a.count || a.threads[p + 1] != thread) a.time[thread] += p + 1 - a.own_start[thread];
}

#endif
