/*
 * passes.cuh - counting inversions: for each reuse, in time order, how many
 * earlier reuses have a later previous use.
 *
 * The reuses' values (ranks of their previous uses) are a permutation of 0..K-1.
 * A pass looks at one digit, most significant first: an element gains the number
 * of earlier elements of its group (equal digits so far) with a larger digit, and
 * the group is ordered by digit, stably. Because the values are a permutation,
 * the group of a prefix starts at the prefix itself: no histogram is needed. The
 * prefix of counts over the tiles of a group comes by look-back: each tile
 * publishes its counts, then adds up those before it until it meets a tile that
 * already knows its sum.
 *
 * Groups of one tile are finished in shared memory by count_last(): one digit of
 * TILE_BITS - 5 bits, then rows of 32 by votes alone. Nothing but the histogram and, if
 * wanted, the distance of each value is written there.
 *
 * An element is two words: its value, and what remains of its distance (i - prev
 * - 1 minus the gains so far).
 */
#ifndef RSC_GPU_PASSES_CUH
#define RSC_GPU_PASSES_CUH

#include "bins.cuh"
#include "tile.cuh"

#define PREV_NONE 0x3fffffffu /* first use */
#define PREV_LAST 0x80000000u /* flag: this use is the line's last one so far */

/* Ranks among positions that are not last uses. A word per 32 positions: x last uses before them, y which of them are. */
__device__ __forceinline__ u32 rank_of(const uint2 *ranks, u32 position) {
    uint2 word = ranks[position / 32];
    return position - word.x - (u32)__popc(word.y & ((1u << (position % 32)) - 1));
}

/* Look-back words: two bits of state, thirty of count. */
#define KNOWS_OWN 0x40000000u
#define KNOWS_SUM 0x80000000u
#define COUNT_MASK 0x3fffffffu

__device__ __forceinline__ u32 look_back(const u32 *status, u32 tile, u32 first, u32 digits, u32 digit) {
    u32 sum = 0;
    for (u32 at = tile; at > first;) {
        /* several at once: their latency is the cost */
        u32 word[4];
#pragma unroll
        for (u32 k = 0; k < 4; k++)
            word[k] = at > first + k ? *(volatile const u32 *)&status[(size_t)(at - 1 - k) * digits + digit] : KNOWS_SUM;
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            if (!(word[k] & (KNOWS_OWN | KNOWS_SUM))) {
                RSC_PAUSE();
                break;
            }
            sum += word[k] & COUNT_MASK;
            at--;
            if (word[k] & KNOWS_SUM) return sum;
        }
    }
    return sum;
}

struct PassArguments {
    const u32 *prev;    /* first pass: by position */
    const uint2 *ranks; /* first pass */
    const uint2 *in;    /* other passes */
    uint2 *out;
    u32 *status;        /* tiles * digits, zeroed */
    u32 *next_tile;     /* zeroed */
    const u32 *reuses;  /* K */
    u32 first;          /* first pass: positions first..count-1 */
    u32 count;
    u32 tiles;
    u32 shift;          /* digit = value >> shift & digit_mask */
    u32 digit_mask;
    u32 group_bits;     /* log2 of a group's size; TILE_BITS or more */
};

template <u32 BITS, bool FIRST>
__global__ void __launch_bounds__(THREADS, 2) count_pass(PassArguments a) {
    constexpr u32 DIGITS = 1u << BITS;
    RSC_SHARED_MEMORY(shared);
    __shared__ u32 partial[THREADS > DIGITS / 2 ? THREADS : DIGITS / 2], totals[DIGITS], before[DIGITS];
    __shared__ u32 start[DIGITS], target[DIGITS], my_tile, elements;
    u32 lane = lane_number(), row0 = warp_number() * ITEMS;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) my_tile = atomicAdd(a.next_tile, 1u);
        __syncthreads();
        u32 tile = my_tile, end = FIRST ? a.count : *a.reuses;
        u64 origin = (FIRST ? a.first : 0) + (u64)tile * TILE;
        if (tile >= a.tiles || origin >= end) return;
        u32 value[ITEMS], left[ITEMS], digit[ITEMS], active = 0;
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u64 at = origin + (row0 + k) * WARP + lane;
            value[k] = left[k] = 0;
            if (FIRST) {
                u32 prev = at < end ? a.prev[at] & PREV_NONE : PREV_NONE;
                if (prev != PREV_NONE) active |= 1u << k;
                value[k] = prev;
                left[k] = (u32)at - prev - 1;
            } else if (at < end) {
                uint2 element = a.in[at];
                active |= 1u << k;
                value[k] = element.x;
                left[k] = element.y;
            }
        }
        if (FIRST) {
#pragma unroll
            for (u32 k = 0; k < ITEMS; k++) value[k] = (active >> k) & 1 ? rank_of(a.ranks, value[k]) : 0;
        }
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) digit[k] = value[k] >> a.shift & a.digit_mask;

        u32 tiles_of_group = FIRST ? 0xffffffffu : 1u << (a.group_bits - TILE_BITS);
        u32 first_tile = FIRST ? 0 : tile & ~(tiles_of_group - 1);
        u32 larger[ITEMS], rank[ITEMS];
        count_in_tile<BITS>(digit, active, shared, partial, totals, larger, rank, [&] {
            for (u32 d = threadIdx.x; d < DIGITS; d += THREADS)
                *(volatile u32 *)&a.status[(size_t)tile * DIGITS + d] =
                    totals[d] | (tile == first_tile ? KNOWS_SUM : KNOWS_OWN);
        });
        for (u32 d = threadIdx.x; d < DIGITS; d += THREADS) {
            u32 sum = 0;
            if (tile != first_tile) {
                sum = look_back(a.status, tile, first_tile, DIGITS, d);
                *(volatile u32 *)&a.status[(size_t)tile * DIGITS + d] = (sum + totals[d]) | KNOWS_SUM;
            }
            before[d] = sum;
        }
        __syncthreads();
        /* Warp 0: start[d] = elements of the tile with a smaller digit; target[d] + place in the ordered
         * tile = where an element of digit d goes. Warp 1: of the earlier tiles, those with a larger digit. */
        constexpr u32 PER_LANE = DIGITS / WARP;
        if (warp_number() == 0) {
            u32 sum = 0;
            for (u32 i = 0; i < PER_LANE; i++) sum += totals[lane * PER_LANE + i];
            u32 left_of = sum;
            for (u32 by = 1; by < WARP; by *= 2) {
                u32 other = __shfl_up_sync(ALL_LANES, left_of, by);
                if (lane >= by) left_of += other;
            }
            if (lane == WARP - 1) elements = left_of;
            left_of -= sum;
            u32 group = FIRST ? 0 : (u32)origin & ~(u32)(((u64)1 << a.group_bits) - 1);
            for (u32 i = 0; i < PER_LANE; i++) {
                u32 d = lane * PER_LANE + i;
                start[d] = left_of;
                target[d] = group + (d << a.shift) + before[d] - left_of;
                left_of += totals[d];
            }
        }
        __syncthreads();
        if (warp_number() == 1) {
            u32 sum = 0;
            for (u32 i = 0; i < PER_LANE; i++) sum += before[lane * PER_LANE + i];
            u32 right = sum;
            for (u32 by = 1; by < WARP; by *= 2) {
                u32 other = __shfl_down_sync(ALL_LANES, right, by);
                if (lane + by < WARP) right += other;
            }
            right -= sum;
            for (u32 i = PER_LANE; i-- > 0;) {
                u32 here = before[lane * PER_LANE + i];
                before[lane * PER_LANE + i] = right;
                right += here;
            }
        }
        __syncthreads();
        uint2 *ordered = (uint2 *)shared;
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            if ((active >> k) & 1)
                ordered[start[digit[k]] + rank[k]] = make_uint2(value[k], left[k] - before[digit[k]] - larger[k]);
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u32 at = k * THREADS + threadIdx.x;
            if (at >= elements) continue;
            uint2 element = ordered[at];
            a.out[target[element.x >> a.shift & a.digit_mask] + at] = element;
        }
    }
}

