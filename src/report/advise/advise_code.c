/*
 * advise_code.c - the source lines that an advice is about and, for changes that are
 * mechanical, what they could become.
 *
 * Only simple text is understood: `for (T i = A; i < B; i++)` on a line of its own, and
 * `array[index].field`. Everything else is shown as it is. A source that is not found,
 * or shorter than the profile says, shows nothing.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/advise/advise_evidence.h"
#include "report/source/source_text.h"

#define WIDTH 100 /* longer lines are cut */

/* ---- lines ---- */

static const char *line_of(const struct rsc_source *source, uint32_t line) {
    return line && line <= source->line_count ? source->lines[line - 1] : NULL;
}

static int indent_of(const char *text) {
    int columns = 0;
    for (; *text == ' ' || *text == '\t'; text++) columns += *text == '\t' ? 8 - columns % 8 : 1;
    return columns;
}

static const char *without_indent(const char *text) { return text + strspn(text, " \t"); }

static int is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static int is_loop(const char *text) {
    static const char *const words[] = {"for", "while", "do"};
    text = without_indent(text);
    if (*text == '}') text = without_indent(text + 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(text, words[i], strlen(words[i])) && !is_name(text[strlen(words[i])])) return 1;
    return 0;
}

/* Adds a line: its number, a mark (' ', '-' or '+') and its text, moved left by `left` columns. */
static void add_line(struct rsc_advice *advice, uint32_t number, char mark, const char *text, int left) {
    size_t used = strlen(advice->change);
    int indent = indent_of(text) - left;
    if (used + WIDTH + 32 > sizeof advice->change) return;
    if (number) snprintf(advice->change + used, 12, "%5u", number);
    else snprintf(advice->change + used, 12, "%5s", "");
    used += strlen(advice->change + used);
    char *from = advice->change + used;
    snprintf(from, WIDTH + 4, " %c %*s%s", mark, indent > 0 && indent < 40 ? indent : 0, "", without_indent(text));
    rsc_make_plain(from);
    used += strlen(from);
    snprintf(advice->change + used, 2, "\n");
}

/* The file's name, before its first lines. */
static void add_file(struct rsc_advice *advice, const char *file) {
    const char *slash = strrchr(file, '/');
    size_t used = strlen(advice->change);
    if (used + 120 > sizeof advice->change) return;
    snprintf(advice->change + used, 100, "%s", slash ? slash + 1 : file);
    rsc_make_plain(advice->change + used);
    snprintf(advice->change + strlen(advice->change), 3, ":\n");
}

static int read_source(struct rsc_source *source, const struct rsc_place *place) {
    if (place && place->file && place->line && rsc_source_read(source, place->file, NULL, 0) == 1) return 1;
    return 0;
}

void rsc_change_show(struct rsc_advice *advice, const struct rsc_place *const *places, size_t count) {
    const char *file = NULL;
    for (size_t i = 0; i < count; i++) {
        struct rsc_source source = {0};
        int repeats = 0;
        for (size_t k = 0; k < i && places[i]; k++)
            repeats |= places[k] && places[k]->line == places[i]->line && !rsc_place_compare(places[k], places[i]);
        if (repeats) continue;
        const char *text = read_source(&source, places[i]) ? line_of(&source, places[i]->line) : NULL;
        if (text && (!file || strcmp(file, places[i]->file))) add_file(advice, file = places[i]->file);
        if (text) add_line(advice, places[i]->line, ' ', text, indent_of(text));
        rsc_source_free(&source);
    }
}

/* ---- loops ---- */

/* The line of a loop of which `line` is the first of the body; `line` itself if it is a loop, or none is known. */
static uint32_t loop_of_line(const struct rsc_source *source, uint32_t line) {
    const char *text = line_of(source, line), *above;
    if (!text || is_loop(text) || line < 2) return line;
    above = line_of(source, line - 1);
    return above && is_loop(above) && indent_of(above) < indent_of(text) ? line - 1 : line;
}

