/*
 * reader_perf_script.c - memory samples as `perf script` prints them.
 *
 * Fields come in perf's own order, whatever the order in -F:
 *
 *     [comm] [pid/tid] [[cpu]] [time:] [period] [event:] addr data_src |OP LOAD|... [weight] ip sym (dso)
 *
 * addr is required, with ip or data_src beside it: a single number could be either
 * address. `-F comm,pid,tid,time,event,addr,data_src,ip`, `perf mem record` without
 * -F, and `-F ip,addr` print that. Numbers after addr are weights and the ip; the ip
 * is the longest. If call chains were recorded, the ip is the first frame on the
 * lines below instead.
 *
 * The operation is in data_src (linux/perf_event.h: bits 0-4 are n/a, load,
 * store, prefetch, exec); without data_src an event with "store" in its name is a
 * write, and everything else a read. Samples without an address (0) and those that
 * are not loads or stores are skipped and counted. Sizes are 1, and there is no
 * instruction count: the file holds samples of a run, not every access.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "trace/formats/digits.h"
#include "trace/formats/text_reader.h"

/* Lines examined to detect perf's output. */
#define LINES_TRIED 64

/* The operation, in the lowest bits of data_src. */
#define OP_STORE 4u
#define OP_LOAD 2u
#define OP_EXEC 16u

struct perf_reader {
    struct rsc_text_reader text;
    uint64_t samples, left_out;
    int headed;      /* samples have fields before their address: lines without are frames */
    int wants_frame; /* the next frame holds the pc of the batch's last sample */
};

/* ---- words, separated by blanks ---- */

struct word {
    const char *at, *end;
};

/* The next word at or behind `at`; empty at the end of the line. */
static struct word word_from(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    struct word word = {at, at};
    while (word.end < end && *word.end != ' ' && *word.end != '\t') word.end++;
    return word;
}

static size_t length_of(struct word word) { return (size_t)(word.end - word.at); }

/* Is all of it a hexadecimal number, with 0x or without? */
static int is_hex(struct word word, uint64_t *value) {
    if (length_of(word) > 2 && rsc_has_hex_prefix(word.at)) word.at += 2;
    unsigned digits = rsc_parse_hex(word.at, value);
    return digits > 0 && digits <= 16 && word.at + digits == word.end;
}

/* Parses a decimal number at the start of a word. Returns its end; NULL if there is none. */
static const char *decimal_at(struct word word, uint64_t *value) {
    return word.at < word.end ? rsc_parse_decimal(word.at, value) : NULL;
}

static int is_time(struct word word) {
    uint64_t ignored;
    const char *at = decimal_at(word, &ignored);
    if (!at || *at != '.') return 0;
    at = rsc_parse_decimal(at + 1, &ignored);
    return at && *at == ':' && at + 1 == word.end;
}

static int ends_with_colon(struct word word) { return length_of(word) > 1 && word.end[-1] == ':'; }

/* ---- the parts of a line ---- */

struct sample {
    uint64_t pid, tid, addr, pc, operation;
    int has_operation, has_pc, is_store;
};

/* Takes "tid" or "pid/tid". */
static int take_thread(struct sample *sample, struct word word) {
    uint64_t first = 0, second = 0;
    const char *at = decimal_at(word, &first);
    if (!at) return 0;
    if (at == word.end) {
        sample->tid = first;
    } else {
        if (*at != '/') return 0;
        struct word rest = {at + 1, word.end};
        if (decimal_at(rest, &second) != word.end) return 0;
        sample->pid = first;
        sample->tid = second;
    }
    return 1;
}

static int names_a_store(struct word event) {
    for (const char *at = event.at; at + 5 <= event.end; at++)
        if (!strncasecmp(at, "store", 5)) return 1;
    return 0;
}

/*
 * Parses the fields before the address. Returns their end, or `line` if there are
 * none. The thread is the last number before the time (only the processor may come
 * in between), since a command may contain blanks and numbers.
 */
