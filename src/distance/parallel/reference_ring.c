/* reference_ring.c - see reference_ring.h. */
#include "distance/parallel/reference_ring.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

int rsc_ring_init(struct rsc_reference_ring *ring, uint64_t references, uint32_t shift) {
    *ring = (struct rsc_reference_ring){.shift = shift, .segments = (uint32_t)(references >> shift)};
    ring->line = rsc_pages_new(references * sizeof *ring->line);
    ring->place = malloc(ring->segments * sizeof *ring->place);
    ring->to_be_read = calloc(ring->segments, sizeof *ring->to_be_read);
    ring->free = malloc(ring->segments * sizeof *ring->free);
    if (!ring->line || !ring->place || !ring->to_be_read || !ring->free) {
        rsc_ring_free(ring);
        return RSC_ENOMEM;
    }
    for (uint32_t i = 0; i < ring->segments; i++) ring->place[i] = RSC_RING_NOWHERE;
    return 0;
}

void rsc_ring_free(struct rsc_reference_ring *ring) {
    uint64_t references = rsc_ring_references(ring);
    rsc_pages_free(ring->line, references * sizeof *ring->line);
    rsc_pages_free(ring->tag, references * sizeof *ring->tag);
    rsc_pages_free(ring->who, references * sizeof *ring->who);
    free(ring->place);
    free(ring->to_be_read);
    free(ring->free);
    memset(ring, 0, sizeof *ring);
}

uint32_t *rsc_ring_new_column(const struct rsc_reference_ring *ring) {
    return rsc_pages_new(rsc_ring_references(ring) * sizeof(uint32_t));
}

int rsc_ring_begin(struct rsc_reference_ring *ring, uint64_t n, uint32_t most) {
    uint32_t entry = (uint32_t)(n >> ring->shift) & (ring->segments - 1), used = ring->fresh - ring->free_count;
    if (ring->place[entry] != RSC_RING_NOWHERE || used >= most) return 0;
    if (!ring->free_count && ring->fresh == ring->segments) return 0;
    ring->place[entry] = ring->free_count ? ring->free[--ring->free_count] : ring->fresh++;
    atomic_store(&ring->to_be_read[entry], 1u << ring->shift);
    return 1;
}

void rsc_ring_release(struct rsc_reference_ring *ring, uint64_t n) {
    uint32_t entry = (uint32_t)(n >> ring->shift) & (ring->segments - 1);
    ring->free[ring->free_count++] = ring->place[entry];
    ring->place[entry] = RSC_RING_NOWHERE;
}

uint32_t rsc_ring_next_to_prepare(struct rsc_reference_ring *ring, uint32_t ahead) {
    if (ring->prepared < ring->fresh) ring->prepared = ring->fresh;
    if (ring->free_count || ring->prepared == ring->segments || ring->prepared - ring->fresh >= ahead)
        return RSC_RING_NOWHERE;
    return ring->prepared++;
}

void rsc_ring_prepare(const struct rsc_reference_ring *ring, uint32_t segment) {
    uint64_t first = (uint64_t)segment << ring->shift, count = 1ull << ring->shift;
    rsc_pages_populate(ring->line + first, count * sizeof *ring->line);
}
