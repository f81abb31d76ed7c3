/*
 * asm_verify.c - checks that the rewritten object, without the inserted code, is the
 * plain one.
 *
 * It compares the bytes from the assembler, not the text. Every instruction of the
 * plain object must be in the fast copy, in order, with the same bytes and relocations;
 * jumps must lead to the same instruction or to the code inserted before it. Only
 * countdowns and padding may be between them. Recording copies must have the same
 * instructions; code inserted there may write no flag and no register but the piece's
 * scratch register, and may write memory only through the other one (in runs, with the
 * counter as index).
 */
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "base/fail.h"
#include "base/search.h"
#include "collect/rewrite/asm_object.h"
#include "collect/rewrite/asm_pass.h"

struct decoded {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

struct verifier {
    const struct rsc_pass *pass;
    const struct rsc_pass_object *plain, *rewritten;
    struct rsc_pass_place *before, *after, *copied; /* by instruction */
    uint8_t *lengths;                               /* in the fast copy */
    uint32_t *by_place;                             /* instructions sorted by place in the plain object */
    ZydisDecoder decoder;
    struct rsc_error *error;
};

static int refuse(const struct verifier *verifier, uint32_t insn, const char *why) {
    const struct rsc_pass_item *item = &verifier->pass->items[verifier->pass->insns[insn].item];
    return rsc_fail(verifier->error, RSC_EFORMAT, "--verify: line %u: '%.*s': %s", item->line,
                    item->length > 80 ? 80 : (int)item->length, item->text, why);
}

static int decode(const struct verifier *verifier, const uint8_t *bytes, size_t room, struct decoded *decoded) {
    return ZYAN_FAILED(ZydisDecoderDecodeFull(&verifier->decoder, bytes, room, &decoded->insn, decoded->operands)) ? -1
                                                                                                                   : 0;
}

/* ---- places ---- */

static const struct rsc_pass_place *sorted_places; /* for compare_places(), which has no argument for them */

static int compare_places(const void *a, const void *b) {
    const struct rsc_pass_place *one = &sorted_places[*(const uint32_t *)a],
                                *other = &sorted_places[*(const uint32_t *)b];
    if (one->section != other->section) return one->section < other->section ? -1 : 1;
    return one->offset < other->offset ? -1 : one->offset > other->offset;
}

/* The instruction at a place of the plain object, or RSC_PASS_NONE. */
static uint32_t insn_at(const struct verifier *verifier, uint32_t section, uint64_t offset) {
    size_t low = 0, high = verifier->pass->insn_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct rsc_pass_place *place = &verifier->before[verifier->by_place[middle]];
        if (place->section < section || (place->section == section && place->offset < offset)) low = middle + 1;
        else high = middle;
    }
    if (low == verifier->pass->insn_count) return RSC_PASS_NONE;
    const struct rsc_pass_place *place = &verifier->before[verifier->by_place[low]];
    return place->section == section && place->offset == offset ? verifier->by_place[low] : RSC_PASS_NONE;
}

/*
 * Whether `offset` in the rewritten object stands for an instruction of the plain one: at it, or in the code inserted
 * before it.
 */
static int leads_to(const struct verifier *verifier, uint32_t insn, uint32_t section, uint64_t offset) {
    const struct rsc_pass_place *place = &verifier->after[insn];
    if (place->section != section || offset > place->offset) return 0;
    if (insn == 0 || verifier->after[insn - 1].section != section) return 1;
    return offset >= verifier->after[insn - 1].offset + verifier->lengths[insn - 1];
}

/* ---- one instruction ---- */

static const Elf64_Rela *next_relocation(const struct rsc_pass_object *object, struct rsc_pass_place place,
                                         uint64_t length) {
    size_t count;
    const Elf64_Rela *table = rsc_pass_object_relocations(object, place.section, &count);
    size_t low = RSC_SEARCH(0, count, i, table[i].r_offset < place.offset);
    return low < count && table[low].r_offset < place.offset + length ? &table[low] : NULL;
}

