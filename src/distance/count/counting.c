/* counting.c - see counting.h. */
#include "distance/count/counting.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"

int rsc_counting_init(struct rsc_counting *counting, const struct rsc_engine_options *options, int keep_objects) {
    counting->log = options->log;
    counting->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    counting->no_ri = options->no_ri != 0;
    counting->tags = (struct rsc_access_tags){.attribute = options->attribute,
                                              .rd_cap = options->max_distance,
                                              .objects = keep_objects || options->top_lines ? counting->objects : NULL};
    int status = rsc_accumulator_init(&counting->sum, options->phases, options->max_distance, options->bins_per_octave);
    if (status < 0 || !options->top_lines) return status;
    return rsc_top_lines_init(&counting->top, options->top_lines, options->top_lines_bytes, counting->line_shift,
                              options->max_distance);
}

void rsc_counting_free(struct rsc_counting *counting) {
    rsc_accumulator_free(&counting->sum);
    rsc_access_tags_free(&counting->tags);
    rsc_top_lines_free(&counting->top);
}

int rsc_counting_begin(struct rsc_counting *counting, const struct rsc_batch *batch, struct rsc_error *error) {
    int status = rsc_access_tags_give(&counting->tags, batch, error);
    if (status < 0) return status;
    if (rsc_accumulator_see_threads(&counting->sum, batch) < 0) return rsc_fail_memory(error, "thread rows");
    counting->sum.accesses += batch->count;
    counting->batch = batch;
    rsc_references_start(&counting->cursor, batch, counting->line_shift);
    return 0;
}

uint32_t rsc_counting_next(struct rsc_counting *counting) {
    uint32_t count = rsc_references_fill(&counting->cursor, counting->lines, counting->from, RSC_COUNTING_BLOCK);
    counting->count = count;
    if (counting->tags.attribution)
        for (uint32_t i = 0; i < count; i++) counting->tag[i] = counting->tags.tag[counting->from[i]];
    return count;
}

int rsc_counting_take(struct rsc_counting *counting, struct rsc_error *error) {
    const struct rsc_batch *batch = counting->batch;
    uint32_t count = counting->count;
    assert(count <= RSC_COUNTING_BLOCK);
    if (rsc_accumulate(&counting->sum, batch, counting->from, counting->rd, counting->no_ri ? NULL : counting->ri,
                       count) < 0)
        return rsc_fail_memory(error, "phases");
    if (counting->tags.attribution && rsc_attribution_count(counting->tags.attribution, batch, counting->from,
                                                            counting->tag, counting->rd, counting->last_tag, count) < 0)
        return rsc_fail_memory(error, "attribution");
    if (counting->top.wanted)
        rsc_top_lines_count(&counting->top, counting->lines, counting->rd, rsc_counting_objects(counting), count);
    struct rsc_distance_block block = {batch, counting->lines, counting->from, counting->stack, counting->rd, count};
    if (counting->watch.block && counting->watch.block(counting->watch.context, &block) < 0)
        return rsc_fail_memory(error, "distances");
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
    if (counting->sum.threads_seen > counting->sum.thread_count)
        rsc_log_line(counting->log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)counting->sum.threads_seen, counting->sum.thread_count);
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
