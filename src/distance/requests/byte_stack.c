/* byte_stack.c - see byte_stack.h. */
#include "distance/requests/byte_stack.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define LEAF 16u /* slots in a cache line */
#define FAN 8u   /* sums in a cache line */
#define SLOTS_PER_OBJECT 4u /* after a compaction: an object pays for renumbering once in 3 uses */
#define SLOTS_MIN (1u << 16)
/* As in the exact engine's kernel: the table's entry is prefetched FAR uses ahead, its slot NEAR ahead. */
#define PREFETCH_FAR 32u
#define PREFETCH_NEAR 12u

static uint64_t round_up(uint64_t number, uint64_t to) { return (number + to - 1) / to * to; }

/* ---- the tree ---- */

struct tree {
    uint32_t *size;
    uint64_t *level[RSC_BYTE_LEVELS_MAX];
    uint32_t level_count;
    uint64_t slots;
};

/* Entries of a level, in whole nodes. */
static uint64_t level_entries(uint64_t slots, uint32_t level) {
    uint64_t entries = slots / LEAF;
    for (uint32_t k = 0; k < level; k++) entries = (round_up(entries, FAN)) / FAN;
    return round_up(entries, FAN);
}

static void tree_free(struct tree *tree) {
    rsc_pages_free(tree->size, tree->slots * sizeof *tree->size);
    for (uint32_t k = 0; k < tree->level_count; k++)
        rsc_pages_free(tree->level[k], level_entries(tree->slots, k) * sizeof **tree->level);
    memset(tree, 0, sizeof *tree);
}

static uint64_t tree_bytes(uint64_t slots, uint32_t levels) {
    uint64_t bytes = slots * sizeof(uint32_t);
    for (uint32_t k = 0; k < levels; k++) bytes += level_entries(slots, k) * sizeof(uint64_t);
    return bytes;
}

static int tree_make(struct tree *tree, uint64_t slots) {
    *tree = (struct tree){.slots = round_up(slots, LEAF)};
    tree->size = rsc_pages_new(tree->slots * sizeof *tree->size);
    if (!tree->size) return RSC_ENOMEM;
    do {
        uint64_t entries = level_entries(tree->slots, tree->level_count);
        tree->level[tree->level_count] = rsc_pages_new(entries * sizeof **tree->level);
        if (!tree->level[tree->level_count]) {
            tree_free(tree);
            return RSC_ENOMEM;
        }
        tree->level_count++;
    } while (level_entries(tree->slots, tree->level_count - 1) > FAN);
    return 0;
}

/* Sums of every level, from the sizes of the first `used` slots. */
static void tree_sum(struct tree *tree, uint64_t used) {
    for (uint64_t slot = 0; slot < used; slot++) tree->level[0][slot / LEAF] += tree->size[slot];
    for (uint32_t k = 1; k < tree->level_count; k++)
        for (uint64_t i = 0; i < level_entries(tree->slots, k - 1); i++)
            tree->level[k][i / FAN] += tree->level[k - 1][i];
}

static struct tree tree_of(const struct rsc_byte_stack *stack) {
    struct tree tree = {.size = stack->size, .level_count = stack->level_count, .slots = stack->slots};
    memcpy(tree.level, stack->level, sizeof tree.level);
    return tree;
}

static void use_tree(struct rsc_byte_stack *stack, const struct tree *tree) {
    stack->size = tree->size;
    stack->level_count = tree->level_count;
    stack->slots = tree->slots;
    memcpy(stack->level, tree->level, sizeof stack->level);
}

/* ---- making ---- */

static void note_memory(struct rsc_byte_stack *stack, uint64_t extra) {
    uint64_t bytes = rsc_u64_table_bytes(&stack->table) + tree_bytes(stack->slots, stack->level_count) +
                     stack->compacted * sizeof *stack->old_time + extra;
    if (bytes > stack->peak_memory) stack->peak_memory = bytes;
}

int rsc_byte_stack_init(struct rsc_byte_stack *stack, uint64_t slots_least) {
    struct tree tree;
    memset(stack, 0, sizeof *stack);
    stack->slots_least = slots_least ? slots_least : SLOTS_MIN;
    if (rsc_u64_table_init(&stack->table, 4096) < 0) return RSC_ENOMEM;
    if (tree_make(&tree, stack->slots_least) < 0) {
        rsc_byte_stack_free(stack);
        return RSC_ENOMEM;
    }
    use_tree(stack, &tree);
    note_memory(stack, 0);
    return 0;
}

void rsc_byte_stack_free(struct rsc_byte_stack *stack) {
    struct tree tree = tree_of(stack);
    if (tree.size) tree_free(&tree);
    rsc_u64_table_free(&stack->table);
    free(stack->old_time);
    memset(stack, 0, sizeof *stack);
}

/* ---- compaction ---- */

