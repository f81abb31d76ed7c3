/* simulator_build.c - segments, streams and rows of a simulator, from its configuration. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "simulate/simulator_state.h"

static int is_primary(const struct rsc_sim_config *config, size_t i) {
    return rsc_sim_config_primary(config, config->caches[i].name) == &config->caches[i];
}

/* Whether a primary cache of that level uses Belady's optimum. */
static int level_is_optimum(const struct rsc_sim_config *config, unsigned level) {
    for (size_t i = 0; i < config->count; i++)
        if (config->caches[i].level == level && is_primary(config, i) && config->caches[i].policy == RSC_POLICY_OPT)
            return 1;
    return 0;
}

/* ---- where requests go ---- */

static void to_stream(void *user, const struct rsc_request *request) { rsc_side_request(user, request); }

static struct rsc_named_stream *stream_of(struct rsc_sim *sim, const char *name) {
    for (size_t i = 0; i < sim->stream_count; i++)
        if (!strcmp(sim->streams[i].name, name)) return &sim->streams[i];
    return NULL;
}

/* Families without a primary cache of their name see the requests past the last level. */
static void past_segment(void *user, const struct rsc_request *request) {
    struct rsc_segment *segment = user;
    struct rsc_sim *sim = segment->sim;
    size_t next = (size_t)(segment - sim->segments) + 1;
    if (next < sim->segment_count) {
        rsc_request_list_add(&sim->segments[next].record, &sim->segments[next].hierarchy, request);
        return;
    }
    if (sim->options.past_last) sim->options.past_last(sim->options.user, sim->batch, request);
    for (size_t i = 0; i < sim->stream_count; i++)
        if (!rsc_sim_config_primary(&sim->config, sim->streams[i].name))
            rsc_side_request(&sim->streams[i].side, request);
}

static void missed(void *user, int level, const struct rsc_request *request) {
    struct rsc_segment *segment = user;
    struct rsc_sim *sim = segment->sim;
    if (sim->counting) sim->options.missed(sim->options.user, sim->batch, segment->first_primary + level, request);
}

/* ---- segments ---- */

static int open_segment(struct rsc_sim *sim, struct rsc_sim_config *part, struct rsc_error *error) {
    struct rsc_segment *segment = &sim->segments[sim->segment_count++];
    segment->sim = sim;
    int status = part->count ? rsc_hierarchy_init(&segment->hierarchy, part, error) : 0;
    if (status < 0) return status;
    for (int kind = 0; !part->count && kind < RSC_KINDS; kind++) segment->hierarchy.entry[kind] = -1;
    rsc_hierarchy_use_spaces(&segment->hierarchy, sim->spaces.pids ? &sim->spaces : NULL);
    segment->hierarchy.classify = sim->options.classify;
    segment->hierarchy.memory = (struct rsc_hierarchy_tap){past_segment, segment};
    if (sim->options.missed) segment->hierarchy.missed = (struct rsc_hierarchy_missed){missed, segment};
    for (size_t i = 0; i < sim->segment_count - 1; i++)
        segment->first_primary += (int)sim->segments[i].hierarchy.level_count;
    part->count = 0;
    return 0;
}

static int open_segments(struct rsc_sim *sim, struct rsc_error *error) {
    const struct rsc_sim_config *config = &sim->config;
    struct rsc_sim_config part = {.seed = config->seed, .coherent = config->coherent};
    int status;
    for (size_t i = 0; i < config->count; i++) {
        int new_level = !i || config->caches[i - 1].level != config->caches[i].level;
        if (!is_primary(config, i)) continue;
        if (new_level && level_is_optimum(config, config->caches[i].level) &&
            (status = open_segment(sim, &part, error)) < 0)
            return status;
        part.caches[part.count++] = config->caches[i];
    }
    if ((status = open_segment(sim, &part, error)) < 0) return status;
    if (sim->segment_count > 1 &&
        (sim->options.missed || sim->options.past_last || sim->options.window_accesses || sim->options.warm_fill > 0))
        return rsc_fail(error, RSC_EINVAL,
                        "opt needs two passes: it excludes windows, --warm-fill, a miss trace, code and objects");
    return 0;
}

