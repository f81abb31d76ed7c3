/*
 * fuzz_jit_map.c - any bytes as /tmp/perf-PID.map, which a runtime writes.
 *
 * Rows come in order, with names of one line and bounded length; what a pc is in is one of them. The file is a real one:
 * the reader follows no links.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "collect/symbols/jit_map.h"
#include "fuzz_check.h"

static void check_found(const struct rsc_jit_map *map, uint64_t pc) {
    const char *name = rsc_jit_map_find(map, pc);
    int known = !name;
    for (size_t i = 0; !known && i < map->count; i++)
        known = map->rows[i].name == name && map->rows[i].start <= pc && pc < map->rows[i].end;
    FUZZ_CHECK(known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    struct rsc_jit_map map;
    char path[64];
    snprintf(path, sizeof path, "%s/fuzz_jit_map.%d", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
    close(fd);
    FUZZ_CHECK(rsc_jit_map_read(&map, path) == 0);
    unlink(path);
    for (size_t i = 0; i < map.count; i++) {
        const struct rsc_jit_row *row = &map.rows[i];
        FUZZ_CHECK(row->start < row->end && row->name[0] && strlen(row->name) <= RSC_JIT_NAME_MAX);
        FUZZ_CHECK(!strchr(row->name, '\n') && (!i || row->start >= row[-1].start));
        if (i < 64) check_found(&map, row->start);
        if (i < 64) check_found(&map, row->end - 1);
        if (i < 64) check_found(&map, row->end);
    }
    rsc_jit_map_free(&map);
    return 0;
}
