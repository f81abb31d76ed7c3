/*
 * fuzz_accesses.h - any bytes as accesses and events: five bytes each, where, how far, kind and size, thread, pc.
 */
#ifndef RSC_TESTS_FUZZ_ACCESSES_H
#define RSC_TESTS_FUZZ_ACCESSES_H

#include <stdint.h>

#include <reusescope/trace.h>

#define FUZZ_ACCESSES 2048u
#define FUZZ_ACCESS_BYTES 5u

/* The batch uses memory that the next call takes again. */
static inline struct rsc_batch fuzz_accesses(const uint8_t *data, size_t bytes, int has_pcs) {
    static const uint32_t sizes[] = {1, 4, 8, 0, 64, 100, 4096, 70000};
    static uint64_t addr[FUZZ_ACCESSES], meta[FUZZ_ACCESSES], pc[FUZZ_ACCESSES];
    static struct rsc_event events[FUZZ_ACCESSES];
    struct rsc_batch batch = {
        .addr = addr, .meta = meta, .pc = has_pcs ? pc : NULL, .events = events, .instructions = RSC_UNKNOWN};
    uint64_t at = 0x7f0000001000;
    for (; bytes >= FUZZ_ACCESS_BYTES && batch.count < FUZZ_ACCESSES;
         data += FUZZ_ACCESS_BYTES, bytes -= FUZZ_ACCESS_BYTES) {
        const uint32_t thread = data[3] & 7;
        at += (uint64_t)((int64_t)(int8_t)data[0] * (1ll << data[1] % 40));
        if (data[3] >> 6 == 3 && batch.event_count < FUZZ_ACCESSES) {
            events[batch.event_count++] = (struct rsc_event){.at = batch.count,
                                                             .type = data[2] % 16,
                                                             .thread = thread,
                                                             .a = data[0] % 2 ? at : 0x400000u + data[4],
                                                             .b = 1ull << data[1] % 64};
            continue;
        }
        addr[batch.count] = data[1] & 0x80 ? at : at & 0xfffff;
        meta[batch.count] = rsc_meta(sizes[data[2] % 8], (enum rsc_kind)(data[2] / 8 % 3), thread);
        pc[batch.count++] = 0x400000u + data[4];
    }
    return batch;
}

#endif
