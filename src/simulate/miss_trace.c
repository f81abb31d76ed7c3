/* miss_trace.c - see miss_trace.h. */
#include "simulate/miss_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "simulate/cache/spaces.h"

#define MISSES "misses of "
#define MISSES_AND_WRITES "misses and writes of "
#define BY_PROCESS " (by process)"

int rsc_miss_trace_kind(const char *filter) {
    return strstr(filter, MISSES_AND_WRITES) ? 2 : strstr(filter, MISSES) ? 1 : 0;
}

int rsc_miss_trace_writes(const char *filter) {
    if (rsc_miss_trace_kind(filter) != 1) return RSC_WRITES_OF_PROGRAM;
    return strstr(filter, BY_PROCESS) ? RSC_WRITES_BACK_BY_OWNER : RSC_WRITES_BACK;
}

/* Whether an index depends on the process: then equal addresses of different processes are different blocks. */
static int by_process(const struct rsc_sim_config *config) {
    int found = 0;
    for (size_t i = 0; i < config->count; i++) found |= config->caches[i].indexing != RSC_INDEX_VIRTUAL;
    return found;
}

int rsc_miss_trace_usable(const char *filter, const struct rsc_sim_config *config, struct rsc_error *error) {
    if (!rsc_miss_trace_kind(filter) || !strstr(filter, BY_PROCESS) || by_process(config)) return 0;
    return rsc_fail(
        error, RSC_EINVAL,
        "this miss stream is by process (from caches with pid or pages): a cache here needs pid or pages too");
}

/* The last level, which may be a split first level. */
static unsigned last_level(const struct rsc_sim_config *config) { return config->caches[config->count - 1].level; }

int rsc_miss_trace_check(const struct rsc_sim_config *config, struct rsc_error *error) {
    int through = -1;
    if (!config->count) return rsc_fail(error, RSC_EINVAL, "--miss-trace: no cache given");
    for (size_t i = 0; i < config->count; i++) {
        const struct rsc_cache_config *cache = &config->caches[i];
        if (rsc_cache_prefetches(cache))
            return rsc_fail(error, RSC_EINVAL, "--miss-trace excludes prefetch: its reads would count as misses");
        if (cache->buffer_blocks)
            return rsc_fail(error, RSC_EINVAL, "--miss-trace excludes buffer: buffered writes have no place in time");
        if (by_process(config) && cache->threads_each > 1)
            return rsc_fail(
                error, RSC_EINVAL,
                "--miss-trace excludes per=N with pid or pages: a write-back cannot record both its process and its caches");
        if (cache->level != last_level(config) || rsc_sim_config_primary(config, cache->name) != cache) continue;
        if (cache->kinds == RSC_KIND_BIT(RSC_FETCH)) continue;
        if ((through >= 0 && through != cache->write_through) || (!cache->write_through && cache->no_write_allocate))
            return rsc_fail(error, RSC_EINVAL,
                            "--miss-trace: write-backs and writes of one level cannot be distinguished");
        through = cache->write_through;
    }
    return 0;
}

int rsc_miss_trace_open(struct rsc_miss_trace *misses, const struct rsc_sim_config *config,
                        const struct rsc_trace_info *info, struct rsc_error *error) {
    char filter[4096], text[160];
    const struct rsc_cache_config *last = &config->caches[config->count - 1];
    size_t used = (size_t)snprintf(filter, sizeof filter, "%.2000s%s%s", info->filter, *info->filter ? ", then " : "",
                                   last->write_through ? MISSES_AND_WRITES : MISSES);
    const char *between = "";
    for (size_t i = 0; i < config->count && used < sizeof filter; i++) {
        if (rsc_sim_config_primary(config, config->caches[i].name) != &config->caches[i]) continue;
        rsc_cache_config_text(&config->caches[i], text, sizeof text);
        used += (size_t)snprintf(filter + used, sizeof filter - used, "%s%s=%s", between, config->caches[i].name, text);
        between = " ";
    }
    if (by_process(config) && used < sizeof filter) snprintf(filter + used, sizeof filter - used, "%s", BY_PROCESS);
    struct rsc_trace_writer_options options = {
        .struct_bytes = sizeof options,
        .source = *info->source ? info->source : info->format,
        .command = info->command,
        .filter = filter,
        .pcs = 1,
    };
    misses->instructions_known = 1;
    return rsc_trace_writer_open(&misses->writer, misses->path, &options, error);
}