/* ---- streams ---- */

static int open_stream(struct rsc_sim *sim, const char *name, struct rsc_named_stream **out, struct rsc_error *error) {
    *out = stream_of(sim, name);
    if (*out) return 0;
    struct rsc_named_stream *stream = *out = &sim->streams[sim->stream_count++];
    memcpy(stream->name, name, sizeof stream->name);
    if (rsc_side_stream_init(&stream->side, sim->pool) < 0) return rsc_fail_memory(error, "requests");
    stream->segment = (int)sim->segment_count - 1;
    for (size_t s = 0; s < sim->segment_count; s++)
        for (size_t i = 0; i < sim->segments[s].hierarchy.level_count; i++) {
            struct rsc_level *level = &sim->segments[s].hierarchy.levels[i];
            if (strcmp(level->config.name, name)) continue;
            level->tap = (struct rsc_hierarchy_tap){to_stream, &stream->side};
            stream->segment = (int)s;
        }
    return 0;
}

static int open_streams(struct rsc_sim *sim, struct rsc_error *error) {
    const struct rsc_sim_config *config = &sim->config;
    struct rsc_named_stream *stream;
    int status;
    for (size_t i = 0; i < config->count; i++) {
        if (is_primary(config, i)) continue;
        if ((status = open_stream(sim, config->caches[i].name, &stream, error)) < 0) return status;
        if (config->caches[i].policy == RSC_POLICY_OPT && (sim->options.window_accesses || sim->options.warm_fill > 0))
            return rsc_fail(error, RSC_EINVAL, "opt needs two passes: it excludes windows and --warm-fill");
        status = rsc_side_add_cache(&stream->side, &config->caches[i], config->seed, sim->options.classify,
                                    sim->spaces.pids ? &sim->spaces : NULL, error);
        if (status < 0) return status;
    }
    for (size_t i = 0; i < config->all_count; i++) {
        if ((status = open_stream(sim, config->alls[i].name, &stream, error)) < 0) return status;
        if ((status = rsc_side_add_all(&stream->side, &config->alls[i], error)) < 0) return status;
    }
    return 0;
}

/* ---- rows ---- */

static struct rsc_sim_level_result *add_row(struct rsc_sim *sim, struct rsc_row_place place,
                                            const struct rsc_cache_config *config) {
    size_t row = sim->row_count++;
    sim->rows[row] = place;
    sim->configs[row] = *config;
    sim->levels[row] = (struct rsc_sim_level_result){0};
    sim->levels[row].cache = rsc_cache_config_label(config);
    return &sim->levels[row];
}

static size_t count_rows(const struct rsc_sim *sim) {
    size_t count = sim->config.count;
    for (size_t i = 0; i < sim->stream_count; i++)
        for (size_t k = 0; k < sim->streams[i].side.cache_count; k++)
            if (sim->streams[i].side.caches[k].is_all) count += rsc_all_count(&sim->streams[i].side.caches[k].all);
    return count;
}

static void add_primary(struct rsc_sim *sim, const char *name) {
    for (size_t s = 0; s < sim->segment_count; s++)
        for (size_t i = 0; i < sim->segments[s].hierarchy.level_count; i++)
            if (!strcmp(sim->segments[s].hierarchy.levels[i].config.name, name))
                add_row(sim, (struct rsc_row_place){(int)s, (int)i, NULL, 0},
                        &sim->segments[s].hierarchy.levels[i].config);
}

