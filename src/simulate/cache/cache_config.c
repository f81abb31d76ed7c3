/* cache_config.c - parses and prints caches, and checks that they make a hierarchy. */
#include "simulate/cache/cache_config.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

const char *const rsc_cache_names[RSC_CACHE_NAMES] = {"l1", "l1i", "l1d", "l2", "l3", "l4", "l5", "l6"};

#define PREFETCH_MAX 64
#define STREAMS_MAX 64
#define STREAM_DEPTH 4u /* unless given */
#define WAYS_MAX 65535u
#define BLOCK_MAX (1u << 20)
#define BLOCKS_MAX (1ull << 36)

static int has_name(const char *word, size_t length, const char *name) {
    return strlen(name) == length && !memcmp(word, name, length);
}

static int refuse(const char *name, const char *text, struct rsc_error *error, const char *why) {
    return rsc_fail(error, RSC_EINVAL, "--%s %.60s: %s", name, text, why);
}

static int find_place(const char *name, char to[8], unsigned *level, unsigned *kinds, struct rsc_error *error) {
    for (size_t i = 0; i < RSC_CACHE_NAMES; i++) {
        if (strcmp(rsc_cache_names[i], name)) continue;
        snprintf(to, 8, "%s", name);
        *level = (unsigned)(name[1] - '0');
        *kinds = name[2] == 'i'   ? RSC_KIND_BIT(RSC_FETCH)
                 : name[2] == 'd' ? RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE)
                                  : RSC_KINDS_ALL;
        return 0;
    }
    return rsc_fail(error, RSC_EINVAL, "unknown cache %.40s: not one of l1, l1i, l1d, l2 to l%d", name,
                    RSC_SIM_LEVELS_MAX);
}

/* Parses "name=N" with N from 1 to `most`. Returns 0 for another word, -1 for a bad number. */
static int parse_count(const char *word, size_t length, const char *name, uint64_t most, uint32_t *count) {
    size_t head = strlen(name);
    uint64_t value;
    if (length <= head || memcmp(word, name, head) || word[head] != '=') return 0;
    if (rsc_parse_u64(word + head + 1, length - head - 1, &value) < 0 || !value || value > most) return -1;
    *count = (uint32_t)value;
    return 1;
}

/* Parses a word after the geometry. Returns 1, 0 for an unknown word, -1 for a bad number. */
static int parse_word(struct rsc_cache_config *config, const char *word, size_t length) {
    int found = rsc_policy_named(word, length);
    if (found >= 0) {
        config->policy = (enum rsc_policy)found;
        return 1;
    }
    if (has_name(word, length, "wb")) config->write_through = 0;
    else if (has_name(word, length, "wt")) config->write_through = 1;
    else if (has_name(word, length, "wa")) config->no_write_allocate = 0;
    else if (has_name(word, length, "nwa")) config->no_write_allocate = 1;
    else if (has_name(word, length, "inclusive")) config->inclusive = 1;
    else if (has_name(word, length, "private")) config->threads_each = 1;
    else if (has_name(word, length, "shared")) config->threads_each = 0;
    else if (has_name(word, length, "pid")) config->indexing = RSC_INDEX_PID;
    else if (has_name(word, length, "pages")) config->indexing = RSC_INDEX_PAGES;
    else if (has_name(word, length, "prefetch")) config->prefetch_next = 1;
    else if ((found = parse_count(word, length, "prefetch", PREFETCH_MAX, &config->prefetch_next)) != 0) return found;
    else if ((found = parse_count(word, length, "stream", STREAMS_MAX, &config->streams)) != 0) return found;
    else if ((found = parse_count(word, length, "depth", PREFETCH_MAX, &config->stream_depth)) != 0) return found;
    else if ((found = parse_count(word, length, "per", RSC_THREADS_MAX, &config->threads_each)) != 0) return found;
    else if ((found = parse_count(word, length, "victim", 65536, &config->victim_blocks)) != 0) return found;
    else if ((found = parse_count(word, length, "sector", BLOCK_MAX, &config->sector_bytes)) != 0) return found;
    else return parse_count(word, length, "buffer", 65536, &config->buffer_blocks);
    return 1;
}

