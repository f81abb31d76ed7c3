/*
 * sampled_references.c - runs a trace through the sampler that runs inside programs
 * (runtime/sampler/sampler.h). The same seed always gives the same samples.
 *
 * References are taken in the order of the trace. In fast mode they are only counted.
 * In sequential order each takes effect on every stack at once; in parallel order threads
 * learn of each other's writes as they would in a running program: at barriers, at
 * their end, at locks (the trace's events), and when a sample begins or is
 * reused.
 *
 * Model "private" has one stack per thread or group of threads (--cores); "single" and
 * "shared" have one for all. Without a given period, it starts with short periods and
 * doubles them as planned by sample_plan.h, until the end.
 *
 * Code, pairs and objects are counted from samples that end in a reuse, of a line that
 * its stack still has or that was invalidated.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"
#include "distance/count/accumulate.h"
#include "distance/count/access_tags.h"
#include "distance/engine_kind.h"
#include "multicore/core_groups.h"
#include "multicore/sampled_references.h"
#include "multicore/sampled_options.h"
#include "multicore/finished_samples.h"
#include "trace/references.h"

#define BLOCK 2048u
#define SLOTS_MOST 1024u
#define NO_SLOT UINT32_MAX
#define USUAL_ERROR 0.005 /* the bound planned for if none is given */

struct sampled_engine {
    struct rsc_sampled_options wanted;
    struct rsc_engine_options options;
    struct rsc_sampler *sampler;
    void *memory;
    size_t bytes;
    struct rsc_finished_samples sum;
    uint64_t accesses, references;

    uint64_t planned, double_at; /* samples; planned 0: the period is fixed */

    struct rsc_core_groups groups;
    uint32_t *slot_of_group;  /* owned */
    uint32_t *slot_of_thread; /* owned */
    uint32_t thread_room;

    struct rsc_sample_places places;
    struct rsc_access_tags tags; /* has the attribution */
    int attribution_failed;

    const struct rsc_batch *batch; /* being pushed */
    uint32_t access;               /* access of the batch at which a sample ends */
    uint64_t lines[BLOCK];
    uint32_t from[BLOCK];
};

/* ---- finished samples ---- */

static void take_record(void *context, const struct rsc_sample_record *record) {
    struct sampled_engine *engine = context;
    struct rsc_attribution *attribution = engine->places.attribution;
    if (engine->sum.is_private && record->model == RSC_MODEL_SHARED) {
        rsc_finished_samples_take_shared(&engine->sum, record);
        return;
    }
    rsc_finished_samples_take(&engine->sum, record);
    if (engine->sum.is_private &&
        rsc_finished_samples_share(&engine->sum, record, attribution, (uint32_t)engine->options.line_bytes,
                                   attribution ? rsc_attribution_pc(attribution, record->taker.context) : 0,
                                   attribution ? rsc_attribution_pc(attribution, record->use.context) : 0) < 0)
        engine->attribution_failed = 1;
    if (engine->places.attribution && engine->batch &&
        rsc_sample_places_count(&engine->places, record, engine->batch, engine->access, engine->tags.tag,
                                record->use.context) < 0)
        engine->attribution_failed = 1;
}

/* ---- beginning ---- */

static void sampled_destroy(void *state) {
    struct sampled_engine *engine = state;
    if (!engine) return;
    if (engine->memory) rsc_pages_free(engine->memory, engine->bytes);
    rsc_finished_samples_free(&engine->sum);
    rsc_core_groups_free(&engine->groups);
    free(engine->slot_of_group);
    free(engine->slot_of_thread);
    rsc_access_tags_free(&engine->tags);
    rsc_sample_places_free(&engine->places);
    free(engine);
}

static void plan(struct sampled_engine *engine) {
    struct rsc_error_bound *bound = &engine->wanted.bound;
    bound->error = engine->options.error > 0 ? engine->options.error : USUAL_ERROR;
    bound->confidence = engine->options.confidence;
    engine->places.period = engine->wanted.period > 0 ? engine->wanted.period : RSC_PLAN_PERIOD;
    if (!(engine->wanted.period > 0)) engine->planned = engine->double_at = rsc_plan_samples(bound);
}

