/* test_pool.c - every task and iteration once, nested as it may be; meant to run under TSan too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "unit/address_limit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static const unsigned WORKERS[] = {1, 2, 3, 8};
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static struct rsc_pool *new_pool(unsigned workers) {
    struct rsc_pool *pool;
    struct rsc_error error;
    assert_int_equal(rsc_pool_new(&pool, workers, &error), 0);
    return pool;
}

static void count_up(void *arg) { atomic_fetch_add((atomic_size_t *)arg, 1); }

static void every_task_runs_once(void **state) {
    (void)state;
    for (size_t w = 0; w < LENGTH(WORKERS); w++) {
        struct rsc_pool *pool = new_pool(WORKERS[w]);
        atomic_size_t done = 0;
        for (int round = 1; round <= 3; round++) {
            for (int i = 0; i < 1000; i++) rsc_pool_submit(pool, count_up, &done);
            rsc_pool_wait(pool);
            assert_int_equal(done, 1000 * round);
        }
        for (int i = 0; i < 100; i++) rsc_pool_submit(pool, count_up, &done);
        rsc_pool_free(pool); /* waits for them */
        assert_int_equal(done, 3100);
    }
}

struct tree {
    struct rsc_pool *pool;
    atomic_size_t leaves;
};

struct node {
    struct tree *tree;
    int depth;
};

static void grow(void *arg) {
    struct node *node = arg;
    if (node->depth == 0) atomic_fetch_add(&node->tree->leaves, 1);
    for (int i = 0; node->depth > 0 && i < 2; i++) {
        struct node *child = malloc(sizeof *child);
        *child = (struct node){node->tree, node->depth - 1};
        rsc_pool_submit(node->tree->pool, grow, child);
    }
    free(node);
}

static void tasks_submit_tasks(void **state) {
    (void)state;
    for (size_t w = 0; w < LENGTH(WORKERS); w++) {
        struct tree tree = {.pool = new_pool(WORKERS[w])};
        struct node *root = malloc(sizeof *root);
        *root = (struct node){&tree, 10};
        rsc_pool_submit(tree.pool, grow, root);
        rsc_pool_wait(tree.pool);
        assert_int_equal(tree.leaves, 1024);
        rsc_pool_free(tree.pool);
    }
}

/* Plain memory, not atomic: TSan then checks that rsc_pool_for() orders it. */
static void mark(void *arg, size_t index) { ((unsigned char *)arg)[index]++; }

static void every_iteration_runs_once(void **state) {
    (void)state;
    static const size_t COUNTS[] = {0, 1, 2, 3, 63, 64, 1000, 100003};
    for (size_t w = 0; w < LENGTH(WORKERS); w++) {
        struct rsc_pool *pool = new_pool(WORKERS[w]);
        for (size_t c = 0; c < LENGTH(COUNTS); c++) {
            unsigned char *marks = calloc(COUNTS[c] + 1, 1);
            rsc_pool_for(pool, COUNTS[c], mark, marks);
            for (size_t i = 0; i < COUNTS[c]; i++) assert_int_equal(marks[i], 1);
            assert_int_equal(marks[COUNTS[c]], 0);
            free(marks);
        }
        rsc_pool_free(pool);
    }
}

struct nest {
    struct rsc_pool *pool;
    unsigned char marks[16][64];
    size_t row;
};

static void inner(void *arg, size_t index) { ((unsigned char *)arg)[index]++; }

static void outer(void *arg, size_t index) {
    struct nest *nest = arg;
    rsc_pool_for(nest->pool, 64, inner, nest->marks[index]);
}

static void loops_nest(void **state) {
    (void)state;
    for (size_t w = 0; w < LENGTH(WORKERS); w++) {
        struct nest *nest = calloc(1, sizeof *nest);
        nest->pool = new_pool(WORKERS[w]);
        for (int round = 0; round < 20; round++) rsc_pool_for(nest->pool, 16, outer, nest);
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 64; j++) assert_int_equal(nest->marks[i][j], 20);
        rsc_pool_free(nest->pool);
        free(nest);
    }
}

struct loop_task {
    struct rsc_pool *pool;
    unsigned char marks[64];
};

static void loop_in_task(void *arg) {
    struct loop_task *task = arg;
    rsc_pool_for(task->pool, 64, mark, task->marks);
}