static int is_section(const struct rsc_pass_object *object, uint32_t symbol) {
    return symbol < object->symbol_count && ELF64_ST_TYPE(object->symbols[symbol].st_info) == STT_SECTION;
}

/* In code that we generate, a local place is a section and an offset, which moves. */
static int same_relocation(const struct verifier *verifier, const Elf64_Rela *a, const Elf64_Rela *b, uint64_t from) {
    if (!a || !b) return a == b;
    uint32_t one = (uint32_t)ELF64_R_SYM(a->r_info), other = (uint32_t)ELF64_R_SYM(b->r_info);
    int both_jumps = (ELF64_R_TYPE(a->r_info) == R_X86_64_PC32 || ELF64_R_TYPE(a->r_info) == R_X86_64_PLT32) &&
                     (ELF64_R_TYPE(b->r_info) == R_X86_64_PC32 || ELF64_R_TYPE(b->r_info) == R_X86_64_PLT32);
    if ((ELF64_R_TYPE(a->r_info) != ELF64_R_TYPE(b->r_info) && !both_jumps) || a->r_offset - from > 15) return 0;
    if (is_section(verifier->plain, one) && is_section(verifier->rewritten, other)) {
        uint32_t section = verifier->plain->symbols[one].st_shndx, there = verifier->rewritten->symbols[other].st_shndx;
        if (strcmp(rsc_pass_object_section_name(verifier->plain, section),
                   rsc_pass_object_section_name(verifier->rewritten, there)))
            return 0;
        return verifier->plain->sections[section].sh_flags & SHF_EXECINSTR || a->r_addend == b->r_addend;
    }
    return a->r_addend == b->r_addend && !strcmp(rsc_pass_object_symbol_name(verifier->plain, one),
                                                 rsc_pass_object_symbol_name(verifier->rewritten, other));
}

/* Target of a relative operand in its section; 0: it has none, or the linker resolves it. */
static int relative_target(const struct decoded *decoded, uint64_t at, uint64_t *target) {
    for (int i = 0; i < decoded->insn.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative) {
            *target = at + decoded->insn.length + (uint64_t)operand->imm.value.s;
            return 1;
        }
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == ZYDIS_REGISTER_RIP) {
            *target = at + decoded->insn.length + (uint64_t)operand->mem.disp.value;
            return 1;
        }
    }
    return 0;
}

/* All bytes except the relative field. */
static int same_bytes(const struct decoded *a, const uint8_t *one, const uint8_t *other) {
    unsigned skip = 16, bytes = 0;
    for (int i = 0; i < a->insn.operand_count_visible; i++) {
        if (a->operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && a->operands[i].imm.is_relative)
            skip = a->insn.raw.imm[0].offset, bytes = a->insn.raw.imm[0].size / 8u;
        if (a->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && a->operands[i].mem.base == ZYDIS_REGISTER_RIP)
            skip = a->insn.raw.disp.offset, bytes = 4;
    }
    for (unsigned i = 0; i < a->insn.length; i++)
        if ((i < skip || i >= skip + bytes) && one[i] != other[i]) return 0;
    return 1;
}

/* A stub consists of moves, pushes or pops, and a jump: returns its target. */
static int follow_stub(const struct verifier *verifier, uint32_t section, uint64_t *at, const Elf64_Rela **relocation) {
    struct decoded decoded;
    size_t room;
    for (int i = 0; i < 8; i++) {
        const uint8_t *bytes = rsc_pass_object_bytes(verifier->rewritten, (struct rsc_pass_place){section, *at}, &room);
        if (!bytes || decode(verifier, bytes, room, &decoded) < 0) return -1;
        if (decoded.insn.mnemonic == ZYDIS_MNEMONIC_JMP) {
            *relocation =
                next_relocation(verifier->rewritten, (struct rsc_pass_place){section, *at}, decoded.insn.length);
            return relative_target(&decoded, *at, at) ? 0 : -1;
        }
        switch (decoded.insn.mnemonic) {
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_LEA:
        case ZYDIS_MNEMONIC_PUSH:
        case ZYDIS_MNEMONIC_POP: break;
        default: return -1;
        }
        *at += decoded.insn.length;
    }
    return -1;
}

