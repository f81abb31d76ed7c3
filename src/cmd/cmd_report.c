/* cmd_report.c - `reusescope report`: shows saved profiles as text, as a page or in another format. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "cmd/session.h"
#include "report/page/page.h"
#include "report/text/tables.h"

#define SOURCE_PATHS_MAX 32

enum {
    OPT_INPUT = RSC_OPT_VERB,
    OPT_EMBED_SOURCE,
    OPT_SOURCE_PATH,
    OPT_SUITE,
    OPT_BY,
    OPT_CDF,
    OPT_SELECT,
    OPT_SECTION
};

static const struct rsc_option options[] = {
    RSC_HEADING("input"),
    {OPT_INPUT, 'i', "input", "FILE", "a profile to show, like an operand", NULL},
    {OPT_SOURCE_PATH, 0, "source-path", "DIR", "look for source files here first", NULL},
    RSC_HEADING("output"),
    {OPT_SECTION, 0, "section", "NAME,...",
     "only these parts of --full: facts, distances, curve, quantiles, words, lines, pairs, objects, cache-lines, "
     "phases, threads, sharing, false-sharing, kinds",
     "facts distances curve quantiles words lines pairs objects cache-lines phases threads sharing false-sharing "
     "kinds"},
    RSC_HEADING("tables (text or csv)"),
    {OPT_SUITE, 0, "suite", NULL, "all profiles: distances at 70, 80, 90, 95 % of reuses", NULL},
    {OPT_BY, 0, "by", "PART", "the code by module, file, function, loop or line", "module file function loop line"},
    {OPT_CDF, 0, "cdf", NULL, "the share of reuses within each distance", NULL},
    {OPT_SELECT, 0, "select", "Y[,X]",
     "the instructions that have Y % of all misses at --at, or where X % of reuses miss (default 10)", NULL},
    RSC_HEADING("output"),
    {OPT_EMBED_SOURCE, 0, "embed-source", NULL,
     "html: put the text of source files into the page: those below the current folder or --source-path", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct showing {
    struct rsc_session session;
    struct rsc_page_extras page;
    struct rsc_profile **profiles; /* owned, as are names and documents */
    const char **names;            /* of the profiles: the files they come from */
    size_t count;
    char **documents; /* other results as JSON, for a page */
    size_t document_count;
    const char **document_names; /* the files they come from */
    const char *only_page;       /* the first of them that is no profile; NULL: none */
    const char *source_paths[SOURCE_PATHS_MAX];
    int files;
    int table_option; /* OPT_SUITE, OPT_BY, OPT_CDF or OPT_SELECT: print only this table; 0: the report */
    struct rsc_table table;
};

/* Y or Y,X: percentages. */
static int parse_choice(const char *text, struct rsc_choice *choice) {
    size_t length = strcspn(text, ",");
    double share = 10;
    if (rsc_parse_fraction(text, length, &choice->cover) < 0) return -1;
    if (text[length] && rsc_parse_fraction(text + length + 1, strlen(text + length + 1), &share) < 0) return -1;
    choice->cover /= 100;
    choice->share = share / 100;
    return choice->cover > 0 && choice->cover <= 1 && choice->share > 0 && choice->share < 1 ? 0 : -1;
}

static int parse_sections(const char *text, uint32_t *sections) {
    for (;;) {
        size_t length = strcspn(text, ",");
        uint32_t section = rsc_report_section_of_name(text, length);
        if (!section) return -1;
        *sections |= section;
        if (!text[length]) return 0;
        text += length + 1;
    }
}

/* Appends the profiles of a file, which it takes over. */
static int add_profiles(struct showing *showing, const char *path, struct rsc_profile **loaded, size_t count,
                        struct rsc_error *error) {
    struct rsc_profile **joined = realloc(showing->profiles, (showing->count + count + 1) * sizeof *joined);
    if (joined) showing->profiles = joined;
    const char **names = realloc(showing->names, (showing->count + count + 1) * sizeof *names);
    if (names) showing->names = names;
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < count; i++) {
        if (!joined || !names) {
            rsc_profile_free(loaded[i]);
            continue;
        }
        showing->profiles[showing->count] = loaded[i];
        showing->names[showing->count++] = slash ? slash + 1 : path;
    }
    free(loaded);
    return joined && names ? 0 : rsc_fail_memory(error, "profiles");
}

