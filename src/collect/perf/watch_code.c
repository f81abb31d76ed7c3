/* watch_code.c - see watch_code.h. */
#include "collect/perf/watch_code.h"

#include <reusescope/error.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS 0xffffffffffffull
#define LONGEST 15u /* bytes of an instruction */

/* A piece: where its fast copy is, and its entries. */
struct piece {
    uint64_t pc, last; /* of the first and the last instruction */
    const struct rsc_asm_entry *entries;
    uint32_t entry_count, weight, words;
    uint8_t ends, counter_register; /* 0: memory, else the register plus 1 */
};

struct module {
    uint64_t process, low, high; /* of its code */
    uint8_t *tables;             /* a copy: the program can write over its own */
    struct piece *pieces;        /* by pc */
    size_t count;
    struct module *next;
};

struct rsc_watch_code {
    struct module *modules; /* the newest first: it is where an older one was */
};

struct rsc_watch_code *rsc_watch_code_new(void) { return calloc(1, sizeof(struct rsc_watch_code)); }

static void free_module(struct module *module) {
    if (!module) return;
    free(module->tables);
    free(module->pieces);
    free(module);
}

void rsc_watch_code_free(struct rsc_watch_code *code) {
    if (!code) return;
    while (code->modules) {
        struct module *next = code->modules->next;
        free_module(code->modules);
        code->modules = next;
    }
    free(code);
}

static uint32_t weight_of(const struct rsc_asm_entry *entry) { return (entry->flags & 3) == 3 ? 2 : 1; }

/* The piece whose table is at `at`, which moves behind it. Returns 0 when it makes no sense. */
static int read_piece(const struct rsc_asm_module *from, const uint8_t *tables, size_t bytes, size_t *at,
                      struct piece *piece) {
    const struct rsc_asm_block *block = (const void *)(tables + *at);
    uint64_t place = from->start + *at;
    *at += rsc_asm_block_bytes(block);
    if (block->abi != RSC_ASM_ABI || *at > bytes) return 0;
    *piece = (struct piece){.pc = (place + (uint64_t)(int64_t)block->pc) & ADDRESS,
                            .entries = (const void *)(block + 1),
                            .entry_count = block->entries,
                            .ends = rsc_asm_ends(block),
                            .counter_register = block->ends >> RSC_ASM_COUNTER_SHIFT};
    piece->last = piece->pc + block->last;
    for (uint32_t i = 0; i < piece->entry_count; i++) {
        uint32_t weight = weight_of(&piece->entries[i]), size = piece->entries[i].size;
        piece->weight += weight;
        piece->words += weight * (size > 8 ? (size + 7) / 8 : size ? 1 : 0);
    }
    if (!piece->weight) piece->weight = 1; /* as the rewriter has it */
    return piece->counter_register <= 16;
}

static int by_pc(const void *a, const void *b) {
    const struct piece *one = a, *other = b;
    return one->pc < other->pc ? -1 : one->pc > other->pc;
}

int rsc_watch_code_add(struct rsc_watch_code *code, uint64_t process, const struct rsc_asm_module *from,
                       const struct rsc_ring *ring) {
    if (from->start % 8 || from->start >= from->stop || from->stop > ADDRESS || from->plan >= RSC_PLAN_WORDS ||
        (from->stop - from->start) / 8 > RSC_PLAN_WORDS - from->plan)
        return 0;
    size_t bytes = from->stop - from->start;
    struct module *module = calloc(1, sizeof *module);
    if (!module) return RSC_ENOMEM;
    module->tables = malloc(bytes);
    module->pieces = calloc(bytes / sizeof(struct rsc_asm_block) + 1, sizeof *module->pieces);
    if (!module->tables || !module->pieces) {
        free_module(module);
        return RSC_ENOMEM;
    }
    memcpy(module->tables, ring->plans + from->plan, bytes);
    for (size_t at = 0; at + sizeof(struct rsc_asm_block) <= bytes;) {
        uint64_t word;
        memcpy(&word, module->tables + at, sizeof word);
        if (!word) at += 8;
        else if (read_piece(from, module->tables, bytes, &at, &module->pieces[module->count])) module->count++;
    }
    qsort(module->pieces, module->count, sizeof *module->pieces, by_pc);
    module->process = process;
    module->low = module->count ? module->pieces[0].pc : 0;
    for (size_t i = 0; i < module->count; i++)
        if (module->pieces[i].last + LONGEST > module->high) module->high = module->pieces[i].last + LONGEST;
    module->next = code->modules;
    code->modules = module;
    return 0;
}

/* The last piece that begins before pc; NULL: none. */
static const struct piece *piece_before(const struct module *module, uint64_t pc) {
    size_t low = 0, high = module->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (module->pieces[middle].pc < pc) low = middle + 1;
        else high = middle;
    }
    return low ? &module->pieces[low - 1] : NULL;
}

/* Is pc right behind an instruction of the piece that goes on there? */
static int is_behind(const struct piece *piece, uint64_t pc) {
    if (pc <= piece->last) return 1;
    return pc <= piece->last + LONGEST && piece->ends == RSC_PLAN_ENDS;
}

void rsc_watch_code_find(const struct rsc_watch_code *code, uint64_t process, uint64_t pc,
                         struct rsc_watch_place *place) {
    const struct module *module = code->modules;
    *place = (struct rsc_watch_place){.where = RSC_WATCH_ELSEWHERE, .pc = pc - 1, .counter_register = -1};
    while (module && (module->process != process || pc <= module->low || pc > module->high)) module = module->next;
    if (!module) return;
    const struct piece *piece = piece_before(module, pc);
    place->where = RSC_WATCH_INSERTED;
    if (!piece || !is_behind(piece, pc)) return;
    uint32_t index = 0, found = UINT32_MAX;
    for (uint32_t i = 0; i < piece->entry_count && piece->pc + piece->entries[i].pc < pc; i++) {
        found = index;
        place->pc = piece->pc + piece->entries[i].pc;
        index += weight_of(&piece->entries[i]);
    }
    if (found == UINT32_MAX) return;
    /* Of several accesses of one instruction the first: it decides when the word was touched. */
    for (uint32_t i = 0, at = 0; i < piece->entry_count; at += weight_of(&piece->entries[i++]))
        if (piece->pc + piece->entries[i].pc == place->pc) {
            found = at;
            break;
        }
    place->where = RSC_WATCH_IN_PIECE;
    place->index = found;
    place->weight = piece->weight;
    place->words = piece->words;
    place->counter_register = (int)piece->counter_register - 1;
}
