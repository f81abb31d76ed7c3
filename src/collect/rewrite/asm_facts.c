/*
 * asm_facts.c - what an instruction does, decoded by Zydis from the plain object: the
 * registers and flags it reads and writes, its accesses, its targets.
 *
 * In doubt, a register counts as read and not as written: it is then considered live,
 * and is not used.
 */
#include <string.h>
#include <strings.h>

#include <Zydis/Zydis.h>

#include "base/fail.h"
#include "collect/rewrite/asm_object.h"
#include "collect/rewrite/asm_pass.h"

const char *const rsc_pass_register_names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                                 "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

struct decoded {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static uint8_t number_of(ZydisRegister name) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15) return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
    return RSC_PASS_NO_REGISTER;
}

static uint8_t vector_number(ZydisRegister name) { return (uint8_t)ZydisRegisterGetId(name); }

/* ---- registers and flags ---- */

static void read_register(struct rsc_pass_insn *insn, ZydisRegister name) {
    uint8_t number = number_of(name);
    if (number == RSC_PASS_NO_REGISTER) return;
    insn->reads |= 1u << number;
    insn->touches |= 1u << number;
}

static void find_registers(struct rsc_pass_insn *insn, const struct decoded *decoded) {
    for (int i = 0; i < decoded->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            read_register(insn, operand->mem.base);
            read_register(insn, operand->mem.index);
        }
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
        uint8_t number = number_of(operand->reg.value);
        if (number == RSC_PASS_NO_REGISTER) continue;
        int writes = (operand->actions & ZYDIS_OPERAND_ACTION_WRITE) != 0;
        int is_whole = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) >= 32;
        insn->touches |= 1u << number;
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) insn->changes |= 1u << number;
        if (writes && is_whole) insn->writes |= 1u << number;
        if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) || !writes || !is_whole) insn->reads |= 1u << number;
    }
    /* xor and sub of a register with itself do not depend on its value. */
    const ZydisDecodedOperand *operands = decoded->operands;
    if ((decoded->insn.mnemonic == ZYDIS_MNEMONIC_XOR || decoded->insn.mnemonic == ZYDIS_MNEMONIC_SUB) &&
        operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        operands[0].reg.value == operands[1].reg.value && operands[0].size >= 32)
        insn->reads &= ~(1u << number_of(operands[0].reg.value));
}

/* The six status flags as bits 16-21. */
static uint32_t flag_set(ZydisAccessedFlagsMask mask) {
    static const ZydisAccessedFlagsMask flags[6] = {ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_PF, ZYDIS_CPUFLAG_AF,
                                                    ZYDIS_CPUFLAG_ZF, ZYDIS_CPUFLAG_SF, ZYDIS_CPUFLAG_OF};
    uint32_t set = 0;
    for (int i = 0; i < 6; i++)
        if (mask & flags[i]) set |= 1u << (16 + i);
    return set;
}