uint32_t rsc_source_loop_around(const struct rsc_place *outer, const struct rsc_place *inner) {
    struct rsc_source source = {0};
    if (!outer->file || !inner->file || strcmp(outer->file, inner->file)) return 0;
    uint32_t found = outer->line;
    int is_read = read_source(&source, inner);
    if (outer->line < inner->line && is_read) {
        const char *from = line_of(&source, outer->line), *to = line_of(&source, inner->line);
        for (uint32_t line = inner->line - 1; from && to && line > outer->line && found == outer->line; line--) {
            const char *text = line_of(&source, line);
            if (is_loop(text) && indent_of(text) > indent_of(from) && indent_of(text) < indent_of(to)) found = line;
            else if (*without_indent(text) == '}' && indent_of(text) < indent_of(to))
                break; /* the end of another block */
        }
    }
    if (is_read) found = loop_of_line(&source, found);
    rsc_source_free(&source);
    return found;
}

/* The parts of `for (long i = 0; i < n; i++)`. */
struct for_line {
    char type[40], variable[40], from[60], to[60];
    char less[3]; /* "<" or "<=" */
};

static int copy_part(char *to, size_t room, const char *from, const char *end) {
    while (from < end && isspace((unsigned char)*from)) from++;
    while (end > from && isspace((unsigned char)end[-1])) end--;
    if (from == end || (size_t)(end - from) >= room) return 0;
    memcpy(to, from, (size_t)(end - from));
    to[end - from] = 0;
    return 1;
}

static int read_for(const char *text, struct for_line *loop) {
    text = without_indent(text);
    if (strncmp(text, "for", 3)) return 0;
    const char *open = strchr(text, '('), *first = open ? strchr(open, ';') : NULL;
    const char *second = first ? strchr(first + 1, ';') : NULL, *equal = open ? strchr(open, '=') : NULL;
    if (!second || !equal || equal > first) return 0;
    const char *name_end = equal;
    while (name_end > open && name_end[-1] == ' ') name_end--;
    const char *name = name_end;
    while (name > open && is_name(name[-1])) name--;
    const char *less = strchr(first, '<');
    if (!less || less > second || less[1] == '<') return 0;
    const char *limit = less[1] == '=' ? less + 2 : less + 1;
    snprintf(loop->less, sizeof loop->less, "%s", less[1] == '=' ? "<=" : "<");
    char compared[40];
    if (!copy_part(loop->variable, sizeof loop->variable, name, name_end) ||
        !copy_part(loop->type, sizeof loop->type, open + 1, name) ||
        !copy_part(loop->from, sizeof loop->from, equal + 1, first) ||
        !copy_part(loop->to, sizeof loop->to, limit, second) ||
        !copy_part(compared, sizeof compared, first + 1, less) || strcmp(compared, loop->variable))
        return 0;
    const char *step = second + 1;
    return strstr(step, "++") != NULL; /* by one: only then does a tile's size count iterations */
}

/* Of `for (...)`, up to its closing bracket: what follows stays on its line. */
static int head_length(const char *text) {
    int depth = 0, at = 0;
    for (; text[at]; at++) {
        depth += (text[at] == '(') - (text[at] == ')');
        if (text[at] == ')' && !depth) return at + 1;
    }
    return at;
}

/* Whether only blank lines are between two. */
static int are_adjacent(const struct rsc_source *source, uint32_t outer, uint32_t inner) {
    for (uint32_t line = outer + 1; line < inner; line++)
        if (*without_indent(line_of(source, line))) return 0;
    return outer < inner;
}

/* Whether a text has a name as a whole word. */
static int mentions(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if ((at == text || !is_name(at[-1])) && !is_name(at[length])) return 1;
    return 0;
}

/* Whether the inner loop's bounds are the same in each iteration of the outer one. */
static int is_rectangle(const struct for_line *outer, const struct for_line *inner) {
    return !mentions(inner->from, outer->variable) && !mentions(inner->to, outer->variable);
}

