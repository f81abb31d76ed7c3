/* pages.c - see pages.h. */
#include "base/pages.h"

#include <sys/mman.h>

#define HUGE_PAGE (2u << 20)

void *rsc_pages_new(size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    if (bytes >= HUGE_PAGE) madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
}

void *rsc_pages_reserve(size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    if (bytes > HUGE_PAGE) madvise((char *)pages + HUGE_PAGE, bytes - HUGE_PAGE, MADV_HUGEPAGE);
    return pages;
}

void *rsc_pages_grow(void *pages, size_t bytes, size_t new_bytes) {
    void *grown = mremap(pages, bytes, new_bytes, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED) return NULL;
    if (new_bytes >= HUGE_PAGE) madvise(grown, new_bytes, MADV_HUGEPAGE);
    return grown;
}

void rsc_pages_free(void *pages, size_t bytes) {
    if (pages) munmap(pages, bytes);
}