static int is_repeated(const ZydisDecodedInstruction *decoded) {
    return (decoded->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0 &&
           (decoded->meta.category == ZYDIS_CATEGORY_STRINGOP || decoded->meta.category == ZYDIS_CATEGORY_IOSTRINGOP);
}

static void find_flags(struct rsc_pass_insn *insn, const struct decoded *decoded) {
    const ZydisAccessedFlags *flags = decoded->insn.cpu_flags;
    if (!flags) return;
    insn->reads |= flag_set(flags->tested);
    /* A shift by %cl may be by zero, and a repeated compare may run zero times: both then leave the flags unchanged. */
    int may_not = is_repeated(&decoded->insn) || decoded->insn.meta.category == ZYDIS_CATEGORY_SHIFT ||
                  decoded->insn.meta.category == ZYDIS_CATEGORY_ROTATE;
    for (int i = 0; i < decoded->insn.operand_count_visible && may_not && !is_repeated(&decoded->insn); i++)
        if (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && (decoded->operands[i].imm.value.u & 31))
            may_not = 0;
    if (!may_not) insn->writes |= flag_set(flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
}

/* ---- accesses ---- */

static int has_no_access(const ZydisDecodedInstruction *insn) {
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLDEMOTE: return 1;
    default: return insn->mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
    }
}

/*
 * Whether a masked memory operand is still read as a whole. Instructions without fault suppression do that; their
 * writes follow the mask all the same (vextractf32x8).
 */
static int ignores_mask(const ZydisDecodedInstruction *insn) {
    switch (insn->meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_E1NF:
    case ZYDIS_EXCEPTION_CLASS_E2NF:
    case ZYDIS_EXCEPTION_CLASS_E3NF:
    case ZYDIS_EXCEPTION_CLASS_E4NF:
    case ZYDIS_EXCEPTION_CLASS_E5NF:
    case ZYDIS_EXCEPTION_CLASS_E6NF:
    case ZYDIS_EXCEPTION_CLASS_E9NF:
    case ZYDIS_EXCEPTION_CLASS_E10NF:
    case ZYDIS_EXCEPTION_CLASS_E11NF: return 1;
    default: return 0;
    }
}

static void find_gather(struct rsc_pass_access *access, const struct decoded *decoded,
                        const ZydisDecodedOperand *memory) {
    const ZydisDecodedOperand *data = NULL, *mask = NULL;
    access->kind = RSC_ASM_GATHERED;
    access->vector = vector_number(memory->mem.index);
    access->vector_bytes = (uint8_t)(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, memory->mem.index) / 8);
    access->index = RSC_PASS_NO_REGISTER;
    for (int i = 0; i < decoded->insn.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
        ZydisRegisterClass sort = ZydisRegisterGetClass(operand->reg.value);
        if (sort == ZYDIS_REGCLASS_MASK) mask = operand;
        else if (!data) data = operand;
        else if (!mask) mask = operand; /* AVX2: the last register */
    }
    if (!data || !mask) return;
    /* gatherdpd: D indices of 4 bytes, data of 8. The last letters give both. */
    const char *name = ZydisMnemonicGetString(decoded->insn.mnemonic);
    size_t length = strlen(name);
    const char *letters = name + length - (name[length - 2] == 'p' ? 3 : 2);
    int wide_index = letters[0] == 'q',
        wide_data = name[length - 1] == 'd' ? name[length - 2] == 'p' : name[length - 1] == 'q';
    unsigned data_bytes = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, data->reg.value) / 8u;
    unsigned count = data_bytes / (wide_data ? 8u : 4u), indices = access->vector_bytes / (wide_index ? 8u : 4u);
    access->size = wide_data ? 8 : 4;
    access->count = (uint8_t)(count < indices ? count : indices);
    access->flags |= wide_index ? RSC_ASM_INDEX_8 : 0;
    access->mask = vector_number(mask->reg.value);
    access->mask_bits = access->count;
    if (ZydisRegisterGetClass(mask->reg.value) == ZYDIS_REGCLASS_MASK) access->mask_sort = RSC_PASS_MASK_K;
    else access->mask_sort = wide_data ? RSC_PASS_MASK_PD : RSC_PASS_MASK_PS;
}

/* The vector register that is the mask of vmaskmov and maskmovdqu. */
static int find_vector_mask(struct rsc_pass_access *access, const struct decoded *decoded,
                            const ZydisDecodedOperand *memory) {
    const ZydisDecodedOperand *operands = decoded->operands;
    switch (decoded->insn.mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD: access->mask_sort = RSC_PASS_MASK_PS; break;
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ: access->mask_sort = RSC_PASS_MASK_PD; break;
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU: access->mask_sort = RSC_PASS_MASK_BYTES; break;
    default: return 0;
    }
    /* Intel's order: the mask is the second operand, in all of these. */
    access->kind = RSC_ASM_MASKED;
    access->mask = vector_number(operands[1].reg.value);
    access->size = access->mask_sort == RSC_PASS_MASK_BYTES ? 1 : access->mask_sort == RSC_PASS_MASK_PS ? 4 : 8;
    access->count = (uint8_t)(access->mask_sort == RSC_PASS_MASK_BYTES ? 16 : memory->size / 8 / access->size);
    access->mask_bits = access->count;
    return 1;
}

