/*
 * property_block_words.c - random code and random executions of it, written as Valgrind's tool writes them: the drain finds
 * the accesses, calls, returns and instructions that a plain reading of ring.h finds, with every vector width; of
 * several threads in the order in which they ran, or, where they take turns, in each thread's own order. Seed: argv[1].
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
#include <unistd.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "collect/drain/drain.h"
#include "runtime/ring/ring.h"

#define PLANS 60
#define ENTRIES_MAX 20
#define STEPS 12000
#define THREADS 3
#define ROUNDS 6

static uint64_t seed = 1;
static struct rsc_rng rng;
static uint64_t below(uint64_t n) { return rsc_rng_below(&rng, n); }

static struct plan {
    uint64_t entries[ENTRIES_MAX], exits[4];
    uint32_t count, exit_count, instructions, ends;
    uint64_t pc, end_pc, offset;
    int is_inline;
} plans[PLANS];

/* What a batch has, in order: accesses, calls and returns. */
struct found {
    uint32_t thread, what; /* size, write << 8; call 1 << 16, return 2 << 16 */
    uint64_t addr, pc;
};
struct list {
    struct found *all;
    size_t count;
    uint64_t instructions;
};
#define LIST_MOST (STEPS * (2 * ENTRIES_MAX + 1))

static void add(struct list *list, struct found one) {
    assert_true(list->count < LIST_MOST);
    list->all[list->count++] = one;
}

/* ---- code ---- */

static void draw_plan(struct rsc_ring *ring, struct plan *plan, uint64_t number) {
    static const uint64_t odd[] = {0, RSC_BLOCK_READS | RSC_BLOCK_WRITES};
    const uint32_t odds = (uint32_t)below(4) ? 0 : 6;
    *plan = (struct plan){.count = (uint32_t)below(below(5) ? 5 : ENTRIES_MAX + 1),
                          .instructions = 100,
                          .ends = (uint32_t)(below(3) ? 0 : 1 + below(2)),
                          .pc = 0x10000 + number * 0x1000,
                          .end_pc = 0x10800 + number * 0x1000,
                          .is_inline = !below(12)};
    for (uint32_t i = 0; i < plan->count; i++) {
        uint64_t flags = below(2) ? RSC_BLOCK_READS : RSC_BLOCK_WRITES;
        if (odds && !below(odds)) flags = odd[below(2)];
        plan->entries[i] = (plan->pc + 4 * i) | (1ull << below(6)) << 48 | flags;
    }
    for (uint32_t at = 0; at < plan->count && plan->exit_count < 4; at += 1 + (uint32_t)below(4))
        if (plan->is_inline || below(3) == 0) plan->exits[plan->exit_count++] = at | (uint64_t)(at + 2) << 16;
    if (plan->is_inline) return;
    uint64_t *words = rsc_ring_plan(ring, 2 + plan->count + plan->exit_count);
    assert_non_null(words);
    plan->offset = (uint64_t)(words - ring->plans);
    words[0] = plan->pc | (uint64_t)plan->instructions << 48 | (uint64_t)plan->ends << 58;
    words[1] = plan->end_pc | (uint64_t)plan->count << 48 | (uint64_t)plan->exit_count << 58;
    memcpy(words + 2, plan->entries, plan->count * sizeof *words);
    memcpy(words + 2 + plan->count, plan->exits, plan->exit_count * sizeof *words);
}

/* ---- executions ---- */

struct thread {
    const struct plan *last;
    uint32_t number; /* as the drain counts them */
};

static void put(struct rsc_ring_writer *writer, uint64_t word) { *writer->next++ = word; }

static void execute(struct rsc_ring_writer *writer, const struct plan *plan, int calls, struct thread *thread,
                    struct list *list) {
    const uint32_t exit = plan->exit_count && !below(3) ? (uint32_t)below(plan->exit_count) : plan->exit_count;
    const uint32_t words = exit < plan->exit_count ? plan->exits[exit] & 0xffff : plan->count;
    uint64_t start = RSC_START | (calls ? RSC_START_CALLS : 0);
    assert_true(writer->next < writer->end || rsc_ring_make_room(writer) == 0);
    if (plan->is_inline) {
        put(writer, start | RSC_START_INLINE);
        put(writer, plan->pc | (uint64_t)plan->instructions << 48 | (uint64_t)plan->ends << 58);
        put(writer, plan->end_pc | (uint64_t)plan->count << 48 | (uint64_t)plan->exit_count << 58);
        for (uint32_t i = 0; i < plan->count; i++) put(writer, plan->entries[i]);
        for (uint32_t i = 0; i < plan->exit_count; i++) put(writer, plan->exits[i]);
    } else put(writer, start | plan->offset | (uint64_t)(1 + plan->count) << 32);
    if (thread->last && thread->last->ends && calls) {
        const int is_call = thread->last->ends == RSC_PLAN_ENDS_CALL;
        add(list, (struct found){thread->number, is_call ? 1u << 16 : 2u << 16,
                                 is_call ? thread->last->end_pc : plan->pc, is_call ? plan->pc : 0});
    }
    for (uint32_t i = 0; i < words; i++) {
        const uint64_t flags = plan->entries[i] >> 56, addr = flags ? below(50) ? 64 + below(1ull << 40) : 0 : 1;
        struct found one = {thread->number, (uint32_t)(plan->entries[i] >> 48 & 0xff), addr, plan->pc + 4 * i};
        put(writer, addr);
        if (addr && flags & 1) add(list, one);
        one.what |= 1u << 8;
        if (addr && flags & 2) add(list, one);
    }
    list->instructions += words < plan->count ? plan->exits[exit] >> 16 & 0xffff : plan->instructions;
    thread->last = plan;
}

