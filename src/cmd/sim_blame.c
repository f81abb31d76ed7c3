/* sim_blame.c - see sim_blame.h. */
#include "cmd/sim_blame.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "collect/symbols/symbols.h"

_Static_assert(RSC_BLAME_LEVELS == RSC_SIM_LEVELS_MAX + 1, "every primary cache has its misses");

int rsc_blame_open(struct rsc_sim_blame *blame, struct rsc_error *error) {
    if (rsc_u64_table_init(&blame->code.row_of, 1024) < 0 || rsc_u64_table_init(&blame->things.row_of, 1024) < 0 ||
        rsc_call_paths_init(&blame->paths, RSC_CALL_NODES_MAX) < 0 ||
        rsc_objects_init(&blame->objects, RSC_CALL_NODES_MAX) < 0)
        return rsc_fail_memory(error, "code and objects");
    return 0;
}

static void free_table(struct rsc_blame_table *table) {
    rsc_u64_table_free(&table->row_of);
    for (size_t i = 0; i < table->count; i++) {
        free(table->rows[i].name);
        free(table->rows[i].file);
    }
    free(table->rows);
}

void rsc_blame_close(struct rsc_sim_blame *blame) {
    free_table(&blame->code);
    free_table(&blame->things);
    rsc_call_paths_free(&blame->paths);
    rsc_objects_free(&blame->objects);
}

/* ---- counting ---- */

static struct rsc_sim_blame_row *row_of(struct rsc_blame_table *table, uint64_t key) {
    if (rsc_u64_table_needs_rebuild(&table->row_of) && rsc_u64_table_rebuild(&table->row_of) < 0) return NULL;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&table->row_of, key);
    if (entry->value) return &table->rows[entry->value - 1];
    if (RSC_GROW(table->rows, table->room, table->count + 1)) return NULL;
    *entry = (struct rsc_u64_entry){key, ++table->count};
    table->row_of.used++;
    table->rows[table->count - 1] = (struct rsc_sim_blame_row){.key = key};
    return &table->rows[table->count - 1];
}

static int take_event(struct rsc_sim_blame *blame, const struct rsc_event *event) {
    uint64_t offset;
    uint32_t pcs = event->data_bytes / 8u;
    int name;
    if (event->thread >= RSC_THREADS_MAX) return 0;
    switch (event->type) {
    case RSC_EVENT_CALL: return rsc_call_paths_call(&blame->paths, event->thread, event->a);
    case RSC_EVENT_RETURN: rsc_call_paths_return(&blame->paths, event->thread, event->a); return 0;
    case RSC_EVENT_THREAD_START: rsc_call_paths_restart(&blame->paths, event->thread); return 0;
    case RSC_EVENT_ALLOC:
        return rsc_objects_add_block(&blame->objects, event->a, event->b,
                                     pcs ? rsc_call_paths_node(&blame->paths, event->data, pcs)
                                         : rsc_call_paths_current(&blame->paths, event->thread));
    case RSC_EVENT_FREE: rsc_objects_remove_block(&blame->objects, event->a); return 0;
    case RSC_EVENT_MAP:
        name = rsc_objects_add_mapping(&blame->objects, event);
        if (name == RSC_EFORMAT) return 0;
        if (name < 0) return name;
        memcpy(&offset, event->data, sizeof offset);
        return rsc_objects_map(&blame->objects, event->a, event->b, (uint32_t)name, offset != 0);
    default: return 0;
    }
}

static void take_events(struct rsc_sim_blame *blame, const struct rsc_batch *batch, uint32_t upto) {
    while (!blame->status && blame->next_event < batch->event_count && batch->events[blame->next_event].at <= upto)
        blame->status = take_event(blame, &batch->events[blame->next_event++]);
}

void rsc_blame_begin(struct rsc_sim_blame *blame) { blame->next_event = 0; }

void rsc_blame_end(struct rsc_sim_blame *blame, const struct rsc_batch *batch) {
    take_events(blame, batch, UINT32_MAX);
}

