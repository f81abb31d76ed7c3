/*
 * target_threads.c - whether a program starts threads, judged by the names in its file:
 * functions that start threads or replace the program by another, and libraries that start threads for their users. Its other
 * libraries, and those it loads later, are not examined. Nothing in the file is trusted.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/launch/target.h"

/*
 * POSIX and C11, C++, OpenMP of gcc and clang, and their libraries; the C library's exec; a section that every Go program has;
 * libraries of tasks, event loops, linear algebra and of Java's launcher, which start threads themselves.
 */
static const char *const names[] = {
    "pthread_create",  "thrd_create",       "_ZNSt6thread", "GOMP_parallel", "__kmpc_fork_call", "libgomp.so",
    "libomp.so",       "libiomp5.so",       "execv",        "execl",         ".gopclntab",       "libtbb.so",
    "libuv.so",        "libgthread-2.0.so", "libblas.so",   "liblapack.so",  "libopenblas",      "libmkl_",
    "libboost_thread", "libQt5Core",        "libQt6Core",   "libjli.so",     "libjvm.so"};

static int has_one(const uint8_t *texts, size_t bytes) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memmem(texts, bytes, names[i], strlen(names[i]))) return 1;
    return 0;
}

/* Returns 1 or 0; -1 if the file has no names. */
static int look_through(const uint8_t *file, size_t bytes, int dynamic) {
    Elf64_Ehdr header;
    int seen = 0;
    if (bytes < sizeof header) return -1;
    memcpy(&header, file, sizeof header);
    if (!header.e_shoff || header.e_shoff > bytes || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shnum > (bytes - header.e_shoff) / sizeof(Elf64_Shdr))
        return -1;
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, file + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_STRTAB || section.sh_offset > bytes || section.sh_size > bytes - section.sh_offset)
            continue;
        if (has_one(file + section.sh_offset, section.sh_size)) return 1;
        seen += i != header.e_shstrndx;
    }
    return dynamic || seen ? 0 : -1; /* a static program may have all names stripped */
}

int rsc_target_may_thread(const struct rsc_target *target) {
    struct stat file;
    int found = -1, fd = open(target->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return 1;
    if (fstat(fd, &file) == 0 && file.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            found = look_through(bytes, (size_t)file.st_size, target->dynamic);
            munmap(bytes, (size_t)file.st_size);
        }
    }
    close(fd);
    return found != 0;
}
