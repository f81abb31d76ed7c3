/* asm_emit.c - the compiler's text again, with countdowns; then the recording copies. See asm_emit.h. */
#include "collect/asm_emit.h"

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
    if (item->sort != RSC_PASS_DIRECTIVE || length < 5 || memcmp(item->text, ".loc", 4) || (item->text[4] != ' ' && item->text[4] != '\t'))
        return;
    for (size_t i = 4; i + 4 < item->length; i++)
        if (!memcmp(item->text + i, "view", 4)) {
            length = i;
            break;
        }
    rsc_pass_text_printf(out, "\t%.*s\n", (int)length, item->text);
}

struct emitter {
    const struct rsc_pass *pass;
    struct rsc_pass_text *out;
    struct rsc_pass_copies *copies; /* by section */
    const struct rsc_pass_item *location;
    size_t piece; /* the next, or the one that is being written */
};

/* The unwind rules of the fast copy while %rsp is lower. */
static void lower(struct emitter *emitter, uint32_t insn, int bytes) {
    const struct rsc_pass_cfi *cfi = &emitter->pass->cfi[emitter->pass->insns[insn].cfi];
    if (cfi->is_open && cfi->cfa_register == 7 && !cfi->cfa_raw)
        rsc_pass_text_printf(emitter->out, "\t.cfi_adjust_cfa_offset %d\n", bytes);
}

/* Position-independent code: the counter's offset has to be in some register. */
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
    rsc_pass_text_printf(out, "\tmovq\trsc_asm_thread@gottpoff(%%rip), %%%s\n\tsubq\t$%u, %%fs:(%%%s)\n", with, piece->weight, with);
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
    if (piece->flags_live) {
        rsc_pass_text_printf(out, "\tleaq\t-128(%%rsp), %%rsp\n");
        lower(emitter, piece->first, 128);
        rsc_pass_text_printf(out, "\tpushfq\n");
        lower(emitter, piece->first, 8);
    }
    if (emitter->pass->options.position_independent) count_by_offset(emitter, piece);
    else rsc_pass_text_printf(out, "\tsubq\t$%u, %%fs:rsc_asm_thread@tpoff\n", piece->weight);
    rsc_pass_text_printf(out, "\tjs\t.Lrscs%u\n.Lrscb%u:\n", number, number);
    if (piece->flags_live) {
        rsc_pass_text_printf(out, "\tpopfq\n");
        lower(emitter, piece->first, -8);
        rsc_pass_text_printf(out, "\tleaq\t128(%%rsp), %%rsp\n");
        lower(emitter, piece->first, -128);
    }
}

/* jrcxz and loop reach 127 bytes: what is inserted may be more. */
static void put_short_jump(const struct rsc_pass *pass, struct rsc_pass_text *out, uint32_t number) {
    const struct rsc_pass_insn *insn = &pass->insns[number];
    const struct rsc_pass_item *item = &pass->items[insn->item];
    size_t target = item->length;
    while (target && item->text[target - 1] != ' ' && item->text[target - 1] != '\t') target--;
    rsc_pass_text_printf(out, "\t%.*s .Lrscx%u\n\tjmp\t.Lrscy%u\n.Lrscx%u:\n\tjmp\t%.*s\n.Lrscy%u:\n", (int)target, item->text, number,
                         number, number, (int)(item->length - target), item->text + target, number);
}

static void put_insn(struct emitter *emitter, uint32_t number) {
    const struct rsc_pass *pass = emitter->pass;
    const struct rsc_pass_insn *insn = &pass->insns[number];
    const struct rsc_pass_piece *piece = emitter->piece < pass->piece_count ? &pass->pieces[emitter->piece] : NULL;
    uint32_t number_of_piece = (uint32_t)emitter->piece;
    if (piece && number == piece->first) {
        put_countdown(emitter, piece, number_of_piece);
        uint32_t section = pass->items[insn->item].section;
        rsc_pass_put_copy(pass, number_of_piece, &emitter->copies[section], section, emitter->location);
    }
    int is_inside = piece && number >= piece->begin && number < piece->end;
    if (is_inside && number == piece->body_end) rsc_pass_text_printf(emitter->out, ".Lrscr%u:\n", number_of_piece);
    if (pass->options.verify || is_inside) rsc_pass_text_printf(emitter->out, ".Lrscp%u:\n", number);
    if (insn->is_short_only) put_short_jump(pass, emitter->out, number);
    else rsc_pass_put_insn(pass, emitter->out, insn);
    if (is_inside && number + 1 == piece->end) {
        if (piece->body_end == piece->end) rsc_pass_text_printf(emitter->out, ".Lrscr%u:\n", number_of_piece);
        emitter->piece++;
    }
}

static void put_items(struct emitter *emitter) {
    const struct rsc_pass *pass = emitter->pass;
    for (size_t i = 0; i < pass->item_count; i++) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->glued) continue;
        if (item->sort == RSC_PASS_INSN) {
            put_insn(emitter, item->insn);
            continue;
        }
        if (item->sort == RSC_PASS_DIRECTIVE && item->length > 5 && !memcmp(item->text, ".loc", 4)) emitter->location = item;
        if (item->sort == RSC_PASS_DIRECTIVE) rsc_pass_text_put(emitter->out, "\t", 1);
        rsc_pass_text_put(emitter->out, item->text, item->length);
        rsc_pass_text_put(emitter->out, item->sort == RSC_PASS_LABEL ? ":\n" : "\n", item->sort == RSC_PASS_LABEL ? 2 : 1);
    }
}

static void put_copies(struct emitter *emitter) {
    const struct rsc_pass *pass = emitter->pass;
    for (size_t i = 0; i < pass->section_count; i++) {
        struct rsc_pass_copies *copies = &emitter->copies[i];
        if (copies->text.used) {
            rsc_pass_text_printf(emitter->out, "\t%s\n\t.subsection 1\n.Lrsct%zu:\n", pass->sections[i].enter, i);
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
