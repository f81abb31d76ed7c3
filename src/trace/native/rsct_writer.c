/*
 * rsct_writer.c - writes native traces.
 *
 * Frames do not depend on each other: while one is filled, another thread packs the one before it. It is written when
 * the next is full, so that the file does not depend on timing.
 *
 * A trace that reaches its size limit or a full disk ends as a valid trace of what
 * fits: under --max-size there is always room left for the index, and on a full disk
 * the last frames are dropped until the index fits in their place.
 */
#include "trace/native/rsct_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/pool.h"
#include "trace/native/rsct_encode.h"

/* The minimum number of accesses in a frame that is shortened to fit a limit. */
#define SMALL_FRAME 256u

/* A frame with fewer accesses is packed by the caller: handing it to a thread would take as long. */
#define LARGE_FRAME 65536u

/* A full frame: being packed until the pool is idle, then ready to write. */
struct packing {
    struct rsct_encoder *encoder; /* NULL: there is none */
    uint32_t threads;             /* number known when it was full */
    int status;
    struct rsct_frame_header header;
    const uint8_t *data;
    size_t bytes;
    struct rsc_error error;
};

struct rsct_writer {
    struct rsc_output_file *file;
    struct rsc_trace_writer_options options; /* its strings are owned */
    struct rsct_encoder *encoder;  /* being filled */
    struct rsct_encoder *resting;  /* the other one, which may be packing; NULL until it is needed */
    struct rsc_pool *pool;         /* of one thread; NULL until it is needed */
    struct packing packing;
    int pcs;          /* pcs are kept */
    int pcs_settled;  /* the first accesses were seen, so pcs is final */
    int header_there; /* the header is written: with the first frame, once pcs is final */
    int full;         /* no more accesses are accepted */
    int disk_full;    /* for lack of room on the disk, not by max_bytes */
    struct rsc_error failure; /* code 0: none. After one the file may end inside a frame: nothing more is written */

    struct rsct_index_row *rows;
    uint32_t *events; /* in each frame */
    uint64_t row_count, row_room;
    uint64_t full_accesses, full_instructions;
    int full_known;

    struct rsc_thread *threads; /* by number */
    uint32_t thread_count, thread_room;
    uint32_t indexed_threads; /* known when the last frame was written: there is room for these in the index */
};

static void put_u32(uint8_t *to, uint32_t value) { memcpy(to, &value, sizeof value); }

static uint64_t index_bytes(uint64_t rows, uint64_t threads) {
    return RSCT_INDEX_FIXED + rows * sizeof(struct rsct_index_row) + sizeof(struct rsct_totals) + 8 +
           threads * sizeof(struct rsc_thread) + 8;
}

/* Writes the header if it is not there yet. */
static int write_header(struct rsct_writer *writer, struct rsc_error *error) {
    if (writer->header_there) return 0;
    const struct rsc_trace_writer_options *options = &writer->options;
    const char *text[3] = {options->source, options->command, options->filter};
    size_t length[3], bytes = RSCT_HEADER_FIXED + 3 * 4 + 8;
    for (int i = 0; i < 3; i++) {
        length[i] = strlen(text[i]);
        if (length[i] > RSCT_HEADER_MAX / 4) length[i] = RSCT_HEADER_MAX / 4; /* a command line can be long */
        bytes += length[i];
    }
    if (options->max_bytes && bytes + index_bytes(0, 0) + RSCT_TRAILER_BYTES > options->max_bytes)
        return rsc_fail(error, RSC_ELIMIT, "%s: the limit of %llu bytes is too small for a trace", writer->file->path,
                        (unsigned long long)options->max_bytes);
    uint8_t *header = calloc(1, bytes), *to = header + RSCT_HEADER_FIXED;
    if (!header) return rsc_fail_memory(error, "trace header");
    memcpy(header, RSCT_MAGIC, RSCT_MAGIC_BYTES);
    put_u32(header + 8, RSCT_VERSION);
    put_u32(header + 12, (uint32_t)bytes);
    put_u32(header + 16, writer->pcs ? RSCT_FLAG_PCS : 0);
    put_u32(header + 20, options->frame_accesses);
    put_u32(header + 24, 1);
    for (int i = 0; i < 3; i++) {
        put_u32(to, (uint32_t)length[i]);
        memcpy(to + 4, text[i], length[i]);
        to += 4 + length[i];
    }
    uint64_t checksum = XXH3_64bits(header, bytes - 8);
    memcpy(header + bytes - 8, &checksum, 8);
    int status = rsc_output_write(writer->file, header, bytes, error);
    free(header);
    writer->header_there = !status;
    return status;
}

