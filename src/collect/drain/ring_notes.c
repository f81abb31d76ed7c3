/* ring_notes.c - see ring_notes.h. */
#include "collect/drain/ring_notes.h"

int rsc_ring_notes_next(const struct rsc_ring *ring, uint64_t *tail, uint64_t end, struct rsc_note *note, char *text) {
    uint64_t head = __atomic_load_n(&ring->notes_head, __ATOMIC_ACQUIRE);
    if (end < head) head = end;
    if (head < *tail || head - *tail > RSC_NOTES_BYTES || head - *tail < sizeof *note) return 0;
    for (size_t i = 0; i < sizeof *note; i++) ((uint8_t *)note)[i] = ring->notes[(*tail + i) % RSC_NOTES_BYTES];
    uint64_t whole = sizeof *note + ((note->bytes + 7ull) & ~7ull);
    if (whole > head - *tail) return 0; /* the writer was killed while writing */
    for (uint32_t i = 0; i < note->bytes; i++)
        text[i] = (char)ring->notes[(*tail + sizeof *note + i) % RSC_NOTES_BYTES];
    *tail += whole;
    return 1;
}

void rsc_ring_notes_taken(struct rsc_ring *ring, uint64_t tail) {
    __atomic_store_n(&ring->notes_tail, tail, __ATOMIC_RELEASE);
}
