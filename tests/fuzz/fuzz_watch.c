/*
 * fuzz_watch.c - a watched program (run --with perf) that writes anything into its streams: the drain stays within its
 * bounds, and so does the maker of profiles from pairs. Its profile can be written and read.
 *
 * Input: a byte that chooses words or lines, then commands of 12 bytes: what to write, which stream, an index there
 * (2 bytes), how to make the values from the last eight. Now and then, and at the end, the drain takes what it finds.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/perf/watch_drain.h"
#include "engine/engine_live.h"
#include "profile/profile_model.h"
#include "runtime/pieces/asm_abi.h"
#include "trace/batch_columns.h"

#include "fuzz_profile.h"

#define COMMAND 12u
#define COMMANDS_MAX 2048u
#define STREAMS 3u
#define COUNT_MOST (1ull << 57) /* of all threads: in bytes of lines it is a number that profiles hold */

struct parent {
    struct rsc_ring *ring;
    struct rsc_watch_drain *drain;
    struct rsc_engine *engine;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_record(const struct rsc_watch_record *record) {
    FUZZ_CHECK(record->thread < RSC_THREADS_MAX);
    if (record->type == RSC_WATCH_RECORD_SAMPLE) {
        const struct rsc_watch_sample *sample = &record->sample;
        FUZZ_CHECK(sample->count <= COUNT_MOST && sample->chance >= 0 && sample->chance <= 1);
        FUZZ_CHECK(sample->slot == RSC_NO_SLOT || sample->slot < RSC_WATCH_REGISTERS);
    } else if (record->type == RSC_WATCH_RECORD_END) {
        FUZZ_CHECK(record->end.count <= COUNT_MOST && record->end.slot < RSC_WATCH_REGISTERS);
    } else {
        FUZZ_CHECK(record->progress.references <= COUNT_MOST && record->progress.accesses <= COUNT_MOST);
    }
}

static void take(struct parent *parent, int ended) {
    const struct rsc_batch batch = {.instructions = RSC_UNKNOWN};
    struct rsc_batch_columns columns = {.skipped = NULL};
    struct rsc_error error;
    int status = rsc_watch_drain_take(parent->drain, ended, &columns.watched, &columns.watched_count, &error);
    FUZZ_CHECK(status == 0);
    for (size_t i = 0; i < columns.watched_count; i++) check_record(&columns.watched[i]);
    FUZZ_CHECK(rsc_engine_push_columns(parent->engine, &batch, &columns, &error) == 0);
}

/* A value of some size, of which `value` has eight bits. */
static uint64_t drawn(uint64_t *value) {
    const uint64_t bits = *value & 0xff, number = *value * 0x9e3779b97f4a7c15ull;
    *value = *value >> 8 | *value << 56;
    return bits < 0x40   ? bits
           : bits < 0xc0 ? bits << (bits & 31)
           : bits < 0xe0 ? number >> (bits & 31)
                         : ~0ull - (number & 15);
}

/* A record with a sound head, of this type. */
static void put_record(struct rsc_watch_stream *stream, uint32_t type, uint16_t how, uint64_t value) {
    static const uint32_t words_of[] = {[RSC_WATCHED_USE] = RSC_WATCHED_USE_WORDS,
                                        [RSC_WATCHED_HIT] = RSC_WATCHED_HIT_WORDS,
                                        [RSC_WATCHED_END] = RSC_WATCHED_END_WORDS};
    static const uint32_t chance_of[] = {[RSC_WATCHED_USE] = RSC_WATCHED_USE_CHANCE,
                                         [RSC_WATCHED_HIT] = RSC_WATCHED_HIT_CHANCE,
                                         [RSC_WATCHED_END] = RSC_WATCHED_END_CHANCE};
    const uint32_t flags = how >> 3 & 0x7f;
    const uint32_t fixed =
        type == RSC_WATCHED_HIT && flags & RSC_WATCH_RESOLVED ? RSC_WATCHED_HIT_WORDS_RESOLVED : words_of[type];
    const uint32_t frames = type == RSC_WATCHED_END ? 0 : how >> 10 & 3;
    const uint64_t head = rsc_watch_head(type, how & 7, flags, fixed + frames, frames);
    stream->words[stream->written++ % RSC_WATCH_WORDS] = rsc_watch_head_with_shape(head, how >> 12 & 3);
    for (uint32_t i = 1; i < fixed + frames; i++) {
        uint64_t word = drawn(&value);
        if (i == chance_of[type] && !(how & 0x8000)) word = rsc_watch_bits((double)(word % 1000) / 1000);
        if (type == RSC_WATCHED_USE && i == RSC_WATCHED_USE_DENSITY && !(how & 0x8000)) word |= 1;
        stream->words[stream->written++ % RSC_WATCH_WORDS] = word;
    }
}

static void put_module(struct parent *parent, uint16_t index, uint64_t value) {
    struct rsc_asm_module module = {0x10000, 0x10000 + index % 512u * 8, value % 64};
    rsc_ring_note(parent->ring, RSC_NOTE_MODULE, rsc_process_id(1, (uint32_t)(value >> 8 & 3)), &module, sizeof module);
}

static void put_maps(struct parent *parent, uint16_t index, uint64_t value) {
    char text[200];
    int bytes = snprintf(text, sizeof text, "%llx-%llx r-xp %x 00:00 0 /fuzz/%u\n", (unsigned long long)drawn(&value),
                         (unsigned long long)drawn(&value), index, index % 7u);
    rsc_ring_note(parent->ring, RSC_NOTE_NATIVE_MAPS, rsc_process_id(1, (uint32_t)(value & 3)), text, (size_t)bytes);
}

static void write_to(struct parent *parent, const uint8_t *command) {
    struct rsc_ring *ring = parent->ring;
    struct rsc_watch_stream *stream = &ring->watch.streams[command[1] % STREAMS];
    uint16_t index;
    uint64_t value;
    memcpy(&index, command + 2, sizeof index);
    memcpy(&value, command + 4, sizeof value);
    ring->notes_lock = 0; /* who holds it is killed: a note waits 20 ms */
    switch (command[0] % 14) {
    case 0: ((uint64_t *)ring)[index % 512] = value; break;
    case 1: memcpy(&ring->notes[index % 4096 * 8], &value, sizeof value); break;
    case 2: ((uint64_t *)&ring->watch)[index % 16] = value; break;
    case 3: ((uint64_t *)stream)[index % 33] = value; break;
    case 4: stream->words[(stream->written + index) % RSC_WATCH_WORDS] = value; break;
    case 5: stream->written += index % 64; break;
    case 6: /* a thread begins */
        stream->state = RSC_SLOT_LIVE;
        stream->generation++;
        stream->pid = 100 + index % 3;
        stream->tid = 200 + command[1];
        if (ring->watch.streams_used < STREAMS) ring->watch.streams_used = STREAMS;
        break;
    case 7:
    case 8: put_record(stream, RSC_WATCHED_USE, index, value); break;
    case 9: put_record(stream, RSC_WATCHED_HIT, index, value); break;
    case 10: put_record(stream, RSC_WATCHED_END, index, value); break;
    case 11:
        if (index & 1) ring->plans[index % 1024] = value;
        else put_module(parent, index, value);
        break;
    case 12:
        if (index & 1) put_maps(parent, index, value);
        else stream->state = RSC_SLOT_ENDED;
        break;
    case 13: take(parent, 0); break;
    }
}

static int fill(const void *drain, struct rsc_profile *profile) { return rsc_watch_drain_fill(drain, profile); }

static void finish(struct parent *parent) {
    struct rsc_watch_stats stats;
    struct rsc_profile *profile = NULL;
    struct rsc_error error = {0};
    take(parent, 0);
    rsc_watch_drain_living(parent->drain);
    take(parent, 1);
    rsc_watch_drain_stats(parent->drain, &stats);
    FUZZ_CHECK(stats.accesses <= COUNT_MOST);
    struct rsc_whole_run whole = {.accesses = stats.accesses,
                                  .sampling = "fuzz",
                                  .handler_seconds = 1e-9 * (double)stats.busy_ns,
                                  .traps = stats.hits,
                                  .dropped = stats.dropped,
                                  .fill = fill,
                                  .context = parent->drain};
    const struct rsc_batch nothing = {.instructions = RSC_UNKNOWN};
    const struct rsc_batch_columns end = {.whole = &whole};
    FUZZ_CHECK(rsc_engine_push_columns(parent->engine, &nothing, &end, &error) == 0);
    FUZZ_CHECK(rsc_engine_finish(parent->engine, &profile, &error) == 0);
    fuzz_write_and_read(profile);
    rsc_profile_free(profile);
    rsc_engine_free(parent->engine);
    rsc_watch_drain_free(parent->drain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static struct rsc_ring *ring; /* its pages are given back after each input */
    static const char *const attributions[] = {"censored", "proportional", "since-last", "inverse"};
    char name[64];
    struct rsc_engine_spec spec;
    struct rsc_wanted wanted = {0};
    struct rsc_error error;
    if (!bytes) return 0;
    if (!ring)
        ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ring == MAP_FAILED) return 0;
    struct parent parent = {.ring = ring};
    const struct rsc_engine_options options = {.struct_bytes = sizeof options, .line_bytes = data[0] & 1 ? 64 : 8};
    snprintf(name, sizeof name, "featherlight:attribution=%s", attributions[data[0] >> 1 & 3]);
    FUZZ_CHECK(rsc_engine_spec_parse(&spec, name, &error) == 0);
    FUZZ_CHECK(rsc_live_pairs_new(&parent.engine, &spec, &options, 0, &wanted, &error) == 0);
    ring->magic = RSC_RING_MAGIC;
    ring->watch.lines = (uint32_t)wanted.pairs.whole_lines;
    FUZZ_CHECK(rsc_watch_drain_new(&parent.drain, ring, &error) == 0);
    data++;
    bytes--;
    for (size_t i = 0; i < COMMANDS_MAX && bytes >= COMMAND; i++, data += COMMAND, bytes -= COMMAND)
        write_to(&parent, data);
    finish(&parent);
    madvise(ring, sizeof *ring, MADV_DONTNEED);
    return 0;
}
