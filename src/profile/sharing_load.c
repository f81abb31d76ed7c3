/*
 * sharing_load.c - reads the sharing rows (who takes lines from whom) from untrusted
 * JSON.
 *
 * As in rows_load.c everything is checked: misses of a cell are at most the
 * profile's, false ones at most all, and tables have at most the sizes in
 * profile_model.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/load_fields.h"
#include "profile/profile_rows.h"

static void name_row(struct rsc_loader *loader, size_t prefix, const char *key, size_t index) {
    snprintf(loader->where + prefix, sizeof loader->where - prefix, "%s[%zu].", key, index);
}

/* Finds the array of that key; a missing one is empty. */
static int find_rows(struct rsc_loader *loader, const json_t *root, const char *key, size_t most, const json_t **list,
                     size_t *count) {
    *count = 0;
    if (!json_object_get(root, key)) return 0;
    int rc = rsc_load_array(loader, root, key, list);
    if (rc) return rc;
    *count = json_array_size(*list);
    return *count > most ? rsc_load_bad(loader, "%s has more than %zu rows", key, most) : 0;
}

static int load_cell(const struct rsc_loader *loader, const json_t *item, const struct rsc_profile *profile,
                     struct rsc_sharing_row *row) {
    int rc;
    if ((rc = rsc_load_u64(loader, item, "by", RSC_LOAD_COUNT_MAX, &row->by_tid)) ||
        (rc = rsc_load_optional(loader, item, "by_pid", RSC_LOAD_COUNT_MAX, &row->by_pid)) ||
        (rc = rsc_load_u64(loader, item, "from", RSC_LOAD_COUNT_MAX, &row->from_tid)) ||
        (rc = rsc_load_optional(loader, item, "from_pid", RSC_LOAD_COUNT_MAX, &row->from_pid)) ||
        (rc = rsc_load_u64(loader, item, "taken", RSC_LOAD_COUNT_MAX, &row->taken)) ||
        (rc = rsc_load_optional(loader, item, "false_taken", row->taken, &row->false_taken)) ||
        (rc = rsc_load_u64(loader, item, "misses", profile->invalidated, &row->misses)) ||
        (rc = rsc_load_optional(loader, item, "false_misses", row->misses, &row->false_misses)))
        return rc;
    return rsc_load_optional(loader, item, "error", RSC_LOAD_COUNT_MAX, &row->error);
}

static int load_cells(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    uint64_t most = UINT64_MAX, misses = 0;
    int rc = find_rows(loader, root, "sharing", RSC_PROFILE_ROWS_MAX, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_sharing(profile, count)) return rsc_load_no_memory(loader);
    profile->sharing_count = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        struct rsc_sharing_row *row = &profile->sharing[profile->sharing_count];
        name_row(loader, prefix, "sharing", i);
        if (!json_object_get(json_array_get(list, i), "by")) continue; /* a line that threads share, not a cell */
        if ((rc = load_cell(loader, json_array_get(list, i), profile, row))) continue;
        profile->sharing_count++;
        misses += row->misses; /* each at most 2^63 - 1, and so is the sum so far: no wrap */
        if (row->misses > most) rc = rsc_load_bad(loader, "misses must descend");
        else if (misses > profile->invalidated) rc = rsc_load_bad(loader, "misses sum to more than invalidated");
        most = row->misses;
    }
    loader->where[prefix] = 0;
    return rc;
}

static int load_user(const struct rsc_loader *loader, const json_t *item, const struct rsc_profile *profile,
                     struct rsc_sharing_user *user) {
    uint64_t first = 0, last = 0;
    int rc;
    if ((rc = rsc_load_u64(loader, item, "tid", RSC_LOAD_COUNT_MAX, &user->tid)) ||
        (rc = rsc_load_optional(loader, item, "pid", RSC_LOAD_COUNT_MAX, &user->pid)) ||
        (rc = rsc_load_u64(loader, item, "last", profile->made.line_bytes - 1, &last)) ||
        (rc = rsc_load_u64(loader, item, "first", last, &first)) ||
        (rc = rsc_load_optional(loader, item, "taken", RSC_LOAD_COUNT_MAX, &user->taken)))
        return rc;
    user->first_byte = (uint32_t)first;
    user->last_byte = (uint32_t)last;
    return 0;
}

