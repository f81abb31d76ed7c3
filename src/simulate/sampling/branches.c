/*
 * branches.c - see branches.h.
 *
 * Each branch is a level of a hierarchy: one of the primary hierarchy's, or the only
 * level of an alternative's own hierarchy. Every watched level has a tap, which
 * records before a request is served which cache will serve it, and the time; the
 * watch is called afterwards. Requests only go down, so no other request reaches the
 * same level between the two.
 */
#include "simulate/sampling/branches.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct branch {
    struct rsc_branches *all;
    struct rsc_hierarchy *hierarchy;
    struct rsc_hierarchy own; /* of an alternative */
    int level;
    size_t first_fed, fed; /* alternatives this level's tap feeds */
    struct rsc_cold_watch *watches; /* by group of threads; allocated when first needed */
    size_t watch_count;
    struct rsc_cold_watch *current;
    uint64_t *set_misses; /* owned */
    struct rsc_hierarchy_tap tap; /* of whoever uses this */
};

struct rsc_branches {
    struct rsc_sim_config config;
    struct rsc_hierarchy primary;
    struct branch branches[RSC_SIM_CACHES_MAX];
    enum rsc_branch_watch watch;
    int status; /* negative if a watch could not be created */
    /* The clock: at access `i` of the current batch it is base + i * rate. */
    double base, rate;
    struct rsc_spaces spaces; /* if an index depends on the process */
};

static int make_watch(struct branch *branch, size_t group) {
    if (group >= branch->watch_count) {
        struct rsc_cold_watch *more = realloc(branch->watches, (group + 1) * sizeof *more);
        if (!more) return RSC_ENOMEM;
        memset(more + branch->watch_count, 0, (group + 1 - branch->watch_count) * sizeof *more);
        branch->watches = more;
        branch->watch_count = group + 1;
    }
    if (branch->watches[group].loaded) return 0;
    return rsc_cold_watch_init(&branch->watches[group], &branch->hierarchy->levels[branch->level].config, NULL);
}

static void seen(void *user, const struct rsc_cache_seen *what) {
    struct branch *branch = user;
    if (branch->current) rsc_cold_watch_seen(branch->current, what);
}

static void prepare_watch(struct branch *branch, const struct rsc_request *request) {
    uint32_t each = branch->hierarchy->levels[branch->level].config.threads_each;
    size_t group = each ? request->thread / each : 0;
    branch->current = NULL;
    if ((group >= branch->watch_count || !branch->watches[group].loaded) && make_watch(branch, group) < 0) {
        branch->all->status = RSC_ENOMEM;
        return;
    }
    branch->current = &branch->watches[group];
    struct rsc_cache *cache = rsc_hierarchy_cache(branch->hierarchy, branch->level, request->thread);
    if (cache) cache->now = (uint64_t)(branch->all->base + request->access * branch->all->rate);
}

static void tell(void *user, const struct rsc_request *request) {
    struct branch *branch = user;
    struct rsc_branches *all = branch->all;
    if (all->watch == RSC_WATCH_COLD) prepare_watch(branch, request);
    for (size_t i = 0; i < branch->fed; i++) {
        struct rsc_hierarchy *other = all->branches[branch->first_fed + i].hierarchy;
        if (!other->status) rsc_hierarchy_request(other, 0, request);
    }
    if (branch->tap.request) branch->tap.request(branch->tap.user, request);
}

/* If the index of any cache depends on the process, every request's address must include it. */
static int share_spaces(struct rsc_branches *all, struct rsc_error *error) {
    int needed = 0;
    for (size_t i = 0; i < all->config.count; i++) needed |= all->config.caches[i].indexing != RSC_INDEX_VIRTUAL;
    if (!needed) return 0;
    if (rsc_spaces_init(&all->spaces) < 0) return rsc_fail_memory(error, "address spaces");
    rsc_branches_use_spaces(all, &all->spaces);
    return 0;
}

void rsc_branches_use_spaces(struct rsc_branches *all, struct rsc_spaces *spaces) {
    rsc_hierarchy_use_spaces(&all->primary, spaces);
    for (size_t i = 0; i < all->config.count; i++)
        if (all->branches[i].hierarchy == &all->branches[i].own)
            rsc_hierarchy_use_spaces(&all->branches[i].own, spaces);
}

struct rsc_spaces *rsc_branches_spaces(struct rsc_branches *all) { return all->primary.spaces; }

void rsc_branches_writes_are_back(struct rsc_branches *all, int how) { all->primary.writes_are_back = how; }

void rsc_branches_tap(struct rsc_branches *all, size_t cache, const struct rsc_hierarchy_tap *tap) {
    all->branches[cache].tap = *tap;
}

static int add_alternative(struct rsc_branches *all, struct branch *branch, const struct rsc_cache_config *cache,
                           struct rsc_error *error) {
    struct rsc_sim_config *one = calloc(1, sizeof *one);
    if (!one) return rsc_fail_memory(error, "caches");
    one->caches[0] = *cache;
    one->count = 1;
    one->seed = all->config.seed;
    int status = rsc_hierarchy_init(&branch->own, one, error);
    free(one);
    branch->hierarchy = &branch->own;
    branch->level = 0;
    return status;
}

