/* test_loop_tree.c - the loop tree: sealing, layout, and the text form there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "loop_values.h"
#include "loops/tree/affine.h"
#include "loops/tree/loop_text.h"

static struct rsc_loop_program *read_text(const char *text) {
    struct rsc_loop_program *program;
    struct rsc_error error = {0};
    if (rsc_loop_text_read(text, strlen(text), "t", NULL, 0, &program, &error)) fail_msg("%s", error.message);
    return program;
}

static void test_sealed_fields(void **state) {
    (void)state;
    struct rsc_loop_program *program =
        read_text("loops 1 array a 8 [8][16] array p 4 [] nest n { parallel { for i = 0 to 7 share static nowait {"
                  "for j = i to 15 { read a[i][j] read a[0][j] } let q = floor(i / 2) { write p[q - 2] } } } }");
    const struct rsc_loop_region *region = &program->region[0];
    assert_int_equal(region->reference_count, 3);
    assert_int_equal(region->depth_max, 2);
    const struct rsc_loop_node *share = region->root->child[0]->child[0], *inner = share->child[0],
                               *let = share->child[1];
    assert_true(share->share && share->shared_loop == share && !share->has_barrier && region->root->has_barrier);
    assert_true(share->follows_share && !inner->follows_share && let->follows_share); /* j has i in one bound only */
    assert_true(inner->depends && !let->depends && rsc_loop_is_let(let));
    assert_true(inner->child[0]->follows_share && !inner->child[1]->follows_share && let->child[0]->follows_share);
    assert_int_equal(inner->least, 0);
    assert_int_equal(inner->most, 15);
    assert_int_equal(let->child[0]->least, -8);
    assert_int_equal(let->child[0]->most, 4);
    assert_int_equal(program->array[0].bytes, 1024);
    assert_int_equal(program->array[1].bytes, 8); /* as far as references reach */
    struct rsc_error error;
    assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
    assert_int_equal(program->array[1].base, 1024 + 64); /* room for what lies before its start */
    rsc_loop_program_free(program);
}

static void test_layout(void **state) {
    (void)state;
    struct rsc_error error;
    struct rsc_loop_program *program = read_text("loops 1 array a 1 [100] array fixed 8 [8] base 0x80 array mine 8 [9] "
                                                 "private array b 1 [1] array c 1 [64] array own 1 private "
                                                 "nest n { read a[0] }");
    assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
    assert_int_equal(program->array[0].base, 0);
    assert_int_equal(program->array[1].base, 0x80);
    assert_int_equal(program->array[3].base, 0xc0);
    assert_int_equal(program->array[4].base, 0x100);
    assert_int_equal(program->array[2].base, 0x140); /* private ones last, a block for each thread */
    assert_int_equal(program->array[5].base, 0x1c0);
    assert_int_equal(program->private_stride, 0xc0);
    rsc_loop_program_free(program);
}

