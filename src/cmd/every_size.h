/* every_size.h - the miss ratio curve at every cache size (--every-size): distances counted one by one. */
#ifndef RSC_CMD_EVERY_SIZE_H
#define RSC_CMD_EVERY_SIZE_H

#include "cmd/analysis.h"

/* The distances that one engine found: 8 bytes per line of the largest. */
struct rsc_every_size {
    uint64_t *count; /* by distance; owned */
    uint64_t room;
};

/* Has the analysis's engines count; call after they are made. RSC_EINVAL: an engine that cannot. */
int rsc_every_size_start(struct rsc_analysis *analysis, struct rsc_error *error);

/* Gives the finished profiles their curves. */
int rsc_every_size_finish(struct rsc_analysis *analysis, struct rsc_error *error);

void rsc_every_size_free(struct rsc_analysis *analysis);

#endif
