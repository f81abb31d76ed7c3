/*
 * symbols_loops.c - finds the loops around the places of a profile, from the machine
 * code of the mapped files.
 *
 * The function around a pc comes from the symbol table, or from the debug information
 * if it has no symbol; its code is read from the mapped file and its loops are found
 * once (code_loops.h). A loop is named by the lowest line of the jumps that decide
 * whether it goes on: compilers keep the line of a for or while on its test, wherever
 * they put it, while code around it may have been moved there from any line. If other
 * functions were inlined into its body, it is the line of the function that has the loop.
 */
#ifdef RSC_HAVE_LIBDW

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "collect/symbols/code_loops.h"
#include "collect/symbols/symbols_module.h"
#include "profile/profile_rows.h"

/* A loop of the target, in the order found. */
struct found_loop {
    size_t function; /* its function among those looked at */
    uint32_t index;  /* in that function */
    uint64_t bias; /* from addresses of the file to those of the target */
    uint32_t parent;        /* 1 + index; 0: none */
    uint32_t depth;
    uint32_t row; /* 1 + its row in the profile being named; 0: contains no place */
};

/* A function whose code was examined. */
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
    uint64_t bytes_left; /* of code to decode: a hostile file may have many large functions at one address */
};
#define CODE_BYTES_ALL (32u << 20)

static void loops_free(struct symbols_loops *loops) {
    for (size_t i = 0; i < loops->function_count; i++) rsc_code_loops_free(&loops->functions[i].loops);
    free(loops->functions);
    free(loops->found);
    rsc_u64_table_free(&loops->function_of);
}

/* ---- reading code from the file ---- */

static const uint8_t *read_data(void *owner, uint64_t address, size_t bytes) {
    uint64_t room;
    const uint8_t *data = symbols_bytes_at(owner, address, &room);
    return data && room >= bytes ? data : NULL;
}

/*
 * Parts of a function elsewhere: the compiler's NAME.cold, and code without a symbol,
 * which `reusescope cc` adds. Its recording copies come back to where they began and are
 * no part of any loop; what it inserts between two blocks, which has no branches, is.
 */
static const uint8_t *read_elsewhere(void *owner, uint64_t address, size_t *room, int *only_straight) {
    const struct symbols_module *module = owner;
    const struct elf_symbol *symbol = symbols_find(&module->functions, address);
    uint64_t bytes;
    if (symbol && !strstr(symbol->name, ".cold")) return NULL;
    *only_straight = !symbol;
    const uint8_t *code = symbols_bytes_at(module, address, &bytes);
    *room = bytes < RSC_CODE_BYTES_MAX ? bytes : RSC_CODE_BYTES_MAX;
    return code;
}

static int is_x86_64(const struct symbols_module *module) {
    GElf_Ehdr header;
    return gelf_getehdr(module->image.elf, &header) && header.e_machine == EM_X86_64;
}

/* ---- loops of functions ---- */

static int add_found(struct symbols_loops *loops, size_t function, uint64_t bias) {
    const struct rsc_code_loops *of = &loops->functions[function].loops;
    uint32_t first = loops->functions[function].first;
    for (size_t i = 0; i < of->count; i++) {
        const struct rsc_code_loop *loop = &of->loops[i];
        if (!SYMBOLS_ROOM(loops->found, loops->found_room, loops->found_count)) return RSC_ENOMEM;
        loops->found[loops->found_count++] =
            (struct found_loop){.function = function,
                                .index = (uint32_t)i,
                                .bias = bias,
                                .parent = loop->parent == RSC_NO_LOOP ? 0 : first + loop->parent + 1,
                                .depth = loop->depth};
    }
    return 0;
}

/* The code that calls main ends in functions that do not return and have no name: it has only apparent loops. */
static int is_start(const char *name) { return name && !strncmp(name, "__libc_start_", 13); }

