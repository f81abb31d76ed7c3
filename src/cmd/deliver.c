/*
 * deliver.c - results to where they were asked for.
 *
 *   no -o               text on standard output, profile kept in reusescope.data
 *   -o FILE             by suffix a rendering, else a profile; text on standard output too
 *   -o -                only the rendering (--format, default text) on standard output
 *   --format json       that instead of text
 */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/output_file.h"
#include "cmd/session.h"
#include "report/report.h"

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

static int render(struct rsc_session *session, struct rsc_profile *const *profiles, size_t count,
                  enum rsc_report_format format, int for_terminal, char **text, size_t *bytes,
                  struct rsc_error *error) {
    struct rsc_machine machine;
    rsc_machine_read(&machine, NULL);
    setlocale(LC_CTYPE, "");
    struct rsc_report_style style = {
        .width = terminal_size(0),
        .unicode = !strcmp(nl_langinfo(CODESET), "UTF-8"),
        .colour = for_terminal && wants_colour(session),
        .machine = &machine,
    };
    return rsc_report_render(profiles, count, format, &style, text, bytes, error);
}

int rsc_show_text(struct rsc_session *session, const char *text, size_t bytes) {
    unsigned lines = 0;
    const char *pager = getenv("PAGER");
    (void)session;
    for (size_t i = 0; i < bytes; i++) lines += text[i] == '\n';
    if (isatty(STDOUT_FILENO) && lines >= terminal_size(1) && !(pager && (!*pager || !strcmp(pager, "cat")))) {
        setenv("LESS", "FRX", 0);
        fflush(stdout);
        FILE *pipe = popen(pager ? pager : "less", "w");
        if (pipe) {
            fwrite(text, 1, bytes, pipe);
            if (pclose(pipe) == 0) return 0;
        }
    }
    if (fwrite(text, 1, bytes, stdout) != bytes || fflush(stdout)) {
        fprintf(stderr, "reusescope: standard output: cannot be written\n");
        return RSC_EXIT_ERROR;
    }
    return 0;
}

/* %p in a file name is the process id: runs side by side do not collide. Owned by the caller. */
static char *expand_name(const char *name) {
    char *expanded = malloc(strlen(name) * 12 + 1), *to = expanded;
    if (!expanded) return NULL;
    for (; *name; name++) {
        if (name[0] == '%' && name[1] == 'p') {
            to += sprintf(to, "%ld", (long)getpid());
            name++;
        } else {
            *to++ = *name;
        }
    }
    *to = 0;
    return expanded;
}

static int write_rendering(struct rsc_session *session, struct rsc_profile *const *profiles, size_t count,
                           enum rsc_report_format format, const char *path, struct rsc_error *error) {
    char *text = NULL;
    size_t bytes;
    int to_terminal = !strcmp(path, "-");
    int status = render(session, profiles, count, format, to_terminal, &text, &bytes, error);
    if (status < 0) return status;
    if (to_terminal && format == RSC_REPORT_TEXT)
        status = rsc_show_text(session, text, bytes) ? rsc_fail(error, RSC_EIO, "standard output: cannot be written") : 0;
    else
        status = rsc_output_whole(path, text, bytes, 0, error);
    free(text);
    return status;
}

/* What -o and --format ask for, apart from text on the terminal. */
static int write_file(struct rsc_session *session, struct rsc_profile *const *profiles, size_t count, int keep,
                      enum rsc_report_format format, struct rsc_error *error) {
    if (!session->output) return keep ? rsc_profiles_save(profiles, count, RSC_DATA_FILE, 1, error) : 0;
    char *path = expand_name(session->output);
    if (!path) return rsc_fail_memory(error, "file name");
    if (!format) format = rsc_report_format_of_path(path);
    int status = format ? write_rendering(session, profiles, count, format, path, error)
                        : rsc_profiles_save(profiles, count, path, 0, error);
    if (!status) rsc_hint(session, "reusescope report %s", path);
    free(path);
    return status;
}

int rsc_session_deliver(struct rsc_session *session, struct rsc_profile *const *profiles, size_t count, int keep) {
    struct rsc_error error;
    enum rsc_report_format format = RSC_REPORT_NONE;
    int to_stdout = session->output && !strcmp(session->output, "-"), status = 0;
    if (session->format && !(format = rsc_report_format_of_name(session->format)))
        return rsc_usage_error(session->verb, "--format %.40s: not one of text, json, csv", session->format);
    if (to_stdout) {
        status = write_rendering(session, profiles, count, format ? format : RSC_REPORT_TEXT, "-", &error);
        return status < 0 ? rsc_session_fail(session, &error) : RSC_EXIT_OK;
    }
    int file_status = write_file(session, profiles, count, keep, format, &error);
    /* On the terminal: what was asked for, and an analysis also says what it found, unless quiet. */
    int show = session->output ? keep && !session->quiet && !format : !keep || !session->quiet || format;
    enum rsc_report_format shown = !session->output && format ? format : RSC_REPORT_TEXT;
    struct rsc_error text_error;
    if (show) status = write_rendering(session, profiles, count, shown, "-", &text_error);
    if (file_status < 0) return rsc_session_fail(session, &error);
    if (status < 0) return rsc_session_fail(session, &text_error);
    if (!session->output && keep && !format)
        rsc_hint(session, "reusescope report --format json -o -   (this result again, from %s)", RSC_DATA_FILE);
    return RSC_EXIT_OK;
}
