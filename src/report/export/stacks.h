/*
 * stacks.h - a profile's references and misses by call path, for flame graphs.
 *
 * A stack is a path of frames, outermost first: the functions of the call path,
 * those that were inlined, the function itself, and last the source line. Call
 * paths are known for reuses (pairs). Cold references, and reuses dropped from the
 * bounded table of pairs, are under the frame "[call path not known]" if others of
 * the profile have one. A profile without call paths has only the function and the
 * line.
 *
 * Weights of all stacks sum to the profile's references and misses: the rest that no
 * row of code explains (everything, in a trace without pcs) is the frame "[unknown]".
 * Misses are those of ranking.h at one size, from the rows' coarse histograms.
 */
#ifndef RSC_REPORT_STACKS_H
#define RSC_REPORT_STACKS_H

#include "report/ranking.h"

/* Names are printable and have no ';'. */
struct rsc_stack_frame {
    char *name;       /* owned */
    const char *file; /* the profile's; NULL: not known */
    uint32_t line;    /* of a source line's frame; 0: it is a function */
};

struct rsc_stack {
    uint32_t first, depth; /* in rsc_stacks.path: indices of frames, outermost first */
    uint64_t references, misses;
};

struct rsc_stacks {
    struct rsc_stack_frame *frames; /* all owned */
    size_t frame_count, frame_room;
    uint32_t *slots; /* hash table of frames, index + 1 */
    size_t slot_count;
    uint32_t *path;
    size_t path_count, path_room;
    struct rsc_stack *stacks; /* ordered by path; no duplicates */
    size_t count, room;
};

/* Profiles share frames. A zeroed struct is empty; freeing is always allowed. */
void rsc_stacks_free(struct rsc_stacks *stacks);

/* Replaces the stacks by those of `profile`, misses at `size_lines`; frames stay. Returns 0 or RSC_ENOMEM. */
int rsc_stacks_make(struct rsc_stacks *stacks, const struct rsc_profile *profile, uint64_t size_lines);

#endif
