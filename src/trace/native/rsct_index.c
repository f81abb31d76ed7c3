/* rsct_index.c - see rsct_index.h. */
#include "trace/native/rsct_index.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/search.h"

static uint32_t u32_at(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static const char *index_problem(const uint8_t *index, uint64_t bytes, uint64_t *frames, uint64_t *threads) {
    const uint64_t after_rows = sizeof(struct rsct_totals) + 8 + 8;
    uint64_t checksum, left = bytes - RSCT_INDEX_FIXED - after_rows;
    memcpy(&checksum, index + bytes - 8, 8);
    memcpy(frames, index + 8, 8);
    if (checksum != XXH3_64bits(index, bytes - 8)) return "checksum mismatch in the index";
    if (u32_at(index) != RSCT_INDEX_MAGIC || u32_at(index + 4) || *frames > left / sizeof(struct rsct_index_row))
        return "the index is out of range";
    left -= *frames * sizeof(struct rsct_index_row);
    memcpy(threads, index + RSCT_INDEX_FIXED + *frames * sizeof(struct rsct_index_row) + sizeof(struct rsct_totals), 8);
    if (*threads > left / sizeof(struct rsc_thread) || *threads * sizeof(struct rsc_thread) != left)
        return "the index has the wrong length";
    return NULL;
}

/* Are the frames contiguous in the file and in the trace, and do they match the totals? Seeking relies on it. */
static int rows_add_up(const struct rsct_index_row *rows, uint64_t count, const struct rsct_totals *totals) {
    uint64_t next = 0;
    for (uint64_t i = 0; i < count; next += rows[i++].accesses)
        if (rows[i].first != next || rows[i].accesses > RSCT_FRAME_ACCESSES_MAX || rows[i].zero ||
            (i && rows[i].offset <= rows[i - 1].offset))
            return 0;
    return totals->accesses == next;
}

const char *rsct_index_take(struct rsct_index *index, const uint8_t *image, uint64_t bytes) {
    uint64_t frames, threads;
    rsct_index_free(index);
    const char *problem = index_problem(image, bytes, &frames, &threads);
    if (problem) return problem;
    index->rows = malloc((frames + 1) * sizeof *index->rows);
    if (!index->rows) return "out of memory";
    memcpy(index->rows, image + RSCT_INDEX_FIXED, frames * sizeof *index->rows);
    memcpy(&index->totals, image + RSCT_INDEX_FIXED + frames * sizeof *index->rows, sizeof index->totals);
    if (!rows_add_up(index->rows, frames, &index->totals)) return "its rows do not add up";
    index->count = frames;
    index->known = 1;
    return NULL;
}

void rsct_index_free(struct rsct_index *index) {
    free(index->rows);
    memset(index, 0, sizeof *index);
}

int rsct_trailer_is_right(const struct rsct_trailer *trailer, uint64_t index_offset, uint64_t index_bytes) {
    return trailer->magic == RSCT_TRAILER_MAGIC && !trailer->zero &&
           trailer->checksum == XXH3_64bits(trailer, offsetof(struct rsct_trailer, checksum)) &&
           trailer->index_offset == index_offset && trailer->index_bytes == index_bytes;
}

uint64_t rsct_index_chain(uint64_t hash, const struct rsct_index_row *row) {
    return XXH3_64bits_withSeed(row, sizeof *row, hash);
}

uint64_t rsct_index_chain_all(const struct rsct_index *index) {
    uint64_t hash = 0;
    for (uint64_t i = 0; i < index->count; i++) hash = rsct_index_chain(hash, &index->rows[i]);
    return hash;
}

uint64_t rsct_index_find(const struct rsct_index *index, uint64_t access) {
    return RSC_SEARCH(0, index->count, i, index->rows[i].first + index->rows[i].accesses <= access);
}
