/*
 * rsct_reader.c - reads native traces: frames in order, from a file or a pipe, each
 * verified before it is decoded; the index at the end is verified against the frames
 * read. Seeking uses the index. Salvage searches for the next intact frame after
 * damage; frames record which accesses they hold, so the loss is known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/fail.h"
#include "trace/formats/readers.h"
#include "trace/instruction_share.h"
#include "trace/native/rsct_decode.h"
#include "trace/native/rsct_index.h"
#include "trace/native/rsct_locate.h"
#include "trace/native/rsct_worker.h"

#define KEEPS 4u

/* The cost, in bytes, that salvage charges for a failed attempt to read a frame, besides the bytes read. */
#define ATTEMPT_BYTES (16u << 10)

struct rsct_reader {
    struct rsc_source source; /* first: this is a source */
    struct rsc_input *input;
    const struct rsc_log *log;
    int salvage;
    struct rsct_decoder *decoder;
    struct rsct_locator locator;

    char *text; /* source, command and filter, NUL-terminated, one after the other */
    const char *made_by, *command, *filter;
    uint32_t version;
    int has_pc;
    int recognised; /* it begins with the magic of a native trace */

    int in_frame;
    const char *problem; /* found in the middle of a frame: reading on reports it again */
    uint64_t frame_offset; /* of the frame being read */
    uint32_t frame_left;   /* its accesses not yet returned */
    uint64_t frames;       /* started so far */
    uint64_t frames_hash;  /* chained hash of their index rows */
    uint64_t expected;     /* index of the next access */
    uint64_t skip;         /* accesses to drop after a seek */
    uint64_t events;
    int without_pcs, without_events;
    struct rsct_unpacker unpacker;
    struct rsct_frame frame;

    struct rsct_index index; /* read for seeking, or at the end */
    uint64_t index_offset;
    int sought; /* after a seek the running totals mean nothing */

    uint64_t lost_bytes, lost_frames, lost_accesses;
    uint64_t scan_budget; /* bytes that salvage may still spend on failed attempts */
};

/* ---- errors ---- */

static int damaged(struct rsct_reader *reader, uint64_t offset, const char *what, struct rsc_error *error) {
    return rsct_frame_damaged(reader->input, reader->frames, offset, what, error);
}

static int header_damaged(struct rsc_input *input, const char *what, struct rsc_error *error) {
    return rsc_fail_at(error, RSC_EFORMAT, 0, "%s: header at byte 0: %s", rsc_input_name(input), what);
}

/* Reads exactly `bytes`; a short read is "cut" at the end of the input. */
static int read_whole(struct rsct_reader *reader, void *to, size_t bytes, const char *part, struct rsc_error *error) {
    int64_t got = rsc_input_read(reader->input, to, bytes, error);
    if (got < 0) return (int)got;
    if ((size_t)got == bytes) return 0;
    char what[96];
    snprintf(what, sizeof what, "the file is cut inside %s", part);
    return damaged(reader, rsc_input_offset(reader->input), what, error);
}

/* ---- header ---- */

int rsc_rsct_matches(const unsigned char *head, size_t bytes, int whole) {
    (void)whole;
    return bytes >= RSCT_MAGIC_BYTES && !memcmp(head, RSCT_MAGIC, RSCT_MAGIC_BYTES);
}

