/* cmd_sim.c - `reusescope sim`: a trace through simulated caches. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/output_file.h"
#include "cmd/session.h"
#include "cmd/sim_sampling.h"
#include "cmd/sim_text.h"
#include "simulate/sim_json.h"

enum { OPT_L1 = RSC_OPT_VERB, OPT_L1I, OPT_L1D, OPT_L2, OPT_L3, OPT_WARM, OPT_SEED, OPT_COHERENT };

#define CACHE_VALUE "SIZE,WAYS,BLOCK[,WORD...]"

static const struct rsc_option options[] = {
    {OPT_L1, 0, "l1", CACHE_VALUE, "a first level for instructions and data", NULL},
    {OPT_L1I, 0, "l1i", CACHE_VALUE, "a first level for instructions", NULL},
    {OPT_L1D, 0, "l1d", CACHE_VALUE, "a first level for data, as 32K,8,64,lru", NULL},
    {OPT_L2, 0, "l2", CACHE_VALUE, "a second level, as 4M,16,64", NULL},
    {OPT_L3, 0, "l3", CACHE_VALUE, "a third level", NULL},
    {OPT_WARM, 0, "warm", "N", "count only after the first N accesses", NULL},
    {OPT_SEED, 0, "seed", "N", "of random replacement and of pages (default 0)", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct sim_verb {
    struct rsc_session session;
    struct rsc_sim_config config;
    struct rsc_sim_options options;
    struct rsc_sim_result result;
    struct rsc_sampling sampling;
    const char *path;
};

static const char *const cache_names[] = {"l1", "l1i", "l1d", "l2", "l3"};

static int add_cache(struct sim_verb *verb, int id, const char *text) {
    struct rsc_cache_config cache;
    struct rsc_error error;
    int status = rsc_cache_config_parse(&cache, cache_names[id - OPT_L1], text, &error);
    if (!status) status = rsc_sim_config_add(&verb->config, &cache, &error);
    return status < 0 ? rsc_usage_error(verb->session.verb, "%s", error.message) : -1;
}

static int take_option(struct sim_verb *verb, const struct rsc_option_parser *parser, int id) {
    uint64_t *number = id == OPT_WARM ? &verb->options.warm_accesses : &verb->config.seed;
    switch (id) {
    case OPT_L1:
    case OPT_L1I:
    case OPT_L1D:
    case OPT_L2:
    case OPT_L3: return add_cache(verb, id, parser->value);
    case OPT_WARM:
    case OPT_SEED:
        return rsc_parse_u64(parser->value, strlen(parser->value), number) < 0 ? rsc_option_refuse(parser, "not a number")
                                                                               : -1;
    default: return rsc_sampling_option(&verb->sampling, &verb->session, parser, id);
    }
}

/* Returns 0, negative, or 1 + the exit status to leave with: the trace was a sample, and all is said. */
static int simulate(struct sim_verb *verb, struct rsc_error *error) {
    struct rsc_trace *trace = NULL;
    struct rsc_sim *sim = NULL;
    const struct rsc_batch *batch;
    struct rsc_trace_info info;
    uint64_t done = 0;
    int status = rsc_sim_new(&sim, &verb->config, &verb->options, error);
    if (!status) status = rsc_session_open(&verb->session, &trace, verb->path, 1, error);
    if (status < 0) goto out;
    if (rsc_sampling_is_sample(trace)) {
        status = 1 + rsc_sampling_run(&verb->sampling, &verb->session, &verb->config, &verb->options, trace, verb->path);
        goto out;
    }
    rsc_trace_get_info(trace, &info);
    while ((status = rsc_trace_next(trace, &batch, error)) > 0) {
        if ((status = rsc_sim_push(sim, batch, error)) < 0) break;
        done += batch->count;
        rsc_progress(&verb->session, done, info.accesses, "accesses");
    }
    rsc_progress_end(&verb->session);
    if (!status) status = rsc_sim_finish(sim, &verb->result, error);
out:
    rsc_sim_free(sim);
    rsc_trace_close(trace);
    return status;
}

/* Text for people on standard output unless JSON is asked for; -o FILE takes JSON by its suffix, else text. */
static int deliver(struct sim_verb *verb, struct rsc_error *error) {
    const struct rsc_session *session = &verb->session;
    const char *path = session->output ? session->output : "-";
    size_t length = strlen(path), bytes = 0;
    char *text = NULL;
    int json = session->format ? !strcmp(session->format, "json") : length > 5 && !strcmp(path + length - 5, ".json");
    int status = json ? rsc_sim_json(&verb->result, &text, &bytes, error)
                      : rsc_sim_text(&verb->result, &text, &bytes, error);
    if (!status) status = rsc_output_whole(path, text, bytes, 0, error);
    free(text);
    return status;
}

static int run(struct sim_verb *verb, int argc, char **argv) {
    const struct rsc_verb *self = verb->session.verb;
    struct rsc_option_parser parser;
    struct rsc_error error;
    int id, leave = -1;
    rsc_options_start(&parser, self, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == RSC_OPERAND) {
            if (verb->path) leave = rsc_usage_error(self, "more than one trace: %.60s", parser.value);
            verb->path = parser.value;
        } else {
            leave = take_option(verb, &parser, id);
        }
    }
    if (leave >= 0) return leave;
    if (!verb->path) return rsc_usage_error(self, "a trace is missing: reusescope sim TRACE --l1d 32K,8,64");
    if (rsc_sim_config_check(&verb->config, &error) < 0) return rsc_usage_error(self, "%s", error.message);
    if (rsc_sampling_wanted(&verb->sampling))
        return rsc_sampling_run(&verb->sampling, &verb->session, &verb->config, &verb->options, NULL, verb->path);
    int status = simulate(verb, &error);
    if (status > 0) return status - 1;
    if (status < 0 || deliver(verb, &error) < 0) return rsc_session_fail(&verb->session, &error);
    return RSC_EXIT_OK;
}

static int run_sim(const struct rsc_verb *self, int argc, char **argv) {
    struct sim_verb *verb = calloc(1, sizeof *verb);
    if (!verb) return rsc_usage_error(self, "out of memory");
    rsc_session_catch_interrupt();
    rsc_session_start(&verb->session, self, argv);
    rsc_sampling_start(&verb->sampling);
    int leave = run(verb, argc, argv);
    rsc_sim_result_free(&verb->result);
    free(verb);
    return leave;
}

const struct rsc_verb rsc_verb_sim = {
    .name = "sim",
    .operands = "TRACE",
    .summary = "Misses of a trace in simulated caches",
    .about = "Caches are SIZE,WAYS,BLOCK and words: a policy (lru, random, fifo, plru, nru, srrip,\n"
             "brrip, drrip, opt), wt (write-through), nwa (no allocation on writes), inclusive,\n"
             "private (one for each thread), per=N (one for every N threads), pid, pages.",
    .example = "reusescope sim app.rsct --l1i 32K,8,64 --l1d 32K,8,64 --l2 4M,16,64",
    .groups = {options, rsc_sampling_options, rsc_trace_options, rsc_output_options, rsc_common_options},
    .run = run_sim,
};
