/*
 * counted_lines.c - distances of long reuses by counting lines.
 *
 * The footprint of a slice of time is an average: where all long reuses of a reference have the same distance, it
 * spreads them, and the curve has a slope where the true one has a step. So for some long reuses the lines in between
 * are counted: all that the threads touch in between are marked (touched.h), or, where those are too many, of lines
 * spread over each space (distinct.h) those whose last touch before the later use is within the
 * interval. The other long reuses of the reference take the factor between count and footprint from one that is alike:
 * a factor of lines used, of which the more fall on the same line the more of all there are.
 *
 * Windows are counted one after the other until they took a certain work, and which way to count depends on those
 * before. To count several at the same time, each is counted as if those at the same time had changed nothing, and then
 * they are taken in order: one for which something has changed is counted again, and those after the end are dropped.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "loops/model/region_analysis.h"
#include "loops/nest/touched.h"

#define LONG_LINES 256.0 /* distances from here on are counted, */
#define LONG_SHARE \
    6.0 /* by lines spread over spaces only if they are this share of all: less than ten of the lines say too little */
#define RUNS_PER_SEARCH 20.0 /* marked in the time of one */
#define RUNS_MOST 40000u /* of one window */
#define TURN 197u /* odd, so that all lines have a turn */
#define PICKS 64u /* lines looked at for each */
#define WORK 25000.0 /* searches and tenths of threads drawn: some 10 ms */
#define WORK_RECTANGULAR 10000.0
#define COUNTED_FEWEST 16u
#define COUNTED_MOST 4096u
#define TIME_COUNTS 0.3 /* of a run, beside a distance of a factor of e */
#define GOLDEN 0.6180339887498949 /* its multiples, modulo 1, are spread evenly however many there are */
#define AT_ONCE_FEWEST 8u /* windows counted at the same time */
#define AT_ONCE_MOST 128u

struct counted {
    size_t at; /* index of the sample */
    uint32_t reference;
    double factor, logarithm, time; /* of what its distance was by the footprint; of its use, as a part of the run */
};

/* A long reuse: the sample's index, and its place in the order of counting, 0..1. */
struct turn {
    size_t at;
    double turn;
};

struct line {
    struct rsc_target target;
    double weight;
};

/* Spreads PICKS lines, or one for each space, over the spaces by their size; others for each `turn`. */
static size_t choose_lines(const struct rsc_loops_analysis *analysis, double distinct, size_t turn, struct line *line) {
    size_t count = 0;
    for (uint32_t space = 0; space < analysis->nest->space_count; space++) {
        const struct rsc_distinct_picks *picks = &analysis->picks[space];
        double lines = (double)analysis->lines[space];
        uint32_t wanted = (uint32_t)ceil(PICKS * lines / distinct);
        if (wanted > picks->count) wanted = picks->count;
        for (uint32_t k = 0; k < wanted; k++) {
            int64_t low =
                picks->address[(k * picks->count + turn % RSC_DISTINCT_PICKS * picks->count / RSC_DISTINCT_PICKS) /
                               wanted];
            line[count++] = (struct line){
                {.space = space, .low = low, .high = low + (int64_t)analysis->options.line_bytes - 1}, lines / wanted};
        }
    }
    return count;
}

static uint32_t stratum_of(const struct rsc_loops_samples *samples, size_t at) {
    return samples->strata ? samples->stratum[at] : samples->reference[at];
}

/* One thread's. */
struct counter {
    struct rsc_crowd *crowd;
    struct rsc_touched *touched; /* NULL: not here */
    struct line *line;
};

/* What counting one window came to. */
struct window {
    double distance; /* -1: not counted */
    double work;
    double too_long; /* what it was counted with: windows of that many lines take too many runs */
    int is_spread; /* counted by lines spread over all */
    int too_many; /* runs to be marked */
};

