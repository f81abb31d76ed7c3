/* replacement.c - see replacement.h. */
#include "simulate/cache/replacement.h"

#include <string.h>

#define RRPV_MAX 3
#define PSEL_MAX 1023
#define LEADERS 32

const char *const rsc_policy_names[RSC_POLICY_COUNT] = {"lru",   "random", "fifo",  "plru", "nru",
                                                        "srrip", "brrip",  "drrip", "opt"};

int rsc_policy_named(const char *word, size_t length) {
    for (int policy = 0; policy < RSC_POLICY_COUNT; policy++)
        if (strlen(rsc_policy_names[policy]) == length && !memcmp(word, rsc_policy_names[policy], length))
            return policy;
    return -1;
}

int rsc_replacement_draws(enum rsc_policy policy) {
    return policy == RSC_POLICY_RANDOM || policy == RSC_POLICY_BRRIP || policy == RSC_POLICY_DRRIP;
}

static int is_rrip(enum rsc_policy policy) {
    return policy == RSC_POLICY_SRRIP || policy == RSC_POLICY_BRRIP || policy == RSC_POLICY_DRRIP;
}

/* A tree that halves `ways` is not deeper than a full one of the next power of two. */
uint32_t rsc_replacement_state_bytes(enum rsc_policy policy, uint32_t ways) {
    uint32_t leaves = 1;
    if (policy == RSC_POLICY_NRU || is_rrip(policy)) return ways;
    if (policy != RSC_POLICY_PLRU) return 0;
    while (leaves < ways) leaves *= 2;
    return leaves > 1 ? leaves - 1 : 1;
}

/* The finalizer of splitmix64: derives a generator state from the set's number and the seed. */
static uint64_t mixed(uint64_t value) {
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ value >> 27) * 0x94D049BB133111EBull;
    return value ^ value >> 31;
}

void rsc_replacement_reset(struct rsc_cache *cache) {
    uint32_t bytes = rsc_replacement_state_bytes(cache->config.policy, cache->ways);
    if (cache->state) memset(cache->state, is_rrip(cache->config.policy) ? RRPV_MAX : 0, cache->sets * bytes);
    for (uint64_t set = 0; cache->random && set < cache->sets; set++) {
        uint64_t state = mixed(cache->seed + (set + 1) * 0x9E3779B97F4A7C15ull);
        cache->random[set] = state ? state : 1; /* xorshift stays at 0 */
    }
    cache->psel = PSEL_MAX / 2 + 1;
}

static uint32_t draw(struct rsc_cache *cache, uint64_t set) {
    uint64_t x = cache->random[set];
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    cache->random[set] = x;
    return (uint32_t)(x >> 32);
}

static void tree_touch(uint8_t *nodes, uint32_t ways, uint32_t way) {
    uint32_t node = 0, low = 0, high = ways;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2, left = way < middle;
        nodes[node] = (uint8_t)left; /* 1: go right next */
        node = 2 * node + (left ? 1 : 2);
        if (left) high = middle;
        else low = middle;
    }
}

static uint32_t tree_victim(const uint8_t *nodes, uint32_t ways) {
    uint32_t node = 0, low = 0, high = ways;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2, right = nodes[node];
        node = 2 * node + (right ? 2 : 1);
        if (right) low = middle;
        else high = middle;
    }
    return low;
}

static void recent_touch(uint8_t *bits, uint32_t ways, uint32_t way) {
    bits[way] = 1;
    for (uint32_t i = 0; i < ways; i++)
        if (!bits[i]) return;
    memset(bits, 0, ways);
    bits[way] = 1;
}

static uint8_t *state_of(struct rsc_cache *cache, uint64_t set) {
    return cache->state + set * rsc_replacement_state_bytes(cache->config.policy, cache->ways);
}

/* 0: leader set for SRRIP, 1: for BRRIP, 2: follower. */
static int duel_side(const struct rsc_cache *cache, uint64_t set) {
    uint64_t stride = cache->sets >= 2 * LEADERS ? cache->sets / LEADERS : 2;
    uint64_t place = set % stride;
    if (set / stride >= LEADERS) return 2;
    return place == 0 ? 0 : place == stride - 1 ? 1 : 2;
}

void rsc_replacement_missed(struct rsc_cache *cache, uint64_t set) {
    if (cache->config.policy != RSC_POLICY_DRRIP) return;
    int side = duel_side(cache, set);
    if (side == 0 && cache->psel < PSEL_MAX) cache->psel++;
    if (side == 1 && cache->psel > 0) cache->psel--;
}

static int fills_far(struct rsc_cache *cache, uint64_t set) {
    int bimodal = cache->config.policy == RSC_POLICY_BRRIP;
    if (cache->config.policy == RSC_POLICY_DRRIP) {
        int side = duel_side(cache, set);
        bimodal = side == 1 || (side == 2 && cache->psel > PSEL_MAX / 2 + 1);
    }
    return bimodal && draw(cache, set) >> 27 != 0;
}

void rsc_replacement_hit(struct rsc_cache *cache, uint64_t set, uint32_t way) {
    switch (cache->config.policy) {
    case RSC_POLICY_PLRU: tree_touch(state_of(cache, set), cache->ways, way); break;
    case RSC_POLICY_NRU: recent_touch(state_of(cache, set), cache->ways, way); break;
    case RSC_POLICY_SRRIP:
    case RSC_POLICY_BRRIP:
    case RSC_POLICY_DRRIP: state_of(cache, set)[way] = 0; break;
    default: break;
    }
}

void rsc_replacement_filled(struct rsc_cache *cache, uint64_t set, uint32_t way) {
    if (is_rrip(cache->config.policy)) state_of(cache, set)[way] = fills_far(cache, set) ? RRPV_MAX : RRPV_MAX - 1;
    else rsc_replacement_hit(cache, set, way);
}

static uint32_t far_victim(uint8_t *predictions, uint32_t ways) {
    for (;;) {
        for (uint32_t i = 0; i < ways; i++)
            if (predictions[i] == RRPV_MAX) return i;
        for (uint32_t i = 0; i < ways; i++) predictions[i]++;
    }
}

uint32_t rsc_replacement_victim(struct rsc_cache *cache, uint64_t set) {
    uint32_t ways = cache->ways;
    switch (cache->config.policy) {
    case RSC_POLICY_RANDOM: return (uint32_t)((uint64_t)draw(cache, set) * ways >> 32);
    case RSC_POLICY_PLRU: return tree_victim(state_of(cache, set), ways);
    case RSC_POLICY_NRU: {
        const uint8_t *bits = state_of(cache, set);
        for (uint32_t i = 0; i < ways; i++)
            if (!bits[i]) return i;
        return 0; /* one way: its bit is set */
    }
    case RSC_POLICY_SRRIP:
    case RSC_POLICY_BRRIP:
    case RSC_POLICY_DRRIP: return far_victim(state_of(cache, set), ways);
    default: return ways - 1;
    }
}
