/*
 * guest_accesses.c - see guest_accesses.h. Lists common, simple instructions; all
 * others are uncertain, which costs only time. Accesses that QEMU makes in a helper
 * (atomics, masked moves, gathers, xsave) must stay uncertain: QEMU reports those in
 * another way.
 */
#include "collect/qemu/guest_accesses.h"

#include <string.h>

static const struct rsc_guest_accesses uncertain = {0, 0, 0, 0}, none = {1, 0, 0, 1}, read_one = {1, 1, 0, 1},
                                       write_one = {1, 0, 1, 1}, update = {1, 1, 1, 1}, read_two = {1, 1, 0, 2},
                                       write_two = {1, 0, 1, 2}, read_four = {1, 1, 0, 4}, write_four = {1, 0, 1, 4};

/* ---- x86-64 ---- */

struct x86 {
    const uint8_t *at, *end;
    int operand_size, f2, f3; /* prefixes, or their equivalent in VEX */
    int wide;                 /* VEX: 32 bytes */
};

/* The ModRM byte names memory, not a register. */
static int names_memory(const struct x86 *code) { return code->at < code->end && *code->at >> 6 != 3; }

static unsigned operation(const struct x86 *code) { return code->at < code->end ? *code->at >> 3 & 7 : 8; }

static struct rsc_guest_accesses with_memory(const struct x86 *code, struct rsc_guest_accesses accesses) {
    if (code->at >= code->end) return uncertain;
    return names_memory(code) ? accesses : none;
}

/* A whole vector, which QEMU reports 8 bytes at a time, in order. */
static struct rsc_guest_accesses read_vector(const struct x86 *code) {
    return with_memory(code, code->wide ? read_four : read_two);
}
static struct rsc_guest_accesses write_vector(const struct x86 *code) {
    return with_memory(code, code->wide ? write_four : write_two);
}

/* Integer vectors, after 66 0f: a memory operand is read whole. */
static int is_packed_integer(uint8_t opcode) {
    switch (opcode) {
    case 0x74:
    case 0x75:
    case 0x76:            /* pcmpeq */
    case 0xda:
    case 0xde:                       /* pminub, pmaxub */
    case 0xdb:
    case 0xdf:
    case 0xeb:
    case 0xef: /* pand, pandn, por, pxor */
    case 0xd4:
    case 0xfc:
    case 0xfd:
    case 0xfe: /* padd */
    case 0xf8:
    case 0xf9:
    case 0xfa:
    case 0xfb: /* psub */ return 1;
    default: return 0;
    }
}

/* Vector moves and arithmetic after 0f. */
static struct rsc_guest_accesses x86_vector(const struct x86 *code, uint8_t opcode) {
    int scalar = code->f2 || code->f3, packed = !scalar;
    if (code->operand_size && packed && is_packed_integer(opcode)) return read_vector(code);
    switch (opcode) {
    case 0x10: return scalar ? with_memory(code, read_one) : read_vector(code); /* movups, movss, ... */
    case 0x11: return scalar ? with_memory(code, write_one) : write_vector(code);
    case 0x12:
    case 0x16: return packed && names_memory(code) ? read_one : uncertain; /* movlps, movhps */
    case 0x13:
    case 0x17: return packed && names_memory(code) ? write_one : uncertain;
    case 0x28: return packed ? read_vector(code) : uncertain; /* movaps */
    case 0x29: return packed ? write_vector(code) : uncertain;
    case 0x6f: return code->f3 || (code->operand_size && packed) ? read_vector(code) : uncertain; /* movdqu, movdqa */
    case 0x7f: return code->f3 || (code->operand_size && packed) ? write_vector(code) : uncertain;
    case 0x2b: return packed && names_memory(code) ? write_vector(code) : uncertain; /* movntps */
    case 0xe7: return packed && code->operand_size && names_memory(code) ? write_vector(code) : uncertain; /* movntdq */
    case 0x6e: return code->operand_size && packed ? with_memory(code, read_one) : uncertain; /* movd, movq */
    case 0x7e:
        if (code->f3) return with_memory(code, read_one);
        return code->operand_size && packed ? with_memory(code, write_one) : uncertain;
    case 0xd6: return code->operand_size && packed ? with_memory(code, write_one) : uncertain; /* movq */
    case 0x54:
    case 0x55:
    case 0x56:
    case 0x57: return packed ? read_vector(code) : uncertain; /* and, andn, or, xor */
    case 0x51:
    case 0x58:
    case 0x59:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f: /* sqrt, add, mul, sub, min, div, max */ return scalar ? with_memory(code, read_one) : read_vector(code);
    default: return uncertain;
    }
}

