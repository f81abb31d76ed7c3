/*
 * asm_flow.c - blocks, and which registers and flags are live before each instruction:
 * may be read before they are written.
 *
 * Calls read all registers that the calling convention allows, and are assumed to write
 * none: gcc may rely on a function of the same file not changing registers (-fipa-ra).
 * For the same reason, the registers live at a function's return are not only those of
 * the convention but also those that any caller in this file still reads after the
 * call. For a function with other names, and for registers that it saves and restores
 * against the convention, everything that it does not write is live.
 */
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "collect/rewrite/asm_pass.h"

#define SET(number) (1u << (number))
/* rax rcx rdx rsi rdi r8 r9 r10 r11 */
#define CALLER_SAVED (SET(0) | SET(1) | SET(2) | SET(6) | SET(7) | SET(8) | SET(9) | SET(10) | SET(11))
#define CALLEE_SAVED (0xffffu & ~CALLER_SAVED)
#define RETURNED (SET(0) | SET(2))
#define ARGUMENTS (CALLER_SAVED & ~SET(11)) /* rax: number of vector registers in a variadic call; r10: static chain */

struct block {
    uint32_t first, end; /* insns */
    uint32_t next[2]; /* blocks, or RSC_PASS_NONE */
    uint32_t live_in;
    uint32_t always; /* always live after it */
    uint32_t function;
    uint8_t is_indirect, is_exit;
};

struct flow {
    struct rsc_pass *pass;
    struct block *blocks;
    size_t count, room;
    uint32_t *block_of; /* by insn */
    uint32_t taken; /* live at the target of an unknown jump */
};

/* Whether anything but neutral directives is between two instructions. Used labels and data start a new block. */
static void find_leaders(struct rsc_pass *pass) {
    int fresh = 1;
    uint32_t section = RSC_PASS_NONE;
    for (size_t i = 0; i < pass->item_count; i++) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->glued) continue;
        switch (item->sort) {
        case RSC_PASS_LABEL: {
            uint32_t label = rsc_pass_label(pass, item->text, item->length);
            if (label == RSC_PASS_NONE || pass->labels[label].is_used) fresh = 1;
            break;
        }
        case RSC_PASS_DIRECTIVE: fresh |= !item->neutral; break;
        case RSC_PASS_OPAQUE: fresh = 1; break;
        case RSC_PASS_INSN: {
            struct rsc_pass_insn *insn = &pass->insns[item->insn];
            insn->is_leader = (uint8_t)(fresh || item->section != section);
            fresh = insn->flow != RSC_PASS_GOES_ON;
            section = item->section;
            break;
        }
        default: break;
        }
    }
}

/* What functions write, call and save; determines what is dead when they return. */
static void look_at_functions(struct rsc_pass *pass) {
    for (size_t i = 0; i < pass->insn_count; i++) {
        const struct rsc_pass_insn *insn = &pass->insns[i];
        const struct rsc_pass_item *item = &pass->items[insn->item];
        if (item->function == RSC_PASS_NONE) continue;
        struct rsc_pass_function *function = &pass->functions[item->function];
        function->written |= (uint16_t)insn->writes;
        if (insn->flow == RSC_PASS_CALL &&
            (insn->target == RSC_PASS_NONE || pass->labels[insn->target].item == RSC_PASS_NONE))
            function->calls_out = 1;
        if (insn->rsp_moves < 0) function->pushed |= (uint16_t)insn->touches;
        if (insn->rsp_moves > 0) function->popped |= (uint16_t)insn->touches;
    }
    for (size_t i = 0; i < pass->item_count; i++)
        if (pass->items[i].sort == RSC_PASS_OPAQUE && pass->items[i].function != RSC_PASS_NONE)
            pass->functions[pass->items[i].function].opaque++;
}

static uint32_t live_at_exit(const struct rsc_pass *pass, uint32_t function) {
    if (function == RSC_PASS_NONE) return RSC_PASS_ALL & ~RSC_PASS_FLAGS;
    const struct rsc_pass_function *known = &pass->functions[function];
    uint32_t live = RETURNED | CALLEE_SAVED | known->live_at_exit | (uint32_t)(known->pushed & known->popped);
    if (known->has_alias) live |= known->calls_out ? 0 : CALLER_SAVED & ~(uint32_t)known->written;
    return live;
}

/* ---- blocks ---- */

