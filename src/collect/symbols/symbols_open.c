/*
 * symbols_open.c - opens a mapped file by its path, and finds its separate debug file.
 *
 * Only regular files up to FILE_BYTES_MAX are mapped: a name may lead to a FIFO or a
 * device, which are opened without waiting and closed again. Debug information is
 * searched for in the file itself, then by build id below /usr/lib/debug, then by
 * .gnu_debuglink beside the file and below /usr/lib/debug (checked by build id, or by
 * CRC if there is none), and on servers only if the caller asked for that. With a
 * sysroot, every place is searched below it first.
 *
 * A file that is truncated while mapped here would kill the process (SIGBUS); compilers
 * and package managers replace files instead.
 */
#ifdef RSC_HAVE_LIBDW

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <zlib.h>

#include "base/fail.h"
#include "collect/symbols/symbols_module.h"

#define FILE_BYTES_MAX (4ull << 30)
#define DEBUG_FOLDER "/usr/lib/debug"

void symbols_image_close(struct elf_image *image) {
    if (image->elf) elf_end(image->elf);
    if (image->bytes) munmap(image->bytes, image->size);
    free(image->path);
    *image = (struct elf_image){0};
}

/* Maps the file of fd, and closes fd. Returns 1, or 0 if it is not a file we read. */
static int map_file(int fd, struct elf_image *image) {
    struct stat status;
    *image = (struct elf_image){0};
    if (fd < 0) return 0;
    if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (uint64_t)status.st_size <= FILE_BYTES_MAX) {
        /* writable in memory only: libelf clears a flag in the header of a decompressed section */
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
        if (bytes != MAP_FAILED) {
            image->bytes = bytes;
            image->size = (size_t)status.st_size;
            image->elf = elf_memory(bytes, image->size);
            if (!image->elf || elf_kind(image->elf) != ELF_K_ELF) symbols_image_close(image);
        }
    }
    close(fd);
    return image->elf != NULL;
}

static int open_path(const char *path, struct elf_image *image) {
    if (!map_file(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), image)) return 0;
    image->path = strdup(path);
    return 1;
}

/* 1: the same id, 0: another, -1: the file has none. */
static int has_build_id(Elf *elf, const uint8_t *id, size_t bytes) {
    const void *found;
    ssize_t found_bytes = dwelf_elf_gnu_build_id(elf, &found);
    if (found_bytes <= 0) return -1;
    return (size_t)found_bytes == bytes && !memcmp(found, id, bytes);
}

int symbols_find_file(struct symbols_shared *shared, struct symbols_module *module) {
    char path[PATH_MAX];
    int mismatch = 0;
    if (!module->path[0] || module->path[0] == '[') return 0; /* [vdso], [heap]: not files */
    for (int below_root = shared->sysroot != NULL; below_root >= 0; below_root--) {
        int length = snprintf(path, sizeof path, "%s%s", below_root ? shared->sysroot : "", module->path);
        if (length < 0 || (size_t)length >= sizeof path) continue;
        if (!open_path(path, &module->image)) continue;
        if (!module->build_id_bytes || has_build_id(module->image.elf, module->build_id, module->build_id_bytes) == 1)
            return 0;
        mismatch = 1;
        symbols_image_close(&module->image);
    }
    if (mismatch)
        rsc_log_line(&shared->log, RSC_LOG_WARNING,
                     "%s: not the file that ran (its build id differs): no names from it", module->path);
    else rsc_log_line(&shared->log, RSC_LOG_INFO, "%s: no such ELF file: no names from it", module->path);
    return 0;
}

static int has_section(Elf *elf, const char *name, const char *other_name) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names)) return 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *text;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
        text = elf_strptr(elf, names, header.sh_name);
        if (text && (!strcmp(text, name) || !strcmp(text, other_name))) return 1;
    }
    return 0;
}

static int has_debug_info(Elf *elf) { return has_section(elf, ".debug_info", ".zdebug_info"); }

