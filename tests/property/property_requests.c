/*
 * property_requests.c - requests for whole objects against brute force, and
 * against a cache that is simulated.
 *
 * Small random traces, sizes from a byte to 4 GiB, some objects changing theirs:
 * a list kept in order of last use gives every distance by adding up. Everything
 * the engine reports is compared. Where objects keep their sizes, an LRU cache
 * that evicts from its cold end until the newcomer fits is run at many sizes,
 * those smaller than some objects included, and both curves must be its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/requests/byte_stack.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"

struct request {
    uint64_t object, size;
    uint64_t above; /* RSC_BYTES_COLD: first */
    uint64_t ri;
};

struct requests {
    struct request *items;
    uint32_t count;
    int sizes_change;
};

static uint64_t random_size(struct rsc_rng *rng, unsigned shape) {
    switch (shape) {
    case 0: return 1;
    case 1: return 1 + rsc_rng_below(rng, 100);
    case 2: return 1ull << rsc_rng_below(rng, 32);
    default: return rsc_rng_below(rng, 3) ? 1 + rsc_rng_below(rng, 5000) : UINT32_MAX - rsc_rng_below(rng, 3);
    }
}

static struct requests random_requests(struct rsc_rng *rng, uint32_t most) {
    struct requests all = {.count = (uint32_t)rsc_rng_below(rng, most + 1), .sizes_change = rsc_rng_below(rng, 3) == 0};
    uint64_t objects = 1 + rsc_rng_below(rng, 1 + rsc_rng_below(rng, 800)), size_of[800];
    unsigned shape = (unsigned)rsc_rng_below(rng, 4), near = (unsigned)rsc_rng_below(rng, 2);
    uint64_t stride = rsc_rng_below(rng, 2) ? 1 : UINT64_MAX / 900; /* keys all over */
    all.items = calloc(all.count + 1, sizeof *all.items);
    for (uint64_t i = 0; i < objects; i++) size_of[i] = random_size(rng, shape);
    for (uint32_t i = 0; i < all.count; i++) {
        uint64_t object = rsc_rng_below(rng, near ? 1 + rsc_rng_below(rng, objects) : objects);
        if (all.sizes_change && rsc_rng_below(rng, 8) == 0) size_of[object] = random_size(rng, shape);
        all.items[i].object = object * stride;
        all.items[i].size = size_of[object];
    }
    return all;
}

/* Objects, most recently used first, with their latest sizes; returns the most bytes they had together. */
static uint64_t brute_force(struct requests all) {
    struct request *stack = calloc(all.count + 1, sizeof *stack);
    uint64_t depth = 0, total = 0, peak = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        uint64_t at = 0, above = 0;
        while (at < depth && stack[at].object != all.items[i].object) above += stack[at++].size;
        all.items[i].above = at == depth ? RSC_BYTES_COLD : above;
        all.items[i].ri = at == depth ? 0 : i - stack[at].ri; /* there, ri is the time of use */
        if (at == depth) depth++;
        else total -= stack[at].size;
        memmove(stack + 1, stack, at * sizeof *stack);
        stack[0] = (struct request){.object = all.items[i].object, .size = all.items[i].size, .ri = i};
        total += all.items[i].size;
        if (total > peak) peak = total;
    }
    free(stack);
    return peak;
}

static struct rsc_profile *analyse_by(struct requests all, struct rsc_rng *rng, const char *by, uint64_t seed) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = by, .seed = seed};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    uint64_t addr[3000], meta[3000];
    if (rsc_engine_new(&engine, &options, &error) < 0) fail_msg("%s", error.message);
    for (uint32_t done = 0; done < all.count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 3000);
        if (part > all.count - done) part = all.count - done;
        for (uint32_t i = 0; i < part; i++) {
            const struct request *item = &all.items[done + i];
            addr[i] = item->object;
            /* a size of 0 counts as 1 */
            meta[i] = rsc_meta(item->size == 1 && i % 2 ? 0 : (uint32_t)item->size, RSC_READ, 0);
        }
        struct rsc_batch batch = {.count = part, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
        done += part;
    }
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

static struct rsc_profile *analyse(struct requests all, struct rsc_rng *rng) {
    return analyse_by(all, rng, "requests", 0);
}

