/* asm_object.c - see asm_object.h. */
#include "collect/rewrite/asm_object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

static int read_file(struct rsc_pass_object *object, const char *path, struct rsc_error *error) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return rsc_fail_errno(error, errno, path);
    if (fstat(fd, &status) < 0 || status.st_size < 0) {
        close(fd);
        return rsc_fail_errno(error, errno, path);
    }
    size_t wanted = (size_t)status.st_size;
    object->data = malloc(wanted + 1);
    while (object->data && object->bytes < wanted) {
        ssize_t got = read(fd, object->data + object->bytes, wanted - object->bytes);
        if (got <= 0) break;
        object->bytes += (size_t)got;
    }
    close(fd);
    if (!object->data) return rsc_fail_memory(error, path);
    if (object->bytes < wanted) return rsc_fail(error, RSC_EIO, "%s: cannot be read", path);
    return 0;
}

static int inside(const struct rsc_pass_object *object, uint64_t offset, uint64_t bytes) {
    return offset <= object->bytes && bytes <= object->bytes - offset;
}

static const Elf64_Shdr *section_of(const struct rsc_pass_object *object, uint32_t number) {
    if (number >= object->section_count) return NULL;
    const Elf64_Shdr *section = &object->sections[number];
    return section->sh_type != SHT_NOBITS && inside(object, section->sh_offset, section->sh_size) ? section : NULL;
}

static int by_offset(const void *a, const void *b) {
    const Elf64_Rela *one = a, *other = b;
    return one->r_offset < other->r_offset ? -1 : one->r_offset > other->r_offset;
}

/* The assembler puts relocations of jumps whose length it finds late at the end. */
static void sort_relocations(struct rsc_pass_object *object) {
    for (uint32_t i = 0; i < object->section_count; i++) {
        const Elf64_Shdr *table = section_of(object, i);
        if (table && table->sh_type == SHT_RELA && table->sh_offset % 8 == 0)
            qsort(object->data + table->sh_offset, table->sh_size / sizeof(Elf64_Rela), sizeof(Elf64_Rela), by_offset);
    }
}

int rsc_pass_object_open(struct rsc_pass_object *object, const char *path, struct rsc_error *error) {
    memset(object, 0, sizeof *object);
    int status = read_file(object, path, error);
    if (status < 0) return status;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)object->data;
    if (object->bytes < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 || header->e_shoff % 8 ||
        !inside(object, header->e_shoff, sizeof(Elf64_Shdr)))
        return rsc_fail(error, RSC_EFORMAT, "%s: not an x86-64 object file", path);
    object->sections = (const Elf64_Shdr *)(object->data + header->e_shoff);
    /* With 65,280 sections or more (C++ with one section per function) the first header holds the count. */
    uint64_t count = header->e_shnum ? header->e_shnum : object->sections[0].sh_size;
    if (count > UINT32_MAX || !inside(object, header->e_shoff, count * sizeof(Elf64_Shdr)))
        return rsc_fail(error, RSC_EFORMAT, "%s: sections are outside the file", path);
    object->section_count = (uint32_t)count;
    for (uint32_t i = 0; i < object->section_count; i++) {
        if (object->sections[i].sh_type != SHT_SYMTAB) continue;
        const Elf64_Shdr *symbols = section_of(object, i), *names = section_of(object, object->sections[i].sh_link);
        if (!symbols || !names || !names->sh_size || symbols->sh_offset % 8 ||
            object->data[names->sh_offset + names->sh_size - 1])
            return rsc_fail(error, RSC_EFORMAT, "%s: its symbols are damaged", path);
        object->symbols = (const Elf64_Sym *)(object->data + symbols->sh_offset);
        object->symbol_count = (uint32_t)(symbols->sh_size / sizeof(Elf64_Sym));
        object->names = (const char *)object->data + names->sh_offset;
        object->names_bytes = names->sh_size;
    }
    sort_relocations(object);
    return 0;
}

void rsc_pass_object_close(struct rsc_pass_object *object) {
    free(object->data);
    memset(object, 0, sizeof *object);
}

/* The section of a symbol: in a separate table when numbers are large. */
static uint32_t section_of_symbol(const struct rsc_pass_object *object, uint32_t symbol) {
    uint32_t section = object->symbols[symbol].st_shndx;
    if (section != SHN_XINDEX) return section >= SHN_LORESERVE ? 0 : section;
    for (uint32_t i = 0; i < object->section_count; i++) {
        const Elf64_Shdr *table = section_of(object, i);
        if (table && table->sh_type == SHT_SYMTAB_SHNDX && symbol < table->sh_size / 4) {
            memcpy(&section, object->data + table->sh_offset + 4ull * symbol, 4);
            return section;
        }
    }
    return 0;
}

void rsc_pass_object_labels(const struct rsc_pass_object *object, const char *prefix, struct rsc_pass_place *places,
                            size_t count) {
    size_t length = strlen(prefix);
    memset(places, 0, count * sizeof *places);
    for (uint32_t i = 0; i < object->symbol_count; i++) {
        const char *name = rsc_pass_object_symbol_name(object, i);
        if (strncmp(name, prefix, length)) continue;
        char *end;
        unsigned long number = strtoul(name + length, &end, 10);
        if (*end || end == name + length || number >= count) continue;
        places[number] = (struct rsc_pass_place){section_of_symbol(object, i), object->symbols[i].st_value};
    }
}

const uint8_t *rsc_pass_object_bytes(const struct rsc_pass_object *object, struct rsc_pass_place place, size_t *room) {
    const Elf64_Shdr *section = place.section ? section_of(object, place.section) : NULL;
    if (!section || place.offset >= section->sh_size) return NULL;
    *room = section->sh_size - place.offset;
    return object->data + section->sh_offset + place.offset;
}

const Elf64_Rela *rsc_pass_object_relocations(const struct rsc_pass_object *object, uint32_t section, size_t *count) {
    for (uint32_t i = 0; i < object->section_count; i++) {
        const Elf64_Shdr *table = section_of(object, i);
        if (!table || table->sh_type != SHT_RELA || table->sh_info != section || table->sh_offset % 8) continue;
        *count = table->sh_size / sizeof(Elf64_Rela);
        return (const Elf64_Rela *)(object->data + table->sh_offset);
    }
    *count = 0;
    return NULL;
}

const char *rsc_pass_object_symbol_name(const struct rsc_pass_object *object, uint32_t symbol) {
    if (symbol >= object->symbol_count || object->symbols[symbol].st_name >= object->names_bytes) return "";
    return object->names + object->symbols[symbol].st_name;
}

const char *rsc_pass_object_section_name(const struct rsc_pass_object *object, uint32_t section) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)object->data;
    uint32_t names_index = header->e_shstrndx == SHN_XINDEX ? object->sections[0].sh_link : header->e_shstrndx;
    const Elf64_Shdr *names = section_of(object, names_index);
    if (!names || section >= object->section_count || object->sections[section].sh_name >= names->sh_size ||
        object->data[names->sh_offset + names->sh_size - 1])
        return "";
    return (const char *)object->data + names->sh_offset + object->sections[section].sh_name;
}
