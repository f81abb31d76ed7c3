/*
 * code_loops.c - see code_loops.h.
 *
 * Two passes over the code of the function and of its parts elsewhere. The first decodes it and marks instructions
 * and block starts; the second makes the edges, from what the first noted about each jump. Invalid bytes end a block;
 * decoding continues at the next byte.
 */
#include "collect/symbols/code_loops.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"
#include "base/search.h"

void rsc_code_loops_free(struct rsc_code_loops *loops) {
    free(loops->loops);
    free(loops->tests);
    free(loops->blocks);
    *loops = (struct rsc_code_loops){0};
}

uint32_t rsc_code_loops_at(const struct rsc_code_loops *loops, uint64_t address) {
    if (!loops->block_count || address < loops->blocks[0].start || address >= loops->end) return RSC_NO_LOOP;
    return loops->blocks[RSC_SEARCH(1, loops->block_count, i, loops->blocks[i].start <= address) - 1].loop;
}

#ifndef RSC_HAVE_ZYDIS

int rsc_code_loops_known(void) { return 0; }

int rsc_code_loops_find(struct rsc_code_loops *loops, const struct rsc_code_bytes *code) {
    (void)code;
    *loops = (struct rsc_code_loops){0};
    return RSC_EUNSUPPORTED;
}

#else

#include <Zydis/Zydis.h>

int rsc_code_loops_known(void) { return 1; }

enum { IS_INSTRUCTION = 1, BEGINS_BLOCK = 2 };

/* How control leaves an instruction; those that only fall through are not kept. */
enum flow { JUMP, CONDITION, INDIRECT, STOP };

#define NOWHERE UINT32_MAX
#define TABLE_MAX 4096u   /* cases of a switch; further ones are not read */
#define TARGETS_MAX (1u << 18) /* of all tables of a function */
#define TABLE_REACH 64u   /* address loads and compares before a jump that are searched for its table */

/*
 * A stretch of code: the function itself, then its parts elsewhere as they are found.
 * Offsets count the bytes of all stretches in this order.
 */
struct piece {
    const uint8_t *code;
    uint64_t address;
    uint32_t base, bytes; /* base: the offset of its first byte */
};
#define PIECES_MAX 512u
#define PIECE_BYTES_MAX 4096u /* of a part elsewhere */
#define OUTSIDE_MAX 65536u    /* jumps out of the function that are followed */

struct jump {
    uint32_t at, next; /* itself, and the next instruction; NOWHERE: there is none */
    uint32_t target;   /* NOWHERE: outside, or unknown */
    uint64_t outside;  /* the address of a target that is in no piece yet; 0: it is in one, or there is none */
    uint32_t table, table_count; /* in decoding.targets */
    enum flow flow;
};

/* Recent instructions that may describe a jump table, in a ring. */
struct clue {
    uint8_t sort; /* CLUE_... */
    uint16_t reg; /* lea: destination register */
    uint64_t value; /* lea: the address; compare: the largest case */
};
enum { CLUE_NONE, CLUE_LEA, CLUE_COMPARE };

struct decoding {
    const struct rsc_code_bytes *code;
    struct piece *pieces;
    size_t piece_count, piece_room;
    uint32_t bytes; /* of all pieces */
    uint32_t outside_count;
    uint8_t *marks; /* IS_INSTRUCTION and BEGINS_BLOCK, by offset */
    struct jump *jumps;
    size_t jump_count, jump_room;
    uint32_t *targets; /* of tables */
    size_t target_count, target_room;
    struct clue clues[TABLE_REACH];
    uint32_t clue_next;
};

/* The offset of an address in a piece, or NOWHERE. */
static uint32_t offset_of(const struct decoding *decoding, uint64_t address) {
    for (size_t i = 0; i < decoding->piece_count; i++) {
        uint64_t offset = address - decoding->pieces[i].address;
        if (offset < decoding->pieces[i].bytes) return decoding->pieces[i].base + (uint32_t)offset;
    }
    return NOWHERE;
}

