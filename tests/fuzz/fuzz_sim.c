/*
 * fuzz_sim.c - any bytes as caches, TLBs and accesses (fuzz_accesses.h), through everything that `sim` simulates.
 *
 * The first bytes choose what: hierarchies with every policy and word, alternatives, families and TLBs; samples of sets
 * and of time, the study of samples; caches of whole objects. Whatever comes, it ends with a result or an error that
 * says something. Every result is written in all its formats, and its JSON is JSON again. A hierarchy counts the same
 * one access at a time as by its fast ways.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_accesses.h"
#include "fuzz_check.h"
#include "profile/json_read.h"
#include "report/report.h"
#include "simulate/objects/object_simulator.h"
#include "simulate/sampling/set_sample.h"
#include "simulate/sampling/study.h"
#include "simulate/sampling/time_sample.h"
#include "simulate/simulator.h"

#define OPTIONS_BYTES 40u

/* Options, a byte after the other; 0 when there are no more. */
struct choices {
    const uint8_t *data, *end;
};

static unsigned next(struct choices *choices, unsigned below) {
    return choices->data < choices->end ? *choices->data++ % below : 0;
}

/* ---- configurations ---- */

static void check_error(int status, const struct rsc_error *error) {
    FUZZ_CHECK(status == 0 || (error->message[0] && !strchr(error->message, '\n')));
}

static int add_cache(struct rsc_sim_config *config, const char *name, struct choices *choices,
                     struct rsc_error *error) {
    static const char *const policies[] = {"lru",   "random", "fifo",  "plru", "nru",
                                           "srrip", "brrip",  "drrip", "opt",  "lru"};
    static const char *const shares[] = {"", "", ",private", ",per=2"}, *const indexes[] = {"", "", "", ",pid",
                                                                                            ",pages"};
    static const char *const extras[] = {
        "",          "",          "",          "", "", ",prefetch", ",prefetch=3", ",stream=2", ",stream=3,depth=2",
        ",victim=2", ",buffer=2", ",inclusive"};
    static const unsigned ways[] = {1, 2, 4, 8, 3, 16}, sets[] = {1, 2, 4, 8, 16, 64, 3, 128};
    struct rsc_cache_config cache;
    char text[160], sector[32] = "";
    unsigned block = 16u << next(choices, 4), of_way = ways[next(choices, 6)], of_set = sets[next(choices, 8)];
    unsigned words = next(choices, 32);
    if (words & 4 && words & 8) snprintf(sector, sizeof sector, ",sector=%u", block >> 1);
    const char *policy = policies[next(choices, 10)], *share = shares[next(choices, 4)];
    const char *index = indexes[next(choices, 5)], *extra = extras[next(choices, 12)];
    snprintf(text, sizeof text, "%u,%u,%u,%s%s%s%s%s%s%s", block * of_way * of_set, of_way, block, policy,
             words & 1 ? ",wt" : "", words & 2 ? ",nwa" : "", sector, share, index, extra);
    int status = rsc_cache_config_parse(&cache, name, text, error);
    return status ? status : rsc_sim_config_add(config, &cache, error);
}

static int add_tlbs(struct rsc_sim_config *config, struct choices *choices, struct rsc_error *error) {
    static const char *const names[] = {"dtlb", "tlb", "itlb", "tlb2", "dtlb2"};
    static const char *const texts[] = {"4,2,4K", "8,8,4K+2M", "2,1,2M,fifo", "4,4,1G,plru", "6,3,4K,random,private"};
    static const char *const pages[] = {"4K", "4K,2M", "2M", "4K,2M,1G"};
    const char *list = pages[next(choices, 4)];
    int status = rsc_pages_parse(&config->pages, list, strlen(list), ',');
    for (unsigned left = 1 + next(choices, 3); !status && left; left--) {
        struct rsc_tlb_config tlb;
        const char *name = names[next(choices, 5)];
        status = rsc_tlb_config_parse(&tlb, name, texts[next(choices, 5)], error);
        if (!status) status = rsc_sim_config_add_tlb(config, &tlb, error);
    }
    return status;
}

