/*
 * symbols.c - the map of what was loaded where, and a cache of resolved addresses.
 *
 * Maps are kept sorted and never overlap: a later one replaces what it covers, as mmap
 * does. A map belongs to a module; the module's bias (run address minus ELF address)
 * follows from the map's file offset and the module's segments. Neighbouring segments
 * share pages of the file, so one offset can belong to two of them: the right bias is
 * the one that fits most of the module's other maps.
 */
#include "collect/symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/search.h"
#include "collect/symbols/symbols_module.h"

#ifndef RSC_HAVE_LIBDW

int rsc_symbols_new(struct rsc_symbols **out, const struct rsc_symbols_options *options, struct rsc_error *error) {
    (void)options;
    *out = NULL;
    return rsc_fail(error, RSC_EUNSUPPORTED, "symbols: this build has no libdw (install libdw-dev and rebuild)");
}

void rsc_symbols_free(struct rsc_symbols *symbols) { (void)symbols; }

int rsc_symbols_add(struct rsc_symbols *symbols, uint64_t start, uint64_t bytes, uint64_t file_offset, const char *path,
                    const uint8_t *build_id, size_t build_id_bytes, struct rsc_error *error) {
    (void)symbols, (void)start, (void)bytes, (void)file_offset, (void)path, (void)build_id, (void)build_id_bytes;
    return rsc_fail(error, RSC_EUNSUPPORTED, "symbols: this build has no libdw (install libdw-dev and rebuild)");
}

int rsc_symbols_place(struct rsc_symbols *symbols, struct rsc_place *place, struct rsc_place **inlined,
                      size_t *inlined_count) {
    (void)symbols, (void)place;
    if (inlined) *inlined = NULL;
    if (inlined_count) *inlined_count = 0;
    return 0;
}

int rsc_symbols_add_jit(struct rsc_symbols *symbols, uint32_t pid, uint64_t space, struct rsc_error *error) {
    (void)symbols, (void)pid, (void)space, (void)error;
    return 0;
}

int rsc_symbols_variable(struct rsc_symbols *symbols, uint64_t addr, const char **name, uint64_t *start,
                         uint64_t *bytes) {
    (void)symbols, (void)addr, (void)name, (void)start, (void)bytes;
    return 0;
}

int rsc_symbols_large_data(struct rsc_symbols *symbols, uint64_t addr, uint64_t least,
                           int (*visit)(void *context, uint64_t start, uint64_t bytes), void *context) {
    (void)symbols, (void)addr, (void)least, (void)visit, (void)context;
    return 0;
}

#else

#include <stdio.h>

#include <xxhash.h>

#include "collect/symbols/jit_map.h"
#include "profile/profile_rows.h"

#define MAPS_MAX 65536u
#define NO_MODULE UINT32_MAX
#define PROCESS_BITS (0xffffull << 48) /* of an address: they distinguish processes (collect/drain/) */

struct file_map {
    uint64_t start, end;
    uint64_t origin, origin_offset; /* start and file offset before later maps cut it */
    uint64_t bias;
    uint32_t module;
    int bias_state; /* 0: not tried, 1: known, -1: unavailable */
};

/* What is known about a pc. Owned by the arena. */
struct resolved {
    const char *module;
    uint64_t offset; /* its address in the module's file, otherwise its offset in that file; 0: no module */
    size_t count;
    struct code_frame frames[];
};

/* Names of code that a process made. */
struct process_jit {
    uint64_t space; /* PROCESS_BITS of its addresses */
    struct rsc_jit_map map;
};

struct rsc_symbols {
    struct symbols_shared shared;
    char *sysroot; /* owned */
    struct file_map *maps; /* owned, by start, not overlapping */
    size_t map_count, map_room;
    struct symbols_module *modules; /* owned */
    size_t module_count, module_room;
    struct rsc_u64_table module_of; /* from the hash of path and build id to index + 1 */
    struct rsc_u64_table places;    /* from a pc to its struct resolved */
    struct process_jit *jits; /* of processes that have any, by space; owned */
    size_t jit_count, jit_room;
};

