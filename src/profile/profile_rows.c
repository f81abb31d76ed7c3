/*
 * profile_rows.c - creates and frees the rows that attribute references and data:
 * kinds, lines, code, pairs, objects and contexts.
 */
#include "profile/profile_rows.h"

#include <stdlib.h>
#include <string.h>

void rsc_place_clear(struct rsc_place *place) {
    free(place->function);
    free(place->file);
    free(place->module);
    *place = (struct rsc_place){0};
}

int rsc_place_copy(struct rsc_place *to, const struct rsc_place *from) {
    *to = (struct rsc_place){.pc = from->pc, .line = from->line, .loop = from->loop, .offset = from->offset};
    if (rsc_profile_set_text(&to->function, from->function) || rsc_profile_set_text(&to->file, from->file) ||
        rsc_profile_set_text(&to->module, from->module))
        return RSC_ENOMEM;
    return 0;
}

int rsc_code_row_copy(struct rsc_code_row *to, const struct rsc_code_row *from) {
    to->references = from->references;
    to->cold = from->cold;
    to->invalidated = from->invalidated;
    to->error = from->error;
    to->stride = from->stride;
    rsc_histogram_merge(&to->rd, &from->rd);
    if (rsc_place_copy(&to->place, &from->place)) return RSC_ENOMEM;
    if (!from->inlined_count) return 0;
    to->inlined_into = calloc(from->inlined_count, sizeof *to->inlined_into);
    if (!to->inlined_into) return RSC_ENOMEM;
    for (; to->inlined_count < from->inlined_count; to->inlined_count++)
        if (rsc_place_copy(&to->inlined_into[to->inlined_count], &from->inlined_into[to->inlined_count])) {
            rsc_place_clear(&to->inlined_into[to->inlined_count]);
            return RSC_ENOMEM;
        }
    return 0;
}

const char *rsc_object_kind(const char *name) {
    static const char *const kinds[] = {"heap", "global", "stack", "file", "other"};
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(name, kinds[i])) return kinds[i];
    return NULL;
}

const char *const rsc_source_names[RSC_SOURCES] = {"", "l1", "buffer", "l2", "l3", "memory", "remote", "other"};

const char *const rsc_kind_names[RSC_KIND_NAMES] = {"read", "write", "fetch"};

static void drop_kinds(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->kind_count; i++) {
        rsc_histogram_free(&profile->kinds[i].rd);
        rsc_histogram_free(&profile->kinds[i].rd_fine);
    }
    free(profile->kinds);
    profile->kinds = NULL;
    profile->kind_count = 0;
}

static void drop_lines(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->line_count; i++) {
        free(profile->lines[i].object);
        rsc_histogram_free(&profile->lines[i].rd);
    }
    free(profile->lines);
    profile->lines = NULL;
    profile->line_count = 0;
}

static void drop_code(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->code_count; i++) {
        struct rsc_code_row *row = &profile->code[i];
        rsc_place_clear(&row->place);
        for (size_t k = 0; k < row->inlined_count; k++) rsc_place_clear(&row->inlined_into[k]);
        free(row->inlined_into);
        rsc_histogram_free(&row->rd);
    }
    free(profile->code);
    profile->code = NULL;
    profile->code_count = 0;
}

static void drop_pairs(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->pair_count; i++) {
        rsc_place_clear(&profile->pairs[i].use);
        rsc_place_clear(&profile->pairs[i].reuse);
        free(profile->pairs[i].object);
        rsc_histogram_free(&profile->pairs[i].rd);
    }
    free(profile->pairs);
    profile->pairs = NULL;
    profile->pair_count = 0;
}

static void drop_objects(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->object_count; i++) {
        free(profile->objects[i].name);
        rsc_histogram_free(&profile->objects[i].rd);
    }
    free(profile->objects);
    profile->objects = NULL;
    profile->object_count = 0;
}

static void drop_contexts(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->context_count; i++) rsc_place_clear(&profile->contexts[i].place);
    free(profile->contexts);
    profile->contexts = NULL;
    profile->context_count = 0;
}

static void drop_loops(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->loop_count; i++) rsc_place_clear(&profile->loops[i].place);
    free(profile->loops);
    profile->loops = NULL;
    profile->loop_count = 0;
}

static void drop_mappings(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->mapping_count; i++) free(profile->mappings[i].path);
    free(profile->mappings);
    profile->mappings = NULL;
    profile->mapping_count = 0;
}

void rsc_profile_drop_rows(struct rsc_profile *profile) {
    drop_kinds(profile);
    drop_lines(profile);
    drop_code(profile);
    drop_pairs(profile);
    drop_objects(profile);
    drop_contexts(profile);
    rsc_profile_drop_modules(profile);
    drop_loops(profile);
    drop_mappings(profile);
    rsc_profile_drop_sharing(profile);
}

