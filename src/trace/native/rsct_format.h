/*
 * rsct_format.h - the native trace format, byte by byte. docs/design/rsct.md describes it
 * in prose.
 *
 *   header   source, command and filter
 *   frame*   up to a million accesses in columns, each decodable alone
 *   index    where the frames are, totals, threads
 *   trailer  where the index is
 *
 * All numbers are little-endian. Every byte is under an XXH3 checksum of the
 * bytes as stored (zstd's own checksum, over decompressed bytes, was seen to miss
 * flipped bits). A trace can be written to and read from a pipe: totals are at the
 * end, where they are known.
 */
#ifndef RSC_TRACE_NATIVE_RSCT_FORMAT_H
#define RSC_TRACE_NATIVE_RSCT_FORMAT_H

#include <stdint.h>
#include <string.h>

#define RSCT_VERSION 1u
#define RSCT_MAGIC "\x89RSCT\r\n\x1a" /* 8 bytes: broken by text-mode copies, never text */
#define RSCT_MAGIC_BYTES 8u

/* Header: magic, u32 version, u32 bytes, u32 flags, u32 accesses per frame at most, u32 bytes per
 * address unit (1), u32 zero, 3 strings (u32 length, bytes), u64 checksum of all before it. */
#define RSCT_HEADER_FIXED 32u
#define RSCT_HEADER_MAX (1u << 20)
#define RSCT_FLAG_PCS 1u

#define RSCT_FRAME_MAGIC 0x46435352u   /* "RSCF" */
#define RSCT_INDEX_MAGIC 0x49435352u   /* "RSCI" */
#define RSCT_TRAILER_MAGIC 0x45435352u /* "RSCE" */

#define RSCT_LEVEL 3 /* of zstd, unless given */
#define RSCT_FRAME_ACCESSES (1u << 20)
#define RSCT_FRAME_ACCESSES_MAX (1u << 22)
#define RSCT_EVENTS_MAX (1u << 20)       /* in a frame */
#define RSCT_EVENT_BYTES_MAX (16u << 20) /* of encoded events in a frame */

enum rsct_column {
    RSCT_CODES,  /* a byte per access: kind, size and length of its address delta, by dictionary */
    RSCT_DELTAS, /* 0 to 8 bytes per access: zigzag of address minus prediction */
    RSCT_TABLES, /* the dictionary, the threads and their runs */
    RSCT_SIZES,  /* u32 per access whose code has no size */
    RSCT_PCS,    /* dictionary and ids of pcs */
    RSCT_EVENTS,
    RSCT_COLUMNS
};

struct rsct_frame_header {
    uint32_t magic;
    uint32_t codes; /* entries in the dictionary of codes */
    uint64_t first; /* index of the first access in the trace */
    uint32_t accesses;
    uint32_t events;
    uint64_t instructions; /* UINT64_MAX: unknown */
    uint32_t threads;      /* entries in the frame's table of threads */
    uint32_t runs;         /* stretches of one thread */
    struct {
        uint32_t raw_bytes, stored_bytes;
    } column[RSCT_COLUMNS];
    uint64_t payload_checksum; /* of the stored columns, which follow in order */
    uint64_t header_checksum;  /* of all before it */
};
#define RSCT_FRAME_HEADER_BYTES 104u
_Static_assert(sizeof(struct rsct_frame_header) == RSCT_FRAME_HEADER_BYTES, "stored as it is");

/* Index: u32 magic, u32 zero, u64 frames, then a row per frame, the totals, u64 threads, (pid, tid)
 * of each, u64 checksum of all before it. */
struct rsct_index_row {
    uint64_t offset, first, instructions;
    uint32_t accesses, zero;
};
struct rsct_totals {
    uint64_t accesses, instructions, full_accesses, full_instructions, events;
};
#define RSCT_INDEX_FIXED 16u

struct rsct_trailer {
    uint32_t magic, zero;
    uint64_t index_offset, index_bytes;
    uint64_t checksum; /* of all before it */
};
#define RSCT_TRAILER_BYTES 32u
_Static_assert(sizeof(struct rsct_trailer) == RSCT_TRAILER_BYTES, "stored as it is");

/*
 * A code is (kind, delta class, size). Delta classes are byte lengths. Codes
 * from RSCT_CODES_DIRECT on are not in the dictionary: there is one for each
 * kind and class, and the size is in RSCT_SIZES.
 */
#define RSCT_CODES_DIRECT 232u
static inline uint32_t rsct_class_bytes(uint32_t class) { return class < 7 ? class : 8; }
static inline uint32_t rsct_class_of(uint64_t zigzag) {
    uint32_t bytes = zigzag ? (71u - (uint32_t)__builtin_clzll(zigzag)) / 8 : 0;
    return bytes < 7 ? bytes : 7;
}

/*
 * An event: accesses since the one before it, then type * 4 + 1 if the thread
 * changes + 2 if there is data; the thread if it changes; a and b as zigzag of the
 * difference to the last event of the same type (modulo 16) in the frame; bytes of
 * data and the data if there is any. All numbers as base-128 varints.
 */
#define RSCT_EVENT_TYPES 16u

/*
 * A mark: `instructions` of the frame were executed before its access `access`. Marks are the first events of a frame:
 * type 12, step 0, a and b. Readers that do not know them pass over them.
 */
#define RSCT_EVENT_MARK 12u
#define RSCT_MARKS_MAX 4096u /* that are written to a frame */
#define RSCT_MARK_ACCESSES 1024u /* between two that are written, at least */
struct rsct_mark {
    uint64_t access, instructions;
};

#define RSCT_EVENT_THREAD 1u
#define RSCT_EVENT_DATA 2u
struct rsct_event_before {
    uint64_t a[RSCT_EVENT_TYPES], b[RSCT_EVENT_TYPES];
    uint32_t thread;
};

/*
 * Addresses are predicted per thread and kind: the next fetch follows the last
 * one, the next read or write is near the last of its kind.
 */
static inline uint64_t rsct_predict_after(uint64_t addr, uint32_t kind, uint32_t size) {
    return kind == 2 ? addr + size : addr;
}

#endif
