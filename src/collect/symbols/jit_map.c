/* jit_map.c - see jit_map.h. */
#include "collect/symbols/jit_map.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <reusescope/error.h>

#define BYTES_MAX (64u << 20)
#define ROWS_MAX (1u << 20)
#define LOOK_BACK 64u /* functions that start before a pc and may reach over later ones */

void rsc_jit_map_free(struct rsc_jit_map *map) {
    free(map->rows);
    free(map->text);
    *map = (struct rsc_jit_map){0};
}

/* The file's text, ending with 0; NULL if it is not one to read. *failed: out of memory. */
static char *read_text(const char *path, int *failed) {
    struct stat info;
    char *text = NULL;
    size_t used = 0;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return NULL;
    if (!fstat(file, &info) && S_ISREG(info.st_mode) && info.st_uid == geteuid() && info.st_size > 0) {
        size_t room = info.st_size < (off_t)BYTES_MAX ? (size_t)info.st_size : BYTES_MAX;
        text = malloc(room + 1);
        *failed = !text;
        while (text && used < room) {
            ssize_t got = read(file, text + used, room - used);
            if (got <= 0) break;
            used += (size_t)got;
        }
    }
    close(file);
    if (text) text[used] = 0;
    return text;
}

/* A number in hexadecimal, without a sign. Returns what follows it; NULL: there is none. */
static char *take_hex(char *at, uint64_t *value) {
    char *end;
    if (!strchr("0123456789abcdefABCDEF", *at) || !*at) return NULL;
    *value = strtoull(at, &end, 16);
    return end;
}

/* Adds the row of a line, if it is one. Returns 0 or RSC_ENOMEM. */
static int take_line(struct rsc_jit_map *map, char *line, uint32_t number) {
    uint64_t start, bytes;
    char *at = take_hex(line, &start);
    if (!at || *at != ' ' || !(at = take_hex(at + 1, &bytes)) || *at != ' ' || !at[1]) return 0;
    if (!bytes || bytes > UINT64_MAX - start) return 0;
    if (map->count == map->room) {
        size_t room = map->room ? 2 * map->room : 256;
        struct rsc_jit_row *rows = realloc(map->rows, room * sizeof *rows);
        if (!rows) return RSC_ENOMEM;
        map->rows = rows;
        map->room = room;
    }
    if (strlen(++at) > RSC_JIT_NAME_MAX) at[RSC_JIT_NAME_MAX] = 0;
    map->rows[map->count++] = (struct rsc_jit_row){start, start + bytes, at, number};
    return 0;
}

static int by_start(const void *left, const void *right) {
    const struct rsc_jit_row *a = left, *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

int rsc_jit_map_read(struct rsc_jit_map *map, const char *path) {
    int failed = 0;
    *map = (struct rsc_jit_map){.text = read_text(path, &failed)};
    if (!map->text) return failed ? RSC_ENOMEM : 0;
    char *line = map->text;
    for (uint32_t number = 0; line && *line && number < ROWS_MAX; number++) {
        char *end = strchr(line, '\n');
        if (!end) break; /* the runtime was stopped while it wrote this one */
        *end = 0;
        if (take_line(map, line, number) < 0) return RSC_ENOMEM;
        line = end + 1;
    }
    if (map->count) qsort(map->rows, map->count, sizeof *map->rows, by_start);
    return 0;
}

const char *rsc_jit_map_find(const struct rsc_jit_map *map, uint64_t pc) {
    size_t low = 0, high = map->count;
    const struct rsc_jit_row *newest = NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->rows[middle].start <= pc) low = middle + 1;
        else high = middle;
    }
    for (size_t i = low; i-- > 0 && low - i <= LOOK_BACK;)
        if (pc < map->rows[i].end && (!newest || map->rows[i].number > newest->number)) newest = &map->rows[i];
    return newest ? newest->name : NULL;
}
