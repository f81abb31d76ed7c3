/* hprda_join.c - merging blocks and fragments; see hprda_join.h. */
#include "distance/hprda/hprda_join.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"

#define AHEAD 16u

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

int rsc_hprda_part_init(struct rsc_hprda_part_lines *part) {
    memset(part, 0, sizeof *part);
    return rsc_u64_table_init(&part->table, 256);
}

void rsc_hprda_part_free(struct rsc_hprda_part_lines *part) {
    rsc_u64_table_free(&part->table);
    free(part->states);
    memset(part, 0, sizeof *part);
}

static int add_line(struct rsc_hprda_part_lines *part, struct rsc_u64_entry *entry, uint64_t line) {
    if (part->count == part->room && part->room > UINT32_MAX / 2) return RSC_ELIMIT;
    if (RSC_GROW(part->states, part->room, part->count + 1)) return RSC_ENOMEM;
    entry->key = line;
    entry->value = ++part->count;
    part->table.used++;
    part->in_fragment++;
    return 0;
}

static int count_distance(struct rsc_hprda_tally *tally, int level, uint64_t known, uint64_t distance) {
    if (distance > known) return rsc_hprda_list_add(&tally->waiting[level], distance);
    tally->estimate.count[rsc_bin_of_fine(distance)]++;
    return 0;
}

static uint32_t count_of(const struct rsc_hprda_spans *spans, uint32_t piece) {
    return (uint32_t)rsc_hprda_span_sum(spans, piece, piece + 1);
}

/* From an earlier block of the same fragment. */
static int reuse_in_fragment(const struct rsc_hprda_state *state, const struct rsc_hprda_node *node, uint32_t block,
                             const struct rsc_hprda_place *place, struct rsc_hprda_tally *tally) {
    const struct rsc_hprda_spans *blocks = place->blocks;
    uint64_t between = rsc_hprda_span_sum(blocks, state->block + 1, block);
    uint32_t low =
        larger(rsc_hprda_span_most(blocks, state->block + 1, block), larger(state->latest_low, node->first_low));
    /* at most all other lines of a block can be on one side of a use */
    uint64_t high = smaller(state->latest, count_of(blocks, state->block) - 1) + between +
                    smaller(node->first, count_of(blocks, block) - 1);
    tally->low.count[rsc_bin_of_fine(low)]++;
    tally->high.count[rsc_bin_of_fine(high)]++;
    return count_distance(tally, RSC_HPRDA_BLOCKS, place->known[RSC_HPRDA_BLOCKS],
                          state->latest + between + node->first);
}

/* From an earlier fragment: the lines of this one before the use are the fragment's `first`. */
static int reuse_across_fragments(const struct rsc_hprda_state *state, const struct rsc_hprda_node *node,
                                  uint32_t block, const struct rsc_hprda_place *place, struct rsc_hprda_tally *tally) {
    const struct rsc_hprda_spans *blocks = place->blocks, *fragments = place->fragments;
    uint32_t now = fragments->count;
    uint64_t between = rsc_hprda_span_sum(fragments, state->fragment + 1, now);
    uint64_t before = rsc_hprda_span_sum(blocks, 0, block);
    uint32_t low = larger(larger(rsc_hprda_span_most(fragments, state->fragment + 1, now), state->latest_low),
                          larger(rsc_hprda_span_most(blocks, 0, block), node->first_low));
    uint64_t high = smaller(state->latest, count_of(fragments, state->fragment) - 1) + between + before +
                    smaller(node->first, count_of(blocks, block) - 1);
    tally->low.count[rsc_bin_of_fine(low)]++;
    tally->high_joined.count[rsc_bin_of_fine(high)]++;
    return count_distance(tally, RSC_HPRDA_FRAGMENTS, place->known[RSC_HPRDA_FRAGMENTS],
                          state->latest + between + before + node->first);
}

static int merge_node(struct rsc_hprda_part_lines *part, const struct rsc_hprda_node *node, uint32_t block,
                      const struct rsc_hprda_place *place, struct rsc_hprda_tally *tally) {
    int status = 0;
    if (rsc_u64_table_needs_rebuild(&part->table)) status = rsc_u64_table_rebuild(&part->table);
    if (status < 0) return status;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&part->table, node->line);
    if (!entry->value) {
        status = add_line(part, entry, node->line);
        if (status < 0) return status;
    } else {
        const struct rsc_hprda_state *state = &part->states[entry->value - 1];
        if (state->fragment == place->fragments->count) {
            status = reuse_in_fragment(state, node, block, place, tally);
        } else {
            part->in_fragment++;
            status = reuse_across_fragments(state, node, block, place, tally);
        }
    }
    part->states[entry->value - 1] =
        (struct rsc_hprda_state){place->fragments->count, block, node->latest, node->latest_low};
    return status;
}

int rsc_hprda_part_merge(struct rsc_hprda_part_lines *part, uint32_t number, const struct rsc_hprda_block *blocks,
                         uint32_t count, const struct rsc_hprda_place *place, struct rsc_hprda_tally *tally) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = blocks[i].start[number + 1];
        for (uint32_t n = blocks[i].start[number]; n < end; n++) {
            if (n + AHEAD < end) rsc_u64_table_prefetch(&part->table, blocks[i].nodes[n + AHEAD].line);
            int status = merge_node(part, &blocks[i].nodes[n], place->first_block + i, place, tally);
            if (status < 0) return status;
        }
    }
    return 0;
}

void rsc_hprda_part_end_fragment(struct rsc_hprda_part_lines *part, const struct rsc_hprda_place *place) {
    const struct rsc_hprda_spans *blocks = place->blocks;
    for (uint32_t i = 0; i < part->count; i++) {
        struct rsc_hprda_state *state = &part->states[i];
        if (state->fragment != place->fragments->count) continue;
        state->latest_low = larger(state->latest_low, rsc_hprda_span_most(blocks, state->block + 1, blocks->count));
        state->latest += (uint32_t)rsc_hprda_span_sum(blocks, state->block + 1, blocks->count);
    }
    part->in_fragment = 0;
}
