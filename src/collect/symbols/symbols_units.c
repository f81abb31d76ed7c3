/*
 * symbols_units.c - the functions around an address, from the debug information: the
 * innermost inlined body first, then each scope it was inlined into.
 *
 * Compilation units are listed once with their address ranges (not every compiler
 * writes .debug_aranges). A unit's tree is walked once, when the first address in it is
 * looked up: every function and inlined body becomes a scope, and their ranges form one
 * sorted table. Lines come from the line table, which libdw keeps per unit.
 */
#ifdef RSC_HAVE_LIBDW

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collect/symbols/symbols_module.h"

#define LEVELS_MAX 128u
#define UNITS_MAX (1u << 20)
#define UNIT_RANGES_MAX (4u << 20)
/* Size limit for a tree in a .dwo file, whose size is not known here. */
#define SPLIT_UNIT_BYTES (64u << 20)

static int take_ranges(struct address_ranges *ranges, Dwarf_Die *die, uint32_t of) {
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    int added = 0;
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        if (!low) continue; /* a function that the linker dropped */
        int rc = symbols_ranges_add(ranges, low, high, of);
        if (rc == RSC_ENOMEM) return rc;
        if (rc) break;
        added = 1;
    }
    return added;
}

static const char *text_of(Dwarf_Die *die, unsigned attribute) {
    Dwarf_Attribute value;
    return dwarf_formstring(dwarf_attr_integrate(die, attribute, &value));
}

int symbols_read_units(struct symbols_module *module) {
    Dwarf_Off next, at = 0;
    size_t header;
    Dwarf_Half version;
    if (module->units_read || !module->image.elf) return 0;
    symbols_begin_debug(module->shared, module);
    if (!module->dwarf) return 0;
    module->units_read = 1;
    module->unit_ranges.limit = UNIT_RANGES_MAX;
    for (; module->unit_count < UNITS_MAX; at = next) {
        Dwarf_Die die;
        if (dwarf_next_unit(module->dwarf, at, &next, &header, &version, NULL, NULL, NULL, NULL, NULL) || next <= at)
            break;
        if (!dwarf_offdie(module->dwarf, at + header, &die)) continue;
        int tag = dwarf_tag(&die);
        if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) continue;
        if (!SYMBOLS_ROOM(module->units, module->unit_room, module->unit_count)) return RSC_ENOMEM;
        struct code_unit *unit = &module->units[module->unit_count];
        *unit = (struct code_unit){.die = die, .tree = die, .bytes = next - at};
        unit->directory = text_of(&die, DW_AT_comp_dir);
        if (take_ranges(&module->unit_ranges, &die, (uint32_t)module->unit_count) == RSC_ENOMEM) return RSC_ENOMEM;
        module->unit_count++;
    }
    symbols_ranges_sort(&module->unit_ranges);
    return 0;
}

void symbols_units_free(struct symbols_module *module) {
    for (size_t i = 0; i < module->unit_count; i++) {
        free(module->units[i].scopes);
        free(module->units[i].ranges.rows);
    }
    free(module->units);
    free(module->unit_ranges.rows);
}

/*
 * A unit built with -gsplit-dwarf keeps its tree in another file; libdw opens it, after a check that it is a regular
 * file.
 */
static void find_split_tree(struct code_unit *unit) {
    char path[PATH_MAX];
    struct stat status;
    Dwarf_Die split;
    uint8_t type = 0;
    const char *name = text_of(&unit->die, DW_AT_dwo_name);
    if (!name) name = text_of(&unit->die, DW_AT_GNU_dwo_name);
    if (!name || dwarf_cu_info(unit->die.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) || type != DW_UT_skeleton)
        return;
    /* both paths that libdw tries */
    if (!stat(name, &status) && !S_ISREG(status.st_mode)) return;
    const char *folder = name[0] != '/' && unit->directory ? unit->directory : "";
    if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name) >= (int)sizeof path) return;
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return;
    if (dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) || !split.addr ||
        dwarf_tag(&split) != DW_TAG_compile_unit)
        return;
    unit->tree = split;
    unit->bytes = SPLIT_UNIT_BYTES;
}

