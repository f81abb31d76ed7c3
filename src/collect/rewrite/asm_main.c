/*
 * asm_main.c - the program `as` that `reusescope cc` puts in front of the real
 * assembler. It takes the assembler's command line; its own settings are in the
 * environment variable REUSESCOPE_CC, lines of KEY or KEY=VALUE:
 *
 *   as=PATH         the real assembler
 *   source=FILE     a hand-written assembler source: not rebuilt (may repeat)
 *   verify strict pic no-calls quiet verbose keep
 *   assembler       rebuild assembler sources too
 *   only=NAMES skip=NAMES max-blocks=N
 *
 * Input that is not compiler output goes to the real assembler unchanged. So does input
 * that the pass cannot handle, with a one-line message, unless `strict` makes that an
 * error.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "collect/rewrite/asm_object.h"
#include "collect/rewrite/asm_pass.h"

extern char **environ;

struct job {
    char *assembler;
    char **arguments; /* for the real assembler, without -o and the input; NULL at the end */
    int argument_count;
    const char *input, *output;
    int is_left_alone, is_quiet, is_verbose, is_kept, takes_sources;
    struct rsc_pass_options options;
    char folder[PATH_MAX];
    char *settings; /* owned; options point into it */
    struct rsc_pass_text text;
};

/* ---- the command line ---- */

static int has_argument(const char *option) {
    static const char *const with[] = {"-I",
                                       "--MD",
                                       "--defsym",
                                       "--debug-prefix-map",
                                       "--listing-lhs-width",
                                       "--listing-lhs-width2",
                                       "--listing-rhs-width",
                                       "--listing-cont-lines",
                                       "-D"};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (!strcmp(option, with[i])) return 1;
    return 0;
}

/* Returns 0 if there is nothing to do: no input file, or several. */
static int read_command(struct job *job, int argc, char **argv) {
    int inputs = 0;
    job->output = "a.out";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-o") && i + 1 < argc) {
            job->output = argv[++i];
        } else if (!strncmp(argv[i], "-o", 2) && argv[i][2]) {
            job->output = argv[i] + 2;
        } else if (!strcmp(argv[i], "--32") || !strcmp(argv[i], "--x32") || !strcmp(argv[i], "--version") ||
                   !strcmp(argv[i], "--help") || argv[i][0] == '@') {
            return 0;
        } else if (argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--")) {
            int listing = argv[i][1] == 'a'; /* report it only once */
            if (!listing) job->arguments[job->argument_count++] = argv[i];
            if (has_argument(argv[i]) && i + 1 < argc) job->arguments[job->argument_count++] = argv[++i];
            if (listing) return 0;
        } else {
            job->input = argv[i];
            inputs++;
        }
    }
    return inputs <= 1;
}

/* ---- settings from `reusescope cc` ---- */