static uint64_t time_of(const struct rsc_byte_stack *stack, uint64_t slot) {
    return slot >= stack->compacted ? stack->time_of_first + (slot - stack->compacted) : stack->old_time[slot];
}

/* Objects get the slots 0, 1, 2...; sizes and times go with them. Slots without an object hold size 0. */
static int compact(struct rsc_byte_stack *stack) {
    uint64_t live = stack->table.used, slots = live * SLOTS_PER_OBJECT, next = 0;
    if (slots < stack->slots_least) slots = stack->slots_least;
    if (slots < live + LEAF) slots = live + LEAF;
    uint64_t *times = malloc((live + 1) * sizeof *times), *moved = malloc(stack->slots * sizeof *moved);
    struct tree tree = {0}, old = tree_of(stack);
    if (!times || !moved || tree_make(&tree, slots) < 0) {
        free(times);
        free(moved);
        return RSC_ENOMEM;
    }
    note_memory(stack, live * sizeof *times + stack->slots * sizeof *moved + tree_bytes(tree.slots, tree.level_count));
    for (uint64_t slot = 0; slot < stack->top; slot++) {
        if (!stack->size[slot]) continue;
        tree.size[next] = stack->size[slot];
        times[next] = time_of(stack, slot);
        moved[slot] = next++;
    }
    for (uint64_t i = 0; i <= stack->table.mask; i++) {
        struct rsc_u64_entry *entry = &stack->table.entries[i];
        if (entry->value) entry->value = moved[entry->value - 1] + 1;
    }
    free(moved);
    free(stack->old_time);
    tree_sum(&tree, next);
    tree_free(&old);
    use_tree(stack, &tree);
    stack->old_time = times;
    stack->compacted = stack->top = next;
    stack->time_of_first = stack->now;
    return 0;
}

/* ---- uses ---- */

/* Empties a slot; returns the bytes in the slots after it. */
static uint64_t take(struct rsc_byte_stack *stack, uint64_t slot) {
    uint64_t at = slot / LEAF, size = stack->size[slot], behind = 0;
    const uint32_t *leaf = stack->size + at * LEAF;
    uint32_t place = slot % LEAF;
    for (uint32_t j = 0; j < LEAF; j++) behind += j > place ? leaf[j] : 0;
    stack->size[slot] = 0;
    for (uint32_t k = 0; k < stack->level_count; k++, at /= FAN) {
        uint64_t *node = stack->level[k] + at / FAN * FAN;
        place = at % FAN;
        for (uint32_t j = 0; j < FAN; j++) behind += j > place ? node[j] : 0;
        node[place] -= size;
    }
    stack->bytes -= size;
    return behind;
}

static void put(struct rsc_byte_stack *stack, uint32_t size) {
    uint64_t at = stack->top / LEAF;
    stack->size[stack->top++] = size;
    for (uint32_t k = 0; k < stack->level_count; k++, at /= FAN) stack->level[k][at] += size;
    stack->bytes += size;
    if (stack->bytes > stack->peak) stack->peak = stack->bytes;
}

int rsc_byte_stack_run(struct rsc_byte_stack *stack, const uint64_t *objects, const uint32_t *sizes, uint32_t count,
                       uint64_t *above, uint64_t *interval) {
    for (uint32_t i = 0; i < count; i++) {
        if (__builtin_expect(stack->top == stack->slots, 0) && compact(stack) < 0) return RSC_ENOMEM;
        if (i + PREFETCH_FAR < count) rsc_u64_table_prefetch(&stack->table, objects[i + PREFETCH_FAR]);
        if (i + PREFETCH_NEAR < count) {
            const struct rsc_u64_entry *soon = rsc_u64_table_home(&stack->table, objects[i + PREFETCH_NEAR]);
            if (soon->value) {
                __builtin_prefetch(stack->size + (soon->value - 1), 1);
                __builtin_prefetch(stack->level[0] + (soon->value - 1) / LEAF, 1);
            }
        }
        struct rsc_u64_entry *entry = rsc_u64_table_find(&stack->table, objects[i]);
        if (entry->value) {
            interval[i] = stack->now - time_of(stack, entry->value - 1);
            above[i] = take(stack, entry->value - 1);
        } else {
            if (__builtin_expect(rsc_u64_table_needs_rebuild(&stack->table), 0)) {
                uint64_t before = rsc_u64_table_bytes(&stack->table);
                if (rsc_u64_table_rebuild(&stack->table) < 0) return RSC_ENOMEM;
                note_memory(stack, before);
                entry = rsc_u64_table_find(&stack->table, objects[i]);
            }
            entry->key = objects[i];
            stack->table.used++;
            interval[i] = 0;
            above[i] = RSC_BYTES_COLD;
        }
        entry->value = stack->top + 1;
        put(stack, sizes[i]);
        stack->now++;
    }
    return 0;
}
