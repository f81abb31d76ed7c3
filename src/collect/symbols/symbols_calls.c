/*
 * symbols_calls.c - recognises functions that do not return.
 *
 * After a call of abort() comes unrelated code, often another part of the function:
 * assuming that the call returns would create false loops. A call is by the function's
 * own address, through a stub of the procedure linkage table, or by the address in a
 * slot that the dynamic linker fills; relocations give the slot's function.
 */
#ifdef RSC_HAVE_LIBDW

#include <stdlib.h>
#include <string.h>

#include "collect/symbols/symbols_module.h"

#define IMPORTS_MAX (1u << 20)

const uint8_t *symbols_bytes_at(const struct symbols_module *module, uint64_t address, uint64_t *room) {
    for (size_t i = 0; i < module->segment_count; i++) {
        const struct elf_segment *segment = &module->segments[i];
        uint64_t offset = address - segment->vaddr;
        if (address < segment->vaddr || offset >= segment->file_bytes) continue;
        if (segment->offset > module->image.size || segment->file_bytes > module->image.size - segment->offset)
            continue;
        *room = segment->file_bytes - offset;
        return (const uint8_t *)module->image.bytes + segment->offset + offset;
    }
    return NULL;
}

static int is_last(const char *name) {
    static const char *const names[] = {"exit",
                                        "_exit",
                                        "_Exit",
                                        "quick_exit",
                                        "abort",
                                        "pthread_exit",
                                        "__assert_fail",
                                        "__assert_perror_fail",
                                        "__assert",
                                        "__stack_chk_fail",
                                        "__stack_chk_fail_local",
                                        "__fortify_fail",
                                        "__chk_fail",
                                        "__libc_fatal",
                                        "longjmp",
                                        "_longjmp",
                                        "siglongjmp",
                                        "__longjmp_chk",
                                        "err",
                                        "errx",
                                        "verr",
                                        "verrx",
                                        "_Unwind_Resume",
                                        "__cxa_throw",
                                        "__cxa_rethrow",
                                        "__cxa_bad_cast",
                                        "__cxa_bad_typeid",
                                        "__cxa_throw_bad_array_new_length",
                                        "__cxa_call_unexpected",
                                        "__cxa_call_terminate",
                                        "_ZSt9terminatev",
                                        "_gfortran_stop_string",
                                        "_gfortran_stop_numeric",
                                        "_gfortran_error_stop_string",
                                        "_gfortran_runtime_error_at",
                                        "_gfortran_os_error_at",
                                        "_gfortran_runtime_error"};
    size_t length = strcspn(name, "@"); /* memcpy@GLIBC_2.14 */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(name, names[i], length)) return 1;
    /* std::__throw_length_error(char const*) and similar */
    return !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_") != NULL;
}

static int by_slot(const void *left, const void *right) {
    uint64_t a = ((const struct imported_function *)left)->slot, b = ((const struct imported_function *)right)->slot;
    return a < b ? -1 : a > b;
}

/* The slots of functions that do not return, from the relocations that name a symbol. Empty when out of memory. */
static void read_imports(struct symbols_module *module) {
    Elf *elf = module->image.elf;
    module->imports_read = 1;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header, symbols_header;
        GElf_Rela relocation;
        GElf_Sym symbol;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA) continue;
        Elf_Scn *symbols = elf_getscn(elf, header.sh_link);
        Elf_Data *data = elf_getdata(section, NULL), *table = symbols ? elf_getdata(symbols, NULL) : NULL;
        if (!data || !data->d_buf || !table || !table->d_buf || !gelf_getshdr(symbols, &symbols_header)) continue;
        size_t count = data->d_size / gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT);
        for (size_t i = 0; i < count && i < IMPORTS_MAX; i++) {
            if (!gelf_getrela(data, (int)i, &relocation)) break;
            size_t index = GELF_R_SYM(relocation.r_info);
            if (!index || index > IMPORTS_MAX || !gelf_getsym(table, (int)index, &symbol)) continue;
            const char *name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
            if (!name || !is_last(name)) continue;
            if (!SYMBOLS_ROOM(module->imports, module->import_room, module->import_count)) return;
            module->imports[module->import_count++] = (struct imported_function){relocation.r_offset, name};
        }
    }
    if (module->import_count) qsort(module->imports, module->import_count, sizeof *module->imports, by_slot);
}

/* The slot that a stub jumps through: endbr64 and bnd may come before jmp *slot(%rip). 0: not a stub. */
static uint64_t slot_of_stub(const struct symbols_module *module, uint64_t address) {
    uint64_t room, at = 0;
    int32_t distance;
    const uint8_t *code = symbols_bytes_at(module, address, &room);
    if (!code || room < 16) return 0;
    if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4)) at = 4;
    if (code[at] == 0xf2) at++;
    if (code[at] != 0xff || code[at + 1] != 0x25) return 0;
    memcpy(&distance, code + at + 2, sizeof distance);
    return address + at + 6 + (uint64_t)(int64_t)distance;
}

int symbols_never_returns(void *owner, uint64_t address, int is_slot) {
    struct symbols_module *module = owner;
    if (!is_slot) {
        const struct elf_symbol *symbol = symbols_find(&module->functions, address);
        if (symbol && symbol->value == address) return is_last(symbol->name);
        address = slot_of_stub(module, address);
    }
    if (!address) return 0;
    if (!module->imports_read) read_imports(module);
    struct imported_function wanted = {.slot = address};
    return module->import_count && bsearch(&wanted, module->imports, module->import_count, sizeof wanted, by_slot);
}

#endif