static int same_file(const char *a, const char *b) {
    struct stat one, other;
    return a && stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static void read_setting(struct job *job, char *line) {
    char *value = strchr(line, '=');
    if (value) *value++ = 0;
    if (!strcmp(line, "verify")) job->options.verify = 1;
    if (!strcmp(line, "strict")) job->options.strict = 1;
    if (!strcmp(line, "pic")) job->options.position_independent = 1;
    if (!strcmp(line, "no-calls")) job->options.no_call_pushes = 1;
    if (!strcmp(line, "quiet")) job->is_quiet = 1;
    if (!strcmp(line, "verbose")) job->is_verbose = 1;
    if (!strcmp(line, "assembler")) job->takes_sources = 1;
    if (!strcmp(line, "keep")) job->is_kept = 1;
    if (!value) return;
    if (!strcmp(line, "as")) job->assembler = value;
    if (!strcmp(line, "only")) job->options.only = value;
    if (!strcmp(line, "skip")) job->options.skip = value;
    if (!strcmp(line, "max-blocks")) rsc_parse_u64(value, strlen(value), &job->options.max_pieces);
    if (!strcmp(line, "source") && same_file(job->input, value)) job->is_left_alone = 1;
}

static int read_settings(struct job *job) {
    const char *settings = getenv("REUSESCOPE_CC");
    char *rest, *line;
    job->assembler = (char *)"as";
    job->options.max_pieces = UINT64_MAX;
    job->settings = strdup(settings ? settings : "");
    if (!job->settings) return -1;
    for (line = strtok_r(job->settings, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) read_setting(job, line);
    return 0;
}

/* ---- files ---- */

static int read_input(struct job *job, struct rsc_error *error) {
    char piece[65536];
    ssize_t got;
    int fd = job->input && strcmp(job->input, "-") && strcmp(job->input, "--") ? open(job->input, O_RDONLY | O_CLOEXEC)
                                                                               : STDIN_FILENO;
    if (fd < 0) return rsc_fail_errno(error, errno, job->input);
    while ((got = read(fd, piece, sizeof piece)) > 0) rsc_pass_text_put(&job->text, piece, (size_t)got);
    if (fd != STDIN_FILENO) close(fd);
    if (got < 0) return rsc_fail_errno(error, errno, job->input ? job->input : "standard input");
    rsc_pass_text_put(&job->text, "", 0);
    return job->text.failed ? rsc_fail_memory(error, "assembly") : 0;
}

static int write_file(const struct job *job, const char *name, const struct rsc_pass_text *text, char *path,
                      struct rsc_error *error) {
    snprintf(path, PATH_MAX, "%.4000s/%s", job->folder, name);
    FILE *file = fopen(path, "we");
    if (!file) return rsc_fail_errno(error, errno, path);
    if (text->used) fwrite(text->data, 1, text->used, file);
    int failed = ferror(file);
    if (fclose(file) != 0 || failed) return rsc_fail(error, RSC_EIO, "%s: cannot be written (is the disk full?)", path);
    return 0;
}

static int make_folder(struct job *job, struct rsc_error *error) {
    const char *under = getenv("TMPDIR");
    snprintf(job->folder, sizeof job->folder, "%.3000s/reusescope-cc-XXXXXX", under && *under ? under : "/tmp");
    if (!mkdtemp(job->folder)) {
        job->folder[0] = 0;
        return rsc_fail_errno(error, errno, "a temporary folder");
    }
    return 0;
}

static void remove_folder(struct job *job) {
    static const char *const names[] = {"input.s", "plain.s", "plain.o", "rewritten.s", "rewritten.o"};
    char path[PATH_MAX + 32];
    if (!job->folder[0]) return;
    if (job->is_kept) {
        fprintf(stderr, "reusescope cc: kept in %s\n", job->folder);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", job->folder, names[i]);
        unlink(path);
    }
    rmdir(job->folder);
}

/* ---- the real assembler ---- */

/* Returns its exit status, 127 if it cannot be run. */
static int assemble(const struct job *job, const char *input, const char *output, const char *option, int is_silent) {
    char **argv = calloc((size_t)job->argument_count + 8, sizeof *argv);
    posix_spawn_file_actions_t actions;
    int count = 0, status = 0;
    pid_t pid;
    if (!argv) return 127;
    argv[count++] = job->assembler;
    for (int i = 0; i < job->argument_count; i++) {
        if (option && !strcmp(job->arguments[i], "--MD")) i++; /* dependencies come from the last run */
        else argv[count++] = job->arguments[i];
    }
    if (option) argv[count++] = (char *)option;
    argv[count++] = (char *)"-o";
    argv[count++] = (char *)output;
    argv[count++] = (char *)input;
    posix_spawn_file_actions_init(&actions);
    if (is_silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&pid, job->assembler, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(argv);
    if (failed) {
        fprintf(stderr, "reusescope cc: %s: %s\n", job->assembler, strerror(failed));
        return 127;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Assembles the input unchanged. */
static int assemble_plain(struct job *job, struct rsc_error *error) {
    char path[PATH_MAX];
    if (job->input && strcmp(job->input, "-") && strcmp(job->input, "--"))
        return assemble(job, job->input, job->output, NULL, 0);
    if (write_file(job, "input.s", &job->text, path, error) < 0) return -1;
    return assemble(job, path, job->output, NULL, 0);
}

/* ---- the pass ---- */

/* The preprocessor's first line: the text is an assembler source (.S). */
static int is_assembler_source(const struct job *job) {
    size_t at = 0;
    while (at < job->text.used && isspace((unsigned char)job->text.data[at])) at++;
    return at + 2 < job->text.used && job->text.data[at] == '#' && job->text.data[at + 1] == ' ' &&
           isdigit((unsigned char)job->text.data[at + 2]);
}

/* The source file's name, for messages. */
static void source_name(const struct rsc_pass *pass, const struct job *job, char *name, size_t room) {
    snprintf(name, room, "%s", job->input ? job->input : "standard input");
    for (size_t i = 0; i < pass->item_count; i++) {
        const struct rsc_pass_item *item = &pass->items[i];
        if (item->sort != RSC_PASS_DIRECTIVE || item->length < 7 || memcmp(item->text, ".file", 5)) continue;
        const char *begin = memchr(item->text, '"', item->length);
        const char *end = begin ? memchr(begin + 1, '"', item->length - (size_t)(begin + 1 - item->text)) : NULL;
        if (end) snprintf(name, room, "%.*s", (int)(end - begin - 1), begin + 1);
        return;
    }
}

static int say_unseen(const struct rsc_pass *pass, const struct job *job, struct rsc_error *error) {
    const struct rsc_pass_counts *counts = &pass->counts;
    char name[512];
    if (!counts->unknown && !counts->opaque && !job->is_verbose) return 0;
    source_name(pass, job, name, sizeof name);
    if (job->is_verbose)
        fprintf(
            stderr,
            "reusescope cc: %s: %llu accesses in %llu blocks, of %llu instructions in %zu functions (%llu left alone)\n",
            name, (unsigned long long)counts->accesses, (unsigned long long)counts->pieces,
            (unsigned long long)counts->insns, pass->function_count, (unsigned long long)counts->left_alone);
    if (counts->unknown) {
        rsc_fail(error, RSC_EUNSUPPORTED,
                 "%.200s: %llu instruction%s whose accesses are not recorded: '%.90s' in %.80s: %s", name,
                 (unsigned long long)counts->unknown, counts->unknown == 1 ? "" : "s", counts->unknown_text,
                 counts->first_unknown_function, counts->first_unknown);
        rsc_make_one_line(error->message);
        if (pass->options.strict) return -1;
        if (!job->is_quiet) fprintf(stderr, "reusescope cc: %s\n", error->message);
    }
    if (counts->opaque) {
        rsc_fail(error, RSC_EUNSUPPORTED,
                 "%.200s: %llu line%s of inline assembly, first in %.80s: their accesses are not recorded", name,
                 (unsigned long long)counts->opaque, counts->opaque == 1 ? "" : "s", counts->first_opaque_function);
        if (pass->options.strict) return -1;
        if (!job->is_quiet) fprintf(stderr, "reusescope cc: %s\n", error->message);
    }
    return 0;
}

/* REFUSED: not an error, but the pass cannot handle it; it is assembled unchanged. */
enum { DONE, REFUSED, FAILED };

static int transform(struct job *job, struct rsc_pass *pass, const struct rsc_pass_object *plain,
                     struct rsc_pass_text *out, struct rsc_error *error) {
    if (rsc_pass_learn(pass, plain, error) < 0 || rsc_pass_flow(pass, error) < 0 || rsc_pass_loops(pass, error) < 0 ||
        rsc_pass_cut(pass, error) < 0)
        return REFUSED;
    if (say_unseen(pass, job, error) < 0) return FAILED;
    rsc_pass_emit(pass, out);
    if (!out->failed) return DONE;
    rsc_fail_memory(error, "assembly");
    return FAILED;
}

static int check(const struct job *job, const struct rsc_pass *pass, const struct rsc_pass_object *plain,
                 const char *source, struct rsc_error *error) {
    struct rsc_pass_object rewritten;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/rewritten.o", job->folder);
    if (assemble(job, source, path, "-L", 0) != 0)
        return rsc_fail(error, RSC_EFORMAT, "--verify: cannot be assembled again");
    int status = rsc_pass_object_open(&rewritten, path, error);
    if (status >= 0) status = rsc_pass_verify(pass, plain, &rewritten, error);
    rsc_pass_object_close(&rewritten);
    return status;
}

static int rewrite(struct job *job, int *exit_status, struct rsc_error *error) {
    struct rsc_pass pass = {.options = job->options};
    struct rsc_pass_object plain = {0};
    struct rsc_pass_text labelled = {0}, out = {0};
    char source[PATH_MAX], object[PATH_MAX], result[PATH_MAX];
    int outcome = REFUSED;
    if (rsc_pass_read(&pass, job->text.data, job->text.used, error) < 0) goto leave;
    rsc_pass_labelled(&pass, &labelled);
    if (labelled.failed || write_file(job, "plain.s", &labelled, source, error) < 0) goto leave;
    snprintf(object, sizeof object, "%.4000s/plain.o", job->folder);
    if (assemble(job, source, object, "-L", 1) != 0) {
        /* The programmer's error: the assembler reports it, with the lines it was given. */
        *exit_status = assemble_plain(job, error);
        outcome = DONE;
        goto leave;
    }
    if (rsc_pass_object_open(&plain, object, error) < 0) goto leave;
    outcome = transform(job, &pass, &plain, &out, error);
    if (outcome != DONE) goto leave;
    outcome = FAILED;
    if (write_file(job, "rewritten.s", &out, result, error) < 0) goto leave;
    if (assemble(job, result, job->output, NULL, job->options.strict ? 0 : 1) != 0) {
        rsc_fail(error, RSC_EFORMAT, "internal error: the assembler rejects the rewritten assembly");
        outcome = REFUSED;
        goto leave;
    }
    if (job->options.verify && check(job, &pass, &plain, result, error) < 0) {
        unlink(job->output);
        goto leave;
    }
    *exit_status = 0;
    outcome = DONE;
leave:
    rsc_pass_text_free(&labelled);
    rsc_pass_text_free(&out);
    rsc_pass_object_close(&plain);
    rsc_pass_free(&pass);
    return outcome;
}

static int run(struct job *job) {
    struct rsc_error error = {0};
    int status = 1;
    if (make_folder(job, &error) < 0 || read_input(job, &error) < 0) {
        fprintf(stderr, "reusescope cc: %s\n", error.message);
        return 1;
    }
    if ((job->is_left_alone || is_assembler_source(job)) && !job->takes_sources) {
        status = assemble_plain(job, &error);
        return status < 0 ? 1 : status;
    }
    int outcome = rewrite(job, &status, &error);
    if (outcome == REFUSED && !job->options.strict && !job->options.verify) {
        fprintf(stderr, "reusescope cc: %s: %s; assembled without recording\n",
                job->input ? job->input : "standard input", error.message);
        status = assemble_plain(job, &error);
        outcome = status < 0 ? FAILED : DONE;
    }
    if (outcome != DONE) {
        fprintf(stderr, "reusescope cc: %s: %s\n", job->input ? job->input : "standard input", error.message);
        return 1;
    }
    return status;
}

int main(int argc, char **argv) {
    struct job job = {0};
    job.arguments = calloc((size_t)argc + 1, sizeof *job.arguments);
    if (!job.arguments) return 1;
    int is_ours = read_command(&job, argc, argv);
    if (read_settings(&job) < 0) return 1;
    if (!is_ours) {
        argv[0] = job.assembler;
        execvp(job.assembler, argv);
        fprintf(stderr, "reusescope cc: %s: %s\n", job.assembler, strerror(errno));
        return 127;
    }
    int status = run(&job);
    remove_folder(&job);
    rsc_pass_text_free(&job.text);
    free(job.arguments);
    free(job.settings);
    return status;
}