/* Threads that run for a while each, in any order. */
static void execute_all(struct rsc_ring *ring, uint32_t thread_count, int calls, struct list *list) {
    struct thread threads[THREADS] = {{0}};
    struct rsc_ring_writer writer;
    uint32_t thread = 0, known = 0;
    assert_int_equal(rsc_ring_attach(&writer, ring, (uint32_t)getpid(), (uint32_t)getpid()), 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (!step || !below(40)) {
            thread = step ? (uint32_t)below(thread_count) : 0;
            if (thread > known) thread = known;
            if (thread == known) threads[known++].number = thread;
            assert_int_equal(rsc_ring_put(&writer, thread + 1, rsc_record_word(RSC_RECORD_SWITCH, 1, 0)), 0);
        }
        if (thread_count > 1 && !below(500))
            assert_int_equal(rsc_ring_put(&writer, thread + 1, rsc_record_word(RSC_RECORD_CALLED, 1, 0)), 0);
        execute(&writer, &plans[below(PLANS)], calls, &threads[thread], list);
    }
    rsc_ring_detach(&writer);
}

/* ---- what the drain makes of them ---- */

static void take_batch(struct list *list, const struct rsc_batch *batch) {
    uint32_t event = 0;
    for (uint32_t i = 0; i <= batch->count; i++) {
        for (; event < batch->event_count && batch->events[event].at == i; event++) {
            const struct rsc_event *one = &batch->events[event];
            if (one->type != RSC_EVENT_CALL && one->type != RSC_EVENT_RETURN) continue;
            add(list, (struct found){one->thread, one->type == RSC_EVENT_CALL ? 1u << 16 : 2u << 16, one->a, one->b});
        }
        if (i == batch->count) break;
        const uint64_t meta = batch->meta[i];
        const uint32_t what = rsc_meta_size(meta) | (uint32_t)(rsc_meta_kind(meta) == RSC_WRITE) << 8;
        add(list, (struct found){rsc_meta_thread(meta), what, batch->addr[i], batch->pc[i]});
    }
    assert_int_equal(event, batch->event_count);
    list->instructions += batch->instructions;
}

static void take_all(struct rsc_drain *drain, struct list *list) {
    struct rsc_batch batch;
    struct rsc_error error;
    int status;
    while ((status = rsc_drain_next(drain, 1, &batch, &error)) > 0) take_batch(list, &batch);
    assert_int_equal(status, 0);
}

static void compare(const struct list *expected, const struct list *found, uint32_t thread_count, int any_order) {
    assert_int_equal(expected->count, found->count);
    assert_int_equal(expected->instructions, found->instructions);
    for (uint32_t thread = 0; any_order && thread < thread_count; thread++) {
        for (size_t a = 0, b = 0;; a++, b++) {
            while (a < expected->count && expected->all[a].thread != thread) a++;
            while (b < found->count && found->all[b].thread != thread) b++;
            if (a == expected->count || b == found->count) {
                assert_true(a == expected->count && b == found->count);
                break;
            }
            assert_memory_equal(&expected->all[a], &found->all[b], sizeof *expected->all);
        }
    }
    if (!any_order) assert_memory_equal(expected->all, found->all, expected->count * sizeof *expected->all);
}

static void the_same_as_a_plain_reading(void **state) {
    struct list expected = {.all = calloc(LIST_MOST, sizeof *expected.all)};
    struct list found = {.all = calloc(LIST_MOST, sizeof *found.all)};
    (void)state;
    assert_true(expected.all && found.all);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (int simd = RSC_SIMD_PLAIN; simd < RSC_SIMD_COUNT; simd++) {
            const uint32_t threads = 1 + round % THREADS, quantum = round / THREADS % 2 ? 1 + round : 0;
            struct rsc_drain *drain;
            if (!rsc_simd_available((enum rsc_simd)simd)) continue;
            struct rsc_ring *ring =
                mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            assert_true(ring != MAP_FAILED);
            ring->magic = RSC_RING_MAGIC;
            ring->parent_pid = (uint32_t)getpid();
            ring->valgrind = 1;
            setenv("REUSESCOPE_SIMD", rsc_simd_name((enum rsc_simd)simd), 1);
            rsc_rng_seed(&rng, seed, round);
            expected.count = expected.instructions = found.count = found.instructions = 0;
            for (uint64_t i = 0; i < PLANS; i++) draw_plan(ring, &plans[i], i);
            execute_all(ring, threads, round % 4 != 3, &expected);
            assert_int_equal(rsc_drain_new(&drain, ring, NULL), 0);
            rsc_drain_set_window(drain, &(struct rsc_drain_window){.quantum = quantum});
            take_all(drain, &found);
            compare(&expected, &found, threads, quantum && threads > 1);
            assert_true(expected.count > STEPS);
            rsc_drain_free(drain);
            munmap(ring, sizeof *ring);
        }
    free(expected.all);
    free(found.all);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_as_a_plain_reading)};
    if (argc > 1) seed = strtoull(argv[1], NULL, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
