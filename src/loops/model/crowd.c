/* crowd.c - see crowd.h. */
#include "loops/model/crowd.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/model/interleave.h"

#define DRAWS_LEAST 4u /* fewer say too little about how they differ */

int rsc_crowd_new(struct rsc_crowd **out, struct rsc_search *search, const struct rsc_interleave *interleave,
                  const float *normal, uint64_t line_bytes, uint64_t seed, struct rsc_error *error) {
    struct rsc_crowd *crowd = calloc(1, sizeof *crowd);
    uint32_t threads = search->plan->threads;
    if (crowd) {
        crowd->length = calloc(threads, sizeof *crowd->length);
        crowd->stamp = calloc(threads, sizeof *crowd->stamp);
        crowd->sharer = calloc(threads, sizeof *crowd->sharer);
        crowd->reached = calloc(threads, sizeof *crowd->reached);
        crowd->placed = calloc(threads, sizeof *crowd->placed);
        crowd->from = calloc(threads, sizeof *crowd->from);
        crowd->to = calloc(threads, sizeof *crowd->to);
        crowd->latest = calloc(threads, sizeof *crowd->latest);
        crowd->drawn = calloc(search->nest->phase_count + (size_t)1, sizeof *crowd->drawn);
    }
    if (!crowd || !crowd->length || !crowd->stamp || !crowd->sharer || !crowd->reached || !crowd->placed ||
        !crowd->from || !crowd->to || !crowd->latest || !crowd->drawn) {
        rsc_crowd_free(crowd);
        return rsc_fail_memory(error, "model of threads");
    }
    crowd->plan = search->plan;
    crowd->search = search;
    crowd->nest = search->nest;
    crowd->seed = seed;
    crowd->interleave = interleave;
    crowd->runs_max = RSC_CROWD_RUNS;
    crowd->draws = 1;
    crowd->chance.normal = normal;
    rsc_rng_seed(&crowd->chance.rng, seed, 61);
    crowd->line_bytes = line_bytes;
    crowd->phase = UINT32_MAX;
    *out = crowd;
    return 0;
}

void rsc_crowd_free(struct rsc_crowd *crowd) {
    if (!crowd) return;
    free(crowd->length);
    free(crowd->stamp);
    free(crowd->sharer);
    free(crowd->reached);
    free(crowd->placed);
    free(crowd->from);
    free(crowd->to);
    if (!crowd->borrows_leads) rsc_leads_free(crowd->leads);
    rsc_crowd_drawn_free(crowd);
    free(crowd);
}

static int take_draws(struct rsc_crowd *crowd, uint32_t draws, struct rsc_plan *const *dealt, uint32_t dealings,
                      struct rsc_error *error) {
    struct rsc_timeline **drawn = calloc((size_t)draws * crowd->nest->phase_count, sizeof *drawn);
    if (!drawn) return rsc_fail_memory(error, "model of threads");
    free(crowd->drawn);
    crowd->drawn = drawn;
    crowd->draws = draws;
    crowd->dealt = dealt;
    crowd->dealings = dealings;
    return 0;
}

int rsc_crowd_divide(struct rsc_crowd *crowd, struct rsc_plan *const *dealt, uint32_t dealings,
                     struct rsc_error *error) {
    uint32_t phases = crowd->nest->phase_count, threads = crowd->plan->threads, draws = 1;
    if (threads == 1 || !phases) return 0;
    if (crowd->interleave->kind == RSC_INTERLEAVE_DRIFT) {
        if (rsc_leads_new(&crowd->leads, RSC_CROWD_DRAWS, phases, threads, crowd->seed) < 0)
            return rsc_fail_memory(error, "model of threads");
        if (crowd->leads) draws = RSC_CROWD_DRAWS;
    } else if (crowd->interleave->kind == RSC_INTERLEAVE_BURSTY) {
        double runs = crowd->plan->phase_start[phases] / crowd->interleave->burst + (double)phases * threads;
        if (crowd->runs_max >= DRAWS_LEAST * runs) draws = (uint32_t)fmin(crowd->runs_max / runs, RSC_CROWD_DRAWS);
    }
    return draws == 1 ? 0 : take_draws(crowd, draws, dealt, dealings, error);
}

