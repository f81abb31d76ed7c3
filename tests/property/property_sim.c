/*
 * property_sim.c - the simulator against reference_sim.h, on random traces in random
 * hierarchies: every policy and shape, alternatives, families of sizes, warming up and
 * windows, one access at a time and fast, on one thread and several.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "random_traces.h"
#include "reference_sim.h"
#include "simulate/simulator.h"

#define ACCESSES 6000u

static uint64_t addr[ACCESSES], meta[ACCESSES];
static const struct rsc_thread threads[REF_THREADS] = {{17, 1}, {17, 2},  {200, 3}, {200, 4},
                                                       {17, 5}, {200, 6}, {17, 7},  {17, 8}};
static uint32_t count;
static uint64_t trial_seed;

static uint64_t below(struct rsc_rng *rng, uint64_t n) { return rsc_rng_below(rng, n); }
static int one_in(struct rsc_rng *rng, uint64_t n) { return below(rng, n) == 0; }

static void make_trace(struct rsc_rng *rng, uint32_t thread_count, uint64_t most_bytes) {
    unsigned shape = (unsigned)below(rng, 8), fetches = (unsigned)below(rng, 3);
    uint64_t bytes = 256 + below(rng, most_bytes), at = 0;
    int small = one_in(rng, 2);
    count = one_in(rng, 8) ? (uint32_t)below(rng, 4) : (uint32_t)(ACCESSES / 4 + below(rng, ACCESSES * 3 / 4));
    for (uint32_t i = 0; i < count; i++) {
        enum rsc_kind kind = below(rng, 3) < fetches ? RSC_FETCH : one_in(rng, 3) ? RSC_WRITE : RSC_READ;
        uint64_t line = random_line(rng, shape, &at, bytes / 16, i);
        uint32_t size = small             ? (uint32_t)below(rng, 9)
                        : one_in(rng, 20) ? 1 + (uint32_t)below(rng, 300)
                                          : 1 + (uint32_t)below(rng, 40);
        addr[i] = line * 16 + below(rng, 16) + (kind == RSC_FETCH ? 1u << 16 : 0);
        meta[i] = rsc_meta(size, kind, (uint32_t)below(rng, thread_count));
    }
}

static struct rsc_cache_config random_cache(struct rsc_rng *rng, const char *name, int plain) {
    static const uint32_t ways[] = {1, 2, 3, 4, 5, 7, 8, 12, 16};
    struct rsc_cache_config config;
    struct rsc_error error;
    uint64_t sets = one_in(rng, 4) ? 1 + below(rng, 70) : 1ull << below(rng, 7);
    uint32_t block = 16u << below(rng, 4), way = ways[below(rng, 9)];
    char text[100];
    snprintf(text, sizeof text, "%llu,%u,%u", (unsigned long long)(sets * way * block), way, block);
    assert_int_equal(rsc_cache_config_parse(&config, name, text, &error), 0);
    if (plain) return config;
    config.policy = one_in(rng, 3) ? RSC_POLICY_LRU : (enum rsc_policy)below(rng, RSC_POLICY_OPT);
    if (config.policy == RSC_POLICY_DRRIP && one_in(rng, 2)) { /* enough sets for some to follow */
        sets = 96 + below(rng, 100);
        config.ways = 1 + (uint32_t)below(rng, 4);
        config.block_bytes = 16;
        config.size_bytes = sets * config.ways * 16;
    }
    config.write_through = one_in(rng, 4);
    config.no_write_allocate = one_in(rng, 4);
    config.indexing = one_in(rng, 3) ? (enum rsc_indexing)below(rng, 3) : RSC_INDEX_VIRTUAL;
    if (config.indexing == RSC_INDEX_PID && (sets & (sets - 1))) config.indexing = RSC_INDEX_VIRTUAL;
    return config;
}

/* Things that stand beside a cache. */
static void add_extras(struct rsc_rng *rng, struct rsc_cache_config *config) {
    if (one_in(rng, 3)) config->prefetch_next = 1 + (uint32_t)below(rng, 3);
    else if (one_in(rng, 3)) {
        config->streams = 1 + (uint32_t)below(rng, 8);
        config->stream_depth = 1 + (uint32_t)below(rng, 5);
    }
    if (one_in(rng, 3)) config->victim_blocks = 1 + (uint32_t)below(rng, 6);
    if (one_in(rng, 3)) config->buffer_blocks = 1 + (uint32_t)below(rng, 4);
}

