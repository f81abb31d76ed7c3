/*
 * pool.c - a task queue and a list of open loops behind one lock.
 *
 * Tasks sit in a ring that grows. A parallel loop is a record on its caller's
 * stack, linked into the pool's list while it has iterations left; an idle worker
 * joins it, takes iterations from an atomic counter until none are left, and
 * leaves. The caller does the same, unlinks the loop and waits for the workers
 * still inside. Loops are never queued, so a loop neither allocates nor depends on
 * a worker becoming free: that is why nesting cannot deadlock.
 *
 * The lock is taken once per task, and twice per worker and loop.
 */
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"

/* Runs of iterations per participant: enough to balance the load at the end. */
#define RUNS_PER_WORKER 64

/* Polls for work, or for its end, before sleeping: a wake-up takes a few tens of microseconds. */
#define LOOKS 4000

struct task {
    void (*run)(void *arg);
    void *arg;
};

struct loop {
    struct loop *next;
    void (*body)(void *arg, size_t index);
    void *arg;
    size_t count, run; /* iterations in all, and taken at a time */
    atomic_size_t taken;
    atomic_uint inside; /* workers inside, without the caller; changed under the pool's lock */
};

struct rsc_pool {
    pthread_mutex_t lock;
    pthread_cond_t work;    /* a task, a loop, or the end */
    pthread_cond_t settled; /* the last task ended, or a worker left a loop */
    struct task *tasks;     /* ring of `room` (a power of two), owned */
    size_t head, queued, room;
    size_t unfinished;  /* tasks queued or running */
    struct loop *loops; /* open ones, newest first */
    int ending;
    atomic_uint news; /* changes with every task and loop */
    unsigned workers;
    pthread_t threads[];
};

unsigned rsc_pool_cpu_count(void) {
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        size_t bytes = CPU_ALLOC_SIZE((size_t)cpus);
        if (!set) break;
        int status = sched_getaffinity(0, bytes, set); /* fails while the mask is too small for the machine */
        int count = status == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0) return (unsigned)count;
    }
    return 1;
}

unsigned rsc_pool_workers(const struct rsc_pool *pool) { return pool->workers; }

/* Makes room for one more task; the lock is held. Returns 0, or RSC_ENOMEM. */
static int grow_queue(struct rsc_pool *pool) {
    if (pool->queued < pool->room) return 0;
    size_t room = pool->room * 2;
    struct task *tasks = malloc(room * sizeof *tasks);
    if (!tasks) return RSC_ENOMEM;
    for (size_t i = 0; i < pool->queued; i++) tasks[i] = pool->tasks[(pool->head + i) & (pool->room - 1)];
    free(pool->tasks);
    pool->tasks = tasks;
    pool->room = room;
    pool->head = 0;
    return 0;
}