/* Address space for as many threads as possible: only the used part becomes memory. */
static int reserve(struct sampled_engine *engine) {
    struct rsc_sampler_options *sampler = &engine->wanted.sampler;
    for (sampler->threads_most = SLOTS_MOST; sampler->threads_most; sampler->threads_most /= 4) {
        engine->bytes = rsc_sampler_bytes(sampler, NULL);
        engine->memory = rsc_pages_reserve(engine->bytes);
        if (engine->memory) return 0;
    }
    return RSC_ENOMEM;
}

static int start(struct sampled_engine *engine, struct rsc_error *error) {
    const struct rsc_engine_options *options = &engine->options;
    struct rsc_sampler_options *sampler = &engine->wanted.sampler;
    if (options->error > 0 && engine->wanted.period > 0)
        return rsc_fail(error, RSC_EINVAL, "--error and period= both set how often to sample: give one of them");
    int status = rsc_core_groups_parse(&engine->groups, options->cores, error);
    if (status < 0) return status;
    plan(engine);
    const int is_private = !strcmp(options->model, "private");
    sampler->models = RSC_MODEL_SHARED | (is_private ? RSC_MODEL_PRIVATE : 0);
    sampler->only_footprint = is_private; /* of all threads, beside private stacks */
    sampler->period = engine->places.period;
    engine->places.line_bytes = options->line_bytes;
    sampler->seed = options->seed;
    sampler->places_have_threads = 1;
    sampler->emit = take_record;
    sampler->emit_context = engine;
    engine->slot_of_group = malloc((engine->groups.group_count + 1ull) * sizeof *engine->slot_of_group);
    if (!engine->slot_of_group || reserve(engine) < 0 ||
        rsc_finished_samples_init(&engine->sum, options->confidence, options->max_distance, options->bins_per_octave) <
            0)
        return rsc_fail_memory(error, "sampled engine");
    engine->sum.is_private = is_private;
    for (uint32_t i = 0; i < engine->groups.group_count; i++) engine->slot_of_group[i] = NO_SLOT;
    engine->sampler = rsc_sampler_init(sampler, engine->memory);
    return 0;
}

int rsc_sampled_references_create(void **state, const struct rsc_engine_options *options,
                                  const struct rsc_sampled_options *wanted, struct rsc_error *error) {
    struct sampled_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "sampled engine");
    engine->options = *options;
    engine->wanted = *wanted;
    engine->tags = (struct rsc_access_tags){.attribute = options->attribute, .rd_cap = options->max_distance};
    int status = start(engine, error);
    if (status < 0) {
        sampled_destroy(engine);
        return status;
    }
    *state = engine;
    return 0;
}

/* ---- threads ---- */

static int know_thread(struct sampled_engine *engine, uint32_t thread, struct rsc_error *error) {
    if (rsc_finished_samples_see_thread(&engine->sum, thread) < 0) return rsc_fail_memory(error, "thread rows");
    if (thread < engine->thread_room) return 0;
    uint32_t room = engine->thread_room ? engine->thread_room : 64;
    while (room <= thread) room *= 2;
    uint32_t *more = realloc(engine->slot_of_thread, room * sizeof *more);
    if (!more) return rsc_fail_memory(error, "threads");
    for (uint32_t t = engine->thread_room; t < room; t++) more[t] = NO_SLOT;
    engine->slot_of_thread = more;
    engine->thread_room = room;
    return 0;
}

