/*
 * c_source.c - the child process that turns C into the text form.
 *
 * The child preprocesses with the system's compiler (`cc -E`, another child), parses,
 * and writes to a pipe: the status, which settings were used, then the text or the
 * error. Time, processor time and memory are limited; a compiler that is killed,
 * crashes or writes without end only causes an error message. The compiler is only
 * run with -E, and with flags from the list in compile_commands.c: no code of the
 * source or the project runs.
 */
#include "loops/front/c_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/seconds.h"
#ifdef RSC_HAVE_LIBCLANG
#include "loops/front/clang_definitions.h"
#include "loops/front/clang_load.h"
#include "loops/front/clang_source.h"
#endif

#define SECONDS_DEFAULT 30
#define MEMORY_BYTES_MAX ((rlim_t)3 << 29) /* of address space; libclang and its libraries map 0.3 GiB */
#define SOURCE_BYTES_MAX ((size_t)64 << 20)
#define ROUNDS_MOST 64 /* files added */
#define MESSAGE_BYTES_MAX ((size_t)64 << 10)

int rsc_c_source_check(struct rsc_error *error) {
#ifdef RSC_HAVE_LIBCLANG
    /* In a child: a library that gets no memory while it is loaded ends its process. */
    struct rsc_error sent = {0};
    struct rsc_clang clang;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return rsc_fail_errno(error, errno, "pipe");
    pid_t pid = fork();
    if (!pid) {
        int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (quiet >= 0) dup2(quiet, STDERR_FILENO);
        rsc_clang_load(&clang, &sent);
        _exit(write(ends[1], &sent, sizeof sent) != sizeof sent);
    }
    int failure = errno;
    close(ends[1]);
    ssize_t got = pid < 0 ? 0 : read(ends[0], &sent, sizeof sent);
    close(ends[0]);
    if (pid < 0) return rsc_fail_errno(error, failure, "fork");
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    if (got != sizeof sent) return rsc_fail(error, RSC_EIO, "libclang 19 ends a program that loads it: out of memory?");
    sent.message[sizeof sent.message - 1] = '\0';
    return sent.code ? rsc_fail(error, sent.code, "%s", sent.message) : 0;
#else
    return rsc_fail(error, RSC_EUNSUPPORTED,
                    "this build cannot read C source: apt-get install libclang-19-dev && make (a .loop file works)");
#endif
}

int rsc_c_source_is_cxx(const char *path) {
    static const char *const known[] = {".cc", ".cpp", ".cxx", ".c++", ".C", ".hh", ".hpp", ".hxx"};
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix && i < sizeof known / sizeof *known; i++)
        if (!strcmp(suffix, known[i])) return 1;
    return 0;
}

/* A buffer that grows up to a limit; read() into it until the end. */
struct input {
    char *text;
    size_t used, room, limit;
};

/* Returns 1 if more may come, 0 at the end, RSC_ELIMIT, RSC_ENOMEM or RSC_EIO. */
static int read_some(int fd, struct input *input) {
    if (RSC_GROW(input->text, input->room, input->used + 65536)) return RSC_ENOMEM;
    ssize_t got = read(fd, input->text + input->used, input->room - input->used - 1);
    if (got < 0) return errno == EINTR ? 1 : RSC_EIO;
    input->used += (size_t)got;
    input->text[input->used] = '\0';
    if (input->used > input->limit) return RSC_ELIMIT;
    return got > 0;
}

#ifdef RSC_HAVE_LIBCLANG

static const char *find_compiler(void) {
    static const char *const names[] = {"cc", "gcc", "clang", "clang-19"};
    const char *path = getenv("PATH");
    static char full[4096];
    for (size_t n = 0; n < sizeof names / sizeof *names && path; n++)
        for (const char *at = path; *at;) {
            size_t length = strcspn(at, ":");
            snprintf(full, sizeof full, "%.*s/%s", (int)length, at, names[n]);
            struct stat file; /* a folder may have that name, too */
            if (length && !stat(full, &file) && S_ISREG(file.st_mode) && access(full, X_OK) == 0) return full;
            at += length + (at[length] == ':');
        }
    return NULL;
}

