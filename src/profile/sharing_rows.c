/*
 * sharing_rows.c - sharing rows (who takes lines from whom, private stacks): creates,
 * frees, joins them and writes them as JSON; sharing_load.c reads them.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/profile_rows.h"

/* ---- making and freeing ---- */

static void clear_row(struct rsc_false_sharing_row *row) {
    for (size_t i = 0; i < row->place_count; i++) {
        rsc_place_clear(&row->places[i].writer);
        rsc_place_clear(&row->places[i].victim);
    }
    free(row->places);
    free(row->users);
    free(row->object);
    *row = (struct rsc_false_sharing_row){.context = RSC_NO_CONTEXT};
}

void rsc_profile_drop_sharing(struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->false_sharing_count; i++) clear_row(&profile->false_sharing[i]);
    free(profile->false_sharing);
    free(profile->sharing);
    profile->false_sharing = NULL;
    profile->sharing = NULL;
    profile->false_sharing_count = profile->sharing_count = 0;
}

int rsc_profile_set_sharing(struct rsc_profile *profile, size_t count) {
    free(profile->sharing);
    profile->sharing = NULL;
    profile->sharing_count = 0;
    if (count > RSC_PROFILE_ROWS_MAX) return RSC_ELIMIT;
    if (!count) return 0;
    profile->sharing = calloc(count, sizeof *profile->sharing);
    if (!profile->sharing) return RSC_ENOMEM;
    profile->sharing_count = count;
    return 0;
}

int rsc_profile_set_false_sharing(struct rsc_profile *profile, size_t count) {
    for (size_t i = 0; i < profile->false_sharing_count; i++) clear_row(&profile->false_sharing[i]);
    free(profile->false_sharing);
    profile->false_sharing = NULL;
    profile->false_sharing_count = 0;
    if (count > RSC_PROFILE_ROWS_MAX) return RSC_ELIMIT;
    if (!count) return 0;
    profile->false_sharing = calloc(count, sizeof *profile->false_sharing);
    if (!profile->false_sharing) return RSC_ENOMEM;
    for (size_t i = 0; i < count; i++) profile->false_sharing[i].context = RSC_NO_CONTEXT;
    profile->false_sharing_count = count;
    return 0;
}

int rsc_false_sharing_set(struct rsc_false_sharing_row *row, size_t users, size_t places) {
    if (users > RSC_SHARING_USERS_MAX || places > RSC_SHARING_PLACES_MAX) return RSC_ELIMIT;
    row->users = users ? calloc(users, sizeof *row->users) : NULL;
    if (users && !row->users) return RSC_ENOMEM;
    row->user_count = users;
    row->places = places ? calloc(places, sizeof *row->places) : NULL;
    if (places && !row->places) return RSC_ENOMEM;
    row->place_count = places;
    return 0;
}

/* ---- joining ---- */

static int copy_row(struct rsc_false_sharing_row *to, const struct rsc_false_sharing_row *from) {
    *to = *from;
    to->object = NULL;
    to->users = NULL;
    to->places = NULL;
    to->user_count = to->place_count = 0;
    to->context = RSC_NO_CONTEXT;
    if (rsc_profile_set_text(&to->object, from->object) ||
        rsc_false_sharing_set(to, from->user_count, from->place_count))
        return RSC_ENOMEM;
    if (from->user_count) memcpy(to->users, from->users, from->user_count * sizeof *from->users);
    for (size_t i = 0; i < from->place_count; i++) {
        to->places[i].taken = from->places[i].taken;
        if (rsc_place_copy(&to->places[i].writer, &from->places[i].writer) ||
            rsc_place_copy(&to->places[i].victim, &from->places[i].victim))
            return RSC_ENOMEM;
    }
    return 0;
}

