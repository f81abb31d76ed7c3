/* window_sample.c - see window_sample.h. */
#include "distance/time/window_sample.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/histogram.h"

#define WINDOW_FIRST 8192u
#define WINDOW_MOST (1u << 20)
#define WINDOW_TIMES 16u /* references in the window per wanted line */
/* The window is lengthened if it holds fewer lines than this, up to this many
 * references: bars at 100 to 1000 lines then hold the truth in 91 % of cases on xz
 * and in 90 % on python3, instead of 82 and 80 (100 seeds). */
#define LINES_HELD 1024u
#define WINDOW_HELD (1u << 17)
#define GAP_FIRST 64u
#define GAP_LAST 512u /* once there are ... */
#define SAMPLES_FREE 16384u /* ... this many */
/* Compares take about half a cycle each: this many are free, then this many per reference. */
#define COMPARED_FREE (1u << 23)
#define COMPARED_SHARE 4u
#define BURST_SAMPLES 512u
/* The first 4 bursts follow each other, the next are one per twice their length, then per three times, up to ... */
#define BURSTS_EACH 4u
#define RECENT_AHEAD 16u /* lines of a burst looked up ahead */
#define BURST_EVERY 16u

int rsc_window_sample_init(struct rsc_window_sample *sample, uint64_t seed) {
    memset(sample, 0, sizeof *sample);
    rsc_rng_seed(&sample->rng, seed, 2);
    uint32_t bins = sample->bin_count = rsc_bins_count(RSC_BINS_FINE);
    sample->window = WINDOW_FIRST;
    sample->gap = GAP_FIRST;
    sample->stretch_end = RSC_SAMPLE_FIRST;
    sample->sample_at = UINT64_MAX;
    sample->interval = malloc(WINDOW_FIRST * sizeof *sample->interval);
    sample->first_ri = calloc(2 * (size_t)bins, sizeof *sample->first_ri);
    sample->part_ri = calloc((2 * RSC_SAMPLE_PARTS + 1) * (size_t)bins, sizeof *sample->part_ri);
    if (!sample->interval || !sample->first_ri || !sample->part_ri ||
        rsc_exact_init(&sample->exact, rsc_simd_best(), 0) < 0) {
        rsc_window_sample_free(sample);
        return RSC_ENOMEM;
    }
    sample->first_rd = sample->first_ri + bins;
    sample->part_rd = sample->part_ri + RSC_SAMPLE_PARTS * (size_t)bins;
    sample->beyond = sample->part_rd + RSC_SAMPLE_PARTS * (size_t)bins;
    sample->burst_least = UINT64_MAX;
    return 0;
}

void rsc_window_sample_free(struct rsc_window_sample *sample) {
    rsc_exact_free(&sample->exact);
    free(sample->interval);
    free(sample->recent);
    free(sample->first_ri);
    free(sample->part_ri);
    memset(sample, 0, sizeof *sample);
}

/* ---- the beginning ---- */

static int take_first(struct rsc_window_sample *sample, const uint64_t *lines, const uint64_t *ri, uint32_t count) {
    int status = rsc_exact_run(&sample->exact, lines, count, sample->rd_found, sample->ri_found);
    for (uint32_t i = 0; status == 0 && i < count; i++) {
        if (!ri[i]) continue;
        sample->first_ri[rsc_bin_of_fine(ri[i])]++;
        sample->first_rd[rsc_bin_of_fine(sample->rd_found[i])]++;
    }
    sample->first += count;
    if (sample->first == RSC_SAMPLE_FIRST) rsc_exact_free(&sample->exact);
    return status;
}

/* ---- the window ---- */

static int lengthen(struct rsc_window_sample *sample, uint64_t window) {
    int32_t *longer = malloc(window * sizeof *longer);
    if (!longer) return RSC_ENOMEM;
    uint64_t from = sample->now > sample->window ? sample->now - sample->window : 0;
    if (from < sample->held_from) from = sample->held_from;
    for (uint64_t j = from; j < sample->now; j++) longer[j & (window - 1)] = sample->interval[j & (sample->window - 1)];
    free(sample->interval);
    sample->interval = longer;
    sample->window = window;
    sample->held_from = from;
    sample->lines_at = 0; /* to be counted again */
    return 0;
}

static void keep_intervals(struct rsc_window_sample *sample, uint64_t from, const uint64_t *ri, uint32_t count) {
    while (count) {
        uint64_t at = from & (sample->window - 1);
        uint32_t part = sample->window - at < count ? (uint32_t)(sample->window - at) : count;
        int32_t *interval = sample->interval + at;
        /* interval 0, of a first use, becomes the greatest; others need no compare while none can be as long */
        if (from + count <= INT32_MAX)
            for (uint32_t i = 0; i < part; i++) interval[i] = (int32_t)((uint32_t)(ri[i] - 1) & INT32_MAX);
        else
            for (uint32_t i = 0; i < part; i++) interval[i] = ri[i] - 1 < INT32_MAX ? (int32_t)(ri[i] - 1) : INT32_MAX;
        from += part;
        ri += part;
        count -= part;
    }
}

