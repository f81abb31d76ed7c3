/* gpu_part.c - see gpu_part.h. */
#include "distance/gpu/gpu_part.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "distance/count/accumulate.h"
#include "trace/references.h"

#define MOST 4096u /* references cut at a time */

struct rsc_gpu_part *rsc_gpu_part_new(const struct rsc_gpu_feed *feed) {
    struct rsc_gpu_part *part = calloc(1, sizeof *part);
    if (part) part->feed = feed;
    return part;
}

void rsc_gpu_part_free(struct rsc_gpu_part *part) {
    if (part) free(part->filled);
    free(part);
}

void rsc_gpu_part_begin(struct rsc_gpu_part *part) {
    part->filled_count = 0;
    part->threads_seen = 0;
    part->kinds_seen = 0;
}

void rsc_gpu_filled_mix(struct rsc_gpu_filled *filled) {
    for (size_t i = 0; !filled->mixed && i < filled->count; i++) filled->block->who[i] = filled->who;
    filled->mixed = 1;
}

/* Every bit that is set in some access's meta, and those in which accesses differ. */
struct seen {
    uint64_t any, differ;
};

static struct seen look_at(const struct rsc_batch *batch) {
    const uint64_t first = batch->meta[0];
    uint64_t differ = 0;
    for (uint32_t i = 0; i < batch->count; i++) differ |= batch->meta[i] ^ first;
    return (struct seen){first | differ, differ};
}

/* Notes the batch's threads and kinds. Reads and writes of one thread need no second look. */
static void see(struct rsc_gpu_part *part, const struct rsc_batch *batch, struct seen seen) {
    const uint64_t first = batch->meta[0];
    const int is_usual = (seen.any >> 32 & 0xff) <= RSC_WRITE;
    uint64_t highest = rsc_meta_thread(first);
    part->kinds_seen |= 1u << rsc_who_kind_slot(rsc_meta_who(first));
    if (is_usual && (seen.differ >> 32 & 0xff)) part->kinds_seen |= 1u << RSC_READ | 1u << RSC_WRITE;
    for (uint32_t i = 0; !is_usual && i < batch->count; i++)
        part->kinds_seen |= 1u << rsc_who_kind_slot(rsc_meta_who(batch->meta[i]));
    for (uint32_t i = 0; seen.differ >> 40 && i < batch->count; i++) {
        const uint64_t thread = rsc_meta_thread(batch->meta[i]);
        highest = thread > highest ? thread : highest;
    }
    if (highest + 1 > part->threads_seen) part->threads_seen = highest + 1;
}

/* Sees to it that the last block has room. */
static int make_room(struct rsc_gpu_part *part, struct rsc_error *error) {
    const struct rsc_gpu_filled *last = part->filled_count ? &part->filled[part->filled_count - 1] : NULL;
    struct rsc_gpu_filled next = {0};
    if (last && last->count < last->block->room) return 0;
    if (RSC_GROW(part->filled, part->filled_room, part->filled_count + 1)) return rsc_fail_memory(error, "gpu engine");
    int status = rsc_gpu_feed_block(part->feed, &next.block, error);
    if (!status) part->filled[part->filled_count++] = next;
    return status;
}

/* Who used the next `count` lines of the block, made by accesses from[] of the batch. */
static void note_who(struct rsc_gpu_filled *filled, const struct rsc_batch *batch, int is_one, const uint32_t *from,
                     uint32_t count) {
    uint32_t *who = filled->block->who + filled->count;
    const uint32_t first = rsc_meta_who(batch->meta[from[0]]);
    if (!filled->count) filled->who = first;
    if (is_one && !filled->mixed && filled->who == first) return;
    rsc_gpu_filled_mix(filled);
    const uint64_t *meta = batch->meta + from[0];
    if (rsc_references_are_accesses(from, count))
        for (uint32_t i = 0; i < count; i++) who[i] = rsc_meta_who(meta[i]);
    else
        for (uint32_t i = 0; i < count; i++) who[i] = rsc_meta_who(batch->meta[from[i]]);
}

int rsc_gpu_part_take(struct rsc_gpu_part *part, const struct rsc_batch *batch, const uint32_t *tags,
                      struct rsc_error *error) {
    struct rsc_reference_cursor cursor;
    uint32_t from[MOST], count;
    if (!batch->count) return 0;
    const struct seen seen = look_at(batch);
    const int is_one = !(seen.differ >> 32);
    int status = 0;
    if ((uint32_t)seen.any >> RSC_WIDE_SHIFT)
        status = rsc_references_limit(&part->wide_references, batch, part->feed->line_shift, error);
    if (status < 0) return status;
    see(part, batch, seen);
    rsc_references_start(&cursor, batch, part->feed->line_shift);
    while (!(status = make_room(part, error))) {
        struct rsc_gpu_filled *filled = &part->filled[part->filled_count - 1];
        const size_t room = filled->block->room - filled->count;
        count = rsc_references_fill(&cursor, filled->block->words + filled->count, from,
                                    room < MOST ? (uint32_t)room : MOST);
        if (!count) return 0;
        note_who(filled, batch, is_one, from, count);
        for (uint32_t i = 0; tags && i < count; i++) filled->block->tags[filled->count + i] = tags[from[i]];
        filled->count += count;
    }
    return status;
}