static void start_compiler(const char *compiler, const char *path, const struct rsc_c_options *options, int out,
                           int err) {
    const char **argv = calloc(options->flag_count + 16, sizeof *argv);
    size_t count = 0;
    int nothing = open("/dev/null", O_RDONLY);
    if (!argv || nothing < 0) _exit(127);
    argv[count++] = compiler;
    argv[count++] = "-E";
    argv[count++] = "-fopenmp";
    argv[count++] = "-w";
    for (size_t i = 0; i < options->flag_count; i++) argv[count++] = options->flags[i];
    argv[count++] = "-x";
    argv[count++] = rsc_c_source_is_cxx(path) ? "c++" : "c";
    argv[count++] = path;
    if (dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(127);
    if (options->directory && chdir(options->directory) != 0) _exit(126);
    setenv("LC_ALL", "C", 1);
    unsetenv("DEPENDENCIES_OUTPUT"); /* would make -E write files */
    unsetenv("SUNPRO_DEPENDENCIES");
    execv(compiler, (char *const *)argv);
    _exit(127);
}

/* Finds the first error in a compiler's messages. */
static void error_line(char *text, char *line, size_t room) {
    char *at = strstr(text, "error:");
    while (at && at > text && at[-1] != '\n') at--;
    if (!at) at = text;
    snprintf(line, room, "%.*s", (int)strcspn(at, "\n"), at);
}

static int preprocess(const char *path, const struct rsc_c_options *options, struct input *source,
                      struct rsc_error *error) {
    struct input messages = {.limit = MESSAGE_BYTES_MAX};
    const char *compiler = find_compiler();
    int out[2], err[2], status = 0, ended = 0, open_ends = 2;
    if (!compiler)
        return rsc_fail(error, RSC_EUNSUPPORTED, "C source needs a compiler for its preprocessor: apt-get install gcc");
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) return rsc_fail_errno(error, errno, "pipe");
    pid_t pid = fork();
    if (pid < 0) return rsc_fail_errno(error, errno, "fork");
    if (!pid) start_compiler(compiler, path, options, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    source->limit = SOURCE_BYTES_MAX;
    struct pollfd ends[2] = {{.fd = out[0], .events = POLLIN}, {.fd = err[0], .events = POLLIN}};
    while (open_ends && !status) {
        if (poll(ends, 2, -1) < 0 && errno != EINTR) break;
        for (int i = 0; i < 2; i++) {
            if (ends[i].fd < 0 || !ends[i].revents) continue;
            int more = read_some(ends[i].fd, i ? &messages : source);
            if (more < 0 && !(i && more == RSC_ELIMIT)) status = more;
            if (more <= 0) {
                ends[i].fd = -1;
                open_ends--;
            }
        }
    }
    if (status) kill(pid, SIGKILL);
    close(out[0]);
    close(err[0]);
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR) continue;
    if (status == RSC_ELIMIT)
        return rsc_fail(error, RSC_ELIMIT, "%s: preprocessed, the source is larger than 64 MiB", path);
    if (status) return rsc_fail_memory(error, path);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended)) {
        char line[300];
        error_line(messages.text ? messages.text : (char *)"", line, sizeof line);
        if (WIFEXITED(ended) && WEXITSTATUS(ended) == 126)
            return rsc_fail(error, RSC_EIO, "%s: the folder %s cannot be entered", path, options->directory);
        if (!*line)
            return rsc_fail(error, RSC_EFORMAT, "%s: %s -E ended with %s %d and said nothing: is it a source file?",
                            path, compiler, WIFEXITED(ended) ? "status" : "signal",
                            WIFEXITED(ended) ? WEXITSTATUS(ended) : WTERMSIG(ended));
        return rsc_fail(error, RSC_EFORMAT, strncmp(line, path, strlen(path)) ? "%s: %s" : "%.0s%s", path, line);
    }
    return 0;
}

