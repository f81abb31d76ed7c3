/*
 * property_pieces.c - random pieces and random executions of them: the decoder as the parent uses it
 * (tables from the ring, records a few at a time), as a thread of the program does (turn by turn, by
 * sums that accesses share, without memory) and a plain reading of asm_abi.h, element by element,
 * find the same accesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"
#include "collect/drain/expand_rebuilt.h"

#define START 0x10000ull
#define ENTRIES_MAX 12
#define WORDS_MAX 1024
#define RECORDS_MAX 65536
#define ROUNDS 20000
#define SEED 20

static struct rsc_rng rng;
static uint64_t below(uint64_t n) { return rsc_rng_below(&rng, n); }

static struct {
    struct rsc_asm_block head;
    struct rsc_asm_entry entries[ENTRIES_MAX];
    int32_t steps[ENTRIES_MAX];
    uint64_t words[WORDS_MAX]; /* an execution; the first is where the table is */
    uint32_t turns, word_count;
    uint64_t bytes[64]; /* the table */
    size_t size;
} drawn;

struct access {
    uint64_t addr, size, pc;
    int is_write;
};
struct list {
    struct access all[RECORDS_MAX];
    uint32_t count;
};
static struct list expected, found;

/* ---- drawing ---- */

static void draw_entry(struct rsc_asm_entry *entry, uint16_t number, int is_run, uint8_t words) {
    static const uint16_t sizes[] = {0, 1, 2, 4, 8, 8, 16, 32, 64, 65, 128, 129, 300, 512};
    static const uint8_t scales[] = {1, 2, 4, 8};
    *entry = (struct rsc_asm_entry){.pc = (uint16_t)(4 * number),
                                    .order = number,
                                    .kind = (uint8_t)(1 + below(is_run ? 2 : 7)),
                                    .flags = (uint8_t)(1 + below(3)),
                                    .base = (uint8_t)(below(4) ? 1 + below(words - 1) : 0),
                                    .index = (uint8_t)(below(2) ? 1 + below(words - 1) : 0),
                                    .disp = (int32_t)below(400) - 200,
                                    .size = sizes[below(sizeof sizes / sizeof *sizes)],
                                    .scale = scales[below(4)]};
    uint32_t element = 1u << below(4);
    switch (entry->kind) {
    case RSC_ASM_STRING:
        entry->size = (uint16_t)element;
        entry->base = (uint8_t)(1 + below(words - 1));
        entry->flags = (uint8_t)(1 + below(2));
        entry->count = (uint8_t)below(words);
        if (!below(3)) entry->flags |= RSC_ASM_BY_EQUAL;
        break;
    case RSC_ASM_MASKED:
    case RSC_ASM_PACKED:
        entry->size = (uint16_t)element;
        entry->count = (uint8_t)(64 / element);
        break;
    case RSC_ASM_ANY:
        entry->size = (uint16_t)element;
        entry->count = (uint8_t)(1 + below(64));
        break;
    case RSC_ASM_GATHERED:
        entry->size = (uint16_t)element;
        entry->count = (uint8_t)(1 + below(8));
        if (below(2)) entry->flags |= RSC_ASM_INDEX_8;
        entry->index = (uint8_t)(1 + below(words - 10)); /* at most 8 words of indices, and the mask */
        break;
    default: break;
    }
}

