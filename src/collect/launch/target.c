/* target.c - see target.h. */
#include "collect/launch/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "runtime/pieces/asm_abi.h"

static int is_program(const char *path) {
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

/* Like execvp(): a name with a slash is a path, any other is searched for in PATH. */
static int find_file(char *path, const char *name, struct rsc_error *error) {
    const char *folders = getenv("PATH");
    if (strchr(name, '/')) {
        if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX) return rsc_fail_errno(error, ENAMETOOLONG, name);
        if (access(path, F_OK) != 0) return rsc_fail_errno(error, errno, name);
        if (!is_program(path)) return rsc_fail(error, RSC_EIO, "%s: not an executable file", name);
        return 0;
    }
    for (const char *folder = folders ? folders : "/usr/bin:/bin"; *folder;) {
        size_t length = strcspn(folder, ":");
        int wrote = snprintf(path, PATH_MAX, "%.*s/%s", length ? (int)length : 1, length ? folder : ".", name);
        if (wrote < PATH_MAX && is_program(path)) return 0;
        folder += length + (folder[length] == ':');
    }
    *path = '\0';
    return rsc_fail(error, RSC_EIO, "%s: no such program in PATH", name);
}

/* Whether it has a section of that name, and where. Stripped programs keep the names of loaded sections. */
static int find_section(int fd, const Elf64_Ehdr *header, const char *wanted, Elf64_Shdr *found) {
    Elf64_Shdr names, section;
    char name[32];
    const off_t first = (off_t)header->e_shoff;
    if (!header->e_shoff || header->e_shentsize != sizeof section || header->e_shstrndx >= header->e_shnum) return 0;
    if (pread(fd, &names, sizeof names, first + (off_t)(header->e_shstrndx * sizeof names)) != (ssize_t)sizeof names)
        return 0;
    for (uint32_t i = 0; i < header->e_shnum; i++) {
        if (pread(fd, &section, sizeof section, first + (off_t)(i * sizeof section)) != (ssize_t)sizeof section)
            return 0;
        ssize_t got = pread(fd, name, sizeof name - 1, (off_t)(names.sh_offset + section.sh_name));
        if (got <= 0) continue;
        name[got] = 0;
        if (strcmp(name, wanted)) continue;
        *found = section;
        return 1;
    }
    return 0;
}

/* Checks the ABI version in its first block. If no block is found, the program is accepted. */
static int has_our_abi(int fd, const Elf64_Shdr *tables) {
    struct rsc_asm_block block;
    for (uint64_t at = 0; at + sizeof block <= tables->sh_size; at += 8) {
        uint64_t word;
        if (pread(fd, &block, sizeof block, (off_t)(tables->sh_offset + at)) != (ssize_t)sizeof block) break;
        memcpy(&word, &block, sizeof word);
        if (word) return block.abi == RSC_ASM_ABI;
    }
    return 1;
}

static int read_elf(struct rsc_target *target, int fd, const Elf64_Ehdr *header, struct rsc_error *error) {
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: not a 64-bit little-endian program", target->path);
    if (header->e_machine == EM_X86_64) target->guest = RSC_GUEST_X86_64;
    else if (header->e_machine == EM_AARCH64) target->guest = RSC_GUEST_AARCH64;
    else
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: a program for ELF machine %u; x86-64 and AArch64 can be watched",
                        target->path, header->e_machine);
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header->e_phoff + i * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment) break;
        if (segment.p_type == PT_INTERP) target->dynamic = 1;
    }
    Elf64_Shdr tables;
    target->rebuilt = target->guest == RSC_GUEST_X86_64 && find_section(fd, header, RSC_ASM_SECTION, &tables);
    if (target->rebuilt && !has_our_abi(fd, &tables))
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: was built with another version of reusescope cc; build it again",
                        target->path);
    return 0;
}

/* "#!INTERPRETER [ARGUMENT]" */
static int read_script(struct rsc_target *target, char *line, struct rsc_error *error) {
    line[strcspn(line, "\n")] = 0;
    char *name = line + 2 + strspn(line + 2, " \t"), *argument = name + strcspn(name, " \t");
    if (*argument) {
        *argument++ = 0;
        argument += strspn(argument, " \t");
    }
    memcpy(target->script, target->path, sizeof target->script);
    if (snprintf(target->script_argument, sizeof target->script_argument, "%s", argument) >=
        (int)sizeof target->script_argument)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: its #! line is too long", target->script);
    return find_file(target->path, name, error);
}

static int look_at(struct rsc_target *target, int may_be_script, struct rsc_error *error) {
    union {
        Elf64_Ehdr elf;
        char text[512];
    } head = {0};
    struct stat file;
    int status = 0, fd = open(target->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return rsc_fail_errno(error, errno, target->path);
    if (fstat(fd, &file) != 0) {
        status = rsc_fail_errno(error, errno, target->path);
        goto out;
    }
    if (file.st_mode & (S_ISUID | S_ISGID)) {
        status =
            rsc_fail(error, RSC_EUNSUPPORTED,
                     "%s: set-user-id or set-group-id programs are not watched: they would run without their rights",
                     target->path);
        goto out;
    }
    ssize_t got = pread(fd, &head, sizeof head - 1, 0);
    if (got >= (ssize_t)sizeof head.elf && !memcmp(head.elf.e_ident, ELFMAG, SELFMAG))
        status = read_elf(target, fd, &head.elf, error);
    else if (may_be_script && got > 2 && !memcmp(head.text, "#!", 2)) {
        status = read_script(target, head.text, error);
        if (!status) {
            memcpy(target->interpreter, target->path, sizeof target->interpreter);
            status = look_at(target, 0, error);
        }
    } else status = rsc_fail(error, RSC_EUNSUPPORTED, "%s: neither an ELF program nor a script", target->path);
out:
    close(fd);
    return status;
}

int rsc_target_find(struct rsc_target *target, const char *name, struct rsc_error *error) {
    memset(target, 0, sizeof *target);
    int status = find_file(target->path, name, error);
    return status < 0 ? status : look_at(target, 1, error);
}
