/* place_text.c - formats places in the code, as far as they are known and fit. */
#include "report/draw/place_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *rsc_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* File and line, keeping the end of the file name if cut; then as much of the function as fits. */
static void put_source(struct rsc_text *text, const struct rsc_place *place, unsigned columns) {
    char line[16];
    unsigned suffix = (unsigned)snprintf(line, sizeof line, ":%" PRIu32, place->line);
    unsigned room = columns > suffix ? columns - suffix : 0;
    unsigned base = rsc_text_foreign_columns(text, rsc_base_name(place->file)), function = 0;
    if (place->function && place->function[0] && room > base + 1) {
        unsigned wanted = rsc_text_foreign_columns(text, place->function);
        function = wanted < room - base - 1 ? wanted : room - base - 1;
        if (function < wanted && function < 6) function = 0;
    }
    rsc_text_foreign_end(text, place->file, function ? room - function - 1 : room);
    if (room) rsc_text_put(text, "%s", line);
    if (!function) return;
    rsc_text_put(text, " ");
    rsc_text_foreign(text, place->function, function);
}

void rsc_put_place(struct rsc_text *text, const struct rsc_place *place, unsigned columns) {
    unsigned end = text->column + columns;
    if (place->file && place->line) {
        put_source(text, place, columns);
        return;
    }
    char pc[24];
    /* the offset in the module, as in objdump and addr2line; the same in every run */
    snprintf(pc, sizeof pc, "0x%" PRIx64, place->offset ? place->offset : place->pc);
    rsc_text_foreign(text, place->function && place->function[0] ? place->function : pc, columns);
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
    struct rsc_place bare = {.pc = place->pc, .line = place->line, .offset = place->offset};
    if (place->file && place->line) bare.file = (char *)rsc_base_name(place->file);
    else bare.function = place->function;
    rsc_put_place(&text, &bare, RSC_PLACE_SHORT_COLUMNS);
    if (!rsc_text_take(&text, &taken, &bytes)) snprintf(shown.text, sizeof shown.text, "%s", taken);
    free(taken);
    return shown;
}