static uint32_t u32_at(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* The three strings of the header, made C strings. */
static int read_strings(struct rsct_reader *reader, const uint8_t *header, uint32_t bytes, struct rsc_error *error) {
    const char **fields[3] = {&reader->made_by, &reader->command, &reader->filter};
    uint32_t at = RSCT_HEADER_FIXED, end = bytes - 8;
    char *to = reader->text = malloc(bytes);
    if (!to) return rsc_fail_memory(error, "trace header");
    for (int i = 0; i < 3; i++) {
        if (end - at < 4) return header_damaged(reader->input, "its strings are cut short", error);
        uint32_t length = u32_at(header + at);
        at += 4;
        if (length > end - at) return header_damaged(reader->input, "its strings are cut short", error);
        *fields[i] = to;
        memcpy(to, header + at, length);
        to[length] = 0;
        to += length + 1;
        at += length;
    }
    return at == end ? 0 : header_damaged(reader->input, "it has the wrong length", error);
}

static int check_header(struct rsct_reader *reader, const uint8_t *header, uint32_t bytes, struct rsc_error *error) {
    uint64_t checksum;
    memcpy(&checksum, header + bytes - 8, 8);
    if (checksum != XXH3_64bits(header, bytes - 8)) return header_damaged(reader->input, "checksum mismatch", error);
    reader->version = u32_at(header + 8);
    reader->has_pc = (u32_at(header + 16) & RSCT_FLAG_PCS) != 0;
    if (u32_at(header + 24) != 1 || u32_at(header + 28) != 0 || u32_at(header + 16) > RSCT_FLAG_PCS)
        return header_damaged(reader->input, "it uses features that this version does not support", error);
    return read_strings(reader, header, bytes, error);
}

static int read_header(struct rsct_reader *reader, struct rsc_error *error) {
    uint8_t fixed[RSCT_HEADER_FIXED];
    int64_t got = rsc_input_read(reader->input, fixed, sizeof fixed, error);
    if (got < 0) return (int)got;
    if ((size_t)got < sizeof fixed) return header_damaged(reader->input, "the file is cut", error);
    if (memcmp(fixed, RSCT_MAGIC, RSCT_MAGIC_BYTES))
        return header_damaged(reader->input, "not a native trace (.rsct)", error);
    reader->recognised = 1;
    uint32_t version = u32_at(fixed + 8), bytes = u32_at(fixed + 12);
    if (version > RSCT_VERSION)
        return rsc_fail_at(error, RSC_EVERSION, 8, "%s: trace format version %u is newer than this tool (it reads %u)",
                           rsc_input_name(reader->input), version, RSCT_VERSION);
    if (!version || bytes < RSCT_HEADER_FIXED + 3 * 4 + 8 || bytes > RSCT_HEADER_MAX)
        return header_damaged(reader->input, "its length or version is out of range", error);
    uint8_t *header = malloc(bytes);
    if (!header) return rsc_fail_memory(error, "trace header");
    memcpy(header, fixed, sizeof fixed);
    got = rsc_input_read(reader->input, header + sizeof fixed, bytes - sizeof fixed, error);
    int status = got < 0 ? (int)got : 0;
    if (!status && (uint64_t)got < bytes - sizeof fixed)
        status = header_damaged(reader->input, "the file is cut", error);
    if (!status) status = check_header(reader, header, bytes, error);
    free(header);
    return status;
}

/* ---- index and trailer ---- */

/* Upper bound on the size of index and trailer, so that an endless pipe or a hostile file cannot fill memory. */
static uint64_t tail_bytes_max(const struct rsct_reader *reader) {
    uint64_t frames = reader->frames;
    if (rsc_input_seekable(reader->input)) frames = rsc_input_file_bytes(reader->input) / RSCT_FRAME_HEADER_BYTES;
    return RSCT_INDEX_BYTES_MIN + RSCT_TRAILER_BYTES + frames * sizeof(struct rsct_index_row) +
           (uint64_t)RSC_THREADS_MAX * sizeof(struct rsc_thread);
}

/* Reads the rest of the input, which must be exactly the index and the trailer. */
static int read_end(struct rsct_reader *reader, uint64_t offset, struct rsc_error *error) {
    size_t room = 1 << 16, used = 0;
    uint8_t *tail = NULL;
    int status = 0;
    const char *problem = NULL;
    for (;;) {
        uint8_t *larger = realloc(tail, room);
        if (!larger) {
            status = rsc_fail_memory(error, "trace index");
            goto out;
        }
        tail = larger;
        int64_t got = rsc_input_read(reader->input, tail + used, room - used, error);
        if (got < 0) {
            status = (int)got;
            goto out;
        }
        used += (size_t)got;
        if (used < room) break;
        if (used > tail_bytes_max(reader)) {
            problem = "too many bytes for an index";
            goto out;
        }
        room *= 2;
    }
    struct rsct_trailer trailer;
    uint64_t index_bytes = used - RSCT_TRAILER_BYTES;
    if (used < RSCT_INDEX_BYTES_MIN + RSCT_TRAILER_BYTES) {
        problem = "the file is cut inside the index";
        goto out;
    }
    memcpy(&trailer, tail + index_bytes, sizeof trailer);
    if (!rsct_trailer_is_right(&trailer, offset, index_bytes))
        problem = "the file is cut or damaged in the index or trailer";
    if (!problem) problem = rsct_index_take(&reader->index, tail, index_bytes);
    if (!problem && !reader->salvage &&
        (reader->index.count != reader->frames || rsct_index_chain_all(&reader->index) != reader->frames_hash ||
         (!reader->sought && reader->index.totals.events != reader->events)))
        problem = "the index does not agree with the frames";
out:
    if (problem)
        status = rsc_fail_at(
            error, RSC_EFORMAT, offset, "%s: index at byte %llu: %s (all %llu frames are intact; --salvage reads them)",
            rsc_input_name(reader->input), (unsigned long long)offset, problem, (unsigned long long)reader->frames);
    free(tail);
    return status;
}

/* ---- frames ---- */

/* Reads the frame at the input's position into reader->frame, and starts to decode it. */
static int read_frame(struct rsct_reader *reader, struct rsc_error *error) {
    struct rsct_frame *frame = &reader->frame;
    int status = rsct_frame_read(frame, reader->input, reader->frames, error);
    if (status < 0) return status;
    reader->frame_offset = frame->offset;
    const char *problem = rsct_frame_unpack(frame, &reader->unpacker);
    if (!problem) problem = rsct_decoder_start(reader->decoder, frame);
    return problem ? damaged(reader, frame->offset, problem, error) : 0;
}

/* Checks that the frame follows the one before. In salvage, frames may be missing in between, but never repeat. */
static int check_order(struct rsct_reader *reader, const struct rsct_frame_header *header, struct rsc_error *error) {
    if (header->first == reader->expected || (reader->salvage && header->first > reader->expected)) return 0;
    return damaged(reader, reader->frame_offset, "it does not follow the frame before it", error);
}

static void accept_frame(struct rsct_reader *reader, const struct rsct_frame_header *header) {
    struct rsct_index_row row = {.offset = reader->frame_offset,
                                 .first = header->first,
                                 .instructions = header->instructions,
                                 .accesses = header->accesses};
    reader->lost_accesses += header->first - reader->expected;
    reader->frames++;
    reader->frames_hash = rsct_index_chain(reader->frames_hash, &row);
    reader->expected = header->first + header->accesses;
    reader->events += header->events;
    reader->frame_left = header->accesses;
    reader->in_frame = 1;
}

/* Could this be the header of a frame that is complete in the file? */
static int plausible_frame(const struct rsct_reader *reader, const struct rsct_frame_header *header, uint64_t offset) {
    uint64_t behind = rsc_input_file_bytes(reader->input) - offset - sizeof *header;
    return !rsct_frame_header_problem(header) && rsct_frame_payload_bytes(header) <= behind;
}

/*
 * Searches for an intact frame from `offset` on and leaves the input there. Returns
 * 1 when one was found, 0 when there is none. Only the header's checksum is checked
 * at each candidate; the payload's is checked when the frame is read.
 */
static int find_frame(struct rsct_reader *reader, uint64_t offset, struct rsc_error *error) {
    const uint32_t magic = RSCT_FRAME_MAGIC;
    const unsigned char *data;
    int status = rsc_input_seek(reader->input, offset, error);
    if (status < 0) return status;
    for (;;) {
        int64_t got = rsc_input_peek(reader->input, RSC_INPUT_PEEK_MAX, &data, error);
        if (got < (int64_t)sizeof(struct rsct_frame_header)) return got < 0 ? (int)got : 0;
        size_t candidates = (size_t)got - sizeof(struct rsct_frame_header) + 1, at = 0;
        for (; at < candidates; at++) {
            struct rsct_frame_header header;
            if (memcmp(data + at, &magic, 4)) continue;
            memcpy(&header, data + at, sizeof header);
            if (plausible_frame(reader, &header, rsc_input_offset(reader->input) + at)) break;
        }
        uint64_t here = rsc_input_offset(reader->input) + at;
        if ((status = rsc_input_seek(reader->input, here, error)) < 0) return status;
        if (at < candidates) return 1;
    }
}

/* After damage at `offset`: moves to the next readable frame. Returns 1, 0 at the end, or negative. */
static int salvage_from(struct rsct_reader *reader, uint64_t offset, struct rsc_error *error) {
    uint64_t search = offset + 1;
    reader->lost_frames++;
    for (;;) {
        int found = find_frame(reader, search, error);
        if (found < 0) return found;
        uint64_t here = rsc_input_offset(reader->input);
        if (!found) {
            int index_intact = reader->index.known && reader->index_offset >= offset;
            uint64_t end = index_intact ? reader->index_offset : rsc_input_file_bytes(reader->input);
            reader->lost_bytes += end - offset;
            return 0;
        }
        int status = read_frame(reader, error);
        if (!status) status = check_order(reader, &reader->frame.header, error);
        if (!status) {
            reader->lost_bytes += here - offset;
            return 1;
        }
        if (status != RSC_EFORMAT) return status;
        uint64_t tried = rsc_input_offset(reader->input) - here + ATTEMPT_BYTES;
        if (tried > reader->scan_budget)
            return rsc_fail_at(error, RSC_EFORMAT, here, "%s: too damaged to salvage past byte %llu",
                               rsc_input_name(reader->input), (unsigned long long)here);
        reader->scan_budget -= tried;
        search = here + 1;
    }
}

/* Reports the loss at the end of a salvaged trace. */
static void say_lost(struct rsct_reader *reader) {
    if (reader->index.known && reader->index.totals.accesses > reader->expected)
        reader->lost_accesses += reader->index.totals.accesses - reader->expected;
    if (!reader->lost_bytes && !reader->lost_accesses && !reader->lost_frames) return;
    rsc_log_line(reader->log, RSC_LOG_WARNING,
                 "%s: salvaged %llu frames; lost %llu bytes in %llu places, with at least %llu accesses",
                 rsc_input_name(reader->input), (unsigned long long)reader->frames,
                 (unsigned long long)reader->lost_bytes, (unsigned long long)reader->lost_frames,
                 (unsigned long long)reader->lost_accesses);
}

/* Whether a frame follows: 1; 0 at the end, where the index is verified; or negative. */
static int at_frame(struct rsct_reader *reader, struct rsc_error *error) {
    const unsigned char *data;
    uint64_t offset = rsc_input_offset(reader->input);
    int64_t got = rsc_input_peek(reader->input, 4, &data, error);
    if (got < 0) return (int)got;
    if (got < 4) return damaged(reader, offset, "the file is cut before its index", error);
    if (u32_at(data) == RSCT_INDEX_MAGIC) return read_end(reader, offset, error);
    return u32_at(data) == RSCT_FRAME_MAGIC ? 1 : damaged(reader, offset, "not a frame", error);
}

/* Starts the next frame. Returns 1, 0 at the end of the trace, or negative. */
static int next_frame(struct rsct_reader *reader, struct rsc_error *error) {
    uint64_t offset = rsc_input_offset(reader->input);
    const struct rsct_frame_header *header = &reader->frame.header;
    int status = at_frame(reader, error), ended = !status;
    if (status > 0) {
        status = read_frame(reader, error);
        if (!status) status = check_order(reader, header, error);
        if (!status && header->first > reader->expected) reader->lost_frames++;
    }
    if (status == RSC_EFORMAT && reader->salvage) {
        status = salvage_from(reader, offset, error);
        ended = !status;
    }
    if (status < 0) return status;
    if (ended) {
        if (reader->salvage) say_lost(reader);
        return 0;
    }
    accept_frame(reader, header);
    return 1;
}

/* ---- the source ---- */

/* Drops the first accesses of a batch, and the events before them. */
static void drop_front(struct rsc_batch *batch, uint32_t drop) {
    uint32_t events = 0;
    while (events < batch->event_count && batch->events[events].at < drop) events++;
    if (events) batch->events += events;
    batch->event_count -= events;
    struct rsc_event *kept = (struct rsc_event *)batch->events;
    for (uint32_t i = 0; i < batch->event_count; i++) kept[i].at -= drop;
    if (batch->instructions != RSC_UNKNOWN && batch->count)
        batch->instructions = rsc_instruction_share(batch, rsc_fetches_are_instructions(batch), drop, batch->count);
    batch->addr += drop;
    batch->meta += drop;
    if (batch->pc) batch->pc += drop;
    batch->count -= drop;
}

static int rsct_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct rsct_reader *reader = (struct rsct_reader *)source;
    if (reader->problem) return damaged(reader, reader->frame_offset, reader->problem, error);
    for (;;) {
        if (!reader->in_frame) {
            int status = next_frame(reader, error);
            if (status <= 0) return status;
        }
        const char *problem = NULL;
        int status = rsct_decoder_next(reader->decoder, NULL, batch, reader->skip, &problem);
        if (status < 0) {
            reader->frames--; /* it was not intact after all */
            if (!reader->salvage) {
                reader->problem = problem;
                return damaged(reader, reader->frame_offset, problem, error);
            }
            reader->lost_frames++;
            reader->lost_accesses += reader->frame_left;
            reader->lost_bytes += rsc_input_offset(reader->input) - reader->frame_offset;
            reader->in_frame = 0;
            continue;
        }
        if (status == 0) {
            reader->in_frame = 0;
            continue;
        }
        reader->frame_left -= batch->count;
        if (reader->skip) {
            uint32_t drop = reader->skip < batch->count ? (uint32_t)reader->skip : batch->count;
            reader->skip -= drop;
            if (drop == batch->count) continue; /* also a batch of events alone: they precede the access sought */
            drop_front(batch, drop);
        }
        return 1;
    }
}

