/* guest_code.c - see guest_code.h. Decodes only enough to recognise calls, returns and repeats. */
#include "collect/qemu/guest_code.h"

#include <string.h>

#include "collect/qemu/guest_calls.h"

enum rsc_guest rsc_guest_named(const char *name) {
    if (!strcmp(name, "x86_64")) return RSC_GUEST_X86_64;
    if (!strcmp(name, "aarch64")) return RSC_GUEST_AARCH64;
    return RSC_GUEST_UNKNOWN;
}

/* The marker is a long nop, 0f 1f 84 00 disp32: the displacement selects the marker. */
static enum rsc_guest_insn x86_marker(const uint8_t *code, size_t bytes) {
    uint32_t displacement;
    if (bytes != 8 || code[0] != 0x0f || code[1] != 0x1f || code[2] != 0x84 || code[3] != 0x00) return RSC_GUEST_PLAIN;
    memcpy(&displacement, code + 4, 4);
    if (displacement == RSC_MARKER_BEGIN) return RSC_GUEST_BEGIN;
    if (displacement == RSC_MARKER_END) return RSC_GUEST_END;
    if (displacement == RSC_MARKER_ALLOCATED) return RSC_GUEST_ALLOCATED;
    if (displacement == RSC_MARKER_FREED) return RSC_GUEST_FREED;
    return RSC_GUEST_PLAIN;
}

static enum rsc_guest_insn classify_x86(const uint8_t *code, size_t bytes) {
    size_t at = 0;
    int repeat = 0, locked = 0;
    while (at < bytes && (code[at] == 0xf2 || code[at] == 0xf3 || code[at] == 0x66 || code[at] == 0x67 ||
                          code[at] == 0x26 || code[at] == 0x2e || code[at] == 0x36 || code[at] == 0x3e ||
                          code[at] == 0x64 || code[at] == 0x65 || code[at] == 0xf0)) {
        repeat |= code[at] == 0xf2 || code[at] == 0xf3;
        locked |= code[at] == 0xf0;
        at++;
    }
    if (at < bytes && (code[at] & 0xf0) == 0x40) at++; /* REX */
    if (at >= bytes) return RSC_GUEST_PLAIN;
    if (locked) return RSC_GUEST_WIDE;
    switch (code[at]) {
    case 0xe8: return RSC_GUEST_CALL;
    case 0xff: {
        uint32_t operation = at + 1 < bytes ? code[at + 1] >> 3 & 7 : 0;
        return operation == 2 || operation == 3 ? RSC_GUEST_CALL : RSC_GUEST_PLAIN;
    }
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb: return RSC_GUEST_RETURN;
    case 0xa4:
    case 0xa5:
    case 0xa6:
    case 0xa7:
    case 0xaa:
    case 0xab:
    case 0xac:
    case 0xad:
    case 0xae:
    case 0xaf: return repeat ? RSC_GUEST_REP : RSC_GUEST_PLAIN;
    case 0x0f: { /* two-byte opcodes: mostly vector code */
        enum rsc_guest_insn marker = at == 0 ? x86_marker(code, bytes) : RSC_GUEST_PLAIN;
        return marker != RSC_GUEST_PLAIN ? marker : RSC_GUEST_WIDE;
    }
    case 0xc4:
    case 0xc5:
    case 0x62: /* VEX, EVEX */
    case 0xd8:
    case 0xd9:
    case 0xda:
    case 0xdb:
    case 0xdc:
    case 0xdd:
    case 0xde:
    case 0xdf: /* x87 */
    case 0x86:
    case 0x87:
    case 0x8e: /* xchg, segment registers */
    case 0xc8:
    case 0xc9:
    case 0xcf: /* enter, leave, iret */ return RSC_GUEST_WIDE;
    default: return RSC_GUEST_PLAIN;
    }
}

static enum rsc_guest_insn classify_aarch64(const void *code, size_t bytes) {
    uint32_t word;
    if (bytes != 4) return RSC_GUEST_PLAIN;
    memcpy(&word, code, 4);
    if ((word & 0xfc000000u) == 0x94000000u) return RSC_GUEST_CALL;   /* BL */
    if ((word & 0xfefff800u) == 0xd63f0800u) return RSC_GUEST_CALL;   /* BLRAA and kin */
    if ((word & 0xfffffc1fu) == 0xd63f0000u) return RSC_GUEST_CALL;   /* BLR */
    if ((word & 0xfffffc1fu) == 0xd65f0000u) return RSC_GUEST_RETURN; /* RET */
    if (word == 0xd65f0bffu || word == 0xd65f0fffu) return RSC_GUEST_RETURN; /* RETAA, RETAB */
    if (word == RSC_MARKER_BEGIN_AARCH64) return RSC_GUEST_BEGIN;
    if (word == RSC_MARKER_END_AARCH64) return RSC_GUEST_END;
    /* STXR, STLXR, STXP, STLXP; not CASP, which differs in the size's upper bit */
    if ((word & 0x3fc00000u) == 0x08000000u && ((word & 0x00200000u) == 0 || word >> 31)) return RSC_GUEST_STORE;
    /* Plain loads and stores of one register are the common case: size 111 00/01 with the vector bit clear. */
    int atomic = (word & 0x3b200c00u) == 0x38200000u; /* LDADD, SWP and kin */
    if ((word & 0x3e000000u) == 0x38000000u && (word & 0x04000000u) == 0 && !atomic) return RSC_GUEST_PLAIN;
    return RSC_GUEST_WIDE;
}

