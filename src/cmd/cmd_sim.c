/* cmd_sim.c - `reusescope sim`: simulates caches on a trace. */
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/pool.h"
#include "base/seconds.h"
#include "cmd/machine_folder.h"
#include "cmd/session.h"
#include "cmd/sim_blame.h"
#include "cmd/sim_objects.h"
#include "simulate/miss_trace.h"
#include "cmd/sim_sampling.h"
#include "simulate/cache/machine_caches.h"
#include "trace/filter.h"

enum {
    OPT_L1 = RSC_OPT_VERB,
    OPT_L1I,
    OPT_L1D,
    OPT_L2,
    OPT_L3,
    OPT_L4,
    OPT_L5,
    OPT_L6,
    OPT_TLB,
    OPT_ITLB,
    OPT_DTLB,
    OPT_TLB2,
    OPT_ITLB2,
    OPT_DTLB2,
    OPT_PAGES,
    OPT_MACHINE,
    OPT_COHERENT,
    OPT_CLASSES,
    OPT_CODE,
    OPT_WARM,
    OPT_WARM_FILL,
    OPT_WINDOWS,
    OPT_PER,
    OPT_MISS_TRACE,
    OPT_WORKERS,
    OPT_SEED,
    OPT_REQUESTS,
    OPT_POLICY,
};

#define CACHE_VALUE "SIZE,WAYS,BLOCK[,WORD...]"
#define TLB_VALUE "ENTRIES,WAYS,PAGE[,WORD...]"

