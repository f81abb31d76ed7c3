/*
 * crowd_moment.c - the moment of a reference: where its own thread is, and where the others are then.
 *
 * In lockstep and in a drawn timeline this is determined; otherwise it is drawn at random around the reference's own
 * place, by the formulas of docs/design/loops.md.
 */
#include "loops/model/crowd.h"
#include "loops/model/interleave.h"

/* Phases with fewer references per thread than this are computed thread by thread. */
#define SHORT_PHASE 64.0
#define EVEN 12.0 /* the square of a length, by the variance of a place drawn evenly from it */

/* Drift: how far a thread is ahead of the clock when that is `clock`. */
static double draw_lead(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread, double clock) {
    double variance = rsc_drift_variance(crowd->interleave, clock), chunk = crowd->chunk;
    if (chunk > 0 &&
        variance > chunk * chunk / EVEN) /* who is ahead takes more chunks: it may be anywhere in its own */
        return chunk * (chance_even(&crowd->chance) - 0.5);
    if (!crowd->leads) return sqrt(variance) * chance_normal(&crowd->chance);
    return rsc_leads_at(crowd->leads, crowd->draw, phase, thread, variance,
                        rsc_drift_variance(crowd->interleave, crowd->longest), &crowd->chance);
}

/* How far a walk whose both ends are known is from the line between them, `part` of the way: within a block it is even. */
static double off_the_line(struct rsc_crowd *crowd, double references, double part) {
    if (references <= rsc_drift_block(crowd->interleave)) return 0;
    return sqrt(crowd->interleave->diffusion * references * part * (1 - part)) * chance_normal(&crowd->chance);
}

static double dealt_place(struct rsc_crowd *crowd, const struct rsc_view *view, uint32_t thread, double clock) {
    if (thread >= view->threads) return 0;
    struct rsc_view_chunk chunk = rsc_view_chunk_at(view, thread, clock);
    double before = (double)chunk.before, count = (double)chunk.count;
    if (!chunk.count) return before + fmax(clock - chunk.from, 0); /* as if there were more */
    double part = fmin(fmax((clock - chunk.from) / (chunk.to - chunk.from), 0), 1);
    return before + fmin(fmax(part * count + off_the_line(crowd, count, part), 0), count);
}

/* The time of a place, as if each chunk's pace were even. */
static double even_time(const struct rsc_view *view, uint32_t thread, double place) {
    double length = (double)rsc_view_length(view, thread);
    if (place >= length) return rsc_view_chunk_at(view, thread, INFINITY).from + place - length;
    struct rsc_view_chunk chunk = rsc_view_chunk_of(view, thread, (int64_t)place);
    return chunk.from + (place - (double)chunk.before) / (double)chunk.count * (chunk.to - chunk.from);
}

double rsc_crowd_time_between(const struct rsc_crowd *crowd, uint32_t thread, double from, double to) {
    const struct rsc_view *view = crowd->given_out;
    return view ? even_time(view, thread, to) - even_time(view, thread, from) : to - from;
}

double rsc_crowd_clock(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread, double place) {
    const struct rsc_view *view = crowd->given_out;
    if (!view) return fmax(place - draw_lead(crowd, phase, thread, place), 0);
    struct rsc_view_chunk chunk = rsc_view_chunk_of(view, thread, (int64_t)place);
    double count = (double)chunk.count, part = (place - (double)chunk.before) / count;
    return fmin(fmax(even_time(view, thread, place) + off_the_line(crowd, count, part), chunk.from), chunk.to);
}

static double draw_place(struct rsc_crowd *crowd, const struct rsc_moment *moment, uint32_t thread) {
    struct rsc_chance *chance = &crowd->chance;
    double clock = moment->clock;
    switch (crowd->interleave->kind) {
    case RSC_INTERLEAVE_IID: return chance_poisson(chance, clock);
    case RSC_INTERLEAVE_DRIFT: {
        const struct rsc_view *view = crowd->given_out;
        double reached =
            view ? dealt_place(crowd, view, thread, clock) : clock + draw_lead(crowd, moment->phase, thread, clock);
        reached += 1 + moment->turn - chance_even(chance);
        return reached > 0 ? reached : 0;
    }
    case RSC_INTERLEAVE_BURSTY: return crowd->interleave->burst * chance_gamma(chance, chance_poisson(chance, clock));
    default: return (double)(moment->place + (thread < moment->thread));
    }
}

double rsc_crowd_reached(struct rsc_crowd *crowd, const struct rsc_moment *moment, uint32_t thread) {
    if (!moment->number) return draw_place(crowd, moment, thread);
    struct rsc_placed *placed = &crowd->placed[thread];
    if (placed->moment != moment->number)
        placed->moment = moment->number, placed->place = draw_place(crowd, moment, thread);
    return placed->place;
}

double rsc_crowd_elapsed(struct rsc_crowd *crowd, const struct rsc_moment *moment, uint32_t thread, double references) {
    struct rsc_placed *placed = &crowd->placed[thread];
    if (references <= 0) return 0;
    if (!moment->number || placed->paced != moment->number) {
        placed->paced = moment->number;
        placed->pace = chance_normal(&crowd->chance);
    }
    double took = references + sqrt(rsc_drift_variance_between(crowd->interleave, references)) * placed->pace;
    if (thread != moment->thread) took += rsc_drift_slowness(crowd->interleave, references);
    return fmax(took, references / 10);
}

