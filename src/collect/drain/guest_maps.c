/*
 * guest_maps.c - see guest_maps.h.
 *
 * QEMU's own libraries are in the same file; they are above the guest's range and are
 * left out. The anonymous region right after a program's or library's writable one
 * begins with its .bss: as much as the file's headers say takes the file's name, and its
 * offset continues. What follows may be anything, such as thread-local data.
 */
#include "collect/drain/guest_maps.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <reusescope/error.h>

#include "base/u64_table.h"

#define GUEST_END 0x500000000000ull /* QEMU is at 0x55..., its libraries at 0x7f... */
#define REGIONS_MAX 65536u
#define SEGMENTS_MAX 64u /* of a file; real ones have about 12 */
#define STACK_MOST \
    (64ull << 20) /* no mapping is this close below the start of a first thread's stack: the kernel leaves 128 MiB */

struct region {
    uint64_t process, start, end, file_offset;
    char *path;
    size_t before; /* index, plus 1, of the last one of the same process; 0: none */
};

/* The initial stack of a process, if the process reported it. */
struct first_stack {
    uint64_t process, start, end;
};

struct rsc_guest_maps {
    struct region *regions;
    size_t count, room, next;
    uint64_t lost;
    struct rsc_u64_table last; /* index, plus 1, of the last region by process */
    struct first_stack *stacks;
    size_t stack_count;
    struct rsc_guest_map out;
};

struct rsc_guest_maps *rsc_guest_maps_new(void) {
    struct rsc_guest_maps *maps = calloc(1, sizeof *maps);
    if (maps && rsc_u64_table_init(&maps->last, 64) == 0) return maps;
    free(maps);
    return NULL;
}

void rsc_guest_maps_free(struct rsc_guest_maps *maps) {
    if (!maps) return;
    for (size_t i = 0; i < maps->count; i++) free(maps->regions[i].path);
    free(maps->regions);
    rsc_u64_table_free(&maps->last);
    free(maps->stacks);
    free(maps);
}

uint64_t rsc_guest_maps_lost(const struct rsc_guest_maps *maps) { return maps->lost; }

/* Whether it is the last region seen at that place. A file may return after another one replaced it. */
static int known(const struct rsc_guest_maps *maps, const struct region *region) {
    for (size_t i = region->before; i; i = maps->regions[i - 1].before) {
        const struct region *old = &maps->regions[i - 1];
        if (old->end <= region->start || old->start >= region->end) continue;
        return old->start == region->start && old->end == region->end && !strcmp(old->path, region->path);
    }
    return 0;
}

static int add_region(struct rsc_guest_maps *maps, struct region region, const char *path) {
    if (maps->count >= REGIONS_MAX) {
        maps->lost++;
        return 0;
    }
    if (rsc_u64_table_needs_rebuild(&maps->last) && rsc_u64_table_rebuild(&maps->last) < 0) return RSC_ENOMEM;
    struct rsc_u64_entry *last = rsc_u64_table_find(&maps->last, region.process);
    region.before = last->value;
    region.path = strdup(path);
    if (!region.path) return RSC_ENOMEM;
    if (known(maps, &region)) {
        free(region.path);
        return 0;
    }
    if (maps->count == maps->room) {
        size_t room = maps->room ? maps->room * 2 : 64;
        struct region *regions = realloc(maps->regions, room * sizeof *regions);
        if (!regions) {
            free(region.path);
            return RSC_ENOMEM;
        }
        maps->regions = regions;
        maps->room = room;
    }
    maps->regions[maps->count++] = region;
    maps->last.used += !last->value;
    *last = (struct rsc_u64_entry){region.process, maps->count};
    return 0;
}

static const struct first_stack *first_stack_of(const struct rsc_guest_maps *maps, uint64_t process) {
    for (size_t i = maps->stack_count; i-- > 0;)
        if (maps->stacks[i].process == process) return &maps->stacks[i];
    return NULL;
}

