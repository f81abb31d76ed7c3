/* asm_emit.c - writes the compiler's text with countdowns, then the recording copies. See asm_emit.h. */
#include "collect/rewrite/asm_emit.h"

#include <stdlib.h>
#include <string.h>

#define NAME(number) rsc_pass_register_names[number]

void rsc_pass_put_insn(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_insn *insn) {
    for (uint32_t i = 0; i < insn->items; i++) {
        const struct rsc_pass_item *item = &pass->items[insn->item + i];
        if (i && !item->glued) continue;
        rsc_pass_text_put(out, "\t", 1);
        rsc_pass_text_put(out, item->text, item->length);
        rsc_pass_text_put(out, item->sort == RSC_PASS_LABEL ? ":\n" : "\n", item->sort == RSC_PASS_LABEL ? 2 : 1);
    }
}

void rsc_pass_put_location(struct rsc_pass_text *out, const struct rsc_pass_item *item) {
    size_t length = item->length;
    if (item->sort != RSC_PASS_DIRECTIVE || length < 5 || memcmp(item->text, ".loc", 4) ||
        (item->text[4] != ' ' && item->text[4] != '\t'))
        return;
    for (size_t i = 4; i + 4 < item->length; i++)
        if (!memcmp(item->text + i, "view", 4)) {
            length = i;
            break;
        }
    rsc_pass_text_printf(out, "\t%.*s\n", (int)length, item->text);
}

void rsc_pass_put_load(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_loop *loop) {
    if (pass->options.position_independent)
        rsc_pass_text_printf(out, "\tmovq\trsc_asm_thread@gottpoff(%%rip), %%%s\n\tmovq\t%%fs:(%%%s), %%%s\n",
                             NAME(loop->offset), NAME(loop->offset), NAME(loop->counter));
    else rsc_pass_text_printf(out, "\tmovq\t%%fs:rsc_asm_thread@tpoff, %%%s\n", NAME(loop->counter));
}

void rsc_pass_put_store(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_loop *loop) {
    if (pass->options.position_independent)
        rsc_pass_text_printf(out, "\tmovq\t%%%s, %%fs:(%%%s)\n", NAME(loop->counter), NAME(loop->offset));
    else rsc_pass_text_printf(out, "\tmovq\t%%%s, %%fs:rsc_asm_thread@tpoff\n", NAME(loop->counter));
}

static void adjust(struct rsc_pass_text *out, const struct rsc_pass_cfi *cfi, int bytes) {
    if (bytes && cfi && rsc_pass_cfi_follows_rsp(cfi))
        rsc_pass_text_printf(out, "\t.cfi_adjust_cfa_offset %d\n", bytes);
}

static void push(struct rsc_pass_text *out, uint8_t number, const struct rsc_pass_cfi *cfi) {
    rsc_pass_text_printf(out, "\tpushq\t%%%s\n", NAME(number));
    adjust(out, cfi, 8);
}

static void pop(struct rsc_pass_text *out, uint8_t number, const struct rsc_pass_cfi *cfi) {
    rsc_pass_text_printf(out, "\tpopq\t%%%s\n", NAME(number));
    adjust(out, cfi, -8);
}

/* Entry to and exit from a loop: loads and stores its counter, pushes and pops its registers. `cfi`: the unwind rules
 * inside, or NULL. */
static void put_enter(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_loop *loop,
                      const struct rsc_pass_cfi *cfi) {
    if (rsc_pass_loop_lowers(loop)) {
        rsc_pass_text_printf(out, "\tleaq\t-128(%%rsp), %%rsp\n");
        adjust(out, cfi, 128);
    }
    for (uint8_t i = 0; i < 16; i++)
        if (loop->pushed >> i & 1) push(out, i, cfi);
    rsc_pass_put_load(pass, out, loop);
}

static void put_leave(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_loop *loop,
                      const struct rsc_pass_cfi *cfi) {
    rsc_pass_put_store(pass, out, loop);
    for (uint8_t i = 16; i-- > 0;)
        if (loop->pushed >> i & 1) pop(out, i, cfi);
    if (rsc_pass_loop_lowers(loop)) {
        rsc_pass_text_printf(out, "\tleaq\t128(%%rsp), %%rsp\n");
        adjust(out, cfi, -128);
    }
}

/* All of a jump's text except its last word. */
static int before_target(const struct rsc_pass_item *item) {
    size_t at = item->length;
    while (at && item->text[at - 1] != ' ' && item->text[at - 1] != '\t') at--;
    return (int)at;
}

