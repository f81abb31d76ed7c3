/*
 * turns.h - for `--order strict`: guest threads run one at a time, round-robin, first
 * come first served. This serialises the program; use it only as a baseline.
 *
 * QEMU itself sometimes waits until no thread executes (fork, some atomics, a change of
 * mode): a thread that holds the turn and does not move for 50 ms loses it to the next
 * in the queue. Otherwise all would deadlock.
 */
#ifndef RSC_COLLECT_QEMU_TURNS_H
#define RSC_COLLECT_QEMU_TURNS_H

#include <stdint.h>

/* Waits for this thread's turn. A thread that holds it may take it again. */
void rsc_turn_take(void);

/* Lets the next one run; harmless without the turn. Call before anything that may block. */
void rsc_turn_give(void);

/* Lets all waiting threads run first. It queues before it gives up the turn, so as not to miss one. */
void rsc_turn_pass(void);

/* Between 1 and 0 the turn cannot be lost: used while waiting for the parent. */
void rsc_turn_keep(int keep);

/* Counts instructions; 1 when the turn has lasted long enough. */
int rsc_turn_is_over(uint32_t instructions);

/* In a forked child: no other threads exist. */
void rsc_turn_reset(void);

#endif