/* The instruction at each label; RSC_PASS_NONE if inline assembly or data follows. */
static int place_labels(struct rsc_pass *pass) {
    uint32_t *next = rsc_arena_alloc(&pass->arena, pass->section_count * sizeof *next);
    if (!next) return -1;
    memset(next, 0xff, pass->section_count * sizeof *next);
    for (size_t i = pass->item_count; i-- > 0;) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->sort == RSC_PASS_INSN) next[item->section] = item->insn;
        if (item->sort == RSC_PASS_OPAQUE || (item->sort == RSC_PASS_DIRECTIVE && !item->neutral && !item->glued))
            next[item->section] = RSC_PASS_NONE;
        if (item->sort == RSC_PASS_LABEL) {
            uint32_t label = rsc_pass_label(pass, item->text, item->length);
            if (label != RSC_PASS_NONE) pass->labels[label].insn = next[item->section];
        }
    }
    return 0;
}

/* Whether control flows from one instruction to the next in the list. Inline assembly in between may read anything. */
int rsc_pass_continues(const struct rsc_pass *pass, uint32_t from, uint32_t to) {
    if (to >= pass->insn_count) return 0;
    uint32_t item = pass->insns[from].item, end = pass->insns[to].item;
    if (pass->items[item].section != pass->items[end].section) return 0;
    for (uint32_t i = item + 1; i < end; i++)
        if (pass->items[i].sort == RSC_PASS_OPAQUE ||
            (pass->items[i].sort == RSC_PASS_DIRECTIVE && !pass->items[i].neutral && !pass->items[i].glued))
            return 0;
    return 1;
}

static int make_blocks(struct flow *flow) {
    struct rsc_pass *pass = flow->pass;
    flow->block_of = rsc_arena_alloc(&pass->arena, (pass->insn_count + 1) * sizeof *flow->block_of);
    if (!flow->block_of) return -1;
    for (size_t i = 0; i < pass->insn_count; i++) {
        if (pass->insns[i].is_leader) {
            void *grown = rsc_pass_grow(pass, flow->blocks, flow->count, &flow->room, sizeof *flow->blocks);
            if (!grown) return -1;
            flow->blocks = grown;
            flow->blocks[flow->count++] = (struct block){.first = (uint32_t)i, .next = {RSC_PASS_NONE, RSC_PASS_NONE}};
        }
        flow->blocks[flow->count - 1].end = (uint32_t)i + 1;
        flow->block_of[i] = (uint32_t)flow->count - 1;
    }
    return 0;
}

static void connect(struct flow *flow, struct block *block) {
    struct rsc_pass *pass = flow->pass;
    const struct rsc_pass_insn *last = &pass->insns[block->end - 1];
    block->function = pass->items[last->item].function;
    const struct rsc_pass_label *label = last->target == RSC_PASS_NONE ? NULL : &pass->labels[last->target];
    int is_here = label && label->item != RSC_PASS_NONE;
    uint32_t target = is_here ? label->insn : RSC_PASS_NONE;
    /* A jump out of this file goes to a function; one to inline assembly, to unknown code. */
    uint32_t outside = is_here ? RSC_PASS_ALL : ARGUMENTS | CALLEE_SAVED;
    int goes_on = 0;
    switch (last->flow) {
    case RSC_PASS_JUMP:
        if (target == RSC_PASS_NONE) block->always = outside;
        block->is_exit = target == RSC_PASS_NONE;
        break;
    case RSC_PASS_CONDITION:
        goes_on = 1;
        if (target == RSC_PASS_NONE) block->always = outside;
        block->is_exit = target == RSC_PASS_NONE;
        break;
    case RSC_PASS_INDIRECT:
        block->always = ARGUMENTS | CALLEE_SAVED;
        block->is_indirect = block->is_exit = 1;
        break;
    case RSC_PASS_CALL:
        target = RSC_PASS_NONE;
        goes_on = 1;
        break;
    case RSC_PASS_RETURN: block->is_exit = 1; break;
    case RSC_PASS_STOP: block->always = RSC_PASS_ALL & ~RSC_PASS_FLAGS; break;
    default: goes_on = 1; break;
    }
    if (target != RSC_PASS_NONE) block->next[0] = flow->block_of[target];
    if (!goes_on) return;
    if (rsc_pass_continues(pass, block->end - 1, block->end)) {
        block->next[1] = flow->block_of[block->end];
    } else {
        block->always = RSC_PASS_ALL; /* inline assembly, or only an apparent end */
    }
}

/* ---- liveness ---- */

static uint32_t before(const struct rsc_pass_insn *insn, uint32_t live) {
    if (insn->flow == RSC_PASS_CALL) return (live & ~RSC_PASS_FLAGS) | ARGUMENTS | CALLEE_SAVED | insn->reads;
    if (insn->flow == RSC_PASS_RETURN) live &= ~RSC_PASS_FLAGS;
    return (live & ~insn->writes) | insn->reads;
}

static uint32_t live_behind(const struct flow *flow, const struct block *block) {
    uint32_t live = block->always;
    for (int i = 0; i < 2; i++)
        if (block->next[i] != RSC_PASS_NONE) live |= flow->blocks[block->next[i]].live_in;
    if (block->is_indirect) live |= flow->taken;
    if (block->is_exit) live |= live_at_exit(flow->pass, block->function);
    return live;
}

