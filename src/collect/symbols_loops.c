/*
 * symbols_loops.c - the loops that the places of a profile lie in, from the machine
 * code of the files that were mapped.
 *
 * The function around a pc is that of the symbol table, or of the debug information
 * where there is no symbol; its code is read from the file as it was mapped and its
 * loops are found once (code_loops.h). A loop is named by the line it begins with:
 * the lower of the lines of its first instruction and of the jump back to it, since
 * compilers turn loops round so that either may belong to the for or while.
 */
#ifdef RSC_HAVE_LIBDW

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "collect/code_loops.h"
#include "collect/symbols_module.h"
#include "profile/profile_rows.h"

/* A loop of the target, in the order they were found. */
struct found_loop {
    uint64_t header, latch; /* addresses of the target */
    uint32_t parent;        /* 1 + index; 0: none */
    uint32_t depth;
    uint32_t row; /* 1 + its row in the profile being named; 0: no place is in it */
};

/* A function whose code was looked at. */
struct looked_at {
    struct rsc_code_loops loops; /* by addresses of the file */
    uint32_t first;              /* index of its first loop among the found */
};

struct symbols_loops {
    struct looked_at *functions; /* owned */
    size_t function_count, function_room;
    struct rsc_u64_table function_of; /* from the function's address in the target to index + 1 */
    struct found_loop *found;         /* owned */
    size_t found_count, found_room;
};

static void loops_free(struct symbols_loops *loops) {
    for (size_t i = 0; i < loops->function_count; i++) rsc_code_loops_free(&loops->functions[i].loops);
    free(loops->functions);
    free(loops->found);
    rsc_u64_table_free(&loops->function_of);
}

/* ---- code out of the file ---- */

/* What the file has for an address; *room: how many bytes from there on. NULL: nothing. */
static const uint8_t *bytes_at(const struct symbols_module *module, uint64_t address, uint64_t *room) {
    for (size_t i = 0; i < module->segment_count; i++) {
        const struct elf_segment *segment = &module->segments[i];
        uint64_t offset = address - segment->vaddr;
        if (address < segment->vaddr || offset >= segment->file_bytes) continue;
        if (segment->offset > module->image.size || segment->file_bytes > module->image.size - segment->offset) continue;
        *room = segment->file_bytes - offset;
        return (const uint8_t *)module->image.bytes + segment->offset + offset;
    }
    return NULL;
}

static const uint8_t *read_data(const void *owner, uint64_t address, size_t bytes) {
    uint64_t room;
    const uint8_t *data = bytes_at(owner, address, &room);
    return data && room >= bytes ? data : NULL;
}

static int is_x86_64(const struct symbols_module *module) {
    GElf_Ehdr header;
    return gelf_getehdr(module->image.elf, &header) && header.e_machine == EM_X86_64;
}

/* ---- loops of functions ---- */

static int add_found(struct symbols_loops *loops, const struct rsc_code_loops *of, uint32_t first, uint64_t bias) {
    for (size_t i = 0; i < of->count; i++) {
        const struct rsc_code_loop *loop = &of->loops[i];
        if (!SYMBOLS_ROOM(loops->found, loops->found_room, loops->found_count)) return RSC_ENOMEM;
        loops->found[loops->found_count++] =
            (struct found_loop){.header = loop->header + bias,
                                .latch = loop->latch + bias,
                                .parent = loop->parent == RSC_NO_LOOP ? 0 : first + loop->parent + 1,
                                .depth = loop->depth};
    }
    return 0;
}

/* The function's loops, found if this is the first time. NULL: out of memory. */
static const struct looked_at *look_at(struct symbols_loops *loops, const struct symbols_code *where) {
    uint64_t room, key = where->start + where->bias;
    if (rsc_u64_table_needs_rebuild(&loops->function_of) && rsc_u64_table_rebuild(&loops->function_of)) return NULL;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&loops->function_of, key);
    if (entry->value) return &loops->functions[entry->value - 1];
    if (!SYMBOLS_ROOM(loops->functions, loops->function_room, loops->function_count)) return NULL;
    struct looked_at *function = &loops->functions[loops->function_count];
    *function = (struct looked_at){.first = (uint32_t)loops->found_count};
    const uint8_t *code = bytes_at(where->module, where->start, &room);
    if (code && is_x86_64(where->module)) {
        struct rsc_code_bytes bytes = {code, where->start, where->bytes < room ? where->bytes : room, read_data, where->module};
        if (rsc_code_loops_find(&function->loops, &bytes) == RSC_ENOMEM) return NULL;
        if (function->loops.count + loops->found_count > RSC_PROFILE_ROWS_MAX) rsc_code_loops_free(&function->loops);
    }
    *entry = (struct rsc_u64_entry){key, ++loops->function_count};
    loops->function_of.used++;
    return add_found(loops, &function->loops, function->first, where->bias) ? NULL : function;
}

