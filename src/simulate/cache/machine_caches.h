/*
 * machine_caches.h - the caches of a machine by its name.
 *
 * "this" is the current machine, as the kernel describes it. Any other name is a file: NAME
 * itself if it has a slash, else NAME.caches in the folder REUSESCOPE_MACHINES, in
 * ~/.config/reusescope/machines, or among those installed with the tool. Each line is a
 * cache, "l1d 32K,8,64,lru", or "latencies published l1d=4 l2=12 memory=280": the cycles that a
 * load waits for each cache and for memory, published or measured. # starts a comment.
 */
#ifndef RSC_SIMULATE_CACHE_MACHINE_CACHES_H
#define RSC_SIMULATE_CACHE_MACHINE_CACHES_H

#include "base/machine.h"
#include "simulate/cache/cache_config.h"

/* Adds the caches of a machine. `installed` is the folder of machines installed with the tool, or NULL. */
int rsc_machine_caches_add(struct rsc_sim_config *config, const char *name, const char *installed,
                           struct rsc_error *error);

/* The same for "this", from the folder `root` (NULL: sysfs). */
int rsc_machine_caches_add_this(struct rsc_sim_config *config, const char *root, struct rsc_error *error);

/* The data caches and latencies of a machine, for reports; a file without latencies has typical ones. */
int rsc_machine_named(struct rsc_machine *machine, const char *name, const char *installed, struct rsc_error *error);

#endif
