/*
 * reusescope/trace.h - accesses in columns, and the files they come from.
 *
 * A trace is a stream of batches. A batch is up to a few ten thousand accesses
 * in columns: addr[i], meta[i] (size, kind and thread packed) and, if the source
 * records it, pc[i]. Batches are read-only and belong to the handle that returned
 * them; they stay valid until the next call on it.
 */
#ifndef REUSESCOPE_TRACE_H
#define REUSESCOPE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rsc_kind { RSC_READ = 0, RSC_WRITE = 1, RSC_FETCH = 2 };

/* Sets of kinds. */
#define RSC_KIND_BIT(kind) (1u << (kind))
#define RSC_KINDS_ALL 7u

/* An unknown count (the instructions of a trace that does not record them). */
#define RSC_UNKNOWN UINT64_MAX

/*
 * meta: bits 0-31 size in bytes, 32-39 kind, 40-63 thread number. Thread
 * numbers are dense from 0 in order of first appearance; rsc_batch.threads maps
 * them to operating system threads.
 */
static inline uint64_t rsc_meta(uint32_t size_bytes, enum rsc_kind kind, uint32_t thread) {
    return (uint64_t)size_bytes | (uint64_t)kind << 32 | (uint64_t)thread << 40;
}
static inline uint32_t rsc_meta_size(uint64_t meta) { return (uint32_t)meta; }
static inline enum rsc_kind rsc_meta_kind(uint64_t meta) { return (enum rsc_kind)(meta >> 32 & 0xff); }
static inline uint32_t rsc_meta_thread(uint64_t meta) { return (uint32_t)(meta >> 40); }
#define RSC_THREADS_MAX (1u << 20)

struct rsc_thread {
    uint64_t pid;
    uint64_t tid;
};

enum rsc_event_type {
    RSC_EVENT_THREAD_START = 1, /* a: tid, b: pid */
    RSC_EVENT_THREAD_END = 2,
    RSC_EVENT_BARRIER = 3, /* a: identity of the barrier */
    RSC_EVENT_LOCK = 4,    /* a: address of the lock, b: 0 acquire, 1 release */
    RSC_EVENT_ALLOC = 5,   /* a: address, b: bytes; data: call path, u64 pcs, innermost first */
    RSC_EVENT_FREE = 6,    /* a: address; data as for ALLOC */
    RSC_EVENT_MAP = 7,     /* a: start, b: bytes; data: u64 file offset, u8 build-id length, build id, file name */
    RSC_EVENT_MARKER = 8,  /* a: the program's own number; data: its text */
    RSC_EVENT_TIME = 9,    /* a: nanoseconds since the start of the recording */
    RSC_EVENT_CALL = 10,   /* a: pc of the call, b: address called */
    RSC_EVENT_RETURN = 11, /* a: pc returned to */
};

/* Something that happened just before access `at` of its batch. */
struct rsc_event {
    uint32_t at; /* 0..count: index into the batch's columns */
    uint16_t type;
    uint16_t data_bytes;
    uint32_t thread;
    uint32_t reserved;
    uint64_t a, b;
    const void *data; /* data_bytes long, or NULL */
};

struct rsc_batch {
    uint32_t count;
    uint32_t event_count;
    const uint64_t *addr;
    const uint64_t *meta;
    const uint64_t *pc; /* NULL: the source has no pcs */
    const struct rsc_event *events;
    const struct rsc_thread *threads; /* by thread number; NULL: number n is tid n of pid 0 */
    uint32_t thread_count;            /* entries in threads */
    uint32_t reserved;
    uint64_t instructions; /* executed during this batch, or RSC_UNKNOWN */
};

/* Which accesses of a trace to keep. Start from RSC_FILTER_ALL. */
struct rsc_filter {
    uint32_t kinds;       /* kinds to keep: a set of RSC_KIND_BIT() */
    uint32_t tid_count;   /* 0: every thread */
    const uint64_t *tids; /* operating system thread ids to keep */
    uint64_t addr_low, addr_high;   /* inclusive, on the access's first byte */
    uint64_t bits_mask, bits_value; /* kept where (addr & mask) == value */
    uint64_t first, count;          /* window, in accesses of the unfiltered trace */
    uint64_t every;                 /* keep every Nth access that passes the other tests; 0 or 1: all */
};
#define RSC_FILTER_ALL {RSC_KINDS_ALL, 0, NULL, 0, UINT64_MAX, 0, 0, 0, UINT64_MAX, 1}

struct rsc_trace_options {
    size_t struct_bytes;             /* sizeof(struct rsc_trace_options) */
    const char *format;              /* as --from names them: "rsct", "din", "lackey", ...; NULL: by content */
    const struct rsc_filter *filter; /* NULL: everything; copied */
    const struct rsc_log *log;       /* NULL: silent; must outlive the trace */
    int salvage;                     /* native: skip damaged frames instead of failing */
    int decode_ahead;                /* threads that decode, ahead of what is read; 0: the caller's */
    int without_pcs;                 /* native: skip pcs, which makes reading faster */
    int unused;                      /* padding, not read */
    int without_events;              /* native: skip events, which makes reading faster */
    const char *columns;             /* text in columns: which they are, as --columns takes it: "addr=3,size=4" */
};

