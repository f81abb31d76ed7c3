/*
 * symbols_profile.c - names everything in a profile.
 *
 * A heap object is named after the place in the program that allocated it: the first
 * frame of its call path outside the C and C++ runtimes, and outside the headers of the
 * C++ library, whose templates are compiled into the program.
 */
#include "collect/symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "collect/symbols/symbols_module.h"

#ifndef RSC_HAVE_LIBDW

int rsc_symbols_name_profile(struct rsc_symbols *symbols, struct rsc_profile *profile, struct rsc_error *error) {
    (void)symbols, (void)profile;
    return rsc_fail(error, RSC_EUNSUPPORTED, "symbols: this build has no libdw (install libdw-dev and rebuild)");
}

#else

#include "profile/foreign_files.h"
#include "profile/profile_rows.h"

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

void symbols_free_places(struct rsc_place *places, size_t count) {
    for (size_t i = 0; i < count; i++) rsc_place_clear(&places[i]);
    free(places);
}

static int in_runtime(const struct rsc_place *place) {
    static const char *const prefixes[] = {"libc.", "libc-", "libstdc++", "ld-linux", "libreusescope-guest"};
    const char *name = base_name(place->module);
    for (size_t i = 0; name && i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return 1;
    return 0;
}

/* "heap block allocated at solver.c:88 (main)", or as much of it as is known. */
static int name_block(struct rsc_object_row *row, const struct rsc_place *place) {
    char name[1024];
    const char *module = base_name(place->module);
    if (place->file && place->line)
        snprintf(name, sizeof name,
                 place->function ? "heap block allocated at %s:%u (%s)" : "heap block allocated at %s:%u",
                 base_name(place->file), (unsigned)place->line, place->function);
    else if (place->function)
        snprintf(name, sizeof name, module ? "heap block allocated in %s (%s)" : "heap block allocated in %s",
                 place->function, module);
    else
        snprintf(name, sizeof name, module ? "heap block allocated at 0x%llx in %s" : "heap block allocated at 0x%llx",
                 (unsigned long long)(place->offset ? place->offset : place->pc), module);
    return rsc_profile_set_text(&row->name, name);
}

static int name_heap(struct rsc_symbols *symbols, const struct rsc_profile *profile, struct rsc_object_row *row) {
    struct rsc_place *inlined, chosen = {0};
    size_t count;
    int have = 0, rc = 0; /* have 1: outside the runtimes, 2: outside libraries' sources too */
    for (uint32_t at = row->context; have < 2 && at < profile->context_count; at = profile->contexts[at].parent) {
        const struct rsc_place *place = &profile->contexts[at].place;
        struct rsc_place again = {.pc = place->pc};
        if (in_runtime(place)) continue;
        rc = rsc_symbols_place(symbols, &again, &inlined, &count);
        rsc_place_clear(&again);
        if (rc) break;
        for (size_t i = 0; have < 2 && i <= count; i++) {
            const struct rsc_place *frame = i ? &inlined[i - 1] : place;
            int good = frame->file && rsc_file_is_foreign(frame->file) ? 1 : 2;
            if (good <= have) continue;
            have = good;
            rsc_place_clear(&chosen);
            if ((rc = rsc_place_copy(&chosen, frame))) break;
        }
        symbols_free_places(inlined, count);
        if (rc || (profile->contexts[at].parent != RSC_NO_CONTEXT && profile->contexts[at].parent >= at)) break;
    }
    if (!rc && have) rc = name_block(row, &chosen);
    rsc_place_clear(&chosen);
    return rc;
}

/* Of a line of 64 bytes, the first variable that begins at or before one of its words. */
static int variable_of_row(struct rsc_symbols *symbols, const struct rsc_object_row *row, uint64_t address,
                           const char **name, uint64_t *start) {
    uint64_t bytes, tried = row->bytes == 64 ? 64 : 8;
    for (uint64_t at = 0; at < tried; at += 8)
        if (rsc_symbols_variable(symbols, address + at, name, start, &bytes)) return 1;
    return 0;
}

/* "0x404060" becomes "grid (solver.c:12)", "grid" if the declaration is unknown, or "data of solver" without symbols. */
static int name_global(struct rsc_symbols *symbols, struct rsc_object_row *row) {
    char text[1024], *end;
    const char *name, *file;
    uint64_t start;
    uint32_t line;
    if (!row->name || strncmp(row->name, "0x", 2)) return 0;
    uint64_t address = strtoull(row->name, &end, 16);
    if (*end) return 0;
    if (!variable_of_row(symbols, row, address, &name, &start)) {
        if (!(file = rsc_symbols_data_file(symbols, address))) return 0;
        snprintf(text, sizeof text, "data of %s", base_name(file));
        return rsc_profile_set_text(&row->name, text);
    }
    int declared = symbols_declaration_at(symbols, start, &file, &line);
    if (declared < 0) return declared;
    if (!declared) return rsc_profile_set_text(&row->name, name);
    snprintf(text, sizeof text, "%s (%s:%u)", name, base_name(file), (unsigned)line);
    return rsc_profile_set_text(&row->name, text);
}

static int name_object(struct rsc_symbols *symbols, const struct rsc_profile *profile, struct rsc_object_row *row) {
    if (row->kind && !strcmp(row->kind, "global")) return name_global(symbols, row);
    if (row->kind && !strcmp(row->kind, "heap")) return name_heap(symbols, profile, row);
    return 0;
}

/* The same for the data of a pair. */
static int name_pair_object(struct rsc_symbols *symbols, const struct rsc_profile *profile, struct rsc_pair_row *pair) {
    struct rsc_object_row row = {.name = pair->object, .kind = pair->object_kind, .context = pair->object_context};
    int rc = pair->object ? name_object(symbols, profile, &row) : 0;
    pair->object = row.name;
    return rc;
}

/* A line gets the name of the object that contains it. */
static int name_line(struct rsc_symbols *symbols, const struct rsc_profile *profile, struct rsc_line_row *line) {
    struct rsc_object_row row = {.name = line->object, .kind = line->object_kind, .context = line->context};
    int rc = line->object ? name_object(symbols, profile, &row) : 0;
    line->object = row.name;
    return rc;
}

/*
 * A line may hold several variables. Named are those whose bytes the threads used, separated by commas; at most
 * RSC_SHARING_USERS_MAX of them.
 */
static int name_used_variables(struct rsc_symbols *symbols, struct rsc_false_sharing_row *line) {
    char text[1024] = "";
    size_t used = 0;
    int rc = 0;
    for (size_t i = 0; i < line->user_count && used < sizeof text; i++) {
        char address[32];
        struct rsc_object_row row = {0};
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)(line->address + line->users[i].first_byte));
        if (!(rc = rsc_profile_set_text(&row.name, address))) rc = name_global(symbols, &row);
        if (!rc && strcmp(row.name, address) && !strstr(text, row.name))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", row.name);
        free(row.name);
        if (rc) return rc;
    }
    return used ? rsc_profile_set_text(&line->object, text) : 0;
}

