/* engine_table.h - the table of engines, and the engines of this room. */
#ifndef RSC_ENGINE_ENGINE_TABLE_H
#define RSC_ENGINE_ENGINE_TABLE_H

#include "distance/engine_kind.h"

/* All engines, in the order of help, ending with NULL. */
extern const struct rsc_engine_kind *const rsc_engine_kinds[];

/* Aliases for a parameter of an engine: "aet:0.01" is "time:aet:0.01". Ends with a NULL name. */
struct rsc_engine_alias {
    const char *name;
    const struct rsc_engine_kind *kind;
};
extern const struct rsc_engine_alias rsc_engine_aliases[];

extern const struct rsc_engine_kind rsc_engine_auto;         /* engine_auto.c */
extern const struct rsc_engine_kind rsc_engine_featherlight; /* engine_featherlight.c */

#endif
