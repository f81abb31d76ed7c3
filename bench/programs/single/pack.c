/* pack.c - a compressor: finds earlier copies of the next bytes by hash chains in a window of 64 KiB. */
#include "program.h"

#define WINDOW 65536
#define CHAIN 16

static uint32_t head[1 << 15], chain[WINDOW];

int main(int argc, char **argv) {
    long bytes = sized(argc, argv, 18000000), out = 0;
    unsigned char *text = memory((size_t)bytes + 8), *packed = memory((size_t)bytes * 2 + 8);
    for (long i = 0; i < bytes;) { /* copies of what came before, with gaps */
        uint64_t r = any(), length = 4 + r % 24, from = i > 4096 ? (uint64_t)i - 1 - (r >> 8) % 4096 : 0;
        for (uint64_t j = 0; j < length && i < bytes; j++)
            text[i] = (unsigned char)(i > 4096 && r >> 62 ? text[from + j] : 'a' + any() % 16), i++;
    }
    for (long i = 0; i + 4 < bytes;) {
        uint32_t next, hash;
        memcpy(&next, text + i, 4);
        hash = next * 2654435761u >> 17;
        long best = 0, where = 0, at = head[hash];
        for (int tries = 0; at && i - at < WINDOW && tries < CHAIN; tries++, at = chain[at % WINDOW]) {
            long length = 0;
            while (i + length < bytes && length < 255 && text[at + length] == text[i + length]) length++;
            if (length > best) best = length, where = at;
            if ((long)chain[at % WINDOW] >= at) break;
        }
        chain[i % WINDOW] = head[hash];
        head[hash] = (uint32_t)i;
        if (best < 4) {
            packed[out++] = text[i++];
            continue;
        }
        packed[out++] = (unsigned char)best;
        packed[out++] = (unsigned char)(i - where);
        packed[out++] = (unsigned char)((i - where) >> 8);
        i += best;
    }
    printf("%ld\n", out);
    return 0;
}
