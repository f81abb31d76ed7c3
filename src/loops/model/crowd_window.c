/*
 * crowd_window.c - which references of each thread lie between two uses of a line, and the lines they touch.
 *
 * In a drawn timeline and in lockstep the threads' places at both times are known. Otherwise the other threads' places
 * at the later one are drawn around the point's own, and so is what each of them made since the earlier one.
 */
#include "loops/model/crowd.h"
#include "loops/model/interleave.h"
#include "loops/nest/touched.h"

static int64_t within(double place, double length) {
    return place < 0 ? 0 : place < length ? (int64_t)place : (int64_t)length;
}

/* The places of all threads when `time` references of the current phase are made, in turns. */
static void places_in_turns(struct rsc_crowd *crowd, double time, int64_t *place) {
    uint32_t threads = crowd->plan->threads;
    int64_t low = 0, high = (int64_t)crowd->longest, left = (int64_t)time;
    if (time <= crowd->shortest * threads) low = high = left / threads;
    while (low < high) { /* the last number of rounds that are complete */
        int64_t middle = low + (high - low + 1) / 2;
        double made = 0;
        for (uint32_t t = 0; t < threads; t++) made += fmin((double)middle, crowd->length[t]);
        if (made <= time) low = middle;
        else high = middle - 1;
    }
    for (uint32_t t = 0; t < threads; t++) left -= place[t] = within((double)low, crowd->length[t]);
    for (uint32_t t = 0; t < threads && left > 0; t++)
        if ((double)place[t] < crowd->length[t]) place[t]++, left--;
}

/* References a thread has made since the last use, where its place then is not known. */
static double progress(struct rsc_crowd *crowd, const struct rsc_touch *since) {
    struct rsc_chance *chance = &crowd->chance;
    double burst = crowd->interleave->burst, ago = since->ago;
    switch (crowd->interleave->kind) {
    case RSC_INTERLEAVE_IID: return chance_poisson(chance, ago);
    case RSC_INTERLEAVE_BURSTY: return burst * chance_gamma(chance, chance_poisson(chance, ago));
    default: return fmax(ago + sqrt(rsc_drift_variance_between(crowd->interleave, ago)) * chance_normal(chance), 0);
    }
}

/* Places at the point and, if it is in the same phase, just behind the last use. */
static void find_places(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_touch *since,
                        int in_phase, int64_t own, int by_other, int64_t *from, int64_t *to) {
    rsc_crowd_look_at(crowd, moment->phase);
    uint32_t threads = crowd->plan->threads;
    int turns = crowd->interleave->kind == RSC_INTERLEAVE_LOCKSTEP;
    for (uint32_t t = 0; t < threads; t++) from[t] = 0;
    if (turns && !moment->timeline) {
        places_in_turns(crowd, moment->clock, to);
        if (in_phase) places_in_turns(crowd, moment->clock - since->interval + 1, from);
        return;
    }
    for (uint32_t t = 0; t < threads; t++) {
        if (moment->timeline) {
            to[t] = rsc_timeline_reached(moment->timeline, t, moment->time);
            if (in_phase)
                from[t] = rsc_timeline_reached(moment->timeline, t, moment->time - (int64_t)since->interval + 1);
            continue;
        }
        int mine = t == moment->thread;
        double reached = mine ? (double)moment->place : rsc_crowd_reached(crowd, moment, t);
        to[t] = within(reached, crowd->length[t]);
        if (!in_phase) continue;
        if (mine && !by_other) from[t] = own + 1;
        else if (!mine && by_other && t == since->thread) from[t] = within((double)since->place + 1, crowd->length[t]);
        else from[t] = within(reached - progress(crowd, since), crowd->length[t]);
        if (mine && from[t] <= own) from[t] = own + 1;
    }
}

int rsc_crowd_mark_window(struct rsc_crowd *crowd, struct rsc_touched *touched, const struct rsc_moment *moment,
                          const struct rsc_touch *since, int in_phase, int64_t own, int by_other, uint64_t runs) {
    uint32_t threads = crowd->plan->threads, phase = moment->phase;
    int64_t *from = crowd->from, *to = crowd->to;
    int status = 0;
    find_places(crowd, moment, since, in_phase, own, by_other, from, to);
    for (uint32_t t = 0; t < threads && status >= 0; t++)
        if (from[t] < to[t]) status = rsc_touched_add(touched, phase, t, from[t], to[t], runs);
    if (in_phase || !phase) return status;
    const double *start = crowd->plan->phase_start;
    double time = fmax(moment->end - since->interval + 1, 0);
    while (status >= 0 && --phase && start[phase] >= time) status = rsc_touched_add_phase(touched, phase, runs);
    if (status < 0 || start[phase + 1] <= time) return status;
    rsc_crowd_look_at(crowd, phase);
    if (crowd->interleave->kind == RSC_INTERLEAVE_LOCKSTEP && !rsc_crowd_timeline(crowd, phase))
        places_in_turns(crowd, time - start[phase], from);
    else rsc_crowd_places(crowd, phase, time - start[phase], from);
    for (uint32_t t = 0; t < threads && status >= 0; t++)
        if ((double)from[t] < crowd->length[t])
            status = rsc_touched_add(touched, phase, t, from[t], (int64_t)crowd->length[t], runs);
    return status;
}
