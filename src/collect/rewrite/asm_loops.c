/*
 * asm_loops.c - finds loops whose countdown can be kept in a register.
 *
 * A subtraction from memory takes as long as a store-to-load forward, once per iteration of a small
 * loop; one from a register has no measurable cost. A loop here is a stretch of text from the target
 * of a backward jump to that jump, without calls and without inline assembly. It may be entered and
 * left anywhere: entries load the counter and exits store it, in stubs after the section's code. It
 * needs one register that nothing in the loop touches (two in position-independent code); a live
 * register is pushed below the red zone meanwhile, if the loop does not change the stack pointer. If
 * two more are free, all recording copies of the loop use them as scratch registers and keep the
 * write position in one. Larger loops replace those inside them.
 */
#include <string.h>

#include "base/fail.h"
#include "collect/rewrite/asm_pass.h"

static const uint8_t order[] = {11, 10, 9, 8, 6, 7, 2, 1, 0, 15, 14, 13, 12, 3, 5};

static int is_local(const struct rsc_pass_label *label) { return label->length > 2 && !memcmp(label->name, ".L", 2); }

/* The text between the first and the last instruction must be code of one section, with only local labels. */
static int is_plain_text(const struct rsc_pass *pass, uint32_t first, uint32_t last) {
    const struct rsc_pass_item *begin = &pass->items[pass->insns[first].item];
    for (uint32_t i = pass->insns[first].item; i <= pass->insns[last].item; i++) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->section != begin->section || item->function != begin->function || item->sort == RSC_PASS_OPAQUE ||
            item->glued)
            return 0;
        if (item->sort == RSC_PASS_DIRECTIVE && !item->neutral) return 0;
        if (item->sort == RSC_PASS_LABEL) {
            uint32_t label = rsc_pass_label(pass, item->text, item->length);
            if (label == RSC_PASS_NONE || !is_local(&pass->labels[label])) return 0;
        }
    }
    /* Labels of the first instruction are before it. */
    for (uint32_t i = pass->insns[first].item; i-- > 0 && pass->items[i].sort != RSC_PASS_INSN;) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->sort == RSC_PASS_LABEL) {
            uint32_t label = rsc_pass_label(pass, item->text, item->length);
            if (label == RSC_PASS_NONE || !is_local(&pass->labels[label])) return 0;
        }
        if (item->sort == RSC_PASS_OPAQUE || (item->sort == RSC_PASS_DIRECTIVE && !item->neutral)) break;
    }
    return 1;
}

/* What the loop touches and what is live in it. -1: not a suitable loop. */
static int look_at_loop(const struct rsc_pass *pass, const struct rsc_pass_loop *loop, uint32_t *touched,
                        uint32_t *live) {
    int accesses = 0;
    *touched = *live = 0;
    for (uint32_t i = loop->first; i < loop->end; i++) {
        const struct rsc_pass_insn *insn = &pass->insns[i];
        const struct rsc_pass_label *label = insn->target == RSC_PASS_NONE ? NULL : &pass->labels[insn->target];
        *touched |= insn->touches;
        accesses += insn->access_count;
        if (insn->is_leader) *live |= insn->live;
        switch (insn->flow) {
        case RSC_PASS_GOES_ON:
        case RSC_PASS_STOP: break;
        case RSC_PASS_JUMP:
        case RSC_PASS_CONDITION:
            if (insn->is_short_only || !label || label->item == RSC_PASS_NONE || label->insn == RSC_PASS_NONE)
                return -1;
            *live |= pass->insns[label->insn].live;
            break;
        default: return -1;
        }
    }
    if (loop->end < pass->insn_count) *live |= pass->insns[loop->end].live;
    return accesses ? 0 : -1;
}

static int has_cfi(const struct rsc_pass *pass, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (pass->items[i].sort == RSC_PASS_DIRECTIVE && pass->items[i].length > 5 &&
            !memcmp(pass->items[i].text, ".cfi_", 5))
            return 1;
    return 0;
}

/* Takes registers, dead ones first, or returns -1. */
static int take_registers(const struct rsc_pass *pass, struct rsc_pass_loop *loop) {
    uint32_t touched, live;
    int wanted = pass->options.position_independent ? 2 : 1, taken = 0;
    if (look_at_loop(pass, loop, &touched, &live) < 0) return -1;
    int may_push = !(touched >> RSC_PASS_RSP & 1) &&
                   !has_cfi(pass, pass->insns[loop->first].item, pass->insns[loop->end - 1].item);
    uint8_t chosen[4];
    for (int pushes = 0; pushes <= may_push; pushes++)
        for (size_t i = 0; i < sizeof order && taken < wanted + 2; i++) {
            uint8_t number = order[i];
            if (touched >> number & 1 || (int)(live >> number & 1) != pushes) continue;
            chosen[taken++] = number;
        }
    if (taken < wanted) return -1;
    loop->counter = chosen[0];
    loop->offset = wanted == 2 ? chosen[1] : RSC_PASS_NO_REGISTER;
    loop->b = taken < wanted + 2 ? RSC_PASS_NO_REGISTER : chosen[wanted];
    loop->a = taken < wanted + 2 ? RSC_PASS_NO_REGISTER : chosen[wanted + 1];
    if (taken < wanted + 2) taken = wanted;
    while (taken--) loop->pushed |= live & 1u << chosen[taken];
    return 0;
}

