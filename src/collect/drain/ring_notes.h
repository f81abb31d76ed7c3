/*
 * ring_notes.h - reads the notes of a ring (runtime/ring/ring.h): occasional texts from
 * the watched program.
 */
#ifndef RSC_COLLECT_DRAIN_RING_NOTES_H
#define RSC_COLLECT_DRAIN_RING_NOTES_H

#include "runtime/ring/ring.h"

/*
 * Reads the note at *tail, if there is one before `end`, into `text` (RSC_NOTES_BYTES) and
 * moves *tail past it. Returns 1, or 0 if there is none or it is malformed. The space is
 * free for the program only after rsc_ring_notes_taken().
 */
int rsc_ring_notes_next(const struct rsc_ring *ring, uint64_t *tail, uint64_t end, struct rsc_note *note, char *text);
void rsc_ring_notes_taken(struct rsc_ring *ring, uint64_t tail);

#endif
