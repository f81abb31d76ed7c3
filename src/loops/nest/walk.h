/*
 * walk.h - enumerates the references of one thread in order. The closed forms are
 * tested against it, and small nests are analysed with it.
 */
#ifndef RSC_LOOPS_NEST_WALK_H
#define RSC_LOOPS_NEST_WALK_H

#include "loops/nest/plan.h"

struct rsc_walk_step {
    const struct rsc_nest_node *node;
    uint32_t child;     /* the next one */
    int64_t left;       /* iterations after this one */
};

struct rsc_walk {
    struct rsc_plan *plan;
    uint32_t thread, line_shift;
    int64_t *handed_out; /* by segment: iterations of dynamic and guided loops already handed out; not owned. NULL:
                            chunks go by the plan */
    uint32_t phase;
    uint32_t segment, segment_end; /* the next one to start, and the end of the phase */
    const struct rsc_view *view;   /* of the current shared segment; NULL: none */
    uint32_t view_segment;
    int64_t m, m_end;              /* its iterations: by the plan, or of the chunk taken */
    int64_t chunk_start;           /* -1: by the plan */
    uint32_t depth;                /* steps in use */
    int64_t value[RSC_LOOP_DEPTH_MAX];
    struct rsc_walk_step *step;    /* room for every node of the tree */
};

/* handed_out: see above. */
int rsc_walk_new(struct rsc_walk **out, struct rsc_plan *plan, uint32_t thread, uint64_t line_bytes,
                 int64_t *handed_out, struct rsc_error *error);
void rsc_walk_free(struct rsc_walk *walk);

/* Goes to the start of a phase. */
void rsc_walk_start(struct rsc_walk *walk, uint32_t phase);
/* Goes directly to the thread's reference number `place` of a phase; chunks go by the plan. */
void rsc_walk_seek(struct rsc_walk *walk, uint32_t phase, int64_t place);

/*
 * The next references of the phase, up to `count`: their lines and (unless NULL) their
 * numbers. 0: the end of the phase. A chunk is taken only once all references before
 * it have been requested.
 */
uint32_t rsc_walk_next(struct rsc_walk *walk, uint64_t *line, uint32_t *reference, uint32_t count);

#endif
