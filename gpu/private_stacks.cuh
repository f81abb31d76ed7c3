/*
 * private_stacks.cuh - reuse distances of stacks that take lines from each other, without a stack.
 *
 * A line that another stack's write takes away leaves a hole, which the next line that rises fills (multicore/
 * private_stack.h). In a stack whose references are numbered from the bottom, a reference at t to a line last used at s
 * deletes the topmost hole; before that, if the line is still there, its own slot s becomes one. With d(u) the hole that
 * reference u deletes,
 *     RD = t - s - 1 - #{u < t: d(u) > s},
 * and nothing but the holes decides d: references insert and delete keys of a queue whose every key is known beforehand.
 *
 * Which delete takes which key is found by halving the keys, larger half first. Among the keys of a group, Q = max(Q + 1
 * for an insert, Q - 1 for a delete, 0) is how many of its larger half wait: a scan. A delete that finds Q > 0 takes its
 * key there, every other one in the smaller half. A reference whose s is in the smaller half has then seen how many deletes
 * of larger keys came before it. One scan and one stable partition for each bit of the keys.
 *
 * Keys are positions: of each stack in turn, first what it had before the chunk, holes included, then its references. The
 * events of all stacks stand one stack after the other, so all go through the same queue: the keys of an earlier stack are
 * smaller, so a delete takes one only where its own stack has no hole, and that is ignored. Key 0 is no hole at all.
 *
 * What a write takes is found in two orders. By line and time: the next write after each use, a scan from the end; it takes
 * the line if another stack makes it, before this one uses the line again. By stack, line and time: the use before and the
 * one after, and the bytes used since the line came.
 */
#ifndef RSC_GPU_PRIVATE_STACKS_CUH
#define RSC_GPU_PRIVATE_STACKS_CUH

#include "private_stacks_types.cuh"

#define ITEM_NONE 0xffffffffu  /* no item: a first use */
#define ITEM_TAKEN 0xfffffffeu /* there is one, but the line was taken away since */

/* State of a pair: the place of its line among lines and holes of all stacks; or lost, and the stack that took it. */
constexpr u32 PAIR_LOST = 0x80000000u, PAIR_LOST_FALSELY = 0x40000000u, PAIR_TAKER = 0x000fffffu;

__device__ __forceinline__ u32 item_stack(const Items &items, u32 item) {
    return item < items.pairs ? items.pair.stack[item] : items.who[item - items.pairs] >> 1;
}
__device__ __forceinline__ u64 item_line(const Items &items, u32 item) {
    return item < items.pairs ? items.pair.line[item] : items.words[item - items.pairs] >> items.shift;
}
__device__ __forceinline__ u64 item_bytes(const Items &items, u32 item) {
    return item < items.pairs ? items.pair.used[item] : items.bytes[item - items.pairs];
}
__device__ __forceinline__ u32 item_tag(const Items &items, u32 item) {
    if (!items.tags) return 0;
    return item < items.pairs ? items.pair.tag[item] : items.tags[item - items.pairs];
}
__device__ __forceinline__ bool item_writes(const Items &items, u32 item) {
    return item >= items.pairs && (items.who[item - items.pairs] & 1);
}
__device__ __forceinline__ bool item_lost(const Items &items, u32 item) {
    return item < items.pairs && (items.pair.state[item] & PAIR_LOST);
}

__device__ __forceinline__ u32 first_position(const Starts &starts, u32 stack) {
    return starts.reference[stack] + starts.bit[stack];
}
/* `rank`: place of a reference among those ordered by stack. The item is not lost. */
__device__ __forceinline__ u32 position_of(const Items &items, const Starts &starts, const u32 *rank, u32 item) {
    u32 stack = item_stack(items, item);
    return item < items.pairs ? items.pair.state[item] + starts.reference[stack]
                              : rank[item - items.pairs] + starts.bit[stack + 1];
}
__device__ __forceinline__ u64 time_of_item(const Items &items, const Starts &starts, const u32 *rank, u32 item) {
    if (item < items.pairs) return items.pair.time[item];
    u32 stack = item_stack(items, item);
    return starts.time[stack] + (rank[item - items.pairs] - starts.reference[stack]);
}