void rsc_change_exchange(struct rsc_advice *advice, const struct rsc_place *inner, uint32_t outer_line) {
    struct rsc_source source = {0};
    const char *out = NULL, *in = NULL;
    if (read_source(&source, inner)) out = line_of(&source, outer_line), in = line_of(&source, inner->line);
    if (out && in && outer_line != inner->line) {
        struct for_line a, b;
        int left = indent_of(out), can = are_adjacent(&source, outer_line, inner->line) && read_for(out, &a) &&
                                         read_for(in, &b) && is_rectangle(&a, &b);
        add_file(advice, inner->file);
        if (can) {
            const char *bare_out = without_indent(out), *bare_in = without_indent(in);
            int out_head = head_length(bare_out), in_head = head_length(bare_in);
            char first[WIDTH + 64], second[WIDTH + 64];
            snprintf(first, sizeof first, "%*s%.*s%s", left, "", in_head, bare_in, bare_out + out_head);
            snprintf(second, sizeof second, "%*s%.*s%s", indent_of(in), "", out_head, bare_out, bare_in + in_head);
            add_line(advice, outer_line, '-', out, left);
            add_line(advice, inner->line, '-', in, left);
            add_line(advice, outer_line, '+', first, left);
            add_line(advice, inner->line, '+', second, left);
        } else if (outer_line > inner->line) { /* the inner one is in a function of its own */
            add_line(advice, outer_line, ' ', out, left);
            add_line(advice, inner->line, ' ', in, indent_of(in));
        } else {
            for (uint32_t line = outer_line; line <= inner->line && line < outer_line + 8; line++)
                add_line(advice, line, ' ', line_of(&source, line), left);
        }
    }
    rsc_source_free(&source);
}

/* The side of two square tiles of 8-byte numbers that fit together. */
static unsigned tile_side(uint64_t size_bytes) {
    unsigned side = 8;
    while (side < 512 && 2ull * (2 * side) * (2 * side) * 8 <= size_bytes) side *= 2;
    return side;
}

void rsc_change_tile(struct rsc_advice *advice, const struct rsc_place *inner, uint32_t outer_line,
                     uint64_t size_bytes) {
    struct rsc_source source = {0};
    const char *out = NULL, *in = NULL;
    struct for_line a, b;
    if (read_source(&source, inner)) out = line_of(&source, outer_line), in = line_of(&source, inner->line);
    if (out && in && are_adjacent(&source, outer_line, inner->line) && read_for(out, &a) && read_for(in, &b) &&
        is_rectangle(&a, &b)) {
        const struct for_line *loops[] = {&a, &b};
        char text[400];
        unsigned side = tile_side(size_bytes);
        int left = indent_of(out);
        add_file(advice, inner->file);
        add_line(advice, outer_line, '-', out, left);
        add_line(advice, inner->line, '-', in, left);
        for (int i = 0; i < 4; i++) {
            const struct for_line *loop = loops[i % 2];
            if (i < 2)
                snprintf(text, sizeof text, "%*sfor (%s %s0 = %s; %s0 %s %s; %s0 += %u)", left + 2 * i, "", loop->type,
                         loop->variable, loop->from, loop->variable, loop->less, loop->to, loop->variable, side);
            else
                snprintf(text, sizeof text, "%*sfor (%s %s = %s0; %s %s %s && %s < %s0 + %u; %s++)", left + 2 * i, "",
                         loop->type, loop->variable, loop->variable, loop->variable, loop->less, loop->to,
                         loop->variable, loop->variable, side, loop->variable);
            add_line(advice, 0, '+', text, left);
        }
    }
    rsc_source_free(&source);
}

/* ---- fields ---- */

/* `sum += bodies[i].mass;` becomes `sum += mass[i];`. */
void rsc_change_field(struct rsc_advice *advice, const struct rsc_place *place) {
    struct rsc_source source = {0};
    const char *text = read_source(&source, place) ? line_of(&source, place->line) : NULL;
    const char *close = text ? strstr(text, "].") : NULL, *open = close;
    while (open && open > text && *open != '[') open--;
    const char *name = open;
    while (name && name > text && is_name(name[-1])) name--;
    if (text && close && open > text && name < open) {
        const char *field = close + 2, *end = field;
        while (is_name(*end)) end++;
        char changed[400];
        int left = indent_of(text);
        snprintf(changed, sizeof changed, "%.*s%.*s%.*s%.100s", (int)(name - text) & 127, text, (int)(end - field) & 63,
                 field, (int)(close + 1 - open) & 63, open, end);
        add_file(advice, place->file);
        add_line(advice, place->line, '-', text, left);
        add_line(advice, place->line, '+', changed, left);
    } else if (text) {
        rsc_change_show(advice, &place, 1);
    }
    rsc_source_free(&source);
}
