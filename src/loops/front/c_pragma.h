/*
 * c_pragma.h - the OpenMP directives of preprocessed source.
 *
 * libclang with -fopenmp hides schedules and the bodies of constructs, so the
 * source is parsed without it and the directives are read from the text here.
 */
#ifndef RSC_LOOPS_FRONT_C_PRAGMA_H
#define RSC_LOOPS_FRONT_C_PRAGMA_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "loops/tree/loop_text.h"

enum rsc_omp_schedule { RSC_OMP_STATIC, RSC_OMP_DYNAMIC, RSC_OMP_GUIDED, RSC_OMP_RUNTIME };

/* A clause with an expression that must be a number; text NULL: not given. */
struct rsc_omp_number {
    const char *text;
};

struct rsc_omp {
    size_t start, end; /* of the line in the source text */
    size_t next;       /* start of the next token outside preprocessor lines */
    const char *text;  /* after "#pragma omp", one line */
    int used;

    /* The kind of directive. `other` names one that is none of these; NULL otherwise. */
    int is_parallel, is_for, is_sections, is_single, is_master, is_barrier, is_ignored;
    int is_cancel;        /* condition: all from its `if` clause on */
    int is_threadprivate; /* a declaration: private_names are variables with static storage */
    const char *other;

    enum rsc_omp_schedule schedule;
    struct rsc_omp_number chunk, collapse, num_threads, condition; /* condition: of `if` */
    int nowait, ordered;
    const char *private_names; /* " i j tmp ": of private, firstprivate, lastprivate, copyin, linear and reduction */
    const char *first_names;   /* those of firstprivate, whose values are copied before */
    const char *copied_names;  /* those of lastprivate, copyin and reduction */
    const char *reduced;       /* "hist[0:N]": the array section of a reduction; NULL: none */
    const char *bad_clause;    /* an unsupported clause; NULL: none */
};

struct rsc_omp_list {
    struct rsc_omp *item;
    size_t count;
};

/* Finds and reads all directives; strings are in the arena. Returns 0 or RSC_ENOMEM. */
int rsc_omp_scan(struct rsc_omp_list *list, struct rsc_arena *arena, const char *text, size_t bytes);

int rsc_omp_is_private(const struct rsc_omp *omp, const char *name);
int rsc_omp_is_first(const struct rsc_omp *omp, const char *name);
int rsc_omp_is_copied(const struct rsc_omp *omp, const char *name);

#endif
