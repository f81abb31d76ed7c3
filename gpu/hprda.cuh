/*
 * hprda.cuh - HP-RDA's kernels: the published approximation (paper 002; docs/design/hp-rda.md
 * says how it was read), with the numbers of src/distance/hprda/hprda.h count by count.
 *
 *   analyse_locals   a thread for each local trace, 64 to a block, as published: a hash
 *                    table of its lines, the local array of last uses (a bitmap, 32
 *                    entries counted at once), and an info for every line
 *   merge_locals     a thread block for each block of 64 local traces: a hash table of
 *                    nodes, which the traces' infos meet one trace after the other
 *   merge_blocks     a launch for each block: its nodes meet the table of all lines
 *   adjust           distances beyond M, once M is known
 *
 * A line is once in a trace's infos and once in a block's nodes, and traces and blocks
 * come one after the other. So whoever finds a line's entry is alone with it.
 */
#ifndef RSC_GPU_HPRDA_CUH
#define RSC_GPU_HPRDA_CUH

#include "bins.cuh"
#include "hprda_types.cuh"

/* ---- preprocessing: of a run of one line the first stays ---- */

__global__ void mark_changes(const u64 *words, u32 count, u32 shift, const LastLine *last, u32 *marks, u32 *counts) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    bool changes = false;
    if (i < count) {
        u64 line = words[i] >> shift;
        changes = i ? words[i - 1] >> shift != line : !last->known || last->line != line;
    }
    u32 bits = __ballot_sync(ALL_LANES, changes);
    if (lane_number() == 0 && i / 32 <= count / 32) {
        marks[i / 32] = bits;
        counts[i / 32] = (u32)__popc(bits);
    }
}

/* before[] is the running sum of counts. *kept is how many lines were written. */
__global__ void gather_changes(const u64 *words, u32 count, u32 shift, const u32 *marks, const u32 *before, u64 *lines,
                               LastLine *last, u32 *kept) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i / 32 > count / 32) return;
    u32 bits = marks[i / 32], bit = 1u << (i % 32);
    u32 at = before[i / 32] + (u32)__popc(bits & (bit - 1));
    if (i == count) {
        *kept = at;
        *last = LastLine{words[count - 1] >> shift, 1};
    }
    if (bits & bit) lines[at] = words[i] >> shift;
}

/* ---- local traces ---- */

__device__ __forceinline__ u32 hash_slot(u64 line, u32 slot_bits) {
    return (u32)((line * 0x9e3779b97f4a7c15ull) >> (64 - slot_bits));
}

struct LocalArguments {
    const u64 *lines;
    u32 count, local, traces, slot_bits;
    u32 *slots;  /* by trace, then slot: 1 + place of the line's last use; zeroed */
    u32 *bits;   /* by word of 32 places, then trace, so that threads side by side write side by side; zeroed */
    u16 *firsts; /* by reference, where it is a last use: lines before the first use of its line */
    u32 *infos;  /* by trace, in order of last use, latest first: place of the last use << 16 | first */
    u32 *counts; /* by trace: its infos */
    Counter *exact;
};

/* Last uses behind place `from`; there are none from place `to` on. */
__device__ __forceinline__ u32 last_uses_between(const u32 *bits, u32 stride, u32 from, u32 to) {
    u32 word = from / 32;
    u32 count = (u32)__popc(bits[(u64)word * stride] & (~1u << from % 32));
    while (word < to / 32) count += (u32)__popc(bits[(u64)++word * stride]);
    return count;
}

