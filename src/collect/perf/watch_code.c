/* watch_code.c - see watch_code.h. */
#include "collect/perf/watch_code.h"

#include <reusescope/error.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/search.h"
#include "collect/drain/asm_tables.h"

#define LONGEST 15u /* bytes of an instruction */
#define MODULES_MAX (1u << 16) /* of all processes: each trap looks through them */

/* The code of one table, shared by all processes that loaded it, like that. */
struct code {
    uint64_t plan, low, high; /* where its table is in the ring; of its code */
    struct rsc_piece_table table;
    void *memory; /* the table's */
    const struct rsc_piece **pieces; /* by pc */
    struct code *next;
};

struct module {
    uint64_t process;
    const struct code *code;
};

struct rsc_watch_code {
    struct code *codes;
    struct module *modules; /* oldest first: a newer one replaced it at the same address */
    size_t count, room;
    uint64_t words_left; /* of tables that may still be read */
};

struct rsc_watch_code *rsc_watch_code_new(void) {
    struct rsc_watch_code *code = calloc(1, sizeof *code);
    if (code) code->words_left = RSC_PLAN_WORDS;
    return code;
}

static void free_code(struct code *code) {
    free(code->memory);
    free(code->pieces);
    free(code);
}

void rsc_watch_code_free(struct rsc_watch_code *code) {
    if (!code) return;
    while (code->codes) {
        struct code *next = code->codes->next;
        free_code(code->codes);
        code->codes = next;
    }
    free(code->modules);
    free(code);
}

static int by_pc(const void *a, const void *b) {
    const struct rsc_piece *one = *(const struct rsc_piece *const *)a, *other = *(const struct rsc_piece *const *)b;
    return one->pc < other->pc ? -1 : one->pc > other->pc;
}

/* Returns 0 or RSC_ENOMEM; a module with invalid bounds has no pieces. */
static int read_code(struct rsc_watch_code *all, struct code *code, const struct rsc_asm_module *from,
                     const struct rsc_ring *ring) {
    if (rsc_asm_table_read(&code->table, &code->memory, from, ring, &all->words_left) < 0) return RSC_ENOMEM;
    const uint32_t count = code->table.count;
    if (!count) return 0;
    if (!(code->pieces = calloc(count, sizeof *code->pieces))) return RSC_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct rsc_piece *piece = code->pieces[i] = &code->table.pieces[i];
        if (piece->last_pc + LONGEST > code->high) code->high = piece->last_pc + LONGEST;
    }
    qsort(code->pieces, count, sizeof *code->pieces, by_pc);
    code->low = code->pieces[0]->pc;
    return 0;
}

/* The code of a module, read if it is new; *found NULL: it has none. Returns 0 or RSC_ENOMEM. */
static int find_code(struct rsc_watch_code *all, const struct rsc_asm_module *from, const struct rsc_ring *ring,
                     const struct code **found) {
    struct code *code = all->codes;
    *found = NULL;
    while (code && (code->plan != from->plan || code->table.start != from->start || code->table.stop != from->stop))
        code = code->next;
    if (!code) {
        if (!(code = calloc(1, sizeof *code))) return RSC_ENOMEM;
        int status = read_code(all, code, from, ring);
        if (status < 0 || !code->pieces) {
            free_code(code);
            return status;
        }
        code->plan = from->plan;
        code->next = all->codes;
        all->codes = code;
    }
    *found = code;
    return 0;
}

int rsc_watch_code_add(struct rsc_watch_code *code, uint64_t process, const struct rsc_asm_module *from,
                       const struct rsc_ring *ring) {
    const struct code *found;
    int status = find_code(code, from, ring, &found);
    if (status < 0 || !found || code->count == MODULES_MAX) return status;
    if (RSC_GROW(code->modules, code->room, code->count + 1)) return RSC_ENOMEM;
    code->modules[code->count++] = (struct module){process, found};
    return 0;
}

/* The last piece that begins before pc; NULL: none. */
static const struct rsc_piece *piece_before(const struct code *code, uint64_t pc) {
    size_t low = RSC_SEARCH(0, code->table.count, i, code->pieces[i]->pc < pc);
    return low ? code->pieces[low - 1] : NULL;
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

static const struct code *code_at(const struct rsc_watch_code *all, uint64_t process, uint64_t pc) {
    for (size_t i = all->count; i-- > 0;) {
        const struct module *module = &all->modules[i];
        if (module->process == process && pc > module->code->low && pc <= module->code->high) return module->code;
    }
    return NULL;
}

void rsc_watch_code_find(const struct rsc_watch_code *code, uint64_t process, uint64_t pc,
                         struct rsc_watch_place *place) {
    *place = (struct rsc_watch_place){.where = RSC_WATCH_ELSEWHERE, .pc = pc - 1, .counter_register = -1};
    const struct code *found = code_at(code, process, pc);
    if (!found) return;
    const struct rsc_piece *piece = piece_before(found, pc);
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
