/* test_pages.c - pages keep what they hold when they grow, in several threads at once; meant to run under TSan too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/pages.h"

#define PAGE 4096u
#define WORDS(pages) ((pages) * PAGE / sizeof(uint64_t))

/* Grows a block page by page beside another that is in its way now and then. Returns the number of wrong words. */
static void *grow_beside(void *argument) {
    uint64_t mark = *(const uint64_t *)argument, wrong = 0;
    for (int round = 0; round < 60; round++) {
        uint64_t *in_the_way = rsc_pages_new(2 * PAGE), *block = rsc_pages_new(PAGE);
        uint64_t filled = 0;
        for (uint64_t pages = 1; pages <= 24; pages++) {
            if (pages > 1) block = rsc_pages_grow(block, (pages - 1) * PAGE, pages * PAGE);
            for (; filled < WORDS(pages); filled++) block[filled] = mark + filled;
            in_the_way[pages] = mark;
            if (pages == 12) rsc_pages_free(in_the_way, 2 * PAGE), in_the_way = rsc_pages_new(2 * PAGE);
        }
        for (uint64_t i = 0; i < filled; i++) wrong += block[i] != mark + i;
        rsc_pages_free(block, 24 * PAGE);
        rsc_pages_free(in_the_way, 2 * PAGE);
    }
    return (void *)(uintptr_t)wrong;
}

static void blocks_that_grow_side_by_side(void **state) {
    (void)state;
    pthread_t thread[4];
    uint64_t mark[4];
    for (int i = 0; i < 4; i++) {
        mark[i] = (uint64_t)(i + 1) << 32;
        assert_int_equal(pthread_create(&thread[i], NULL, grow_beside, &mark[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_that_grow_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
