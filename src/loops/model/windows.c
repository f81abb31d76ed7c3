/* windows.c - see windows.h. */
#include "loops/model/windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/model/stream.h"

#define WINDOW RSC_WINDOW_REFERENCES
#define WINDOWS RSC_WINDOWS
#define LONGEST (WINDOW / 2)
#define LEAST 3u /* pairs needed to take a distance from them */
/* Bins of intervals: each value to 64, then 16 per octave up to LONGEST. */
#define BINS (64u + 6 * 16)
#define SLOTS (2 * WINDOW)
#define WORDS (WINDOW / 64)

static uint32_t bin_of(uint32_t interval) {
    if (interval < 64) return interval;
    uint32_t octave = 31 - (uint32_t)__builtin_clz(interval),
             bin = 64 + (octave - 6) * 16 + (interval >> (octave - 4) & 15);
    return bin < BINS ? bin : BINS - 1;
}

struct pair {
    uint32_t key, interval, distance;
};

/* A window's references so far: a bit for each that is the last to its line, and the last reference of each line. */
struct looking {
    struct pair *pair; /* room for one per reference of all windows */
    uint32_t count;
    uint64_t last[WORDS];
    uint8_t lasts[WORDS]; /* bits set in each word */
    uint64_t line[WINDOW];
    uint32_t reference[WINDOW];
    uint64_t slot_line[SLOTS];
    uint32_t
        slot[SLOTS]; /* number of the reference, counted over all windows from 1; less than the window's first: free */
};

/* Bits set in places `from` .. `to` - 1. */
static uint32_t lasts_between(const struct looking *looking, uint32_t from, uint32_t to) {
    uint32_t first = from / 64, end = to / 64;
    uint64_t head = ~UINT64_C(0) << from % 64, tail = ~(~UINT64_C(0) << to % 64);
    if (first == end) return (uint32_t)__builtin_popcountll(looking->last[first] & head & tail);
    uint32_t sum = (uint32_t)__builtin_popcountll(looking->last[first] & head);
    for (uint32_t word = first + 1; word < end; word++) sum += looking->lasts[word];
    return end < WORDS ? sum + (uint32_t)__builtin_popcountll(looking->last[end] & tail) : sum;
}

/* Processes one window, the stream's next references; `before`: references of the windows before it. */
static void look(struct looking *looking, struct rsc_stream *stream, uint32_t before) {
    uint32_t made = rsc_stream_next(stream, looking->line, looking->reference, NULL, WINDOW);
    memset(looking->last, 0, sizeof looking->last);
    memset(looking->lasts, 0, sizeof looking->lasts);
    for (uint32_t i = 0; i < made; i++) {
        uint64_t line = looking->line[i];
        uint32_t at = (uint32_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 40) % SLOTS;
        while (looking->slot[at] > before && looking->slot_line[at] != line) at = (at + 1) % SLOTS;
        if (looking->slot[at] > before) {
            uint32_t earlier = looking->slot[at] - before - 1, interval = i - earlier;
            if (interval <= LONGEST)
                looking->pair[looking->count++] = (struct pair){looking->reference[i] * BINS + bin_of(interval),
                                                                interval, lasts_between(looking, earlier + 1, i)};
            looking->last[earlier / 64] &= ~(UINT64_C(1) << earlier % 64);
            looking->lasts[earlier / 64]--;
        }
        looking->slot_line[at] = line;
        looking->slot[at] = before + i + 1;
        looking->last[i / 64] |= UINT64_C(1) << i % 64;
        looking->lasts[i / 64]++;
    }
}

/* Sorts pairs by key: a counting sort. */
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
    double total = plan->phase_start[nest->phase_count], room = total > WINDOW ? total - WINDOW : 0;
    struct looking *looking = calloc(1, sizeof *looking);
    int64_t *place = calloc(plan->threads, sizeof *place);
    if (looking) looking->pair = malloc(WINDOWS * WINDOW * sizeof *looking->pair);
    int status = looking && place && looking->pair ? 0 : RSC_ENOMEM;
    if (status >= 0)
        status = rsc_stream_new(&stream, plan, crowd->interleave, crowd->line_bytes, crowd->seed, 0, error);
    uint32_t phase = 0;
    for (uint32_t w = 0; status >= 0 && w < WINDOWS; w++) {
        double time = room * (w + chance_even(&crowd->chance)) / WINDOWS;
        while (phase + 1 < nest->phase_count && plan->phase_start[phase + 1] <= time) phase++;
        rsc_crowd_places(crowd, phase, time - plan->phase_start[phase], place);
        rsc_stream_start(stream, phase, place);
        look(looking, stream, w * WINDOW);
        status = nest->status;
    }
    if (status >= 0) status = sort(out, looking, nest->reference_count * BINS);
    rsc_stream_free(stream);
    if (looking) free(looking->pair);
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

uint32_t rsc_windows_pairs(const struct rsc_windows *windows, uint32_t reference_count) {
    return windows->first ? windows->first[reference_count * BINS] : 0;
}

int rsc_windows_distance(const struct rsc_windows *windows, uint32_t reference, double interval,
                         struct rsc_chance *chance, double *distance) {
    if (!windows->first || !(interval >= 1) || interval > LONGEST) return 0;
    uint32_t key = reference * BINS + bin_of((uint32_t)interval), from = windows->first[key],
             to = windows->first[key + 1];
    if (to - from < LEAST) return 0;
    uint32_t at = from + (uint32_t)rsc_rng_below(&chance->rng, to - from);
    *distance = floor(windows->distance[at] * (interval / windows->interval[at]) + 0.5);
    return 1;
}
