/*
 * pairs.cuh - previous uses in time order, and what the next chunk starts from.
 *
 * After the stable sort of (id, position), equal neighbours are consecutive uses
 * of a line. Writing prev[position] straight away would be one random access to
 * memory per reference. Instead pair_up() sends pairs to 256 buckets of
 * consecutive positions, through shared memory and in runs; place() then writes
 * bucket after bucket, so that all writes in flight fall into a few megabytes,
 * which the L2 cache gathers into whole sectors. Every position occurs once, so a
 * bucket's place and size are known beforehand, and order within it is free.
 */
#ifndef RSC_GPU_PAIRS_CUH
#define RSC_GPU_PAIRS_CUH

#include "bins.cuh"
#include "passes.cuh"

constexpr u32 BUCKET_BITS = 8, BUCKETS = 1u << BUCKET_BITS;

/* When positions happened. Positions below `carried` have times of their own, or (select.cuh) all have. */
struct Clock {
    const u64 *carried_times;
    u32 carried;
    u64 start;        /* time of position `carried` */
    const u64 *times; /* by position; NULL: the above */
};
__device__ __forceinline__ u64 time_of(const Clock &clock, u32 position) {
    if (clock.times) return clock.times[position];
    return position < clock.carried ? clock.carried_times[position] : clock.start + (position - clock.carried);
}

template <class Id> struct PairArguments {
    const Id *ids;        /* sorted */
    const u32 *positions; /* in that order */
    u32 count;
    u32 bucket_shift;     /* bucket = position >> bucket_shift */
    u32 *bucket_filled;   /* zeroed */
    uint2 *pairs;         /* position; previous position or PREV_NONE, with PREV_LAST */
    Clock clock;
    unsigned long long *intervals; /* NULL: not wanted */
};

template <class Id> __global__ void __launch_bounds__(THREADS) pair_up(PairArguments<Id> a) {
    RSC_SHARED_MEMORY(shared);
    uint2 *ordered = (uint2 *)shared;
    u32 *bins = (u32 *)(shared + TILE * sizeof(uint2));
    __shared__ u32 filled[BUCKETS], target[BUCKETS], warp_sums[THREADS / WARP];
    u32 tiles = (a.count + TILE - 1) / TILE, lane = lane_number();
    for (u32 bin = threadIdx.x; bin < RI_BINS; bin += THREADS) bins[bin] = 0;
    for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        u32 origin = tile * TILE, position[ITEMS], word[ITEMS], place[ITEMS];
        u32 here = a.count - origin < TILE ? a.count - origin : TILE;
        __syncthreads();
        for (u32 b = threadIdx.x; b < BUCKETS; b += THREADS) filled[b] = 0;
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u32 offset = k * THREADS + threadIdx.x, at = origin + offset;
            position[k] = word[k] = 0;
            if (offset >= here) continue;
            Id id = a.ids[at];
            position[k] = a.positions[at];
            word[k] = at > 0 && a.ids[at - 1] == id ? a.positions[at - 1] : PREV_NONE;
            if (at + 1 == a.count || a.ids[at + 1] != id) word[k] |= PREV_LAST;
        }
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u32 offset = k * THREADS + threadIdx.x, bucket = position[k] >> a.bucket_shift;
            bool exists = offset < here, as_first = bucket == __shfl_sync(ALL_LANES, bucket, 0);
            /* uses of a hot line follow each other: a whole warp often has one bucket */
            if (__all_sync(ALL_LANES, exists && as_first)) {
                u32 base = lane == 0 ? atomicAdd(&filled[bucket], WARP) : 0;
                place[k] = __shfl_sync(ALL_LANES, base, 0) + lane;
            } else {
                place[k] = exists ? atomicAdd(&filled[bucket], 1u) : 0;
            }
            u32 prev = word[k] & PREV_NONE;
            if (a.intervals && exists && prev != PREV_NONE) {
                u64 interval = prev >= a.clock.carried && !a.clock.times
                                   ? position[k] - prev
                                   : time_of(a.clock, position[k]) - time_of(a.clock, prev);
                atomicAdd(&bins[fine_bin(interval)], 1u);
            }
        }
        __syncthreads();
        /* filled[] becomes the buckets' starts in the tile; target[] + place = where in the bucket */
        for (u32 first = 0; first < BUCKETS; first += THREADS) {
            u32 b = first + threadIdx.x, mine = b < BUCKETS ? filled[b] : 0, sum = mine;
            for (u32 by = 1; by < WARP; by *= 2) {
                u32 other = __shfl_up_sync(ALL_LANES, sum, by);
                if (lane >= by) sum += other;
            }
            u32 carry = first ? warp_sums[THREADS / WARP - 1] : 0;
            __syncthreads();
            if (lane == WARP - 1) warp_sums[warp_number()] = sum;
            __syncthreads();
            if (threadIdx.x == 0)
                for (u32 w = 0, total = carry; w < THREADS / WARP; w++) warp_sums[w] = total += warp_sums[w];
            __syncthreads();
            sum += warp_number() ? warp_sums[warp_number() - 1] : carry;
            if (b < BUCKETS) {
                u32 start = sum - mine;
                u32 taken = mine ? atomicAdd(&a.bucket_filled[b], mine) : 0;
                filled[b] = start;
                target[b] = (b << a.bucket_shift) + taken - start;
            }
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            if (k * THREADS + threadIdx.x < here)
                ordered[filled[position[k] >> a.bucket_shift] + place[k]] = make_uint2(position[k], word[k]);
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u32 at = k * THREADS + threadIdx.x;
            if (at >= here) continue;
            uint2 pair = ordered[at];
            a.pairs[target[pair.x >> a.bucket_shift] + at] = pair;
        }
    }
    if (!a.intervals) return;
    __syncthreads();
    for (u32 bin = threadIdx.x; bin < RI_BINS; bin += THREADS)
        if (bins[bin]) atomicAdd(&a.intervals[bin], (unsigned long long)bins[bin]);
}
constexpr u32 PAIR_SHARED_BYTES = TILE * (u32)sizeof(uint2) + RI_BINS * 4;