/* How many of `count` ascending values are below `value`. */
__device__ __forceinline__ u32 lower_bound(const u32 *values, u32 count, u32 value) {
    u32 low = 0;
    while (low < count) {
        u32 middle = low + (count - low) / 2;
        if (values[middle] < value) low = middle + 1;
        else count = middle;
    }
    return low;
}

/* By whole warps: i goes past count to the end of its word. */
__device__ __forceinline__ void mark(const Marks &marks, u64 i, u32 count, bool is_in) {
    u32 bits = __ballot_sync(ALL_LANES, i < count && is_in);
    if (lane_number() || i / 32 > count / 32) return;
    marks.bits[i / 32] = bits;
    marks.counts[i / 32] = (u32)__popc(bits);
}
__device__ __forceinline__ bool is_marked(const Marks &marks, u32 i) { return marks.bits[i / 32] >> (i % 32) & 1; }
__device__ __forceinline__ u32 marked_before(const Marks &marks, u32 i) {
    return marks.before[i / 32] + (u32)__popc(marks.bits[i / 32] & ((1u << (i % 32)) - 1));
}
__global__ void store_total(Marks marks, u32 count, u32 *total) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *total = marks.before[count / 32] + (u32)__popc(marks.bits[count / 32]);
}

__device__ __forceinline__ u64 global_thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

/* ---- items, by line and by stack ---- */

/* most[0]: the largest line; most[1]: the largest stack. */
__global__ void see_items(Items items, unsigned long long *most) {
    u64 step = (u64)gridDim.x * blockDim.x;
    unsigned long long line = 0, stack = 0;
    for (u64 i = global_thread(); i < items.references; i += step) {
        unsigned long long here = items.words[i] >> items.shift, who = items.who[i] >> 1;
        line = here > line ? here : line;
        stack = who > stack ? who : stack;
    }
    if (line > *(volatile unsigned long long *)&most[0]) atomicMax(&most[0], line);
    if (stack > *(volatile unsigned long long *)&most[1]) atomicMax(&most[1], stack);
}

__global__ void write_keys(Items items, u64 *lines, u32 *numbers, u32 *stacks) {
    u64 i = global_thread();
    if (i >= (u64)items.pairs + items.references) return;
    lines[i] = item_line(items, (u32)i);
    numbers[i] = (u32)i;
    if (i < items.references) stacks[i] = items.who[i] >> 1;
}

/* `source` are the references ordered by stack. */
__global__ void write_ranks(const u32 *source, u32 count, u32 *rank) {
    u64 i = global_thread();
    if (i < count) rank[source[i]] = (u32)i;
}

/* Starts of the chunk's references; and of lines and holes for stacks that are new, of which `known` were before. */
__global__ void find_starts(const u32 *sorted_stacks, u32 references, u32 stacks, u32 known, u32 bits, u32 *reference_start,
                            u32 *bit_start, u64 *times) {
    u64 stack = global_thread();
    if (stack > stacks) return;
    reference_start[stack] = lower_bound(sorted_stacks, references, (u32)stack);
    if (stack >= known) bit_start[stack] = bits;
    if (stack >= known) times[stack] = 0;
}

/* x: the next write; y: the line ends. */
__global__ void write_uses(Items items, const u64 *lines, const u32 *order, uint2 *uses) {
    u64 i = global_thread(), count = (u64)items.pairs + items.references;
    if (i >= count) return;
    uses[count - 1 - i] = make_uint2(item_writes(items, order[i]) ? order[i] : ITEM_NONE, i + 1 == count || lines[i + 1] != lines[i]);
}
/* From the end: `later` was met first. */
struct JoinUses {
    __host__ __device__ uint2 operator()(const uint2 &later, const uint2 &use) const {
        if (use.y) return use;
        return make_uint2(use.x == ITEM_NONE ? later.x : use.x, later.y);
    }
};

