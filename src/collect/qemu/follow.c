/*
 * follow.c - see follow.h. The kernel copies the guest's strings, and reports bad
 * addresses. QEMU is started with the same options as this one (launch.c): a region of
 * interest, the seed and --skip apply anew to each program. LD_PRELOAD in the guest's
 * environment is meant for guests: QEMU's -E passes it to the new guest, and QEMU
 * itself does not get it.
 */
#include "collect/qemu/follow.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define WORDS_MAX 65536u
#define STRING_MAX (1u << 17) /* the kernel's limit */
#define PAGE 4096u
#define EXTRA 32u

/* Fails if the guest has no memory there; a load would crash. */
static ssize_t read_guest(const struct rsc_follow *follow, uint64_t address, void *to, size_t bytes) {
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)(address + follow->guest_base), bytes};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0);
}

/* Page by page: the next one may be unmapped and not needed. */
static char *read_string(const struct rsc_follow *follow, uint64_t address) {
    char *text = NULL;
    for (size_t used = 0; used < STRING_MAX;) {
        size_t bytes = PAGE - (address + used) % PAGE;
        char *more = realloc(text, used + bytes);
        if (!more) break;
        text = more;
        if (read_guest(follow, address + used, text + used, bytes) != (ssize_t)bytes) break;
        if (memchr(text + used, 0, bytes)) return text;
        used += bytes;
    }
    free(text);
    return NULL;
}

static size_t count_words(char *const *list) {
    size_t count = 0;
    while (list && list[count]) count++;
    return count;
}

static void free_list(char **list) {
    for (size_t i = 0; list && list[i]; i++) free(list[i]);
    free(list);
}

/* A list of strings that ends with a null pointer; a NULL list is empty, as for the kernel. */
static char **read_list(const struct rsc_follow *follow, uint64_t address) {
    char **list = calloc(1, sizeof *list);
    for (size_t i = 0; list && address && i < WORDS_MAX; i++) {
        uint64_t word;
        if (read_guest(follow, address + i * sizeof word, &word, sizeof word) != (ssize_t)sizeof word) goto failed;
        if (!word) return list;
        char **longer = realloc(list, (i + 2) * sizeof *list);
        if (!longer) goto failed;
        list = longer;
        list[i + 1] = NULL;
        if (!(list[i] = read_string(follow, word))) goto failed;
    }
    if (list && !address) return list;
failed:
    free_list(list);
    return NULL;
}

/* The path that the call names: relative to a folder, or an open file itself (fexecve). NULL: it has none. */
static char *path_of(const struct rsc_follow_call *call, char *given) {
    char name[64], folder[PATH_MAX], *path;
    struct stat open_file, named;
    if (call->flags & ~AT_EMPTY_PATH) return NULL;
    if (given[0] == '/' || (call->folder_fd == AT_FDCWD && given[0])) return strdup(given);
    if (!given[0] && !(call->flags & AT_EMPTY_PATH)) return NULL;
    snprintf(name, sizeof name, "/proc/self/fd/%d", call->folder_fd);
    ssize_t length = readlink(name, folder, sizeof folder - 1);
    if (length <= 0) return NULL;
    folder[length] = 0;
    if (given[0]) return asprintf(&path, "%s/%s", folder, given) < 0 ? NULL : path;
    /* Rejects a removed file, and another file that now has its name. */
    if (fstat(call->folder_fd, &open_file) != 0 || stat(folder, &named) != 0 || open_file.st_ino != named.st_ino ||
        open_file.st_dev != named.st_dev)
        return NULL;
    return strdup(folder);
}

int rsc_follow_read(struct rsc_follow *follow, const struct rsc_follow_call *call) {
    char *given = call->path ? read_string(follow, call->path) : NULL;
    follow->path = given ? path_of(call, given) : NULL;
    follow->argv = read_list(follow, call->argv);
    follow->envp = read_list(follow, call->envp);
    free(given);
    return follow->path && follow->argv && follow->envp ? 0 : -1;
}

void rsc_follow_free(struct rsc_follow *follow) {
    free(follow->path);
    free_list(follow->argv);
    free_list(follow->envp);
}

/* The environment for QEMU: the guest's without LD_PRELOAD, which is returned separately. */
static char **host_environment(const struct rsc_follow *follow, const char **preload) {
    size_t count = count_words(follow->envp), kept = 0;
    char **list = calloc(count + 1, sizeof *list);
    *preload = NULL;
    for (size_t i = 0; list && i < count; i++) {
        if (!strncmp(follow->envp[i], "LD_PRELOAD=", 11)) *preload = follow->envp[i];
        else list[kept++] = follow->envp[i];
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

/* The ring for the new program, under its old number, even if this program closed all files it did not open. */
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

/* The words of our own command line, each terminated by a zero byte; NULL at the end. */
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
    /* QEMU options with a value, as launch.c passed them. */
    for (size_t i = 1; own[i] && own[i + 1] && strcmp(own[i], "-E") && strcmp(own[i], "-0"); i += 2) {
        argv[used++] = own[i];
        argv[used++] = own[i + 1];
    }
    if (preload && target->dynamic) {
        argv[used++] = (char *)"-E";
        argv[used++] = (char *)preload;
    }
    argv[used++] = (char *)"-0";
    argv[used++] = target->script[0] ? target->interpreter : given ? follow->argv[0] : target->path;
    argv[used++] = target->path;
    if (target->script_argument[0]) argv[used++] = target->script_argument;
    if (target->script[0]) argv[used++] = target->script;
    for (size_t i = 1; i < given; i++) argv[used++] = follow->argv[i];
    execve(qemu, argv, envp);
out:
    free(own);
    free(argv);
    free(envp);
}
