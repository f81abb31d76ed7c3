/*
 * team.c - see team.h.
 *
 * All threads read the same nest, plans and leads, which several may ask at once; each has its own search and crowd. The
 * nest's `wanted` takes the place of the caller's watch: the caller, which sleeps, clears it.
 */
#include "loops/model/team.h"

#include <assert.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "base/pool.h"
#include "loops/model/region_analysis.h"

#define WATCHED_NS 20000000 /* the caller's watch is asked so often */

struct part {
    struct rsc_loops_team *team;
    rsc_loops_part *make;
    void *context;
    int status;
    struct rsc_error error;
};

struct rsc_loops_team {
    struct rsc_loops_analysis *analysis;
    struct rsc_pool *pool; /* NULL: the caller makes everything */
    sem_t made; /* parts */
    atomic_int wanted;
    atomic_uint parts;
    struct part part[RSC_LOOPS_PARTS_MOST];
};

/* Whom all counts ask whether they are still wanted. */
static void look_after(struct rsc_loops_analysis *analysis, const atomic_int *wanted) {
    analysis->nest->wanted = wanted;
    for (uint32_t r = 0; r < analysis->points.reference_count; r++) analysis->points.alone[r]->wanted = wanted;
}

struct rsc_loops_team *rsc_loops_team_new(struct rsc_loops_analysis *analysis, int several) {
    struct rsc_loops_team *team = calloc(1, sizeof *team);
    unsigned workers = analysis->options.workers ? analysis->options.workers : rsc_pool_cpu_count();
    if (!team) return NULL;
    team->analysis = analysis;
    sem_init(&team->made, 0, 0);
    atomic_init(&team->wanted, 1); /* until the watch is asked */
    atomic_init(&team->parts, 0);
    if (workers > RSC_LOOPS_WORKERS_MOST) workers = RSC_LOOPS_WORKERS_MOST;
    if (several && workers > 1 && rsc_pool_new(&team->pool, workers, NULL) >= 0) look_after(analysis, &team->wanted);
    return team;
}

static void make_part(void *context) {
    struct part *part = context;
    part->status = part->make(part->team->analysis, part->context, &part->error);
    sem_post(&part->team->made);
}

void rsc_loops_team_add(struct rsc_loops_team *team, rsc_loops_part *make, void *context) {
    unsigned number = atomic_fetch_add(&team->parts, 1);
    assert(number < RSC_LOOPS_PARTS_MOST);
    struct part *part = &team->part[number];
    *part = (struct part){.team = team, .make = make, .context = context};
    if (team->pool) rsc_pool_submit(team->pool, make_part, part);
    else make_part(part);
}

static void ask_watch(struct rsc_loops_team *team) {
    struct rsc_loop_watch *watch = team->analysis->program->watch;
    if (watch && !watch->stopped) watch->stopped = !watch->go_on(watch->context);
    if (watch && watch->stopped) atomic_store(&team->wanted, 0);
}

/* Waits for one part; 0 if it is not made yet, and then asks the watch whether it is still wanted. */
static int wait_for_part(struct rsc_loops_team *team) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WATCHED_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (!sem_timedwait(&team->made, &until)) return 1;
    ask_watch(team);
    return 0;
}

int rsc_loops_team_end(struct rsc_loops_team *team, struct rsc_error *error) {
    int status = 0;
    if (team->pool) ask_watch(team); /* at least once, however little it is */
    for (unsigned made = 0; made < atomic_load(&team->parts);) made += (unsigned)wait_for_part(team);
    rsc_pool_free(team->pool);
    if (team->pool) look_after(team->analysis, NULL);
    for (unsigned k = 0; k < team->parts && status >= 0; k++)
        if ((status = team->part[k].status) < 0 && error) *error = team->part[k].error;
    sem_destroy(&team->made);
    free(team);
    return status;
}

void rsc_loops_team_each(struct rsc_loops_team *team, size_t count, void (*body)(void *context, size_t index),
                         void *context) {
    if (team->pool) {
        rsc_pool_for(team->pool, count, body, context);
        return;
    }
    for (size_t i = 0; i < count; i++) body(context, i);
}

uint32_t rsc_loops_team_size(const struct rsc_loops_team *team) {
    return team->pool ? rsc_pool_workers(team->pool) : 1;
}

/* ---- crowds ---- */

static int add_copy(struct rsc_loops_crowds *crowds, struct rsc_error *error) {
    struct rsc_crowd *crowd, *first = crowds->crowd[0];
    struct rsc_search *search = &crowds->search[crowds->count];
    *search = *first->search;
    search->searches = 0;
    int status =
        rsc_crowd_new(&crowd, search, first->interleave, first->chance.normal, first->line_bytes, first->seed, error);
    if (status < 0) return status;
    crowd->runs_max = first->runs_max;
    crowd->shares_draws = first->shares_draws;
    status = rsc_crowd_divide_as(crowd, first, error);
    if (status < 0) {
        rsc_crowd_free(crowd);
        return status;
    }
    crowds->crowd[crowds->count++] = crowd;
    return 0;
}

int rsc_loops_crowds_new(struct rsc_loops_crowds **out, const struct rsc_loops_team *team, struct rsc_crowd *crowd,
                         struct rsc_error *error) {
    struct rsc_loops_crowds *crowds = malloc(sizeof *crowds);
    if (!crowds) return rsc_fail_memory(error, "model of threads");
    pthread_mutex_init(&crowds->lock, NULL);
    crowds->count = 1;
    crowds->crowd[0] = crowd;
    int status = 0;
    while (crowds->count < rsc_loops_team_size(team) && status >= 0) status = add_copy(crowds, error);
    crowds->free_count = crowds->count;
    for (uint32_t k = 0; k < crowds->count; k++) crowds->free[k] = crowds->count - 1 - k;
    if (status < 0) {
        rsc_loops_crowds_free(crowds);
        return status;
    }
    *out = crowds;
    return 0;
}

void rsc_loops_crowds_free(struct rsc_loops_crowds *crowds) {
    if (!crowds) return;
    for (uint32_t k = 1; k < crowds->count; k++) rsc_crowd_free(crowds->crowd[k]);
    pthread_mutex_destroy(&crowds->lock);
    free(crowds);
}

uint32_t rsc_loops_crowds_take(struct rsc_loops_crowds *crowds) {
    pthread_mutex_lock(&crowds->lock);
    assert(crowds->free_count);
    uint32_t number = crowds->free[--crowds->free_count];
    pthread_mutex_unlock(&crowds->lock);
    return number;
}

void rsc_loops_crowds_give(struct rsc_loops_crowds *crowds, uint32_t number) {
    pthread_mutex_lock(&crowds->lock);
    crowds->free[crowds->free_count++] = number;
    pthread_mutex_unlock(&crowds->lock);
}

uint64_t rsc_loops_crowds_searches(const struct rsc_loops_crowds *crowds) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < crowds->count; k++) sum += crowds->crowd[k]->search->searches;
    return sum;
}