int rsc_profile_set_kinds(struct rsc_profile *profile, size_t count) {
    drop_kinds(profile);
    if (count > RSC_KIND_NAMES) return RSC_ELIMIT;
    if (!count) return 0;
    profile->kinds = calloc(count, sizeof *profile->kinds);
    if (!profile->kinds) return RSC_ENOMEM;
    for (; profile->kind_count < count; profile->kind_count++) {
        struct rsc_kind_row *row = &profile->kinds[profile->kind_count];
        row->kind = rsc_kind_names[profile->kind_count];
        if (rsc_histogram_init(&row->rd, RSC_BINS_COARSE)) goto fail;
        if (rsc_histogram_init(&row->rd_fine, RSC_BINS_FINE)) {
            rsc_histogram_free(&row->rd);
            goto fail;
        }
    }
    return 0;
fail:
    drop_kinds(profile);
    return RSC_ENOMEM;
}

int rsc_profile_set_lines(struct rsc_profile *profile, size_t count) {
    drop_lines(profile);
    if (count > RSC_PROFILE_ROWS_MAX) return RSC_ELIMIT;
    if (!count) return 0;
    profile->lines = calloc(count, sizeof *profile->lines);
    if (!profile->lines) return RSC_ENOMEM;
    for (; profile->line_count < count; profile->line_count++) {
        struct rsc_line_row *row = &profile->lines[profile->line_count];
        row->context = RSC_NO_CONTEXT;
        if (rsc_histogram_init(&row->rd, RSC_BINS_COARSE)) goto fail;
    }
    return 0;
fail:
    drop_lines(profile);
    return RSC_ENOMEM;
}

int rsc_profile_set_code(struct rsc_profile *profile, size_t count) {
    drop_code(profile);
    if (count > RSC_PROFILE_ROWS_MAX) return RSC_ELIMIT;
    if (!count) return 0;
    profile->code = calloc(count, sizeof *profile->code);
    if (!profile->code) return RSC_ENOMEM;
    for (; profile->code_count < count; profile->code_count++)
        if (rsc_histogram_init(&profile->code[profile->code_count].rd, RSC_BINS_COARSE)) goto fail;
    return 0;
fail:
    drop_code(profile);
    return RSC_ENOMEM;
}

int rsc_profile_set_pairs(struct rsc_profile *profile, size_t count) {
    drop_pairs(profile);
    if (count > RSC_PROFILE_ROWS_MAX) return RSC_ELIMIT;
    if (!count) return 0;
    profile->pairs = calloc(count, sizeof *profile->pairs);
    if (!profile->pairs) return RSC_ENOMEM;
    for (; profile->pair_count < count; profile->pair_count++) {
        struct rsc_pair_row *row = &profile->pairs[profile->pair_count];
        row->use_context = row->reuse_context = row->object_context = RSC_NO_CONTEXT;
        if (rsc_histogram_init(&row->rd, RSC_BINS_COARSE)) goto fail;
    }
    return 0;
fail:
    drop_pairs(profile);
    return RSC_ENOMEM;
}

int rsc_profile_set_objects(struct rsc_profile *profile, size_t count) {
    drop_objects(profile);
    if (count > RSC_PROFILE_ROWS_MAX) return RSC_ELIMIT;
    if (!count) return 0;
    profile->objects = calloc(count, sizeof *profile->objects);
    if (!profile->objects) return RSC_ENOMEM;
    for (; profile->object_count < count; profile->object_count++) {
        struct rsc_object_row *row = &profile->objects[profile->object_count];
        row->context = RSC_NO_CONTEXT;
        row->kind = rsc_object_kind("other");
        if (rsc_histogram_init(&row->rd, RSC_BINS_COARSE)) goto fail;
    }
    return 0;
fail:
    drop_objects(profile);
    return RSC_ENOMEM;
}

int rsc_profile_set_contexts(struct rsc_profile *profile, size_t count) {
    drop_contexts(profile);
    if (count > RSC_PROFILE_ROWS_MAX) return RSC_ELIMIT;
    if (!count) return 0;
    profile->contexts = calloc(count, sizeof *profile->contexts);
    if (!profile->contexts) return RSC_ENOMEM;
    for (size_t i = 0; i < count; i++) profile->contexts[i].parent = RSC_NO_CONTEXT;
    profile->context_count = count;
    return 0;
}

int rsc_profile_set_loops(struct rsc_profile *profile, size_t count) {
    drop_loops(profile);
    if (count > RSC_PROFILE_ROWS_MAX) return RSC_ELIMIT;
    if (!count) return 0;
    profile->loops = calloc(count, sizeof *profile->loops);
    if (!profile->loops) return RSC_ENOMEM;
    profile->loop_count = count;
    return 0;
}
