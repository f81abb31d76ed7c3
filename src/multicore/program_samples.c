/* program_samples.c - see program_samples.h. */
#include "multicore/program_samples.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "multicore/finished_samples.h"

struct program_samples {
    struct rsc_engine_options options;
    struct rsc_sampler_options sampler;
    uint32_t model;
    struct rsc_finished_samples sum;
    struct rsc_sample_places places;
    double last_period;
    const struct rsc_whole_run *whole; /* NULL: not known yet */
    /* Samples of its model, and beside private ones those of the shared stack: what kept ones weigh is known at the end. */
    struct rsc_sample_record *records;
    size_t count, room;
};

static void destroy(void *state) {
    struct program_samples *samples = state;
    if (!samples) return;
    rsc_finished_samples_free(&samples->sum);
    rsc_attribution_free(samples->places.attribution);
    rsc_sample_places_free(&samples->places);
    free(samples->records);
    free(samples);
}

int rsc_program_samples_create(void **state, const struct rsc_engine_options *options,
                               const struct rsc_sampler_options *sampler, uint32_t model, struct rsc_error *error) {
    struct program_samples *samples = calloc(1, sizeof *samples);
    struct rsc_attribution_options wanted = {.rd_cap = options->max_distance, .has_gaps = 1};
    *state = NULL;
    if (!samples) return rsc_fail_memory(error, "samples");
    samples->options = *options;
    samples->sampler = *sampler;
    samples->model = model;
    samples->places.period = samples->last_period = sampler->period;
    samples->places.line_bytes = options->line_bytes;
    int status = rsc_finished_samples_init(&samples->sum, options->confidence > 0 ? options->confidence : 90,
                                           options->max_distance, options->bins_per_octave);
    samples->sum.is_private = model == RSC_MODEL_PRIVATE;
    samples->sum.burst = sampler->burst;
    if (status < 0) status = rsc_fail_memory(error, "samples");
    if (!status && options->attribute != 2) status = rsc_attribution_new(&samples->places.attribution, &wanted, error);
    if (status < 0) {
        destroy(samples);
        return status;
    }
    *state = samples;
    return 0;
}

/* ---- samples ---- */

/* The tag of a place, as an access there would have it. */
static int tag_of(struct program_samples *samples, uint64_t address, uint64_t pc, uint32_t *tag) {
    uint64_t meta = 0;
    struct rsc_batch one = {.count = 1, .addr = &address, .meta = &meta, .pc = &pc};
    return rsc_attribution_tags(samples->places.attribution, &one, tag);
}

/* A kept sample stands for as many as are expected to have been dropped: how many were is known at the end. */
static struct rsc_sample_record weighed(const struct program_samples *samples, const struct rsc_sample_record *record) {
    struct rsc_sample_record expected = *record;
    if (record->kept) expected.weight *= samples->sampler.burst_rounds;
    return expected;
}

static int share(struct program_samples *samples, const struct rsc_sample_record *record) {
    const struct rsc_sample_record expected = weighed(samples, record);
    struct rsc_attribution *attribution = samples->places.attribution;
    if (record->outcome == RSC_SAMPLE_KEPT || record->outcome == RSC_SAMPLE_DROPPED) return 0;
    return rsc_finished_samples_share(&samples->sum, &expected, attribution, samples->options.line_bytes,
                                      attribution ? record->taker.pc : 0, attribution ? record->use.pc : 0);
}

static int count_place(struct program_samples *samples, const struct rsc_sample_record *record) {
    const uint32_t line_bytes = samples->options.line_bytes, part = line_bytes > 64 ? line_bytes / 64 : 1;
    uint64_t address = record->line * line_bytes + record->use.first * part, meta = 0, pc = record->reuse.pc;
    uint32_t tag = RSC_TAG_NONE, use_tag;
    const int used_again = record->outcome == RSC_SAMPLE_INVALIDATED || record->outcome == RSC_SAMPLE_REUSED;
    if ((used_again && tag_of(samples, address, pc, &tag) < 0) ||
        tag_of(samples, address, record->use.pc, &use_tag) < 0)
        return RSC_ENOMEM;
    struct rsc_batch one = {.count = 1, .addr = &address, .meta = &meta, .pc = &pc};
    const struct rsc_sample_record expected = weighed(samples, record);
    return rsc_sample_places_count(&samples->places, &expected, &one, 0, &tag, use_tag);
}

/* Events up to number `upto`, in their place among the samples: a block may be freed after one. */
static int take_events(struct program_samples *samples, const struct rsc_batch *batch, uint32_t *done, uint32_t upto) {
    struct rsc_batch events = *batch;
    uint32_t none; /* accesses: a program that overwrites its ring may send some */
    if (upto > batch->event_count) upto = batch->event_count;
    if (upto <= *done || !samples->places.attribution) return 0;
    events.count = 0;
    events.events = batch->events + *done;
    events.event_count = upto - *done;
    *done = upto;
    return rsc_attribution_tags(samples->places.attribution, &events, &none);
}

