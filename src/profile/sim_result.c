/* sim_result.c - see sim_result.h. */
#include "profile/sim_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const rsc_cold_start_names[RSC_START_COUNT] = {"cold", "half", "prime", "stitch", "initmr", "warm"};

double rsc_estimate_mpi(const struct rsc_estimate *estimate) { return estimate->per_access ? NAN : estimate->mpi; }

void rsc_estimate_free(struct rsc_estimate *estimate) {
    free(estimate->parts);
    estimate->parts = NULL;
    estimate->part_count = 0;
}

double rsc_sim_mpi(const struct rsc_sim_result *result, const struct rsc_sim_level_result *level) {
    if (result->instructions == RSC_UNKNOWN || !result->instructions) return NAN;
    return (double)rsc_kinds_sum(level->counts.misses) / (double)result->instructions;
}

void rsc_sim_result_free(struct rsc_sim_result *result) {
    free(result->levels);
    for (size_t i = 0; i < result->page_count; i++) free(result->pages[i].tlbs);
    free(result->pages);
    free(result->windows);
    free(result->window_accesses);
    free(result->window_misses);
    memset(result, 0, sizeof *result);
}