constexpr u32 PLACE_ITEMS = 8;
__global__ void place(const uint2 *pairs, u32 count, u32 *prev) {
    uint2 pair[PLACE_ITEMS];
    u64 origin = (u64)blockIdx.x * blockDim.x * PLACE_ITEMS + threadIdx.x;
#pragma unroll
    for (u32 k = 0; k < PLACE_ITEMS; k++) {
        u64 at = origin + k * blockDim.x;
        pair[k] = at < count ? pairs[at] : make_uint2(0, 0);
    }
#pragma unroll
    for (u32 k = 0; k < PLACE_ITEMS; k++)
        if (origin + k * blockDim.x < count) prev[pair[k].x] = pair[k].y;
}

/* Which positions are last uses, 32 to a word, and how many. Rounds up: positions beyond count are none. */
__global__ void mark_last_uses(const u32 *prev, u32 count, uint2 *ranks, u32 *counts) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 bits = __ballot_sync(ALL_LANES, i < count && (prev[i] & PREV_LAST));
    if (lane_number() == 0 && i / 32 <= count / 32) {
        ranks[i / 32].y = bits;
        counts[i / 32] = (u32)__popc(bits);
    }
}

/* before[] is the running sum of counts; leaves the number of last uses and of reuses. */
__global__ void finish_ranks(uint2 *ranks, const u32 *before, u32 count, u32 *last_uses, u32 *reuses) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, words = count / 32 + 1;
    if (i >= words) return;
    ranks[i].x = before[i];
    if (i == words - 1) {
        u32 all = before[i] + (u32)__popc(ranks[i].y);
        *last_uses = all;
        *reuses = count - all; /* each line of the chunk and the carry has one use without a previous one */
    }
}

/* The lines in order of last use, with their times and, if there are any, tags: what the next chunk begins with. */
template <class Id>
__global__ void carry_over(const uint2 *ranks, u32 count, const Id *ids, Clock clock, const u32 *tags, Id *carry_ids,
                           u64 *carry_times, u32 *carry_tags) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint2 word = ranks[i / 32];
    u32 bit = 1u << (i % 32);
    if (!(word.y & bit)) return;
    u32 at = word.x + (u32)__popc(word.y & (bit - 1));
    carry_ids[at] = ids[i];
    carry_times[at] = time_of(clock, (u32)i);
    if (tags) carry_tags[at] = tags[i];
}

/* From the distances of values to the outcomes of references, those from position clock.carried on. */
struct OutcomeArguments {
    const u32 *prev, *by_value;
    const uint2 *ranks;
    const u32 *tags; /* by position; NULL: none */
    Clock clock;
    u32 count; /* positions */
    u32 *rd, *last_tag;
    u64 *ri; /* NULL: not wanted */
};
__global__ void write_outcomes(OutcomeArguments a) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, position = a.clock.carried + i;
    if (position >= a.count) return;
    u32 prev = a.prev[position] & PREV_NONE;
    bool first = prev == PREV_NONE;
    a.rd[i] = first ? 0xffffffffu : a.by_value[rank_of(a.ranks, prev)];
    if (a.tags) a.last_tag[i] = first ? 0 : a.tags[prev];
    if (a.ri) a.ri[i] = first ? 0 : time_of(a.clock, (u32)position) - time_of(a.clock, prev);
}

__global__ void write_positions(u32 *positions, u32 count) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) positions[i] = (u32)i;
}

#endif