static int push(void *state, const struct rsc_batch *batch, const struct rsc_batch_columns *columns,
                struct rsc_error *error) {
    struct program_samples *samples = state;
    struct rsc_attribution *attribution = samples->places.attribution;
    uint32_t events_done = 0;
    if (columns->whole) samples->whole = columns->whole;
    if (batch->thread_count && rsc_finished_samples_see_thread(&samples->sum, batch->thread_count - 1) < 0)
        return rsc_fail_memory(error, "thread rows");
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < samples->sum.thread_count; i++) {
        samples->sum.threads[i].pid = batch->threads[i].pid;
        samples->sum.threads[i].tid = batch->threads[i].tid;
    }
    for (size_t i = 0; i < columns->sample_count; i++) {
        const struct rsc_sample_record *record = &columns->samples[i];
        if (record->model != samples->model && record->model != RSC_MODEL_SHARED) continue;
        if (RSC_GROW(samples->records, samples->room, samples->count + 1)) return rsc_fail_memory(error, "samples");
        samples->records[samples->count++] = *record;
        if (record->model != samples->model) continue;
        if (take_events(samples, batch, &events_done, record->after_events) < 0)
            return rsc_fail_memory(error, "samples");
        if (samples->sum.is_private && share(samples, record) < 0) return rsc_fail_memory(error, "samples");
        samples->last_period = fmax(samples->last_period, record->weight);
        if (attribution && count_place(samples, record) < 0) return rsc_fail_memory(error, "samples");
    }
    if (take_events(samples, batch, &events_done, batch->event_count) < 0) return rsc_fail_memory(error, "samples");
    for (size_t i = 0; attribution && i < columns->step_count; i++) {
        const struct rsc_step *step = &columns->steps[i];
        uint32_t tag;
        if (tag_of(samples, step->to, step->pc, &tag) < 0) return rsc_fail_memory(error, "samples");
        rsc_attribution_step(attribution, tag, step->from, step->to, step->bytes);
    }
    return 0;
}

/* ---- the end ---- */

/* Sums over the samples of one model, with weights as drawn. */
struct drawn {
    uint64_t ended;
    double weight, kept_weight; /* of those ended; and of the kept ones among them */
    struct rsc_judged_weight judged;
};

static struct drawn drawn_of(const struct program_samples *samples, uint32_t model) {
    struct drawn drawn = {0};
    for (size_t i = 0; i < samples->count; i++) {
        const struct rsc_sample_record *record = &samples->records[i];
        if (record->model != model) continue;
        if (record->outcome == RSC_SAMPLE_KEPT) drawn.judged.kept += record->weight;
        if (record->outcome == RSC_SAMPLE_DROPPED) drawn.judged.dropped += record->weight;
        if (record->outcome == RSC_SAMPLE_KEPT) continue;
        drawn.ended++;
        drawn.weight += record->weight;
        if (record->kept) drawn.kept_weight += record->weight;
    }
    return drawn;
}

/* Takes samples that were not finished when the program ended, or was let go: those begun that did not end, first the kept ones. */
static void take_unfinished(struct rsc_finished_samples *sum, const struct drawn *drawn,
                            const struct rsc_whole_run *whole, double last_period, int of_all) {
    const uint64_t count = whole->begun > drawn->ended ? whole->begun - drawn->ended : 0;
    const double weight = whole->begun_weight - drawn->weight, kept = drawn->judged.kept - drawn->kept_weight;
    const double each = count && weight > 0 ? fmax(1, weight / (double)count) : last_period;
    const double wanted = fmax(0, ceil(kept / each - 0.5));
    const uint64_t kept_count = wanted < (double)count ? (uint64_t)wanted : count;
    struct rsc_unfinished unfinished = {.count = kept_count, .weight = each, .kept = 1, .censored = whole->goes_on};
    rsc_finished_samples_take_unfinished(sum, &unfinished, of_all);
    unfinished.count = count - kept_count;
    unfinished.kept = 0;
    rsc_finished_samples_take_unfinished(sum, &unfinished, of_all);
}

/* Whether a program can have made as many references: their lines are a number of bytes, and no thread has more than all. */
static int is_possible(const struct rsc_whole_run *whole, uint32_t line_bytes) {
    const uint64_t most = INT64_MAX / line_bytes;
    int possible = whole->references <= most && whole->analysed <= most && whole->begun <= most;
    for (uint32_t i = 0; possible && i < whole->thread_count; i++)
        possible = whole->thread_references[i] <= whole->references;
    return possible;
}

static int finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    static const struct rsc_whole_run nothing_known;
    struct program_samples *samples = state;
    const struct rsc_whole_run *whole = samples->whole ? samples->whole : &nothing_known;
    struct rsc_sampling_facts facts = {.sampler = &samples->sampler,
                                       .last_period = samples->last_period,
                                       .references = whole->references,
                                       .analysed = whole->analysed,
                                       .in_program = 1};
    if (!is_possible(whole, samples->options.line_bytes))
        return rsc_fail(
            error, RSC_EFORMAT,
            "the program's counts of references make no sense: it wrote over the memory it shares with the tool");
    struct rsc_finished_samples *sum = &samples->sum;
    const struct drawn own = drawn_of(samples, samples->model), of_all = drawn_of(samples, RSC_MODEL_SHARED);
    rsc_finished_samples_weigh_kept(sum, own.judged, of_all.judged);
    for (size_t i = 0; i < samples->count; i++) {
        const struct rsc_sample_record *record = &samples->records[i];
        if (record->model == samples->model) rsc_finished_samples_take(sum, record);
        else rsc_finished_samples_take_shared(sum, record);
    }
    take_unfinished(sum, &own, whole, samples->last_period, 0);
    if (samples->model != RSC_MODEL_SHARED && samples->sampler.models & RSC_MODEL_SHARED)
        take_unfinished(sum, &of_all, whole, samples->last_period, 1);
    for (uint32_t i = 0; i < samples->sum.thread_count; i++)
        samples->sum.threads[i].references = i < whole->thread_count ? whole->thread_references[i] : 0;
    return rsc_finished_samples_finish(&samples->sum, &samples->places, &facts, whole->references,
                                       samples->options.line_bytes, out, error);
}

const struct rsc_engine_kind rsc_program_samples = {
    .name = "sampled", .push_columns = push, .finish = finish, .destroy = destroy};
