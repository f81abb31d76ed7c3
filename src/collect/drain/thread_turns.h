/*
 * thread_turns.h - interleaves threads that Valgrind ran one at a time, in long slices: each gets turns of a few
 * accesses.
 *
 * What threads did since all were last in step is a round. It is put together in the order of execution, as units: a
 * block of code with its words, or a record. Then units are taken in turns. Units of a thread keep their order, and so
 * do accesses of different threads to the same 4 bytes if one of them writes: the new order is one in which the same
 * program could have run, with the same values, whatever it synchronises with.
 */
#ifndef RSC_COLLECT_DRAIN_THREAD_TURNS_H
#define RSC_COLLECT_DRAIN_THREAD_TURNS_H

#include <stdint.h>

struct rsc_turns;

/*
 * quantum: accesses of a turn; fine: a turn also ends with a write to a line that another thread uses in the round.
 * NULL when out of memory.
 */
struct rsc_turns *rsc_turns_new(uint64_t quantum, int fine);
void rsc_turns_free(struct rsc_turns *turns);

/* Begins a unit of a thread, by a small number. Returns where its words go, `most` at most; NULL when out of memory. */
uint64_t *rsc_turns_begin(struct rsc_turns *turns, uint32_t thread, uint32_t most);
/* Before the unit, the thread made so many accesses of which nothing else is known: turns pass meanwhile. */
void rsc_turns_pass(struct rsc_turns *turns, uint64_t accesses);
/* Returns 0 or RSC_ENOMEM. */
int rsc_turns_access(struct rsc_turns *turns, uint64_t addr, uint32_t size, int is_write);
/* The unit is complete, with this number of words. `goes_on`: the thread's next one belongs to it. */
void rsc_turns_end(struct rsc_turns *turns, uint32_t words, int goes_on);

/* Whether a thread has units in this round; whether any has; whether it should end, as it is large. */
int rsc_turns_has(const struct rsc_turns *turns, uint32_t thread);
int rsc_turns_any(const struct rsc_turns *turns);
int rsc_turns_full(const struct rsc_turns *turns);

#define RSC_TURN_WORDS 1023u /* of several units that are taken at once */
#define RSC_TURN_SPARE 8u /* words after those of a unit that can be read */

/* Units of a thread that come one after the other. */
struct rsc_turn_units {
    uint32_t thread, count;
    const uint64_t *words; /* until the next unit is begun */
    uint64_t passed; /* accesses of all threads in this round before the first unit's own */
};

/* The next ones in turns. 0: there are none, and the next round may begin. */
int rsc_turns_next(struct rsc_turns *turns, struct rsc_turn_units *units);

#endif
