/* lone_stack.c - see lone_stack.h. */
#include "multicore/lone_stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

int rsc_lone_stack_init(struct rsc_lone_stack *lone, enum rsc_simd simd, int no_ri, uint64_t places_least) {
    memset(lone, 0, sizeof *lone);
    lone->exact = &lone->own;
    if (rsc_exact_init(lone->exact, simd, places_least) == 0 && rsc_u64_table_init(&lone->used, 1024) == 0) {
        if (no_ri) rsc_exact_leave_out_ri(lone->exact);
        return 0;
    }
    rsc_lone_stack_free(lone);
    return RSC_ENOMEM;
}

void rsc_lone_stack_free(struct rsc_lone_stack *lone) {
    rsc_exact_free(&lone->own);
    rsc_u64_table_free(&lone->used);
    memset(lone, 0, sizeof *lone);
}

uint64_t rsc_lone_stack_bytes(const struct rsc_lone_stack *lone) {
    return lone->own.peak_bytes + rsc_u64_table_bytes(&lone->used);
}

void rsc_lone_stack_lean_on(struct rsc_lone_stack *lone, struct rsc_exact *exact) {
    rsc_exact_free(&lone->own);
    lone->exact = exact;
}

/* ---- bytes used ---- */

static int take_leaving(struct rsc_lone_stack *lone) {
    for (uint32_t i = 0; i < lone->leaving_count; i++) {
        const struct rsc_u64_entry *leaving = &lone->leaving[i];
        struct rsc_u64_entry *entry = rsc_u64_table_find(&lone->used, leaving->key);
        if (!entry->value) {
            if (rsc_u64_table_needs_rebuild(&lone->used)) {
                if (rsc_u64_table_rebuild(&lone->used) < 0) return RSC_ENOMEM;
                entry = rsc_u64_table_find(&lone->used, leaving->key);
            }
            entry->key = leaving->key;
            lone->used.used++;
        }
        entry->value |= leaving->value;
    }
    lone->leaving_count = 0;
    return 0;
}

static __attribute__((noinline)) int leave(struct rsc_lone_stack *lone, struct rsc_u64_entry leaving) {
    if (!leaving.value) return 0;
    rsc_u64_table_prefetch(&lone->used, leaving.key);
    lone->leaving[lone->leaving_count++] = leaving;
    return lone->leaving_count == RSC_LONE_LEAVING ? take_leaving(lone) : 0;
}

static inline int use_bytes(struct rsc_lone_stack *lone, uint64_t line, uint64_t bytes) {
    struct rsc_u64_entry *near = &lone->near[line & (RSC_LONE_NEAR - 1)];
    if (__builtin_expect(near->key != line, 0)) {
        if (leave(lone, *near) < 0) return RSC_ENOMEM;
        *near = (struct rsc_u64_entry){line, 0};
    }
    if (bytes & ~near->value) near->value |= bytes; /* seldom: a store each time would make the next one wait */
    return 0;
}

static inline __attribute__((always_inline)) int note(struct rsc_lone_stack *lone, const struct rsc_batch *batch,
                                                      uint32_t line_shift) {
    const uint32_t part_shift = line_shift > 6 ? line_shift - 6 : 0;
    const uint64_t in_line = (1ull << line_shift) - 1, whole = ~0ull >> (63 - (in_line >> part_shift));
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint64_t address = batch->addr[i], size = rsc_meta_size(batch->meta[i]);
        uint64_t last = address + (size ? size - 1 : 0);
        if (last < address) last = UINT64_MAX;
        const uint64_t first_part = whole << ((address & in_line) >> part_shift) & whole;
        const uint64_t last_part = whole >> ((~last & in_line) >> part_shift);
        uint64_t line = address >> line_shift;
        const uint64_t last_line = last >> line_shift;
        if (__builtin_expect(line == last_line, 1)) {
            if (use_bytes(lone, line, first_part & last_part) < 0) return RSC_ENOMEM;
            continue;
        }
        if (use_bytes(lone, line, first_part) < 0) return RSC_ENOMEM;
        while (++line < last_line)
            if (use_bytes(lone, line, whole) < 0) return RSC_ENOMEM;
        if (use_bytes(lone, line, last_part) < 0) return RSC_ENOMEM;
    }
    return 0;
}

int rsc_lone_stack_note(struct rsc_lone_stack *lone, const struct rsc_batch *batch, uint32_t line_shift) {
    return line_shift == 6 ? note(lone, batch, 6) : note(lone, batch, line_shift); /* constants are faster */
}

