/*
 * writer_text.c - batches to din and CSV lines.
 *
 * Lines are built in a buffer, which is written to the file when it has no room for
 * another line. A hexadecimal number is formatted eight digits at a time in a 64-bit
 * word, the reverse of digits.h; a thread's ids are formatted once per run of
 * accesses by that thread.
 */
#include "trace/formats/writer_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define BUFFER_BYTES (256u << 10)

/* Room for any line: addr 18, size 10, kind 1, tid and pid 20 each, pc 18, 6 separators; and put_hex()'s overrun. */
#define LINE_BYTES 128u

struct rsc_text_writer {
    struct rsc_output_file *file; /* not owned */
    enum rsc_text_format format;
    int begun;           /* CSV: the header is written */
    int pcs;             /* CSV: there is a pc column */
    int full;            /* no more lines are accepted: max_bytes was reached, or */
    int disk_full;       /* there is no room on the disk */
    uint64_t lines, buffered; /* of accesses in the file; in the buffer */
    uint64_t left_bytes; /* that may still be written: UINT64_MAX without a limit */
    size_t used;
    uint32_t thread; /* that thread_text names; UINT32_MAX: none yet */
    int thread_bytes;
    char thread_text[48]; /* ",TID,PID" */
    char buffer[BUFFER_BYTES];
};

int rsc_text_writer_open(struct rsc_text_writer **out, struct rsc_output_file *file, enum rsc_text_format format,
                         struct rsc_error *error) {
    struct rsc_text_writer *writer = malloc(sizeof *writer);
    *out = writer;
    if (!writer) return rsc_fail_memory(error, "text writer");
    writer->file = file;
    writer->format = format;
    writer->begun = writer->pcs = writer->full = writer->disk_full = 0;
    writer->lines = writer->buffered = 0;
    writer->left_bytes = UINT64_MAX;
    writer->used = 0;
    writer->thread = UINT32_MAX;
    return 0;
}

void rsc_text_writer_limit(struct rsc_text_writer *writer, uint64_t max_bytes) {
    writer->left_bytes = max_bytes ? max_bytes : UINT64_MAX;
}

/* Writes the buffer, which has whole lines: on a full disk all of them or none. */
static int flush(struct rsc_text_writer *writer, struct rsc_error *error) {
    uint64_t before = writer->file->bytes;
    size_t bytes = writer->used;
    writer->used = 0;
    errno = 0;
    int status = bytes && !writer->disk_full ? rsc_output_write(writer->file, writer->buffer, bytes, error) : 0;
    if (status == 0 && !writer->disk_full) writer->lines += writer->buffered;
    writer->buffered = 0;
    if (status == 0 || !rsc_output_ran_out(errno) || rsc_output_cut_back(writer->file, before) < 0) return status;
    writer->full = writer->disk_full = 1;
    return 0;
}

/* Counts a line of `bytes` in the buffer; drops it if it exceeds the limit. */
static int keep_line(struct rsc_text_writer *writer, size_t bytes) {
    writer->full = bytes > writer->left_bytes;
    if (writer->full) return 0;
    writer->used += bytes;
    writer->left_bytes -= bytes;
    return 1;
}

/* The eight lower-case digits of `value`, most significant first, as characters in a word. */
static inline uint64_t hex_word(uint32_t value) {
    uint64_t nibbles = __builtin_bswap32(value);
    nibbles = (nibbles | nibbles << 16) & 0x0000ffff0000ffffull;
    nibbles = (nibbles | nibbles << 8) & 0x00ff00ff00ff00ffull;
    nibbles = (nibbles >> 4 | nibbles << 8) & 0x0f0f0f0f0f0f0f0full;
    uint64_t letters = (nibbles + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull;
    return nibbles + 0x3030303030303030ull + letters * ('a' - '0' - 10);
}

/* Writes `value` without leading zeros. 16 bytes are touched whatever its length. */
static inline char *put_hex(char *to, uint64_t value) {
    unsigned digits = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;
    value <<= 64 - 4 * digits;
    uint64_t high = hex_word((uint32_t)(value >> 32)), low = hex_word((uint32_t)value);
    memcpy(to, &high, 8);
    memcpy(to + 8, &low, 8);
    return to + digits;
}

static inline char *put_decimal(char *to, uint32_t value) {
    char digits[10];
    int count = 0;
    do digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count) *to++ = digits[--count];
    return to;
}