static int load_profiles(struct showing *showing, const char *path, struct rsc_error *error) {
    struct rsc_profile **loaded;
    size_t count;
    int status = rsc_session_load(path, &loaded, &count, error);
    return status < 0 ? status : add_profiles(showing, path, loaded, count, error);
}

/* Results of loops that no page will show are shown as profiles. */
static int documents_as_profiles(struct showing *showing, struct rsc_error *error) {
    int status = 0;
    for (size_t i = 0; i < showing->document_count && !status; i++) {
        struct rsc_profile **loaded;
        size_t count;
        status = rsc_profiles_parse(showing->documents[i], strlen(showing->documents[i]), showing->document_names[i],
                                    &loaded, &count, error);
        if (!status) status = add_profiles(showing, showing->document_names[i], loaded, count, error);
    }
    return status;
}

/* A file with profiles, or with another result that a page shows. */
static int load(struct showing *showing, const char *path, struct rsc_error *error) {
    char *text = NULL;
    int status = strcmp(path, "-") ? rsc_page_document_read(path, &text, error) : 0;
    if (status < 0) return status;
    if (!status) return load_profiles(showing, path, error);
    char **joined = realloc(showing->documents, (showing->document_count + 1) * sizeof *joined);
    if (joined) showing->documents = joined;
    const char **names = realloc(showing->document_names, (showing->document_count + 1) * sizeof *names);
    if (names) showing->document_names = names;
    if (!joined || !names) {
        free(text);
        return rsc_fail_memory(error, "results");
    }
    if (status == RSC_PAGE_SIMULATION && !showing->only_page) showing->only_page = path;
    names[showing->document_count] = path;
    joined[showing->document_count++] = text;
    return 0;
}

static int take_option(struct showing *showing, const struct rsc_option_parser *parser, int id) {
    struct rsc_error error;
    switch (id) {
    case RSC_OPERAND:
    case OPT_INPUT:
        showing->session.shown = parser->value;
        if (showing->files++) showing->session.shown = "-"; /* several: no one command for what comes next */
        return load(showing, parser->value, &error) < 0 ? rsc_session_fail(&showing->session, &error) : -1;
    case OPT_SECTION:
        if (parse_sections(parser->value, &showing->session.sections) < 0)
            return rsc_option_refuse(parser, "not a list of sections (reusescope help report)");
        return -1;
    case OPT_SUITE:
    case OPT_BY:
    case OPT_CDF:
    case OPT_SELECT:
        if (showing->table_option && showing->table_option != id)
            return rsc_usage_error(parser->verb, "only one of --suite, --by, --cdf and --select can be given");
        showing->table_option = id;
        showing->session.yields = RSC_RESULT_TABLE;
        showing->table.kind = id == OPT_SUITE ? RSC_TABLE_SUITE
                              : id == OPT_BY  ? RSC_TABLE_CODE
                              : id == OPT_CDF ? RSC_TABLE_CDF
                                              : RSC_TABLE_SELECTION;
        if (id == OPT_BY && !(showing->table.by = rsc_table_by_of_name(parser->value)))
            return rsc_option_refuse(parser, "not one of module, file, function, loop, line");
        if (id == OPT_SELECT && parse_choice(parser->value, &showing->table.choice) < 0)
            return rsc_option_refuse(parser, "not a percentage of misses, or that and one of reuses, as 90 or 90,10");
        return -1;
    case OPT_EMBED_SOURCE: showing->page.embed_source = 1; return -1;
    case OPT_SOURCE_PATH:
        if (showing->page.source_folder_count == SOURCE_PATHS_MAX) return rsc_option_refuse(parser, "too many folders");
        showing->source_paths[showing->page.source_folder_count++] = parser->value;
        return -1;
    default: return rsc_session_option(&showing->session, parser, id);
    }
}