void rsc_pass_put_jump(const struct rsc_pass *pass, struct rsc_pass_text *out, const struct rsc_pass_insn *insn,
                       const char *label, uint32_t number) {
    const struct rsc_pass_item *item = &pass->items[insn->item];
    rsc_pass_text_printf(out, "\t%.*s%s%u\n", before_target(item), item->text, label, number);
}

struct emitter {
    const struct rsc_pass *pass;
    struct rsc_pass_text *out;
    struct rsc_pass_copies *copies; /* by section */
    const struct rsc_pass_item *location;
    size_t loop; /* the next, or the current one */
    size_t piece; /* the next, or the current one */
};

/* Adjusts the unwind rules of the fast copy while %rsp is lower. */
static void lower(struct emitter *emitter, uint32_t insn, int bytes) {
    const struct rsc_pass_cfi *cfi = &emitter->pass->cfi[emitter->pass->insns[insn].cfi];
    if (rsc_pass_cfi_follows_rsp(cfi)) rsc_pass_text_printf(emitter->out, "\t.cfi_adjust_cfa_offset %d\n", bytes);
}

/* Position-independent code: the counter's offset must be in a register. */
static void count_by_offset(struct emitter *emitter, const struct rsc_pass_piece *piece) {
    struct rsc_pass_text *out = emitter->out;
    int pushes = piece->fast == RSC_PASS_NO_REGISTER;
    const char *with = NAME(pushes ? 0 : piece->fast);
    if (pushes && !piece->flags_live) {
        rsc_pass_text_printf(out, "\tleaq\t-128(%%rsp), %%rsp\n");
        lower(emitter, piece->first, 128);
    }
    if (pushes) {
        rsc_pass_text_printf(out, "\tpushq\t%%%s\n", with);
        lower(emitter, piece->first, 8);
    }
    rsc_pass_text_printf(out, "\tmovq\trsc_asm_thread@gottpoff(%%rip), %%%s\n\tsubq\t$%u, %%fs:(%%%s)\n", with,
                         piece->weight, with);
    if (pushes) {
        rsc_pass_text_printf(out, "\tpopq\t%%%s\n", with);
        lower(emitter, piece->first, -8);
    }
    if (pushes && !piece->flags_live) {
        rsc_pass_text_printf(out, "\tleaq\t128(%%rsp), %%rsp\n");
        lower(emitter, piece->first, -128);
    }
}

static void put_countdown(struct emitter *emitter, const struct rsc_pass_piece *piece, uint32_t number) {
    struct rsc_pass_text *out = emitter->out;
    uint32_t in_loop = emitter->pass->insns[piece->first].loop;
    if (piece->flags_live) {
        rsc_pass_text_printf(out, "\tleaq\t-128(%%rsp), %%rsp\n");
        lower(emitter, piece->first, 128);
        rsc_pass_text_printf(out, "\tpushfq\n");
        lower(emitter, piece->first, 8);
    }
    if (in_loop)
        rsc_pass_text_printf(out, "\tsubq\t$%u, %%%s\n", piece->weight,
                             NAME(emitter->pass->loops[in_loop - 1].counter));
    else if (emitter->pass->options.position_independent) count_by_offset(emitter, piece);
    else rsc_pass_text_printf(out, "\tsubq\t$%u, %%fs:rsc_asm_thread@tpoff\n", piece->weight);
    rsc_pass_text_printf(out, "\tjs\t.Lrscs%u\n.Lrscb%u:\n", number, number);
    if (piece->flags_live) {
        rsc_pass_text_printf(out, "\tpopfq\n");
        lower(emitter, piece->first, -8);
        rsc_pass_text_printf(out, "\tleaq\t128(%%rsp), %%rsp\n");
        lower(emitter, piece->first, -128);
    }
}

/* jrcxz and loop reach 127 bytes: the inserted code may be longer. */
static void put_short_jump(const struct rsc_pass *pass, struct rsc_pass_text *out, uint32_t number) {
    const struct rsc_pass_insn *insn = &pass->insns[number];
    const struct rsc_pass_item *item = &pass->items[insn->item];
    size_t target = (size_t)before_target(item);
    rsc_pass_text_printf(out, "\t%.*s .Lrscx%u\n\tjmp\t.Lrscy%u\n.Lrscx%u:\n\tjmp\t%.*s\n.Lrscy%u:\n", (int)target,
                         item->text, number, number, number, (int)(item->length - target), item->text + target, number);
}

