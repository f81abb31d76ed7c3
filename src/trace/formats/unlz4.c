/*
 * unlz4.c - streams of LZ4 frames.
 *
 * A frame is a header, blocks, and an end mark; frames may follow one another. A block is
 * a series of: a token (two counts of four bits), literals, and a match: an offset of two
 * bytes back into what was decoded, at most 64 KiB, in this block or, if blocks are linked,
 * the ones before it. So the last 64 KiB stay in front of the block being decoded. The
 * checksums of header, blocks and contents (xxHash32) are verified if there are any.
 *
 * Every count is checked against the bytes there are, so that any input ends in data or
 * in an error. Memory: the block size of the frame, at most 4 MiB, twice, and 64 KiB.
 *
 * Layout: the descriptions of frames and of blocks of the lz4 project.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/decompress.h"

#define MAGIC 0x184d2204u
#define WINDOW (64u << 10)
#define STORED_BLOCK 0x80000000u
#define MATCH_LEAST 4u

enum { LINKED_NOT = 0x20, BLOCK_SUMS = 0x10, HAS_SIZE = 0x08, CONTENT_SUM = 0x04, HAS_DICTIONARY = 0x01 };

/* xxHash32 of a stream. */
struct hash32 {
    uint32_t lane[4];
    uint64_t total;
    unsigned char rest[16];
    uint32_t rested;
};

struct lz4 {
    int inside; /* a frame */
    uint32_t flags, block_most;
    unsigned char *packed;
    unsigned char *bytes; /* [0, WINDOW) before the block, then the block */
    size_t window;        /* bytes before the block that may be referred to: they end at WINDOW */
    size_t start, end;    /* of the decoded bytes not yet taken */
    struct hash32 hash;
};

/* ---- xxHash32 ---- */

static const uint32_t prime[] = {2654435761u, 2246822519u, 3266489917u, 668265263u, 374761393u};

