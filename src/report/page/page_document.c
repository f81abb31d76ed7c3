/*
 * page_document.c - results of `sim` (caches, objects, studies) and `loops` as JSON files, for the page.
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
#include "base/inputs.h"
#include "profile/json_read.h"
#include "report/page/page.h"

#define DOCUMENT_BYTES_MAX (256u << 20)
#define OPENING 4096 /* the tool writes the schema at the beginning */

/* Of a loop that was not analysed it is null. */
static int is_count(const json_t *value) { return json_is_integer(value) || json_is_null(value); }

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

static int are_object_caches(json_t *root) {
    json_t *caches = json_object_get(root, "caches"), *cache;
    json_int_t requests, requested_bytes, objects, objects_bytes, bytes, misses, missed_bytes, evictions, too_large;
    const char *policy;
    size_t i;
    if (!json_is_array(caches) || json_unpack(root, "{s:I,s:I,s:I,s:I}", "requests", &requests, "requested_bytes",
                                              &requested_bytes, "objects", &objects, "objects_bytes", &objects_bytes))
        return 0;
    json_array_foreach(caches, i, cache) {
        json_t *ratio = json_object_get(cache, "miss_ratio"), *byte_ratio = json_object_get(cache, "byte_miss_ratio");
        if (json_unpack(cache, "{s:s,s:I,s:I,s:I,s:I,s:I}", "policy", &policy, "bytes", &bytes, "misses", &misses,
                        "missed_bytes", &missed_bytes, "evictions", &evictions, "too_large", &too_large) ||
            !(json_is_number(ratio) || json_is_null(ratio)) ||
            !(json_is_number(byte_ratio) || json_is_null(byte_ratio)))
            return 0;
    }
    return 1;
}

/* A slice of a cone has a share of the trace and two ranges, whose ends may be null. */
static int is_cone(json_t *cone) {
    json_t *slice;
    size_t i;
    if (!json_is_array(cone)) return 0;
    json_array_foreach(cone, i, slice) {
        if (!json_is_number(json_object_get(slice, "fraction")) ||
            !json_is_integer(json_object_get(slice, "intervals")) ||
            !json_is_object(json_object_get(slice, "initmr")) || !json_is_object(json_object_get(slice, "true_state")))
            return 0;
    }
    return 1;
}

static int is_study(json_t *root) {
    json_t *caches = json_object_get(root, "caches"), *cache, *time, *sets;
    size_t i, k;
    if (!json_is_array(caches) || !json_is_integer(json_object_get(root, "instructions")) ||
        !json_is_integer(json_object_get(root, "accesses")))
        return 0;
    json_array_foreach(caches, i, cache) {
        json_t *times = json_object_get(cache, "time"), *all_sets = json_object_get(cache, "sets");
        if (!json_is_string(json_object_get(cache, "name")) || !json_is_string(json_object_get(cache, "config")) ||
            !json_is_array(times) || !json_is_array(all_sets))
            return 0;
        json_array_foreach(times, k, time) {
            if (!json_is_integer(json_object_get(time, "interval")) || !json_is_object(json_object_get(time, "bias")) ||
                !is_cone(json_object_get(time, "cone")))
                return 0;
        }
        json_array_foreach(all_sets, k, sets) {
            if (!json_is_number(json_object_get(sets, "fraction")) || !json_is_object(json_object_get(sets, "random")))
                return 0;
        }
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

static const struct {
    const char *schema, *name;
    int (*is_whole)(json_t *root);
    int is;
} kinds[] = {
    {"reusescope-sim/1", "a simulation's result", is_simulation, RSC_PAGE_SIMULATION},
    {"reusescope-objects/1", "caches of objects", are_object_caches, RSC_PAGE_SIMULATION},
    {"reusescope-sampling-study/1", "a study of samples", is_study, RSC_PAGE_SIMULATION},
    {"reusescope-loops/1", "a loop analysis", are_loops, RSC_PAGE_LOOPS},
};

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
    int is_one = 0;
    for (size_t i = 0; *first == '{' && i < sizeof kinds / sizeof *kinds; i++)
        is_one |= strstr(opening, kinds[i].schema) != NULL;
    char *text = is_one ? malloc((size_t)status.st_size + 1) : NULL;
    if (text) {
        rsc_input_opened(fileno(file));
        rewind(file);
        *bytes = fread(text, 1, (size_t)status.st_size, file);
        text[*bytes] = 0;
    }
    fclose(file);
    return text;
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
    else
        for (size_t i = 0; schema && !status && i < sizeof kinds / sizeof *kinds; i++)
            if (!strcmp(schema, kinds[i].schema))
                status = kinds[i].is_whole(root)
                             ? kinds[i].is
                             : rsc_fail(error, RSC_EFORMAT, "%s: %s with parts missing", path, kinds[i].name);
    json_decref(root);
    if (status <= 0) {
        free(*text);
        *text = NULL;
    }
    return status;
}
