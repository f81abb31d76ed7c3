/*
 * asm_source.c - parses compiler output into a list of statements.
 *
 * Only the syntax that compilers write is supported. Lines between #APP and #NO_APP are
 * the programmer's inline assembly and are kept unchanged.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "collect/rewrite/asm_pass.h"

#define SECTIONS_DEEP 32

struct reader {
    struct rsc_pass *pass;
    struct rsc_error *error;
    uint32_t line;
    uint32_t section, previous;
    uint32_t stack[SECTIONS_DEEP][2];
    size_t depth;
    uint32_t *current; /* function, by section */
    size_t current_room;
    int open; /* the previous instruction is incomplete: PREFIX, TLS */
    int is_opaque;
};
enum { WHOLE, PREFIX, TLS };

/* ---- memory and text ---- */

void *rsc_pass_grow(struct rsc_pass *pass, void *array, size_t count, size_t *room, size_t each) {
    if (count < *room) return array;
    size_t more = *room ? *room * 2 : 64;
    void *grown = rsc_arena_alloc(&pass->arena, more * each);
    if (!grown) return NULL;
    if (count) memcpy(grown, array, count * each);
    memset((char *)grown + count * each, 0, (more - count) * each);
    *room = more;
    return grown;
}

void rsc_pass_text_put(struct rsc_pass_text *text, const char *data, size_t length) {
    if (text->failed) return;
    if (text->used + length + 1 > text->room) {
        size_t room = (text->used + length + 1) * 2 + 4096;
        char *grown = realloc(text->data, room);
        if (!grown) {
            text->failed = 1;
            return;
        }
        text->data = grown;
        text->room = room;
    }
    memcpy(text->data + text->used, data, length);
    text->used += length;
    text->data[text->used] = 0;
}

void rsc_pass_text_printf(struct rsc_pass_text *text, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = 1;
    } else if ((size_t)length < sizeof line) {
        rsc_pass_text_put(text, line, (size_t)length);
    } else { /* names of C++ functions have no length limit */
        char *longer = malloc((size_t)length + 1);
        if (!longer) {
            text->failed = 1;
            return;
        }
        va_start(arguments, format);
        vsnprintf(longer, (size_t)length + 1, format, arguments);
        va_end(arguments);
        rsc_pass_text_put(text, longer, (size_t)length);
        free(longer);
    }
}

