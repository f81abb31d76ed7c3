/*
 * turns.h - for `--order strict`: guest threads run one at a time, in turns, first
 * come first served. A baseline, not a way to work: it serialises the program.
 *
 * QEMU itself sometimes waits until no thread executes (fork, some atomics, a
 * change of mode): whoever has the turn then and does not move for 50 ms loses it
 * to the next in line, or all would wait for each other.
 */
#ifndef RSC_COLLECT_QEMU_TURNS_H
#define RSC_COLLECT_QEMU_TURNS_H

#include <stdint.h>

/* Waits for this thread's turn. A thread that has it may take it again. */
void rsc_turn_take(void);

/* Lets the next one run; harmless without the turn. Before anything that may block. */
void rsc_turn_give(void);

/* Lets all who wait run and has its own next turn after them: in line before the turn is given, so as not to miss one. */
void rsc_turn_pass(void);

/* Between 1 and 0 the turn is not lost however long it takes: waiting for the parent. */
void rsc_turn_keep(int keep);

/* Counts instructions; 1 when the turn has lasted long enough. */
int rsc_turn_is_over(uint32_t instructions);

/* In a forked child: nobody else is there. */
void rsc_turn_reset(void);

#endif
