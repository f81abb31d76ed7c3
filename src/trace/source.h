/*
 * source.h - the inside of a trace: a chain of sources that pass on batches.
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
struct rsc_piece_kind;

struct rsc_source_ops {
    /* 1 and a batch, 0 at the end, or negative. Never called again after 0 or an error. */
    int (*next)(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error);
    /* NULL: cannot seek. */
    int (*seek)(struct rsc_source *source, uint64_t index, struct rsc_error *error);
    /* Replaces the defaults in *info by what the source knows. */
    void (*info)(struct rsc_source *source, struct rsc_trace_info *info);
    /* Frees the source and what it owns (not its input). */
    void (*close)(struct rsc_source *source);
    /* How it falls into pieces, pieces.h. NULL: it does not. */
    const struct rsc_piece_kind *pieces;
};

struct rsc_source {
    const struct rsc_source_ops *ops;
    uint32_t keeps; /* a batch outlives this many further calls of next; 0: none */
};

/*
 * Sets *access to the access before which `instruction` instructions of the
 * unfiltered trace were executed, by the index and, inside a frame, by its marks and
 * fetches (rsct_locate.h). Past the end: the number of accesses. Works only for seekable
 * native traces with instruction counts (RSC_EUNSUPPORTED otherwise).
 */
int rsc_trace_locate(struct rsc_trace *trace, uint64_t instruction, uint64_t *access, struct rsc_error *error);

/*
 * What the threads that decode a trace make of it (pieces.h), in place of batches. `create`, `begin` and `take` are
 * called in those threads, for one part by one thread at a time.
 */
struct rsc_part_kind {
    const void *context;
    void *(*create)(const void *context); /* NULL: out of memory */
    void (*begin)(void *part);            /* empties it */
    int (*take)(void *part, const struct rsc_batch *batch, struct rsc_error *error);
    void (*destroy)(void *part);
};

/*
 * Has the trace make parts instead of batches, which its caller takes with rsc_trace_next_part() from then on. Before
 * the first batch. Returns whether it can: with decode_ahead, if the format falls into pieces and no filter counts
 * accesses. What `kind` refers to must live until rsc_trace_end_parts() or rsc_trace_close().
 */
int rsc_trace_use_parts(struct rsc_trace *trace, const struct rsc_part_kind *kind);

/* Memory that the threads use for decoded accesses now, at most. */
uint64_t rsc_trace_reading_bytes(struct rsc_trace *trace);

/* Ends the threads and frees the parts; nothing can be read afterwards. */
void rsc_trace_end_parts(struct rsc_trace *trace);

/* The next part, in order; the batch has its accesses' number, instructions and threads, but no columns. */
int rsc_trace_next_part(struct rsc_trace *trace, void **part, const struct rsc_batch **batch, struct rsc_error *error);

/* Options of a reader. */
struct rsc_reader_options {
    const struct rsc_log *log;
    int salvage;
    int without_pcs, without_events; /* not needed; a reader may deliver them anyway */
    const char *columns; /* csv: which columns there are; NULL: as its header says */
    int workers; /* threads that may decode; 0: the caller's only */
};

/* Does a file that starts with these decompressed bytes have this format? `whole`: the file has no more bytes. */
typedef int rsc_format_matches(const unsigned char *head, size_t bytes, int whole);

/* Opens a source of this format. Does not take ownership of input. */
typedef int rsc_format_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                            struct rsc_error *error);

/* A format that can be read. */
struct rsc_format {
    const char *name;
    const char *what;            /* one line for help */
    rsc_format_matches *matches; /* NULL: only by name (--from) */
    rsc_format_open *open;
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
