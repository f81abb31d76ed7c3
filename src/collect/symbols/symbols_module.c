/*
 * symbols_module.c - the ELF side of a module: segments, functions and variables from
 * its symbol tables, and the sorted tables for all look-ups.
 *
 * Tables are sorted by start. Each row also has the furthest end of all rows up to it
 * (reach), so a search goes back from the last row that starts at or below an address
 * only while a row could still contain it. Nested rows are few in real files; in a
 * hostile one STEPS_MAX ends the search.
 */
#ifdef RSC_HAVE_LIBDW

#include "collect/symbols/symbols_module.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/fail.h"
#include "base/search.h"

#define PROGRAM_HEADERS_MAX 128u /* real files have about 12 */
#define STEPS_MAX 65536u
#define SYMBOLS_MAX (16u << 20)
#define TEXT_BYTES_MAX 4096u

int symbols_has_room(void **rows, size_t *room, size_t count, size_t row_bytes) {
    if (count < *room) return 1;
    size_t more = *room ? *room * 2 : 64;
    void *grown = reallocarray(*rows, more, row_bytes);
    if (!grown) return 0;
    *rows = grown;
    *room = more;
    return 1;
}

int symbols_ranges_add(struct address_ranges *ranges, uint64_t low, uint64_t high, uint32_t of) {
    if (low >= high) return 0;
    if (ranges->count >= ranges->limit) return RSC_ELIMIT;
    if (!SYMBOLS_ROOM(ranges->rows, ranges->room, ranges->count)) return RSC_ENOMEM;
    ranges->rows[ranges->count++] = (struct address_range){low, high, 0, of};
    return 0;
}

/* Outer before inner: of two with the same start the longer is first, then the one added first. */
static int compare_ranges(const void *a, const void *b) {
    const struct address_range *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high > y->high ? -1 : 1;
    return (x->of > y->of) - (x->of < y->of);
}

void symbols_ranges_sort(struct address_ranges *ranges) {
    uint64_t reach = 0;
    if (ranges->count) qsort(ranges->rows, ranges->count, sizeof *ranges->rows, compare_ranges);
    for (size_t i = 0; i < ranges->count; i++) {
        if (ranges->rows[i].high > reach) reach = ranges->rows[i].high;
        ranges->rows[i].reach = reach;
    }
}

const struct address_range *symbols_ranges_find(const struct address_ranges *ranges, uint64_t address) {
    size_t low = RSC_SEARCH(0, ranges->count, i, ranges->rows[i].low <= address);
    for (size_t steps = 0; low > 0 && steps < STEPS_MAX; steps++) {
        const struct address_range *row = &ranges->rows[--low];
        if (row->reach <= address) return NULL;
        if (row->high > address) return row;
    }
    return NULL;
}

static int compare_symbols(const void *a, const void *b) {
    const struct elf_symbol *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->name < y->name) - (x->name > y->name);
}

static void sort_symbols(struct elf_symbols *symbols) {
    uint64_t reach = 0;
    if (symbols->count) qsort(symbols->rows, symbols->count, sizeof *symbols->rows, compare_symbols);
    for (size_t i = 0; i < symbols->count; i++) {
        struct elf_symbol *row = &symbols->rows[i];
        uint64_t end;
        /* an assembly label has no size: it extends to the next one */
        if (!row->bytes && i + 1 < symbols->count) row->bytes = symbols->rows[i + 1].value - row->value;
        if (__builtin_add_overflow(row->value, row->bytes, &end)) row->bytes = 0, end = row->value;
        if (end > reach) reach = end;
        row->reach = reach;
    }
}

const struct elf_symbol *symbols_find(const struct elf_symbols *symbols, uint64_t address) {
    size_t low = RSC_SEARCH(0, symbols->count, i, symbols->rows[i].value <= address);
    for (size_t steps = 0; low > 0 && steps < STEPS_MAX; steps++) {
        const struct elf_symbol *row = &symbols->rows[--low];
        if (row->reach <= address) return NULL;
        if (row->value + row->bytes > address) return row;
    }
    return NULL;
}

/* Order among symbols at one address: sized ones, then global, then those without leading underscores. */
static uint32_t rank_of(const GElf_Sym *symbol, const char *name) {
    uint32_t rank = symbol->st_size ? 64 : 0;
    if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE) rank += 32;
    if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL) rank += 16;
    if (GELF_ST_BIND(symbol->st_info) == STB_WEAK) rank += 8;
    if (name[0] != '_') return rank + 2;
    return rank + (name[1] != '_');
}

