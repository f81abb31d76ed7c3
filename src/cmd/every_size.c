/* every_size.c - see every_size.h. */
#include "cmd/every_size.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "distance/count/accumulate.h"

static int grow(struct rsc_every_size *every, uint64_t distance) {
    uint64_t room = every->room ? every->room : 1024;
    while (room <= distance) room *= 2;
    uint64_t *larger = realloc(every->count, room * sizeof *larger);
    if (!larger) return RSC_ENOMEM;
    memset(larger + every->room, 0, (room - every->room) * sizeof *larger);
    every->count = larger;
    every->room = room;
    return 0;
}

static int count_block(void *context, const struct rsc_distance_block *block) {
    struct rsc_every_size *every = context;
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t distance = block->rd[i];
        if (distance >= RSC_RD_INVALIDATED) continue; /* that, or cold */
        if (distance >= every->room && grow(every, distance) < 0) return RSC_ENOMEM;
        every->count[distance]++;
    }
    return 0;
}

int rsc_every_size_start(struct rsc_analysis *analysis, struct rsc_error *error) {
    if (!analysis->every_size) return 0;
    analysis->every = calloc(analysis->count, sizeof *analysis->every);
    if (!analysis->every) return rsc_fail_memory(error, "distances");
    for (size_t i = 0; i < analysis->count; i++)
        if (rsc_engine_watch(analysis->engines[i], &(struct rsc_distance_watch){count_block, &analysis->every[i]}) < 0)
            return rsc_fail(error, RSC_EINVAL,
                            "--every-size needs the exact or parallel engine: the %s engine has no single distances",
                            analysis->spec.kind->name);
    return 0;
}

int rsc_every_size_finish(struct rsc_analysis *analysis, struct rsc_error *error) {
    for (size_t i = 0; analysis->every && i < analysis->count; i++)
        if (rsc_profile_derive_every_size(analysis->profiles[i], analysis->every[i].count, analysis->every[i].room) < 0)
            return rsc_fail_memory(error, "miss ratio curve");
    return 0;
}

void rsc_every_size_free(struct rsc_analysis *analysis) {
    for (size_t i = 0; analysis->every && i < analysis->count; i++) free(analysis->every[i].count);
    free(analysis->every);
    analysis->every = NULL;
}
