/* Samples of a PMU as the kernel lays them out: Intel's and AMD's, whole, cut, wrapped and shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>

#include "runtime/watch/perf_records.h"

#define LOADS 71u
#define STORES 72u
#define AUX 70u

/* A record that is being written, field by field. */
struct writer {
    uint64_t words[128];
    uint32_t count;
};

static void begin(struct writer *writer, uint32_t type) {
    struct perf_event_header header = {.type = type};
    memset(writer, 0, sizeof *writer);
    memcpy(writer->words, &header, sizeof header);
    writer->count = 1;
}
static void put(struct writer *writer, uint64_t word) { writer->words[writer->count++] = word; }
static uint32_t end(struct writer *writer) {
    uint16_t size = (uint16_t)(8 * writer->count);
    memcpy((uint8_t *)writer->words + offsetof(struct perf_event_header, size), &size, sizeof size);
    return size;
}

static void put_fixed(struct writer *writer, uint64_t id, uint64_t ip, uint64_t address) {
    put(writer, id);
    put(writer, ip);
    put(writer, 4321ull << 32 | 1234); /* tid, pid */
    put(writer, 99);
    put(writer, address);
}

static void put_group(struct writer *writer, uint64_t enabled, uint64_t running, uint64_t aux, uint64_t loads,
                      uint64_t stores) {
    put(writer, 3);
    put(writer, enabled);
    put(writer, running);
    put(writer, aux), put(writer, AUX);
    put(writer, loads), put(writer, LOADS);
    put(writer, stores), put(writer, STORES);
}

static const struct rsc_perf_layouts intel = {RSC_PERF_INTEL, 1, LOADS, STORES};
static const struct rsc_perf_layouts ibs = {RSC_PERF_AMD_IBS, 0, LOADS, 0};

static uint32_t intel_sample(struct writer *writer, uint64_t id, uint64_t running) {
    begin(writer, PERF_RECORD_SAMPLE);
    put_fixed(writer, id, 0x401000, 0x7f0000001238);
    put_group(writer, 1000, running, 555555, 20000, 3000);
    put(writer, 230);        /* weight */
    put(writer, 0x68100142); /* data source */
    return end(writer);
}

static void test_intel(void **state) {
    struct writer writer;
    struct rsc_perf_sample sample;
    uint64_t lost = 0;
    (void)state;
    uint32_t bytes = intel_sample(&writer, LOADS, 1000);
    assert_int_equal(rsc_perf_decode(&intel, writer.words, bytes, &sample, &lost), RSC_PERF_SAMPLE);
    assert_int_equal(sample.ip, 0x401000);
    assert_int_equal(sample.address, 0x7f0000001238);
    assert_int_equal(sample.tid, 4321);
    assert_int_equal(sample.count, 23000); /* not the leader, which is there only for the kernel */
    assert_int_equal(sample.latency, 230);
    assert_int_equal(sample.source, 0x68100142);
    assert_true(sample.is_memory && !sample.is_store && !sample.is_shared);
    bytes = intel_sample(&writer, STORES, 999);
    assert_int_equal(rsc_perf_decode(&intel, writer.words, bytes, &sample, &lost), RSC_PERF_SAMPLE);
    assert_true(sample.is_store && sample.is_shared);
    /* Every shorter one is bad, and none is read beyond its end (memory checkers see that). */
    for (uint32_t less = 16; less < bytes; less += 8) {
        uint64_t *cut = malloc(less);
        memcpy(cut, writer.words, less);
        uint16_t size = (uint16_t)less;
        memcpy((uint8_t *)cut + offsetof(struct perf_event_header, size), &size, sizeof size);
        assert_int_equal(rsc_perf_decode(&intel, cut, less, &sample, &lost), RSC_PERF_BAD);
        free(cut);
    }
}

static uint32_t ibs_sample(struct writer *writer, uint64_t data3, uint32_t registers) {
    begin(writer, PERF_RECORD_SAMPLE);
    put_fixed(writer, LOADS, 0x402000, 0);
    put(writer, 1), put(writer, 500), put(writer, 500), put(writer, 777), put(writer, LOADS);
    put(writer, (4 + 8 * registers) | 0x81ffull << 32); /* bytes, capabilities */
    for (uint32_t i = 0; i < registers; i++)
        put(writer, i == 4 ? data3 : i == 5 ? 0x55550000aaa8 : i == 1 ? 0x402000 : 0x1111);
    return end(writer);
}

