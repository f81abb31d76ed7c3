/* tlb.c - see tlb.h. */
#include "simulate/cache/tlb.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define SIZES_MAX 19 /* powers of two from 4K to 1G */

/* A TLB of one page size: one per group of threads. */
struct unit {
    struct rsc_tlb_config config;
    struct rsc_cache *caches; /* owned: made when a group is first seen */
    size_t cache_count;
    uint64_t accesses[RSC_KINDS], misses[RSC_KINDS];
};

/* The TLBs of one page size. */
struct pages {
    uint32_t shift;
    struct unit units[RSC_TLB_NAMES];
    size_t unit_count;
    int path[RSC_KINDS][RSC_TLB_LEVELS]; /* units that a kind looks in; -1: no more */
    uint64_t walks[RSC_KINDS];
    /* A page looked up twice in a row by one thread hits, and LRU does not change. */
    uint64_t last_page[RSC_KINDS];
    uint32_t last_thread[RSC_KINDS];
};

struct rsc_tlbs {
    struct pages pages[SIZES_MAX];
    size_t count;
    uint64_t seed;
};

#define NO_PAGE UINT64_MAX /* pages have fewer bits */

static void open_pages(struct pages *pages, const struct rsc_sim_config *config, uint64_t page) {
    pages->shift = (uint32_t)__builtin_ctzll(page);
    for (size_t name = 0; name < RSC_TLB_NAMES; name++) /* first levels first */
        for (size_t i = 0; i < config->tlb_count; i++)
            if (!strcmp(config->tlbs[i].name, rsc_tlb_names[name]) && (config->tlbs[i].pages & page))
                pages->units[pages->unit_count++].config = config->tlbs[i];
    for (int kind = 0; kind < RSC_KINDS; kind++) {
        int depth = 0;
        pages->last_page[kind] = NO_PAGE;
        for (size_t i = 0; i < pages->unit_count; i++)
            if (pages->units[i].config.kinds & RSC_KIND_BIT(kind)) pages->path[kind][depth++] = (int)i;
        while (depth < RSC_TLB_LEVELS) pages->path[kind][depth++] = -1;
    }
}

int rsc_tlbs_new(struct rsc_tlbs **out, const struct rsc_sim_config *config, struct rsc_error *error) {
    struct rsc_tlbs *tlbs = *out = calloc(1, sizeof *tlbs);
    if (!tlbs) return rsc_fail_memory(error, "TLBs");
    tlbs->seed = config->seed;
    for (uint64_t page = RSC_PAGE_MIN; page <= RSC_PAGE_MAX; page *= 2)
        if (config->pages & page) open_pages(&tlbs->pages[tlbs->count++], config, page);
    return 0;
}

void rsc_tlbs_free(struct rsc_tlbs *tlbs) {
    for (size_t i = 0; tlbs && i < tlbs->count; i++)
        for (size_t k = 0; k < tlbs->pages[i].unit_count; k++) {
            struct unit *unit = &tlbs->pages[i].units[k];
            for (size_t group = 0; group < unit->cache_count; group++) rsc_cache_free(&unit->caches[group]);
            free(unit->caches);
        }
    free(tlbs);
}

/* The TLB of a thread; NULL when out of memory. */
static struct rsc_cache *cache_of(const struct rsc_tlbs *tlbs, const struct pages *pages, struct unit *unit,
                                  uint32_t thread) {
    size_t group = unit->config.threads_each ? thread / unit->config.threads_each : 0;
    if (group >= unit->cache_count) {
        struct rsc_cache *more = realloc(unit->caches, (group + 1) * sizeof *more);
        if (!more) return NULL;
        memset(more + unit->cache_count, 0, (group + 1 - unit->cache_count) * sizeof *more);
        unit->caches = more;
        unit->cache_count = group + 1;
    }
    struct rsc_cache *cache = &unit->caches[group];
    struct rsc_cache_config config = {
        .size_bytes = (uint64_t)unit->config.entries << pages->shift,
        .ways = unit->config.ways,
        .block_bytes = 1u << pages->shift,
        .policy = unit->config.policy,
    };
    return cache->entries || rsc_cache_init(cache, &config, tlbs->seed, NULL, NULL) == 0 ? cache : NULL;
}

