/* engine.c - the public engine handle: checks options against the engine's abilities and measures time. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "distance/count/top_lines.h"
#include "engine/engine_spec.h"
#include "multicore/multicore_engines.h"
#include "profile/profile_model.h"
#include "trace/references.h"
#include "trace/source.h"

#define PHASES_MAX 10000u

struct rsc_engine {
    struct rsc_engine_spec spec;
    const struct rsc_engine_kind *kind; /* the one of spec, or the model's own */
    void *state;
    struct rsc_engine_options options;
    struct timespec started;
    int has_started;
    int failed;
    uint64_t wide_references; /* of accesses of a MiB and more */
    struct rsc_turn_counter turns;
    int turns_unknown; /* one thread's model, or not all accesses come by */
    int turns_ended;
    struct rsc_turns turned;   /* once they are */
    struct rsc_engine *beside; /* takes the same batches, checks them and counts turns for both; NULL: none */
};

static int fill_defaults(struct rsc_engine_options *full, const struct rsc_engine_options *given,
                         struct rsc_error *error) {
    memset(full, 0, sizeof *full);
    if (given) {
        if (given->struct_bytes < offsetof(struct rsc_engine_options, attribute) ||
            given->struct_bytes > sizeof *full + 4096)
            return rsc_fail(error, RSC_EINVAL, "engine options: struct_bytes is not sizeof(struct rsc_engine_options)");
        memcpy(full, given, given->struct_bytes < sizeof *full ? given->struct_bytes : sizeof *full);
    }
    full->struct_bytes = sizeof *full;
    if (!full->workers) full->workers = 1;
    if (!full->top_lines_bytes) full->top_lines_bytes = 32 << 10;
    if (full->top_lines > RSC_TOP_LINES_MAX)
        return rsc_fail(error, RSC_EINVAL, "top lines %u: more than %u", full->top_lines, RSC_TOP_LINES_MAX);
    if (full->line_bytes > 4096 || (full->line_bytes & (full->line_bytes - 1)))
        return rsc_fail(error, RSC_EINVAL, "line size %u: not a power of two from 1 to 4096", full->line_bytes);
    if (full->bins_per_octave > 64)
        return rsc_fail(error, RSC_EINVAL, "bins %u: not in 1 to 64 per octave", full->bins_per_octave);
    if (full->phases > PHASES_MAX)
        return rsc_fail(error, RSC_EINVAL, "phases %u: more than %u", full->phases, PHASES_MAX);
    if (full->attribute > 2) return rsc_fail(error, RSC_EINVAL, "attribute %u: not 0, 1 or 2", full->attribute);
    if (full->confidence == 0) full->confidence = 90;
    if (!(full->confidence > 0 && full->confidence < 100))
        return rsc_fail(error, RSC_EINVAL, "confidence %g: not between 0 and 100 percent", full->confidence);
    if (!(full->error >= 0 && full->error < 1))
        return rsc_fail(error, RSC_EINVAL, "error %g: not from 0 to less than 1", full->error);
    return 0;
}

/* Private stacks have their own exact engine; other engines support them or not. */
static int settle_private(struct rsc_engine *engine, struct rsc_error *error) {
    engine->options.model = "private";
    if (rsc_engine_spec_is_exact(&engine->spec)) engine->kind = &rsc_engine_private;
    if (engine->kind == &rsc_engine_gpu) engine->kind = &rsc_engine_gpu_private;
    if (!(engine->kind->can & RSC_CAN_PRIVATE))
        return rsc_fail(error, RSC_EINVAL, "the %s engine has no private stacks: take exact", engine->kind->name);
    return 0;
}

