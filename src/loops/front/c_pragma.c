/* c_pragma.c - finding `#pragma omp` lines and reading their clauses. */
#include "loops/front/c_pragma.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at) {
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

static size_t word_length(const char *at) {
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
    return length;
}

static int is_word(const char *at, size_t length, const char *word) {
    return strlen(word) == length && !memcmp(at, word, length);
}

/* The text between a clause's parentheses; *at moves past them. NULL: there are none, or they do not close. */
static char *in_parentheses(struct rsc_arena *arena, const char **at) {
    const char *start = skip_space(*at);
    int depth = 0;
    if (*start != '(') return NULL;
    for (const char *p = start; *p; p++) {
        if (*p == '(') depth++;
        if (*p == ')' && !--depth) {
            *at = p + 1;
            return rsc_arena_strndup(arena, start + 1, (size_t)(p - start - 1));
        }
    }
    return NULL;
}

/* "schedule(monotonic: static, 4)": kind and chunk. */
static int read_schedule(struct rsc_omp *omp, char *text) {
    char *colon = strchr(text, ':'), *comma;
    if (colon) text = colon + 1;
    comma = strchr(text, ',');
    if (comma) *comma = '\0';
    text = (char *)skip_space(text);
    size_t length = word_length(text);
    if (is_word(text, length, "static") || is_word(text, length, "auto"))
        omp->schedule = RSC_OMP_STATIC; /* libgomp: auto is static */
    else if (is_word(text, length, "dynamic")) omp->schedule = RSC_OMP_DYNAMIC;
    else if (is_word(text, length, "guided")) omp->schedule = RSC_OMP_GUIDED;
    else if (is_word(text, length, "runtime")) omp->schedule = RSC_OMP_RUNTIME;
    else return -1;
    omp->chunk.text = comma ? comma + 1 : NULL;
    return 0;
}

/* Appends the names of a list "i, j" or "+: sum" to others; an array section has a bracket in it. */
static int add_names(const char **names, struct rsc_arena *arena, const char *list) {
    const char *colon = strchr(list, ':'), *bracket = strchr(list, '[');
    const char *old = *names ? *names : " ";
    char *all = rsc_arena_alloc(arena, strlen(old) + strlen(list) + 2), *to;
    if (!all) return -1;
    to = all + strlen(old);
    memcpy(all, old, strlen(old));
    if (colon && (!bracket || colon < bracket)) list = colon + 1;
    for (; *list; list++) *to++ = isalnum((unsigned char)*list) || *list == '_' ? *list : ' ';
    *to++ = ' ';
    *to = '\0';
    *names = all;
    return 0;
}

/* "+: hist[0:N]": one array section, whose name becomes private. */
static int add_sections(struct rsc_omp *omp, struct rsc_arena *arena, const char *list) {
    const char *colon = strchr(list, ':'), *bracket = strchr(list, '[');
    if (!colon || colon > bracket || omp->reduced || strchr(bracket + 1, '[') || strchr(bracket, ',')) return 1;
    const char *name = skip_space(colon + 1);
    char *copy = rsc_arena_strndup(arena, name, word_length(name));
    if (!copy || !(omp->reduced = rsc_arena_strdup(arena, name))) return -1;
    return add_names(&omp->private_names, arena, copy);
}

