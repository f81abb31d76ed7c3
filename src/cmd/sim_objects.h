/* sim_objects.h - the part of `sim` that simulates caches of whole objects: --requests. */
#ifndef RSC_CMD_SIM_OBJECTS_H
#define RSC_CMD_SIM_OBJECTS_H

#include "cmd/session.h"
#include "simulate/objects/object_simulator.h"

struct rsc_sim_objects {
    struct rsc_object_options options;
    int wanted;        /* --requests was given */
    int policy_given;
};

/* --requests SIZES and --policy NAMES. Return -1 to go on, or the exit status. */
int rsc_sim_objects_sizes(struct rsc_sim_objects *objects, const struct rsc_option_parser *parser);
int rsc_sim_objects_policies(struct rsc_sim_objects *objects, const struct rsc_option_parser *parser);

/* Simulates a trace and delivers the result. Prints errors; returns the exit status. */
int rsc_sim_objects_run(struct rsc_sim_objects *objects, struct rsc_session *session, const char *path);

#endif
