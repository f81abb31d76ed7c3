/*
 * deliver.c - writes results where the options say.
 *
 *   no -o               text on standard output, profile kept in reusescope.data
 *   -o FILE             a rendering by suffix, else a profile (text for results that have
 *                       none); an analysis also prints text on standard output
 *   -o -                only the rendering (--format, default text) on standard output
 *   --format json       that instead of text
 */
#include <assert.h>
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/inputs.h"
#include "base/output_file.h"
#include "cmd/session.h"

static unsigned terminal_size(int rows) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row)
        return rows ? size.ws_row : size.ws_col;
    if (rows) return 24;
    return columns && atoi(columns) > 0 ? (unsigned)atoi(columns) : 80;
}

static int wants_colour(const struct rsc_session *session) {
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (session->colour) return session->colour > 0;
    return !(none && *none) && isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb");
}

/*
 * How text is drawn on this terminal: width, characters, colour (only for_terminal)
 * and caches.
 */
static struct rsc_report_style style_of(const struct rsc_session *session, int for_terminal,
                                        const struct rsc_machine *machine) {
    setlocale(LC_CTYPE, "");
    return (struct rsc_report_style){
        .width = terminal_size(0),
        .unbounded = !getenv("COLUMNS") && !(for_terminal && isatty(STDOUT_FILENO)),
        .unicode = !strcmp(nl_langinfo(CODESET), "UTF-8"),
        .colour = for_terminal && wants_colour(session),
        .machine = machine,
        .costs = session->machine_is_named,
        .at_bytes = session->at_bytes,
        .references = session->references,
        .page = session->page,
        .sections = session->sections,
        .full_names = session->full_names,
        .screen = !session->full && !session->sections,
        .lines_taken = session->lines_said,
    };
}

const char *rsc_launched_as(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return getenv(names[i]);
    return NULL;
}

const char *rsc_mpi_rank(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank ? rank : getenv("PMI_RANK");
}

/* Whether there is somebody to turn pages: MPI's launchers give processes a terminal to write to, but none to read. */
static int is_watched(void) { return isatty(STDOUT_FILENO) && (!rsc_launched_as() || isatty(STDIN_FILENO)); }

/* Standard output, or a pager. Returns 0 or a negative errno. */
static int show_text(const char *text, size_t bytes) {
    unsigned lines = 0;
    const char *pager = getenv("PAGER");
    for (size_t i = 0; i < bytes; i++) lines += text[i] == '\n';
    if (is_watched() && lines >= terminal_size(1) && !(pager && (!*pager || !strcmp(pager, "cat")))) {
        setenv("LESS", "FRX", 0);
        fflush(stdout);
        FILE *pipe = popen(pager ? pager : "less", "w");
        if (pipe) {
            fwrite(text, 1, bytes, pipe);
            if (pclose(pipe) == 0) return 0;
        }
    }
    return fwrite(text, 1, bytes, stdout) != bytes || fflush(stdout) ? -errno : 0;
}

/*
 * Writes a result to `path`, which appears only when complete, or to "-", standard output. Long text on a terminal
 * goes through a pager.
 */
static int write_text(const char *path, const char *text, size_t bytes, int for_people, struct rsc_error *error) {
    if (strcmp(path, "-") || !for_people) return rsc_output_whole(path, text, bytes, 0, error);
    int status = show_text(text, bytes);
    return status < 0 ? rsc_fail_errno(error, -status, "standard output") : 0;
}

void rsc_expand_name(const char *name, char *to, size_t room) {
    size_t used = 0;
    for (; *name && used + 1 < room; name++) {
        if (name[0] == '%' && (name[1] == 'p' || name[1] == 'r')) {
            const char *rank = rsc_mpi_rank();
            int wrote = name[1] == 'p' ? snprintf(to + used, room - used, "%ld", (long)getpid())
                                       : snprintf(to + used, room - used, "%s", rank ? rank : "0");
            used = used + (size_t)wrote < room ? used + (size_t)wrote : room - 1;
            name++;
        } else {
            to[used++] = *name;
        }
    }
    to[used] = 0;
}

/* The format of a result: from --format, else from the suffix of `path`. RSC_REPORT_NONE: from neither. */
static enum rsc_report_format format_for(const struct rsc_session *session, const char *path) {
    return session->format ? rsc_report_format_of_name(session->format) : rsc_report_format_of_path(path);
}