void rsc_blame_missed(struct rsc_sim_blame *blame, const struct rsc_batch *batch, int level,
                      const struct rsc_request *request) {
    uint32_t i = request->access;
    take_events(blame, batch, i);
    if (batch->pc) {
        struct rsc_sim_blame_row *row = row_of(&blame->code, batch->pc[i]);
        rsc_objects_see_code(&blame->objects, batch->pc[i]);
        blame->has_pcs = 1;
        if (row) row->misses[level]++;
        else blame->status = RSC_ENOMEM;
    }
    if (!blame->objects.known) return;
    struct rsc_sim_blame_row *row =
        row_of(&blame->things, rsc_objects_find(&blame->objects, batch->addr[i], request->kind == RSC_FETCH));
    if (row) row->misses[level]++;
    else blame->status = RSC_ENOMEM;
}

/* ---- names ---- */

/* Orders by misses in the last level, then by those in the levels above. */
static int by_misses(const void *left, const void *right, void *levels) {
    const struct rsc_sim_blame_row *a = left, *b = right;
    for (int level = *(int *)levels - 1; level >= 0; level--)
        if (a->misses[level] != b->misses[level]) return a->misses[level] > b->misses[level] ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

static void rank(struct rsc_blame_table *table, int levels) {
    if (table->count) qsort_r(table->rows, table->count, sizeof *table->rows, by_misses, &levels);
    for (size_t i = RSC_BLAME_ROWS; i < table->count; i++) {
        free(table->rows[i].name);
        free(table->rows[i].file);
    }
    if (table->count > RSC_BLAME_ROWS) table->count = RSC_BLAME_ROWS;
}

/* Function, file and line of a pc, or NULL and 0. */
static int name_pc(struct rsc_symbols *symbols, uint64_t pc, struct rsc_sim_blame_row *row) {
    struct rsc_place place = {.pc = pc};
    if (!symbols || !pc) return 0;
    int status = rsc_symbols_place(symbols, &place, NULL, NULL);
    row->name = place.function ? place.function : place.module;
    if (place.function) free(place.module);
    row->file = place.file;
    row->line = place.line;
    return status;
}

static int is_allocator(const char *function) {
    static const char *const names[] = {"malloc",        "calloc",         "realloc",     "memalign",
                                        "aligned_alloc", "posix_memalign", "operator new"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(function, names[i])) return 1;
    return 0;
}

/* The place on a call path that allocated a block: the innermost function that is not an allocator. */
static int name_caller(struct rsc_sim_blame *blame, struct rsc_symbols *symbols, uint32_t node,
                       struct rsc_sim_blame_row *row) {
    int status = 0;
    for (; !status && node != RSC_CALL_ROOT; node = blame->paths.nodes[node].parent) {
        free(row->name);
        free(row->file);
        row->name = row->file = NULL;
        row->line = 0;
        status = name_pc(symbols, blame->paths.nodes[node].pc, row);
        if (!row->name || !is_allocator(row->name)) break;
    }
    return status;
}

/* Marks the key of a global whose number is the address of a variable, not of a 64-byte line. */
#define IS_VARIABLE (1ull << 61)

static int by_key(const void *left, const void *right) {
    const struct rsc_sim_blame_row *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

/*
 * Misses of global data are counted per 64-byte line; the lines of a variable become one
 * row. A large variable extends past the part mapped from its file; its size gives its end.
 */
static int join_variables(struct rsc_blame_table *table, struct rsc_symbols *symbols) {
    struct rsc_blame_table joined = {0};
    uint64_t start = 0, bytes = 0;
    int status = rsc_u64_table_init(&joined.row_of, table->count);
    if (table->count) qsort(table->rows, table->count, sizeof *table->rows, by_key);
    for (size_t i = 0; symbols && !status && i < table->count; i++) {
        uint64_t key = table->rows[i].key, line = rsc_object_number(key) << 6;
        const char *name;
        int global = rsc_object_sort(key) == RSC_OBJECT_GLOBAL, found = global && line >= start && line - start < bytes;
        for (uint64_t at = line; global && !found && at < line + 64; at += 8)
            found = rsc_symbols_variable(symbols, at, &name, &start, &bytes);
        struct rsc_sim_blame_row *row =
            row_of(&joined, found ? (uint64_t)RSC_OBJECT_GLOBAL << 62 | IS_VARIABLE | start : key);
        if (!row) status = RSC_ENOMEM;
        for (int level = 0; row && level < RSC_BLAME_LEVELS; level++)
            row->misses[level] += table->rows[i].misses[level];
    }
    if (!symbols || status) {
        free_table(&joined);
        return status;
    }
    free_table(table);
    *table = joined;
    return 0;
}

static int name_thing(struct rsc_sim_blame *blame, struct rsc_symbols *symbols, struct rsc_sim_blame_row *row) {
    uint64_t number = rsc_object_number(row->key), start, bytes;
    const char *name = "unknown memory";
    char text[80];
    int status = 0;
    row->kind = "other";
    switch (rsc_object_sort(row->key)) {
    case RSC_OBJECT_GLOBAL:
        row->kind = "global";
        snprintf(text, sizeof text, "0x%" PRIx64, number << 6);
        name = text;
        if (number & IS_VARIABLE) rsc_symbols_variable(symbols, number & ~IS_VARIABLE, &name, &start, &bytes);
        break;
    case RSC_OBJECT_HEAP:
        row->kind = "heap";
        if (number == RSC_HEAP_BETWEEN) {
            name = RSC_HEAP_BETWEEN_NAME;
            break;
        }
        status = name_caller(blame, symbols, (uint32_t)number, row);
        name = text;
        if (row->name) snprintf(text, sizeof text, "allocated in %.60s", row->name);
        else if (number) snprintf(text, sizeof text, "allocated at 0x%" PRIx64, blame->paths.nodes[number].pc);
        else name = "heap";
        break;
    case RSC_OBJECT_MAPPED:
        row->kind = blame->objects.names[number].kind;
        name = blame->objects.names[number].name[0] ? blame->objects.names[number].name : "memory without a name";
        break;
    case RSC_OBJECT_UNKNOWN: break;
    }
    free(row->name);
    row->name = strdup(name);
    return row->name ? status : RSC_ENOMEM;
}

/* Without debug information or libdw, places stay addresses. */
static int open_symbols(struct rsc_sim_blame *blame, struct rsc_session *session, struct rsc_symbols **symbols) {
    struct rsc_symbols_options options = {.log = &session->log};
    struct rsc_error error;
    *symbols = NULL;
    if (!blame->objects.mapping_count) return 0;
    if (rsc_symbols_new(symbols, &options, &error) < 0) {
        rsc_log_line(&session->log, RSC_LOG_WARNING, "%s", error.message);
        return 0;
    }
    int status = 0;
    for (uint32_t i = 0; !status && i < blame->objects.mapping_count; i++) {
        const struct rsc_mapping *map = &blame->objects.mappings[i];
        status = rsc_symbols_add(*symbols, map->start, map->bytes, map->file_offset, map->path, map->build_id,
                                 map->build_id_bytes, &error);
    }
    return status;
}

int rsc_blame_finish(struct rsc_sim_blame *blame, struct rsc_session *session, struct rsc_sim_result *result,
                     struct rsc_error *error) {
    struct rsc_symbols *symbols = NULL;
    int status = blame->status, levels = 0;
    for (size_t i = 0; i < result->level_count; i++) levels += !result->levels[i].alternative;
    assert(levels <= RSC_BLAME_LEVELS);
    if (!status) status = open_symbols(blame, session, &symbols);
    if (!status) status = join_variables(&blame->things, symbols);
    rank(&blame->code, levels);
    rank(&blame->things, levels);
    for (size_t i = 0; !status && i < blame->code.count; i++)
        status = name_pc(symbols, blame->code.rows[i].key, &blame->code.rows[i]);
    for (size_t i = 0; !status && i < blame->things.count; i++)
        status = name_thing(blame, symbols, &blame->things.rows[i]);
    rsc_symbols_free(symbols);
    if (status < 0) return rsc_fail_memory(error, "code and objects");
    result->blamed = 1;
    result->code = (struct rsc_sim_blame_rows){blame->code.rows, blame->code.count};
    result->objects = (struct rsc_sim_blame_rows){blame->things.rows, blame->things.count};
    return 0;
}