/* The function's loops, found on the first call. NULL: out of memory. */
static const struct looked_at *look_at(struct symbols_loops *loops, const struct symbols_code *where) {
    uint64_t room, key = where->start + where->bias;
    if (rsc_u64_table_needs_rebuild(&loops->function_of) && rsc_u64_table_rebuild(&loops->function_of)) return NULL;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&loops->function_of, key);
    if (entry->value) return &loops->functions[entry->value - 1];
    if (!SYMBOLS_ROOM(loops->functions, loops->function_room, loops->function_count)) return NULL;
    struct looked_at *function = &loops->functions[loops->function_count];
    *function = (struct looked_at){.first = (uint32_t)loops->found_count};
    const uint8_t *code = symbols_bytes_at(where->module, where->start, &room);
    uint64_t length = !code ? 0 : where->bytes < room ? where->bytes : room;
    if (length && length <= loops->bytes_left && is_x86_64(where->module) && !is_start(where->name)) {
        loops->bytes_left -= length;
        struct rsc_code_bytes bytes = {code,           where->start, length, read_data, symbols_never_returns,
                                       read_elsewhere, where->module};
        if (rsc_code_loops_find(&function->loops, &bytes) == RSC_ENOMEM) return NULL;
        if (function->loops.count + loops->found_count > RSC_PROFILE_ROWS_MAX) rsc_code_loops_free(&function->loops);
    }
    *entry = (struct rsc_u64_entry){key, ++loops->function_count};
    loops->function_of.used++;
    return add_found(loops, loops->function_count - 1, where->bias) ? NULL : function;
}

/* Sets the loop of a place, as 1 + its number among those found. */
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

struct naming {
    struct rsc_symbols *symbols;
    struct symbols_loops loops;
};

static int visit_find(void *context, struct rsc_place *place) {
    struct naming *naming = context;
    int rc = find_loop(naming->symbols, &naming->loops, place);
    for (uint32_t loop = rc ? 0 : place->loop; loop && !naming->loops.found[loop - 1].row;
         loop = naming->loops.found[loop - 1].parent)
        naming->loops.found[loop - 1].row = 1;
    return rc;
}

static int visit_rename(void *context, struct rsc_place *place) {
    const struct naming *naming = context;
    if (place->loop) place->loop = naming->loops.found[place->loop - 1].row;
    return 0;
}

static int same_source(const struct rsc_place *a, const struct rsc_place *b) {
    return a->function && b->function && a->file && b->file && !strcmp(a->function, b->function) &&
           !strcmp(a->file, b->file);
}

/* The best name for a loop so far. */
struct loop_name {
    struct rsc_place place;
    size_t inlined; /* number of calls its function is inlined through */
};

/* Takes the place at a pc if it is a better name: less deeply inlined or, in the same function, a lower line. */
static int try_name(struct rsc_symbols *symbols, struct loop_name *name, uint64_t pc) {
    struct rsc_place place = {.pc = pc}, *inlined = NULL;
    size_t count = 0;
    int rc = rsc_symbols_place(symbols, &place, &inlined, &count);
    symbols_free_places(inlined, count);
    if (!rc && place.line &&
        (!name->place.line || count < name->inlined ||
         (count == name->inlined && same_source(&place, &name->place) && place.line < name->place.line))) {
        rsc_place_clear(&name->place);
        *name = (struct loop_name){place, count};
    } else {
        rsc_place_clear(&place);
    }
    return rc;
}

#define TESTS_MAX 64u /* of a loop whose lines are read */

static int name_loop(struct rsc_symbols *symbols, const struct symbols_loops *loops, const struct found_loop *found,
                     struct rsc_place *place) {
    const struct rsc_code_loops *of = &loops->functions[found->function].loops;
    const struct rsc_code_loop *loop = &of->loops[found->index];
    struct loop_name name = {0};
    int rc = 0;
    for (uint32_t i = 0; !rc && i < loop->test_count && i < TESTS_MAX; i++)
        rc = try_name(symbols, &name, of->tests[loop->first_test + i] + found->bias);
    if (!rc && !name.place.line) rc = try_name(symbols, &name, loop->latch + found->bias);
    if (!rc && !name.place.line) rc = try_name(symbols, &name, loop->header + found->bias);
    if (!rc && !name.place.line) { /* no debug information */
        name.place.pc = loop->header + found->bias;
        rc = rsc_symbols_place(symbols, &name.place, NULL, NULL);
    }
    *place = name.place;
    place->pc = loop->header + found->bias;
    return rc;
}