void rsc_pass_text_free(struct rsc_pass_text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

void rsc_pass_free(struct rsc_pass *pass) {
    rsc_arena_free(&pass->arena);
    memset(pass, 0, sizeof *pass);
}

/* ---- labels ---- */

static int is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$'; }

static size_t hash_of(const char *name, size_t length) {
    uint64_t hash = 1469598103934665603ull;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 1099511628211ull;
    return (size_t)(hash ^ hash >> 29);
}

static uint32_t *label_place(const struct rsc_pass *pass, const char *name, size_t length) {
    for (size_t at = hash_of(name, length);; at++) {
        uint32_t *place = &pass->label_table[at & pass->label_mask];
        if (*place == RSC_PASS_NONE) return place;
        const struct rsc_pass_label *label = &pass->labels[*place];
        if (label->length == length && !memcmp(label->name, name, length)) return place;
    }
}

uint32_t rsc_pass_label(const struct rsc_pass *pass, const char *name, size_t length) {
    return pass->label_table ? *label_place(pass, name, length) : RSC_PASS_NONE;
}

static int rehash(struct rsc_pass *pass) {
    size_t size = pass->label_table ? (pass->label_mask + 1) * 2 : 1024;
    pass->label_table = rsc_arena_alloc(&pass->arena, size * sizeof *pass->label_table);
    if (!pass->label_table) return -1;
    memset(pass->label_table, 0xff, size * sizeof *pass->label_table);
    pass->label_mask = size - 1;
    for (size_t i = 0; i < pass->label_count; i++)
        *label_place(pass, pass->labels[i].name, pass->labels[i].length) = (uint32_t)i;
    return 0;
}

/* Finds or creates a label. */
static struct rsc_pass_label *label_of(struct rsc_pass *pass, const char *name, size_t length) {
    if ((!pass->label_table || pass->label_count * 2 > pass->label_mask) && rehash(pass) < 0) return NULL;
    uint32_t *place = label_place(pass, name, length);
    if (*place == RSC_PASS_NONE) {
        void *grown = rsc_pass_grow(pass, pass->labels, pass->label_count, &pass->label_room, sizeof *pass->labels);
        if (!grown) return NULL;
        pass->labels = grown;
        *place = (uint32_t)pass->label_count;
        pass->labels[pass->label_count++] = (struct rsc_pass_label){
            .name = name, .length = (uint32_t)length, .item = RSC_PASS_NONE, .function = RSC_PASS_NONE};
    }
    return &pass->labels[*place];
}

/* ---- sections ---- */

static int starts(const char *text, size_t length, const char *with) {
    size_t wanted = strlen(with);
    return length >= wanted && !memcmp(text, with, wanted);
}

/* Whether the directive has this name. */
static int is_directive(const char *text, size_t length, const char *name) {
    size_t wanted = strlen(name);
    return starts(text, length, name) && (length == wanted || isspace((unsigned char)text[wanted]));
}

static int section_named(struct reader *reader, const char *enter, size_t length, const char *name, size_t name_length,
                         int is_code) {
    struct rsc_pass *pass = reader->pass;
    for (size_t i = 0; i < pass->section_count; i++)
        if (strlen(pass->sections[i].enter) == length && !memcmp(pass->sections[i].enter, enter, length)) return (int)i;
    void *grown = rsc_pass_grow(pass, pass->sections, pass->section_count, &pass->section_room, sizeof *pass->sections);
    if (!grown) return -1;
    pass->sections = grown;
    struct rsc_pass_section *section = &pass->sections[pass->section_count];
    section->enter = rsc_arena_strndup(&pass->arena, enter, length);
    section->name = rsc_arena_strndup(&pass->arena, name, name_length);
    if (!section->enter || !section->name) return -1;
    section->is_code = (uint8_t)is_code;
    section->is_debug = starts(name, name_length, ".debug") || starts(name, name_length, ".zdebug") ||
                        starts(name, name_length, ".stab");
    return (int)pass->section_count++;
}

/* ".section NAME,"flags",...": `enter` always begins with .section. */
static int named_section(struct reader *reader, const char *arguments, size_t length) {
    char enter[4096];
    size_t name_length = 0, at;
    while (length && isspace((unsigned char)*arguments)) arguments++, length--;
    while (name_length < length && arguments[name_length] != ',' && !isspace((unsigned char)arguments[name_length]))
        name_length++;
    const char *flags = memchr(arguments, '"', length);
    int is_code = starts(arguments, name_length, ".text") || starts(arguments, name_length, ".init") ||
                  starts(arguments, name_length, ".fini");
    if (flags && arguments[0] != '"') {
        is_code = 0;
        for (at = 1; flags + at < arguments + length && flags[at] != '"'; at++) is_code |= flags[at] == 'x';
    }
    int wrote = snprintf(enter, sizeof enter, ".section\t%.*s", (int)length, arguments);
    if (wrote < 0 || (size_t)wrote >= sizeof enter)
        return rsc_fail(reader->error, RSC_EUNSUPPORTED, "line %u: a section's name is too long", reader->line);
    return section_named(reader, enter, (size_t)wrote, arguments, name_length, is_code);
}

static int go_to(struct reader *reader, int section) {
    if (section < 0) return section == -1 ? rsc_fail_memory(reader->error, "sections") : section;
    reader->previous = reader->section;
    reader->section = (uint32_t)section;
    return 0;
}

static int read_section(struct reader *reader, const char *text, size_t length) {
    static const char *const plain[] = {".text", ".data", ".bss"};
    if (is_directive(text, length, ".section")) return go_to(reader, named_section(reader, text + 8, length - 8));
    for (size_t i = 0; i < 3; i++)
        if (is_directive(text, length, plain[i])) {
            if (length > strlen(plain[i]))
                return rsc_fail(reader->error, RSC_EUNSUPPORTED, "line %u: subsections are not supported",
                                reader->line);
            return go_to(reader, section_named(reader, text, length, text, length, i == 0));
        }
    if (is_directive(text, length, ".pushsection")) {
        if (reader->depth == SECTIONS_DEEP)
            return rsc_fail(reader->error, RSC_EUNSUPPORTED, "line %u: .pushsection too deep", reader->line);
        reader->stack[reader->depth][0] = reader->section;
        reader->stack[reader->depth++][1] = reader->previous;
        return go_to(reader, named_section(reader, text + 12, length - 12));
    }
    if (is_directive(text, length, ".popsection") && reader->depth) {
        reader->section = reader->stack[--reader->depth][0];
        reader->previous = reader->stack[reader->depth][1];
    }
    if (is_directive(text, length, ".previous")) return go_to(reader, (int)reader->previous);
    if (is_directive(text, length, ".subsection"))
        return rsc_fail(reader->error, RSC_EUNSUPPORTED, "line %u: subsections are not supported", reader->line);
    return 0;
}

/* ---- functions ---- */

static uint32_t function_named(struct rsc_pass *pass, const char *name, size_t length) {
    /* The cold part belongs to the function. */
    for (size_t i = 1; i + 5 <= length; i++)
        if (!memcmp(name + i, ".cold", 5) && (i + 5 == length || name[i + 5] == '.')) length = i;
    struct rsc_pass_label *label = label_of(pass, name, length);
    if (!label || label->function != RSC_PASS_NONE) return label ? label->function : RSC_PASS_NONE;
    void *grown =
        rsc_pass_grow(pass, pass->functions, pass->function_count, &pass->function_room, sizeof *pass->functions);
    if (!grown) return RSC_PASS_NONE;
    pass->functions = grown;
    char *kept = rsc_arena_strndup(&pass->arena, name, length);
    if (!kept) return RSC_PASS_NONE;
    pass->functions[pass->function_count] = (struct rsc_pass_function){.name = kept};
    return label->function = (uint32_t)pass->function_count++;
}

/* ---- statements ---- */

static struct rsc_pass_item *add_item(struct reader *reader, const char *text, size_t length, enum rsc_pass_sort sort) {
    struct rsc_pass *pass = reader->pass;
    void *grown = rsc_pass_grow(pass, pass->items, pass->item_count, &pass->item_room, sizeof *pass->items);
    if (!grown) return NULL;
    pass->items = grown;
    while (reader->section >= reader->current_room || !reader->current) {
        size_t had = reader->current_room;
        void *functions = rsc_pass_grow(pass, reader->current, had, &reader->current_room, sizeof *reader->current);
        if (!functions) return NULL;
        reader->current = functions;
        memset(reader->current + had, 0xff, (reader->current_room - had) * sizeof *reader->current);
    }
    struct rsc_pass_item *item = &pass->items[pass->item_count++];
    *item = (struct rsc_pass_item){.text = text,
                                   .length = (uint32_t)length,
                                   .line = reader->line,
                                   .section = reader->section,
                                   .function = reader->current[reader->section],
                                   .insn = RSC_PASS_NONE,
                                   .sort = (uint8_t)sort};
    return item;
}

/* Whether the word is an instruction prefix that may be on its own line. */
static int is_prefix(const char *word, size_t length) {
    static const char *const prefixes[] = {"lock",    "rep", "repe",   "repz",     "repne",    "repnz", "data16",
                                           "notrack", "bnd", "addr32", "cs",       "ds",       "es",    "ss",
                                           "fs",      "gs",  "rex64",  "xacquire", "xrelease", "rex.W"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strlen(prefixes[i]) == length && !memcmp(prefixes[i], word, length)) return 1;
    return 0;
}

static size_t word_length(const char *text, size_t length) {
    size_t at = 0;
    while (at < length && !isspace((unsigned char)text[at])) at++;
    return at;
}

/* Skips prefixes: offset of the mnemonic; `length` if there is none. */
static size_t past_prefixes(const char *text, size_t length) {
    size_t at = 0;
    for (;;) {
        while (at < length && isspace((unsigned char)text[at])) at++;
        size_t word = word_length(text + at, length - at);
        if (!word || !is_prefix(text + at, word)) {
            if (word && text[at] == '{') { /* {evex} {vex} {disp32} ... */
                at += word;
                continue;
            }
            return at;
        }
        at += word;
    }
}

static int contains(const char *text, size_t length, const char *wanted) {
    size_t n = strlen(wanted);
    for (size_t i = 0; i + n <= length; i++)
        if (!strncasecmp(text + i, wanted, n)) return 1;
    return 0;
}

static int add_insn(struct reader *reader, const char *text, size_t length) {
    struct rsc_pass *pass = reader->pass;
    struct rsc_pass_item *item = add_item(reader, text, length, RSC_PASS_INSN);
    if (!item) return rsc_fail_memory(reader->error, "statements");
    size_t mnemonic = past_prefixes(text, length);
    if (reader->open) {
        item->glued = 1;
        item->insn = (uint32_t)pass->insn_count - 1;
        pass->insns[item->insn].items = (uint32_t)(pass->item_count - pass->insns[item->insn].item);
    } else {
        void *grown = rsc_pass_grow(pass, pass->insns, pass->insn_count, &pass->insn_room, sizeof *pass->insns);
        if (!grown) return rsc_fail_memory(reader->error, "instructions");
        pass->insns = grown;
        item->insn = (uint32_t)pass->insn_count;
        pass->insns[pass->insn_count++] =
            (struct rsc_pass_insn){.item = (uint32_t)pass->item_count - 1, .items = 1, .target = RSC_PASS_NONE};
    }
    if (mnemonic == length) {
        if (reader->open != TLS) reader->open = PREFIX;
    } else if (contains(text, length, "@tlsgd") || contains(text, length, "@tlsld")) {
        reader->open = TLS;
    } else if (reader->open != TLS || starts(text + mnemonic, length - mnemonic, "call")) {
        reader->open = WHOLE;
    }
    return 0;
}

static int is_neutral(const char *text, size_t length) {
    static const char *const names[] = {".loc",     ".p2align",     ".align", ".balign",  ".file",      ".type",
                                        ".globl",   ".global",      ".weak",  ".hidden",  ".size",      ".set",
                                        ".local",   ".comm",        ".ident", ".symver",  ".protected", ".internal",
                                        ".addrsig", ".addrsig_sym", ".equ",   ".weakref", ".lcomm",     ".line"};
    if (starts(text, length, ".cfi_") || text[0] != '.') return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_directive(text, length, names[i])) return 1;
    return 0;
}

