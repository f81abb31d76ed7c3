/*
 * beside.c - parts of the analysis of a rectangular region in a thread of their own, beside the shared curve: the private
 * view, and then interleavings of the band that the caller has not come to.
 *
 * Both threads read the nest's tree and the program's arena; what each writes is its own: plan, search, status, and
 * running sums, which a rectangular nest does not have. The caller's watch is asked by the caller alone, also while it
 * waits; parts end when it says so, or when the caller fails. Results are the same with and without.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/pool.h"
#include "loops/model/region_analysis.h"
#include "loops/tree/loop_tree.h"

#define PARTS_MOST 2u
#define WATCHED_NS 50000000 /* the caller's watch is asked so often while parts are waited for */

struct beside_part {
    struct rsc_loops_beside *beside;
    rsc_loops_part *make;
    void *context;
};

struct rsc_loops_beside {
    struct rsc_pool *pool; /* one thread; one that waits for it takes part too, so that parts are locked */
    pthread_mutex_t lock;
    sem_t made; /* parts */
    atomic_int wanted; /* 0: no part matters any more */
    struct rsc_loop_watch watch;
    struct rsc_loop_program program;
    struct rsc_nest nest;
    struct rsc_loops_analysis analysis;
    uint32_t threads, parts;
    struct beside_part part[PARTS_MOST];
    struct rsc_plan *plan; /* made by the first part */
    struct rsc_search *search;
    int status;
    struct rsc_error error;
};

static int is_wanted(void *context) { return atomic_load_explicit((atomic_int *)context, memory_order_relaxed); }

static void make_part(void *context) {
    struct beside_part *part = context;
    struct rsc_loops_beside *beside = part->beside;
    struct rsc_error *error = &beside->error;
    pthread_mutex_lock(&beside->lock);
    int status = beside->status;
    if (status >= 0 && !beside->plan)
        status = rsc_plan_new(&beside->plan, &beside->nest, beside->threads, beside->analysis.options.schedule, error);
    if (status >= 0 && !beside->search) status = rsc_search_new(&beside->search, beside->plan, error);
    if (status >= 0) status = part->make(&beside->analysis, beside->search, part->context, error);
    beside->status = status;
    pthread_mutex_unlock(&beside->lock);
    sem_post(&beside->made);
}

struct rsc_loops_beside *rsc_loops_beside_new(const struct rsc_loops_analysis *analysis, uint32_t threads) {
    if (!analysis->rectangular || rsc_pool_cpu_count() < 2) return NULL;
    struct rsc_loops_beside *beside = calloc(1, sizeof *beside);
    if (!beside || rsc_pool_new(&beside->pool, 1, NULL) < 0) {
        free(beside);
        return NULL;
    }
    pthread_mutex_init(&beside->lock, NULL);
    sem_init(&beside->made, 0, 0);
    atomic_init(&beside->wanted, 1);
    beside->watch = (struct rsc_loop_watch){.go_on = is_wanted, .context = &beside->wanted};
    beside->program = *analysis->program;
    beside->program.watch = &beside->watch;
    beside->nest = *analysis->nest;
    beside->nest.program = &beside->program;
    beside->nest.sums = NULL;
    beside->analysis = *analysis;
    beside->analysis.program = &beside->program;
    beside->analysis.nest = &beside->nest;
    beside->threads = threads;
    return beside;
}

void rsc_loops_beside_add(struct rsc_loops_beside *beside, rsc_loops_part *make, void *context) {
    assert(beside->parts < PARTS_MOST);
    struct beside_part *part = &beside->part[beside->parts++];
    *part = (struct beside_part){beside, make, context};
    rsc_pool_submit(beside->pool, make_part, part);
}

/* Waits for one part; 0 if it is not made yet, and then asks the caller's watch whether it is still wanted. */
static int wait_for_part(struct rsc_loops_beside *beside, struct rsc_loop_watch *watch) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WATCHED_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (!sem_timedwait(&beside->made, &until)) return 1;
    if (watch && !watch->stopped) watch->stopped = !watch->go_on(watch->context);
    if (watch && watch->stopped) atomic_store(&beside->wanted, 0);
    return 0;
}

int rsc_loops_beside_end(struct rsc_loops_beside *beside, struct rsc_loop_watch *watch, int status,
                         struct rsc_error *error) {
    if (status < 0 || (watch && watch->stopped)) atomic_store(&beside->wanted, 0);
    for (uint32_t made = 0; made < beside->parts;) made += wait_for_part(beside, watch);
    rsc_pool_free(beside->pool);
    pthread_mutex_destroy(&beside->lock);
    assert(!beside->nest.sums);
    rsc_search_free(beside->search);
    rsc_plan_free(beside->plan);
    sem_destroy(&beside->made);
    if (status >= 0 && beside->status < 0) {
        status = beside->status;
        if (error) *error = beside->error;
    }
    free(beside);
    return status;
}
