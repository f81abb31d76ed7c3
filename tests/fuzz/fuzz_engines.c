/*
 * fuzz_engines.c - any bytes as accesses and events (fuzz_accesses.h), through every engine.
 *
 * The first bytes choose the engine, its model, the line size and other options. Whatever comes, an analysis ends with a
 * profile or an error that says something, and a profile that is written can be read, and is then written the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/engine.h>
#include <reusescope/profile.h>

#include "fuzz_accesses.h"
#include "fuzz_profile.h"

#define OPTIONS_BYTES 6u

static const char *const engines[] = {
    "exact",
    "parallel",
    "shards:0.2",
    "shards-max:16",
    "sampled:period=5",
    "time:hotl",
    "time:statstack",
    "time:aet",
    "time:shen",
    "hp-rda",
    "requests",
    "requests-shards:1/4",
    "featherlight",
    "auto",
    "hp-rda:local=2",
    "hp-rda:local=64,adjust=off",
    "sampled:lines=1/4",
    "sampled:period=3,ordering=parallel,active=4,prune=0.9,prune-after=2",
    "sampled:period=2,exact=256,error-kind=bucket",
    "time:hotl:1/4",
    "time:aet:1/8",
    "time:statstack:0.2",
    "featherlight:period=3,registers=1,replacement=naive,attribution=since-last,rd=aet",
    "featherlight:period=7,skid=2,shadow=3,spacing=fixed,attribution=inverse,rd=shen",
    "featherlight:period=2,attribution=proportional",
    "featherlight:period=5,attribution=none"};
static const char *const models[] = {"single", "private", "shared", NULL};
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes < OPTIONS_BYTES) return 0;
    const struct rsc_batch batch = fuzz_accesses(data + OPTIONS_BYTES, bytes - OPTIONS_BYTES, data[4] % 2);
    analyse(data, &batch);
    return 0;
}
