/*
 * beside.c - parts of the analysis of a rectangular region in a thread of their own, beside the shared curve: the private
 * view, and then interleavings of the band that the caller has not come to.
 *
 * Both threads read the nest; what each writes is its own: plan, search, status, and running sums, which a rectangular
 * nest does not have. The watch is the caller's alone: such a part is short. Results are the same with and without.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/pool.h"
#include "loops/model/region_analysis.h"
#include "loops/tree/loop_tree.h"

#define PARTS_MOST 2u

struct beside_part {
    struct rsc_loops_beside *beside;
    rsc_loops_part *make;
    void *context;
};

struct rsc_loops_beside {
    struct rsc_pool *pool; /* one thread; one that waits for it takes part too, so that parts are locked */
    pthread_mutex_t lock;
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
}

struct rsc_loops_beside *rsc_loops_beside_new(const struct rsc_loops_analysis *analysis, uint32_t threads) {
    if (!analysis->rectangular || rsc_pool_cpu_count() < 2) return NULL;
    struct rsc_loops_beside *beside = calloc(1, sizeof *beside);
    if (!beside || rsc_pool_new(&beside->pool, 1, NULL) < 0) {
        free(beside);
        return NULL;
    }
    pthread_mutex_init(&beside->lock, NULL);
    beside->program = *analysis->program;
    beside->program.watch = NULL;
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

int rsc_loops_beside_end(struct rsc_loops_beside *beside, struct rsc_error *error) {
    rsc_pool_wait(beside->pool);
    rsc_pool_free(beside->pool);
    pthread_mutex_destroy(&beside->lock);
    assert(!beside->nest.sums);
    rsc_search_free(beside->search);
    rsc_plan_free(beside->plan);
    int status = beside->status;
    if (status < 0 && error) *error = beside->error;
    free(beside);
    return status;
}
