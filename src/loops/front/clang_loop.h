/*
 * clang_loop.h - a loop of the source while it is being read.
 *
 * for (v = FIRST; v OP BOUND; v += STEP). The variable may be on either side, also as v + c or c * v; the condition may be
 * a conjunction. Other variables may change along with it (w = START; w += c), in the header or in the body: their value
 * is START + c (v - FIRST) / STEP. While loops are read in the same way once the change of their variable in an iteration
 * is known. A pointer is counted in elements from its first value.
 */
#ifndef RSC_LOOPS_FRONT_CLANG_LOOP_H
#define RSC_LOOPS_FRONT_CLANG_LOOP_H

#include "loops/front/clang_front.h"

#define MOVING_MAX 12
#define ROTATION_MAX 4

/* A variable that the loop initialises, changes, or both. */
struct moving {
    CXCursor variable;
    struct value start;
    int has_start, has_step;
    int in_condition; /* the condition has it, and it moves */
    int in_body; /* the body changes it, by the same step in every iteration */
    int64_t step; /* of a pointer: in elements */
};

/* A variable that has its first value again after as many iterations as the loop's period. */
struct rotating {
    CXCursor variable;
    size_t index; /* of its binding */
    struct value value[ROTATION_MAX]; /* at the start of each iteration of a period */
    int is_back[ROTATION_MAX + 1]; /* whether it has its first value after so many iterations */
};

enum loop_form { LOOP_FOR, LOOP_WHILE, LOOP_DO, LOOP_RANGE };

struct header {
    enum loop_form form;
    CXCursor statement, variable, body;
    CXCursor condition; /* of WHILE and DO */
    struct value first, last; /* last is inclusive */
    int has_last;
    int wraps; /* it ends where an unsigned variable would be negative: its value is not known then */
    int64_t step;
    int is_pointer; /* the variable is the number of elements after `pointer`, from 0 */
    struct value pointer;
    int counts_iterations; /* several variables of the condition move: the variable is the number of the iteration */
    struct moving moving[MOVING_MAX]; /* the loop's variable is one of them */
    unsigned moving_count;
    struct rotating *rotating;
    unsigned rotating_count, period; /* period 0: nothing rotates */
    char reason[REASON_BYTES];
};

int refuse(struct header *header, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* clang_header.c: each returns 0, or -1 with the reason. */
/* The parts of for (START; CONDITION; STEP) BODY; null cursors for those that are missing. */
struct for_parts {
    CXCursor start, condition, step, body;
};
void front_for_parts(struct front *front, CXCursor statement, struct for_parts *parts);
int header_read_for(struct front *front, struct header *header);
int header_read_while(struct front *front, struct header *header); /* after the changes of its variables are known */
int header_read_range(struct front *front, struct header *header); /* clang_cxx.c */
void header_start_range(struct front *front, struct header *header); /* its variable, in an iteration */
struct moving *header_moving(struct front *front, struct header *header, CXCursor variable); /* NULL: too many */

/* clang_together.c: a condition on several variables that move. */
int header_read_together(struct front *front, CXCursor condition, struct header *header);

/* clang_induction.c: variables that the body changes by the same step in every iteration. */
void header_guess_steps(struct front *front, struct header *header);
int header_verify_steps(struct front *front, struct header *header, const struct rsc_affine *variable);
void header_run_body(struct front *front, struct header *header);
void header_run_aside(struct front *front, struct header *header); /* for its effect on variables alone */
void header_find_start(struct front *front, struct moving *moving);

/* clang_rotate.c: pointers that the body exchanges. */
/* After a first run of the body: `changed` has the values before it. */
void header_guess_rotation(struct front *front, struct header *header, const struct undo *changed, size_t count);
void header_verify_rotation(struct front *front, struct header *header);
void header_run_rotation(struct front *front, struct header *header, const struct rsc_affine *variable);
void header_end_rotation(struct front *front, const struct header *header, const struct rsc_affine *end);

/* The value of a variable in an iteration: START + c (v - FIRST) / STEP. */
void header_companion(struct front *front, const struct header *header, const struct moving *moving,
                      const struct rsc_affine *variable, struct value *value);
/* Binds the companions before the body (with the loop's variable), or after the loop (with its end, NULL: unknown). */
void header_bind_companions(struct front *front, struct header *header, const struct rsc_affine *variable, int after);

#endif