static int add_directive(struct reader *reader, const char *text, size_t length) {
    struct rsc_pass *pass = reader->pass;
    if (is_directive(text, length, ".type") && contains(text, length, "@function")) {
        size_t at = 5, end;
        while (at < length && isspace((unsigned char)text[at])) at++;
        for (end = at; end < length && text[end] != ',' && !isspace((unsigned char)text[end]);) end++;
        struct rsc_pass_label *label = label_of(pass, text + at, end - at);
        if (!label) return rsc_fail_memory(reader->error, "labels");
        label->is_taken = 2; /* assumed a function until it is defined */
    }
    if (is_directive(text, length, ".intel_syntax") || is_directive(text, length, ".code32") ||
        is_directive(text, length, ".macro") || is_directive(text, length, ".rept") ||
        is_directive(text, length, ".if"))
        return rsc_fail(reader->error, RSC_EUNSUPPORTED, "line %u: %.*s: not what a compiler writes for x86-64",
                        reader->line, (int)word_length(text, length), text);
    uint32_t before = reader->section;
    int status = read_section(reader, text, length);
    if (status < 0) return status;
    struct rsc_pass_item *item = add_item(reader, text, length, RSC_PASS_DIRECTIVE);
    if (!item) return rsc_fail_memory(reader->error, "statements");
    item->neutral = (uint8_t)(before == reader->section && is_neutral(text, length));
    if (reader->open) {
        item->glued = 1;
        item->insn = (uint32_t)pass->insn_count - 1;
    }
    return 0;
}

