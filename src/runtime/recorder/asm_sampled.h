/* asm_sampled.h - the interface of asm_sampled.c to the rest of the runtime. */
#ifndef RSC_RUNTIME_RECORDER_ASM_SAMPLED_H
#define RSC_RUNTIME_RECORDER_ASM_SAMPLED_H

#include "runtime/recorder/asm_runtime.h"

#define RSC_SAMPLED_HIDDEN __attribute__((visibility("hidden")))

/* Call before any thread, and while none is in the sampler. Returns 0, or -1 when out of memory. */
RSC_SAMPLED_HIDDEN int rsc_asm_sampled_prepare(struct rsc_ring *ring);

/* The opposite. */
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_forget(void);

/* For a thread that has just taken its slot. Returns 0, or -1 if there are too many. */
RSC_SAMPLED_HIDDEN int rsc_asm_sampled_start(struct rsc_asm_local *local);

/*
 * The thread's countdown has ended, or its buffer is full: leaves it in its new mode. `accesses`: of the piece that runs
 * next; in fast mode it does not count them. -1: the parent is gone.
 */
RSC_SAMPLED_HIDDEN int rsc_asm_sampled_room(struct rsc_asm_local *local, struct rsc_asm_thread *thread,
                                            uint32_t accesses);

/* As rsc_asm_counts(), for a thread in fast mode. */
RSC_SAMPLED_HIDDEN int rsc_asm_sampled_counts(struct rsc_asm_local *local, struct rsc_asm_thread *thread,
                                              uint64_t accesses);

/*
 * The thread lets others go on, or waits for them: what it did so far is analysed. It has synchronised with them: it
 * sees what they did. From either on it is in analysis mode if anyone has samples.
 */
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_releases(struct rsc_asm_local *local, struct rsc_asm_thread *thread);
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_waits(struct rsc_asm_local *local, struct rsc_asm_thread *thread);
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_met(struct rsc_asm_local *local, struct rsc_asm_thread *thread);

/* It ends: its samples are last touches. It stays in fast mode from then on. */
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_end(struct rsc_asm_local *local, struct rsc_asm_thread *thread);

/* Reports a record other than a reference. */
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_put(struct rsc_asm_local *local, uint64_t addr, uint64_t word);
/* The same for one that has its place among the thread's samples. */
RSC_SAMPLED_HIDDEN void rsc_asm_sampled_event(struct rsc_asm_local *local, struct rsc_asm_thread *thread, uint64_t addr,
                                              uint64_t word);

#endif