/* ---- loops ---- */

static struct rsc_pass_copies *copies_at(struct emitter *emitter, uint32_t insn) {
    return &emitter->copies[emitter->pass->items[emitter->pass->insns[insn].item].section];
}

/* A jump in a loop: within it, or out of it through a stub that stores the counter. */
static void put_loop_jump(struct emitter *emitter, uint32_t number) {
    const struct rsc_pass *pass = emitter->pass;
    const struct rsc_pass_insn *insn = &pass->insns[number];
    const struct rsc_pass_label *label = &pass->labels[insn->target];
    if (pass->insns[label->insn].loop == insn->loop) {
        rsc_pass_put_jump(pass, emitter->out, insn, ".Lrscl", label->insn);
        return;
    }
    struct rsc_pass_copies *to = copies_at(emitter, number);
    rsc_pass_put_jump(pass, emitter->out, insn, ".Lrsco", number);
    rsc_pass_begin_stub(pass, to, number);
    rsc_pass_text_printf(&to->text, ".Lrsco%u:\n", number);
    const struct rsc_pass_loop *loop = &pass->loops[insn->loop - 1];
    put_leave(pass, &to->text, loop, to->is_open ? &to->cfi : NULL);
    /* From one loop into another: to the label that loads the counter. */
    rsc_pass_text_printf(&to->text, "\tjmp\t%.*s\n", (int)label->length, label->name);
    adjust(&to->text, to->is_open ? &to->cfi : NULL, rsc_pass_loop_lowers(loop));
}

/* A label in a loop that is referenced outside of it leads to a stub that loads the counter. Returns 1 if so. */
static int put_loop_label(struct emitter *emitter, const struct rsc_pass_item *item) {
    const struct rsc_pass *pass = emitter->pass;
    uint32_t number = rsc_pass_label(pass, item->text, item->length);
    const struct rsc_pass_label *label = number == RSC_PASS_NONE ? NULL : &pass->labels[number];
    if (!label || !label->is_used || label->uses == label->uses_inside || label->insn == RSC_PASS_NONE ||
        !pass->insns[label->insn].loop)
        return 0;
    struct rsc_pass_copies *to = copies_at(emitter, label->insn);
    rsc_pass_begin_stub(pass, to, label->insn);
    const struct rsc_pass_loop *loop = &pass->loops[pass->insns[label->insn].loop - 1];
    adjust(&to->text, to->is_open ? &to->cfi : NULL, -rsc_pass_loop_lowers(loop));
    rsc_pass_text_printf(&to->text, "%.*s:\n", (int)label->length, label->name);
    put_enter(pass, &to->text, loop, to->is_open ? &to->cfi : NULL);
    rsc_pass_text_printf(&to->text, "\tjmp\t.Lrscl%u\n", label->insn);
    return 1;
}

/* Whether the code before can fall through into the loop. */
static void enter_loop(struct emitter *emitter, size_t item) {
    const struct rsc_pass *pass = emitter->pass;
    while (emitter->loop < pass->loop_count && pass->loops[emitter->loop].load_item < item) emitter->loop++;
    if (emitter->loop == pass->loop_count || pass->loops[emitter->loop].load_item != item) return;
    const struct rsc_pass_loop *loop = &pass->loops[emitter->loop];
    const struct rsc_pass_cfi *cfi = &pass->cfi[pass->insns[loop->first].cfi];
    if (loop->first && rsc_pass_continues(pass, loop->first - 1, loop->first)) {
        uint8_t flow = pass->insns[loop->first - 1].flow;
        if (flow == RSC_PASS_JUMP || flow == RSC_PASS_INDIRECT || flow == RSC_PASS_RETURN || flow == RSC_PASS_STOP) {
            adjust(emitter->out, cfi, rsc_pass_loop_lowers(loop));
            return;
        }
    }
    put_enter(pass, emitter->out, loop, cfi);
}

static void leave_loop(struct emitter *emitter, uint32_t last) {
    const struct rsc_pass *pass = emitter->pass;
    const struct rsc_pass_loop *loop = &pass->loops[pass->insns[last].loop - 1];
    const struct rsc_pass_cfi *cfi = &pass->cfi[pass->insns[last].cfi];
    if (pass->insns[last].flow == RSC_PASS_CONDITION) put_leave(pass, emitter->out, loop, cfi);
    else adjust(emitter->out, cfi, -rsc_pass_loop_lowers(loop));
}