static uint64_t address_of(const struct decoding *decoding, uint32_t offset) {
    size_t low = RSC_SEARCH(1, decoding->piece_count, i, decoding->pieces[i].base <= offset) - 1;
    return decoding->pieces[low].address + (offset - decoding->pieces[low].base);
}

/* ---- jump tables ---- */

static uint16_t whole(ZydisRegister reg) {
    return (uint16_t)ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

static void note_clue(struct decoding *decoding, const ZydisDecodedInstruction *insn,
                      const ZydisDecodedOperand *operands, uint64_t address) {
    struct clue clue = {.sort = CLUE_NONE};
    if (insn->mnemonic == ZYDIS_MNEMONIC_LEA && operands[1].mem.base == ZYDIS_REGISTER_RIP &&
        !ZYAN_FAILED(ZydisCalcAbsoluteAddress(insn, &operands[1], address, &clue.value))) {
        clue.sort = CLUE_LEA;
        clue.reg = whole(operands[0].reg.value);
    }
    if (insn->mnemonic == ZYDIS_MNEMONIC_CMP && operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        clue.sort = CLUE_COMPARE;
        clue.value = operands[1].imm.value.u;
    }
    if (clue.sort != CLUE_NONE) decoding->clues[decoding->clue_next++ % TABLE_REACH] = clue;
}

static const struct clue *last_clue(const struct decoding *decoding, int sort, int reg) {
    for (uint32_t back = 1; back <= TABLE_REACH && back <= decoding->clue_next; back++) {
        const struct clue *clue = &decoding->clues[(decoding->clue_next - back) % TABLE_REACH];
        if (clue->sort == sort && (!reg || clue->reg == reg)) return clue;
    }
    return NULL;
}

/* Reads a table of 4-byte distances from itself or of 8-byte addresses, up to the first entry that leads outside. */
static int read_table(struct decoding *decoding, struct jump *jump, uint64_t table, unsigned width) {
    const struct clue *compare = last_clue(decoding, CLUE_COMPARE, 0);
    uint64_t cases = compare && compare->value < TABLE_MAX ? compare->value + 1 : TABLE_MAX;
    jump->table = (uint32_t)decoding->target_count;
    for (uint64_t i = 0; i < cases && decoding->target_count < TARGETS_MAX; i++) {
        const uint8_t *entry = decoding->code->read(decoding->code->module, table + i * width, width);
        int32_t distance;
        uint64_t address;
        if (!entry) break;
        if (width == 4) {
            memcpy(&distance, entry, sizeof distance);
            address = table + (uint64_t)(int64_t)distance;
        } else {
            memcpy(&address, entry, sizeof address);
        }
        uint32_t target = offset_of(decoding, address);
        if (target == NOWHERE) break;
        if (RSC_GROW(decoding->targets, decoding->target_room, decoding->target_count + 1)) return RSC_ENOMEM;
        decoding->targets[decoding->target_count++] = target;
        jump->table_count++;
    }
    return 0;
}

/*
 * The table of an indirect jump. jmp *table(,%reg,8) names it; before jmp *%reg, which
 * adds a 4-byte entry to the table's address, the last lea loads it.
 */
static int find_table(struct decoding *decoding, struct jump *jump, const ZydisDecodedOperand *operand) {
    if (!decoding->code->read) return 0;
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == ZYDIS_REGISTER_NONE &&
        operand->mem.scale == 8)
        return read_table(decoding, jump, (uint64_t)operand->mem.disp.value, 8);
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.scale == 8) {
        const struct clue *lea = last_clue(decoding, CLUE_LEA, whole(operand->mem.base));
        return lea ? read_table(decoding, jump, lea->value, 8) : 0;
    }
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        const struct clue *lea = last_clue(decoding, CLUE_LEA, 0);
        return lea ? read_table(decoding, jump, lea->value, 4) : 0;
    }
    return 0;
}

/* ---- decoding ---- */

static int keep_jump(struct decoding *decoding, struct jump jump) {
    if (RSC_GROW(decoding->jumps, decoding->jump_room, decoding->jump_count + 1)) return RSC_ENOMEM;
    decoding->jumps[decoding->jump_count++] = jump;
    return 0;
}

