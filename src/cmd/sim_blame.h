/*
 * sim_blame.h - counts misses by instruction and by object in memory, for each primary
 * cache of a simulation.
 */
#ifndef RSC_CMD_SIM_BLAME_H
#define RSC_CMD_SIM_BLAME_H

#include "cmd/session.h"
#include "distance/count/call_paths.h"
#include "distance/count/objects.h"
#include "simulate/simulator.h"

#define RSC_BLAME_ROWS 256 /* most rows reported of each kind: those with the most misses in the last level */

struct rsc_blame_table {
    struct rsc_u64_table row_of; /* key to row + 1 */
    struct rsc_sim_blame_row *rows;  /* owned */
    size_t count, room;
};

struct rsc_sim_blame {
    int wanted;
    struct rsc_blame_table code, things;
    struct rsc_call_paths paths;
    struct rsc_objects objects;
    uint32_t next_event; /* of the batch being pushed */
    int has_pcs, status;
};

int rsc_blame_open(struct rsc_sim_blame *blame, struct rsc_error *error);
void rsc_blame_close(struct rsc_sim_blame *blame);

/* Around the push of a batch. */
void rsc_blame_begin(struct rsc_sim_blame *blame);
void rsc_blame_end(struct rsc_sim_blame *blame, const struct rsc_batch *batch);

/* A miss at a level, as rsc_sim_options.missed. */
void rsc_blame_missed(struct rsc_sim_blame *blame, const struct rsc_batch *batch, int level,
                      const struct rsc_request *request);

/* Ranks and names rows, and lets the result point at them: it must not outlive them. */
int rsc_blame_finish(struct rsc_sim_blame *blame, struct rsc_session *session, struct rsc_sim_result *result,
                     struct rsc_error *error);

#endif
