/*
 * shares.h - which accesses of which traces a rank of an MPI job reads.
 *
 * The concatenated traces form one long trace; each rank reads a consecutive part, in
 * rank order. With at least as many traces as ranks, each rank reads whole traces and
 * does not need access to the others. With fewer, the long trace is cut evenly by number
 * of accesses; then all must be native traces in seekable files.
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
 * Finds the shares of this rank. Sets ranks->own_traces. Rejects traces that cannot be
 * cut, and options that would give other results on parts.
 */
int rsc_shares_plan(struct rsc_shares *shares, struct rsc_session *session, struct rsc_ranks *ranks,
                    const char *const *paths, size_t path_count, struct rsc_error *error);
void rsc_shares_free(struct rsc_shares *shares);

#endif
