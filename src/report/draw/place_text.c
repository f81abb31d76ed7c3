/* place_text.c - formats places in the code, as far as they are known and fit. */
#include "report/draw/place_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *rsc_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

int rsc_place_is_loader(const struct rsc_place *place) {
    return place->module && !strncmp(rsc_base_name(place->module), "ld-linux", 8);
}

/* The length of an operator's name that starts at `at`, as operator<, operator->*, operator<=>; 0: none does. */
static size_t operator_length(const char *name, const char *at) {
    size_t word = strlen("operator");
    if (strncmp(at, "operator", word)) return 0;
    if (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) return 0;
    return word + strspn(at + word, "<>=-*");
}

void rsc_collapse_function(const char *name, char *to, size_t room) {
    size_t used = 0, depth = 0;
    for (const char *at = name; *at && used + 64 < room; at++) {
        size_t whole = depth ? 0 : operator_length(name, at);
        if (whole && used + whole + 64 < room) {
            memcpy(to + used, at, whole);
            used += whole;
            at += whole - 1;
        } else if (*at == '<') {
            if (!depth++) to[used++] = '<', to[used++] = '>';
        } else if (*at == '>' && depth) {
            depth--;
        } else if (!depth) {
            to[used++] = *at;
        }
    }
    to[used] = 0;
}

static void shorten(const struct rsc_text *text, const char *name, char *to, size_t room) {
    if (text->full_names) snprintf(to, room, "%s", name);
    else rsc_collapse_function(name, to, room);
}

void rsc_put_function(struct rsc_text *text, const char *name, unsigned columns) {
    char shown[1024];
    shorten(text, name, shown, sizeof shown);
    rsc_text_foreign(text, shown, columns);
}

static const char *below_root(const struct rsc_text *text, const char *file) {
    size_t length = text->root ? strlen(text->root) : 0;
    return length > 1 && !strncmp(file, text->root, length) && file[length] == '/' ? file + length + 1 : file;
}

/* File and line, keeping the end of the file name if cut; then as much of the function as fits. */
static void put_source(struct rsc_text *text, const struct rsc_place *place, unsigned columns) {
    const char *file = below_root(text, place->file);
    char line[16], name[1024] = "";
    unsigned suffix = (unsigned)snprintf(line, sizeof line, ":%" PRIu32, place->line);
    unsigned room = columns > suffix ? columns - suffix : 0;
    unsigned base = rsc_text_foreign_columns(text, rsc_base_name(place->file)), function = 0;
    if (place->function && place->function[0] && room > base + 1) {
        shorten(text, place->function, name, sizeof name);
        unsigned wanted = rsc_text_foreign_columns(text, name);
        function = wanted < room - base - 1 ? wanted : room - base - 1;
        if (function < wanted && function < 6) function = 0;
    }
    rsc_text_foreign_end(text, file, function ? room - function - 1 : room);
    if (room) rsc_text_put(text, "%s", line);
    if (!function) return;
    rsc_text_put(text, " ");
    rsc_text_foreign(text, name, function);
}

void rsc_put_place(struct rsc_text *text, const struct rsc_place *place, unsigned columns) {
    unsigned end = text->column + columns;
    if (rsc_place_is_loader(place)) {
        rsc_text_foreign(text, "the dynamic loader", columns);
        return;
    }
    if (place->file && place->line) {
        put_source(text, place, columns);
        return;
    }
    char pc[24];
    /* the offset in the module, as in objdump and addr2line; the same in every run */
    snprintf(pc, sizeof pc, "0x%" PRIx64, place->offset ? place->offset : place->pc);
    if (place->function && place->function[0]) rsc_put_function(text, place->function, columns);
    else rsc_text_foreign(text, pc, columns);
    if (text->modules_known && !place->module && !place->function && text->column + 16 <= end)
        rsc_text_put(text, " generated code");
    if (place->module && place->module[0] && text->column + 8 <= end) {
        rsc_text_put(text, " in ");
        rsc_text_foreign_end(text, place->module, end - text->column);
    }
}

struct rsc_place_short rsc_place_in_short(const struct rsc_place *place, int unicode) {
    struct rsc_place_short shown = {"?"};
    struct rsc_text text;
    char *taken = NULL;
    size_t bytes;
    rsc_text_init(&text, unicode, 0);
    struct rsc_place bare = {.pc = place->pc,
                             .module = rsc_place_is_loader(place) ? place->module : NULL,
                             .line = place->line,
                             .offset = place->offset};
    if (place->file && place->line) bare.file = (char *)rsc_base_name(place->file);
    else bare.function = place->function;
    rsc_put_place(&text, &bare, RSC_PLACE_SHORT_COLUMNS);
    if (!rsc_text_take(&text, &taken, &bytes)) snprintf(shown.text, sizeof shown.text, "%s", taken);
    free(taken);
    return shown;
}
