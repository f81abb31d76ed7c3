/* counting.c - see counting.h. */
#include "distance/count/counting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

int rsc_counting_init(struct rsc_counting *counting, const struct rsc_engine_options *options, int keep_objects) {
    counting->log = options->log;
    counting->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    counting->no_ri = options->no_ri != 0;
    counting->tags = (struct rsc_access_tags){.attribute = options->attribute,
                                              .rd_cap = options->max_distance,
                                              .objects = keep_objects || options->top_lines ? counting->objects : NULL};
    counting->block = counting->blocks = calloc(1, sizeof *counting->blocks);
    if (!counting->blocks) return RSC_ENOMEM;
    int status = rsc_accumulator_init(&counting->sum, options->phases, options->max_distance, options->bins_per_octave);
    if (status < 0 || !options->top_lines) return status;
    return rsc_top_lines_init(&counting->top, options->top_lines, options->top_lines_bytes, counting->line_shift,
                              options->max_distance);
}

void rsc_counting_free(struct rsc_counting *counting) {
    if (counting->is_behind) rsc_take_behind_stop(&counting->behind);
    for (uint32_t i = 0; counting->is_behind && i < RSC_COUNTING_DEPTH; i++) rsc_news_free(&counting->blocks[i].news);
    free(counting->blocks);
    free(counting->threads);
    rsc_accumulator_free(&counting->sum);
    rsc_access_tags_free(&counting->tags);
    rsc_top_lines_free(&counting->top);
}

/* ---- counting a block ---- */

/* `batch`: the block's, or the part of it that begins with its access `first`. */
static int count_block(struct rsc_counting *counting, const struct rsc_counting_block *block,
                       const struct rsc_batch *batch, uint32_t first, struct rsc_error *error) {
    struct rsc_attribution *attribution = counting->tags.attribution;
    assert(block->count <= RSC_COUNTING_BLOCK);
    if (rsc_accumulate(&counting->sum, batch, block->from, block->rd, counting->no_ri ? NULL : block->ri,
                       block->count) < 0)
        return rsc_fail_memory(error, "phases");
    if (attribution && rsc_attribution_count(attribution, batch, first, block->from, block->tag, block->rd,
                                             block->last_tag, block->count) < 0)
        return rsc_fail_memory(error, "attribution");
    return 0;
}

/* ---- in another thread ---- */

static int take_block(void *context, uint32_t slot, struct rsc_error *error) {
    struct rsc_counting *counting = context;
    struct rsc_counting_block *block = &counting->blocks[slot];
    const struct rsc_batch part = {
        .count = block->from[block->count - 1] + 1, .addr = block->addr, .meta = block->meta};
    if (rsc_accumulator_see_threads(&counting->sum, &part) < 0) return rsc_fail_memory(error, "thread rows");
    if (block->begins && counting->tags.attribution &&
        rsc_attribution_learn(counting->tags.attribution, &block->news) < 0)
        return rsc_fail_memory(error, "attribution");
    return count_block(counting, block, &part, block->first, error);
}

void rsc_counting_behind(struct rsc_counting *counting) {
    struct rsc_error error;
    if (counting->tags.objects || counting->top.wanted || counting->watch.block) return;
    struct rsc_counting_block *blocks = calloc(RSC_COUNTING_DEPTH, sizeof *blocks);
    if (!blocks) return;
    if (rsc_take_behind_start(&counting->behind, RSC_COUNTING_DEPTH, take_block, counting, &error) < 0) {
        free(blocks);
        return;
    }
    free(counting->blocks);
    counting->block = counting->blocks = blocks;
    counting->is_behind = 1;
    if (counting->tags.attribution) rsc_attribution_count_apart(counting->tags.attribution);
}

/* The thread does not see the batch. */
static int keep_names(struct rsc_counting *counting, const struct rsc_batch *batch) {
    if (!batch->threads || !batch->thread_count) return 0;
    if (batch->thread_count > counting->thread_room) {
        struct rsc_thread *threads = realloc(counting->threads, 2ull * batch->thread_count * sizeof *threads);
        if (!threads) return RSC_ENOMEM;
        counting->threads = threads;
        counting->thread_room = 2 * batch->thread_count;
    }
    memcpy(counting->threads, batch->threads, batch->thread_count * sizeof *counting->threads);
    counting->thread_count = batch->thread_count;
    return 0;
}

/* Gives the block to the thread, with all that it needs. */
static int hand_over(struct rsc_counting *counting, struct rsc_error *error) {
    struct rsc_counting_block *block = counting->block;
    const struct rsc_batch *batch = counting->batch;
    const uint32_t first = block->first = block->from[0], accesses = block->from[block->count - 1] - first + 1;
    memcpy(block->addr, batch->addr + first, accesses * sizeof *block->addr);
    memcpy(block->meta, batch->meta + first, accesses * sizeof *block->meta);
    for (uint32_t i = 0; i < block->count; i++) block->from[i] -= first;
    block->begins = counting->begins;
    counting->begins = 0;
    if (block->begins && counting->tags.attribution) rsc_attribution_news(counting->tags.attribution, &block->news);
    int status = rsc_take_behind_give(&counting->behind, error);
    counting->block = &counting->blocks[rsc_take_behind_slot(&counting->behind)];
    return status;
}

