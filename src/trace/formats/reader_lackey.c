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
 * them. A line that is an access in part, because the file was damaged or the program's
 * output runs into it, is an error: what it said is lost. So is a file that ends inside
 * a line. valgrind ends with a summary whose last line has the exit code: if its opening is
 * there and the summary is not, the trace is cut. Without the opening (valgrind -q) a cut at
 * the end of a line cannot be seen. A file without any access is not a lackey trace.
 *
 * The four kinds follow each other without a pattern that a branch predictor
 * could learn, so a line is parsed without branching on its kind: the two
 * opening characters, xor-ed, select a row of `shapes`, and both halves of a
 * modify are always written, the second one being kept only for M.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/digits.h"
#include "trace/formats/text_reader.h"

/* Lines examined to detect a lackey file. */
#define LINES_TRIED 64

struct lackey_reader {
    struct rsc_text_reader text;
    uint64_t foreign; /* lines that are neither accesses nor valgrind's */
    uint64_t last_pc;
    int accesses_seen;
    int banner_seen;  /* the opening */
    int summary_seen; /* the summary's last line, after the last access so far */
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

/* What follows ==PID== or --PID--, as valgrind opens its own lines; NULL: it is none of them. */
static const char *of_valgrind(const char *line) {
    uint64_t pid;
    char mark = line[0];
    if ((mark != '=' && mark != '-') || line[1] != mark) return NULL;
    const char *end = rsc_parse_decimal(line + 2, &pid);
    return end && end[0] == mark && end[1] == mark ? end + 2 : NULL;
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
        else if (!of_valgrind(line.text) && !rsc_text_line_is_idle(line.text, 0)) foreign++;
    }
    /* a program starts in the loader, long before its own output: text that quotes a line or two is not a trace */
    return fitting > 0 && fitting >= foreign;
}

static int is_hex(char c) { return rsc_is_figure(c) || (c >= 'a' && c <= 'f'); }

/* Does [at, end) read HEX,DECIMAL, with `least` digits or more in the first? */
static int is_place(const char *at, const char *end, int least) {
    int hex = 0, decimal = 0;
    for (; at < end && is_hex(*at); at++) hex++;
    if (at == end || *at++ != ',') return 0;
    for (; at < end && rsc_is_figure(*at); at++) decimal++;
    return hex >= least && decimal > 0 && at == end;
}

/* Does a line begin as an access does? Of the 8 digits that lackey writes at least, two may be garbled. */
static int opens_as_access(const char *line, const char *end) {
    uint32_t opening;
    int hex = 0, other = 0;
    if (end - line < 3) return 0;
    memcpy(&opening, line, 4);
    const struct shape *shape = &shapes[(unsigned char)(line[0] ^ line[1])];
    if (!shape->opening || shape->opening != (opening & 0xffffff)) return 0;
    for (const char *at = line + 3; at < end && at < line + 11; at++) {
        hex += is_hex(*at);
        other += !is_hex(*at) && *at != ',';
    }
    return hex >= 6 || !other;
}

/*
 * Is this line, which is not an access, one in part? It begins as one does, or an access ends it, or all but its first
 * three characters are one.
 */
static int is_garbled(const char *line, const char *end) {
    if (end > line && end[-1] == '\r') end--;
    if (opens_as_access(line, end)) return 1;
    if (end - line > 3 && is_place(line + 3, end, 8)) return 1;
    for (const char *at = end - 1; at > line + 3; at--) {
        if (*at != ' ' && *at != ',' && !is_hex(*at)) return 0;
        if (*at == ' ')
            return is_place(at + 1, end, 8) && ((at[-1] == ' ' && at[-2] == 'I') ||
                                                (at[-2] == ' ' && (at[-1] == 'L' || at[-1] == 'S' || at[-1] == 'M')));
    }
    return 0;
}

static int begins_with(const char *at, const char *end, const char *text) {
    const size_t length = strlen(text);
    return (size_t)(end - at) >= length && !memcmp(at, text, length);
}

/* Skips a line that is not an access. Returns whether it could. */
static int pass_other(struct lackey_reader *reader) {
    struct rsc_text_lines *lines = &reader->text.lines;
    const char *line = lines->cursor, *end = rsc_text_lines_end(lines);
    if (!end) {
        reader->text.problem = RSC_TEXT_LINE_TOO_LONG;
        return 0;
    }
    const char *valgrinds = of_valgrind(line);
    if (!valgrinds && is_garbled(line, end)) {
        reader->text.problem = "an access that is cut or mixed with other text (record with valgrind --log-file=FILE)";
        return 0;
    }
    reader->foreign += !valgrinds && !rsc_text_line_is_idle(line, 0);
    reader->banner_seen |= valgrinds && begins_with(valgrinds, end, " Lackey");
    reader->summary_seen |= valgrinds && begins_with(valgrinds, end, " Exit code:");
    if (valgrinds) reader->text.cuttable = end + 1;
    rsc_text_lines_pass(lines, end + 1);
    return 1;
}