int rsc_crowd_divide_as(struct rsc_crowd *crowd, const struct rsc_crowd *first, struct rsc_error *error) {
    crowd->leads = first->leads;
    crowd->borrows_leads = 1;
    return first->draws == 1 ? 0 : take_draws(crowd, first->draws, first->dealt, first->dealings, error);
}

void rsc_crowd_take_draw(struct rsc_crowd *crowd, uint32_t draw) {
    crowd->draw = draw;
    struct rsc_plan *plan = crowd->dealings ? crowd->dealt[draw % crowd->dealings] : crowd->plan;
    if (plan == crowd->plan) return;
    crowd->plan = crowd->search->plan = plan;
    crowd->phase = UINT32_MAX; /* threads have other lengths there */
}

/* ---- phases ---- */

static int64_t phase_length(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread) {
    const struct rsc_nest_phase *range = &crowd->nest->phase[phase];
    int64_t sum = 0;
    for (uint32_t s = range->first; s < range->first + range->count; s++) {
        const struct rsc_view *view = rsc_plan_view(crowd->plan, s);
        if (view) sum += rsc_view_length(view, thread);
    }
    return sum;
}

/* Whether every thread makes the same number of references in both phases. */
static int phases_alike(const struct rsc_nest *nest, uint32_t a, uint32_t b) {
    const struct rsc_nest_phase *x = &nest->phase[a], *y = &nest->phase[b];
    return x->count == 1 && y->count == 1 && nest->segment[x->first].same == nest->segment[y->first].same;
}

void rsc_crowd_look_at(struct rsc_crowd *crowd, uint32_t phase) {
    uint32_t before = crowd->phase;
    if (before == phase) return;
    crowd->phase = phase;
    if (before != UINT32_MAX && phases_alike(crowd->nest, before, phase)) return;
    const struct rsc_nest_phase *range = &crowd->nest->phase[phase];
    int drifts = crowd->interleave->kind == RSC_INTERLEAVE_DRIFT && range->count == 1;
    const struct rsc_view *view = drifts ? rsc_plan_view(crowd->plan, range->first) : NULL;
    crowd->given_out = view && view->begun ? view : NULL;
    crowd->chunk = view ? view->comes_after : 0;
    crowd->shortest = INFINITY;
    crowd->longest = crowd->total = 0;
    for (uint32_t t = 0; t < crowd->plan->threads; t++) {
        double length = crowd->length[t] = (double)phase_length(crowd, phase, t);
        if (length < crowd->shortest) crowd->shortest = length;
        if (length > crowd->longest) crowd->longest = length;
        crowd->total += length;
    }
}

double rsc_crowd_made(struct rsc_crowd *crowd, uint32_t phase, double clock) {
    rsc_crowd_look_at(crowd, phase);
    uint32_t threads = crowd->plan->threads;
    if (clock <= crowd->shortest) return clock * threads;
    double sum = 0;
    for (uint32_t t = 0; t < threads; t++) sum += clock < crowd->length[t] ? clock : crowd->length[t];
    return sum;
}

int64_t rsc_crowd_last(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread, const struct rsc_target *target,
                       int64_t at, int64_t floor) {
    const struct rsc_nest_phase *range = &crowd->nest->phase[phase];
    if (range->count == 1) return rsc_last_touch(crowd->search, range->first, thread, target, at, floor);
    int64_t end = phase_length(crowd, phase, thread);
    for (uint32_t s = range->first + range->count; s-- > range->first;) {
        const struct rsc_view *view = rsc_plan_view(crowd->plan, s);
        int64_t length = view ? rsc_view_length(view, thread) : 0, start = end - length;
        end = start;
        if (at < start || !length) continue;
        if (start + length <= floor) break;
        int64_t found =
            rsc_last_touch(crowd->search, s, thread, target, at - start, floor > start ? floor - start : -1);
        if (found >= 0) return start + found > floor ? start + found : -1;
    }
    return -1;
}

static void add_sharer(struct rsc_crowd *crowd, uint32_t thread, uint32_t except) {
    if (thread == except || crowd->stamp[thread] == crowd->now) return;
    crowd->stamp[thread] = crowd->now;
    crowd->sharer[crowd->sharer_count++] = thread;
}

