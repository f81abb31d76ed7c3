/*
 * asm_entries.c - makes pieces of blocks, and for each access of a piece its table entry and
 * the words it needs.
 *
 * A word is the value of a register at some instruction. As long as only constants were added
 * to the register since (by pushes and pops too), another access through it needs no extra
 * word: the difference goes into the entry.
 *
 * A piece that jumps back to itself is a run (runtime/pieces/asm_abi.h). In a run, a register
 * that only has constants added to it needs one word for all iterations, and the entry holds
 * the increment per iteration.
 */
#include <ctype.h>
#include <string.h>

#include "base/fail.h"
#include "collect/rewrite/asm_pass.h"

#define ENTRIES_MOST 96  /* in a piece */
#define INSNS_MOST 400
#define WORDS_MOST 200   /* an entry has 8 bits for them */
#define RUN_ACCESSES_MOST 50u /* at most two words each */
#define TURN_WORDS 128u  /* in a run, words from this number on belong to each iteration, until all are known */

struct cutter {
    struct rsc_pass *pass;
    struct rsc_pass_piece *piece;
    struct {
        uint8_t is_known;
        uint16_t word;
        int32_t delta; /* register = word + delta */
    } known[16];
    uint32_t even;     /* in a run: registers to which each iteration adds a constant */
    int32_t turns[16]; /* that constant */
    int failed; /* memory */
};

/* ---- words and entries ---- */

static void add_word(struct cutter *cutter, struct rsc_pass_word word) {
    struct rsc_pass *pass = cutter->pass;
    void *grown = rsc_pass_grow(pass, pass->words, pass->word_count, &pass->word_room, sizeof *pass->words);
    if (!grown) {
        cutter->failed = 1;
        return;
    }
    pass->words = grown;
    pass->words[pass->word_count++] = word;
    cutter->piece->stores++;
}

/* A word that a run writes once, before its first iteration. */
static uint8_t once_word(struct cutter *cutter, struct rsc_pass_word word) {
    word.word = cutter->piece->words++;
    word.is_once = 1;
    add_word(cutter, word);
    return (uint8_t)word.word;
}

/* The number of the next word: of the piece, or of an iteration. */
static uint16_t new_word(struct cutter *cutter) {
    struct rsc_pass_piece *piece = cutter->piece;
    return piece->is_run ? (uint16_t)(TURN_WORDS + piece->turn_words++) : piece->words++;
}

/* The word of a register's value before `insn`. */
static uint8_t word_of(struct cutter *cutter, uint32_t insn, uint8_t number, int32_t *delta, int exactly) {
    if (cutter->even >> number & 1 && !cutter->known[number].word)
        cutter->known[number].word =
            once_word(cutter, (struct rsc_pass_word){.insn = insn, .which = number, .sort = RSC_PASS_STORE_REGISTER});
    if (!cutter->known[number].is_known || (exactly && cutter->known[number].delta)) {
        cutter->known[number].is_known = 1;
        cutter->known[number].word = new_word(cutter);
        cutter->known[number].delta = 0;
        add_word(cutter, (struct rsc_pass_word){.insn = insn,
                                                .word = cutter->known[number].word,
                                                .which = number,
                                                .sort = RSC_PASS_STORE_REGISTER});
    }
    *delta = cutter->known[number].delta;
    return (uint8_t)cutter->known[number].word;
}

/* Whether the displacement is a number, known to Zydis; only the linker knows a symbol. */
static int has_number(const struct rsc_pass *pass, const struct rsc_pass_insn *insn) {
    const char *text;
    size_t length = rsc_pass_memory_operand(pass, insn, &text);
    for (size_t i = 0; i < length && text[i] != '('; i++)
        if (isalpha((unsigned char)text[i]) || text[i] == '_' || text[i] == '@' || text[i] == '.' || text[i] == '%') {
            int is_hex = (text[i] == 'x' || text[i] == 'X') && i && text[i - 1] == '0';
            if (!is_hex && !(i && isxdigit((unsigned char)text[i]) && memchr(text, 'x', i))) return 0;
        }
    return 1;
}

static uint8_t address_word(struct cutter *cutter, uint32_t insn, const struct rsc_pass_access *access) {
    uint16_t word = new_word(cutter);
    add_word(cutter,
             (struct rsc_pass_word){.insn = insn, .word = word, .sort = RSC_PASS_STORE_ADDRESS, .access = access});
    return (uint8_t)word;
}

