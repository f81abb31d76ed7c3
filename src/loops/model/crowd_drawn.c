/*
 * crowd_drawn.c - the crowd in phases whose interleaving is drawn completely: last
 * touches are looked up in the timeline, and are exact for it.
 *
 * A phase's draw depends only on the seed and the phase's number, so it can be
 * repeated at any time and need not be kept.
 */
#include <stdlib.h>

#include "loops/model/crowd.h"
#include "loops/model/interleave.h"

/* Others: phases of more references per thread use averages; each reference is a run of its own. */
#define DRAWN_PHASE 16.0
#define DRAW_SEED UINT64_C(0xD1B54A32D192ED03) /* apart from those of other phases */
/* Runs kept, of all phases; past this, all are dropped before the next moment and drawn again when needed. */
#define RUNS_KEPT (UINT64_C(1) << 20)
/* Draws shared by phases that are alike, and phases that these are looked for in. */
#define SHARED_DRAWS 8u
#define SHARED_AMONG 64u

/* Whether the phase can be drawn from the threads' lengths alone. */
static int worth_drawing(const struct rsc_crowd *crowd) {
    switch (crowd->interleave->kind) {
    case RSC_INTERLEAVE_BURSTY:
        return crowd->total / crowd->interleave->burst + crowd->plan->threads <= crowd->runs_max;
    case RSC_INTERLEAVE_IID:
    case RSC_INTERLEAVE_DRIFT: return crowd->plan->threads > 1 && crowd->longest <= DRAWN_PHASE;
    default: return 0;
    }
}

static void drop_drawn(struct rsc_crowd *crowd) {
    for (uint32_t p = 0; crowd->drawn && crowd->nest && p < crowd->draws * crowd->nest->phase_count; p++) {
        rsc_timeline_free(crowd->drawn[p]);
        crowd->drawn[p] = NULL;
    }
    crowd->runs_kept = 0;
}

void rsc_crowd_trim_drawn(struct rsc_crowd *crowd) {
    if (crowd->runs_kept > RUNS_KEPT) drop_drawn(crowd);
}

void rsc_crowd_drawn_free(struct rsc_crowd *crowd) {
    drop_drawn(crowd);
    free(crowd->drawn);
    free(crowd->latest);
}

/* Of phases in which each thread makes as many references, some of the first few, whose draws serve all of them. */
static uint32_t phase_drawn(const struct rsc_crowd *crowd, uint32_t phase) {
    const struct rsc_nest *nest = crowd->nest;
    const struct rsc_nest_phase *range = &nest->phase[phase];
    if (!crowd->shares_draws || range->count != 1) return phase;
    uint32_t same = nest->segment[range->first].same, first = nest->segment[same].phase, count = 0, alike[SHARED_DRAWS];
    for (uint32_t p = first; p < nest->phase_count && p < first + SHARED_AMONG && count < SHARED_DRAWS; p++)
        if (nest->phase[p].count == 1 && nest->segment[nest->phase[p].first].same == same) alike[count++] = p;
    return count ? alike[(uint64_t)(uint32_t)(phase * 0x9E3779B1u) * count >> 32] : phase;
}

const struct rsc_timeline *rsc_crowd_timeline(struct rsc_crowd *crowd, uint32_t phase) {
    const struct rsc_nest_phase *range = &crowd->nest->phase[phase];
    if (range->count == 1) { /* its chunks were assigned in a timeline: use that one */
        const struct rsc_view *view = rsc_plan_view(crowd->plan, range->first);
        if (view && view->timeline) return view->timeline;
    }
    if (!worth_drawing(crowd)) return NULL;
    phase = phase_drawn(crowd, phase);
    struct rsc_timeline **drawn = &crowd->drawn[(size_t)crowd->draw * crowd->nest->phase_count + phase];
    if (*drawn) return *drawn;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, crowd->seed + phase + (uint64_t)crowd->draw * DRAW_SEED, 63);
    uint32_t threads = crowd->plan->threads;
    int64_t *length = malloc(threads * sizeof *length);
    if (length)
        for (uint32_t t = 0; t < threads; t++) length[t] = (int64_t)crowd->length[t];
    if (!length || rsc_timeline_draw(drawn, threads, length, crowd->interleave, &rng, NULL, NULL) < 0)
        crowd->nest->status = RSC_ENOMEM;
    free(length);
    if (*drawn) crowd->runs_kept += (*drawn)->count;
    return *drawn;
}

