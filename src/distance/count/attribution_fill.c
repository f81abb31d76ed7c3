/* attribution_fill.c - turns the tables of attribution_state.h into the rows of a profile, most references first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distance/count/attribution_state.h"

/* A row of a table and its sort key. */
struct ranked {
    uint64_t references;
    uint64_t key; /* unique: the order is the same from run to run */
    uint32_t row;
};

static int compare_ranked(const void *left, const void *right) {
    const struct ranked *l = left, *r = right;
    if (l->references != r->references) return l->references < r->references ? 1 : -1;
    return l->key < r->key ? -1 : l->key > r->key;
}

/* ---- code ---- */

/* Adds a row of the table to a row of the profile. */
static void add_code(struct rsc_attribution *a, struct rsc_code_row *into, uint32_t row) {
    into->references += rsc_narrow_tally_read(&a->code, row, &into->cold, &into->invalidated, &into->rd);
}

/* How many of the ranked rows to keep, given all references. */
static uint32_t rows_kept(const struct ranked *list, uint32_t count, uint64_t all) {
    uint64_t covered = 0;
    uint32_t kept = 0;
    for (; kept < count && kept < RSC_PROFILE_ROWS_MAX - 1; kept++) {
        if (kept >= RSC_CODE_KEPT && covered >= all - all / RSC_CODE_LEFT_OUT) break;
        covered += list[kept].references;
    }
    return kept;
}

/* References without a row of their own, and rows beyond those kept, make the last row. */
static int fill_other_code(struct rsc_attribution *a, struct rsc_code_row *row, const struct ranked *list,
                           uint32_t count) {
    for (uint32_t i = 0; i < count; i++) add_code(a, row, list[i].row);
    add_code(a, row, RSC_CODE_OTHER);
    row->error = row->references;
    return rsc_profile_set_text(&row->place.function, RSC_OTHER_CODE);
}

static int fill_code(struct rsc_attribution *a, struct rsc_profile *profile) {
    struct ranked *list = malloc(a->places.row_count * sizeof *list);
    uint32_t count = 0;
    if (!list) return RSC_ENOMEM;
    uint64_t other = rsc_narrow_tally_read(&a->code, RSC_CODE_OTHER, NULL, NULL, NULL), all = other;
    for (uint32_t row = 1; row < a->places.row_count; row++) {
        uint64_t references = rsc_narrow_tally_read(&a->code, row, NULL, NULL, NULL);
        if (references) list[count++] = (struct ranked){references, a->places.row_pc[row], row};
        all += references;
    }
    qsort(list, count, sizeof *list, compare_ranked);
    uint32_t kept = rows_kept(list, count, all);
    int folds = other || kept < count;
    int status = rsc_profile_set_code(profile, kept + (folds ? 1 : 0));
    for (uint32_t i = 0; status == 0 && i < kept; i++) {
        struct rsc_code_row *row = &profile->code[i];
        row->place.pc = list[i].key;
        add_code(a, row, list[i].row);
        row->stride = a->strides.rows[list[i].row].stride;
    }
    if (status == 0 && folds) status = fill_other_code(a, &profile->code[kept], list + kept, count - kept);
    free(list);
    return status;
}

/* ---- pairs and objects ---- */

static struct ranked *rank_rows(struct rsc_space_saving *table) {
    struct ranked *list = malloc((table->used + 1ull) * sizeof *list);
    if (!list) return NULL;
    for (uint32_t row = 0; row < table->used; row++)
        list[row] = (struct ranked){table->rows[row].count, table->rows[row].key, row};
    qsort(list, table->used, sizeof *list, compare_ranked);
    return list;
}

/* Removes pairs of which an end has no place: nobody could look there. Returns how many are left. */
static uint32_t drop_placeless(struct ranked *list, uint32_t count) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].key >> 32 != RSC_TAG_NONE && (uint32_t)list[i].key != RSC_TAG_NONE) list[left++] = list[i];
    return left;
}

static int name_object(const struct rsc_attribution *a, uint64_t key, struct rsc_object_row *row);

static int name_pair_object(const struct rsc_attribution *a, uint64_t key, struct rsc_pair_row *pair) {
    struct rsc_object_row thing = {0};
    if (rsc_object_sort(key) == RSC_OBJECT_UNKNOWN) return 0;
    int status = name_object(a, key, &thing);
    pair->object = thing.name;
    pair->object_kind = thing.kind;
    pair->object_context = thing.context;
    return status;
}