/* What was added to an address through this register since the iteration began, and what each iteration adds. */
static int moves_evenly(const struct cutter *cutter, uint8_t number, uint32_t scale, int32_t *disp, int32_t *step) {
    if (number >= 16) return 1;
    if (!(cutter->even >> number & 1)) return 0;
    *disp += cutter->known[number].delta * (int32_t)scale;
    *step += cutter->turns[number] * (int32_t)scale;
    return 1;
}

/*
 * In a run: an operand of a symbol and registers with constant increments is computed once. Returns 0 if it is not
 * one.
 */
static int address_once(struct cutter *cutter, uint32_t insn, const struct rsc_pass_access *access,
                        struct rsc_asm_entry *entry, int32_t *step) {
    int32_t disp = 0, grows = 0;
    if (!cutter->piece->is_run || access->kind != RSC_ASM_PLAIN ||
        !moves_evenly(cutter, access->base, 1, &disp, &grows) ||
        !moves_evenly(cutter, access->index, access->scale, &disp, &grows))
        return 0;
    entry->base =
        once_word(cutter, (struct rsc_pass_word){.insn = insn, .sort = RSC_PASS_STORE_ADDRESS, .access = access});
    entry->disp = disp;
    *step = grows;
    return 1;
}

static uint8_t mask_word(struct cutter *cutter, uint32_t insn, const struct rsc_pass_access *access) {
    uint16_t word = cutter->piece->words++;
    add_word(cutter, (struct rsc_pass_word){.insn = insn,
                                            .word = word,
                                            .sort = RSC_PASS_STORE_MASK,
                                            .which = access->mask,
                                            .mask_sort = access->mask_sort,
                                            .bytes = access->mask_bits,
                                            .access = access});
    return (uint8_t)word;
}

/* Base and displacement of the entry. */
static void put_base(struct cutter *cutter, uint32_t insn, const struct rsc_pass_access *access,
                     struct rsc_asm_entry *entry, int with_index, int32_t *step) {
    const struct rsc_pass_insn *of = &cutter->pass->insns[insn];
    int is_symbolic = access->is_written && !has_number(cutter->pass, of);
    int has_index = access->index != RSC_PASS_NO_REGISTER;
    int32_t delta;
    if (access->segment || is_symbolic || access->base == RSC_PASS_RIP || (has_index && !with_index) ||
        (access->base == RSC_PASS_NO_REGISTER && !has_index && access->kind != RSC_ASM_GATHERED)) {
        if (address_once(cutter, insn, access, entry, step)) return;
        entry->base = address_word(cutter, insn, access);
        entry->scale = access->kind == RSC_ASM_GATHERED ? access->scale : 1;
        return;
    }
    entry->disp = access->disp;
    entry->scale = access->scale;
    if (access->base != RSC_PASS_NO_REGISTER) {
        entry->base = word_of(cutter, insn, access->base, &delta, 0);
        entry->disp += delta;
        *step += cutter->turns[access->base];
    }
    if (has_index) {
        entry->index = word_of(cutter, insn, access->index, &delta, 0);
        entry->disp += delta * access->scale;
        *step += cutter->turns[access->index] * access->scale;
    }
}

static void add_entry(struct cutter *cutter, uint32_t insn, const struct rsc_pass_access *access) {
    struct rsc_pass *pass = cutter->pass;
    struct rsc_pass_piece *piece = cutter->piece;
    struct rsc_asm_entry entry = {.order = (uint16_t)(insn - piece->begin),
                                  .kind = access->kind,
                                  .flags = access->flags,
                                  .size = access->size,
                                  .scale = 1,
                                  .count = access->count};
    int32_t delta, step = 0;
    switch (access->kind) {
    case RSC_ASM_RIP:
        entry.count = pass->insns[insn].disp_at;
        entry.scale = pass->insns[insn].length;
        break;
    case RSC_ASM_STRING:
        entry.base = word_of(cutter, insn, access->base, &delta, 0);
        entry.disp = delta;
        entry.index = word_of(cutter, insn, 1, &delta, 1); /* %rcx */
        if (access->flags & RSC_ASM_BY_EQUAL) {
            entry.count = (uint8_t)piece->words++;
            add_word(
                cutter,
                (struct rsc_pass_word){
                    .insn = insn, .word = entry.count, .which = 1, .is_after = 1, .sort = RSC_PASS_STORE_REGISTER});
        }
        break;
    case RSC_ASM_MASKED:
    case RSC_ASM_PACKED:
    case RSC_ASM_ANY:
        put_base(cutter, insn, access, &entry, 0, &step);
        entry.index = mask_word(cutter, insn, access);
        break;
    case RSC_ASM_GATHERED:
        put_base(cutter, insn, access, &entry, 0, &step);
        entry.index = (uint8_t)piece->words;
        add_word(cutter, (struct rsc_pass_word){.insn = insn,
                                                .word = piece->words,
                                                .which = access->vector,
                                                .bytes = access->vector_bytes,
                                                .sort = RSC_PASS_STORE_VECTOR,
                                                .access = access});
        piece->words = (uint16_t)(piece->words + access->vector_bytes / 8);
        mask_word(cutter, insn, access);
        break;
    default: put_base(cutter, insn, access, &entry, 1, &step); break;
    }
    void *entries = rsc_pass_grow(pass, pass->entries, pass->entry_count, &pass->entry_room, sizeof *pass->entries);
    void *insns = entries ? rsc_pass_grow(pass, pass->entry_insns, pass->entry_count, &pass->entry_insn_room,
                                          sizeof *pass->entry_insns)
                          : NULL;
    void *steps = insns ? rsc_pass_grow(pass, pass->entry_steps, pass->entry_count, &pass->entry_step_room,
                                        sizeof *pass->entry_steps)
                        : NULL;
    if (!steps) {
        cutter->failed = 1;
        return;
    }
    pass->entries = entries;
    pass->entry_insns = insns;
    pass->entry_steps = steps;
    pass->entry_insns[pass->entry_count] = insn;
    pass->entry_steps[pass->entry_count] = step;
    pass->entries[pass->entry_count++] = entry;
    piece->entries++;
    piece->weight = (uint16_t)(piece->weight + ((access->flags & 3) == 3 ? 2 : 1));
}