void rsc_crowd_sharers(struct rsc_crowd *crowd, uint32_t phase, const struct rsc_target *target, uint32_t except) {
    struct rsc_nest *nest = crowd->nest;
    const struct rsc_nest_phase *range = &nest->phase[phase];
    crowd->now++;
    crowd->sharer_count = 0;
    crowd->alike = 0;
    for (uint32_t s = range->first; s < range->first + range->count; s++) {
        uint32_t index = nest->segment[s].item;
        const struct rsc_view *view = rsc_plan_view(crowd->plan, s);
        if (!view) return;
        for (uint32_t i = crowd->search->item_first[index]; i < crowd->search->item_first[index + 1]; i++) {
            uint32_t number = crowd->search->by_item[i];
            const struct rsc_nest_node *reference = nest->reference[number];
            if (!rsc_can_touch(reference, target) || reference->is_private) continue;
            if (rsc_stands_for(crowd->search, crowd->search->before[number], reference, target)) continue;
            if (crowd->search->alike[number] && range->count == 1) {
                crowd->alike = 1;
                continue;
            }
            int64_t low = 0, high = 0;
            if (view->who == RSC_RUN_SHARED &&
                !rsc_touching_iterations(crowd->search, s, reference, target, &low, &high))
                continue;
            if (view->who == RSC_RUN_BY_ALL || high - low >= 4 * (int64_t)view->threads) {
                for (uint32_t t = 0; t < view->threads; t++) add_sharer(crowd, t, except);
                continue;
            }
            for (int64_t k = low; k <= high; k++) {
                int64_t m;
                add_sharer(crowd, rsc_view_owner(view, k, &m), except);
            }
        }
    }
}

/* ---- touches ---- */

/* Bursty: references made in `time` of one thread. */
static double made_in_bursts(struct rsc_crowd *crowd, double time) {
    struct rsc_chance *chance = &crowd->chance;
    return crowd->interleave->burst * chance_gamma(chance, chance_poisson(chance, time));
}

/* Lockstep: references of the phase before thread u's place z. */
static double lockstep_time(const struct rsc_crowd *crowd, uint32_t thread, int64_t place) {
    double z = (double)place, sum = 0;
    if (z + 1 <= crowd->shortest) return z * crowd->plan->threads + thread;
    for (uint32_t u = 0; u < crowd->plan->threads; u++) {
        double made = z + (u < thread);
        sum += made < crowd->length[u] ? made : crowd->length[u];
    }
    return sum;
}

/* Threads running, on average over the last `ago` of the clock. */
static double running(struct rsc_crowd *crowd, const struct rsc_moment *moment, double ago) {
    uint32_t threads = crowd->plan->threads;
    double clock = moment->clock;
    if (clock <= crowd->shortest) return threads;
    double from = clock - ago > 0 ? clock - ago : 0;
    if (clock - from < 1) {
        double sum = 0;
        for (uint32_t u = 0; u < threads; u++) sum += crowd->length[u] > clock;
        return sum > 1 ? sum : 1;
    }
    double rate =
        (rsc_crowd_made(crowd, moment->phase, clock) - rsc_crowd_made(crowd, moment->phase, from)) / (clock - from);
    return rate > 1 ? rate : 1;
}

/* Drift: what `others` threads make in a time. */
static double made_in_time(struct rsc_crowd *crowd, double time, double others) {
    double spread = sqrt(others * rsc_drift_variance_between(crowd->interleave, time));
    return fmax(others * time + spread * chance_normal(&crowd->chance), 0);
}

/* Drift: the time since a thread's place `from`, which is `to` now: while it is slow, all others make more. */
static double time_since(struct rsc_crowd *crowd, const struct rsc_moment *moment, uint32_t thread, double from,
                         double to) {
    if (crowd->given_out) return fmax(rsc_crowd_time_between(crowd, thread, from, to), 0);
    return rsc_crowd_elapsed(crowd, moment, thread, to - from);
}

