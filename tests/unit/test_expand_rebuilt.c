/*
 * test_expand_rebuilt.c - tables and words as rebuilt programs leave them become the
 * accesses that were made: every kind of entry, calls and returns by the stack, blocks
 * cut short, strings longer than there is room for, and tables that make no sense.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"
#include "collect/drain/expand_rebuilt.h"

#define START 0x10000ull /* of the tables in the program */
#define PROCESS 7

static struct {
    struct rsc_ring *ring;
    uint8_t *bytes; /* the tables */
    size_t used;
    struct rsc_asm_tables *tables;
    struct rsc_rebuilt state;
    struct rsc_record records[RSC_REBUILT_ROOM];
    uint32_t count;
    uint64_t instructions;
} world;

static int begin(void **state) {
    (void)state;
    memset(&world, 0, sizeof world);
    world.ring =
        mmap(NULL, sizeof *world.ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(world.ring != MAP_FAILED);
    world.bytes = (uint8_t *)world.ring->plans;
    world.tables = rsc_asm_tables_new();
    assert_non_null(world.tables);
    world.state = (struct rsc_rebuilt){.tables = world.tables, .process = PROCESS};
    return 0;
}

static int end(void **state) {
    (void)state;
    rsc_rebuilt_reset(&world.state);
    rsc_asm_tables_free(world.tables);
    munmap(world.ring, sizeof *world.ring);
    return 0;
}

/* A block at pc whose last instruction is `last` bytes on. Returns its address in the program. */
static uint64_t add_block(uint64_t pc, uint16_t last, uint16_t words, uint8_t ends, const struct rsc_asm_entry *entries,
                          uint16_t count) {
    uint64_t address = START + world.used;
    struct rsc_asm_block block = {.pc = (int32_t)((int64_t)pc - (int64_t)address),
                                  .last = last,
                                  .instructions = 3,
                                  .entries = count,
                                  .words = words,
                                  .ends = ends,
                                  .abi = RSC_ASM_ABI,
                                  .reserved = (uint16_t)(words + 1)};
    memcpy(world.bytes + world.used, &block, sizeof block);
    memcpy(world.bytes + world.used + sizeof block, entries, count * sizeof *entries);
    world.used += sizeof block + count * sizeof *entries + 8; /* and padding */
    return address;
}

static void register_tables(void) {
    struct rsc_asm_module module = {START, START + world.used, 0};
    assert_int_equal(rsc_asm_tables_add(world.tables, PROCESS, &module, world.ring), 0);
}

static void expand(const uint64_t *words, uint32_t count) {
    uint64_t copy[64];
    assert_true(count <= 64);
    memcpy(copy, words, count * sizeof *copy);
    world.count = rsc_expand_rebuilt(&world.state, copy, count, world.records, RSC_REBUILT_ROOM, &world.instructions);
    assert_int_equal(world.state.under_way, 0);
}

static void expect(uint32_t index, enum rsc_record_type type, uint64_t addr, uint32_t size, uint64_t pc) {
    assert_true(index < world.count);
    assert_int_equal(rsc_record_type(world.records[index].word), type);
    assert_int_equal(world.records[index].addr, addr);
    assert_int_equal(rsc_record_size(world.records[index].word), size);
    assert_int_equal(rsc_record_pc(world.records[index].word), pc);
}

static void plain_entries(void **unused) {
    (void)unused;
    const struct rsc_asm_entry entries[] = {
        {.pc = 0,
         .kind = RSC_ASM_PLAIN,
         .flags = RSC_ASM_READS,
         .base = 1,
         .index = 2,
         .scale = 8,
         .disp = -16,
         .size = 8},
        {.pc = 4, .kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS | RSC_ASM_WRITES, .base = 1, .disp = 4, .size = 4},
        {.pc = 9, .kind = RSC_ASM_RIP, .flags = RSC_ASM_WRITES, .disp = 0x100, .size = 300},
        {.pc = 12, .kind = RSC_ASM_RIP, .flags = RSC_ASM_READS | RSC_ASM_RELAXED, .size = 0},
    };
    uint64_t block = add_block(0x8000, 12, 3, 0, entries, 4);
    register_tables();
    expand((uint64_t[]){block, 0x5000, 3, 99, rsc_record_word(RSC_RECORD_ALLOC, 1, 640), 0x7000}, 6);
    assert_int_equal(world.count, 7);
    expect(0, RSC_RECORD_READ, 0x5008, 8, 0x8000);
    expect(1, RSC_RECORD_READ, 0x5004, 4, 0x8004);
    expect(2, RSC_RECORD_WRITE, 0x5004, 4, 0x8004);
    expect(3, RSC_RECORD_WRITE, 0x8109, 128, 0x8009); /* a record holds no more */
    expect(4, RSC_RECORD_WRITE, 0x8189, 128, 0x8009);
    expect(5, RSC_RECORD_WRITE, 0x8209, 44, 0x8009);
    expect(6, RSC_RECORD_ALLOC, 0x7000, 1, 640);
    assert_int_equal(world.instructions, 3);
}

/* A run: three words once (its turns, a register that moves, one that does not), one word each turn. */
static uint64_t add_run(uint16_t turn_words) {
    const struct rsc_asm_entry entries[] = {
        {.pc = 0, .kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS, .base = 2, .scale = 1, .disp = -4, .size = 4},
        {.pc = 5,
         .kind = RSC_ASM_PLAIN,
         .flags = RSC_ASM_READS | RSC_ASM_WRITES,
         .base = 3,
         .index = turn_words ? 4 : 0,
         .scale = 4,
         .size = 4},
        {.pc = 9, .kind = RSC_ASM_RIP, .flags = RSC_ASM_WRITES, .disp = 0x100, .size = 1},
    };
    const int32_t steps[] = {-16, 0, 0, 0};
    uint64_t block = add_block(0x8000, 9, 4, RSC_ASM_RUN, entries, 3);
    struct rsc_asm_block *head = (struct rsc_asm_block *)(world.bytes + block - START);
    head->reserved = turn_words;
    memcpy((uint8_t *)(head + 1) + sizeof entries, steps, sizeof steps);
    world.used += 16;
    return block;
}

#define TURNS(n) ((uint64_t)RSC_ASM_RECORD + (n))

static void runs(void **unused) {
    (void)unused;
    const struct rsc_asm_entry other = {.kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS, .base = 1, .size = 8};
    uint64_t run = add_run(1), even = add_run(0), after = add_block(0x9000, 0, 2, 0, &other, 1);
    register_tables();
    expand((uint64_t[]){run, TURNS(2), 0x5000, 0x6000, 7, 9, after, 0x7000, 0}, 9);
    assert_int_equal(world.count, 9);
    expect(0, RSC_RECORD_READ, 0x4ffc, 4, 0x8000);
    expect(1, RSC_RECORD_READ, 0x601c, 4, 0x8005);
    expect(2, RSC_RECORD_WRITE, 0x601c, 4, 0x8005);
    expect(3, RSC_RECORD_WRITE, 0x8109, 1, 0x8009);
    expect(4, RSC_RECORD_READ, 0x4fec, 4, 0x8000);
    expect(5, RSC_RECORD_READ, 0x6024, 4, 0x8005);
    expect(8, RSC_RECORD_READ, 0x7000, 8, 0x9000);
    assert_int_equal(world.instructions, 3 * 3);
    /* No word at all of a turn. */
    expand((uint64_t[]){even, TURNS(3), 0x5000, 0x6000, after, 0x7000, 0}, 7);
    assert_int_equal(world.count, 13);
    expect(8, RSC_RECORD_READ, 0x4fdc, 4, 0x8000);
    expect(9, RSC_RECORD_READ, 0x6000, 4, 0x8005);
    expect(12, RSC_RECORD_READ, 0x7000, 8, 0x9000);
    /* Left by a fault in its second turn: what was reserved behind it is zero. */
    expand((uint64_t[]){run, TURNS(2), 0x5000, 0x6000, 7, 0, 0, 0, after, 0x7000, 0}, 11);
    assert_int_equal(world.count, 9);
    expect(5, RSC_RECORD_READ, 0x6000, 4, 0x8005);
    /* Killed: before the first turn, in the second. */
    expand((uint64_t[]){run}, 1);
    assert_int_equal(world.count, 0);
    expand((uint64_t[]){run, TURNS(0), 0x5000}, 3);
    assert_int_equal(world.count, 0);
    expand((uint64_t[]){run, TURNS(2), 0x5000, 0x6000, 7}, 5);
    assert_int_equal(world.count, 8);
    /* Counts that cannot be. */
    expand((uint64_t[]){run, TURNS(100000), 0x5000, 0x6000, 0, 0}, 6);
    assert_int_equal(world.count, 0);
    expand((uint64_t[]){even, 77, 0x5000, 0x6000, 0, 0}, 6);
    assert_int_equal(world.count, 0);
}

/* More turns than there is room for come bit by bit, and are weighed beforehand. */
static void long_runs(void **unused) {
    (void)unused;
    uint64_t words[4 * 20], total = 0, calls = 0, run = add_run(0);
    register_tables();
    for (int i = 0; i < 20; i++)
        memcpy(words + 4 * i, (uint64_t[]){run, TURNS(RSC_ASM_RUN_MOST), 0x500000, 0x6000}, 32);
    assert_int_equal(rsc_rebuilt_weigh(&world.state, words, 4 * 20, NULL), 20 * 4 * RSC_ASM_RUN_MOST);
    do {
        world.count =
            rsc_expand_rebuilt(&world.state, words, 4 * 20, world.records, RSC_REBUILT_ROOM, &world.instructions);
        for (uint32_t i = 0; i < world.count; i++, total++)
            if (total % 4 == 0)
                assert_int_equal(world.records[i].addr, 0x500000 - 4 - 16 * (total / 4 % RSC_ASM_RUN_MOST));
        assert_true(++calls < 1000);
    } while (world.state.under_way);
    assert_int_equal(total, 20 * 4 * RSC_ASM_RUN_MOST);
    assert_int_equal(world.instructions, 20 * 3 * RSC_ASM_RUN_MOST);
    assert_true(calls > 4);
}

/* Killed in the middle: what was not written is zero, an index may be. */
static void cut_short(void **unused) {
    (void)unused;
    const struct rsc_asm_entry entries[] = {
        {.kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS, .base = 1, .index = 2, .scale = 4, .size = 4},
        {.kind = RSC_ASM_PLAIN, .flags = RSC_ASM_WRITES, .base = 3, .size = 4},
    };
    uint64_t block = add_block(0x8000, 0, 4, 0, entries, 2);
    register_tables();
    expand((uint64_t[]){block, 0x5000}, 2);
    assert_int_equal(world.count, 1);
    expect(0, RSC_RECORD_READ, 0x5000, 4, 0x8000);
}

static void strings(void **unused) {
    (void)unused;
    const struct rsc_asm_entry copies[] = {
        {.kind = RSC_ASM_STRING, .flags = RSC_ASM_READS, .base = 1, .index = 3, .size = 8},
        {.kind = RSC_ASM_STRING, .flags = RSC_ASM_WRITES, .base = 2, .index = 3, .size = 8},
    };
    const struct rsc_asm_entry scans[] = {
        {.kind = RSC_ASM_STRING,
         .flags = RSC_ASM_READS | RSC_ASM_BY_EQUAL,
         .base = 1,
         .index = 2,
         .size = 1,
         .count = 3},
    };
    uint64_t copy = add_block(0x8000, 0, 4, 0, copies, 2), scan = add_block(0x9000, 0, 4, 0, scans, 1);
    register_tables();
    /* From 0x1030 to 0x2000, ten of 8 bytes: the read crosses its line first. */
    expand((uint64_t[]){copy, 0x1030, 0x2000, 10, 0}, 5);
    assert_int_equal(world.count, 4);
    expect(0, RSC_RECORD_READ, 0x1030, 16, 0x8000);
    expect(1, RSC_RECORD_WRITE, 0x2000, 64, 0x8000);
    expect(2, RSC_RECORD_READ, 0x1040, 64, 0x8000);
    expect(3, RSC_RECORD_WRITE, 0x2040, 16, 0x8000);
    /* 100 to look at, 58 left when it was found. */
    expand((uint64_t[]){scan, 0x3000, 100, 58, 0}, 5);
    assert_int_equal(world.count, 1);
    expect(0, RSC_RECORD_READ, 0x3000, 42, 0x9000);
    expand((uint64_t[]){scan, 0x3000, 0, 0, 0}, 5);
    assert_int_equal(world.count, 0);
}

/* A string of more lines than there is room for comes bit by bit, each line once. */
static void long_string(void **unused) {
    (void)unused;
    const struct rsc_asm_entry entries[] = {
        {.kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS, .base = 1, .size = 8},
        {.pc = 3, .kind = RSC_ASM_STRING, .flags = RSC_ASM_WRITES, .base = 1, .index = 2, .size = 1},
        {.pc = 5, .kind = RSC_ASM_PLAIN, .flags = RSC_ASM_WRITES, .base = 1, .size = 2},
    };
    uint64_t words[] = {add_block(0x8000, 5, 3, 0, entries, 3), 0x100000, 64 * 100000 + 1, 0, 0};
    uint64_t lines = 0, calls = 0, total = 0;
    register_tables();
    do {
        world.count = rsc_expand_rebuilt(&world.state, words, 5, world.records, RSC_REBUILT_ROOM, &world.instructions);
        for (uint32_t i = 0; i < world.count; i++)
            if (rsc_record_pc(world.records[i].word) == 0x8003)
                assert_int_equal(world.records[i].addr, 0x100000 + 64 * lines++);
        total += world.count;
        assert_true(++calls < 1000);
    } while (world.state.under_way);
    assert_int_equal(lines, 100001);
    assert_int_equal(total, 100003);
    assert_int_equal(world.instructions, 3);
    assert_true(calls > 2);
}

static void vectors(void **unused) {
    (void)unused;
    const struct rsc_asm_entry entries[] = {
        {.kind = RSC_ASM_MASKED, .flags = RSC_ASM_READS, .base = 1, .index = 2, .size = 4, .count = 8, .disp = 32},
        {.kind = RSC_ASM_PACKED, .flags = RSC_ASM_WRITES, .base = 1, .index = 2, .size = 4, .count = 8},
        {.kind = RSC_ASM_ANY, .flags = RSC_ASM_READS, .base = 1, .index = 2, .size = 8, .count = 8},
        {.kind = RSC_ASM_GATHERED, .flags = RSC_ASM_READS, .base = 1, .index = 3, .size = 4, .scale = 4, .count = 3},
        {.kind = RSC_ASM_GATHERED,
         .flags = RSC_ASM_WRITES | RSC_ASM_INDEX_8,
         .base = 1,
         .index = 6,
         .size = 8,
         .scale = 1,
         .count = 2},
    };
    uint64_t block = add_block(0x8000, 0, 9, 0, entries, 5);
    register_tables();
    expand((uint64_t[]){block, 0x5000, 0x6b, 0xfffffffeull << 32 | 5, 7, 0x5, 16, (uint64_t)-16, 3, 0}, 10);
    assert_int_equal(world.count, 9);
    expect(0, RSC_RECORD_READ, 0x5020, 8, 0x8000);
    expect(1, RSC_RECORD_READ, 0x502c, 4, 0x8000);
    expect(2, RSC_RECORD_READ, 0x5034, 8, 0x8000);
    expect(3, RSC_RECORD_WRITE, 0x5000, 20, 0x8000);
    expect(4, RSC_RECORD_READ, 0x5000, 8, 0x8000);
    expect(5, RSC_RECORD_READ, 0x5014, 4, 0x8000);
    expect(6, RSC_RECORD_READ, 0x501c, 4, 0x8000);
    expect(7, RSC_RECORD_WRITE, 0x5010, 8, 0x8000);
    expect(8, RSC_RECORD_WRITE, 0x4ff0, 8, 0x8000);
}

/* Calls by where their return address lies: returns, calls of what was not rebuilt, and frames that were jumped over. */
static void calls(void **unused) {
    (void)unused;
    const struct rsc_asm_entry call_entry = {
        .pc = 4, .kind = RSC_ASM_PLAIN, .flags = RSC_ASM_WRITES, .base = 1, .size = 8};
    const struct rsc_asm_entry return_entry = {.kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS, .base = 1, .size = 8};
    const struct rsc_asm_entry other = {.kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS, .base = 1, .size = 1};
    uint64_t caller = add_block(0x8000, 4, 2, RSC_PLAN_ENDS_CALL, &call_entry, 1);
    uint64_t behind = add_block(0x8009, 0, 2, 0, &other, 1);
    uint64_t middle = add_block(0x8800, 4, 2, RSC_PLAN_ENDS_CALL, &call_entry, 1);
    uint64_t callee = add_block(0x9000, 0, 2, RSC_PLAN_ENDS_RETURN, &return_entry, 1);
    register_tables();
    expand((uint64_t[]){caller, 0x7ff8, 0, callee, 0x7ff8, 0, behind, 1, 0}, 9);
    assert_int_equal(world.count, 5);
    expect(1, RSC_RECORD_CALL, 0x9000, 1, 0x8004);
    expect(3, RSC_RECORD_RETURN, 0x8009, 1, 0);
    /* Straight on behind a call: nothing was seen of what it called. */
    expand((uint64_t[]){caller, 0x7ff8, 0, behind, 1, 0, caller, 0x7ff8, 0}, 9);
    assert_int_equal(world.count, 3);
    /* The call that is open leads to middle, which calls on; then a piece of the caller calls again at the same place. */
    expand((uint64_t[]){middle, 0x7f00, 0, callee, 0x7f00, 0}, 6);
    expect(0, RSC_RECORD_CALL, 0x8800, 1, 0x8004);
    expect(2, RSC_RECORD_CALL, 0x9000, 1, 0x8804);
    assert_int_equal(world.state.frame_count, 2);
    expand((uint64_t[]){behind, 1, 0, caller, 0x7ff8, 0, callee, 0x7ff8, 0}, 9);
    expect(0, RSC_RECORD_RETURN, 0x8805, 1, 1);
    expect(3, RSC_RECORD_RETURN, 0x8005, 1, 0); /* middle never returned */
    expect(4, RSC_RECORD_CALL, 0x9000, 1, 0x8004);
    assert_int_equal(world.state.frame_count, 1);
}

/* Words that name no block are passed over, and tables that cannot be are not used. */
static void nonsense(void **unused) {
    (void)unused;
    struct rsc_asm_entry entry = {.kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS, .base = 9, .size = 1};
    uint64_t beyond = add_block(0x8000, 0, 2, 0, &entry, 1);
    entry.base = 1;
    entry.kind = 77;
    uint64_t kind = add_block(0x8000, 0, 2, 0, &entry, 1);
    entry.kind = RSC_ASM_PLAIN;
    uint64_t good = add_block(0x8000, 0, 2, 0, &entry, 1);
    uint64_t whole = world.used;
    add_block(0x8000, 0, 2, 0, &entry, 1);
    world.used = whole + 20; /* its entries lie outside */
    register_tables();
    expand((uint64_t[]){beyond, kind, good + 8, START + whole, 5, ~0ull, good, 0x6000, 0, 1ull << 60}, 10);
    assert_int_equal(world.count, 1);
    expect(0, RSC_RECORD_READ, 0x6000, 1, 0x8000);
    assert_int_equal(world.state.unknown, 7);
    /* Modules that lie nowhere. */
    struct rsc_asm_module modules[] = {
        {8, 8, 0}, {START, START + 64, RSC_PLAN_WORDS}, {START, START + 64, ~0ull}, {16, 8, 0}, {3, 64, 0}};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        assert_int_equal(rsc_asm_tables_add(world.tables, 3, &modules[i], world.ring), 0);
}

/* Tables and words by chance, most of them near what could be: nothing is read that is not there, and no block holds on for ever. */
static void scrambled(void **unused) {
    struct rsc_rng rng;
    (void)unused;
    rsc_rng_seed(&rng, 13, 1);
    for (int round = 0; round < 300; round++) {
        uint64_t blocks[24];
        world.used = 0;
        for (size_t i = 0; i < 24; i++) {
            struct rsc_asm_entry entries[6];
            uint16_t count = (uint16_t)(rsc_rng_u64(&rng) % 7);
            for (uint16_t k = 0; k < count; k++)
                entries[k] = (struct rsc_asm_entry){.pc = (uint16_t)(rsc_rng_u64(&rng) % 40),
                                                    .kind = (uint8_t)(rsc_rng_u64(&rng) % 9),
                                                    .flags = (uint8_t)(rsc_rng_u64(&rng) % 64),
                                                    .base = (uint8_t)(rsc_rng_u64(&rng) % 8),
                                                    .index = (uint8_t)(rsc_rng_u64(&rng) % 8),
                                                    .scale = 8,
                                                    .size = (uint16_t)(rsc_rng_u64(&rng) % 9),
                                                    .count = (uint8_t)(rsc_rng_u64(&rng) % 17),
                                                    .disp = (int32_t)rsc_rng_u64(&rng)};
            int is_run = rsc_rng_u64(&rng) % 2;
            if (is_run)
                for (uint16_t k = 0; k < count; k++) entries[k].kind = (uint8_t)(1 + entries[k].kind % 2);
            blocks[i] = add_block(0x8000 + 64 * i, 9, (uint16_t)(rsc_rng_u64(&rng) % 12),
                                  is_run ? RSC_ASM_RUN : (uint8_t)(rsc_rng_u64(&rng) % 4), entries, count);
            struct rsc_asm_block *head = (struct rsc_asm_block *)(world.bytes + blocks[i] - START);
            if (is_run) {
                head->reserved = (uint16_t)(rsc_rng_u64(&rng) % (rsc_rng_u64(&rng) % 8 ? 4 : 200));
                world.used += rsc_asm_block_bytes(head) - sizeof *head - count * sizeof *entries;
            }
        }
        rsc_asm_tables_free(world.tables); /* its tables are those of before */
        world.tables = rsc_asm_tables_new();
        assert_non_null(world.tables);
        rsc_rebuilt_reset(&world.state);
        world.state = (struct rsc_rebuilt){.tables = world.tables, .process = PROCESS};
        register_tables();
        uint32_t count = 1 + (uint32_t)(rsc_rng_u64(&rng) % 3000);
        uint64_t *words = malloc(count * sizeof *words);
        assert_non_null(words);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t any = rsc_rng_u64(&rng);
            switch (any % 8) {
            case 0:
            case 1: words[i] = blocks[(any >> 8) % 24]; break;
            case 2: words[i] = TURNS((any >> 8) % 1300); break;
            case 3: words[i] = (any >> 8) % 64; break;
            case 4: words[i] = 0; break;
            case 5: words[i] = any; break;
            default: words[i] = any >> 20; break;
            }
        }
        rsc_rebuilt_weigh(&world.state, words, count, NULL);
        for (int call = 0; call < 40; call++) {
            world.count =
                rsc_expand_rebuilt(&world.state, words, count, world.records, RSC_REBUILT_ROOM, &world.instructions);
            assert_true(world.count <= RSC_REBUILT_ROOM);
            if (!world.state.under_way) break;
            assert_true(world.count > 0); /* it gets on */
        }
        free(words);
    }
}

