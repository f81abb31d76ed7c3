/* cmd_advise.c - `reusescope advise`: what a profile suggests to change, and why. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/output_file.h"
#include "cmd/session.h"
#include "report/advise/advise.h"

enum { OPT_FORMAT = RSC_OPT_VERB };

static const struct rsc_option options[] = {
    RSC_HEADING("output"),
    {RSC_OPT_AT, 0, "at", "SIZE", "cache size the advice is for (default: this machine's L2, or 1M)", NULL},
    {RSC_OPT_OUTPUT, 'o', "output", "FILE", "write here (.json: as JSON); - is standard output", NULL},
    {OPT_FORMAT, 0, "format", "FORMAT", "text (default) or json", "text json"},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct advising {
    struct rsc_session session;
    const char *path;
    enum rsc_report_format format;
};

static int take_option(struct advising *advising, const struct rsc_option_parser *parser, int id) {
    switch (id) {
    case RSC_OPERAND:
        if (advising->path) return rsc_usage_error(parser->verb, "more than one profile: %.60s", parser->value);
        advising->path = parser->value;
        return -1;
    case OPT_FORMAT:
        advising->format = rsc_report_format_of_name(parser->value);
        if (advising->format != RSC_REPORT_TEXT && advising->format != RSC_REPORT_JSON)
            return rsc_option_refuse(parser, "not one of text, json");
        return -1;
    default: return rsc_session_option(&advising->session, parser, id);
    }
}

static int deliver(struct advising *advising, struct rsc_profile *const *profiles, size_t count,
                   struct rsc_error *error) {
    struct rsc_session *session = &advising->session;
    struct rsc_machine machine;
    char file[PATH_MAX] = "-", *text = NULL;
    size_t bytes;
    if (session->output) rsc_expand_name(session->output, file, sizeof file);
    enum rsc_report_format format = advising->format ? advising->format : rsc_report_format_of_path(file);
    int to_stdout = !strcmp(file, "-"), as_json = format == RSC_REPORT_JSON;
    struct rsc_report_style style = rsc_session_style(session, to_stdout, &machine);
    int status = (as_json ? rsc_advise_json : rsc_advise_text)(profiles, count, &style, &text, &bytes, error);
    if (status < 0) return status;
    status = rsc_deliver_text(file, text, bytes, !as_json, error);
    free(text);
    return status;
}

static int run_advise(const struct rsc_verb *verb, int argc, char **argv) {
    struct advising advising = {0};
    struct rsc_option_parser parser;
    struct rsc_profile **profiles = NULL;
    struct rsc_error error;
    size_t count = 0;
    int id, leave = -1;
    rsc_session_start(&advising.session, verb, argv);
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END)
        leave = take_option(&advising, &parser, id);
    if (leave < 0) {
        int status = rsc_profiles_load(advising.path ? advising.path : RSC_DATA_FILE, &profiles, &count, &error);
        if (!status) status = deliver(&advising, profiles, count, &error);
        leave = status < 0 ? rsc_session_fail(&advising.session, &error) : RSC_EXIT_OK;
    }
    rsc_profiles_free(profiles, count);
    return leave;
}

const struct rsc_verb rsc_verb_advise = {
    .name = "advise",
    .operands = "[PROFILE]",
    .summary = "Suggest changes to the code, with evidence",
    .about = "PROFILE is a profile or its JSON (default: reusescope.data). Each piece of advice gives the "
             "evidence in numbers and a change to try. Prints no advice where nothing stands out.",
    .example = "reusescope advise --at 1M",
    .groups = {options, rsc_common_options},
    .run = run_advise,
};
