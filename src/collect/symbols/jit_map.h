/*
 * jit_map.h - names of code that a runtime made while it ran.
 *
 * Java, node and other runtimes can list such code in /tmp/perf-PID.map, a text file:
 * a line per function, "START SIZE NAME", numbers in hexadecimal. A later line for the
 * same addresses replaces an earlier one.
 *
 * The file may have been written by anybody. It must be a plain file of the same user,
 * at most 64 MiB and 1 M lines of it are read, and lines that make no sense are skipped.
 */
#ifndef RSC_COLLECT_SYMBOLS_JIT_MAP_H
#define RSC_COLLECT_SYMBOLS_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>

#define RSC_JIT_NAME_MAX 256u

struct rsc_jit_row {
    uint64_t start, end;
    const char *name; /* in `text` */
    uint32_t number;  /* of the line */
};

struct rsc_jit_map {
    struct rsc_jit_row *rows; /* by start, then number; owned */
    size_t count, room;
    char *text; /* of the file; owned */
};

/* Reads a file. Returns 0 (no such file, or not one to read: no rows) or RSC_ENOMEM. The map may always be freed. */
int rsc_jit_map_read(struct rsc_jit_map *map, const char *path);
void rsc_jit_map_free(struct rsc_jit_map *map);

/* The name of the function at a pc, or NULL. */
const char *rsc_jit_map_find(const struct rsc_jit_map *map, uint64_t pc);

#endif
