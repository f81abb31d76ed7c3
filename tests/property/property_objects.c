/*
 * property_objects.c - caches of whole objects against models of their policies.
 *
 * Each model is written from the policy's definition, in the plainest way: arrays in
 * order (the oldest first), every lookup a scan, every sum added up anew, the future
 * found by looking ahead. Random traces, sizes that change, objects larger than the
 * cache; every request must hit in both or in neither. Then the simulator, with many
 * caches in one pass and any number of workers, must count what each model counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "property/random_traces.h"
#include "simulate/objects/object_simulator.h"

enum { OBJECTS = 120, QUEUES = 5 };

struct queue {
    uint32_t item[OBJECTS + 1];
    size_t count;
};

struct model {
    uint64_t capacity;
    uint64_t size[OBJECTS + 1];
    struct queue queue[QUEUES];
    uint64_t frequency[OBJECTS + 1], touched[OBJECTS + 1], now;
    uint32_t hand; /* the object, 0: none */
    uint64_t target, requests, most;
    int lir[OBJECTS + 1];
    const uint32_t *trace;
    uint32_t at, length;
};

static int find(const struct queue *queue, uint32_t object) {
    for (size_t i = 0; i < queue->count; i++)
        if (queue->item[i] == object) return (int)i;
    return -1;
}
static int has(const struct model *model, int queue, uint32_t object) {
    return find(&model->queue[queue], object) >= 0;
}
static void take(struct model *model, int queue, uint32_t object) {
    struct queue *from = &model->queue[queue];
    int at = find(from, object);
    if (at < 0) return;
    memmove(from->item + at, from->item + at + 1, (from->count - (size_t)at - 1) * sizeof *from->item);
    from->count--;
}
static void append(struct model *model, int queue, uint32_t object) {
    model->queue[queue].item[model->queue[queue].count++] = object;
}
static void renew(struct model *model, int queue, uint32_t object) {
    take(model, queue, object);
    append(model, queue, object);
}
static uint64_t bytes(const struct model *model, int queue) {
    uint64_t sum = 0;
    for (size_t i = 0; i < model->queue[queue].count; i++) sum += model->size[model->queue[queue].item[i]];
    return sum;
}
static uint32_t oldest(const struct model *model, int queue) { return model->queue[queue].item[0]; }
static int empty(const struct model *model, int queue) { return model->queue[queue].count == 0; }

/* ---- one queue: 0 ---- */

static void lru(struct model *model, uint32_t x, int hit) {
    if (hit) renew(model, 0, x);
    while (bytes(model, 0) + (hit ? 0 : model->size[x]) > model->capacity) take(model, 0, oldest(model, 0));
    if (!hit) append(model, 0, x);
}

static void fifo(struct model *model, uint32_t x, int hit) {
    while (bytes(model, 0) + (hit ? 0 : model->size[x]) > model->capacity) take(model, 0, oldest(model, 0));
    if (!hit) append(model, 0, x);
}

static void second_chance(struct model *model, uint32_t x, int hit) {
    if (hit) model->frequency[x] = 1;
    while (bytes(model, 0) + (hit ? 0 : model->size[x]) > model->capacity) {
        uint32_t last = oldest(model, 0);
        if (model->frequency[last]) {
            model->frequency[last] = 0;
            renew(model, 0, last);
        } else take(model, 0, last);
    }
    if (hit) return;
    model->frequency[x] = 0;
    append(model, 0, x);
}

static uint32_t after(const struct model *model, uint32_t x) {
    size_t at = (size_t)find(&model->queue[0], x) + 1;
    return at < model->queue[0].count ? model->queue[0].item[at] : 0;
}

static void sieve(struct model *model, uint32_t x, int hit) {
    if (hit) model->frequency[x] = 1;
    while (bytes(model, 0) + (hit ? 0 : model->size[x]) > model->capacity) {
        uint32_t at = model->hand ? model->hand : oldest(model, 0);
        if (model->frequency[at]) {
            model->frequency[at] = 0;
            model->hand = after(model, at);
        } else {
            model->hand = after(model, at);
            take(model, 0, at);
        }
    }
    if (hit) return;
    model->frequency[x] = 0;
    append(model, 0, x);
}

