/*
 * variable_events.h - announces the large variables of mapped files to whoever counts by object.
 *
 * A static array of a million lines is one object, as a heap block is. Its address and size are in the symbol table of
 * its file, so a batch that maps files gets an event (trace/variable_event.h) for each of their large variables, after
 * the MAP event. Data without symbols is announced in stretches, as far as they reach. Small variables are not worth
 * an event: they are counted by line, and named afterwards.
 */
#ifndef RSC_COLLECT_SYMBOLS_VARIABLE_EVENTS_H
#define RSC_COLLECT_SYMBOLS_VARIABLE_EVENTS_H

#include <reusescope/trace.h>

#include "collect/symbols/symbols.h"
#include "trace/batch_columns.h"

/* From this size on a variable has its own event: 16 lines. */
#define RSC_LARGE_VARIABLE 1024u

/* Events of one run; a trace may map one file as often as it likes. */
#define RSC_VARIABLE_EVENTS_MAX (1u << 20)

struct rsc_variable_events {
    struct rsc_symbols *symbols; /* of everything that was mapped; NULL: none yet. Owned */
    int unavailable;             /* this build has no symbols */
    uint32_t announced;          /* events so far */
    /* The last batch with its variables: */
    struct rsc_batch batch;
    struct rsc_batch_columns columns;
    struct rsc_event *events; /* owned */
    size_t count, room;
    struct rsc_sample_record *samples; /* owned */
};

/*
 * Replaces *batch and *columns (NULL: there are none), if files are mapped in the batch, by copies with more events that
 * last until the next call. Options are read when the first file is mapped. Returns 0 or RSC_ENOMEM.
 */
int rsc_variable_events_add(struct rsc_variable_events *variables, const struct rsc_symbols_options *options,
                            const struct rsc_batch **batch, const struct rsc_batch_columns **columns);

/* A zeroed struct may always be freed. */
void rsc_variable_events_free(struct rsc_variable_events *variables);

#endif