/*
 * After c5, or c4 and with `long_form` the byte that selects the opcode map: only the 0f map is decoded. The prefix
 * byte: 2 bits for 66, f3, f2, 1 for 32 bytes.
 */
static struct rsc_guest_accesses x86_vex(struct x86 *code, int long_form) {
    static const uint8_t vectors[] = {0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x28, 0x29,
                                      0x2b, 0x51, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6, 0xe7};
    if (code->end - code->at < 3 + long_form || (long_form && (*code->at++ & 31) != 1)) return uncertain;
    uint8_t prefix = *code->at++, opcode = *code->at++;
    code->operand_size = (prefix & 3) == 1;
    code->f3 = (prefix & 3) == 2;
    code->f2 = (prefix & 3) == 3;
    code->wide = prefix >> 2 & 1;
    if (memchr(vectors, opcode, sizeof vectors) || is_packed_integer(opcode) || (opcode >= 0x54 && opcode <= 0x59) ||
        (opcode >= 0x5c && opcode <= 0x5f))
        return x86_vector(code, opcode);
    return uncertain;
}

static struct rsc_guest_accesses x86_two_bytes(struct x86 *code) {
    if (code->at >= code->end) return uncertain;
    uint8_t opcode = *code->at++;
    if (opcode >= 0x10 && opcode <= 0x17) return x86_vector(code, opcode);
    if (code->f3 && opcode == 0x1e && code->at < code->end && *code->at == 0xfa) return none; /* endbr64 */
    if (code->f2 || code->f3) return x86_vector(code, opcode);
    if (opcode == 0x1f || opcode == 0x05) return none; /* long nop; syscall */
    if (opcode >= 0x80 && opcode <= 0x8f) return none; /* jumps */
    if (opcode >= 0x40 && opcode <= 0x4f) return with_memory(code, read_one); /* cmov always reads */
    if (opcode >= 0x90 && opcode <= 0x9f) return with_memory(code, write_one); /* setcc */
    switch (opcode) {
    case 0xaf:
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf: return with_memory(code, read_one); /* imul, movzx, movsx */
    default: return x86_vector(code, opcode);
    }
}

static struct rsc_guest_accesses x86_one_byte(struct x86 *code) {
    uint8_t opcode = *code->at++;
    if (opcode < 0x40) { /* add, or, adc, sbb, and, sub, xor, cmp */
        if ((opcode & 7) < 2) return with_memory(code, opcode >= 0x38 ? read_one : update);
        if ((opcode & 7) < 4) return with_memory(code, read_one);
        return (opcode & 7) < 6 ? none : uncertain;
    }
    if (opcode >= 0x50 && opcode <= 0x57) return write_one; /* push */
    if (opcode >= 0x58 && opcode <= 0x5f) return read_one; /* pop */
    if (opcode >= 0x70 && opcode <= 0x7f) return none; /* jumps */
    if (opcode >= 0xb0 && opcode <= 0xbf) return none; /* mov of a constant */
    switch (opcode) {
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x84:
    case 0x85:
    case 0x8a:
    case 0x8b: /* movsxd, imul, test, mov */ return with_memory(code, read_one);
    case 0x68:
    case 0x6a:
    case 0xe8: return write_one; /* push of a constant, call */
    case 0x80:
    case 0x81:
    case 0x83: return with_memory(code, operation(code) == 7 ? read_one : update);
    case 0x88:
    case 0x89: return with_memory(code, write_one);
    case 0x8d:
    case 0x90:
    case 0x98:
    case 0x99:
    case 0xa8:
    case 0xa9:
    case 0xe9:
    case 0xeb: return none;
    case 0x8f:
        return operation(code) == 0 && names_memory(code) ? update : uncertain; /* pop: off the stack, to memory */
    case 0xa0:
    case 0xa1: return read_one;
    case 0xa2:
    case 0xa3: return write_one;
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return with_memory(code, update); /* shifts */
    case 0xc2:
    case 0xc3:
    case 0xc9: return read_one; /* ret, leave */
    case 0xc6:
    case 0xc7: return operation(code) == 0 ? with_memory(code, write_one) : uncertain;
    case 0xf6:
    case 0xf7:
        return with_memory(
            code, operation(code) == 2 || operation(code) == 3 ? update : read_one); /* not, neg; test, mul, div */
    case 0xfe: return operation(code) < 2 ? with_memory(code, update) : uncertain;
    case 0xff:
        switch (operation(code)) {
        case 0:
        case 1: return with_memory(code, update); /* inc, dec */
        case 2: return names_memory(code) ? update : write_one; /* call: the target, then the return address */
        case 4: return with_memory(code, read_one); /* jmp */
        case 6: return names_memory(code) ? update : write_one; /* push */
        default: return uncertain;
        }
    default: return uncertain;
    }
}

