/*
 * engine_sampled.c - the engine "sampled": its parameter chooses what is sampled.
 *   references  sampled_references.c, private or shared
 *   lines       engine_sampled_exact.h for private stacks; for one stack, use the shards engine
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "distance/shards/engine_shards.h"
#include "distance/shards/engine_sampled_exact.h"
#include "multicore/multicore_engines.h"
#include "multicore/sampled_references.h"
#include "profile/profile_model.h"

struct sampled {
    const struct rsc_engine_kind *kind; /* the engine that does the work */
    void *state;
    char by[64]; /* replaces the name it reports; "": nothing */
};

static int create_lines(struct sampled *sampled, const struct rsc_engine_options *options, double rate,
                        struct rsc_error *error) {
    if (options->bins_per_octave) return rsc_fail(error, RSC_EINVAL, "a sample of lines has no second binning");
    if (options->attribute == 1) return rsc_fail(error, RSC_EINVAL, "a sample of lines is not attributed to code");
    if (options->error > 0)
        return rsc_fail(error, RSC_EINVAL, "--error does not apply to line sampling: use a sample of references");
    snprintf(sampled->by, sizeof sampled->by, "sampled:lines=%.15g", rate);
    if (!strcmp(options->model, "private")) {
        sampled->kind = &rsc_engine_sampled_exact;
        return rsc_sampled_exact_create(&sampled->state, options, rate, error);
    }
    sampled->kind = &rsc_engine_shards;
    const struct rsc_shards_parameters parameters = {.rate = rate};
    return sampled->kind->create(&sampled->state, options, &parameters, error);
}

_Static_assert(sizeof(struct rsc_sampled_options) <= RSC_ENGINE_PARAMETERS_BYTES, "no room for sampled's parameters");

static int sampled_parse(void *parameters, const char *text, struct rsc_error *error) {
    return rsc_sampled_options_parse(parameters, text, error);
}

/* An assumption, not measured: no more than the exact stacks use. */
static uint64_t sampled_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    uint64_t stack = options->error > 0 ? 0 : rsc_exact_memory(options, parameters, lines);
    return strcmp(options->model, "private") ? stack : 2 * stack;
}

static int sampled_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                          struct rsc_error *error) {
    const struct rsc_sampled_options *wanted = parameters;
    struct sampled *sampled = calloc(1, sizeof *sampled);
    if (!sampled) return rsc_fail_memory(error, "sampled engine");
    int status;
    if (wanted->line_rate > 0) {
        status = create_lines(sampled, options, wanted->line_rate, error);
    } else {
        sampled->kind = &rsc_sampled_references;
        status = rsc_sampled_references_create(&sampled->state, options, wanted, error);
    }
    if (status < 0) {
        free(sampled);
        return status;
    }
    *state = sampled;
    return 0;
}

static int sampled_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct sampled *sampled = state;
    return sampled->kind->push(sampled->state, batch, error);
}

static int sampled_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct sampled *sampled = state;
    int status = sampled->kind->finish(sampled->state, out, error);
    if (!status && sampled->by[0] && rsc_profile_set_text(&(*out)->made.by, sampled->by) < 0)
        return rsc_fail_memory(error, "profile");
    return status;
}

static void sampled_destroy(void *state) {
    struct sampled *sampled = state;
    if (!sampled) return;
    sampled->kind->destroy(sampled->state);
    free(sampled);
}

static void sampled_so_far(const void *state, struct rsc_so_far *so_far) {
    const struct sampled *sampled = state;
    if (sampled->kind->so_far) sampled->kind->so_far(sampled->state, so_far);
}

const struct rsc_engine_kind rsc_engine_sampled = {
    .name = "sampled",
    .parameter = "[:KEY=VALUE,...]",
    .what = "a sample of references, or of lines; private and shared stacks; with error bars",
    .can = RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_ATTRIBUTE | RSC_CAN_PRIVATE | RSC_CAN_ERROR,
    .parse = sampled_parse,
    .memory = sampled_memory,
    .create = sampled_create,
    .push = sampled_push,
    .finish = sampled_finish,
    .destroy = sampled_destroy,
    .so_far = sampled_so_far,
};