/* Default accesses per frame: a million, or fewer so that several frames fit a limit. */
static uint32_t usual_frame(uint64_t max_bytes) {
    if (!max_bytes || max_bytes / 64 >= RSCT_FRAME_ACCESSES) return RSCT_FRAME_ACCESSES;
    return max_bytes / 64 > SMALL_FRAME ? (uint32_t)(max_bytes / 64) : SMALL_FRAME;
}

int rsct_writer_open(struct rsct_writer **out, struct rsc_output_file *file,
                     const struct rsc_trace_writer_options *options, struct rsc_error *error) {
    *out = NULL;
    if (options->frame_accesses > RSCT_FRAME_ACCESSES_MAX)
        return rsc_fail(error, RSC_EINVAL, "frames of %u accesses: the maximum is %u", options->frame_accesses,
                        RSCT_FRAME_ACCESSES_MAX);
    struct rsct_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return rsc_fail_memory(error, "trace writer");
    writer->file = file;
    writer->options = *options;
    writer->options.source = strdup(options->source ? options->source : "");
    writer->options.command = strdup(options->command ? options->command : "");
    writer->options.filter = strdup(options->filter ? options->filter : "");
    if (!writer->options.frame_accesses) writer->options.frame_accesses = usual_frame(options->max_bytes);
    if (!writer->options.level) writer->options.level = RSCT_LEVEL;
    writer->pcs = options->pcs != 0;
    int status = 0;
    if (!writer->options.source || !writer->options.command || !writer->options.filter)
        status = rsc_fail_memory(error, "trace writer");
    if (!status) status = rsct_encoder_new(&writer->encoder, &writer->options, writer->pcs, error);
    if (status < 0) {
        rsct_writer_free(writer);
        return status;
    }
    *out = writer;
    return 0;
}

void rsct_writer_free(struct rsct_writer *writer) {
    if (!writer) return;
    rsc_pool_free(writer->pool); /* waits for it */
    rsct_encoder_free(writer->encoder);
    rsct_encoder_free(writer->resting);
    free((char *)writer->options.source);
    free((char *)writer->options.command);
    free((char *)writer->options.filter);
    free(writer->rows);
    free(writer->events);
    free(writer->threads);
    free(writer);
}

static int reserve_row(struct rsct_writer *writer, struct rsc_error *error) {
    if (writer->row_count < writer->row_room) return 0;
    uint64_t room = writer->row_room ? writer->row_room * 2 : 256;
    struct rsct_index_row *rows = realloc(writer->rows, room * sizeof *rows);
    if (rows) writer->rows = rows;
    uint32_t *events = realloc(writer->events, room * sizeof *events);
    if (events) writer->events = events;
    if (!rows || !events) return rsc_fail_memory(error, "trace index");
    writer->row_room = room;
    return 0;
}

/* ---- frames ---- */

static void pack(void *argument) {
    struct packing *frame = argument;
    frame->status = rsct_encoder_pack(frame->encoder, &frame->header, &frame->data, &frame->bytes, &frame->error);
}