static int make_room(struct rsc_miss_trace *misses, const struct rsc_batch *batch) {
    if (misses->count == misses->room) {
        uint32_t room = misses->room ? 2 * misses->room : 4096;
        uint64_t *addr = realloc(misses->addr, room * sizeof *addr);
        if (addr) misses->addr = addr;
        uint64_t *meta = realloc(misses->meta, room * sizeof *meta);
        if (meta) misses->meta = meta;
        uint64_t *pc = realloc(misses->pc, room * sizeof *pc);
        if (pc) misses->pc = pc;
        if (!addr || !meta || !pc) return RSC_ENOMEM;
        misses->room = room;
    }
    if (batch->event_count > misses->event_room) {
        struct rsc_event *events = realloc(misses->events, batch->event_count * sizeof *events);
        if (!events) return RSC_ENOMEM;
        misses->events = events;
        misses->event_room = batch->event_count;
    }
    return 0;
}

/* An event precedes the first miss of the access it preceded, or of a later access. */
static void take_events(struct rsc_miss_trace *misses, const struct rsc_batch *batch, uint32_t upto) {
    while (misses->next_event < batch->event_count && batch->events[misses->next_event].at <= upto) {
        misses->events[misses->event_count] = batch->events[misses->next_event++];
        misses->events[misses->event_count++].at = misses->count;
    }
}

/* The requesting thread, if the block is of its process; else the first thread of the block's process. */
static uint32_t thread_of(const struct rsc_batch *batch, const struct rsc_request *request, uint64_t pid) {
    if (request->thread < batch->thread_count && batch->threads[request->thread].pid == pid) return request->thread;
    for (uint32_t thread = 0; thread < batch->thread_count; thread++)
        if (batch->threads[thread].pid == pid) return thread;
    return request->thread;
}

void rsc_miss_trace_request(struct rsc_miss_trace *misses, const struct rsc_sim *sim, const struct rsc_batch *batch,
                            const struct rsc_request *request) {
    uint64_t addr = request->addr, pid;
    uint32_t thread = request->thread;
    if (rsc_sim_request_owner(sim, request, &pid)) {
        addr &= RSC_SPACE_MASK;
        thread = thread_of(batch, request, pid);
    }
    enum rsc_kind kind = rsc_is_write(request) ? RSC_WRITE : request->kind == RSC_FETCH ? RSC_FETCH : RSC_READ;
    if (misses->status || (misses->status = make_room(misses, batch)) < 0) return;
    take_events(misses, batch, request->access);
    misses->addr[misses->count] = addr;
    misses->meta[misses->count] = rsc_meta(request->bytes, kind, thread);
    misses->pc[misses->count++] = batch->pc ? batch->pc[request->access] : 0;
}

int rsc_miss_trace_push(struct rsc_miss_trace *misses, const struct rsc_batch *batch, struct rsc_error *error) {
    if (!misses->status) misses->status = make_room(misses, batch);
    if (misses->status < 0) return rsc_fail_memory(error, "miss trace");
    take_events(misses, batch, UINT32_MAX);
    struct rsc_batch out = *batch;
    out.count = misses->count;
    out.addr = misses->addr;
    out.meta = misses->meta;
    out.pc = batch->pc ? misses->pc : NULL;
    out.events = misses->events;
    out.event_count = misses->event_count;
    misses->accesses += batch->count;
    if (batch->instructions == RSC_UNKNOWN) misses->instructions_known &= !batch->count;
    else misses->instructions += batch->instructions;
    misses->count = misses->event_count = misses->next_event = 0;
    int status = rsc_trace_writer_push(misses->writer, &out, error);
    return status > 0 ? rsc_fail(error, RSC_EIO, "%s: no room for the miss trace", misses->path) : status;
}

int rsc_miss_trace_finish(struct rsc_miss_trace *misses, struct rsc_error *error) {
    rsc_trace_writer_set_full(misses->writer, misses->accesses,
                              misses->instructions_known ? misses->instructions : RSC_UNKNOWN);
    int status = rsc_trace_writer_finish(misses->writer, error);
    return status > 0 ? rsc_fail(error, RSC_EIO, "%s: no room for the miss trace", misses->path) : status;
}

void rsc_miss_trace_close(struct rsc_miss_trace *misses) {
    rsc_trace_writer_close(misses->writer);
    free(misses->addr);
    free(misses->meta);
    free(misses->pc);
    free(misses->events);
}