/* Sets lines and model, whose defaults depend on the engine. The model may decide which engine is used. */
static int settle_model(struct rsc_engine *engine, struct rsc_error *error) {
    struct rsc_engine_options *options = &engine->options;
    const char *name = engine->kind->name;
    int requests = (engine->kind->can & RSC_TAKES_REQUESTS) != 0;
    if (!options->line_bytes) options->line_bytes = requests ? 1 : 64;
    if (requests && options->line_bytes != 1)
        return rsc_fail(error, RSC_EINVAL, "the %s engine has no lines: line size %u is not 1", name,
                        options->line_bytes);
    if (requests && options->model && strcmp(options->model, "requests"))
        return rsc_fail(error, RSC_EINVAL, "the %s engine has one model: '%.40s' is not requests", name,
                        options->model);
    /* the caller's string may be freed before it is used */
    if (requests) options->model = "requests";
    else if (!options->model || !strcmp(options->model, "single")) options->model = "single";
    else if (!strcmp(options->model, "shared")) options->model = "shared";
    else if (!strcmp(options->model, "private")) return settle_private(engine, error);
    else return rsc_fail(error, RSC_EINVAL, "model '%.40s': not one of single, private, shared", options->model);
    if (options->cores)
        return rsc_fail(error, RSC_EINVAL, "cores: only the private model has stacks to share among them");
    return 0;
}

/* A debug register covers 8 bytes and sees one thread: there is only the per-thread model, and lines are modelled. */
static int settle_words(struct rsc_engine *engine, struct rsc_error *error) {
    struct rsc_engine_options *options = &engine->options;
    if (!(engine->kind->can & RSC_WATCHES_WORDS)) return 0;
    if (!options->line_bytes) options->line_bytes = 8;
    if (options->line_bytes != 8 && options->line_bytes != 64)
        return rsc_fail(error, RSC_EINVAL, "the %s engine watches words: line size %u is neither 8 nor (modelled) 64",
                        engine->kind->name, options->line_bytes);
    if (options->model && strcmp(options->model, "single"))
        return rsc_fail(error, RSC_EINVAL, "the %s engine watches each thread by itself: it has no model '%.40s'",
                        engine->kind->name, options->model);
    return 0;
}

/* Names the first option the engine does not support. */
static int check_abilities(struct rsc_engine *engine, struct rsc_error *error) {
    struct rsc_engine_options *options = &engine->options;
    const struct {
        unsigned ability;
        int asked;
        const char *name;
    } wishes[] = {
        {RSC_CAN_PHASES, options->phases != 0, "phases"},
        {RSC_CAN_CAP, options->max_distance != 0, "a largest distance"},
        {RSC_CAN_BINS, options->bins_per_octave != 0, "a second binning"},
        {RSC_CAN_ATTRIBUTE, options->attribute == 1, "attribution to code"},
        {RSC_CAN_WORKERS, options->workers > 1, "several workers"},
        {RSC_CAN_NO_RI, options->no_ri != 0, "leaving reuse intervals out"},
        {RSC_CAN_TOP_LINES, options->top_lines != 0, "top lines"},
    };
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        if (wishes[i].asked && !(engine->kind->can & wishes[i].ability))
            return rsc_fail(error, RSC_EINVAL, "the %s engine cannot do %s", engine->kind->name, wishes[i].name);
    if (!(engine->kind->can & RSC_CAN_ATTRIBUTE)) options->attribute = 2;
    return 0;
}

int rsc_engine_open(struct rsc_engine **out, const struct rsc_engine_spec *spec,
                    const struct rsc_engine_options *options, struct rsc_error *error) {
    *out = NULL;
    struct rsc_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "engine");
    engine->spec = *spec;
    engine->kind = spec->kind;
    int status = fill_defaults(&engine->options, options, error);
    if (!status) status = settle_words(engine, error);
    if (!status) status = settle_model(engine, error);
    if (!status) status = check_abilities(engine, error);
    engine->turns_unknown = !engine->options.model || !strcmp(engine->options.model, "single") ||
                            (engine->kind->can & (RSC_TAKES_REQUESTS | RSC_WATCHES_WORDS)) != 0;
    if (!status) status = engine->kind->create(&engine->state, &engine->options, engine->spec.parameters, error);
    if (status < 0) {
        free(engine);
        return status;
    }
    *out = engine;
    return 0;
}