static int note_jump(struct decoding *decoding, const struct piece *piece, const ZydisDecodedInstruction *insn,
                     const ZydisDecodedOperand *operands, uint32_t at, enum flow flow) {
    struct jump jump = {.at = piece->base + at, .next = NOWHERE, .target = NOWHERE, .flow = flow};
    uint64_t address = piece->address + at, target;
    if (at + insn->length < piece->bytes) jump.next = jump.at + insn->length;
    if ((flow == JUMP || flow == CONDITION) && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        !ZYAN_FAILED(ZydisCalcAbsoluteAddress(insn, &operands[0], address, &target))) {
        jump.target = offset_of(decoding, target);
        if (jump.target == NOWHERE && decoding->outside_count++ < OUTSIDE_MAX) jump.outside = target;
    } else if (flow == JUMP) /* through an address in memory without an index, it is a tail call */
        jump.flow = operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[0].mem.index == ZYDIS_REGISTER_NONE
                        ? STOP
                        : INDIRECT;
    if (jump.flow == INDIRECT && find_table(decoding, &jump, &operands[0])) return RSC_ENOMEM;
    return keep_jump(decoding, jump);
}

static int is_last_call(const struct decoding *decoding, const ZydisDecodedInstruction *insn,
                        const ZydisDecodedOperand *operands, uint64_t address) {
    uint64_t target;
    int is_slot = operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[0].mem.base == ZYDIS_REGISTER_RIP;
    if (!decoding->code->never_returns || (!is_slot && operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) ||
        ZYAN_FAILED(ZydisCalcAbsoluteAddress(insn, &operands[0], address, &target)))
        return 0;
    return decoding->code->never_returns(decoding->code->module, target, is_slot);
}

/* Returns 1 if control does not only fall through, 0, or RSC_ENOMEM. */
static int take(struct decoding *decoding, const struct piece *piece, const ZydisDecodedInstruction *insn,
                const ZydisDecodedOperand *operands, uint32_t at) {
    enum flow flow;
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: flow = CONDITION; break;
    case ZYDIS_CATEGORY_UNCOND_BR: flow = JUMP; break;
    case ZYDIS_CATEGORY_RET: flow = STOP; break;
    case ZYDIS_CATEGORY_CALL:
        if (!is_last_call(decoding, insn, operands, piece->address + at)) return 0;
        flow = STOP;
        break;
    default:
        if (insn->mnemonic != ZYDIS_MNEMONIC_UD2 && insn->mnemonic != ZYDIS_MNEMONIC_HLT &&
            insn->mnemonic != ZYDIS_MNEMONIC_INT3) {
            note_clue(decoding, insn, operands, piece->address + at);
            return 0;
        }
        flow = STOP;
    }
    return note_jump(decoding, piece, insn, operands, at, flow) ? RSC_ENOMEM : 1;
}

/* Decodes a piece; its last instruction always ends a block. */
static int decode(struct decoding *decoding, const struct piece *piece) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint8_t *marks = decoding->marks + piece->base;
    uint32_t last = 0;
    int begins = 1;
    decoding->clue_next = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (uint32_t at = 0; at < piece->bytes;) {
        marks[at] = (uint8_t)(IS_INSTRUCTION | (begins ? BEGINS_BLOCK : 0));
        last = at;
        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, piece->code + at, piece->bytes - at, &insn, operands))) {
            if (keep_jump(decoding,
                          (struct jump){.at = piece->base + at, .next = NOWHERE, .target = NOWHERE, .flow = STOP}))
                return RSC_ENOMEM;
            begins = 1;
            at++;
            continue;
        }
        begins = take(decoding, piece, &insn, operands, at);
        if (begins < 0) return RSC_ENOMEM;
        at += insn.length;
    }
    if (begins) return 0;
    return keep_jump(decoding,
                     (struct jump){.at = piece->base + last, .next = NOWHERE, .target = NOWHERE, .flow = STOP});
}

static int may_turn(const ZydisDecodedInstruction *insn) {
    return insn->meta.category == ZYDIS_CATEGORY_COND_BR || insn->meta.category == ZYDIS_CATEGORY_CALL ||
           insn->meta.category == ZYDIS_CATEGORY_RET;
}