/* Adds a scope; its index in *index, or `parent` if it has no code of its own. 0 or RSC_ENOMEM. */
static int take_scope(struct code_unit *unit, Dwarf_Die *die, int inlined, uint32_t parent, uint32_t *index) {
    if (unit->scope_count >= NO_SCOPE) return 0;
    if (!SYMBOLS_ROOM(unit->scopes, unit->scope_room, unit->scope_count)) return RSC_ENOMEM;
    int added = take_ranges(&unit->ranges, die, (uint32_t)unit->scope_count);
    if (added < 0) return RSC_ENOMEM;
    if (!added) return 0;
    unit->scopes[unit->scope_count] = (struct code_scope){*die, parent, inlined};
    *index = (uint32_t)unit->scope_count++;
    return 0;
}

struct scope_walk {
    struct code_unit *unit;
    uint64_t steps; /* steps left for the whole walk, whatever the siblings are */
};

/*
 * Collects the scopes below a DIE. Types at unit level hold only declarations (except
 * in Rust) and are skipped; those inside a function (closures, local classes) hold
 * code. Returns 0 or RSC_ENOMEM.
 */
static int walk_scopes(struct scope_walk *walk, Dwarf_Die *around, uint32_t scope, int in_types, unsigned level) {
    Dwarf_Die die;
    if (level >= LEVELS_MAX || dwarf_child(around, &die)) return 0;
    for (; walk->steps; walk->steps--) {
        uint32_t inner = scope;
        Dwarf_Off offset = dwarf_dieoffset(&die);
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            inner = NO_SCOPE;
            if (take_scope(walk->unit, &die, 0, NO_SCOPE, &inner)) return RSC_ENOMEM;
            if (walk_scopes(walk, &die, inner, 1, level + 1)) return RSC_ENOMEM;
            break;
        case DW_TAG_inlined_subroutine:
            if (scope != NO_SCOPE && take_scope(walk->unit, &die, 1, scope, &inner)) return RSC_ENOMEM;
            if (walk_scopes(walk, &die, inner, 1, level + 1)) return RSC_ENOMEM;
            break;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            if (!in_types) break;
            /* fall through */
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
            if (walk_scopes(walk, &die, scope, in_types, level + 1)) return RSC_ENOMEM;
            break;
        default: break;
        }
        if (!walk->steps || dwarf_siblingof(&die, &die) || dwarf_dieoffset(&die) <= offset) return 0;
    }
    return 0;
}

static int read_unit(struct code_unit *unit) {
    if (unit->is_read) return 0;
    unit->is_read = 1;
    find_split_tree(unit);
    struct scope_walk walk = {.unit = unit, .steps = unit->bytes};
    unit->ranges.limit = 4 * unit->bytes + 1024;
    int rc = walk_scopes(&walk, &unit->tree, NO_SCOPE, dwarf_srclang(&unit->tree) == DW_LANG_Rust, 0);
    symbols_ranges_sort(&unit->ranges);
    return rc;
}

/*
 * The name of a scope. C++ names come from the mangled one, with namespace and
 * arguments; if it cannot be demangled, the plain name is used.
 */
static int name_scope(struct symbols_shared *shared, struct symbols_module *module, struct code_scope *scope,
                      uint64_t address, const char **name) {
    const char *linkage = text_of(&scope->die, DW_AT_linkage_name), *plain = dwarf_diename(&scope->die);
    if (!linkage) linkage = text_of(&scope->die, DW_AT_MIPS_linkage_name);
    if (!linkage && !scope->inlined) {
        const struct elf_symbol *symbol = symbols_find(&module->functions, address);
        if (symbol && (!plain || !strncmp(symbol->name, "_Z", 2))) linkage = symbol->name;
    }
    if (linkage && (!plain || !strncmp(linkage, "_Z", 2))) {
        if (!(*name = symbols_name_text(shared, linkage))) return RSC_ENOMEM;
        if (!plain || strncmp(*name, "_Z", 2)) return 0;
    }
    if (plain && !(*name = symbols_name_text(shared, plain))) return RSC_ENOMEM;
    return 0;
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute) {
    Dwarf_Attribute value;
    Dwarf_Word number;
    if (dwarf_formudata(dwarf_attr(die, attribute, &value), &number) || number > UINT32_MAX) return 0;
    return (uint32_t)number;
}

