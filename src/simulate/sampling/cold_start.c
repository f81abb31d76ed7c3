/* cold_start.c - see cold_start.h. */
#include "simulate/sampling/cold_start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Used when the interval does not give the dead fraction (paper 001, table 6). */
#define DEAD_ASSUMED 0.7
#define GENERATIONS_LEAST 10u

int rsc_cold_watch_init(struct rsc_cold_watch *watch, const struct rsc_cache_config *config, struct rsc_error *error) {
    const uint64_t sets = rsc_cache_sets(config);
    *watch = (struct rsc_cold_watch){.sets = sets, .ways = config->ways, .writes_pass = config->no_write_allocate};
    watch->loaded = malloc(sets * sizeof *watch->loaded);
    watch->primed = malloc(sets);
    watch->recent = malloc(sets * sizeof *watch->recent);
    if (!watch->loaded || !watch->primed || !watch->recent) {
        rsc_cold_watch_free(watch);
        return rsc_fail_memory(error, "cold-start counts");
    }
    rsc_cold_watch_begin(watch);
    return 0;
}

void rsc_cold_watch_free(struct rsc_cold_watch *watch) {
    free(watch->loaded);
    free(watch->primed);
    free(watch->recent);
    *watch = (struct rsc_cold_watch){0};
}

void rsc_cold_watch_begin(struct rsc_cold_watch *watch) {
    memset(watch->loaded, 0, watch->sets * sizeof *watch->loaded);
    memset(watch->primed, 0, watch->sets);
    watch->counts = (struct rsc_cold_counts){.frames = watch->sets * watch->ways, .ways = watch->ways};
}

void rsc_cold_watch_seen(void *user, const struct rsc_cache_seen *seen) {
    struct rsc_cold_watch *watch = user;
    struct rsc_cold_counts *counts = &watch->counts;
    uint32_t *loaded = &watch->loaded[seen->set];
    /* A set that was full once counts as full even after invalidations: its past is known. */
    int full = *loaded == watch->ways;
    if (!seen->write_back) {
        counts->references++;
        counts->misses += !seen->hit;
        counts->cold_misses += !seen->hit && !full;
        if (watch->primed[seen->set]) {
            counts->prime_references++;
            counts->prime_misses += !seen->hit;
        }
    }
    if (full && seen->block != watch->recent[seen->set]) watch->primed[seen->set] = 1;
    watch->recent[seen->set] = seen->block;
    if (!seen->hit && !full && !seen->evicted && !(watch->writes_pass && seen->kind == RSC_WRITE)) {
        ++*loaded;
        counts->loaded++;
        if (watch->ways == 1) watch->primed[seen->set] = 1;
    }
    if (seen->evicted) {
        counts->generations++;
        counts->dead += (double)(seen->now - seen->gone.last);
        counts->lifetime += (double)(seen->now - seen->gone.fill);
    }
}

void rsc_cold_counts_add(struct rsc_cold_counts *sum, const struct rsc_cold_counts *more) {
    sum->frames += more->frames;
    sum->loaded += more->loaded;
    sum->references += more->references;
    sum->misses += more->misses;
    sum->cold_misses += more->cold_misses;
    sum->prime_references += more->prime_references;
    sum->prime_misses += more->prime_misses;
    sum->generations += more->generations;
    sum->dead += more->dead;
    sum->lifetime += more->lifetime;
    sum->ways = more->ways;
}

double rsc_initmr_mu(const struct rsc_cold_counts *counts, double *dead_fraction, int *assumed) {
    int guess = counts->generations < GENERATIONS_LEAST || !(counts->lifetime > 0);
    double d = guess ? DEAD_ASSUMED : counts->dead / counts->lifetime;
    double f = counts->frames ? (double)counts->loaded / (double)counts->frames : 0;
    double last = f > 0 ? (d - (1 - f)) / f : 0;
    if (dead_fraction) *dead_fraction = d;
    if (assumed) *assumed = guess;
    return (d + (last > 0 ? last : 0)) / 2;
}

double rsc_cold_start_misses(const struct rsc_cold_counts *counts, enum rsc_cold_start method) {
    const double cold = (double)counts->cold_misses, misses = (double)counts->misses;
    switch (method) {
    case RSC_START_PRIME:
        if (!counts->prime_references) return NAN;
        return (double)counts->prime_misses / (double)counts->prime_references * (double)counts->references;
    case RSC_START_INITMR: return misses - cold + rsc_initmr_mu(counts, NULL, NULL) * cold;
    default: return misses;
    }
}

/* The fraction of frames loaded: E[min(P, ways)] / ways for a Poisson number P of misses to a set, `each` per frame on
 * average. */
static double loaded_part(double each, uint32_t ways) {
    double mean = each * ways, p = exp(-mean), below = 0, sum = 0;
    if (ways > 256) return each < 1 ? each : 1; /* the number hardly varies */
    for (uint32_t k = 0; k < ways; k++) {
        below += p;
        sum += k * p;
        p *= mean / (k + 1);
    }
    return (sum + ways * (1 - below)) / ways;
}

/* Misses per frame at which half of all misses are to full sets: the x > 0 with x = 2 loaded_part(x). */
static double misses_needed(uint32_t ways) {
    double x = 2;
    for (int i = 0; i < 60; i++) x = 2 * loaded_part(x, ways);
    return x;
}

void rsc_cold_conditions(const struct rsc_cold_counts *counts, struct rsc_cold_conditions *out) {
    out->half_loaded = counts->loaded >= (counts->frames + 1) / 2;
    out->mostly_full = counts->misses - counts->cold_misses >= counts->cold_misses && counts->misses;
    out->length_factor = 1;
    if (out->half_loaded && out->mostly_full) return;
    /* Without write-backs every miss loads a frame; frames loaded by write-backs count like misses. */
    double fills = (double)(counts->misses - counts->cold_misses) +
                   (double)(counts->loaded > counts->cold_misses ? counts->loaded : counts->cold_misses);
    out->length_factor = fills > 0 ? misses_needed(counts->ways) * (double)counts->frames / fills : INFINITY;
    if (out->length_factor < 1) out->length_factor = 1;
}
