/*
 * follow.c - see follow.h. The guest's strings are read in place. QEMU is started
 * with the options it was started with itself (launch.c): a region of interest,
 * the seed and --skip hold for each program anew. LD_PRELOAD in the guest's
 * environment is meant for guests: it goes to the new guest by QEMU's -E and is
 * kept from QEMU itself.
 */
#include "collect/follow.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 65536u
#define EXTRA 32u

static char *word_at(const struct rsc_follow *follow, char *const *list, size_t i) {
    return list[i] ? (char *)((uintptr_t)list[i] + follow->guest_base) : NULL;
}

static size_t count_words(char *const *list) {
    size_t count = 0;
    while (list && count < WORDS_MAX && list[count]) count++;
    return count;
}

/* The environment for QEMU: the guest's without LD_PRELOAD, which is handed back. */
static char **host_environment(const struct rsc_follow *follow, const char **preload) {
    size_t count = count_words(follow->envp), kept = 0;
    char **list = calloc(count + 1, sizeof *list);
    *preload = NULL;
    for (size_t i = 0; list && i < count; i++) {
        char *word = word_at(follow, follow->envp, i);
        if (!strncmp(word, "LD_PRELOAD=", 11)) *preload = word;
        else list[kept++] = word;
    }
    return list;
}

/* With a slash: execve() does not look in PATH. */
int rsc_follow_find(const struct rsc_follow *follow, struct rsc_target *target) {
    char name[PATH_MAX];
    struct rsc_error ignored;
    if (snprintf(name, sizeof name, "%s%s", strchr(follow->path, '/') ? "" : "./", follow->path) >= (int)sizeof name)
        return 0;
    return rsc_target_find(target, name, &ignored) == 0 && target->guest == follow->guest;
}

/* The ring for the new program, under its old number, though this one may have closed all it did not know. */
static int pass_ring_on(const struct rsc_follow *follow) {
    char name[64];
    struct stat ring, there;
    snprintf(name, sizeof name, "/proc/%u/fd/%d", follow->parent_pid, follow->ring_fd);
    if (stat(name, &ring) != 0) return -1;
    if (fstat(follow->ring_fd, &there) == 0)
        return there.st_ino == ring.st_ino && there.st_dev == ring.st_dev ? fcntl(follow->ring_fd, F_SETFD, 0) : -1;
    int fd = open(name, O_RDWR);
    if (fd < 0 || fd == follow->ring_fd) return fd;
    int status = dup2(fd, follow->ring_fd);
    close(fd);
    return status;
}

/* The words of our own command line, each ended by a zero byte; NULL at the end. */
static char **own_words(void) {
    static char text[1 << 16];
    size_t got = 0, count = 0;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    for (ssize_t more; got < sizeof text - 1 && (more = read(fd, text + got, sizeof text - 1 - got)) > 0;)
        got += (size_t)more;
    close(fd);
    text[got] = 0;
    char **words = calloc(EXTRA, sizeof *words);
    for (char *word = text; words && word < text + got && count < EXTRA - 1; word += strlen(word) + 1)
        words[count++] = word;
    return words;
}

void rsc_follow_exec(const struct rsc_follow *follow, struct rsc_target *target) {
    char qemu[PATH_MAX];
    const char *preload;
    ssize_t length = readlink("/proc/self/exe", qemu, sizeof qemu - 1);
    size_t given = count_words(follow->argv), used = 0;
    char **own = own_words(), **argv = calloc(given + 2 * EXTRA, sizeof *argv);
    char **envp = host_environment(follow, &preload);
    if (length <= 0 || !own || !argv || !envp || pass_ring_on(follow) < 0) goto out;
    qemu[length] = 0;
    argv[used++] = qemu;
    /* Options of QEMU, each with a value, as launch.c gave them. */
    for (size_t i = 1; own[i] && own[i + 1] && strcmp(own[i], "-E") && strcmp(own[i], "-0"); i += 2) {
        argv[used++] = own[i];
        argv[used++] = own[i + 1];
    }
    if (preload && target->dynamic) {
        argv[used++] = (char *)"-E";
        argv[used++] = (char *)preload;
    }
    argv[used++] = (char *)"-0";
    argv[used++] = target->script[0] ? target->interpreter : given ? word_at(follow, follow->argv, 0) : target->path;
    argv[used++] = target->path;
    if (target->script_argument[0]) argv[used++] = target->script_argument;
    if (target->script[0]) argv[used++] = target->script;
    for (size_t i = 1; i < given; i++) argv[used++] = word_at(follow, follow->argv, i);
    execve(qemu, argv, envp);
out:
    free(own);
    free(argv);
    free(envp);
}