/* Length of a part elsewhere: up to where control does not fall through, or to code of another piece. 0: none. */
static uint32_t length_of_part(const struct decoding *decoding, const uint8_t *code, uint64_t address, size_t room,
                               int only_straight) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint32_t at = 0;
    if (room > PIECE_BYTES_MAX) room = PIECE_BYTES_MAX;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    while (at < room && !ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code + at, room - at, &insn, operands))) {
        if (at && offset_of(decoding, address + at) != NOWHERE) break;
        if (only_straight && may_turn(&insn)) return 0;
        at += insn.length;
        if (insn.meta.category == ZYDIS_CATEGORY_UNCOND_BR || insn.meta.category == ZYDIS_CATEGORY_RET) break;
    }
    return at;
}

static int add_piece(struct decoding *decoding, const uint8_t *code, uint64_t address, uint32_t bytes) {
    if (RSC_GROW(decoding->pieces, decoding->piece_room, decoding->piece_count + 1)) return RSC_ENOMEM;
    uint8_t *marks = realloc(decoding->marks, (size_t)decoding->bytes + bytes);
    if (!marks) return RSC_ENOMEM;
    memset(marks + decoding->bytes, 0, bytes);
    decoding->marks = marks;
    struct piece piece = {code, address, decoding->bytes, bytes};
    decoding->pieces[decoding->piece_count++] = piece;
    decoding->bytes += bytes;
    return decode(decoding, &piece);
}

/* Follows jumps out of the function to its parts elsewhere, and from there on; the list of jumps grows meanwhile. */
static int add_parts(struct decoding *decoding) {
    const struct rsc_code_bytes *code = decoding->code;
    for (size_t i = 0; i < decoding->jump_count; i++) {
        uint64_t outside = decoding->jumps[i].outside;
        size_t room = 0;
        int only_straight = 0;
        if (!outside) continue;
        if (offset_of(decoding, outside) == NOWHERE && code->elsewhere && decoding->piece_count < PIECES_MAX) {
            const uint8_t *part = code->elsewhere(code->module, outside, &room, &only_straight);
            uint32_t bytes = part ? length_of_part(decoding, part, outside, room, only_straight) : 0;
            if (bytes && decoding->bytes + bytes <= RSC_CODE_BYTES_MAX) {
                int rc = add_piece(decoding, part, outside, bytes);
                if (rc) return rc;
                /* a part that ends where another piece begins leads there */
                struct jump *end = &decoding->jumps[decoding->jump_count - 1];
                if (end->flow == STOP && end->target == NOWHERE) end->target = offset_of(decoding, outside + bytes);
            }
        }
        decoding->jumps[i].target = offset_of(decoding, outside);
    }
    return 0;
}

/* Jump targets begin blocks; a target inside an instruction is ignored. */
static void mark_target(struct decoding *decoding, uint32_t *target) {
    if (*target == NOWHERE) return;
    if (decoding->marks[*target] & IS_INSTRUCTION) decoding->marks[*target] |= BEGINS_BLOCK;
    else *target = NOWHERE;
}

static void mark_targets(struct decoding *decoding) {
    for (size_t i = 0; i < decoding->jump_count; i++) mark_target(decoding, &decoding->jumps[i].target);
    for (size_t i = 0; i < decoding->target_count; i++) mark_target(decoding, &decoding->targets[i]);
}

/* ---- blocks and edges ---- */

struct graph {
    uint32_t *starts; /* of blocks: offsets, ascending */
    uint32_t *lasts;  /* of blocks: their last instruction's offset */
    uint32_t count;   /* of blocks */
    uint32_t *first, *to;
    size_t edge_count, edge_room;
    uint8_t *is_led_to;
};

static uint32_t block_at(const struct graph *graph, uint32_t offset) {
    return RSC_SEARCH(1, graph->count, i, graph->starts[i] <= offset) - 1;
}

