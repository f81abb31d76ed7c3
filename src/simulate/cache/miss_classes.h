/*
 * miss_classes.h - why a cache missed.
 *
 * Beside a cache runs a *shadow*: a fully associative LRU cache of the same number of
 * blocks that sees the same requests. A miss is
 *
 *   cold       the block was never requested before
 *   coherence  the block was there and another thread's write invalidated it
 *   capacity   the shadow does not have it either
 *   conflict   the shadow has it
 *
 * tested in this order (Hill's three, and Dubois' fourth). Policies other than LRU
 * can hit where the shadow misses; only their misses are classified.
 */
#ifndef RSC_SIMULATE_CACHE_MISS_CLASSES_H
#define RSC_SIMULATE_CACHE_MISS_CLASSES_H

#include <stdint.h>

#include "base/u64_table.h"

enum rsc_miss_class { RSC_MISS_COLD, RSC_MISS_COHERENCE, RSC_MISS_CAPACITY, RSC_MISS_CONFLICT };

struct rsc_shadow {
    struct rsc_u64_table blocks; /* block to frame + 1 << 2 | lost << 1 | seen */
    uint64_t capacity;           /* in blocks */
    struct rsc_shadow_frame *frames; /* owned; a list in order of use */
    uint64_t used, room;
    uint64_t newest, oldest; /* frames; meaningless while used is 0 */
};

struct rsc_shadow_frame {
    uint64_t block;
    uint64_t newer, older; /* frames */
};

/* Returns 0 or RSC_ENOMEM; a zeroed shadow may be freed. */
int rsc_shadow_init(struct rsc_shadow *shadow, uint64_t capacity);
void rsc_shadow_free(struct rsc_shadow *shadow);
void rsc_shadow_empty(struct rsc_shadow *shadow);

/* Records a request. Returns the enum rsc_miss_class that a miss would have, or RSC_ENOMEM. `allocates`: the block is
 * inserted. */
int rsc_shadow_access(struct rsc_shadow *shadow, uint64_t block, int allocates);

/* Another thread's write invalidated the block. */
void rsc_shadow_lose(struct rsc_shadow *shadow, uint64_t block);

#endif
