/*
 * reader_lackey.c - what valgrind --tool=lackey --trace-mem=yes prints.
 *
 *     I  04001000,3      a fetch
 *      L 1fff000680,8    a load      (one blank, the letter, one blank)
 *      S 1fff000680,8    a store
 *      M 0421ac10,4      a modify: a read, then a write of the same bytes
 *
 * The pc of a data access is the address of the fetch before it (0 before the
 * first one); a fetch's is its own. Valgrind's own lines (==PID== and --PID--)
 * are skipped. When a trace was made with 2>&1, the program's output is mixed in:
 * lines of none of the four shapes are skipped too, and a warning at the end counts
 * them. A file without any access is not a lackey trace.
 *
 * The four kinds follow each other without a pattern that a branch predictor
 * could learn, so a line is parsed without branching on its kind: the two
 * opening characters, xor-ed, select a row of `shapes`, and both halves of a
 * modify are always written, the second one being kept only for M.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/digits.h"
#include "trace/formats/readers.h"
#include "trace/formats/text_lines.h"

/* Lines examined to detect a lackey file. */
#define LINES_TRIED 64

struct lackey_reader {
    struct rsc_source source;
    const struct rsc_log *log;
    struct rsc_text_lines lines;
    uint64_t foreign; /* lines that are neither accesses nor valgrind's */
    uint64_t last_pc;
    int accesses_seen, fetches_seen;
    uint64_t addr[RSC_BATCH_ACCESSES];
    uint64_t meta[RSC_BATCH_ACCESSES];
    uint64_t pc[RSC_BATCH_ACCESSES];
};

#define OPENING(a, b, c) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16)

/* Indexed by the xor of a line's first two characters. Rows not listed have opening 0 and match nothing. */
static const struct shape {
    uint32_t opening; /* the first three characters */
    uint8_t kind;     /* of the (first) access */
    uint8_t fetch;
    uint8_t modify;
} shapes[256] = {
    ['I' ^ ' '] = {OPENING('I', ' ', ' '), RSC_FETCH, 1, 0},
    [' ' ^ 'L'] = {OPENING(' ', 'L', ' '), RSC_READ, 0, 0},
    [' ' ^ 'S'] = {OPENING(' ', 'S', ' '), RSC_WRITE, 0, 0},
    [' ' ^ 'M'] = {OPENING(' ', 'M', ' '), RSC_READ, 0, 1},
};

/* Parses one access line. Returns the start of the next line, or NULL if it is not an access. */
static inline const char *parse_line(const char *at, const struct shape **shape, uint64_t *addr, uint32_t *size) {
    uint32_t opening;
    memcpy(&opening, at, 4);
    *shape = &shapes[(unsigned char)(at[0] ^ at[1])];
    if ((*shape)->opening != (opening & 0xffffff)) return NULL;
    at += 3;
    unsigned digits = rsc_parse_hex(at, addr);
    if (digits == 0 || digits > 16 || at[digits] != ',') return NULL;
    at += digits + 1;
    if (at[1] == '\n' && at[0] >= '1' && at[0] <= '9') {
        *size = (uint32_t)(at[0] - '0');
        return at + 2;
    }
    uint64_t wide;
    at = rsc_parse_decimal(at, &wide);
    if (!at || wide == 0 || wide > UINT32_MAX) return NULL;
    *size = (uint32_t)wide;
    at += *at == '\r';
    return *at == '\n' ? at + 1 : NULL;
}

/* ==PID== or --PID--, as valgrind opens its own lines. */
static int is_valgrinds(const char *line) {
    uint64_t pid;
    char mark = line[0];
    if ((mark != '=' && mark != '-') || line[1] != mark) return 0;
    const char *end = rsc_parse_decimal(line + 2, &pid);
    return end && end[0] == mark && end[1] == mark;
}

int rsc_lackey_matches(const unsigned char *head, size_t bytes, int whole) {
    struct rsc_head_line line;
    size_t at = 0;
    int fitting = 0, foreign = 0;
    if (rsc_head_is_binary(head, bytes)) return 0;
    for (int tried = 0; tried < LINES_TRIED && rsc_head_line_next(&line, head, bytes, whole, &at); tried++) {
        const struct shape *shape;
        uint64_t addr;
        uint32_t size;
        if (parse_line(line.text, &shape, &addr, &size)) fitting++;
        else if (!is_valgrinds(line.text) && !rsc_text_line_is_idle(line.text, 0)) foreign++;
    }
    /* a program starts in the loader, long before its own output: text that quotes a line or two is not a trace */
    return fitting > 0 && fitting >= foreign;
}

