/*
 * rsct_stretch.h - the inner loops of decoding: a stretch of accesses of one thread from
 * their codes and deltas, and how many codes are fetches.
 *
 * One at a time, an access depends on the previous address of its kind, through memory: 5 to
 * 6 cycles. With vectors eight are decoded at once: their deltas take at most 64 bytes, and
 * addresses are prefix sums over the lanes of one kind.
 */
#ifndef RSC_TRACE_NATIVE_RSCT_STRETCH_H
#define RSC_TRACE_NATIVE_RSCT_STRETCH_H

#include <stdint.h>

#include "base/cpu.h"

#define RSCT_VECTOR_CODES 128u /* capacity of a table in two vectors; recorded programs use 46 to 100 codes */

/* What a code byte means. */
struct rsct_code_row {
    uint64_t mask; /* keeps the bytes of the delta */
    uint64_t meta; /* size and kind; the thread is added */
    uint32_t kind;
    uint32_t bytes;   /* length of the delta */
    uint32_t advance; /* added to the address to predict the next of its kind: the size of a fetch, else 0 */
    uint32_t explicit_size;
};

struct rsct_codes {
    struct rsct_code_row row[256];
    uint8_t shape[RSCT_VECTOR_CODES] __attribute__((aligned(64))); /* length of the delta | kind << 4 */
    uint8_t size[RSCT_VECTOR_CODES] __attribute__((aligned(64)));
    uint8_t fetches[32] __attribute__((aligned(32))); /* bit c / 16 % 8 of byte c % 16 + c / 128 * 16: c is a fetch */
    int by_vectors; /* all codes used are in these two */
    int has_fetches;
};

/*
 * Decodes `count` accesses, none with a size in the SIZES column. Updates `last`, the predictions by kind.
 * Reads up to 8 bytes of deltas per access, whatever the codes are. Returns the end of the deltas used.
 */
typedef const uint8_t *rsct_stretch_fn(const struct rsct_codes *codes, const uint8_t *code, const uint8_t *deltas,
                                       uint64_t last[4], uint64_t thread_bits, uint64_t *addr, uint64_t *meta,
                                       uint32_t count);
RSC_WIDE_DECLARE(rsct_stretch_fn, rsct_stretch);

/* How many of these codes are fetches. */
typedef uint64_t rsct_fetches_fn(const struct rsct_codes *codes, const uint8_t *code, uint64_t count);
RSC_WIDE_DECLARE(rsct_fetches_fn, rsct_fetches);

#endif