int rsc_symbols_new(struct rsc_symbols **out, const struct rsc_symbols_options *options, struct rsc_error *error) {
    struct rsc_symbols *symbols = calloc(1, sizeof *symbols);
    *out = NULL;
    if (!symbols) return rsc_fail_memory(error, "symbols");
    elf_version(EV_CURRENT);
    if (options && options->log) symbols->shared.log = *options->log;
    if (options) symbols->shared.debuginfod = options->debuginfod;
    if (options) symbols->shared.in_process = options->in_process;
    rsc_arena_init(&symbols->shared.arena);
    if (options && options->sysroot && options->sysroot[0]) {
        symbols->sysroot = strdup(options->sysroot);
        symbols->shared.sysroot = symbols->sysroot;
        if (!symbols->sysroot) goto fail;
    }
    if (rsc_u64_table_init(&symbols->module_of, 64) || rsc_u64_table_init(&symbols->places, 1024) ||
        rsc_u64_table_init(&symbols->shared.texts, 1024))
        goto fail;
    *out = symbols;
    return 0;
fail:
    rsc_symbols_free(symbols);
    return rsc_fail_memory(error, "symbols");
}

void rsc_symbols_free(struct rsc_symbols *symbols) {
    if (!symbols) return;
    for (size_t i = 0; i < symbols->module_count; i++) symbols_module_close(&symbols->modules[i]);
    free(symbols->modules);
    free(symbols->maps);
    free(symbols->sysroot);
    for (size_t i = 0; i < symbols->jit_count; i++) rsc_jit_map_free(&symbols->jits[i].map);
    free(symbols->jits);
    rsc_u64_table_free(&symbols->module_of);
    rsc_u64_table_free(&symbols->places);
    rsc_u64_table_free(&symbols->shared.texts);
    rsc_arena_free(&symbols->shared.arena);
    free(symbols);
}

/* The module of a path and build id, created if new. Returns 0 or RSC_ENOMEM. */
static int find_module(struct rsc_symbols *symbols, const char *path, const uint8_t *id, size_t id_bytes,
                       uint32_t *index) {
    uint64_t hash = XXH3_64bits_withSeed(path, strlen(path), id_bytes ? XXH3_64bits(id, id_bytes) : 0);
    if (rsc_u64_table_needs_rebuild(&symbols->module_of) && rsc_u64_table_rebuild(&symbols->module_of))
        return RSC_ENOMEM;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&symbols->module_of, hash);
    for (uint32_t at = entry->value ? (uint32_t)entry->value - 1 : NO_MODULE; at != NO_MODULE;
         at = symbols->modules[at].next) {
        const struct symbols_module *module = &symbols->modules[at];
        if (strcmp(module->path, path) || module->build_id_bytes != id_bytes ||
            (id_bytes && memcmp(module->build_id, id, id_bytes)))
            continue;
        *index = at;
        return 0;
    }
    if (!SYMBOLS_ROOM(symbols->modules, symbols->module_room, symbols->module_count)) return RSC_ENOMEM;
    struct symbols_module *module = &symbols->modules[symbols->module_count];
    *module = (struct symbols_module){.path = strdup(path), .build_id_bytes = id_bytes};
    if (!module->path) return RSC_ENOMEM;
    if (id_bytes) memcpy(module->build_id, id, id_bytes);
    module->next = entry->value ? (uint32_t)entry->value - 1 : NO_MODULE;
    *index = (uint32_t)symbols->module_count++;
    if (!entry->value) symbols->module_of.used++;
    entry->key = hash;
    entry->value = *index + 1;
    return 0;
}

/* The number of maps that start at or below addr. */
static size_t maps_up_to(const struct rsc_symbols *symbols, uint64_t addr) {
    return RSC_SEARCH(0, symbols->map_count, i, symbols->maps[i].start <= addr);
}