static int choose(struct rsc_sim_config *config, struct choices *choices, int whole, struct rsc_error *error) {
    static const char *const families[] = {"all:256-2K", "all:512-4K,4", "all:128-1K,2,32"};
    unsigned shape = next(choices, 256);
    config->coherent = shape % 8 == 1;
    config->seed = shape;
    int status = add_cache(config, shape & 8 ? "l1" : "l1d", choices, error);
    if (!status && !(shape & 8) && shape & 16) status = add_cache(config, "l1i", choices, error);
    if (!status && shape & 32) status = add_cache(config, "l2", choices, error);
    if (!status && shape & 32 && shape & 64) status = add_cache(config, "l2", choices, error);
    if (!status && shape & 32 && shape & 128) status = add_cache(config, "l3", choices, error);
    if (!status && whole && next(choices, 4) == 1) {
        const char *name = shape & 32 ? "l2" : shape & 8 ? "l1" : "l1d";
        status = rsc_all_config_parse(&config->alls[0], name, families[next(choices, 3)], error);
        if (!status) config->all_count = 1;
    }
    if (!status && whole && next(choices, 3) == 1) status = add_tlbs(config, choices, error);
    return status ? status : rsc_sim_config_check(config, error);
}

/* ---- what is written ---- */

static void write_all(const struct rsc_result *result) {
    for (enum rsc_report_format format = 0; format < RSC_REPORT_FORMATS; format++) {
        struct rsc_report_style style = {0};
        struct rsc_error error;
        char *text = NULL;
        size_t bytes = 0;
        json_t *read = NULL;
        if (!rsc_report_renders(result->kind, format) || format == RSC_REPORT_HTML)
            continue; /* a page: JSON and more */
        FUZZ_CHECK(rsc_report_render(result, format, &style, &text, &bytes, &error) == 0 && bytes > 0);
        if (format == RSC_REPORT_JSON) FUZZ_CHECK(rsc_json_read(&read, text, bytes, "result", &error) == 0);
        json_decref(read);
        free(text);
    }
}

/* ---- a hierarchy ---- */

static int simulate_once(const struct rsc_sim_config *config, const struct rsc_sim_options *options,
                         const struct rsc_batch *batch, struct rsc_sim_result *result, struct rsc_error *error) {
    struct rsc_sim *sim = NULL;
    *result = (struct rsc_sim_result){0};
    int status = rsc_sim_new(&sim, config, options, error);
    if (!status) status = rsc_sim_push(sim, batch, error);
    if (!status) status = rsc_sim_finish(sim, result, error);
    rsc_sim_free(sim);
    return status;
}

static void simulate(struct choices *choices, const struct rsc_batch *batch) {
    struct rsc_sim_config config = {0};
    struct rsc_sim_result result, slow;
    struct rsc_error error = {0};
    int status = choose(&config, choices, 1, &error);
    unsigned how = next(choices, 64);
    struct rsc_sim_options options = {.classify = how & 1,
                                      .workers = 1 + (how >> 1 & 1),
                                      .warm_accesses = how & 4 ? next(choices, 256) : 0,
                                      .warm_fill = how & 8 ? 0.5 : 0,
                                      .window_accesses = how & 16 ? 1 + next(choices, 256) : 0};
    if (!status) status = simulate_once(&config, &options, batch, &result, &error);
    check_error(status, &error);
    if (status) return;
    for (size_t i = 0; i < result.level_count; i++)
        FUZZ_CHECK(rsc_kinds_sum(result.levels[i].counts.misses) <= rsc_kinds_sum(result.levels[i].counts.accesses));
    write_all(&(struct rsc_result){.kind = RSC_RESULT_SIM, .sim = &result});
    options.slow = 1;
    options.workers = 1;
    if (how & 32 && simulate_once(&config, &options, batch, &slow, &error) == 0) {
        FUZZ_CHECK(slow.level_count == result.level_count && slow.references == result.references);
        for (size_t i = 0; i < slow.level_count; i++)
            FUZZ_CHECK(!memcmp(&slow.levels[i].counts, &result.levels[i].counts, sizeof slow.levels[i].counts));
        rsc_sim_result_free(&slow);
    }
    rsc_sim_result_free(&result);
}