/* ---- batches ---- */

int rsc_counting_begin(struct rsc_counting *counting, const struct rsc_batch *batch, struct rsc_error *error) {
    const struct rsc_attribution *before = counting->tags.attribution;
    int status = rsc_access_tags_give(&counting->tags, batch, error);
    if (status < 0) return status;
    if (counting->is_behind) {
        if (!before && counting->tags.attribution) rsc_attribution_count_apart(counting->tags.attribution);
        if (keep_names(counting, batch) < 0) return rsc_fail_memory(error, "thread rows");
        counting->begins = 1;
    } else if (rsc_accumulator_see_threads(&counting->sum, batch) < 0) {
        return rsc_fail_memory(error, "thread rows");
    }
    counting->sum.accesses += batch->count;
    counting->batch = batch;
    rsc_references_start(&counting->cursor, batch, counting->line_shift);
    return 0;
}

uint32_t rsc_counting_next(struct rsc_counting *counting) {
    struct rsc_counting_block *block = counting->block;
    block->count = rsc_references_fill(&counting->cursor, counting->lines, block->from, RSC_COUNTING_BLOCK);
    counting->references += block->count;
    if (!counting->tags.attribution || !block->count) return block->count;
    const uint32_t *tags = counting->tags.tag;
    if (rsc_references_are_accesses(block->from, block->count))
        memcpy(block->tag, tags + block->from[0], block->count * sizeof *tags);
    else
        for (uint32_t i = 0; i < block->count; i++) block->tag[i] = tags[block->from[i]];
    return block->count;
}

int rsc_counting_take(struct rsc_counting *counting, struct rsc_error *error) {
    const struct rsc_counting_block *block = counting->block;
    if (counting->is_behind) return hand_over(counting, error);
    int status = count_block(counting, block, counting->batch, 0, error);
    if (status < 0) return status;
    if (counting->top.wanted)
        rsc_top_lines_count(&counting->top, counting->lines, block->rd, rsc_counting_objects(counting), block->count);
    struct rsc_distance_block seen = {counting->batch, counting->lines, block->from,
                                      counting->stack, block->rd,       block->count};
    if (counting->watch.block && counting->watch.block(counting->watch.context, &seen) < 0)
        return rsc_fail_memory(error, "distances");
    return 0;
}

/* Waits for the thread. Returns 0 or an error. */
static int end_behind(struct rsc_counting *counting) {
    struct rsc_error error;
    if (!counting->is_behind) return 0;
    int status = rsc_take_behind_wait(&counting->behind, &error);
    const struct rsc_batch names = {.threads = counting->threads, .thread_count = counting->thread_count};
    return status < 0 ? status : rsc_accumulator_see_threads(&counting->sum, &names);
}

int rsc_counting_go_on_from(struct rsc_counting *counting, struct rsc_counting *from) {
    struct rsc_access_tags *tags = &counting->tags;
    if (end_behind(from) < 0) return RSC_ENOMEM;
    rsc_accumulator_free(&counting->sum);
    if (rsc_accumulator_copy(&counting->sum, &from->sum) < 0) return RSC_ENOMEM;
    counting->references = from->references;
    tags->attribute = from->tags.attribute;
    if (!from->tags.attribution) return 0;
    rsc_attribution_free(tags->attribution);
    if (rsc_attribution_copy(&tags->attribution, from->tags.attribution) < 0) return RSC_ENOMEM;
    if (tags->objects) rsc_attribution_keep_objects(tags->attribution, tags->objects);
    return 0;
}

/* ---- the profile ---- */

static int fill_top_lines(struct rsc_counting *counting, struct rsc_profile *profile) {
    uint64_t objects[RSC_TOP_LINES_MAX];
    if (!counting->top.wanted) return 0;
    int status = rsc_top_lines_fill(&counting->top, profile, objects);
    if (status || !counting->tags.attribution) return status;
    return rsc_attribution_name_lines(counting->tags.attribution, profile, objects);
}

struct rsc_profile *rsc_counting_profile(struct rsc_counting *counting, uint64_t distinct) {
    if (end_behind(counting) < 0) return NULL;
    rsc_accumulator_warn(&counting->sum, counting->log);
    struct rsc_profile *profile = rsc_accumulator_profile(&counting->sum, distinct);
    if (profile && fill_top_lines(counting, profile) < 0) {
        rsc_profile_free(profile);
        profile = NULL;
    }
    return profile;
}

int rsc_counting_fill_code(struct rsc_counting *counting, struct rsc_profile *profile) {
    return counting->tags.attribution ? rsc_attribution_fill(counting->tags.attribution, profile) : 0;
}