static void evict_where(struct model *model, uint64_t more, int (*worse)(const struct model *, uint32_t, uint32_t)) {
    while (bytes(model, 0) + more > model->capacity) {
        uint32_t worst = oldest(model, 0);
        for (size_t i = 1; i < model->queue[0].count; i++)
            if (worse(model, model->queue[0].item[i], worst)) worst = model->queue[0].item[i];
        take(model, 0, worst);
    }
}

static int rarer(const struct model *model, uint32_t a, uint32_t b) {
    return model->frequency[a] != model->frequency[b] ? model->frequency[a] < model->frequency[b]
                                                      : model->touched[a] < model->touched[b];
}

static void lfu(struct model *model, uint32_t x, int hit) {
    model->frequency[x] = hit ? model->frequency[x] + 1 : 0;
    model->touched[x] = model->now++;
    evict_where(model, hit ? 0 : model->size[x], rarer);
    if (!hit) append(model, 0, x);
}

static uint32_t next_use(const struct model *model, uint32_t x) {
    uint32_t i = model->at + 1;
    while (i < model->length && model->trace[i] != x) i++;
    return i;
}
static int farther(const struct model *model, uint32_t a, uint32_t b) {
    uint32_t one = next_use(model, a), other = next_use(model, b);
    return one != other ? one > other : a < b;
}
static void belady(struct model *model, uint32_t x, int hit) {
    evict_where(model, hit ? 0 : model->size[x], farther);
    if (!hit) append(model, 0, x);
}

/* ---- ARC: T1, T2, B1, B2 are 0 to 3 ---- */

static void arc_replace(struct model *model, int for_b2) {
    uint64_t t1 = bytes(model, 0);
    int from = t1 && (empty(model, 1) || t1 > model->target || (for_b2 && t1 == model->target)) ? 0 : 1;
    uint32_t gone = oldest(model, from);
    take(model, from, gone);
    append(model, from + 2, gone);
}

static void arc(struct model *model, uint32_t x, int hit) {
    uint64_t size = model->size[x], c = model->capacity;
    if (hit) {
        take(model, 0, x);
        renew(model, 1, x);
        while (bytes(model, 0) + bytes(model, 1) > c) arc_replace(model, 0);
        return;
    }
    int in_b1 = has(model, 2, x), in_b2 = has(model, 3, x);
    uint64_t b1 = bytes(model, 2), b2 = bytes(model, 3);
    if (in_b1) {
        model->target += b2 > b1 ? size * b2 / b1 : size;
        if (model->target > c) model->target = c;
    } else if (in_b2) {
        uint64_t by = b1 > b2 ? size * b1 / b2 : size;
        model->target -= by < model->target ? by : model->target;
    } else {
        while (bytes(model, 0) + bytes(model, 2) + size > c && !empty(model, 2)) take(model, 2, oldest(model, 2));
        while (bytes(model, 0) + size > c) take(model, 0, oldest(model, 0));
        while (bytes(model, 0) + bytes(model, 1) + bytes(model, 2) + bytes(model, 3) + size > 2 * c && !empty(model, 3))
            take(model, 3, oldest(model, 3));
    }
    take(model, 2, x);
    take(model, 3, x);
    while (bytes(model, 0) + bytes(model, 1) + size > c) arc_replace(model, in_b2);
    append(model, in_b1 || in_b2 ? 1 : 0, x);
}

/* ---- LIRS: 0 is the stack, 1 the queue of residents, 2 ghosts; 3 the LIR ones, in no order ---- */