/* Whether a shell takes the name as one word. */
static int is_plain_word(const char *name) {
    for (const char *c = name; *c; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') &&
            !strchr("_./+-=,%@", *c))
            return 0;
    return name[0] && name[0] != '-';
}

/*
 * The file that keeps this result, in commands to type next: "" for the default one; NULL if there is none, or no plain
 * word for it.
 */
static const char *data_file_of(const struct rsc_session *session, int keep, char path[PATH_MAX]) {
    if (!keep && !session->shown) return "";
    if (keep && !session->output) return "";
    if (!keep) snprintf(path, PATH_MAX, "%s", session->shown);
    else rsc_expand_name(session->output, path, PATH_MAX);
    enum rsc_report_format format = keep ? format_for(session, path) : RSC_REPORT_NONE;
    return is_plain_word(path) && (!format || format == RSC_REPORT_JSON) ? path : NULL;
}

/* `keep`: the result is kept in a file, as the options say. */
static int write_rendering(struct rsc_session *session, const struct rsc_result *result, enum rsc_report_format format,
                           const char *path, int keep, struct rsc_error *error) {
    char *text = NULL, data_file[PATH_MAX], folder[PATH_MAX];
    size_t bytes;
    struct rsc_report_style style = style_of(session, !strcmp(path, "-"), rsc_session_machine(session));
    style.source_root = getcwd(folder, sizeof folder);
    style.data_file = data_file_of(session, keep, data_file);
    style.lines_taken += keep && session->output && !strcmp(path, "-"); /* of hint_next() */
    int status = rsc_report_render(result, format, &style, &text, &bytes, error);
    if (status < 0) return status;
    status = rsc_session_spare_opened(session, path, error); /* sources are read only now */
    if (!status) status = write_text(path, text, bytes, format == RSC_REPORT_TEXT, error);
    free(text);
    return status;
}

static void hint_page(const struct rsc_session *session, const char *path) {
    if (strcmp(path, "-")) rsc_hint(session, "xdg-open %s   (a self-contained page)", path);
}

/* Writes what -o and --format ask for, except text on the terminal. */
static int write_file(struct rsc_session *session, const struct rsc_result *result, int keep, struct rsc_error *error) {
    if (!session->output) return keep ? rsc_report_save(result, RSC_DATA_FILE, 1, error) : 0;
    char path[PATH_MAX];
    rsc_expand_name(session->output, path, sizeof path);
    enum rsc_report_format format = format_for(session, path);
    if (!rsc_report_renders(result->kind, format)) format = RSC_REPORT_NONE;
    if (!format && rsc_report_saves(result->kind)) return rsc_report_save(result, path, 0, error);
    return write_rendering(session, result, format ? format : RSC_REPORT_TEXT, path, keep, error);
}

/* A command for the file that was written. */
static void hint_next(const struct rsc_session *session, enum rsc_result_kind kind) {
    char path[PATH_MAX];
    if (!session->output) return;
    rsc_expand_name(session->output, path, sizeof path);
    enum rsc_report_format format = format_for(session, path);
    if (!rsc_report_renders(kind, format)) format = RSC_REPORT_NONE;
    if (format == RSC_REPORT_HTML) hint_page(session, path);
    else if (kind == RSC_RESULT_PROFILES && (!format || format == RSC_REPORT_JSON))
        rsc_hint(session, "reusescope report %s", path);
}

int rsc_session_check_format(const struct rsc_session *session) {
    enum rsc_report_format format = format_for(session, session->output ? session->output : "-");
    char words[80];
    if (!format || rsc_report_renders(session->yields, format)) return -1;
    return rsc_usage_error(session->verb, "%s is not a format for this result: %s", rsc_report_format_name(format),
                           rsc_report_format_list(session->yields, words));
}

int rsc_session_spare_inputs(const struct rsc_session *session, const char *path, const char *given) {
    struct stat output, input;
    if (session->may_replace_input || stat(path, &output) != 0 || !S_ISREG(output.st_mode)) return -1;
    for (char **word = session->argv + 1; *word; word++) {
        const char *value = strchr(*word, '=');
        const char *names[] = {*word, value ? value + 1 : NULL};
        for (int i = 0; i < 2; i++) {
            if (!names[i] || names[i] == given || stat(names[i], &input) != 0) continue;
            if (input.st_dev == output.st_dev && input.st_ino == output.st_ino)
                return rsc_usage_error(session->verb, "%.200s is named twice: it would be overwritten", path);
        }
    }
    return -1;
}

