/* record_reader.c - see record_reader.h. */
#include "trace/formats/record_reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fail.h"

/*
 * A piece has about this many bytes, and some batches at least. Handing over a piece has a cost, and a device that computes
 * for a while needs several million references ready: of raw64 with pieces of 1 MiB, sixteen threads did not have them.
 */
#define PIECE_BYTES (4u << 20)
#define BATCHES_LEAST 8u

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files' byte order is the machine's");

/* Records read at once, and how far they are decoded. */
struct record_range {
    unsigned char *bytes; /* owned */
    uint64_t offset;      /* in the input */
    uint64_t count;       /* bytes in it */
    uint64_t done;        /* bytes decoded */
    uint64_t read;        /* bytes that are there */
    const char *problem;  /* of the record at `done`; NULL: none */
    uint64_t notes;
};

struct record_reader {
    struct rsc_source source;
    const struct rsc_record_format *format;
    struct rsc_input *input;
    const struct rsc_log *log;
    uint64_t notes;
    struct rsc_columns columns; /* for batches read in the caller's thread; NULL: none yet */
    struct record_range range;
    uint64_t next; /* pieces: offset of the next one */
};

static struct rsc_columns columns_new(void) {
    size_t bytes = RSC_BATCH_ACCESSES * sizeof(uint64_t);
    return (struct rsc_columns){aligned_alloc(64, bytes), aligned_alloc(64, bytes), aligned_alloc(64, bytes)};
}

static void columns_free(struct rsc_columns *columns) {
    free(columns->addr);
    free(columns->meta);
    free(columns->pc);
}

static int fail(const struct record_reader *reader, const struct record_range *range, struct rsc_error *error) {
    const struct rsc_record_format *format = reader->format;
    const char *name = rsc_input_name(reader->input);
    uint64_t offset = range->offset + range->done;
    if (range->problem)
        return rsc_fail_at(error, RSC_EFORMAT, offset, "%s: %s at byte %" PRIu64 ": %s (%s)", name, format->bad, offset,
                           range->problem, format->name);
    return rsc_fail_at(error, RSC_EFORMAT, offset,
                       "%s: cut at byte %" PRIu64 ": the last %s has %" PRIu64 " of its %" PRIu32 " bytes (%s)", name,
                       offset, format->unit, range->count - range->done, format->bytes, format->name);
}

/* The next batch of a range whose bytes are there. 1, 0 at its end, or negative. */
static int decode(const struct record_reader *reader, struct record_range *range, const struct rsc_columns *to,
                  struct rsc_batch *batch, struct rsc_error *error) {
    const struct rsc_record_format *format = reader->format;
    uint64_t records = (range->read - range->done) / format->bytes;
    if (range->problem || (!records && range->done < range->count)) return fail(reader, range, error);
    if (!records) return 0;
    if (records > format->per_batch) records = format->per_batch;
    uint32_t taken =
        format->take(range->bytes + range->done, (uint32_t)records, to, batch, &range->problem, &range->notes);
    range->done += (uint64_t)taken * format->bytes;
    return taken ? 1 : fail(reader, range, error);
}

/* Reads up to `records` records in order. 1, 0 at the end of the input, or negative. */
static int read_range(struct record_reader *reader, struct record_range *range, uint32_t records,
                      struct rsc_error *error) {
    size_t bytes = (size_t)records * reader->format->bytes;
    range->done = range->notes = 0;
    range->problem = NULL;
    if (!range->bytes && !(range->bytes = aligned_alloc(64, bytes))) return rsc_fail_memory(error, "trace records");
    range->offset = rsc_input_offset(reader->input);
    int64_t got = rsc_input_read(reader->input, range->bytes, bytes, error);
    range->count = range->read = got < 0 ? 0 : (uint64_t)got;
    return got < 0 ? (int)got : got > 0;
}

static void finish(const struct record_reader *reader) {
    if (reader->format->finish) reader->format->finish(reader->log, rsc_input_name(reader->input), reader->notes);
}

static int records_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct record_reader *reader = (struct record_reader *)source;
    struct record_range *range = &reader->range;
    if (!reader->columns.addr) reader->columns = columns_new();
    if (!reader->columns.addr || !reader->columns.meta || !reader->columns.pc)
        return rsc_fail_memory(error, "trace records");
    int status = decode(reader, range, &reader->columns, batch, error);
    if (status) return status;
    reader->notes += range->notes;
    if ((status = read_range(reader, range, reader->format->per_batch, error)) < 0) return status;
    if (status) return decode(reader, range, &reader->columns, batch, error);
    finish(reader);
    return 0;
}

static void records_info(struct rsc_source *source, struct rsc_trace_info *info) {
    const struct record_reader *reader = (const struct record_reader *)source;
    if (reader->format->source) info->source = reader->format->source;
    info->has_pc = reader->format->has_pc;
}