struct rsc_touch rsc_crowd_own_touch(struct rsc_crowd *crowd, const struct rsc_moment *moment, int64_t place) {
    struct rsc_touch touch = {.found = place >= 0};
    struct rsc_chance *chance = &crowd->chance;
    if (!touch.found) return touch;
    if (moment->timeline) {
        touch.ago = touch.interval =
            (double)(moment->time - rsc_timeline_time(moment->timeline, moment->thread, place));
        return touch;
    }
    double k = (double)(moment->place - place), others;
    rsc_crowd_look_at(crowd, moment->phase);
    switch (crowd->interleave->kind) {
    case RSC_INTERLEAVE_IID:
        touch.ago = chance_gamma(chance, k);
        touch.interval = k + chance_poisson(chance, touch.ago * (running(crowd, moment, touch.ago) - 1));
        break;
    case RSC_INTERLEAVE_DRIFT:
        touch.ago = time_since(crowd, moment, moment->thread, (double)place, (double)moment->place);
        touch.interval = k + made_in_time(crowd, touch.ago, running(crowd, moment, k) - 1);
        break;
    case RSC_INTERLEAVE_BURSTY: {
        double starts = chance_poisson(chance, k / crowd->interleave->burst);
        touch.ago = chance_gamma(chance, starts); /* 0: in the same burst */
        others = running(crowd, moment, k) - 1;
        touch.interval = k + made_in_bursts(crowd, touch.ago * others);
        double most = moment->end - crowd->plan->phase_start[moment->phase];
        if (touch.interval > most && most >= k) touch.interval = most;
        break;
    }
    default: touch.ago = touch.interval = moment->clock - lockstep_time(crowd, moment->thread, place); break;
    }
    return touch;
}

int64_t rsc_crowd_own(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_target *target) {
    return rsc_crowd_last(crowd, moment->phase, moment->thread, target, moment->place - 1, -1);
}

/* The touch at place z of a thread that has reached `reached`. */
static struct rsc_touch touch_of(struct rsc_crowd *crowd, const struct rsc_moment *moment, uint32_t thread,
                                 double reached, int64_t z) {
    struct rsc_touch touch = {.found = 1, .thread = thread, .place = z};
    struct rsc_chance *chance = &crowd->chance;
    double k = floor(reached) - (double)z;
    if (k < 1) k = 1;
    double made = crowd->length[thread] - (double)z; /* a finished thread makes no more references */
    if (made > k) made = k;
    switch (crowd->interleave->kind) {
    case RSC_INTERLEAVE_IID:
        touch.ago = chance_gamma(chance, k);
        touch.interval = made; /* completed once it is known to be the last touch */
        break;
    case RSC_INTERLEAVE_DRIFT:
        touch.ago = time_since(crowd, moment, thread, (double)z + 1, reached);
        touch.interval = k;
        break;
    case RSC_INTERLEAVE_BURSTY:
        touch.ago = chance_gamma(chance, 1 + chance_poisson(chance, k / crowd->interleave->burst));
        touch.interval = made;
        break;
    default: touch.ago = touch.interval = moment->clock - lockstep_time(crowd, thread, z); break;
    }
    return touch;
}

/* Completes the interval of a touch by another thread; so far it has only that thread's own part. */
static void finish_touch(struct rsc_crowd *crowd, const struct rsc_moment *moment, struct rsc_touch *touch) {
    struct rsc_chance *chance = &crowd->chance;
    double k = touch->interval, ago = touch->ago, burst = crowd->interleave->burst;
    switch (crowd->interleave->kind) {
    case RSC_INTERLEAVE_IID:
        touch->interval = k + chance_poisson(chance, ago * (running(crowd, moment, ago) - 1));
        break;
    case RSC_INTERLEAVE_DRIFT:
        touch->interval = k + chance_round(chance, made_in_time(crowd, ago, running(crowd, moment, ago) - 1));
        break;
    case RSC_INTERLEAVE_BURSTY: {
        /* The rest of that thread's burst, this thread's current burst, and all bursts between. */
        double others = running(crowd, moment, ago * burst) - 1;
        double own = burst * chance_gamma(chance, 1);
        if (own > (double)moment->place) own = (double)moment->place;
        touch->interval = k + 1 + own + made_in_bursts(crowd, ago * others);
        double most = moment->end - crowd->plan->phase_start[moment->phase];
        if (touch->interval > most && most >= k) touch->interval = most;
        break;
    }
    default: break;
    }
    if (touch->interval < 1) touch->interval = 1;
}