/* Reads trailer and index of a regular file, then goes back to where it was. */
static int load_index(struct rsct_reader *reader, struct rsc_error *error) {
    uint64_t file_bytes = rsc_input_file_bytes(reader->input), before = rsc_input_offset(reader->input);
    struct rsct_trailer trailer;
    int status = RSC_EFORMAT;
    uint8_t *image = NULL;
    if (file_bytes < RSCT_TRAILER_BYTES + RSCT_INDEX_BYTES_MIN) goto out;
    if ((status = rsc_input_seek(reader->input, file_bytes - RSCT_TRAILER_BYTES, error)) < 0) goto out;
    if ((status = read_whole(reader, &trailer, sizeof trailer, "the trailer", error)) < 0) goto out;
    status = RSC_EFORMAT;
    if (!rsct_trailer_is_right(&trailer, file_bytes - RSCT_TRAILER_BYTES - trailer.index_bytes, trailer.index_bytes) ||
        trailer.index_bytes < RSCT_INDEX_BYTES_MIN || trailer.index_bytes > file_bytes ||
        trailer.index_bytes > tail_bytes_max(reader))
        goto out;
    image = malloc(trailer.index_bytes);
    if (!image) {
        status = rsc_fail_memory(error, "trace index");
        goto out;
    }
    if ((status = rsc_input_seek(reader->input, trailer.index_offset, error)) < 0) goto out;
    if ((status = read_whole(reader, image, trailer.index_bytes, "the index", error)) < 0) goto out;
    status = rsct_index_take(&reader->index, image, trailer.index_bytes) ? RSC_EFORMAT : 0;
    reader->index_offset = trailer.index_offset;
out:
    free(image);
    if (status == RSC_EFORMAT)
        rsc_fail_at(error, status, file_bytes, "%s: no intact index at the end (byte %llu): the file is cut or damaged",
                    rsc_input_name(reader->input), (unsigned long long)file_bytes);
    int back = rsc_input_seek(reader->input, before, status < 0 ? NULL : error);
    return status < 0 ? status : back;
}

