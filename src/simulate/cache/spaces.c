/* spaces.c - see spaces.h. */
#include "simulate/cache/spaces.h"

#include <stdlib.h>

int rsc_spaces_init(struct rsc_spaces *spaces) {
    *spaces = (struct rsc_spaces){.pids = calloc(RSC_SPACES_MAX, sizeof *spaces->pids)};
    return spaces->pids ? 0 : RSC_ENOMEM;
}

void rsc_spaces_free(struct rsc_spaces *spaces) {
    free(spaces->pids);
    *spaces = (struct rsc_spaces){0};
}

int rsc_spaces_address(struct rsc_spaces *spaces, const struct rsc_batch *batch, uint32_t access, uint64_t *addr) {
    uint32_t thread = rsc_meta_thread(batch->meta[access]);
    uint64_t pid = batch->threads && thread < batch->thread_count ? batch->threads[thread].pid : 0;
    if (!spaces->count || spaces->pids[spaces->last] != pid) {
        uint32_t space = 0;
        while (space < spaces->count && spaces->pids[space] != pid) space++;
        if (space == RSC_SPACES_MAX) return RSC_ELIMIT;
        if (space == spaces->count) spaces->pids[spaces->count++] = pid;
        spaces->last = space;
    }
    *addr = (batch->addr[access] & RSC_SPACE_MASK) | (uint64_t)spaces->last << RSC_SPACE_SHIFT;
    return 0;
}
