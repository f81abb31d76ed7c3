/*
 * engine_featherlight.c - the `featherlight` engine: watched pairs from a trace, by a
 * simulated performance monitoring unit (featherlight/simulated_pmu.h).
 *
 * It is here because it joins two rooms that do not include each other: distance/'s
 * engine interface and featherlight/'s estimation.
 */
#include "engine/engine_table.h"
#include "featherlight/simulated_pmu.h"

_Static_assert(sizeof(struct rsc_pmu_options) <= RSC_ENGINE_PARAMETERS_BYTES, "no room for featherlight's parameters");

static int parse(void *parameters, const char *text, struct rsc_error *error) {
    return rsc_pmu_parse(parameters, text, error);
}

static int create(void **state, const struct rsc_engine_options *options, const void *parameters,
                  struct rsc_error *error) {
    struct rsc_pmu_options pmu = *(const struct rsc_pmu_options *)parameters;
    struct rsc_simulated_pmu *made = NULL;
    pmu.estimate.seed = options->seed;
    pmu.estimate.confidence = options->confidence;
    pmu.estimate.line_bytes = options->line_bytes;
    int status = rsc_simulated_pmu_new(&made, &pmu, error);
    *state = made;
    return status;
}

static int push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    return rsc_simulated_pmu_push(state, batch, error);
}

static int finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    return rsc_simulated_pmu_finish(state, out, error);
}

static void destroy(void *state) { rsc_simulated_pmu_free(state); }

const struct rsc_engine_kind rsc_engine_featherlight = {
    .name = "featherlight",
    .parameter = "[:KEY=VALUE,...]",
    .what = "debug registers on sampled words, simulated: 8-byte lines, each thread alone",
    .can = RSC_WATCHES_WORDS,
    .parse = parse,
    .create = create,
    .push = push,
    .finish = finish,
    .destroy = destroy,
};