static int check_insn(const struct verifier *verifier, uint32_t number, struct rsc_pass_place to, uint8_t *length) {
    struct rsc_pass_place from = verifier->before[number];
    size_t room, room_there;
    const uint8_t *bytes = rsc_pass_object_bytes(verifier->plain, from, &room);
    const uint8_t *there = rsc_pass_object_bytes(verifier->rewritten, to, &room_there);
    struct decoded one, other;
    if (!bytes || !there || decode(verifier, bytes, room, &one) < 0 || decode(verifier, there, room_there, &other) < 0)
        return refuse(verifier, number, "is not in the rewritten object");
    if (strcmp(rsc_pass_object_section_name(verifier->plain, from.section),
               rsc_pass_object_section_name(verifier->rewritten, to.section)))
        return refuse(verifier, number, "is in another section");
    *length = other.insn.length;
    int is_jump = one.insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
    if (one.insn.mnemonic != other.insn.mnemonic || (!is_jump && one.insn.length != other.insn.length) ||
        (one.insn.length == other.insn.length && !same_bytes(&one, bytes, there)))
        return refuse(verifier, number, "has other bytes");
    const Elf64_Rela *wanted = next_relocation(verifier->plain, from, one.insn.length);
    const Elf64_Rela *found = next_relocation(verifier->rewritten, to, other.insn.length);
    uint64_t stub;
    /* Out of a loop into another section: through a stub. */
    if (wanted && !found && verifier->pass->insns[number].loop && relative_target(&other, to.offset, &stub) &&
        follow_stub(verifier, to.section, &stub, &found) < 0)
        found = NULL;
    if (!same_relocation(verifier, wanted, found, from.offset))
        return refuse(verifier, number, "has another relocation");
    return 0;
}

/* Once all lengths are known: jumps must have the same targets. */
static int check_target(const struct verifier *verifier, uint32_t number, struct rsc_pass_place to) {
    struct rsc_pass_place from = verifier->before[number];
    size_t room = 0, room_there = 0;
    struct decoded one, other;
    uint64_t target = 0, there = 0;
    const Elf64_Rela *relocation;
    if (verifier->pass->insns[number].is_short_only) return 0; /* rewritten as three instructions */
    const uint8_t *bytes = rsc_pass_object_bytes(verifier->plain, from, &room);
    const uint8_t *bytes_there = rsc_pass_object_bytes(verifier->rewritten, to, &room_there);
    if (!bytes || !bytes_there || decode(verifier, bytes, room, &one) < 0 ||
        decode(verifier, bytes_there, room_there, &other) < 0)
        return refuse(verifier, number, "is not in the rewritten object");
    if (next_relocation(verifier->plain, from, one.insn.length)) return 0;
    if (!relative_target(&one, from.offset, &target)) return 0;
    relative_target(&other, to.offset, &there);
    uint32_t wanted = insn_at(verifier, from.section, target);
    if (wanted == RSC_PASS_NONE) return 0; /* inline assembly or data */
    /* Each way out of a loop and into one has a stub that moves the counter; nothing else has one. */
    uint32_t loop = verifier->pass->insns[number].loop, other_loop = verifier->pass->insns[wanted].loop;
    int stubs = 0, needed = loop == other_loop ? 0 : (loop != 0) + (other_loop != 0);
    for (; stubs < 2 && !leads_to(verifier, wanted, to.section, there); stubs++)
        if (follow_stub(verifier, to.section, &there, &relocation) < 0 || relocation) break;
    if (!leads_to(verifier, wanted, to.section, there)) return refuse(verifier, number, "leads elsewhere");
    return stubs == needed ? 0 : refuse(verifier, number, "goes into or out of a loop without its counter");
}

/* ---- inserted code ---- */

