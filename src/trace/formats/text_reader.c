/* text_reader.c - see text_reader.h. */
#include "trace/formats/text_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/*
 * A number at the end of a file without a last '\n' may have lost digits. Formats that a program writes always end in
 * one; what people write often does not.
 */
static int check_end(const struct rsc_text_reader *reader, struct rsc_error *error) {
    const struct rsc_text_lines *lines = &reader->lines;
    const char *name = rsc_input_name(lines->input);
    uint64_t end = rsc_input_offset(lines->input);
    if (!lines->unended || !(reader->ends_cuttable || reader->cuttable == lines->cursor)) return 0;
    if (reader->format->ends_in_newline)
        return rsc_fail_at(error, RSC_EFORMAT, end, "%s: cut at byte %" PRIu64 ", inside a line (%s)", name, end,
                           reader->format->name);
    rsc_log_line(reader->log, RSC_LOG_WARNING, "%s: no newline at the end: the last line may be cut (%s)", name,
                 reader->format->name);
    return 0;
}

static int finish(struct rsc_text_reader *reader, struct rsc_error *error) {
    int status = check_end(reader, error);
    return status || !reader->format->finish ? status : reader->format->finish(reader, error);
}

/* Makes a batch of `count` accesses parsed. 1, 0 if there are none, or negative. */
static int make_batch(struct rsc_text_reader *reader, uint32_t count, struct rsc_batch *batch,
                      struct rsc_error *error) {
    if (count == 0 && reader->problem)
        return rsc_text_lines_fail(&reader->lines, reader->failure, reader->problem, error);
    if (count == 0) return 0;
    reader->problem = NULL; /* the line is met again at the next call */
    *batch = (struct rsc_batch){.count = count,
                                .addr = reader->addr,
                                .meta = reader->meta,
                                .pc = reader->has_pc ? reader->pc : NULL,
                                .threads = reader->threads.threads,
                                .thread_count = reader->threads.count,
                                .instructions = rsc_instructions_of(reader->fetches, &reader->fetches_seen)};
    return 1;
}

/* Makes sure there is a line. Lines that wait for others are left to the next block, unless it is the last one. */
static int fill(struct rsc_text_reader *reader, struct rsc_error *error) {
    struct rsc_text_lines *lines = &reader->lines;
    const int fresh = lines->cursor == lines->limit;
    int status = rsc_text_lines_fill(lines, error);
    if (status <= 0 || !fresh || !reader->format->hold || lines->ended || lines->nul) return status;
    const char *end = reader->format->hold(lines->cursor, lines->limit);
    if (end > lines->cursor && lines->filled - end <= RSC_TEXT_LINE_MAX) lines->limit = end;
    return status;
}

static int text_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_text_reader *reader = (struct rsc_text_reader *)source;
    const struct rsc_text_lines *lines = &reader->lines;
    uint32_t count = 0;
    if (!reader->addr) {
        reader->addr = malloc(3 * RSC_BATCH_ACCESSES * sizeof *reader->addr);
        if (!reader->addr) return rsc_fail_memory(error, "trace reader");
        reader->meta = reader->addr + RSC_BATCH_ACCESSES;
        reader->pc = reader->meta + RSC_BATCH_ACCESSES;
    }
    reader->fetches = 0;
    do {
        int status = fill(reader, error);
        if (status < 0 && count == 0) return status;
        if (status <= 0) break;
        count = reader->format->parse(reader, count);
    } while (!reader->problem && lines->cursor == lines->limit && !count);
    int status = make_batch(reader, count, batch, error);
    return status ? status : finish(reader, error);
}

static void text_info(struct rsc_source *source, struct rsc_trace_info *info) {
    const struct rsc_text_reader *reader = (const struct rsc_text_reader *)source;
    if (reader->format->source) info->source = reader->format->source;
    info->has_pc = reader->has_pc;
}

static void text_close(struct rsc_source *source) {
    struct rsc_text_reader *reader = (struct rsc_text_reader *)source;
    rsc_text_lines_close(&reader->lines);
    rsc_thread_table_free(&reader->threads);
    free(reader->addr);
    free(reader->fresh);
    free(reader);
}

/* ---- blocks of lines parsed by several threads ---- */

struct text_block {
    struct rsc_text_lines lines; /* owned */
    struct rsc_text_reader *end; /* owned: the reader of the thread that parsed it, as it then was */
    int carried;                 /* of the blocks before */
};

static void block_free(void *piece) {
    struct text_block *block = piece;
    rsc_text_lines_close(&block->lines);
    if (block->end) rsc_thread_table_free(&block->end->threads);
    free(block->end);
}

static int take_block(struct rsc_source *source, void *piece, struct rsc_error *error) {
    struct rsc_text_reader *reader = (struct rsc_text_reader *)source;
    struct text_block *block = piece;
    int status = fill(reader, error);
    if (status <= 0) return status;
    block->carried = reader->carried;
    if (reader->format->carry && !reader->carried)
        reader->carried = reader->format->carry(reader->lines.cursor, reader->lines.limit);
    if (!block->end) block->end = calloc(1, reader->format->reader_bytes);
    if (!block->end || rsc_text_lines_cut(&reader->lines, &block->lines) < 0)
        return rsc_fail_memory(error, "trace reader");
    return 1;
}

/* A thread parses each block in that block's own copy of the reader. */
struct text_worker {
    const struct rsc_text_reader *fresh;
    struct rsc_text_reader *reader; /* of the block */
};

static int worker_new(void **out, struct rsc_source *source, struct rsc_error *error) {
    struct text_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return rsc_fail_memory(error, "trace reader");
    worker->fresh = ((struct rsc_text_reader *)source)->fresh;
    *out = worker;
    return 0;
}