static int is_code_section(Elf *elf, size_t index) {
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(elf, index);
    return section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR);
}

/* "f.recording", "f.recording.2": names that `reusescope cc` gives to f's recording copies. Here they are parts of f,
 * as in the debug information. */
static int names_recording_copies(const char *name) {
    const char *end = strstr(name, ".recording");
    return end && end != name && (!end[10] || (end[10] == '.' && end[11] && !end[11 + strspn(end + 11, "0123456789")]));
}

static int take_symbol(struct symbols_module *module, Elf *elf, const GElf_Sym *symbol, const char *name) {
    int type = GELF_ST_TYPE(symbol->st_info);
    struct elf_symbols *table = NULL;
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !name || !name[0]) return 0;
    if (names_recording_copies(name)) return 0;
    if (type == STT_FUNC || type == STT_GNU_IFUNC) table = &module->functions;
    if (type == STT_OBJECT && symbol->st_size) table = &module->variables;
    /* $x and $d mark code and data on AArch64 and are not names */
    if (type == STT_NOTYPE && name[0] != '$' && name[0] != '.' && is_code_section(elf, symbol->st_shndx))
        table = &module->functions;
    if (!table || table->count >= SYMBOLS_MAX) return 0;
    if (!SYMBOLS_ROOM(table->rows, table->room, table->count)) return RSC_ENOMEM;
    table->rows[table->count++] = (struct elf_symbol){
        .value = symbol->st_value, .bytes = symbol->st_size, .name = name, .rank = rank_of(symbol, name)};
    return 0;
}

/* Reads the symbols of all tables of a type. Returns 1 if there was one, 0, or RSC_ENOMEM. */
static int read_symbols(struct symbols_module *module, Elf *elf, uint32_t type) {
    int found = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (!gelf_getshdr(section, &header) || header.sh_type != type || !header.sh_entsize) continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!data || !data->d_buf) continue;
        size_t count = data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
        for (size_t i = 1; i < count && i <= SYMBOLS_MAX; i++) {
            if (!gelf_getsym(data, (int)i, &symbol)) break;
            found = 1;
            if (take_symbol(module, elf, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name))) return RSC_ENOMEM;
        }
        if (found) break; /* a file has one table of each type */
    }
    return found;
}

static int read_segments(struct symbols_module *module) {
    size_t count;
    if (elf_getphdrnum(module->image.elf, &count)) return 0;
    if (count > PROGRAM_HEADERS_MAX) count = PROGRAM_HEADERS_MAX;
    module->segments = calloc(count ? count : 1, sizeof *module->segments);
    if (!module->segments) return RSC_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(module->image.elf, (int)i, &header) || header.p_type != PT_LOAD) continue;
        module->segments[module->segment_count++] =
            (struct elf_segment){header.p_offset, header.p_filesz, header.p_vaddr,
                                 header.p_memsz,  header.p_align,  (header.p_flags & PF_X) != 0};
    }
    return 0;
}

int symbols_read_tables(struct symbols_module *module) {
    module->functions.count = module->variables.count = 0;
    int found = read_symbols(module, module->image.elf, SHT_SYMTAB);
    if (!found && module->debug.elf) found = read_symbols(module, module->debug.elf, SHT_SYMTAB);
    if (!found) found = read_symbols(module, module->image.elf, SHT_DYNSYM);
    sort_symbols(&module->functions);
    sort_symbols(&module->variables);
    return found < 0 ? RSC_ENOMEM : 0;
}

