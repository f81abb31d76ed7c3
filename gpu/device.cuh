/*
 * device.cuh - what the kernels are written against: CUDA, or (RSC_GPU_EMULATED)
 * the same names on the CPU, so that the kernels themselves are tested on
 * machines without a GPU.
 *
 * Invariants the kernels keep, which the emulation checks: blocks are whole
 * warps, and every barrier and warp vote is reached by all threads it is for.
 */
#ifndef RSC_GPU_DEVICE_CUH
#define RSC_GPU_DEVICE_CUH

#include <cstddef>
#include <cstdint>

#ifdef RSC_GPU_EMULATED
#include "emulate.h"
#else
#include <cuda_runtime.h>
#define RSC_LAUNCH(kernel, grid, threads, shared_bytes, stream, ...) \
    kernel<<<(grid), (threads), (shared_bytes), (stream)>>>(__VA_ARGS__)
/* Shared memory whose size the launch gives. */
#define RSC_SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#define RSC_PAUSE() __nanosleep(20)
/* The emulation has one device with one stream. */
#define RSC_ONE_AT_A_TIME() (void)0
#endif

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint16_t u16;

constexpr u32 ALL_LANES = 0xffffffffu, WARP = 32;

__device__ __forceinline__ u32 lane_number() { return threadIdx.x % WARP; }
__device__ __forceinline__ u32 warp_number() { return threadIdx.x / WARP; }
__device__ __forceinline__ u32 lanes_before() { return (1u << lane_number()) - 1; }

/* Bits needed to number n things; 0 for n <= 1. */
static inline __host__ __device__ u32 bits_for(u64 n) {
    u32 bits = 0;
    while (bits < 64 && (n > 1) && ((n - 1) >> bits)) bits++;
    return bits;
}

#endif
