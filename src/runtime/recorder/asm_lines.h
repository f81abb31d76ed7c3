/* asm_lines.h - what asm_runtime.c needs of asm_lines.c, which says what it is about. */
#ifndef RSC_RUNTIME_RECORDER_ASM_LINES_H
#define RSC_RUNTIME_RECORDER_ASM_LINES_H

#include "runtime/ring/ring.h"

#define RSC_OWN_HIDDEN __attribute__((visibility("hidden")))

/* Once, before any thread: which code to use. */
RSC_OWN_HIDDEN void rsc_asm_lines_prepare(int plain);

/* Of a thread that has just taken its slot. */
RSC_OWN_HIDDEN void rsc_asm_lines_start(struct rsc_ring_writer *writer);

/* Where the thread is to write now. */
RSC_OWN_HIDDEN void rsc_asm_lines_buffer(struct rsc_ring_writer *writer, uint64_t **next, uint64_t **limit);

/*
 * Looks at what it has written there, up to `next` (NULL: nothing). `publish`: so that
 * the parent gets it now. Returns 0, or -1 when nobody listens any more.
 */
RSC_OWN_HIDDEN int rsc_asm_lines_look(struct rsc_ring_writer *writer, const uint64_t *next, int publish);

#endif