static const char *take_head(struct sample *sample, const char *line, const char *end) {
    struct word word = word_from(line, end), time = {NULL, NULL}, thread = {NULL, NULL}, event = {NULL, NULL};
    uint64_t ignored;
    for (; word.at < word.end && *word.at != '|' && !time.at; word = word_from(word.end, end)) {
        struct sample ignored_thread;
        if (is_time(word)) time = word;
        else if (take_thread(&ignored_thread, word)) thread = word;
    }
    if (time.at) {
        struct word next = word_from(time.end, end);
        if (decimal_at(next, &ignored) == next.end) next = word_from(next.end, end); /* the period */
        if (ends_with_colon(next) && *next.at != '|') event = next;
    } else {
        /* no time: the first number is the thread, a second one the period */
        thread = (struct word){NULL, NULL};
        for (word = word_from(line, end); word.at < word.end && *word.at != '|'; word = word_from(word.end, end)) {
            struct sample ignored_thread;
            if (!thread.at && take_thread(&ignored_thread, word)) thread = word;
            if (!ends_with_colon(word)) continue;
            event = word;
            break;
        }
    }
    if (!time.at && !event.at) return line;
    if (thread.at) take_thread(sample, thread);
    if (event.at) sample->is_store = names_a_store(event);
    return event.at ? event.end : time.end;
}

/* Skips "|OP LOAD|LVL L1 hit|...|LCK No" up to the last key, which is not a number. A '|' in a symbol has no key after
 * it. */
static const char *pass_decoded(const char *at, const char *end) {
    const char *last = at;
    for (; at < end; at++) {
        if (*at != '|' || end - at < 4) continue;
        int keyed = at[1] >= 'A' && at[1] <= 'Z' && at[2] >= 'A' && at[2] <= 'Z';
        if (!keyed) break;
        last = at;
    }
    return word_from(last, end).end;
}

/* The ip among the numbers from `at` on. */
static void take_pc(struct sample *sample, const char *at, const char *end) {
    size_t longest = 0;
    struct word word = word_from(at, end);
    for (; word.at < word.end && *word.at != '('; word = word_from(word.end, end)) {
        uint64_t value;
        if (!is_hex(word, &value)) {
            if (longest) break; /* a symbol */
            continue;           /* the end of the decoded data_src */
        }
        if (length_of(word) < longest) continue;
        longest = length_of(word);
        sample->pc = value;
        sample->has_pc = 1;
    }
}

/* Parses the numbers of a sample. Returns the problem, or NULL. */
static const char *take_numbers(struct sample *sample, const char *at, const char *end) {
    struct word addr = word_from(at, end), source, decoded;
    if (!is_hex(addr, &sample->addr)) return "expected an address (perf script -F ...,addr,ip)";
    source = word_from(addr.end, end);
    decoded = word_from(source.end, end);
    if (decoded.at < decoded.end && *decoded.at == '|' && is_hex(source, &sample->operation)) {
        sample->has_operation = 1;
        take_pc(sample, pass_decoded(decoded.at, end), end);
        return NULL;
    }
    take_pc(sample, addr.end, end);
    return sample->has_pc ? NULL : "only one number: -F must list addr and one of ip and data_src";
}

/* ---- lines ---- */

static const char *trim_return(const char *line, const char *newline) {
    return newline > line && newline[-1] == '\r' ? newline - 1 : newline;
}

int rsc_perf_script_matches(const unsigned char *head, size_t bytes, int whole) {
    struct rsc_head_line line;
    size_t at = 0;
    if (rsc_head_is_binary(head, bytes)) return 0;
    for (int tried = 0; tried < LINES_TRIED && rsc_head_line_next(&line, head, bytes, whole, &at); tried++) {
        struct sample sample = {0};
        const char *end = trim_return(line.text, strchr(line.text, '\n'));
        if (!memmem(line.text, (size_t)(end - line.text), " |OP ", 5)) continue; /* only data_src identifies perf */
        if (!take_numbers(&sample, take_head(&sample, line.text, end), end) && sample.has_operation) return 1;
    }
    return 0;
}

/* Adds a sample to the batch if it is of an access. Returns the problem, or NULL. */
static const char *add_sample(struct perf_reader *reader, const struct sample *sample, uint32_t *count) {
    struct rsc_text_reader *text = &reader->text;
    enum rsc_kind kind = sample->is_store ? RSC_WRITE : RSC_READ;
    reader->samples++;
    if (sample->has_operation) {
        if (sample->operation & OP_STORE) kind = RSC_WRITE;
        else if (sample->operation & OP_LOAD) kind = RSC_READ;
        else if (sample->operation & OP_EXEC) kind = RSC_FETCH;
    }
    int none = sample->has_operation && !(sample->operation & (OP_STORE | OP_LOAD | OP_EXEC));
    if (none || !sample->addr) {
        reader->left_out++;
        reader->wants_frame = 0;
        return NULL;
    }
    int64_t thread = rsc_text_reader_thread(text, sample->pid, sample->tid);
    if (thread < 0) return text->problem;
    reader->wants_frame = 1;
    text->addr[*count] = sample->addr;
    text->meta[*count] = rsc_meta(1, kind, (uint32_t)thread);
    text->pc[(*count)++] = sample->pc;
    return NULL;
}