/* A thread's touches before this place are almost certainly earlier than `than`. */
static int64_t place_floor(const struct rsc_crowd *crowd, double reached, const struct rsc_touch *than) {
    if (!than->found) return -1;
    double back, ago = than->ago;
    switch (crowd->interleave->kind) {
    case RSC_INTERLEAVE_IID: back = ago + 5 * sqrt(ago) + 8; break;
    case RSC_INTERLEAVE_DRIFT:
        back = crowd->given_out ? 2 * ago + 8 : ago + 2 + 2 * sqrt(rsc_drift_variance_between(crowd->interleave, ago));
        break;
    case RSC_INTERLEAVE_BURSTY: back = crowd->interleave->burst * (ago + 4 * sqrt(ago) + 4); break;
    default: back = reached < crowd->shortest ? ago / crowd->plan->threads + 2 : ago + 2; break;
    }
    double floor = reached - back;
    return floor < 0 ? -1 : (int64_t)floor - 1;
}

static void keep_later(struct rsc_touch *best, struct rsc_touch touch) {
    if (!best->found || touch.ago < best->ago) *best = touch;
}

static void sort_descending(struct rsc_reached *at, uint32_t count) { /* Shell sort: few tens of numbers */
    static const uint32_t gaps[] = {1182, 529, 233, 102, 46, 20, 9, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (uint32_t i = gaps[g]; i < count; i++) {
            struct rsc_reached moved = at[i];
            uint32_t to = i;
            for (; to >= gaps[g] && at[to - gaps[g]].place < moved.place; to -= gaps[g]) at[to] = at[to - gaps[g]];
            at[to] = moved;
        }
}

/* All other threads touch the target at the same places: searches one thread's places, from the latest on. */
static void touches_alike(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_target *target,
                          struct rsc_touch *best) {
    uint32_t threads = crowd->plan->threads, count = 0, model = 0;
    struct rsc_target alike = *target;
    alike.which = RSC_TARGET_ALIKE;
    if (crowd->interleave->kind == RSC_INTERLEAVE_LOCKSTEP) {
        /* Among threads at the same place and length, the last in turn is the latest. */
        for (uint32_t u = 0; u < threads; u++) {
            if (u == moment->thread) continue;
            if (u + 1 < threads && u + 1 != moment->thread && crowd->length[u] == crowd->length[u + 1]) continue;
            double reached = rsc_crowd_reached(crowd, moment, u);
            int64_t z = rsc_crowd_last(crowd, moment->phase, u, &alike, (int64_t)reached - 1,
                                       place_floor(crowd, reached, best));
            if (z >= 0) keep_later(best, touch_of(crowd, moment, u, reached, z));
        }
        return;
    }
    const struct rsc_view *view = rsc_plan_view(crowd->plan, moment->segment);
    for (uint32_t u = 0; u < threads; u++)
        if (crowd->length[u] > crowd->length[model]) model = u;
    for (uint32_t u = 0; view && u < view->threads; u++)
        if (u != moment->thread && crowd->length[u] > 0)
            crowd->reached[count++] =
                (struct rsc_reached){fmin(rsc_crowd_reached(crowd, moment, u), crowd->length[u]), u};
    sort_descending(crowd->reached, count);
    double least = INFINITY; /* the place that is furthest back */
    for (uint32_t i = 0; i < count; i++)
        least = fmin(least, rsc_crowd_reached(crowd, moment, crowd->reached[i].thread));
    int64_t z = INT64_MAX; /* the last touch at or before the place last searched */
    int recent = 0; /* recent enough for a thread so far, and so for those further back */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t thread = crowd->reached[i].thread;
        double reached = rsc_crowd_reached(crowd, moment, thread);
        int64_t at = (int64_t)crowd->reached[i].place - 1;
        if (at < 0) break;
        if (z > at) {
            z = rsc_crowd_last(crowd, moment->phase, model, &alike, at, place_floor(crowd, least, best));
            recent = 0;
        }
        if (z < 0) break;
        recent |= z > place_floor(crowd, reached, best);
        if (recent) keep_later(best, touch_of(crowd, moment, thread, reached, z));
    }
}