/* Two runs have different threads and different lines: keeps the rows of both, those with the most misses first. */
int rsc_sharing_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    size_t cells = a->sharing_count + b->sharing_count, lines = a->false_sharing_count + b->false_sharing_count;
    if (cells > RSC_PROFILE_ROWS_MAX) cells = RSC_PROFILE_ROWS_MAX;
    if (lines > RSC_PROFILE_ROWS_MAX) lines = RSC_PROFILE_ROWS_MAX;
    int rc = rsc_profile_set_sharing(merged, cells);
    if (!rc) rc = rsc_profile_set_false_sharing(merged, lines);
    for (size_t i = 0, at_a = 0, at_b = 0; !rc && i < cells; i++) {
        int take_a =
            at_b == b->sharing_count || (at_a < a->sharing_count && a->sharing[at_a].misses >= b->sharing[at_b].misses);
        merged->sharing[i] = take_a ? a->sharing[at_a++] : b->sharing[at_b++];
    }
    for (size_t i = 0, at_a = 0, at_b = 0; !rc && i < lines; i++) {
        int take_a = at_b == b->false_sharing_count ||
                     (at_a < a->false_sharing_count && a->false_sharing[at_a].misses >= b->false_sharing[at_b].misses);
        rc = copy_row(&merged->false_sharing[i], take_a ? &a->false_sharing[at_a++] : &b->false_sharing[at_b++]);
    }
    return rc;
}

/* ---- JSON ---- */

static void put_sharing(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_key_array(json, "sharing");
    for (size_t i = 0; i < profile->sharing_count; i++) {
        const struct rsc_sharing_row *row = &profile->sharing[i];
        rsc_json_row(json);
        rsc_json_key_u64(json, "by", row->by_tid);
        rsc_json_key_u64(json, "by_pid", row->by_pid);
        rsc_json_key_u64(json, "from", row->from_tid);
        rsc_json_key_u64(json, "from_pid", row->from_pid);
        rsc_json_key_u64(json, "taken", row->taken);
        rsc_json_key_u64(json, "false_taken", row->false_taken);
        rsc_json_key_u64(json, "misses", row->misses);
        rsc_json_key_u64(json, "false_misses", row->false_misses);
        rsc_json_key_u64(json, "error", row->error);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->sharing_count);
}

static void put_users(struct rsc_json *json, const struct rsc_false_sharing_row *row) {
    rsc_json_key_array(json, "users");
    for (size_t i = 0; i < row->user_count; i++) {
        const struct rsc_sharing_user *user = &row->users[i];
        rsc_json_object(json);
        rsc_json_key_u64(json, "tid", user->tid);
        rsc_json_key_u64(json, "pid", user->pid);
        rsc_json_key_u64(json, "first", user->first_byte);
        rsc_json_key_u64(json, "last", user->last_byte);
        rsc_json_key_u64(json, "taken", user->taken);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_places(struct rsc_json *json, const struct rsc_false_sharing_row *row) {
    rsc_json_key_array(json, "places");
    for (size_t i = 0; i < row->place_count; i++) {
        rsc_json_object(json);
        rsc_json_key_object(json, "writer");
        rsc_json_place(json, &row->places[i].writer);
        rsc_json_object_end(json);
        rsc_json_key_object(json, "victim");
        rsc_json_place(json, &row->places[i].victim);
        rsc_json_object_end(json);
        rsc_json_key_u64(json, "taken", row->places[i].taken);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

void rsc_json_sharing(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_newline(json);
    put_sharing(json, profile);
    if (profile->sharing_count || profile->false_sharing_count) rsc_json_newline(json);
    rsc_json_key_array(json, "false_sharing");
    for (size_t i = 0; i < profile->false_sharing_count; i++) {
        const struct rsc_false_sharing_row *row = &profile->false_sharing[i];
        rsc_json_row(json);
        rsc_json_key_hex(json, "address", row->address);
        rsc_json_key_string(json, "object", row->object);
        rsc_json_key_string(json, "kind", row->object_kind);
        rsc_json_key_u64(json, "taken", row->taken);
        rsc_json_key_u64(json, "misses", row->misses);
        rsc_json_key_u64(json, "error", row->error);
        put_users(json, row);
        put_places(json, row);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->false_sharing_count);
}
