/*
 * session.h - shared by all verbs: common, trace and output options, errors and log
 * lines on standard error, progress, results to the terminal and files.
 */
#ifndef RSC_CMD_SESSION_H
#define RSC_CMD_SESSION_H

#include <limits.h>
#include <stdio.h>
#include <time.h>

#include <reusescope/reusescope.h>

#include "cmd/exit.h"
#include "cmd/options.h"
#include "profile/profile_model.h"
#include "report/report.h"

/* Ids of shared options; verbs number their own from RSC_OPT_VERB on. */
enum {
    RSC_OPT_HELP = 1,
    RSC_OPT_QUIET,
    RSC_OPT_VERBOSE,
    RSC_OPT_COLOR,
    RSC_OPT_FROM,
    RSC_OPT_COLUMNS,
    RSC_OPT_SALVAGE,
    RSC_OPT_KIND,
    RSC_OPT_TID,
    RSC_OPT_RANGE,
    RSC_OPT_WINDOW,
    RSC_OPT_EVERY,
    RSC_OPT_BITS,
    RSC_OPT_OUTPUT,
    RSC_OPT_FORMAT,
    RSC_OPT_AT,
    RSC_OPT_MACHINE,
    RSC_OPT_WEIGHT,
    RSC_OPT_FULL,
    RSC_OPT_FULL_NAMES,
    RSC_OPT_NO_COMMAND,
    RSC_OPT_READ_THREADS,
    RSC_OPT_VERB,
};

extern const struct rsc_option rsc_common_options[]; /* -h -q -v --color */
/* For verbs that only read a trace; analyze and sim use their threads for more. */
#define RSC_READ_THREADS_OPTION \
    {RSC_OPT_READ_THREADS, 0, "threads", "N", "threads that decode the trace (default: one per core)", NULL}
extern const struct rsc_option rsc_trace_options[];  /* --from --salvage and the filters */
extern const struct rsc_option rsc_output_options
    []; /* -o --format --full --full-names --at --weight --no-command, for verbs that yield a profile */

/* For verbs that show profiles; rsc_output_options has it. `more`: what else it does. */
#define RSC_MACHINE_OPTION(more)                                                                   \
    {RSC_OPT_MACHINE,                                                                              \
     0,                                                                                            \
     "machine",                                                                                    \
     "NAME",                                                                                       \
     "caches and latencies of this machine (this, default) or of another, as zen2 or a file" more, \
     "this neoverse-n1 skylake-x zen2"}

#define RSC_TIDS_MAX 1024

struct rsc_session {
    const struct rsc_verb *verb;
    char **argv; /* the whole command line, for `made.command` */
    int quiet, verbose;
    int colour; /* -1 never, 0 auto, 1 always */
    struct rsc_log log;

    struct rsc_filter filter;
    uint64_t tids[RSC_TIDS_MAX];
    const char *from, *columns;
    int salvage;
    unsigned threads; /* that decode; 0: one per core */
    int wants_addresses; /* traces of requests for objects are refused */
    int without_pcs, without_events; /* no requested output needs them */

    enum rsc_result_kind yields; /* the verb's kind of result, which decides its formats */
    const char *output, *format;
    struct rsc_machine machine; /* use rsc_session_machine() */
    int machine_is_read, machine_is_named; /* named: by --machine */
    int cache_is_named; /* an option named a cache of the machine */
    uint64_t at_bytes; /* cache size at which code, pairs and objects are ranked; 0: the report's choice */
    int references;    /* stacks are weighed by references, not by misses */
    const struct rsc_page_extras *page; /* extra contents of an HTML page; NULL: none */
    int full;          /* text has everything that is known, not just the first screen */
    int full_names;    /* C++ names with their template arguments */
    uint32_t sections; /* only these sections of the text; 0: the first screen, or all */
    unsigned lines_said; /* lines printed on standard error before the first screen, at 80 columns */
    const char *shown; /* the one file that is shown; NULL: the default data file, or several */
    int may_replace_input; /* the result is of the input's kind */
    int no_command;    /* for sharing: profiles leave out the command line and absolute folders */

    struct timespec progress_start, progress_at; /* when work began, and when progress was last shown */
    int progress_shown;
};

/* From here on, Ctrl-C prints that nothing was written, and then ends the process as usual. */
void rsc_session_catch_interrupt(void);

void rsc_session_start(struct rsc_session *session, const struct rsc_verb *verb, char **argv);

/*
 * Handles an option of the shared groups. Returns -1 to go on, or the exit
 * status (help was printed, or the value was rejected).
 */
int rsc_session_option(struct rsc_session *session, const struct rsc_option_parser *parser, int id);

