/* test_line_map.c - the line map against a plain list: dense, sparse and mixed lines, growth, units that move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/line_map.h"
#include "base/rng.h"

#define LINES_MAX 60000u

static uint32_t unit_of(const struct rsc_line_map *map, uint64_t line) {
    return rsc_line_map_unit(map, line, rsc_line_map_where(map, line, rsc_line_map_home(map, line)));
}

struct seen {
    const uint64_t *lines; /* number n - 1 is what the unit of its line holds */
    const struct rsc_line_map *map;
    uint64_t visited;
};

static void see(void *context, uint64_t line, uint32_t unit) {
    struct seen *seen = context;
    uint32_t number = seen->map->units[unit];
    if (!number) return; /* of a full block, never added */
    assert_int_equal(seen->lines[number - 1], line);
    if (seen->map->extra) assert_int_equal(seen->map->extra[unit], ~number);
    seen->visited++;
}

/* Adds lines drawn by `draw` and numbers them; checks moves as they happen, and everything at the end. */
static void follow(uint64_t (*draw)(struct rsc_rng *), uint32_t count, int extra, uint64_t seed) {
    struct rsc_line_map map;
    struct rsc_rng rng;
    uint64_t *lines = malloc(LINES_MAX * sizeof *lines);
    uint32_t distinct = 0;
    int status = 0;
    rsc_rng_seed(&rng, seed, 0);
    assert_int_equal(rsc_line_map_init(&map), 0);
    if (extra) assert_int_equal(rsc_line_map_add_extra(&map), 0);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = draw(&rng);
        uint32_t before = unit_of(&map, line);
        uint32_t unit = rsc_line_map_add(&map, line, &status);
        assert_int_not_equal(unit, 0);
        assert_int_equal(unit_of(&map, line), unit);
        for (uint32_t k = 0; k < map.moved_count; k++) {
            uint32_t number = map.units[map.moved_to[k]];
            assert_int_equal(unit_of(&map, lines[number - 1]), map.moved_to[k]);
        }
        if (before && map.units[unit]) {
            assert_int_equal(before, unit);
            assert_int_equal(lines[map.units[unit] - 1], line);
            continue;
        }
        lines[distinct++] = line;
        map.units[unit] = distinct;
        if (extra) map.extra[unit] = ~distinct;
    }
    for (uint32_t i = 0; i < distinct; i++) assert_int_equal(map.units[unit_of(&map, lines[i])], i + 1);
    struct seen seen = {lines, &map, 0};
    rsc_line_map_visit(&map, see, &seen);
    assert_int_equal(seen.visited, distinct);
    uint64_t live = 0; /* units alone tell as much */
    for (uint64_t unit = 0; unit < map.unit_count; unit++) live += map.units[unit] && map.units[unit] < RSC_UNIT_OTHER;
    assert_int_equal(live, distinct);
    rsc_line_map_free(&map);
    free(lines);
}

static uint64_t dense(struct rsc_rng *rng) { return rsc_rng_below(rng, 50000); }
static uint64_t sparse(struct rsc_rng *rng) { return rsc_rng_below(rng, 30000) * 1234567891011ull; }
static uint64_t any(struct rsc_rng *rng) { return rsc_rng_u64(rng); }
static uint64_t pairs(struct rsc_rng *rng) { return rsc_rng_below(rng, 9000) * 64 + rsc_rng_below(rng, 2) * 11; }
static uint64_t few(struct rsc_rng *rng) { return rsc_rng_below(rng, 5000) * 16 + rsc_rng_below(rng, 5) * 3; }
static uint64_t ends(struct rsc_rng *rng) { return rsc_rng_below(rng, 40) - 20; } /* 0 and the last line there is */

static void shapes(void **state) {
    (void)state;
    uint64_t (*const draws[])(struct rsc_rng *) = {dense, sparse, any, pairs, few, ends};
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++)
        for (int extra = 0; extra < 2; extra++) {
            follow(draws[i], 50, extra, i);
            follow(draws[i], LINES_MAX, extra, i + 100);
        }
}