/* ---- samples ---- */

/* Rows as `sim` makes them: they point at the estimates. */
static void write_sample(enum rsc_sim_sample sample, const struct rsc_sim_config *config,
                         const struct rsc_cache_config *configs, const struct rsc_level_counts *counts,
                         const struct rsc_estimate *estimates, const struct rsc_sim_result *totals) {
    struct rsc_sim_result result = *totals;
    result.sample = sample;
    result.levels = calloc(config->count, sizeof *result.levels);
    result.level_count = config->count;
    FUZZ_CHECK(result.levels);
    for (size_t i = 0; i < config->count; i++)
        result.levels[i] = (struct rsc_sim_level_result){
            .cache = rsc_cache_config_label(&configs[i]), .counts = counts[i], .estimate = &estimates[i]};
    write_all(&(struct rsc_result){.kind = RSC_RESULT_SIM, .sim = &result});
    free(result.levels);
}

static void sample_sets(struct choices *choices, const struct rsc_batch *batch) {
    static const char *const texts[] = {"1/2",          "1/4,all",        "1/2,random",
                                        "1/4,random:3", "1/2,bits:4-5=1", "1/4,bits:6-7=all"};
    static struct rsc_set_result sets;
    struct rsc_sim_config config = {0};
    struct rsc_set_sample *sample = NULL;
    struct rsc_set_choice choice;
    struct rsc_error error = {0};
    memset(&sets, 0, sizeof sets);
    int status = choose(&config, choices, 0, &error);
    if (!status) status = rsc_set_choice_parse(&choice, texts[next(choices, 6)], &error);
    if (!status) status = rsc_set_choice_settle(&choice, &config, &error);
    if (!status) status = rsc_set_sample_new(&sample, &config, &choice, 0, 0, &error);
    if (!status) status = rsc_set_sample_push(sample, batch, &error);
    if (!status) status = rsc_set_sample_finish(sample, batch->instructions, batch->count, 90, &sets, &error);
    check_error(status, &error);
    if (!status)
        write_sample(RSC_SIM_SETS, &config, sets.configs, sets.counts, sets.estimates,
                     &(struct rsc_sim_result){.trace_accesses = sets.accesses,
                                              .simulated = sets.sampled,
                                              .instructions = sets.instructions,
                                              .accesses = sets.sampled,
                                              .references = sets.references});
    rsc_set_sample_free(sample);
    rsc_set_result_free(&sets, config.count);
}

