/* test_jit_map.c - names of code made at run time: what a runtime writes, and what nobody should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/rng.h"
#include "collect/symbols/jit_map.h"

static char path[64];

static void read_bytes(struct rsc_jit_map *map, const void *bytes, size_t count) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    assert_int_equal(rsc_jit_map_read(map, path), 0);
}

static void read_text(struct rsc_jit_map *map, const char *text) { read_bytes(map, text, strlen(text)); }

static void names_by_address(void **state) {
    struct rsc_jit_map map;
    (void)state;
    read_text(&map, "7f0000001000 40 LazyCompile:~f a.js:1\n"
                    "7f0000002000 10 old\n"
                    "0x7f0000003000 0x20 with a prefix\n"
                    "7f0000002000 10 new\n"
                    "7f0000004000 1000 around\n"
                    "7f0000004100 10 within\n"
                    "7f0000005000 10 cut sho");
    assert_int_equal(map.count, 6);
    assert_string_equal(rsc_jit_map_find(&map, 0x7f0000001000), "LazyCompile:~f a.js:1");
    assert_string_equal(rsc_jit_map_find(&map, 0x7f000000103f), "LazyCompile:~f a.js:1");
    assert_null(rsc_jit_map_find(&map, 0x7f0000001040));
    assert_null(rsc_jit_map_find(&map, 0x7f0000000fff));
    assert_string_equal(rsc_jit_map_find(&map, 0x7f000000200f), "new");
    assert_string_equal(rsc_jit_map_find(&map, 0x7f0000003010), "with a prefix");
    assert_string_equal(rsc_jit_map_find(&map, 0x7f0000004105), "within");
    assert_string_equal(rsc_jit_map_find(&map, 0x7f0000004200), "around");
    assert_null(rsc_jit_map_find(&map, 0x7f0000005001));
    rsc_jit_map_free(&map);
}

static void bad_lines_are_skipped(void **state) {
    struct rsc_jit_map map;
    char long_line[4000];
    (void)state;
    read_text(&map, "\n \nnonsense\n1000\n1000 20\n1000 20 \n-1000 20 minus\n1000 -20 minus\n1000 0 empty\n"
                    "ffffffffffffffff 20 beyond\nfffffffffffffffffffffff 1 beyond\n2000 10 good\n");
    assert_int_equal(map.count, 1);
    assert_string_equal(rsc_jit_map_find(&map, 0x2001), "good");
    rsc_jit_map_free(&map);
    memset(long_line, 'x', sizeof long_line);
    memcpy(long_line, "3000 10 ", 8);
    long_line[sizeof long_line - 2] = '\n';
    long_line[sizeof long_line - 1] = 0;
    read_text(&map, long_line);
    assert_int_equal(strlen(rsc_jit_map_find(&map, 0x3000)), RSC_JIT_NAME_MAX);
    rsc_jit_map_free(&map);
}

static void random_bytes(void **state) {
    static const char likely[] = "0123456789abcdef  \n\n";
    struct rsc_jit_map map;
    struct rsc_rng rng;
    unsigned char bytes[600];
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        rsc_rng_seed(&rng, seed, 0);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = rsc_rng_below(&rng, 20) ? (unsigned char)likely[rsc_rng_below(&rng, sizeof likely - 1)]
                                               : (unsigned char)rsc_rng_below(&rng, 256);
        read_bytes(&map, bytes, sizeof bytes);
        for (size_t i = 0; i < map.count; i++) {
            assert_true(map.rows[i].start < map.rows[i].end);
            assert_non_null(rsc_jit_map_find(&map, map.rows[i].start));
        }
        rsc_jit_map_free(&map);
    }
}

/* Not a plain file: nothing is read, and nothing hangs. */
static void other_files(void **state) {
    struct rsc_jit_map map;
    (void)state;
    unlink(path);
    assert_int_equal(rsc_jit_map_read(&map, path), 0);
    assert_int_equal(map.count, 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(rsc_jit_map_read(&map, path), 0);
    assert_int_equal(map.count, 0);
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_int_equal(rsc_jit_map_read(&map, path), 0);
    assert_int_equal(map.count, 0);
    unlink(path);
    assert_int_equal(rsc_jit_map_read(&map, "/tmp"), 0);
    assert_int_equal(map.count, 0);
    assert_null(rsc_jit_map_find(&map, 0x1000));
    rsc_jit_map_free(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_by_address),
        cmocka_unit_test(bad_lines_are_skipped),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(other_files),
    };
    snprintf(path, sizeof path, "/tmp/rsc_test_jit_map.%d", (int)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