/* foreign[item]: the next write of the line, if another stack makes it; else ITEM_NONE. A write of its own is the stack's next
 * use of the line, so nothing takes it before. Keys for the order by stack. Counts lines that no stack used before the chunk. */
__global__ void find_foreign(Items items, const u64 *lines, const u32 *order, const uint2 *uses, u32 *foreign, u32 *stacks,
                             u32 *new_lines) {
    u64 i = global_thread(), count = (u64)items.pairs + items.references;
    bool begins = false;
    if (i < count) {
        u32 item = order[i], stack = item_stack(items, item), write = ITEM_NONE;
        if (i + 1 < count && lines[i + 1] == lines[i]) {
            write = uses[count - 2 - i].x;
            if (write != ITEM_NONE && item_stack(items, write) == stack) write = ITEM_NONE;
        }
        foreign[item] = write;
        stacks[i] = stack;
        begins = item >= items.pairs && (i == 0 || lines[i - 1] != lines[i]);
    }
    u32 begun = (u32)__popc(__ballot_sync(ALL_LANES, begins));
    if (lane_number() == 0 && begun) atomicAdd(new_lines, begun);
}

/* ---- uses of a stack ---- */

/* Whether the line is taken between this use of it and the stack's next one. */
__device__ __forceinline__ bool is_taken(const Items &items, const u32 *foreign, u32 item, u32 next) {
    return !item_lost(items, item) && foreign[item] != ITEM_NONE && (next == ITEM_NONE || foreign[item] < next);
}

/*
 * In the order by stack, line and time. previous[reference]: the use before, if the line is still there; else ITEM_NONE or
 * ITEM_TAKEN. Marks the items whose line is taken, and those that are their stack's last use of it. used[]: x, y: bytes; w:
 * the line came with this one.
 */
struct LinkArguments {
    Items items;
    const u32 *order, *stacks, *foreign;
    u32 *previous;
    uint4 *used;
    Marks taken, ends;
};
__global__ void link_uses(LinkArguments a) {
    u64 i = global_thread();
    u32 count = a.items.pairs + a.items.references;
    bool taken = false, ends = false;
    if (i < count) {
        u32 item = a.order[i], before = ITEM_NONE, next = ITEM_NONE;
        u64 line = item_line(a.items, item), bytes = item_bytes(a.items, item);
        if (i > 0 && a.stacks[i - 1] == a.stacks[i] && item_line(a.items, a.order[i - 1]) == line) before = a.order[i - 1];
        if (i + 1 < count && a.stacks[i + 1] == a.stacks[i] && item_line(a.items, a.order[i + 1]) == line) next = a.order[i + 1];
        taken = is_taken(a.items, a.foreign, item, next);
        ends = next == ITEM_NONE;
        if (before != ITEM_NONE && (item_lost(a.items, before) || is_taken(a.items, a.foreign, before, item))) before = ITEM_TAKEN;
        if (item >= a.items.pairs) a.previous[item - a.items.pairs] = before;
        a.used[i] = make_uint4((u32)bytes, (u32)(bytes >> 32), 0, before >= ITEM_TAKEN);
    }
    mark(a.taken, i, count, taken);
    mark(a.ends, i, count, ends);
}
struct JoinUsed {
    __host__ __device__ uint4 operator()(const uint4 &before, const uint4 &use) const {
        return use.w ? use : make_uint4(before.x | use.x, before.y | use.y, 0, before.w);
    }
};
__device__ __forceinline__ u64 bytes_of(const uint4 &used) { return (u64)used.y << 32 | used.x; }