static void find_mask(struct rsc_pass_access *access, const struct decoded *decoded,
                      const ZydisDecodedOperand *memory) {
    const ZydisDecodedInstruction *insn = &decoded->insn;
    if (find_vector_mask(access, decoded, memory)) return;
    if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX || insn->avx.mask.reg == ZYDIS_REGISTER_NONE ||
        insn->avx.mask.reg == ZYDIS_REGISTER_K0 || (!(access->flags & RSC_ASM_WRITES) && ignores_mask(insn)))
        return;
    access->mask_sort = RSC_PASS_MASK_K;
    access->mask = vector_number(insn->avx.mask.reg);
    unsigned elements = memory->element_count ? memory->element_count : 1;
    access->mask_bits = (uint8_t)(elements > 64 ? 64 : elements);
    if (insn->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID) {
        access->kind = RSC_ASM_ANY; /* one bit for each element that it is broadcast to */
        access->count = (uint8_t)(insn->avx.vector_length / (memory->element_size ? memory->element_size : 8));
        access->mask_bits = access->count > 16 ? access->count : 16;
        return;
    }
    access->kind = insn->meta.category == ZYDIS_CATEGORY_COMPRESS || insn->meta.category == ZYDIS_CATEGORY_EXPAND
                       ? RSC_ASM_PACKED
                       : RSC_ASM_MASKED;
    access->size = (uint16_t)(memory->element_size / 8);
    access->count = access->mask_bits;
}

static int by_equal(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
    case ZYDIS_MNEMONIC_SCASB:
    case ZYDIS_MNEMONIC_SCASW:
    case ZYDIS_MNEMONIC_SCASD:
    case ZYDIS_MNEMONIC_SCASQ: return 1;
    default: return 0;
    }
}

static void add_access(struct rsc_pass_insn *insn, const struct decoded *decoded, const ZydisDecodedOperand *memory,
                       int only) {
    unsigned actions = memory->actions;
    uint8_t flags = (uint8_t)((actions & ZYDIS_OPERAND_ACTION_MASK_READ ? RSC_ASM_READS : 0) |
                              (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? RSC_ASM_WRITES : 0));
    /* Some operands are written only on a condition; the processor writes anyway (cmpxchg) or masks. */
    if (only && flags != only) return;
    if (!flags) return;
    if (insn->access_count == RSC_PASS_ACCESSES || !memory->size) {
        insn->unknown = "an access of unknown size";
        return;
    }
    struct rsc_pass_access *access = &insn->access[insn->access_count++];
    *access = (struct rsc_pass_access){.kind = RSC_ASM_PLAIN,
                                       .flags = flags,
                                       .scale = memory->mem.scale,
                                       .size = (uint16_t)(memory->size / 8),
                                       .disp = (int32_t)memory->mem.disp.value,
                                       .base = number_of(memory->mem.base),
                                       .index = number_of(memory->mem.index),
                                       .is_written = memory->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN};
    if (!access->scale) access->scale = 1;
    if (memory->mem.base == ZYDIS_REGISTER_RIP) {
        access->kind = RSC_ASM_RIP;
        access->base = RSC_PASS_RIP;
    }
    if (memory->mem.segment == ZYDIS_REGISTER_FS) access->segment = 'f';
    if (memory->mem.segment == ZYDIS_REGISTER_GS) insn->unknown = "an address relative to %gs";
    if (decoded->insn.address_width == 32) insn->unknown = "a 32-bit address";
    if (memory->mem.type == ZYDIS_MEMOP_TYPE_VSIB) find_gather(access, decoded, memory);
    else find_mask(access, decoded, memory);
    if (is_repeated(&decoded->insn)) {
        access->kind = RSC_ASM_STRING;
        if (by_equal(decoded->insn.mnemonic)) access->flags |= RSC_ASM_BY_EQUAL;
    }
}

static int is_memory(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM || operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB);
}