/* How often labels of a loop are referenced inside it; other references are entries. */
static void find_entries(struct rsc_pass *pass, const struct rsc_pass_loop *loop) {
    for (uint32_t i = loop->first; i < loop->end; i++) {
        if (pass->insns[i].target == RSC_PASS_NONE) continue;
        struct rsc_pass_label *label = &pass->labels[pass->insns[i].target];
        if (label->insn >= loop->first && label->insn < loop->end) label->uses_inside++;
    }
}

static int keep(struct rsc_pass *pass, struct rsc_pass_loop loop) {
    /* Removes the loops that it contains, or shares its start or end with. */
    while (pass->loop_count && pass->loops[pass->loop_count - 1].first >= loop.first) pass->loop_count--;
    if (pass->loop_count && pass->loops[pass->loop_count - 1].end > loop.first) return 0;
    void *grown = rsc_pass_grow(pass, pass->loops, pass->loop_count, &pass->loop_room, sizeof *pass->loops);
    if (!grown) return -1;
    pass->loops = grown;
    pass->loops[pass->loop_count++] = loop;
    return 0;
}

/*
 * Where the counter is loaded when the code before falls through into the loop: after the last statement that is not
 * neutral.
 */
static uint32_t before_loop(const struct rsc_pass *pass, uint32_t first) {
    uint32_t i = pass->insns[first].item;
    for (; i > 0; i--) {
        const struct rsc_pass_item *item = &pass->items[i - 1];
        if (item->sort == RSC_PASS_INSN || item->sort == RSC_PASS_OPAQUE || item->glued) break;
        if (item->sort == RSC_PASS_DIRECTIVE && !item->neutral) break;
        if (item->section != pass->items[pass->insns[first].item].section) break;
    }
    while (has_cfi(pass, i, pass->insns[first].item)) i++; /* those describe the code outside */
    return i;
}

/* While registers are pushed, the stack pointer is lower than in the compiler's unwind rules. */
static int lower_cfi(struct rsc_pass *pass, const struct rsc_pass_loop *loop) {
    int bytes = rsc_pass_loop_lowers(loop);
    uint32_t had = RSC_PASS_NONE;
    for (uint32_t i = loop->first; i < loop->end && bytes; i++) {
        if (pass->insns[i].cfi != had) {
            had = pass->insns[i].cfi;
            void *grown = rsc_pass_grow(pass, pass->cfi, pass->cfi_count, &pass->cfi_room, sizeof *pass->cfi);
            if (!grown) return -1;
            pass->cfi = grown;
            pass->cfi[pass->cfi_count] = pass->cfi[had];
            if (rsc_pass_cfi_follows_rsp(&pass->cfi[had])) pass->cfi[pass->cfi_count].cfa_offset += bytes;
            pass->cfi_count++;
        }
        pass->insns[i].cfi = (uint32_t)pass->cfi_count - 1;
    }
    return 0;
}

int rsc_pass_loop_lowers(const struct rsc_pass_loop *loop) {
    int pushed = __builtin_popcount(loop->pushed);
    return pushed ? 128 + 8 * pushed : 0;
}

int rsc_pass_loops(struct rsc_pass *pass, struct rsc_error *error) {
    for (uint32_t i = 0; i < pass->insn_count; i++) {
        const struct rsc_pass_insn *insn = &pass->insns[i];
        const struct rsc_pass_item *item = &pass->items[insn->item];
        if ((insn->flow != RSC_PASS_JUMP && insn->flow != RSC_PASS_CONDITION) || insn->target == RSC_PASS_NONE)
            continue;
        const struct rsc_pass_label *label = &pass->labels[insn->target];
        if (label->item == RSC_PASS_NONE || label->insn == RSC_PASS_NONE || label->insn > i || !is_local(label))
            continue;
        if (item->function == RSC_PASS_NONE || pass->functions[item->function].is_left_alone ||
            !pass->sections[item->section].is_code)
            continue;
        struct rsc_pass_loop loop = {.first = label->insn, .end = i + 1};
        if (!pass->insns[loop.first].is_leader || !is_plain_text(pass, loop.first, i) ||
            take_registers(pass, &loop) < 0)
            continue;
        loop.load_item = before_loop(pass, loop.first);
        if (keep(pass, loop) < 0) return rsc_fail_memory(error, "loops");
    }
    for (size_t k = 0; k < pass->loop_count; k++) {
        find_entries(pass, &pass->loops[k]);
        if (lower_cfi(pass, &pass->loops[k]) < 0) return rsc_fail_memory(error, "loops");
        for (uint32_t i = pass->loops[k].first; i < pass->loops[k].end; i++) pass->insns[i].loop = (uint32_t)k + 1;
    }
    return 0;
}