/* Returns 0 when read, 1 for an unsupported clause, -1 when out of memory. */
static int read_clause(struct rsc_omp *omp, struct rsc_arena *arena, const char *word, size_t length, char *value) {
    static const char *const lists[] = {"private", "linear", "firstprivate", "copyin", "lastprivate", "reduction"};
    static const char *const without_meaning[] = {"shared",   "default", "proc_bind",   "safelen",
                                                  "simdlen",  "aligned", "nontemporal", "order",
                                                  "allocate", "hint",    "bind"};
    if (is_word(word, length, "nowait")) return omp->nowait = 1, 0;
    if (is_word(word, length, "ordered") && !value) return omp->ordered = 1, 0;
    if (is_word(word, length, "schedule") && value) return read_schedule(omp, value) ? 1 : 0;
    struct rsc_omp_number *number = is_word(word, length, "collapse")      ? &omp->collapse
                                    : is_word(word, length, "num_threads") ? &omp->num_threads
                                    : is_word(word, length, "if")          ? &omp->condition
                                                                           : NULL;
    if (number && value) {
        const char *colon = number == &omp->condition ? strchr(value, ':') : NULL; /* if(parallel: n > 9) */
        number->text =
            colon && colon[1] != ':' && word_length(skip_space(value)) == strlen("parallel") ? colon + 1 : value;
        return 0;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (is_word(word, length, lists[i]) && value) {
            if (i == 5 && strchr(value, '[')) return add_sections(omp, arena, value);
            if (i > 1 && add_names(i == 2 ? &omp->first_names : &omp->copied_names, arena, value)) return -1;
            return add_names(&omp->private_names, arena, value);
        }
    for (size_t i = 0; i < sizeof without_meaning / sizeof *without_meaning; i++)
        if (is_word(word, length, without_meaning[i])) return 0;
    return 1;
}

/* Reads one directive from omp->text. */
static int read_directive(struct rsc_omp *omp, struct rsc_arena *arena) {
    /* no tasks are built that could be waited for; unrolling changes no reference */
    static const char *const ignored[] = {"simd",    "atomic",   "critical",  "flush",        "declare", "section",
                                          "ordered", "taskwait", "taskyield", "cancellation", "unroll"};
    const char *at = skip_space(omp->text);
    int names = 1;
    while (*at) {
        size_t length = word_length(at);
        if (!length) {
            at++;
            continue;
        }
        const char *word = at;
        at += length;
        if (names && is_word(word, length, "threadprivate")) {
            char *list = in_parentheses(arena, &at);
            omp->is_ignored = omp->is_threadprivate = 1; /* nothing that runs */
            return list ? add_names(&omp->private_names, arena, list) : 0;
        }
        if (names && is_word(word, length, "cancel")) {
            omp->is_ignored = omp->is_cancel = 1;
            omp->condition.text = strstr(at, "if");
            return 0;
        }
        if (names) {
            int known = 1;
            if (is_word(word, length, "parallel")) omp->is_parallel = 1;
            else if (is_word(word, length, "for") || is_word(word, length, "loop")) omp->is_for = 1;
            else if (is_word(word, length, "sections")) omp->is_sections = 1;
            else if (is_word(word, length, "single")) omp->is_single = 1;
            else if (is_word(word, length, "master") || is_word(word, length, "masked")) omp->is_master = 1;
            else if (is_word(word, length, "barrier")) omp->is_barrier = 1;
            else known = 0;
            int clause = omp->is_for && is_word(word, length, "ordered");
            for (size_t i = 0; i < sizeof ignored / sizeof *ignored && !known && !clause; i++)
                if (is_word(word, length, ignored[i])) known = omp->is_ignored = 1;
            if (known && omp->is_ignored && !is_word(word, length, "simd"))
                return 0; /* critical(name), atomic update ... */
            if (known) {
                at = skip_space(at);
                continue;
            }
            names = 0;
            int any = omp->is_parallel || omp->is_for || omp->is_sections || omp->is_single || omp->is_master ||
                      omp->is_barrier || omp->is_ignored;
            if (!any || is_word(word, length, "taskloop")) {
                omp->other = rsc_arena_strndup(arena, word, length);
                return omp->other ? 0 : -1;
            }
        }
        char *value = in_parentheses(arena, &at);
        int status = read_clause(omp, arena, word, length, value);
        if (status < 0) return -1;
        if (status && !omp->bad_clause && !(omp->bad_clause = rsc_arena_strndup(arena, word, length))) return -1;
        at = skip_space(at);
        if (*at == ',') at = skip_space(at + 1);
    }
    return 0;
}

static size_t line_end(const char *text, size_t bytes, size_t at) {
    const char *newline = memchr(text + at, '\n', bytes - at);
    return newline ? (size_t)(newline - text) : bytes;
}

static int is_omp_line(const char *text, size_t at, size_t end, size_t *body) {
    const char *words[] = {"#", "pragma", "omp"};
    for (int w = 0; w < 3; w++) {
        size_t length = strlen(words[w]);
        while (at < end && (text[at] == ' ' || text[at] == '\t')) at++;
        if (end - at < length || memcmp(text + at, words[w], length)) return 0;
        at += length;
    }
    *body = at;
    return at == end || isspace((unsigned char)text[at]);
}

/* Skips spaces and lines that start with '#'. */
static size_t next_token(const char *text, size_t bytes, size_t at) {
    while (at < bytes) {
        if (isspace((unsigned char)text[at])) at++;
        else if (text[at] == '#') at = line_end(text, bytes, at);
        else break;
    }
    return at;
}

int rsc_omp_scan(struct rsc_omp_list *list, struct rsc_arena *arena, const char *text, size_t bytes) {
    size_t count = 0, body;
    *list = (struct rsc_omp_list){0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0, end; at < bytes; at = end + 1) {
            end = line_end(text, bytes, at);
            if (!is_omp_line(text, at, end, &body)) continue;
            if (pass) {
                struct rsc_omp *omp = &list->item[list->count++];
                *omp = (struct rsc_omp){.start = at, .end = end, .next = next_token(text, bytes, end)};
                omp->text = rsc_arena_strndup(arena, text + body, end - body);
                if (!omp->text || read_directive(omp, arena)) return RSC_ENOMEM;
            } else {
                count++;
            }
        }
        if (!pass && !(list->item = rsc_arena_alloc(arena, (count + 1) * sizeof *list->item))) return RSC_ENOMEM;
    }
    return 0;
}

static int is_named(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; at && (at = strstr(at, name)); at += length)
        if (at[-1] == ' ' && at[length] == ' ') return 1;
    return 0;
}

int rsc_omp_is_private(const struct rsc_omp *omp, const char *name) { return is_named(omp->private_names, name); }

int rsc_omp_is_first(const struct rsc_omp *omp, const char *name) { return is_named(omp->first_names, name); }

int rsc_omp_is_copied(const struct rsc_omp *omp, const char *name) { return is_named(omp->copied_names, name); }
