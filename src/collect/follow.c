/*
 * follow.c - see follow.h. The guest's strings are read in place. LD_PRELOAD in
 * the guest's environment is meant for guests: it goes to the new guest by QEMU's
 * -E and is kept from QEMU itself.
 */
#include "collect/follow.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/target.h"

#define WORDS_MAX 65536u
#define EXTRA 20u

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

void rsc_follow_exec(const struct rsc_follow *follow) {
    struct rsc_target target;
    struct rsc_error ignored;
    Dl_info self;
    char qemu[PATH_MAX], plugin[PATH_MAX + 256];
    const char *preload;
    ssize_t length = readlink("/proc/self/exe", qemu, sizeof qemu - 1);
    size_t given = count_words(follow->argv), used = 0;
    /* With a slash: execve() does not look in PATH. */
    char name[PATH_MAX];
    if (snprintf(name, sizeof name, "%s%s", strchr(follow->path, '/') ? "" : "./", follow->path) >= (int)sizeof name) return;
    if (length <= 0 || rsc_target_find(&target, name, &ignored) < 0 || target.guest != follow->guest) return;
    qemu[length] = 0;
    if (!dladdr((void *)(uintptr_t)rsc_follow_exec, &self) || !self.dli_fname) return;
    snprintf(plugin, sizeof plugin, "%s,ring=%d,contexts=%d,follow=1,strict=%d", self.dli_fname, follow->ring_fd,
             follow->contexts, follow->strict);
    char **argv = calloc(given + EXTRA, sizeof *argv), **envp = host_environment(follow, &preload);
    if (!argv || !envp) goto out;
    argv[used++] = qemu;
    argv[used++] = (char *)"-cpu";
    argv[used++] = (char *)"max";
    argv[used++] = (char *)"-seed";
    argv[used++] = (char *)"1";
    argv[used++] = (char *)"-plugin";
    argv[used++] = plugin;
    if (preload && target.dynamic) {
        argv[used++] = (char *)"-E";
        argv[used++] = (char *)preload;
    }
    argv[used++] = (char *)"-0";
    argv[used++] = target.script[0] ? target.interpreter : given ? word_at(follow, follow->argv, 0) : name;
    argv[used++] = target.path;
    if (target.script_argument[0]) argv[used++] = target.script_argument;
    if (target.script[0]) argv[used++] = target.script;
    for (size_t i = 1; i < given; i++) argv[used++] = word_at(follow, follow->argv, i);
    execve(qemu, argv, envp);
out:
    free(argv);
    free(envp);
}
