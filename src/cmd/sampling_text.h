/* sampling_text.h - the result of a sampled simulation for people, and what to warn of. */
#ifndef RSC_CMD_SAMPLING_TEXT_H
#define RSC_CMD_SAMPLING_TEXT_H

#include "simulate/sampling/sim_estimate.h"
#include "simulate/simulator.h"

struct rsc_sampling_shown {
    uint64_t accesses;  /* of the whole trace, RSC_UNKNOWN where it does not say */
    uint64_t simulated; /* accesses, or parts of them */
    int sets;
};

/* *text belongs to the caller. Every row of the result has an estimate. */
int rsc_sampling_text(const struct rsc_sim_result *result, const struct rsc_sampling_shown *shown, char **text,
                      size_t *bytes, struct rsc_error *error);

/* Hot sets, samples too small for their intervals to be trusted, intervals too short. */
void rsc_sampling_warn(const struct rsc_log *log, const struct rsc_sim_result *result);

#endif
