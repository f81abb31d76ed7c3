/* asm_tables.c - see asm_tables.h. */
#include "collect/drain/asm_tables.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#define ADDRESS 0xffffffffffffull
#define RECORD_BYTES_MAX 128u /* a record's size has 8 bits */
#define BLOCK_RECORDS_MAX 8192u /* no piece that the ring has room for makes more */

/* One table, whoever has it loaded: a forked child has its parent's. */
struct table {
    uint64_t start, stop, plan;
    struct rsc_rebuilt_block *blocks;
    struct rsc_rebuilt_entry *entries;
    uint32_t *numbers;
    size_t block_count, entry_count, entry_room;
    struct table *next;
};

struct loaded {
    uint64_t process;
    const struct table *table;
};

struct rsc_asm_tables {
    struct table *tables;
    struct loaded *modules;
    size_t count, room;
};

struct rsc_asm_tables *rsc_asm_tables_new(void) { return calloc(1, sizeof(struct rsc_asm_tables)); }

static void free_table(struct table *table) {
    free(table->blocks);
    free(table->entries);
    free(table->numbers);
    free(table);
}

void rsc_asm_tables_free(struct rsc_asm_tables *tables) {
    if (!tables) return;
    while (tables->tables) {
        struct table *next = tables->tables->next;
        free_table(tables->tables);
        tables->tables = next;
    }
    free(tables->modules);
    free(tables);
}

/* ---- making ---- */

static int add_entry(struct table *table, struct rsc_rebuilt_entry entry) {
    if (table->entry_count == table->entry_room) {
        size_t room = table->entry_room ? table->entry_room * 2 : 1024;
        struct rsc_rebuilt_entry *entries = realloc(table->entries, room * sizeof *entries);
        if (!entries) return RSC_ENOMEM;
        table->entries = entries;
        table->entry_room = room;
    }
    table->entries[table->entry_count++] = entry;
    return 0;
}

/* What an entry makes in one direction: one access, cut where a record cannot hold it. */
static int add_accesses(struct table *table, const struct rsc_rebuilt_block *block, const struct rsc_asm_entry *entry,
                        int32_t step, enum rsc_record_type type, uint64_t pc) {
    struct rsc_rebuilt_entry made = {.base = entry->base,
                                     .index = entry->index,
                                     .scale = entry->scale,
                                     .kind = entry->kind,
                                     .count = entry->count,
                                     .flags = entry->flags,
                                     .size = entry->size,
                                     .disp = entry->disp,
                                     .step = step};
    if (entry->kind == RSC_ASM_RIP) {
        made.kind = RSC_ASM_PLAIN;
        made.base = made.index = made.scale = 0;
        made.disp = (int64_t)((pc + (uint64_t)(int64_t)entry->disp) & ADDRESS);
    }
    if (!made.index && made.kind == RSC_ASM_PLAIN) made.scale = 0;
    if (block->is_run && made.base >= block->words) made.base_moves = block->turn_words;
    if (block->is_run && made.index >= block->words) made.index_moves = block->turn_words;
    if (made.kind != RSC_ASM_PLAIN) {
        made.word = rsc_record_word(type, entry->size, pc);
        return add_entry(table, made);
    }
    for (uint32_t at = 0; at < entry->size; at += RECORD_BYTES_MAX) {
        uint32_t size = entry->size - at < RECORD_BYTES_MAX ? entry->size - at : RECORD_BYTES_MAX;
        made.word = rsc_record_word(type, size, pc);
        if (add_entry(table, made) < 0) return RSC_ENOMEM;
        made.disp += size;
    }
    return 0;
}

/* Every word that an entry names is one of the piece's. */
static int entry_is_sound(const struct rsc_asm_entry *entry, uint32_t words) {
    if (entry->kind == RSC_ASM_RIP) return 1;
    if (entry->base >= words || entry->index >= words) return 0;
    switch (entry->kind) {
    case RSC_ASM_PLAIN:
    case RSC_ASM_ANY: return 1;
    case RSC_ASM_STRING:
        return entry->size && entry->size <= 8 && (!(entry->flags & RSC_ASM_BY_EQUAL) || entry->count < words);
    case RSC_ASM_MASKED:
    case RSC_ASM_PACKED: return entry->count <= 64 && entry->size && entry->size <= 8;
    case RSC_ASM_GATHERED: {
        uint32_t index_words = (entry->count * (entry->flags & RSC_ASM_INDEX_8 ? 8u : 4u) + 7) / 8;
        return entry->count && entry->count <= 16 && entry->size && entry->size <= 8 &&
               entry->index + index_words < words;
    }
    default: return 0;
    }
}

