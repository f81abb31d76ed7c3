/*
 * fuzz_code_loops.c - any bytes as the machine code of a function.
 *
 * The first byte says how much of the rest is data that jump tables may be read from,
 * and at which address the function is. Whatever the bytes are, decoding ends, reads
 * nothing outside them, and the loops are trees whose blocks cover the function.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "fuzz_check.h"
#include "collect/symbols/code_loops.h"

struct memory {
    const uint8_t *data;
    uint64_t address;
    size_t bytes;
};

static const uint8_t *read_memory(void *module, uint64_t address, size_t bytes) {
    const struct memory *memory = module;
    uint64_t offset = address - memory->address;
    return offset < memory->bytes && bytes <= memory->bytes - offset ? memory->data + offset : NULL;
}

static int never_returns(void *module, uint64_t address, int is_slot) {
    (void)module;
    return (address & 7) == (is_slot ? 1 : 2);
}

static const uint8_t *elsewhere(void *module, uint64_t address, size_t *room, int *only_straight) {
    const struct memory *memory = module;
    uint64_t offset = address - memory->address;
    if (offset >= memory->bytes) return NULL;
    *only_straight = (address & 3) == 3;
    *room = memory->bytes - offset;
    return memory->data + offset;
}

static void check(const struct rsc_code_loops *loops, const struct rsc_code_bytes *code) {
    for (size_t i = 0; i < loops->count; i++) {
        const struct rsc_code_loop *loop = &loops->loops[i];
        FUZZ_CHECK(loop->parent == RSC_NO_LOOP || loop->parent < i);
        FUZZ_CHECK(loop->depth == (loop->parent == RSC_NO_LOOP ? 1 : loops->loops[loop->parent].depth + 1));
        FUZZ_CHECK(loop->entries >= 1);
        FUZZ_CHECK((size_t)loop->first_test + loop->test_count <= loops->test_count);
    }
    for (size_t i = 0; i < loops->block_count; i++) {
        FUZZ_CHECK(loops->blocks[i].loop == RSC_NO_LOOP || loops->blocks[i].loop < loops->count);
        FUZZ_CHECK(i ? loops->blocks[i].start > loops->blocks[i - 1].start : loops->blocks[i].start == code->address);
    }
    for (uint64_t at = 0; at < code->bytes; at++) {
        uint32_t loop = rsc_code_loops_at(loops, code->address + at);
        FUZZ_CHECK(loop == RSC_NO_LOOP || loop < loops->count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    struct rsc_code_loops loops;
    if (bytes < 2 || bytes > 1 << 16) return 0;
    size_t tables = (bytes - 1) * (data[0] >> 4) / 16;
    uint64_t address = 0x400000u * (data[0] & 15u);
    /* a copy of its own, so that a read outside it is seen */
    uint8_t *own = malloc(bytes - 1 - tables);
    FUZZ_CHECK(own);
    memcpy(own, data + 1 + tables, bytes - 1 - tables);
    struct memory memory = {data + 1, address + 0x1000, tables};
    struct rsc_code_bytes code = {own, address, bytes - 1 - tables, read_memory, never_returns, elsewhere, &memory};
    int rc = rsc_code_loops_find(&loops, &code);
    FUZZ_CHECK(rc == 0 || rc == RSC_ELIMIT || rc == RSC_EUNSUPPORTED);
    if (!rc) check(&loops, &code);
    rsc_code_loops_free(&loops);
    free(own);
    return 0;
}