/* Updates the known register values after the instruction. */
static void go_past(struct cutter *cutter, const struct rsc_pass_insn *insn) {
    for (uint8_t i = 0; i < 16; i++) {
        if (!(insn->changes >> i & 1)) continue;
        if (i == insn->adds_to) cutter->known[i].delta += insn->adds;
        else if (i == RSC_PASS_RSP && insn->rsp_moves) cutter->known[i].delta += insn->rsp_moves;
        else cutter->known[i].is_known = 0;
        if (cutter->known[i].delta > 1 << 28 || cutter->known[i].delta < -(1 << 28)) cutter->known[i].is_known = 0;
    }
}

/* Whether the piece jumps back to its own start, with only plain accesses, in a loop that has registers for it. */
static int may_run(const struct rsc_pass *pass, const struct rsc_pass_piece *piece) {
    const struct rsc_pass_insn *last = &pass->insns[piece->end - 1], *first = &pass->insns[piece->begin];
    if (last->flow != RSC_PASS_CONDITION || last->is_short_only || last->target == RSC_PASS_NONE || piece->flags_live ||
        piece->first != piece->begin || !first->loop || pass->loops[first->loop - 1].b == RSC_PASS_NO_REGISTER)
        return 0;
    const struct rsc_pass_label *label = &pass->labels[last->target];
    if (label->item == RSC_PASS_NONE || label->insn != piece->begin) return 0;
    for (uint32_t i = piece->begin; i < piece->end; i++)
        for (int k = 0; k < pass->insns[i].access_count; k++)
            if (pass->insns[i].access[k].kind != RSC_ASM_PLAIN && pass->insns[i].access[k].kind != RSC_ASM_RIP)
                return 0;
    return 1;
}

/* Registers to which the piece adds constants, or nothing. */
static void find_even(struct cutter *cutter) {
    const struct rsc_pass *pass = cutter->pass;
    cutter->even = 0xffff;
    for (uint32_t i = cutter->piece->begin; i < cutter->piece->end; i++) {
        const struct rsc_pass_insn *insn = &pass->insns[i];
        for (uint8_t number = 0; number < 16; number++) {
            if (!(insn->changes >> number & 1)) continue;
            if (number == insn->adds_to) cutter->turns[number] += insn->adds;
            else cutter->even &= ~(1u << number);
        }
    }
    for (uint8_t number = 0; number < 16; number++) {
        if (cutter->turns[number] > 1 << 24 || cutter->turns[number] < -(1 << 24)) cutter->even &= ~(1u << number);
        cutter->known[number].is_known = cutter->even >> number & 1;
        if (!cutter->known[number].is_known) cutter->turns[number] = 0;
    }
}

