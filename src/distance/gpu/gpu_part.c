/* gpu_part.c - see gpu_part.h. */
#include "distance/gpu/gpu_part.h"

#include <stdlib.h>

#include "base/fail.h"
#include "distance/count/accumulate.h"
#include "trace/references.h"

#define BLOCK 4096u

struct rsc_gpu_part *rsc_gpu_part_new(uint32_t line_shift) {
    struct rsc_gpu_part *part = calloc(1, sizeof *part);
    if (part) part->line_shift = line_shift;
    return part;
}

void rsc_gpu_part_free(struct rsc_gpu_part *part) {
    if (part) {
        free(part->lines);
        free(part->who);
    }
    free(part);
}

void rsc_gpu_part_begin(struct rsc_gpu_part *part) {
    part->count = 0;
    part->threads_seen = 0;
    part->kinds_seen = 0;
}

/* Makes room for a block. */
static int reserve(struct rsc_gpu_part *part) {
    if (part->room - part->count >= BLOCK) return 0;
    size_t room = part->room ? 2 * part->room : 16 * BLOCK;
    uint64_t *lines = realloc(part->lines, room * sizeof *lines);
    if (lines) part->lines = lines;
    uint32_t *who = lines ? realloc(part->who, room * sizeof *who) : NULL;
    if (!who) return RSC_ENOMEM;
    part->who = who;
    part->room = room;
    return 0;
}

static void see_threads_and_kinds(struct rsc_gpu_part *part, const struct rsc_batch *batch) {
    uint64_t highest = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t thread = rsc_meta_thread(batch->meta[i]);
        highest = thread > highest ? thread : highest;
        part->kinds_seen |= 1u << rsc_who_kind_slot(rsc_meta_who(batch->meta[i]));
    }
    if (batch->count && highest + 1 > part->threads_seen) part->threads_seen = highest + 1;
}

int rsc_gpu_part_take(struct rsc_gpu_part *part, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_reference_cursor cursor;
    uint32_t from[BLOCK], count;
    int status = rsc_references_limit(&part->wide_references, batch, part->line_shift, error);
    if (status < 0) return status;
    see_threads_and_kinds(part, batch);
    rsc_references_start(&cursor, batch, part->line_shift);
    do {
        if (reserve(part) < 0) return rsc_fail_memory(error, "gpu engine");
        count = rsc_references_fill(&cursor, part->lines + part->count, from, BLOCK);
        for (uint32_t i = 0; i < count; i++) part->who[part->count + i] = rsc_meta_who(batch->meta[from[i]]);
        part->count += count;
    } while (count);
    return 0;
}