static void test_trips(void **state) {
    (void)state;
    static const struct {
        const char *loop;
        int64_t trip, first;
    } cases[] = {{"0 to 9", 10, 0},
                 {"0 to -1", 0, 0},
                 {"5 to 5 step 7", 1, 5},
                 {"9 to 0 step -1", 10, 9},
                 {"9 to 0 step -4", 3, 9},
                 {"0 to 9 step 3", 4, 0},
                 {"floor(-7 / 2) to ceil(-7 / 2)", 2, -4},
                 {"max(1, 4) to min(9, 6)", 3, 4},
                 {"min(9, 6) to max(1, 4) step -1", 3, 6},
                 {"0 to 9 step -1", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        int64_t first, value[RSC_LOOP_DEPTH_MAX] = {0};
        snprintf(text, sizeof text, "loops 1 array a 8 [64] nest n { for i = %s { read a[0] } }", cases[i].loop);
        struct rsc_loop_program *program = read_text(text);
        const struct rsc_loop_node *loop = program->region[0].root->child[0];
        assert_int_equal(loop_trip(loop, value, &first), cases[i].trip);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(loop->never, cases[i].trip == 0);
        rsc_loop_program_free(program);
    }
}

static void test_conditions(void **state) {
    (void)state;
    static const struct {
        const char *condition;
        const char *holds; /* for i = -3 .. 3 */
    } cases[] = {{"i < 1", "1111000"},           {"i <= 1", "1111100"},
                 {"i > 1", "0000011"},           {"i >= 1", "0000111"},
                 {"i == 1", "0000100"},          {"i != 1", "1111011"},
                 {"i % 2 == 1", "1010101"},      {"i % 3 != 2", "1101101"},
                 {"0 < i and i < 3", "0000110"}, {"2*i + 1 >= 1 - i", "0001111"},
                 {"-i < i - -2", "0001111"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200], holds[8] = "";
        snprintf(text, sizeof text, "loops 1 array a 8 [64] nest n { for i = -3 to 3 { when %s { read a[0] } } }",
                 cases[i].condition);
        struct rsc_loop_program *program = read_text(text);
        for (int64_t value = -3; value <= 3; value++)
            holds[value + 3] = (char)('0' + guard_holds(program->region[0].root->child[0]->child[0], &value));
        assert_string_equal(holds, cases[i].holds);
        rsc_loop_program_free(program);
    }
}

/* Random trees: what is written reads back to the same tree. */
struct maker {
    struct rsc_loop_program *program;
    struct rsc_rng rng;
};

static int64_t pick(struct maker *maker, int64_t low, int64_t high) {
    return low + (int64_t)rsc_rng_below(&maker->rng, (uint64_t)(high - low + 1));
}

static struct rsc_affine random_affine(struct maker *maker, uint32_t depth) {
    struct rsc_affine affine = rsc_affine_number(pick(maker, -40, 40));
    for (uint32_t d = 0; d < depth; d++)
        if (pick(maker, 0, 1)) affine.coefficient[d] = pick(maker, -9, 9);
    return affine;
}

static void random_bound(struct maker *maker, struct rsc_loop_bound *bound, uint32_t depth) {
    for (int64_t i = pick(maker, 1, 3); i > 0; i--) {
        struct rsc_loop_term term = {.value = random_affine(maker, depth), .divisor = 1};
        term.rounding = (enum rsc_rounding)pick(maker, 0, 2);
        if (term.rounding != RSC_ROUND_NONE) term.divisor = pick(maker, 1, 9);
        assert_int_equal(rsc_loop_add_term(maker->program, bound, &term), 0);
    }
}

static void random_children(struct maker *maker, struct rsc_loop_node *parent, int levels, int in_parallel) {
    for (int64_t i = pick(maker, 1, 3); i > 0; i--) {
        enum rsc_loop_kind kind = levels ? (enum rsc_loop_kind)pick(maker, 0, 4) : RSC_NODE_REFERENCE;
        if (kind == RSC_NODE_PARALLEL && in_parallel) kind = RSC_NODE_LOOP;
        struct rsc_loop_node *node = rsc_loop_add_node(maker->program, parent, kind);
        assert_non_null(node);
        node->line = (uint32_t)pick(maker, 0, 99);
        if (kind == RSC_NODE_LOOP) {
            char name[16];
            snprintf(name, sizeof name, "v%u", node->depth);
            node->variable = rsc_arena_strdup(&maker->program->arena, name);
            random_bound(maker, &node->first, node->depth);
            random_bound(maker, &node->last, node->depth);
            node->step = pick(maker, 0, 1) ? pick(maker, 1, 5) : pick(maker, -5, -1);
            if (in_parallel == 1) {
                node->share = 1;
                node->schedule = (enum rsc_schedule)pick(maker, 0, 2);
                node->chunk = (uint64_t)pick(maker, 0, 9);
                node->nowait = (int)pick(maker, 0, 1);
            }
        } else if (kind == RSC_NODE_GUARD) {
            for (int64_t c = pick(maker, 1, 3); c > 0; c--) {
                struct rsc_condition condition = {.kind = (enum rsc_condition_kind)pick(maker, 0, 4),
                                                  .value = random_affine(maker, node->depth)};
                if (condition.kind >= RSC_WHEN_DIVISIBLE) condition.modulus = pick(maker, 2, 9);
                assert_int_equal(rsc_loop_add_condition(maker->program, node, &condition), 0);
            }
        } else if (kind == RSC_NODE_REFERENCE) {
            node->array = (uint32_t)pick(maker, 0, 2);
            node->is_write = (int)pick(maker, 0, 1);
            node->size_bytes = (uint32_t)pick(maker, 1, 16);
            node->offset = random_affine(maker, node->depth);
            if (pick(maker, 0, 1)) {
                struct rsc_affine eight = rsc_affine_number(8);
                rsc_affine_multiply(&node->offset, &eight);
            }
            if (pick(maker, 0, 1)) node->text = "a \"quoted\" \\ text";
        }
        if (kind != RSC_NODE_REFERENCE)
            random_children(maker, node, levels - 1,
                            kind == RSC_NODE_PARALLEL              ? 1
                            : in_parallel && kind == RSC_NODE_LOOP ? 2
                                                                   : in_parallel);
    }
}

static void same_nodes(const struct rsc_loop_node *a, const struct rsc_loop_node *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->child_count, b->child_count);
    assert_int_equal(a->id, b->id);
    if (a->kind != RSC_NODE_BODY) assert_int_equal(a->line, b->line);
    assert_int_equal(a->step, b->step);
    assert_int_equal(a->share, b->share);
    assert_int_equal(a->chunk, b->chunk);
    assert_int_equal(a->nowait, b->nowait);
    assert_int_equal(a->schedule, b->schedule);
    assert_int_equal(a->first.count, b->first.count);
    assert_int_equal(a->last.count, b->last.count);
    for (uint32_t i = 0; i < a->first.count; i++)
        assert_memory_equal(&a->first.term[i], &b->first.term[i], sizeof a->first.term[i]);
    for (uint32_t i = 0; i < a->last.count; i++)
        assert_memory_equal(&a->last.term[i], &b->last.term[i], sizeof a->last.term[i]);
    assert_int_equal(a->condition_count, b->condition_count);
    for (uint32_t i = 0; i < a->condition_count; i++) {
        assert_int_equal(a->condition[i].kind, b->condition[i].kind);
        assert_int_equal(a->condition[i].modulus, b->condition[i].modulus);
        assert_memory_equal(&a->condition[i].value, &b->condition[i].value, sizeof a->condition[i].value);
    }
    if (a->kind == RSC_NODE_REFERENCE) {
        assert_int_equal(a->array, b->array);
        assert_int_equal(a->is_write, b->is_write);
        assert_int_equal(a->size_bytes, b->size_bytes);
        assert_memory_equal(&a->offset, &b->offset, sizeof a->offset);
        assert_int_equal(a->text != NULL, b->text != NULL);
        if (a->text) assert_string_equal(a->text, b->text);
    }
    for (uint32_t i = 0; i < a->child_count; i++) same_nodes(a->child[i], b->child[i]);
}