/* Distance by distance, with a stack that is compacted all the time. */
static void stack_agrees(struct requests all, struct rsc_rng *rng) {
    struct rsc_byte_stack stack;
    uint64_t object[700], above[700], ri[700];
    uint32_t size[700];
    assert_int_equal(rsc_byte_stack_init(&stack, 1 + rsc_rng_below(rng, 300)), 0);
    for (uint32_t done = 0; done < all.count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 700);
        if (part > all.count - done) part = all.count - done;
        for (uint32_t i = 0; i < part; i++) {
            object[i] = all.items[done + i].object;
            size[i] = (uint32_t)all.items[done + i].size;
        }
        assert_int_equal(rsc_byte_stack_run(&stack, object, size, part, above, ri), 0);
        for (uint32_t i = 0; i < part; i++) {
            assert_int_equal(above[i], all.items[done + i].above);
            assert_int_equal(ri[i], all.items[done + i].ri);
        }
        done += part;
    }
    rsc_byte_stack_free(&stack);
}

static int misses(const struct request *request, uint64_t cache_bytes) {
    return request->above == RSC_BYTES_COLD || request->above + request->size > cache_bytes;
}

static void check_curves(const struct rsc_profile *profile, struct requests all, uint64_t bytes) {
    size_t count, byte_count;
    const struct rsc_mrc_point *mrc = rsc_profile_mrc(profile, &count);
    const double *byte_ratio = rsc_profile_byte_miss_ratio(profile, &byte_count);
    assert_int_equal(count, byte_count);
    for (size_t p = 0; p < count; p += 1 + count / 400) { /* brute force is slow: not every one of thousands of sizes */
        uint64_t missed = 0, missed_bytes = 0;
        for (uint32_t i = 0; i < all.count; i++) {
            if (!misses(&all.items[i], mrc[p].bytes)) continue;
            missed++;
            missed_bytes += all.items[i].size;
        }
        assert_true(mrc[p].miss_ratio == (double)missed / all.count);
        assert_true(mrc[p].low == mrc[p].miss_ratio && mrc[p].high == mrc[p].miss_ratio);
        assert_true(byte_ratio[p] == (double)missed_bytes / (double)bytes);
        assert_int_equal(mrc[p].bytes, mrc[p].lines);
    }
    if (count) assert_int_equal(mrc[0].bytes, 1);
    if (count) assert_int_equal(mrc[count - 1].bytes, profile->requests.footprint);
}

/* LRU as anybody would write it; what is larger than the cache empties it and is not kept. */
static void check_simulation(struct requests all, uint64_t cache_bytes) {
    struct request *kept = calloc(all.count + 1, sizeof *kept);
    uint64_t held = 0, used = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        uint64_t at = 0;
        while (at < held && kept[at].object != all.items[i].object) at++;
        int hit = at < held;
        assert_int_equal(!hit, misses(&all.items[i], cache_bytes));
        if (!hit) {
            while (held && used + all.items[i].size > cache_bytes) used -= kept[--held].size;
            if (all.items[i].size > cache_bytes) continue;
            at = held++;
            used += all.items[i].size;
        }
        memmove(kept + 1, kept, at * sizeof *kept);
        kept[0] = all.items[i];
    }
    free(kept);
}

/* A sample of all objects is the exact profile. */
static void check_whole_sample(const struct rsc_profile *exact, struct requests all, struct rsc_rng *rng) {
    struct rsc_profile *sampled = analyse_by(all, rng, "requests-shards:1", rsc_rng_below(rng, 100));
    assert_int_equal(sampled->cold, exact->cold);
    assert_int_equal(sampled->requests.cold, exact->requests.cold);
    assert_int_equal(sampled->requests.footprint, exact->requests.footprint);
    assert_memory_equal(sampled->rd.count, exact->rd.count, exact->rd.bin_count * sizeof(uint64_t));
    assert_memory_equal(sampled->ri.count, exact->ri.count, exact->ri.bin_count * sizeof(uint64_t));
    assert_memory_equal(sampled->requests.rd.count, exact->requests.rd.count, exact->rd.bin_count * sizeof(uint64_t));
    assert_memory_equal(sampled->mrc, exact->mrc, exact->mrc_count * sizeof *exact->mrc);
    rsc_profile_free(sampled);
}