static int settle_bytes(struct rsc_lone_stack *lone) {
    for (uint32_t i = 0; i < RSC_LONE_NEAR; i++) {
        if (leave(lone, lone->near[i]) < 0) return RSC_ENOMEM;
        lone->near[i].value = 0;
    }
    return take_leaving(lone);
}

int rsc_lone_stack_run(struct rsc_lone_stack *lone, const struct rsc_private_references *references, uint32_t *rd,
                       uint64_t *ri, uint32_t *last_tag) {
    const uint32_t count = references->count;
    return references->tags
               ? rsc_exact_run_tagged(lone->exact, references->lines, references->tags, count, rd, ri, last_tag)
               : rsc_exact_run(lone->exact, references->lines, count, rd, ri);
}

/* ---- handing over ---- */

/* The lines of the stack, the one used longest ago first. */
struct by_age {
    const struct rsc_exact *exact;
    uint64_t *line, *time;
    uint32_t *tag;
};

static void note_line(void *context, uint64_t line, uint32_t unit) {
    const struct by_age *lines = context;
    const uint32_t slot = lines->exact->map.units[unit] - 1;
    if (slot >= RSC_UNIT_OTHER - 1) return;
    const uint32_t place = rsc_rank_before(&lines->exact->rank, slot);
    lines->line[place] = line;
    lines->time[place] = rsc_exact_time(lines->exact, slot);
    lines->tag[place] = lines->exact->map.extra ? lines->exact->map.extra[unit] : 0;
}

/* Each is used once in stack 0, in order. */
static int use_again(struct rsc_lone_stack *lone, struct rsc_coherent_stacks *stacks, const struct by_age *lines,
                     uint64_t count) {
    static const uint32_t who[RSC_PRIVATE_BLOCK];
    uint64_t bytes[RSC_PRIVATE_BLOCK];
    uint32_t rd[RSC_PRIVATE_BLOCK];
    for (uint64_t done = 0; done < count;) {
        uint32_t part = count - done < RSC_PRIVATE_BLOCK ? (uint32_t)(count - done) : RSC_PRIVATE_BLOCK;
        for (uint32_t i = 0; i < part; i++) rsc_u64_table_prefetch(&lone->used, lines->line[done + i]);
        for (uint32_t i = 0; i < part; i++) bytes[i] = rsc_u64_table_find(&lone->used, lines->line[done + i])->value;
        const struct rsc_private_references again = {lines->line + done, who, bytes, lines->tag + done, part};
        int status = rsc_coherent_stacks_run(stacks, &again, rd, NULL, NULL);
        if (status < 0) return status;
        done += part;
    }
    return 0;
}

/* Gives the lines, used at the times 0, 1, 2... just before, the times of their real uses. */
static int set_times(const struct rsc_exact *exact, struct rsc_coherent_stacks *stacks, const uint64_t *time,
                     uint64_t count) {
    struct rsc_private_stack *stack = stacks->stacks[0];
    int status = rsc_private_stack_compact(stack, &stacks->copies, exact->now);
    if (status < 0) return status;
    assert(stack->compacted == count);
    for (uint64_t place = 0; stack->old_time && place < count; place++) {
        if (stack->old_time_wide) ((uint64_t *)stack->old_time)[place] = time[place];
        else ((uint32_t *)stack->old_time)[place] = (uint32_t)time[place];
    }
    stack->now = exact->now;
    return 0;
}

int rsc_lone_stack_hand_over(struct rsc_lone_stack *lone, struct rsc_coherent_stacks *stacks) {
    const uint64_t count = lone->exact->distinct, bytes = count * (2 * sizeof(uint64_t) + sizeof(uint32_t));
    if (!count) return 0;
    int status = rsc_exact_shrink_recent(lone->exact, 0);
    if (!status) status = settle_bytes(lone);
    uint64_t *line = status < 0 ? NULL : rsc_pages_new(bytes);
    if (!line) return status < 0 ? status : RSC_ENOMEM;
    struct by_age lines = {lone->exact, line, line + count, (uint32_t *)(void *)(line + 2 * count)};
    assert(lone->exact->rank.set == count);
    rsc_line_map_visit(&lone->exact->map, note_line, &lines);
    status = use_again(lone, stacks, &lines, count);
    if (!status) status = set_times(lone->exact, stacks, lines.time, count);
    rsc_pages_free(line, bytes);
    return status;
}