/* The stack: Zydis has an operand for it, but does not show that push and call write below it. */
static void mend_stack(struct rsc_pass_insn *insn, const struct decoded *decoded) {
    int category = decoded->insn.meta.category;
    int down = category == ZYDIS_CATEGORY_PUSH || category == ZYDIS_CATEGORY_CALL, up = category == ZYDIS_CATEGORY_POP;
    for (int i = 0; i < insn->access_count; i++) {
        struct rsc_pass_access *access = &insn->access[i];
        if (!access->is_written && access->base == RSC_PASS_RSP && down && (access->flags & RSC_ASM_WRITES)) {
            access->disp = -(int32_t)access->size;
            insn->rsp_moves = (int8_t)-access->size;
        }
        if (!access->is_written && access->base == RSC_PASS_RSP && up) insn->rsp_moves = (int8_t)access->size;
    }
    for (int i = 0; i < insn->access_count && up; i++) /* pop to memory: its address is computed after the pop */
        if (insn->access[i].is_written && insn->access[i].base == RSC_PASS_RSP) insn->access[i].disp += insn->rsp_moves;
}

static void find_accesses(struct rsc_pass_insn *insn, const struct decoded *decoded) {
    if (has_no_access(&decoded->insn)) return;
    /* Operands that are only read come first, those only written last. */
    static const int order[] = {RSC_ASM_READS, RSC_ASM_READS | RSC_ASM_WRITES, RSC_ASM_WRITES};
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < decoded->insn.operand_count; i++)
            if (is_memory(&decoded->operands[i])) add_access(insn, decoded, &decoded->operands[i], order[pass]);
    mend_stack(insn, decoded);
}

/* ---- control flow ---- */

static void find_flow(struct rsc_pass_insn *insn, const struct decoded *decoded) {
    int direct = decoded->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    switch (decoded->insn.meta.category) {
    case ZYDIS_CATEGORY_CALL: insn->flow = RSC_PASS_CALL; break;
    case ZYDIS_CATEGORY_RET: insn->flow = RSC_PASS_RETURN; break;
    case ZYDIS_CATEGORY_COND_BR:
        insn->flow = RSC_PASS_CONDITION;
        switch (decoded->insn.mnemonic) {
        case ZYDIS_MNEMONIC_JRCXZ:
        case ZYDIS_MNEMONIC_JECXZ:
        case ZYDIS_MNEMONIC_LOOP:
        case ZYDIS_MNEMONIC_LOOPE:
        case ZYDIS_MNEMONIC_LOOPNE: insn->is_short_only = 1; break;
        default: break;
        }
        break;
    case ZYDIS_CATEGORY_UNCOND_BR: insn->flow = direct ? RSC_PASS_JUMP : RSC_PASS_INDIRECT; break;
    case ZYDIS_CATEGORY_INTERRUPT: insn->flow = RSC_PASS_STOP; break;
    default: break;
    }
    switch (decoded->insn.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT: insn->flow = RSC_PASS_STOP; break;
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_XABORT:
        insn->flow = RSC_PASS_CONDITION;
        insn->reads = RSC_PASS_ALL;
        break;
    default: break;
    }
}

/* add, sub, inc, dec, lea with a constant: the register stays known from its word. */
static void find_addition(struct rsc_pass_insn *insn, const struct decoded *decoded) {
    const ZydisDecodedOperand *to = &decoded->operands[0], *by = &decoded->operands[1];
    insn->adds_to = RSC_PASS_NO_REGISTER;
    if (decoded->insn.operand_count_visible < 1 || to->type != ZYDIS_OPERAND_TYPE_REGISTER || to->size != 64) return;
    uint8_t number = number_of(to->reg.value);
    if (number == RSC_PASS_NO_REGISTER) return;
    int64_t adds;
    switch (decoded->insn.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return;
        adds = decoded->insn.mnemonic == ZYDIS_MNEMONIC_ADD ? by->imm.value.s : -by->imm.value.s;
        break;
    case ZYDIS_MNEMONIC_INC: adds = 1; break;
    case ZYDIS_MNEMONIC_DEC: adds = -1; break;
    default: return;
    }
    if (adds < -(1 << 24) || adds > 1 << 24) return;
    insn->adds_to = number;
    insn->adds = (int32_t)adds;
}

