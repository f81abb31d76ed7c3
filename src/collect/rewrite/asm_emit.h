/*
 * asm_emit.h - between the two halves of writing: the fast copies (asm_emit.c), in
 * the compiler's order, and the recording copies (asm_record.c), which are collected
 * by section and follow at the end.
 *
 * Labels, all with the number of a piece or instruction:
 *   .Lrscs  beginning of a recording copy      .Lrscp  an instruction in the fast copy
 *   .Lrscb  behind the countdown               .Lrscw  the same in the recording copy
 *   .Lrscr  where a recording copy goes back   .Lrscd  a piece's table
 *   .Lrscc  the same from another one of the loop that has the place to write in a register
 *   .Lrscf  no room                            .Lrsct  a section
 *   .Lrscm  a turn of a run                    .Lrscn  a run is long enough: another begins
 *   .Lrscl  inside of a loop: what a label of the program's was; that is where the counter is loaded
 *   .Lrsco  where a jump out of a loop goes first: the counter is stored
 */
#ifndef RSC_COLLECT_REWRITE_ASM_EMIT_H
#define RSC_COLLECT_REWRITE_ASM_EMIT_H

#include "collect/rewrite/asm_pass.h"

/* Recording copies of a section, as they come. */
struct rsc_pass_copies {
    struct rsc_pass_text text;
    uint32_t function;
    int is_open; /* .cfi_startproc has been written */
    char name[1024]; /* of the symbol that covers the function's copies; "": none */
    struct rsc_pass_cfi cfi;
};

/* Ends the symbol, behind the last copy. */
void rsc_pass_end_name(struct rsc_pass_copies *to);

void rsc_pass_put_copy(const struct rsc_pass *pass, uint32_t number, struct rsc_pass_copies *to, uint32_t section,
                       const struct rsc_pass_item *location);

/* The counter of a loop into its register, and back. */
void rsc_pass_put_load(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_loop *loop);
void rsc_pass_put_store(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_loop *loop);

/* Before something at the place of recording copies that stands for `insn`: the unwind rules there. */
void rsc_pass_begin_stub(const struct rsc_pass *pass, struct rsc_pass_copies *to, uint32_t insn);

/* A jump, to another label than the program's. */
void rsc_pass_put_jump(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_insn *insn,
                       const char *label, uint32_t number);

/* The statements of an instruction. */
void rsc_pass_put_insn(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_insn *insn);

/* A .loc directive without its view number, which must be unique; anything else is left out. */
void rsc_pass_put_location(struct rsc_pass_text *out, const struct rsc_pass_item *item);

#endif
