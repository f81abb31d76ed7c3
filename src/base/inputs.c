/* inputs.c - see inputs.h. */
#include "base/inputs.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#include "base/grow.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    dev_t device;
    ino_t number;
} *files; /* never freed: until the tool ends */
static size_t count, room;
static mode_t hidden;
static int remembers;

void rsc_inputs_remember(void) { remembers = 1; }

static void add(const struct stat *file) {
    if (!S_ISREG(file->st_mode) || rsc_input_is(file)) return;
    pthread_mutex_lock(&lock);
    if (!RSC_GROW(files, room, count + 1)) { /* without memory for this, what is to come fails too */
        files[count].device = file->st_dev;
        files[count++].number = file->st_ino;
    }
    pthread_mutex_unlock(&lock);
}

/* What a file gives to its group, a result gives to ours. */
static void hide(const struct stat *file) {
    mode_t bits = 0;
    if (!S_ISREG(file->st_mode)) return;
    if (!(file->st_mode & S_IROTH)) bits = S_IRWXO | (file->st_gid == getegid() ? 0 : S_IRWXG);
    if (!(file->st_mode & S_IRGRP)) bits |= S_IRWXG;
    pthread_mutex_lock(&lock);
    hidden |= bits;
    pthread_mutex_unlock(&lock);
}

void rsc_input_opened(int fd) {
    struct stat file;
    if (!remembers || fstat(fd, &file) != 0) return;
    add(&file);
    hide(&file);
}

void rsc_input_named(const char *path) {
    struct stat file;
    if (!remembers || stat(path, &file) != 0) return;
    add(&file);
    hide(&file);
}

void rsc_input_spare(const char *path) {
    struct stat file;
    if (remembers && stat(path, &file) == 0) add(&file);
}

int rsc_input_is(const struct stat *file) {
    int is = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !is; i++) is = files[i].device == file->st_dev && files[i].number == file->st_ino;
    pthread_mutex_unlock(&lock);
    return is;
}

mode_t rsc_inputs_hidden(void) {
    pthread_mutex_lock(&lock);
    mode_t bits = hidden;
    pthread_mutex_unlock(&lock);
    return bits;
}
