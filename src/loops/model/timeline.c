/* timeline.c - see timeline.h. Draws like stream.c, but run by run and without the references. */
#include "loops/model/timeline.h"

#include <math.h>
#include <stdlib.h>

#include <reusescope/error.h>

#include "base/search.h"
#include "loops/model/interleave.h"

struct drawing {
    struct rsc_timeline *timeline;
    uint32_t room;
    int64_t total;
};

static int append(struct drawing *drawing, uint32_t thread, int64_t references) {
    struct rsc_timeline *timeline = drawing->timeline;
    if (!timeline->count || timeline->thread[timeline->count - 1] != thread) {
        if (timeline->count == drawing->room) {
            drawing->room = drawing->room ? 2 * drawing->room : 2 * timeline->threads + 16;
            uint32_t *grown = realloc(timeline->thread, drawing->room * sizeof *grown);
            if (grown) timeline->thread = grown;
            int64_t *times = realloc(timeline->time, (drawing->room + (size_t)1) * sizeof *times);
            if (times) timeline->time = times;
            if (!grown || !times) return RSC_ENOMEM;
        }
        timeline->thread[timeline->count] = thread;
        timeline->time[timeline->count++] = drawing->total;
    }
    drawing->total += references;
    return 0;
}

/* A thread drawn uniformly from those not finished runs for a burst, or until it has no more references. */
static int draw_bursts(struct drawing *drawing, int64_t *left, uint32_t *active, double burst, struct rsc_rng *rng,
                       rsc_timeline_deal *deal, void *context) {
    uint32_t count = 0;
    double rate = burst > 1 ? rsc_rng_geometric_rate(burst) : 0;
    for (uint32_t t = 0; t < drawing->timeline->threads; t++)
        if (left[t] > 0 || deal) active[count++] = t;
    while (count) {
        uint32_t place = count > 1 ? (uint32_t)rsc_rng_below(rng, count) : 0, thread = active[place];
        int64_t turn = burst > 1 ? (int64_t)rsc_rng_geometric_by(rng, rate) : 1;
        while (turn > 0) {
            if (!left[thread] && deal) left[thread] = deal(context, thread);
            if (!left[thread]) break;
            int64_t run = left[thread] < turn ? left[thread] : turn;
            if (append(drawing, thread, run) < 0) return RSC_ENOMEM;
            left[thread] -= run;
            turn -= run;
        }
        if (!left[thread] && (turn || !deal)) active[place] = active[--count];
    }
    return 0;
}

struct runner {
    double time, pace, block_left;
    uint32_t thread;
};

static void next_block(struct runner *runner, double length, double spread, struct rsc_rng *rng) {
    runner->pace = 1 + spread * rsc_rng_normal(rng);
    if (runner->pace < 0.1) runner->pace = 0.1;
    runner->block_left = length;
}

static void sift_down(struct runner *heap, uint32_t count, uint32_t at) {
    for (struct runner moved = heap[at];;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count && heap[child + 1].time < heap[child].time) child++;
        if (child >= count || heap[child].time >= moved.time) {
            heap[at] = moved;
            return;
        }
        heap[at] = heap[child];
        at = child;
    }
}

/* The thread whose next reference is due first makes it; the pace is drawn block by block. */
static int draw_drift(struct drawing *drawing, int64_t *left, const struct rsc_interleave *interleave,
                      struct rsc_rng *rng) {
    double block = rsc_drift_block(interleave), spread = sqrt(interleave->diffusion / block);
    uint32_t threads = drawing->timeline->threads, count = 0;
    struct runner *heap = malloc(threads * sizeof *heap);
    if (!heap) return RSC_ENOMEM;
    for (uint32_t t = 0; t < threads; t++) {
        if (left[t] <= 0) continue;
        heap[count] = (struct runner){.time = rsc_rng_double(rng), .thread = t};
        next_block(&heap[count++], block, spread, rng);
    }
    for (uint32_t i = count / 2; i--;) sift_down(heap, count, i);
    int status = 0;
    while (count && status >= 0) {
        struct runner *due = &heap[0];
        status = append(drawing, due->thread, 1);
        due->time += due->pace;
        if (--due->block_left <= 0) next_block(due, block, spread, rng);
        if (!--left[due->thread]) heap[0] = heap[--count];
        if (count) sift_down(heap, count, 0);
    }
    free(heap);
    return status;
}

