/*
 * bench_attribution.c - what attribution costs: the exact engine with code, pairs,
 * objects and call paths beside the plain one, and both models beside one stack;
 * whole analyses from memory, processor time, alternating, best of N rounds.
 *
 *   bench_attribution ROUNDS TRACE...        (bench/attribution-traces makes them)
 */
#include <libgen.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "bench/measure.h"
#include "collect/symbols/variable_events.h"
#include "engine/engine_spec.h"
#include "profile/profile_model.h"

#define BATCHES_MAX 4096u
#define ACCESSES_MAX 20000000u

/* ---- a trace in memory, with its events ---- */

static struct rsc_batch batches[BATCHES_MAX];
static uint32_t batch_count;

static void *copy_of(const void *from, size_t bytes) {
    void *copy = malloc(bytes + 1);
    need(copy ? 0 : -1, "memory");
    if (bytes) memcpy(copy, from, bytes);
    return copy;
}

static void keep(const struct rsc_batch *batch) {
    struct rsc_batch *kept = &batches[batch_count++];
    struct rsc_event *events = copy_of(batch->events, batch->event_count * sizeof *events);
    for (uint32_t e = 0; e < batch->event_count; e++)
        if (events[e].data) events[e].data = copy_of(events[e].data, events[e].data_bytes);
    *kept = *batch;
    kept->addr = copy_of(batch->addr, batch->count * sizeof *batch->addr);
    kept->meta = copy_of(batch->meta, batch->count * sizeof *batch->meta);
    kept->pc = batch->pc ? copy_of(batch->pc, batch->count * sizeof *batch->pc) : NULL;
    kept->threads = batch->threads ? copy_of(batch->threads, batch->thread_count * sizeof *batch->threads) : NULL;
    kept->events = events;
}

static void load(const char *path) {
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    struct rsc_variable_events variables = {0};
    uint64_t accesses = 0;
    batch_count = 0;
    need(rsc_trace_open(&trace, path, NULL, &error), path);
    while (batch_count < BATCHES_MAX && accesses < ACCESSES_MAX && rsc_trace_next(trace, &batch, &error) > 0) {
        accesses += batch->count;
        const struct rsc_batch_columns *none = NULL;
        need(rsc_variable_events_add(&variables, NULL, &batch, &none), "variables");
        keep(batch);
    }
    rsc_variable_events_free(&variables);
    rsc_trace_close(trace);
}

static void drop(void) {
    for (uint32_t i = 0; i < batch_count; i++) {
        const struct rsc_batch *kept = &batches[i];
        for (uint32_t e = 0; e < kept->event_count; e++) free((void *)(uintptr_t)kept->events[e].data);
        free((void *)(uintptr_t)kept->addr);
        free((void *)(uintptr_t)kept->meta);
        free((void *)(uintptr_t)kept->pc);
        free((void *)(uintptr_t)kept->threads);
        free((void *)(uintptr_t)kept->events);
    }
}

/* ---- analyses ---- */

enum way { PLAIN, CODE, BOTH_PLAIN, BOTH_CODE, WAYS };

static struct rsc_engine *engine_of(const char *model, int code) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = "exact", .model = model, .attribute = code ? 1 : 2};
    struct rsc_engine *engine;
    struct rsc_error error;
    need(rsc_engine_new(&engine, &options, &error), "engine");
    return engine;
}

/* The share of references at instructions that have a row. */
static double at_places(const struct rsc_profile *profile, uint64_t references) {
    const struct rsc_code_row *last = profile->code_count ? &profile->code[profile->code_count - 1] : NULL;
    return last && rsc_place_is_other(&last->place) ? 1 - (double)last->references / (double)references : 1;
}

static double analyse(enum way way, struct rsc_profile_totals *totals, double *placed) {
    struct rsc_engine *engines[2] = {NULL, NULL};
    struct rsc_error error;
    double start = cpu_seconds_now();
    engines[0] = engine_of(way < BOTH_PLAIN ? "single" : "private", way % 2);
    if (way >= BOTH_PLAIN) {
        engines[1] = engine_of("shared", way % 2);
        rsc_engine_lean_on(engines[0], engines[1]);
    }
    for (uint32_t i = 0; i < batch_count; i++) {
        if (engines[1]) need(rsc_engine_stand(engines[0], &batches[i], &error), "stand");
        for (int e = 0; e < 2 && engines[e]; e++) need(rsc_engine_push(engines[e], &batches[i], &error), "push");
    }
    for (int e = 0; e < 2 && engines[e]; e++) {
        struct rsc_profile *profile;
        need(rsc_engine_finish(engines[e], &profile, &error), "finish");
        rsc_engine_free(engines[e]);
        rsc_profile_get_totals(profile, totals);
        if (way == CODE) *placed = at_places(profile, totals->references);
        rsc_profile_free(profile);
    }
    return cpu_seconds_now() - start;
}

static void compare(const char *path, int rounds) {
    double best[WAYS] = {0}, placed = 0;
    struct rsc_profile_totals totals;
    char name[4096];
    load(path);
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way++) {
            double took = analyse((enum way)way, &totals, &placed);
            if (!best[way] || took < best[way]) best[way] = took;
        }
    drop();
    double count = (double)totals.references;
    snprintf(name, sizeof name, "%s", path);
    printf("| %s | %.1f M | %.1f | %.1f | %.2f | %.2f | %.2f | %.1f %% |\n", basename(name), count / 1e6,
           best[PLAIN] / count * 1e9, best[CODE] / count * 1e9, best[CODE] / best[PLAIN],
           best[BOTH_PLAIN] / best[PLAIN], best[BOTH_CODE] / best[CODE], 100 * placed);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    if (rounds < 1 || argc < 3) {
        fprintf(stderr, "usage: bench_attribution ROUNDS TRACE...\n");
        return 1;
    }
    printf(
        "| trace | references | plain, ns | attributed, ns | attributed / plain | both models, plain | both models, attributed | at real places |\n");
    printf("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 2; i < argc; i++) compare(argv[i], rounds);
    return 0;
}