int rsc_engine_new(struct rsc_engine **out, const struct rsc_engine_options *options, struct rsc_error *error) {
    struct rsc_engine_spec spec;
    struct rsc_engine_options full;
    *out = NULL;
    int status = fill_defaults(&full, options, error); /* its size is checked before anything is read */
    if (!status) status = rsc_engine_spec_parse(&spec, full.engine, error);
    return status < 0 ? status : rsc_engine_open(out, &spec, &full, error);
}

uint64_t rsc_engine_memory(const struct rsc_engine *engine, uint64_t lines) {
    return engine->kind->memory ? engine->kind->memory(&engine->options, engine->spec.parameters, lines) : 0;
}

static void start_clock(struct rsc_engine *engine) {
    if (engine->has_started) return;
    clock_gettime(CLOCK_MONOTONIC, &engine->started);
    engine->has_started = 1;
}

int rsc_engine_around(struct rsc_engine **out, const struct rsc_engine_kind *kind, void *state,
                      const struct rsc_engine_options *options, struct rsc_error *error) {
    struct rsc_engine *engine = calloc(1, sizeof *engine);
    *out = NULL;
    if (!engine) {
        kind->destroy(state);
        return rsc_fail_memory(error, "engine");
    }
    engine->kind = kind;
    engine->state = state;
    engine->turns_unknown = 1;
    int status = fill_defaults(&engine->options, options, error);
    if (status < 0) {
        rsc_engine_free(engine);
        return status;
    }
    *out = engine;
    return 0;
}

int rsc_engine_push_columns(struct rsc_engine *engine, const struct rsc_batch *batch,
                            const struct rsc_batch_columns *columns, struct rsc_error *error) {
    static const struct rsc_batch_columns none;
    const struct rsc_engine_kind *kind = engine->kind;
    if (engine->failed) return rsc_fail(error, RSC_EINVAL, "engine: pushed to after a failure");
    start_clock(engine);
    if (!columns) columns = &none;
    if (!(kind->can & (RSC_TAKES_REQUESTS | RSC_REFUSES_WIDE)) && !engine->beside) {
        const uint32_t line_shift = (uint32_t)__builtin_ctz(engine->options.line_bytes);
        int status = rsc_references_limit(&engine->wide_references, batch, line_shift, error);
        if (status < 0) return status;
    }
    assert(kind->push_columns || (!columns->skipped && !columns->sample_count && !columns->watched_count));
    int status = kind->push_columns ? kind->push_columns(engine->state, batch, columns, error)
                                    : kind->push(engine->state, batch, error);
    if (!status && columns->skipped) engine->turns_unknown = 1;
    if (!status && !engine->turns_unknown && !engine->beside &&
        rsc_turns_count(&engine->turns, batch->meta, batch->count))
        status = rsc_fail_memory(error, "turns of threads");
    if (status < 0) engine->failed = 1;
    return status;
}

int rsc_engine_push(struct rsc_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    return rsc_engine_push_columns(engine, batch, NULL, error);
}

int rsc_engine_use_parts(struct rsc_engine *engine, struct rsc_trace *trace) {
    struct rsc_trace_info info;
    rsc_trace_get_info(trace, &info);
    /* parts have no pcs, and nobody counts the turns of threads in them, which these models report */
    if (strcmp(engine->options.model, "single")) return 0;
    if (engine->options.attribute == 1 || (engine->options.attribute == 0 && info.has_pc)) return 0;
    return engine->kind->parts && rsc_trace_use_parts(trace, engine->kind->parts(engine->state));
}

int rsc_engine_push_part(struct rsc_engine *engine, void *part, const struct rsc_batch *batch,
                         struct rsc_error *error) {
    assert(!engine->failed);
    start_clock(engine);
    int status = engine->kind->push_part(engine->state, part, batch, error);
    if (status < 0) engine->failed = 1;
    return status;
}

void rsc_engine_so_far(const struct rsc_engine *engine, struct rsc_so_far *so_far) {
    *so_far = (struct rsc_so_far){.error = NAN};
    if (engine->kind->so_far && !engine->failed) engine->kind->so_far(engine->state, so_far);
}

