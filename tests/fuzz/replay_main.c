/*
 * replay_main.c - runs a fuzz target over the files of a folder, without
 * libFuzzer: the seed corpus is a regression test in every build. Each file is
 * also given with each of its first bytes flipped and cut at each length, so that
 * even this quick run meets damaged input.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#ifndef VARIANTS_MAX
#define VARIANTS_MAX 200u /* of each file: tests/CMakeLists.txt sets less where executions are slow */
#endif

static int run_file(const char *path) {
    static uint8_t data[1 << 20], copy[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) return -1;
    size_t bytes = fread(data, 1, sizeof data, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, bytes);
    size_t step = bytes / VARIANTS_MAX + 1;
    for (size_t at = 0; at < bytes; at += step) {
        memcpy(copy, data, bytes);
        copy[at] ^= (uint8_t)(1u << (at / step % 8));
        LLVMFuzzerTestOneInput(copy, bytes);
        LLVMFuzzerTestOneInput(data, at);
    }
    return 0;
}

int main(int argc, char **argv) {
    struct dirent *entry;
    int files = 0;
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(folder))) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (run_file(path) == 0) files++;
    }
    closedir(folder);
    printf("%d files of %s\n", files, argv[1]);
    return files ? 0 : 1; /* a corpus that is not there tests nothing */
}
