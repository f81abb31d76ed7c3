/* object_simulator.c - see object_simulator.h. */
#include "simulate/objects/object_simulator.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/numbers.h"
#include "base/pool.h"
#include "base/u64_table.h"

#define BLOCK (1u << 16) /* requests served by one cache before the next: long enough to start threads for */

struct lane {
    struct rsc_object_cache cache;
    uint64_t misses, missed_bytes, too_large;
    int status;
};

struct rsc_object_simulator {
    struct rsc_object_options options;
    struct rsc_pool *pool; /* NULL: one worker */
    struct rsc_u64_table numbers; /* object -> its number */
    struct lane *lanes;
    size_t lane_count;
    uint64_t seen, requested_bytes, objects_bytes;
    int keeps_all;  /* some cache needs the future */
    uint32_t *objects, *sizes; /* of the block being made, or of the whole trace */
    size_t count, room;
    size_t served;  /* by the caches that do not need the future */
    uint32_t *next; /* by request; only at the end */
};

/* ---- options ---- */

static size_t item_length(const char *text) { return strcspn(text, ","); }

int rsc_object_policies_parse(struct rsc_object_options *options, const char *text, struct rsc_error *error) {
    options->policy_count = 0;
    if (!strcmp(text, "all")) {
        while (rsc_object_policies[options->policy_count]) {
            options->policies[options->policy_count] = rsc_object_policies[options->policy_count];
            options->policy_count++;
        }
        return 0;
    }
    for (;; text++) {
        size_t length = item_length(text);
        const struct rsc_object_policy *policy = rsc_object_policy_find(text, length);
        if (!policy)
            return rsc_fail(
                error, RSC_EINVAL,
                "'%.*s' is not a policy: lru, fifo, clock, sieve, lfu, arc, lirs, s3-fifo, w-tinylfu, belady or all",
                length < 40 ? (int)length : 40, text);
        for (size_t i = 0; i < options->policy_count; i++)
            if (options->policies[i] == policy) return rsc_fail(error, RSC_EINVAL, "'%s' is given twice", policy->name);
        options->policies[options->policy_count++] = policy;
        text += length;
        if (!*text) return 0;
    }
}

int rsc_object_sizes_parse(struct rsc_object_options *options, const char *text, struct rsc_error *error) {
    options->size_count = 0;
    for (;; text++) {
        size_t length = item_length(text);
        uint64_t bytes;
        if (rsc_parse_u64(text, length, &bytes) < 0 || !bytes || bytes > INT64_MAX / 4)
            return rsc_fail(error, RSC_EINVAL, "'%.*s' is not a size in bytes, as 64M", length < 40 ? (int)length : 40,
                            text);
        if (options->size_count == RSC_OBJECT_SIZES_MAX)
            return rsc_fail(error, RSC_EINVAL, "more than %d sizes", RSC_OBJECT_SIZES_MAX);
        options->sizes[options->size_count++] = bytes;
        text += length;
        if (!*text) return 0;
    }
}

/* ---- caches ---- */

int rsc_object_simulator_new(struct rsc_object_simulator **out, const struct rsc_object_options *options,
                             struct rsc_error *error) {
    struct rsc_object_simulator *simulator = *out = calloc(1, sizeof *simulator);
    if (!simulator) return rsc_fail_memory(error, "simulator");
    simulator->options = *options;
    simulator->lane_count = options->policy_count * options->size_count;
    simulator->lanes = calloc(simulator->lane_count, sizeof *simulator->lanes);
    if (!simulator->lanes || rsc_u64_table_init(&simulator->numbers, 4096) < 0)
        return rsc_fail_memory(error, "simulator");
    for (size_t i = 0; i < simulator->lane_count; i++) {
        const struct rsc_object_policy *policy = options->policies[i / options->size_count];
        rsc_object_cache_init(&simulator->lanes[i].cache, policy, options->sizes[i % options->size_count]);
        simulator->keeps_all |= (policy->has & RSC_OBJECT_HAS_FUTURE) != 0;
    }
    unsigned workers = options->workers ? options->workers : rsc_pool_cpu_count();
    if (workers > simulator->lane_count) workers = (unsigned)simulator->lane_count;
    return workers > 1 ? rsc_pool_new(&simulator->pool, workers, error) : 0;
}

