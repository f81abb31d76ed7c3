/*
 * asm_emit.h - between the two halves of the output: the fast copies (asm_emit.c), in the compiler's
 * order, and the recording copies (asm_record.c), which are collected by section and follow at the
 * end.
 *
 * Labels, all with the number of a piece or instruction:
 *   .Lrscs  start of a recording copy          .Lrscp  an instruction in the fast copy
 *   .Lrscb  after the countdown                .Lrscw  the same in the recording copy
 *   .Lrscr  where a recording copy returns to  .Lrscd  a piece's table
 *   .Lrscc  start of a recording copy for another copy of the loop, which has the write position in a register
 *   .Lrscf  no room                            .Lrsct  a section
 *   .Lrscm  an iteration of a run              .Lrscn  a run has reached its maximum: starts another
 *   .Lrscl  inside a loop: the place of a program label, whose name now marks the load of the counter
 *   .Lrsco  stub of a jump out of a loop: stores the counter
 */
#ifndef RSC_COLLECT_REWRITE_ASM_EMIT_H
#define RSC_COLLECT_REWRITE_ASM_EMIT_H

#include "collect/rewrite/asm_pass.h"

/* Recording copies of a section, in order. */
struct rsc_pass_copies {
    struct rsc_pass_text text;
    uint32_t function;
    int is_open; /* .cfi_startproc has been written */
    char name[1024]; /* name of the symbol that covers the function's copies; "": none */
    struct rsc_pass_cfi cfi;
};

/* Ends the symbol, after the last copy. */
void rsc_pass_end_name(struct rsc_pass_copies *to);

void rsc_pass_put_copy(const struct rsc_pass *pass, uint32_t number, struct rsc_pass_copies *to, uint32_t section,
                       const struct rsc_pass_item *location);

/* Loads a loop's counter into its register, and stores it. */
void rsc_pass_put_load(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_loop *loop);
void rsc_pass_put_store(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_loop *loop);

/* Writes the unwind rules before code among the recording copies that stands for `insn`. */
void rsc_pass_begin_stub(const struct rsc_pass *pass, struct rsc_pass_copies *to, uint32_t insn);

/* Writes a jump to another label than the program's. */
void rsc_pass_put_jump(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_insn *insn,
                       const char *label, uint32_t number);

/* Writes the statements of an instruction. */
void rsc_pass_put_insn(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_insn *insn);

/* Writes a .loc directive without its view number, which must be unique; anything else is left out. */
void rsc_pass_put_location(struct rsc_pass_text *out, const struct rsc_pass_item *item);

#endif
