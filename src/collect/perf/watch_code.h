/*
 * watch_code.h - finds where in a rebuilt program's pieces a trap was, to turn a
 * countdown into a position (runtime/ring/watch_ring.h).
 *
 * A data breakpoint traps after the instruction. After a call or a return, that is in
 * other code: those are recognised by the stack pointer.
 */
#ifndef RSC_COLLECT_PERF_WATCH_CODE_H
#define RSC_COLLECT_PERF_WATCH_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/pieces/asm_abi.h"
#include "runtime/ring/ring.h"

enum rsc_watch_where {
    RSC_WATCH_IN_PIECE,  /* an access of a piece's fast copy */
    RSC_WATCH_INSERTED,  /* code that `reusescope cc` inserted: not an access of the program */
    RSC_WATCH_ELSEWHERE, /* code that was not rebuilt, or after a call or return */
};

struct rsc_watch_place {
    enum rsc_watch_where where;
    uint64_t pc;            /* of the instruction */
    uint32_t weight, index; /* accesses of the piece, and the index of this one */
    uint32_t words;         /* words that all of them touch, if aligned */
    int counter_register;   /* register that holds the countdown there; -1: in memory */
};

struct rsc_watch_code;
struct rsc_watch_code *rsc_watch_code_new(void);
void rsc_watch_code_free(struct rsc_watch_code *code);

/* Adds a module of a process; invalid tables are ignored. Returns 0 or RSC_ENOMEM. */
int rsc_watch_code_add(struct rsc_watch_code *code, uint64_t process, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring);

/* Locates a trap by its pc. */
void rsc_watch_code_find(const struct rsc_watch_code *code, uint64_t process, uint64_t pc,
                         struct rsc_watch_place *place);

#endif
