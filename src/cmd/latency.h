/* latency.h - measures how long loads wait for each cache of this machine, and for memory. */
#ifndef RSC_CMD_LATENCY_H
#define RSC_CMD_LATENCY_H

#include <reusescope/error.h>

#include "base/machine.h"

/* Fills in the machine's cycles; takes seconds, and up to 1 GiB of memory. */
int rsc_latency_measure(struct rsc_machine *machine, struct rsc_error *error);

#endif