/* Inserts a map and cuts the maps that it covers. There is room for two more. */
static void place_map(struct rsc_symbols *symbols, const struct file_map *map) {
    struct file_map pieces[3];
    size_t count = 0, first = maps_up_to(symbols, map->start), last = maps_up_to(symbols, map->end - 1);
    if (first && symbols->maps[first - 1].end > map->start) first--;
    if (first < last && symbols->maps[first].start < map->start) {
        pieces[count] = symbols->maps[first];
        pieces[count++].end = map->start;
    }
    pieces[count++] = *map;
    if (first < last && symbols->maps[last - 1].end > map->end) {
        pieces[count] = symbols->maps[last - 1];
        pieces[count++].start = map->end;
    }
    memmove(symbols->maps + first + count, symbols->maps + last, (symbols->map_count - last) * sizeof *symbols->maps);
    memcpy(symbols->maps + first, pieces, count * sizeof *pieces);
    symbols->map_count += count - (last - first);
}

/* Maps on either side that are compared: a module has three to six. */
#define NEIGHBOURS_MAX 16u

/* A new map has a vote on the bias of its neighbours. */
static void doubt_neighbours(struct rsc_symbols *symbols, size_t new) {
    size_t first = new > NEIGHBOURS_MAX ? new - NEIGHBOURS_MAX : 0;
    for (size_t i = first; i < symbols->map_count && i <= new + NEIGHBOURS_MAX; i++)
        if (symbols->maps[i].module == symbols->maps[new].module) symbols->maps[i].bias_state = 0;
}

int rsc_symbols_add(struct rsc_symbols *symbols, uint64_t start, uint64_t bytes, uint64_t file_offset, const char *path,
                    const uint8_t *build_id, size_t build_id_bytes, struct rsc_error *error) {
    struct file_map map = {.start = start, .origin = start, .origin_offset = file_offset};
    if (!path || !bytes) return rsc_fail(error, RSC_EINVAL, "symbols: a map without a path or without bytes");
    if (!build_id) build_id_bytes = 0;
    if (build_id_bytes > sizeof((struct symbols_module *)0)->build_id)
        return rsc_fail(error, RSC_EINVAL, "%s: a build id of %zu bytes", path, build_id_bytes);
    if (__builtin_add_overflow(start, bytes, &map.end)) map.end = UINT64_MAX;
    if (map.end <= map.start) return rsc_fail(error, RSC_EINVAL, "%s: mapped beyond the last address", path);
    if (symbols->map_count >= MAPS_MAX)
        return rsc_fail(error, RSC_ELIMIT, "%s: more than %u maps", path, (unsigned)MAPS_MAX);
    if (find_module(symbols, path, build_id, build_id_bytes, &map.module)) return rsc_fail_memory(error, "symbols");
    if (symbols->places.used) { /* cached answers may now be wrong */
        struct rsc_u64_table fresh;
        if (rsc_u64_table_init(&fresh, 1024)) return rsc_fail_memory(error, "symbols");
        rsc_u64_table_free(&symbols->places);
        symbols->places = fresh;
    }
    if (!SYMBOLS_ROOM(symbols->maps, symbols->map_room, symbols->map_count + 2))
        return rsc_fail_memory(error, "symbols");
    place_map(symbols, &map);
    doubt_neighbours(symbols, maps_up_to(symbols, map.start) - 1);
    return 0;
}

/* Whether a map can belong to a segment, and the resulting bias. */
static int segment_bias(const struct elf_segment *segment, const struct file_map *map, uint64_t *bias) {
    /* pages are 4 KiB to 64 KiB; a segment gives the largest it can be mapped with */
    uint64_t align = segment->align < 4096 ? 4096 : segment->align > 65536 ? 65536 : segment->align;
    uint64_t first = segment->offset - segment->offset % align, offset = map->origin_offset;
    if (!segment->file_bytes || offset < first) return 0;
    if (offset >= segment->offset && offset - segment->offset >= segment->file_bytes) return 0;
    *bias = map->origin - (segment->vaddr - segment->offset + offset);
    return 1;
}