/* Whether a file's own text has one of the names. */
static int mentions(const char *path, const char *directory, const struct rsc_clang_names *names) {
    char whole[4096];
    struct input text = {.limit = SOURCE_BYTES_MAX};
    int more = 1, found = 0;
    snprintf(whole, sizeof whole, "%s%s%s", path[0] == '/' ? "" : directory, path[0] == '/' ? "" : "/", path);
    int fd = open(whole, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    while (more > 0) more = read_some(fd, &text);
    close(fd);
    for (size_t i = 0; i < names->count && !more && text.text && !found; i++)
        found = strstr(text.text, names->name[i]) != NULL;
    free(text.text);
    return found;
}

/* Appends the functions of other files that the source calls, and those that these call. A file that cannot be read adds
 * nothing: then calls of its functions stay gaps. */
static int add_others(const char *path, const struct rsc_c_options *options, struct input *source,
                      struct rsc_error *error) {
    int status = 0, added = 1;
    if (rsc_c_source_is_cxx(path)) return 0;
    for (int round = 0; round < ROUNDS_MOST && added && !status; round++) {
        struct rsc_clang_names missing = {0}, known = {0};
        struct rsc_error ignored;
        added = 0;
        status = rsc_clang_missing(source->text, source->used, &missing, &known, error);
        for (size_t i = 0; i < options->other_count && missing.count && !status; i++) {
            const struct rsc_c_other *other = &options->others[i];
            struct rsc_c_options its = {
                .flags = other->flags, .flag_count = other->flag_count, .directory = other->directory};
            struct input text = {0};
            char *more = NULL;
            if (other->path[0] == '-' || other->path[0] == '@' || /* would be a flag */
                rsc_c_source_is_cxx(other->path) || !mentions(other->path, other->directory, &missing) ||
                preprocess(other->path, &its, &text, &ignored) || !text.text ||
                rsc_clang_definitions(text.text, text.used, &missing, &known, &more, &ignored) || !more) {
                free(text.text);
                free(more);
                continue;
            }
            size_t length = strlen(more);
            if (RSC_GROW(source->text, source->room, source->used + length + 1)) status = rsc_fail_memory(error, path);
            else memcpy(source->text + source->used, more, length + 1), source->used += length, added = 1;
            free(more);
            free(text.text);
            if (added) break; /* its names are known from now on */
        }
    }
    return status;
}

static void write_all(int fd, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes) {
        ssize_t done = write(fd, at, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) _exit(1);
        at += done;
        bytes -= (size_t)done;
    }
}

static void child(int fd, const char *path, const struct rsc_c_options *options, double seconds)
    __attribute__((noreturn));

static void child(int fd, const char *path, const struct rsc_c_options *options, double seconds) {
    struct rsc_error error = {0};
    struct input source = {0};
    char *text = NULL;
    size_t bytes = 0;
    struct rlimit processor = {(rlim_t)seconds + 1, (rlim_t)seconds + 2}, none = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    setrlimit(RLIMIT_CPU, &processor);
    setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rlimit memory = {MEMORY_BYTES_MAX, MEMORY_BYTES_MAX};
    setrlimit(RLIMIT_AS, &memory);
#endif
    int status = preprocess(path, options, &source, &error);
    int quiet = open("/dev/null", O_WRONLY);
    if (quiet >= 0) dup2(quiet, 2); /* a crashing clang prints its stack */
    size_t own = source.used;
    if (!status && options->other_count && source.text) status = add_others(path, options, &source, &error);
    if (!status)
        status =
            rsc_clang_source_read(path, source.text ? source.text : "", source.used, options, &text, &bytes, &error);
    if (status == RSC_EFORMAT && source.used > own) { /* not together with what was added */
        source.text[own] = '\0';
        status = rsc_clang_source_read(path, source.text, own, options, &text, &bytes, &error);
    }
    write_all(fd, &status, sizeof status);
    for (size_t i = 0; i < options->setting_count; i++)
        write_all(fd, &options->settings[i].used, sizeof options->settings[i].used);
    if (status) write_all(fd, &error, sizeof error);
    else write_all(fd, text, bytes);
    _exit(0);
}

