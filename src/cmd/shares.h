/*
 * shares.h - which accesses of which traces a rank of an MPI job reads.
 *
 * The traces, one after the other, are one long trace; ranks have consecutive parts of
 * it, in order. With as many traces as ranks, or more, each rank reads whole ones and
 * need not even see the others. With fewer, all are cut evenly by number of accesses,
 * for which they must be native traces in files that can be sought in.
 */
#ifndef RSC_CMD_SHARES_H
#define RSC_CMD_SHARES_H

#include "cmd/session.h"
#include "distance/ranks/ranks.h"

/* Accesses first .. first+count-1 of a trace. */
struct rsc_share {
    const char *path;
    uint64_t first, count; /* count UINT64_MAX: to the end */
};

struct rsc_shares {
    struct rsc_share *items; /* owned */
    size_t count;
};

/*
 * The shares of this rank. Sets ranks->own_traces. Refuses what cannot be cut, and
 * options that would mean something else in parts.
 */
int rsc_shares_plan(struct rsc_shares *shares, struct rsc_session *session, struct rsc_ranks *ranks,
                    const char *const *paths, size_t path_count, struct rsc_error *error);
void rsc_shares_free(struct rsc_shares *shares);

#endif
