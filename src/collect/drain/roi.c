/* roi.c - see roi.h. Nothing in the file is trusted. */
#include "collect/drain/roi.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

static int is_it(const char *symbol, const char *function) {
    size_t length = strlen(function);
    return !strncmp(symbol, function, length) && (!symbol[length] || symbol[length] == '.');
}

/* Adds the functions of that name from one symbol table. */
static int add_symbols(struct rsc_roi *roi, const uint8_t *file, size_t bytes, const Elf64_Shdr *table,
                       const Elf64_Shdr *names, const char *function) {
    if (table->sh_offset > bytes || table->sh_size > bytes - table->sh_offset) return 0;
    if (names->sh_offset > bytes || names->sh_size > bytes - names->sh_offset || !names->sh_size) return 0;
    const char *texts = (const char *)file + names->sh_offset;
    if (texts[names->sh_size - 1]) return 0;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, file + table->sh_offset + at, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names->sh_size || !symbol.st_value) continue;
        if (!is_it(texts + symbol.st_name, function)) continue;
        struct rsc_roi_range *ranges = realloc(roi->ranges, (roi->count + 1) * sizeof *ranges);
        if (!ranges) return RSC_ENOMEM;
        roi->ranges = ranges;
        ranges[roi->count++] =
            (struct rsc_roi_range){symbol.st_value, symbol.st_value + (symbol.st_size ? symbol.st_size : 1)};
    }
    return 0;
}

static int read_symbols(struct rsc_roi *roi, const uint8_t *file, size_t bytes, const char *function) {
    Elf64_Ehdr header;
    if (bytes < sizeof header) return 0;
    memcpy(&header, file, sizeof header);
    roi->moves = header.e_type == ET_DYN;
    if (!header.e_shoff || header.e_shoff > bytes || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shnum > (bytes - header.e_shoff) / sizeof(Elf64_Shdr))
        return 0;
    /* A stripped program still has its dynamic symbols. */
    for (int type = SHT_SYMTAB; !roi->count && type; type = type == SHT_SYMTAB ? SHT_DYNSYM : 0)
        for (uint32_t i = 0; i < header.e_shnum; i++) {
            Elf64_Shdr table, names;
            memcpy(&table, file + header.e_shoff + i * sizeof table, sizeof table);
            if ((int)table.sh_type != type || table.sh_link >= header.e_shnum) continue;
            memcpy(&names, file + header.e_shoff + table.sh_link * sizeof names, sizeof names);
            if (add_symbols(roi, file, bytes, &table, &names, function) < 0) return RSC_ENOMEM;
        }
    return 0;
}

int rsc_roi_open(struct rsc_roi *roi, const char *path, const char *function, struct rsc_error *error) {
    struct stat file;
    int status = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    memset(roi, 0, sizeof *roi);
    if (fd < 0 || fstat(fd, &file) != 0) {
        if (fd >= 0) close(fd);
        return rsc_fail(error, RSC_EIO, "%s: cannot be read", path);
    }
    roi->path = realpath(path, NULL);
    void *bytes = file.st_size > 0 ? mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (!roi->path) status = RSC_ENOMEM;
    if (!status && bytes != MAP_FAILED) status = read_symbols(roi, bytes, (size_t)file.st_size, function);
    if (bytes != MAP_FAILED) munmap(bytes, (size_t)file.st_size);
    roi->placed = !roi->moves;
    return status < 0 ? rsc_fail_memory(error, "symbols") : 0;
}

void rsc_roi_close(struct rsc_roi *roi) {
    free(roi->path);
    free(roi->ranges);
    memset(roi, 0, sizeof *roi);
}

void rsc_roi_mapped(struct rsc_roi *roi, const char *path, size_t path_bytes, uint64_t file_offset, uint64_t start) {
    if (roi->placed || file_offset || !roi->path || strlen(roi->path) != path_bytes ||
        memcmp(roi->path, path, path_bytes))
        return;
    roi->base = start;
    roi->placed = 1;
}