static int add_edge(struct graph *graph, uint32_t offset) {
    if (offset == NOWHERE) return 0;
    if (RSC_GROW(graph->to, graph->edge_room, graph->edge_count + 1)) return RSC_ENOMEM;
    uint32_t block = block_at(graph, offset);
    graph->to[graph->edge_count++] = block;
    graph->is_led_to[block] = 1;
    return 0;
}

static int find_blocks(const struct decoding *decoding, struct graph *graph) {
    size_t bytes = decoding->bytes;
    for (size_t at = 0; at < bytes; at++) graph->count += (decoding->marks[at] & BEGINS_BLOCK) != 0;
    graph->starts = malloc((graph->count + 1ull) * sizeof *graph->starts);
    graph->lasts = malloc((graph->count + 1ull) * sizeof *graph->lasts);
    graph->first = calloc(graph->count + 3ull, sizeof *graph->first); /* one more node: see connect() */
    graph->is_led_to = calloc(graph->count + 1ull, 1);
    if (!graph->starts || !graph->lasts || !graph->first || !graph->is_led_to) return RSC_ENOMEM;
    for (uint32_t at = 0, block = UINT32_MAX; at < bytes; at++) {
        if (decoding->marks[at] & BEGINS_BLOCK) graph->starts[++block] = at;
        if (decoding->marks[at] & IS_INSTRUCTION) graph->lasts[block] = at;
    }
    return 0;
}

/*
 * The edges of all blocks. Jumps with unknown targets lead to one extra node, the last,
 * which leads to all blocks without another predecessor. This keeps the number of edges
 * small.
 */
static int connect(const struct decoding *decoding, struct graph *graph) {
    size_t next = 0;
    uint32_t anywhere = graph->count, is_needed = 0;
    for (uint32_t block = 0; block < graph->count; block++) {
        graph->first[block] = (uint32_t)graph->edge_count;
        while (next < decoding->jump_count && decoding->jumps[next].at < graph->lasts[block]) next++;
        const struct jump *jump = next < decoding->jump_count ? &decoding->jumps[next] : NULL;
        if (!jump || jump->at != graph->lasts[block]) {
            if (block + 1 < graph->count && add_edge(graph, graph->starts[block + 1])) return RSC_ENOMEM;
            continue;
        }
        if (add_edge(graph, jump->target)) return RSC_ENOMEM;
        if (jump->flow == CONDITION && add_edge(graph, jump->next)) return RSC_ENOMEM;
        for (uint32_t i = 0; i < jump->table_count; i++)
            if (add_edge(graph, decoding->targets[jump->table + i])) return RSC_ENOMEM;
        if (jump->flow == INDIRECT && !jump->table_count) {
            if (RSC_GROW(graph->to, graph->edge_room, graph->edge_count + 1)) return RSC_ENOMEM;
            graph->to[graph->edge_count++] = anywhere;
            is_needed = 1;
        }
    }
    graph->first[anywhere] = (uint32_t)graph->edge_count;
    for (uint32_t block = 1; block < graph->count && is_needed; block++)
        if (!graph->is_led_to[block] && add_edge(graph, graph->starts[block])) return RSC_ENOMEM;
    graph->first[anywhere + 1] = (uint32_t)graph->edge_count;
    return 0;
}

/* ---- all of it ---- */

static int is_inside(const struct rsc_flow_loops *found, uint32_t inner, uint32_t outer) {
    while (inner != RSC_NO_LOOP && inner > outer) inner = found->loops[inner].parent;
    return inner == outer;
}

/* Whether the jump at the end of a block of a loop, in none of its inner loops, leads out of it or to its header. */
static int is_test(const struct graph *graph, const struct rsc_flow_loops *found, uint32_t block) {
    uint32_t loop = found->loop_of[block];
    for (uint32_t e = graph->first[block]; e < graph->first[block + 1]; e++)
        if (graph->to[e] == found->loops[loop].header || !is_inside(found, found->loop_of[graph->to[e]], loop))
            return 1;
    return 0;
}