/* An iteration's words follow those that are written once. */
static void number_words(struct cutter *cutter) {
    struct rsc_pass *pass = cutter->pass;
    const struct rsc_pass_piece *piece = cutter->piece;
    for (uint32_t i = 0; i < piece->entries; i++) {
        struct rsc_asm_entry *entry = &pass->entries[piece->entry + i];
        if (entry->kind == RSC_ASM_RIP) continue; /* its fields have other meanings */
        if (entry->base >= TURN_WORDS) entry->base = (uint8_t)(entry->base - TURN_WORDS + piece->words);
        if (entry->index >= TURN_WORDS) entry->index = (uint8_t)(entry->index - TURN_WORDS + piece->words);
    }
    for (uint32_t i = 0; i < piece->stores; i++) {
        struct rsc_pass_word *word = &pass->words[piece->store + i];
        if (word->word >= TURN_WORDS) word->word = (uint16_t)(word->word - TURN_WORDS + piece->words);
    }
}

static void describe(struct cutter *cutter) {
    struct rsc_pass *pass = cutter->pass;
    struct rsc_pass_piece *piece = cutter->piece;
    memset(cutter->known, 0, sizeof cutter->known);
    memset(cutter->turns, 0, sizeof cutter->turns);
    cutter->even = 0;
    piece->entry = (uint32_t)pass->entry_count;
    piece->store = (uint32_t)pass->word_count;
    piece->words = 1;
    if (piece->is_run) {
        piece->words = 2;
        find_even(cutter);
    }
    for (uint32_t i = piece->first; i < piece->end; i++) {
        const struct rsc_pass_insn *insn = &pass->insns[i];
        for (int k = 0; k < insn->access_count; k++) add_entry(cutter, i, &insn->access[k]);
        go_past(cutter, insn);
    }
    if (!piece->weight) piece->weight = 1; /* a call or return alone */
    if (piece->is_run) number_words(cutter);
}

/* ---- pieces ---- */

static int is_jump(uint8_t flow) { return flow != RSC_PASS_GOES_ON; }

/* Takes two registers that the piece does not touch, dead ones first. */
static int take_scratch(const struct rsc_pass *pass, struct rsc_pass_piece *piece) {
    static const uint8_t order[] = {11, 10, 9, 8, 6, 7, 2, 1, 0, 15, 14, 13, 12, 3, 5};
    uint32_t touched = 0, live = pass->insns[piece->first].live, taken = 0;
    uint8_t chosen[2], live_ones[2];
    int count = 0;
    for (uint32_t i = piece->first; i < piece->end; i++) touched |= pass->insns[i].touches;
    if (pass->insns[piece->first].loop) {
        const struct rsc_pass_loop *loop = &pass->loops[pass->insns[piece->first].loop - 1];
        if (loop->b != RSC_PASS_NO_REGISTER) {
            piece->a = loop->a;
            piece->b = loop->b;
            return 0;
        }
        taken = 1u << loop->counter | (loop->offset == RSC_PASS_NO_REGISTER ? 0 : 1u << loop->offset);
    }
    for (int wants_live = 0; wants_live < 2; wants_live++)
        for (size_t i = 0; i < sizeof order && count < 2; i++) {
            uint32_t bit = 1u << order[i];
            if ((touched | taken) & bit || ((live & bit) != 0) != wants_live) continue;
            chosen[count] = order[i];
            live_ones[count++] = (uint8_t)wants_live;
            taken |= bit;
        }
    if (count < 2) return -1;
    piece->b = chosen[0];
    piece->a = chosen[1];
    piece->b_live = live_ones[0];
    piece->a_live = live_ones[1];
    piece->fast = RSC_PASS_NO_REGISTER;
    for (size_t i = 0; i < sizeof order && piece->fast == RSC_PASS_NO_REGISTER; i++)
        if (!(live >> order[i] & 1)) piece->fast = order[i];
    return 0;
}

/* The countdown goes where flags are dead, if there is such a place before the first access. */
static void place_countdown(const struct rsc_pass *pass, struct rsc_pass_piece *piece) {
    uint32_t i;
    for (i = piece->begin; i < piece->end; i++) {
        const struct rsc_pass_insn *insn = &pass->insns[i];
        if (insn->stays_first && i + 1 < piece->end) continue;
        if (!(insn->live & RSC_PASS_FLAGS)) break;
        if (insn->access_count || i + 1 == piece->end) {
            piece->flags_live = 1;
            break;
        }
    }
    piece->first = i;
}

static int has_something(const struct rsc_pass *pass, uint32_t begin, uint32_t end, uint32_t *accesses) {
    *accesses = 0;
    for (uint32_t i = begin; i < end; i++) *accesses += pass->insns[i].access_count;
    uint8_t flow = pass->insns[end - 1].flow;
    return *accesses || flow == RSC_PASS_CALL || flow == RSC_PASS_RETURN;
}

