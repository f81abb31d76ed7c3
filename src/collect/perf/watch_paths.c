/* watch_paths.c - see watch_paths.h. */
#include "collect/perf/watch_paths.h"

#include <reusescope/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "profile/profile_model.h"

#define NODES_MAX RSC_PROFILE_ROWS_MAX

struct node {
    uint32_t parent; /* less than its own number, or RSC_NO_CONTEXT */
    uint32_t next;   /* next with the same hash, plus 1 */
    uint64_t pc;
};

struct rsc_watch_paths {
    struct node *nodes;
    uint32_t count, room;
    uint32_t *heads; /* [2 * room], by hash: number plus 1 */
    struct rsc_mapping_row *mappings;
    size_t mapping_count, mapping_room;
};

struct rsc_watch_paths *rsc_watch_paths_new(void) { return calloc(1, sizeof(struct rsc_watch_paths)); }

void rsc_watch_paths_free(struct rsc_watch_paths *paths) {
    if (!paths) return;
    for (size_t i = 0; i < paths->mapping_count; i++) free(paths->mappings[i].path);
    free(paths->mappings);
    free(paths->nodes);
    free(paths->heads);
    free(paths);
}

static uint32_t bucket_of(const struct rsc_watch_paths *paths, uint32_t parent, uint64_t pc) {
    uint64_t z = (pc ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(z >> 32) % (2 * paths->room);
}

static int grow(struct rsc_watch_paths *paths) {
    uint32_t room = paths->room ? 2 * paths->room : 1024;
    struct node *nodes = realloc(paths->nodes, room * sizeof *nodes);
    if (!nodes) return RSC_ENOMEM;
    paths->nodes = nodes;
    uint32_t *heads = calloc(2 * (size_t)room, sizeof *heads);
    if (!heads) return RSC_ENOMEM;
    free(paths->heads);
    paths->heads = heads;
    paths->room = room;
    for (uint32_t i = 0; i < paths->count; i++) {
        uint32_t bucket = bucket_of(paths, nodes[i].parent, nodes[i].pc);
        nodes[i].next = heads[bucket];
        heads[bucket] = i + 1;
    }
    return 0;
}

/* The child of `parent` for a call at pc. Returns 1 when the tree is full. */
static int child(struct rsc_watch_paths *paths, uint32_t parent, uint64_t pc, uint32_t *number) {
    if (paths->room) {
        for (uint32_t at = paths->heads[bucket_of(paths, parent, pc)]; at; at = paths->nodes[at - 1].next)
            if (paths->nodes[at - 1].parent == parent && paths->nodes[at - 1].pc == pc) {
                *number = at - 1;
                return 0;
            }
    }
    if (paths->count == NODES_MAX) return 1;
    if (paths->count == paths->room && grow(paths) < 0) return RSC_ENOMEM;
    uint32_t bucket = bucket_of(paths, parent, pc);
    paths->nodes[paths->count] = (struct node){parent, paths->heads[bucket], pc};
    paths->heads[bucket] = ++paths->count;
    *number = paths->count - 1;
    return 0;
}

int rsc_watch_paths_add(struct rsc_watch_paths *paths, uint64_t space, const uint64_t *frames, uint32_t count,
                        uint32_t *path) {
    uint32_t number = RSC_NO_CONTEXT;
    *path = RSC_NO_CONTEXT;
    for (uint32_t i = count; i-- > 0;) {
        int status = child(paths, number, ((frames[i] - 1) & 0xffffffffffffull) | space, &number);
        if (status) return status < 0 ? status : 0;
    }
    *path = number;
    return 0;
}

/* data: file offset, length of the build id, build id, name. */
int rsc_watch_paths_mapped(struct rsc_watch_paths *paths, const struct rsc_guest_map *map, uint64_t space) {
    uint32_t id_bytes = map->data_bytes > 8 ? map->data[8] : 0, name = 9 + id_bytes;
    if (map->data_bytes <= name || id_bytes > sizeof paths->mappings->build_id) return 0;
    if (RSC_GROW(paths->mappings, paths->mapping_room, paths->mapping_count + 1)) return RSC_ENOMEM;
    struct rsc_mapping_row *row = &paths->mappings[paths->mapping_count];
    *row = (struct rsc_mapping_row){.start = map->start | space, .bytes = map->bytes, .build_id_bytes = id_bytes};
    memcpy(&row->file_offset, map->data, sizeof row->file_offset);
    memcpy(row->build_id, map->data + 9, id_bytes);
    row->path = strndup((const char *)map->data + name, map->data_bytes - name);
    if (!row->path) return RSC_ENOMEM;
    paths->mapping_count++;
    return 0;
}

int rsc_watch_paths_fill(const struct rsc_watch_paths *paths, struct rsc_profile *profile) {
    if (rsc_profile_set_contexts(profile, paths->count) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < paths->count; i++) {
        profile->contexts[i].parent = paths->nodes[i].parent;
        profile->contexts[i].place.pc = paths->nodes[i].pc;
    }
    profile->mappings = calloc(paths->mapping_count ? paths->mapping_count : 1, sizeof *profile->mappings);
    if (!profile->mappings) return RSC_ENOMEM;
    for (size_t i = 0; i < paths->mapping_count; i++, profile->mapping_count++) {
        profile->mappings[i] = paths->mappings[i];
        if (!(profile->mappings[i].path = strdup(paths->mappings[i].path))) return RSC_ENOMEM;
    }
    return 0;
}