static void test_ibs(void **state) {
    struct writer writer;
    struct rsc_perf_sample sample;
    uint64_t lost = 0;
    (void)state;
    uint32_t bytes = ibs_sample(&writer, 1ull << 17 | 1 | 345ull << 32, 8);
    assert_int_equal(rsc_perf_decode(&ibs, writer.words, bytes, &sample, &lost), RSC_PERF_SAMPLE);
    assert_true(sample.is_memory && !sample.is_store);
    assert_int_equal(sample.address, 0x55550000aaa8);
    assert_int_equal(sample.latency, 345);
    assert_int_equal(sample.count, 777);
    bytes = ibs_sample(&writer, 1ull << 17 | 2 | 345ull << 32, 7);
    assert_int_equal(rsc_perf_decode(&ibs, writer.words, bytes, &sample, &lost), RSC_PERF_SAMPLE);
    assert_true(sample.is_memory && sample.is_store && !sample.latency);
    /* Neither load nor store, or without a valid address: a sample, but not of an access. */
    bytes = ibs_sample(&writer, 1ull << 17, 7);
    assert_int_equal(rsc_perf_decode(&ibs, writer.words, bytes, &sample, &lost), RSC_PERF_SAMPLE);
    assert_false(sample.is_memory);
    bytes = ibs_sample(&writer, 1, 7);
    assert_int_equal(rsc_perf_decode(&ibs, writer.words, bytes, &sample, &lost), RSC_PERF_SAMPLE);
    assert_true(!sample.is_memory && !sample.address);
    bytes = ibs_sample(&writer, 1ull << 17 | 1, 5); /* fewer registers than an address needs */
    assert_int_equal(rsc_perf_decode(&ibs, writer.words, bytes, &sample, &lost), RSC_PERF_BAD);
}

/* Records across the end of the ring, of other types, and what makes no sense. */
static void test_ring(void **state) {
    static uint8_t ring[4096];
    struct writer writer;
    struct rsc_perf_sample sample;
    uint64_t record[RSC_PERF_RECORD_MAX / 8], lost = 0, head = 4096 - 40, tail = head;
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint32_t bytes = 0;
        if (i == 1) {
            begin(&writer, PERF_RECORD_LOST);
            put(&writer, LOADS), put(&writer, 17);
            bytes = end(&writer);
        } else {
            bytes = intel_sample(&writer, LOADS, 1000);
        }
        for (uint32_t k = 0; k < bytes; k++) ring[(head + k) % sizeof ring] = ((uint8_t *)writer.words)[k];
        head += bytes;
    }
    static const enum rsc_perf_record wanted[] = {RSC_PERF_SAMPLE, RSC_PERF_LOST, RSC_PERF_SAMPLE};
    for (int i = 0; i < 3; i++) {
        uint32_t bytes = rsc_perf_ring_next(ring, sizeof ring, head, &tail, record);
        assert_true(bytes > 0);
        assert_int_equal(rsc_perf_decode(&intel, record, bytes, &sample, &lost), wanted[i]);
    }
    assert_int_equal(lost, 17);
    assert_int_equal(sample.address, 0x7f0000001238);
    assert_int_equal(rsc_perf_ring_next(ring, sizeof ring, head, &tail, record), 0);
    assert_int_equal(tail, head);
    memset(ring, 0, sizeof ring); /* a record of no bytes would be one forever */
    assert_int_equal(rsc_perf_ring_next(ring, sizeof ring, head + 64, &tail, record), 0);
    assert_int_equal(tail, head + 64);
}

static void test_read(void **state) {
    uint64_t words[] = {2, 900, 900, 50, LOADS, 7, STORES}, value;
    int is_shared;
    (void)state;
    assert_int_equal(rsc_perf_read_group(&intel, words, 7, &value, &is_shared), 0);
    assert_int_equal(value, 57);
    assert_false(is_shared);
    words[2] = 100;
    assert_int_equal(rsc_perf_read_group(&intel, words, 7, &value, &is_shared), 0);
    assert_true(is_shared);
    assert_int_equal(rsc_perf_read_group(&intel, words, 6, &value, &is_shared), -1);
    words[0] = UINT64_MAX;
    assert_int_equal(rsc_perf_read_group(&intel, words, 7, &value, &is_shared), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_intel), cmocka_unit_test(test_ibs),
                                       cmocka_unit_test(test_ring), cmocka_unit_test(test_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