static void one_trace(struct rsc_rng *rng, uint32_t most) {
    struct requests all = random_requests(rng, most);
    uint64_t peak = brute_force(all), cold = 0, bytes = 0, cold_bytes = 0;
    struct rsc_profile *profile = analyse(all, rng);
    struct rsc_histogram rd, ri, rd_bytes;
    assert_true(!rsc_histogram_init(&rd, RSC_BINS_FINE) && !rsc_histogram_init(&ri, RSC_BINS_FINE) &&
                !rsc_histogram_init(&rd_bytes, RSC_BINS_FINE));
    for (uint32_t i = 0; i < all.count; i++) {
        const struct request *item = &all.items[i];
        bytes += item->size;
        if (item->above == RSC_BYTES_COLD) {
            cold++;
            cold_bytes += item->size;
            continue;
        }
        rsc_histogram_add(&rd, item->above + item->size - 1, 1);
        rsc_histogram_add(&rd_bytes, item->above + item->size - 1, item->size);
        rsc_histogram_add(&ri, item->ri, 1);
    }
    assert_int_equal(profile->references, all.count);
    assert_int_equal(profile->accesses, all.count);
    assert_int_equal(profile->cold, cold);
    assert_int_equal(profile->distinct, cold);
    assert_int_equal(profile->made.line_bytes, 1);
    assert_string_equal(profile->made.model, "requests");
    assert_int_equal(profile->requests.requested, bytes);
    assert_int_equal(profile->requests.cold, cold_bytes);
    assert_int_equal(profile->requests.footprint, peak);
    assert_memory_equal(rd.count, profile->rd.count, rd.bin_count * sizeof *rd.count);
    assert_memory_equal(ri.count, profile->ri.count, ri.bin_count * sizeof *ri.count);
    assert_memory_equal(rd_bytes.count, profile->requests.rd.count, rd.bin_count * sizeof *rd.count);
    assert_int_equal(rsc_profile_check_sum(profile, "x", NULL), 0);
    check_curves(profile, all, bytes);
    stack_agrees(all, rng);
    check_whole_sample(profile, all, rng);
    for (int i = 0; i < 6 && !all.sizes_change; i++)
        check_simulation(all, i == 0 ? peak : 1 + rsc_rng_below(rng, i == 1 ? 300 : i == 2 ? 100000 : peak + 1));
    rsc_histogram_free(&rd);
    rsc_histogram_free(&ri);
    rsc_histogram_free(&rd_bytes);
    rsc_profile_free(profile);
    free(all.items);
}

static void requests_against_brute_force(void **state) {
    unsigned long traces = property_traces(300);
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, i);
        one_trace(&rng, i % 50 == 0 ? 8000 : 1000);
    }
    printf("%lu traces\n", traces);
}

/* Of 1-byte objects, bytes are lines of a byte: both engines must agree. */
static void small_objects_are_lines(void **state) {
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 3, 0);
    enum { COUNT = 200000 };
    uint64_t *addr = malloc(COUNT * sizeof *addr), *meta = malloc(COUNT * sizeof *meta);
    for (uint32_t i = 0; i < COUNT; i++) {
        addr[i] = rsc_rng_below(&rng, 1 + rsc_rng_below(&rng, 90000));
        meta[i] = rsc_meta(1, RSC_READ, 0);
    }
    struct rsc_profile *profiles[2];
    for (int way = 0; way < 2; way++) {
        struct rsc_engine_options options = {
            .struct_bytes = sizeof options, .engine = way ? "requests" : "exact", .line_bytes = 1};
        struct rsc_batch batch = {.count = COUNT, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
        struct rsc_engine *engine;
        assert_int_equal(rsc_engine_new(&engine, &options, NULL), 0);
        assert_int_equal(rsc_engine_push(engine, &batch, NULL), 0);
        assert_int_equal(rsc_engine_finish(engine, &profiles[way], NULL), 0);
        rsc_engine_free(engine);
    }
    assert_int_equal(profiles[0]->distinct, profiles[1]->distinct);
    assert_int_equal(profiles[0]->distinct, profiles[1]->requests.footprint);
    assert_memory_equal(profiles[0]->rd.count, profiles[1]->rd.count, profiles[0]->rd.bin_count * sizeof(uint64_t));
    assert_memory_equal(profiles[0]->ri.count, profiles[1]->ri.count, profiles[0]->ri.bin_count * sizeof(uint64_t));
    assert_memory_equal(profiles[0]->mrc, profiles[1]->mrc, profiles[0]->mrc_count * sizeof *profiles[0]->mrc);
    rsc_profile_free(profiles[0]);
    rsc_profile_free(profiles[1]);
    free(addr);
    free(meta);
}

