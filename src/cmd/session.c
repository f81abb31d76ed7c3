/* session.c - options shared by all verbs, and error and log lines. */
#include "cmd/session.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/inputs.h"
#include "base/numbers.h"
#include "base/own_file.h"
#include "base/pool.h"
#include "report/report.h"
#include "simulate/cache/machine_caches.h"

const struct rsc_option rsc_common_options[] = {
    RSC_HEADING("general"),
    {RSC_OPT_QUIET, 'q', "quiet", NULL, "print only errors and requested results", NULL},
    {RSC_OPT_VERBOSE, 'v', "verbose", NULL, "print each step and what it costs", NULL},
    {RSC_OPT_COLOR, 0, "color", "WHEN", "auto (default), always or never; obeys NO_COLOR", "auto always never"},
    {RSC_OPT_HELP, 'h', "help", NULL, "print this text", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

const struct rsc_option rsc_trace_options[] = {
    RSC_HEADING("input"),
    {RSC_OPT_FROM, 0, "from", "FORMAT",
     "format of the trace: rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace, champsim, oracleGeneral, "
     "vscsi or raw64 (default: detected; the last four are never detected)",
     "rsct din lackey csv list pinatrace perf-script drmemtrace champsim oracleGeneral vscsi raw64"},
    {RSC_OPT_COLUMNS, 0, "columns", "WHAT=COLUMN,...",
     "text in columns: the number or name of addr, and of size, kind, tid, pid, pc, as addr=3:hex,size=4", NULL},
    {RSC_OPT_SALVAGE, 0, "salvage", NULL, "recover the intact frames of a damaged .rsct and report what was lost",
     NULL},
    RSC_HEADING("filters"),
    {RSC_OPT_KIND, 0, "kind", "KINDS", "only R (reads), W (writes), I (fetches), as R,W", "R W I R,W"},
    {RSC_OPT_TID, 0, "tid", "LIST", "keep only these thread ids (run starts at 1)", NULL},
    {RSC_OPT_RANGE, 0, "range", "LOW-HIGH", "keep only addresses in this range (inclusive)", NULL},
    {RSC_OPT_WINDOW, 0, "window", "FIRST[+COUNT]", "keep COUNT accesses from access FIRST on (numbered from 0)", NULL},
    {RSC_OPT_BITS, 0, "bits", "LO-HI=VALUE", "keep addresses whose bits LO to HI have this value", NULL},
    {RSC_OPT_EVERY, 0, "every", "N", "keep every Nth access left by other filters", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

const struct rsc_option rsc_output_options[] = {
    RSC_HEADING("output"),
    {RSC_OPT_OUTPUT, 'o', "output", "FILE",
     "write here: .json, .csv, .txt, .folded, .speedscope.json, .callgrind, .pb.gz (pprof), .html render, anything "
     "else is a profile; - is standard output, %p the process id, %r the MPI rank",
     NULL},
    {RSC_OPT_FORMAT, 0, "format", "FORMAT", "text, json, csv, folded, speedscope, callgrind, pprof or html",
     "text json csv folded speedscope callgrind pprof html"},
    {RSC_OPT_FULL, 0, "full", NULL, "text: everything that is known, not just the first screen (40 lines)", NULL},
    {RSC_OPT_FULL_NAMES, 0, "full-names", NULL, "text: C++ names with their template arguments", NULL},
    {RSC_OPT_AT, 0, "at", "SIZE",
     "rank code, pairs and objects by misses in a cache of SIZE, as 1M or L2 (default: by the cycles that misses cost; "
     "misses are those in the largest of the machine's caches with more than first touches)",
     "L1d L2 L3"},
    RSC_MACHINE_OPTION("; json and csv then have estimated cycles"),
    {RSC_OPT_WEIGHT, 0, "weight", "WHAT",
     "folded, speedscope, pprof: weigh stacks by misses (at --at, default) or references", "misses references"},
    {RSC_OPT_NO_COMMAND, 0, "no-command", NULL,
     "for sharing: leave out the command line and the folders of absolute paths", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

static void print_log_line(void *user, enum rsc_log_level level, const char *line) {
    struct rsc_session *session = user;
    if (level == RSC_LOG_WARNING ? session->quiet : !session->verbose) return;
    if (session->progress_shown) fputs("\r\033[K", stderr);
    rsc_session_say(session, "%s%s", level == RSC_LOG_WARNING ? "warning: " : "", line);
}

void rsc_session_say(struct rsc_session *session, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int wrote = fputs("reusescope: ", stderr) < 0 ? 0 : vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    session->lines_said += 1 + ((wrote > 0 ? (unsigned)wrote : 0) + (unsigned)strlen("reusescope: ") - 1) / 80;
}

/* Ctrl-C leaves no half-written file (output_file.h); the message says that nothing was written. */
static void say_interrupted(int number) {
    static const char line[] = "reusescope: interrupted; nothing was written\n";
    ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
    (void)ignored;
    signal(number, SIG_DFL);
    raise(number);
}

void rsc_session_catch_interrupt(void) {
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(SIGINT, say_interrupted);
}

void rsc_session_start(struct rsc_session *session, const struct rsc_verb *verb, char **argv) {
    const struct rsc_filter everything = RSC_FILTER_ALL;
    memset(session, 0, sizeof *session);
    rsc_inputs_remember();
    session->verb = verb;
    session->argv = argv;
    session->filter = everything;
    session->filter.tids = session->tids;
    session->log = (struct rsc_log){print_log_line, session};
}

/* ---- values ---- */

static int parse_kinds(struct rsc_session *session, const char *text) {
    uint32_t kinds = 0;
    for (; *text; text++) {
        const char *letters = "RrWwIi", *found = strchr(letters, *text);
        if (*text == ',') continue;
        if (!found) return -1;
        kinds |= RSC_KIND_BIT((found - letters) / 2);
    }
    session->filter.kinds = kinds;
    return kinds ? 0 : -1;
}

static int parse_tids(struct rsc_session *session, const char *text) {
    while (*text) {
        size_t length = strcspn(text, ",");
        if (session->filter.tid_count == RSC_TIDS_MAX) return -1;
        if (rsc_parse_u64(text, length, &session->tids[session->filter.tid_count]) < 0) return -1;
        session->filter.tid_count++;
        text += length + (text[length] == ',');
    }
    return session->filter.tid_count ? 0 : -1;
}

/* A and B of "A<separator>B". */
static int parse_two(const char *text, char separator, uint64_t *a, uint64_t *b) {
    const char *between = strchr(text, separator);
    if (!between) return -1;
    return rsc_parse_u64(text, (size_t)(between - text), a) < 0 ||
                   rsc_parse_u64(between + 1, strlen(between + 1), b) < 0
               ? -1
               : 0;
}

static int parse_window(struct rsc_session *session, const char *text) {
    struct rsc_filter *filter = &session->filter;
    if (strchr(text, '+')) return parse_two(text, '+', &filter->first, &filter->count);
    return rsc_parse_u64(text, strlen(text), &filter->first);
}

static int parse_bits(struct rsc_session *session, const char *text) {
    uint64_t low, high, value;
    const char *dash = strchr(text, '-');
    if (!dash || rsc_parse_u64(text, (size_t)(dash - text), &low) < 0 || parse_two(dash + 1, '=', &high, &value) < 0)
        return -1;
    if (low > high || high > 63) return -1;
    uint64_t width = high - low + 1, ones = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    if (value > ones) return -1;
    session->filter.bits_mask = ones << low;
    session->filter.bits_value = value << low;
    return 0;
}

static int parse_every(struct rsc_session *session, const char *text) {
    return rsc_parse_u64(text, strlen(text), &session->filter.every) < 0 || !session->filter.every ? -1 : 0;
}

static int parse_range(struct rsc_session *session, const char *text) {
    struct rsc_filter *filter = &session->filter;
    return parse_two(text, '-', &filter->addr_low, &filter->addr_high) < 0 || filter->addr_low > filter->addr_high ? -1
                                                                                                                   : 0;
}

const char *rsc_machine_folder(char folder[PATH_MAX]) {
    return rsc_own_file("../share/reusescope/machines", folder) || rsc_own_file("../../machines", folder) ? folder
                                                                                                          : NULL;
}

const struct rsc_machine *rsc_session_machine(struct rsc_session *session) {
    if (!session->machine_is_read) rsc_machine_read(&session->machine, NULL);
    session->machine_is_read = 1;
    return &session->machine;
}

int rsc_session_parse_size(struct rsc_session *session, const char *text, size_t length, uint64_t *bytes) {
    if (*text < '0' || *text > '9') session->cache_is_named = 1;
    return rsc_machine_parse_size(rsc_session_machine(session), text, length, bytes);
}

static int parse_at(struct rsc_session *session, const char *text) {
    return rsc_session_parse_size(session, text, strlen(text), &session->at_bytes);
}

static int take_machine(struct rsc_session *session, const struct rsc_option_parser *parser) {
    char folder[PATH_MAX];
    struct rsc_error error;
    if (session->cache_is_named) return rsc_option_refuse(parser, "give it before the option that names a cache");
    int status = rsc_machine_named(&session->machine, parser->value, rsc_machine_folder(folder), &error);
    session->machine_is_read = session->machine_is_named = 1;
    return status < 0 ? rsc_session_fail(session, &error) : -1;
}

static int parse_weight(struct rsc_session *session, const char *text) {
    session->references = !strcmp(text, "references");
    return session->references || !strcmp(text, "misses") ? 0 : -1;
}

static int parse_color(struct rsc_session *session, const char *text) {
    if (!strcmp(text, "auto")) session->colour = 0;
    else if (!strcmp(text, "always")) session->colour = 1;
    else if (!strcmp(text, "never")) session->colour = -1;
    else return -1;
    return 0;
}

/* Options whose value is parsed, with the error message. */
static const struct {
    int id;
    int (*parse)(struct rsc_session *session, const char *text);
    const char *wanted;
} valued[] = {
    {RSC_OPT_COLOR, parse_color, "not one of auto, always, never"},
    {RSC_OPT_KIND, parse_kinds, "not a list of R, W, I"},
    {RSC_OPT_TID, parse_tids, "not a list of up to 1024 thread ids"},
    {RSC_OPT_RANGE, parse_range, "not LOW-HIGH, as 0x1000-0x1fff"},
    {RSC_OPT_WINDOW, parse_window, "not FIRST or FIRST+COUNT, as 10M+1M"},
    {RSC_OPT_BITS, parse_bits, "not LO-HI=VALUE with bits from 0 to 63, as 6-9=3"},
    {RSC_OPT_EVERY, parse_every, "not a number from 1 up"},
    {RSC_OPT_AT, parse_at, "not a size in bytes, as 256K or 32M, nor a cache of this machine, as L2"},
    {RSC_OPT_WEIGHT, parse_weight, "not one of misses, references"},
};

static int refuse_format(const struct rsc_session *session, const struct rsc_option_parser *parser) {
    char message[120], words[80];
    snprintf(message, sizeof message, "not one of %s", rsc_report_format_list(session->yields, words));
    return rsc_option_refuse(parser, message);
}

int rsc_session_option(struct rsc_session *session, const struct rsc_option_parser *parser, int id) {
    switch (id) {
    case RSC_OPTIONS_BAD: return RSC_EXIT_USAGE;
    case RSC_OPT_HELP: rsc_print_help(stdout, session->verb); return RSC_EXIT_OK;
    case RSC_OPT_QUIET: session->quiet = 1; return -1;
    case RSC_OPT_VERBOSE: session->verbose = 1; return -1;
    case RSC_OPT_FROM: session->from = parser->value; return -1;
    case RSC_OPT_COLUMNS: session->columns = parser->value; return -1;
    case RSC_OPT_SALVAGE: session->salvage = 1; return -1;
    case RSC_OPT_FULL_NAMES: session->full_names = 1; return -1;
    case RSC_OPT_FULL: session->full = 1; return -1;
    case RSC_OPT_MACHINE: return take_machine(session, parser);
    case RSC_OPT_NO_COMMAND: session->no_command = 1; return -1;
    case RSC_OPT_READ_THREADS: {
        uint64_t threads = 0;
        int refused = rsc_option_number(parser, 1, 1024, "not a number from 1 to 1024", &threads);
        session->threads = (unsigned)threads;
        return refused;
    }
    case RSC_OPT_OUTPUT: session->output = parser->value; return -1;
    case RSC_OPT_FORMAT:
        session->format = parser->value;
        if (!rsc_report_renders(session->yields, rsc_report_format_of_name(parser->value)))
            return refuse_format(session, parser);
        return -1;
    default: break;
    }
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++)
        if (valued[i].id == id && valued[i].parse(session, parser->value) < 0)
            return rsc_option_refuse(parser, valued[i].wanted);
    return -1;
}

int rsc_session_take(struct rsc_session *session, int argc, rsc_option_taker *take, void *context, const char *what,
                     const char **operand) {
    struct rsc_option_parser parser;
    int id, leave = -1;
    rsc_options_start(&parser, session->verb, argc, session->argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id != RSC_OPERAND) leave = take ? take(context, &parser, id) : rsc_session_option(session, &parser, id);
        else if (!operand) leave = rsc_usage_error(session->verb, "takes no operand: %.60s", parser.value);
        else if (*operand) leave = rsc_usage_error(session->verb, "more than one %s: %.60s", what, parser.value);
        else *operand = parser.value;
    }
    return leave;
}

int rsc_session_fail(struct rsc_session *session, const struct rsc_error *error) {
    rsc_progress_end(session);
    fprintf(stderr, "reusescope: %s\n", error->message);
    return error->code == RSC_EINVAL ? RSC_EXIT_USAGE : RSC_EXIT_ERROR;
}

int rsc_session_load(const char *path, struct rsc_profile ***profiles, size_t *count, struct rsc_error *error) {
    int from_stdin = !strcmp(path, "-");
    int status = rsc_profiles_load(path, profiles, count, error);
    struct rsc_trace *trace = NULL;
    struct rsc_error ignored;
    struct stat file;
    if (status != RSC_EFORMAT || from_stdin || stat(path, &file) != 0 || !S_ISREG(file.st_mode) ||
        rsc_profiles_recognise(path) || rsc_trace_open(&trace, path, NULL, &ignored) < 0)
        return status;
    rsc_trace_close(trace);
    return rsc_fail(error, RSC_EFORMAT, "%.200s: a trace, not a profile: reusescope analyze %.200s", path, path);
}

int rsc_session_open(struct rsc_session *session, struct rsc_trace **trace, const char *path, int whole,
                     struct rsc_error *error) {
    unsigned threads = session->threads ? session->threads : rsc_pool_cpu_count();
    struct rsc_trace_options options = {
        .struct_bytes = sizeof options,
        .format = session->from,
        .filter = &session->filter,
        .log = &session->log,
        .salvage = session->salvage,
        .decode_ahead = whole && threads > 1 ? (int)threads : 0, /* one thread decodes as it analyses */
        .without_pcs = session->without_pcs,
        .without_events = session->without_events,
        .columns = session->columns,
    };
    int status = rsc_trace_open(trace, path, &options, error);
    if (status == RSC_EFORMAT && !session->from && strcmp(path, "-") && rsc_profiles_recognise(path))
        return rsc_fail(error, status, "%.200s: a profile, not a trace: reusescope report %.200s", path, path);
    if (!status && session->wants_addresses) {
        struct rsc_trace_info info;
        rsc_trace_get_info(*trace, &info);
        if (!strcmp(info.source, "libCacheSim")) { /* object numbers are not addresses: their lines mean nothing */
            rsc_trace_close(*trace);
            *trace = NULL;
            return rsc_fail(error, RSC_EUNSUPPORTED,
                            "%s: requests for objects, not accesses to addresses: use --requests", path);
        }
    }
    if (!status && session->output) status = rsc_session_spare_opened(session, session->output, error);
    if (status < 0 && *trace) {
        rsc_trace_close(*trace);
        *trace = NULL;
    }
    return status;
}

void rsc_hint(const struct rsc_session *session, const char *format, ...) {
    va_list arguments;
    if (session->quiet) return;
    va_start(arguments, format);
    fputs("next: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}