void rsc_pool_submit(struct rsc_pool *pool, void (*task)(void *arg), void *arg) {
    pthread_mutex_lock(&pool->lock);
    int status = grow_queue(pool);
    if (status == 0) {
        pool->tasks[(pool->head + pool->queued++) & (pool->room - 1)] = (struct task){task, arg};
        pool->unfinished++;
        atomic_fetch_add_explicit(&pool->news, 1, memory_order_relaxed);
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    if (status < 0) task(arg);
}

/* Runs the oldest task; the lock is held before and after, not meanwhile. */
static void run_task(struct rsc_pool *pool) {
    assert(pool->queued && pool->queued <= pool->unfinished && pool->queued <= pool->room);
    struct task task = pool->tasks[pool->head];
    pool->head = (pool->head + 1) & (pool->room - 1);
    pool->queued--;
    pthread_mutex_unlock(&pool->lock);
    task.run(task.arg);
    pthread_mutex_lock(&pool->lock);
    if (--pool->unfinished == 0) pthread_cond_broadcast(&pool->settled);
}

void rsc_pool_wait(struct rsc_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (pool->unfinished) {
        if (pool->queued) run_task(pool);
        else pthread_cond_wait(&pool->settled, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

static void run_iterations(struct loop *loop) {
    for (;;) {
        size_t first = atomic_fetch_add_explicit(&loop->taken, loop->run, memory_order_relaxed);
        if (first >= loop->count) return;
        size_t end = loop->count - first < loop->run ? loop->count : first + loop->run;
        for (size_t i = first; i < end; i++) loop->body(loop->arg, i);
    }
}

/* An open loop that a worker may join; the lock is held. */
static struct loop *find_loop(struct rsc_pool *pool) {
    for (struct loop *loop = pool->loops; loop; loop = loop->next) {
        int given_away = atomic_load_explicit(&loop->taken, memory_order_relaxed) >= loop->count;
        if (!given_away && loop->inside + 1 < pool->workers) return loop;
    }
    return NULL;
}

static void join_loop(struct rsc_pool *pool, struct loop *loop) {
    loop->inside++;
    pthread_mutex_unlock(&pool->lock);
    run_iterations(loop);
    pthread_mutex_lock(&pool->lock);
    loop->inside--;
    pthread_cond_broadcast(&pool->settled);
}

void rsc_pool_for(struct rsc_pool *pool, size_t count, void (*body)(void *arg, size_t index), void *arg) {
    if (count <= 1 || pool->workers == 1) {
        for (size_t i = 0; i < count; i++) body(arg, i);
        return;
    }
    size_t run = count / ((size_t)pool->workers * RUNS_PER_WORKER);
    struct loop loop = {.body = body, .arg = arg, .count = count, .run = run ? run : 1};
    pthread_mutex_lock(&pool->lock);
    loop.next = pool->loops;
    pool->loops = &loop;
    atomic_fetch_add_explicit(&pool->news, 1, memory_order_relaxed);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);

    run_iterations(&loop);
    for (int i = 0; i < LOOKS && atomic_load_explicit(&loop.inside, memory_order_relaxed); i++) rsc_cpu_pause();

    pthread_mutex_lock(&pool->lock);
    struct loop **link = &pool->loops;
    while (*link != &loop) link = &(*link)->next;
    *link = loop.next;
    while (loop.inside) pthread_cond_wait(&pool->settled, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* The lock is held before and after. */
static void wait_for_news(struct rsc_pool *pool) {
    unsigned before = atomic_load_explicit(&pool->news, memory_order_relaxed);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < LOOKS && atomic_load_explicit(&pool->news, memory_order_relaxed) == before; i++)
        rsc_cpu_pause();
    pthread_mutex_lock(&pool->lock);
    if (atomic_load_explicit(&pool->news, memory_order_relaxed) == before && !pool->ending)
        pthread_cond_wait(&pool->work, &pool->lock);
}

/* Loops come before tasks: their caller is waiting. */
static void *worker_main(void *arg) {
    struct rsc_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct loop *loop = find_loop(pool);
        if (loop) join_loop(pool, loop);
        else if (pool->queued) run_task(pool);
        else if (pool->ending) break;
        else wait_for_news(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts up to `wanted` threads and sets pool->workers; returns pthread_create()'s last error, 0 if none failed. */
static int start_workers(struct rsc_pool *pool, unsigned wanted) {
    sigset_t all, before;
    int status = 0;
    unsigned started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&pool->lock); /* no worker looks at pool->workers before it is final */
    while (started < wanted) {
        status = pthread_create(&pool->threads[started], NULL, worker_main, pool);
        if (status != 0) break;
        started++;
    }
    pool->workers = started;
    pthread_mutex_unlock(&pool->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

int rsc_pool_new(struct rsc_pool **out, unsigned workers, struct rsc_error *error) {
    if (!workers) workers = rsc_pool_cpu_count();
    struct rsc_pool *pool = calloc(1, sizeof *pool + workers * sizeof pool->threads[0]);
    *out = NULL;
    if (!pool) return rsc_fail_memory(error, "thread pool");
    for (pool->room = 64; pool->room < workers;) pool->room *= 2;
    pool->tasks = malloc(pool->room * sizeof *pool->tasks);
    if (!pool->tasks) {
        free(pool);
        return rsc_fail_memory(error, "thread pool");
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->settled, NULL);
    int status = start_workers(pool, workers);
    if (pool->workers == 0) {
        rsc_pool_free(pool);
        return rsc_fail_errno(error, status, "cannot start a thread");
    }
    *out = pool;
    return 0;
}

void rsc_pool_free(struct rsc_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = 1;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->workers; i++) pthread_join(pool->threads[i], NULL);
    assert(!pool->unfinished && !pool->loops);
    pthread_cond_destroy(&pool->settled);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->tasks);
    free(pool);
}
