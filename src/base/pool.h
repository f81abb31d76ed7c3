/*
 * pool.h - threads that work through tasks and parallel loops.
 *
 * At most `workers` threads run at once. Tasks and loops can be started from
 * anywhere, inside tasks and loops too. Nested work cannot deadlock the pool: a
 * thread that waits runs other work and waits only for what is already running.
 * A thread that waited sees everything the tasks and iterations wrote.
 */
#ifndef RSC_BASE_POOL_H
#define RSC_BASE_POOL_H

#include <stddef.h>

#include <reusescope/error.h>

struct rsc_pool;

/* Processors this process may run on (its affinity mask), at least 1. */
unsigned rsc_pool_cpu_count(void);

/*
 * Creates a pool of `workers` threads (0: rsc_pool_cpu_count()); free it with
 * rsc_pool_free(). If the system grants fewer threads, the pool has fewer; none at
 * all is an error. All signals are blocked in its threads.
 */
int rsc_pool_new(struct rsc_pool **out, unsigned workers, struct rsc_error *error);

/* The number of workers started. */
unsigned rsc_pool_workers(const struct rsc_pool *pool);

/*
 * Runs `task(arg)` on some thread. Never blocks and never fails: the queue is
 * unbounded, and a task that cannot be queued for lack of memory runs at once, in
 * the caller. As many tasks as there are workers are always queued, so that one may wait for
 * what its submitter does next.
 */
void rsc_pool_submit(struct rsc_pool *pool, void (*task)(void *arg), void *arg);

/* Runs tasks until all submitted so far, and those they submitted, are done. Not from inside a task. */
void rsc_pool_wait(struct rsc_pool *pool);

/*
 * Calls body(arg, i) once for every i below count, in any order; returns when all
 * are done. The calling thread takes part: at most `workers` threads run at a time,
 * including the caller. Free threads take the next iterations, in small runs when
 * there are very many.
 */
void rsc_pool_for(struct rsc_pool *pool, size_t count, void (*body)(void *arg, size_t index), void *arg);

/* Waits for what was submitted, ends the threads, frees the pool. NULL is allowed. */
void rsc_pool_free(struct rsc_pool *pool);

#endif
