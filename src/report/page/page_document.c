/*
 * page_document.c - results of `sim` and `loops` as JSON files, for the page.
 *
 * The text goes into the page unchanged, so it is fully checked here: it must be
 * valid JSON and have the parts that the page needs.
 */
#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "profile/json_read.h"
#include "report/page/page.h"

#define DOCUMENT_BYTES_MAX (256u << 20)
#define OPENING 4096 /* the tool writes the schema at the beginning */

/* Of a loop that was not analysed it is null. */
static int is_count(const json_t *value) { return json_is_integer(value) || json_is_null(value); }

/* The text of a regular file that starts like one of these documents; else NULL. */
static char *read_document(const char *path, size_t *bytes) {
    struct stat status;
    char opening[OPENING + 1];
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > (off_t)DOCUMENT_BYTES_MAX) return NULL;
    FILE *file = fopen(path, "rbe");
    if (!file) return NULL;
    size_t got = fread(opening, 1, OPENING, file);
    opening[got] = 0;
    const char *first = opening;
    while (isspace((unsigned char)*first)) first++;
    int is_one =
        *first == '{' && (strstr(opening, "\"reusescope-sim/1\"") || strstr(opening, "\"reusescope-loops/1\""));
    char *text = is_one ? malloc((size_t)status.st_size + 1) : NULL;
    if (text) {
        rewind(file);
        *bytes = fread(text, 1, (size_t)status.st_size, file);
        text[*bytes] = 0;
    }
    fclose(file);
    return text;
}

static int is_simulation(json_t *root) {
    json_t *levels = json_object_get(root, "levels"), *level;
    size_t i;
    if (!json_is_integer(json_object_get(root, "references")) || !json_is_array(levels)) return 0;
    json_array_foreach(levels, i, level) {
        const char *name, *config;
        json_int_t accesses, misses, writebacks;
        if (json_unpack(level, "{s:s,s:s,s:I,s:I,s:I}", "name", &name, "config", &config, "accesses", &accesses,
                        "misses", &misses, "writebacks", &writebacks))
            return 0;
        json_t *mpi = json_object_get(level, "mpi");
        if (!json_is_number(mpi) && !json_is_null(mpi)) return 0;
    }
    return 1;
}

static int is_curve(json_t *mrc) {
    json_t *point;
    size_t i;
    if (!json_is_array(mrc)) return 0;
    json_array_foreach(mrc, i, point) {
        json_t *lines = json_object_get(point, "lines"), *bytes = json_object_get(point, "bytes");
        if (!json_is_number(json_object_get(point, "miss_ratio")) ||
            !(json_is_integer(lines) || json_is_integer(bytes)))
            return 0;
    }
    return 1;
}

static int are_loops(json_t *root) {
    json_t *loops = json_object_get(root, "loops"), *loop, *thread;
    size_t i, k;
    if (!json_is_array(loops)) return 0;
    json_array_foreach(loops, i, loop) {
        json_t *threads = json_object_get(loop, "threads");
        if (!json_is_array(threads) || !is_count(json_object_get(loop, "references")) ||
            !is_count(json_object_get(loop, "distinct")))
            return 0;
        json_array_foreach(threads, k, thread) {
            if (!json_is_integer(json_object_get(thread, "t")) || !is_curve(json_object_get(thread, "mrc"))) return 0;
        }
    }
    return 1;
}

int rsc_page_document_read(const char *path, char **text, struct rsc_error *error) {
    size_t bytes = 0;
    json_t *root;
    *text = read_document(path, &bytes);
    if (!*text) return 0;
    int status = rsc_json_read(&root, *text, bytes, path, error);
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (status < 0) /* reported */
        ;
    else if (schema && !strcmp(schema, "reusescope-sim/1"))
        status = is_simulation(root)
                     ? RSC_PAGE_SIMULATION
                     : rsc_fail(error, RSC_EFORMAT, "%s: a simulation's result with parts missing", path);
    else if (schema && !strcmp(schema, "reusescope-loops/1"))
        status = are_loops(root) ? RSC_PAGE_LOOPS
                                 : rsc_fail(error, RSC_EFORMAT, "%s: a loop analysis with parts missing", path);
    else status = 0;
    json_decref(root);
    if (status <= 0) {
        free(*text);
        *text = NULL;
    }
    return status;
}