struct counting {
    const struct rsc_loops_analysis *analysis;
    struct rsc_loops_crowds *crowds;
    struct counter counter[RSC_LOOPS_WORKERS_MOST]; /* of each crowd */
    const struct rsc_points *points;
    const uint32_t *which; /* the point of each sample */
    const struct rsc_loops_samples *samples;
    const struct turn *longs;
    double all; /* lines */
    double too_long; /* by windows that are taken */
    _Atomic double too_long_seen; /* also by those counted at the same time */
    double work;
    size_t next; /* those counted at the same time begin with this one of longs[] */
    struct window window[AT_ONCE_MOST];
};

/* Of lines spread over the spaces, those used since `since`. */
static double count_spread(const struct counting *counting, const struct counter *counter,
                           const struct rsc_moment *moment, const struct rsc_target *own, const struct rsc_touch *since,
                           int in_phase, size_t turn, struct window *window) {
    struct rsc_crowd *crowd = counter->crowd;
    const struct rsc_touch this_phase = {.found = in_phase, .ago = since->ago, .interval = since->interval};
    size_t lines = choose_lines(counting->analysis, counting->all, turn, counter->line);
    uint64_t before = crowd->search->searches;
    double sum = 0;
    for (size_t i = 0; i < lines; i++) {
        const struct rsc_target *target = &counter->line[i].target;
        if (target->low == own->low) continue;
        struct rsc_touch touch = rsc_crowd_own_touch(crowd, moment, rsc_crowd_own(crowd, moment, target));
        int used = touch.found && (!in_phase || touch.ago < since->ago);
        if (!used) used = rsc_crowd_others(crowd, moment, target, &this_phase).found;
        if (!used && !in_phase) {
            touch = rsc_crowd_earlier(crowd, moment, target);
            used = touch.found && touch.interval < since->interval;
        }
        if (used) sum += counter->line[i].weight;
    }
    window->work += (double)(crowd->search->searches - before) + (double)lines * crowd->plan->threads / 10;
    return sum;
}

/* Lines used between the point and the last use of its line before it; -1: not counted. `footprint`: what it may be. */
static double count_lines(const struct counting *counting, const struct counter *counter, const struct rsc_point *point,
                          double footprint, size_t turn, struct window *window) {
    struct rsc_crowd *crowd = counter->crowd;
    struct rsc_moment moment = rsc_crowd_moment(crowd, point);
    struct rsc_target target = rsc_crowd_target(crowd, point);
    int64_t own = rsc_crowd_own(crowd, &moment, &target);
    struct rsc_touch since = rsc_crowd_own_touch(crowd, &moment, own), other;
    other = rsc_crowd_others(crowd, &moment, &target, &since);
    if (other.found) since = other;
    int in_phase = since.found;
    if (!in_phase) since = rsc_crowd_earlier(crowd, &moment, &target);
    if (!since.found) return -1;
    if (counter->touched && footprint < window->too_long) {
        int status =
            rsc_crowd_mark_window(crowd, counter->touched, &moment, &since, in_phase, own, other.found, RUNS_MOST);
        uint64_t runs, count = rsc_touched_count(counter->touched, target.low, &runs);
        window->work += (double)runs / RUNS_PER_SEARCH + crowd->plan->threads / 2.0;
        if (status >= 0) return (double)count;
        if (status != RSC_ELIMIT || crowd->nest->status < 0) return -1;
        window->too_many = 1;
    }
    if (footprint < counting->all / LONG_SHARE) return -1;
    window->is_spread = 1;
    return count_spread(counting, counter, &moment, &target, &since, in_phase, turn, window);
}

/* Counts the window of long reuse number `turn` as if windows of window->too_long lines took too many runs. */
static void count_window_as(const struct counting *counting, size_t turn, struct window *window) {
    size_t at = counting->longs[turn].at;
    uint32_t number = rsc_loops_crowds_take(counting->crowds);
    const struct counter *counter = &counting->counter[number];
    *window = (struct window){.too_long = window->too_long};
    rsc_loops_draw_as(counter->crowd, counting->which[at]);
    window->distance = count_lines(counting, counter, &counting->points->point[counting->which[at]],
                                   counting->samples->sample[at].distance, turn * TURN, window);
    rsc_loops_crowds_give(counting->crowds, number);
}

