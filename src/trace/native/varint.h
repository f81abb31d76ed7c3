/*
 * varint.h - little-endian base-128 numbers and zigzag, for the small tables of
 * the native format. Reading is bounded: reading past the end sets `overrun`.
 */
#ifndef RSC_TRACE_NATIVE_VARINT_H
#define RSC_TRACE_NATIVE_VARINT_H

#include <stdint.h>

#define RSC_VARINT_MAX 10u

static inline uint8_t *rsc_varint_put(uint8_t *to, uint64_t value) {
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

struct rsc_varint_reader {
    const uint8_t *at, *end;
    int overrun; /* a read went past the end */
};

static inline uint64_t rsc_varint_get(struct rsc_varint_reader *reader) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 70; shift += 7) {
        if (reader->at == reader->end) break;
        uint8_t byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << (shift & 63);
        if (!(byte & 0x80)) return value;
    }
    reader->overrun = 1;
    return 0;
}

static inline uint64_t rsc_zigzag(uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }
static inline uint64_t rsc_unzigzag(uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

#endif
