/*
 * region.c - a region given by function, of one thread of a program in QEMU: from its call of the function until that
 * call is left in whatever way.
 *
 * QEMU shows no registers. On x86-64 a call writes its return address and a return reads it, which shows where the
 * stack is: every open call whose return address is below has ended. longjmp() and exceptions end with a jump, and the
 * next call or return may come later. The function that they jump to shows which calls have ended, unless it has no
 * name or calls itself: words until that next call or return are taken back if it is outside of the region.
 *
 * On AArch64 return addresses are in a register: a return ends the calls down to the one that it returns to, and after a
 * jump only the function that it jumps to shows which have ended.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/qemu/qemu_words.h"

#define CALLS_MOST (1u << 24) /* of a thread: 384 MiB */

struct rsc_qemu_call {
    uint64_t stack; /* where its return address is; AArch64: 0 */
    uint64_t after; /* return address */
    const char *caller; /* a function's symbol; NULL: not known */
};

/* jmp *register or *memory: FF /4, after prefixes. */
static int is_indirect_jump(const uint8_t *code, size_t bytes) {
    while (bytes > 2 && (*code == 0x3e || *code == 0xf2 || (*code & 0xf0) == 0x40)) code++, bytes--;
    return bytes >= 2 && code[0] == 0xff && (code[1] >> 3 & 7) == 4;
}

/* mov register, %rsp and mov register or memory, %rsp. */
static int sets_stack(const uint8_t *code, size_t bytes) {
    if (bytes < 3 || (code[0] & 0xf8) != 0x48) return 0;
    if (code[1] == 0x89) return !(code[0] & 1) && (code[2] & 0xc7) == 0xc4;
    return code[1] == 0x8b && !(code[0] & 4) && (code[2] >> 3 & 7) == 4;
}

static uint32_t aarch64_word(const uint8_t *code, size_t bytes) {
    uint32_t word = 0;
    memcpy(&word, code, bytes < sizeof word ? bytes : sizeof word);
    return word;
}

/* br register. */
static int is_branch(const uint8_t *code, size_t bytes) {
    return (aarch64_word(code, bytes) & 0xfffffc1fu) == 0xd61f0000u;
}

/* mov sp, register; add sp, sp, register. */
static int sets_sp(const uint8_t *code, size_t bytes) {
    const uint32_t word = aarch64_word(code, bytes);
    return (word & 0xfffffc1fu) == 0x9100001fu || (word & 0xffe003ffu) == 0x8b2003ffu;
}

int rsc_region_moves_stack(const struct qemu_plugin_tb *tb) {
    const size_t count = qemu_plugin_tb_n_insns(tb);
    const struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, count - 1);
    const int is_x86 = plugin.guest == RSC_GUEST_X86_64;
    if (!(is_x86 ? is_indirect_jump : is_branch)(qemu_plugin_insn_data(last), qemu_plugin_insn_size(last))) return 0;
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if ((is_x86 ? sets_stack : sets_sp)(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn))) return 1;
    }
    return 0;
}

static void push(struct rsc_qemu_region *region, uint64_t stack, const struct rsc_qemu_block *from) {
    if (region->count == region->room) {
        uint32_t room = region->room ? 2 * region->room : 64;
        struct rsc_qemu_call *calls = room <= CALLS_MOST ? realloc(region->calls, room * sizeof *calls) : NULL;
        if (!calls) {
            __atomic_fetch_add(&plugin.ring->calls_lost, 1, __ATOMIC_RELAXED);
            return;
        }
        region->calls = calls;
        region->room = room;
    }
    region->calls[region->count++] = (struct rsc_qemu_call){stack, from->after, from->function};
}

/* f and f.cold are one function. */
static int is_same_function(const char *one, const char *other) {
    if (!one || !other) return 0;
    const size_t length = strcspn(one, ".");
    return length == strcspn(other, ".") && !strncmp(one, other, length);
}

/* A jump to another call's code, while inside. */
static void land(struct rsc_qemu_region *region, const struct rsc_qemu_block *now) {
    uint32_t count = region->count;
    while (count && !is_same_function(region->calls[count - 1].caller, now->function)) count--;
    if (count) region->count = count - 1;
    if (region->count < region->inside) region->inside = 0;
    else if (!region->undo && plugin.guest == RSC_GUEST_X86_64) { /* the next call or return shows it */
        region->undo = thread.writer.next;
        region->undo_instructions = thread.writer.instructions;
    }
}

/* AArch64: the innermost call that this could be a return from. */
static void pop_to(struct rsc_qemu_region *region, uint64_t after) {
    uint32_t count = region->count;
    while (count && region->calls[count - 1].after != after) count--;
    if (count) region->count = count - 1;
}

/* x86-64. Returns whether all of this happened in the region, as far as it has been inside. */
static int pop_below(struct rsc_qemu_region *region, const struct rsc_qemu_block *before, uint64_t to) {
    const int is_return = before->ends == RSC_PLAN_ENDS_RETURN;
    uint32_t count = region->count;
    while (count && region->calls[count - 1].stack < region->stack + !is_return) count--;
    /* The call that it returns from; to another address: an exception that is caught there. */
    const int is_own = is_return && count && region->calls[count - 1].stack == region->stack;
    const int is_caught = is_own && region->calls[count - 1].after != to;
    const int jumped = region->inside && count < region->inside && !is_caught;
    if (jumped && region->undo) {
        rsc_words_undo(region->undo);
        thread.writer.instructions = region->undo_instructions;
    }
    region->undo = NULL;
    region->count = count - (uint32_t)is_own;
    return !jumped;
}

int rsc_region_follow(const struct rsc_qemu_block *before, const struct rsc_qemu_block *now) {
    struct rsc_qemu_region *region = &thread.region;
    int counts = region->inside != 0;
    if (before->ends == RSC_PLAN_ENDS_CALL || before->ends == RSC_PLAN_ENDS_RETURN) {
        const int is_call = before->ends == RSC_PLAN_ENDS_CALL;
        if (plugin.guest != RSC_GUEST_X86_64) {
            if (is_call) push(region, 0, before);
            else pop_to(region, now->start);
        } else {
            if (!region->top) region->top = region->stack;
            if (region->stack > region->top) return counts;
            counts &= pop_below(region, before, now->start);
            if (is_call) push(region, region->stack, before);
        }
        if (region->count < region->inside) region->inside = 0;
        if (!is_call) return counts;
    } else if (region->inside && before->moves_stack) land(region, now);
    if (now->in_roi && !region->inside) region->inside = region->count;
    return counts;
}

void rsc_region_end(void) {
    free(thread.region.calls);
    memset(&thread.region, 0, sizeof thread.region);
}