/* The last bits of every tile, and the histogram of the distances. */
constexpr u32 LAST_BITS = TILE_BITS - ROW_BITS < DIGIT_BITS_LEAST ? DIGIT_BITS_LEAST : TILE_BITS - ROW_BITS;

struct LastArguments {
    const uint2 *in;
    const u32 *reuses;
    u32 tiles;
    u64 cap; /* distances from here on are only counted */
    unsigned long long *histogram;
    unsigned long long *capped;
    u32 *by_value; /* receives the distance of each value; NULL: not wanted */
};

__global__ void __launch_bounds__(THREADS, 2) count_last(LastArguments a) {
    constexpr u32 DIGITS = 1u << LAST_BITS;
    RSC_SHARED_MEMORY(shared);
    __shared__ u32 partial[THREADS > DIGITS / 2 ? THREADS : DIGITS / 2], totals[DIGITS], capped;
    __shared__ u32 bins[RD_BINS];
    u32 lane = lane_number(), row0 = warp_number() * ITEMS;
    for (u32 bin = threadIdx.x; bin < RD_BINS; bin += THREADS) bins[bin] = 0;
    if (threadIdx.x == 0) capped = 0;
    u32 end = *a.reuses;
    for (u32 tile = blockIdx.x; tile < a.tiles && (u64)tile * TILE < end; tile += gridDim.x) {
        u32 origin = tile * TILE;
        u32 value[ITEMS], left[ITEMS], digit[ITEMS], active = 0;
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u32 at = origin + (row0 + k) * WARP + lane;
            uint2 element = at < end ? a.in[at] : make_uint2(0, 0);
            if (at < end) active |= 1u << k;
            value[k] = element.x;
            left[k] = element.y;
            digit[k] = value[k] >> ROW_BITS & ((1u << (TILE_BITS - ROW_BITS)) - 1);
        }
        u32 larger[ITEMS], rank[ITEMS];
        count_in_tile<LAST_BITS>(digit, active, shared, partial, totals, larger, rank, [] {});
        __syncthreads();
        uint2 *ordered = (uint2 *)shared;
        /* all digits but the last are full, so digit d starts at 32 d */
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++)
            if ((active >> k) & 1) ordered[digit[k] * WARP + rank[k]] = make_uint2(value[k], left[k] - larger[k]);
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < ITEMS; k++) {
            u32 at = (row0 + k) * WARP + lane;
            bool here = origin + at < end;
            u32 row = __ballot_sync(ALL_LANES, here), equal, above;
            uint2 element = here ? ordered[at] : make_uint2(0, 0);
            compare_in_row<ROW_BITS>(element.x & (WARP - 1), row, &equal, &above);
            u32 distance = element.y - (u32)__popc(above & lanes_before());
            if (here) {
                if (a.by_value) a.by_value[element.x] = distance;
                if (distance >= a.cap) atomicAdd(&capped, 1u);
                else atomicAdd(&bins[fine_bin(distance)], 1u);
            }
        }
    }
    __syncthreads();
    for (u32 bin = threadIdx.x; bin < RD_BINS; bin += THREADS)
        if (bins[bin]) atomicAdd(&a.histogram[bin], (unsigned long long)bins[bin]);
    if (threadIdx.x == 0 && capped) atomicAdd(a.capped, (unsigned long long)capped);
}

#endif
