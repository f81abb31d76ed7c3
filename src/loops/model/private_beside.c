/*
 * private_beside.c - the private view of a rectangular region in a thread of its own, while the shared curve is made.
 *
 * Both read the nest; what they write is their own: plan, search, status, and running sums, which a rectangular nest
 * does not have. The watch is the caller's alone: a private view is short. Results are the same with and without.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/pool.h"
#include "loops/model/region_analysis.h"
#include "loops/tree/loop_tree.h"

struct rsc_loops_beside {
    struct rsc_pool *pool;
    struct rsc_loop_program program;
    struct rsc_nest nest;
    struct rsc_loops_analysis analysis;
    struct rsc_interleave interleave;
    uint32_t threads;
    struct rsc_loops_private *own;
    int status;
    struct rsc_error error;
};

static void make_view(void *context) {
    struct rsc_loops_beside *beside = context;
    struct rsc_plan *plan = NULL;
    struct rsc_search *search = NULL;
    int status = rsc_plan_new(&plan, &beside->nest, beside->threads, beside->analysis.options.schedule, &beside->error);
    if (status >= 0) status = rsc_search_new(&search, plan, &beside->error);
    if (status >= 0)
        status = rsc_loops_private_view(&beside->analysis, search, &beside->interleave, beside->own, &beside->error);
    rsc_search_free(search);
    rsc_plan_free(plan);
    beside->status = status;
}

struct rsc_loops_beside *rsc_loops_private_begin(const struct rsc_loops_analysis *analysis, uint32_t threads,
                                                 const struct rsc_interleave *interleave,
                                                 struct rsc_loops_private *own) {
    if (!analysis->rectangular || rsc_pool_cpu_count() < 2) return NULL;
    struct rsc_loops_beside *beside = calloc(1, sizeof *beside);
    if (!beside || rsc_pool_new(&beside->pool, 1, NULL) < 0) {
        free(beside);
        return NULL;
    }
    beside->program = *analysis->program;
    beside->program.watch = NULL;
    beside->nest = *analysis->nest;
    beside->nest.program = &beside->program;
    beside->nest.sums = NULL;
    beside->analysis = *analysis;
    beside->analysis.program = &beside->program;
    beside->analysis.nest = &beside->nest;
    beside->interleave = *interleave;
    beside->threads = threads;
    beside->own = own;
    rsc_pool_submit(beside->pool, make_view, beside);
    return beside;
}

int rsc_loops_private_end(struct rsc_loops_beside *beside, struct rsc_error *error) {
    rsc_pool_wait(beside->pool);
    rsc_pool_free(beside->pool);
    assert(!beside->nest.sums);
    int status = beside->status;
    if (status < 0 && error) *error = beside->error;
    free(beside);
    return status;
}