static uint32_t u32(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
static uint32_t rotate(uint32_t value, int by) { return value << by | value >> (32 - by); }

static void hash_begin(struct hash32 *hash) {
    *hash = (struct hash32){.lane = {prime[0] + prime[1], prime[1], 0, 0u - prime[0]}};
}

static void hash_add(struct hash32 *hash, const unsigned char *bytes, size_t count) {
    hash->total += count;
    while (count) {
        size_t part = sizeof hash->rest - hash->rested < count ? sizeof hash->rest - hash->rested : count;
        memcpy(hash->rest + hash->rested, bytes, part);
        hash->rested += (uint32_t)part;
        bytes += part;
        count -= part;
        if (hash->rested < sizeof hash->rest) return;
        for (int i = 0; i < 4; i++)
            hash->lane[i] = rotate(hash->lane[i] + u32(hash->rest + 4 * i) * prime[1], 13) * prime[0];
        hash->rested = 0;
    }
}

static uint32_t hash_end(const struct hash32 *hash) {
    static const int turn[] = {1, 7, 12, 18};
    uint32_t value = prime[4], at = 0;
    if (hash->total >= 16) {
        value = 0;
        for (int i = 0; i < 4; i++) value += rotate(hash->lane[i], turn[i]);
    }
    value += (uint32_t)hash->total;
    for (; at + 4 <= hash->rested; at += 4) value = rotate(value + u32(hash->rest + at) * prime[2], 17) * prime[3];
    for (; at < hash->rested; at++) value = rotate(value + hash->rest[at] * prime[4], 11) * prime[0];
    value = (value ^ value >> 15) * prime[1];
    value = (value ^ value >> 13) * prime[2];
    return value ^ value >> 16;
}

static uint32_t hash_of(const unsigned char *bytes, size_t count) {
    struct hash32 hash;
    hash_begin(&hash);
    hash_add(&hash, bytes, count);
    return hash_end(&hash);
}

/* ---- blocks ---- */

/* A count that continues in further bytes while they are 255. Returns 0, or -1 past the end. */
static int read_count(const unsigned char **from, const unsigned char *end, size_t *count) {
    unsigned char more = 255;
    if (*count < 15) return 0;
    while (more == 255) {
        if (*from == end) return -1;
        more = *(*from)++;
        *count += more;
    }
    return 0;
}

/* Decodes a block to bytes + WINDOW; returns its length, or -1. */
static int64_t unpack(struct lz4 *lz4, size_t packed) {
    const unsigned char *from = lz4->packed, *end = from + packed;
    unsigned char *to = lz4->bytes + WINDOW, *limit = to + lz4->block_most;
    while (from < end) {
        unsigned token = *from++;
        size_t literals = token >> 4, length = token & 15;
        if (read_count(&from, end, &literals) < 0 || literals > (size_t)(end - from) || literals > (size_t)(limit - to))
            return -1;
        memcpy(to, from, literals);
        from += literals;
        to += literals;
        if (from == end) break; /* the last one has no match */
        if (end - from < 2) return -1;
        size_t back = from[0] | (size_t)from[1] << 8;
        from += 2;
        if (read_count(&from, end, &length) < 0) return -1;
        length += MATCH_LEAST;
        size_t reach = (size_t)(to - (lz4->bytes + WINDOW)) + lz4->window;
        if (!back || back > reach || length > (size_t)(limit - to)) return -1;
        for (size_t i = 0; i < length; i++, to++) *to = to[-(ptrdiff_t)back]; /* may overlap */
    }
    return to - (lz4->bytes + WINDOW);
}

/* Keeps the end of what was decoded in front of the next block. */
static void slide(struct lz4 *lz4, size_t length) {
    size_t kept = lz4->flags & LINKED_NOT ? 0 : lz4->window + length;
    if (kept > WINDOW) kept = WINDOW;
    memmove(lz4->bytes + WINDOW - kept, lz4->bytes + WINDOW + length - kept, kept);
    lz4->window = kept;
}

/* ---- frames ---- */

static int fail_frame(const struct rsc_stored *stored, const char *why, struct rsc_error *error) {
    return rsc_stored_damaged(stored, "lz4", why, error);
}

/* Leaves out a frame of bytes of somebody else, whose first 7 bytes are read: magic, length, and then the bytes. */
static int skip_frame(struct rsc_stored *stored, const unsigned char *head, struct rsc_error *error) {
    unsigned char last;
    int status = rsc_stored_read(stored, "lz4", &last, 1, error);
    if (status < 0) return status;
    uint32_t left = head[4] | (uint32_t)head[5] << 8 | (uint32_t)head[6] << 16 | (uint32_t)last << 24;
    while (!status && left) {
        int64_t have = rsc_stored_fill(stored, 1, error);
        if (have <= 0) return have < 0 ? (int)have : fail_frame(stored, "it is cut", error);
        if (have > left) have = left;
        rsc_stored_take(stored, (size_t)have);
        left -= (uint32_t)have;
    }
    return status;
}

static int begin_frame(struct lz4 *lz4, struct rsc_stored *stored, struct rsc_error *error) {
    unsigned char head[19];
    int status = rsc_stored_read(stored, "lz4", head, 7, error);
    if (status < 0) return status;
    if (rsc_is_skippable(head, 4)) return skip_frame(stored, head, error);
    if (u32(head) != MAGIC) return fail_frame(stored, "no lz4 frame where one should begin", error);
    lz4->flags = head[4];
    unsigned size = head[5] >> 4 & 7;
    size_t bytes = 7 + (lz4->flags & HAS_SIZE ? 8 : 0) + (lz4->flags & HAS_DICTIONARY ? 4 : 0);
    if (lz4->flags >> 6 != 1 || size < 4) return fail_frame(stored, "unknown version or block size", error);
    if (lz4->flags & HAS_DICTIONARY) return fail_frame(stored, "it needs a dictionary", error);
    status = rsc_stored_read(stored, "lz4", head + 7, bytes - 7, error);
    if (status < 0) return status;
    if ((hash_of(head + 4, bytes - 5) >> 8 & 255) != head[bytes - 1])
        return fail_frame(stored, "checksum of a frame header", error);
    uint32_t most = 1u << (8 + 2 * size);
    if (most > lz4->block_most) {
        free(lz4->packed);
        free(lz4->bytes);
        lz4->packed = malloc(most);
        lz4->bytes = malloc(WINDOW + (size_t)most);
        if (!lz4->packed || !lz4->bytes) return rsc_fail_memory(error, "lz4 decoder");
    }
    lz4->block_most = most;
    lz4->window = 0;
    lz4->inside = 1;
    hash_begin(&lz4->hash);
    return 0;
}

static int end_frame(struct lz4 *lz4, struct rsc_stored *stored, struct rsc_error *error) {
    unsigned char sum[4];
    lz4->inside = 0;
    if (!(lz4->flags & CONTENT_SUM)) return 0;
    int status = rsc_stored_read(stored, "lz4", sum, 4, error);
    if (!status && u32(sum) != hash_end(&lz4->hash)) status = fail_frame(stored, "checksum of the contents", error);
    return status;
}

/* Decodes the next block, or ends the frame. */
static int next_block(struct lz4 *lz4, struct rsc_stored *stored, struct rsc_error *error) {
    unsigned char word[4];
    int status = rsc_stored_read(stored, "lz4", word, 4, error);
    if (status < 0) return status;
    uint32_t size = u32(word), packed = size & ~STORED_BLOCK;
    if (!size) return end_frame(lz4, stored, error);
    if (packed > lz4->block_most) return fail_frame(stored, "a block larger than the frame allows", error);
    status = rsc_stored_read(stored, "lz4", lz4->packed, packed, error);
    if (!status && lz4->flags & BLOCK_SUMS) {
        status = rsc_stored_read(stored, "lz4", word, 4, error);
        if (!status && u32(word) != hash_of(lz4->packed, packed))
            status = fail_frame(stored, "checksum of a block", error);
    }
    if (status < 0) return status;
    if (size & STORED_BLOCK) memcpy(lz4->bytes + WINDOW, lz4->packed, packed);
    int64_t length = size & STORED_BLOCK ? packed : unpack(lz4, packed);
    if (length < 0) return fail_frame(stored, "a block that does not decode", error);
    lz4->start = WINDOW;
    lz4->end = WINDOW + (size_t)length;
    if (lz4->flags & CONTENT_SUM) hash_add(&lz4->hash, lz4->bytes + WINDOW, (size_t)length);
    return 0;
}

static int64_t lz4_read(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error) {
    struct lz4 *lz4 = state;
    int status = 0;
    while (!status && lz4->start == lz4->end) {
        if (lz4->end) slide(lz4, lz4->end - WINDOW);
        lz4->start = lz4->end = 0;
        if (lz4->inside) {
            status = next_block(lz4, stored, error);
            continue;
        }
        int64_t have = rsc_stored_fill(stored, 1, error);
        if (have <= 0) return have;
        status = begin_frame(lz4, stored, error);
    }
    if (status < 0) return status;
    if (bytes > lz4->end - lz4->start) bytes = lz4->end - lz4->start;
    memcpy(to, lz4->bytes + lz4->start, bytes);
    lz4->start += bytes;
    return (int64_t)bytes;
}

static int lz4_open(void **state, struct rsc_error *error) {
    *state = calloc(1, sizeof(struct lz4));
    return *state ? 0 : rsc_fail_memory(error, "lz4 decoder");
}

static void lz4_close(void *state) {
    struct lz4 *lz4 = state;
    free(lz4->packed);
    free(lz4->bytes);
    free(lz4);
}

const struct rsc_decoder rsc_lz4_decoder = {"lz4", lz4_open, lz4_read, lz4_close};