static int look_up(const struct rsc_tlbs *tlbs, struct pages *pages, uint64_t page, unsigned kind, uint32_t thread) {
    int level = 0;
    uint64_t evicted;
    for (; level < RSC_TLB_LEVELS && pages->path[kind][level] >= 0; level++) {
        struct unit *unit = &pages->units[pages->path[kind][level]];
        unit->accesses[kind]++;
        /* a second level that a kind begins with is changed by what others miss */
        if (unit->config.level == 1 && unit->config.policy == RSC_POLICY_LRU) {
            if (pages->last_page[kind] == page && pages->last_thread[kind] == thread) return 0;
            for (int other = 0; other < RSC_KINDS; other++) /* kinds that share this TLB changed its order */
                if (unit->config.kinds & RSC_KIND_BIT(other)) {
                    pages->last_page[other] = page;
                    pages->last_thread[other] = thread;
                }
        }
        struct rsc_cache *cache = cache_of(tlbs, pages, unit, thread);
        if (!cache) return RSC_ENOMEM;
        uint64_t set = rsc_cache_set_of(cache, page);
        int way = rsc_cache_find(cache, set, page);
        if (way >= 0) {
            rsc_cache_touch(cache, set, way);
            return 0;
        }
        unit->misses[kind]++;
        rsc_cache_fill(cache, set, page, 0, &evicted);
    }
    pages->walks[kind] += level > 0;
    return 0;
}

int rsc_tlbs_push(struct rsc_tlbs *tlbs, const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    for (size_t i = 0; i < tlbs->count; i++) {
        struct pages *pages = &tlbs->pages[i];
        for (uint32_t at = first; at < end; at++) {
            uint64_t meta = batch->meta[at], addr = batch->addr[at], bytes = rsc_meta_size(meta);
            uint64_t last = addr + (bytes ? bytes - 1 : 0);
            unsigned kind = rsc_meta_kind(meta);
            if (kind >= RSC_KINDS) continue;
            if (last < addr) last = UINT64_MAX;
            for (uint64_t page = addr >> pages->shift; page <= last >> pages->shift; page++)
                if (look_up(tlbs, pages, page, kind, rsc_meta_thread(meta)) < 0) return RSC_ENOMEM;
        }
    }
    return 0;
}

void rsc_tlbs_forget_counts(struct rsc_tlbs *tlbs) {
    for (size_t i = 0; i < tlbs->count; i++) {
        struct pages *pages = &tlbs->pages[i];
        memset(pages->walks, 0, sizeof pages->walks);
        for (size_t k = 0; k < pages->unit_count; k++) {
            memset(pages->units[k].accesses, 0, sizeof pages->units[k].accesses);
            memset(pages->units[k].misses, 0, sizeof pages->units[k].misses);
        }
    }
}

int rsc_tlbs_result(const struct rsc_tlbs *tlbs, struct rsc_sim_result *result) {
    result->pages = calloc(tlbs->count, sizeof *result->pages);
    if (!result->pages) return RSC_ENOMEM;
    result->page_count = tlbs->count;
    for (size_t i = 0; i < tlbs->count; i++) {
        const struct pages *pages = &tlbs->pages[i];
        struct rsc_sim_pages_result *to = &result->pages[i];
        to->page_bytes = 1ull << pages->shift;
        memcpy(to->walks, pages->walks, sizeof to->walks);
        to->tlbs = calloc(pages->unit_count, sizeof *to->tlbs);
        if (!to->tlbs) return RSC_ENOMEM;
        to->tlb_count = pages->unit_count;
        for (size_t k = 0; k < pages->unit_count; k++) {
            const struct unit *unit = &pages->units[k];
            struct rsc_sim_tlb_result *row = &to->tlbs[k];
            memcpy(row->tlb.name, unit->config.name, sizeof row->tlb.name);
            rsc_tlb_config_text(&unit->config, to->page_bytes, row->tlb.text, sizeof row->tlb.text);
            memcpy(row->accesses, unit->accesses, sizeof row->accesses);
            memcpy(row->misses, unit->misses, sizeof row->misses);
        }
    }
    return 0;
}