/* Tries a path, below the sysroot first. The file must have this build id, or, if id is NULL, this CRC. */
static int try_path(struct symbols_shared *shared, struct elf_image *image, const char *path, const void *id,
                    size_t id_bytes, uint32_t crc) {
    char below[PATH_MAX];
    for (int below_root = shared->sysroot != NULL; below_root >= 0; below_root--) {
        int length = snprintf(below, sizeof below, "%s%s", below_root ? shared->sysroot : "", path);
        if (length < 0 || (size_t)length >= sizeof below || !open_path(below, image)) continue;
        if (id ? has_build_id(image->elf, id, id_bytes) == 1 : crc32_z(0, image->bytes, image->size) == crc) return 1;
        symbols_image_close(image);
    }
    return 0;
}

static int find_by_build_id(struct symbols_shared *shared, struct elf_image *image, const uint8_t *id, size_t bytes) {
    char path[256];
    int length = snprintf(path, sizeof path, DEBUG_FOLDER "/.build-id/%02x/", id[0]);
    if (bytes < 2 || bytes > 64) return 0;
    for (size_t i = 1; i < bytes; i++) length += snprintf(path + length, sizeof path - (size_t)length, "%02x", id[i]);
    snprintf(path + length, sizeof path - (size_t)length, ".debug");
    return try_path(shared, image, path, id, bytes, 0);
}

static int find_by_link(struct symbols_shared *shared, struct symbols_module *module, const uint8_t *id,
                        size_t id_bytes) {
    static const struct {
        const char *before, *after; /* the folder of the file */
    } places[] = {{"", ""}, {"", ".debug/"}, {DEBUG_FOLDER, ""}};
    char path[PATH_MAX];
    GElf_Word crc;
    const char *name = dwelf_elf_gnu_debuglink(module->image.elf, &crc);
    if (!name || !name[0] || strchr(name, '/')) return 0;
    const char *slash = strrchr(module->path, '/');
    int folder = slash ? (int)(slash - module->path) + 1 : 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int length =
            snprintf(path, sizeof path, "%s%.*s%s%s", places[i].before, folder, module->path, places[i].after, name);
        if (length < 0 || (size_t)length >= sizeof path) continue;
        if (try_path(shared, &module->debug, path, id_bytes ? id : NULL, id_bytes, crc)) {
            if (has_debug_info(module->debug.elf)) return 1;
            symbols_image_close(&module->debug);
        }
    }
    return 0;
}

/* Asks the servers of DEBUGINFOD_URLS through elfutils' client, which is loaded only here. */
static int find_by_server(struct symbols_shared *shared, struct elf_image *image, const uint8_t *id, size_t bytes) {
    void *(*begin)(void);
    int (*find)(void *client, const unsigned char *build_id, int id_bytes, char **path);
    void (*end)(void *client);
    char *path = NULL;
    int fd = -1;
    if (!shared->debuginfod) return 0;
    if (!shared->debuginfod_library) {
        shared->debuginfod_library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!shared->debuginfod_library) {
            rsc_log_line(&shared->log, RSC_LOG_WARNING,
                         "debuginfod: libdebuginfod.so.1 is missing: apt-get install libdebuginfod1");
            shared->debuginfod = 0;
            return 0;
        }
    }
    begin = dlsym(shared->debuginfod_library, "debuginfod_begin");
    find = dlsym(shared->debuginfod_library, "debuginfod_find_debuginfo");
    end = dlsym(shared->debuginfod_library, "debuginfod_end");
    void *client = begin && find && end ? begin() : NULL;
    if (!client) return 0;
    fd = find(client, id, (int)bytes, &path);
    free(path);
    end(client);
    if (!map_file(fd, image)) return 0;
    if (has_build_id(image->elf, id, bytes) == 1) return 1;
    symbols_image_close(image);
    return 0;
}