/* The slot of a thread or its group, made if new. Returns 0 or a negative code. */
static int find_slot(struct sampled_engine *engine, uint32_t thread, uint32_t *slot, struct rsc_error *error) {
    if (thread >= engine->thread_room || thread >= engine->sum.thread_count) {
        int status = know_thread(engine, thread, error);
        if (status < 0) return status;
    }
    *slot = engine->slot_of_thread[thread];
    if (*slot != NO_SLOT) return 0;
    uint32_t group = rsc_core_groups_of(&engine->groups, thread);
    if (group != RSC_NO_GROUP) *slot = engine->slot_of_group[group];
    if (*slot == NO_SLOT) *slot = rsc_sampler_thread_begin(engine->sampler, thread);
    if (*slot == RSC_NO_THREAD)
        return rsc_fail(error, RSC_ELIMIT,
                        "sampled engine: more than %u threads at once; a sample of lines (lines=1/64) takes any number",
                        engine->wanted.sampler.threads_most);
    engine->slot_of_thread[thread] = *slot;
    if (group != RSC_NO_GROUP) engine->slot_of_group[group] = *slot;
    return 0;
}

static void take_event(struct sampled_engine *engine, const struct rsc_event *event) {
    uint32_t slot = event->thread < engine->thread_room ? engine->slot_of_thread[event->thread] : NO_SLOT;
    if (slot == NO_SLOT) return;
    switch (event->type) {
    case RSC_EVENT_BARRIER: rsc_sampler_sync(engine->sampler, slot); break;
    case RSC_EVENT_LOCK:
        if (event->b == 0) rsc_sampler_sync(engine->sampler, slot);
        break;
    case RSC_EVENT_THREAD_END:
        if (rsc_core_groups_of(&engine->groups, event->thread) != RSC_NO_GROUP)
            break; /* others of the group may still use it */
        rsc_sampler_thread_end(engine->sampler, slot);
        engine->slot_of_thread[event->thread] = NO_SLOT;
        break;
    default: break;
    }
}

/* ---- references ---- */

/* How many references from number i on are of the same thread, come before access `until`, and can be skipped. */
static uint32_t quiet_run(const struct sampled_engine *engine, uint32_t i, uint32_t count, uint32_t slot,
                          uint32_t until) {
    uint64_t left = rsc_sampler_countdown(engine->sampler, slot) - 1;
    const uint64_t *meta = engine->batch->meta;
    uint64_t thread = meta[engine->from[i]] >> 40;
    uint32_t end = left < count - i ? i + (uint32_t)left : count, at = i;
    while (at < end && engine->from[at] < until && meta[engine->from[at]] >> 40 == thread) at++;
    return at - i;
}

/* Processes a block of references, and the events before each. Returns 0 or a negative code. */
static int run_block(struct sampled_engine *engine, uint32_t count, uint32_t *next_event, struct rsc_error *error) {
    const struct rsc_batch *batch = engine->batch;
    const uint32_t shift = (uint32_t)__builtin_ctz(engine->options.line_bytes);
    uint32_t slot = NO_SLOT, thread = UINT32_MAX;
    for (uint32_t i = 0; i < count;) {
        uint32_t access = engine->access = engine->from[i];
        while (*next_event < batch->event_count && batch->events[*next_event].at <= access) {
            take_event(engine, &batch->events[(*next_event)++]);
            thread = UINT32_MAX; /* its slot may be gone */
        }
        uint32_t until = *next_event < batch->event_count ? batch->events[*next_event].at : UINT32_MAX;
        uint64_t meta = batch->meta[access];
        if (rsc_meta_thread(meta) != thread) {
            thread = rsc_meta_thread(meta);
            int status = find_slot(engine, thread, &slot, error);
            if (status < 0) return status;
        }
        uint32_t done = rsc_sampler_is_quiet(engine->sampler) ? quiet_run(engine, i, count, slot, until) : 0;
        if (done) {
            rsc_sampler_pass(engine->sampler, slot, done);
        } else {
            struct rsc_sample_place place = {.context = engine->places.attribution ? engine->tags.tag[access] : 0,
                                             .thread = thread};
            rsc_sample_place_bytes(&place, batch->addr[access], rsc_meta_size(meta), engine->lines[i], shift);
            rsc_sampler_use(engine->sampler, slot, engine->lines[i], rsc_meta_kind(meta) == RSC_WRITE, &place);
            done = 1;
        }
        if (thread < engine->sum.thread_count) engine->sum.threads[thread].references += done;
        i += done;
    }
    return 0;
}