static int watch_branch(struct branch *branch, const struct rsc_cache_config *cache, struct rsc_error *error) {
    struct rsc_level *level = &branch->hierarchy->levels[branch->level];
    level->tap = (struct rsc_hierarchy_tap){tell, branch};
    if (branch->all->watch == RSC_WATCH_COLD) level->watch = (struct rsc_cache_watch){seen, branch};
    if (branch->all->watch != RSC_WATCH_SETS) return 0;
    level->set_misses = branch->set_misses = calloc(rsc_cache_sets(cache), sizeof *branch->set_misses);
    return branch->set_misses ? 0 : rsc_fail_memory(error, "misses by set");
}

int rsc_branches_new(struct rsc_branches **out, const struct rsc_sim_config *config, enum rsc_branch_watch watch,
                     struct rsc_error *error) {
    struct rsc_branches *all = calloc(1, sizeof *all);
    struct branch *primary = NULL;
    int level = 0;
    *out = NULL;
    if (!all) return rsc_fail_memory(error, "caches");
    all->config = *config;
    all->watch = watch;
    int status = rsc_hierarchy_init(&all->primary, config, error);
    for (size_t i = 0; !status && i < config->count; i++) {
        struct branch *branch = &all->branches[i];
        branch->all = all;
        if (i && !strcmp(config->caches[i].name, config->caches[i - 1].name)) {
            status = add_alternative(all, branch, &config->caches[i], error);
            if (!primary->fed++) primary->first_fed = i;
        } else {
            branch->hierarchy = &all->primary;
            branch->level = level++;
            primary = branch;
        }
        if (!status) status = watch_branch(branch, &config->caches[i], error);
    }
    if (!status) status = share_spaces(all, error);
    if (status < 0) {
        rsc_branches_free(all);
        return status;
    }
    *out = all;
    return 0;
}

void rsc_branches_free(struct rsc_branches *all) {
    if (!all) return;
    for (size_t i = 0; i < all->config.count; i++) {
        struct branch *branch = &all->branches[i];
        if (branch->hierarchy == &branch->own) rsc_hierarchy_free(&branch->own);
        for (size_t k = 0; k < branch->watch_count; k++) rsc_cold_watch_free(&branch->watches[k]);
        free(branch->watches);
        free(branch->set_misses);
    }
    rsc_hierarchy_free(&all->primary);
    rsc_spaces_free(&all->spaces);
    free(all);
}

int rsc_branches_push(struct rsc_branches *all, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                      struct rsc_error *error) {
    all->rate = batch->instructions == RSC_UNKNOWN || !batch->count ? 1 : (double)batch->instructions / batch->count;
    all->base -= first * all->rate; /* the clock stood at access `first` */
    int status = rsc_hierarchy_push(&all->primary, batch, first, end, error);
    all->base += end * all->rate;
    return status < 0 ? status : rsc_branches_status(all, error);
}

int rsc_branches_status(const struct rsc_branches *all, struct rsc_error *error) {
    for (size_t i = 0; i < all->config.count; i++)
        if (all->branches[i].hierarchy->status) return rsc_hierarchy_fail(all->branches[i].hierarchy, error);
    return all->status ? rsc_fail_memory(error, "cold-start counts") : 0;
}

void rsc_branches_request(struct rsc_branches *all, const struct rsc_request *request, uint64_t now) {
    all->base = (double)now;
    all->rate = 0;
    rsc_hierarchy_request(&all->primary, 0, request);
}

void rsc_branches_empty(struct rsc_branches *all) {
    rsc_hierarchy_empty(&all->primary);
    for (size_t i = 0; i < all->config.count; i++) {
        struct branch *branch = &all->branches[i];
        if (branch->hierarchy == &branch->own) rsc_hierarchy_empty(&branch->own);
        if (branch->set_misses)
            memset(branch->set_misses, 0, rsc_cache_sets(&all->config.caches[i]) * sizeof *branch->set_misses);
        for (size_t k = 0; k < branch->watch_count; k++)
            if (branch->watches[k].loaded) rsc_cold_watch_begin(&branch->watches[k]);
    }
}

struct rsc_branch_counts rsc_branches_counts(const struct rsc_branches *all, size_t cache) {
    const struct rsc_level_counts *counts = &all->branches[cache].hierarchy->levels[all->branches[cache].level].counts;
    return (struct rsc_branch_counts){rsc_kinds_sum(counts->accesses), rsc_kinds_sum(counts->misses)};
}

const struct rsc_level_counts *rsc_branches_running(const struct rsc_branches *all, size_t cache) {
    return &all->branches[cache].hierarchy->levels[all->branches[cache].level].counts;
}

const uint64_t *rsc_branches_set_misses(const struct rsc_branches *all, size_t cache) {
    return all->branches[cache].set_misses;
}

uint64_t rsc_branches_references(const struct rsc_branches *all) {
    uint64_t sum = 0;
    for (size_t i = 0; i < all->primary.level_count; i++)
        if (all->primary.levels[i].config.level == all->primary.levels[0].config.level)
            sum += rsc_kinds_sum(all->primary.levels[i].counts.accesses);
    return sum;
}

struct rsc_cold_counts rsc_branches_cold(const struct rsc_branches *all, size_t cache) {
    const struct branch *branch = &all->branches[cache];
    struct rsc_cold_counts sum = {0};
    for (size_t k = 0; k < branch->watch_count; k++)
        if (branch->watches[k].loaded) rsc_cold_counts_add(&sum, &branch->watches[k].counts);
    return sum;
}