/* Contexts are call-path nodes until fill_contexts() numbers them. */
static int fill_pairs(struct rsc_attribution *a, struct rsc_profile *profile) {
    struct ranked *list = rank_rows(&a->pairs);
    if (!list) return RSC_ENOMEM;
    uint32_t kept = drop_placeless(list, a->pairs.used);
    if (kept > RSC_PAIRS_KEPT) kept = RSC_PAIRS_KEPT;
    int status = rsc_profile_set_pairs(profile, kept);
    for (uint32_t i = 0; status == 0 && i < kept; i++) {
        uint32_t use = (uint32_t)(list[i].key >> 32), reuse = (uint32_t)list[i].key;
        struct rsc_pair_row *row = &profile->pairs[i];
        uint64_t cold;
        row->use.pc = rsc_places_pc(&a->places, use);
        row->use_context = rsc_places_node(&a->places, use);
        row->reuse.pc = rsc_places_pc(&a->places, reuse);
        row->reuse_context = rsc_places_node(&a->places, reuse);
        row->references = list[i].references;
        row->error = a->pairs.error[list[i].row];
        rsc_tally_read(&a->pairs.tally, list[i].row, &cold, &row->rd);
        status = name_pair_object(a, a->pair_objects[list[i].row].key, row);
    }
    free(list);
    return status;
}

static int name_object(const struct rsc_attribution *a, uint64_t key, struct rsc_object_row *row) {
    char text[64] = "unknown memory";
    const char *name = text;
    uint64_t number = rsc_object_number(key);
    row->kind = "other";
    row->context = RSC_CALL_ROOT;
    switch (rsc_object_sort(key)) {
    case RSC_OBJECT_GLOBAL:
        row->kind = "global";
        row->bytes = rsc_object_is_line(key) ? 64 : a->objects.variables[number & ~RSC_OBJECT_VARIABLE].bytes;
        row->blocks = 1;
        snprintf(text, sizeof text, "0x%" PRIx64,
                 rsc_object_is_line(key) ? number << 6 : a->objects.variables[number & ~RSC_OBJECT_VARIABLE].start);
        break;
    case RSC_OBJECT_HEAP:
        row->kind = "heap";
        if (number == RSC_HEAP_BETWEEN) {
            name = RSC_HEAP_BETWEEN_NAME;
            break;
        }
        row->context = (uint32_t)number;
        row->bytes = a->objects.sites[number].peak_bytes;
        row->blocks = a->objects.sites[number].blocks;
        snprintf(text, sizeof text, "heap");
        if (number) snprintf(text, sizeof text, "allocated at 0x%" PRIx64, a->paths.nodes[number].pc);
        break;
    case RSC_OBJECT_MAPPED: {
        const struct rsc_mapped_name *mapped = &a->objects.names[number];
        row->kind = mapped->kind;
        row->bytes = mapped->bytes;
        row->blocks = mapped->mappings;
        name = mapped->name[0] ? mapped->name : "memory without a name";
        if (!strcmp(name, "[stack]")) name = "stack";
        size_t length = strlen(name);
        if (!strncmp(name, "[stack:", 7) && length < sizeof text - 16) {
            snprintf(text, sizeof text, "stack of thread %.*s", (int)(length - 8), name + 7);
            name = text;
        }
        break;
    }
    case RSC_OBJECT_UNKNOWN: break;
    }
    if (row->bytes > INT64_MAX) row->bytes = INT64_MAX; /* events may say anything; a profile's numbers have 63 bits */
    return rsc_profile_set_text(&row->name, name);
}

static int fill_objects(struct rsc_attribution *a, struct rsc_profile *profile) {
    struct ranked *list = rank_rows(&a->things);
    if (!list) return RSC_ENOMEM;
    uint32_t kept = a->things.used < RSC_OBJECTS_KEPT ? a->things.used : RSC_OBJECTS_KEPT;
    int status = rsc_profile_set_objects(profile, kept);
    for (uint32_t i = 0; status == 0 && i < kept; i++) {
        struct rsc_object_row *row = &profile->objects[i];
        status = name_object(a, list[i].key, row);
        row->references = list[i].references;
        row->error = a->things.error[list[i].row];
        rsc_tally_read(&a->things.tally, list[i].row, &row->cold, &row->rd);
        row->invalidated = rsc_tally_count(&a->things.tally, list[i].row, RSC_TALLY_INVALIDATED);
    }
    free(list);
    return status;
}

int rsc_attribution_name_lines(const struct rsc_attribution *a, struct rsc_profile *profile, const uint64_t *objects) {
    for (size_t i = 0; i < profile->line_count; i++) {
        struct rsc_line_row *line = &profile->lines[i];
        struct rsc_object_row thing = {0};
        if (rsc_object_sort(objects[i]) == RSC_OBJECT_UNKNOWN) continue;
        if (name_object(a, objects[i], &thing) < 0) return RSC_ENOMEM;
        free(line->object);
        line->object = thing.name;
        line->object_kind = thing.kind;
        line->context = thing.context;
    }
    return 0;
}

