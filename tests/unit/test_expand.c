/*
 * test_expand.c - words and plans become records: fixed and loose words in the
 * order of their instructions, pieces joined, strings joined within lines and over
 * the ends of blocks, calls and returns told, executions resumed, instructions
 * counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <string.h>

#include "collect/drain/expand.h"

#define CODE 0x401000ull

static uint64_t plans[RSC_PLAN_WORDS]; /* zero pages that nobody touches cost nothing */

static uint64_t fixed_word(uint64_t addr, unsigned log2_size, unsigned rw) {
    return addr | (uint64_t)(log2_size | rw << 12 | 0x8000) << 48;
}

static uint64_t loose_word(uint32_t entry, uint64_t addr, unsigned log2_size, unsigned rw) {
    return rsc_loose_user(entry) | addr | (uint64_t)log2_size << 48 | (uint64_t)rw << 51;
}

/* A plan at `at`: instructions from pc on, `ends` the last; entries follow. */
static void plan(uint32_t at, uint64_t pc, uint32_t instructions, enum rsc_plan_end ends, uint32_t entries) {
    plans[at] = pc | (uint64_t)instructions << 48 | (uint64_t)ends << 58;
    plans[at + 1] = (pc + instructions - 1) | (uint64_t)entries << 48;
}

static uint64_t start(uint32_t at, uint32_t fixed) {
    return RSC_START | RSC_START_COUNTED | RSC_START_CALLS | at | (uint64_t)(1 + fixed) << 32;
}

#define EXPECT(record, wanted_type, wanted_addr, wanted_size, wanted_pc) \
    do {                                                                 \
        assert_int_equal(rsc_record_type((record).word), wanted_type);   \
        assert_int_equal((record).addr, wanted_addr);                    \
        assert_int_equal(rsc_record_size((record).word), wanted_size);   \
        assert_int_equal(rsc_record_pc((record).word), wanted_pc);       \
    } while (0)

static void fixed_and_loose_in_order(void **state) {
    struct rsc_expansion expansion = {0};
    struct rsc_record got[64];
    uint64_t instructions = 0;
    (void)state;
    plan(0, CODE, 4, RSC_PLAN_ENDS, 4);
    plans[2] = rsc_entry(CODE, 0, 1);
    plans[3] = rsc_entry(CODE + 2, 2, 2);     /* two pieces of 8 */
    plans[4] = rsc_entry(CODE + 3, 3, 1);
    plans[5] = rsc_entry(CODE + 1, 1, 1);     /* the loose one */
    const uint64_t words[] = {
        start(0, 3),
        fixed_word(0x1000, 2, 1),
        fixed_word(0x2008, 3, 2),
        0 /* not made */,
        loose_word(3, 0x3000, 3, 1),
        loose_word(3, 0x3008, 3, 1), /* end to end */
        loose_word(3, 0x4000, 3, 3),                              /* both */
        start(0, 3),
        fixed_word(0x1010, 0, 1),
        0,
        fixed_word(0x5000, 3, 2),
    };
    assert_int_equal(rsc_expand(&expansion, words, sizeof words / sizeof *words, plans, got, &instructions), 7);
    EXPECT(got[0], RSC_RECORD_READ, 0x1000, 4, CODE);
    EXPECT(got[1], RSC_RECORD_READ, 0x3000, 16, CODE + 1);
    EXPECT(got[2], RSC_RECORD_READ, 0x4000, 8, CODE + 1);
    EXPECT(got[3], RSC_RECORD_WRITE, 0x4000, 8, CODE + 1);
    EXPECT(got[4], RSC_RECORD_WRITE, 0x2000, 16, CODE + 2);
    EXPECT(got[5], RSC_RECORD_READ, 0x1010, 1, CODE);
    EXPECT(got[6], RSC_RECORD_WRITE, 0x5000, 8, CODE + 3);
    assert_int_equal(instructions, 8);
}

static void executions_are_told_apart(void **state) {
    struct rsc_expansion expansion = {0};
    struct rsc_record got[64];
    uint64_t instructions = 0;
    (void)state;
    plan(0, CODE, 1, RSC_PLAN_ENDS, 1);
    plans[2] = rsc_entry(CODE, 0, 1);
    const uint64_t words[] = {
        start(0, 0),
        loose_word(0, 0x1000, 3, 1),
        loose_word(0, 0x1008, 3, 1),
        start(0, 0),
        loose_word(0, 0x1010, 3, 1), /* end to end with the one before, but another */
        start(0, 0) | RSC_START_RESUMED,
        loose_word(0, 0x1040, 3, 1), /* not counted again */
    };
    assert_int_equal(rsc_expand(&expansion, words, sizeof words / sizeof *words, plans, got, &instructions), 3);
    EXPECT(got[0], RSC_RECORD_READ, 0x1000, 16, CODE);
    EXPECT(got[1], RSC_RECORD_READ, 0x1010, 8, CODE);
    EXPECT(got[2], RSC_RECORD_READ, 0x1040, 8, CODE);
    assert_int_equal(instructions, 2);
}