/* The stack grows: the range it may grow into belongs to it from the start. */
static int note_first_stack(struct rsc_guest_maps *maps, uint64_t process, uint64_t start, uint64_t end) {
    struct rlimit limit; /* a child inherits its parent's */
    if (first_stack_of(maps, process) || maps->stack_count >= REGIONS_MAX) return 0;
    uint64_t most =
        getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_MOST ? (uint64_t)limit.rlim_cur : STACK_MOST;
    if (end > most && end - most < start) start = end - most;
    struct first_stack *stacks = realloc(maps->stacks, (maps->stack_count + 1) * sizeof *stacks);
    if (!stacks) return RSC_ENOMEM;
    maps->stacks = stacks;
    stacks[maps->stack_count++] = (struct first_stack){process, start & ~4095ull, end};
    return 0;
}

/* Parses one line of a maps file. Returns 1 if it is valid. */
static int parse_line(const char *line, struct region *region, char *permissions, char *path, size_t path_room) {
    int at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &region->start, &region->end, permissions,
               &region->file_offset, &at) < 4)
        return 0;
    snprintf(path, path_room, "%s", at ? line + at : "");
    path[strcspn(path, "\n")] = 0;
    return region->start < region->end;
}

static int read_header(int fd, Elf64_Ehdr *header) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
           pread(fd, header, sizeof *header, 0) == (ssize_t)sizeof *header &&
           !memcmp(header->e_ident, ELFMAG, SELFMAG) && header->e_ident[EI_CLASS] == ELFCLASS64;
}

static int read_segment(int fd, const Elf64_Ehdr *header, uint32_t i, Elf64_Phdr *segment) {
    if (i >= header->e_phnum || i >= SEGMENTS_MAX) return 0;
    return pread(fd, segment, sizeof *segment, (off_t)(header->e_phoff + i * sizeof *segment)) ==
           (ssize_t)sizeof *segment;
}

/* Where the .bss of a file's region ends, if it begins where the region ends; that if there is none. */
static uint64_t end_of_bss(const char *path, const struct region *region) {
    const uint64_t bytes = region->end - region->start;
    uint64_t end = region->end;
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return end;
    for (uint32_t i = 0; read_header(fd, &header) && read_segment(fd, &header, i, &segment); i++) {
        uint64_t first = segment.p_offset & ~4095ull, after = segment.p_offset + segment.p_filesz;
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_W) || region->file_offset < first ||
            region->file_offset >= after || region->file_offset + bytes < after)
            continue;
        uint64_t memory = segment.p_offset + segment.p_memsz - region->file_offset; /* from the region's start on */
        if (memory > bytes && memory < 1ull << 47) end = region->start + ((memory + 4095) & ~4095ull);
    }
    close(fd);
    return end;
}

int rsc_guest_maps_text(struct rsc_guest_maps *maps, uint64_t process, int native, const char *text, size_t bytes) {
    char line[4096 + 128], path[4096], owner[4096] = "";
    struct region before = {0};
    while (bytes) {
        size_t length = 0;
        while (length < bytes && text[length] != '\n') length++;
        size_t kept = length < sizeof line - 1 ? length : sizeof line - 1;
        memcpy(line, text, kept);
        line[kept] = 0;
        text += length + (length < bytes);
        bytes -= length + (length < bytes);
        struct region region = {.process = process};
        char permissions[8];
        if (!parse_line(line, &region, permissions, path, sizeof path) || (!native && region.end > GUEST_END)) continue;
        if (native && !strcmp(path, "[stack]") && note_first_stack(maps, process, region.start, region.end) < 0)
            return RSC_ENOMEM;
        if (path[0] != '/' && path[0]) path[0] = 0; /* "[heap]" and similar are QEMU's */
        uint64_t bss_end = !path[0] && owner[0] && region.start == before.end && permissions[1] == 'w'
                               ? end_of_bss(owner, &before)
                               : region.start;
        if (bss_end > region.start) {
            if (region.end > bss_end) region.end = bss_end;
            region.file_offset = before.file_offset + (before.end - before.start);
            snprintf(path, sizeof path, "%s", owner);
            owner[0] = 0;
        } else {
            snprintf(owner, sizeof owner, "%s", path[0] == '/' && permissions[1] == 'w' ? path : "");
        }
        before = region;
        if (path[0] && add_region(maps, region, path) < 0) return RSC_ENOMEM;
    }
    return 0;
}

