/*
 * fuzz_machine.c - any bytes as a file of a machine's caches (NAME.caches), and as one of measured latencies.
 *
 * It is read or refused with a line that says something. The caches of one that is read can be written as text and read
 * again as the same.
 */
#include <string.h>

#include "fuzz_check.h"
#include "fuzz_file.h"
#include "simulate/cache/machine_caches.h"

static void check(int status, const struct rsc_error *error) {
    FUZZ_CHECK(status == 0 ||
               (status < 0 && error->code == status && error->message[0] && !strchr(error->message, '\n')));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static struct rsc_sim_config config;
    struct rsc_machine machine;
    struct rsc_error error = {0};
    const char *path = fuzz_file(data, bytes);
    memset(&config, 0, sizeof config);
    int status = rsc_machine_caches_add(&config, path, NULL, &error);
    check(status, &error);
    for (size_t i = 0; !status && i < config.count; i++) {
        const struct rsc_cache_config *cache = &config.caches[i];
        struct rsc_cache_config again;
        char text[160];
        rsc_cache_config_text(cache, text, sizeof text);
        FUZZ_CHECK(rsc_cache_config_parse(&again, cache->name, text, &error) == 0);
        FUZZ_CHECK(again.level == cache->level && again.kinds == cache->kinds &&
                   again.size_bytes == cache->size_bytes && again.ways == cache->ways &&
                   again.block_bytes == cache->block_bytes && again.sector_bytes == cache->sector_bytes &&
                   again.policy == cache->policy && again.indexing == cache->indexing &&
                   again.threads_each == cache->threads_each && again.write_through == cache->write_through &&
                   again.no_write_allocate == cache->no_write_allocate && again.inclusive == cache->inclusive &&
                   again.prefetch_next == cache->prefetch_next && again.streams == cache->streams &&
                   again.stream_depth == cache->stream_depth && again.victim_blocks == cache->victim_blocks &&
                   again.buffer_blocks == cache->buffer_blocks);
    }
    if (!status) check(rsc_sim_config_check(&config, &error), &error);
    status = rsc_machine_named(&machine, path, NULL, &error);
    check(status, &error);
    FUZZ_CHECK(status || machine.level_count <= RSC_MACHINE_LEVELS_MAX);
    for (size_t i = 1; !status && i < machine.level_count; i++)
        FUZZ_CHECK(machine.levels[i].size_bytes >= machine.levels[i - 1].size_bytes);
    if (!status) {
        double before = machine.memory_cycles;
        if (!rsc_machine_read_latencies(&machine, path)) FUZZ_CHECK(machine.memory_cycles == before);
    }
    return 0;
}