static int rsct_seek(struct rsc_source *source, uint64_t index, struct rsc_error *error) {
    struct rsct_reader *reader = (struct rsct_reader *)source;
    int status;
    if (!rsc_input_seekable(reader->input))
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: seeking needs an uncompressed file",
                        rsc_input_name(reader->input));
    if (!reader->index.known && (status = load_index(reader, error)) < 0) return status;
    uint64_t low = rsct_index_find(&reader->index, index);
    if (low == reader->index.count)
        return rsc_fail(error, RSC_EINVAL, "%s: access %llu is past the end (%llu accesses)",
                        rsc_input_name(reader->input), (unsigned long long)index,
                        (unsigned long long)reader->index.totals.accesses);
    /* Frames with only events may precede the access too. */
    while (low && index == reader->index.rows[low].first && !reader->index.rows[low - 1].accesses) low--;
    if ((status = rsc_input_seek(reader->input, reader->index.rows[low].offset, error)) < 0) return status;
    reader->frames = low;
    reader->frames_hash = rsct_index_chain_all(&(struct rsct_index){.rows = reader->index.rows, .count = low});
    reader->expected = reader->index.rows[low].first;
    reader->skip = index - reader->index.rows[low].first;
    reader->in_frame = 0;
    reader->problem = NULL;
    reader->sought = 1;
    return 0;
}

