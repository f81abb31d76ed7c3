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

/* `bytes` as given to rsc_pages_new(). NULL is allowed. */
void rsc_pages_free(void *pages, size_t bytes);

#endif