static const struct rsc_option options[] = {
    RSC_HEADING("caches"),
    {OPT_L1, 0, "l1", CACHE_VALUE, "a first level for instructions and data", NULL},
    {OPT_L1I, 0, "l1i", CACHE_VALUE, "a first level for instructions", NULL},
    {OPT_L1D, 0, "l1d", CACHE_VALUE, "a first level for data, as 32K,8,64,lru", NULL},
    {OPT_L2, 0, "l2", CACHE_VALUE,
     "a second level, as 4M,16,64; repeated: an alternative; all:256K-64M[,WAYS[,BLOCK]]: every size", NULL},
    {OPT_L3, 0, "l3", CACHE_VALUE, "a third level", NULL},
    {OPT_L4, 0, "l4", CACHE_VALUE, "a fourth level", NULL},
    {OPT_L5, 0, "l5", CACHE_VALUE, "a fifth level", NULL},
    {OPT_L6, 0, "l6", CACHE_VALUE, "a sixth level", NULL},
    {OPT_MACHINE, 0, "machine", "NAME",
     "the caches of a machine, and its TLBs with --pages: 'this' or a file (those given separately replace its own)",
     "this neoverse-n1 skylake-x zen2"},
    {OPT_COHERENT, 0, "coherent", NULL, "MESI between the private caches of different threads", NULL},
    {OPT_SEED, 0, "seed", "N", "seed of random replacement and of pages (default 0)", NULL},
    RSC_HEADING("TLBs"),
    {OPT_TLB, 0, "tlb", TLB_VALUE, "a first-level TLB for instructions and data", NULL},
    {OPT_ITLB, 0, "itlb", TLB_VALUE, "a first-level TLB for instructions", NULL},
    {OPT_DTLB, 0, "dtlb", TLB_VALUE, "a first-level TLB for data, as 64,4,4K; repeated: for other page sizes", NULL},
    {OPT_TLB2, 0, "tlb2", TLB_VALUE, "a second-level TLB for instructions and data, as 1536,12,4K+2M", NULL},
    {OPT_ITLB2, 0, "itlb2", TLB_VALUE, "a second-level TLB for instructions", NULL},
    {OPT_DTLB2, 0, "dtlb2", TLB_VALUE, "a second-level TLB for data", NULL},
    {OPT_PAGES, 0, "pages", "SIZE[,SIZE...]",
     "page sizes to simulate, each by itself, as 4K,2M,1G (default: those the given TLBs hold)", NULL},
    RSC_HEADING("caches of whole objects"),
    {OPT_REQUESTS, 0, "requests", "SIZE[,SIZE...]",
     "accesses are requests for objects; one cache of each size in bytes, as 64M,1G", NULL},
    {OPT_POLICY, 0, "policy", "NAME[,NAME...]",
     "with --requests: lru (default), fifo, clock, sieve, lfu, arc, lirs, s3-fifo, w-tinylfu, belady; all",
     "lru fifo clock sieve lfu arc lirs s3-fifo w-tinylfu belady all"},
    RSC_HEADING("counting"),
    {OPT_CLASSES, 0, "classes", NULL, "split misses into cold, capacity, conflict and coherence (slower)", NULL},
    {OPT_CODE, 0, "code", NULL, "also count misses by instruction and object, if the trace has them (slower)", NULL},
    {OPT_WARM, 0, "warm", "N", "count only after the first N accesses", NULL},
    {OPT_WARM_FILL, 0, "warm-fill", "FRACTION", "count only once this part of the last level is filled, as 0.5", NULL},
    {OPT_WINDOWS, 0, "windows", "N", "also count by windows of N accesses", NULL},
    {OPT_PER, 0, "per", "WHAT", "misses per thousand: instructions (default if known) or references",
     "instructions references"},
    RSC_HEADING("output"),
    {OPT_MISS_TRACE, 0, "miss-trace", "FILE", "write the misses of the last level as a native trace", NULL},
    RSC_HEADING("resources"),
    {OPT_WORKERS, 0, "threads", "N",
     "threads that decode (default: one per core) and simulate (1, or all if a level has several caches)", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

static const struct rsc_option output_options[] = {
    RSC_HEADING("output"),
    {RSC_OPT_OUTPUT, 'o', "output", "FILE",
     "write here: .json, .csv and .html render, anything else is text; - is standard output", NULL},
    {RSC_OPT_FORMAT, 0, "format", "FORMAT", "text, json, csv or html", "text json csv html"},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct sim_verb {
    struct rsc_session session;
    struct rsc_sim_config config;
    struct rsc_sim_options options;
    struct rsc_sim_result result;
    struct rsc_sampling sampling;
    struct rsc_sim_objects objects;
    struct rsc_sim_blame blame;
    struct rsc_miss_trace misses;
    const struct rsc_sim *sim; /* while a trace is read */
    const char *path;
    const char *machine;
    int per; /* 'i', 'r', or 0: instructions if the trace counts them */
};

static int add_cache(struct sim_verb *verb, int id, const char *text) {
    struct rsc_cache_config cache;
    struct rsc_all_config all;
    struct rsc_error error;
    const char *name = rsc_cache_names[id - OPT_L1];
    int status;
    if (rsc_all_config_is(text)) {
        status = rsc_all_config_parse(&all, name, text, &error);
        if (!status && verb->config.all_count == RSC_SIM_ALLS_MAX)
            status = rsc_fail(&error, RSC_EINVAL, "--%s %.60s: more than %d families", name, text, RSC_SIM_ALLS_MAX);
        if (!status) verb->config.alls[verb->config.all_count++] = all;
    } else {
        status = rsc_cache_config_parse(&cache, name, text, &error);
        if (!status) status = rsc_sim_config_add(&verb->config, &cache, &error);
    }
    return status < 0 ? rsc_usage_error(verb->session.verb, "%s", error.message) : -1;
}

static int add_tlb(struct sim_verb *verb, int id, const char *text) {
    struct rsc_tlb_config tlb;
    struct rsc_error error;
    int status = rsc_tlb_config_parse(&tlb, rsc_tlb_names[id - OPT_TLB], text, &error);
    if (!status) status = rsc_sim_config_add_tlb(&verb->config, &tlb, &error);
    return status < 0 ? rsc_usage_error(verb->session.verb, "%s", error.message) : -1;
}

/* A number from 1 up, or from 0 where 0 is allowed. */
static int take_number(const struct rsc_option_parser *parser, uint64_t least, uint64_t most, uint64_t *number) {
    return rsc_option_number(parser, least, most, least ? "not a number from 1 up" : "not a number", number);
}

static int take_option(void *context, const struct rsc_option_parser *parser, int id) {
    struct sim_verb *verb = context;
    uint64_t number = 0;
    int leave;
    switch (id) {
    case OPT_L1:
    case OPT_L1I:
    case OPT_L1D:
    case OPT_L2:
    case OPT_L3:
    case OPT_L4:
    case OPT_L5:
    case OPT_L6: return add_cache(verb, id, parser->value);
    case OPT_TLB:
    case OPT_ITLB:
    case OPT_DTLB:
    case OPT_TLB2:
    case OPT_ITLB2:
    case OPT_DTLB2: return add_tlb(verb, id, parser->value);
    case OPT_PAGES:
        return rsc_pages_parse(&verb->config.pages, parser->value, strlen(parser->value), ',') < 0
                   ? rsc_option_refuse(parser, "pages are powers of two from 4K to 1G, as 4K,2M")
                   : -1;
    case OPT_MACHINE: verb->machine = parser->value; return -1;
    case OPT_COHERENT: verb->config.coherent = 1; return -1;
    case OPT_CLASSES: verb->options.classify = 1; return -1;
    case OPT_CODE: verb->blame.wanted = 1; return -1;
    case OPT_WARM: return take_number(parser, 0, UINT64_MAX, &verb->options.warm_accesses);
    case OPT_WARM_FILL:
        return rsc_option_fraction(parser, DBL_MIN, 1, "not a fraction above 0 and up to 1", &verb->options.warm_fill);
    case OPT_WINDOWS: return take_number(parser, 1, UINT64_MAX, &verb->options.window_accesses);
    case OPT_PER:
        verb->per = !strcmp(parser->value, "instructions") ? 'i' : !strcmp(parser->value, "references") ? 'r' : 0;
        return verb->per ? -1 : rsc_option_refuse(parser, "not one of instructions, references");
    case OPT_MISS_TRACE: verb->misses.path = parser->value; return -1;
    case OPT_WORKERS:
        leave = take_number(parser, 1, 1024, &number);
        verb->options.workers = verb->session.threads = (unsigned)number;
        return leave;
    case OPT_REQUESTS: return rsc_sim_objects_sizes(&verb->objects, parser);
    case OPT_POLICY: return rsc_sim_objects_policies(&verb->objects, parser);
    case OPT_SEED: return take_number(parser, 0, UINT64_MAX, &verb->config.seed);
    default: return rsc_sampling_option(&verb->sampling, &verb->session, parser, id);
    }
}

/* Adds the machine's caches that were not given as options. */
static int add_machine(struct sim_verb *verb, struct rsc_error *error) {
    struct rsc_sim_config machine = {0}, given = verb->config;
    char folder[PATH_MAX];
    int status = rsc_machine_caches_add(&machine, verb->machine, rsc_machine_folder(folder), error);
    for (size_t i = 0; !status && i < machine.count; i++) {
        struct rsc_cache_config *cache = &machine.caches[i];
        if (rsc_sim_config_primary(&given, cache->name)) continue;
        /* the levels of a core are private; the last one is shared */
        if (given.coherent && cache->level < machine.caches[machine.count - 1].level && !cache->threads_each)
            cache->threads_each = 1;
        status = rsc_sim_config_add(&verb->config, cache, error);
    }
    for (size_t i = 0; !status && given.pages && i < machine.tlb_count; i++) {
        size_t k = 0;
        while (k < given.tlb_count && strcmp(given.tlbs[k].name, machine.tlbs[i].name)) k++;
        if (k == given.tlb_count) status = rsc_sim_config_add_tlb(&verb->config, &machine.tlbs[i], error);
    }
    return status;
}

static void tell_missed(void *user, const struct rsc_batch *batch, int level, const struct rsc_request *request) {
    struct sim_verb *verb = user;
    rsc_blame_missed(&verb->blame, batch, level, request);
}

static void tell_past_last(void *user, const struct rsc_batch *batch, const struct rsc_request *request) {
    struct sim_verb *verb = user;
    rsc_miss_trace_request(&verb->misses, verb->sim, batch, request);
}

/* Checks and settles options that depend on each other. */
static int settle_options(struct sim_verb *verb, struct rsc_error *error) {
    int status = verb->machine ? add_machine(verb, error) : 0;
    if (!verb->config.pages)
        for (size_t i = 0; i < verb->config.tlb_count; i++) verb->config.pages |= verb->config.tlbs[i].pages;
    if (!status) status = rsc_sim_config_check(&verb->config, error);
    if (!status && verb->options.warm_accesses && verb->options.warm_fill > 0)
        status = rsc_fail(error, RSC_EINVAL, "--warm and --warm-fill exclude each other");
    if (!status && !verb->session.filter.count)
        status = rsc_fail(error, RSC_EINVAL, "--window %llu+0: the window is empty",
                          (unsigned long long)verb->session.filter.first);
    if (!status && verb->misses.path) status = rsc_miss_trace_check(&verb->config, error);
    if (verb->blame.wanted) verb->options.missed = tell_missed;
    if (verb->misses.path) verb->options.past_last = tell_past_last;
    verb->options.user = verb;
    size_t names = 0;
    for (size_t i = 0; i < verb->config.count; i++)
        names += rsc_sim_config_primary(&verb->config, verb->config.caches[i].name) == &verb->config.caches[i];
    if (!verb->options.workers)
        verb->options.workers = verb->config.count > names || verb->config.all_count ? rsc_pool_cpu_count() : 1;
    return status;
}

static int refuse_with_samples(const struct sim_verb *verb) {
    const char *what = verb->blame.wanted              ? "--code"
                       : verb->misses.path             ? "--miss-trace"
                       : verb->options.window_accesses ? "--windows"
                       : verb->options.classify        ? "--classes"
                       : verb->options.warm_fill > 0   ? "--warm-fill"
                       : verb->per                     ? "--per"
                       : verb->config.all_count        ? "all:"
                       : verb->config.pages            ? "--pages or a TLB"
                                                       : NULL;
    return what ? rsc_usage_error(verb->session.verb, "%s cannot be used with samples", what) : -1;
}

/* Caches of whole objects: no other caches, and nothing that only those have. */
static int run_objects(struct sim_verb *verb) {
    const char *what = verb->config.count || verb->config.all_count   ? "caches of blocks"
                       : verb->machine                                ? "--machine"
                       : verb->config.pages || verb->config.tlb_count ? "TLBs"
                       : verb->config.coherent                        ? "--coherent"
                       : verb->options.classify                       ? "--classes"
                       : verb->blame.wanted                           ? "--code"
                       : verb->options.warm_fill > 0                  ? "--warm-fill"
                       : verb->options.window_accesses                ? "--windows"
                       : verb->per                                    ? "--per"
                       : verb->misses.path                            ? "--miss-trace"
                       : rsc_sampling_wanted(&verb->sampling)         ? "samples"
                       : verb->sampling.confidence > 0                ? "--confidence"
                                                                      : NULL;
    if (what) return rsc_usage_error(verb->session.verb, "--requests cannot be used with %s", what);
    int leave = verb->session.output ? rsc_session_check_output(&verb->session) : -1;
    if (leave >= 0) return leave;
    verb->session.wants_addresses = 0;
    verb->objects.options.warm_requests = verb->options.warm_accesses;
    verb->objects.options.workers = verb->options.workers;
    return rsc_sim_objects_run(&verb->objects, &verb->session, verb->path);
}

/* A level smaller than the one above it: an error if inclusive (that one's blocks do not fit), else a warning. */
static int doubt_sizes(const struct sim_verb *verb) {
    const struct rsc_cache_config *below, *above;
    if (!rsc_sim_config_small_below(&verb->config, &below, &above)) return -1;
    if (below->inclusive)
        return rsc_usage_error(verb->session.verb, "--%s is inclusive and smaller than --%s above it", below->name,
                               above->name);
    rsc_log_line(&verb->session.log, RSC_LOG_WARNING, "--%s is smaller than --%s above it", below->name, above->name);
    return -1;
}

/* Simulates all batches of a trace. */
static int read_all(struct sim_verb *verb, struct rsc_sim *sim, struct rsc_trace *trace, struct rsc_error *error) {
    const struct rsc_batch *batch;
    struct rsc_trace_info info;
    uint64_t done = 0;
    int status;
    rsc_trace_get_info(trace, &info);
    while ((status = rsc_trace_next(trace, &batch, error)) > 0) {
        if (verb->blame.wanted) rsc_blame_begin(&verb->blame);
        if ((status = rsc_sim_push(sim, batch, error)) < 0) break;
        if (verb->blame.wanted) rsc_blame_end(&verb->blame, batch);
        if (verb->misses.path && (status = rsc_miss_trace_push(&verb->misses, batch, error)) < 0) break;
        done += batch->count;
        rsc_progress(&verb->session, done, info.accesses, "accesses");
    }
    rsc_progress_end(&verb->session);
    return status;
}

static int finish(struct sim_verb *verb, struct rsc_sim *sim, struct rsc_trace *trace, struct rsc_error *error) {
    struct rsc_trace_info info;
    int status = rsc_sim_finish(sim, &verb->result, error);
    if (!status && verb->misses.path) status = rsc_miss_trace_finish(&verb->misses, error);
    if (!status && verb->blame.wanted) status = rsc_blame_finish(&verb->blame, &verb->session, &verb->result, error);
    if (status < 0) return status;
    rsc_trace_get_info(trace, &info);
    /* for a miss stream, misses are per instruction or reference of the original trace */
    const int stream = rsc_miss_trace_kind(info.filter) != 0;
    const int thinned = rsc_filter_thins(&verb->session.filter, stream ? "" : info.filter);
    if (stream && !thinned && info.full_accesses != RSC_UNKNOWN) verb->result.references = info.full_accesses;
    if (thinned) verb->result.instructions = RSC_UNKNOWN;
    for (size_t i = 0; thinned && i < verb->result.window_count; i++)
        verb->result.windows[i].instructions = RSC_UNKNOWN;
    if (verb->per == 'i' && thinned)
        return rsc_fail(error, RSC_EINVAL, "--per instructions: those of the filtered references are not known");
    if (verb->per == 'i' && verb->result.instructions == RSC_UNKNOWN)
        return rsc_fail(error, RSC_EINVAL, "--per instructions: the trace has no instruction count");
    return 0;
}

/* Returns 0, a negative error, or 1 + the exit status if the trace was a sample and has been reported. */
static int simulate(struct sim_verb *verb, struct rsc_error *error) {
    struct rsc_trace *trace = NULL;
    struct rsc_sim *sim = NULL;
    struct rsc_trace_info info;
    double started = rsc_seconds_now();
    verb->session.without_pcs = !verb->blame.wanted && !verb->misses.path;
    /* events have the instruction counts inside frames, which windows need */
    verb->session.without_events =
        verb->session.without_pcs && !verb->options.window_accesses && rsc_filter_is_all(&verb->session.filter);
    int status = rsc_session_open(&verb->session, &trace, verb->path, 1, error);
    if (status < 0) goto out;
    if (rsc_sampling_is_sample(trace)) {
        int leave = refuse_with_samples(verb);
        if (leave < 0)
            leave = rsc_sampling_run(&verb->sampling, &verb->session, &verb->config, &verb->options, trace, verb->path);
        status = 1 + leave;
        goto out;
    }
    if (verb->sampling.confidence > 0) {
        status = 1 + rsc_usage_error(verb->session.verb, "--confidence needs --sample-sets or --sample-time");
        goto out;
    }
    rsc_trace_get_info(trace, &info);
    verb->options.writes_are_back = rsc_miss_trace_writes(info.filter);
    status = rsc_miss_trace_usable(info.filter, &verb->config, error);
    if (!status) status = rsc_sim_new(&sim, &verb->config, &verb->options, error);
    verb->sim = sim;
    if (!status && verb->blame.wanted) status = rsc_blame_open(&verb->blame, error);
    if (!status && verb->misses.path) status = rsc_session_spare_opened(&verb->session, verb->misses.path, error);
    if (!status && verb->misses.path) status = rsc_miss_trace_open(&verb->misses, &verb->config, &info, error);
    if (!status) status = read_all(verb, sim, trace, error);
    if (!status) status = finish(verb, sim, trace, error);
    verb->result.seconds = rsc_seconds_now() - started;
    verb->result.command = verb->session.argv;
    verb->result.workers = verb->options.workers;
    verb->result.per_reference = verb->per == 'r';
out:
    rsc_sim_free(sim);
    rsc_trace_close(trace);
    return status;
}

static int run(struct sim_verb *verb, int argc) {
    const struct rsc_verb *self = verb->session.verb;
    struct rsc_error error;
    int leave = rsc_session_take(&verb->session, argc, take_option, verb, "trace", &verb->path);
    if (leave >= 0) return leave;
    if (!verb->path) return rsc_usage_error(self, "a trace is missing: reusescope sim TRACE --l1d 32K,8,64");
    if (verb->objects.wanted) verb->session.yields = RSC_RESULT_OBJECTS;
    if ((leave = rsc_session_check_format(&verb->session)) >= 0) return leave;
    if (verb->objects.wanted) return run_objects(verb);
    if (verb->objects.policy_given)
        return rsc_usage_error(self,
                               "--policy needs --requests; for caches of blocks it is a word: --l2 4M,16,64,fifo");
    if (verb->session.output && (leave = rsc_session_check_output(&verb->session)) >= 0) return leave;
    if (verb->misses.path && verb->session.output &&
        (leave = rsc_session_spare_result(&verb->session, verb->misses.path)) >= 0)
        return leave;
    if (verb->misses.path &&
        (leave = rsc_session_spare_inputs(&verb->session, verb->misses.path, verb->misses.path)) >= 0)
        return leave;
    if (settle_options(verb, &error) < 0)
        return error.code == RSC_EINVAL ? rsc_usage_error(self, "%s", error.message)
                                        : rsc_session_fail(&verb->session, &error);
    if (rsc_sampling_wanted(&verb->sampling) && (leave = refuse_with_samples(verb)) >= 0) return leave;
    if ((leave = doubt_sizes(verb)) >= 0) return leave;
    if (rsc_sampling_wanted(&verb->sampling))
        return rsc_sampling_run(&verb->sampling, &verb->session, &verb->config, &verb->options, NULL, verb->path);
    int status = simulate(verb, &error);
    if (status > 0) return status - 1;
    if (status < 0) return rsc_session_fail(&verb->session, &error);
    leave = rsc_session_deliver_result(&verb->session,
                                       &(struct rsc_result){.kind = RSC_RESULT_SIM, .sim = &verb->result}, 0);
    if (leave == RSC_EXIT_OK && verb->misses.path)
        rsc_hint(&verb->session, "reusescope sim %s --l2 ...", verb->misses.path);
    return leave;
}

static int run_sim(const struct rsc_verb *self, int argc, char **argv) {
    struct sim_verb *verb = calloc(1, sizeof *verb);
    if (!verb) return rsc_memory_error(self);
    rsc_session_catch_interrupt();
    rsc_session_start(&verb->session, self, argv);
    verb->session.yields = RSC_RESULT_SIM;
    verb->session.wants_addresses = 1;
    rsc_sampling_start(&verb->sampling);
    int leave = run(verb, argc);
    rsc_sim_result_free(&verb->result);
    rsc_blame_close(&verb->blame);
    rsc_miss_trace_close(&verb->misses);
    free(verb);
    return leave;
}

const struct rsc_verb rsc_verb_sim = {
    .name = "sim",
    .operands = "TRACE",
    .summary = "Simulate caches on a trace",
    .about =
        "Caches are SIZE,WAYS,BLOCK and words: a policy (lru, random, fifo, plru, nru, srrip, brrip, "
        "drrip, opt), wt (write-through), nwa (no allocation on writes), inclusive, private (one per "
        "thread), per=N (one per N threads), pid (index hashed with the process), pages (physical index), "
        "prefetch[=N], stream=N, depth=N, victim=N, buffer=N, sector=BYTES. A level given again is an alternative with the same input, "
        "simulated in the same pass. --requests simulates caches of whole objects instead.",
    .example = "reusescope sim app.rsct --l1i 32K,8,64 --l1d 32K,8,64 --l2 4M,16,64",
    .groups = {options, rsc_sampling_options, rsc_trace_options, output_options, rsc_common_options},
    .run = run_sim,
};