static void draw_piece(void) {
    const int is_run = !below(4);
    const uint8_t words = (uint8_t)(12 + below(12));
    uint16_t count = (uint16_t)below(ENTRIES_MAX);
    drawn.head = (struct rsc_asm_block){.pc = 0x1000,
                                        .last = (uint16_t)(4 * count),
                                        .instructions = (uint16_t)(1 + count),
                                        .words = is_run ? (uint16_t)(4 + below(5)) : words,
                                        .ends = is_run ? RSC_ASM_RUN : 0,
                                        .abi = RSC_ASM_ABI};
    if (!is_run) drawn.head.reserved = (uint16_t)(words + below(3));
    else if (below(3)) drawn.head.reserved = (uint16_t)(words - drawn.head.words);
    for (uint16_t i = 0; i < count; i++) {
        draw_entry(&drawn.entries[i], i, is_run, (uint8_t)(is_run ? drawn.head.words + drawn.head.reserved : words));
        drawn.steps[i] = below(3) ? (int32_t)below(200) - 100 : 0;
        /* movs and cmps: another of the same instruction */
        if (drawn.entries[i].kind == RSC_ASM_STRING && below(2) && i + 1 < count) {
            drawn.entries[i + 1] = drawn.entries[i];
            drawn.entries[++i].base = (uint8_t)(1 + below(words - 1));
            drawn.entries[i].flags ^= below(2) ? RSC_ASM_READS | RSC_ASM_WRITES : 0;
        }
    }
    drawn.head.entries = count;
    drawn.size = rsc_asm_block_bytes(&drawn.head);
    assert_true(drawn.size <= sizeof drawn.bytes);
    memset(drawn.bytes, 0, sizeof drawn.bytes);
    memcpy(drawn.bytes, &drawn.head, sizeof drawn.head);
    memcpy(drawn.bytes + 2, drawn.entries, count * sizeof *drawn.entries);
    if (is_run) memcpy(drawn.bytes + 2 + 2 * count, drawn.steps, count * sizeof *drawn.steps);
}

/* Words as registers have them: addresses near one another, counts, masks; zero where nothing was written. */
static void draw_words(void) {
    const int is_run = rsc_asm_is_run(&drawn.head);
    const uint32_t each = drawn.head.reserved;
    drawn.turns = is_run ? (uint32_t)below(30) : 1;
    drawn.word_count = is_run ? drawn.head.words + drawn.turns * each : each;
    for (uint32_t i = 0; i < drawn.word_count; i++) {
        uint64_t any = below(10);
        drawn.words[i] = any < 5   ? 0x7f0000001000 + below(300)
                         : any < 7 ? below(120)
                         : any < 8 ? 0
                         : any < 9 ? rsc_rng_u64(&rng)
                                   : rsc_rng_u64(&rng) & rsc_rng_u64(&rng) & 0xff;
    }
    if (!is_run && !below(6)) { /* an instruction faulted: nothing behind it */
        uint32_t from = 1 + (uint32_t)below(drawn.word_count);
        for (uint32_t i = from; i < drawn.word_count; i++) drawn.words[i] = 0;
    }
    /* Strings that end some day. */
    for (uint32_t i = 0; i < drawn.head.entries; i++)
        if (drawn.entries[i].kind == RSC_ASM_STRING && drawn.entries[i].index)
            drawn.words[drawn.entries[i].index] = below(5) ? below(100) : below(3000);
    drawn.words[0] = START;
    if (is_run) drawn.words[1] = (uint64_t)RSC_ASM_RECORD + drawn.turns * (each ? each : 1);
}

/* ---- the reference ---- */

static uint64_t word_in(uint32_t number, uint32_t turn) {
    if (!number) return 0;
    if (rsc_asm_is_run(&drawn.head) && number >= drawn.head.words) number += turn * drawn.head.reserved;
    return drawn.words[number];
}

static void expect_access(uint64_t addr, uint64_t size, const struct rsc_asm_entry *entry, int is_write) {
    assert_true(expected.count < RECORDS_MAX);
    expected.all[expected.count++] = (struct access){addr & 0xffffffffffff, size, START + 0x1000 + entry->pc, is_write};
}