void rsc_object_simulator_free(struct rsc_object_simulator *simulator) {
    if (!simulator) return;
    rsc_pool_free(simulator->pool);
    for (size_t i = 0; simulator->lanes && i < simulator->lane_count; i++)
        rsc_object_cache_free(&simulator->lanes[i].cache);
    rsc_u64_table_free(&simulator->numbers);
    free(simulator->lanes);
    free(simulator->objects);
    free(simulator->sizes);
    free(simulator->next);
    free(simulator);
}

static void serve_lane(void *user, size_t index) {
    struct rsc_object_simulator *simulator = user;
    struct lane *lane = &simulator->lanes[index];
    struct rsc_object_cache *cache = &lane->cache;
    int future = (cache->policy->has & RSC_OBJECT_HAS_FUTURE) != 0;
    if (future != (simulator->next != NULL)) return;
    lane->status = rsc_object_cache_reserve(cache, (uint32_t)simulator->numbers.used);
    /* a block that was kept starts at `served`; its first request is number first_number of the trace */
    size_t from = future ? 0 : simulator->served;
    uint64_t first_number = simulator->seen - simulator->count;
    for (size_t i = from; !lane->status && i < simulator->count; i++) {
        uint32_t size = simulator->sizes[i], next = future ? simulator->next[i] : UINT32_MAX;
        int hit = rsc_object_cache_request(cache, simulator->objects[i], size, next == UINT32_MAX ? UINT64_MAX : next);
        if (hit || first_number + i < simulator->options.warm_requests) continue;
        lane->misses++;
        lane->missed_bytes += size;
        lane->too_large += size > cache->capacity;
    }
}

/* Serves the requests that were collected. */
static int serve(struct rsc_object_simulator *simulator, struct rsc_error *error) {
    int status = 0;
    if (simulator->pool) rsc_pool_for(simulator->pool, simulator->lane_count, serve_lane, simulator);
    for (size_t i = 0; i < simulator->lane_count; i++) {
        if (!simulator->pool) serve_lane(simulator, i);
        if (simulator->lanes[i].status) status = simulator->lanes[i].status;
    }
    simulator->served = simulator->count;
    if (!simulator->keeps_all) simulator->served = simulator->count = 0;
    if (status)
        return rsc_fail(error, status, "out of memory (%zu object caches, %" PRIu64 " objects)", simulator->lane_count,
                        simulator->numbers.used);
    return 0;
}

/* ---- requests ---- */

/* The number of an object, 0 if memory ran out. */
static uint32_t number_of(struct rsc_object_simulator *simulator, uint64_t object, uint32_t size) {
    struct rsc_u64_table *numbers = &simulator->numbers;
    struct rsc_u64_entry *entry = rsc_u64_table_find(numbers, object);
    if (entry->value) return (uint32_t)entry->value;
    if (rsc_u64_table_needs_rebuild(numbers)) {
        if (rsc_u64_table_rebuild(numbers) < 0) return 0;
        entry = rsc_u64_table_find(numbers, object);
    }
    *entry = (struct rsc_u64_entry){.key = object, .value = ++numbers->used};
    simulator->objects_bytes += size;
    return (uint32_t)entry->value;
}

/* Room for one more request: a block, or the whole trace. */
static int reserve(struct rsc_object_simulator *simulator) {
    size_t room = simulator->room;
    if (simulator->count < room) return 0;
    if (RSC_GROW(simulator->objects, room, simulator->count + BLOCK)) return RSC_ENOMEM;
    room = simulator->room;
    if (RSC_GROW(simulator->sizes, room, simulator->count + BLOCK)) return RSC_ENOMEM;
    simulator->room = room;
    return 0;
}

