/* optimum.c - see optimum.h. */
#include "simulate/cache/optimum.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/u64_table.h"

void rsc_request_list_free(struct rsc_request_list *record) {
    free(record->requests);
    *record = (struct rsc_request_list){0};
}

static void append(struct rsc_request_list *record, const struct rsc_request *request) {
    if (record->status) return;
    if (RSC_GROW(record->requests, record->room, record->count + 1)) {
        record->status = RSC_ENOMEM;
        return;
    }
    record->requests[record->count++] = *request;
}

void rsc_request_list_add(struct rsc_request_list *record, const struct rsc_hierarchy *hierarchy,
                          const struct rsc_request *request) {
    int level = hierarchy->entry[request->kind];
    if (level < 0) return;
    uint32_t bytes = hierarchy->levels[level].config.block_bytes;
    uint64_t last = request->addr + (request->bytes ? request->bytes - 1 : 0), end;
    if (last < request->addr) last = UINT64_MAX;
    struct rsc_request part = *request;
    do {
        end = part.addr | (bytes - 1);
        if (end > last) end = last;
        part.bytes = (uint32_t)(end - part.addr + 1);
        append(record, &part);
        part.addr = end + 1;
    } while (end < last);
}

/* next[i]: number of the next request for request i's block at its level, UINT64_MAX if there is none. */
static int find_next_uses(const struct rsc_request_list *record, const struct rsc_hierarchy *hierarchy, int level,
                          uint64_t *next) {
    uint32_t shift = (uint32_t)__builtin_ctz(hierarchy->levels[level].config.block_bytes);
    struct rsc_u64_table seen;
    int status = rsc_u64_table_init(&seen, 1024);
    for (size_t i = record->count; !status && i-- > 0;) {
        if (hierarchy->entry[record->requests[i].kind] != level) continue;
        if (rsc_u64_table_needs_rebuild(&seen) && (status = rsc_u64_table_rebuild(&seen)) < 0) break;
        uint64_t block = record->requests[i].addr >> shift;
        struct rsc_u64_entry *entry = rsc_u64_table_find(&seen, block);
        next[i] = entry->value ? entry->value - 1 : UINT64_MAX;
        seen.used += !entry->value;
        entry->key = block;
        entry->value = i + 1;
    }
    rsc_u64_table_free(&seen);
    return status;
}

int rsc_request_list_serve(struct rsc_request_list *record, struct rsc_hierarchy *hierarchy, void (*begin)(void *user),
                           void *user) {
    uint64_t *next = calloc(record->count ? record->count : 1, sizeof *next);
    int status = record->status;
    if (!next) status = RSC_ENOMEM;
    for (size_t i = 0; !status && i < hierarchy->level_count; i++)
        if (hierarchy->levels[i].config.policy == RSC_POLICY_OPT)
            status = find_next_uses(record, hierarchy, (int)i, next);
    for (size_t i = 0; !status && i <= record->count; i++) {
        if (i == record->counted_from) {
            rsc_hierarchy_forget_counts(hierarchy);
            if (begin) begin(user);
        }
        if (i == record->count) break;
        const struct rsc_request *request = &record->requests[i];
        int level = hierarchy->entry[request->kind];
        struct rsc_cache *cache = rsc_hierarchy_cache(hierarchy, level, request->thread);
        if (cache) cache->coming = next[i];
        if (cache) rsc_hierarchy_request(hierarchy, level, request);
        status = hierarchy->status;
    }
    free(next);
    return status;
}