/* Writes the packed frame, if any. Returns 0, 1 when there is no room for it, or negative. */
static int write_packed(struct rsct_writer *writer, struct rsc_error *error) {
    struct packing *frame = &writer->packing;
    if (!frame->encoder) return 0;
    if (writer->pool) rsc_pool_wait(writer->pool);
    frame->encoder = NULL;
    if (frame->status < 0 && error) *error = frame->error;
    if (frame->status < 0) return frame->status;
    int status = write_header(writer, error);
    if (!status) status = reserve_row(writer, error);
    if (status < 0) return status;
    uint64_t offset = writer->file->bytes;
    uint64_t end = offset + frame->bytes + index_bytes(writer->row_count + 1, frame->threads) + RSCT_TRAILER_BYTES;
    if (writer->options.max_bytes && end > writer->options.max_bytes) return 1;
    errno = 0;
    status = rsc_output_write(writer->file, frame->data, frame->bytes, error);
    if (status < 0 && rsc_output_ran_out(errno) && !rsc_output_cut_back(writer->file, offset))
        return writer->disk_full = 1;
    if (status < 0) return status;
    writer->events[writer->row_count] = frame->header.events;
    writer->rows[writer->row_count++] = (struct rsct_index_row){.offset = offset,
                                                                .first = frame->header.first,
                                                                .instructions = frame->header.instructions,
                                                                .accesses = frame->header.accesses};
    writer->indexed_threads = frame->threads;
    return 0;
}

/* Makes a second encoder and a thread to pack the first. Returns 0 without memory for them: the caller then packs. */
static int has_help(struct rsct_writer *writer) {
    struct rsc_error ignored;
    if (!writer->resting && rsct_encoder_new(&writer->resting, &writer->options, writer->pcs, &ignored) < 0) return 0;
    return writer->pool || rsc_pool_new(&writer->pool, 1, &ignored) == 0;
}

/* Ends the full frame: writes the one before it and starts packing this one. Returns as write_packed(). */
static int end_frame(struct rsct_writer *writer, struct rsc_error *error) {
    struct packing *frame = &writer->packing;
    int status = write_packed(writer, error);
    if (status) return status;
    *frame = (struct packing){.encoder = writer->encoder, .threads = writer->thread_count};
    if (rsct_encoder_accesses(writer->encoder) < LARGE_FRAME || !has_help(writer)) {
        pack(frame);
        return write_packed(writer, error);
    }
    rsct_encoder_follow(writer->resting, writer->encoder);
    writer->encoder = writer->resting;
    writer->resting = frame->encoder;
    rsc_pool_submit(writer->pool, pack, frame);
    return 0;
}

static int note_threads(struct rsct_writer *writer, const struct rsc_batch *batch, struct rsc_error *error) {
    uint64_t highest = 0;
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->meta[i] > highest) highest = batch->meta[i];
    uint64_t count = batch->count ? rsc_meta_thread(highest) + 1 : 0;
    for (uint32_t i = 0; i < batch->event_count; i++)
        if (batch->events[i].thread >= count) count = (uint64_t)batch->events[i].thread + 1;
    if (batch->thread_count > count) count = batch->thread_count;
    if (count > RSC_THREADS_MAX) return rsc_fail(error, RSC_ELIMIT, "trace: more than %u threads", RSC_THREADS_MAX);
    if (RSC_GROW(writer->threads, writer->thread_room, count)) return rsc_fail_memory(error, "trace threads");
    for (uint32_t i = writer->thread_count; i < count; i++) writer->threads[i] = (struct rsc_thread){0, i};
    if (count > writer->thread_count) writer->thread_count = (uint32_t)count;
    for (uint32_t i = 0; batch->threads && i < batch->thread_count; i++) writer->threads[i] = batch->threads[i];
    return 0;
}

static int push(struct rsct_writer *writer, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsct_position position = {0};
    int status = note_threads(writer, batch, error);
    if (status < 0) return status;
    if (!writer->pcs_settled && batch->count) {
        writer->pcs_settled = 1;
        writer->pcs = writer->pcs && batch->pc;
        if (!writer->pcs) rsct_encoder_drop_pcs(writer->encoder);
    }
    while ((status = rsct_encoder_add(writer->encoder, batch, &position, error)) > 0) {
        status = end_frame(writer, error);
        if (status < 0) return status;
        if (status > 0) {
            writer->full = 1;
            return 1;
        }
    }
    return status;
}

/* Reports the failure that ended the writer, now and on every later call. */
static int tell_failure(struct rsct_writer *writer, int status, struct rsc_error *error) {
    if (error) *error = writer->failure;
    return status;
}

int rsct_writer_push(struct rsct_writer *writer, const struct rsc_batch *batch, struct rsc_error *error) {
    if (writer->failure.code) return tell_failure(writer, writer->failure.code, error);
    if (writer->full) return 1;
    int status = push(writer, batch, &writer->failure);
    if (status >= 0) writer->failure.code = 0; /* a full disk is not a failure */
    return status < 0 ? tell_failure(writer, status, error) : status;
}