/* Adds the caches beside the primary cache of a name, in order; families last. */
static void add_sides(struct rsc_sim *sim, const char *name, int alternative) {
    struct rsc_named_stream *stream = stream_of(sim, name);
    for (size_t k = 0; stream && k < stream->side.cache_count; k++) {
        struct rsc_side_cache *cache = &stream->side.caches[k];
        size_t count = cache->is_all ? rsc_all_count(&cache->all) : 1;
        for (size_t nth = 0; nth < count; nth++) {
            struct rsc_cache_config config;
            struct rsc_level_counts counts;
            if (cache->is_all) rsc_all_result(&cache->all, nth, &config, &counts);
            else config = cache->hierarchy.levels[0].config;
            struct rsc_sim_level_result *row = add_row(sim, (struct rsc_row_place){-1, 0, cache, nth}, &config);
            row->from_family = cache->is_all;
            row->alternative = alternative++;
        }
    }
}

static int make_rows(struct rsc_sim *sim, struct rsc_error *error) {
    size_t room = count_rows(sim) + 1; /* there may be TLBs alone */
    sim->rows = calloc(room, sizeof *sim->rows);
    sim->levels = calloc(room, sizeof *sim->levels);
    sim->configs = calloc(room, sizeof *sim->configs);
    if (!sim->rows || !sim->levels || !sim->configs) return rsc_fail_memory(error, "results");
    for (size_t i = 0; i < RSC_CACHE_NAMES; i++) {
        int primary = rsc_sim_config_primary(&sim->config, rsc_cache_names[i]) != NULL;
        if (primary) add_primary(sim, rsc_cache_names[i]);
        add_sides(sim, rsc_cache_names[i], primary);
    }
    return 0;
}

struct rsc_level_counts rsc_sim_row_counts(const struct rsc_sim *sim, size_t row) {
    const struct rsc_row_place *place = &sim->rows[row];
    struct rsc_cache_config config;
    struct rsc_level_counts counts;
    if (place->segment >= 0) return rsc_level_total(&sim->segments[place->segment].hierarchy.levels[place->level]);
    if (!place->cache->is_all) return rsc_level_total(&place->cache->hierarchy.levels[0]);
    rsc_all_result(&place->cache->all, place->nth, &config, &counts);
    return counts;
}

/* Makes the caches of all threads; those of single threads are made when they are seen. */
static int make_shared_caches(struct rsc_sim *sim, struct rsc_error *error) {
    for (size_t s = 0; s < sim->segment_count; s++)
        for (size_t i = 0; i < sim->segments[s].hierarchy.level_count; i++)
            if (!sim->segments[s].hierarchy.levels[i].config.threads_each &&
                !rsc_hierarchy_cache(&sim->segments[s].hierarchy, (int)i, 0))
                return rsc_fail_memory(error, "caches");
    return 0;
}

int rsc_sim_build(struct rsc_sim *sim, struct rsc_error *error) {
    int status = rsc_sim_config_check(&sim->config, error), by_process = 0;
    if (status < 0) return status;
    for (size_t i = 0; i < sim->config.count; i++) by_process |= sim->config.caches[i].indexing != RSC_INDEX_VIRTUAL;
    if (by_process && rsc_spaces_init(&sim->spaces) < 0) return rsc_fail_memory(error, "address spaces");
    if (sim->options.workers > 1 && (status = rsc_pool_new(&sim->pool, sim->options.workers, error)) < 0) return status;
    if ((status = open_segments(sim, error)) < 0 || (status = open_streams(sim, error)) < 0) return status;
    sim->segments[0].hierarchy.writes_are_back = sim->options.writes_are_back;
    for (size_t i = 0; i < sim->config.count; i++)
        if (sim->options.classify && sim->config.caches[i].sector_bytes)
            return rsc_fail(error, RSC_EINVAL, "--classes: misses of sectors have no classes");
    if ((status = make_shared_caches(sim, error)) < 0) return status;
    if (sim->config.pages && (status = rsc_tlbs_new(&sim->tlbs, &sim->config, error)) < 0) return status;
    return make_rows(sim, error);
}