double rsc_crowd_made_by_others(struct rsc_crowd *crowd, const struct rsc_moment *moment, double clock) {
    if (crowd->longest > SHORT_PHASE && !crowd->given_out) {
        double own = clock < crowd->length[moment->thread] ? clock : crowd->length[moment->thread];
        return rsc_crowd_made(crowd, moment->phase, clock) - own;
    }
    double sum = 0; /* each thread's progress is drawn: it has chunks of its own, or its end is near */
    for (uint32_t u = 0; u < crowd->plan->threads; u++) {
        if (u == moment->thread || crowd->length[u] <= 0) continue;
        double made = floor(rsc_crowd_reached(crowd, moment, u));
        sum += made < crowd->length[u] ? made : crowd->length[u];
    }
    return sum;
}

struct rsc_target rsc_crowd_target(const struct rsc_crowd *crowd, const struct rsc_point *point) {
    const struct rsc_nest_node *reference = crowd->nest->reference[point->reference];
    int64_t line = (int64_t)crowd->line_bytes, low = rsc_floor_divide(point->address, line) * line;
    return (struct rsc_target){.space = reference->space, .low = low, .high = low + line - 1};
}

struct rsc_moment rsc_crowd_moment_at(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread, int64_t place) {
    struct rsc_moment moment = {.phase = phase, .thread = thread, .place = place};
    struct rsc_chance *chance = &crowd->chance;
    rsc_crowd_look_at(crowd, phase);
    moment.timeline = rsc_crowd_timeline(crowd, phase);
    if (moment.timeline) {
        moment.time = rsc_timeline_time(moment.timeline, thread, place);
        return moment;
    }
    switch (crowd->interleave->kind) {
    case RSC_INTERLEAVE_IID: moment.clock = chance_gamma(chance, (double)place + 1); break;
    case RSC_INTERLEAVE_DRIFT:
        moment.clock = rsc_crowd_clock(crowd, phase, thread, (double)place);
        moment.turn = chance_even(chance);
        break;
    case RSC_INTERLEAVE_BURSTY:
        /* Bursts of each thread are a Poisson process of rate 1; this is the start of the thread's current burst. */
        moment.clock = chance_gamma(chance, 1 + chance_poisson(chance, (double)place / crowd->interleave->burst));
        break;
    default: /* references of the phase before this one */
        for (uint32_t u = 0; u < crowd->plan->threads; u++)
            moment.clock += fmin((double)place + (u < thread), crowd->length[u]);
    }
    return moment;
}

struct rsc_moment rsc_crowd_moment(struct rsc_crowd *crowd, const struct rsc_point *point) {
    struct rsc_moment moment = {
        .segment = point->segment, .phase = crowd->nest->segment[point->segment].phase, .number = ++crowd->moments};
    rsc_crowd_trim_drawn(crowd); /* a moment before this one may refer to what is dropped */
    const struct rsc_view *view = rsc_plan_view(crowd->plan, point->segment);
    if (!view) return moment;
    int64_t m = 0;
    uint32_t thread = 0;
    if (view->who == RSC_RUN_SHARED) thread = rsc_view_owner(view, point->iteration, &m);
    else if (view->who == RSC_RUN_BY_ALL) thread = (uint32_t)(point->who * view->threads);
    int64_t place = rsc_view_before(view, thread, m) + point->inside;
    for (uint32_t s = crowd->nest->phase[moment.phase].first; s < point->segment; s++) {
        const struct rsc_view *before = rsc_plan_view(crowd->plan, s);
        if (before) place += rsc_view_length(before, thread);
    }
    moment = rsc_crowd_moment_at(crowd, moment.phase, thread, place);
    moment.segment = point->segment;
    moment.number = crowd->moments;
    double clock = moment.clock, start = crowd->plan->phase_start[moment.phase];
    int bursts = crowd->interleave->kind == RSC_INTERLEAVE_BURSTY;
    if (moment.timeline) moment.end = start + (double)moment.time;
    else if (crowd->interleave->kind == RSC_INTERLEAVE_LOCKSTEP) moment.end = start + clock;
    else
        moment.end =
            start + (double)place +
            rsc_crowd_made_by_others(crowd, &moment, bursts ? clock * crowd->interleave->burst : clock + moment.turn);
    return moment;
}

void rsc_crowd_places(struct rsc_crowd *crowd, uint32_t phase, double time, int64_t *place) {
    uint32_t threads = crowd->plan->threads;
    rsc_crowd_look_at(crowd, phase);
    const struct rsc_timeline *timeline = rsc_crowd_timeline(crowd, phase);
    for (uint32_t t = 0; timeline && t < threads; t++) place[t] = rsc_timeline_reached(timeline, t, (int64_t)time);
    if (timeline) return;
    double low = 0, high = crowd->longest;
    if (time <= crowd->shortest * threads) low = high = time / threads;
    for (int halved = 0; halved < 60 && high - low > 0.5; halved++) { /* bisect for the clock with that many made */
        double middle = (low + high) / 2;
        if (rsc_crowd_made(crowd, phase, middle) <= time) low = middle;
        else high = middle;
    }
    struct rsc_moment moment = {.phase = phase, .place = (int64_t)low, .clock = low};
    if (crowd->interleave->kind == RSC_INTERLEAVE_BURSTY) moment.clock /= crowd->interleave->burst;
    for (uint32_t t = 0; t < threads; t++) {
        double reached = rsc_crowd_reached(crowd, &moment, t);
        place[t] = (int64_t)(reached < crowd->length[t] ? reached : crowd->length[t]);
    }
}