enum rsc_guest_insn rsc_guest_classify(enum rsc_guest guest, const void *code, size_t bytes) {
    if (guest == RSC_GUEST_X86_64) return classify_x86(code, bytes);
    if (guest == RSC_GUEST_AARCH64) return classify_aarch64(code, bytes);
    return RSC_GUEST_PLAIN;
}

static enum rsc_guest_order order_x86(const uint8_t *code, size_t bytes) {
    size_t at = 0;
    int repeat = 0;
    for (; at < bytes && (code[at] == 0xf3 || code[at] == 0x66 || code[at] == 0xf0); at++) {
        if (code[at] == 0xf0) return RSC_GUEST_ATOMIC; /* lock */
        repeat |= code[at] == 0xf3;
    }
    if (at < bytes && (code[at] & 0xf0) == 0x40) at++; /* REX */
    if (at < bytes && code[at] == 0x90 && repeat) return RSC_GUEST_SPINS; /* pause */
    if (at + 1 < bytes && (code[at] == 0x86 || code[at] == 0x87) && code[at + 1] < 0xc0)
        return RSC_GUEST_ATOMIC; /* xchg with memory */
    return at + 2 < bytes && code[at] == 0x0f && code[at + 1] == 0xae && code[at + 2] == 0xf0 ? RSC_GUEST_ATOMIC
                                                                                              : RSC_GUEST_UNORDERED;
}

static enum rsc_guest_order order_aarch64(const void *code, size_t bytes) {
    uint32_t word;
    if (bytes != 4) return RSC_GUEST_UNORDERED;
    memcpy(&word, code, 4);
    if (word == 0xd503203fu || word == 0xd503205fu) return RSC_GUEST_SPINS; /* YIELD, WFE */
    if ((word & 0x3f000000u) == 0x08000000u) return RSC_GUEST_ATOMIC; /* exclusive, LDAR, STLR, CAS */
    if ((word & 0x3b200c00u) == 0x38200000u) return RSC_GUEST_ATOMIC; /* LDADD, SWP, LDAPR */
    return (word & 0xfffff0dfu) == 0xd503309fu ? RSC_GUEST_ATOMIC : RSC_GUEST_UNORDERED; /* DSB, DMB */
}

enum rsc_guest_order rsc_guest_order(enum rsc_guest guest, const void *code, size_t bytes) {
    if (guest == RSC_GUEST_X86_64) return order_x86(code, bytes);
    if (guest == RSC_GUEST_AARCH64) return order_aarch64(code, bytes);
    return RSC_GUEST_UNORDERED;
}

/* Waiting for a lock, a child, time, input. */
static const struct rsc_guest_syscalls x86_64_calls = {
    .getpid = 39,
    .mmap = 9,
    .execve = 59,
    .execveat = 322,
    .exit = 60,
    .exit_group = 231,
    .clone = 56,
    .clone3 = 435,
    .blocking = {202, 0, 7, 23, 35, 34, 61, 43, 45, 47, 56, 57, 58, 230, 232, 247, 270, 271, 281, 288, 449, -1},
};
static const struct rsc_guest_syscalls aarch64_calls = {
    .getpid = 172,
    .mmap = 222,
    .execve = 221,
    .execveat = 281,
    .exit = 93,
    .exit_group = 94,
    .clone = 220,
    .clone3 = 435,
    .blocking = {98, 63, 73, 72, 101, 115, 260, 202, 207, 212, 220, 22, 95, 242, 449, -1},
};

const struct rsc_guest_syscalls *rsc_guest_syscalls(enum rsc_guest guest) {
    return guest == RSC_GUEST_AARCH64 ? &aarch64_calls : &x86_64_calls;
}

int rsc_guest_may_block(const struct rsc_guest_syscalls *calls, int64_t number) {
    for (const int64_t *call = calls->blocking; *call >= 0; call++)
        if (*call == number) return 1;
    return 0;
}