uint64_t rsc_engine_bytes(const struct rsc_engine *engine) {
    return engine->kind->bytes ? engine->kind->bytes(engine->state) : RSC_UNKNOWN;
}

int rsc_engine_lean_on(struct rsc_engine *private_engine, struct rsc_engine *shared_engine) {
    if (private_engine->kind != &rsc_engine_private || shared_engine->kind != &rsc_engine_exact ||
        private_engine->options.top_lines)
        return 0;
    private_engine->beside = shared_engine;
    rsc_private_lean_on(private_engine->state, shared_engine->state);
    return 1;
}

int rsc_engine_stand(struct rsc_engine *private_engine, const struct rsc_batch *batch, struct rsc_error *error) {
    return private_engine->kind == &rsc_engine_private ? rsc_private_stand(private_engine->state, batch, error) : 0;
}

void rsc_engine_two_threads(struct rsc_engine *engine) {
    if (engine->kind->two_threads) engine->kind->two_threads(engine->state);
}

void rsc_engine_expect(struct rsc_engine *engine, uint64_t accesses) {
    if (engine->kind->expect && accesses != RSC_UNKNOWN) engine->kind->expect(engine->state, accesses);
}

int rsc_engine_watch(struct rsc_engine *engine, const struct rsc_distance_watch *watch) {
    if (!engine->kind->watch) return RSC_EUNSUPPORTED;
    engine->kind->watch(engine->state, watch);
    return 0;
}

static void take_turns(struct rsc_engine *counted, struct rsc_profile *profile) {
    if (counted->turns_unknown) return;
    if (!counted->turns_ended) rsc_turns_finish(&counted->turns, &counted->turned);
    counted->turns_ended = 1;
    profile->turns = counted->turned;
}

int rsc_engine_finish(struct rsc_engine *engine, struct rsc_profile **out, struct rsc_error *error) {
    struct rsc_profile *profile = NULL;
    *out = NULL;
    if (engine->failed) return rsc_fail(error, RSC_EINVAL, "engine: finished after a failure");
    engine->failed = 1; /* used up even on failure */
    start_clock(engine);
    int status = engine->kind->finish(engine->state, &profile, error);
    if (status < 0) goto out;
    take_turns(engine->beside ? engine->beside : engine, profile);

    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    profile->made.seconds =
        (double)(now.tv_sec - engine->started.tv_sec) + 1e-9 * (double)(now.tv_nsec - engine->started.tv_nsec);
    profile->made.line_bytes = engine->options.line_bytes;
    if (!profile->made.workers) profile->made.workers = engine->options.workers;
    profile->made.overhead = NAN;
    profile->made.coverage = NAN;
    if (rsc_profile_set_text(&profile->made.source, "api") < 0 ||
        (!(engine->kind->can & RSC_WATCHES_WORDS) &&
         rsc_profile_set_text(&profile->made.model, engine->options.model) < 0) ||
        rsc_profile_seal(profile) < 0) {
        status = rsc_fail_memory(error, "profile");
        goto out;
    }
    *out = profile;
    profile = NULL;
out:
    rsc_profile_free(profile);
    return status;
}

void rsc_engine_free(struct rsc_engine *engine) {
    if (!engine) return;
    engine->kind->destroy(engine->state);
    free(engine->turns.thread);
    free(engine);
}

int rsc_analyze_trace(struct rsc_trace *trace, const struct rsc_engine_options *options, struct rsc_profile **out,
                      struct rsc_error *error) {
    struct rsc_engine *engine;
    const struct rsc_batch *batch;
    *out = NULL;
    int status = rsc_engine_new(&engine, options, error);
    if (status < 0) return status;
    while ((status = rsc_trace_next(trace, &batch, error)) > 0) {
        status = rsc_engine_push(engine, batch, error);
        if (status < 0) break;
    }
    if (status == 0) status = rsc_engine_finish(engine, out, error);
    if (status == 0 && rsc_profile_set_text(&(*out)->made.source, "trace") < 0) {
        rsc_profile_free(*out);
        *out = NULL;
        status = rsc_fail_memory(error, "profile");
    }
    rsc_engine_free(engine);
    return status;
}
