/*
 * pages.h - large zeroed blocks from the kernel, on huge pages where available:
 * address translation otherwise slows random access to tables of many megabytes.
 */
#ifndef RSC_BASE_PAGES_H
#define RSC_BASE_PAGES_H

#include <stddef.h>

/* Zeroed, 64-byte aligned; NULL when out of memory. bytes may not be 0. */
void *rsc_pages_new(size_t bytes);

/*
 * Reserves address space for a block that fills from the front: memory is allocated
 * on first touch, on huge pages after the first 2 MiB. NULL when address space is
 * limited.
 */
void *rsc_pages_reserve(size_t bytes);

/*
 * Resizes a block; new bytes are zero. The block may move: its pages are remapped,
 * not copied. NULL when out of memory: the block is then unchanged.
 */
void *rsc_pages_grow(void *pages, size_t bytes, size_t new_bytes);

/* A new block of `bytes` that begins with the first `used` bytes of another; the rest is zero. */
void *rsc_pages_copy(const void *pages, size_t used, size_t bytes);

/* `bytes` as given to rsc_pages_new(). NULL is allowed. */
void rsc_pages_free(void *pages, size_t bytes);

#endif
