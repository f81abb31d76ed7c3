/*
 * watch_paths.h - the call paths of sampled pairs as one tree, and the file mappings:
 * what a profile needs to name them.
 */
#ifndef RSC_COLLECT_PERF_WATCH_PATHS_H
#define RSC_COLLECT_PERF_WATCH_PATHS_H

#include <stdint.h>

#include "collect/drain/guest_maps.h"

struct rsc_profile;
struct rsc_watch_paths;

struct rsc_watch_paths *rsc_watch_paths_new(void);
void rsc_watch_paths_free(struct rsc_watch_paths *paths);

/*
 * Adds the path of `count` return addresses, innermost first, in the process whose bits
 * are `space`, and gives its number in the profile's contexts: RSC_NO_CONTEXT for none
 * or when the tree is full. Returns 0 or RSC_ENOMEM.
 */
int rsc_watch_paths_add(struct rsc_watch_paths *paths, uint64_t space, const uint64_t *frames, uint32_t count,
                        uint32_t *path);

/* Adds a region to which a file was mapped; guest_maps.h bounds how many there are. */
int rsc_watch_paths_mapped(struct rsc_watch_paths *paths, const struct rsc_guest_map *map, uint64_t space);

/* Fills contexts and mappings of a profile that is not sealed. Returns 0 or RSC_ENOMEM. */
int rsc_watch_paths_fill(const struct rsc_watch_paths *paths, struct rsc_profile *profile);

#endif
