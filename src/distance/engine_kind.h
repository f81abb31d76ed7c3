/*
 * engine_kind.h - the one interface behind which every engine lives.
 *
 * An engine is made from validated options, takes batches, and ends in a
 * profile whose `made.by`, `made.model` and numbers it fills; engine.c fills the
 * rest of `made` and seals.
 */
#ifndef RSC_DISTANCE_ENGINE_KIND_H
#define RSC_DISTANCE_ENGINE_KIND_H

#include <reusescope/engine.h>

struct rsc_engine_kind {
    const char *name;
    const char *what; /* one line for help */
    int (*create)(void **state, const struct rsc_engine_options *options, struct rsc_error *error);
    int (*push)(void *state, const struct rsc_batch *batch, struct rsc_error *error);
    /* *out is not sealed. */
    int (*finish)(void *state, struct rsc_profile **out, struct rsc_error *error);
    void (*destroy)(void *state); /* NULL is allowed */
};

extern const struct rsc_engine_kind rsc_engine_exact;

/* All engines, ending with NULL; engine.c. */
extern const struct rsc_engine_kind *const rsc_engine_kinds[];

#endif
