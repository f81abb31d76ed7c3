/*
 * asm_record.c - writes the recording copy of a piece, and its table.
 *
 * Only the reservation at the start (where flags are dead, or saved) changes flags.
 * Only two registers are used, which the piece does not touch.
 */
#include <stdio.h>
#include <string.h>

#include "collect/rewrite/asm_emit.h"
#include "runtime/ring/ring.h"

static const char *const names_32[16] = {"eax", "ecx", "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",
                                         "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};
#define NAME(number) rsc_pass_register_names[number]

struct copy {
    const struct rsc_pass *pass;
    const struct rsc_pass_piece *piece;
    struct rsc_pass_copies *to;
    struct rsc_pass_text *out;
    const struct rsc_pass_loop *loop; /* or NULL */
    int keeps_b;                      /* all copies of the loop write through the same register */
    uint32_t number;
    uint32_t saved_b, saved_a; /* words */
    uint32_t reserved;
    int lowered; /* bytes by which %rsp is below the program's value */
    uint32_t step; /* in a run: increment of the counter per iteration */
};

/* A field of struct rsc_asm_thread. In position-independent code its offset is in `a`, or in a register of the loop. */
static void put_field(struct copy *copy, unsigned offset) {
    if (copy->pass->options.position_independent)
        rsc_pass_text_printf(copy->out, "%%fs:%u(%%%s)", offset,
                             NAME(copy->loop ? copy->loop->offset : copy->piece->a));
    else rsc_pass_text_printf(copy->out, "%%fs:rsc_asm_thread@tpoff+%u", offset);
}

/* Moves %rsp down (positive) by an inserted instruction, and updates the unwind rules. */
static void lower(struct copy *copy, int bytes) {
    const struct rsc_pass_cfi *cfi = &copy->to->cfi;
    copy->lowered += bytes;
    if (copy->to->is_open && rsc_pass_cfi_follows_rsp(cfi))
        rsc_pass_text_printf(copy->out, "\t.cfi_adjust_cfa_offset %d\n", bytes);
}

/* ---- words ---- */

/* The address of an operand with %fs: the word at %fs:0 is the base itself. */
static void put_thread_address(struct copy *copy, const struct rsc_pass_access *access, const char *text,
                               size_t length) {
    const char *a = NAME(copy->piece->a), *colon = memchr(text, ':', length);
    size_t from = colon ? (size_t)(colon - text) + 1 : 0, end = from;
    while (end < length && text[end] != '(') end++;
    int disp = (int)(end - from);
    rsc_pass_text_printf(copy->out, "\tmovq\t%%fs:0, %%%s\n", a);
    if (access->base != RSC_PASS_NO_REGISTER && access->index != RSC_PASS_NO_REGISTER)
        rsc_pass_text_printf(copy->out, "\tleaq\t(%%%s,%%%s), %%%s\n", a, NAME(access->base), a);
    if (access->index != RSC_PASS_NO_REGISTER)
        rsc_pass_text_printf(copy->out, "\tleaq\t%.*s(%%%s,%%%s,%u), %%%s\n", disp, text + from, a, NAME(access->index),
                             access->scale, a);
    else if (access->base != RSC_PASS_NO_REGISTER)
        rsc_pass_text_printf(copy->out, "\tleaq\t%.*s(%%%s,%%%s), %%%s\n", disp, text + from, a, NAME(access->base), a);
    else rsc_pass_text_printf(copy->out, "\tleaq\t%.*s(%%%s), %%%s\n", disp, text + from, a, a);
}

static void put_address(struct copy *copy, const struct rsc_pass_insn *insn, const struct rsc_pass_access *access) {
    const char *text = "", *a = NAME(copy->piece->a);
    size_t length = rsc_pass_memory_operand(copy->pass, insn, &text);
    const struct rsc_pass_item *item = &copy->pass->items[insn->item];
    const char *paren = memchr(text, '(', length);
    int disp = paren ? (int)(paren - text) : (int)length;
    if (access->segment) put_thread_address(copy, access, text, length);
    else if (access->kind == RSC_ASM_GATHERED && access->base != RSC_PASS_NO_REGISTER)
        rsc_pass_text_printf(copy->out, "\tleaq\t%.*s(%%%s), %%%s\n", disp, text, NAME(access->base), a);
    else if (access->kind == RSC_ASM_GATHERED) rsc_pass_text_printf(copy->out, "\tleaq\t%.*s, %%%s\n", disp, text, a);
    else if (item->length > 6 && !memcmp(item->text, "movabs", 6))
        rsc_pass_text_printf(copy->out, "\tmovabsq\t$%.*s, %%%s\n", (int)length, text, a);
    else rsc_pass_text_printf(copy->out, "\tleaq\t%.*s, %%%s\n", (int)length, text, a);
}

static void put_mask(struct copy *copy, const struct rsc_pass_word *word) {
    const char *to = names_32[copy->piece->a];
    switch (word->mask_sort) {
    case RSC_PASS_MASK_K:
        if (word->bytes > 16)
            rsc_pass_text_printf(copy->out, "\tkmovq\t%%k%u, %%%s\n", word->which, NAME(copy->piece->a));
        else rsc_pass_text_printf(copy->out, "\tkmovw\t%%k%u, %%%s\n", word->which, to);
        break;
    case RSC_PASS_MASK_PS:
        rsc_pass_text_printf(copy->out, "\tvmovmskps\t%%%s%u, %%%s\n", word->bytes > 4 ? "ymm" : "xmm", word->which,
                             to);
        break;
    case RSC_PASS_MASK_PD:
        rsc_pass_text_printf(copy->out, "\tvmovmskpd\t%%%s%u, %%%s\n", word->bytes > 2 ? "ymm" : "xmm", word->which,
                             to);
        break;
    default: rsc_pass_text_printf(copy->out, "\tpmovmskb\t%%xmm%u, %%%s\n", word->which, to); break;
    }
}

static void put_word(struct copy *copy, const struct rsc_pass_word *word) {
    const char *from = NAME(copy->piece->a), *b = NAME(copy->piece->b);
    switch (word->sort) {
    case RSC_PASS_STORE_REGISTER: from = NAME(word->which); break;
    case RSC_PASS_STORE_ADDRESS: put_address(copy, &copy->pass->insns[word->insn], word->access); break;
    case RSC_PASS_STORE_MASK: put_mask(copy, word); break;
    default:
        rsc_pass_text_printf(copy->out, "\t%s\t%%%cmm%u, %u(%%%s)\n",
                             word->bytes == 64 || word->which > 15 ? "vmovdqu64" : "vmovdqu",
                             word->bytes == 64   ? 'z'
                             : word->bytes == 32 ? 'y'
                                                 : 'x',
                             word->which, word->word * 8u, b);
        return;
    }
    if (copy->piece->is_run && !word->is_once) {
        int turn = 8 * ((int)word->word - copy->piece->turn_words); /* the counter is at the iteration's end */
        rsc_pass_text_printf(copy->out, "\tmovq\t%%%s, %d(%%%s,%%%s,8)\n", from, turn, b, NAME(copy->loop->counter));
        return;
    }
    rsc_pass_text_printf(copy->out, "\tmovq\t%%%s, %u(%%%s)\n", from, word->word * 8u, b);
}

/* Words of one instruction: those taken before it, or after it. */
static void put_words(struct copy *copy, uint32_t insn, int is_after) {
    const struct rsc_pass_piece *piece = copy->piece;
    for (uint32_t i = 0; i < piece->stores; i++) {
        const struct rsc_pass_word *word = &copy->pass->words[piece->store + i];
        if (word->insn == insn && word->is_after == is_after && !word->is_once) put_word(copy, word);
    }
}

/* ---- runs ---- */

/* Flags are dead where an iteration begins. */
static void begin_run(struct copy *copy) {
    const struct rsc_pass_piece *piece = copy->piece;
    uint8_t counter = copy->loop->counter;
    for (uint32_t i = 0; i < piece->stores; i++)
        if (copy->pass->words[piece->store + i].is_once) put_word(copy, &copy->pass->words[piece->store + i]);
    rsc_pass_text_printf(copy->out, "\tmovabsq\t$%lld, %%%s\n.Lrscm%u:\n", (long long)RSC_ASM_RECORD, NAME(counter),
                         copy->number);
    rsc_pass_text_printf(copy->out, "\tcmpl\t");
    put_field(copy, 24);
    rsc_pass_text_printf(copy->out, ", %%%s\n\tjae\t.Lrscn%u\n", names_32[counter], copy->number);
    rsc_pass_text_printf(copy->out, "\tleaq\t%u(%%%s), %%%s\n\tmovq\t%%%s, 8(%%%s)\n", copy->step, NAME(counter),
                         NAME(counter), NAME(counter), NAME(piece->b));
}

/* The next piece writes after the words of the run. */
static void put_run_end(struct copy *copy) {
    const struct rsc_pass_piece *piece = copy->piece;
    const char *b = NAME(piece->b);
    if (piece->turn_words) {
        rsc_pass_text_printf(copy->out, "\tleaq\t%u(%%%s,%%%s,8), %%%s\n\tmovq\t%%%s, ", piece->words * 8u, b,
                             NAME(copy->loop->counter), b, b);
        put_field(copy, 8);
        rsc_pass_text_printf(copy->out, "\n");
    } else {
        rsc_pass_text_printf(copy->out, "\tleaq\t%u(%%%s), %%%s\n", piece->words * 8u, b, b);
    }
}

/* ---- the copy ---- */

static void reserve(struct copy *copy) {
    const struct rsc_pass_piece *piece = copy->piece;
    struct rsc_pass_text *out = copy->out;
    const char *a = NAME(piece->a), *b = NAME(piece->b);
    if ((piece->a_live || piece->b_live) && !piece->flags_live) {
        rsc_pass_text_printf(out, "\tleaq\t-128(%%rsp), %%rsp\n");
        lower(copy, 128);
    }
    if (piece->a_live) {
        rsc_pass_text_printf(out, "\tpushq\t%%%s\n", a);
        lower(copy, 8);
    }
    if (piece->b_live) {
        rsc_pass_text_printf(out, "\tpushq\t%%%s\n", b);
        lower(copy, 8);
    }
    /*
     * A handler that interrupts this has its own slot (or was not rebuilt: only its own
     * records are lost), so nothing moves `next` meanwhile.
     */
    int has_offset = copy->pass->options.position_independent && !copy->loop;
    if (has_offset) {
        rsc_pass_text_printf(out, "\tmovq\trsc_asm_thread@gottpoff(%%rip), %%%s\n\tmovl\t$%u, %%%s\n\txaddq\t%%%s, ", a,
                             copy->reserved * 8, names_32[piece->b], b);
        put_field(copy, 8);
    } else {
        rsc_pass_text_printf(out, "\tmovq\t");
        put_field(copy, 8);
        rsc_pass_text_printf(out, ", %%%s", b);
    }
    if (copy->keeps_b) rsc_pass_text_printf(out, "\n.Lrscc%u:", copy->number);
    rsc_pass_text_printf(out, "\n\tcmpq\t");
    put_field(copy, 16);
    rsc_pass_text_printf(out, ", %%%s\n\tjae\t.Lrscf%u\n", b, copy->number);
    if (!has_offset) {
        rsc_pass_text_printf(out, "\tleaq\t%u(%%%s), %%%s\n\tmovq\t%%%s, ", copy->reserved * 8, b, a, a);
        put_field(copy, 8);
        rsc_pass_text_printf(out, "\n");
    }
    if (piece->b_live) {
        rsc_pass_text_printf(out, "\tpopq\t%u(%%%s)\n", copy->saved_b * 8, b);
        lower(copy, -8);
    }
    if (piece->a_live) {
        rsc_pass_text_printf(out, "\tpopq\t%u(%%%s)\n", copy->saved_a * 8, b);
        lower(copy, -8);
    }
    if (piece->flags_live) {
        rsc_pass_text_printf(out, "\tpopfq\n");
        lower(copy, -8);
    }
    if (copy->lowered) {
        rsc_pass_text_printf(out, "\tleaq\t128(%%rsp), %%rsp\n");
        lower(copy, -128);
    }
    rsc_pass_text_printf(out, "\tleaq\t.Lrscd%u(%%rip), %%%s\n\tmovq\t%%%s, (%%%s)\n", copy->number, a, a, b);
}

static void change_cfi(const struct rsc_pass *pass, struct rsc_pass_copies *to, uint32_t insn) {
    const struct rsc_pass_cfi *wanted = &pass->cfi[pass->insns[insn].cfi];
    if (!to->is_open || !wanted->is_open) return;
    rsc_pass_cfi_change(&to->cfi, wanted, &to->text);
    to->cfi = *wanted;
}

static void set_cfi(struct copy *copy, uint32_t insn) { change_cfi(copy->pass, copy->to, insn); }

/* ---- continuation ---- */

/* The piece whose recording copy may be entered when the program is at `insn`; RSC_PASS_NONE: none. */
static uint32_t chained(const struct copy *copy, uint32_t insn) {
    const struct rsc_pass *pass = copy->pass;
    if (insn >= pass->insn_count || !pass->insns[insn].piece) return RSC_PASS_NONE;
    const struct rsc_pass_piece *next = &pass->pieces[pass->insns[insn].piece - 1];
    if (next->first != insn || next->flags_live || pass->insns[insn].loop != pass->insns[copy->piece->first].loop)
        return RSC_PASS_NONE;
    return pass->insns[insn].piece - 1;
}

/* Goes from copy to copy where possible: without a countdown or a jump back and forth. */
static void put_end(struct copy *copy) {
    const struct rsc_pass *pass = copy->pass;
    const struct rsc_pass_piece *piece = copy->piece;
    const struct rsc_pass_insn *last = piece->body_end < piece->end ? &pass->insns[piece->body_end] : NULL;
    uint32_t target = RSC_PASS_NONE, next = RSC_PASS_NONE;
    if (last && last->target != RSC_PASS_NONE && pass->labels[last->target].item != RSC_PASS_NONE &&
        !last->is_short_only && (last->flow == RSC_PASS_JUMP || last->flow == RSC_PASS_CONDITION))
        target = chained(copy, pass->labels[last->target].insn);
    if (!last || (last->flow == RSC_PASS_CONDITION && !last->is_short_only))
        if (rsc_pass_continues(pass, piece->end - 1, piece->end)) next = chained(copy, piece->end);
    const char *chain = copy->keeps_b ? ".Lrscc" : ".Lrscs";
    if (piece->is_run) {
        rsc_pass_put_jump(pass, copy->out, last, ".Lrscm", copy->number);
        put_run_end(copy);
        rsc_pass_text_printf(copy->out, "\tjmp\t%s%u\n", next == RSC_PASS_NONE ? ".Lrscr" : chain,
                             next == RSC_PASS_NONE ? copy->number : next);
        rsc_pass_text_printf(copy->out, ".Lrscn%u:\n", copy->number);
        put_run_end(copy);
        rsc_pass_text_printf(copy->out, "\tjmp\t.Lrscc%u\n", copy->number);
        return;
    }
    if (copy->keeps_b && (target != RSC_PASS_NONE || next != RSC_PASS_NONE))
        rsc_pass_text_printf(copy->out, "\tleaq\t%u(%%%s), %%%s\n", copy->reserved * 8, NAME(piece->b), NAME(piece->b));
    if (last && last->flow == RSC_PASS_JUMP) next = target;
    else if (last && (target != RSC_PASS_NONE || next != RSC_PASS_NONE))
        rsc_pass_put_jump(pass, copy->out, last, target == RSC_PASS_NONE ? ".Lrscr" : chain,
                          target == RSC_PASS_NONE ? copy->number : target);
    rsc_pass_text_printf(copy->out, "\tjmp\t%s%u\n", next == RSC_PASS_NONE ? ".Lrscr" : chain,
                         next == RSC_PASS_NONE ? copy->number : next);
}

static void put_body(struct copy *copy) {
    const struct rsc_pass *pass = copy->pass;
    const struct rsc_pass_piece *piece = copy->piece;
    for (uint32_t i = piece->first; i < piece->body_end; i++) {
        const struct rsc_pass_insn *insn = &pass->insns[i];
        for (uint32_t k = i > piece->first ? pass->insns[i - 1].item : insn->item; k < insn->item; k++)
            rsc_pass_put_location(copy->out, &pass->items[k]);
        set_cfi(copy, i);
        put_words(copy, i, 0);
        if (pass->options.verify) rsc_pass_text_printf(copy->out, ".Lrscw%u:\n", i);
        rsc_pass_put_insn(pass, copy->out, insn);
        put_words(copy, i, 1);
    }
    if (piece->body_end < piece->end) {
        set_cfi(copy, piece->body_end);
        put_words(copy, piece->body_end, 0);
    } else if (piece->end < pass->insn_count && !pass->insns[piece->end].is_leader) {
        set_cfi(copy, piece->end);
    }
    if (piece->a_live)
        rsc_pass_text_printf(copy->out, "\tmovq\t%u(%%%s), %%%s\n", copy->saved_a * 8, NAME(piece->b), NAME(piece->a));
    if (piece->b_live)
        rsc_pass_text_printf(copy->out, "\tmovq\t%u(%%%s), %%%s\n", copy->saved_b * 8, NAME(piece->b), NAME(piece->b));
    put_end(copy);
}

/* No room, or the countdown has ended: calls the runtime. */
static void put_full(struct copy *copy) {
    const struct rsc_pass_piece *piece = copy->piece;
    struct rsc_pass_text *out = copy->out;
    const char *a = NAME(piece->a), *b = NAME(piece->b);
    int pic = copy->pass->options.position_independent, pushed = piece->a_live || piece->b_live;
    const struct rsc_pass_loop *loop = copy->loop;
    set_cfi(copy, piece->first);
    copy->lowered = 0;
    if (pushed || piece->flags_live) lower(copy, 128 + 8 * (piece->a_live + piece->b_live + piece->flags_live));
    rsc_pass_text_printf(out, ".Lrscf%u:\n", copy->number);
    if (copy->pass->options.position_independent && !loop) {
        rsc_pass_text_printf(out, "\tsubq\t$%u, ", copy->reserved * 8);
        put_field(copy, 8);
        rsc_pass_text_printf(out, "\n");
    }
    if (piece->b_live) {
        rsc_pass_text_printf(out, "\tpopq\t%%%s\n", b);
        lower(copy, -8);
    }
    if (piece->a_live) {
        rsc_pass_text_printf(out, "\tpopq\t%%%s\n", a);
        lower(copy, -8);
    }
    if (!copy->lowered) {
        rsc_pass_text_printf(out, "\tleaq\t-128(%%rsp), %%rsp\n");
        lower(copy, 128);
    }
    if (loop) rsc_pass_put_store(copy->pass, out, loop);
    rsc_pass_text_printf(out, "\tcall\t*rsc_asm_room@GOTPCREL(%%rip)\n\tnopl\t.Lrscd%u(%%rip)\n", copy->number);
    if (loop) {
        rsc_pass_put_load(copy->pass, out, loop);
        rsc_pass_text_printf(out, "\ttestq\t%%%s, %%%s\n", NAME(loop->counter), NAME(loop->counter));
        pic = 0;
    } else {
        if (pic && piece->a_live) rsc_pass_text_printf(out, "\tpushq\t%%%s\n", a);
        if (pic) rsc_pass_text_printf(out, "\tmovq\trsc_asm_thread@gottpoff(%%rip), %%%s\n", a);
        rsc_pass_text_printf(out, "\tcmpq\t$0, ");
        put_field(copy, 0);
        rsc_pass_text_printf(out, "\n");
    }
    if (pic && piece->a_live) rsc_pass_text_printf(out, "\tpopq\t%%%s\n", a);
    if (!piece->flags_live) {
        rsc_pass_text_printf(out, "\tleaq\t128(%%rsp), %%rsp\n");
        lower(copy, -128);
    }
    rsc_pass_text_printf(out, "\tjs\t.Lrscs%u\n\tjmp\t.Lrscb%u\n", copy->number, copy->number);
    if (piece->flags_live) lower(copy, -copy->lowered);
}

/* ---- its table ---- */

static unsigned end_of(const struct rsc_pass *pass, const struct rsc_pass_piece *piece) {
    uint8_t flow = pass->insns[piece->end - 1].flow;
    return flow == RSC_PASS_CALL ? RSC_PLAN_ENDS_CALL : flow == RSC_PASS_RETURN ? RSC_PLAN_ENDS_RETURN : RSC_PLAN_ENDS;
}

static void put_table(struct copy *copy, uint32_t section) {
    const struct rsc_pass *pass = copy->pass;
    const struct rsc_pass_piece *piece = copy->piece;
    struct rsc_pass_text *out = copy->out;
    unsigned ends = (piece->is_run ? RSC_ASM_RUN : end_of(pass, piece)) |
                    (copy->loop ? (copy->loop->counter + 1u) << RSC_ASM_COUNTER_SHIFT : 0);
    rsc_pass_text_printf(out, "\t.pushsection\t" RSC_ASM_SECTION ",\"ao?\",@progbits,.Lrsct%u\n\t.p2align 3\n",
                         section);
    rsc_pass_text_printf(
        out, ".Lrscd%u:\n\t.long\t.Lrscp%u-.\n\t.value\t.Lrscp%u-.Lrscp%u, %u, %u, %u\n\t.byte\t%u, %u\n\t.value\t%u\n",
        copy->number, piece->begin, piece->end - 1, piece->begin, piece->end - piece->begin, piece->entries,
        piece->words, ends, RSC_ASM_ABI, piece->is_run ? piece->turn_words : copy->reserved);
    for (uint32_t i = 0; i < piece->entries; i++) {
        const struct rsc_asm_entry *entry = &pass->entries[piece->entry + i];
        rsc_pass_text_printf(
            out,
            "\t.value\t.Lrscp%u-.Lrscp%u, %u\n\t.byte\t%u, %u, %u, %u\n\t.long\t%d\n\t.value\t%u\n\t.byte\t%u, %u\n",
            pass->entry_insns[piece->entry + i], piece->begin, entry->order, entry->kind, entry->flags, entry->base,
            entry->index, entry->disp, entry->size, entry->scale, entry->count);
    }
    for (uint32_t i = 0; i < piece->entries && piece->is_run; i++)
        rsc_pass_text_printf(out, "\t.long\t%d\n", pass->entry_steps[piece->entry + i]);
    if (piece->is_run) rsc_pass_text_printf(out, "\t.p2align 3\n");
    rsc_pass_text_printf(out, "\t.popsection\n");
}

/*
 * The name of a function's copies for debuggers and profilers: its name, ".recording", and a number if they are in
 * several places.
 */
void rsc_pass_end_name(struct rsc_pass_copies *to) {
    if (to->name[0]) rsc_pass_text_printf(&to->text, "\t.size\t%s, .-%s\n", to->name, to->name);
    to->name[0] = 0;
}

static void begin_name(const struct rsc_pass *pass, struct rsc_pass_copies *to, uint32_t function) {
    if (function == RSC_PASS_NONE) return;
    const char *name = pass->functions[function].name;
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$")]) return;
    uint32_t before = pass->functions[function].copies++;
    int length = snprintf(to->name, sizeof to->name, before ? "%s.recording.%u" : "%s.recording", name, before);
    if (length >= (int)sizeof to->name) to->name[0] = 0;
    else rsc_pass_text_printf(&to->text, "\t.type\t%s, @function\n%s:\n", to->name, to->name);
}

/* Copies of one function share an unwind table entry; another function starts another. */
static void open_function(const struct rsc_pass *pass, struct rsc_pass_copies *to, uint32_t insn) {
    uint32_t function = pass->items[pass->insns[insn].item].function;
    int wants = pass->cfi[pass->insns[insn].cfi].is_open;
    if (function == to->function && wants == to->is_open) return;
    if (to->is_open) rsc_pass_text_printf(&to->text, "\t.cfi_endproc\n");
    if (function != to->function) {
        rsc_pass_end_name(to);
        begin_name(pass, to, function);
    }
    if (wants) rsc_pass_text_printf(&to->text, "\t.cfi_startproc\n");
    to->function = function;
    to->is_open = wants;
    to->cfi = (struct rsc_pass_cfi){.is_open = 1, .cfa_register = 7, .cfa_offset = 8};
}

void rsc_pass_begin_stub(const struct rsc_pass *pass, struct rsc_pass_copies *to, uint32_t insn) {
    open_function(pass, to, insn);
    change_cfi(pass, to, insn);
}

void rsc_pass_put_copy(const struct rsc_pass *pass, uint32_t number, struct rsc_pass_copies *to, uint32_t section,
                       const struct rsc_pass_item *location) {
    const struct rsc_pass_piece *piece = &pass->pieces[number];
    struct copy copy = {.pass = pass, .piece = piece, .to = to, .out = &to->text, .number = number};
    uint32_t in_loop = pass->insns[piece->first].loop;
    copy.loop = in_loop ? &pass->loops[in_loop - 1] : NULL;
    copy.keeps_b = copy.loop && copy.loop->b != RSC_PASS_NO_REGISTER && !piece->flags_live;
    copy.saved_b = piece->words;
    copy.saved_a = piece->words + piece->b_live;
    copy.reserved = piece->words + piece->b_live + piece->a_live;
    if (piece->is_run) {
        copy.step = piece->turn_words ? piece->turn_words : 1;
        copy.reserved = piece->words + (piece->turn_words ? RSC_ASM_RUN_MOST + piece->turn_words : 0);
    }
    open_function(pass, to, piece->first);
    if (location) rsc_pass_put_location(copy.out, location);
    set_cfi(&copy, piece->first);
    if (piece->flags_live) lower(&copy, 136);
    rsc_pass_text_printf(copy.out, ".Lrscs%u:\n", number);
    reserve(&copy);
    if (piece->is_run) begin_run(&copy);
    put_body(&copy);
    put_full(&copy);
    put_table(&copy, section);
}
