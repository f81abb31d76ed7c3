/* miss_classes.c - see miss_classes.h. */
#include "simulate/cache/miss_classes.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"

#define SEEN 1u
#define LOST 2u
#define FRAME_SHIFT 2

int rsc_shadow_init(struct rsc_shadow *shadow, uint64_t capacity) {
    memset(shadow, 0, sizeof *shadow);
    shadow->capacity = capacity;
    return rsc_u64_table_init(&shadow->blocks, 1024);
}

void rsc_shadow_free(struct rsc_shadow *shadow) {
    rsc_u64_table_free(&shadow->blocks);
    free(shadow->frames);
    memset(shadow, 0, sizeof *shadow);
}

void rsc_shadow_empty(struct rsc_shadow *shadow) {
    memset(shadow->blocks.entries, 0, rsc_u64_table_bytes(&shadow->blocks));
    shadow->blocks.used = 0;
    shadow->used = 0;
}

static void unlink_frame(struct rsc_shadow *shadow, uint64_t frame) {
    struct rsc_shadow_frame *frames = shadow->frames, *this = &frames[frame];
    if (frame == shadow->newest) shadow->newest = this->older;
    else frames[this->newer].older = this->older;
    if (frame == shadow->oldest) shadow->oldest = this->newer;
    else frames[this->older].newer = this->newer;
}

static void link_newest(struct rsc_shadow *shadow, uint64_t frame, int first) {
    if (first) {
        shadow->oldest = frame;
    } else {
        shadow->frames[frame].older = shadow->newest;
        shadow->frames[shadow->newest].newer = frame;
    }
    shadow->newest = frame;
}

/* A frame for a new block: an unused one, or that of the least recently used block, which is evicted. */
static int take_frame(struct rsc_shadow *shadow, uint64_t *frame) {
    if (shadow->used == shadow->capacity) {
        *frame = shadow->oldest;
        rsc_u64_table_find(&shadow->blocks, shadow->frames[*frame].block)->value &= SEEN | LOST;
        if (shadow->capacity > 1) unlink_frame(shadow, *frame);
        return shadow->capacity > 1 ? 0 : 1;
    }
    if (RSC_GROW(shadow->frames, shadow->room, shadow->used + 1)) return RSC_ENOMEM;
    *frame = shadow->used++;
    return *frame == 0;
}

int rsc_shadow_access(struct rsc_shadow *shadow, uint64_t block, int allocates) {
    if (rsc_u64_table_needs_rebuild(&shadow->blocks) && rsc_u64_table_rebuild(&shadow->blocks) < 0) return RSC_ENOMEM;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&shadow->blocks, block);
    uint64_t value = entry->value, frame;
    int class = !value                 ? RSC_MISS_COLD
                : value & LOST         ? RSC_MISS_COHERENCE
                : value >> FRAME_SHIFT ? RSC_MISS_CONFLICT
                                       : RSC_MISS_CAPACITY;
    if (!value) {
        entry->key = block;
        shadow->blocks.used++;
    }
    entry->value = SEEN | (value >> FRAME_SHIFT << FRAME_SHIFT);
    if (value >> FRAME_SHIFT) {
        frame = (value >> FRAME_SHIFT) - 1;
        if (frame == shadow->newest) return class;
        unlink_frame(shadow, frame);
        link_newest(shadow, frame, 0);
    } else if (allocates) {
        int first = take_frame(shadow, &frame);
        if (first < 0) return first;
        shadow->frames[frame].block = block;
        link_newest(shadow, frame, first);
        entry->value = SEEN | (frame + 1) << FRAME_SHIFT;
    }
    return class;
}

/* The shadow keeps the block: its next use is a coherence miss in any case. */
void rsc_shadow_lose(struct rsc_shadow *shadow, uint64_t block) {
    struct rsc_u64_entry *entry = rsc_u64_table_find(&shadow->blocks, block);
    if (entry->value) entry->value |= LOST;
}