static int add_label(struct reader *reader, const char *name, size_t length) {
    struct rsc_pass *pass = reader->pass;
    struct rsc_pass_label *label = label_of(pass, name, length);
    if (!label) return rsc_fail_memory(reader->error, "labels");
    int is_function = label->is_taken == 2;
    label->is_taken = 0;
    label->item = (uint32_t)pass->item_count;
    struct rsc_pass_item *item = add_item(reader, name, length, RSC_PASS_LABEL);
    if (!item) return rsc_fail_memory(reader->error, "statements");
    if (is_function && pass->sections[reader->section].is_code) {
        uint32_t function = function_named(pass, name, length);
        if (function == RSC_PASS_NONE) return rsc_fail_memory(reader->error, "functions");
        reader->current[reader->section] = function;
        item->function = function;
    }
    if (reader->open) {
        item->glued = 1;
        item->insn = (uint32_t)pass->insn_count - 1;
    }
    return 0;
}

static int read_statement(struct reader *reader, const char *text, size_t length) {
    for (;;) {
        size_t name = 0;
        while (length && isspace((unsigned char)*text)) text++, length--;
        while (length && isspace((unsigned char)text[length - 1])) length--;
        if (!length) return 0;
        if (*text == '"')
            for (name = 1; name < length && text[name - (name > 1)] != '"';) name++;
        else
            while (name < length && is_name(text[name])) name++;
        if (!name || name >= length || text[name] != ':') break;
        int status = add_label(reader, text, name);
        if (status < 0) return status;
        text += name + 1;
        length -= name + 1;
    }
    if (*text == '.' || memchr(text, '=', length)) return add_directive(reader, text, length);
    return add_insn(reader, text, length);
}