static void test_there_and_back(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct maker maker = {.program = rsc_loop_program_new()};
        struct rsc_error error = {0};
        rsc_rng_seed(&maker.rng, seed, 0);
        struct rsc_loop_array *array = rsc_loop_add_array(maker.program, "a");
        *array = (struct rsc_loop_array){array->name, 8, 2, {20, 30}, 0, 0, 0, 0};
        array = rsc_loop_add_array(maker.program, "odd name");
        *array = (struct rsc_loop_array){array->name, 8, 3, {0, 5, 7}, 0, 0, 0, 0};
        array = rsc_loop_add_array(maker.program, "s");
        array->is_private = 1;
        random_children(&maker, rsc_loop_add_region(maker.program, "r")->root, 4, 0);
        if (rsc_loop_seal(maker.program, "t", &error))
            fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
        char *text;
        size_t bytes;
        struct rsc_loop_program *again;
        assert_int_equal(rsc_loop_text_write(maker.program, &text, &bytes), 0);
        if (rsc_loop_text_read(text, bytes, "t", NULL, 0, &again, &error))
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, error.message, text);
        same_nodes(maker.program->region[0].root, again->region[0].root);
        free(text);
        rsc_loop_program_free(again);
        rsc_loop_program_free(maker.program);
    }
}

static void test_affine_limits(void **state) {
    (void)state;
    struct rsc_affine a = rsc_affine_number(RSC_LOOP_VALUE_MAX), b = rsc_affine_number(1), v = rsc_affine_variable(3),
                      w = rsc_affine_variable(2);
    assert_int_equal(rsc_affine_add(&a, &b, 1), RSC_ELIMIT);
    a = rsc_affine_number(RSC_LOOP_VALUE_MAX);
    assert_int_equal(rsc_affine_add(&a, &b, -1), 0);
    assert_int_equal(rsc_affine_multiply(&v, &w), RSC_EUNSUPPORTED);
    b = rsc_affine_number(INT64_C(1) << 40);
    assert_int_equal(rsc_affine_multiply(&b, &b), RSC_ELIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sealed_fields),  cmocka_unit_test(test_layout),
        cmocka_unit_test(test_trips),          cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_affine_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
