/*
 * reader_drmemtrace.c - DynamoRIO's drmemtrace: the records of one thread's
 * final (post-processed) offline trace.
 *
 * 12 packed bytes per record, little-endian: u16 type, u16 size, u64 value.
 *
 *     0, 1      a read, a write: address and size
 *     10-16, 31, 48, 49  an instruction: its address and length (control flow by
 *               kind). A length of 0 only gives the pc of the next accesses (filters)
 *     17        a bundle: up to 8 further instructions, one length byte each
 *     22, 24    the next records are by this thread, in this process
 *     23        this thread ended
 *     25, 26    header (value: version) and footer: first and last record
 *     28        a marker: size is its type, value its value
 *     29, 30    an instruction that is not (or perhaps not) fetched again: rep
 *     2-9, 27, 32-46  prefetches; 18-21 flushes; 47 an instruction's encoding
 *
 * Reads and writes have the pc of the instruction before them. Prefetches, flushes
 * and encodings are skipped: they are not accesses. Window markers become marker
 * events, time stamps time events. Each fetched instruction counts as one, unless
 * the trace was filtered during recording: then the count comes from a marker at
 * each thread's end.
 *
 * Versions 1 to 7 have these records; later versions are read with a warning as long
 * as they have no others. 32-bit traces, whose records have 8 bytes, are rejected. A
 * file of one thread without its footer is cut. Files may follow one another (cat, or
 * the members of a zip): each has its header and footer.
 *
 * A core-sharded file has the parts of threads that ran on one core: the header of a
 * thread stands where it first ran, its footer where it last ran, so headers come inside
 * the file, and after a footer (or, for a thread that began elsewhere, at the start)
 * another thread goes on, which a thread record or a marker announces. Such a file may
 * end without a footer if its last thread went on elsewhere: that is a warning.
 *
 * Several files of a folder: reader_drmemtrace_folder.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/readers.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file's byte order is the machine's");

#define RECORD_BYTES 12u
#define VERSION_MIN 1u
#define VERSION_MAX 7u
#define VERSION_LAST 99u /* more is not a version */
#define BUNDLE_MAX 8u
#define EVENTS_MAX 1024u
#define THIRTY_TWO_BITS "a trace of a 32-bit program; only 64-bit programs are supported"

enum {
    READ = 0,
    WRITE = 1,
    INSTRUCTION = 10,
    BUNDLE = 17,
    FLUSH_FIRST = 18,
    FLUSH_LAST = 21,
    THREAD = 22,
    THREAD_END = 23,
    PROCESS = 24,
    HEADER = 25,
    FOOTER = 26,
    MARKER = 28,
    NOT_FETCHED = 29,
    MAYBE_FETCHED = 30,
    SYSENTER = 31,
    ENCODING = 47,
    TAKEN_JUMP = 48,
    UNTAKEN_JUMP = 49,
    TYPES = 50,
};

/* Markers that matter here, in the size field of their record. */
enum { MARKER_TIME = 2, MARKER_FILE_TYPE = 9, MARKER_INSTRUCTIONS = 11, MARKER_VERSION = 12, MARKER_WINDOW = 14 };

/* Bits of the file type. */
#define TYPE_FILTERED (0x01u | 0x80u | 0x100u) /* both, instructions, data */
#define TYPE_FEWER_INSTRUCTIONS (0x01u | 0x80u)
#define TYPE_32_BIT (0x10u | 0x20u)

struct columns {
    struct rsc_event event[EVENTS_MAX];
    uint64_t addr[RSC_BATCH_ACCESSES];
    uint64_t meta[RSC_BATCH_ACCESSES];
    uint64_t pcs[RSC_BATCH_ACCESSES];
};

struct drmemtrace_reader {
    struct rsc_source source;
    struct rsc_input *input;
    const struct rsc_log *log;
    struct rsc_thread_table threads;
    uint64_t pid, tid, pc, next_pc, fetched; /* fetched: address of the last instruction that was */
    uint64_t window, first_time;             /* UINT64_MAX: none yet */
    int32_t thread;                          /* number of (pid, tid), or -1: to be looked up */
    int open;                                /* between a header and its footer */
    int core_sharded;                        /* threads were switched without headers, or inside one */
    int warned;                              /* of a version that is not known */
    int instruction_seen;                    /* since then: a bundle may follow */
    uint64_t filtered;                       /* TYPE_FILTERED bits of the file types of all files */
    uint64_t told_instructions;              /* from markers; UINT64_MAX: no marker seen */
    uint64_t left_out;                       /* prefetches and flushes */
    uint64_t done;                           /* offset of the next record */
    uint32_t used, filled;                   /* of `bytes` */
    uint32_t left_over;                      /* bytes of a cut last record, once the end was met */
    uint32_t count, events;                  /* in the batch being made */
    uint64_t fetches;                        /* in it */
    int fetches_seen;
    struct columns *to, columns[2]; /* its own; the batch before it stays */
    unsigned char bytes[RSC_BATCH_ACCESSES * RECORD_BYTES];
};

