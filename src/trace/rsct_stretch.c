/* rsct_stretch.c - one access at a time; see rsct_stretch.h. No branch depends on the data. */
#include "trace/rsct_stretch.h"

#include <string.h>

#include "trace/varint.h"

const uint8_t *rsct_stretch_plain(const struct rsct_codes *codes, const uint8_t *code, const uint8_t *deltas, uint64_t last[4],
                                  uint64_t thread_bits, uint64_t *addr, uint64_t *meta, uint32_t count) {
    uint64_t now[4];
    memcpy(now, last, sizeof now);
    for (uint32_t i = 0; i < count; i++) {
        const struct rsct_code_row *row = &codes->row[code[i]];
        uint64_t zigzag;
        memcpy(&zigzag, deltas, 8);
        deltas += row->bytes;
        uint64_t here = now[row->kind] + rsc_unzigzag(zigzag & row->mask);
        now[row->kind] = here + row->advance;
        addr[i] = here;
        meta[i] = row->meta | thread_bits;
    }
    memcpy(last, now, sizeof now);
    return deltas;
}
