/* sim_json.h - the result of a simulation as JSON: docs/schema/sim.schema.json. */
#ifndef RSC_SIMULATE_SIM_JSON_H
#define RSC_SIMULATE_SIM_JSON_H

#include "base/json_writer.h"
#include "simulate/simulator.h"

/* The whole document. *text belongs to the caller. */
int rsc_sim_json(const struct rsc_sim_result *result, char **text, size_t *bytes, struct rsc_error *error);

/* The same with more keys at the end of the document: `put` writes them. */
int rsc_sim_json_with(const struct rsc_sim_result *result, void (*put)(struct rsc_json *json, const void *user),
                      const void *user, char **text, size_t *bytes, struct rsc_error *error);

#endif