struct record {
    uint32_t type, size;
    uint64_t value;
};

static inline struct record record_at(const unsigned char *at) {
    uint16_t type, size;
    uint64_t value;
    memcpy(&type, at, 2);
    memcpy(&size, at + 2, 2);
    memcpy(&value, at + 4, 8);
    return (struct record){type, size, value};
}

int rsc_drmemtrace_matches(const unsigned char *head, size_t bytes, int whole) {
    (void)whole;
    if (bytes < RECORD_BYTES) return 0;
    struct record first = record_at(head);
    if (first.type == HEADER) return first.size == 0 && (uint32_t)first.value < 1000;
    /* a core's file that begins with a thread from elsewhere */
    if (first.type != THREAD || first.size != 0 || bytes < 2 * RECORD_BYTES) return 0;
    struct record second = record_at(head + RECORD_BYTES);
    return second.type == PROCESS && second.size == 0;
}

static int fail_record(const struct drmemtrace_reader *reader, int code, const char *problem, struct rsc_error *error) {
    return rsc_fail_at(error, code, reader->done, "%s: record at byte %" PRIu64 ": %s (drmemtrace)",
                       rsc_input_name(reader->input), reader->done, problem);
}

/* ---- what a record does ---- */

static int check_version(struct drmemtrace_reader *reader, uint64_t version, struct rsc_error *error) {
    char problem[120];
    if (version >= VERSION_MIN && version <= VERSION_MAX) return 0;
    if (version > VERSION_MAX && version <= VERSION_LAST) {
        if (!reader->warned)
            rsc_log_line(reader->log, RSC_LOG_WARNING,
                         "%s: version %" PRIu64 " is newer than this tool knows (%u); read "
                         "as that (drmemtrace)",
                         rsc_input_name(reader->input), version, VERSION_MAX);
        reader->warned = 1;
        return 0;
    }
    if (version >> 32) return fail_record(reader, RSC_EUNSUPPORTED, THIRTY_TWO_BITS, error);
    snprintf(problem, sizeof problem, "unsupported version %" PRIu64 " (known: %u to %u)", version, VERSION_MIN,
             VERSION_MAX);
    return fail_record(reader, RSC_EUNSUPPORTED, problem, error);
}

/* The number of the current thread, or negative. */
static int64_t current_thread(struct drmemtrace_reader *reader, struct rsc_error *error) {
    if (reader->thread < 0) {
        int64_t number = rsc_thread_number(&reader->threads, reader->pid, reader->tid);
        if (number == RSC_ENOMEM) return rsc_fail_memory(error, "thread table");
        if (number < 0) return fail_record(reader, (int)number, "too many threads", error);
        reader->thread = (int32_t)number;
    }
    return reader->thread;
}

static int add_access(struct drmemtrace_reader *reader, uint64_t addr, uint32_t size, enum rsc_kind kind,
                      struct rsc_error *error) {
    int64_t thread = current_thread(reader, error);
    if (thread < 0) return (int)thread;
    reader->to->addr[reader->count] = addr;
    reader->to->meta[reader->count] = rsc_meta(size ? size : 1, kind, (uint32_t)thread);
    reader->to->pcs[reader->count++] = reader->pc;
    return 0;
}

static int add_event(struct drmemtrace_reader *reader, enum rsc_event_type type, uint64_t a, struct rsc_error *error) {
    int64_t thread = current_thread(reader, error);
    if (thread < 0) return (int)thread;
    reader->to->event[reader->events++] =
        (struct rsc_event){.at = reader->count, .type = (uint16_t)type, .thread = (uint32_t)thread, .a = a};
    return 0;
}

static int take_instruction(struct drmemtrace_reader *reader, const struct record *record, struct rsc_error *error) {
    reader->pc = record->value;
    reader->next_pc = record->value + record->size;
    reader->instruction_seen = 1;
    int again = record->type == NOT_FETCHED || (record->type == MAYBE_FETCHED && record->value == reader->fetched);
    if (record->size == 0 || again) return 0;
    reader->fetched = record->value;
    reader->fetches++;
    return add_access(reader, record->value, record->size, RSC_FETCH, error);
}