static void adapt(struct sampled_engine *engine) {
    struct rsc_sampler_counts counts;
    if (!engine->planned) return;
    rsc_sampler_get_counts(engine->sampler, &counts);
    if (counts.samples < engine->double_at) return;
    rsc_sampler_set_period(engine->sampler, 2 * counts.period);
    engine->double_at = counts.samples + engine->planned;
}

static int sampled_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct sampled_engine *engine = state;
    struct rsc_reference_cursor cursor;
    uint32_t count, next_event = 0;
    int status = rsc_access_tags_give(&engine->tags, batch, error);
    engine->places.attribution = engine->tags.attribution;
    if (status < 0) return status;
    engine->batch = batch;
    rsc_references_start(&cursor, batch, (uint32_t)__builtin_ctz(engine->options.line_bytes));
    while ((count = rsc_references_fill(&cursor, engine->lines, engine->from, BLOCK)) > 0) {
        if ((status = run_block(engine, count, &next_event, error)) < 0) return status;
        engine->references += count;
        adapt(engine);
    }
    while (next_event < batch->event_count) take_event(engine, &batch->events[next_event++]);
    engine->batch = NULL;
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < engine->sum.thread_count; i++) {
        engine->sum.threads[i].pid = batch->threads[i].pid;
        engine->sum.threads[i].tid = batch->threads[i].tid;
    }
    engine->accesses += batch->count;
    return engine->attribution_failed ? rsc_fail_memory(error, "attribution") : 0;
}

/* ---- the end ---- */

static void tell(const struct sampled_engine *engine, const struct rsc_sampler_counts *counts) {
    const struct rsc_error_bound *bound = &engine->wanted.bound;
    double size = rsc_finished_samples_size(&engine->sum), error = rsc_plan_error(bound, size);
    rsc_log_line(engine->options.log, RSC_LOG_INFO,
                 "sampled: %llu samples, %.1f %% of references analysed, %llu sketched",
                 (unsigned long long)engine->sum.tally.samples,
                 counts->references ? 100 * (double)counts->analysed / (double)counts->references : 0,
                 (unsigned long long)engine->sum.sketched);
    if (engine->sum.thread_count < RSC_THREAD_ROWS_MAX) /* otherwise there may be more */
        rsc_core_groups_warn(&engine->groups, engine->sum.thread_count, engine->options.log);
    if (counts->lost_logs)
        rsc_log_line(engine->options.log, RSC_LOG_WARNING,
                     "sampled: a thread fell a whole log of writes behind %llu times",
                     (unsigned long long)counts->lost_logs);
    if (engine->options.error > 0 && error > bound->error * 1.0001)
        rsc_log_line(
            engine->options.log, RSC_LOG_WARNING,
            "sampled: the trace is too short for --error %g: it gave the equivalent of %.0f samples, an error of %.2g",
            bound->error, size, error);
}

static int sampled_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct sampled_engine *engine = state;
    struct rsc_sampler_counts counts;
    rsc_sampler_finish(engine->sampler);
    rsc_sampler_get_counts(engine->sampler, &counts);
    struct rsc_sampling_facts facts = {.sampler = &engine->wanted.sampler,
                                       .last_period = counts.period,
                                       .references = engine->references,
                                       .analysed = counts.analysed};
    int status = rsc_finished_samples_finish(&engine->sum, &engine->places, &facts, engine->accesses,
                                             engine->options.line_bytes, out, error);
    if (!status) tell(engine, &counts);
    return status;
}

static void sampled_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct sampled_engine *engine = state;
    double error = rsc_plan_error(&engine->wanted.bound, rsc_finished_samples_size(&engine->sum));
    so_far->references = engine->references;
    so_far->samples = engine->sum.tally.samples;
    so_far->sampled = "references";
    if (error < 1) so_far->error = error;
}

const struct rsc_engine_kind rsc_sampled_references = {
    .name = "sampled",
    .push = sampled_push,
    .finish = sampled_finish,
    .destroy = sampled_destroy,
    .so_far = sampled_so_far,
};
