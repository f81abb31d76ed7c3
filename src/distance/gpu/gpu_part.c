/* gpu_part.c - see gpu_part.h. */
#include "distance/gpu/gpu_part.h"

#include <stdlib.h>
#include <string.h>

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
    if (!part) return;
    free(part->filled);
    free(part->late_addr);
    free(part->late_meta);
    free(part);
}

void rsc_gpu_part_begin(struct rsc_gpu_part *part) {
    part->filled_count = part->late_count = 0;
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

int rsc_gpu_part_start(struct rsc_gpu_part *part, struct rsc_gpu_cut *cut, const struct rsc_batch *batch,
                       const uint32_t *tags, struct rsc_error *error) {
    rsc_references_start(&cut->cursor, batch, part->feed->line_shift);
    cut->tags = tags;
    if (!batch->count) return 0;
    const struct seen seen = look_at(batch);
    cut->is_one = !(seen.differ >> 32);
    see(part, batch, seen);
    if (!((uint32_t)seen.any >> RSC_WIDE_SHIFT)) return 0;
    return rsc_references_limit(&part->wide_references, batch, part->feed->line_shift, error);
}

int rsc_gpu_part_fill(struct rsc_gpu_part *part, struct rsc_gpu_cut *cut, struct rsc_error *error) {
    uint32_t from[MOST];
    int status = make_room(part, error);
    if (status < 0) return status;
    struct rsc_gpu_filled *filled = &part->filled[part->filled_count - 1];
    for (;;) {
        const size_t room = filled->block->room - filled->count;
        if (!room) return 1;
        const uint32_t count = rsc_references_fill(&cut->cursor, filled->block->words + filled->count, from,
                                                   room < MOST ? (uint32_t)room : MOST);
        if (!count) return 0;
        note_who(filled, cut->cursor.batch, cut->is_one, from, count);
        if (part->feed->bytes_of)
            part->feed->bytes_of(cut->cursor.batch, from, filled->block->words + filled->count,
                                 filled->block->bytes + filled->count, count, part->feed->line_shift);
        for (uint32_t i = 0; cut->tags && i < count; i++) filled->block->tags[filled->count + i] = cut->tags[from[i]];
        filled->count += count;
    }
}

/* ---- the parts of a trace ---- */

static uint64_t lines_in(const struct rsc_gpu_part *part) {
    uint64_t lines = 0;
    for (size_t i = 0; i < part->filled_count; i++) lines += part->filled[i].count;
    return lines;
}

/* Whether the part has room for a batch whose sizes, ored, are `sizes`. */
static int has_room(const struct rsc_gpu_part *part, const struct rsc_batch *batch, uint32_t sizes) {
    const uint32_t shift = part->feed->line_shift;
    const uint64_t room = RSC_GPU_PART_LINES - lines_in(part);
    uint64_t lines = batch->count; /* and one more for each whole or partial line that follows the first */
    if (part->late_count || sizes >> RSC_WIDE_SHIFT) return 0;
    if (batch->count * ((uint64_t)(sizes >> shift) + 2) <= room) return 1;
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint32_t size = rsc_meta_size(batch->meta[i]);
        const uint64_t addr = batch->addr[i], end = addr + (size ? size - 1 : 0);
        lines += ((end < addr ? UINT64_MAX : end) >> shift) - (addr >> shift);
    }
    return lines <= room;
}

static int keep(struct rsc_gpu_part *part, const struct rsc_batch *batch) {
    const size_t bytes = batch->count * sizeof(uint64_t);
    size_t addr_room = part->late_room;
    if (RSC_GROW(part->late_addr, addr_room, part->late_count + batch->count) ||
        RSC_GROW(part->late_meta, part->late_room, part->late_count + batch->count))
        return RSC_ENOMEM;
    memcpy(part->late_addr + part->late_count, batch->addr, bytes);
    memcpy(part->late_meta + part->late_count, batch->meta, bytes);
    part->late_count += batch->count;
    return 0;
}

int rsc_gpu_part_take(struct rsc_gpu_part *part, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_gpu_cut cut;
    uint64_t any = 0;
    int status;
    for (uint32_t i = 0; i < batch->count; i++) any |= batch->meta[i];
    if (!has_room(part, batch, (uint32_t)any)) return keep(part, batch) < 0 ? rsc_fail_memory(error, "gpu engine") : 0;
    if ((status = rsc_gpu_part_start(part, &cut, batch, NULL, error)) < 0) return status;
    while ((status = rsc_gpu_part_fill(part, &cut, error)) > 0) continue;
    return status;
}

struct rsc_batch rsc_gpu_part_late(const struct rsc_gpu_part *part) {
    return (struct rsc_batch){.count = (uint32_t)part->late_count,
                              .addr = part->late_addr,
                              .meta = part->late_meta,
                              .instructions = RSC_UNKNOWN};
}