int rsc_rsct_locate(struct rsc_source *source, uint64_t instruction, uint64_t *access, struct rsc_error *error) {
    struct rsct_reader *reader = (struct rsct_reader *)source;
    int status;
    if (!rsc_input_seekable(reader->input))
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: seeking needs an uncompressed file",
                        rsc_input_name(reader->input));
    if (!reader->index.known && (status = load_index(reader, error)) < 0) return status;
    if (reader->index.totals.instructions == RSC_UNKNOWN)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: has no instruction counts", rsc_input_name(reader->input));
    return rsct_locate(&reader->locator, &reader->index, reader->input, instruction, access, error);
}

static void rsct_info(struct rsc_source *source, struct rsc_trace_info *info) {
    struct rsct_reader *reader = (struct rsct_reader *)source;
    info->source = reader->made_by;
    info->command = reader->command;
    info->filter = reader->filter;
    info->version = reader->version;
    info->has_pc = reader->has_pc;
    info->frames = reader->frames;
    info->lost_bytes = reader->lost_bytes;
    info->lost_frames = reader->lost_frames;
    if (!reader->index.known) return;
    info->frames = reader->index.count;
    info->accesses = reader->index.totals.accesses;
    info->instructions = reader->index.totals.instructions;
    info->full_accesses = reader->index.totals.full_accesses;
    info->full_instructions = reader->index.totals.full_instructions;
}