static int agrees(const struct rsc_symbols *symbols, const struct file_map *map, uint64_t bias) {
    const struct symbols_module *module = &symbols->modules[map->module];
    uint64_t other;
    for (size_t i = 0; i < module->segment_count; i++)
        if (segment_bias(&module->segments[i], map, &other) && other == bias) return 1;
    return 0;
}

/* How many maps of the same module, next to this one, could have this bias. */
static unsigned votes(const struct rsc_symbols *symbols, const struct file_map *map, uint64_t bias) {
    unsigned count = 0;
    const struct file_map *first = symbols->maps, *last = symbols->maps + symbols->map_count - 1;
    for (const struct file_map *at = map; at > first && map - at < NEIGHBOURS_MAX && (--at)->module == map->module;)
        count += (unsigned)agrees(symbols, at, bias);
    for (const struct file_map *at = map; at < last && at - map < NEIGHBOURS_MAX && (++at)->module == map->module;)
        count += (unsigned)agrees(symbols, at, bias);
    return count;
}

/* Opens the module of a map and finds its bias. Returns 1, 0 if there is none, or RSC_ENOMEM. */
static int find_bias(struct rsc_symbols *symbols, struct file_map *map) {
    struct symbols_module *module = &symbols->modules[map->module];
    unsigned best = 0;
    if (map->bias_state) return map->bias_state > 0;
    if (symbols_module_open(&symbols->shared, module)) return RSC_ENOMEM;
    map->bias_state = -1;
    if (!module->image.elf) return 0;
    if (module->type == ET_EXEC) {
        map->bias = map->origin & PROCESS_BITS;
        map->bias_state = 1;
    }
    for (size_t i = 0; module->type != ET_EXEC && i < module->segment_count; i++) {
        uint64_t bias;
        if (!segment_bias(&module->segments[i], map, &bias)) continue;
        unsigned score = 2 * votes(symbols, map, bias) + (module->segments[i].offset <= map->origin_offset) + 1;
        if (score <= best) continue;
        best = score;
        map->bias = bias;
        map->bias_state = 1;
    }
    return map->bias_state > 0;
}

int rsc_symbols_add_jit(struct rsc_symbols *symbols, uint32_t pid, uint64_t space, struct rsc_error *error) {
    struct rsc_jit_map map;
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%u.map", (unsigned)pid);
    int rc = rsc_jit_map_read(&map, path);
    if (!rc && map.count && !SYMBOLS_ROOM(symbols->jits, symbols->jit_room, symbols->jit_count)) rc = RSC_ENOMEM;
    if (rc || !map.count) rsc_jit_map_free(&map);
    else symbols->jits[symbols->jit_count++] = (struct process_jit){space, map};
    return rc ? rsc_fail_memory(error, path) : 0;
}

/* The name of code that the pc's process made there, or NULL. */
static const char *made_at(const struct rsc_symbols *symbols, uint64_t pc) {
    const size_t at = RSC_SEARCH(0, symbols->jit_count, i, symbols->jits[i].space < (pc & PROCESS_BITS));
    if (at == symbols->jit_count || symbols->jits[at].space != (pc & PROCESS_BITS)) return NULL;
    return rsc_jit_map_find(&symbols->jits[at].map, pc & ~PROCESS_BITS);
}

static struct file_map *map_of(struct rsc_symbols *symbols, uint64_t pc) {
    size_t up_to = maps_up_to(symbols, pc);
    return up_to && pc < symbols->maps[up_to - 1].end ? &symbols->maps[up_to - 1] : NULL;
}

