/* perf_records.c - see perf_records.h. Fields are in the order of perf_event_open(2), PERF_RECORD_SAMPLE. */
#include "runtime/watch/perf_records.h"

#include <linux/perf_event.h>

/* Bits of IBS_OP_DATA3 (AMD64 manual, volume 2, "IBS Op Data 3"). */
#define IBS_LOAD (1ull << 0)
#define IBS_STORE (1ull << 1)
#define IBS_LINEAR_VALID (1ull << 17)
#define IBS_MISS_LATENCY_SHIFT 32
#define IBS_MISS_LATENCY_MASK 0xffffull

/*
 * Bits of PERF_SAMPLE_DATA_SRC (linux/perf_event.h: union perf_mem_data_src): bits 5-18 levels, 33-36 a level's
 * number, bit 37 another node. Some kernel headers lack the numbers, so they are defined here.
 */
#define SOURCE_LEVEL_SHIFT 5
#define SOURCE_HIT 0x02u
#define SOURCE_MISS 0x04u
#define SOURCE_NUMBER_SHIFT 33
#define SOURCE_REMOTE_BIT (1ull << 37)

/*
 * The raw data: 4 bytes of capabilities, then registers: control, rip, data, data2, data3, linear address, physical
 * address.
 */
enum { IBS_DATA3 = 4, IBS_LINEAR = 5, IBS_REGISTERS = 6 };

uint64_t rsc_perf_sample_type(enum rsc_perf_layout layout, int has_weight) {
    uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                    PERF_SAMPLE_READ;
    if (layout == RSC_PERF_AMD_IBS) type |= PERF_SAMPLE_RAW;
    if (has_weight) type |= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
    return type;
}

uint32_t rsc_perf_ring_next(const uint8_t *ring, uint64_t size, uint64_t head, uint64_t *tail, void *record) {
    struct perf_event_header header;
    uint64_t there = head - *tail;
    if (!there) return 0;
    if (there > size || there < sizeof header) {
        *tail = head;
        return 0;
    }
    for (size_t i = 0; i < sizeof header; i++) ((uint8_t *)&header)[i] = ring[(*tail + i) & (size - 1)];
    if (header.size < sizeof header || header.size % 8 || header.size > there || header.size > RSC_PERF_RECORD_MAX) {
        *tail = header.size > RSC_PERF_RECORD_MAX && header.size <= there ? *tail + header.size : head;
        return 0;
    }
    for (uint32_t i = 0; i < header.size; i++) ((uint8_t *)record)[i] = ring[(*tail + i) & (size - 1)];
    *tail += header.size;
    return header.size;
}

/* Unread words of a record. */
struct reader {
    const uint64_t *at, *end;
    int is_short;
};

static uint64_t next(struct reader *reader) {
    if (reader->at == reader->end) {
        reader->is_short = 1;
        return 0;
    }
    return *reader->at++;
}

/* PERF_FORMAT_GROUP | ID | TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING. Returns the time enabled. */
static uint64_t read_group(const struct rsc_perf_layouts *layouts, struct reader *reader, uint64_t *value,
                           int *is_shared) {
    uint64_t events = next(reader), enabled = next(reader), running = next(reader);
    *value = 0;
    *is_shared = running < enabled;
    if (events > RSC_PERF_GROUP_MAX) {
        reader->is_short = 1;
        return 0;
    }
    for (uint64_t i = 0; i < events; i++) {
        uint64_t count = next(reader), id = next(reader);
        if (id == layouts->loads_id || (id == layouts->stores_id && layouts->stores_id)) *value += count;
    }
    return enabled;
}

/* The raw data that IBS adds to each of its samples: u32 size, then that many bytes, padded to whole words. */
static void read_ibs(struct reader *reader, struct rsc_perf_sample *sample) {
    if (reader->at == reader->end) {
        reader->is_short = 1;
        return;
    }
    uint32_t bytes = (uint32_t)*reader->at;
    uint64_t words = ((uint64_t)bytes + 4 + 7) / 8, left = (uint64_t)(reader->end - reader->at);
    const uint64_t *registers = reader->at + 1; /* size and capabilities are the first word */
    if (words > left || bytes < 4 + 8 * IBS_REGISTERS) {
        reader->is_short = 1;
        return;
    }
    uint64_t data3 = registers[IBS_DATA3];
    sample->is_store = (data3 & IBS_STORE) != 0;
    sample->is_memory = (data3 & (IBS_LOAD | IBS_STORE)) && data3 & IBS_LINEAR_VALID;
    sample->address = sample->is_memory ? registers[IBS_LINEAR] : 0;
    if (data3 & IBS_LOAD) sample->latency = data3 >> IBS_MISS_LATENCY_SHIFT & IBS_MISS_LATENCY_MASK;
    reader->at += words;
}

