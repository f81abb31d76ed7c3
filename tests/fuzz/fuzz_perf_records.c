/* fuzz_perf_records.c - any bytes as the ring buffer of a PMU's samples: both layouts, from any place of the ring. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/watch/perf_records.h"

#define RING 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static uint8_t ring[RING];
    uint64_t record[RSC_PERF_RECORD_MAX / 8], lost = 0, tail, head;
    struct rsc_perf_sample sample;
    if (bytes < 3) return 0;
    struct rsc_perf_layouts layouts = {data[0] & 1 ? RSC_PERF_AMD_IBS : RSC_PERF_INTEL, data[0] >> 1 & 1, 1, 2};
    tail = data[1] * 16u;
    data += 2;
    bytes -= 2;
    if (bytes > RING) bytes = RING;
    memset(ring, 0, sizeof ring);
    for (size_t i = 0; i < bytes; i++) ring[(tail + i) % RING] = data[i];
    head = tail + bytes;
    while (tail != head) {
        uint64_t before = tail;
        uint32_t size = rsc_perf_ring_next(ring, RING, head, &tail, record);
        if (size) rsc_perf_decode(&layouts, record, size, &sample, &lost);
        if (tail == before) __builtin_trap(); /* it would never end */
    }
    uint64_t value;
    int is_shared;
    rsc_perf_read_group(&layouts, record, bytes / 8 % 128, &value, &is_shared);
    return 0;
}