struct rsc_touch rsc_crowd_others(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                  const struct rsc_target *target, const struct rsc_touch *than) {
    struct rsc_touch best = *than;
    if (crowd->plan->threads == 1) return (struct rsc_touch){0};
    if (moment->timeline) return rsc_crowd_others_drawn(crowd, moment, target, than);
    rsc_crowd_look_at(crowd, moment->phase);
    rsc_crowd_sharers(crowd, moment->phase, target, moment->thread);
    crowd->by_draw = crowd->leads && (crowd->sharer_count || crowd->alike);
    struct rsc_target apart = *target;
    if (crowd->nest->phase[moment->phase].count == 1) apart.which = RSC_TARGET_APART;
    for (uint32_t i = 0; i < crowd->sharer_count; i++) {
        uint32_t thread = crowd->sharer[i];
        double reached = rsc_crowd_reached(crowd, moment, thread);
        int64_t z = rsc_crowd_last(crowd, moment->phase, thread, &apart, (int64_t)reached - 1,
                                   place_floor(crowd, reached, &best));
        if (z >= 0) keep_later(&best, touch_of(crowd, moment, thread, reached, z));
    }
    if (crowd->alike) touches_alike(crowd, moment, target, &best);
    if (best.found && (!than->found || best.ago < than->ago)) {
        finish_touch(crowd, moment, &best);
        return best;
    }
    return (struct rsc_touch){0};
}

int rsc_crowd_own_history(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_target *target,
                          uint32_t *phase, int64_t *place, double *interval) {
    *phase = moment->phase;
    *place = rsc_crowd_own(crowd, moment, target);
    *interval = (double)(moment->place - *place);
    if (*place >= 0) return 1;
    *interval = (double)moment->place;
    for (int tried = 0; tried < RSC_CROWD_PHASES; tried++) {
        int64_t segment = rsc_last_segment(crowd->search, crowd->nest->phase[*phase].first, target);
        if (segment < 0) return 0;
        uint32_t found = crowd->nest->segment[segment].phase;
        for (uint32_t p = found + 1; p < *phase; p++) *interval += (double)phase_length(crowd, p, moment->thread);
        *phase = found;
        int64_t length = phase_length(crowd, found, moment->thread);
        *place = rsc_crowd_last(crowd, found, moment->thread, target, length - 1, -1);
        *interval += (double)(length - (*place >= 0 ? *place : 0));
        if (*place >= 0) return 1;
    }
    return 0;
}