int rsc_pass_decode(struct rsc_pass_insn *insn, const uint8_t *bytes, size_t room) {
    struct decoded decoded;
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, room, &decoded.insn, decoded.operands))) return -1;
    insn->length = decoded.insn.length;
    insn->disp_at = decoded.insn.raw.disp.offset;
    insn->stays_first = decoded.insn.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
    find_registers(insn, &decoded);
    find_flags(insn, &decoded);
    find_flow(insn, &decoded);
    find_accesses(insn, &decoded);
    find_addition(insn, &decoded);
    return 0;
}

/* ---- all instructions ---- */

/* The sequence that ends in a call of __tls_get_addr, which the linker may replace by one without a call. */
static void make_tls_call(struct rsc_pass_insn *insn) {
    insn->flow = RSC_PASS_CALL;
    insn->reads |= 1u << RSC_PASS_RSP;
    insn->touches |= 1u << RSC_PASS_RSP | 1u << 7; /* %rdi */
    insn->access_count = 1;
    insn->rsp_moves = -8;
    insn->adds_to = RSC_PASS_NO_REGISTER;
    insn->access[0] = (struct rsc_pass_access){.kind = RSC_ASM_PLAIN,
                                               .flags = RSC_ASM_WRITES | RSC_ASM_RELAXED,
                                               .size = 8,
                                               .base = RSC_PASS_RSP,
                                               .index = RSC_PASS_NO_REGISTER,
                                               .scale = 1,
                                               .disp = -8};
}

static int names(const struct rsc_pass *pass, const struct rsc_pass_insn *insn, const char *wanted) {
    size_t n = strlen(wanted);
    for (uint32_t k = 0; k < insn->items; k++) {
        const struct rsc_pass_item *item = &pass->items[insn->item + k];
        for (size_t i = 0; i + n <= item->length; i++)
            if (!strncasecmp(item->text + i, wanted, n)) return 1;
    }
    return 0;
}

/* Relocations that the linker may resolve by changing the instruction. */
static void mark_relaxable(const struct rsc_pass *pass, struct rsc_pass_insn *insn) {
    if (names(pass, insn, "@tlsgd") || names(pass, insn, "@tlsld")) {
        make_tls_call(insn);
        return;
    }
    if (names(pass, insn, "@tlscall")) insn->unknown = "a TLS descriptor";
    if (!names(pass, insn, "@gotpcrel") && !names(pass, insn, "@gottpoff")) return;
    for (int i = 0; i < insn->access_count; i++)
        if (insn->access[i].kind == RSC_ASM_RIP) insn->access[i].flags |= RSC_ASM_RELAXED;
}

/* The increment is known if it is written as a number; only the linker knows a symbol. */
static void forget_symbol(const struct rsc_pass *pass, struct rsc_pass_insn *insn) {
    const struct rsc_pass_item *item = &pass->items[insn->item];
    const char *at = memchr(item->text, '$', item->length), *end = item->text + item->length;
    if (insn->adds_to == RSC_PASS_NO_REGISTER || !at) return;
    for (at++; at < end && *at != ','; at++)
        if (!strchr("0123456789+-()", *at)) insn->adds_to = RSC_PASS_NO_REGISTER;
}

int rsc_pass_learn(struct rsc_pass *pass, const struct rsc_pass_object *object, struct rsc_error *error) {
    struct rsc_pass_place *places = rsc_arena_alloc(&pass->arena, (pass->insn_count + 1) * sizeof *places);
    if (!places) return rsc_fail_memory(error, "instructions");
    rsc_pass_object_labels(object, ".Lrsci", places, pass->insn_count);
    for (size_t i = 0; i < pass->insn_count; i++) {
        struct rsc_pass_insn *insn = &pass->insns[i];
        const struct rsc_pass_item *item = &pass->items[insn->item];
        size_t room;
        const uint8_t *bytes = rsc_pass_object_bytes(object, places[i], &room);
        if (!bytes || rsc_pass_decode(insn, bytes, room) < 0)
            return rsc_fail(error, RSC_EUNSUPPORTED, "line %u: '%.*s' cannot be decoded", item->line,
                            item->length > 80 ? 80 : (int)item->length, item->text);
        insn->section_index = places[i].section;
        insn->offset = places[i].offset;
        mark_relaxable(pass, insn);
        forget_symbol(pass, insn);
    }
    return 0;
}
