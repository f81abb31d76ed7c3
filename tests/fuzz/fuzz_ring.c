/*
 * fuzz_ring.c - a watched program that writes anything into its ring: all kinds of drains must
 * stay within their bounds, and so must the makers of profiles from samples. Their profiles can be written and read.
 *
 * Input: a byte that chooses the kind of program, and under Valgrind whether its threads take turns, then commands of 12 bytes: what to write
 * to, an index there (2 bytes), how to make the value from the last eight. Now and then, and
 * at the end, the drain takes what it finds.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/drain/drain.h"
#include "multicore/program_samples.h"
#include "trace/source.h"

#include "fuzz_profile.h"

#define COMMAND 12u
#define COMMANDS_MAX 4096u
#define BATCHES_MAX 64u /* a corrupt ring may never be empty */

struct parent {
    struct rsc_ring *ring;
    struct rsc_drain *drain;
    int keeps_lines;
    void *engines[2];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_batch(const struct rsc_batch *batch, int lines) {
    uint32_t at = 0;
    if (batch->count > RSC_BATCH_ACCESSES) abort();
    for (uint32_t i = 0; i < batch->count; i++)
        if (rsc_meta_thread(batch->meta[i]) >= batch->thread_count) abort();
    for (uint32_t i = 0; lines && i < batch->count; i++) /* a kept reference is to one line */
        if (batch->addr[i] % 64 + rsc_meta_size(batch->meta[i]) > 64) abort();
    for (uint32_t i = 0; i < batch->event_count; i++) {
        if (batch->events[i].at < at || batch->events[i].at > batch->count) abort();
        at = batch->events[i].at;
        if (batch->events[i].thread >= batch->thread_count) abort();
    }
}

static void take(struct parent *parent, int ended) {
    for (uint32_t batches = 0; batches < BATCHES_MAX; batches++) {
        struct rsc_error error;
        struct rsc_batch batch;
        struct rsc_batch_columns columns;
        if (rsc_drain_next(parent->drain, ended, &batch, &error) <= 0) return;
        check_batch(&batch, parent->keeps_lines);
        rsc_drain_columns(parent->drain, &columns);
        for (int i = 0; i < 2; i++)
            if (rsc_program_samples.push_columns(parent->engines[i], &batch, &columns, &error) < 0) abort();
    }
}

static void write_to(struct parent *parent, const uint8_t *command) {
    struct rsc_ring *ring = parent->ring;
    uint16_t index;
    uint64_t value;
    memcpy(&index, command + 2, sizeof index);
    memcpy(&value, command + 4, sizeof value);
    struct rsc_slot *slot = &ring->slots[command[1] % 3];
    struct rsc_block *block = &slot->blocks[slot->published % RSC_RING_BLOCKS];
    uint64_t *words = block->words;
    switch (command[0] % 14) {
    case 0: ((uint64_t *)ring)[index % 512] = value; break;
    case 1: memcpy(&ring->notes[index % 4096 * 8], &value, sizeof value); break;
    case 2:
        ((uint64_t *)slot)[index % 28] = value;
        slot->published %= 1024; /* many empty blocks only take time */
        break;
    case 3: ((uint64_t *)block)[index % 8] = value; break;
    case 4: ((uint64_t *)block->marks)[index % 24] = value; break;
    case 5:
    case 6: words[index % 512] = value; break;
    case 7: /* a record of any kind */
        words[index % 512] = rsc_record_word((enum rsc_record_type)(value % 20), (uint32_t)(value >> 8), value >> 16);
        words[index % 512 + 1] = value;
        break;
    case 8: words[index % 512] = RSC_START | (value & 0x3f) << 56 | value % 1024 | (value >> 20 & 0x3ff) << 32; break;
    case 9: ring->plans[index % 1024] = value; break;
    case 10: slot->raw[index % 512] = value; break;
    case 11: slot->own[index % 512] = value; break;
    case 12: /* publishes */
        slot->state = RSC_SLOT_LIVE;
        if (!slot->generation) slot->generation = 1;
        if (ring->slots_used < 3) ring->slots_used = 3;
        block->start_ns = 1 + value % 1000;
        block->end_ns = block->start_ns + index;
        block->count = index % 600;
        slot->published++;
        break;
    case 13: take(parent, 0); break;
    }
}

static void finish(struct parent *parent) {
    struct rsc_drain_stats stats;
    struct rsc_whole_run whole;
    take(parent, 0);
    rsc_drain_living(parent->drain);
    take(parent, 1);
    rsc_drain_get_stats(parent->drain, &stats);
    rsc_drain_get_whole(parent->drain, &whole);
    struct rsc_batch nothing = {.instructions = RSC_UNKNOWN};
    struct rsc_batch_columns end = {.whole = &whole};
    for (int i = 0; i < 2; i++) {
        struct rsc_profile *profile = NULL;
        struct rsc_error error;
        if (rsc_program_samples.push_columns(parent->engines[i], &nothing, &end, &error) < 0) abort();
        if (rsc_program_samples.finish(parent->engines[i], &profile, &error) == 0) fuzz_write_and_read(profile);
        rsc_profile_free(profile);
        rsc_program_samples.destroy(parent->engines[i]);
    }
    rsc_drain_free(parent->drain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static const struct rsc_engine_options options = {.line_bytes = 64};
    struct rsc_sampler_options sampler = {.models = RSC_MODEL_PRIVATE | RSC_MODEL_SHARED, .period = 100};
    struct parent parent = {0};
    if (!bytes) return 0;
    parent.ring =
        mmap(NULL, sizeof *parent.ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (parent.ring == MAP_FAILED) return 0;
    const uint8_t kind = data[0] % 5, turns = data[0] / 5 & 1, lines = data[0] / 10 & 1;
    parent.ring->magic = RSC_RING_MAGIC;
    parent.ring->valgrind = kind == 1;
    parent.ring->rebuilt = kind > 1;
    parent.ring->keep_lines = parent.keeps_lines = kind == 3 || (kind == 1 && lines);
    parent.ring->keep_shift = 6;
    parent.ring->keep_limit = UINT64_MAX / 4;
    parent.ring->sampled = kind == 4;
    if (rsc_drain_new(&parent.drain, parent.ring, NULL) < 0 ||
        rsc_program_samples_create(&parent.engines[0], &options, &sampler, RSC_MODEL_PRIVATE, NULL) < 0 ||
        rsc_program_samples_create(&parent.engines[1], &options, &sampler, RSC_MODEL_SHARED, NULL) < 0)
        abort();
    if (turns) rsc_drain_set_window(parent.drain, &(struct rsc_drain_window){.quantum = 4});
    data++;
    bytes--;
    for (size_t i = 0; i < COMMANDS_MAX && bytes >= COMMAND; i++, data += COMMAND, bytes -= COMMAND)
        write_to(&parent, data);
    finish(&parent);
    munmap(parent.ring, sizeof *parent.ring);
    return 0;
}
