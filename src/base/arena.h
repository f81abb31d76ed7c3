/*
 * arena.h - many small allocations that live and die together.
 *
 *     struct rsc_arena arena;
 *     rsc_arena_init(&arena);
 *     char *name = rsc_arena_strdup(&arena, text);   (NULL: out of memory)
 *     rsc_arena_free(&arena);                        (frees everything)
 *
 * An arena is not thread-safe.
 */
#ifndef RSC_BASE_ARENA_H
#define RSC_BASE_ARENA_H

#include <stddef.h>

#define RSC_ARENA_ALIGNMENT 16

struct rsc_arena_block;

struct rsc_arena {
    struct rsc_arena_block *blocks; /* owned, newest first */
    char *next, *end;               /* free part of the block being filled */
    size_t block_bytes;             /* size of the next block */
    size_t total_bytes;             /* allocated from the system, for reports on memory use */
};

/* Allocates nothing; a zeroed struct is a valid arena too. */
void rsc_arena_init(struct rsc_arena *arena);

/* Frees everything; the arena can be used again. */
void rsc_arena_free(struct rsc_arena *arena);

/* `bytes` (0 is allowed) aligned to RSC_ARENA_ALIGNMENT, not cleared; NULL when out of memory. */
void *rsc_arena_alloc(struct rsc_arena *arena, size_t bytes);

/* A copy of `text`, or of its first `length` bytes with a NUL added; NULL when out of memory. */
char *rsc_arena_strdup(struct rsc_arena *arena, const char *text);
char *rsc_arena_strndup(struct rsc_arena *arena, const char *text, size_t length);

#endif