__device__ __forceinline__ void analyse_one(const LocalArguments &a, u32 trace, u32 *exact) {
    u64 start = (u64)trace * a.local;
    u32 length = a.count - start < a.local ? (u32)(a.count - start) : a.local, distinct = 0, mask = (1u << a.slot_bits) - 1;
    const u64 *lines = a.lines + start;
    u32 *slots = a.slots + ((u64)trace << a.slot_bits), *bits = a.bits + trace, *infos = a.infos + start;
    u16 *firsts = a.firsts + start;
    for (u32 i = 0; i < length; i++) {
        u64 line = lines[i];
        u32 at = hash_slot(line, a.slot_bits), last;
        while ((last = slots[at]) != 0 && lines[last - 1] != line) at = (at + 1) & mask;
        if (last--) {
            atomicAdd(&exact[fine_bin(last_uses_between(bits, a.traces, last, i))], 1u);
            bits[(u64)(last / 32) * a.traces] &= ~(1u << last % 32);
            firsts[i] = firsts[last];
        } else {
            firsts[i] = (u16)distinct++;
        }
        slots[at] = i + 1;
        bits[(u64)(i / 32) * a.traces] |= 1u << i % 32;
    }
    u32 after = 0;
    for (u32 word = (length + 31) / 32; word-- > 0;)
        for (u32 left = bits[(u64)word * a.traces]; left;) {
            u32 bit = 31 - (u32)__clz((int)left), place = word * 32 + bit;
            infos[after++] = place << 16 | firsts[place];
            left ^= 1u << bit;
        }
    a.counts[trace] = distinct;
}

__global__ void __launch_bounds__(BLOCK_TRACES) analyse_locals(LocalArguments a) {
    __shared__ u32 exact[LOCAL_BINS];
    for (u32 i = threadIdx.x; i < LOCAL_BINS; i += blockDim.x) exact[i] = 0;
    __syncthreads();
    u32 trace = blockIdx.x * BLOCK_TRACES + threadIdx.x;
    if (trace < a.traces) analyse_one(a, trace, exact);
    __syncthreads();
    for (u32 i = threadIdx.x; i < LOCAL_BINS; i += blockDim.x)
        if (exact[i]) atomicAdd(&a.exact[i], (Counter)exact[i]);
}

/* ---- tables of lines ---- */

/* Numbers of lines: a slot is empty (0) or 1 + number. A number's line is written before its slot. */
template <class Entry>
__device__ __forceinline__ u32 number_of_line(u32 *slots, u32 slot_bits, Entry *entries, u32 *count, u64 line, bool *is_new) {
    u32 mask = (1u << slot_bits) - 1, own = 0;
    for (u32 at = hash_slot(line, slot_bits);; at = (at + 1) & mask) {
        u32 found = *(volatile u32 *)&slots[at];
        if (!found) {
            if (!own) {
                own = atomicAdd(count, 1u) + 1;
                *(volatile u64 *)&entries[own - 1].line = line;
                __threadfence();
            }
            found = atomicCAS(&slots[at], 0u, own);
            if (!found) {
                *is_new = true;
                return own - 1;
            }
        }
        /* while `own` waits for a slot, only other lines can have come before it */
        if (!own && *(volatile u64 *)&entries[found - 1].line == line) {
            *is_new = false;
            return found - 1;
        }
    }
}

__device__ __forceinline__ u64 span_sum(const Spans &spans, u32 first, u32 end) {
    return first < end ? spans.total[end] - spans.total[first] : 0;
}
__device__ __forceinline__ u32 span_most(const Spans &spans, u32 first, u32 end) {
    if (first >= end) return 0;
    u32 level = 31 - (u32)__clz((int)(end - first));
    const u32 *most = spans.most + (u64)level * spans.stride;
    u32 late = most[end - 1], early = most[first + (1u << level) - 1];
    return late > early ? late : early;
}
__device__ __forceinline__ u32 larger(u32 a, u32 b) { return a > b ? a : b; }
__device__ __forceinline__ u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

/* ---- merging the local traces of a block ---- */

struct MergeArguments {
    const u64 *lines;
    const u32 *infos, *counts;
    u32 local, traces, slot_bits;
    u32 *slots;  /* by block; zeroed */
    Node *nodes; /* by block: as many as it has references */
    u32 *node_counts;
    u64 *local_counts; /* by block: sum of its traces' counts */
    u32 *merged;       /* by distance */
    Counter *low, *high;
};

__device__ __forceinline__ void flush(const u32 *counts, Counter *sums) {
    for (u32 i = threadIdx.x; i < RD_BINS; i += blockDim.x)
        if (counts[i]) atomicAdd(&sums[i], (Counter)counts[i]);
}