/* The accesses as a native trace, which time samples seek in. NULL: it could not be made. */
static struct rsc_trace *as_trace(const struct rsc_batch *batch) {
    struct rsc_trace_writer *writer = NULL;
    struct rsc_trace *trace = NULL;
    struct rsc_error error;
    char path[64];
    const struct rsc_trace_writer_options options = {.struct_bytes = sizeof options, .level = 1, .frame_accesses = 100};
    snprintf(path, sizeof path, "%s/fuzz_sim.%d.rsct", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
    int status = rsc_trace_writer_open(&writer, path, &options, &error);
    if (!status) status = rsc_trace_writer_push(writer, batch, &error);
    if (!status) status = rsc_trace_writer_finish(writer, &error);
    rsc_trace_writer_close(writer);
    if (!status) status = rsc_trace_open(&trace, path, NULL, &error);
    unlink(path);
    return status ? NULL : trace;
}

static void sample_time(struct choices *choices, const struct rsc_batch *batch) {
    static struct rsc_time_result times;
    struct rsc_sim_config config = {0};
    struct rsc_error error = {0};
    memset(&times, 0, sizeof times);
    int status = choose(&config, choices, 0, &error), excluded = 0;
    struct rsc_time_options options = {.choice = {.intervals = next(choices, 20),
                                                  .length = 1 + next(choices, 100),
                                                  .in_accesses = (int)next(choices, 2),
                                                  .random = (int)next(choices, 2),
                                                  .seed = 1},
                                       .cold_start = (enum rsc_cold_start)next(choices, RSC_START_COUNT),
                                       .confidence = 90};
    int guesses = options.cold_start != RSC_START_COLD && options.cold_start != RSC_START_STITCH &&
                  options.cold_start != RSC_START_WARM;
    for (size_t i = 0; i < config.count; i++) /* what the command refuses */
        excluded |= config.caches[i].policy == RSC_POLICY_OPT || (guesses && config.caches[i].sector_bytes);
    struct rsc_trace *trace = status || excluded ? NULL : as_trace(batch);
    if (trace) status = rsc_time_sample(&config, &options, trace, &times, &error);
    check_error(status, &error);
    if (trace && !status)
        write_sample(RSC_SIM_TIME, &config, config.caches, times.counts, times.estimates,
                     &(struct rsc_sim_result){.trace_accesses = times.accesses,
                                              .simulated = times.simulated,
                                              .instructions = times.instructions,
                                              .accesses = times.counted,
                                              .references = times.references});
    rsc_trace_close(trace);
    rsc_time_result_free(&times, config.count);
}

static void study(struct choices *choices, const struct rsc_batch *batch) {
    struct rsc_sim_config config = {0};
    struct rsc_study study = {0};
    struct rsc_error error = {0};
    int status = choose(&config, choices, 0, &error), sectors = 0;
    for (size_t i = 0; i < config.count; i++) sectors |= config.caches[i].sector_bytes != 0;
    struct rsc_trace *trace = status || sectors ? NULL : as_trace(batch);
    if (trace) status = rsc_study_run(&study, &config, trace, 1, 0, NULL, NULL, &error);
    check_error(status, &error);
    study.trace = "trace.rsct";
    if (trace && !status) write_all(&(struct rsc_result){.kind = RSC_RESULT_STUDY, .study = &study});
    if (trace) rsc_study_free(&study);
    rsc_trace_close(trace);
}

/* ---- objects ---- */

static void simulate_objects(struct choices *choices, const struct rsc_batch *batch) {
    static const char *const sizes[] = {"64", "1K,16", "4K,64K,1G", "100,1000,10000"};
    struct rsc_object_options options = {.workers = 1 + next(choices, 2), .warm_requests = next(choices, 64)};
    struct rsc_object_simulator *simulator = NULL;
    struct rsc_objects_result result = {0};
    struct rsc_error error = {0};
    int status = rsc_object_policies_parse(&options, "all", &error);
    if (!status) status = rsc_object_sizes_parse(&options, sizes[next(choices, 4)], &error);
    if (!status) status = rsc_object_simulator_new(&simulator, &options, &error);
    if (!status) status = rsc_object_simulator_push(simulator, batch, &error);
    if (!status) status = rsc_object_simulator_finish(simulator, &result, &error);
    check_error(status, &error);
    for (size_t i = 0; i < result.row_count; i++)
        FUZZ_CHECK(result.rows[i].misses <= result.requests && result.rows[i].bytes_at_end <= result.rows[i].bytes);
    if (!status) write_all(&(struct rsc_result){.kind = RSC_RESULT_OBJECTS, .objects = &result});
    rsc_object_simulator_free(simulator);
    free(result.rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes < OPTIONS_BYTES) return 0;
    struct choices choices = {data, data + OPTIONS_BYTES};
    unsigned what = next(&choices, 10);
    struct rsc_batch batch = fuzz_accesses(data + OPTIONS_BYTES, bytes - OPTIONS_BYTES, 0);
    if (next(&choices, 2)) batch.instructions = batch.count / 2;
    if (what < 5) simulate(&choices, &batch);
    else if (what == 5) sample_sets(&choices, &batch);
    else if (what == 6) sample_time(&choices, &batch);
    else if (what == 7) study(&choices, &batch);
    else simulate_objects(&choices, &batch);
    return 0;
}