static int find_tests(struct rsc_code_loops *loops, const struct graph *graph, const struct rsc_flow_loops *found,
                      const struct decoding *decoding) {
    uint32_t *of = malloc((graph->count + 1ull) * sizeof *of); /* the loop that each block's end is a test of */
    loops->tests = malloc((graph->count + 1ull) * sizeof *loops->tests);
    if (!of || !loops->tests) {
        free(of);
        return RSC_ENOMEM;
    }
    for (uint32_t block = 0, next = 0; block < graph->count; block++) {
        while (next < decoding->jump_count && decoding->jumps[next].at < graph->lasts[block]) next++;
        int jumps = next < decoding->jump_count && decoding->jumps[next].at == graph->lasts[block];
        of[block] = jumps && found->loop_of[block] != RSC_NO_LOOP && is_test(graph, found, block)
                        ? found->loop_of[block]
                        : RSC_NO_LOOP;
        if (of[block] != RSC_NO_LOOP) loops->loops[of[block]].test_count++;
    }
    for (size_t i = 0; i < loops->count; i++) {
        loops->loops[i].first_test = (uint32_t)loops->test_count;
        loops->test_count += loops->loops[i].test_count;
        loops->loops[i].test_count = 0;
    }
    for (uint32_t block = 0; block < graph->count; block++) {
        if (of[block] == RSC_NO_LOOP) continue;
        struct rsc_code_loop *loop = &loops->loops[of[block]];
        loops->tests[loop->first_test + loop->test_count++] = address_of(decoding, graph->lasts[block]);
    }
    free(of);
    return 0;
}

static int tell(struct rsc_code_loops *loops, const struct graph *graph, const struct rsc_flow_loops *found,
                const struct decoding *decoding) {
    const struct rsc_code_bytes *code = decoding->code;
    loops->loops = calloc(found->count + 1, sizeof *loops->loops);
    loops->blocks = calloc(graph->count + 1ull, sizeof *loops->blocks);
    if (!loops->loops || !loops->blocks) return RSC_ENOMEM;
    loops->count = found->count;
    loops->end = code->address + code->bytes;
    for (uint32_t i = 0; i < graph->count && graph->starts[i] < code->bytes; i++)
        loops->blocks[loops->block_count++] =
            (struct rsc_code_block){code->address + graph->starts[i], found->loop_of[i]};
    for (size_t i = 0; i < found->count; i++) {
        const struct rsc_flow_loop *loop = &found->loops[i];
        /* the node for unknown jumps has no address */
        uint32_t header = loop->header < graph->count ? loop->header : found->loops[i].latch;
        uint32_t latch = loop->latch < graph->count ? loop->latch : header;
        loops->loops[i] = (struct rsc_code_loop){.header = address_of(decoding, graph->starts[header]),
                                                 .latch = address_of(decoding, graph->lasts[latch]),
                                                 .parent = loop->parent,
                                                 .depth = loop->depth,
                                                 .entries = loop->entries};
    }
    return find_tests(loops, graph, found, decoding);
}

int rsc_code_loops_find(struct rsc_code_loops *loops, const struct rsc_code_bytes *code) {
    struct decoding decoding = {.code = code};
    struct graph graph = {0};
    struct rsc_flow_loops found = {0};
    *loops = (struct rsc_code_loops){0};
    if (!code->bytes) return 0;
    if (code->bytes > RSC_CODE_BYTES_MAX) return RSC_ELIMIT;
    int rc = add_piece(&decoding, code->code, code->address, (uint32_t)code->bytes);
    if (!rc) rc = add_parts(&decoding);
    if (!rc) mark_targets(&decoding);
    if (!rc) rc = find_blocks(&decoding, &graph);
    if (!rc) rc = connect(&decoding, &graph);
    if (!rc) rc = rsc_flow_loops_find(&found, &(struct rsc_flow_graph){graph.count + 1, graph.first, graph.to});
    if (!rc) rc = tell(loops, &graph, &found, &decoding);
    if (rc) rsc_code_loops_free(loops);
    rsc_flow_loops_free(&found);
    free(decoding.pieces);
    free(decoding.marks);
    free(decoding.jumps);
    free(decoding.targets);
    free(graph.starts);
    free(graph.lasts);
    free(graph.first);
    free(graph.to);
    free(graph.is_led_to);
    return rc;
}

#endif
