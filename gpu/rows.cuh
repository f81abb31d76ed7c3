/*
 * rows.cuh - distances by kind of access and by thread.
 *
 * A block of threads counts its references in shared memory and adds them to the session's (struct rsc_gpu_rows) at the
 * end: one block for each multiprocessor, as large as can be. Rows of threads that do not fit there are counted in the
 * device's memory directly.
 */
#ifndef RSC_GPU_ROWS_CUH
#define RSC_GPU_ROWS_CUH

#include "bins.cuh"
#include "distance/gpu/gpu_plugin.h"
#include "passes.cuh"

#ifdef RSC_GPU_EMULATED
constexpr u32 ROWS_THREADS = 64;
#else
constexpr u32 ROWS_THREADS = 1024;
#endif
constexpr u32 KIND_ROW = 1 + RSC_GPU_FINE_BINS, THREAD_ROW = 1 + RSC_GPU_COARSE_BINS; /* first uses, then bins */
constexpr u32 ROW_COUNTERS = RSC_GPU_KINDS * KIND_ROW + RSC_GPU_ROW_THREADS * THREAD_ROW;
/* Shared memory with room for rows of `threads` threads; how many fit into so many bytes. */
constexpr u32 rows_shared_bytes(u32 threads) { return (RSC_GPU_KINDS * KIND_ROW + threads * THREAD_ROW) * (u32)sizeof(u32); }
constexpr u32 rows_that_fit(u64 bytes) {
    u64 left = bytes > rows_shared_bytes(0) ? (bytes - rows_shared_bytes(0)) / (THREAD_ROW * sizeof(u32)) : 0;
    return left < RSC_GPU_ROW_THREADS ? (u32)left : RSC_GPU_ROW_THREADS;
}
static_assert(sizeof(rsc_gpu_rows) == ROW_COUNTERS * sizeof(u64), "counters in the same order");
static_assert(RSC_GPU_FINE_BINS == RD_BINS, "as the device's histogram");

__device__ __forceinline__ u32 coarse_bin(u32 value) {
    u32 above = highest_bit(value | 4) - 2;
    return above * 4 + (value >> above);
}

struct RowArguments {
    const u32 *prev, *by_value;
    const uint2 *ranks;
    const u32 *who; /* of the reference at position carried + i: kind, thread << 8 */
    u32 carried, count; /* positions */
    u32 cap, shared_threads;
    unsigned long long *rows;
};
__global__ void __launch_bounds__(ROWS_THREADS) count_rows(RowArguments a) {
    RSC_SHARED_MEMORY(shared);
    u32 *counters = (u32 *)shared, *threads = counters + RSC_GPU_KINDS * KIND_ROW;
    u32 in_shared = RSC_GPU_KINDS * KIND_ROW + a.shared_threads * THREAD_ROW;
    for (u32 i = threadIdx.x; i < in_shared; i += ROWS_THREADS) counters[i] = 0;
    __syncthreads();
    for (u64 i = (u64)blockIdx.x * ROWS_THREADS + threadIdx.x; a.carried + i < a.count; i += (u64)gridDim.x * ROWS_THREADS) {
        u32 prev = a.prev[a.carried + i] & PREV_NONE, who = a.who[i], kind = who & 0xff, thread = who >> 8;
        u32 fine = 0, coarse = 0;
        if (prev != PREV_NONE) {
            u32 rd = a.by_value[rank_of(a.ranks, prev)];
            rd = rd < a.cap ? rd : a.cap;
            fine = 1 + fine_bin(rd);
            coarse = 1 + coarse_bin(rd);
        }
        kind = kind < RSC_GPU_KINDS ? kind : RSC_GPU_KINDS - 1;
        atomicAdd(&counters[kind * KIND_ROW + fine], 1u);
        if (thread < a.shared_threads) atomicAdd(&threads[thread * THREAD_ROW + coarse], 1u);
        else if (thread < RSC_GPU_ROW_THREADS)
            atomicAdd(&a.rows[RSC_GPU_KINDS * KIND_ROW + thread * THREAD_ROW + coarse], 1ull);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < in_shared; i += ROWS_THREADS)
        if (counters[i]) atomicAdd(&a.rows[i], (unsigned long long)counters[i]);
}

#endif