/* The elements of one string, or of two alternating; neighbours in a line are one access. */
static void expect_strings(const struct rsc_asm_entry *entries, uint32_t streams) {
    uint64_t count = word_in(entries->index, 0), left = word_in(entries->count, 0), line[2] = {0};
    uint32_t last[2] = {0};
    if (!word_in(entries->base, 0)) return;
    if (entries->flags & RSC_ASM_BY_EQUAL) count -= left < count ? left : count;
    for (uint64_t element = 0; element < count; element++)
        for (uint32_t i = 0; i < streams; i++) {
            uint64_t start = (word_in(entries[i].base, 0) + (uint64_t)(int64_t)entries[i].disp) & 0xffffffffffff;
            uint64_t addr = start + element * entries->size;
            if (element && line[i] == addr / 64) {
                expected.all[last[i]].size += entries->size;
                continue;
            }
            line[i] = addr / 64;
            last[i] = expected.count;
            expect_access(addr, entries->size, &entries[i], (entries[i].flags & RSC_ASM_WRITES) != 0);
        }
}

static int64_t gathered_index(const struct rsc_asm_entry *entry, uint32_t element) {
    int32_t narrow;
    int64_t wide;
    const char *indices = (const char *)&drawn.words[entry->index];
    if (entry->flags & RSC_ASM_INDEX_8) {
        memcpy(&wide, indices + 8 * element, 8);
        return wide;
    }
    memcpy(&narrow, indices + 4 * element, 4);
    return narrow;
}

static void expect_elements(const struct rsc_asm_entry *entry, uint64_t start, int is_write) {
    uint64_t mask = word_in(entry->index, 0);
    uint32_t set = 0;
    if (entry->kind == RSC_ASM_GATHERED) {
        uint32_t index_bytes = entry->flags & RSC_ASM_INDEX_8 ? 8 : 4;
        mask = drawn.words[entry->index + (entry->count * index_bytes + 7) / 8];
    } else if (entry->base && !word_in(entry->base, 0)) {
        return;
    }
    for (uint32_t i = 0; i < entry->count; i++) {
        if (!(mask >> i & 1)) continue;
        set++;
        if (entry->kind == RSC_ASM_GATHERED)
            expect_access(start + (uint64_t)gathered_index(entry, i) * entry->scale, entry->size, entry, is_write);
        if (entry->kind != RSC_ASM_MASKED) continue;
        if (i && mask >> (i - 1) & 1) expected.all[expected.count - 1].size += entry->size;
        else expect_access(start + i * entry->size, entry->size, entry, is_write);
    }
    if (entry->kind == RSC_ASM_PACKED && set) expect_access(start, set * entry->size, entry, is_write);
    if (entry->kind == RSC_ASM_ANY && set) expect_access(start, entry->size, entry, is_write);
}

static void expect_entry(const struct rsc_asm_entry *entry, uint32_t turn, int is_write) {
    uint64_t base = word_in(entry->base, turn), index = word_in(entry->index, turn);
    uint64_t start = base + (uint64_t)(int64_t)entry->disp;
    if (entry->kind != RSC_ASM_PLAIN && entry->kind != RSC_ASM_RIP) {
        expect_elements(entry, start, is_write);
        return;
    }
    start += index * entry->scale;
    if (entry->kind == RSC_ASM_RIP) start = START + 0x1000 + entry->pc + (uint64_t)(int64_t)entry->disp;
    else if (entry->base && !base && !index) return;
    if (rsc_asm_is_run(&drawn.head)) start += turn * (uint64_t)(int64_t)drawn.steps[entry - drawn.entries];
    for (uint32_t at = 0; at < entry->size; at += 128)
        expect_access(start + at, entry->size - at < 128 ? entry->size - at : 128, entry, is_write);
}

static void expect_all(void) {
    expected.count = 0;
    for (uint32_t turn = 0; turn < drawn.turns; turn++)
        for (uint32_t i = 0; i < drawn.head.entries; i++) {
            const struct rsc_asm_entry *entry = &drawn.entries[i];
            if (entry->kind == RSC_ASM_STRING) {
                uint32_t streams =
                    i + 1 < drawn.head.entries && entry[1].kind == RSC_ASM_STRING && entry[1].pc == entry->pc ? 2 : 1;
                expect_strings(entry, streams);
                i += streams - 1;
                continue;
            }
            if (entry->flags & RSC_ASM_READS) expect_entry(entry, turn, 0);
            if (entry->flags & RSC_ASM_WRITES) expect_entry(entry, turn, 1);
        }
}