/* Splits a line into statements, without its comment. */
static int read_line(struct reader *reader, const char *line, size_t length) {
    size_t begin = 0, at;
    int quoted = 0, status;
    for (at = 0; at < length; at++) {
        char c = line[at];
        if (quoted) {
            if (c == '\\' && at + 1 < length) at++;
            else if (c == '"') quoted = 0;
        } else if (c == '"') {
            quoted = 1;
        } else if (c == '#') {
            break;
        } else if (c == ';') {
            if ((status = read_statement(reader, line + begin, at - begin)) < 0) return status;
            begin = at + 1;
        }
    }
    return read_statement(reader, line + begin, at - begin);
}

/* #APP begins inline assembly, #NO_APP ends it. */
static int read_opaque(struct reader *reader, const char *line, size_t length, int *is_taken) {
    size_t at = 0;
    while (at < length && isspace((unsigned char)line[at])) at++;
    *is_taken = 1;
    if (starts(line + at, length - at, "#APP")) reader->is_opaque = 1;
    if (reader->is_opaque) {
        if (!add_item(reader, line, length, RSC_PASS_OPAQUE)) return rsc_fail_memory(reader->error, "statements");
        if (starts(line + at, length - at, "#NO_APP")) reader->is_opaque = 0;
        return 0;
    }
    *is_taken = 0;
    return 0;
}

/* ---- which labels are used ---- */

static int is_jump(const char *mnemonic, size_t length) {
    return length && (mnemonic[0] == 'j' || starts(mnemonic, length, "loop") || starts(mnemonic, length, "call") ||
                      starts(mnemonic, length, "xbegin"));
}

/* Marks local labels named in a text. */
static void use_labels(struct rsc_pass *pass, const char *text, size_t length, int is_taken) {
    for (size_t at = 0; at < length; at++) {
        size_t begin = at;
        while (at < length && is_name(text[at])) at++;
        if (at - begin < 2) continue;
        uint32_t found = rsc_pass_label(pass, text + begin, at - begin);
        if (found == RSC_PASS_NONE) continue;
        pass->labels[found].is_used = 1;
        pass->labels[found].uses++;
        if (is_taken) pass->labels[found].is_taken = 1;
    }
}

/* ".set NAME, FUNCTION", or "NAME = FUNCTION" */
static void note_alias(struct rsc_pass *pass, const char *text, size_t length) {
    size_t at = length;
    while (at && is_name(text[at - 1])) at--;
    uint32_t label = at < length ? rsc_pass_label(pass, text + at, length - at) : RSC_PASS_NONE;
    if (label != RSC_PASS_NONE && pass->labels[label].function != RSC_PASS_NONE)
        pass->functions[pass->labels[label].function].has_alias = 1;
}