static int take_bundle(struct drmemtrace_reader *reader, const struct record *record, struct rsc_error *error) {
    unsigned char length[BUNDLE_MAX];
    memcpy(length, &record->value, sizeof length);
    if (record->size > BUNDLE_MAX || !reader->instruction_seen)
        return fail_record(reader, RSC_EFORMAT,
                           record->size > BUNDLE_MAX ? "a bundle of more than 8 instructions"
                                                     : "a bundle with no instruction before it",
                           error);
    for (uint32_t i = 0; i < record->size; i++) {
        struct record one = {INSTRUCTION, length[i], reader->next_pc};
        int status = take_instruction(reader, &one, error);
        if (status < 0) return status;
    }
    return 0;
}

static int take_marker(struct drmemtrace_reader *reader, const struct record *record, struct rsc_error *error) {
    uint64_t value = record->value;
    switch (record->size) {
    case MARKER_VERSION: return check_version(reader, value, error);
    case MARKER_FILE_TYPE:
        if (value & TYPE_32_BIT) return fail_record(reader, RSC_EUNSUPPORTED, THIRTY_TWO_BITS, error);
        reader->filtered |= value & TYPE_FILTERED;
        return 0;
    case MARKER_INSTRUCTIONS:
        reader->told_instructions = (reader->told_instructions == UINT64_MAX ? 0 : reader->told_instructions) + value;
        return 0;
    case MARKER_WINDOW:
        if (value == reader->window) return 0;
        reader->window = value;
        return add_event(reader, RSC_EVENT_MARKER, value, error);
    case MARKER_TIME: /* microseconds */
        if (reader->first_time == UINT64_MAX) reader->first_time = value;
        value = value > reader->first_time ? value - reader->first_time : 0;
        return add_event(reader, RSC_EVENT_TIME, value * 1000, error);
    default: return 0;
    }
}

static int take_header(struct drmemtrace_reader *reader, const struct record *record, struct rsc_error *error) {
    reader->core_sharded |= reader->open;
    int status = check_version(reader, record->value, error);
    if (status < 0) return status;
    reader->open = 1;
    reader->instruction_seen = 0;
    reader->pid = reader->tid = reader->pc = 0;
    reader->fetched = reader->window = UINT64_MAX;
    reader->thread = -1;
    return 0;
}

static int is_instruction(uint32_t type) {
    return (type >= INSTRUCTION && type < BUNDLE) || type == SYSENTER || type == TAKEN_JUMP || type == UNTAKEN_JUMP ||
           type == NOT_FETCHED || type == MAYBE_FETCHED;
}

/* All but reads, writes and plain instructions. */
static int take_other(struct drmemtrace_reader *reader, const struct record *record, struct rsc_error *error) {
    char problem[64];
    if (record->type == HEADER) return take_header(reader, record, error);
    if (!reader->open && record->type != THREAD && record->type != MARKER)
        return fail_record(reader, RSC_EFORMAT, "no header before it", error);
    if (!reader->open && record->type == MARKER && record->size != MARKER_VERSION && record->size != MARKER_FILE_TYPE)
        return 0; /* an idle core: of no thread */
    if (!reader->open && record->type == THREAD) {
        reader->open = reader->core_sharded = 1; /* a thread whose header is in another file */
        reader->instruction_seen = 0;
    }
    if (is_instruction(record->type)) return take_instruction(reader, record, error);
    switch (record->type) {
    case BUNDLE: return take_bundle(reader, record, error);
    case MARKER: return take_marker(reader, record, error);
    case THREAD:
        reader->thread = -1;
        reader->tid = record->value;
        return 0;
    case PROCESS:
        reader->thread = -1;
        reader->pid = record->value;
        return 0;
    case THREAD_END: return add_event(reader, RSC_EVENT_THREAD_END, record->value, error);
    case FOOTER: reader->open = 0; return 0;
    case ENCODING: return 0;
    default: break;
    }
    if (record->type >= TYPES) {
        snprintf(problem, sizeof problem, "unknown record type %" PRIu32, record->type);
        return fail_record(reader, RSC_EFORMAT, problem, error);
    }
    reader->left_out++;
    return 0;
}

/* ---- batches ---- */