enum rsc_perf_record rsc_perf_decode(const struct rsc_perf_layouts *layouts, const void *record, uint32_t bytes,
                                     struct rsc_perf_sample *sample, uint64_t *lost) {
    struct perf_event_header header;
    const uint64_t *words = record;
    if (bytes < sizeof header || bytes % 8) return RSC_PERF_BAD;
    __builtin_memcpy(&header, record, sizeof header);
    if (header.size != bytes) return RSC_PERF_BAD;
    struct reader reader = {words + 1, words + bytes / 8, 0};
    if (header.type == PERF_RECORD_LOST) {
        next(&reader);
        *lost += next(&reader);
        return reader.is_short ? RSC_PERF_BAD : RSC_PERF_LOST;
    }
    if (header.type != PERF_RECORD_SAMPLE) return RSC_PERF_OTHER;
    int is_shared;
    *sample = (struct rsc_perf_sample){0};
    uint64_t id = next(&reader);
    sample->ip = next(&reader);
    sample->tid = (uint32_t)(next(&reader) >> 32);
    sample->time = next(&reader);
    sample->address = next(&reader);
    sample->running_ns = read_group(layouts, &reader, &sample->count, &is_shared);
    sample->is_shared = is_shared != 0;
    if (layouts->layout == RSC_PERF_AMD_IBS) {
        read_ibs(&reader, sample);
    } else {
        sample->is_store = id == layouts->stores_id;
        sample->is_memory = sample->address != 0;
    }
    if (layouts->has_weight) {
        uint64_t weight = next(&reader);
        if (!sample->latency) sample->latency = weight;
        sample->source = next(&reader);
    }
    return reader.is_short ? RSC_PERF_BAD : RSC_PERF_SAMPLE;
}

enum rsc_data_source rsc_perf_source(uint64_t source) {
    static const struct {
        uint32_t bits;
        enum rsc_data_source level;
    } levels[] = {{0x0008, RSC_SOURCE_L1},   {0x0010, RSC_SOURCE_BUFFER}, {0x0020, RSC_SOURCE_L2},
                  {0x0040, RSC_SOURCE_L3},   {0x0080, RSC_SOURCE_MEMORY}, {0x0f00, RSC_SOURCE_REMOTE},
                  {0x3000, RSC_SOURCE_OTHER}};
    static const enum rsc_data_source numbers[16] = {
        [1] = RSC_SOURCE_L1,      [2] = RSC_SOURCE_L2,      [3] = RSC_SOURCE_L3,
        [4] = RSC_SOURCE_L3,      [5] = RSC_SOURCE_L2, /* L4; L2's miss buffer */
        [6] = RSC_SOURCE_L3,      [8] = RSC_SOURCE_OTHER,   [9] = RSC_SOURCE_MEMORY,
        [10] = RSC_SOURCE_OTHER, /* memory's cache; uncached; CXL; I/O */
        [12] = RSC_SOURCE_BUFFER, [13] = RSC_SOURCE_MEMORY, [14] = RSC_SOURCE_MEMORY};
    enum rsc_data_source found = numbers[source >> SOURCE_NUMBER_SHIFT & 15];
    uint32_t bits = (uint32_t)(source >> SOURCE_LEVEL_SHIFT) & 0x3fff;
    if (bits & SOURCE_MISS) return RSC_SOURCE_UNKNOWN; /* the level that missed does not show which one hit */
    /* If only the older field is filled in. */
    for (uint32_t i = 0; !found && bits & SOURCE_HIT && i < sizeof levels / sizeof *levels; i++)
        if (bits & levels[i].bits) found = levels[i].level;
    return found && source & SOURCE_REMOTE_BIT ? RSC_SOURCE_REMOTE : found;
}

int rsc_perf_read_group(const struct rsc_perf_layouts *layouts, const uint64_t *words, size_t count, uint64_t *value,
                        int *is_shared) {
    struct reader reader = {words, words + count, 0};
    read_group(layouts, &reader, value, is_shared);
    return reader.is_short ? -1 : 0;
}