static void cut(struct cutter *cutter, uint32_t begin, uint32_t end) {
    struct rsc_pass *pass = cutter->pass;
    struct rsc_pass_piece piece = {.begin = begin, .end = end};
    uint32_t accesses, middle = begin + (end - begin) / 2;
    if (cutter->failed || !has_something(pass, begin, end, &accesses)) return;
    if (pass->piece_count >= pass->options.max_pieces) return;
    place_countdown(pass, &piece);
    piece.body_end = is_jump(pass->insns[end - 1].flow) ? end - 1 : end;
    if (accesses > ENTRIES_MOST || end - begin > INSNS_MOST || take_scratch(pass, &piece) < 0) {
        if (end - begin == 1) {
            pass->insns[begin].unknown = "it needs all registers";
            return;
        }
        cut(cutter, begin, middle);
        cut(cutter, middle, end);
        return;
    }
    void *grown = rsc_pass_grow(pass, pass->pieces, pass->piece_count, &pass->piece_room, sizeof *pass->pieces);
    if (!grown) {
        cutter->failed = 1;
        return;
    }
    pass->pieces = grown;
    cutter->piece = &pass->pieces[pass->piece_count];
    *cutter->piece = piece;
    size_t entries = pass->entry_count, words = pass->word_count;
    cutter->piece->is_run = (uint8_t)(may_run(pass, &piece) && accesses < RUN_ACCESSES_MOST);
    describe(cutter);
    if (cutter->piece->words > WORDS_MOST && end - begin > 1) {
        pass->entry_count = entries;
        pass->word_count = words;
        cut(cutter, begin, middle);
        cut(cutter, middle, end);
        return;
    }
    pass->piece_count++;
    pass->counts.accesses += cutter->piece->weight;
}

static void drop_stack_of_calls(struct rsc_pass *pass) {
    for (size_t i = 0; i < pass->insn_count; i++) {
        struct rsc_pass_insn *insn = &pass->insns[i];
        if (insn->flow != RSC_PASS_CALL && insn->flow != RSC_PASS_RETURN) continue;
        int kept = 0;
        for (int k = 0; k < insn->access_count; k++)
            if (insn->access[k].is_written) insn->access[kept++] = insn->access[k];
        insn->access_count = (uint8_t)kept;
    }
}

/* Counts unrecorded accesses and names the first. */
static void count_unseen(struct rsc_pass *pass) {
    struct rsc_pass_counts *counts = &pass->counts;
    counts->insns = pass->insn_count;
    counts->pieces = pass->piece_count;
    for (size_t i = 0; i < pass->item_count; i++) {
        const struct rsc_pass_item *item = &pass->items[i];
        const char *function = item->function == RSC_PASS_NONE ? "" : pass->functions[item->function].name;
        if (item->sort == RSC_PASS_OPAQUE && pass->sections[item->section].is_code) {
            size_t at = 0;
            while (at < item->length && isspace((unsigned char)item->text[at])) at++;
            if (at == item->length || item->text[at] == '#' || item->text[at] == '.') continue;
            if (!counts->opaque++) counts->first_opaque_function = function;
        }
        if (item->sort == RSC_PASS_INSN && !item->glued && pass->insns[item->insn].unknown && !counts->unknown++) {
            counts->first_unknown = pass->insns[item->insn].unknown;
            counts->first_unknown_function = function;
            size_t length = item->length < sizeof counts->unknown_text ? item->length : sizeof counts->unknown_text - 1;
            for (size_t k = 0; k < length; k++) counts->unknown_text[k] = item->text[k] == '\t' ? ' ' : item->text[k];
        }
    }
}

int rsc_pass_cut(struct rsc_pass *pass, struct rsc_error *error) {
    struct cutter cutter = {.pass = pass};
    for (size_t i = 0; i < pass->insn_count; i++)
        if (pass->insns[i].unknown) pass->insns[i].access_count = 0;
    if (pass->options.no_call_pushes) drop_stack_of_calls(pass);
    for (size_t i = 0; i < pass->insn_count;) {
        size_t end = i + 1;
        while (end < pass->insn_count && !pass->insns[end].is_leader) end++;
        const struct rsc_pass_item *item = &pass->items[pass->insns[i].item];
        int is_known = item->function != RSC_PASS_NONE && pass->sections[item->section].is_code;
        if (is_known && !pass->functions[item->function].is_left_alone) cut(&cutter, (uint32_t)i, (uint32_t)end);
        i = end;
    }
    for (size_t i = 0; i < pass->piece_count; i++) pass->insns[pass->pieces[i].begin].piece = (uint32_t)i + 1;
    if (cutter.failed) return rsc_fail_memory(error, "pieces");
    count_unseen(pass);
    return 0;
}