/* Whether two files, which need not exist yet, have the same name in the same folder. */
static int same_place(const char *one, const char *other) {
    const char *paths[2] = {one, other}, *names[2];
    struct stat folders[2];
    for (int i = 0; i < 2; i++) {
        const char *slash = strrchr(paths[i], '/');
        char folder[PATH_MAX];
        names[i] = slash ? slash + 1 : paths[i];
        snprintf(folder, sizeof folder, "%.*s.", slash ? (int)(slash + 1 - paths[i]) : 0, paths[i]);
        if (stat(folder, &folders[i]) != 0) return 0;
    }
    return !strcmp(names[0], names[1]) && folders[0].st_dev == folders[1].st_dev &&
           folders[0].st_ino == folders[1].st_ino;
}

int rsc_session_spare_result(const struct rsc_session *session, const char *path) {
    char result[PATH_MAX], other[PATH_MAX];
    rsc_expand_name(session->output ? session->output : RSC_DATA_FILE, result, sizeof result);
    rsc_expand_name(path, other, sizeof other);
    if (!strcmp(result, "-") || !same_place(result, other)) return -1;
    return rsc_usage_error(session->verb, "%.200s is also the file of the result: it would be overwritten", path);
}

int rsc_session_spare_opened(const struct rsc_session *session, const char *path, struct rsc_error *error) {
    char name[PATH_MAX];
    struct stat file;
    rsc_expand_name(path, name, sizeof name);
    if (session->may_replace_input || !strcmp(name, "-") || stat(name, &file) != 0 || !rsc_input_is(&file)) return 0;
    return rsc_fail(error, RSC_EINVAL, "%.200s: this command reads or runs it: it would be overwritten", name);
}

int rsc_session_check_output(struct rsc_session *session) {
    struct rsc_output_file file;
    struct rsc_error error;
    struct stat there;
    if (session->output && !strcmp(session->output, "-")) return -1;
    char path[PATH_MAX];
    rsc_expand_name(session->output ? session->output : RSC_DATA_FILE, path, sizeof path);
    int leave = rsc_session_spare_inputs(session, path, session->output);
    if (leave >= 0) return leave;
    /* Pipes and devices are not opened as a test: the other end would notice. */
    int special = stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
    int status = special ? 0 : rsc_output_open(&file, path, &error);
    if (!special && status == 0) rsc_output_abort(&file);
    return status < 0 ? rsc_session_fail(session, &error) : -1;
}

int rsc_session_deliver_result(struct rsc_session *session, const struct rsc_result *result, int keep) {
    struct rsc_error error;
    enum rsc_report_format format = session->format ? rsc_report_format_of_name(session->format) : RSC_REPORT_NONE;
    int to_stdout = session->output && !strcmp(session->output, "-"), status = 0;
    assert(result->kind == session->yields);
    if (to_stdout) {
        status = write_rendering(session, result, format ? format : RSC_REPORT_TEXT, "-", keep, &error);
        return status < 0 ? rsc_session_fail(session, &error) : RSC_EXIT_OK;
    }
    if (session->output) {
        char path[PATH_MAX];
        rsc_expand_name(session->output, path, sizeof path);
        int leave = rsc_session_spare_inputs(session, path, session->output);
        if (leave >= 0) return leave;
    }
    if ((session->output || keep) &&
        rsc_session_spare_opened(session, session->output ? session->output : RSC_DATA_FILE, &error))
        return rsc_session_fail(session, &error);
    int file_status = write_file(session, result, keep, &error);
    /* The terminal gets what was asked for; an analysis also prints its findings, unless quiet. */
    int show = session->output ? keep && !session->quiet && !format : !keep || !session->quiet || format;
    enum rsc_report_format shown = !session->output && format ? format : RSC_REPORT_TEXT;
    struct rsc_error text_error;
    if (show) status = write_rendering(session, result, shown, "-", keep, &text_error);
    if (file_status < 0) return rsc_session_fail(session, &error);
    if (status < 0) return rsc_session_fail(session, &text_error);
    hint_next(session, result->kind);
    return RSC_EXIT_OK;
}

int rsc_session_deliver(struct rsc_session *session, struct rsc_profile *const *profiles, size_t count, int keep) {
    for (size_t i = 0; session->no_command && i < count; i++) rsc_profile_forget_origin(profiles[i]);
    return rsc_session_deliver_result(
        session, &(struct rsc_result){.kind = RSC_RESULT_PROFILES, .profiles = profiles, .count = count}, keep);
}
