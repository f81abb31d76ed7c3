/*
 * leads.h - how far each thread is ahead of the common clock, drawn for whole phases.
 *
 * Who is ahead lasts: in one run of a program it decides the fate of many references alike, and another run has other
 * leads. So the references looked at are divided among a few draws, and those of one draw agree on who is ahead. What
 * the draws differ by is what runs differ by.
 *
 * A lead is a random walk. Each draw keeps it at a few times of each phase; between them it is drawn anew for every
 * reference, as a walk between two known ends.
 *
 * Several threads may ask at the same time.
 */
#ifndef RSC_LOOPS_MODEL_LEADS_H
#define RSC_LOOPS_MODEL_LEADS_H

#include <pthread.h>
#include <stdatomic.h>

#include "loops/model/chance.h"

struct rsc_leads {
    uint32_t draws, phases, threads, knots;
    uint64_t seed;
    pthread_mutex_t lock; /* of walks that are being drawn */
    _Atomic uint8_t *ready; /* [draws][phases] */
    float *walk; /* [draws][phases][threads][knots]: at equal steps of its variance, in steps' standard deviations */
};

#define RSC_LEADS_PHASES 64u /* more phases even out */

/* NULL in *out: there are too many threads and phases to keep. Returns 0 or RSC_ENOMEM. */
int rsc_leads_new(struct rsc_leads **out, uint32_t draws, uint32_t phases, uint32_t threads, uint64_t seed);
void rsc_leads_free(struct rsc_leads *leads);

/* A thread's lead when its variance is `variance`, which at the end of the phase is `most`. */
double rsc_leads_at(struct rsc_leads *leads, uint32_t draw, uint32_t phase, uint32_t thread, double variance,
                    double most, struct rsc_chance *chance);

#endif