static void lirs_prune(struct model *model) {
    while (!empty(model, 0) && !has(model, 3, oldest(model, 0))) {
        take(model, 2, oldest(model, 0));
        take(model, 0, oldest(model, 0));
    }
}
static void lirs_demote(struct model *model) {
    uint32_t gone = oldest(model, 0);
    take(model, 0, gone);
    take(model, 3, gone);
    append(model, 1, gone);
    lirs_prune(model);
}
static void lirs_room(struct model *model, uint64_t more) {
    while (bytes(model, 1) + bytes(model, 3) + more > model->capacity) {
        if (empty(model, 1)) lirs_demote(model);
        uint32_t gone = oldest(model, 1);
        take(model, 1, gone);
        if (has(model, 0, gone)) append(model, 2, gone);
        while (bytes(model, 2) > 2 * model->capacity) {
            take(model, 0, oldest(model, 2));
            take(model, 2, oldest(model, 2));
        }
    }
}
static void lirs(struct model *model, uint32_t x, int hit) {
    uint64_t hir = model->capacity / 100 ? model->capacity / 100 : 1, limit = model->capacity - hir;
    if (!hit) lirs_room(model, model->size[x]);
    int in_stack = has(model, 0, x), lir = has(model, 3, x);
    int becomes = hit ? in_stack : in_stack || bytes(model, 3) + model->size[x] <= limit;
    take(model, 2, x);
    renew(model, 0, x);
    if (!lir && becomes) {
        take(model, 1, x);
        append(model, 3, x);
    } else if (!lir) renew(model, 1, x);
    lirs_prune(model);
    while (bytes(model, 3) > limit) lirs_demote(model);
    if (hit) lirs_room(model, 0);
}

/* ---- S3-FIFO: small, main, ghosts are 0 to 2 ---- */

static void s3fifo(struct model *model, uint32_t x, int hit) {
    if (hit && model->frequency[x] < 3) model->frequency[x]++;
    while (bytes(model, 0) + bytes(model, 1) + (hit ? 0 : model->size[x]) > model->capacity) {
        int gone = 0;
        if (!empty(model, 0) && (bytes(model, 0) >= model->capacity / 10 || empty(model, 1))) {
            while (!gone && !empty(model, 0)) {
                uint32_t tail = oldest(model, 0);
                take(model, 0, tail);
                append(model, model->frequency[tail] > 1 ? 1 : 2, tail);
                gone = model->frequency[tail] <= 1;
                if (!gone) model->frequency[tail] = 0;
            }
            while (bytes(model, 2) > model->capacity - model->capacity / 10) take(model, 2, oldest(model, 2));
        }
        while (!gone) {
            uint32_t tail = oldest(model, 1);
            take(model, 1, tail);
            gone = model->frequency[tail] == 0;
            if (gone) continue;
            model->frequency[tail]--;
            append(model, 1, tail);
        }
    }
    if (hit) return;
    append(model, has(model, 2, x) ? 1 : 0, x);
    take(model, 2, x);
    model->frequency[x] = 0;
}

/* ---- W-TinyLFU: window, probation, protected are 0 to 2 ---- */

static void wtinylfu(struct model *model, uint32_t x, int hit) {
    (void)hit;
    uint64_t window = model->capacity / 100 ? model->capacity / 100 : 1, rest = model->capacity - window;
    if (model->frequency[x] < 15) model->frequency[x]++;
    if (++model->requests >= 10 * (model->most ? model->most : 1)) {
        model->requests /= 2;
        for (uint32_t i = 1; i <= OBJECTS; i++) model->frequency[i] /= 2;
    }
    if (has(model, 1, x)) {
        take(model, 1, x);
        append(model, 2, x);
    } else renew(model, has(model, 2, x) ? 2 : 0, x);
    while (bytes(model, 2) > rest / 5 * 4) {
        append(model, 1, oldest(model, 2));
        take(model, 2, oldest(model, 2));
    }
    while (bytes(model, 0) > window) {
        uint32_t candidate = oldest(model, 0);
        int wins = model->size[candidate] <= rest;
        take(model, 0, candidate);
        while (wins && bytes(model, 1) + bytes(model, 2) + model->size[candidate] > rest) {
            int from = empty(model, 1) ? 2 : 1;
            wins = model->frequency[candidate] > model->frequency[oldest(model, from)];
            if (wins) take(model, from, oldest(model, from));
        }
        if (wins) append(model, 1, candidate);
    }
    uint64_t held = model->queue[0].count + model->queue[1].count + model->queue[2].count;
    if (held > model->most) model->most = held;
    while (bytes(model, 0) + bytes(model, 1) + bytes(model, 2) > model->capacity)
        take(model, empty(model, 1) ? 2 : 1, oldest(model, empty(model, 1) ? 2 : 1));
}