/* Parses the child's answer: status, used settings, then an error or the text, which stays in *answer. */
static int unpack(struct input *answer, const struct rsc_c_options *options, const char *path, char **text,
                  size_t *bytes, struct rsc_error *error) {
    size_t head = sizeof(int) * (1 + options->setting_count);
    int status;
    if (answer->used < head) return rsc_fail(error, RSC_EFORMAT, "%s: reading the source ended without a result", path);
    memcpy(&status, answer->text, sizeof status);
    for (size_t i = 0; i < options->setting_count; i++)
        memcpy(&options->settings[i].used, answer->text + sizeof(int) * (1 + i), sizeof(int));
    if (status) {
        struct rsc_error sent;
        if (answer->used != head + sizeof sent)
            return rsc_fail(error, RSC_EFORMAT, "%s: reading the source ended without a result", path);
        memcpy(&sent, answer->text + head, sizeof sent);
        sent.message[sizeof sent.message - 1] = '\0';
        rsc_fail(error, status, "%s", sent.message);
        return status;
    }
    memmove(answer->text, answer->text + head, answer->used - head);
    *bytes = answer->used - head;
    answer->text[*bytes] = '\0';
    *text = answer->text;
    answer->text = NULL;
    return 0;
}

int rsc_c_source_read(const char *path, const struct rsc_c_options *options, char **text, size_t *bytes,
                      struct rsc_error *error) {
    double seconds = options->seconds_max > 0 ? options->seconds_max : SECONDS_DEFAULT,
           end = rsc_seconds_now() + seconds;
    struct input answer = {.limit = RSC_LOOP_TEXT_BYTES_MAX};
    int ends[2], status = 1, ended = 0;
    *text = NULL;
    if (path[0] == '-' || path[0] == '@') /* a flag, or a file of flags, to the compiler */
        return rsc_fail(error, RSC_EINVAL, "%s: a name that starts with %c (write ./%s)", path, path[0], path);
    if (access(path, R_OK) != 0 && !options->directory) return rsc_fail_errno(error, errno, path);
    if (pipe2(ends, O_CLOEXEC)) return rsc_fail_errno(error, errno, "pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return rsc_fail_errno(error, errno, "fork");
    }
    if (!pid) {
        close(ends[0]);
        child(ends[1], path, options, seconds);
    }
    close(ends[1]);
    setpgid(pid, pid);
    while (status > 0) {
        double left = end - rsc_seconds_now();
        struct pollfd wait = {.fd = ends[0], .events = POLLIN};
        int ready = left > 0 ? poll(&wait, 1, (int)(left * 1000) + 1) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) status = RSC_EVERSION; /* used for: out of time */
        else status = read_some(ends[0], &answer);
    }
    if (status) kill(-pid, SIGKILL);
    close(ends[0]);
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR) continue;
    if (status == RSC_EVERSION)
        status = rsc_fail(error, RSC_ELIMIT, "%s: reading the source took longer than %g s", path, seconds);
    else if (status == RSC_ELIMIT) rsc_fail(error, status, "%s: the loop tree's text is larger than 16 MiB", path);
    else if (status) rsc_fail(error, status, "%s: reading from the front end failed", path);
    else if (WIFSIGNALED(ended))
        status = rsc_fail(error, RSC_EFORMAT, "%s: the compiler's library could not parse this source (signal %d)",
                          path, WTERMSIG(ended));
    else status = unpack(&answer, options, path, text, bytes, error);
    free(answer.text);
    return status;
}

#else

int rsc_c_source_read(const char *path, const struct rsc_c_options *options, char **text, size_t *bytes,
                      struct rsc_error *error) {
    (void)path;
    (void)options;
    (void)read_some;
    *text = NULL;
    *bytes = 0;
    return rsc_c_source_check(error);
}

#endif
