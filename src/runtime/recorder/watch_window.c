/*
 * watch_window.c - the accesses of the piece recorded in a thread's window (watch_thread.h):
 * finds the sampled one, and whether a later one is its reuse.
 */
#include "runtime/pieces/piece_expand.h"
#include "runtime/trap/watch_thread.h"

/* The piece executed in `words`; 0: unknown. */
static int open_piece(const uint64_t *words, struct rsc_piece_cursor *cursor, struct rsc_piece *piece) {
    const struct rsc_asm_block *block = (const void *)(uintptr_t)words[0];
    const struct rsc_asm_block *completed = block ? rsc_asm_completed(block) : NULL;
    return completed && rsc_piece_open(cursor, piece, words[0], completed, rsc_asm_block_bytes(completed));
}

static int is_write(const struct rsc_piece_access *access) { return rsc_record_type(access->word) == RSC_RECORD_WRITE; }

void rsc_watch_window_access(const uint64_t *words, uint32_t n, uint64_t pick, struct rsc_watch_access *access) {
    struct rsc_piece_cursor cursor;
    struct rsc_piece piece;
    struct rsc_piece_access part;
    access->bytes = 0;
    if (!open_piece(words, &cursor, &piece)) return;
    while (rsc_piece_next(&cursor, &piece, &part) > 0) {
        uint64_t address, bytes = part.ordinal == n ? rsc_piece_span(&part, words, pick, &address) : 0;
        if (!bytes) continue;
        if (!access->bytes) access->address = address;
        access->bytes += bytes;
        access->pc = rsc_record_pc(part.word);
        access->writes = is_write(&part);
    }
}

uint32_t rsc_watch_window_touches(const uint64_t *words, uint32_t n, uint64_t word, struct rsc_watch_access *access) {
    struct rsc_piece_cursor cursor;
    struct rsc_piece piece;
    struct rsc_piece_access part;
    if (!open_piece(words, &cursor, &piece)) return UINT32_MAX;
    while (rsc_piece_next(&cursor, &piece, &part) > 0) {
        if (part.ordinal < n || !rsc_piece_touches(&part, words, word, word + 7)) continue;
        *access = (struct rsc_watch_access){
            .address = word, .pc = rsc_record_pc(part.word), .bytes = 8, .writes = is_write(&part)};
        return part.ordinal;
    }
    return UINT32_MAX;
}

uint64_t rsc_watch_window_words(const uint64_t *words) {
    struct rsc_piece_cursor cursor;
    struct rsc_piece piece;
    struct rsc_piece_access part;
    uint64_t sum = 0;
    if (!open_piece(words, &cursor, &piece)) return 0;
    while (rsc_piece_next(&cursor, &piece, &part) > 0) {
        uint64_t address, bytes = rsc_piece_span(&part, words, 0, &address);
        sum += rsc_watch_words_of(address, bytes);
    }
    return sum;
}