/* The block whose copy begins at `at` of the bytes; *at moves behind it. Returns 0 or RSC_ENOMEM. */
static int add_block(struct table *table, const uint8_t *bytes, size_t size, size_t *at) {
    struct rsc_asm_block head;
    memcpy(&head, bytes + *at, sizeof head);
    uint64_t place = table->start + *at;
    uint64_t pc = (place + (uint64_t)(int64_t)head.pc) & ADDRESS;
    size_t entries = *at + sizeof head, steps = entries + head.entries * sizeof(struct rsc_asm_entry);
    const int is_run = rsc_asm_is_run(&head);
    *at += rsc_asm_block_bytes(&head);
    if (head.abi != RSC_ASM_ABI || *at > size || !head.words) return 0;
    if (is_run ? head.words < 2 || head.words + head.reserved + RSC_ASM_RUN_MOST > RSC_ASM_LEAST_ROOM
               : head.reserved < head.words || head.reserved > RSC_ASM_LEAST_ROOM)
        return 0;
    struct rsc_rebuilt_block *block = &table->blocks[table->block_count];
    size_t first = table->entry_count;
    *block = (struct rsc_rebuilt_block){.pc = pc,
                                        .last_pc = pc + head.last,
                                        .words = head.words,
                                        .reserved = head.reserved,
                                        .instructions = head.instructions,
                                        .ends = rsc_asm_ends(&head),
                                        .plain = 1,
                                        .is_run = (uint8_t)is_run,
                                        .turn_words = is_run ? head.reserved : 0};
    for (uint32_t i = 0; i < head.entries; i++) {
        struct rsc_asm_entry entry;
        int32_t step = 0;
        memcpy(&entry, bytes + entries + i * sizeof entry, sizeof entry);
        if (is_run) memcpy(&step, bytes + steps + i * sizeof step, sizeof step);
        if (!entry_is_sound(&entry, head.words + (is_run ? head.reserved : 0u)) ||
            (is_run && entry.kind != RSC_ASM_PLAIN && entry.kind != RSC_ASM_RIP)) {
            table->entry_count = first;
            return 0;
        }
        if (!entry.size) continue;
        uint64_t entry_pc = pc + entry.pc;
        if ((entry.flags & RSC_ASM_READS) && add_accesses(table, block, &entry, step, RSC_RECORD_READ, entry_pc) < 0)
            return RSC_ENOMEM;
        if ((entry.flags & RSC_ASM_WRITES) && add_accesses(table, block, &entry, step, RSC_RECORD_WRITE, entry_pc) < 0)
            return RSC_ENOMEM;
        if (entry.kind != RSC_ASM_PLAIN && entry.kind != RSC_ASM_RIP) block->plain = 0;
        block->tells_stack =
            entry_pc == block->last_pc && entry.kind == RSC_ASM_PLAIN && i + 1 == head.entries &&
            (block->ends == RSC_PLAN_ENDS_CALL ? entry.flags & RSC_ASM_WRITES : entry.flags & RSC_ASM_READS) != 0;
        block->records += entry.kind == RSC_ASM_PLAIN || entry.kind == RSC_ASM_RIP ? 0 : entry.count;
    }
    block->count = (uint32_t)(table->entry_count - first);
    block->records += block->count;
    if (block->records > BLOCK_RECORDS_MAX) {
        table->entry_count = first;
        return 0;
    }
    block->entries = (const void *)(first + 1); /* an offset until all are there */
    table->numbers[(place - table->start) / 8] = (uint32_t)++table->block_count;
    return 0;
}

static int fill_table(struct table *table, const uint8_t *bytes, size_t size) {
    for (size_t at = 0; at + sizeof(struct rsc_asm_block) <= size;) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        if (!word) at += 8; /* padding: no block has neither pc, last nor instructions */
        else if (add_block(table, bytes, size, &at) < 0) return RSC_ENOMEM;
    }
    for (size_t i = 0; i < table->block_count; i++)
        table->blocks[i].entries = table->entries + ((uintptr_t)table->blocks[i].entries - 1);
    return 0;
}

static struct table *make_table(const struct rsc_asm_module *module, const uint64_t *plan) {
    size_t size = module->stop - module->start;
    struct table *table = calloc(1, sizeof *table);
    uint8_t *bytes = malloc(size); /* once: the program can write there at any time */
    if (table && bytes) {
        *table = (struct table){.start = module->start,
                                .stop = module->stop,
                                .plan = module->plan,
                                .blocks = calloc(size / sizeof(struct rsc_asm_block) + 1, sizeof *table->blocks),
                                .numbers = calloc(size / 8 + 1, sizeof *table->numbers)};
        memcpy(bytes, plan, size);
        if (table->blocks && table->numbers && fill_table(table, bytes, size) == 0) {
            free(bytes);
            return table;
        }
    }
    if (table) free_table(table);
    free(bytes);
    return NULL;
}

int rsc_asm_tables_add(struct rsc_asm_tables *tables, uint64_t process, const struct rsc_asm_module *module,
                       const struct rsc_ring *ring) {
    if (module->start % 8 || module->start >= module->stop || module->stop > ADDRESS ||
        module->plan >= RSC_PLAN_WORDS || (module->stop - module->start) / 8 > RSC_PLAN_WORDS - module->plan)
        return 0;
    struct table *table = tables->tables;
    while (table && (table->plan != module->plan || table->start != module->start || table->stop != module->stop))
        table = table->next;
    if (!table) {
        if (!(table = make_table(module, ring->plans + module->plan))) return RSC_ENOMEM;
        table->next = tables->tables;
        tables->tables = table;
    }
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
        const struct table *table = tables->modules[i].table;
        if (tables->modules[i].process != process || address < table->start || address >= table->stop) continue;
        *place =
            (struct rsc_asm_place){table->start, table->stop, process, table->blocks, table->numbers, tables->count};
        return 1;
    }
    return 0;
}

const struct rsc_rebuilt_block *rsc_asm_tables_find(const struct rsc_asm_tables *tables, struct rsc_asm_place *place,
                                                    uint64_t process, uint64_t address) {
    if (address < place->start || address >= place->stop || place->process != process ||
        place->added != tables->count) {
        if (!find_place(tables, place, process, address)) return NULL;
    }
    uint32_t number = address % 8 ? 0 : place->numbers[(address - place->start) / 8];
    return number ? &place->blocks[number - 1] : NULL;
}