/* Sets the loop of a place, as 1 + its number among the found. */
static int find_loop(struct rsc_symbols *symbols, struct symbols_loops *loops, struct rsc_place *place) {
    struct symbols_code where;
    place->loop = 0;
    int rc = symbols_code_at(symbols, place->pc, &where);
    if (rc <= 0) return rc;
    const struct looked_at *function = look_at(loops, &where);
    if (!function) return RSC_ENOMEM;
    uint32_t loop = rsc_code_loops_at(&function->loops, place->pc - where.bias);
    if (loop != RSC_NO_LOOP) place->loop = function->first + loop + 1;
    return 0;
}

/* ---- rows of the profile ---- */

/* Every place that can be in a loop. */
static int for_each_place(struct rsc_profile *profile, int (*visit)(void *context, struct rsc_place *place), void *context) {
    int rc = 0;
    for (size_t i = 0; !rc && i < profile->code_count; i++) rc = visit(context, &profile->code[i].place);
    for (size_t i = 0; !rc && i < profile->pair_count; i++) {
        rc = visit(context, &profile->pairs[i].use);
        if (!rc) rc = visit(context, &profile->pairs[i].reuse);
    }
    for (size_t i = 0; !rc && i < profile->context_count; i++) rc = visit(context, &profile->contexts[i].place);
    return rc;
}

struct naming {
    struct rsc_symbols *symbols;
    struct symbols_loops loops;
};

static int visit_find(void *context, struct rsc_place *place) {
    struct naming *naming = context;
    int rc = find_loop(naming->symbols, &naming->loops, place);
    for (uint32_t loop = rc ? 0 : place->loop; loop && !naming->loops.found[loop - 1].row; loop = naming->loops.found[loop - 1].parent)
        naming->loops.found[loop - 1].row = 1;
    return rc;
}

static int visit_rename(void *context, struct rsc_place *place) {
    const struct naming *naming = context;
    if (place->loop) place->loop = naming->loops.found[place->loop - 1].row;
    return 0;
}

static int same_source(const struct rsc_place *a, const struct rsc_place *b) {
    return a->function && b->function && a->file && b->file && !strcmp(a->function, b->function) && !strcmp(a->file, b->file);
}

/* Where the loop begins, as its first instruction and the jump back say. */
static int name_loop(struct rsc_symbols *symbols, const struct found_loop *loop, struct rsc_place *place) {
    struct rsc_place back = {.pc = loop->latch}, *inlined = NULL, *back_inlined = NULL;
    size_t depth = 0, back_depth = 0;
    place->pc = loop->header;
    int rc = rsc_symbols_place(symbols, place, &inlined, &depth);
    if (!rc) rc = rsc_symbols_place(symbols, &back, &back_inlined, &back_depth);
    /* a body that begins with something inlined: the loop is of the function that has the jump */
    if (!rc && back.line && (!place->line || (same_source(place, &back) ? back.line < place->line : back_depth < depth))) {
        struct rsc_place header = {.pc = loop->header};
        rsc_place_clear(place);
        rc = rsc_place_copy(&header, &back);
        *place = header;
        place->pc = loop->header;
    }
    symbols_free_places(inlined, depth);
    symbols_free_places(back_inlined, back_depth);
    rsc_place_clear(&back);
    return rc;
}

static int fill_rows(struct naming *naming, struct rsc_profile *profile) {
    uint32_t count = 0;
    for (size_t i = 0; i < naming->loops.found_count; i++)
        if (naming->loops.found[i].row) naming->loops.found[i].row = ++count;
    int rc = rsc_profile_set_loops(profile, count);
    for (size_t i = 0; !rc && i < naming->loops.found_count; i++) {
        const struct found_loop *loop = &naming->loops.found[i];
        if (!loop->row) continue;
        struct rsc_loop_row *row = &profile->loops[loop->row - 1];
        row->depth = loop->depth;
        row->parent = loop->parent ? naming->loops.found[loop->parent - 1].row : 0;
        rc = name_loop(naming->symbols, loop, &row->place);
    }
    return rc;
}

int symbols_find_loops(struct rsc_symbols *symbols, struct rsc_profile *profile) {
    struct naming naming = {.symbols = symbols};
    if (!rsc_code_loops_known()) return 0;
    int rc = rsc_u64_table_init(&naming.loops.function_of, 256) ? RSC_ENOMEM : 0;
    if (!rc) rc = for_each_place(profile, visit_find, &naming);
    if (!rc) rc = fill_rows(&naming, profile);
    if (!rc) rc = for_each_place(profile, visit_rename, &naming);
    loops_free(&naming.loops);
    return rc;
}

#endif
