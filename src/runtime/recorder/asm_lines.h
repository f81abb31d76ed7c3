/* asm_lines.h - the interface of asm_lines.c to asm_runtime.c. */
#ifndef RSC_RUNTIME_RECORDER_ASM_LINES_H
#define RSC_RUNTIME_RECORDER_ASM_LINES_H

#include "runtime/ring/ring.h"

#define RSC_OWN_HIDDEN __attribute__((visibility("hidden")))

/* Call once, before any thread: chooses the code to use. */
RSC_OWN_HIDDEN void rsc_asm_lines_prepare(int plain);

/* For a thread that has just taken its slot. */
RSC_OWN_HIDDEN void rsc_asm_lines_start(struct rsc_ring_writer *writer);

/* Where the thread writes now. */
RSC_OWN_HIDDEN void rsc_asm_lines_buffer(struct rsc_ring_writer *writer, uint64_t **next, uint64_t **limit);

/*
 * Filters what it has written there, up to `next` (NULL: nothing). `publish`: the
 * parent gets it now. Returns 0, or -1 if the parent is gone.
 */
RSC_OWN_HIDDEN int rsc_asm_lines_look(struct rsc_ring_writer *writer, const uint64_t *next, int publish);

/* The same at a synchronisation: what was written so far is marked (rsc_ring_mark()). */
RSC_OWN_HIDDEN int rsc_asm_lines_mark(struct rsc_ring_writer *writer, const uint64_t *next, int rests);

#endif
