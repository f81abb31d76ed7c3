/*
 * lines.cuh - from words of the copy (addresses) to small line numbers.
 *
 * A line's upper bits name a region of 65,536 lines; regions met so far stand in a
 * hash table and are numbered as they come. The line's id is the region's number
 * and the lower 16 bits: 32 bits for programs of up to 65,534 regions (256 GiB of
 * touched 4 MiB stretches at 64-byte lines), and few enough significant bits that
 * the sort is short. Numbers never change, so ids hold from chunk to chunk. With
 * more regions, ids are the 64-bit lines themselves.
 *
 * Two kernels, because a number may only be given once a region is seen once:
 * see_regions() puts new ones in the table without number, number_regions() gives
 * numbers, make_ids() translates.
 */
#ifndef RSC_GPU_LINES_CUH
#define RSC_GPU_LINES_CUH

#include "device.cuh"

#ifndef RSC_GPU_REGION_SLOT_BITS
#define RSC_GPU_REGION_SLOT_BITS 17
#endif
constexpr u32 REGION_BITS = 16, REGION_SLOT_BITS = RSC_GPU_REGION_SLOT_BITS, REGION_SLOTS = 1u << REGION_SLOT_BITS;
constexpr u32 REGIONS_MOST = REGION_SLOTS / 2 - 2;
/* No number, and not all ones: the topmost region without a number must differ from an empty slot. */
constexpr u32 REGION_PENDING = 0xfffe;
static_assert(REGIONS_MOST <= REGION_PENDING, "numbers");
#define REGION_EMPTY (~(unsigned long long)0)

/* How words become lines. With stacks per thread, the 16 uppermost bits are the thread, and stay where they are. */
struct LineRule {
    u32 shift;
    u32 thread_bits; /* 0 or 16 */
};
__host__ __device__ __forceinline__ u64 line_of(LineRule rule, u64 word) {
    if (!rule.thread_bits) return word >> rule.shift;
    return (word >> 48 << 48) | ((word & ((1ull << 48) - 1)) >> rule.shift);
}

struct RegionTable {
    unsigned long long *slots; /* region << 16 | number */
    unsigned long long *regions; /* by number */
    u32 *count;
    u32 *seen; /* regions in the table, numbered or not */
};

__device__ __forceinline__ u32 region_slot(u64 region) {
    return (u32)((region * 0x9e3779b97f4a7c15ull) >> (64 - REGION_SLOT_BITS));
}

__global__ void see_regions(const u64 *words, u64 count, LineRule rule, RegionTable table) {
    u64 step = (u64)gridDim.x * blockDim.x, known = ~0ull;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        u64 region = line_of(rule, words[i]) >> REGION_BITS;
        if (region == known) continue;
        known = region;
        for (u32 at = region_slot(region);; at = (at + 1) % REGION_SLOTS) {
            unsigned long long slot = table.slots[at];
            if (slot == REGION_EMPTY) {
                if (*(volatile u32 *)table.seen > REGIONS_MOST) break; /* too many anyway */
                slot = atomicCAS(&table.slots[at], REGION_EMPTY, (unsigned long long)(region << 16 | REGION_PENDING));
                if (slot == REGION_EMPTY) {
                    atomicAdd(table.seen, 1u);
                    break;
                }
            }
            if (slot >> 16 == region) break;
        }
    }
}

/* One block. After it, *table.count > REGIONS_MOST means: too many for 32-bit ids. */
__global__ void number_regions(RegionTable table) {
    if (*table.seen == *table.count) return;
    for (u32 at = threadIdx.x; at < REGION_SLOTS; at += blockDim.x) {
        unsigned long long slot = table.slots[at];
        if (slot == REGION_EMPTY || (slot & 0xffff) != REGION_PENDING) continue;
        u32 number = atomicAdd(table.count, 1u);
        if (number >= REGIONS_MOST) continue;
        table.slots[at] = slot >> 16 << 16 | number;
        table.regions[number] = slot >> 16;
    }
}

__device__ __forceinline__ u32 region_number(const RegionTable &table, u64 region) {
    for (u32 at = region_slot(region);; at = (at + 1) % REGION_SLOTS) {
        unsigned long long slot = __ldg(&table.slots[at]);
        if (slot >> 16 == region) return (u32)(slot & 0xffff);
    }
}

/* Writes ids[i] for words[i]; Id is u32 (regions numbered) or u64 (lines as they are). */
__device__ __forceinline__ u32 id_of(const RegionTable &table, u64 line, u32) {
    return region_number(table, line >> REGION_BITS) << REGION_BITS | (u32)(line & 0xffff);
}
__device__ __forceinline__ u64 id_of(const RegionTable &, u64 line, u64) { return line; }

template <class Id>
__global__ void make_ids(const u64 *words, u64 count, LineRule rule, RegionTable table, Id *ids) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        ids[i] = id_of(table, line_of(rule, words[i]), Id());
}

/* Back from ids to lines, when 32 bits no longer suffice. */
__global__ void widen_ids(const u32 *ids, u64 count, RegionTable table, u64 *lines) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) lines[i] = table.regions[ids[i] >> REGION_BITS] << REGION_BITS | (ids[i] & 0xffff);
}

#endif