/* Whose caches are shown: this machine, or the one that --machine names. */
const struct rsc_machine *rsc_session_machine(struct rsc_session *session);

/* A size in bytes, or the name of a cache of that machine. 0, or -1 for neither. */
int rsc_session_parse_size(struct rsc_session *session, const char *text, size_t length, uint64_t *bytes);

/* The folder of machine files that comes with the tool, in the source tree or installed; NULL: none. */
const char *rsc_machine_folder(char folder[PATH_MAX]);

/* Takes one option, as rsc_session_option() does, to which it hands those it does not know. */
typedef int rsc_option_taker(void *context, const struct rsc_option_parser *parser, int id);

/*
 * Takes the command line: options by `take` (NULL: those of the session alone), and into *operand the one operand there
 * may be, named `what` in messages (NULL: there may be none). Returns -1 to go on, or the exit status.
 */
int rsc_session_take(struct rsc_session *session, int argc, rsc_option_taker *take, void *context, const char *what,
                     const char **operand);

/* Prints "reusescope: MESSAGE" and returns its exit status. */
int rsc_session_fail(struct rsc_session *session, const struct rsc_error *error);

/* Loads profiles. */
int rsc_session_load(const char *path, struct rsc_profile ***profiles, size_t *count, struct rsc_error *error);

/* Opens a trace with the session's trace options. `whole`: it will be read to the end, by the session's threads. */
int rsc_session_open(struct rsc_session *session, struct rsc_trace **trace, const char *path, int whole,
                     struct rsc_error *error);

/*
 * Shows progress a few times a second, on a terminal only. `total` may be
 * RSC_UNKNOWN. For another text: if rsc_progress_due(), call rsc_progress_say()
 * with one line, which is cut to the width of the terminal.
 */
void rsc_progress(struct rsc_session *session, uint64_t done, uint64_t total, const char *unit);
int rsc_progress_due(struct rsc_session *session);
void rsc_progress_say(struct rsc_session *session, const char *line);
double rsc_progress_seconds(const struct rsc_session *session); /* since the first call; 0 at it */
void rsc_progress_end(struct rsc_session *session);

/*
 * Delivers profiles as the output options say: text on standard output and the
 * default data file, or a rendering, or a container. `keep` is 0 for verbs that
 * only look at profiles (report): then there is no default data file.
 */
int rsc_session_deliver(struct rsc_session *session, struct rsc_profile *const *profiles, size_t count, int keep);

/* The same for a result of any kind, session->yields. Kinds without a container are written as text instead. */
int rsc_session_deliver_result(struct rsc_session *session, const struct rsc_result *result, int keep);

/* Checks that the requested format exists for this kind of result. Returns -1, or the exit status. */
int rsc_session_check_format(const struct rsc_session *session);

/* Checks, before long work, that its result can be written. Returns -1, or the exit status. */
int rsc_session_check_output(struct rsc_session *session);

/* Refuses to write another file `path` where the result goes, before either exists. Returns -1, or the exit status. */
int rsc_session_spare_result(const struct rsc_session *session, const char *path);

/*
 * Refuses to write `path`, given as the option's value `given` (NULL: a default), over a file that the command line names
 * elsewhere: an input, the program, its data. Links are followed. Returns -1, or the exit status.
 */
int rsc_session_spare_inputs(const struct rsc_session *session, const char *path, const char *given);

/*
 * The same for files that were opened or will run (base/inputs.h), which the command line need not name, as members of a
 * folder. Returns 0 or a negative RSC_E...
 */
int rsc_session_spare_opened(const struct rsc_session *session, const char *path, struct rsc_error *error);

/* Prints a note on standard error, as "reusescope: ...", and counts its lines at 80 columns (lines_said). */
void rsc_session_say(struct rsc_session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "next: COMMAND" on standard error, if it is a terminal and not quiet. */
void rsc_hint(const struct rsc_session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies a file name, with %p replaced by the process id and %r by the MPI rank (0 without MPI). */
void rsc_expand_name(const char *name, char *to, size_t room);

/*
 * Our number among the processes on this machine, from the launcher's environment, for
 * when MPI is not available; NULL: not launched by one. The first process on each machine
 * prints: the library may be missing on one machine only.
 */
const char *rsc_launched_as(void);

/* Our rank in an MPI job, as its launcher says; NULL: there is none. */
const char *rsc_mpi_rank(void);

/* Default file name of profiles. */
#define RSC_DATA_FILE "reusescope.data"
#define RSC_RANK_DATA_FILE "reusescope.%r.data" /* of a process of an MPI job */

/* Help for a verb, or for the tool when verb is NULL. */
void rsc_print_help(FILE *to, const struct rsc_verb *verb);

#endif