static char *put_din(char *to, const struct rsc_batch *batch, uint32_t i) {
    *to++ = (char)('0' + rsc_meta_kind(batch->meta[i]));
    *to++ = ' ';
    to = put_hex(to, batch->addr[i]);
    *to++ = '\n';
    return to;
}

static void name_thread(struct rsc_text_writer *writer, const struct rsc_batch *batch, uint32_t thread) {
    uint64_t tid = thread, pid = 0;
    if (batch->threads && thread < batch->thread_count) {
        tid = batch->threads[thread].tid;
        pid = batch->threads[thread].pid;
    }
    writer->thread = thread;
    writer->thread_bytes = snprintf(writer->thread_text, sizeof writer->thread_text, ",%" PRIu64 ",%" PRIu64, tid, pid);
}

static char *put_csv(struct rsc_text_writer *writer, char *to, const struct rsc_batch *batch, uint32_t i) {
    uint64_t meta = batch->meta[i];
    if (rsc_meta_thread(meta) != writer->thread) name_thread(writer, batch, rsc_meta_thread(meta));
    memcpy(to, "0x", 2);
    to = put_hex(to + 2, batch->addr[i]);
    *to++ = ',';
    to = put_decimal(to, rsc_meta_size(meta) ? rsc_meta_size(meta) : 1); /* a size of 0 counts as 1 */
    *to++ = ',';
    *to++ = "RWI?"[rsc_meta_kind(meta) & 3];
    memcpy(to, writer->thread_text, sizeof writer->thread_text);
    to += writer->thread_bytes;
    if (writer->pcs) {
        memcpy(to, ",0x", 3);
        to = put_hex(to + 3, batch->pc ? batch->pc[i] : 0);
    }
    *to++ = '\n';
    return to;
}

static void put_header(struct rsc_text_writer *writer, int pcs) {
    const char *names = pcs ? "addr,size,kind,tid,pid,pc\n" : "addr,size,kind,tid,pid\n";
    writer->begun = 1;
    writer->pcs = pcs;
    memcpy(writer->buffer + writer->used, names, strlen(names));
    keep_line(writer, strlen(names));
}

int rsc_text_writer_push(struct rsc_text_writer *writer, const struct rsc_batch *batch, struct rsc_error *error) {
    if (writer->format == RSC_TEXT_CSV && !writer->begun && batch->count) put_header(writer, batch->pc != NULL);
    writer->thread = UINT32_MAX; /* this batch may come from another source, with other thread numbers */
    for (uint32_t i = 0; i < batch->count && !writer->full; i++) {
        if (writer->used > BUFFER_BYTES - LINE_BYTES) {
            int status = flush(writer, error);
            if (status < 0) return status;
        }
        char *line = writer->buffer + writer->used;
        char *end = writer->format == RSC_TEXT_DIN ? put_din(line, batch, i) : put_csv(writer, line, batch, i);
        if (!writer->full) writer->buffered += (uint64_t)keep_line(writer, (size_t)(end - line));
    }
    return writer->full;
}

int rsc_text_writer_finish(struct rsc_text_writer *writer, struct rsc_error *error) {
    if (writer->format == RSC_TEXT_CSV && !writer->begun) put_header(writer, 0);
    int status = flush(writer, error);
    return status < 0 ? status : writer->disk_full;
}

int rsc_text_writer_ran_out(const struct rsc_text_writer *writer, uint64_t *kept) {
    *kept = writer->lines;
    return writer->disk_full;
}

void rsc_text_writer_free(struct rsc_text_writer *writer) { free(writer); }