/* More loops than workers, all inside tasks: nobody may wait for a worker to come free. */
static void loops_in_tasks(void **state) {
    (void)state;
    for (size_t w = 0; w < LENGTH(WORKERS); w++) {
        struct rsc_pool *pool = new_pool(WORKERS[w]);
        struct loop_task *tasks = calloc(100, sizeof *tasks);
        for (int i = 0; i < 100; i++) {
            tasks[i].pool = pool;
            rsc_pool_submit(pool, loop_in_task, &tasks[i]);
        }
        rsc_pool_wait(pool);
        for (int i = 0; i < 100; i++)
            for (int j = 0; j < 64; j++) assert_int_equal(tasks[i].marks[j], 1);
        rsc_pool_free(pool);
        free(tasks);
    }
}

struct crowd {
    atomic_int inside, most;
};

static void meet(void *arg, size_t index) {
    struct crowd *crowd = arg;
    (void)index;
    int now = atomic_fetch_add(&crowd->inside, 1) + 1, most = crowd->most;
    while (now > most && !atomic_compare_exchange_weak(&crowd->most, &most, now)) continue;
    sched_yield();
    atomic_fetch_sub(&crowd->inside, 1);
}

static void no_more_than_workers_at_once(void **state) {
    (void)state;
    for (size_t w = 0; w < LENGTH(WORKERS); w++) {
        struct rsc_pool *pool = new_pool(WORKERS[w]);
        struct crowd crowd = {0};
        rsc_pool_for(pool, 5000, meet, &crowd);
        assert_in_range(crowd.most, 1, rsc_pool_workers(pool));
        rsc_pool_free(pool);
    }
}

struct rendezvous {
    pthread_barrier_t barrier;
};

static void meet_all(void *arg) { pthread_barrier_wait(&((struct rendezvous *)arg)->barrier); }

/* As many tasks as workers really run at once: they wait for each other. */
static void all_workers_work(void **state) {
    (void)state;
    struct rsc_pool *pool = new_pool(4);
    assert_int_equal(rsc_pool_workers(pool), 4);
    struct rendezvous rendezvous;
    pthread_barrier_init(&rendezvous.barrier, NULL, 4);
    for (int i = 0; i < 4; i++) rsc_pool_submit(pool, meet_all, &rendezvous);
    rsc_pool_wait(pool);
    pthread_barrier_destroy(&rendezvous.barrier);
    rsc_pool_free(pool);
}

static void check_mask(void *arg) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    *(int *)arg = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM);
}

static void workers_take_no_signals(void **state) {
    (void)state;
    struct rsc_pool *pool = new_pool(1);
    int blocked = 0;
    sigset_t mine;
    rsc_pool_submit(pool, check_mask, &blocked);
    rsc_pool_free(pool);
    assert_true(blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    assert_false(sigismember(&mine, SIGINT));
}

static void counts_processors(void **state) {
    (void)state;
    cpu_set_t before, one;
    assert_in_range(rsc_pool_cpu_count(), 1, 1 << 20);
    if (sched_getaffinity(0, sizeof before, &before) != 0) skip();
    assert_int_equal(rsc_pool_cpu_count(), CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) skip();
    assert_int_equal(rsc_pool_cpu_count(), 1);
    struct rsc_pool *pool = new_pool(0);
    assert_int_equal(rsc_pool_workers(pool), 1);
    rsc_pool_free(pool);
    sched_setaffinity(0, sizeof before, &before);
}

/* In a process that may hold little memory, thousands of threads cannot be had: fewer, or an error, but no crash. */
static void too_many_threads(void **state) {
    (void)state;
#ifdef SANITIZED
    skip(); /* a sanitizer's own memory does not fit the limit */
#endif
    pid_t child = fork();
    if (child == 0) {
        struct rsc_pool *pool;
        struct rsc_error error;
        if (address_limit_set(256 << 20)) _exit(ADDRESS_LIMIT_IGNORED);
        int status = rsc_pool_new(&pool, 4000, &error);
        if (status < 0) _exit(pool == NULL && error.code == status ? 0 : 1);
        atomic_size_t done = 0;
        for (int i = 0; i < 1000; i++) rsc_pool_submit(pool, count_up, &done);
        rsc_pool_wait(pool);
        unsigned workers = rsc_pool_workers(pool);
        rsc_pool_free(pool);
        _exit(workers >= 1 && workers < 4000 && done == 1000 ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == ADDRESS_LIMIT_IGNORED) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void null_may_be_freed(void **state) {
    (void)state;
    rsc_pool_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(tasks_submit_tasks),
        cmocka_unit_test(every_iteration_runs_once),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(loops_in_tasks),
        cmocka_unit_test(no_more_than_workers_at_once),
        cmocka_unit_test(all_workers_work),
        cmocka_unit_test(workers_take_no_signals),
        cmocka_unit_test(counts_processors),
        cmocka_unit_test(too_many_threads),
        cmocka_unit_test(null_may_be_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