int rsc_object_simulator_push(struct rsc_object_simulator *simulator, const struct rsc_batch *batch,
                              struct rsc_error *error) {
    for (uint32_t i = 0; i < batch->count; i++) {
        uint32_t size = rsc_meta_size(batch->meta[i]);
        if (!size) size = 1;
        if (simulator->numbers.used == RSC_OBJECTS_MAX)
            return rsc_fail(error, RSC_ELIMIT, "more than %u objects", RSC_OBJECTS_MAX);
        if (simulator->keeps_all && simulator->count == UINT32_MAX)
            return rsc_fail(error, RSC_ELIMIT, "belady: more than %u requests (--window selects a part)", UINT32_MAX);
        uint32_t object = number_of(simulator, batch->addr[i], size);
        if (!object || reserve(simulator) < 0)
            return rsc_fail(error, RSC_ENOMEM, "out of memory (%" PRIu64 " objects%s)", simulator->numbers.used,
                            simulator->keeps_all ? "; belady keeps the whole trace" : "");
        simulator->objects[simulator->count] = object;
        simulator->sizes[simulator->count++] = size;
        if (simulator->seen++ >= simulator->options.warm_requests) simulator->requested_bytes += size;
        if (simulator->requested_bytes > INT64_MAX)
            return rsc_fail(error, RSC_ELIMIT, "more than 8 EiB were requested");
        if (simulator->count - simulator->served == BLOCK) {
            int status = serve(simulator, error);
            if (status < 0) return status;
        }
    }
    return 0;
}

/* next[i]: the next request for the object of request i; UINT32_MAX: none. */
static int find_next_uses(struct rsc_object_simulator *simulator) {
    uint32_t *coming = malloc((simulator->numbers.used + 1) * sizeof *coming);
    simulator->next = malloc((simulator->count + 1) * sizeof *simulator->next);
    if (coming && simulator->next) {
        memset(coming, 0xff, (simulator->numbers.used + 1) * sizeof *coming);
        for (size_t i = simulator->count; i-- > 0;) {
            simulator->next[i] = coming[simulator->objects[i]];
            coming[simulator->objects[i]] = (uint32_t)i;
        }
    }
    free(coming);
    return coming && simulator->next ? 0 : RSC_ENOMEM;
}

int rsc_object_simulator_finish(struct rsc_object_simulator *simulator, struct rsc_objects_result *result,
                                struct rsc_error *error) {
    const struct rsc_object_options *options = &simulator->options;
    const uint64_t warm = options->warm_requests;
    if (simulator->seen < warm)
        return rsc_fail(error, RSC_EINVAL, "--warm %" PRIu64 ": the trace has only %" PRIu64 " requests", warm,
                        simulator->seen);
    int status = serve(simulator, error);
    if (!status && simulator->keeps_all) {
        status = find_next_uses(simulator);
        if (status < 0) return rsc_fail_memory(error, "belady, which keeps the whole trace");
        status = serve(simulator, error);
    }
    if (status < 0) return status;
    *result = (struct rsc_objects_result){
        .requests = simulator->seen - warm,
        .requested_bytes = simulator->requested_bytes,
        .warm_requests = warm,
        .objects = simulator->numbers.used,
        .objects_bytes = simulator->objects_bytes,
        .row_count = simulator->lane_count,
        .workers = simulator->pool ? rsc_pool_workers(simulator->pool) : 1,
        .rows = calloc(simulator->lane_count, sizeof *result->rows),
    };
    if (!result->rows) return rsc_fail_memory(error, "result");
    for (size_t i = 0; i < simulator->lane_count; i++) {
        const struct lane *lane = &simulator->lanes[i];
        result->rows[i] = (struct rsc_object_cache_row){
            .policy = lane->cache.policy->name,
            .bytes = lane->cache.capacity,
            .misses = lane->misses,
            .missed_bytes = lane->missed_bytes,
            .too_large = lane->too_large,
            .evictions = lane->cache.evictions,
            .objects_at_end = lane->cache.residents,
            .bytes_at_end = lane->cache.used,
        };
    }
    return 0;
}