/* Counts one of those counted at the same time. */
static void count_window(void *context, size_t k) {
    struct counting *counting = context;
    struct window *window = &counting->window[k];
    window->too_long = counting->too_long_seen;
    count_window_as(counting, counting->next + k, window);
    double distance = counting->samples->sample[counting->longs[counting->next + k].at].distance;
    if (window->too_many && distance < counting->too_long_seen) counting->too_long_seen = distance;
}

/* How many of those left to count at the same time: about as many as the work that is left allows. */
static size_t at_once(const struct counting *counting, size_t left, double work) {
    double few = rsc_loops_team_size(counting->analysis->team) > 1 ? AT_ONCE_FEWEST : 1, count = few;
    if (few > 1 && !counting->next) count = COUNTED_FEWEST;
    else if (few > 1) count = (work - counting->work) / (counting->work / (double)counting->next + 1);
    count = fmin(fmax(count, few), fmin((double)left, AT_ONCE_MOST));
    return (size_t)count;
}

/* How many lines drawn at random, one by one, would leave `distance` different ones of `all`: what a factor applies to. */
static double draws_of(double distance, double all) { return -all * log1p(-fmin(distance / all, 1 - 0.5 / all)); }

static int by_reference(const void *a, const void *b) {
    const struct counted *x = a, *y = b;
    return x->reference != y->reference ? (x->reference < y->reference ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

/* The factor of the counted sample (of the same reference) whose distance and time are most like this one's. */
static double factor_of(double logarithm, double time, const struct counted *counted, size_t count) {
    double nearest = INFINITY, factor = 1;
    for (size_t i = 0; i < count; i++) {
        double apart = fabs(counted[i].logarithm - logarithm) + TIME_COUNTS * fabs(counted[i].time - time);
        if (apart < nearest) nearest = apart, factor = counted[i].factor;
    }
    return factor;
}

/* Distances of the long reuses that were not counted. */
static void fill_others(struct rsc_loops_samples *samples, const uint8_t *is_counted, double least,
                        const struct counted *counted, size_t count) {
    double all = samples->lines;
    size_t from = 0, end = 0; /* samples are in order of reference */
    for (size_t i = 0; i < samples->count; i++) {
        struct rsc_reuse_sample *sample = &samples->sample[i];
        if (is_counted[i] || sample->interval <= 0 || sample->distance < least) continue;
        while (from < count && counted[from].reference < samples->reference[i]) from++;
        for (end = end > from ? end : from; end < count && counted[end].reference == samples->reference[i];) end++;
        double draws = draws_of(sample->distance, all) *
                       factor_of(log(sample->distance), sample->end / samples->references, counted + from, end - from);
        sample->distance = floor(-all * expm1(-draws / all) + 0.5);
    }
}

static int by_turn(const void *a, const void *b) {
    const struct turn *x = a, *y = b;
    return x->turn != y->turn ? (x->turn < y->turn ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

/* Gives each long reuse its turn, so that however many are counted, each stratum has its share, spread evenly. */
static void give_turns(const struct rsc_loops_samples *samples, struct turn *longs, size_t count) {
    for (size_t from = 0, end; from < count; from = end) {
        uint32_t stratum = stratum_of(samples, longs[from].at);
        for (end = from; end < count && stratum_of(samples, longs[end].at) == stratum; end++) {
        }
        for (size_t k = from; k < end; k++) longs[k].turn = fmod((double)(k - from + 1) * GOLDEN, 1);
        qsort(longs + from, end - from, sizeof *longs, by_turn);
        for (size_t k = from; k < end; k++) longs[k].turn = ((double)(k - from) + 0.5) / (double)(end - from);
    }
    qsort(longs, count, sizeof *longs, by_turn);
}

static int make_counters(struct counting *counting) {
    const struct rsc_loops_analysis *analysis = counting->analysis;
    size_t lines = analysis->nest->space_count + (size_t)PICKS + 1;
    int status = 0;
    for (uint32_t k = 0; k < counting->crowds->count && status >= 0; k++) {
        struct counter *counter = &counting->counter[k];
        counter->crowd = counting->crowds->crowd[k];
        counter->line = malloc(lines * sizeof *counter->line);
        status = counter->line
                     ? rsc_touched_new(&counter->touched, counter->crowd->search, analysis->options.line_bytes, NULL)
                     : RSC_ENOMEM;
    }
    return status;
}

static void free_counters(struct counting *counting) {
    for (uint32_t k = 0; k < counting->crowds->count; k++) {
        free(counting->counter[k].line);
        rsc_touched_free(counting->counter[k].touched);
    }
}

int rsc_loops_count_lines(const struct rsc_loops_analysis *analysis, struct rsc_loops_crowds *crowds,
                          const struct rsc_points *points, const uint32_t *which, struct rsc_loops_samples *samples) {
    samples->spread = 1;
    if (analysis->has_private) return 0;
    uint8_t *is_counted = calloc(samples->count + 1, 1);
    struct turn *longs = malloc((samples->count + 1) * sizeof *longs);
    size_t long_count = 0, count = 0, spread = 0;
    struct counted *counted = malloc(((size_t)COUNTED_MOST + 1) * sizeof *counted);
    struct counting counting = {.analysis = analysis,
                                .crowds = crowds,
                                .points = points,
                                .which = which,
                                .samples = samples,
                                .longs = longs,
                                .all = samples->lines,
                                .too_long = INFINITY};
    int status = is_counted && longs && counted ? make_counters(&counting) : RSC_ENOMEM;
    int marks = counting.counter[0].touched != NULL;
    double all = samples->lines, least = marks ? LONG_LINES : fmax(LONG_LINES, samples->lines / LONG_SHARE);
    for (size_t i = 0; status >= 0 && i < samples->count; i++)
        if (samples->sample[i].interval > 0 && samples->sample[i].distance >= least) longs[long_count++].at = i;
    if (status >= 0) give_turns(samples, longs, long_count);
    if (long_count > COUNTED_MOST) long_count = COUNTED_MOST;
    double work = analysis->rectangular ? WORK_RECTANGULAR : WORK;
    for (int enough = 0; status >= 0 && counting.next < long_count && !enough;) {
        if (counting.next >= COUNTED_FEWEST && counting.work > work) break;
        size_t together = at_once(&counting, long_count - counting.next, work);
        counting.too_long_seen = counting.too_long;
        rsc_loops_team_each(analysis->team, together, count_window, &counting);
        for (size_t k = 0; k < together; k++, counting.next++) {
            enough = counting.next >= COUNTED_FEWEST && counting.work > work;
            if (enough) break;
            size_t at = longs[counting.next].at;
            struct rsc_reuse_sample *sample = &samples->sample[at];
            struct window window = counting.window[k];
            if ((sample->distance < counting.too_long) != (sample->distance < window.too_long)) {
                window.too_long = counting.too_long;
                count_window_as(&counting, counting.next, &window);
            }
            if (window.too_many) counting.too_long = sample->distance;
            counting.work += window.work;
            spread += (size_t)window.is_spread;
            if (window.distance < 0) continue;
            counted[count++] =
                (struct counted){.at = at,
                                 .reference = samples->reference[at],
                                 .factor = draws_of(window.distance, all) / draws_of(sample->distance, all),
                                 .logarithm = log(sample->distance),
                                 .time = sample->end / samples->references};
            sample->distance = window.distance;
            is_counted[at] = 1;
        }
    }
    samples->spread = count ? (double)spread / (double)count : 1;
    samples->long_lines = count ? least : 0;
    if (status >= 0) {
        qsort(counted, count, sizeof *counted, by_reference);
        fill_others(samples, is_counted, least, counted, count);
    }
    free_counters(&counting);
    free(is_counted);
    free(longs);
    free(counted);
    return status;
}
