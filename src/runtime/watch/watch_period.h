/* watch_period.h - adjusts a thread's sampling period to the rate that was asked for, by its processor time. */
#ifndef RSC_RUNTIME_WATCH_WATCH_PERIOD_H
#define RSC_RUNTIME_WATCH_WATCH_PERIOD_H

#include <stdint.h>

#define RSC_PERIOD_LEAST 1024u
#define RSC_PERIOD_MOST (1ull << 40)
#define RSC_PERIOD_EVERY 8u /* samples */
#define RSC_PERIOD_TIMES 8.0 /* change at once, at most */

/* Samples since the last change, and when that was. */
struct rsc_watch_pace {
    uint64_t samples, since_ns; /* 0: not begun */
};

/*
 * One more sample at this processor time of its thread: the period from now on. It changes every few samples, or
 * sooner if these take much longer than they should.
 */
static inline uint64_t rsc_watch_pace_sample(struct rsc_watch_pace *pace, uint64_t now_ns, uint64_t rate,
                                             uint64_t period) {
    if (!pace->since_ns) pace->since_ns = now_ns;
    double took = (double)(now_ns - pace->since_ns), each = 1e9 / (double)rate;
    uint64_t samples = ++pace->samples;
    if (samples < RSC_PERIOD_EVERY && took < 2 * RSC_PERIOD_EVERY * each) return period;
    double times = (double)samples * each / (took + 1);
    times = times > RSC_PERIOD_TIMES ? RSC_PERIOD_TIMES : times < 1 / RSC_PERIOD_TIMES ? 1 / RSC_PERIOD_TIMES : times;
    double next = (double)period * times;
    *pace = (struct rsc_watch_pace){0, now_ns};
    return next<RSC_PERIOD_LEAST ? RSC_PERIOD_LEAST : next>(double) RSC_PERIOD_MOST ? RSC_PERIOD_MOST : (uint64_t)next;
}

#endif