/*
 * A loop that has the name of one inside it: its test has the line of a function inlined into its body. Its first
 * instruction may still have one of its own function.
 */
static int rename_outer(struct rsc_symbols *symbols, const struct rsc_loop_row *inner, struct rsc_loop_row *outer) {
    struct rsc_place place = {.pc = outer->place.pc};
    if (!same_source(&inner->place, &outer->place) || inner->place.line != outer->place.line) return 0;
    int rc = rsc_symbols_place(symbols, &place, NULL, NULL);
    if (!rc && place.line && place.function && strcmp(place.function, outer->place.function)) {
        struct rsc_place old = outer->place;
        outer->place = place;
        place = old;
    }
    rsc_place_clear(&place);
    return rc;
}

/* Resolves the pcs that name_loop() looks at. */
static int resolve_loops(struct naming *naming) {
    uint64_t *pcs = NULL;
    size_t count = 0, room = 0;
    int rc = 0;
    for (size_t i = 0; !rc && i < naming->loops.found_count; i++) {
        const struct found_loop *found = &naming->loops.found[i];
        const struct rsc_code_loops *of = &naming->loops.functions[found->function].loops;
        const struct rsc_code_loop *loop = &of->loops[found->index];
        uint32_t tests = loop->test_count < TESTS_MAX ? loop->test_count : TESTS_MAX;
        if (!found->row) continue;
        if (RSC_GROW(pcs, room, count + tests + 1)) rc = RSC_ENOMEM;
        for (uint32_t t = 0; !rc && t < tests; t++) pcs[count++] = of->tests[loop->first_test + t] + found->bias;
        if (!rc) pcs[count++] = loop->header + found->bias;
    }
    if (!rc) rc = symbols_resolve(naming->symbols, pcs, count);
    free(pcs);
    return rc;
}

static int fill_rows(struct naming *naming, struct rsc_profile *profile) {
    uint32_t count = 0;
    for (size_t i = 0; i < naming->loops.found_count; i++)
        if (naming->loops.found[i].row) naming->loops.found[i].row = ++count;
    int rc = rsc_profile_set_loops(profile, count);
    if (!rc) rc = resolve_loops(naming);
    for (size_t i = 0; !rc && i < naming->loops.found_count; i++) {
        const struct found_loop *loop = &naming->loops.found[i];
        if (!loop->row) continue;
        struct rsc_loop_row *row = &profile->loops[loop->row - 1];
        row->depth = loop->depth;
        row->parent = loop->parent ? naming->loops.found[loop->parent - 1].row : 0;
        rc = name_loop(naming->symbols, &naming->loops, loop, &row->place);
    }
    for (size_t i = 0; !rc && i < profile->loop_count; i++)
        if (profile->loops[i].parent)
            rc = rename_outer(naming->symbols, &profile->loops[i], &profile->loops[profile->loops[i].parent - 1]);
    return rc;
}

int symbols_find_loops(struct rsc_symbols *symbols, struct rsc_profile *profile) {
    struct naming naming = {.symbols = symbols, .loops = {.bytes_left = CODE_BYTES_ALL}};
    if (!rsc_code_loops_known()) return 0;
    int rc = rsc_u64_table_init(&naming.loops.function_of, 256) ? RSC_ENOMEM : 0;
    if (!rc) rc = symbols_for_each_place(profile, visit_find, &naming);
    if (!rc) rc = fill_rows(&naming, profile);
    if (!rc) rc = symbols_for_each_place(profile, visit_rename, &naming);
    loops_free(&naming.loops);
    return rc;
}

#endif
