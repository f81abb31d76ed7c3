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
#include "base/grow.h"

static int is_it(const char *symbol, const char *function) {
    size_t length = strlen(function);
    return !strncmp(symbol, function, length) && (!symbol[length] || symbol[length] == '.');
}

/* A function may have several names. */
static int has(const struct rsc_roi_program *program, uint64_t start) {
    for (size_t i = 0; i < program->count; i++)
        if (program->ranges[i].start == start) return 1;
    return 0;
}

/* Adds the functions of that name from one symbol table. */
static int add_symbols(struct rsc_roi_program *program, const uint8_t *file, size_t bytes, const Elf64_Shdr *table,
                       const Elf64_Shdr *names, const char *function) {
    if (table->sh_offset > bytes || table->sh_size > bytes - table->sh_offset) return 0;
    if (names->sh_offset > bytes || names->sh_size > bytes - names->sh_offset || !names->sh_size) return 0;
    const char *texts = (const char *)file + names->sh_offset;
    if (texts[names->sh_size - 1]) return 0;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, file + table->sh_offset + at, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names->sh_size || !symbol.st_value) continue;
        const char *name = texts + symbol.st_name;
        if (!is_it(name, function) || has(program, symbol.st_value)) continue;
        struct rsc_roi_range *ranges = realloc(program->ranges, (program->count + 1) * sizeof *ranges);
        if (!ranges) return RSC_ENOMEM;
        program->ranges = ranges;
        ranges[program->count++] =
            (struct rsc_roi_range){symbol.st_value, symbol.st_value + (symbol.st_size ? symbol.st_size : 1)};
        program->named += !strcmp(name, function);
    }
    return 0;
}

static int read_symbols(struct rsc_roi_program *program, const uint8_t *file, size_t bytes, const char *function) {
    Elf64_Ehdr header;
    if (bytes < sizeof header) return 0;
    memcpy(&header, file, sizeof header);
    program->moves = header.e_type == ET_DYN;
    if (!header.e_shoff || header.e_shoff > bytes || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shnum > (bytes - header.e_shoff) / sizeof(Elf64_Shdr))
        return 0;
    /* A stripped program still has its dynamic symbols. */
    for (int type = SHT_SYMTAB; !program->count && type; type = type == SHT_SYMTAB ? SHT_DYNSYM : 0)
        for (uint32_t i = 0; i < header.e_shnum; i++) {
            Elf64_Shdr table, names;
            memcpy(&table, file + header.e_shoff + i * sizeof table, sizeof table);
            if ((int)table.sh_type != type || table.sh_link >= header.e_shnum) continue;
            memcpy(&names, file + header.e_shoff + table.sh_link * sizeof names, sizeof names);
            if (add_symbols(program, file, bytes, &table, &names, function) < 0) return RSC_ENOMEM;
        }
    return 0;
}

/* Adds a program under its path in the file system, which is what maps have. *readable: its file could be read. */
static int add_program(struct rsc_roi *roi, const char *path, int *readable) {
    struct rsc_roi_program program = {.path = strdup(path)};
    struct stat file;
    int status = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *readable = fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
    void *bytes =
        *readable && file.st_size > 0 ? mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0) close(fd);
    if (!program.path || RSC_GROW(roi->programs, roi->program_room, roi->program_count + 1)) status = RSC_ENOMEM;
    if (!status && bytes != MAP_FAILED) status = read_symbols(&program, bytes, (size_t)file.st_size, roi->function);
    if (bytes != MAP_FAILED) munmap(bytes, (size_t)file.st_size);
    if (!status) {
        roi->programs[roi->program_count++] = program;
    } else {
        free(program.path);
        free(program.ranges);
    }
    return status;
}

int rsc_roi_open(struct rsc_roi *roi, const char *path, const char *function, struct rsc_error *error) {
    int readable = 0, status = RSC_ENOMEM;
    *roi = (struct rsc_roi){.function = strdup(function)};
    char *name = realpath(path, NULL);
    if (roi->function) status = add_program(roi, name ? name : path, &readable);
    free(name);
    if (!status && readable) return 0;
    rsc_roi_close(roi);
    return status < 0 ? rsc_fail_memory(error, "symbols") : rsc_fail(error, RSC_EIO, "%s: cannot be read", path);
}

void rsc_roi_close(struct rsc_roi *roi) {
    for (size_t i = 0; i < roi->program_count; i++) {
        free(roi->programs[i].path);
        free(roi->programs[i].ranges);
    }
    free(roi->programs);
    free(roi->processes);
    free(roi->function);
    memset(roi, 0, sizeof *roi);
}

static int is_path(const struct rsc_roi_program *program, const char *path, size_t bytes) {
    return strlen(program->path) == bytes && !memcmp(program->path, path, bytes);
}

int rsc_roi_runs(struct rsc_roi *roi, uint32_t process, const char *path, size_t path_bytes) {
    int readable;
    size_t number = 0;
    while (number < roi->program_count && !is_path(&roi->programs[number], path, path_bytes)) number++;
    if (number == roi->program_count) {
        char *name = strndup(path, path_bytes);
        int status = name ? add_program(roi, name, &readable) : RSC_ENOMEM;
        free(name);
        if (status < 0) return status;
    }
    if (RSC_GROW(roi->processes, roi->process_room, (size_t)process + 1)) return RSC_ENOMEM;
    while (roi->process_count <= process) roi->processes[roi->process_count++] = (struct rsc_roi_process){0};
    roi->processes[process] = (struct rsc_roi_process){.program = number + 1, .placed = !roi->programs[number].moves};
    return 0;
}

void rsc_roi_mapped(struct rsc_roi *roi, uint32_t process, const char *path, size_t path_bytes, uint64_t file_offset,
                    uint64_t start) {
    struct rsc_roi_process *of = process < roi->process_count ? &roi->processes[process] : NULL;
    if (!of || !of->program || of->placed || file_offset || !is_path(&roi->programs[of->program - 1], path, path_bytes))
        return;
    of->base = start;
    of->placed = 1;
}
