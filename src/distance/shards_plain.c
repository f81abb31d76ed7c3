/* shards_plain.c - shards_kernel.h for any machine. */
#include "distance/shards_kernel.h"

int rsc_shards_take_plain(struct rsc_shards *shards, const uint64_t *meta) { return take_kernel(shards, meta); }
