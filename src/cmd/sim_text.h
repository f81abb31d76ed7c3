/* sim_text.h - the result of a simulation for people. */
#ifndef RSC_CMD_SIM_TEXT_H
#define RSC_CMD_SIM_TEXT_H

#include "simulate/simulator.h"

struct rsc_sim_blame;

/* How it is said. Zero is the default. */
struct rsc_sim_text_style {
    int per_reference;                 /* misses per thousand references although instructions are known */
    const struct rsc_sim_blame *blame; /* code and objects, or NULL */
};

/* *text belongs to the caller. style may be NULL. */
int rsc_sim_text(const struct rsc_sim_result *result, char **text, size_t *bytes, struct rsc_error *error);
int rsc_sim_text_with(const struct rsc_sim_result *result, const struct rsc_sim_text_style *style, char **text,
                      size_t *bytes, struct rsc_error *error);

#endif