struct rsc_trace_info {
    const char *format; /* "rsct", "din", ... */
    const char *compression; /* "none", "gzip", "xz", "zstd", "zip" around the format */
    const char *source; /* the recording tool, "" if unknown */
    const char *command; /* the command line recorded, "" if unknown */
    const char *filter; /* the filter it was written through, "" if none */
    uint64_t accesses; /* RSC_UNKNOWN if known only at the end of the trace */
    uint64_t instructions;
    uint64_t full_accesses; /* of the unfiltered trace */
    uint64_t full_instructions;
    uint64_t frames; /* native only, else 0 */
    uint64_t file_bytes; /* RSC_UNKNOWN for pipes */
    uint64_t lost_bytes; /* skipped by salvage so far */
    uint64_t lost_frames;
    uint32_t version; /* native format version, else 0 */
    int has_pc;
};

struct rsc_trace;

/*
 * Opens `path` ("-" is standard input) for reading. Close *out with
 * rsc_trace_close(). options may be NULL.
 */
RSC_API int rsc_trace_open(struct rsc_trace **out, const char *path, const struct rsc_trace_options *options,
                           struct rsc_error *error);

/*
 * The next batch. Returns 1 and sets *batch, 0 at the end of the trace, or a
 * negative code. The batch is valid until the next call on this handle. A batch
 * may hold events and no accesses. After an error every further call returns the
 * same error.
 */
RSC_API int rsc_trace_next(struct rsc_trace *trace, const struct rsc_batch **batch, struct rsc_error *error);

/*
 * Moves to access `index` of the unfiltered trace. Works only for native traces
 * in regular files, without decode_ahead (RSC_EUNSUPPORTED otherwise).
 */
RSC_API int rsc_trace_seek(struct rsc_trace *trace, uint64_t index, struct rsc_error *error);

/* Fills in what is known about the trace so far; complete at the end of the trace. */
RSC_API void rsc_trace_get_info(struct rsc_trace *trace, struct rsc_trace_info *info);

/* Closes the trace. NULL is allowed. */
RSC_API void rsc_trace_close(struct rsc_trace *trace);

struct rsc_trace_writer_options {
    size_t struct_bytes;
    const char *format; /* "rsct" (default), "din", "csv" */
    const char *source; /* native header: the recording tool; may be NULL */
    const char *command; /* native header: the command line; may be NULL */
    const char *filter; /* native header: the filter applied; may be NULL */
    int level; /* zstd level, 0: 3 */
    uint64_t max_bytes; /* end the file cleanly before it grows past this; 0: no limit */
    int pcs; /* keep pcs if the first batch has them (1) or drop them (0); din has none */
    uint32_t frame_accesses; /* native: accesses per frame, 0: 1 Mi */
    int keep_partial; /* 1: write to PATH.partial until finish, so that a killed process leaves a trace to salvage */
    int whole_frames; /* native, 1: instruction counts of whole frames only: where batches end is a matter of chance */
};

struct rsc_trace_writer;

/*
 * Creates a trace. It is written under a temporary name beside `path` and renamed
 * when rsc_trace_writer_finish() succeeds; "-" is standard output, written
 * directly.
 */
RSC_API int rsc_trace_writer_open(struct rsc_trace_writer **out, const char *path,
                                  const struct rsc_trace_writer_options *options, struct rsc_error *error);

/*
 * Appends a batch. Returns 0, or 1 when max_bytes is reached or the disk is full and
 * further accesses are dropped (the file stays valid: call finish), or a negative code.
 */
RSC_API int rsc_trace_writer_push(struct rsc_trace_writer *writer, const struct rsc_batch *batch,
                                  struct rsc_error *error);

/* Sets the totals of the unfiltered trace, for a filtered copy; call before finish. */
RSC_API void rsc_trace_writer_set_full(struct rsc_trace_writer *writer, uint64_t accesses, uint64_t instructions);

/*
 * Completes the file, waits until it is on the disk and renames it. Returns 0, 1 when
 * max_bytes cut it short (the file is a valid trace of what fitted), or a negative code.
 * On a full disk that is RSC_EIO: an existing file is not replaced, and what fitted is left
 * as PATH.partial, a valid trace. The writer must still be closed.
 */
RSC_API int rsc_trace_writer_finish(struct rsc_trace_writer *writer, struct rsc_error *error);

/* Frees the writer; an unfinished file is removed. NULL is allowed. */
RSC_API void rsc_trace_writer_close(struct rsc_trace_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