static int check_geometry(const struct rsc_cache_config *config, const char *text, struct rsc_error *error) {
    uint64_t way_bytes = (uint64_t)config->ways * config->block_bytes;
    if (!config->block_bytes || (config->block_bytes & (config->block_bytes - 1)) || config->block_bytes < 16 ||
        config->block_bytes > BLOCK_MAX)
        return refuse(config->name, text, error, "the block size must be a power of two from 16 to 1M bytes");
    if (!config->ways || config->ways > WAYS_MAX)
        return refuse(config->name, text, error, "the associativity must be from 1 to 65535 ways");
    if (!config->size_bytes || config->size_bytes % way_bytes)
        return rsc_fail(error, RSC_EINVAL, "--%s %.60s: the size must be a multiple of ways x block = %llu bytes",
                        config->name, text, (unsigned long long)way_bytes);
    if (config->size_bytes / config->block_bytes > BLOCKS_MAX)
        return refuse(config->name, text, error, "more blocks than can be simulated (2^36)");
    uint32_t sector = config->sector_bytes;
    if (sector &&
        ((sector & (sector - 1)) || sector >= config->block_bytes || config->block_bytes / sector > RSC_SECTORS_MAX))
        return refuse(config->name, text, error, "a sector must be 1/2, 1/4 ... 1/64 of a block");
    if (sector && (config->victim_blocks || config->buffer_blocks || config->policy == RSC_POLICY_OPT))
        return refuse(config->name, text, error, "sector excludes victim, buffer and opt");
    if (config->prefetch_next && config->streams)
        return refuse(config->name, text, error, "prefetch and stream exclude each other");
    if (config->stream_depth && !config->streams)
        return refuse(config->name, text, error, "depth is the distance of a stream prefetcher: it needs stream=N");
    if (config->indexing == RSC_INDEX_PID && (rsc_cache_sets(config) & (rsc_cache_sets(config) - 1)))
        return refuse(config->name, text, error, "hashing with the process id needs a power of two of sets");
    return 0;
}

int rsc_cache_config_parse(struct rsc_cache_config *config, const char *name, const char *text,
                           struct rsc_error *error) {
    uint64_t numbers[3];
    const char *rest = text;
    memset(config, 0, sizeof *config);
    int status = find_place(name, config->name, &config->level, &config->kinds, error);
    if (status < 0) return status;
    for (int i = 0; i < 3; i++) {
        size_t length = strcspn(rest, ",");
        if (rsc_parse_u64(rest, length, &numbers[i]) < 0 || (i && numbers[i] > UINT32_MAX))
            return refuse(name, text, error, "not SIZE,WAYS,BLOCK[,POLICY], as 32K,8,64,lru");
        rest += length;
        if (i < 2 && *rest != ',') return refuse(name, text, error, "not SIZE,WAYS,BLOCK[,POLICY], as 32K,8,64,lru");
        rest += *rest == ',';
    }
    config->size_bytes = numbers[0];
    config->ways = (uint32_t)numbers[1];
    config->block_bytes = (uint32_t)numbers[2];
    while (*rest) {
        size_t length = strcspn(rest, ",");
        int found = parse_word(config, rest, length);
        if (found <= 0)
            return rsc_fail(
                error, RSC_EINVAL, "--%s %.60s: %.*s: %s", name, text, (int)(length < 40 ? length : 40), rest,
                found ? "number out of range"
                      : "not a policy (lru, random, fifo, plru, nru, srrip, brrip, drrip, opt) or another known word");
        rest += length;
        rest += *rest == ',';
    }
    if (config->streams && !config->stream_depth) config->stream_depth = STREAM_DEPTH;
    return check_geometry(config, text, error);
}

int rsc_all_config_is(const char *text) { return !strncmp(text, "all:", 4); }

static int is_power(uint64_t value) { return value && !(value & (value - 1)); }