/* How many of the `length` references after `start` are the first to their line since then. */
static uint64_t first_uses_after(struct rsc_window_sample *sample, uint64_t start, uint64_t length) {
    uint64_t found = 0, done = 0;
    sample->compared += length;
    while (done < length) { /* a range that does not wrap around */
        uint64_t at = (start + 1 + done) & (sample->window - 1), part = sample->window - at;
        if (part > length - done) part = length - done;
        const int32_t *interval = sample->interval + at;
        const int32_t from = (int32_t)done;
        int32_t sum = 0;
        for (int32_t k = 0; k < (int32_t)part; k++) sum += interval[k] >= from + k;
        found += (uint64_t)sum;
        done += part;
    }
    return found;
}

/* The first reference before `at` whose interval is in the ring. */
static uint64_t oldest_for(const struct rsc_window_sample *sample, uint64_t at) {
    uint64_t oldest = at > sample->window ? at - sample->window : 0;
    return oldest < sample->held_from ? sample->held_from : oldest;
}

/* The number of lines since then, or an eighth earlier. */
static uint64_t lines_before(struct rsc_window_sample *sample, uint64_t at, uint64_t oldest) {
    if (!sample->lines_at || at - sample->lines_at > (at - oldest) / 8) {
        sample->lines_in_window = first_uses_after(sample, oldest, at - oldest - 1);
        sample->lines_at = at;
    }
    return sample->lines_in_window;
}

/* ---- samples ---- */

static void next_stretch(struct rsc_window_sample *sample) {
    if (sample->samples >= SAMPLES_FREE && sample->gap < GAP_LAST) sample->gap = GAP_LAST;
    /* past compares do not count: longer ranges are judged by their cost from now on */
    if (sample->compared > COMPARED_FREE + COMPARED_SHARE * sample->now) {
        sample->compared -= sample->compared / 2;
        sample->gap *= 2;
    }
    sample->sample_at = sample->stretch_end + rsc_rng_below(&sample->rng, sample->gap);
    sample->stretch_end += sample->gap;
}

/* ri: 0 for a first use, in the trace or in the burst. */
static void take_sample(struct rsc_window_sample *sample, uint64_t at, uint64_t ri, uint32_t part, double weight) {
    uint64_t oldest = oldest_for(sample, at);
    size_t bins = (size_t)part * sample->bin_count;
    sample->samples++;
    sample->part_references[part] += weight;
    sample->squares += weight * weight;
    if (!ri) {
        if (sample->bursts) sample->beyond[rsc_bin_of_fine(lines_before(sample, at, oldest))] += weight;
        return;
    }
    int held = ri <= at - oldest;
    uint32_t bin = rsc_bin_of_fine(held ? first_uses_after(sample, at - ri, ri - 1) : lines_before(sample, at, oldest));
    sample->part_ri[bins + rsc_bin_of_fine(ri)] += weight;
    sample->part_rd[bins + bin] += weight;
    if (!held) sample->beyond[bin] += weight;
}

static uint64_t window_for(const struct rsc_window_sample *sample, uint64_t wanted) {
    uint64_t window = sample->window;
    while (window < WINDOW_TIMES * wanted && window < WINDOW_MOST) window *= 2;
    return window;
}

/* A program that reuses the same lines has few lines in many references; longer intervals are undecided. */
static uint64_t window_to_hold(const struct rsc_window_sample *sample, uint64_t window) {
    int full = sample->lines_at >= sample->held_from + sample->window;
    return full && sample->lines_in_window < LINES_HELD && window < WINDOW_HELD ? 2 * window : window;
}

int rsc_window_sample_take(struct rsc_window_sample *sample, const uint64_t *lines, const uint64_t *ri, uint32_t count,
                           uint64_t wanted) {
    uint64_t window = window_to_hold(sample, window_for(sample, wanted));
    int status = 0;
    if (window > sample->window) status = lengthen(sample, window);
    if (status == 0 && sample->now < RSC_SAMPLE_FIRST) {
        uint32_t part = RSC_SAMPLE_FIRST - sample->now < count ? (uint32_t)(RSC_SAMPLE_FIRST - sample->now) : count;
        status = take_first(sample, lines, ri, part);
    }
    if (status < 0) return status;
    for (uint32_t done = 0; done < count;) {
        uint64_t here = sample->now + done;
        if (here >= RSC_SAMPLE_FIRST && here == sample->stretch_end) sample->sample_at = UINT64_MAX;
        if (here >= RSC_SAMPLE_FIRST && sample->sample_at == UINT64_MAX) next_stretch(sample);
        uint64_t event = sample->sample_at >= here ? sample->sample_at : sample->stretch_end;
        if (here < RSC_SAMPLE_FIRST) event = RSC_SAMPLE_FIRST;
        uint32_t stop = event - here < count - done ? done + (uint32_t)(event - here) : count;
        keep_intervals(sample, sample->now + done, ri + done, stop - done);
        done = stop;
        if (done < count && sample->now + done == sample->sample_at) {
            take_sample(sample, sample->sample_at, ri[done], (uint32_t)(sample->samples % RSC_SAMPLE_PARTS),
                        (double)sample->gap);
            sample->sample_at = 0; /* past; the next one when the range ends */
        }
    }
    sample->now += count;
    return 0;
}

