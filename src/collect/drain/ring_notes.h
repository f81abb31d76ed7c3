/*
 * ring_notes.h - reading the notes of a ring (runtime/ring/ring.h): texts that the watched
 * program leaves now and then.
 */
#ifndef RSC_COLLECT_DRAIN_RING_NOTES_H
#define RSC_COLLECT_DRAIN_RING_NOTES_H

#include "runtime/ring/ring.h"

/*
 * The note at *tail, if there is one before `end`: its text goes to `text` (RSC_NOTES_BYTES)
 * and *tail behind it. Returns 1, or 0 when there is none, or none that was written as
 * it should be. The program sees only by rsc_ring_notes_taken() that there is room again.
 */
int rsc_ring_notes_next(const struct rsc_ring *ring, uint64_t *tail, uint64_t end, struct rsc_note *note, char *text);
void rsc_ring_notes_taken(struct rsc_ring *ring, uint64_t tail);

#endif