int rsc_all_config_parse(struct rsc_all_config *config, const char *name, const char *text, struct rsc_error *error) {
    uint64_t ways = 16, block = 64;
    const char *rest = text + 4;
    size_t low = strcspn(rest, "-");
    memset(config, 0, sizeof *config);
    int status = find_place(name, config->name, &config->level, &config->kinds, error);
    if (status < 0) return status;
    int good = rest[low] == '-' && rsc_parse_u64(rest, low, &config->low_bytes) == 0;
    rest += low + good;
    size_t high = strcspn(rest, ",");
    good = good && rsc_parse_u64(rest, high, &config->high_bytes) == 0;
    rest += high;
    for (int i = 0; good && i < 2 && *rest == ','; i++) {
        size_t length = strcspn(++rest, ",");
        good = rsc_parse_u64(rest, length, i ? &block : &ways) == 0;
        rest += length;
    }
    if (!good || *rest) return refuse(name, text, error, "not all:LOW-HIGH[,WAYS[,BLOCK]], as all:256K-64M,16,64");
    if (!is_power(config->low_bytes) || !is_power(config->high_bytes) || config->low_bytes > config->high_bytes)
        return refuse(name, text, error, "sizes must be powers of two, the smaller first");
    if (!is_power(ways) || ways > 256) return refuse(name, text, error, "the most ways must be a power of two to 256");
    if (!is_power(block) || block < 16 || block > BLOCK_MAX || block > config->low_bytes)
        return refuse(name, text, error, "the block size must be a power of two from 16 bytes to the smallest cache");
    if (config->high_bytes / block > BLOCKS_MAX)
        return refuse(name, text, error, "more blocks than can be simulated (2^36)");
    config->ways_max = (uint32_t)ways;
    config->block_bytes = (uint32_t)block;
    return 0;
}

int rsc_cache_sets_independent(const struct rsc_cache_config *config) {
    return config->policy != RSC_POLICY_DRRIP && !rsc_cache_prefetches(config) && !config->victim_blocks &&
           !config->buffer_blocks;
}

static size_t append(char *text, size_t room, size_t used, const char *word, uint64_t number) {
    if (used + 1 >= room) return used;
    int wrote = number ? snprintf(text + used, room - used, ",%s=%llu", word, (unsigned long long)number)
                       : snprintf(text + used, room - used, ",%s", word);
    return used + (size_t)wrote < room ? used + (size_t)wrote : room - 1;
}

size_t rsc_cache_config_text(const struct rsc_cache_config *config, char *text, size_t room) {
    char size[24];
    rsc_size_text(config->size_bytes, size);
    int wrote =
        snprintf(text, room, "%s,%u,%u,%s", size, config->ways, config->block_bytes, rsc_policy_names[config->policy]);
    size_t used = (size_t)wrote < room ? (size_t)wrote : room - 1;
    if (config->write_through) used = append(text, room, used, "wt", 0);
    if (config->no_write_allocate) used = append(text, room, used, "nwa", 0);
    if (config->inclusive) used = append(text, room, used, "inclusive", 0);
    if (config->threads_each == 1) used = append(text, room, used, "private", 0);
    if (config->threads_each > 1) used = append(text, room, used, "per", config->threads_each);
    if (config->indexing == RSC_INDEX_PID) used = append(text, room, used, "pid", 0);
    if (config->indexing == RSC_INDEX_PAGES) used = append(text, room, used, "pages", 0);
    if (config->prefetch_next)
        used = append(text, room, used, "prefetch", config->prefetch_next > 1 ? config->prefetch_next : 0);
    if (config->streams) used = append(text, room, used, "stream", config->streams);
    if (config->streams) used = append(text, room, used, "depth", config->stream_depth);
    if (config->victim_blocks) used = append(text, room, used, "victim", config->victim_blocks);
    if (config->buffer_blocks) used = append(text, room, used, "buffer", config->buffer_blocks);
    if (config->sector_bytes) used = append(text, room, used, "sector", config->sector_bytes);
    return used;
}

