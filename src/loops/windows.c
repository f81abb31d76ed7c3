/* windows.c - see windows.h. */
#include "loops/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "distance/exact_state.h"
#include "loops/stream.h"

#ifndef WINDOW
#define WINDOW 4096u
#define WINDOWS 16u
#endif
#define LEAST 3u /* pairs seen, for a distance to be taken from them */
/* Bins of intervals: each value to 64, then 16 an octave to 2^20. */
#define BINS (64u + 14 * 16)
#define BLOCK 2048u

static uint32_t bin_of(uint64_t interval) {
    if (interval < 64) return (uint32_t)interval;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(interval);
    uint32_t bin = 64 + (octave - 6) * 16 + (uint32_t)(interval >> (octave - 4) & 15);
    return bin < BINS ? bin : BINS - 1;
}

struct pair {
    uint32_t key, interval, distance;
};

struct looking {
    struct pair *pair;
    uint32_t count, room;
    uint64_t line[BLOCK], ri[BLOCK];
    uint32_t reference[BLOCK], rd[BLOCK];
    struct rsc_exact exact;
};

/* One window from where the stream is. `mark` keeps the windows' lines apart. */
static int look(struct looking *looking, struct rsc_stream *stream, uint64_t length, uint64_t longest, uint64_t mark) {
    while (length) {
        uint32_t count = rsc_stream_next(stream, looking->line, looking->reference, NULL, length < BLOCK ? (uint32_t)length : BLOCK);
        if (!count) break;
        length -= count;
        for (uint32_t i = 0; i < count; i++) looking->line[i] ^= mark;
        int status = rsc_exact_run(&looking->exact, looking->line, count, looking->rd, looking->ri);
        if (status < 0) return status;
        for (uint32_t i = 0; i < count; i++) {
            if (looking->rd[i] == RSC_RD_COLD || looking->ri[i] > longest || looking->count == looking->room) continue;
            looking->pair[looking->count++] = (struct pair){looking->reference[i] * BINS + bin_of(looking->ri[i]),
                                                            (uint32_t)looking->ri[i], looking->rd[i]};
        }
    }
    return 0;
}

/* Pairs by key: counted, then put in their places. */
static int sort(struct rsc_windows *out, const struct looking *looking, uint32_t keys) {
    out->first = calloc((size_t)keys + 2, sizeof *out->first);
    out->interval = malloc((looking->count + (size_t)1) * sizeof *out->interval);
    out->distance = malloc((looking->count + (size_t)1) * sizeof *out->distance);
    if (!out->first || !out->interval || !out->distance) return RSC_ENOMEM;
    for (uint32_t i = 0; i < looking->count; i++) out->first[looking->pair[i].key + 2]++;
    for (uint32_t k = 0; k < keys; k++) out->first[k + 2] += out->first[k + 1];
    for (uint32_t i = 0; i < looking->count; i++) { /* first[k + 1] moves from the start of k to its end */
        uint32_t at = out->first[looking->pair[i].key + 1]++;
        out->interval[at] = looking->pair[i].interval;
        out->distance[at] = looking->pair[i].distance;
    }
    return 0;
}

int rsc_windows_look(struct rsc_windows *out, struct rsc_crowd *crowd, struct rsc_error *error) {
    struct rsc_plan *plan = crowd->plan;
    struct rsc_nest *nest = crowd->nest;
    struct rsc_stream *stream = NULL;
    memset(out, 0, sizeof *out);
    double total = plan->phase_start[nest->phase_count];
    int whole = total <= (double)WINDOW * WINDOWS;
    struct looking *looking = calloc(1, sizeof *looking);
    int64_t *place = calloc(plan->threads, sizeof *place);
    int status = looking && place ? 0 : RSC_ENOMEM;
    if (status >= 0) {
        looking->room = WINDOW * WINDOWS;
        looking->pair = malloc(looking->room * sizeof *looking->pair);
        if (!looking->pair) status = RSC_ENOMEM;
    }
    if (status >= 0) status = rsc_exact_init(&looking->exact, rsc_simd_best(), 0);
    if (status >= 0) status = rsc_stream_new(&stream, plan, crowd->interleave, crowd->line_bytes, crowd->seed, 0, error);
    out->longest = whole ? (uint64_t)total : WINDOW / 2;
    if (status >= 0 && whole) status = look(looking, stream, (uint64_t)total, out->longest, 0);
    uint32_t phase = 0;
    for (uint32_t w = 0; status >= 0 && !whole && w < WINDOWS; w++) {
        double time = (total - WINDOW) * (w + chance_even(&crowd->chance)) / WINDOWS;
        while (phase + 1 < nest->phase_count && plan->phase_start[phase + 1] <= time) phase++;
        rsc_crowd_places(crowd, phase, time - plan->phase_start[phase], place);
        rsc_stream_start(stream, phase, place);
        status = look(looking, stream, WINDOW, out->longest, (w + 1) * UINT64_C(0x9E3779B97F4A7C15));
    }
    if (status >= 0) status = nest->status;
    if (status >= 0) status = sort(out, looking, nest->reference_count * BINS);
    rsc_stream_free(stream);
    if (looking) {
        rsc_exact_free(&looking->exact);
        free(looking->pair);
    }
    free(looking);
    free(place);
    if (status == RSC_ENOMEM) return rsc_fail_memory(error, "windows of loops");
    return status;
}

void rsc_windows_free(struct rsc_windows *windows) {
    free(windows->first);
    free(windows->interval);
    free(windows->distance);
    memset(windows, 0, sizeof *windows);
}

int rsc_windows_distance(const struct rsc_windows *windows, uint32_t reference, double interval, struct rsc_chance *chance,
                         double *distance) {
    if (!windows->first || !(interval >= 1) || interval > (double)windows->longest) return 0;
    uint32_t key = reference * BINS + bin_of((uint64_t)interval), from = windows->first[key], to = windows->first[key + 1];
    if (to - from < LEAST) return 0;
    uint32_t at = from + (uint32_t)rsc_rng_below(&chance->rng, to - from);
    *distance = floor(windows->distance[at] * (interval / windows->interval[at]) + 0.5);
    return 1;
}