/* File and line of the call that an inlined scope replaced. */
static int take_call(struct symbols_shared *shared, struct code_unit *unit, struct code_scope *scope,
                     struct code_frame *frame) {
    Dwarf_Files *files;
    size_t count;
    uint32_t index = number_of(&scope->die, DW_AT_call_file);
    frame->line = number_of(&scope->die, DW_AT_call_line);
    if (!dwarf_hasattr(&scope->die, DW_AT_call_file) || dwarf_getsrcfiles(&unit->tree, &files, &count)) return 0;
    const char *path = index < count ? dwarf_filesrc(files, index, NULL, NULL) : NULL;
    if (path && !(frame->file = symbols_path_text(shared, unit->directory, path))) return RSC_ENOMEM;
    return 0;
}

static int take_line(struct symbols_shared *shared, struct code_unit *unit, uint64_t address,
                     struct code_frame *frame) {
    int number;
    Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
    if (!line) return 0;
    const char *path = dwarf_linesrc(line, NULL, NULL);
    if (path && !(frame->file = symbols_path_text(shared, unit->directory, path))) return RSC_ENOMEM;
    if (!dwarf_lineno(line, &number) && number > 0) frame->line = (uint32_t)number;
    return 0;
}

int symbols_function_range(struct symbols_module *module, uint64_t address, uint64_t *start, uint64_t *bytes) {
    const struct address_range *range;
    if (symbols_read_units(module)) return RSC_ENOMEM;
    if (!(range = symbols_ranges_find(&module->unit_ranges, address))) return 0;
    struct code_unit *unit = &module->units[range->of];
    if (read_unit(unit)) return RSC_ENOMEM;
    if (!(range = symbols_ranges_find(&unit->ranges, address))) return 0;
    uint32_t at = range->of;
    while (unit->scopes[at].inlined && unit->scopes[at].parent != NO_SCOPE) at = unit->scopes[at].parent;
    for (size_t i = 0; i < unit->ranges.count; i++) { /* the function's own range that contains it */
        const struct address_range *own = &unit->ranges.rows[i];
        if (own->of != at || address < own->low || address >= own->high) continue;
        *start = own->low;
        *bytes = own->high - own->low;
        return 1;
    }
    return 0;
}

int symbols_frames(struct symbols_shared *shared, struct symbols_module *module, uint64_t address,
                   struct code_frame *frames, size_t *count) {
    const struct address_range *range;
    *count = 0;
    if (symbols_read_units(module)) return RSC_ENOMEM;
    if (!(range = symbols_ranges_find(&module->unit_ranges, address))) return 0;
    struct code_unit *unit = &module->units[range->of];
    if (read_unit(unit)) return RSC_ENOMEM;
    frames[0] = (struct code_frame){0};
    if (take_line(shared, unit, address, &frames[0])) return RSC_ENOMEM;
    if ((range = symbols_ranges_find(&unit->ranges, address))) {
        uint32_t at = range->of;
        for (;;) {
            struct code_scope *scope = &unit->scopes[at];
            if (name_scope(shared, module, scope, address, &frames[*count].function)) return RSC_ENOMEM;
            at = scope->parent;
            if (!scope->inlined || at == NO_SCOPE || *count + 1 >= FRAMES_MAX) break;
            frames[++*count] = (struct code_frame){0};
            if (take_call(shared, unit, scope, &frames[*count])) return RSC_ENOMEM;
        }
    }
    if (*count || frames[0].file || frames[0].function) ++*count;
    return 0;
}

#endif