/* Objects of popular and unpopular kinds, sizes over four orders of magnitude. */
static struct requests skewed_requests(uint64_t seed) {
    struct requests all = {.count = 60000};
    struct rsc_rng rng;
    rsc_rng_seed(&rng, seed, 0);
    all.items = calloc(all.count, sizeof *all.items);
    for (uint32_t i = 0; i < all.count; i++) {
        uint64_t object = rsc_rng_below(&rng, 1 + rsc_rng_below(&rng, 1 + rsc_rng_below(&rng, 40000)));
        uint64_t mixed = (object + 1) * 0x9E3779B97F4A7C15ull >> 40;
        all.items[i] = (struct request){.object = object, .size = 1 + (mixed % 100 << mixed / 1000 % 10)};
    }
    return all;
}

/* How often the bars of a tenth of the objects hold the exact ratio, over seeds and sizes, of requests and of bytes. */
static void bars_hold_the_truth(void **state) {
    enum { SEEDS = 30 };
    uint64_t inside = 0, bytes_inside = 0, checked = 0;
    double wide = 0, off = 0;
    struct rsc_rng rng;
    (void)state;
    rsc_rng_seed(&rng, 1, 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct requests all = skewed_requests(seed / 5);
        struct rsc_profile *exact = analyse(all, &rng), *sampled = analyse_by(all, &rng, "requests-shards:0.1", seed);
        assert_int_equal(sampled->references, exact->references);
        assert_int_equal(sampled->requests.requested, exact->requests.requested);
        assert_int_equal(rsc_profile_check_sum(sampled, "x", NULL), 0);
        for (size_t i = 0, j = 0; i < sampled->mrc_count; i++) {
            uint64_t size = sampled->mrc[i].lines;
            while (j < exact->mrc_count && exact->mrc[j].lines < size) j++;
            if (size & (size - 1) || size < 4096 || j == exact->mrc_count) continue;
            checked++;
            inside +=
                sampled->mrc[i].low <= exact->mrc[j].miss_ratio && exact->mrc[j].miss_ratio <= sampled->mrc[i].high;
            bytes_inside += sampled->requests.low[i] <= exact->requests.miss_ratio[j] &&
                            exact->requests.miss_ratio[j] <= sampled->requests.high[i];
            wide += sampled->mrc[i].high - sampled->mrc[i].low;
            double error = sampled->mrc[i].miss_ratio - exact->mrc[j].miss_ratio;
            off += error < 0 ? -error : error;
        }
        rsc_profile_free(exact);
        rsc_profile_free(sampled);
        free(all.items);
    }
    double held = (double)inside / (double)checked, bytes_held = (double)bytes_inside / (double)checked;
    printf(
        "90 %% bars hold %.1f %% of requests' and %.1f %% of bytes' ratios at %llu sizes, mean width %.4f, error %.4f\n",
        100 * held, 100 * bytes_held, (unsigned long long)checked, wide / (double)checked, off / (double)checked);
    assert_true(held > 0.8 && bytes_held > 0.8);
}

static void refused(void **state) {
    struct rsc_engine *engine;
    struct rsc_error error;
    (void)state;
    const struct rsc_engine_options bad[] = {
        {.struct_bytes = sizeof bad[0], .engine = "requests", .line_bytes = 64},
        {.struct_bytes = sizeof bad[0], .engine = "requests", .model = "single"},
        {.struct_bytes = sizeof bad[0], .engine = "requests", .phases = 3},
        {.struct_bytes = sizeof bad[0], .engine = "requests", .max_distance = 3},
        {.struct_bytes = sizeof bad[0], .engine = "requests", .bins_per_octave = 3},
        {.struct_bytes = sizeof bad[0], .engine = "requests", .attribute = 1},
        {.struct_bytes = sizeof bad[0], .engine = "requests", .top_lines = 3},
        {.struct_bytes = sizeof bad[0], .engine = "exact", .model = "requests"},
        {.struct_bytes = sizeof bad[0], .engine = "exact", .top_lines = 1025},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rsc_engine_new(&engine, &bad[i], &error), RSC_EINVAL);
        assert_null(engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_against_brute_force),
        cmocka_unit_test(small_objects_are_lines),
        cmocka_unit_test(bars_hold_the_truth),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