/* Reads a block of records. Returns 1, 0 at the proper end, or negative; an error repeats on every call. */
static int fill(struct drmemtrace_reader *reader, struct rsc_error *error) {
    if (!reader->left_over) {
        int64_t got = rsc_input_read(reader->input, reader->bytes, sizeof reader->bytes, error);
        if (got < 0) return (int)got;
        reader->used = 0;
        reader->left_over = (uint32_t)(got % RECORD_BYTES);
        reader->filled = (uint32_t)got - reader->left_over;
        if (reader->filled) return 1;
        if (!reader->left_over && (!reader->open || reader->core_sharded)) return 0;
    }
    uint64_t end = rsc_input_offset(reader->input);
    return rsc_fail_at(error, RSC_EFORMAT, end, "%s: cut at byte %" PRIu64 ": the footer is missing (drmemtrace)",
                       rsc_input_name(reader->input), end);
}

/* Takes records until the batch is full or the block has no complete record left. */
static int take_records(struct drmemtrace_reader *reader, struct rsc_error *error) {
    while (reader->used < reader->filled && reader->count + BUNDLE_MAX <= RSC_BATCH_ACCESSES &&
           reader->events < EVENTS_MAX) {
        struct record record = record_at(reader->bytes + reader->used);
        int status =
            record.type <= WRITE && reader->open
                ? add_access(reader, record.value, record.size, record.type == WRITE ? RSC_WRITE : RSC_READ, error)
                : take_other(reader, &record, error);
        if (status < 0) return status;
        reader->used += RECORD_BYTES;
        reader->done += RECORD_BYTES;
    }
    return 0;
}

static int finish(struct drmemtrace_reader *reader) {
    const char *name = rsc_input_name(reader->input);
    if (reader->open)
        rsc_log_line(reader->log, RSC_LOG_WARNING,
                     "%s: no footer at the end: its last thread went on in another core's file, or the file is cut "
                     "(drmemtrace)",
                     name);
    if (reader->left_out)
        rsc_log_line(reader->log, RSC_LOG_INFO, "%s: skipped %" PRIu64 " prefetches and flushes", name,
                     reader->left_out);
    if (reader->filtered)
        rsc_log_line(reader->log, RSC_LOG_WARNING,
                     "%s: recorded through a filter cache: it holds only the misses of that cache (drmemtrace)", name);
    return 0;
}

static int drmemtrace_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct drmemtrace_reader *reader = (struct drmemtrace_reader *)source;
    int status = 1;
    reader->to = &reader->columns[reader->to == reader->columns];
    reader->count = reader->events = 0;
    reader->fetches = 0;
    while (reader->count + BUNDLE_MAX <= RSC_BATCH_ACCESSES && reader->events < EVENTS_MAX) {
        status = reader->used < reader->filled ? 1 : fill(reader, error);
        if (status <= 0) break;
        status = take_records(reader, error);
        if (status < 0) break;
    }
    if (!reader->count && !reader->events) return status < 0 ? status : finish(reader);
    uint64_t instructions = rsc_instructions_of(reader->fetches, &reader->fetches_seen);
    if (reader->filtered & TYPE_FEWER_INSTRUCTIONS) instructions = RSC_UNKNOWN;
    *batch = (struct rsc_batch){.count = reader->count,
                                .event_count = reader->events,
                                .addr = reader->to->addr,
                                .meta = reader->to->meta,
                                .pc = reader->to->pcs,
                                .events = reader->to->event,
                                .threads = reader->threads.threads,
                                .thread_count = reader->threads.count,
                                .instructions = instructions};
    return 1;
}

static void drmemtrace_info(struct rsc_source *source, struct rsc_trace_info *info) {
    const struct drmemtrace_reader *reader = (const struct drmemtrace_reader *)source;
    info->source = "DynamoRIO drmemtrace";
    info->has_pc = 1;
    if (reader->filtered & TYPE_FEWER_INSTRUCTIONS && reader->told_instructions != UINT64_MAX)
        info->instructions = reader->told_instructions;
}

uint64_t rsc_drmemtrace_first_time(const struct rsc_source *source) {
    return ((const struct drmemtrace_reader *)source)->first_time;
}

static void drmemtrace_close(struct rsc_source *source) {
    struct drmemtrace_reader *reader = (struct drmemtrace_reader *)source;
    rsc_thread_table_free(&reader->threads);
    free(reader);
}

static const struct rsc_source_ops drmemtrace_ops = {
    .next = drmemtrace_next, .info = drmemtrace_info, .close = drmemtrace_close};

int rsc_drmemtrace_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                        struct rsc_error *error) {
    struct drmemtrace_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return rsc_fail_memory(error, "drmemtrace reader");
    reader->source.ops = &drmemtrace_ops;
    reader->source.keeps = 1;
    reader->input = input;
    reader->log = options ? options->log : NULL;
    reader->thread = -1;
    reader->told_instructions = reader->first_time = UINT64_MAX;
    *out = &reader->source;
    return 0;
}
