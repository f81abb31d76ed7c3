/*
 * pages.h - big zeroed blocks straight from the kernel, on huge pages where it
 * gives them: random access over tables of many megabytes is otherwise slowed by
 * address translation.
 */
#ifndef RSC_BASE_PAGES_H
#define RSC_BASE_PAGES_H

#include <stddef.h>

/* Zeroed, 64-byte aligned; NULL when out of memory. bytes may not be 0. */
void *rsc_pages_new(size_t bytes);

/*
 * Address space for a block that fills from the front: memory follows as it is
 * touched, on huge pages after the first 2 MiB. NULL where not even that is to be
 * had (limits on address space).
 */
void *rsc_pages_reserve(size_t bytes);

/*
 * The same block with more bytes (zeroed) or fewer, perhaps moved; pages are
 * moved, not copied. NULL when out of memory: the block is then as it was.
 */
void *rsc_pages_grow(void *pages, size_t bytes, size_t new_bytes);

/* `bytes` as given to rsc_pages_new(). NULL is allowed. */
void rsc_pages_free(void *pages, size_t bytes);

#endif