void rsct_writer_set_full(struct rsct_writer *writer, uint64_t accesses, uint64_t instructions) {
    writer->full_accesses = accesses;
    writer->full_instructions = instructions;
    writer->full_known = 1;
}

static struct rsct_totals totals_of(const struct rsct_writer *writer) {
    struct rsct_totals totals = {0};
    for (uint64_t i = 0; i < writer->row_count; i++) {
        totals.accesses += writer->rows[i].accesses;
        totals.events += writer->events[i];
        if (writer->rows[i].instructions == RSC_UNKNOWN || totals.instructions == RSC_UNKNOWN)
            totals.instructions = RSC_UNKNOWN;
        else totals.instructions += writer->rows[i].instructions;
    }
    if (!totals.accesses && !totals.instructions) totals.instructions = RSC_UNKNOWN;
    totals.full_accesses = writer->full_known ? writer->full_accesses : totals.accesses;
    totals.full_instructions = writer->full_known ? writer->full_instructions : totals.instructions;
    return totals;
}

/* Index and trailer in one write. */
static int write_end(struct rsct_writer *writer, struct rsc_error *error) {
    uint64_t count = writer->indexed_threads, bytes = index_bytes(writer->row_count, count);
    uint64_t zero_magic = RSCT_INDEX_MAGIC;
    struct rsct_totals totals = totals_of(writer);
    struct rsct_trailer trailer = {
        .magic = RSCT_TRAILER_MAGIC, .index_offset = writer->file->bytes, .index_bytes = bytes};
    trailer.checksum = XXH3_64bits(&trailer, offsetof(struct rsct_trailer, checksum));
    uint8_t *index = malloc(bytes + sizeof trailer), *to = index;
    if (!index) return rsc_fail_memory(error, "trace index");
    const struct {
        const void *from;
        size_t bytes;
    } part[] = {{&zero_magic, 8},
                {&writer->row_count, 8},
                {writer->rows, writer->row_count * sizeof *writer->rows},
                {&totals, sizeof totals},
                {&count, 8},
                {writer->threads, count * sizeof *writer->threads}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (part[i].bytes) memcpy(to, part[i].from, part[i].bytes);
        to += part[i].bytes;
    }
    uint64_t checksum = XXH3_64bits(index, bytes - 8);
    memcpy(to, &checksum, 8);
    memcpy(to + 8, &trailer, sizeof trailer);
    errno = 0;
    int status = rsc_output_write(writer->file, index, bytes + sizeof trailer, error);
    int full = status < 0 && rsc_output_ran_out(errno);
    free(index);
    return full ? 1 : status;
}

static int finish(struct rsct_writer *writer, struct rsc_error *error) {
    int status = 0;
    if (!writer->pcs_settled && !writer->header_there) writer->pcs = 0; /* no accesses, no pcs */
    if (!writer->full && rsct_encoder_pending(writer->encoder)) status = end_frame(writer, error);
    if (!writer->full && !status) status = write_packed(writer, error);
    if (status < 0) return status;
    if (status > 0) writer->full = 1;
    if ((status = write_header(writer, error)) < 0) return status;
    uint64_t end = writer->file->bytes;
    while ((status = write_end(writer, error)) > 0) {
        /* The disk is full: drop the last frame and put the index in its place. */
        if (writer->row_count) end = writer->rows[--writer->row_count].offset;
        else return RSC_EIO;
        if (rsc_output_cut_back(writer->file, end) < 0) return RSC_EIO;
        writer->full = writer->disk_full = 1;
    }
    return status;
}

int rsct_writer_ran_out(const struct rsct_writer *writer, uint64_t *kept) {
    *kept = totals_of(writer).accesses;
    return writer->disk_full;
}

int rsct_writer_finish(struct rsct_writer *writer, struct rsc_error *error) {
    if (writer->failure.code) return tell_failure(writer, writer->failure.code, error);
    int status = finish(writer, &writer->failure);
    if (status >= 0) writer->failure.code = 0;
    return status < 0 ? tell_failure(writer, status, error) : writer->full;
}