struct rsc_touch rsc_crowd_earlier(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                   const struct rsc_target *target) {
    if (crowd->nest->program->array[target->space].is_private) {
        uint32_t own_phase;
        int64_t place;
        double interval;
        if (!rsc_crowd_own_history(crowd, moment, target, &own_phase, &place, &interval)) return (struct rsc_touch){0};
        rsc_crowd_look_at(crowd, own_phase);
        const struct rsc_timeline *own = rsc_crowd_timeline(crowd, own_phase);
        double before = own ? (double)rsc_timeline_time(own, moment->thread, place)
                        : crowd->interleave->kind == RSC_INTERLEAVE_LOCKSTEP
                            ? lockstep_time(crowd, moment->thread, place)
                            : rsc_crowd_made(crowd, own_phase, (double)place + 1) - 1;
        interval = moment->end - crowd->plan->phase_start[own_phase] - before;
        return (struct rsc_touch){.found = 1, .ago = interval, .interval = interval};
    }
    uint32_t first = crowd->nest->phase[moment->phase].first;
    int64_t segment = rsc_last_segment(crowd->search, first, target);
    if (segment < 0) return (struct rsc_touch){0};
    uint32_t phase = crowd->nest->segment[segment].phase, threads = crowd->plan->threads;
    rsc_crowd_sharers(crowd, phase, target, UINT32_MAX);
    rsc_crowd_look_at(crowd, phase);
    const struct rsc_timeline *timeline = rsc_crowd_timeline(crowd, phase);
    if (timeline) {
        double interval = moment->end - crowd->plan->phase_start[phase] -
                          (double)rsc_crowd_last_drawn(crowd, timeline, phase, target);
        return (struct rsc_touch){.found = 1, .ago = interval, .interval = interval};
    }
    if (crowd->interleave->kind == RSC_INTERLEAVE_LOCKSTEP) {
        double latest = -1;
        if (crowd->alike) /* among threads that are alike, the last in turn is the latest */
            for (uint32_t u = 0; u < threads; u++)
                if (u + 1 == threads || crowd->length[u] != crowd->length[u + 1]) add_sharer(crowd, u, UINT32_MAX);
        for (uint32_t i = 0; i < crowd->sharer_count; i++) {
            int64_t z = rsc_crowd_last(crowd, phase, crowd->sharer[i], target, INT64_MAX, -1);
            double time = z >= 0 ? lockstep_time(crowd, crowd->sharer[i], z) : -1;
            if (time > latest) latest = time;
        }
        double interval = moment->end - crowd->plan->phase_start[phase] - latest;
        return (struct rsc_touch){.found = 1, .ago = interval, .interval = interval};
    }
    /* The thread that touches it last; without barriers in between, threads that are ahead end earlier. */
    int64_t best = -1;
    uint32_t latest = 0;
    double time = -1;
    int by_time = crowd->given_out != NULL;
    for (uint32_t i = 0; i < crowd->sharer_count; i++) {
        uint32_t thread = crowd->sharer[i];
        int64_t z = rsc_crowd_last(crowd, phase, thread, target, INT64_MAX, by_time ? -1 : best);
        double at = by_time && z >= 0 ? rsc_crowd_time_between(crowd, thread, 0, (double)z) : (double)z;
        if (at > time) best = z, latest = thread, time = at;
    }
    if (crowd->alike)
        for (uint32_t u = 0, tried = 0; u < threads && tried < 2; u++) {
            if (u && crowd->length[u] == crowd->length[u - 1]) continue;
            int64_t z = rsc_crowd_last(crowd, phase, u, target, INT64_MAX, best);
            if (z > best) best = z, latest = u;
            tried++;
        }
    double after;
    if (best < 0) after = crowd->total; /* not found: as long ago as possible */
    else if (crowd->interleave->kind == RSC_INTERLEAVE_BURSTY) {
        /* The places of the others when that thread was there. */
        struct rsc_chance *chance = &crowd->chance;
        struct rsc_moment then = {.phase = phase, .place = best};
        uint32_t touching = crowd->alike ? threads : crowd->sharer_count;
        for (uint32_t i = 0; i < touching || !i; i++) { /* the last of the threads that touch it */
            double at = chance_gamma(chance, 1 + chance_poisson(chance, (double)best / crowd->interleave->burst));
            if (at > then.clock) then.clock = at;
        }
        after = 0;
        int skipped = 0;
        for (uint32_t u = 0; u < threads; u++) {
            double reached = (double)best;
            if (crowd->length[u] <= (double)best || skipped) reached = rsc_crowd_reached(crowd, &then, u);
            else skipped = 1;
            if (reached < crowd->length[u]) after += crowd->length[u] - reached;
        }
    } else {
        struct rsc_chance *chance = &crowd->chance;
        struct rsc_moment then = {.phase = phase, .place = best, .thread = latest};
        int iid = crowd->interleave->kind == RSC_INTERLEAVE_IID;
        if (!iid) crowd->by_draw |= crowd->leads != NULL;
        then.clock = iid ? chance_gamma(chance, (double)best + 1) : rsc_crowd_clock(crowd, phase, latest, (double)best);
        then.turn = iid ? 0 : chance_even(chance);
        after = crowd->total - (double)best - 1 - rsc_crowd_made_by_others(crowd, &then, then.clock + then.turn);
        if (after < 0) after = 0;
    }
    struct rsc_touch touch = {.found = 1};
    touch.interval = moment->end - crowd->plan->phase_start[phase + 1] + after + 1;
    touch.ago = touch.interval;
    return touch;
}
