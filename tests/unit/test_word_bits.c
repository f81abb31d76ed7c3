/* test_word_bits.c - the bits of words, for every vector width and all short lengths, against one word after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/word_bits.h"

#define COUNT_MAX 200u

static void test_widths(void **state) {
    (void)state;
    struct rsc_rng rng;
    uint64_t words[COUNT_MAX];
    rsc_rng_seed(&rng, 1, 0);
    for (enum rsc_simd simd = RSC_SIMD_PLAIN; simd < RSC_SIMD_COUNT; simd++) {
        if (!rsc_simd_available(simd)) continue;
        for (uint32_t count = 0; count <= COUNT_MAX; count++) {
            const uint64_t same = rsc_rng_u64(&rng), loose = 1ull << (count % 64);
            uint64_t any = 0, differ = 0;
            for (uint32_t i = 0; i < count; i++) words[i] = same ^ (rsc_rng_below(&rng, count) ? 0 : loose);
            for (uint32_t i = 0; i < count; i++) {
                any |= words[i];
                differ |= words[i] ^ words[0];
            }
            const struct rsc_word_bits bits = RSC_WIDE_PICK(simd, rsc_word_bits_run)(words, count);
            assert_int_equal(bits.any, any);
            assert_int_equal(bits.differ, differ);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_widths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