__global__ void mark_references(const u32 *previous, u32 count, Marks hits, Marks returns) {
    u64 i = global_thread();
    u32 before = i < count ? previous[i] : ITEM_NONE;
    mark(hits, i, count, before < ITEM_TAKEN);
    mark(returns, i, count, before == ITEM_TAKEN);
}

/* The taken items, as places in that order, and the reference that writes. */
__global__ void gather_taken(Items items, const u32 *order, const u32 *foreign, Marks taken, u32 *writes, u32 *places) {
    u64 i = global_thread();
    if (i >= (u64)items.pairs + items.references || !is_marked(taken, (u32)i)) return;
    u32 at = marked_before(taken, (u32)i);
    writes[at] = foreign[order[i]] - items.pairs;
    places[at] = (u32)i;
}

struct LossArguments {
    Items items;
    const u32 *order, *foreign, *previous;
    const uint4 *used;
    const u32 *writes, *places; /* of what is taken, by write, then by stack */
    u32 taken;
    Marks returns;
    rsc_gpu_loss *losses, *returned;
};
__global__ void write_losses(LossArguments a) {
    u64 i = global_thread();
    if (i >= a.taken) return;
    u32 place = a.places[i], item = a.order[place], write = a.writes[i];
    u64 used = bytes_of(a.used[place]), written = a.items.bytes[write];
    a.losses[i] = rsc_gpu_loss{item_line(a.items, item), written, used, write, a.items.who[write] >> 1, item_stack(a.items, item),
                               item_tag(a.items, a.items.pairs + write), item_tag(a.items, item), !(written & used)};
}
/* Of references to lines that were taken away: by whom. */
__global__ void write_returns(LossArguments a) {
    u64 i = global_thread();
    if (i >= (u64)a.items.pairs + a.items.references) return;
    u32 item = a.order[i], reference = item - a.items.pairs;
    if (item < a.items.pairs || a.previous[reference] != ITEM_TAKEN) return;
    u32 before = a.order[i - 1], by, is_false;
    if (item_lost(a.items, before)) {
        by = a.items.pair.state[before] & PAIR_TAKER;
        is_false = (a.items.pair.state[before] & PAIR_LOST_FALSELY) != 0;
    } else {
        u32 write = a.foreign[before];
        by = item_stack(a.items, write);
        is_false = !(item_bytes(a.items, write) & bytes_of(a.used[i - 1]));
    }
    a.returned[marked_before(a.returns, reference)] =
        rsc_gpu_loss{item_line(a.items, item), 0, 0, reference, by, item_stack(a.items, item), 0, 0, is_false};
}

/* ---- holes: inserts and deletes of keys ---- */

/* Events: x: the key, position + 1; of a delete, what is known of it so far. y: the sort of event; with a hit, the deletes
 * of larger keys met so far; with a delete, its stack. A hit asks, then inserts. */
constexpr u32 EVENT_DELETE = 0, EVENT_HIT = 1u << 30, EVENT_HOLE = 2u << 30, EVENT_SORT = 3u << 30;

struct EventArguments {
    Items items;
    Starts starts;
    const u32 *rank, *order, *previous;
    const u32 *hole_place, *hole_stack;
    const u32 *writes, *places;
    u32 holes, taken;
    Marks hits;
    uint2 *events;
    u32 *stacks; /* of the events */
};
__device__ __forceinline__ void put_event(const EventArguments &a, u32 at, u32 stack, u32 key, u32 sort) {
    a.events[at] = make_uint2(key, sort);
    a.stacks[at] = stack;
}
__global__ void write_events(EventArguments a) {
    u64 i = global_thread();
    if (i < a.holes) put_event(a, (u32)i, a.hole_stack[i], a.hole_place[i] + a.starts.reference[a.hole_stack[i]] + 1, EVENT_HOLE);
    if (i < a.items.references) {
        u32 stack = a.items.who[i] >> 1, at = a.holes + (u32)i + marked_before(a.hits, (u32)i) + lower_bound(a.writes, a.taken, (u32)i);
        if (is_marked(a.hits, (u32)i))
            put_event(a, at++, stack, position_of(a.items, a.starts, a.rank, a.previous[i]) + 1, EVENT_HIT);
        put_event(a, at, stack, 0, EVENT_DELETE | stack);
    }
    if (i < a.taken) {
        u32 item = a.order[a.places[i]], write = a.writes[i];
        u32 at = a.holes + write + 1 + marked_before(a.hits, write) + is_marked(a.hits, write) + (u32)i;
        put_event(a, at, item_stack(a.items, item), position_of(a.items, a.starts, a.rank, item) + 1, EVENT_HOLE);
    }
}