static uint32_t lackey_parse(struct rsc_text_reader *text, uint32_t count) {
    struct lackey_reader *reader = (struct lackey_reader *)text;
    struct rsc_text_lines *lines = &text->lines;
    uint64_t pc = reader->last_pc, fetches = 0;
    const char *last = NULL; /* where the last access ended */
    while (lines->cursor < lines->limit && count + 2 <= RSC_BATCH_ACCESSES) {
        const struct shape *shape;
        uint64_t addr;
        uint32_t size;
        const char *next = parse_line(lines->cursor, &shape, &addr, &size);
        if (!next) {
            if (last) reader->summary_seen = 0;
            last = NULL;
            if (!pass_other(reader)) break;
            continue;
        }
        rsc_text_lines_pass(lines, next);
        last = next;
        pc = shape->fetch ? addr : pc;
        text->addr[count] = text->addr[count + 1] = addr;
        text->pc[count] = text->pc[count + 1] = pc;
        text->meta[count] = rsc_meta(size, (enum rsc_kind)shape->kind, 0);
        text->meta[count + 1] = rsc_meta(size, RSC_WRITE, 0);
        count += 1u + shape->modify;
        fetches += shape->fetch;
    }
    if (last && last == lines->cursor) {
        text->cuttable = last;
        reader->summary_seen = 0;
    }
    reader->last_pc = pc;
    reader->accesses_seen |= count > 0;
    text->fetches += fetches;
    return count;
}

static int lackey_finish(struct rsc_text_reader *text, struct rsc_error *error) {
    const struct lackey_reader *reader = (const struct lackey_reader *)text;
    const char *name = rsc_input_name(text->lines.input);
    if (!reader->accesses_seen)
        return rsc_fail(error, RSC_EFORMAT, "%s: none of its %" PRIu64 " lines matches \"I  ADDRESS,SIZE\" (lackey)",
                        name, text->lines.line - 1);
    if (reader->banner_seen && !reader->summary_seen)
        return rsc_fail(error, RSC_EFORMAT,
                        "%s: cut: valgrind's summary is missing after line %" PRIu64 " (to read what there is, leave "
                        "valgrind's lines out: grep -v ^==) (lackey)",
                        name, text->lines.line - 1);
    if (reader->foreign)
        rsc_log_line(text->log, RSC_LOG_WARNING,
                     "%s: skipped %" PRIu64 " lines that are not lackey's (the program's own output?)", name,
                     reader->foreign);
    return 0;
}

/* In a block, the fetch before the first accesses is not known: they are marked with this pc. */
#define PC_BEFORE UINT64_MAX

static void lackey_begin(struct rsc_text_reader *part) { ((struct lackey_reader *)part)->last_pc = PC_BEFORE; }

static void lackey_join(struct rsc_text_reader *text, const struct rsc_text_reader *block,
                        struct rsc_piece_view *view) {
    struct lackey_reader *all = (struct lackey_reader *)text;
    const struct lackey_reader *part = (const struct lackey_reader *)block;
    for (uint64_t i = 0; view->pc && i < view->count; i++) {
        if (view->pc[i] != PC_BEFORE || rsc_meta_kind(view->meta[i]) == RSC_FETCH) break;
        view->pc[i] = all->last_pc;
    }
    if (block->fetches_seen) all->last_pc = part->last_pc;
    all->foreign += part->foreign;
    all->summary_seen = part->summary_seen || (all->summary_seen && !part->accesses_seen);
    all->accesses_seen |= part->accesses_seen;
    all->banner_seen |= part->banner_seen;
}

static const struct rsc_text_format lackey_format = {.name = "lackey",
                                                     .source = "valgrind lackey",
                                                     .has_pc = 1,
                                                     .reader_bytes = sizeof(struct lackey_reader),
                                                     .parse = lackey_parse,
                                                     .finish = lackey_finish,
                                                     .ends_in_newline = 1,
                                                     .begin = lackey_begin,
                                                     .join = lackey_join};

int rsc_lackey_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                    struct rsc_error *error) {
    return rsc_text_reader_open(out, &lackey_format, input, options, error);
}
