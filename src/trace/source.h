/*
 * source.h - the inside of a trace: a chain of sources that hand on batches.
 *
 * A reader is a source over an rsc_input (decompressed bytes); a filter or the
 * decode-ahead thread is a source over another source. Each fills a batch whose
 * columns it owns and keeps valid until its next call.
 */
#ifndef RSC_TRACE_SOURCE_H
#define RSC_TRACE_SOURCE_H

#include <reusescope/trace.h>

#include "trace/formats/input.h"

/* Accesses a reader puts into one batch: 3 columns of it stay inside a 1 MiB L2 cache. */
#define RSC_BATCH_ACCESSES 16384u

struct rsc_source;

struct rsc_source_ops {
    /* 1 and a batch, 0 at the end, or negative. Never called again after 0 or an error. */
    int (*next)(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error);
    /* NULL: cannot seek. */
    int (*seek)(struct rsc_source *source, uint64_t index, struct rsc_error *error);
    /* Fills in what it knows better than the defaults already there. */
    void (*info)(struct rsc_source *source, struct rsc_trace_info *info);
    /* Frees the source and what it owns (not its input). */
    void (*close)(struct rsc_source *source);
};

struct rsc_source {
    const struct rsc_source_ops *ops;
    uint32_t keeps; /* a batch outlives this many further calls of next; 0: none */
};

/*
 * The access before which `instruction` instructions of the unfiltered trace were
 * executed, by the index: inside a frame instructions are taken to be spread
 * evenly over the accesses. Past the end: the number of accesses. Only native
 * traces that can be sought in and have instruction counts can tell
 * (RSC_EUNSUPPORTED otherwise).
 */
int rsc_trace_locate(struct rsc_trace *trace, uint64_t instruction, uint64_t *access, struct rsc_error *error);

/* What a reader is told beyond its input. */
struct rsc_reader_options {
    const struct rsc_log *log;
    int salvage;
    int without_pcs, without_events; /* nobody will look at them; a reader may give them all the same */
    int ahead; /* all will be read: a reader may prepare what is to come in a thread of its own */
};

/* A format that can be read. */
struct rsc_format {
    const char *name;
    const char *what; /* one line for help */
    /*
     * Does a file that opens with these decompressed bytes have this format?
     * `whole` says that there are no more. NULL: only by name (--from).
     */
    int (*matches)(const unsigned char *head, size_t bytes, int whole);
    /* Does not take ownership of input. */
    int (*open)(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                struct rsc_error *error);
};

/* All formats, ending with a NULL name; formats.c. */
extern const struct rsc_format rsc_formats[];

/* The thread table of a reader: (pid, tid) pairs numbered in order of appearance. */
struct rsc_thread_table {
    struct rsc_thread *threads; /* owned */
    uint32_t count, room;
    uint32_t last; /* number found last: runs of one thread cost one compare */
};
/* The number of (pid, tid), added if new. Negative: RSC_ENOMEM or RSC_ELIMIT. */
int64_t rsc_thread_number(struct rsc_thread_table *table, uint64_t pid, uint64_t tid);
void rsc_thread_table_free(struct rsc_thread_table *table);

#endif
