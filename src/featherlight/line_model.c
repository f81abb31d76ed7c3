/* line_model.c - see line_model.h. */
#include "featherlight/line_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int rsc_line_model_init(struct rsc_lines *lines, size_t watches) {
    memset(lines, 0, sizeof *lines);
    lines->steps = malloc((watches + 1) * sizeof *lines->steps);
    return lines->steps ? 0 : RSC_ENOMEM;
}

void rsc_line_model_free(struct rsc_lines *lines) {
    free(lines->steps);
    memset(lines, 0, sizeof *lines);
}

/* Iterates over the reuses of an estimate by interval. */
struct walk {
    const struct rsc_weighed *of;
    size_t at;
    double above; /* references with longer intervals, or none */
};

static const struct rsc_watched *next_of(struct walk *walk) {
    const struct rsc_estimator *estimator = &walk->of->group->estimator;
    for (; walk->at < estimator->watched; walk->at++) {
        uint32_t index = estimator->by_interval[walk->at];
        if (estimator->samples[index].ending == RSC_WATCH_REUSED && walk->of->weight[index] > 0)
            return &estimator->samples[index];
    }
    return NULL;
}

/* Takes all reuses at this interval. */
static void pass(struct walk *walk, uint64_t interval) {
    const struct rsc_watched *sample;
    while ((sample = next_of(walk)) && sample->interval <= interval) {
        walk->above -= walk->of->weight[walk->of->group->estimator.by_interval[walk->at++]];
        if (walk->above < 0) walk->above = 0;
    }
}

static double known_of(const struct rsc_weighed *weighed) {
    return weighed->estimate.reused + weighed->estimate.unused;
}

/* The next interval of any reuse; 0: none. */
static uint64_t next_interval(struct walk *walks) {
    uint64_t next = 0;
    for (uint32_t i = 0; i < RSC_WATCH_LINE_SHAPES; i++) {
        const struct rsc_watched *sample = next_of(&walks[i]);
        if (sample && (!next || sample->interval < next)) next = sample->interval;
    }
    return next;
}

void rsc_line_model_join(struct rsc_lines *lines, const struct rsc_weighed shapes[RSC_WATCH_LINE_SHAPES],
                         double power) {
    struct walk walks[RSC_WATCH_LINE_SHAPES];
    double all = (double)shapes[0].group->references, left = all, within = 0, s[RSC_WATCH_LINE_SHAPES];
    uint64_t at = 1, interval;
    lines->count = 0;
    lines->reused = lines->unused = 0;
    lines->censored = all;
    for (uint32_t i = 0; i < RSC_WATCH_LINE_SHAPES; i++) {
        walks[i] = (struct walk){&shapes[i], 0, known_of(&shapes[i])};
        if (!(walks[i].above > 0)) return;
    }
    while ((interval = next_interval(walks))) {
        for (uint32_t i = 0; i < RSC_WATCH_LINE_SHAPES; i++) {
            pass(&walks[i], interval);
            s[i] = walks[i].above / known_of(&shapes[i]);
            if (s[i] > s[0]) s[i] = s[0]; /* by chance: no more can be used later */
        }
        double line = s[0] > 0 ? s[1] * pow(s[2] / s[0], power) : 0;
        within += (double)(interval - at) * left / all;
        at = interval;
        if (!(all * line < left)) continue; /* by chance: a longer interval is not more likely */
        lines->steps[lines->count++] = (struct rsc_line_step){interval, left - all * line, within};
        left = all * line;
    }
    lines->unused = left;
    lines->reused = all - left;
    lines->censored = 0;
}

void rsc_line_model_distances(const struct rsc_lines *lines, struct rsc_watch_group *group) {
    const struct rsc_estimator *estimator = &group->estimator;
    double left = lines->reused + lines->unused, all = left, within = 0;
    uint64_t at = 1;
    size_t step = 0;
    for (size_t i = 0; i < estimator->watched; i++) {
        const struct rsc_watched *sample = &estimator->samples[estimator->by_interval[i]];
        if (sample->ending != RSC_WATCH_REUSED) continue;
        for (; step < lines->count && lines->steps[step].interval < sample->interval; step++) {
            within = lines->steps[step].distance;
            at = lines->steps[step].interval;
            left -= lines->steps[step].references;
        }
        group->distance[estimator->by_interval[i]] =
            all > 0 ? within + (double)(sample->interval - at) * fmax(left, 0) / all : 0;
    }
}