__global__ void __launch_bounds__(MERGE_THREADS) merge_locals(MergeArguments a) {
    __shared__ u32 low[RD_BINS], high[RD_BINS], most[TRACE_LEVELS * BLOCK_TRACES], node_count;
    __shared__ u64 total[BLOCK_TRACES + 1];
    u32 first_trace = blockIdx.x * BLOCK_TRACES, traces = smaller(BLOCK_TRACES, a.traces - first_trace);
    u64 start = (u64)first_trace * a.local;
    u32 *slots = a.slots + ((u64)blockIdx.x << a.slot_bits);
    Node *nodes = a.nodes + start;
    Spans spans = {total, most, BLOCK_TRACES};
    for (u32 i = threadIdx.x; i < RD_BINS; i += blockDim.x) low[i] = high[i] = 0;
    if (threadIdx.x == 0) {
        node_count = 0;
        total[0] = 0;
        for (u32 t = 0; t < traces; t++) {
            total[t + 1] = total[t] + (most[t] = a.counts[first_trace + t]);
            for (u32 level = 1; 1u << level <= t + 1; level++)
                most[level * BLOCK_TRACES + t] =
                    larger(most[(level - 1) * BLOCK_TRACES + t], most[(level - 1) * BLOCK_TRACES + t - (1u << (level - 1))]);
        }
    }
    __syncthreads();
    for (u32 t = 0; t < traces; t++) {
        u64 own = start + (u64)t * a.local;
        u32 infos = a.counts[first_trace + t];
        for (u32 j = threadIdx.x; j < infos; j += blockDim.x) { /* j lines came after this one's last use */
            u32 info = a.infos[own + j], first = info & 0xffff;
            bool is_new;
            Node *node = &nodes[number_of_line(slots, a.slot_bits, nodes, &node_count, a.lines[own + (info >> 16)], &is_new)];
            u32 before = is_new ? 0 : node->trace;
            u32 between = (u32)span_sum(spans, before, t), largest = larger(span_most(spans, before, t), first);
            if (is_new) {
                node->first = between + first;
                node->first_low = largest;
            } else {
                u32 distance = node->latest + between + first;
                atomicAdd(&a.merged[distance], 1u);
                atomicAdd(&low[fine_bin(larger(largest, node->latest))], 1u);
                atomicAdd(&high[fine_bin(distance)], 1u);
            }
            node->trace = t + 1;
            node->latest = j;
        }
        __syncthreads();
    }
    /* fewer than the block has lines */
    u32 top = fine_bin(node_count - 1);
    for (u32 i = top + 1 + threadIdx.x; i < RD_BINS; i += blockDim.x) {
        if (high[i]) atomicAdd(&high[top], high[i]);
        high[i] = 0;
    }
    __syncthreads();
    flush(low, a.low);
    flush(high, a.high);
    for (u32 i = threadIdx.x; i < node_count; i += blockDim.x) {
        Node *node = &nodes[i];
        node->latest_low = larger(node->latest, span_most(spans, node->trace, traces));
        node->latest += (u32)span_sum(spans, node->trace, traces);
    }
    if (threadIdx.x == 0) {
        a.node_counts[blockIdx.x] = node_count;
        a.local_counts[blockIdx.x] = total[traces];
    }
}

/* ---- merging blocks and fragments ---- */

struct JoinArguments {
    const Node *nodes;
    const u32 *node_count;
    u32 block, fragment;
    Spans blocks, fragments;
    u32 *slots;
    u32 slot_bits;
    LineState *states;
    u32 *counters;
    u64 known[2];    /* inside the fragment, and across: distances up to this are not adjusted, whatever M will be */
    u64 *waiting[2]; /* the others */
    Counter *estimate, *low, *high, *high_joined;
};

/* In shared memory; what does not fit goes to the sums at once. */
__device__ __forceinline__ void count_bin(u32 *counts, Counter *sums, u64 distance) {
    u32 bin = fine_bin(distance);
    if (bin < RD_BINS) atomicAdd(&counts[bin], 1u);
    else atomicAdd(&sums[bin], (Counter)1);
}
__device__ __forceinline__ u32 count_of(const Spans &spans, u32 piece) { return (u32)span_sum(spans, piece, piece + 1); }

