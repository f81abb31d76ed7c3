/*
 * text_reader.h - the source of every text format: a format only parses its lines.
 *
 * Batches end where blocks of lines do, so that they are the same if several threads
 * parse blocks (trace/pieces.h).
 *
 * A format's reader starts with a struct rsc_text_reader, and its parse function takes
 * lines from `lines` and puts accesses into the columns. Everything else (opening,
 * blocks, batches, bad lines, the end) is done here.
 */
#ifndef RSC_TRACE_FORMATS_TEXT_READER_H
#define RSC_TRACE_FORMATS_TEXT_READER_H

#include "trace/formats/readers.h"
#include "trace/formats/text_lines.h"
#include "trace/pieces.h"

struct rsc_text_reader;

struct rsc_text_format {
    const char *name;    /* for messages */
    const char *source;  /* in the trace's info; NULL: not known */
    int has_pc;          /* `start` may change that of the reader */
    int has_threads;     /* likewise */
    size_t reader_bytes; /* of the struct that starts with the reader */
    /* Reads what precedes the accesses; NULL: nothing does. Returns 0 or negative. */
    int (*start)(struct rsc_text_reader *reader, struct rsc_error *error);
    /*
     * Takes lines until the batch is full, the block empty or a line bad (sets `problem`).
     * Returns the accesses in the batch, which has `count` before.
     */
    uint32_t (*parse)(struct rsc_text_reader *reader, uint32_t count);
    /* At the end of the file, after the last batch: warnings; NULL: none. Returns 0 or negative. */
    int (*finish)(struct rsc_text_reader *reader, struct rsc_error *error);
    /* A file without a last '\n' is an error if a cut could have shortened its last line (`cuttable`); 0: a warning. */
    int ends_in_newline;
    /*
     * For several threads, each of which parses some blocks of lines with a reader of its own: `begin` (NULL: nothing to
     * do) prepares that reader for a block, and `join` adds what it found to `all`, in order, with the block's accesses.
     * If the threads make parts, view->meta and view->pc are NULL.
     */
    void (*begin)(struct rsc_text_reader *part);
    /*
     * NULL, or where lines belong together: the end of the first lines of [cursor, limit) that can do without those that
     * follow, cursor if all need more; and whether these lines change what those of later blocks mean, which `begin` finds
     * in part->carried.
     */
    const char *(*hold)(const char *cursor, const char *limit);
    int (*carry)(const char *cursor, const char *limit);
    void (*join)(struct rsc_text_reader *all, const struct rsc_text_reader *part, struct rsc_piece_view *view);
};

struct rsc_text_reader {
    struct rsc_source source;
    const struct rsc_text_format *format;
    const struct rsc_log *log;
    const char *columns; /* as --columns gives them; NULL: not given */
    struct rsc_text_lines lines;
    struct rsc_thread_table threads; /* empty: the format has no threads */
    const char *problem; /* of the line at lines.cursor; NULL: none */
    const char *cuttable; /* where the last line that a cut could have shortened ended; NULL: none */
    int failure; /* code for a bad line: RSC_EFORMAT, or why no thread could be added */
    int has_pc, has_threads;
    int carried; /* what format->carry() found in the blocks before */
    int fetches_seen;
    uint64_t fetches; /* in the batch */
    int ends_cuttable; /* of a file read in blocks: `cuttable` was its end */
    struct rsc_text_reader *fresh; /* owned: the reader before the first block, which others start from */
    uint64_t *addr, *meta, *pc; /* columns of the batch; addr owns all three, unless a thread's own are used */
};

int rsc_text_reader_open(struct rsc_source **out, const struct rsc_text_format *format, struct rsc_input *input,
                         const struct rsc_reader_options *options, struct rsc_error *error);

/* The number of a thread; negative if there is none, with problem and failure set. */
int64_t rsc_text_reader_thread(struct rsc_text_reader *reader, uint64_t pid, uint64_t tid);

#endif