static void rsct_close(struct rsc_source *source) {
    struct rsct_reader *reader = (struct rsct_reader *)source;
    rsct_unpacker_free(&reader->unpacker);
    rsct_frame_free(&reader->frame);
    rsct_decoder_free(reader->decoder);
    rsct_locator_free(&reader->locator);
    rsct_index_free(&reader->index);
    free(reader->text);
    free(reader);
}

/* ---- frames decoded by several threads (rsct_worker.h) ---- */

/* Reads the next frame. What must be in order is checked here: that frames follow each other, and the index. */
static int take_piece(struct rsc_source *source, void *to, struct rsc_error *error) {
    struct rsct_reader *reader = (struct rsct_reader *)source;
    struct rsct_piece *piece = to;
    int status = at_frame(reader, error);
    if (status <= 0) return status;
    uint64_t offset = rsc_input_offset(reader->input), end = UINT64_MAX;
    if (rsc_input_seekable(reader->input)) { /* the worker reads the columns, if the file has them all */
        status = rsct_frame_read_header(&piece->frame, reader->input, reader->frames, error);
        if (status < 0) return status;
        end = rsc_input_offset(reader->input) + rsct_frame_payload_bytes(&piece->frame.header);
    }
    piece->later = end != UINT64_MAX && end <= rsc_input_file_bytes(reader->input);
    if (piece->later) status = rsc_input_seek(reader->input, end, error);
    else if (end == UINT64_MAX || (status = rsc_input_seek(reader->input, offset, error)) >= 0)
        status = rsct_frame_read(&piece->frame, reader->input, reader->frames, error);
    if (status < 0) return status;
    reader->frame_offset = piece->frame.offset;
    piece->before = reader->frames;
    if ((status = check_order(reader, &piece->frame.header, error)) < 0) return status;
    accept_frame(reader, &piece->frame.header);
    return 1;
}