static void random_hierarchy(struct rsc_rng *rng, struct rsc_sim_config *sim, int plain) {
    static const char *const split[] = {"l1i", "l1d"};
    const char *names[RSC_CACHE_NAMES];
    size_t levels = 0;
    memset(sim, 0, sizeof *sim);
    sim->seed = rsc_rng_u64(rng);
    switch (below(rng, 5)) {
    case 0: names[levels++] = "l1"; break;
    case 1: names[levels++] = split[below(rng, 2)]; break;
    case 2: break;
    default: names[levels++] = "l1i"; names[levels++] = "l1d";
    }
    if (!levels || !one_in(rng, 4)) names[levels++] = "l2";
    if (!strcmp(names[levels - 1], "l2") && one_in(rng, 2)) {
        names[levels++] = "l3";
        for (size_t deeper = 5; deeper < RSC_CACHE_NAMES && one_in(rng, 2); deeper++)
            names[levels++] = rsc_cache_names[deeper];
    }
    int sectors = one_in(rng, 3) && !plain;
    int private_levels = one_in(rng, 2) && !plain, extras = one_in(rng, 3) && !plain,
        inclusive = one_in(rng, 3) && !plain;
    uint32_t each = 1u << below(rng, 2);
    for (size_t i = 0; i < levels; i++) {
        struct rsc_cache_config config = random_cache(rng, names[i], plain);
        int first = config.level == (i ? sim->caches[0].level : config.level);
        if (private_levels && (first || (sim->caches[i - 1].threads_each && one_in(rng, 2))))
            config.threads_each = first ? each : each << below(rng, 2);
        if (i && sim->caches[i - 1].threads_each && config.threads_each % sim->caches[i - 1].threads_each)
            config.threads_each = 0;
        if (extras) add_extras(rng, &config);
        if (sectors && !config.victim_blocks && !config.buffer_blocks && config.block_bytes > 16 && one_in(rng, 2))
            config.sector_bytes = 8u << below(rng, (uint64_t)__builtin_ctz(config.block_bytes / 8));
        if (inclusive && !first) config.inclusive = 1;
        assert_int_equal(rsc_sim_config_add(sim, &config, NULL), 0);
    }
    int has_sectors = 0;
    for (size_t i = 0; i < sim->count; i++) has_sectors |= sim->caches[i].sector_bytes != 0;
    if (private_levels && !extras && !has_sectors && one_in(rng, 2)) sim->coherent = 1;
}

/* ---- running both ---- */

static void open_reference(struct ref_sim *sim, const struct rsc_sim_config *config) {
    memset(sim, 0, sizeof *sim);
    sim->seed = config->seed;
    sim->coherent = config->coherent;
    for (size_t i = 0; i < config->count; i++)
        if (rsc_sim_config_primary(config, config->caches[i].name) == &config->caches[i])
            sim->level[sim->levels++].config = config->caches[i];
    ref_open(sim);
}

static void run_reference(struct ref_sim *sim, const struct rsc_sim_config *config, uint32_t warm) {
    int by_process = 0;
    for (size_t i = 0; i < config->count; i++) by_process |= config->caches[i].indexing != RSC_INDEX_VIRTUAL;
    uint32_t spaces = 0;
    for (uint32_t i = 0; i < count; i++) {
        unsigned kind = rsc_meta_kind(meta[i]);
        uint32_t size = rsc_meta_size(meta[i]), thread = rsc_meta_thread(meta[i]), space = 0;
        int entry = -1;
        for (int l = 0; i == warm && l < sim->levels; l++) {
            memset(&sim->level[l].counts, 0, sizeof sim->level[l].counts);
            sim->level[l].asked_warm = sim->level[l].asked_count;
            sim->memory_warm = sim->memory_count;
        }
        while (space < spaces && sim->pids[space] != threads[thread].pid) space++;
        if (space == spaces) sim->pids[spaces++] = threads[thread].pid;
        for (int l = 0; l < sim->levels; l++)
            if (sim->level[l].config.level == sim->level[0].config.level && sim->level[l].config.kinds >> kind & 1)
                entry = l;
        if (entry < 0) continue;
        uint64_t low = addr[i] + (by_process ? (uint64_t)space << 48 : 0);
        struct ref_request request = {low, low + (size ? size - 1 : 0), kind == RSC_WRITE ? REF_WRITE : REF_READ,
                                      (int)kind, (int)thread};
        ref_ask(sim, entry, request);
    }
    ref_end(sim);
}

