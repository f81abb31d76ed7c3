/*
 * arena.h - many small allocations that live and die together.
 *
 *     struct rsc_arena arena;
 *     rsc_arena_init(&arena);
 *     char *name = rsc_arena_strdup(&arena, text);   (NULL: out of memory)
 *     rsc_arena_free(&arena);                        (all of it at once)
 *
 * Not for use by two threads at a time.
 */
#ifndef RSC_BASE_ARENA_H
#define RSC_BASE_ARENA_H

#include <stddef.h>

#define RSC_ARENA_ALIGNMENT 16

struct rsc_arena_block;

struct rsc_arena {
    struct rsc_arena_block *blocks; /* owned, newest first */
    char *next, *end;               /* what is left of the block being filled */
    size_t block_bytes;             /* of the next block to be had */
    size_t total_bytes;             /* held from the system, for reports on memory use */
};

/* Allocates nothing; a zeroed struct is initialised too. */
void rsc_arena_init(struct rsc_arena *arena);

/* Frees everything; the arena can be used again. */
void rsc_arena_free(struct rsc_arena *arena);

/* `bytes` (0 is allowed) aligned to RSC_ARENA_ALIGNMENT, not cleared; NULL when memory is out. */
void *rsc_arena_alloc(struct rsc_arena *arena, size_t bytes);

/* A copy of `text`, or of its first `length` bytes with a NUL added; NULL when memory is out. */
char *rsc_arena_strdup(struct rsc_arena *arena, const char *text);
char *rsc_arena_strndup(struct rsc_arena *arena, const char *text, size_t length);

#endif