static int writes_flags(const ZydisDecodedInstruction *insn) {
    const ZydisAccessedFlags *flags = insn->cpu_flags;
    return flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined);
}

/* In a recording copy: writes only the scratch register, or memory through the other. */
static int is_harmless(const struct rsc_pass *pass, const struct decoded *decoded, const struct rsc_pass_piece *piece) {
    ZydisRegister counter = piece->is_run ? ZYDIS_REGISTER_RAX + pass->loops[pass->insns[piece->first].loop - 1].counter
                                          : ZYDIS_REGISTER_NONE;
    if (writes_flags(&decoded->insn) || decoded->insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) return 0;
    for (int i = 0; i < decoded->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operand->mem.base == (ZydisRegister)(ZYDIS_REGISTER_RAX + piece->b) &&
            (operand->mem.index == ZYDIS_REGISTER_NONE || (operand->mem.index == counter && operand->mem.scale == 8)))
            continue;
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) ==
                (ZydisRegister)(ZYDIS_REGISTER_RAX + piece->a))
            continue;
        return 0;
    }
    return 1;
}

/* In the fast copy: instructions of countdowns, and padding. */
static int is_countdown(const ZydisDecodedInstruction *insn) {
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_JS:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_PUSHFQ:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_NOP: return 1;
    default: return insn->meta.category == ZYDIS_CATEGORY_WIDENOP || insn->meta.category == ZYDIS_CATEGORY_NOP;
    }
}

/* Whether anything between two instructions is neither ours nor padding. */
static int has_other(const struct rsc_pass *pass, uint32_t from, uint32_t to) {
    for (uint32_t i = pass->insns[from].item + 1; i < pass->insns[to].item; i++)
        if (pass->items[i].sort == RSC_PASS_OPAQUE ||
            (pass->items[i].sort == RSC_PASS_DIRECTIVE && !pass->items[i].neutral))
            return 1;
    return 0;
}

static int check_gap(const struct verifier *verifier, uint32_t number, struct rsc_pass_place from, uint64_t end,
                     const struct rsc_pass_piece *copy) {
    size_t room;
    struct decoded decoded;
    while (from.offset < end) {
        const uint8_t *bytes = rsc_pass_object_bytes(verifier->rewritten, from, &room);
        if (!bytes || decode(verifier, bytes, room, &decoded) < 0)
            return refuse(verifier, number, "something else is before it");
        if (copy ? !is_harmless(verifier->pass, &decoded, copy) : !is_countdown(&decoded.insn))
            return refuse(verifier, number, "the code inserted before it is wrong");
        from.offset += decoded.insn.length;
    }
    return from.offset == end ? 0 : refuse(verifier, number, "the code inserted before it overlaps it");
}

static int check_fast(struct verifier *verifier) {
    const struct rsc_pass *pass = verifier->pass;
    for (uint32_t i = 0; i < pass->insn_count; i++) {
        if (pass->insns[i].is_short_only) {
            verifier->lengths[i] = 2 + 5 + 5;
            continue;
        }
        int status = check_insn(verifier, i, verifier->after[i], &verifier->lengths[i]);
        if (status < 0) return status;
    }
    for (uint32_t i = 0; i < pass->insn_count; i++) {
        struct rsc_pass_place place = verifier->after[i];
        int status = check_target(verifier, i, place);
        if (status < 0) return status;
        /* Glued statements and short jumps are several instructions. */
        if (!verifier->before[i].offset &&
            (status = check_gap(verifier, i, (struct rsc_pass_place){place.section, 0}, place.offset, NULL)) < 0)
            return status;
        if (!i || pass->items[pass->insns[i].item].section != pass->items[pass->insns[i - 1].item].section ||
            pass->insns[i - 1].items > 1 || pass->insns[i - 1].is_short_only || has_other(pass, i - 1, i))
            continue;
        struct rsc_pass_place from = {place.section, verifier->after[i - 1].offset + verifier->lengths[i - 1]};
        if (from.offset > place.offset) return refuse(verifier, i, "is out of order");
        if ((status = check_gap(verifier, i, from, place.offset, NULL)) < 0) return status;
    }
    return 0;
}