static void run_simulator(const struct rsc_sim_config *config, const struct rsc_sim_options *options,
                          struct rsc_rng *rng, struct rsc_sim_result *result) {
    struct rsc_sim *sim;
    struct rsc_error error;
    if (rsc_sim_new(&sim, config, options, &error) < 0) fail_msg("%s", error.message);
    for (uint32_t at = 0; at < count;) {
        uint32_t most = count - at, size = one_in(rng, 3) ? 1 + (uint32_t)below(rng, most) : most;
        struct rsc_batch batch = {.count = size,
                                  .addr = addr + at,
                                  .meta = meta + at,
                                  .threads = threads,
                                  .thread_count = REF_THREADS,
                                  .instructions = 3 * size};
        if (rsc_sim_push(sim, &batch, &error) < 0) fail_msg("%s", error.message);
        at += size;
    }
    if (rsc_sim_finish(sim, result, &error) < 0) fail_msg("%s", error.message);
    rsc_sim_free(sim);
}

static void compare(const struct rsc_sim_level_result *got, const struct ref_level *wanted, int classified) {
    const struct rsc_level_counts *g = &got->counts;
    const struct ref_counts *w = &wanted->counts;
    const char *text = got->cache.text;
#define SAME(a, b)                                                                                                  \
    if ((a) != (b))                                                                                                 \
    fail_msg("seed %llu: %s %s: %s is %llu, should be %llu", (unsigned long long)trial_seed, got->cache.name, text, \
             #a, (unsigned long long)(a), (unsigned long long)(b))
    for (int k = 0; k < 3; k++) {
        SAME(g->accesses[k], w->accesses[k]);
        SAME(g->misses[k], w->misses[k]);
        if (!classified) continue;
        SAME(g->cold[k], w->classes[0][k]);
        SAME(g->coherence[k], w->classes[1][k]);
        SAME(g->capacity[k], w->classes[2][k]);
        SAME(g->conflict[k], w->classes[3][k]);
    }
    SAME(g->writes_in, w->writes_in);
    SAME(g->writes_in_missed, w->writes_in_missed);
    SAME(g->sector_misses, w->sector_misses);
    SAME(g->writebacks, w->writebacks);
    SAME(g->writethroughs, w->writethroughs);
    SAME(g->prefetches, w->prefetches);
    SAME(g->prefetches_used, w->prefetches_used);
    SAME(g->prefetches_in, w->prefetches_in);
    SAME(g->victim_hits, w->victim_hits);
    SAME(g->buffer_merged, w->merged);
    SAME(g->invalidated, w->invalidated);
    SAME(g->back_invalidated, w->back_invalidated);
    SAME(g->dirty_at_end, ref_held(wanted, 1));
    SAME(g->blocks_at_end, ref_held(wanted, 0));
}

static void try_hierarchy(struct rsc_rng *rng, const struct rsc_sim_config *config) {
    struct ref_sim *wanted = malloc(sizeof *wanted);
    uint32_t warm = one_in(rng, 3) && count ? (uint32_t)below(rng, count) : 0;
    struct rsc_sim_options options = {
        .warm_accesses = warm, .classify = one_in(rng, 2), .workers = 1 + (unsigned)below(rng, 3)};
    struct rsc_sim_result result;
    for (size_t i = 0; i < config->count; i++) options.classify &= !config->caches[i].sector_bytes;
    open_reference(wanted, config);
    run_reference(wanted, config, warm);
    for (options.slow = 0; options.slow < 2; options.slow++) {
        run_simulator(config, &options, rng, &result);
        assert_int_equal(result.level_count, wanted->levels);
        for (int l = 0; l < wanted->levels; l++) compare(&result.levels[l], &wanted->level[l], options.classify);
        assert_int_equal(result.accesses, count - warm);
        assert_int_equal(result.warm_accesses, warm);
        if (!warm) assert_int_equal(result.memory_reads + result.memory_writes, wanted->memory_count);
        rsc_sim_result_free(&result);
    }
    ref_close(wanted);
    free(wanted);
}

static void each_shape(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    unsigned long trials = property_traces(300);
    for (unsigned long t = 0; t < trials; t++) {
        struct rsc_rng rng;
        struct rsc_sim_config config;
        trial_seed = seed + t;
        rsc_rng_seed(&rng, trial_seed, 0);
        random_hierarchy(&rng, &config, one_in(&rng, 3));
        make_trace(&rng, one_in(&rng, 2) ? 1 : REF_THREADS, one_in(&rng, 2) ? 3000 : 60000);
        try_hierarchy(&rng, &config);
    }
}

/* ---- Belady's optimum: a run to learn what it is asked for, a run that knows ---- */

static void belady(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    unsigned long trials = property_traces(40);
    for (unsigned long t = 0; t < trials; t++) {
        struct rsc_rng rng;
        struct rsc_sim_config config, plain;
        struct rsc_sim_result result;
        struct ref_sim *learnt = malloc(sizeof *learnt), *wanted = malloc(sizeof *wanted);
        trial_seed = seed + t;
        rsc_rng_seed(&rng, trial_seed, 2);
        random_hierarchy(&rng, &config, 1);
        size_t which = below(&rng, config.count);
        make_trace(&rng, 1, 3000);
        count = count < 1500 ? count : 1500;
        plain = config;
        config.caches[which].policy = RSC_POLICY_OPT;
        open_reference(learnt, &plain);
        run_reference(learnt, &plain, 0);
        open_reference(wanted, &config);
        wanted->level[which].future = learnt->level[which].log;
        wanted->level[which].future_count = learnt->level[which].log_count;
        uint32_t warm = one_in(&rng, 2) && count ? (uint32_t)below(&rng, count) : 0;
        run_reference(wanted, &config, warm);
        struct rsc_sim_options options = {.warm_accesses = warm, .classify = 1};
        run_simulator(&config, &options, &rng, &result);
        for (int l = 0; l < wanted->levels; l++) {
            compare(&result.levels[l], &wanted->level[l], 1);
            /* and no policy is better */
            if (l == (int)which && !warm)
                assert_true(rsc_kinds_sum(result.levels[l].counts.misses) + result.levels[l].counts.writes_in_missed <=
                            learnt->level[l].counts.misses[0] + learnt->level[l].counts.misses[1] +
                                learnt->level[l].counts.misses[2] + learnt->level[l].counts.writes_in_missed);
        }
        rsc_sim_result_free(&result);
        ref_close(learnt);
        ref_close(wanted);
        free(learnt);
        free(wanted);
    }
}

/* ---- TLBs: a list of pages for each set of each TLB ---- */

#define TLB_PAGES 8 /* most entries of a TLB here: 64 */

/* A TLB as lists: for each set, its pages, the most recently used (lru) or filled (fifo) first. */
struct listed {
    const struct rsc_tlb_config *config;
    uint64_t page[REF_THREADS][64][64];
    int filled[REF_THREADS][64];
    uint64_t accesses[3], misses[3];
};

/* Whether the page was there; it is afterwards. */
static int listed_has(struct listed *tlb, uint64_t page, int kind, uint32_t thread) {
    uint32_t group = tlb->config->threads_each ? thread / tlb->config->threads_each : 0;
    uint32_t sets = tlb->config->entries / tlb->config->ways, set = (uint32_t)(page % sets);
    uint64_t *list = tlb->page[group][set];
    int *filled = &tlb->filled[group][set], at = 0;
    tlb->accesses[kind]++;
    while (at < *filled && list[at] != page) at++;
    int found = at < *filled;
    tlb->misses[kind] += !found;
    if (found && tlb->config->policy == RSC_POLICY_FIFO) return 1;
    if (!found && *filled < (int)tlb->config->ways) ++*filled;
    if (!found) at = *filled - 1;
    for (; at > 0; at--) list[at] = list[at - 1];
    list[0] = page;
    return found;
}

static struct rsc_tlb_config random_tlb(struct rsc_rng *rng, const char *name, uint64_t pages) {
    struct rsc_tlb_config tlb;
    struct rsc_error error;
    char text[60];
    uint32_t ways = 1 + (uint32_t)below(rng, TLB_PAGES), sets = 1 + (uint32_t)below(rng, TLB_PAGES);
    snprintf(text, sizeof text, "%u,%u,4K,%s,per=%u", ways * sets, ways, one_in(rng, 2) ? "lru" : "fifo",
             1 + (unsigned)below(rng, 3));
    if (rsc_tlb_config_parse(&tlb, name, text, &error) < 0) fail_msg("%s", error.message);
    tlb.pages = pages;
    if (one_in(rng, 2)) tlb.threads_each = 0;
    return tlb;
}

static void tlbs(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    unsigned long trials = property_traces(60);
    for (unsigned long t = 0; t < trials; t++) {
        struct rsc_rng rng;
        struct rsc_sim_config config = {0};
        struct rsc_sim_result result;
        trial_seed = seed + t;
        rsc_rng_seed(&rng, trial_seed, 5);
        if (one_in(&rng, 2)) random_hierarchy(&rng, &config, 1);
        config.pages = one_in(&rng, 2) ? 4096 : 4096 | 16384;
        make_trace(&rng, one_in(&rng, 2) ? 1 : REF_THREADS, 4u << 20);
        for (uint32_t i = 0; i < count; i++) addr[i] *= 1 + below(&rng, 2); /* some far apart */
        int unified = one_in(&rng, 2), second = (int)below(&rng, 3);
        if (one_in(&rng, 4)) { /* the other kinds begin with the second level */
            config.tlbs[config.tlb_count++] = random_tlb(&rng, one_in(&rng, 2) ? "itlb" : "dtlb", config.pages);
            second = 1;
        } else if (unified) config.tlbs[config.tlb_count++] = random_tlb(&rng, "tlb", config.pages);
        else {
            config.tlbs[config.tlb_count++] = random_tlb(&rng, "itlb", config.pages);
            config.tlbs[config.tlb_count++] = random_tlb(&rng, "dtlb", config.pages);
        }
        if (second == 1) config.tlbs[config.tlb_count++] = random_tlb(&rng, "tlb2", config.pages);
        if (second == 2) config.tlbs[config.tlb_count++] = random_tlb(&rng, "dtlb2", config.pages);
        uint32_t warm = one_in(&rng, 2) && count ? (uint32_t)below(&rng, count) : 0;
        struct rsc_sim_options options = {.warm_accesses = warm};
        run_simulator(&config, &options, &rng, &result);
        assert_int_equal(result.page_count, __builtin_popcountll(config.pages));
        for (size_t p = 0; p < result.page_count; p++) {
            const struct rsc_sim_pages_result *got = &result.pages[p];
            struct listed *wanted = calloc(config.tlb_count, sizeof *wanted);
            uint64_t walks[3] = {0};
            for (size_t k = 0; k < config.tlb_count; k++) wanted[k].config = &config.tlbs[k];
            for (uint32_t i = 0; i < count; i++) {
                int kind = (int)rsc_meta_kind(meta[i]);
                uint32_t size = rsc_meta_size(meta[i]);
                for (size_t k = 0; i == warm && k < config.tlb_count; k++) {
                    memset(wanted[k].accesses, 0, sizeof wanted[k].accesses);
                    memset(wanted[k].misses, 0, sizeof wanted[k].misses);
                }
                if (i == warm) memset(walks, 0, sizeof walks);
                uint64_t last = (addr[i] + (size ? size - 1 : 0)) / got->page_bytes;
                for (uint64_t page = addr[i] / got->page_bytes; page <= last; page++) {
                    int found = 0;
                    for (size_t k = 0; !found && k < config.tlb_count; k++)
                        if (config.tlbs[k].kinds & RSC_KIND_BIT(kind))
                            found = listed_has(&wanted[k], page, kind, rsc_meta_thread(meta[i]));
                    walks[kind] += !found;
                }
            }
            assert_int_equal(got->tlb_count, config.tlb_count);
            for (size_t k = 0; k < config.tlb_count; k++)
                if (memcmp(got->tlbs[k].accesses, wanted[k].accesses, sizeof wanted[k].accesses) ||
                    memcmp(got->tlbs[k].misses, wanted[k].misses, sizeof wanted[k].misses))
                    fail_msg("seed %llu: %s %s differs", (unsigned long long)trial_seed, got->tlbs[k].tlb.name,
                             got->tlbs[k].tlb.text);
            assert_memory_equal(walks, got->walks, sizeof walks);
            free(wanted);
        }
        rsc_sim_result_free(&result);
    }
}

/* ---- alternatives and families: each is what it is alone, asked for what the primary is ---- */

/* A cache by itself, asked for what is in a log; counted from request `warm` on. `future` is for Belady's. */
static void ask_alone(struct ref_sim *sim, const struct rsc_cache_config *config, const struct ref_sim *main,
                      const struct ref_request *log, int log_count, int warm, const struct ref_level *future) {
    memset(sim, 0, sizeof *sim);
    sim->seed = main->seed;
    memcpy(sim->pids, main->pids, sizeof sim->pids);
    sim->levels = 1;
    sim->level[0].config = *config;
    if (future) {
        sim->level[0].future = future->log;
        sim->level[0].future_count = future->log_count;
    }
    ref_open(sim);
    for (int i = 0; i <= log_count; i++) {
        if (i == warm) memset(&sim->level[0].counts, 0, sizeof sim->level[0].counts);
        if (i < log_count) ref_ask(sim, 0, log[i]);
    }
    ref_end(sim);
}

static const struct ref_level *alone(struct ref_sim *sim, const struct rsc_cache_config *config,
                                     const struct ref_sim *main, const struct ref_request *log, int log_count,
                                     int warm) {
    if (config->policy != RSC_POLICY_OPT) {
        ask_alone(sim, config, main, log, log_count, warm, NULL);
        return &sim->level[0];
    }
    struct ref_sim *learnt = malloc(sizeof *learnt);
    struct rsc_cache_config plain = *config;
    plain.policy = RSC_POLICY_LRU;
    ask_alone(learnt, &plain, main, log, log_count, 0, NULL);
    ask_alone(sim, config, main, log, log_count, warm, &learnt->level[0]);
    ref_close(learnt);
    free(learnt);
    return &sim->level[0];
}

static void sides(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    unsigned long trials = property_traces(40);
    for (unsigned long t = 0; t < trials; t++) {
        struct rsc_rng rng;
        struct rsc_sim_config config, primaries;
        struct rsc_sim_result result;
        struct ref_sim *wanted = malloc(sizeof *wanted), *one = malloc(sizeof *one);
        trial_seed = seed + t;
        rsc_rng_seed(&rng, trial_seed, 3);
        random_hierarchy(&rng, &config, one_in(&rng, 2));
        config.coherent = 0;
        make_trace(&rng, one_in(&rng, 2) ? 1 : 4, 20000);
        if (one_in(&rng, 2)) count = count < 1800 ? count : 1800;
        primaries = config;
        size_t which = below(&rng, config.count);
        const char *name = primaries.caches[which].name;
        int families = one_in(&rng, 2), missing = families && which == primaries.count - 1 && which &&
                                                  primaries.caches[which].level > primaries.caches[0].level;
        for (int i = 0; !families && i < 3; i++) {
            struct rsc_cache_config other = random_cache(&rng, name, 0);
            other.threads_each = primaries.caches[which].threads_each;
            if (!i && !other.threads_each && count < 2000) other.policy = RSC_POLICY_OPT;
            assert_int_equal(rsc_sim_config_add(&config, &other, NULL), 0);
        }
        if (families) {
            struct rsc_all_config *all = &config.alls[config.all_count++];
            assert_int_equal(
                rsc_all_config_parse(all, name, one_in(&rng, 2) ? "all:256-8K,8,32" : "all:1K-4K,4,16", NULL), 0);
            if (missing) config.count--; /* no primary of that name: what passes the level above */
        }
        uint32_t warm = one_in(&rng, 2) && count ? (uint32_t)below(&rng, count) : 0;
        open_reference(wanted, &config);
        run_reference(wanted, &config, warm);
        struct rsc_sim_options options = {.workers = 1 + (unsigned)below(&rng, 3), .warm_accesses = warm};
        run_simulator(&config, &options, &rng, &result);
        size_t level = 0, compared = 0;
        for (size_t row = 0; row < result.level_count; row++) {
            const struct rsc_sim_level_result *got = &result.levels[row];
            while (level < (size_t)wanted->levels && strcmp(wanted->level[level].config.name, got->cache.name)) level++;
            int known = level < (size_t)wanted->levels;
            if (!known) level = 0;
            if (known && !got->alternative) {
                compare(got, &wanted->level[level], 0);
                continue;
            }
            struct rsc_cache_config config_of_it;
            assert_int_equal(rsc_cache_config_parse(&config_of_it, got->cache.name, got->cache.text, NULL), 0);
            const struct ref_level *single =
                known ? alone(one, &config_of_it, wanted, wanted->level[level].asked, wanted->level[level].asked_count,
                              wanted->level[level].asked_warm)
                      : alone(one, &config_of_it, wanted, wanted->memory, wanted->memory_count, wanted->memory_warm);
            struct rsc_sim_level_result copy = *got;
            if (families) { /* which write-backs missed is not kept for so many */
                copy.counts.writes_in_missed = single->counts.writes_in_missed;
                copy.counts.prefetches_in = single->counts.prefetches_in;
            }
            compare(&copy, single, 0);
            ref_close(one);
            compared++;
        }
        assert_true(compared >= 3);
        rsc_sim_result_free(&result);
        ref_close(wanted);
        free(wanted);
        free(one);
    }
}

/* ---- windows add up, and warming by fill is warming by the number of accesses it took ---- */

static void windows_and_fill(void **state) {
    (void)state;
    uint64_t seed = property_seed();
    unsigned long trials = property_traces(40);
    for (unsigned long t = 0; t < trials; t++) {
        struct rsc_rng rng;
        struct rsc_sim_config config;
        struct rsc_sim_result whole, cut;
        trial_seed = seed + t;
        rsc_rng_seed(&rng, trial_seed, 4);
        random_hierarchy(&rng, &config, one_in(&rng, 2));
        /* what buffers hold at the end is written after the last window */
        for (size_t i = 0; i < config.count; i++) config.caches[i].buffer_blocks = 0;
        make_trace(&rng, 4, 4000);
        struct rsc_sim_options options = {.window_accesses = 1 + below(&rng, 2000)};
        run_simulator(&config, &options, &rng, &whole);
        assert_int_equal(whole.window_count, (count + options.window_accesses - 1) / options.window_accesses);
        uint64_t at = 0, instructions = 0;
        for (size_t w = 0; w < whole.window_count;
             at += whole.windows[w].accesses, instructions += whole.windows[w].instructions, w++) {
            assert_int_equal(whole.windows[w].first, at);
            struct rsc_sim_options only = {.warm_accesses = at};
            uint32_t all = count;
            count = (uint32_t)(at + whole.windows[w].accesses);
            if (w % 4 == 0) { /* the same by warming up to it */
                run_simulator(&config, &only, &rng, &cut);
                for (size_t row = 0; row < cut.level_count; row++) {
                    assert_int_equal(whole.window_misses[w * cut.level_count + row],
                                     rsc_kinds_sum(cut.levels[row].counts.misses));
                    assert_int_equal(whole.window_accesses[w * cut.level_count + row],
                                     rsc_kinds_sum(cut.levels[row].counts.accesses));
                }
                rsc_sim_result_free(&cut);
            }
            count = all;
        }
        assert_int_equal(at, count);
        if (count) assert_int_equal(instructions, 3ull * count);
        rsc_sim_result_free(&whole);

        struct rsc_sim *sim;
        struct rsc_error error;
        struct rsc_sim_options fill = {.warm_fill = 0.5};
        struct rsc_batch batch = {.count = count,
                                  .addr = addr,
                                  .meta = meta,
                                  .threads = threads,
                                  .thread_count = REF_THREADS,
                                  .instructions = 0};
        assert_int_equal(rsc_sim_new(&sim, &config, &fill, &error), 0);
        assert_int_equal(rsc_sim_push(sim, &batch, &error), 0);
        if (rsc_sim_finish(sim, &whole, &error) == 0) {
            assert_int_equal(whole.warm_accesses % 1024, 0);
            struct rsc_sim_options same = {.warm_accesses = whole.warm_accesses};
            run_simulator(&config, &same, &rng, &cut);
            for (size_t row = 0; row < cut.level_count; row++)
                assert_memory_equal(&cut.levels[row].counts, &whole.levels[row].counts, sizeof cut.levels[row].counts);
            rsc_sim_result_free(&cut);
        }
        rsc_sim_result_free(&whole);
        rsc_sim_free(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape), cmocka_unit_test(belady),           cmocka_unit_test(tlbs),
        cmocka_unit_test(sides),      cmocka_unit_test(windows_and_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