/* A module that was loaded where another was before: the newer one counts. */
static void replaced(void **unused) {
    (void)unused;
    struct rsc_asm_entry entry = {.kind = RSC_ASM_PLAIN, .flags = RSC_ASM_READS, .base = 1, .size = 1};
    uint64_t block = add_block(0x8000, 0, 2, 0, &entry, 1);
    register_tables();
    expand((uint64_t[]){block, 0x6000, 0}, 3);
    expect(0, RSC_RECORD_READ, 0x6000, 1, 0x8000);
    entry.size = 2;
    size_t first = world.used;
    add_block(0x8000, 0, 2, 0, &entry, 1);
    struct rsc_asm_module module = {START, START + world.used - first, first / 8};
    assert_int_equal(rsc_asm_tables_add(world.tables, PROCESS, &module, world.ring), 0);
    expand((uint64_t[]){block, 0x6000, 0}, 3);
    assert_int_equal(rsc_record_size(world.records[0].word), 2);
    /* Another process has none there. */
    world.state.process = PROCESS + 1;
    expand((uint64_t[]){block, 0, 0}, 3);
    assert_int_equal(world.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_entries, begin, end),
        cmocka_unit_test_setup_teardown(cut_short, begin, end),
        cmocka_unit_test_setup_teardown(runs, begin, end),
        cmocka_unit_test_setup_teardown(long_runs, begin, end),
        cmocka_unit_test_setup_teardown(strings, begin, end),
        cmocka_unit_test_setup_teardown(long_string, begin, end),
        cmocka_unit_test_setup_teardown(vectors, begin, end),
        cmocka_unit_test_setup_teardown(calls, begin, end),
        cmocka_unit_test_setup_teardown(nonsense, begin, end),
        cmocka_unit_test_setup_teardown(replaced, begin, end),
        cmocka_unit_test_setup_teardown(scrambled, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
