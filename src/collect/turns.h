/*
 * turns.h - for `--order strict`: guest threads run one at a time, in turns, first
 * come first served. A baseline, not a way to work: it serialises the program.
 */
#ifndef RSC_COLLECT_TURNS_H
#define RSC_COLLECT_TURNS_H

#include <stdint.h>

/* Waits for this thread's turn. A thread that has it may take it again. */
void rsc_turn_take(void);

/* Lets the next one run; harmless without the turn. Before anything that may block. */
void rsc_turn_give(void);

/* Counts instructions; 1 when the turn has lasted long enough. */
int rsc_turn_is_over(uint32_t instructions);

/* In a forked child: nobody else is there. */
void rsc_turn_reset(void);

#endif
