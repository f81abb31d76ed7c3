/* asm_tables.c - see asm_tables.h. */
#include "collect/drain/asm_tables.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#define MODULES_MAX (1u << 22) /* of all processes: 64 MiB */

/* One table, shared by all processes that loaded it: a forked child has its parent's. */
struct table {
    struct rsc_piece_table decoded;
    uint64_t plan;
    void *memory;
    struct table *next;
};

struct loaded {
    uint64_t process;
    const struct rsc_piece_table *table;
};

struct rsc_asm_tables {
    struct table *tables;
    struct loaded *modules;
    size_t count, room;
    uint64_t words_left; /* of tables that may still be read */
};

struct rsc_asm_tables *rsc_asm_tables_new(void) {
    struct rsc_asm_tables *tables = calloc(1, sizeof *tables);
    if (tables) tables->words_left = RSC_PLAN_WORDS;
    return tables;
}

void rsc_asm_tables_free(struct rsc_asm_tables *tables) {
    if (!tables) return;
    while (tables->tables) {
        struct table *next = tables->tables->next;
        free(tables->tables->memory);
        free(tables->tables);
        tables->tables = next;
    }
    free(tables->modules);
    free(tables);
}

/* ---- reading ---- */

static int lies_somewhere(const struct rsc_asm_module *module) {
    return module->start % 8 == 0 && module->start < module->stop && module->stop <= RSC_PIECE_ADDRESS &&
           module->plan < RSC_PLAN_WORDS && (module->stop - module->start) / 8 <= RSC_PLAN_WORDS - module->plan;
}

int rsc_asm_table_read(struct rsc_piece_table *table, void **memory, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring, uint64_t *words_left) {
    struct rsc_piece_counts counts;
    *memory = NULL;
    if (!lies_somewhere(module) || (module->stop - module->start) / 8 > *words_left) return 0;
    size_t size = module->stop - module->start;
    *words_left -= size / 8;
    void *copy = malloc(size);
    if (!copy) return RSC_ENOMEM;
    memcpy(copy, ring->plans + module->plan, size);
    rsc_piece_table_count(&counts, module->start, module->stop, copy);
    if ((*memory = calloc(1, counts.bytes)))
        rsc_piece_table_make(table, &counts, module->start, module->stop, copy, *memory);
    free(copy);
    return *memory ? 0 : RSC_ENOMEM;
}

/*
 * Finds the table of a module, reading it if it is new. Returns 0 or RSC_ENOMEM; *found NULL: its bounds are
 * invalid.
 */
static int find_table(struct rsc_asm_tables *tables, const struct rsc_asm_module *module, const struct rsc_ring *ring,
                      const struct rsc_piece_table **found) {
    struct table *table = tables->tables;
    *found = NULL;
    while (table && (table->plan != module->plan || table->decoded.start != module->start ||
                     table->decoded.stop != module->stop))
        table = table->next;
    if (!table) {
        if (!(table = calloc(1, sizeof *table))) return RSC_ENOMEM;
        int status = rsc_asm_table_read(&table->decoded, &table->memory, module, ring, &tables->words_left);
        if (status < 0 || !table->memory) {
            free(table);
            return status;
        }
        table->plan = module->plan;
        table->next = tables->tables;
        tables->tables = table;
    }
    *found = &table->decoded;
    return 0;
}

int rsc_asm_tables_add(struct rsc_asm_tables *tables, uint64_t process, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring) {
    const struct rsc_piece_table *table;
    int status = find_table(tables, module, ring, &table);
    if (status < 0 || !table || tables->count == MODULES_MAX) return status;
    if (tables->count == tables->room) {
        size_t room = tables->room ? tables->room * 2 : 16;
        struct loaded *modules = realloc(tables->modules, room * sizeof *modules);
        if (!modules) return RSC_ENOMEM;
        tables->modules = modules;
        tables->room = room;
    }
    tables->modules[tables->count++] = (struct loaded){process, table};
    return 0;
}

/* ---- finding ---- */

static int find_place(const struct rsc_asm_tables *tables, struct rsc_asm_place *place, uint64_t process,
                      uint64_t address) {
    for (size_t i = tables->count; i-- > 0;) {
        const struct loaded *loaded = &tables->modules[i];
        if (loaded->process != process || !rsc_piece_table_spans(loaded->table, address)) continue;
        *place = (struct rsc_asm_place){*loaded->table, process, tables->count};
        return 1;
    }
    return 0;
}

const struct rsc_piece *rsc_asm_tables_find(const struct rsc_asm_tables *tables, struct rsc_asm_place *place,
                                            uint64_t process, uint64_t address) {
    if (!rsc_piece_table_spans(&place->table, address) || place->process != process || place->added != tables->count) {
        if (!find_place(tables, place, process, address)) return NULL;
    }
    return rsc_piece_at(&place->table, address);
}