static int worker_start(void *to, void *piece, struct rsc_error *error) {
    struct text_worker *worker = to;
    struct text_block *block = piece;
    (void)error;
    rsc_thread_table_free(&block->end->threads);
    memcpy(block->end, worker->fresh, worker->fresh->format->reader_bytes);
    worker->reader = block->end;
    worker->reader->lines = block->lines;
    worker->reader->carried = block->carried;
    if (worker->reader->format->begin) worker->reader->format->begin(worker->reader);
    return 0;
}

static int worker_next(void *from, const struct rsc_columns *to, struct rsc_batch *batch, uint64_t *index,
                       struct rsc_error *error) {
    struct rsc_text_reader *reader = ((struct text_worker *)from)->reader;
    reader->addr = to->addr;
    reader->meta = to->meta;
    reader->pc = to->pc;
    *index = RSC_UNKNOWN;
    reader->fetches = 0;
    uint32_t count = reader->lines.cursor < reader->lines.limit ? reader->format->parse(reader, 0) : 0;
    int status = make_batch(reader, count, batch, error);
    reader->ends_cuttable = reader->cuttable == reader->lines.cursor;
    return status;
}

/* Thread numbers of a block become those of the file, in order of appearance. */
static int settle_threads(struct rsc_text_reader *all, const struct rsc_text_reader *part, struct rsc_piece_view *view,
                          struct rsc_error *error) {
    uint32_t count = part->threads.count;
    uint64_t *numbers = malloc((count + 1) * sizeof *numbers);
    if (!numbers) return rsc_fail_memory(error, "threads");
    int64_t number = 0;
    for (uint32_t i = 0; i < count && number >= 0; i++) {
        number = rsc_thread_number(&all->threads, part->threads.threads[i].pid, part->threads.threads[i].tid);
        numbers[i] = (uint64_t)number << 40;
    }
    for (uint64_t i = 0; number >= 0 && i < view->count; i++)
        view->meta[i] = (view->meta[i] & 0xffffffffffull) | numbers[rsc_meta_thread(view->meta[i])];
    free(numbers);
    view->threads = all->threads.threads;
    view->thread_count = all->threads.count;
    if (number >= 0) return 0;
    return number == RSC_ENOMEM ? rsc_fail_memory(error, "threads")
                                : rsc_fail(error, RSC_ELIMIT, "%s: too many threads", rsc_input_name(all->lines.input));
}

static int settle_block(struct rsc_source *source, void *piece, struct rsc_piece_view *view, struct rsc_error *error) {
    struct rsc_text_reader *all = (struct rsc_text_reader *)source;
    const struct rsc_text_reader *part = ((struct text_block *)piece)->end;
    if (all->fetches_seen) {
        *view->full_known = 1;
        for (uint32_t i = 0; i < view->batch_count; i++)
            if (view->batches[i].instructions == RSC_UNKNOWN) view->batches[i].instructions = 0;
    }
    all->fetches_seen |= part->fetches_seen;
    all->ends_cuttable = part->ends_cuttable;
    all->format->join(all, part, view);
    return part->threads.count ? settle_threads(all, part, view, error) : 0;
}

static int finish_blocks(struct rsc_source *source, struct rsc_error *error) {
    return finish((struct rsc_text_reader *)source, error);
}

/* Without threads, nothing but pcs and instructions depends on the blocks before. */
#define BLOCKS(threads)                        \
    {.piece_bytes = sizeof(struct text_block), \
     .piece_free = block_free,                 \
     .take = take_block,                       \
     .worker_new = worker_new,                 \
     .worker_free = free,                      \
     .start = worker_start,                    \
     .next = worker_next,                      \
     .settle = settle_block,                   \
     .finish = finish_blocks,                  \
     .no_parts = (threads)}
static const struct rsc_piece_kind blocks = BLOCKS(0), blocks_with_threads = BLOCKS(1);

static const struct rsc_source_ops block_ops = {text_next, NULL, text_info, text_close, &blocks};
static const struct rsc_source_ops thread_ops = {text_next, NULL, text_info, text_close, &blocks_with_threads};

int rsc_text_reader_open(struct rsc_source **out, const struct rsc_text_format *format, struct rsc_input *input,
                         const struct rsc_reader_options *options, struct rsc_error *error) {
    struct rsc_text_reader *reader = calloc(1, format->reader_bytes);
    if (!reader) return rsc_fail_memory(error, "trace reader");
    reader->format = format;
    reader->log = options ? options->log : NULL;
    reader->columns = options ? options->columns : NULL;
    reader->failure = RSC_EFORMAT;
    reader->has_pc = format->has_pc;
    reader->has_threads = format->has_threads;
    int status = rsc_text_lines_open(&reader->lines, input, format->name, error);
    if (status == 0 && format->start) status = format->start(reader, error);
    reader->source.ops = reader->has_threads ? &thread_ops : &block_ops;
    reader->fresh = malloc(format->reader_bytes);
    if (!reader->fresh && !status) status = rsc_fail_memory(error, "trace reader");
    if (!status) memcpy(reader->fresh, reader, format->reader_bytes);
    if (status < 0) text_close(&reader->source);
    else *out = &reader->source;
    return status;
}

int64_t rsc_text_reader_thread(struct rsc_text_reader *reader, uint64_t pid, uint64_t tid) {
    int64_t thread = rsc_thread_number(&reader->threads, pid, tid);
    if (thread < 0) {
        reader->failure = (int)thread;
        reader->problem = thread == RSC_ENOMEM ? "out of memory for another thread" : "too many threads";
    }
    return thread;
}
