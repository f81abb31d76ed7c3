/*
 * profile_share.c - removes from a profile what reveals its author and machine: the
 * command line, and the folders of absolute paths.
 *
 * It keeps what is needed to understand the numbers: names of functions, of files
 * without their folders and of objects, relative paths (the project's own), thread
 * numbers.
 */
#include <string.h>

#include "profile/profile_model.h"

/* /home/me/src/a.c becomes a.c; relative paths stay. */
static void cut_folders(char *path) {
    if (!path || path[0] != '/') return;
    const char *slash = strrchr(path, '/');
    if (slash[1]) memmove(path, slash + 1, strlen(slash + 1) + 1);
}

/* The same for a path at the start of a name or after a blank in it, up to " (": an object's name has at most one. */
static void cut_folders_within(char *name) {
    if (!name) return;
    char *start = name[0] == '/' ? name : strstr(name, " /");
    if (!start) return;
    if (*start == ' ') start++;
    const char *end = strstr(start, " ("), *last = start;
    for (const char *at = start; *at && (!end || at < end); at++)
        if (*at == '/') last = at;
    if (last[1]) memmove(start, last + 1, strlen(last + 1) + 1);
}

static void cut_place(struct rsc_place *place) {
    cut_folders(place->file);
    cut_folders(place->module);
}

void rsc_profile_forget_origin(struct rsc_profile *profile) {
    rsc_profile_set_command(profile, NULL);
    for (size_t i = 0; i < profile->code_count; i++) {
        struct rsc_code_row *row = &profile->code[i];
        cut_place(&row->place);
        for (size_t k = 0; k < row->inlined_count; k++) cut_place(&row->inlined_into[k]);
    }
    for (size_t i = 0; i < profile->pair_count; i++) {
        cut_place(&profile->pairs[i].use);
        cut_place(&profile->pairs[i].reuse);
    }
    for (size_t i = 0; i < profile->pair_count; i++) cut_folders_within(profile->pairs[i].object);
    for (size_t i = 0; i < profile->loop_count; i++) cut_place(&profile->loops[i].place);
    for (size_t i = 0; i < profile->context_count; i++) cut_place(&profile->contexts[i].place);
    for (size_t i = 0; i < profile->object_count; i++) cut_folders_within(profile->objects[i].name);
    for (size_t i = 0; i < profile->line_count; i++) cut_folders_within(profile->lines[i].object);
    for (size_t i = 0; i < profile->module_count; i++) cut_folders(profile->modules[i].path);
    for (size_t i = 0; i < profile->false_sharing_count; i++) {
        struct rsc_false_sharing_row *row = &profile->false_sharing[i];
        cut_folders_within(row->object);
        for (size_t k = 0; k < row->place_count; k++)
            cut_place(&row->places[k].writer), cut_place(&row->places[k].victim);
    }
}
