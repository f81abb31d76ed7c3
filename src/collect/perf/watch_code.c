/* watch_code.c - see watch_code.h. */
#include "collect/perf/watch_code.h"

#include <reusescope/error.h>
#include <stdlib.h>

#include "base/search.h"
#include "collect/drain/asm_tables.h"

#define LONGEST 15u /* bytes of an instruction */

struct module {
    uint64_t process, low, high; /* of its code */
    struct rsc_piece_table table;
    void *memory; /* the table's */
    const struct rsc_piece **pieces; /* by pc */
    struct module *next;
};

struct rsc_watch_code {
    struct module *modules; /* newest first: it replaced an older one at the same address */
};

struct rsc_watch_code *rsc_watch_code_new(void) { return calloc(1, sizeof(struct rsc_watch_code)); }

static void free_module(struct module *module) {
    if (!module) return;
    free(module->memory);
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

static int by_pc(const void *a, const void *b) {
    const struct rsc_piece *one = *(const struct rsc_piece *const *)a, *other = *(const struct rsc_piece *const *)b;
    return one->pc < other->pc ? -1 : one->pc > other->pc;
}

/* Returns 0 or RSC_ENOMEM; a module with invalid bounds has no table. */
static int read_module(struct module *module, const struct rsc_asm_module *from, const struct rsc_ring *ring) {
    if (rsc_asm_table_read(&module->table, &module->memory, from, ring) < 0) return RSC_ENOMEM;
    const uint32_t count = module->table.count;
    if (!count) return 0;
    if (!(module->pieces = calloc(count, sizeof *module->pieces))) return RSC_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct rsc_piece *piece = module->pieces[i] = &module->table.pieces[i];
        if (piece->last_pc + LONGEST > module->high) module->high = piece->last_pc + LONGEST;
    }
    qsort(module->pieces, count, sizeof *module->pieces, by_pc);
    module->low = module->pieces[0]->pc;
    return 0;
}

int rsc_watch_code_add(struct rsc_watch_code *code, uint64_t process, const struct rsc_asm_module *from,
                       const struct rsc_ring *ring) {
    struct module *module = calloc(1, sizeof *module);
    if (!module) return RSC_ENOMEM;
    int status = read_module(module, from, ring);
    if (status < 0 || !module->pieces) {
        free_module(module);
        return status;
    }
    module->process = process;
    module->next = code->modules;
    code->modules = module;
    return 0;
}

/* The last piece that begins before pc; NULL: none. */
static const struct rsc_piece *piece_before(const struct module *module, uint64_t pc) {
    size_t low = RSC_SEARCH(0, module->table.count, i, module->pieces[i]->pc < pc);
    return low ? module->pieces[low - 1] : NULL;
}

/* Whether pc is right after an instruction of the piece that continues there. */
static int is_behind(const struct rsc_piece *piece, uint64_t pc) {
    if (pc <= piece->last_pc) return 1;
    return pc <= piece->last_pc + LONGEST && piece->ends == RSC_PLAN_ENDS;
}

/*
 * The last access of an instruction before pc; if that instruction has several, the first, which decides when the
 * word was touched.
 */
static const struct rsc_piece_access *access_before(const struct rsc_piece *piece, uint64_t pc) {
    const struct rsc_piece_access *found = NULL;
    for (uint32_t i = 0; i < piece->count; i++) {
        uint64_t access_pc = rsc_record_pc(piece->accesses[i].word);
        if (access_pc >= pc) break;
        if (!found || rsc_record_pc(found->word) != access_pc) found = &piece->accesses[i];
    }
    return found;
}

/* Number of words that all accesses of a piece touch, if aligned. */
static uint32_t words_of(const struct rsc_piece *piece) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < piece->count; i++) words += (piece->accesses[i].size + 7u) / 8;
    return words;
}

void rsc_watch_code_find(const struct rsc_watch_code *code, uint64_t process, uint64_t pc,
                         struct rsc_watch_place *place) {
    const struct module *module = code->modules;
    *place = (struct rsc_watch_place){.where = RSC_WATCH_ELSEWHERE, .pc = pc - 1, .counter_register = -1};
    while (module && (module->process != process || pc <= module->low || pc > module->high)) module = module->next;
    if (!module) return;
    const struct rsc_piece *piece = piece_before(module, pc);
    place->where = RSC_WATCH_INSERTED;
    if (!piece || !is_behind(piece, pc)) return;
    const struct rsc_piece_access *access = access_before(piece, pc);
    if (!access) return;
    *place = (struct rsc_watch_place){.where = RSC_WATCH_IN_PIECE,
                                      .pc = rsc_record_pc(access->word),
                                      .weight = piece->weight,
                                      .index = access->ordinal,
                                      .words = words_of(piece),
                                      .counter_register = (int)piece->counter_register - 1};
}