static int check_copies(struct verifier *verifier) {
    const struct rsc_pass *pass = verifier->pass;
    for (size_t p = 0; p < pass->piece_count; p++) {
        const struct rsc_pass_piece *piece = &pass->pieces[p];
        for (uint32_t i = piece->first; i < piece->body_end; i++) {
            uint8_t length;
            struct rsc_pass_place place = verifier->copied[i];
            int status = check_insn(verifier, i, place, &length);
            if (status < 0) return status;
            if (i == piece->first) continue;
            struct rsc_pass_place from = {place.section, verifier->copied[i - 1].offset + pass->insns[i - 1].length};
            if ((status = check_gap(verifier, i, from, place.offset, piece)) < 0) return status;
        }
    }
    return 0;
}

/* Data: only tables are added. */
static int check_data(const struct verifier *verifier) {
    for (uint32_t i = 1; i < verifier->plain->section_count; i++) {
        const Elf64_Shdr *section = &verifier->plain->sections[i];
        const char *name = rsc_pass_object_section_name(verifier->plain, i);
        if (section->sh_type != SHT_PROGBITS || !(section->sh_flags & SHF_ALLOC) || section->sh_flags & SHF_EXECINSTR ||
            !section->sh_size || !strcmp(name, ".eh_frame") || !strncmp(name, ".gcc_except_table", 17))
            continue;
        int found = 0;
        for (uint32_t k = 1; k < verifier->rewritten->section_count && !found; k++) {
            size_t room, room_there;
            if (strcmp(rsc_pass_object_section_name(verifier->rewritten, k), name)) continue;
            const uint8_t *one = rsc_pass_object_bytes(verifier->plain, (struct rsc_pass_place){i, 0}, &room);
            const uint8_t *other =
                rsc_pass_object_bytes(verifier->rewritten, (struct rsc_pass_place){k, 0}, &room_there);
            found = one && other && room == room_there && !memcmp(one, other, room);
        }
        if (!found) return rsc_fail(verifier->error, RSC_EFORMAT, "--verify: the data of section %.80s changed", name);
    }
    return 0;
}

int rsc_pass_verify(const struct rsc_pass *pass, const struct rsc_pass_object *plain,
                    const struct rsc_pass_object *rewritten, struct rsc_error *error) {
    struct verifier verifier = {.pass = pass, .plain = plain, .rewritten = rewritten, .error = error};
    size_t count = pass->insn_count, bytes = (count + 1) * sizeof *verifier.before;
    int status = RSC_ENOMEM;
    ZydisDecoderInit(&verifier.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    verifier.before = malloc(bytes);
    verifier.after = malloc(bytes);
    verifier.copied = malloc(bytes);
    verifier.lengths = calloc(count + 1, 1);
    verifier.by_place = malloc((count + 1) * sizeof *verifier.by_place);
    if (!verifier.before || !verifier.after || !verifier.copied || !verifier.lengths || !verifier.by_place) {
        rsc_fail_memory(error, "--verify");
        goto out;
    }
    rsc_pass_object_labels(plain, ".Lrsci", verifier.before, count);
    rsc_pass_object_labels(rewritten, ".Lrscp", verifier.after, count);
    rsc_pass_object_labels(rewritten, ".Lrscw", verifier.copied, count);
    for (uint32_t i = 0; i < count; i++) verifier.by_place[i] = i;
    sorted_places = verifier.before;
    qsort(verifier.by_place, count, sizeof *verifier.by_place, compare_places);
    status = check_fast(&verifier);
    if (status >= 0) status = check_copies(&verifier);
    if (status >= 0) status = check_data(&verifier);
out:
    free(verifier.before);
    free(verifier.after);
    free(verifier.copied);
    free(verifier.lengths);
    free(verifier.by_place);
    return status;
}