static int load_end(struct rsc_loader *loader, const json_t *item, const char *key, size_t loops,
                    struct rsc_place *place) {
    const json_t *end = json_object_get(item, key);
    size_t prefix = strlen(loader->where);
    if (!json_is_object(end)) return rsc_load_bad(loader, "%s is missing or not an object", key);
    snprintf(loader->where + prefix, sizeof loader->where - prefix, "%s.", key);
    int rc = rsc_load_place(loader, end, loops, place);
    loader->where[prefix] = 0;
    return rc;
}

static int load_parts(struct rsc_loader *loader, const json_t *item, const struct rsc_profile *profile,
                      struct rsc_false_sharing_row *row) {
    const json_t *users = NULL, *places = NULL;
    size_t user_count, place_count, prefix = strlen(loader->where);
    int rc;
    if ((rc = find_rows(loader, item, "users", RSC_SHARING_USERS_MAX, &users, &user_count)) ||
        (rc = find_rows(loader, item, "places", RSC_SHARING_PLACES_MAX, &places, &place_count)))
        return rc;
    if (rsc_false_sharing_set(row, user_count, place_count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < user_count && !rc; i++) {
        name_row(loader, prefix, "users", i);
        rc = load_user(loader, json_array_get(users, i), profile, &row->users[i]);
    }
    for (size_t i = 0; i < place_count && !rc; i++) {
        const json_t *place = json_array_get(places, i);
        name_row(loader, prefix, "places", i);
        if ((rc = rsc_load_u64(loader, place, "taken", RSC_LOAD_COUNT_MAX, &row->places[i].taken)) ||
            (rc = load_end(loader, place, "writer", profile->loop_count, &row->places[i].writer)))
            continue;
        rc = load_end(loader, place, "victim", profile->loop_count, &row->places[i].victim);
    }
    if (!rc) loader->where[prefix] = 0;
    return rc;
}

static int load_false_row(struct rsc_loader *loader, const json_t *item, const struct rsc_profile *profile,
                          struct rsc_false_sharing_row *row) {
    const json_t *kind = json_object_get(item, "kind");
    int rc;
    if ((rc = rsc_load_address(loader, item, "address", &row->address)) ||
        (rc = rsc_load_text(loader, item, "object", 1, &row->object)) ||
        (rc = rsc_load_optional(loader, item, "taken", RSC_LOAD_COUNT_MAX, &row->taken)) ||
        (rc = rsc_load_optional(loader, item, "misses", profile->invalidated, &row->misses)) ||
        (rc = rsc_load_optional(loader, item, "error", RSC_LOAD_COUNT_MAX, &row->error)))
        return rc;
    row->object_kind = rsc_object_kind(json_string_value(kind));
    if (!row->object_kind && kind && !json_is_null(kind))
        return rsc_load_bad(loader, "kind must be heap, global, stack, file, other or null");
    return load_parts(loader, item, profile, row);
}

int rsc_load_sharing(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    uint64_t most = UINT64_MAX, misses = 0;
    int rc = load_cells(loader, root, profile);
    if (rc || (rc = find_rows(loader, root, "false_sharing", RSC_PROFILE_ROWS_MAX, &list, &count))) return rc;
    if (rsc_profile_set_false_sharing(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        struct rsc_false_sharing_row *row = &profile->false_sharing[i];
        name_row(loader, prefix, "false_sharing", i);
        if ((rc = load_false_row(loader, json_array_get(list, i), profile, row))) continue;
        misses += row->misses;
        if (row->misses > most) rc = rsc_load_bad(loader, "misses must descend");
        else if (misses > profile->invalidated) rc = rsc_load_bad(loader, "misses sum to more than invalidated");
        most = row->misses;
    }
    loader->where[prefix] = 0;
    return rc;
}
