/* asm_sampled.h - what the rest of the runtime needs of asm_sampled.c, which says what it is about. */
#ifndef RSC_RUNTIME_RECORDER_ASM_SAMPLED_H
#define RSC_RUNTIME_RECORDER_ASM_SAMPLED_H

#include "runtime/recorder/asm_runtime.h"

#define RSC_SAMPLED_HIDDEN __attribute__((visibility("hidden")))

/* Once, before any thread. Returns 0, or -1 when there is no memory for it. */
RSC_SAMPLED_HIDDEN int rsc_asm_sampled_prepare(struct rsc_ring *ring);

/* Of a thread that has just taken its slot. Returns 0, or -1 when there are too many. */
RSC_SAMPLED_HIDDEN int rsc_asm_sampled_start(struct rsc_asm_local *local);

/* The thread's countdown is over, or its buffer is full: leaves it in the mode it is to be in now. -1: nobody listens. */
RSC_SAMPLED_HIDDEN int rsc_asm_sampled_room(struct rsc_asm_local *local, struct rsc_asm_thread *thread);

/* The thread waits for others (for_an_end: for a thread to end; its own samples are then pruned), and has met them. */
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_waits(struct rsc_asm_local *local, struct rsc_asm_thread *thread,
                                              int for_an_end);
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_met(struct rsc_asm_local *local);

/* It ends: its samples are last touches. It is in fast mode for good then. */
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_end(struct rsc_asm_local *local, struct rsc_asm_thread *thread);

/* Something to be told that is no reference. */
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_put(struct rsc_asm_local *local, uint64_t addr, uint64_t word);

#endif
