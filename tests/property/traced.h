/*
 * traced.h - random traces as a program makes them, with several threads, instructions and
 * events, through engines that promise the numbers of the exact one.
 *
 * Include after cmocka.h.
 */
#ifndef RSC_TESTS_TRACED_H
#define RSC_TESTS_TRACED_H

#include <string.h>

#include "distance/engine_kind.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"

#define PCS_MAX 12

struct traced {
    struct random_trace trace;
    uint64_t *pc; /* NULL: none */
    struct rsc_event *events;
    uint32_t event_count;
};

/* ---- traces ---- */

static inline uint64_t pc_of(uint64_t number) { return 0x400000 + 16 * number; }

/* Things that happen: calls, returns, blocks that come and go, files mapped. */
static inline void add_events(struct traced *traced, struct rsc_rng *rng) {
    static const uint64_t path[2] = {0x401000, 0x402000};
    static unsigned char library[8 + 1 + 4 + 9] = {0, 0, 0,   0,   0,   0,   0,   0,   4,   1,  2,
                                                   3, 4, 'l', 'i', 'b', '/', 'a', '.', 's', 'o'};
    traced->events = calloc(traced->trace.count + 1, sizeof *traced->events);
    for (uint32_t at = 0; at <= traced->trace.count; at++) {
        if (rsc_rng_below(rng, 6)) continue;
        uint64_t near = traced->trace.count ? traced->trace.addr[rsc_rng_below(rng, traced->trace.count)] : 0;
        struct rsc_event *event = &traced->events[traced->event_count++];
        *event = (struct rsc_event){.at = at, .thread = (uint32_t)rsc_rng_below(rng, traced->trace.threads), .a = near};
        switch (rsc_rng_below(rng, 6)) {
        case 0:
            event->type = RSC_EVENT_CALL;
            event->a = pc_of(100 + rsc_rng_below(rng, 4));
            event->b = 0x500000;
            break;
        case 1:
            event->type = RSC_EVENT_RETURN;
            event->a = pc_of(100 + rsc_rng_below(rng, 4)) + 5;
            break;
        case 2:
            event->type = RSC_EVENT_ALLOC;
            event->b = 1 + rsc_rng_below(rng, 4096);
            if (rsc_rng_below(rng, 2)) event->data = path, event->data_bytes = sizeof path;
            break;
        case 3: event->type = RSC_EVENT_FREE; break;
        case 4:
            event->type = RSC_EVENT_MAP;
            event->a &= ~4095ull;
            event->b = 4096 * (1 + rsc_rng_below(rng, 8));
            event->data = library, event->data_bytes = sizeof library;
            break;
        default: event->type = RSC_EVENT_THREAD_START; break;
        }
    }
}

static inline void traced_make(struct traced *traced, struct rsc_rng *rng, uint32_t most) {
    *traced = (struct traced){0};
    random_trace_make(&traced->trace, rng, most);
    random_trace_kinds(&traced->trace, rng);
    uint32_t count = traced->trace.count, shape = (uint32_t)rsc_rng_below(rng, 12);
    for (uint32_t i = 0; shape < 2 && i < count; i++) traced->trace.addr[i] = shape ? 64ull * i : 4096;
    if (rsc_rng_below(rng, 3)) return;
    traced->pc = malloc((count + 1ull) * sizeof *traced->pc);
    for (uint32_t i = 0; i < count; i++) traced->pc[i] = pc_of(rsc_rng_below(rng, PCS_MAX));
    add_events(traced, rng);
}

static inline void traced_free(struct traced *traced) {
    random_trace_free(&traced->trace);
    free(traced->pc);
    free(traced->events);
}

/* ---- engines, as engine.c drives them ---- */

static inline void push_in_batches(const struct rsc_engine_kind *kind, void *state, const struct traced *traced,
                                   struct rsc_rng *rng) {
    const struct random_trace *trace = &traced->trace;
    uint32_t sizes = 1 + (uint32_t)rsc_rng_below(rng, 3000), next_event = 0, done = 0;
    struct rsc_event *events = malloc((traced->event_count + 1) * sizeof *events);
    struct rsc_error error;
    do {
        uint32_t part = (uint32_t)rsc_rng_below(rng, sizes + 1), count = 0;
        if (part > trace->count - done) part = trace->count - done;
        for (; next_event < traced->event_count && traced->events[next_event].at <= done + part; next_event++) {
            events[count] = traced->events[next_event];
            events[count++].at -= done;
        }
        struct rsc_batch batch = {.count = part,
                                  .event_count = count,
                                  .addr = trace->addr + done,
                                  .meta = trace->meta + done,
                                  .pc = traced->pc ? traced->pc + done : NULL,
                                  .events = events,
                                  .instructions = RSC_UNKNOWN};
        if (kind->push(state, &batch, &error) < 0) fail_msg("%s", error.message);
        memset(events, 0xee, count * sizeof *events); /* the batch is the caller's again */
        done += part;
    } while (done < trace->count);
    free(events);
}

/* The engine's profile of the trace; `prepare`, which may be NULL, is called before the first batch. */
static inline struct rsc_profile *traced_profile(const struct rsc_engine_kind *kind,
                                                 const struct rsc_engine_options *options,
                                                 void (*prepare)(void *state, uint32_t how), uint32_t how,
                                                 const struct traced *traced, struct rsc_rng *rng) {
    const uint64_t parameters[RSC_ENGINE_PARAMETERS_BYTES / sizeof(uint64_t)] = {0};
    struct rsc_profile *profile = NULL;
    struct rsc_error error;
    void *state;
    if (kind->create(&state, options, parameters, &error) < 0) fail_msg("%s", error.message);
    if (prepare) prepare(state, how);
    push_in_batches(kind, state, traced, rng);
    if (kind->finish(state, &profile, &error) < 0) fail_msg("%s", error.message);
    kind->destroy(state);
    assert_string_equal(profile->made.by, kind->name);
    profile->made.line_bytes = options->line_bytes;
    assert_int_equal(rsc_profile_seal(profile), 0);
    return profile;
}

/* Everything a profile says, but who made it. */
static inline void check_same(struct rsc_profile *serial, struct rsc_profile *parallel) {
    char *one, *other;
    size_t one_bytes, other_bytes;
    assert_int_equal(rsc_profile_set_text(&parallel->made.by, serial->made.by), 0);
    assert_int_equal(rsc_profiles_json_text(&serial, 1, &one, &one_bytes, NULL), 0);
    assert_int_equal(rsc_profiles_json_text(&parallel, 1, &other, &other_bytes, NULL), 0);
    assert_int_equal(one_bytes, other_bytes);
    assert_memory_equal(one, other, one_bytes);
    free(one);
    free(other);
    assert_int_equal(serial->mapping_count, parallel->mapping_count);
    for (size_t i = 0; i < serial->mapping_count; i++) {
        assert_string_equal(serial->mappings[i].path, parallel->mappings[i].path);
        assert_int_equal(serial->mappings[i].start, parallel->mappings[i].start);
    }
}

#endif
