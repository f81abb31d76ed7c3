/* test_set_choice.c - which sets, which bits every cache indexes with, and what is refused in one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "simulate/sampling/set_choice.h"

static struct rsc_sim_config sim;

static void caches(const char *l1, const char *l2) {
    struct rsc_cache_config cache;
    struct rsc_error error;
    memset(&sim, 0, sizeof sim);
    if (l1) {
        if (rsc_cache_config_parse(&cache, "l1", l1, &error) < 0) fail_msg("%s", error.message);
        assert_int_equal(rsc_sim_config_add(&sim, &cache, &error), 0);
    }
    if (rsc_cache_config_parse(&cache, "l2", l2, &error) < 0) fail_msg("%s", error.message);
    assert_int_equal(rsc_sim_config_add(&sim, &cache, &error), 0);
}

static void parsing(void **state) {
    (void)state;
    struct rsc_set_choice choice;
    struct rsc_error error;
    assert_int_equal(rsc_set_choice_parse(&choice, "1/16", &error), 0);
    assert_true(choice.denominator == 16 && !choice.random && !choice.bits_given && !choice.all_values);
    assert_int_equal(rsc_set_choice_parse(&choice, "1/10,random:5", &error), 0);
    assert_true(choice.denominator == 10 && choice.random && choice.seed == 5);
    assert_int_equal(rsc_set_choice_parse(&choice, "1/16,bits:8-11=3", &error), 0);
    assert_true(choice.bits_given && choice.low == 8 && choice.width == 4 && choice.value == 3);
    assert_int_equal(rsc_set_choice_parse(&choice, "1/64,bits:7-12=all", &error), 0);
    assert_true(choice.all_values && choice.low == 7 && choice.width == 6);
    assert_int_equal(rsc_set_choice_parse(&choice, "1/4,all", &error), 0);
    assert_true(choice.all_values && !choice.bits_given);
    static const char *const bad[] = {"",
                                      "1/1",
                                      "1/0",
                                      "2/3",
                                      "1/16,",
                                      "1/16,bits",
                                      "1/16,bits:",
                                      "1/16,bits:11-8",
                                      "1/16,bits:8-11=16",
                                      "1/8,bits:8-11",
                                      "1/12",
                                      "1/16,bits:8-11=",
                                      "1/16,random:",
                                      "1/16,randomly",
                                      "1/16,bits:60-70",
                                      "1/99999999999",
                                      "1/16,bits:8-11=all=",
                                      "-1/16",
                                      "1/ 16"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&error, 0, sizeof error);
        if (rsc_set_choice_parse(&choice, bad[i], &error) != RSC_EINVAL) fail_msg("%s was taken", bad[i]);
        assert_non_null(strstr(error.message, "--sample-sets"));
        assert_null(strchr(error.message, '\n'));
    }
}

static void shared_bits(void **state) {
    (void)state;
    struct rsc_error error;
    uint32_t low, width;
    /* The paper's: 32K of 32-byte blocks indexes with bits 5-14, 1M two-way of 128 with 7-18. */
    caches("32K,1,32", "1M,2,128");
    assert_int_equal(rsc_set_bits(&sim, &low, &width, &error), 0);
    assert_true(low == 7 && width == 8);
    assert_int_equal(rsc_set_bits_check(&sim, 8, 4, &error), 0);
    assert_int_equal(rsc_set_bits_check(&sim, 6, 4, &error), RSC_EINVAL);
    assert_non_null(strstr(error.message, "l2"));
    assert_int_equal(rsc_set_bits_check(&sim, 12, 4, &error), RSC_EINVAL);
    assert_non_null(strstr(error.message, "l1"));
    /* The upper eight index bits are hashed: of 7-19 that leaves 7-11. */
    caches("32K,1,32", "1M,1,128,pid");
    assert_int_equal(rsc_set_bits(&sim, &low, &width, &error), 0);
    assert_true(low == 7 && width == 5);
    assert_int_equal(rsc_set_bits_check(&sim, 9, 4, &error), RSC_EINVAL);
    assert_non_null(strstr(error.message, "process id"));
    /* Bits above the page offset are translated. */
    caches(NULL, "4M,1,128,pages");
    assert_int_equal(rsc_set_bits(&sim, &low, &width, &error), 0);
    assert_true(low == 7 && width == 5);
    assert_int_equal(rsc_set_bits_check(&sim, 9, 4, &error), RSC_EINVAL);
    assert_non_null(strstr(error.message, "page"));
    /* Sets that are no power of two: 96 of them have five bits of the block number in their index. */
    caches(NULL, "12K,2,64");
    assert_int_equal(rsc_set_bits(&sim, &low, &width, &error), 0);
    assert_true(low == 6 && width == 5);
    static const char *const alone[] = {"1M,16,64,drrip", "1M,16,64,prefetch", "1M,16,64,victim=4", "1M,16,64,buffer=4",
                                        "4K,64,64"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        caches("32K,8,64", alone[i]);
        assert_int_equal(rsc_set_bits(&sim, &low, &width, &error), RSC_EINVAL);
        assert_null(strchr(error.message, '\n'));
    }
}

static void settling(void **state) {
    (void)state;
    struct rsc_set_choice choice;
    struct rsc_block_sample sample;
    struct rsc_error error;
    char text[96];
    caches("32K,1,32", "1M,2,128");
    assert_int_equal(rsc_set_choice_parse(&choice, "1/16", &error), 0);
    assert_int_equal(rsc_set_choice_settle(&choice, &sim, &error), 0);
    assert_true(choice.low == 7 && choice.width == 4 && choice.value == 0);
    assert_int_equal(rsc_set_choice_sample(&choice, &sim, &sample, &error), 0);
    assert_true(rsc_block_sample_fraction(&sample) == 1.0 / 16 && rsc_block_sample_has(&sample, 0x1800) &&
                !rsc_block_sample_has(&sample, 0x1880));
    rsc_block_sample_free(&sample);
    rsc_set_choice_text(&choice, text, sizeof text);
    assert_string_equal(text, "constant bits 7-10 = 0");
    assert_int_equal(rsc_set_choice_parse(&choice, "1/512", &error), 0);
    assert_int_equal(rsc_set_choice_settle(&choice, &sim, &error), RSC_EINVAL);
    assert_int_equal(rsc_set_choice_parse(&choice, "1/200,random", &error), 0);
    assert_int_equal(rsc_set_choice_settle(&choice, &sim, &error), RSC_EINVAL);

    /* Random: so many of all values, each as often as any other. */
    unsigned taken[256] = {0};
    for (uint64_t seed = 0; seed < 800; seed++) {
        choice = (struct rsc_set_choice){.denominator = 16, .random = 1, .seed = seed};
        assert_int_equal(rsc_set_choice_settle(&choice, &sim, &error), 0);
        assert_int_equal(rsc_set_choice_sample(&choice, &sim, &sample, &error), 0);
        assert_int_equal(sample.kept, 16);
        assert_true(sample.low == 7 && sample.width == 8);
        for (uint64_t value = 0; value < 256; value++)
            taken[value] += (unsigned)rsc_block_sample_has(&sample, value << 7);
        rsc_block_sample_free(&sample);
    }
    for (int i = 0; i < 256; i++) assert_in_range(taken[i], 50 - 35, 50 + 35); /* deviation 6.8 */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parsing), cmocka_unit_test(shared_bits),
                                       cmocka_unit_test(settling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
