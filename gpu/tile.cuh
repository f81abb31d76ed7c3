/*
 * tile.cuh - the inner step of every counting pass: for each element of a tile,
 * how many earlier elements of the tile have a larger digit (what it gains), and
 * how many have the same (where it goes when the tile is ordered by digit).
 *
 * A tile is ROWS rows of 32 elements; a warp holds ITEMS rows, one element of
 * each per lane.
 *   1. Within a row, one vote per bit of the digit gives every lane the masks of
 *      the lanes with an equal and with a larger digit.
 *   2. table[row][digit] = elements of that digit in that row.
 *   3. Down the columns: table[row][digit] = those in earlier rows.
 *   4. Along the rows from the right: those of that digit or a larger one.
 *   5. Two look-ups in it per element, plus its row's masks.
 * Counts of a tile fit 16 bits, so two neighbouring digits are added as one word.
 */
#ifndef RSC_GPU_TILE_CUH
#define RSC_GPU_TILE_CUH

#include "device.cuh"

#ifndef RSC_GPU_THREADS
#define RSC_GPU_THREADS 512
#define RSC_GPU_ITEMS 8
#define RSC_GPU_TILE_BITS 12
#endif

constexpr u32 THREADS = RSC_GPU_THREADS, ITEMS = RSC_GPU_ITEMS, TILE_BITS = RSC_GPU_TILE_BITS;
constexpr u32 TILE = THREADS * ITEMS, ROWS = TILE / WARP, ROW_BITS = 5;
static_assert(TILE == 1u << TILE_BITS && TILE_BITS > ROW_BITS && TILE <= 32768, "tile");

constexpr u32 DIGIT_BITS_LEAST = 5, DIGIT_BITS_MOST = 8;

/* Shared memory of a tile whose digits have `bits` bits: the table, later the elements in their new order. */
constexpr u32 tile_shared_bytes(u32 bits) {
    return (ROWS << bits) * sizeof(u16) > TILE * sizeof(uint2) ? (ROWS << bits) * (u32)sizeof(u16)
                                                               : TILE * (u32)sizeof(uint2);
}

/* Lanes of the row that are in `active` and have the same digit, or a larger one. */
template <u32 BITS>
__device__ __forceinline__ void compare_in_row(u32 digit, u32 active, u32 *equal, u32 *larger) {
    u32 same = active, above = 0;
#pragma unroll
    for (int bit = BITS - 1; bit >= 0; bit--) {
        u32 ones = __ballot_sync(ALL_LANES, (digit >> bit) & 1);
        u32 mine = 0u - ((digit >> bit) & 1);
        above |= same & ones & ~mine;
        same &= ~(ones ^ mine);
    }
    *equal = same;
    *larger = above;
}

/* Step 3; also leaves the tile's count of every digit in totals. */
template <u32 BITS> __device__ __forceinline__ void add_down_columns(u32 *words, u32 *partial, u32 *totals) {
    constexpr u32 WORDS = (1u << BITS) / 2;
    constexpr u32 PARTS = THREADS / WORDS == 0 ? 1 : THREADS / WORDS > ROWS ? ROWS : THREADS / WORDS;
    constexpr u32 PART_ROWS = ROWS / PARTS;
    for (u32 at = threadIdx.x; at < PARTS * WORDS; at += THREADS) {
        u32 sum = 0, row = at / WORDS * PART_ROWS;
#pragma unroll 8
        for (u32 r = 0; r < PART_ROWS; r++) sum += words[(row + r) * WORDS + at % WORDS];
        partial[at] = sum;
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < PARTS * WORDS; at += THREADS) {
        u32 sum = 0, part = at / WORDS, row = part * PART_ROWS;
        for (u32 earlier = 0; earlier < part; earlier++) sum += partial[earlier * WORDS + at % WORDS];
#pragma unroll 8
        for (u32 r = 0; r < PART_ROWS; r++) {
            u32 here = words[(row + r) * WORDS + at % WORDS];
            words[(row + r) * WORDS + at % WORDS] = sum;
            sum += here;
        }
        if (part == PARTS - 1) {
            totals[at % WORDS * 2] = sum & 0xffff;
            totals[at % WORDS * 2 + 1] = sum >> 16;
        }
    }
    __syncthreads();
}

/* Step 4 for one row, by one warp. */
template <u32 BITS> __device__ __forceinline__ void add_along_row(u16 *row) {
    constexpr u32 PER_LANE = (1u << BITS) / WARP;
    u32 lane = lane_number(), value[PER_LANE], sum = 0;
    /* as one load and one store of 2 to 16 bytes */
    struct __align__(PER_LANE * 2) Digits {
        u16 count[PER_LANE];
    } digits = ((const Digits *)row)[lane];
#pragma unroll
    for (u32 i = 0; i < PER_LANE; i++) sum += value[i] = digits.count[i];
    u32 right = sum;
#pragma unroll
    for (u32 by = 1; by < WARP; by *= 2) {
        u32 other = __shfl_down_sync(ALL_LANES, right, by);
        if (lane + by < WARP) right += other;
    }
    right -= sum; /* of the lanes to the right only */
#pragma unroll
    for (u32 i = PER_LANE; i-- > 0;) {
        right += value[i];
        value[i] = right;
    }
#pragma unroll
    for (u32 i = 0; i < PER_LANE; i++) digits.count[i] = (u16)value[i];
    ((Digits *)row)[lane] = digits;
}

/*
 * The whole step. `active` has bit k set where this thread's item k exists.
 * On return larger[k] and rank[k] are as said at the top, and totals[digit] the
 * tile's counts, seen by all threads. after_totals() runs once totals are known,
 * before the slower rest.
 */
template <u32 BITS, class AfterTotals>
__device__ __forceinline__ void count_in_tile(const u32 (&digit)[ITEMS], u32 active, unsigned char *shared,
                                              u32 *partial, u32 *totals, u32 (&larger)[ITEMS], u32 (&rank)[ITEMS],
                                              AfterTotals after_totals) {
    constexpr u32 DIGITS = 1u << BITS;
    u16 *table = (u16 *)shared;
    for (u32 at = threadIdx.x; at < ROWS * DIGITS / 8; at += THREADS) ((uint4 *)shared)[at] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    u32 first_row = warp_number() * ITEMS;
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        u32 here = __ballot_sync(ALL_LANES, (active >> k) & 1), equal, above;
        compare_in_row<BITS>(digit[k], here, &equal, &above);
        larger[k] = (u32)__popc(above & lanes_before());
        rank[k] = (u32)__popc(equal & lanes_before());
        if (((active >> k) & 1) && rank[k] == 0) table[(first_row + k) * DIGITS + digit[k]] = (u16)__popc(equal);
    }
    __syncthreads();
    add_down_columns<BITS>((u32 *)shared, partial, totals);
    after_totals();
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) add_along_row<BITS>(table + (first_row + k) * DIGITS);
    __syncwarp();
#pragma unroll
    for (u32 k = 0; k < ITEMS; k++) {
        const u16 *row = table + (first_row + k) * DIGITS;
        u32 from_here = row[digit[k]], above = digit[k] + 1 < DIGITS ? row[digit[k] + 1] : 0;
        larger[k] += above;
        rank[k] += from_here - above;
    }
}

#endif