/* Lines are looked up some time before they are added: what was found is theirs, or is seen to be out of date. */
static void follow_ahead(uint64_t (*draw)(struct rsc_rng *), uint64_t seed) {
    enum { AHEAD = 200, BLOCKS = 100 };
    struct rsc_line_map map;
    struct rsc_rng rng;
    uint64_t *lines = malloc(AHEAD * BLOCKS * sizeof *lines);
    uint32_t distinct = 0, where[AHEAD];
    int status = 0;
    rsc_rng_seed(&rng, seed, 0);
    assert_int_equal(rsc_line_map_init(&map), 0);
    rsc_line_map_look_ahead(&map);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        uint64_t drawn[AHEAD];
        for (uint32_t i = 0; i < AHEAD; i++) {
            drawn[i] = draw(&rng);
            where[i] = rsc_line_map_where(&map, drawn[i], rsc_line_map_home(&map, drawn[i]));
        }
        for (uint32_t i = 0; i < AHEAD; i++) {
            uint32_t unit = rsc_line_map_unit(&map, drawn[i], where[i]), held = map.units[unit];
            if (held >= RSC_UNIT_OTHER) {
                unit = rsc_line_map_add(&map, drawn[i], &status);
                assert_int_not_equal(unit, 0);
                held = map.units[unit];
            }
            assert_int_equal(unit_of(&map, drawn[i]), unit);
            if (held) {
                assert_int_equal(lines[held - 1], drawn[i]);
                continue;
            }
            lines[distinct++] = drawn[i];
            map.units[unit] = distinct;
        }
        rsc_line_map_reuse(&map);
    }
    for (uint32_t i = 0; i < distinct; i++) assert_int_equal(map.units[unit_of(&map, lines[i])], i + 1);
    rsc_line_map_free(&map);
    free(lines);
}

static void looked_up_ahead(void **state) {
    (void)state;
    uint64_t (*const draws[])(struct rsc_rng *) = {dense, sparse, any, pairs, few, ends};
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) follow_ahead(draws[i], i);
}

/* What the opening comment of line_map.h promises of memory. */
static void memory(void **state) {
    struct rsc_line_map map;
    int status;
    (void)state;
    for (int stride = 1; stride <= 1024; stride *= 2) {
        assert_int_equal(rsc_line_map_init(&map), 0);
        for (uint64_t i = 0; i < 400000; i++)
            assert_int_not_equal(rsc_line_map_add(&map, i * (uint64_t)stride, &status), 0);
        double bytes = (double)rsc_line_map_bytes(&map) / 400000;
        assert_true(bytes < (stride == 1 ? 6 : 23));
        rsc_line_map_free(&map);
    }
}

/* In a process that may not take address space by the gigabyte. */
static void limited_address_space(void **state) {
    int status;
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    for (rlim_t mebibytes = 300; mebibytes <= 6000; mebibytes *= 20) { /* not even one reservation; one but not two */
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rlimit limit = {mebibytes << 20, mebibytes << 20};
            if (setrlimit(RLIMIT_AS, &limit)) _exit(1);
            follow(dense, LINES_MAX, 1, 1);
            follow(any, LINES_MAX, 1, 2);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* Every line is found after each growth, whatever the hash: buckets run over the end of the table now and then. */
static void after_every_growth(void **state) {
    (void)state;
    for (uint64_t drawn = 0; drawn < 400; drawn++) { /* each map draws its own hash */
        struct rsc_line_map map;
        int status = 0;
        assert_int_equal(rsc_line_map_init(&map), 0);
        for (uint64_t count = 0, buckets = map.bucket_count; count < 4000; count++) {
            assert_int_not_equal(rsc_line_map_add(&map, count * 4096 + drawn, &status), 0);
            if (map.bucket_count == buckets) continue;
            buckets = map.bucket_count;
            for (uint64_t line = 0; line <= count; line++) assert_int_not_equal(unit_of(&map, line * 4096 + drawn), 0);
        }
        rsc_line_map_free(&map);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes), cmocka_unit_test(looked_up_ahead),       cmocka_unit_test(after_every_growth),
        cmocka_unit_test(memory), cmocka_unit_test(limited_address_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
