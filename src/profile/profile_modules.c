/*
 * profile_modules.c - the files that a profile's code ran from, with their build
 * ids, which show whether two profiles are of the same build, wherever it was in
 * memory or on disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_rows.h"

static int same_id(const uint8_t *a, uint32_t a_bytes, const uint8_t *b, uint32_t b_bytes) {
    return a_bytes == b_bytes && !memcmp(a, b, a_bytes);
}

int rsc_module_same_build(const struct rsc_module_row *a, const struct rsc_module_row *b) {
    return a && b && a->build_id_bytes && same_id(a->build_id, a->build_id_bytes, b->build_id, b->build_id_bytes);
}

void rsc_module_id_text(const struct rsc_module_row *module, char text[RSC_BUILD_ID_TEXT]) {
    text[0] = 0;
    for (uint32_t i = 0; i < module->build_id_bytes; i++) sprintf(text + 2 * i, "%02x", module->build_id[i]);
}

const struct rsc_module_row *rsc_profile_module(const struct rsc_profile *profile, const char *path) {
    for (size_t i = 0; path && i < profile->module_count; i++)
        if (!strcmp(profile->modules[i].path, path)) return &profile->modules[i];
    return NULL;
}

/* ---- from mappings ---- */

static int is_named(const struct rsc_profile *profile, const char *path) {
    for (size_t i = 0; i < profile->code_count; i++)
        if (profile->code[i].place.module && !strcmp(profile->code[i].place.module, path)) return 1;
    for (size_t i = 0; i < profile->context_count; i++)
        if (profile->contexts[i].place.module && !strcmp(profile->contexts[i].place.module, path)) return 1;
    return 0;
}

/* Appends a module unless it is there already. There must be room. */
static int add_module(struct rsc_profile *profile, const char *path, const uint8_t *id, uint32_t id_bytes) {
    for (size_t i = 0; i < profile->module_count; i++) {
        const struct rsc_module_row *row = &profile->modules[i];
        if (!strcmp(row->path, path) && same_id(row->build_id, row->build_id_bytes, id, id_bytes)) return 0;
    }
    struct rsc_module_row *row = &profile->modules[profile->module_count];
    *row = (struct rsc_module_row){.build_id_bytes = id_bytes};
    memcpy(row->build_id, id, id_bytes);
    if (rsc_profile_set_text(&row->path, path)) return RSC_ENOMEM;
    profile->module_count++;
    return 0;
}

int rsc_profile_take_modules(struct rsc_profile *profile) {
    int status = rsc_profile_set_modules(profile, profile->mapping_count);
    profile->module_count = 0;
    for (size_t i = 0; !status && i < profile->mapping_count; i++) {
        const struct rsc_mapping_row *map = &profile->mappings[i];
        if (!map->path || (!map->build_id_bytes && !is_named(profile, map->path))) continue;
        status = add_module(profile, map->path, map->build_id, map->build_id_bytes);
    }
    return status;
}

int rsc_modules_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    const struct rsc_profile *const from[2] = {a, b};
    int status = rsc_profile_set_modules(merged, a->module_count + b->module_count);
    if (status < 0) return status;
    merged->module_count = 0;
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; !status && i < from[p]->module_count; i++) {
            const struct rsc_module_row *row = &from[p]->modules[i];
            status = add_module(merged, row->path, row->build_id, row->build_id_bytes);
        }
    return status;
}