int rsc_attribution_name_false_sharing(const struct rsc_attribution *a, struct rsc_profile *profile,
                                       const uint64_t *objects) {
    for (size_t i = 0; i < profile->false_sharing_count; i++) {
        struct rsc_false_sharing_row *line = &profile->false_sharing[i];
        struct rsc_object_row thing = {0};
        if (rsc_object_sort(objects[i]) == RSC_OBJECT_UNKNOWN) continue;
        if (name_object(a, objects[i], &thing) < 0) return RSC_ENOMEM;
        free(line->object);
        line->object = thing.name;
        line->object_kind = thing.kind;
        line->context = thing.context;
    }
    return 0;
}

uint64_t rsc_attribution_pc(const struct rsc_attribution *a, uint32_t tag) { return rsc_places_pc(&a->places, tag); }

/* ---- contexts ---- */

/* Every context of a row. */
static void for_each_context(struct rsc_profile *profile, void (*visit)(uint32_t *context, uint32_t *by_node),
                             uint32_t *by_node) {
    for (size_t i = 0; i < profile->pair_count; i++) {
        visit(&profile->pairs[i].use_context, by_node);
        visit(&profile->pairs[i].reuse_context, by_node);
        if (profile->pairs[i].object_context != RSC_NO_CONTEXT) visit(&profile->pairs[i].object_context, by_node);
    }
    for (size_t i = 0; i < profile->object_count; i++) visit(&profile->objects[i].context, by_node);
    for (size_t i = 0; i < profile->line_count; i++)
        if (profile->lines[i].context != RSC_NO_CONTEXT) visit(&profile->lines[i].context, by_node);
    for (size_t i = 0; i < profile->false_sharing_count; i++)
        if (profile->false_sharing[i].context != RSC_NO_CONTEXT) visit(&profile->false_sharing[i].context, by_node);
}

static void mark(uint32_t *context, uint32_t *by_node) { by_node[*context] = 1; }
static void renumber(uint32_t *context, uint32_t *by_node) { *context = by_node[*context]; }

/* Keeps the nodes that rows refer to, and their callers. */
static int fill_contexts(struct rsc_attribution *a, struct rsc_profile *profile) {
    const struct rsc_call_node *nodes = a->paths.nodes;
    uint32_t *by_node = calloc(a->paths.node_count, sizeof *by_node), count = 0;
    if (!by_node) return RSC_ENOMEM;
    for_each_context(profile, mark, by_node);
    for (uint32_t node = a->paths.node_count - 1; node > RSC_CALL_ROOT; node--) {
        if (!by_node[node]) continue;
        by_node[nodes[node].parent] = 1;
        count++;
    }
    int status = rsc_profile_set_contexts(profile, count);
    by_node[RSC_CALL_ROOT] = RSC_NO_CONTEXT;
    count = 0;
    for (uint32_t node = RSC_CALL_ROOT + 1; status == 0 && node < a->paths.node_count; node++) {
        if (!by_node[node]) continue;
        profile->contexts[count].parent = by_node[nodes[node].parent];
        profile->contexts[count].place.pc = nodes[node].pc;
        by_node[node] = count++;
    }
    if (status == 0) for_each_context(profile, renumber, by_node);
    free(by_node);
    return status;
}

static int fill_mappings(struct rsc_attribution *a, struct rsc_profile *profile) {
    uint32_t count = a->objects.mapping_count;
    if (!count) return 0;
    profile->mappings = calloc(count, sizeof *profile->mappings);
    if (!profile->mappings) return RSC_ENOMEM;
    profile->mapping_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct rsc_mapping *mapping = &a->objects.mappings[i];
        struct rsc_mapping_row *row = &profile->mappings[i];
        row->start = mapping->start;
        row->bytes = mapping->bytes;
        row->file_offset = mapping->file_offset;
        row->build_id_bytes = mapping->build_id_bytes;
        memcpy(row->build_id, mapping->build_id, mapping->build_id_bytes);
        if (rsc_profile_set_text(&row->path, mapping->path) < 0) return RSC_ENOMEM;
    }
    return 0;
}

int rsc_attribution_fill(struct rsc_attribution *a, struct rsc_profile *profile) {
    if (rsc_attribution_learn_own(a) < 0) return RSC_ENOMEM;
    rsc_attribution_end(a);
    if (a->code.failed) return RSC_ENOMEM;
    if (rsc_attribution_make_changes(a, UINT32_MAX) < 0 || fill_code(a, profile) < 0 || fill_pairs(a, profile) < 0 ||
        fill_objects(a, profile) < 0 || fill_contexts(a, profile) < 0 || fill_mappings(a, profile) < 0)
        return RSC_ENOMEM;
    return 0;
}