/* Skips a line that is not an access. Returns the problem, or NULL. */
static const char *pass_other(struct lackey_reader *reader) {
    const char *line = reader->lines.cursor, *end = rsc_text_lines_end(&reader->lines);
    if (!end) return RSC_TEXT_LINE_TOO_LONG;
    reader->foreign += !is_valgrinds(line) && !rsc_text_line_is_idle(line, 0);
    rsc_text_lines_pass(&reader->lines, end + 1);
    return NULL;
}

/* Takes lines until the batch is full, the block empty or a line bad. Returns the accesses in the batch. */
static uint32_t parse_block(struct lackey_reader *reader, uint32_t count, uint64_t *fetches, const char **problem) {
    struct rsc_text_lines *lines = &reader->lines;
    uint64_t pc = reader->last_pc;
    while (lines->cursor < lines->limit && count + 2 <= RSC_BATCH_ACCESSES) {
        const struct shape *shape;
        uint64_t addr;
        uint32_t size;
        const char *next = parse_line(lines->cursor, &shape, &addr, &size);
        if (!next) {
            *problem = pass_other(reader);
            if (*problem) break;
            continue;
        }
        rsc_text_lines_pass(lines, next);
        pc = shape->fetch ? addr : pc;
        reader->addr[count] = reader->addr[count + 1] = addr;
        reader->pc[count] = reader->pc[count + 1] = pc;
        reader->meta[count] = rsc_meta(size, (enum rsc_kind)shape->kind, 0);
        reader->meta[count + 1] = rsc_meta(size, RSC_WRITE, 0);
        count += 1u + shape->modify;
        *fetches += shape->fetch;
    }
    reader->last_pc = pc;
    return count;
}

static int finish(struct lackey_reader *reader, struct rsc_error *error) {
    const char *name = rsc_input_name(reader->lines.input);
    if (!reader->accesses_seen)
        return rsc_fail(error, RSC_EFORMAT, "%s: none of its %" PRIu64 " lines matches \"I  ADDRESS,SIZE\" (lackey)",
                        name, reader->lines.line - 1);
    if (reader->foreign)
        rsc_log_line(reader->log, RSC_LOG_WARNING,
                     "%s: skipped %" PRIu64 " lines that are not lackey's (the program's own output?)", name,
                     reader->foreign);
    return 0;
}

static int lackey_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct lackey_reader *reader = (struct lackey_reader *)source;
    const char *problem = NULL;
    uint64_t fetches = 0;
    uint32_t count = 0;
    while (count + 2 <= RSC_BATCH_ACCESSES && !problem) {
        int status = rsc_text_lines_fill(&reader->lines, error);
        if (status < 0 && count == 0) return status;
        if (status <= 0) break;
        count = parse_block(reader, count, &fetches, &problem);
    }
    if (count == 0 && problem) return rsc_text_lines_fail(&reader->lines, RSC_EFORMAT, problem, error);
    if (count == 0) return finish(reader, error);
    reader->accesses_seen = 1;
    *batch = (struct rsc_batch){.count = count,
                                .addr = reader->addr,
                                .meta = reader->meta,
                                .pc = reader->pc,
                                .instructions = rsc_instructions_of(fetches, &reader->fetches_seen)};
    return 1;
}

static void lackey_info(struct rsc_source *source, struct rsc_trace_info *info) {
    (void)source;
    info->source = "valgrind lackey";
    info->has_pc = 1;
}

static void lackey_close(struct rsc_source *source) {
    struct lackey_reader *reader = (struct lackey_reader *)source;
    rsc_text_lines_close(&reader->lines);
    free(reader);
}

static const struct rsc_source_ops lackey_ops = {.next = lackey_next, .info = lackey_info, .close = lackey_close};

int rsc_lackey_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                    struct rsc_error *error) {
    struct lackey_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return rsc_fail_memory(error, "lackey reader");
    int status = rsc_text_lines_open(&reader->lines, input, "lackey", error);
    if (status < 0) {
        free(reader);
        return status;
    }
    reader->source.ops = &lackey_ops;
    reader->log = options ? options->log : NULL;
    *out = &reader->source;
    return 0;
}