/* Lists the files that anyone who has the page can read. */
static void report_source(void *context, const char *name, const char *refused) {
    const struct rsc_session *session = context;
    char shown[200];
    snprintf(shown, sizeof shown, "%s", name);
    rsc_make_one_line(shown);
    if (refused) rsc_log_line(&session->log, RSC_LOG_WARNING, "%s: not embedded: %s", shown, refused);
    else if (!session->quiet) fprintf(stderr, "reusescope: embedded %s\n", shown);
}

/* Whether the output is a page. */
static int makes_page(const struct rsc_session *session) {
    enum rsc_report_format format = session->format   ? rsc_report_format_of_name(session->format)
                                    : session->output ? rsc_report_format_of_path(session->output)
                                                      : RSC_REPORT_NONE;
    return format == RSC_REPORT_HTML;
}

static int show(struct showing *showing, const struct rsc_verb *verb) {
    struct rsc_error error;
    int page = makes_page(&showing->session);
    if (!showing->files && load(showing, RSC_DATA_FILE, &error) < 0) return rsc_session_fail(&showing->session, &error);
    if (!page && showing->only_page)
        return rsc_usage_error(verb, "%.100s: not a profile; only a page can show this result (-o report.html)",
                               showing->only_page);
    if (!page && documents_as_profiles(showing, &error) < 0) return rsc_session_fail(&showing->session, &error);
    if (!page && (showing->page.embed_source || showing->page.source_folder_count))
        return rsc_usage_error(verb, "--%s needs a page (-o report.html)",
                               showing->page.embed_source ? "embed-source" : "source-path");
    if (showing->page.source_folder_count && !showing->page.embed_source)
        return rsc_usage_error(verb, "--source-path needs --embed-source");
    showing->page.names = showing->names;
    showing->page.report_source = report_source;
    showing->page.context = &showing->session;
    showing->page.source_folders = showing->source_paths;
    showing->page.documents = (const char *const *)showing->documents;
    showing->page.document_count = showing->document_count;
    showing->session.page = &showing->page;
    struct rsc_session *session = &showing->session;
    struct rsc_result result = {
        .kind = session->yields, .profiles = showing->profiles, .count = showing->count, .table = &showing->table};
    showing->table.names = showing->names;
    if (session->yields == RSC_RESULT_TABLE) return rsc_session_deliver_result(session, &result, 0);
    return rsc_session_deliver(session, showing->profiles, showing->count, 0);
}

static int run_report(const struct rsc_verb *verb, int argc, char **argv) {
    struct showing *showing = calloc(1, sizeof *showing);
    struct rsc_option_parser parser;
    int id, leave = -1;
    if (!showing) return rsc_memory_error(verb);
    rsc_session_start(&showing->session, verb, argv);
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) leave = take_option(showing, &parser, id);
    if (leave < 0 && showing->table_option) leave = rsc_session_check_format(&showing->session);
    if (leave < 0) leave = show(showing, verb);
    for (size_t i = 0; i < showing->count; i++) rsc_profile_free(showing->profiles[i]);
    for (size_t i = 0; i < showing->document_count; i++) free(showing->documents[i]);
    free(showing->profiles);
    free(showing->names);
    free(showing->documents);
    free(showing->document_names);
    free(showing);
    return leave;
}

const struct rsc_verb rsc_verb_report = {
    .name = "report",
    .operands = "[FILE...]",
    .summary = "Show profiles: miss ratios, the curve, the worst lines",
    .about = "FILE is a profile or a JSON file written by an analysis (default: reusescope.data). Prints at most "
             "40 lines; --full prints everything. The caches are this machine's. -o report.html writes one "
             "self-contained page; with two profiles it compares them.",
    .example = "reusescope report -o report.html",
    .groups = {options, rsc_output_options, rsc_common_options},
    .run = run_report,
};