/* Adds one line. Returns the problem, or NULL. */
static const char *take_line(struct perf_reader *reader, const char *newline, uint32_t *count) {
    const char *line = reader->text.lines.cursor, *end = trim_return(line, newline);
    struct sample sample = {0};
    const char *numbers = take_head(&sample, line, end);
    if (numbers != line) {
        reader->headed = 1;
    } else if (reader->headed) {
        uint64_t pc;
        if (!is_hex(word_from(line, end), &pc)) return "neither a sample nor a frame of a call chain";
        if (reader->wants_frame && *count) reader->text.pc[*count - 1] = pc;
        reader->wants_frame = 0;
        return NULL;
    }
    const char *problem = take_numbers(&sample, numbers, end);
    return problem ? problem : add_sample(reader, &sample, count);
}

/* Is there room for one more sample, or is a frame expected for the last one? */
static int takes_more(const struct perf_reader *reader, uint32_t count) {
    return count < RSC_BATCH_ACCESSES - 1 || (reader->wants_frame && count < RSC_BATCH_ACCESSES);
}

static uint32_t perf_parse(struct rsc_text_reader *text, uint32_t count) {
    struct perf_reader *reader = (struct perf_reader *)text;
    struct rsc_text_lines *lines = &text->lines;
    if (!count) reader->wants_frame = 0; /* the sample is in the batch before */
    while (lines->cursor < lines->limit && takes_more(reader, count)) {
        const char *newline = rsc_text_lines_end(lines);
        if (!newline) {
            text->problem = RSC_TEXT_LINE_TOO_LONG;
            break;
        }
        if (!rsc_text_line_is_idle(lines->cursor, 1)) {
            text->problem = take_line(reader, newline, &count);
            if (text->problem) break;
        }
        rsc_text_lines_pass(lines, newline + 1);
    }
    return count;
}

/* ---- blocks of lines ---- */

static int is_headed(const char *line, const char *newline) {
    struct sample ignored;
    const char *end = trim_return(line, newline);
    return !rsc_text_line_is_idle(line, 1) && take_head(&ignored, line, end) != line;
}

/* A sample waits for the frame on the line below. */
static const char *perf_hold(const char *cursor, const char *limit) {
    while (limit > cursor) {
        const char *before = memrchr(cursor, '\n', (size_t)(limit - 1 - cursor));
        const char *line = before ? before + 1 : cursor;
        if (!rsc_text_line_is_idle(line, 1)) return is_headed(line, limit - 1) ? line : limit;
        limit = line;
    }
    return limit;
}

static int perf_carry(const char *cursor, const char *limit) {
    const char *newline;
    for (; cursor < limit; cursor = newline + 1) {
        newline = memchr(cursor, '\n', (size_t)(limit - cursor));
        if (is_headed(cursor, newline)) return 1;
    }
    return 0;
}

static void perf_begin(struct rsc_text_reader *part) { ((struct perf_reader *)part)->headed = part->carried; }

static void perf_join(struct rsc_text_reader *text, const struct rsc_text_reader *block, struct rsc_piece_view *view) {
    struct perf_reader *all = (struct perf_reader *)text;
    const struct perf_reader *part = (const struct perf_reader *)block;
    (void)view;
    all->samples += part->samples;
    all->left_out += part->left_out;
}

static int perf_finish(struct rsc_text_reader *text, struct rsc_error *error) {
    const struct perf_reader *reader = (const struct perf_reader *)text;
    const char *name = rsc_input_name(text->lines.input);
    (void)error;
    if (reader->left_out)
        rsc_log_line(text->log, RSC_LOG_WARNING,
                     "%s: skipped %" PRIu64 " of %" PRIu64 " samples: no address, or neither load nor store", name,
                     reader->left_out, reader->samples);
    if (reader->samples > reader->left_out)
        rsc_log_line(text->log, RSC_LOG_INFO, "%s: samples of a run: distances count only sampled accesses", name);
    return 0;
}

static const struct rsc_text_format perf_format = {.name = "perf-script",
                                                   .source = "perf script: samples",
                                                   .has_pc = 1,
                                                   .has_threads = 1,
                                                   .reader_bytes = sizeof(struct perf_reader),
                                                   .parse = perf_parse,
                                                   .finish = perf_finish,
                                                   .begin = perf_begin,
                                                   .hold = perf_hold,
                                                   .carry = perf_carry,
                                                   .join = perf_join};

int rsc_perf_script_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                         struct rsc_error *error) {
    return rsc_text_reader_open(out, &perf_format, input, options, error);
}