static int latest_first(const void *a, const void *b) {
    int64_t x = ((const struct rsc_latest *)a)->time, y = ((const struct rsc_latest *)b)->time;
    return x > y ? -1 : x < y;
}

/* Adds a thread to latest[] if it made a reference after time `after` and before `now`. */
static uint32_t add_latest(struct rsc_crowd *crowd, const struct rsc_timeline *timeline, uint32_t thread, int64_t after,
                           int64_t now, uint32_t count) {
    int64_t reached = rsc_timeline_reached(timeline, thread, now);
    if (!reached) return count;
    int64_t time = rsc_timeline_time(timeline, thread, reached - 1);
    if (time <= after) return count;
    crowd->latest[count] = (struct rsc_latest){time, reached, thread};
    return count + 1;
}

/*
 * The time of the last touch by the threads in latest[], if it is after `best`. If all
 * touch the target at the same places (`alike`), results are shared among them.
 */
static int64_t last_of_latest(struct rsc_crowd *crowd, const struct rsc_timeline *timeline, uint32_t phase,
                              const struct rsc_target *target, uint32_t count, int64_t best) {
    enum { KNOWN = 8 };
    int64_t from[KNOWN], to[KNOWN]; /* the last touch at or before any place from .. to is at from */
    uint32_t known = 0;
    int alike = target->which == RSC_TARGET_ALIKE;
    qsort(crowd->latest, count, sizeof *crowd->latest, latest_first);
    for (uint32_t i = 0; i < count && crowd->latest[i].time > best; i++) {
        uint32_t thread = crowd->latest[i].thread;
        int64_t at = crowd->latest[i].reached - 1,
                floor = best >= 0 ? rsc_timeline_reached(timeline, thread, best + 1) - 1 : -1, z = -2;
        for (uint32_t k = 0; alike && k < known && k < KNOWN && z < -1; k++)
            if (from[k] <= at && at <= to[k]) z = from[k];
        if (z < -1) {
            z = rsc_crowd_last(crowd, phase, thread, target, at, floor);
            if (z >= 0) {
                from[known % KNOWN] = z;
                to[known++ % KNOWN] = at;
            }
        }
        if (z <= floor) continue;
        int64_t time = rsc_timeline_time(timeline, thread, z);
        if (time > best) best = time;
    }
    return best;
}

struct rsc_touch rsc_crowd_others_drawn(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                        const struct rsc_target *target, const struct rsc_touch *than) {
    const struct rsc_timeline *timeline = moment->timeline;
    int64_t own = than->found ? moment->time - (int64_t)than->interval : -1, best = own;
    uint32_t count = 0;
    struct rsc_target part = *target;
    rsc_crowd_sharers(crowd, moment->phase, target, moment->thread);
    crowd->by_draw = 1;
    if (crowd->nest->phase[moment->phase].count == 1) part.which = RSC_TARGET_APART;
    for (uint32_t i = 0; i < crowd->sharer_count; i++)
        count = add_latest(crowd, timeline, crowd->sharer[i], best, moment->time, count);
    best = last_of_latest(crowd, timeline, moment->phase, &part, count, best);
    if (crowd->alike) {
        part.which = RSC_TARGET_ALIKE;
        count = 0;
        for (uint32_t u = 0; u < timeline->threads; u++)
            if (u != moment->thread) count = add_latest(crowd, timeline, u, best, moment->time, count);
        best = last_of_latest(crowd, timeline, moment->phase, &part, count, best);
    }
    if (best <= own) return (struct rsc_touch){0};
    double interval = (double)(moment->time - best);
    return (struct rsc_touch){.found = 1, .ago = interval, .interval = interval};
}

int64_t rsc_crowd_last_drawn(struct rsc_crowd *crowd, const struct rsc_timeline *timeline, uint32_t phase,
                             const struct rsc_target *target) {
    int64_t end = timeline->time[timeline->count], best = -1;
    uint32_t count = 0;
    struct rsc_target part = *target;
    if (crowd->nest->phase[phase].count == 1) part.which = RSC_TARGET_APART;
    for (uint32_t i = 0; i < crowd->sharer_count; i++)
        count = add_latest(crowd, timeline, crowd->sharer[i], -1, end, count);
    best = last_of_latest(crowd, timeline, phase, &part, count, best);
    if (crowd->alike) {
        part.which = RSC_TARGET_ALIKE;
        count = 0;
        for (uint32_t u = 0; u < timeline->threads; u++) count = add_latest(crowd, timeline, u, best, end, count);
        best = last_of_latest(crowd, timeline, phase, &part, count, best);
    }
    return best;
}