/* ---- the decoder ---- */

static void add_found(const struct rsc_record *record) {
    assert_true(found.count < RECORDS_MAX);
    found.all[found.count++] = (struct access){record->addr, rsc_record_size(record->word), rsc_record_pc(record->word),
                                               rsc_record_type(record->word) == RSC_RECORD_WRITE};
}

static void compare(int round, const char *what) {
    if (found.count == expected.count && !memcmp(found.all, expected.all, found.count * sizeof *found.all)) return;
    uint32_t i = 0;
    while (i < found.count && i < expected.count && !memcmp(&found.all[i], &expected.all[i], sizeof *found.all)) i++;
    fail_msg("seed %d, round %d, %s: %u accesses for %u; number %u is %#lx of %lu for %#lx of %lu", SEED, round, what,
             found.count, expected.count, i, (unsigned long)found.all[i].addr, (unsigned long)found.all[i].size,
             (unsigned long)expected.all[i].addr, (unsigned long)expected.all[i].size);
}

/* From a ring, with as little room for records as there may be. */
static void as_the_parent(struct rsc_ring *ring) {
    struct rsc_asm_tables *tables = rsc_asm_tables_new();
    struct rsc_asm_module module = {START, START + drawn.size, 0};
    struct rsc_rebuilt rebuilt = {.tables = tables};
    struct rsc_record records[256];
    uint64_t words[WORDS_MAX], instructions = 0;
    uint32_t room = 2 + RSC_PIECE_ROOM + (uint32_t)below(200);
    assert_non_null(tables);
    memcpy(ring->plans, drawn.bytes, drawn.size);
    assert_int_equal(rsc_asm_tables_add(tables, 0, &module, ring), 0);
    memcpy(words, drawn.words, sizeof words);
    found.count = 0;
    do {
        uint32_t count = rsc_expand_rebuilt(&rebuilt, words, drawn.word_count, records, room, &instructions);
        assert_true(count <= room);
        assert_true(count || !rebuilt.under_way);
        for (uint32_t i = 0; i < count; i++) add_found(&records[i]);
    } while (rebuilt.under_way);
    assert_int_equal(rebuilt.unknown, 0);
    assert_int_equal(instructions, (uint64_t)drawn.turns * drawn.head.instructions);
    rsc_rebuilt_reset(&rebuilt);
    rsc_asm_tables_free(tables);
}

static int was_made(const struct rsc_piece_access *access, uint32_t turn) {
    return !access->base || word_in(access->base, turn) || word_in(access->index, turn);
}

/* A plain access by the sum that it shares with others. */
static void check_form(const struct rsc_piece *piece, const struct rsc_piece_access *access, uint32_t turn) {
    if (!piece->form_count || !was_made(access, turn)) return;
    assert_true(access->form < piece->form_count);
    const struct rsc_piece_form *form = &piece->forms[access->form];
    uint64_t index = form->index ? drawn.words[form->index + turn * (piece->is_run ? form->index_moves : 0)] : 0;
    uint64_t base = form->base ? drawn.words[form->base + turn * (piece->is_run ? form->base_moves : 0)] : 0;
    uint64_t sum = base + index * form->scale + turn * (uint64_t)(int64_t)form->step;
    drawn.words[0] = 0;
    assert_int_equal((sum + (uint64_t)access->disp) & RSC_PIECE_ADDRESS, rsc_piece_address(access, drawn.words, turn));
    drawn.words[0] = START;
}