__global__ void __launch_bounds__(256) merge_blocks(JoinArguments a) {
    __shared__ u32 estimate[RD_BINS], low[RD_BINS], high[RD_BINS];
    u32 nodes = *a.node_count;
    if (blockIdx.x * blockDim.x >= nodes) return;
    for (u32 i = threadIdx.x; i < RD_BINS; i += blockDim.x) estimate[i] = low[i] = high[i] = 0;
    __syncthreads();
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < nodes; i += gridDim.x * blockDim.x) {
        Node node = a.nodes[i];
        bool is_new;
        LineState *state = &a.states[number_of_line(a.slots, a.slot_bits, a.states, &a.counters[HPRDA_LINES], node.line, &is_new)];
        if (is_new || state->fragment != a.fragment) atomicAdd(&a.counters[HPRDA_IN_FRAGMENT], 1u);
        if (!is_new) {
            u32 inside = state->fragment == a.fragment, level = !inside;
            /* of the other lines of a piece no more than all can be on one side of a use */
            u32 first = smaller(node.first, count_of(a.blocks, a.block) - 1), latest, least = larger(state->latest_low, node.first_low);
            u64 between;
            if (inside) {
                between = span_sum(a.blocks, state->block + 1, a.block);
                least = larger(least, span_most(a.blocks, state->block + 1, a.block));
                latest = smaller(state->latest, count_of(a.blocks, state->block) - 1);
                count_bin(high, a.high, latest + between + first);
            } else {
                between = span_sum(a.fragments, state->fragment + 1, a.fragment) + span_sum(a.blocks, 0, a.block);
                least = larger(least, larger(span_most(a.fragments, state->fragment + 1, a.fragment), span_most(a.blocks, 0, a.block)));
                latest = smaller(state->latest, count_of(a.fragments, state->fragment) - 1);
                atomicAdd(&a.high_joined[fine_bin(latest + between + first)], (Counter)1);
            }
            count_bin(low, a.low, least);
            u64 distance = state->latest + between + node.first;
            if (distance <= a.known[level]) count_bin(estimate, a.estimate, distance);
            else a.waiting[level][atomicAdd(&a.counters[HPRDA_WAITING_BLOCKS + level], 1u)] = distance;
        }
        state->fragment = a.fragment;
        state->block = a.block;
        state->latest = node.latest;
        state->latest_low = node.latest_low;
    }
    __syncthreads();
    flush(estimate, a.estimate);
    flush(low, a.low);
    flush(high, a.high);
}

/* The fragment is over: see LineState. */
__global__ void end_fragment(LineState *states, u32 count, u32 fragment, Spans blocks, u32 block_count) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count || states[i].fragment != fragment) return;
    LineState *state = &states[i];
    state->latest_low = larger(state->latest_low, span_most(blocks, state->block + 1, block_count));
    state->latest += (u32)span_sum(blocks, state->block + 1, block_count);
}

/* A larger table for the same lines. */
__global__ void place_lines(const LineState *states, u32 count, u32 *slots, u32 slot_bits) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, mask = (1u << slot_bits) - 1;
    if (i >= count) return;
    u32 at = hash_slot(states[i].line, slot_bits);
    while (atomicCAS(&slots[at], 0u, i + 1) != 0) at = (at + 1) & mask;
}

/* ---- adjustment ---- */

/* Formula 2: ef = distinct / counts. The product is cut, not rounded. */
struct Factor {
    u64 distinct, counts;
};
__device__ __forceinline__ u64 adjusted(Factor factor, u64 distance) {
    if (distance <= factor.distinct) return distance;
    if (((distance | factor.distinct) >> 32) == 0) return distance * factor.distinct / factor.counts;
    return (u64)((unsigned __int128)distance * factor.distinct / factor.counts);
}

__global__ void adjust_merged(u32 *merged, u32 count, Factor factor, Counter *estimate) {
    u32 distance = blockIdx.x * blockDim.x + threadIdx.x;
    if (distance >= count || !merged[distance]) return;
    atomicAdd(&estimate[fine_bin(adjusted(factor, (u64)distance))], (Counter)merged[distance]);
    merged[distance] = 0;
}

__global__ void adjust_waiting(const u64 *waiting, u32 count, Factor factor, Counter *estimate) {
    __shared__ u32 bins[RD_BINS];
    for (u32 i = threadIdx.x; i < RD_BINS; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        count_bin(bins, estimate, adjusted(factor, waiting[i]));
    __syncthreads();
    flush(bins, estimate);
}

#endif