static void put_insn(struct emitter *emitter, uint32_t number) {
    const struct rsc_pass *pass = emitter->pass;
    const struct rsc_pass_insn *insn = &pass->insns[number];
    const struct rsc_pass_piece *piece = emitter->piece < pass->piece_count ? &pass->pieces[emitter->piece] : NULL;
    uint32_t number_of_piece = (uint32_t)emitter->piece;
    if (insn->loop && insn->is_leader) rsc_pass_text_printf(emitter->out, ".Lrscl%u:\n", number);
    if (piece && number == piece->first) {
        put_countdown(emitter, piece, number_of_piece);
        uint32_t section = pass->items[insn->item].section;
        rsc_pass_put_copy(pass, number_of_piece, &emitter->copies[section], section, emitter->location);
    }
    int is_inside = piece && number >= piece->begin && number < piece->end;
    if (is_inside && number == piece->body_end) rsc_pass_text_printf(emitter->out, ".Lrscr%u:\n", number_of_piece);
    if (pass->options.verify || is_inside) rsc_pass_text_printf(emitter->out, ".Lrscp%u:\n", number);
    if (insn->is_short_only) put_short_jump(pass, emitter->out, number);
    else if (insn->loop && (insn->flow == RSC_PASS_JUMP || insn->flow == RSC_PASS_CONDITION))
        put_loop_jump(emitter, number);
    else rsc_pass_put_insn(pass, emitter->out, insn);
    if (is_inside && number + 1 == piece->end) {
        if (piece->body_end == piece->end) rsc_pass_text_printf(emitter->out, ".Lrscr%u:\n", number_of_piece);
        emitter->piece++;
    }
    if (insn->loop && number + 1 == pass->loops[insn->loop - 1].end) leave_loop(emitter, number);
}

static void put_items(struct emitter *emitter) {
    const struct rsc_pass *pass = emitter->pass;
    for (size_t i = 0; i < pass->item_count; i++) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->glued) continue;
        enter_loop(emitter, i);
        if (item->sort == RSC_PASS_LABEL && put_loop_label(emitter, item)) continue;
        if (item->sort == RSC_PASS_INSN) {
            put_insn(emitter, item->insn);
            continue;
        }
        if (item->sort == RSC_PASS_DIRECTIVE && item->length > 5 && !memcmp(item->text, ".loc", 4))
            emitter->location = item;
        if (item->sort == RSC_PASS_DIRECTIVE) rsc_pass_text_put(emitter->out, "\t", 1);
        rsc_pass_text_put(emitter->out, item->text, item->length);
        rsc_pass_text_put(emitter->out, item->sort == RSC_PASS_LABEL ? ":\n" : "\n",
                          item->sort == RSC_PASS_LABEL ? 2 : 1);
    }
}

static void put_copies(struct emitter *emitter) {
    const struct rsc_pass *pass = emitter->pass;
    for (size_t i = 0; i < pass->section_count; i++) {
        struct rsc_pass_copies *copies = &emitter->copies[i];
        if (copies->text.used) {
            rsc_pass_text_printf(emitter->out, "\t%s\n\t.subsection 1\n.Lrsct%zu:\n", pass->sections[i].enter, i);
            rsc_pass_end_name(copies);
            rsc_pass_text_put(emitter->out, copies->text.data, copies->text.used);
            if (copies->is_open) rsc_pass_text_printf(emitter->out, "\t.cfi_endproc\n");
            rsc_pass_text_printf(emitter->out, "\t.subsection 0\n");
        }
        emitter->out->failed |= copies->text.failed;
        rsc_pass_text_free(&copies->text);
    }
}

void rsc_pass_emit(struct rsc_pass *pass, struct rsc_pass_text *out) {
    struct emitter emitter = {.pass = pass, .out = out};
    emitter.copies = rsc_arena_alloc(&pass->arena, pass->section_count * sizeof *emitter.copies);
    if (!emitter.copies) {
        out->failed = 1;
        return;
    }
    memset(emitter.copies, 0, pass->section_count * sizeof *emitter.copies);
    for (size_t i = 0; i < pass->section_count; i++) emitter.copies[i].function = RSC_PASS_NONE;
    put_items(&emitter);
    put_copies(&emitter);
}
