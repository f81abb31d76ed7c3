/*
 * symbols_declared.c - where the variable at an address is declared.
 *
 * The units' trees are walked once for variables with a fixed address: globals, statics
 * of files, classes and functions. Modules with more than DEBUG_BYTES_MAX of debug
 * information are skipped: the walk (0.1 us per entry) would take too long.
 */
#ifdef RSC_HAVE_LIBDW

#include <dwarf.h>
#include <stdlib.h>

#include "collect/symbols/symbols_module.h"

#define DEBUG_BYTES_MAX (64u << 20)
#define LEVELS_MAX 64u

/* The address of a DW_TAG_variable that has one. */
static int fixed_address(Dwarf_Die *die, uint64_t *address) {
    Dwarf_Attribute location, indirect;
    Dwarf_Op *ops;
    size_t count;
    if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_getlocation(&location, &ops, &count) || count != 1)
        return 0;
    if (ops[0].atom == DW_OP_addr) {
        *address = ops[0].number;
        return 1;
    }
    return (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) &&
           !dwarf_getlocation_attr(&location, &ops[0], &indirect) && !dwarf_formaddr(&indirect, address);
}

static int walk_variables(struct symbols_module *module, Dwarf_Die *around, unsigned level, uint64_t *steps) {
    Dwarf_Die die;
    if (level >= LEVELS_MAX || dwarf_child(around, &die)) return 0;
    for (; *steps; --*steps) {
        uint64_t address;
        Dwarf_Off offset = dwarf_dieoffset(&die);
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
            if (!fixed_address(&die, &address)) break;
            if (!SYMBOLS_ROOM(module->declared, module->declared_room, module->declared_count)) return RSC_ENOMEM;
            module->declared[module->declared_count++] = (struct declared_variable){address, die};
            break;
        case DW_TAG_subprogram:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_lexical_block:
            if (walk_variables(module, &die, level + 1, steps)) return RSC_ENOMEM;
            break;
        default: break;
        }
        if (!*steps || dwarf_siblingof(&die, &die) || dwarf_dieoffset(&die) <= offset) return 0;
    }
    return 0;
}

static int compare_declared(const void *a, const void *b) {
    const struct declared_variable *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int read_declared(struct symbols_module *module) {
    uint64_t bytes = 0;
    if (module->declared_read) return 0;
    module->declared_read = 1;
    if (symbols_read_units(module)) return RSC_ENOMEM;
    for (size_t i = 0; i < module->unit_count; i++) bytes += module->units[i].bytes;
    if (bytes > DEBUG_BYTES_MAX) return 0;
    for (size_t i = 0; i < module->unit_count; i++) {
        uint64_t steps = module->units[i].bytes;
        if (walk_variables(module, &module->units[i].tree, 0, &steps)) return RSC_ENOMEM;
    }
    if (module->declared_count)
        qsort(module->declared, module->declared_count, sizeof *module->declared, compare_declared);
    return 0;
}

int symbols_declaration(struct symbols_shared *shared, struct symbols_module *module, uint64_t address,
                        const char **file, uint32_t *line) {
    struct declared_variable key = {.address = address}, *found;
    Dwarf_Die unit;
    Dwarf_Attribute value;
    int number;
    if (read_declared(module)) return RSC_ENOMEM;
    if (!module->declared_count) return 0;
    found = bsearch(&key, module->declared, module->declared_count, sizeof key, compare_declared);
    const char *path = found ? dwarf_decl_file(&found->die) : NULL;
    if (!path || dwarf_decl_line(&found->die, &number) || number <= 0) return 0;
    const char *directory = dwarf_diecu(&found->die, &unit, NULL, NULL)
                                ? dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &value))
                                : NULL;
    if (!(*file = symbols_path_text(shared, directory, path))) return RSC_ENOMEM;
    *line = (uint32_t)number;
    return 1;
}

#endif