static int worker_new(void **out, struct rsc_source *source, struct rsc_error *error) {
    const struct rsct_reader *reader = (const struct rsct_reader *)source;
    return rsct_worker_new(out, reader->input, reader->without_pcs, reader->without_events, error);
}

static const struct rsc_piece_kind rsct_pieces = {.piece_bytes = sizeof(struct rsct_piece),
                                                  .piece_free = rsct_piece_free,
                                                  .take = take_piece,
                                                  .worker_new = worker_new,
                                                  .worker_free = rsct_worker_free,
                                                  .start = rsct_worker_start,
                                                  .next = rsct_worker_next,
                                                  .indexed = 1};

static const struct rsc_source_ops rsct_ops = {rsct_next, rsct_seek, rsct_info, rsct_close, &rsct_pieces};

/* Salvage without a header: its contents are lost, and reading starts by searching for a frame. */
static int lose_header(struct rsct_reader *reader, struct rsc_error *error) {
    reader->made_by = reader->command = reader->filter = "";
    reader->version = RSCT_VERSION;
    return rsc_input_seek(reader->input, 0, error);
}

int rsc_rsct_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                  struct rsc_error *error) {
    struct rsct_reader *reader = calloc(1, sizeof *reader);
    *out = NULL;
    if (!reader) return rsc_fail_memory(error, "trace reader");
    reader->source = (struct rsc_source){&rsct_ops, KEEPS};
    reader->input = input;
    reader->log = options->log;
    reader->salvage = options->salvage;
    int status = read_header(reader, error), seekable = rsc_input_seekable(input);
    if (status == RSC_EFORMAT && options->salvage && seekable && reader->recognised)
        status = lose_header(reader, error);
    reader->without_pcs = options->without_pcs;
    reader->without_events = options->without_events;
    if (!status) status = rsct_unpacker_init(&reader->unpacker, options->without_pcs, options->without_events, error);
    if (!status)
        status = rsct_decoder_new(&reader->decoder, KEEPS, options->without_pcs, options->without_events, error);
    if (!status && seekable) {
        /* Totals early, for progress and info; damage there is reported when reading reaches it. */
        reader->scan_budget = 8 * rsc_input_file_bytes(input) + (64u << 20);
        int loaded = load_index(reader, error);
        if (loaded == RSC_EIO) status = loaded;
    } else if (!status && options->salvage) {
        status = rsc_fail(error, RSC_EUNSUPPORTED, "%s: --salvage needs an uncompressed file, not a pipe",
                          rsc_input_name(input));
    }
    if (status < 0) {
        rsct_close(&reader->source);
        return status;
    }
    *out = &reader->source;
    return 0;
}
