/*
 * scratch_folder.h - a folder for the files of one test, gone afterwards.
 *
 * Use as a cmocka group fixture: setup makes the folder, teardown removes it
 * with all the plain files in it.
 */
#ifndef RSC_TESTS_SCRATCH_FOLDER_H
#define RSC_TESTS_SCRATCH_FOLDER_H

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_folder[PATH_MAX];

static inline int scratch_setup(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%s/reusescope-test-XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(scratch_folder) ? 0 : -1;
}

/* The path of a file in the folder; valid until the next call but three. */
static inline const char *scratch_path(const char *name) {
    static char paths[4][PATH_MAX + 256];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

static inline const char *scratch_write(const char *name, const void *bytes, size_t count) {
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) abort();
    return path;
}

static inline int scratch_teardown(void **state) {
    (void)state;
    DIR *folder = opendir(scratch_folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') unlink(scratch_path(entry->d_name));
    if (folder) closedir(folder);
    return rmdir(scratch_folder);
}

#endif
