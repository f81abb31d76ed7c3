/* sim_text.h - the result of a simulation for people. */
#ifndef RSC_CMD_SIM_TEXT_H
#define RSC_CMD_SIM_TEXT_H

#include "simulate/simulator.h"

/* *text belongs to the caller. */
int rsc_sim_text(const struct rsc_sim_result *result, char **text, size_t *bytes, struct rsc_error *error);

#endif