/* ---- bursts ---- */

static int begin_period(struct rsc_window_sample *sample, uint64_t here, uint64_t wanted) {
    uint64_t window = window_for(sample, wanted);
    if (window != sample->window || !sample->recent) {
        free(sample->interval);
        free(sample->recent);
        sample->recent_room = 2 * window;
        sample->interval = malloc(window * sizeof *sample->interval);
        sample->recent = calloc(sample->recent_room, sizeof *sample->recent);
        if (!sample->interval || !sample->recent) return RSC_ENOMEM;
        sample->window = window;
    }
    uint64_t every = 1 + sample->bursts / BURSTS_EACH, period = (every < BURST_EVERY ? every : BURST_EVERY) * window;
    sample->burst_from = sample->held_from = here + rsc_rng_below(&sample->rng, period - window + 1);
    sample->period_end = here + period;
    sample->gap = period / BURST_SAMPLES;
    sample->bursts++;
    sample->burst_taken = 0;
    sample->lines_at = 0;
    if (window / 2 < sample->burst_least) sample->burst_least = window / 2;
    sample->sample_at = UINT64_MAX;
    return 0;
}

/* Intervals since the burst began; 0: none. The first of `lines` is reference `here`. */
static void find_recent(struct rsc_window_sample *sample, uint64_t here, const uint64_t *lines, uint32_t count,
                        uint64_t *ri) {
    const uint64_t mask = sample->recent_room - 1, start = sample->burst_from;
    struct rsc_recent_use *recent = sample->recent;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = lines[i], at = rsc_line_hash(line, 0) >> 16 & mask, time = here + i + 1;
        /* not past the block, which may be the end of the trace */
        if (i + RECENT_AHEAD < count)
            __builtin_prefetch(recent + (rsc_line_hash(lines[i + RECENT_AHEAD], 0) >> 16 & mask), 1);
        while (recent[at].time > start && recent[at].line != line) at = (at + 1) & mask;
        ri[i] = recent[at].time > start ? time - recent[at].time : 0;
        recent[at] = (struct rsc_recent_use){line, time};
    }
}

/* The place of the burst's next sample: one in each of equal ranges of its second half. */
static void next_in_burst(struct rsc_window_sample *sample) {
    uint64_t stretch = sample->window / 2 / BURST_SAMPLES;
    sample->sample_at =
        sample->burst_from + sample->window / 2 + sample->burst_taken * stretch + rsc_rng_below(&sample->rng, stretch);
}

/* Processes reference `here` and those that follow, all of the burst. */
static void take_of_burst(struct rsc_window_sample *sample, uint64_t here, const uint64_t *lines, uint32_t count) {
    uint32_t part = (uint32_t)((sample->bursts - 1) % RSC_SAMPLE_PARTS);
    find_recent(sample, here, lines, count, sample->ri_found);
    keep_intervals(sample, here, sample->ri_found, count);
    if (sample->sample_at == UINT64_MAX) next_in_burst(sample);
    while (sample->burst_taken < BURST_SAMPLES && sample->sample_at < here + count) {
        take_sample(sample, sample->sample_at, sample->ri_found[sample->sample_at - here], part, (double)sample->gap);
        sample->burst_taken++;
        next_in_burst(sample);
    }
}

int rsc_window_sample_take_bursts(struct rsc_window_sample *sample, const uint64_t *lines, uint32_t count,
                                  uint64_t wanted) {
    for (uint32_t done = 0; done < count;) {
        uint64_t here = sample->now + done, left = count - done;
        if (!sample->bursts || here == sample->period_end) {
            int status = begin_period(sample, here, wanted);
            if (status < 0) return status;
        }
        uint64_t end = sample->burst_from + sample->window;
        uint64_t until = here < sample->burst_from ? sample->burst_from : here < end ? end : sample->period_end;
        if (until - here < left) left = until - here;
        if (here >= sample->burst_from && here < end) take_of_burst(sample, here, lines + done, (uint32_t)left);
        done += (uint32_t)left;
    }
    sample->now += count;
    return 0;
}
