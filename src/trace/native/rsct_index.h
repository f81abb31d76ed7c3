/*
 * rsct_index.h - the index at the end of a native trace, in memory: where the
 * frames are, and the totals. The bytes it is parsed from are not trusted.
 */
#ifndef RSC_TRACE_NATIVE_RSCT_INDEX_H
#define RSC_TRACE_NATIVE_RSCT_INDEX_H

#include <stddef.h>

#include <reusescope/trace.h>

#include "trace/native/rsct_format.h"

#define RSCT_INDEX_BYTES_MIN (RSCT_INDEX_FIXED + sizeof(struct rsct_totals) + 16)

struct rsct_index {
    struct rsct_index_row *rows; /* owned */
    uint64_t count;
    struct rsct_totals totals;
    int known; /* an image was taken */
};

/* Parses rows and totals from an image of at least RSCT_INDEX_BYTES_MIN bytes. Returns NULL, or the problem. */
const char *rsct_index_take(struct rsct_index *index, const uint8_t *image, uint64_t bytes);
void rsct_index_free(struct rsct_index *index);

/* Is a trailer intact, and does it point to an index at that offset and of that length? */
int rsct_trailer_is_right(const struct rsct_trailer *trailer, uint64_t index_offset, uint64_t index_bytes);

/* The hash of a frame's row, chained to that of the frames before it; frames and index must have the same. */
uint64_t rsct_index_chain(uint64_t hash, const struct rsct_index_row *row);
uint64_t rsct_index_chain_all(const struct rsct_index *index);

/* The first row that ends after `access`; count if there is none. */
uint64_t rsct_index_find(const struct rsct_index *index, uint64_t access);

#endif
