/* pages.c - see pages.h. */
#include "base/pages.h"

#include <sys/mman.h>

void *rsc_pages_new(size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    if (bytes >= (2u << 20)) madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
}

void rsc_pages_free(void *pages, size_t bytes) {
    if (pages) munmap(pages, bytes);
}