int symbols_module_open(struct symbols_shared *shared, struct symbols_module *module) {
    GElf_Ehdr header;
    if (module->is_open) return 0;
    module->is_open = 1;
    if (symbols_find_file(shared, module)) return RSC_ENOMEM;
    if (!module->image.elf) return 0;
    if (!gelf_getehdr(module->image.elf, &header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
        rsc_log_line(&shared->log, RSC_LOG_INFO, "%s: not a program or shared object: no names from it", module->path);
        symbols_image_close(&module->image);
        return 0;
    }
    module->type = header.e_type;
    if (read_segments(module)) return RSC_ENOMEM;
    module->shared = shared;
    symbols_find_debug(shared, module);
    return symbols_read_tables(module);
}

void symbols_module_close(struct symbols_module *module) {
    symbols_reader_end(module);
    symbols_units_free(module);
    free(module->declared);
    free(module->imports);
    if (module->dwarf) dwarf_end(module->dwarf);
    if (module->alternate_dwarf) dwarf_end(module->alternate_dwarf);
    symbols_image_close(&module->alternate);
    symbols_image_close(&module->debug);
    symbols_image_close(&module->image);
    free(module->functions.rows);
    free(module->variables.rows);
    free(module->segments);
    free(module->path);
}

/*
 * Texts are keyed by the address of their source: libelf and libdw return the same
 * pointer for the same string while the file is open. Those that a reader sent are keyed
 * by their hash, with a bit that no address has.
 */
enum text_kind { TEXT_NAME, TEXT_PATH };

static uint64_t text_key(const char *from, enum text_kind kind) { return (uint64_t)(uintptr_t)from << 1 | kind; }

static int find_text(struct symbols_shared *shared, uint64_t key, struct rsc_u64_entry **entry) {
    if (rsc_u64_table_needs_rebuild(&shared->texts) && rsc_u64_table_rebuild(&shared->texts)) return RSC_ENOMEM;
    *entry = rsc_u64_table_find(&shared->texts, key);
    return 0;
}

static const char *keep_text(struct symbols_shared *shared, struct rsc_u64_entry *entry, uint64_t key, char *text) {
    if (!text) return NULL;
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = '?'; /* names are printed on one line */
    entry->key = key;
    entry->value = (uint64_t)(uintptr_t)text;
    shared->texts.used++;
    return text;
}

const char *symbols_name_text(struct symbols_shared *shared, const char *name) {
    struct rsc_u64_entry *entry;
    if (find_text(shared, text_key(name, TEXT_NAME), &entry)) return NULL;
    if (entry->value) return (const char *)(uintptr_t)entry->value;
    char *readable = rsc_demangle(&shared->demangler, name);
    const char *shown = readable ? readable : name;
    size_t bytes = strnlen(shown, TEXT_BYTES_MAX);
    if (!readable) { /* memcpy@@GLIBC_2.14: drop the version */
        const char *version = memchr(shown, '@', bytes);
        if (version && version > shown) bytes = (size_t)(version - shown);
    }
    char *text = rsc_arena_strndup(&shared->arena, shown, bytes);
    free(readable);
    return keep_text(shared, entry, text_key(name, TEXT_NAME), text);
}

/* Removes //, /./ and /x/../ from an absolute path, and // and ./ from a relative one. In place. */
static void normalise(char *path) {
    char *to = path, *root = path;
    if (*path == '/') to = root = path + 1;
    for (char *at = to; *at;) {
        size_t bytes = strcspn(at, "/");
        char *after = at + bytes + (at[bytes] == '/');
        if (bytes == 2 && at[0] == '.' && at[1] == '.' && *path == '/') {
            if (to > root) to--;
            while (to > root && to[-1] != '/') to--;
        } else if (bytes && !(bytes == 1 && at[0] == '.')) {
            memmove(to, at, (size_t)(after - at));
            to += after - at;
        }
        at = after;
    }
    *to = 0;
}

const char *symbols_path_text(struct symbols_shared *shared, const char *directory, const char *path) {
    struct rsc_u64_entry *entry;
    if (find_text(shared, text_key(path, TEXT_PATH), &entry)) return NULL;
    if (entry->value) return (const char *)(uintptr_t)entry->value;
    size_t before = 0, bytes = strnlen(path, TEXT_BYTES_MAX);
    if (path[0] != '/' && directory) before = strnlen(directory, TEXT_BYTES_MAX);
    char *text = rsc_arena_alloc(&shared->arena, before + bytes + 2);
    if (!text) return NULL;
    memcpy(text, directory ? directory : "", before);
    if (before) text[before++] = '/';
    memcpy(text + before, path, bytes);
    text[before + bytes] = 0;
    normalise(text);
    return keep_text(shared, entry, text_key(path, TEXT_PATH), text);
}

const char *symbols_copied_text(struct symbols_shared *shared, const char *text) {
    struct rsc_u64_entry *entry;
    size_t bytes = strlen(text);
    uint64_t key = XXH3_64bits(text, bytes) | 1ull << 63;
    if (find_text(shared, key, &entry)) return NULL;
    const char *known = (const char *)(uintptr_t)entry->value;
    if (known && !strcmp(known, text)) return known;
    char *copy = rsc_arena_strndup(&shared->arena, text, bytes);
    return known ? copy : keep_text(shared, entry, key, copy);
}

#endif