/* Keeps what is known about a pc: frames from debug information, or the symbol. map NULL: none; found: it has a bias. */
static int keep_place(struct rsc_symbols *symbols, uint64_t pc, const struct file_map *map, int found,
                      const struct code_frame *frames, size_t count) {
    struct symbols_module *module = map ? &symbols->modules[map->module] : NULL;
    struct code_frame only = count ? frames[0] : (struct code_frame){0};
    if (found && !only.function && count <= 1) {
        const struct elf_symbol *symbol = symbols_find(&module->functions, pc - map->bias);
        if (symbol && !(only.function = symbols_name_text(&symbols->shared, symbol->name))) return RSC_ENOMEM;
        if (symbol) frames = &only, count = 1;
    }
    /* Where the program unmapped a file, it may have made code since. */
    const char *made = found ? NULL : made_at(symbols, pc);
    if (made) {
        only = (struct code_frame){.function = made};
        frames = &only, count = 1;
        module = NULL;
        map = NULL;
    }
    if (rsc_u64_table_needs_rebuild(&symbols->places) && rsc_u64_table_rebuild(&symbols->places)) return RSC_ENOMEM;
    struct resolved *resolved = rsc_arena_alloc(&symbols->shared.arena, sizeof *resolved + count * sizeof *frames);
    if (!resolved) return RSC_ENOMEM;
    *resolved = (struct resolved){.module = module ? module->path : made ? "[JIT]" : NULL, .count = count};
    if (map) resolved->offset = found ? pc - map->bias : pc - map->origin + map->origin_offset;
    if (count) memcpy(resolved->frames, frames, count * sizeof *frames);
    *rsc_u64_table_find(&symbols->places, pc) = (struct rsc_u64_entry){pc, (uint64_t)(uintptr_t)resolved};
    symbols->places.used++;
    return 0;
}

/* A pc to ask the debug information of a module about. */
struct asked {
    uint64_t pc;
    uint32_t map, module;
};

struct asking {
    struct rsc_symbols *symbols;
    const struct asked *asked;
};

static int take_frames(void *context, size_t index, const struct debug_answer *answer) {
    const struct asking *asking = context;
    const struct asked *asked = &asking->asked[index];
    return keep_place(asking->symbols, asked->pc, &asking->symbols->maps[asked->map], 1, answer->frames, answer->count);
}

