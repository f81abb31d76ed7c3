/*
 * touched.h - counts the lines that parts of threads' work touch, exactly: such a part is a few pieces of loops, each
 * marked as marking.h says, and a few single references at its ends.
 */
#ifndef RSC_LOOPS_NEST_TOUCHED_H
#define RSC_LOOPS_NEST_TOUCHED_H

#include "loops/nest/marking.h"

struct rsc_touched;

/* *out is NULL where lines are too far apart for a bitmap, or arrays are private to threads. */
int rsc_touched_new(struct rsc_touched **out, struct rsc_search *search, uint64_t line_bytes, struct rsc_error *error);
void rsc_touched_free(struct rsc_touched *touched);

/*
 * Marks the lines of places `from` .. `to` - 1 of a thread in a phase, or of all of a phase. RSC_ELIMIT: more than
 * `runs` runs since the last count; the lines marked are too few then.
 */
int rsc_touched_add(struct rsc_touched *touched, uint32_t phase, uint32_t thread, int64_t from, int64_t to,
                    uint64_t runs);
int rsc_touched_add_phase(struct rsc_touched *touched, uint32_t phase, uint64_t runs);
/* The lines marked, without the one at `address`; none are marked afterwards. *runs: the time it took, in runs. */
uint64_t rsc_touched_count(struct rsc_touched *touched, int64_t address, uint64_t *runs);

#endif