static const struct {
    const char *name;
    void (*request)(struct model *model, uint32_t x, int hit);
    int resident[3]; /* queues whose objects are in the cache; -1: none */
} models[] = {
    {"lru", lru, {0, -1, -1}},       {"fifo", fifo, {0, -1, -1}},     {"clock", second_chance, {0, -1, -1}},
    {"sieve", sieve, {0, -1, -1}},   {"lfu", lfu, {0, -1, -1}},       {"arc", arc, {0, 1, -1}},
    {"lirs", lirs, {1, 3, -1}},      {"s3-fifo", s3fifo, {0, 1, -1}}, {"w-tinylfu", wtinylfu, {0, 1, 2}},
    {"belady", belady, {0, -1, -1}},
};
enum { MODELS = sizeof models / sizeof *models };

static int resident(const struct model *model, int which, uint32_t x) {
    for (int i = 0; i < 3; i++)
        if (models[which].resident[i] >= 0 && has(model, models[which].resident[i], x)) return 1;
    return 0;
}

/* Serves a request as every policy does; returns whether it hit. */
static int serve(struct model *model, int which, uint32_t x, uint64_t size) {
    int hit = resident(model, which, x);
    if (size > model->capacity) {
        if (!hit) return 0;
        if (model->hand == x) model->hand = after(model, x);
        for (int q = 0; q < QUEUES; q++) take(model, q, x);
        if (models[which].request == lirs) lirs_prune(model);
        return 0;
    }
    model->size[x] = size;
    models[which].request(model, x, hit);
    return hit;
}

/* ---- traces ---- */

struct requests {
    uint32_t *object, *size;
    uint32_t count;
    uint32_t objects;
};

static uint32_t random_size(struct rsc_rng *rng, unsigned shape) {
    return shape == 0   ? 1
           : shape == 1 ? 1 + (uint32_t)rsc_rng_below(rng, 40)
                        : 1u << rsc_rng_below(rng, rsc_rng_below(rng, 4) ? 8 : 32);
}

static struct requests random_requests(struct rsc_rng *rng, uint32_t most) {
    struct requests all = {.count = 1 + (uint32_t)rsc_rng_below(rng, most),
                           .objects = 1 + (uint32_t)rsc_rng_below(rng, OBJECTS)};
    unsigned shape = (unsigned)rsc_rng_below(rng, 3), near = (unsigned)rsc_rng_below(rng, 2);
    int change = rsc_rng_below(rng, 3) == 0;
    uint32_t size[OBJECTS + 1], scan = 0;
    for (uint32_t i = 1; i <= OBJECTS; i++) size[i] = random_size(rng, shape);
    all.object = calloc(all.count, sizeof *all.object);
    all.size = calloc(all.count, sizeof *all.size);
    for (uint32_t i = 0; i < all.count; i++) {
        uint32_t one = 1 + (uint32_t)rsc_rng_below(rng, near ? 1 + rsc_rng_below(rng, all.objects) : all.objects);
        if (rsc_rng_below(rng, 100) == 0) scan = (uint32_t)rsc_rng_below(rng, 60); /* a scan passes through */
        if (scan) one = 1 + scan-- % all.objects;
        if (change && rsc_rng_below(rng, 10) == 0) size[one] = random_size(rng, shape);
        all.object[i] = one;
        all.size[i] = size[one];
    }
    return all;
}

