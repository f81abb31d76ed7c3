/*
 * fuzz_engines.c - any bytes as accesses and events, through every engine and the cache simulator.
 *
 * The first bytes choose the engine, its model, the line size and other options; the rest are accesses, five bytes
 * each: where, how far, kind and size, thread, pc; some of them are events. Whatever comes, an analysis ends with a
 * profile or an error that says something, and a profile that is written can be read, and is then written the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/engine.h>
#include <reusescope/profile.h>

#include "fuzz_check.h"
#include "fuzz_profile.h"
#include "profile/sim_result.h"
#include "simulate/cache/cache_config.h"
#include "simulate/simulator.h"

#define ACCESSES_MAX 2048u
#define OPTIONS_BYTES 6u
#define ACCESS_BYTES 5u

static const char *const engines[] = {
    "exact",    "parallel",  "shards:0.2", "shards-max:16", "sampled:period=5",    "time:hotl",    "time:statstack",
    "time:aet", "time:shen", "hp-rda",     "requests",      "requests-shards:1/4", "featherlight", "auto"};
static const char *const models[] = {"single", "private", "shared", NULL};
static const uint32_t sizes[] = {1, 4, 8, 0, 64, 100, 4096, 70000};

static uint64_t addr[ACCESSES_MAX], meta[ACCESSES_MAX], pc[ACCESSES_MAX];
static struct rsc_event events[ACCESSES_MAX];

static struct rsc_batch decode(const uint8_t *data, size_t bytes, int has_pcs) {
    struct rsc_batch batch = {
        .addr = addr, .meta = meta, .pc = has_pcs ? pc : NULL, .events = events, .instructions = RSC_UNKNOWN};
    uint64_t at = 0x7f0000001000;
    for (; bytes >= ACCESS_BYTES && batch.count < ACCESSES_MAX; data += ACCESS_BYTES, bytes -= ACCESS_BYTES) {
        const uint32_t thread = data[3] & 7;
        at += (uint64_t)((int64_t)(int8_t)data[0] * (1ll << data[1] % 40));
        if (data[3] >> 6 == 3 && batch.event_count < ACCESSES_MAX) {
            events[batch.event_count++] = (struct rsc_event){.at = batch.count,
                                                             .type = data[2] % 16,
                                                             .thread = thread,
                                                             .a = data[0] % 2 ? at : 0x400000u + data[4],
                                                             .b = 1ull << data[1] % 64};
            continue;
        }
        addr[batch.count] = data[1] & 0x80 ? at : at & 0xfffff;
        meta[batch.count] = rsc_meta(sizes[data[2] % 8], (enum rsc_kind)(data[2] / 8 % 3), thread);
        pc[batch.count++] = 0x400000u + data[4];
    }
    return batch;
}

static void analyse(const uint8_t *options, const struct rsc_batch *batch) {
    struct rsc_error error = {0};
    struct rsc_engine *engine = NULL;
    struct rsc_profile *profile = NULL;
    struct rsc_engine_options wanted = {.struct_bytes = sizeof wanted,
                                        .engine = engines[options[0] % (sizeof engines / sizeof *engines)],
                                        .model = models[options[1] % 4],
                                        .line_bytes = options[2] % 14 ? 1u << options[2] % 14 >> 1 : 0,
                                        .phases = options[3] % 4,
                                        .workers = 1 + options[3] / 64,
                                        .max_distance = options[4] % 3 * 10,
                                        .bins_per_octave = options[4] / 64,
                                        .top_lines = options[5] % 4,
                                        .no_ri = options[5] / 128,
                                        .seed = options[5]};
    int status = rsc_engine_new(&engine, &wanted, &error);
    if (!status) status = rsc_engine_push(engine, batch, &error);
    if (!status) status = rsc_engine_finish(engine, &profile, &error);
    FUZZ_CHECK(status == 0 || error.message[0]);
    if (profile) fuzz_write_and_read(profile);
    rsc_profile_free(profile);
    rsc_engine_free(engine);
}

static void simulate(const uint8_t *options, const struct rsc_batch *batch) {
    static const char *const first[] = {"512,2,64,private", "1K,4,16", "256,1,64,fifo", "2K,8,128,plru"};
    static const char *const second[] = {"4K,4,64", "8K,8,128,random", NULL, NULL};
    struct rsc_sim_config config = {.seed = options[5], .coherent = options[0] % 4 == 0 && options[1] % 2};
    struct rsc_sim_options wanted = {.classify = options[2] % 2};
    struct rsc_sim_result result = {0};
    struct rsc_error error = {0};
    struct rsc_sim *sim = NULL;
    int status = rsc_cache_config_parse(&config.caches[config.count++], "l1d", first[options[0] % 4], &error);
    if (!status && second[options[1] / 2 % 4])
        status = rsc_cache_config_parse(&config.caches[config.count++], "l2", second[options[1] / 2 % 4], &error);
    if (!status) status = rsc_sim_new(&sim, &config, &wanted, &error);
    if (!status) status = rsc_sim_push(sim, batch, &error);
    if (!status) status = rsc_sim_finish(sim, &result, &error);
    FUZZ_CHECK(status == 0 || error.message[0]);
    if (!status) rsc_sim_result_free(&result);
    rsc_sim_free(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes < OPTIONS_BYTES) return 0;
    const struct rsc_batch batch = decode(data + OPTIONS_BYTES, bytes - OPTIONS_BYTES, data[4] % 2);
    if (data[0] >= 208) simulate(data, &batch);
    else analyse(data, &batch);
    return 0;
}
