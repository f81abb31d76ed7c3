/* pages.c - see pages.h. */
#include "base/pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE (2u << 20)

#if defined(__SANITIZE_THREAD__)
#define SEEN_BY_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SEEN_BY_TSAN
#endif
#endif

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

#if defined(SEEN_BY_TSAN)
/* ThreadSanitizer sees mmap() and munmap() but not mremap(): it would report a race with an old write of another thread
 * to the same address. */
void *rsc_pages_grow(void *pages, size_t bytes, size_t new_bytes) {
    void *grown = rsc_pages_new(new_bytes);
    if (!grown) return NULL;
    memcpy(grown, pages, bytes < new_bytes ? bytes : new_bytes);
    rsc_pages_free(pages, bytes);
    return grown;
}
#else
void *rsc_pages_grow(void *pages, size_t bytes, size_t new_bytes) {
    void *grown = mremap(pages, bytes, new_bytes, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED) return NULL;
    if (new_bytes >= HUGE_PAGE) madvise(grown, new_bytes, MADV_HUGEPAGE);
    return grown;
}
#endif

void *rsc_pages_copy(const void *pages, size_t used, size_t bytes) {
    void *copy = rsc_pages_new(bytes);
    if (copy) memcpy(copy, pages, used);
    return copy;
}

void rsc_pages_free(void *pages, size_t bytes) {
    if (pages) munmap(pages, bytes);
}