static int by_module(const void *left, const void *right) {
    const struct asked *a = left, *b = right;
    if (a->module != b->module) return a->module < b->module ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* Asks about pcs of one module. */
static int ask_module(struct rsc_symbols *symbols, const struct asked *asked, size_t count) {
    uint64_t one, *addresses = count > 1 ? malloc(count * sizeof *addresses) : &one;
    struct asking asking = {symbols, asked};
    if (!addresses) return RSC_ENOMEM;
    for (size_t i = 0; i < count; i++) addresses[i] = asked[i].pc - symbols->maps[asked[i].map].bias;
    int rc = symbols_ask(&symbols->shared, &symbols->modules[asked->module], ASK_FRAMES, addresses, count, take_frames,
                         &asking);
    if (addresses != &one) free(addresses);
    return rc;
}

/* Those of the pcs that are not known and belong to a file; the others are kept at once. */
static int list_unknown(struct rsc_symbols *symbols, const uint64_t *pcs, size_t count, struct asked *asked,
                        size_t *listed) {
    for (size_t i = 0; i < count; i++) {
        if (rsc_u64_table_find(&symbols->places, pcs[i])->value) continue;
        struct file_map *map = map_of(symbols, pcs[i]);
        int found = map ? find_bias(symbols, map) : 0;
        if (found > 0) asked[(*listed)++] = (struct asked){pcs[i], (uint32_t)(map - symbols->maps), map->module};
        else if (found < 0 || keep_place(symbols, pcs[i], map, 0, NULL, 0)) return RSC_ENOMEM;
    }
    return 0;
}

int symbols_resolve(struct rsc_symbols *symbols, const uint64_t *pcs, size_t count) {
    struct asked one, *asked = count > 1 ? malloc(count * sizeof *asked) : &one;
    size_t listed = 0, kept = 0;
    if (!asked) return RSC_ENOMEM;
    int rc = list_unknown(symbols, pcs, count, asked, &listed);
    if (!rc && listed > 1) qsort(asked, listed, sizeof *asked, by_module);
    for (size_t i = 0; i < listed; i++)
        if (!kept || asked[kept - 1].pc != asked[i].pc) asked[kept++] = asked[i];
    for (size_t first = 0, last; !rc && first < kept; first = last) {
        for (last = first; last < kept && asked[last].module == asked[first].module;) last++;
        rc = ask_module(symbols, asked + first, last - first);
    }
    if (asked != &one) free(asked);
    return rc;
}

static int fill_place(struct rsc_place *place, const struct code_frame *frame, const char *module) {
    if (module && rsc_profile_set_text(&place->module, module)) return RSC_ENOMEM;
    if (frame && frame->function && rsc_profile_set_text(&place->function, frame->function)) return RSC_ENOMEM;
    if (frame && frame->file) {
        if (rsc_profile_set_text(&place->file, frame->file)) return RSC_ENOMEM;
        place->line = frame->line;
    }
    return 0;
}

int rsc_symbols_place(struct rsc_symbols *symbols, struct rsc_place *place, struct rsc_place **inlined,
                      size_t *inlined_count) {
    struct rsc_place *into = NULL;
    size_t filled = 0;
    if (inlined) *inlined = NULL;
    if (inlined_count) *inlined_count = 0;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&symbols->places, place->pc);
    if (!entry->value) {
        if (symbols_resolve(symbols, &place->pc, 1)) return RSC_ENOMEM;
        entry = rsc_u64_table_find(&symbols->places, place->pc);
    }
    const struct resolved *known = (const struct resolved *)(uintptr_t)entry->value;
    place->offset = known->offset;
    if (fill_place(place, known->count ? &known->frames[0] : NULL, known->module)) return RSC_ENOMEM;
    if (!inlined || known->count < 2) return 0;
    into = calloc(known->count - 1, sizeof *into);
    if (!into) return RSC_ENOMEM;
    for (; filled + 1 < known->count; filled++) {
        into[filled].pc = place->pc;
        if (fill_place(&into[filled], &known->frames[filled + 1], known->module)) goto fail;
    }
    *inlined = into;
    *inlined_count = filled;
    return 0;
fail:
    for (size_t i = 0; i <= filled; i++) rsc_place_clear(&into[i]);
    free(into);
    return RSC_ENOMEM;
}

/*
 * The map of a data address: the one that contains it, or the one before it, since the
 * zeroed end of a segment (.bss) is memory without a file.
 */
static struct file_map *data_map(struct rsc_symbols *symbols, uint64_t addr) {
    for (size_t up_to = maps_up_to(symbols, addr); up_to; up_to--) {
        struct file_map *map = &symbols->maps[up_to - 1];
        if (find_bias(symbols, map) > 0) return map;
        if (up_to < 2 || map[-1].module != map->module || map[-1].end != map->start) break;
    }
    return NULL;
}

int rsc_symbols_variable(struct rsc_symbols *symbols, uint64_t addr, const char **name, uint64_t *start,
                         uint64_t *bytes) {
    struct file_map *map = data_map(symbols, addr);
    if (!map) return 0;
    symbols_begin_debug(&symbols->shared, &symbols->modules[map->module]);
    const struct elf_symbol *symbol = symbols_find(&symbols->modules[map->module].variables, addr - map->bias);
    if (!symbol || !(*name = symbols_name_text(&symbols->shared, symbol->name))) return 0;
    *start = symbol->value + map->bias;
    *bytes = symbol->bytes;
    return 1;
}

const char *rsc_symbols_data_file(struct rsc_symbols *symbols, uint64_t addr) {
    struct file_map *map = data_map(symbols, addr);
    return map ? symbols->modules[map->module].path : NULL;
}

struct data_visitor {
    uint64_t bias, least;
    int (*visit)(void *context, uint64_t start, uint64_t bytes);
    void *context;
};

static int visit_data(const struct data_visitor *visitor, uint64_t address, uint64_t bytes) {
    return bytes < visitor->least ? 0 : visitor->visit(visitor->context, address + visitor->bias, bytes);
}

