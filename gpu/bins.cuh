/* bins.cuh - the profile's fine bins (base/histogram.h) on the device: exact below 1024, then 64 per octave. */
#ifndef RSC_GPU_BINS_CUH
#define RSC_GPU_BINS_CUH

#include "device.cuh"

constexpr u32 RD_BINS = 1024 + 22 * 64; /* every 32-bit value */
constexpr u32 RI_BINS = 1024 + 54 * 64; /* every 64-bit value */

__host__ __device__ __forceinline__ u32 highest_bit(u64 value) {
#ifdef __CUDA_ARCH__
    return 63 - (u32)__clzll((long long)value);
#else
    return 63 - (u32)__builtin_clzll(value);
#endif
}

__host__ __device__ __forceinline__ u32 fine_bin(u64 value) {
    if (value < 1024) return (u32)value;
    u32 octave = highest_bit(value);
    return 1024 + (octave - 10) * 64 + (u32)(value >> (octave - 6) & 63);
}
__host__ __device__ __forceinline__ u32 fine_bin(u32 value) {
    if (value < 1024) return value;
#ifdef __CUDA_ARCH__
    u32 octave = 31 - (u32)__clz((int)value);
#else
    u32 octave = 31 - (u32)__builtin_clz(value);
#endif
    return 1024 + (octave - 10) * 64 + (value >> (octave - 6) & 63);
}

#endif
