/*
 * address_limit.h - bounding the address space of a test's child.
 *
 * Emulators of programs (qemu-aarch64) share their address space with what they
 * run and do not pass the limit on. A test of what happens without memory cannot
 * run there.
 */
#ifndef RSC_TESTS_ADDRESS_LIMIT_H
#define RSC_TESTS_ADDRESS_LIMIT_H

#include <sys/mman.h>
#include <sys/resource.h>

#define ADDRESS_LIMIT_IGNORED 77 /* exit status of a child that found it has no limit */

/* Sets the limit for this process. 0, or -1 where that has no effect. */
static inline int address_limit_set(size_t bytes) {
    struct rlimit limit = {bytes, bytes};
    if (setrlimit(RLIMIT_AS, &limit)) return -1;
    void *probe = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) return 0;
    munmap(probe, bytes);
    return -1;
}

#endif