static uint64_t random_capacity(struct rsc_rng *rng, const struct requests *all) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < all->count && i < all->objects; i++) sum += all->size[i];
    switch (rsc_rng_below(rng, 4)) {
    case 0: return 1 + rsc_rng_below(rng, 30);
    case 1: return 1 + rsc_rng_below(rng, 1000);
    default: return 1 + rsc_rng_below(rng, sum);
    }
}

static uint32_t next_in(const struct requests *all, uint32_t at) {
    uint32_t i = at + 1;
    while (i < all->count && all->object[i] != all->object[at]) i++;
    return i;
}

static void one_cache(const struct requests *all, int which, uint64_t capacity, uint64_t seed, unsigned long trace) {
    struct model *model = calloc(1, sizeof *model);
    struct rsc_object_cache cache;
    *model = (struct model){.capacity = capacity, .trace = all->object, .length = all->count};
    const struct rsc_object_policy *policy = rsc_object_policy_find(models[which].name, strlen(models[which].name));
    assert_non_null(policy);
    rsc_object_cache_init(&cache, policy, capacity);
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t x = all->object[i], next = policy->has & RSC_OBJECT_HAS_FUTURE ? next_in(all, i) : 0;
        model->at = i;
        assert_int_equal(rsc_object_cache_reserve(&cache, x), 0);
        int hit = rsc_object_cache_request(&cache, x, all->size[i], next >= all->count ? UINT64_MAX : next);
        if (hit != serve(model, which, x, all->size[i]))
            fail_msg("%s, %llu bytes: request %u is a %s (seed %llu, trace %lu)", policy->name,
                     (unsigned long long)capacity, i, hit ? "hit" : "miss", (unsigned long long)seed, trace);
        uint64_t held = 0;
        for (int q = 0; q < 3; q++)
            if (models[which].resident[q] >= 0) held += bytes(model, models[which].resident[q]);
        if (cache.used != held)
            fail_msg("%s, %llu bytes: after request %u it holds %llu, not %llu bytes (seed %llu, trace %lu)",
                     policy->name, (unsigned long long)capacity, i, (unsigned long long)cache.used,
                     (unsigned long long)held, (unsigned long long)seed, trace);
        assert_true(held <= capacity);
    }
    rsc_object_cache_free(&cache);
    free(model);
}

static void policies_against_models(void **state) {
    unsigned long traces = property_traces(60);
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, i);
        struct requests all = random_requests(&rng, i % 10 ? 600 : 3000);
        for (int which = 0; which < MODELS; which++) {
            assert_string_equal(rsc_object_policies[which]->name, models[which].name);
            one_cache(&all, which, random_capacity(&rng, &all), seed, i);
        }
        free(all.object);
        free(all.size);
    }
    assert_null(rsc_object_policies[MODELS]);
    printf("%lu traces\n", traces);
}

/* ---- the simulator ---- */

static struct rsc_objects_result simulate(const struct requests *all, const struct rsc_object_options *options,
                                          struct rsc_rng *rng) {
    struct rsc_object_simulator *simulator;
    struct rsc_objects_result result;
    uint64_t addr[500], meta[500];
    assert_int_equal(rsc_object_simulator_new(&simulator, options, NULL), 0);
    for (uint32_t done = 0; done < all->count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 500);
        if (part > all->count - done) part = all->count - done;
        for (uint32_t i = 0; i < part; i++) {
            addr[i] = all->object[done + i] * 0x9e3779b97f4a7c15ull;
            meta[i] = rsc_meta(all->size[done + i] == 1 && i % 2 ? 0 : all->size[done + i], RSC_READ, 0);
        }
        struct rsc_batch batch = {.count = part, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_object_simulator_push(simulator, &batch, NULL), 0);
        done += part;
    }
    assert_int_equal(rsc_object_simulator_finish(simulator, &result, NULL), 0);
    rsc_object_simulator_free(simulator);
    return result;
}

