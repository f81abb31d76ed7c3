/*
 * instruction_share.h - the instructions of some of a batch's accesses.
 *
 * A batch says how many instructions were executed during it, not where. If it has one fetch for each of them, fetches
 * say where; otherwise they are spread evenly. Either way the shares of a batch add up.
 */
#ifndef RSC_TRACE_INSTRUCTION_SHARE_H
#define RSC_TRACE_INSTRUCTION_SHARE_H

#include <reusescope/trace.h>

/* Whether the batch has one fetch for each instruction. */
int rsc_fetches_are_instructions(const struct rsc_batch *batch);

/*
 * Instructions of accesses low..high-1, which may lie past the batch, or RSC_UNKNOWN. `by_fetches` is what
 * rsc_fetches_are_instructions() says. All are in an interval that begins with the batch and reaches its end.
 */
uint64_t rsc_instruction_share(const struct rsc_batch *batch, int by_fetches, uint64_t low, uint64_t high);

#endif