static void use_in_insn(struct rsc_pass *pass, struct rsc_pass_item *item) {
    size_t at = past_prefixes(item->text, item->length);
    size_t mnemonic = word_length(item->text + at, item->length - at), from = at + mnemonic;
    int jumps = is_jump(item->text + at, mnemonic);
    while (from < item->length && isspace((unsigned char)item->text[from])) from++;
    if (from == item->length) return;
    if (jumps && item->text[from] != '*') {
        size_t end = from;
        while (end < item->length && is_name(item->text[end])) end++;
        if (end == item->length) pass->insns[item->insn].target = rsc_pass_label(pass, item->text + from, end - from);
        use_labels(pass, item->text + from, item->length - from, 0);
    } else {
        use_labels(pass, item->text + from, item->length - from, 1);
    }
}

static void find_uses(struct rsc_pass *pass) {
    for (size_t i = 0; i < pass->item_count; i++) {
        struct rsc_pass_item *item = &pass->items[i];
        switch (item->sort) {
        case RSC_PASS_INSN: use_in_insn(pass, item); break;
        case RSC_PASS_DIRECTIVE:
            if ((!item->neutral || item->text[0] != '.' || is_directive(item->text, item->length, ".set")) &&
                !pass->sections[item->section].is_debug)
                use_labels(pass, item->text, item->length, 1);
            if (is_directive(item->text, item->length, ".set") || item->text[0] != '.')
                note_alias(pass, item->text, item->length);
            break;
        case RSC_PASS_OPAQUE: use_labels(pass, item->text, item->length, 1); break;
        default: break;
        }
    }
    for (size_t i = 0; i < pass->label_count; i++)
        if (pass->labels[i].length < 2 || memcmp(pass->labels[i].name, ".L", 2)) pass->labels[i].is_used = 1;
}

int rsc_pass_read(struct rsc_pass *pass, const char *text, size_t bytes, struct rsc_error *error) {
    struct reader reader = {.pass = pass, .error = error};
    int status = go_to(&reader, section_named(&reader, ".text", 5, ".text", 5, 1));
    pass->text = text;
    pass->text_bytes = bytes;
    if (bytes >= UINT32_MAX) return rsc_fail(error, RSC_ELIMIT, "4 GiB of assembly");
    for (size_t at = 0; at < bytes && status >= 0;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t length = end ? (size_t)(end - text) - at : bytes - at;
        int is_taken;
        reader.line++;
        status = read_opaque(&reader, text + at, length, &is_taken);
        if (status >= 0 && !is_taken) status = read_line(&reader, text + at, length);
        at += length + 1;
    }
    if (status >= 0) find_uses(pass);
    return status;
}

void rsc_pass_labelled(const struct rsc_pass *pass, struct rsc_pass_text *out) {
    for (size_t i = 0; i < pass->item_count; i++) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->sort == RSC_PASS_INSN && !item->glued) rsc_pass_text_printf(out, ".Lrsci%u:\n", item->insn);
        rsc_pass_text_put(out, item->text, item->length);
        rsc_pass_text_put(out, item->sort == RSC_PASS_LABEL ? ":\n" : "\n", item->sort == RSC_PASS_LABEL ? 2 : 1);
    }
}

size_t rsc_pass_memory_operand(const struct rsc_pass *pass, const struct rsc_pass_insn *insn, const char **operand) {
    for (uint32_t i = 0; i < insn->items; i++) {
        const struct rsc_pass_item *item = &pass->items[insn->item + i];
        if (item->sort != RSC_PASS_INSN) continue;
        size_t at = past_prefixes(item->text, item->length);
        size_t mnemonic = word_length(item->text + at, item->length - at);
        int jumps = is_jump(item->text + at, mnemonic), deep = 0;
        size_t end = item->length, from = at + mnemonic;
        while (from < end) {
            while (from < end && (isspace((unsigned char)item->text[from]) || item->text[from] == ',')) from++;
            size_t stop = from;
            for (; stop < end && (deep || item->text[stop] != ','); stop++) {
                if (item->text[stop] == '(') deep++;
                if (item->text[stop] == ')') deep--;
            }
            const char *text = item->text + from;
            size_t length = stop - from;
            const char *brace = memchr(text, '{', length);
            from = stop;
            if (brace) length = (size_t)(brace - text);
            int star = length && *text == '*';
            if (star) text++, length--;
            if (!length || *text == '$' || (jumps && !star)) continue;
            if (*text == '%' && !(length > 4 && text[3] == ':')) continue;
            *operand = text;
            return length;
        }
    }
    return 0;
}