static void records_close(struct rsc_source *source) {
    struct record_reader *reader = (struct record_reader *)source;
    columns_free(&reader->columns);
    free(reader->range.bytes);
    free(reader);
}

/* ---- pieces ---- */

struct record_worker {
    const struct record_reader *reader;
    struct record_range *range;
};

static void range_free(void *piece) { free(((struct record_range *)piece)->bytes); }

/* The next range: of a file only its place, else its bytes too. */
static int take_range(struct rsc_source *source, void *piece, struct rsc_error *error) {
    struct record_reader *reader = (struct record_reader *)source;
    struct record_range *range = piece;
    uint32_t batches = PIECE_BYTES / (reader->format->per_batch * reader->format->bytes);
    uint32_t records = (batches > BATCHES_LEAST ? batches : BATCHES_LEAST) * reader->format->per_batch;
    if (!rsc_input_seekable(reader->input)) return read_range(reader, range, records, error);
    uint64_t all = rsc_input_file_bytes(reader->input), left = all > reader->next ? all - reader->next : 0;
    uint64_t bytes = (uint64_t)records * reader->format->bytes;
    if (!left) return 0;
    if (!range->bytes && !(range->bytes = aligned_alloc(64, bytes))) return rsc_fail_memory(error, "trace records");
    range->offset = reader->next;
    range->count = left < bytes ? left : bytes;
    range->done = range->notes = 0;
    range->problem = NULL;
    range->read = 0;
    reader->next += range->count;
    return 1;
}

static int worker_new(void **out, struct rsc_source *source, struct rsc_error *error) {
    struct record_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return rsc_fail_memory(error, "trace records");
    worker->reader = (const struct record_reader *)source;
    *out = worker;
    return 0;
}

static int worker_start(void *to, void *piece, struct rsc_error *error) {
    (void)error;
    ((struct record_worker *)to)->range = piece;
    return 0;
}

/* Reads a batch's worth of a range, if it is not there: what is decoded next is in the core's cache then. */
static int read_more(const struct record_reader *reader, struct record_range *range, struct rsc_error *error) {
    uint64_t bytes = (uint64_t)reader->format->per_batch * reader->format->bytes;
    if (range->done < range->read || range->read == range->count) return 0;
    if (bytes > range->count - range->read) bytes = range->count - range->read;
    int64_t got =
        rsc_input_read_at(reader->input, range->bytes + range->read, bytes, range->offset + range->read, error);
    if (got < 0) return (int)got;
    range->read += (uint64_t)got;
    if ((uint64_t)got < bytes) range->count = range->read; /* the file has shrunk meanwhile */
    return 0;
}

static int worker_next(void *from, const struct rsc_columns *to, struct rsc_batch *batch, uint64_t *index,
                       struct rsc_error *error) {
    struct record_worker *worker = from;
    const struct record_reader *reader = worker->reader;
    struct record_range *range = worker->range;
    *index = reader->format->indexed ? (range->offset + range->done) / reader->format->bytes : RSC_UNKNOWN;
    int status = read_more(reader, range, error);
    return status < 0 ? status : decode(reader, range, to, batch, error);
}

static int settle(struct rsc_source *source, void *piece, struct rsc_piece_view *view, struct rsc_error *error) {
    (void)view;
    (void)error;
    ((struct record_reader *)source)->notes += ((struct record_range *)piece)->notes;
    return 0;
}

static int pieces_finish(struct rsc_source *source, struct rsc_error *error) {
    (void)error;
    finish((const struct record_reader *)source);
    return 0;
}

#define PIECES(is_indexed)                       \
    {.piece_bytes = sizeof(struct record_range), \
     .piece_free = range_free,                   \
     .take = take_range,                         \
     .worker_new = worker_new,                   \
     .worker_free = free,                        \
     .start = worker_start,                      \
     .next = worker_next,                        \
     .settle = settle,                           \
     .finish = pieces_finish,                    \
     .indexed = is_indexed,                      \
     .lasting = 1}
static const struct rsc_piece_kind indexed_pieces = PIECES(1), other_pieces = PIECES(0);

static const struct rsc_source_ops indexed_ops = {records_next, NULL, records_info, records_close, &indexed_pieces};
static const struct rsc_source_ops other_ops = {records_next, NULL, records_info, records_close, &other_pieces};

int rsc_record_reader_open(struct rsc_source **out, const struct rsc_record_format *format, struct rsc_input *input,
                           const struct rsc_reader_options *options, struct rsc_error *error) {
    struct record_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return rsc_fail_memory(error, "trace records");
    reader->source.ops = format->indexed ? &indexed_ops : &other_ops;
    reader->format = format;
    reader->input = input;
    reader->log = options ? options->log : NULL;
    reader->next = rsc_input_offset(input);
    *out = &reader->source;
    return 0;
}
