/*
 * arena.c - a bump allocator over a list of blocks.
 *
 * Blocks double from 4 KiB to 1 MiB. A request of more than a quarter of a block
 * gets its own block, and the block being filled stays in use: an occasional large
 * allocation wastes nothing.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES_FIRST ((size_t)4096)
#define BLOCK_BYTES_LAST ((size_t)1 << 20)

struct rsc_arena_block {
    struct rsc_arena_block *older;
    _Alignas(RSC_ARENA_ALIGNMENT) char data[];
};

void rsc_arena_init(struct rsc_arena *arena) { memset(arena, 0, sizeof *arena); }

void rsc_arena_free(struct rsc_arena *arena) {
    for (struct rsc_arena_block *block = arena->blocks, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    rsc_arena_init(arena);
}

/* Adds a block with room for `bytes` to the list; NULL when out of memory. */
static struct rsc_arena_block *add_block(struct rsc_arena *arena, size_t bytes) {
    struct rsc_arena_block *block = malloc(sizeof *block + bytes);
    if (!block) return NULL;
    block->older = arena->blocks;
    arena->blocks = block;
    arena->total_bytes += sizeof *block + bytes;
    return block;
}

void *rsc_arena_alloc(struct rsc_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = bytes ? (bytes + RSC_ARENA_ALIGNMENT - 1) & ~(size_t)(RSC_ARENA_ALIGNMENT - 1) : RSC_ARENA_ALIGNMENT;
    if ((size_t)(arena->end - arena->next) < bytes) {
        if (!arena->block_bytes) arena->block_bytes = BLOCK_BYTES_FIRST;
        int alone = bytes > arena->block_bytes / 4;
        struct rsc_arena_block *block = add_block(arena, alone ? bytes : arena->block_bytes);
        if (!block) return NULL;
        if (alone) return block->data;
        arena->next = block->data;
        arena->end = block->data + arena->block_bytes;
        if (arena->block_bytes < BLOCK_BYTES_LAST) arena->block_bytes *= 2;
    }
    char *result = arena->next;
    arena->next += bytes;
    assert((uintptr_t)result % RSC_ARENA_ALIGNMENT == 0 && arena->next <= arena->end);
    return result;
}

char *rsc_arena_strndup(struct rsc_arena *arena, const char *text, size_t length) {
    if (length >= SIZE_MAX / 2) return NULL;
    char *copy = rsc_arena_alloc(arena, length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *rsc_arena_strdup(struct rsc_arena *arena, const char *text) {
    return rsc_arena_strndup(arena, text, strlen(text));
}