struct rsc_cache_label rsc_cache_config_label(const struct rsc_cache_config *config) {
    struct rsc_cache_label label;
    _Static_assert(sizeof label.name == sizeof config->name, "names of caches have one length");
    memcpy(label.name, config->name, sizeof label.name);
    rsc_cache_config_text(config, label.text, sizeof label.text);
    return label;
}

/* Order of caches: by level, instructions first. */
static unsigned rank_of(const struct rsc_cache_config *cache) {
    return cache->level * 2 + (cache->kinds == RSC_KIND_BIT(RSC_FETCH) ? 0 : 1);
}

int rsc_sim_config_add(struct rsc_sim_config *sim, const struct rsc_cache_config *cache, struct rsc_error *error) {
    if (sim->count == RSC_SIM_CACHES_MAX) return rsc_fail(error, RSC_ELIMIT, "more than %d caches", RSC_SIM_CACHES_MAX);
    size_t at = sim->count++;
    while (at && rank_of(&sim->caches[at - 1]) > rank_of(cache)) {
        sim->caches[at] = sim->caches[at - 1];
        at--;
    }
    sim->caches[at] = *cache;
    return 0;
}

int rsc_sim_config_add_tlb(struct rsc_sim_config *sim, const struct rsc_tlb_config *tlb, struct rsc_error *error) {
    if (sim->tlb_count == RSC_SIM_TLBS_MAX) return rsc_fail(error, RSC_ELIMIT, "more than %d TLBs", RSC_SIM_TLBS_MAX);
    sim->tlbs[sim->tlb_count++] = *tlb;
    return 0;
}

const struct rsc_cache_config *rsc_sim_config_primary(const struct rsc_sim_config *sim, const char *name) {
    for (size_t i = 0; i < sim->count; i++)
        if (!strcmp(sim->caches[i].name, name)) return &sim->caches[i];
    return NULL;
}

/* ---- checks across caches ---- */

/* A primary cache right above that is larger, or NULL. */
static const struct rsc_cache_config *larger_above(const struct rsc_sim_config *sim,
                                                   const struct rsc_cache_config *below) {
    for (size_t i = 0; i < sim->count; i++) {
        const struct rsc_cache_config *above = &sim->caches[i];
        if (above->level + 1 == below->level && above->size_bytes > below->size_bytes &&
            rsc_sim_config_primary(sim, above->name) == above)
            return above;
    }
    return NULL;
}

int rsc_sim_config_small_below(const struct rsc_sim_config *sim, const struct rsc_cache_config **below,
                               const struct rsc_cache_config **above) {
    for (int inclusive = 1; inclusive >= 0; inclusive--)
        for (size_t i = 0; i < sim->count; i++)
            if (sim->caches[i].inclusive == inclusive && (*above = larger_above(sim, *below = &sim->caches[i])))
                return 1;
    return 0;
}

/* Belady's optimum knows only the future requests of one cache: nothing else may insert or remove its blocks. */
static int check_optimum(const struct rsc_sim_config *sim, const struct rsc_cache_config *cache,
                         struct rsc_error *error) {
    if (cache->threads_each || cache->inclusive || rsc_cache_prefetches(cache) || cache->victim_blocks)
        return rsc_fail(error, RSC_EINVAL,
                        "--%s: opt is for a shared cache that is not inclusive and has no prefetcher or victim cache",
                        cache->name);
    if (sim->coherent) return rsc_fail(error, RSC_EINVAL, "--%s: opt cannot be used with --coherent", cache->name);
    int primary = rsc_sim_config_primary(sim, cache->name) == cache; /* nothing invalidates blocks of an alternative */
    for (size_t i = 0; primary && i < sim->count; i++)
        if (sim->caches[i].inclusive && sim->caches[i].level > cache->level)
            return rsc_fail(error, RSC_EINVAL, "--%s: opt cannot be used above an inclusive --%s", cache->name,
                            sim->caches[i].name);
    return 0;
}