/* Fills the index by thread. */
static int index_threads(struct drawing *drawing) {
    struct rsc_timeline *timeline = drawing->timeline;
    uint32_t threads = timeline->threads, count = timeline->count;
    int64_t *made = calloc(threads, sizeof *made);
    uint32_t *next = calloc(threads, sizeof *next);
    timeline->first = calloc(threads + (size_t)1, sizeof *timeline->first);
    timeline->own_time = malloc(((size_t)count + threads) * sizeof *timeline->own_time);
    timeline->own_place = malloc(((size_t)count + threads) * sizeof *timeline->own_place);
    if (!timeline->time) timeline->time = malloc(sizeof *timeline->time); /* an empty phase */
    int status =
        made && next && timeline->first && timeline->own_time && timeline->own_place && timeline->time ? 0 : RSC_ENOMEM;
    if (status >= 0) {
        timeline->time[count] = drawing->total;
        for (uint32_t i = 0; i < count; i++) timeline->first[timeline->thread[i] + 1]++;
        for (uint32_t t = 0; t < threads; t++) {
            timeline->first[t + 1] += timeline->first[t] + 1;
            next[t] = timeline->first[t];
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t t = timeline->thread[i];
            timeline->own_time[next[t]] = timeline->time[i];
            timeline->own_place[next[t]++] = made[t];
            made[t] += timeline->time[i + 1] - timeline->time[i];
        }
        for (uint32_t t = 0; t < threads; t++) {
            timeline->own_time[next[t]] = drawing->total;
            timeline->own_place[next[t]] = made[t];
        }
    }
    free(made);
    free(next);
    return status;
}

int rsc_timeline_draw(struct rsc_timeline **out, uint32_t threads, const int64_t *length,
                      const struct rsc_interleave *interleave, struct rsc_rng *rng, rsc_timeline_deal *deal,
                      void *context) {
    struct drawing drawing = {.timeline = calloc(1, sizeof *drawing.timeline)};
    int64_t *left = malloc(threads * sizeof *left);
    uint32_t *active = malloc(threads * sizeof *active);
    int status = drawing.timeline && left && active ? 0 : RSC_ENOMEM;
    if (status >= 0) {
        drawing.timeline->threads = threads;
        for (uint32_t t = 0; t < threads; t++) left[t] = length[t];
        status = interleave->kind == RSC_INTERLEAVE_DRIFT
                     ? draw_drift(&drawing, left, interleave, rng)
                     : draw_bursts(&drawing, left, active,
                                   interleave->kind == RSC_INTERLEAVE_IID ? 1 : interleave->burst, rng, deal, context);
    }
    if (status >= 0) status = index_threads(&drawing);
    free(left);
    free(active);
    if (status < 0) rsc_timeline_free(drawing.timeline);
    else *out = drawing.timeline;
    return status;
}

void rsc_timeline_free(struct rsc_timeline *timeline) {
    if (!timeline) return;
    free(timeline->thread);
    free(timeline->time);
    free(timeline->first);
    free(timeline->own_time);
    free(timeline->own_place);
    free(timeline);
}

/* The last of `by` in low .. high that is <= `value`; `low` if there is none. */
static uint32_t last_not_above(const int64_t *by, uint32_t low, uint32_t high, int64_t value) {
    return RSC_SEARCH(low + 1, high, i, by[i] <= value) - 1;
}

int64_t rsc_timeline_time(const struct rsc_timeline *timeline, uint32_t thread, int64_t place) {
    uint32_t low = timeline->first[thread], high = timeline->first[thread + 1] - 1;
    uint32_t run = last_not_above(timeline->own_place, low, high, place);
    return timeline->own_time[run] + place - timeline->own_place[run];
}

int64_t rsc_timeline_reached(const struct rsc_timeline *timeline, uint32_t thread, int64_t time) {
    if (thread >= timeline->threads) return 0; /* it does not take part in the phase */
    uint32_t low = timeline->first[thread], high = timeline->first[thread + 1] - 1;
    if (low == high || timeline->own_time[low] >= time) return 0;
    uint32_t run = last_not_above(timeline->own_time, low, high, time);
    int64_t into = time - timeline->own_time[run], made = timeline->own_place[run + 1] - timeline->own_place[run];
    return timeline->own_place[run] + (into < made ? into : made);
}