static void calls_and_returns(void **state) {
    struct rsc_expansion expansion = {0};
    struct rsc_record got[64];
    uint64_t instructions = 0;
    (void)state;
    plan(0, CODE, 2, RSC_PLAN_ENDS_CALL, 0);
    plan(8, CODE + 0x100, 3, RSC_PLAN_ENDS_RETURN, 0);
    plan(16, CODE + 2, 1, RSC_PLAN_ENDS, 0);
    const uint64_t first[] = {start(0, 0)};
    const uint64_t then[] = {start(8, 0), start(16, 0), rsc_record_word(RSC_RECORD_ALLOC, 1, 100),
                             0x9000,      start(0, 0),  start(8, 0) & ~RSC_START_CALLS};
    assert_int_equal(rsc_expand(&expansion, first, 1, plans, got, &instructions), 0);
    assert_int_equal(rsc_expand(&expansion, then, 6, plans, got, &instructions), 3);
    EXPECT(got[0], RSC_RECORD_CALL, CODE + 0x100, 1, CODE + 1);
    EXPECT(got[1], RSC_RECORD_RETURN, CODE + 2, 1, 0);
    EXPECT(got[2], RSC_RECORD_ALLOC, 0x9000, 1, 100);
    assert_int_equal(instructions, 2 + 3 + 1 + 2 + 3);
}

/* A copy of 200 bytes, byte by byte, with the blocks of the ring cut at every place there is. */
static void strings_over_the_ends_of_blocks(void **state) {
    uint64_t words[1000];
    uint32_t count = 0;
    (void)state;
    plan(0, CODE, 2, RSC_PLAN_ENDS_REP, 2); /* something, then rep movsb */
    plans[2] = rsc_entry(CODE, 0, 1);
    plans[3] = rsc_entry(CODE + 1, 1, 1) | RSC_ENTRY_REP;
    plan(8, CODE + 1, 1, RSC_PLAN_ENDS_REP, 1); /* each but the first */
    plans[10] = rsc_entry(CODE + 1, 0, 1) | RSC_ENTRY_REP;
    for (uint32_t i = 0; i < 200; i++) {
        words[count++] = i ? start(8, 0) : start(0, 0);
        words[count++] = loose_word(i ? 0 : 1, 0x1000 + i, 0, 1);
        words[count++] = loose_word(i ? 0 : 1, 0x2020 + i, 0, 2);
    }
    for (uint32_t cut = 0; cut <= count; cut++) {
        struct rsc_expansion expansion = {0};
        struct rsc_record got[2 * 1000 + RSC_EXPANSION_HELD];
        uint64_t instructions = 0, rest[1001];
        uint32_t resumed = cut % 3 != 0; /* within an execution: the next block says which */
        rest[0] = (cut < 3 ? start(0, 0) : start(8, 0)) | RSC_START_RESUMED;
        memcpy(rest + resumed, words + cut, (count - cut) * sizeof *words);
        uint32_t have = rsc_expand(&expansion, words, cut, plans, got, &instructions);
        have += rsc_expand(&expansion, rest, count - cut + resumed, plans, got + have, &instructions);
        have += rsc_expand_held(&expansion, got + have);
        assert_int_equal(have, 8);
        EXPECT(got[0], RSC_RECORD_READ, 0x1000, 64, CODE + 1);
        EXPECT(got[1], RSC_RECORD_WRITE, 0x2020, 32, CODE + 1);
        EXPECT(got[2], RSC_RECORD_WRITE, 0x2040, 64, CODE + 1);
        EXPECT(got[3], RSC_RECORD_READ, 0x1040, 64, CODE + 1);
        EXPECT(got[7], RSC_RECORD_READ, 0x10c0, 8, CODE + 1);
        assert_int_equal(instructions, 2);
    }
}

/* No room was left for the plan in the ring: it is among the words. */
static void plans_among_the_words(void **state) {
    struct rsc_expansion expansion = {0};
    struct rsc_record got[64];
    uint64_t instructions = 0;
    (void)state;
    const uint64_t words[] = {
        RSC_START | RSC_START_INLINE | RSC_START_COUNTED,  CODE | 5ull << 48,           (CODE + 4) | 1ull << 48,
        rsc_entry(CODE + 2, 2, 1) | RSC_ENTRY_ONLY_WRITES, loose_word(0, 0x1000, 3, 1), loose_word(0, 0x1000, 3, 2),
    };
    assert_int_equal(rsc_expand(&expansion, words, 6, plans, got, &instructions), 1);
    EXPECT(got[0], RSC_RECORD_WRITE, 0x1000, 8, CODE + 2);
    assert_int_equal(instructions, 5);
    /* Cut off anywhere, nothing beyond is looked at (the sanitizer would see it), and nothing of it is an access. */
    for (uint32_t count = 0; count < 6; count++) {
        uint64_t *cut = malloc((count + !count) * sizeof *cut);
        assert_non_null(cut);
        memcpy(cut, words, count * sizeof *words);
        uint32_t have = rsc_expand(&expansion, cut, count, plans, got, &instructions);
        for (uint32_t i = 0; i < have; i++) assert_int_equal(rsc_record_type(got[i].word), 0);
        free(cut);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_and_loose_in_order), cmocka_unit_test(executions_are_told_apart),
        cmocka_unit_test(calls_and_returns),        cmocka_unit_test(strings_over_the_ends_of_blocks),
        cmocka_unit_test(plans_among_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