/* The variables of a module from an address on, and the stretches between them. */
static int visit_variables(const struct elf_symbols *variables, uint64_t from, uint64_t to,
                           const struct data_visitor *visitor) {
    const struct elf_symbol *rows = variables->rows;
    size_t i = RSC_SEARCH(0, variables->count, k, rows[k].value < from);
    const struct elf_symbol *first = symbols_find(variables, from); /* if it begins earlier, it is of the map before */
    if (first && first->value < from) from = first->value + first->bytes;
    while (from < to) { /* everything below `from` is done */
        while (i < variables->count && rows[i].value < from) i++; /* parts of a variable */
        uint64_t next = i < variables->count && rows[i].value < to ? rows[i].value : to, bytes = 0;
        int status = visit_data(visitor, from, next - from);
        for (; i < variables->count && rows[i].value == next; i++) /* aliases */
            if (rows[i].bytes > bytes) bytes = rows[i].bytes;
        if (bytes > to - next) bytes = to - next;
        if (!status && bytes) status = visit_data(visitor, next, bytes);
        if (status) return status;
        from = next + bytes;
    }
    return 0;
}

int rsc_symbols_large_data(struct rsc_symbols *symbols, uint64_t addr, uint64_t least,
                           int (*visit)(void *context, uint64_t start, uint64_t bytes), void *context) {
    struct file_map *map = map_of(symbols, addr);
    int status = map ? find_bias(symbols, map) : 0;
    if (status <= 0) return status;
    const struct symbols_module *module = &symbols->modules[map->module];
    const struct data_visitor visitor = {map->bias, least, visit, context};
    status = 0;
    for (size_t i = 0; !status && i < module->segment_count; i++) {
        const struct elf_segment *segment = &module->segments[i];
        uint64_t from = map->start - map->bias, to = map->end - map->bias;
        if (segment->is_code || from >= segment->vaddr + segment->file_bytes) continue;
        if (from < segment->vaddr) from = segment->vaddr;
        if (to >= segment->vaddr + segment->file_bytes) to = segment->vaddr + segment->memory_bytes;
        status = visit_variables(&module->variables, from, to, &visitor);
    }
    return status;
}

static int take_function(void *context, size_t index, const struct debug_answer *answer) {
    struct symbols_code *code = context;
    (void)index;
    code->start = answer->start;
    code->bytes = answer->bytes;
    return 0;
}

int symbols_code_at(struct rsc_symbols *symbols, uint64_t pc, struct symbols_code *code) {
    struct file_map *map = map_of(symbols, pc);
    int found = map ? find_bias(symbols, map) : 0;
    if (found <= 0) return found;
    struct symbols_module *module = &symbols->modules[map->module];
    symbols_begin_debug(&symbols->shared, module);
    *code = (struct symbols_code){.module = module, .bias = map->bias};
    const struct elf_symbol *symbol = symbols_find(&module->functions, pc - map->bias);
    if (!symbol) {
        uint64_t address = pc - map->bias;
        int rc = symbols_ask(&symbols->shared, module, ASK_FUNCTION, &address, 1, take_function, code);
        return rc ? rc : code->bytes != 0;
    }
    code->start = symbol->value;
    code->bytes = symbol->bytes;
    code->name = symbol->name;
    return 1;
}

static int take_declaration(void *context, size_t index, const struct debug_answer *answer) {
    struct code_frame *declared = context;
    (void)index;
    if (answer->count) *declared = answer->frames[0];
    return 0;
}

int symbols_declaration_at(struct rsc_symbols *symbols, uint64_t address, const char **file, uint32_t *line) {
    struct code_frame declared = {0};
    struct file_map *map = data_map(symbols, address);
    if (!map) return 0;
    uint64_t in_file = address - map->bias;
    int rc = symbols_ask(&symbols->shared, &symbols->modules[map->module], ASK_DECLARATION, &in_file, 1,
                         take_declaration, &declared);
    *file = declared.file;
    *line = declared.line;
    return rc ? rc : declared.file != NULL;
}

#endif