int rsc_guest_maps_stack_at(struct rsc_guest_maps *maps, uint64_t process, uint64_t tid, uint64_t start,
                            uint64_t bytes) {
    char name[64];
    if (!bytes || start + bytes < start) return 0;
    snprintf(name, sizeof name, "[stack:%" PRIu64 "]", tid);
    return add_region(maps, (struct region){.process = process, .start = start, .end = start + bytes}, name);
}

int rsc_guest_maps_first_stack(struct rsc_guest_maps *maps, uint64_t process, uint64_t tid) {
    const struct first_stack *stack = first_stack_of(maps, process);
    if (!stack) return 0;
    int status = rsc_guest_maps_stack_at(maps, process, tid, stack->start, stack->end - stack->start);
    return status < 0 ? status : 1;
}

int rsc_guest_maps_stack(struct rsc_guest_maps *maps, uint64_t process, uint64_t tid, uint64_t stack_pointer) {
    char name[64], line[4096 + 128], path[4096], permissions[8];
    snprintf(name, sizeof name, "/proc/%" PRIu32 "/maps", (uint32_t)process); /* the pid */
    FILE *file = fopen(name, "re");
    if (!file) return 0;
    int status = 0;
    while (fgets(line, sizeof line, file)) {
        struct region region = {.process = process};
        if (!parse_line(line, &region, permissions, path, sizeof path)) continue;
        if (stack_pointer < region.start || stack_pointer >= region.end || path[0] == '/') continue;
        status = rsc_guest_maps_stack_at(maps, process, tid, region.start, region.end - region.start);
        break;
    }
    fclose(file);
    return status;
}

/* Reads the GNU build id of an ELF file; 0 bytes if it has none. Reads headers and notes only. */
static uint32_t build_id_of(const char *path, uint8_t *id, uint32_t room) {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    uint8_t notes[4096];
    uint32_t found = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return 0;
    if (!read_header(fd, &header)) goto out;
    for (uint32_t i = 0; !found && read_segment(fd, &header, i, &segment); i++) {
        if (segment.p_type != PT_NOTE) continue;
        size_t bytes = segment.p_filesz < sizeof notes ? segment.p_filesz : sizeof notes;
        ssize_t got = pread(fd, notes, bytes, (off_t)segment.p_offset);
        for (size_t at = 0; got > 0 && at + sizeof(Elf64_Nhdr) <= (size_t)got;) {
            Elf64_Nhdr note;
            memcpy(&note, notes + at, sizeof note);
            size_t name = at + sizeof note, data = name + ((note.n_namesz + 3ull) & ~3ull);
            if (note.n_namesz > bytes || note.n_descsz > bytes || data + note.n_descsz > (size_t)got) break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
                note.n_descsz <= room) {
                memcpy(id, notes + data, note.n_descsz);
                found = note.n_descsz;
                break;
            }
            at = data + ((note.n_descsz + 3ull) & ~3ull);
        }
    }
out:
    close(fd);
    return found;
}

const struct rsc_guest_map *rsc_guest_maps_next(struct rsc_guest_maps *maps) {
    if (maps->next == maps->count) return NULL;
    const struct region *region = &maps->regions[maps->next++];
    uint8_t id[64], *to = maps->out.data;
    uint32_t id_bytes = region->path[0] == '/' ? build_id_of(region->path, id, sizeof id) : 0;
    size_t name = strlen(region->path);
    maps->out.process = region->process;
    maps->out.start = region->start;
    maps->out.bytes = region->end - region->start;
    memcpy(to, &region->file_offset, 8);
    to[8] = (uint8_t)id_bytes;
    memcpy(to + 9, id, id_bytes);
    memcpy(to + 9 + id_bytes, region->path, name);
    maps->out.data_bytes = (uint32_t)(9 + id_bytes + name);
    return &maps->out;
}
