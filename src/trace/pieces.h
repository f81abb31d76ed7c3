/*
 * pieces.h - decodes a trace with several threads.
 *
 * A reader whose file falls into pieces that can be decoded separately (frames of a
 * native trace, ranges of records, blocks of lines) describes them with a struct
 * rsc_piece_kind. Pieces are read in order, by one thread at a time; each is then decoded
 * by one of several workers, filtered there, and handed over in order: what comes out
 * does not depend on the number of workers. At most workers + 2 pieces are in memory.
 *
 * Whoever reduces a trace to little (a sample of lines, of sets) can do that in the
 * workers too: a struct rsc_part_kind makes one part of each piece, from batches that
 * are still in the worker's cache and never leave it.
 */
#ifndef RSC_TRACE_PIECES_H
#define RSC_TRACE_PIECES_H

#include "trace/source.h"

/* Columns of RSC_BATCH_ACCESSES each, aligned to 64 bytes, that a batch is decoded into. */
struct rsc_columns {
    uint64_t *addr, *meta, *pc;
};

/* A batch of a decoded piece: its accesses and events follow those of the batch before it. */
struct rsc_piece_batch {
    uint32_t count, event_count;
    uint64_t instructions;
    const uint64_t *addr, *meta; /* where its columns are; NULL: in those of the piece */
};

/* A decoded piece, of which `settle` may change all but the number of accesses. */
struct rsc_piece_view {
    struct rsc_piece_batch *batches;
    uint32_t batch_count;
    uint64_t *meta, *pc; /* of its accesses in order, after the filter; pc NULL: none */
    uint64_t count;
    const struct rsc_thread *threads; /* of all pieces so far; NULL: as the workers had them */
    uint32_t thread_count;
    int *full_known; /* whether all instructions of the unfiltered piece are known */
};

struct rsc_piece_kind {
    size_t piece_bytes; /* of the reader's struct for a piece, zeroed at first and reused */
    void (*piece_free)(void *piece); /* frees what it holds */
    /* Reads the next piece: in order, one call at a time. 1, 0 at the end of the trace, or negative. */
    int (*take)(struct rsc_source *reader, void *piece, struct rsc_error *error);
    /* What a thread needs to decode. */
    int (*worker_new)(void **worker, struct rsc_source *reader, struct rsc_error *error);
    void (*worker_free)(void *worker);
    /* Starts a piece, which stays until its last batch was taken. */
    int (*start)(void *worker, void *piece, struct rsc_error *error);
    /*
     * Its next batch, in `to`; events and threads stay valid until the next call. *index is the number of its first
     * access in the trace, or RSC_UNKNOWN. 1, 0 at the end of the piece, or negative.
     */
    int (*next)(void *worker, const struct rsc_columns *to, struct rsc_batch *batch, uint64_t *index,
                struct rsc_error *error);
    /* At handover, in order: what depends on the pieces before it. NULL: nothing does. */
    int (*settle)(struct rsc_source *reader, void *piece, struct rsc_piece_view *view, struct rsc_error *error);
    /* After the last piece: warnings and what is missing; NULL: none. Returns 0 or negative. */
    int (*finish)(struct rsc_source *reader, struct rsc_error *error);
    int indexed; /* `next` knows the index */
    int no_parts; /* `settle` must be done before a batch is used: no parts can be made */
    int lasting; /* columns of a batch that are not in `to` last as long as the piece: they are not copied */
};

/* Whether the workers can apply this filter: not if it counts accesses and they do not know their index. */
int rsc_pieces_can_filter(const struct rsc_piece_kind *kind, const struct rsc_filter *filter);

/*
 * A source of what `reader`, which it owns and closes, reads, decoded by `workers` threads and filtered by `filter`
 * (NULL: not; else rsc_pieces_can_filter()). Threads start with the first call of next.
 */
int rsc_pieces_open(struct rsc_source **out, struct rsc_source *reader, const struct rsc_filter *filter,
                    uint32_t workers, struct rsc_error *error);

/* Memory for decoded accesses now, at most. */
uint64_t rsc_pieces_bytes(struct rsc_source *source);

/* Makes parts of pieces from now on, instead of batches. Before the first call of next. */
void rsc_pieces_use_parts(struct rsc_source *source, const struct rsc_part_kind *kind);

/* Ends the threads and frees the parts. */
void rsc_pieces_end_parts(struct rsc_source *source);

/* The part of the next piece. The batch has its number of accesses, instructions and threads, and no columns. */
int rsc_pieces_next_part(struct rsc_source *source, void **part, struct rsc_batch *batch, struct rsc_error *error);

#endif
