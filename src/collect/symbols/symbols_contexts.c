/*
 * symbols_contexts.c - call paths with the functions that the compiler inlined.
 *
 * A call site inside an inlined body is one address, but several frames: the body, and what it was inlined into. Each
 * of these becomes a node of its own, so that callers are not lost: main calling an inlined f that calls g is
 * main, f, g.
 */
#include "collect/symbols/symbols_module.h"

#ifdef RSC_HAVE_LIBDW

#include <stdlib.h>

#include "profile/profile_rows.h"

/* What a call site was inlined into, innermost first. */
struct around {
    struct rsc_place *places;
    size_t count;
};

static int find_around(struct rsc_symbols *symbols, struct rsc_profile *profile, struct around *around, size_t *more) {
    for (size_t i = 0; i < profile->context_count; i++) {
        struct rsc_place *place = &profile->contexts[i].place;
        int rc = rsc_symbols_place(symbols, place, &around[i].places, &around[i].count);
        if (rc) return rc;
        *more += around[i].count;
    }
    return 0;
}

/* The new rows, and in at[] where the old ones went; places move over. */
static void spread(struct rsc_profile *profile, struct around *around, struct rsc_context_row *rows, uint32_t *at) {
    uint32_t next = 0;
    for (size_t i = 0; i < profile->context_count; i++) {
        uint32_t old = profile->contexts[i].parent, parent = old < i ? at[old] : RSC_NO_CONTEXT;
        for (size_t k = around[i].count; k-- > 0;) {
            rows[next] = (struct rsc_context_row){parent, around[i].places[k]};
            around[i].places[k] = (struct rsc_place){0};
            parent = next++;
        }
        rows[next] = (struct rsc_context_row){parent, profile->contexts[i].place};
        at[i] = next++;
    }
}

static void move(uint32_t *context, const uint32_t *at, size_t count) {
    if (*context < count) *context = at[*context];
}

static void move_all(struct rsc_profile *profile, const uint32_t *at, size_t count) {
    for (size_t i = 0; i < profile->pair_count; i++) {
        move(&profile->pairs[i].use_context, at, count);
        move(&profile->pairs[i].reuse_context, at, count);
        move(&profile->pairs[i].object_context, at, count);
    }
    for (size_t i = 0; i < profile->object_count; i++) move(&profile->objects[i].context, at, count);
    for (size_t i = 0; i < profile->line_count; i++) move(&profile->lines[i].context, at, count);
    for (size_t i = 0; i < profile->false_sharing_count; i++) move(&profile->false_sharing[i].context, at, count);
}

int symbols_name_contexts(struct rsc_symbols *symbols, struct rsc_profile *profile) {
    size_t count = profile->context_count, more = 0;
    struct around *around = calloc(count + 1, sizeof *around);
    uint32_t *at = malloc((count + 1) * sizeof *at);
    struct rsc_context_row *rows = NULL;
    int rc = around && at ? find_around(symbols, profile, around, &more) : RSC_ENOMEM;
    if (!rc && more && count + more <= RSC_PROFILE_ROWS_MAX) {
        rows = calloc(count + more, sizeof *rows);
        if (!rows) rc = RSC_ENOMEM;
    }
    if (rows) {
        spread(profile, around, rows, at);
        move_all(profile, at, count);
        free(profile->contexts);
        profile->contexts = rows;
        profile->context_count = count + more;
    }
    for (size_t i = 0; around && i < count; i++) symbols_free_places(around[i].places, around[i].count);
    free(around);
    free(at);
    return rc;
}

#endif
