/* leads.c - see leads.h. */
#include "loops/model/leads.h"

#include <stdlib.h>

#include <reusescope/error.h>

#define KNOTS_MOST 32u
#define KNOTS_LEAST 4u
#define KEPT (UINT64_C(1) << 18) /* drawing them takes about a millisecond */

int rsc_leads_new(struct rsc_leads **out, uint32_t draws, uint32_t phases, uint32_t threads, uint64_t seed) {
    *out = NULL;
    uint64_t walks = (uint64_t)draws * phases * threads, knots = walks ? KEPT / walks : 0;
    if (knots < KNOTS_LEAST || phases > RSC_LEADS_PHASES) return 0;
    if (knots > KNOTS_MOST) knots = KNOTS_MOST;
    struct rsc_leads *leads = calloc(1, sizeof *leads);
    if (!leads) return RSC_ENOMEM;
    *leads = (struct rsc_leads){.draws = draws, .phases = phases, .threads = threads, .seed = seed};
    pthread_mutex_init(&leads->lock, NULL);
    leads->knots = (uint32_t)knots;
    leads->ready = calloc((size_t)draws * phases, sizeof *leads->ready);
    leads->walk = malloc(walks * knots * sizeof *leads->walk);
    if (!leads->ready || !leads->walk) {
        rsc_leads_free(leads);
        return RSC_ENOMEM;
    }
    *out = leads;
    return 0;
}

void rsc_leads_free(struct rsc_leads *leads) {
    if (!leads) return;
    pthread_mutex_destroy(&leads->lock);
    free(leads->ready);
    free(leads->walk);
    free(leads);
}

static void draw_walks(struct rsc_leads *leads, size_t which, const float *normal) {
    pthread_mutex_lock(&leads->lock);
    struct rsc_chance chance = {.normal = normal};
    float *walk = leads->walk + which * leads->threads * leads->knots;
    rsc_rng_seed(&chance.rng, leads->seed + which, 65);
    for (uint32_t t = 0; t < leads->threads && !leads->ready[which]; t++) {
        double at = 0;
        for (uint32_t k = 0; k < leads->knots; k++) *walk++ = (float)(at += chance_normal(&chance));
    }
    atomic_store_explicit(&leads->ready[which], 1, memory_order_release);
    pthread_mutex_unlock(&leads->lock);
}

double rsc_leads_at(struct rsc_leads *leads, uint32_t draw, uint32_t phase, uint32_t thread, double variance,
                    double most, struct rsc_chance *chance) {
    size_t which = (size_t)draw * leads->phases + phase;
    if (!atomic_load_explicit(&leads->ready[which], memory_order_acquire)) draw_walks(leads, which, chance->normal);
    const float *walk = leads->walk + (which * leads->threads + thread) * leads->knots;
    double step = most / leads->knots, at = most > 0 ? variance / step : 0;
    if (at >= leads->knots) /* behind the end: a walk from there on */
        return sqrt(step) * walk[leads->knots - 1] + sqrt(fmax(variance - most, 0)) * chance_normal(chance);
    uint32_t k = (uint32_t)at;
    double into = at - k, before = k ? walk[k - 1] : 0;
    return sqrt(step) * (before + into * (walk[k] - before) + sqrt(into * (1 - into)) * chance_normal(chance));
}
