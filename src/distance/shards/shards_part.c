/* shards_part.c - see shards_part.h. */
#include "distance/shards/shards_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "profile/profile_model.h"

#define CHUNK 4096u /* accesses filtered at a time: their columns stay in L1 */

struct rsc_shards_part *rsc_shards_part_new(const struct rsc_line_filter *filter) {
    struct rsc_shards_part *part = calloc(1, sizeof *part);
    if (part) part->filter = *filter;
    return part;
}

void rsc_shards_part_free(struct rsc_shards_part *part) {
    if (!part) return;
    free(part->kept.line);
    free(part->kept.hash);
    free(part->kept.time);
    free(part->kept.from);
    free(part->threads);
    free(part);
}

void rsc_shards_part_begin(struct rsc_shards_part *part) {
    part->filter.references = 0;
    part->kept.count = 0;
    part->thread_count = 0;
    part->threads_seen = 0;
}

static int wider(void **column, uint32_t room, size_t bytes) {
    void *larger = realloc(*column, room * bytes);
    if (!larger) return RSC_ENOMEM;
    *column = larger;
    return 0;
}

static int grow(struct rsc_shards_part *part) {
    struct rsc_kept *kept = &part->kept;
    uint32_t room = kept->room ? 2 * kept->room : 16 * RSC_KEPT_ROOM_LEAST;
    if (wider((void **)&kept->line, room, sizeof *kept->line) < 0 ||
        wider((void **)&kept->hash, room, sizeof *kept->hash) < 0 ||
        wider((void **)&kept->time, room, sizeof *kept->time) < 0 ||
        wider((void **)&kept->from, room, sizeof *kept->from) < 0)
        return RSC_ENOMEM;
    kept->room = room;
    return 0;
}

/* Adds to a thread's references. */
static int count_thread(struct rsc_shards_part *part, uint64_t number, uint64_t references) {
    if (number + 1 > part->threads_seen) part->threads_seen = number + 1;
    if (number >= RSC_THREAD_ROWS_MAX) return 0;
    if (number >= part->thread_count) {
        if (RSC_GROW(part->threads, part->thread_room, number + 1)) return RSC_ENOMEM;
        memset(part->threads + part->thread_count, 0, (number + 1 - part->thread_count) * sizeof *part->threads);
        part->thread_count = (uint32_t)number + 1;
    }
    part->threads[number] += references;
    return 0;
}

/* The same access by access, where threads alternate. */
static int count_threads(struct rsc_shards_part *part, const struct rsc_batch *batch, uint32_t first, uint32_t stop) {
    uint32_t shift = part->filter.line_shift;
    int status = 0;
    for (uint32_t i = first; i < stop && !status; i++) {
        uint32_t size = rsc_meta_size(batch->meta[i]);
        uint64_t addr = batch->addr[i], end = addr + (size ? size - 1 : 0);
        if (end < addr) end = UINT64_MAX;
        status = count_thread(part, rsc_meta_thread(batch->meta[i]), (end >> shift) - (addr >> shift) + 1);
    }
    return status;
}

int rsc_shards_part_take(struct rsc_shards_part *part, const struct rsc_batch *batch) {
    struct rsc_line_filter *filter = &part->filter;
    struct rsc_kept *kept = &part->kept;
    for (uint32_t first = 0; first < batch->count;) {
        uint32_t stop = batch->count - first < CHUNK ? batch->count : first + CHUNK, at = first;
        uint64_t before = filter->references;
        filter->meta_any = 0;
        filter->meta_all = UINT64_MAX;
        while (at < stop) {
            uint32_t had = kept->count;
            if (kept->room - kept->count < RSC_KEPT_ROOM_LEAST && grow(part) < 0) return RSC_ENOMEM;
            at = rsc_line_filter_run(filter, batch->addr, batch->meta, at, stop, kept);
            for (uint32_t i = had; i < kept->count; i++) kept->from[i] = rsc_meta_thread(batch->meta[kept->from[i]]);
        }
        int one = filter->meta_any >> 40 == filter->meta_all >> 40;
        int status = one ? count_thread(part, filter->meta_any >> 40, filter->references - before)
                         : count_threads(part, batch, first, stop);
        if (status < 0) return status;
        if (rsc_line_filter_left_out(filter)) return RSC_ELIMIT;
        first = stop;
    }
    return 0;
}