/* What one access spans is what its records do, and it touches their first and last byte. */
static void check_span(const struct rsc_piece *piece, const struct rsc_piece_access *access) {
    struct rsc_piece alone = *piece;
    struct rsc_piece_progress progress = {0};
    struct rsc_record records[4096];
    uint64_t address, low = UINT64_MAX, high = 0; /* bytes */
    uint64_t bytes = rsc_piece_span(access, drawn.words, 0, &address);
    alone.accesses = access;
    alone.count = 1;
    drawn.words[0] = 0;
    uint32_t count = rsc_piece_expand(&alone, drawn.words, 1, &progress, records, 4096);
    drawn.words[0] = START;
    assert_int_equal(bytes != 0, count != 0);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t last = records[i].addr + rsc_record_size(records[i].word) - 1;
        if (records[i].addr < low) low = records[i].addr;
        if (last > high) high = last;
    }
    if (!count || high >> 47) return; /* not around the end of addresses */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t first = records[i].addr, last = first + rsc_record_size(records[i].word) - 1;
        assert_true(rsc_piece_touches(access, drawn.words, first, first));
        assert_true(rsc_piece_touches(access, drawn.words, last, last + 7));
    }
    assert_false(rsc_piece_touches(access, drawn.words, high + 1, high + 8));
    if (access->kind == RSC_ASM_GATHERED) {
        assert_int_equal(address, records[0].addr);
        return;
    }
    assert_int_equal(address, low);
    assert_int_equal(bytes, high - low + 1);
}

/* With memory of its own, a turn at a time; and without any. */
static void as_the_program(int round) {
    struct rsc_piece_counts counts;
    struct rsc_piece_table table;
    struct rsc_piece_cursor cursor;
    struct rsc_piece opened;
    struct rsc_piece_access access;
    rsc_piece_table_count(&counts, START, START + drawn.size, drawn.bytes);
    void *memory = calloc(1, counts.bytes);
    assert_non_null(memory);
    rsc_piece_table_make(&table, &counts, START, START + drawn.size, drawn.bytes, memory);
    const struct rsc_piece *piece = rsc_piece_at(&table, START);
    assert_non_null(piece);
    assert_int_equal(counts.accesses, piece->count);
    if (piece->is_run) assert_int_equal(rsc_piece_whole_turns(piece, drawn.words, drawn.word_count), drawn.turns);
    found.count = 0;
    drawn.words[0] = 0;
    for (uint32_t turn = 0; turn < drawn.turns; turn++) {
        struct rsc_piece_progress progress = {.turn = turn};
        struct rsc_record records[64];
        while (progress.turn == turn) {
            uint32_t count = rsc_piece_expand(piece, drawn.words, turn + 1, &progress, records, 64);
            for (uint32_t i = 0; i < count; i++) add_found(&records[i]);
        }
    }
    drawn.words[0] = START;
    compare(round, "in the program");
    assert_true(rsc_piece_open(&cursor, &opened, START, (const void *)drawn.bytes, drawn.size));
    uint32_t ordinal = 0;
    for (uint32_t i = 0; i < piece->count; i++) {
        assert_int_equal(rsc_piece_next(&cursor, &opened, &access), 1);
        access.form = piece->accesses[i].form;
        assert_memory_equal(&access, &piece->accesses[i], sizeof access);
        assert_true(access.ordinal >= ordinal && access.ordinal < piece->weight);
        ordinal = access.ordinal;
        for (uint32_t turn = 0; turn < drawn.turns; turn++) check_form(piece, &access, turn);
        if (!piece->is_run) check_span(piece, &access);
    }
    assert_int_equal(rsc_piece_next(&cursor, &opened, &access), 0);
    free(memory);
}

static void pieces(void **unused) {
    (void)unused;
    struct rsc_ring *ring =
        mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(ring != MAP_FAILED);
    rsc_rng_seed(&rng, SEED, 0);
    for (int round = 0; round < ROUNDS; round++) {
        draw_piece();
        draw_words();
        expect_all();
        as_the_parent(ring);
        compare(round, "in the parent");
        as_the_program(round);
    }
    munmap(ring, sizeof *ring);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