/* Registers read after a call, or after a function that ends in a tail call, are live where the callee returns. */
static int tell_callee(struct flow *flow, const struct block *block, uint32_t live) {
    struct rsc_pass *pass = flow->pass;
    const struct rsc_pass_insn *last = &pass->insns[block->end - 1];
    if (last->target == RSC_PASS_NONE || last->flow == RSC_PASS_GOES_ON) return 0;
    uint32_t function = pass->labels[last->target].function;
    if (last->flow != RSC_PASS_CALL) {
        uint32_t insn =
            pass->labels[last->target].item == RSC_PASS_NONE ? RSC_PASS_NONE : pass->labels[last->target].insn;
        function = insn == RSC_PASS_NONE ? RSC_PASS_NONE : pass->items[pass->insns[insn].item].function;
        if (function == block->function) return 0;
        live = live_at_exit(pass, block->function);
    }
    if (function == RSC_PASS_NONE || !(live & CALLER_SAVED & ~pass->functions[function].live_at_exit)) return 0;
    pass->functions[function].live_at_exit |= live & CALLER_SAVED;
    return 1;
}

static void find_live(struct flow *flow) {
    struct rsc_pass *pass = flow->pass;
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = flow->count; i-- > 0;) {
            struct block *block = &flow->blocks[i];
            uint32_t live = live_behind(flow, block);
            changed |= tell_callee(flow, block, live);
            for (uint32_t k = block->end; k-- > block->first;) live = before(&pass->insns[k], live);
            if (live != block->live_in) {
                block->live_in = live;
                changed = 1;
            }
        }
        for (size_t i = 0; i < pass->label_count; i++) {
            if (!pass->labels[i].is_taken) continue;
            uint32_t insn = pass->labels[i].item == RSC_PASS_NONE ? RSC_PASS_NONE : pass->labels[i].insn;
            if (insn == RSC_PASS_NONE || !pass->insns[insn].is_leader) continue;
            uint32_t live = flow->blocks[flow->block_of[insn]].live_in;
            if (live & ~flow->taken) {
                flow->taken |= live;
                changed = 1;
            }
        }
    }
    for (size_t i = 0; i < flow->count; i++) {
        uint32_t live = live_behind(flow, &flow->blocks[i]);
        for (uint32_t k = flow->blocks[i].end; k-- > flow->blocks[i].first;) {
            live = before(&pass->insns[k], live);
            pass->insns[k].live = live;
        }
    }
}

/* ---- unwind rules ---- */

static int follow_cfi(struct rsc_pass *pass) {
    struct rsc_pass_cfi state = {0}, stack[16];
    size_t depth = 0;
    int changed = 1;
    for (size_t i = 0; i < pass->item_count; i++) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->sort == RSC_PASS_DIRECTIVE && item->length > 5 && !memcmp(item->text, ".cfi_", 5)) {
            rsc_pass_cfi_read(pass, &state, stack, &depth, item->text, item->length);
            changed = 1;
        } else if (item->sort == RSC_PASS_INSN && !item->glued) {
            if (changed) {
                void *grown = rsc_pass_grow(pass, pass->cfi, pass->cfi_count, &pass->cfi_room, sizeof *pass->cfi);
                if (!grown) return -1;
                pass->cfi = grown;
                pass->cfi[pass->cfi_count++] = state;
                changed = 0;
            }
            pass->insns[item->insn].cfi = (uint32_t)pass->cfi_count - 1;
        }
    }
    return 0;
}

/* Whether the name is in a comma-separated list. */
static int is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, length) && (!at[length] || at[length] == ',')) return 1;
    }
    return 0;
}

static void choose_functions(struct rsc_pass *pass) {
    for (size_t i = 0; i < pass->function_count; i++) {
        struct rsc_pass_function *function = &pass->functions[i];
        function->is_left_alone = (pass->options.only && !is_listed(pass->options.only, function->name)) ||
                                  (pass->options.skip && is_listed(pass->options.skip, function->name));
        pass->counts.left_alone += function->is_left_alone;
    }
}

int rsc_pass_flow(struct rsc_pass *pass, struct rsc_error *error) {
    struct flow flow = {.pass = pass};
    choose_functions(pass);
    find_leaders(pass);
    look_at_functions(pass);
    if (place_labels(pass) < 0 || make_blocks(&flow) < 0 || follow_cfi(pass) < 0)
        return rsc_fail_memory(error, "blocks");
    for (size_t i = 0; i < flow.count; i++) connect(&flow, &flow.blocks[i]);
    find_live(&flow);
    return 0;
}