/* The walk of a group: from Q to max(Q + x, y), both as int; z: inserts; w: the group begins. */
__device__ __forceinline__ bool group_begins(const uint2 *events, u64 i, u32 bit) {
    return i == 0 || (u64)events[i].x >> (bit + 1) != (u64)events[i - 1].x >> (bit + 1);
}
__global__ void write_walk(const uint2 *events, u32 count, u32 bit, uint4 *walk) {
    u64 i = global_thread();
    if (i >= count) return;
    u32 is_delete = (events[i].y & EVENT_SORT) == EVENT_DELETE, is_larger = !is_delete && (events[i].x >> bit & 1);
    walk[i] = make_uint4(is_delete ? 0xffffffffu : is_larger, 0, is_larger, group_begins(events, i, bit));
}
struct JoinWalks {
    __host__ __device__ uint4 operator()(const uint4 &before, const uint4 &step) const {
        if (step.w) return step;
        int least = (int)before.y + (int)step.x;
        return make_uint4(before.x + step.x, (u32)(least > (int)step.y ? least : (int)step.y), before.z + step.z, before.w);
    }
};
__device__ __forceinline__ u32 waiting(const uint4 &walk) { return (u32)((int)walk.x > (int)walk.y ? (int)walk.x : (int)walk.y); }

/* Which events go to the larger half. */
__global__ void choose_half(uint2 *events, u32 count, u32 bit, const uint4 *walk, Marks larger) {
    u64 i = global_thread();
    bool is_larger = false;
    if (i < count) {
        uint2 event = events[i];
        if ((event.y & EVENT_SORT) == EVENT_DELETE) {
            is_larger = !group_begins(events, i, bit) && waiting(walk[i - 1]) > 0;
            if (is_larger) events[i].x = event.x | 1u << bit;
        } else {
            is_larger = event.x >> bit & 1;
            if (!is_larger && (event.y & EVENT_SORT) == EVENT_HIT) events[i].y = event.y + walk[i].z - waiting(walk[i]);
        }
    }
    mark(larger, i, count, is_larger);
}
/* The larger half first; groups stay together. */
__global__ void move_halves(const uint2 *events, u32 count, Marks larger, uint2 *moved) {
    u64 i = global_thread();
    if (i >= count) return;
    u32 all = larger.before[count / 32] + (u32)__popc(larger.bits[count / 32]), before = marked_before(larger, (u32)i);
    moved[is_marked(larger, (u32)i) ? before : all + (u32)i - before] = events[i];
}

/* By position: deletes of larger keys before the next use; whether it became a hole, and whether that was filled. */
__global__ void end_events(const uint2 *events, u32 count, Starts starts, u32 *larger_deletes, unsigned char *was_hole,
                           unsigned char *filled) {
    u64 i = global_thread();
    if (i >= count || !events[i].x) return;
    u32 at = events[i].x - 1, rest = events[i].y & ~EVENT_SORT;
    if ((events[i].y & EVENT_SORT) == EVENT_DELETE) {
        if (at >= first_position(starts, rest)) filled[at] = 1;
        return;
    }
    was_hole[at] = 1;
    if ((events[i].y & EVENT_SORT) == EVENT_HIT) larger_deletes[at] = rest;
}

/* ---- what comes of it ---- */