static int name_false_sharing(struct rsc_symbols *symbols, const struct rsc_profile *profile,
                              struct rsc_false_sharing_row *line) {
    struct rsc_object_row row = {.name = line->object, .kind = line->object_kind, .context = line->context};
    int rc = line->object ? name_object(symbols, profile, &row) : 0;
    line->object = row.name;
    if (!rc && line->object_kind && !strcmp(line->object_kind, "global")) rc = name_used_variables(symbols, line);
    for (size_t i = 0; !rc && i < line->place_count; i++) {
        rc = rsc_symbols_place(symbols, &line->places[i].writer, NULL, NULL);
        if (!rc) rc = rsc_symbols_place(symbols, &line->places[i].victim, NULL, NULL);
    }
    return rc;
}

static int name_code(struct rsc_symbols *symbols, struct rsc_code_row *row) {
    struct rsc_place *inlined;
    size_t count;
    if (rsc_place_is_other(&row->place)) return 0;
    int rc = rsc_symbols_place(symbols, &row->place, &inlined, &count);
    if (rc || !count) return rc;
    symbols_free_places(row->inlined_into, row->inlined_count);
    row->inlined_into = inlined;
    row->inlined_count = count;
    return 0;
}

int symbols_for_each_place(struct rsc_profile *profile, int (*visit)(void *context, struct rsc_place *place),
                           void *context) {
    int rc = 0;
    for (size_t i = 0; !rc && i < profile->code_count; i++) rc = visit(context, &profile->code[i].place);
    for (size_t i = 0; !rc && i < profile->pair_count; i++) {
        rc = visit(context, &profile->pairs[i].use);
        if (!rc) rc = visit(context, &profile->pairs[i].reuse);
    }
    for (size_t i = 0; !rc && i < profile->context_count; i++) rc = visit(context, &profile->contexts[i].place);
    return rc;
}

/* The pcs of a profile, which are resolved together. */
struct all_pcs {
    uint64_t *pcs; /* owned */
    size_t count;
};

static int take_pc(void *context, struct rsc_place *place) {
    struct all_pcs *all = context;
    if (!rsc_place_is_other(place)) all->pcs[all->count++] = place->pc;
    return 0;
}

static int resolve_all(struct rsc_symbols *symbols, struct rsc_profile *profile) {
    size_t places = profile->code_count + 2 * profile->pair_count + profile->context_count;
    struct all_pcs all = {.pcs = malloc((places + 1) * sizeof *all.pcs)};
    if (!all.pcs) return RSC_ENOMEM;
    symbols_for_each_place(profile, take_pc, &all);
    int rc = symbols_resolve(symbols, all.pcs, all.count);
    free(all.pcs);
    return rc;
}

int rsc_symbols_name_profile(struct rsc_symbols *symbols, struct rsc_profile *profile, struct rsc_error *error) {
    int rc = resolve_all(symbols, profile);
    for (size_t i = 0; !rc && i < profile->code_count; i++) rc = name_code(symbols, &profile->code[i]);
    if (!rc) symbols_join_code(profile);
    for (size_t i = 0; !rc && i < profile->pair_count; i++) {
        rc = rsc_symbols_place(symbols, &profile->pairs[i].use, NULL, NULL);
        if (!rc) rc = rsc_symbols_place(symbols, &profile->pairs[i].reuse, NULL, NULL);
    }
    if (!rc) rc = symbols_name_contexts(symbols, profile);
    for (size_t i = 0; !rc && i < profile->object_count; i++) rc = name_object(symbols, profile, &profile->objects[i]);
    for (size_t i = 0; !rc && i < profile->pair_count; i++) rc = name_pair_object(symbols, profile, &profile->pairs[i]);
    if (!rc) rc = symbols_find_loops(symbols, profile);
    for (size_t i = 0; !rc && i < profile->line_count; i++) rc = name_line(symbols, profile, &profile->lines[i]);
    for (size_t i = 0; !rc && i < profile->false_sharing_count; i++)
        rc = name_false_sharing(symbols, profile, &profile->false_sharing[i]);
    return rc ? rsc_fail_memory(error, "names of a profile") : 0;
}

#endif