static struct rsc_guest_accesses x86_accesses(const uint8_t *bytes, size_t count) {
    struct x86 code = {.at = bytes, .end = bytes + count};
    for (; code.at < code.end; code.at++) {
        if (*code.at == 0x66) code.operand_size = 1;
        else if (*code.at == 0xf2) code.f2 = 1;
        else if (*code.at == 0xf3) code.f3 = 1;
        else if (*code.at != 0x64 && *code.at != 0x65 && *code.at != 0x2e && *code.at != 0x3e) break;
    }
    if (code.at < code.end && (*code.at == 0xc4 || *code.at == 0xc5) && !code.operand_size && !code.f2 && !code.f3) {
        int long_form = *code.at++ == 0xc4;
        return x86_vex(&code, long_form);
    }
    if (code.at < code.end && (*code.at & 0xf0) == 0x40) code.at++; /* REX */
    if (code.at >= code.end) return uncertain;
    if (*code.at == 0x0f) {
        code.at++;
        return x86_two_bytes(&code);
    }
    /*
     * With a prefix that has no effect here, f3 c3, notrack jmp and bnd call are plain; others are decoded elsewhere.
     */
    if ((code.f2 || code.f3) && *code.at != 0xc3 && *code.at != 0xe8 && *code.at != 0xe9) return uncertain;
    return x86_one_byte(&code);
}

/* ---- AArch64 ---- */

static struct rsc_guest_accesses aarch64_accesses(uint32_t word) {
    const unsigned group = word >> 25 & 15, size = word >> 30, opc = word >> 22 & 3;
    if ((group & 5) != 4) { /* not a load or store */
        /* Data processing and branches; among the rest, DC ZVA writes and SVE is separate. */
        int plain = (group & 14) == 8 || (group & 14) == 10 || (group & 5) == 5;
        return plain && word >> 24 != 0xd5 ? none : uncertain;
    }
    if (word & 1u << 26) return uncertain; /* vectors */
    if ((word & 0x3b000000u) == 0x18000000u) return size == 3 ? none : read_one; /* literal; prfm */
    if ((word & 0x3b000000u) == 0x39000000u || (word & 0x3b200000u) == 0x38000000u ||
        (word & 0x3b200c00u) == 0x38200800u) { /* one register */
        if (opc == 0) return write_one;
        if (size == 3 && opc == 2) return none; /* prfm */
        return size >= 2 && opc == 3 ? uncertain : read_one;
    }
    if ((word & 0x3a000000u) == 0x28000000u) { /* pairs */
        int load = opc & 1;
        if (size == 0 || size == 2) return load ? read_two : write_two;
        return size == 1 && load ? read_two : uncertain; /* ldpsw; stgp */
    }
    return uncertain;
}

struct rsc_guest_accesses rsc_guest_accesses(enum rsc_guest guest, const void *code, size_t bytes) {
    uint32_t word;
    if (guest == RSC_GUEST_X86_64) return x86_accesses(code, bytes);
    if (guest != RSC_GUEST_AARCH64 || bytes != 4) return uncertain;
    memcpy(&word, code, 4);
    return aarch64_accesses(word);
}