/*
 * Debug information may refer to a second, shared file (dwz). libdw would open it by
 * any name that the file gives; instead it gets the file from here, by build id, and
 * without it the debug information is not used. Returns 1 on success.
 */
static int find_alternate(struct symbols_shared *shared, struct symbols_module *module, Elf *elf) {
    char path[PATH_MAX];
    const char *name;
    const void *id;
    if (!has_section(elf, ".gnu_debugaltlink", ".gnu_debugaltlink")) return 1;
    ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(module->dwarf, &name, &id);
    if (bytes < 2 || bytes > 64) return 0;
    const char *beside = module->debug.elf ? module->debug.path : module->image.path;
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    int folder = slash && name[0] != '/' ? (int)(slash - beside) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, folder ? beside : "", name) >= (int)sizeof path) return 0;
    if (!find_by_build_id(shared, &module->alternate, id, (size_t)bytes) &&
        !try_path(shared, &module->alternate, path, id, (size_t)bytes, 0))
        return 0;
    if (has_section(module->alternate.elf, ".gnu_debugaltlink", ".gnu_debugaltlink")) return 0;
    module->alternate_dwarf = dwarf_begin_elf(module->alternate.elf, DWARF_C_READ, NULL);
    if (!module->alternate_dwarf) return 0;
    dwarf_setalt(module->dwarf, module->alternate_dwarf);
    return 1;
}

void symbols_find_debug(struct symbols_shared *shared, struct symbols_module *module) {
    const void *id = NULL;
    if (has_debug_info(module->image.elf)) return;
    ssize_t found = dwelf_elf_gnu_build_id(module->image.elf, &id);
    size_t bytes = found > 0 ? (size_t)found : 0;
    if (!bytes || !find_by_build_id(shared, &module->debug, id, bytes)) find_by_link(shared, module, id, bytes);
}

/* The file that has the debug information; NULL: none. */
static Elf *debug_of(struct symbols_shared *shared, struct symbols_module *module) {
    const void *id;
    if (has_debug_info(module->image.elf)) return module->image.elf;
    ssize_t bytes = module->debug.elf ? 0 : dwelf_elf_gnu_build_id(module->image.elf, &id);
    if (bytes > 0 && find_by_server(shared, &module->debug, id, (size_t)bytes) && symbols_read_tables(module))
        return NULL;
    return module->debug.elf;
}

void symbols_begin_debug(struct symbols_shared *shared, struct symbols_module *module) {
    if (module->debug_begun || !module->image.elf) return;
    module->debug_begun = 1;
    Elf *elf = debug_of(shared, module);
    if (!elf) {
        rsc_log_line(&shared->log, RSC_LOG_INFO, "%s: no debug information: functions only, without lines",
                     module->path);
        return;
    }
    switch (shared->in_process ? symbols_open_debug(shared, module) : symbols_reader_start(shared, module)) {
    case DEBUG_READ: return;
    case DEBUG_INCOMPLETE:
        rsc_log_line(&shared->log, RSC_LOG_INFO,
                     "%s: the shared file (dwz) of its debug information is missing: not used", module->path);
        return;
    case DEBUG_UNREADABLE:
        rsc_log_line(&shared->log, RSC_LOG_INFO, "%s: debug information cannot be read: functions only, without lines",
                     module->path);
        return;
    case DEBUG_LOST:
        rsc_log_line(&shared->log, RSC_LOG_WARNING,
                     "%s: debug information is not read (out of memory or processes): functions only, without lines",
                     module->path);
    }
}

enum debug_state symbols_open_debug(struct symbols_shared *shared, struct symbols_module *module) {
    Elf *elf = module->debug.elf ? module->debug.elf : module->image.elf;
    module->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (!module->dwarf) return DEBUG_UNREADABLE;
    if (find_alternate(shared, module, elf)) return DEBUG_READ;
    dwarf_end(module->dwarf);
    module->dwarf = NULL;
    return DEBUG_INCOMPLETE;
}

#endif
