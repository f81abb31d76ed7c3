/*
 * pool.h - threads that work through tasks and parallel loops.
 *
 * `workers` is how much may run at once. Tasks and loops can be started from
 * anywhere, inside tasks and loops too; nothing a task starts can deadlock the
 * pool, since whoever waits works meanwhile and waits only for what is running.
 * What a task or an iteration wrote is visible to whoever waited for it.
 */
#ifndef RSC_BASE_POOL_H
#define RSC_BASE_POOL_H

#include <stddef.h>

#include <reusescope/error.h>

struct rsc_pool;

/* Processors this process may run on (its affinity mask), at least 1. */
unsigned rsc_pool_cpu_count(void);

/*
 * A pool of `workers` threads (0: rsc_pool_cpu_count()), to be freed with
 * rsc_pool_free(). Where the system grants fewer, the pool has fewer; none at
 * all is an error. Its threads take no signals.
 */
int rsc_pool_new(struct rsc_pool **out, unsigned workers, struct rsc_error *error);

/* How many workers it got. */
unsigned rsc_pool_workers(const struct rsc_pool *pool);

/*
 * Has `task(arg)` run by some thread. Never blocks and never fails: tasks queue
 * without limit, and one that no memory is left to queue runs before this returns.
 */
void rsc_pool_submit(struct rsc_pool *pool, void (*task)(void *arg), void *arg);

/* Runs tasks until all submitted so far, and those they submitted, are done. Not from inside a task. */
void rsc_pool_wait(struct rsc_pool *pool);

/*
 * body(arg, i) for every i below count, in no order, each once; returns when all
 * are done. The calling thread takes part: at most `workers` run at a time, one
 * of them the caller. Iterations go to whoever is free, in small runs when there
 * are very many.
 */
void rsc_pool_for(struct rsc_pool *pool, size_t count, void (*body)(void *arg, size_t index), void *arg);

/* Waits for what was submitted, ends the threads, frees the pool. NULL is allowed. */
void rsc_pool_free(struct rsc_pool *pool);

#endif