static void all_in_one_pass(void **state) {
    unsigned long traces = property_traces(12);
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long t = 0; t < traces; t++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, 1000 + t);
        struct requests all = random_requests(&rng, 1500);
        struct rsc_object_options options = {.size_count = 1 + rsc_rng_below(&rng, 3),
                                             .workers = 1 + (unsigned)(t % 3)};
        assert_int_equal(rsc_object_policies_parse(&options, "all", NULL), 0);
        for (size_t i = 0; i < options.size_count; i++) options.sizes[i] = random_capacity(&rng, &all);
        options.warm_requests = t % 2 ? rsc_rng_below(&rng, all.count) : 0;
        struct rsc_objects_result result = simulate(&all, &options, &rng);
        uint64_t requested = 0;
        for (uint64_t i = options.warm_requests; i < all.count; i++) requested += all.size[i];
        assert_int_equal(result.requests, all.count - options.warm_requests);
        assert_int_equal(result.requested_bytes, requested);
        assert_int_equal(result.row_count, MODELS * options.size_count);
        for (size_t row = 0; row < result.row_count; row++) {
            int which = (int)(row / options.size_count);
            struct model *model = calloc(1, sizeof *model);
            uint64_t misses = 0, missed_bytes = 0, too_large = 0;
            *model = (struct model){
                .capacity = options.sizes[row % options.size_count], .trace = all.object, .length = all.count};
            for (uint32_t i = 0; i < all.count; i++) {
                model->at = i;
                int hit = serve(model, which, all.object[i], all.size[i]);
                if (hit || i < options.warm_requests) continue;
                misses++;
                missed_bytes += all.size[i];
                too_large += all.size[i] > model->capacity;
            }
            assert_string_equal(result.rows[row].policy, models[which].name);
            assert_int_equal(result.rows[row].bytes, model->capacity);
            assert_int_equal(result.rows[row].misses, misses);
            assert_int_equal(result.rows[row].missed_bytes, missed_bytes);
            assert_int_equal(result.rows[row].too_large, too_large);
            free(model);
        }
        free(result.rows);
        free(all.object);
        free(all.size);
    }
}

/* Several blocks of requests, with one worker and with four: the same counts; Belady misses least for objects of one size. */
static void workers_change_nothing(void **state) {
    struct rsc_rng rng;
    struct requests all = {.count = 200000};
    (void)state;
    rsc_rng_seed(&rng, 7, 0);
    all.object = calloc(all.count, sizeof *all.object);
    all.size = calloc(all.count, sizeof *all.size);
    for (uint32_t i = 0; i < all.count; i++) {
        all.object[i] = 1 + (uint32_t)rsc_rng_below(&rng, 1 + rsc_rng_below(&rng, 20000));
        all.size[i] = 1;
    }
    struct rsc_object_options options = {.size_count = 2, .sizes = {700, 6000}, .workers = 1};
    assert_int_equal(rsc_object_policies_parse(&options, "all", NULL), 0);
    struct rsc_objects_result one = simulate(&all, &options, &rng);
    options.workers = 4;
    struct rsc_objects_result four = simulate(&all, &options, &rng);
    const struct rsc_object_cache_row *best = &one.rows[one.row_count - 2];
    for (size_t i = 0; i < one.row_count; i++) {
        assert_int_equal(one.rows[i].misses, four.rows[i].misses);
        assert_int_equal(one.rows[i].evictions, four.rows[i].evictions);
        assert_int_equal(one.rows[i].objects_at_end, four.rows[i].objects_at_end);
        assert_true(best[i % 2].misses <= one.rows[i].misses);
    }
    free(one.rows);
    free(four.rows);
    free(all.object);
    free(all.size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_against_models),
        cmocka_unit_test(all_in_one_pass),
        cmocka_unit_test(workers_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