static int check_cache(const struct rsc_sim_config *sim, const struct rsc_cache_config *cache,
                       struct rsc_error *error) {
    int alternative = rsc_sim_config_primary(sim, cache->name) != cache;
    if (cache->inclusive && alternative)
        return rsc_fail(error, RSC_EINVAL,
                        "an alternative --%s cannot be inclusive: the caches above it are the primary's", cache->name);
    if (cache->inclusive && cache->level == sim->caches[0].level)
        return rsc_fail(error, RSC_EINVAL, "--%s cannot be inclusive: there is nothing above it", cache->name);
    if (sim->coherent && (rsc_cache_prefetches(cache) || cache->victim_blocks || cache->buffer_blocks ||
                          cache->sector_bytes || (alternative && cache->threads_each)))
        return rsc_fail(
            error, RSC_EINVAL,
            "--%s: --coherent does not support prefetch, stream, victim, buffer, sector or private alternatives",
            cache->name);
    return cache->policy == RSC_POLICY_OPT ? check_optimum(sim, cache, error) : 0;
}

static int check_alls(const struct rsc_sim_config *sim, struct rsc_error *error) {
    for (size_t i = 0; i < sim->all_count; i++) {
        const struct rsc_all_config *all = &sim->alls[i];
        if (rsc_sim_config_primary(sim, all->name)) continue;
        for (size_t k = 0; k < sim->count; k++)
            if (sim->caches[k].level >= all->level)
                return rsc_fail(error, RSC_EINVAL, "--%s all: with --%s, a --%s of one size is needed too", all->name,
                                sim->caches[k].name, all->name);
        if (all->level > 2 && sim->count && sim->caches[sim->count - 1].level != all->level - 1)
            return rsc_fail(error, RSC_EINVAL, "--l%u without --l%u", all->level, all->level - 1);
    }
    return 0;
}

/* Levels follow each other, and a cache, be it an alternative, serves at least the threads of those above it. */
static int check_levels(const struct rsc_sim_config *sim, struct rsc_error *error) {
    for (size_t i = 0; i < sim->count; i++) {
        const struct rsc_cache_config *below = &sim->caches[i];
        if (i && below->level > sim->caches[i - 1].level + 1)
            return rsc_fail(error, RSC_EINVAL, "--l%u without --l%u", below->level, below->level - 1);
        for (size_t k = 0; k < i; k++) {
            const struct rsc_cache_config *above = &sim->caches[k];
            if (above->level + 1 != below->level || rsc_sim_config_primary(sim, above->name) != above ||
                !below->threads_each)
                continue;
            if (!above->threads_each || below->threads_each % above->threads_each)
                return rsc_fail(error, RSC_EINVAL, "--%s serves fewer threads than --%s above it", below->name,
                                above->name);
        }
    }
    return 0;
}

int rsc_sim_config_check(const struct rsc_sim_config *sim, struct rsc_error *error) {
    int status;
    if (!sim->count && !sim->all_count && !sim->pages)
        return rsc_fail(error, RSC_EINVAL, "no cache is given: --l1d 32K,8,64 --l2 1M,16,64, or --machine this");
    if (rsc_sim_config_primary(sim, "l1") && (rsc_sim_config_primary(sim, "l1i") || rsc_sim_config_primary(sim, "l1d")))
        return rsc_fail(error, RSC_EINVAL, "--l1 serves instructions and data: it excludes --l1i and --l1d");
    if ((status = check_levels(sim, error)) < 0) return status;
    for (size_t i = 0; sim->coherent && (!i || i < sim->count); i++)
        if (!sim->count || (sim->caches[i].level == sim->caches[0].level && !sim->caches[i].threads_each))
            return rsc_fail(error, RSC_EINVAL, "--coherent: the first level is not private (32K,8,64,private)");
    for (size_t i = 0; i < sim->count; i++)
        if ((status = check_cache(sim, &sim->caches[i], error)) < 0) return status;
    if ((status = check_alls(sim, error)) < 0) return status;
    return rsc_tlb_configs_check(sim->tlbs, sim->tlb_count, sim->pages, error);
}