struct FoundArguments {
    Items items;
    Starts starts;
    const u32 *rank, *previous, *larger_deletes;
    u32 *rd, *last_tag; /* last_tag, ri: NULL: not wanted */
    u64 *ri;
};
__global__ void write_found(FoundArguments a) {
    u64 i = global_thread();
    if (i >= a.items.references) return;
    u32 before = a.previous[i], item = a.items.pairs + (u32)i;
    bool hit = before < ITEM_TAKEN;
    if (hit) {
        u32 at = position_of(a.items, a.starts, a.rank, before);
        a.rd[i] = position_of(a.items, a.starts, a.rank, item) - at - 1 - a.larger_deletes[at];
    } else {
        a.rd[i] = before == ITEM_NONE ? RSC_GPU_FIRST_USE : RSC_GPU_TAKEN_AWAY;
    }
    if (a.last_tag) a.last_tag[i] = hit ? item_tag(a.items, before) : 0;
    if (a.ri) a.ri[i] = hit ? time_of_item(a.items, a.starts, a.rank, item) - time_of_item(a.items, a.starts, a.rank, before) : 0;
}

/* Positions that remain, lines and holes; and the holes. */
__global__ void mark_remaining(const unsigned char *was_hole, const unsigned char *filled, u32 count, Marks remaining, Marks holes) {
    u64 i = global_thread();
    bool remains = i < count && !filled[i];
    mark(remaining, i, count, remains);
    mark(holes, i, count, remains && was_hole[i]);
}
__global__ void carry_holes(Starts starts, u32 count, Marks remaining, Marks holes, u32 *place, u32 *stack) {
    u64 i = global_thread();
    if (i >= count || !is_marked(holes, (u32)i)) return;
    u32 at = marked_before(holes, (u32)i), low = 0, high = starts.count;
    while (low + 1 < high) { /* the last stack that begins here or before; those without positions begin where the next does */
        u32 middle = (low + high) / 2;
        if (first_position(starts, middle) <= i) low = middle;
        else high = middle;
    }
    place[at] = marked_before(remaining, (u32)i);
    stack[at] = low;
}
/* Starts for the next chunk. `positions`: how many there were. */
__global__ void carry_starts(Starts starts, Marks remaining, u32 *bit_start, u64 *times) {
    u64 stack = global_thread();
    if (stack > starts.count) return;
    bit_start[stack] = marked_before(remaining, first_position(starts, (u32)stack));
    times[stack] = starts.time[stack] + (stack < starts.count ? starts.reference[stack + 1] - starts.reference[stack] : 0);
}

struct CarryArguments {
    Items items;
    Starts starts;
    const u32 *rank, *order, *foreign;
    const uint4 *used;
    Marks taken, ends, remaining;
    Pairs next;
};
__global__ void carry_pairs(CarryArguments a) {
    u64 i = global_thread();
    if (i >= (u64)a.items.pairs + a.items.references || !is_marked(a.ends, (u32)i)) return;
    u32 item = a.order[i], at = marked_before(a.ends, (u32)i), state;
    u64 used = bytes_of(a.used[i]);
    if (item_lost(a.items, item)) {
        state = a.items.pair.state[item];
    } else if (is_marked(a.taken, (u32)i)) {
        u32 write = a.foreign[item];
        state = PAIR_LOST | (item_bytes(a.items, write) & used ? 0 : PAIR_LOST_FALSELY) | item_stack(a.items, write);
    } else {
        state = marked_before(a.remaining, position_of(a.items, a.starts, a.rank, item));
    }
    a.next.line[at] = item_line(a.items, item);
    a.next.time[at] = time_of_item(a.items, a.starts, a.rank, item);
    a.next.used[at] = used;
    a.next.stack[at] = item_stack(a.items, item);
    a.next.state[at] = state;
    if (a.items.tags) a.next.tag[at] = item_tag(a.items, item);
}

#endif
