/* cmd_diff.c - `reusescope diff`: compares two profiles and finds regressions. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "cmd/session.h"
#include "report/compare/accuracy.h"
#include "report/compare/diff.h"

enum { OPT_AT = RSC_OPT_VERB, OPT_FAIL_ON, OPT_ACCURACY, OPT_SOURCE_ROOT };

static const struct rsc_option options[] = {
    RSC_HEADING("comparison"),
    {OPT_AT, 0, "at", "SIZE,...", "cache sizes to compare at, as 32K,1M or L2 (default: the machine's caches)", NULL},
    RSC_MACHINE_OPTION(""),
    {OPT_FAIL_ON, 0, "fail-on", "RULE,...", "exit with status 3 if this grew, as misses>+5% or function.misses>+10%",
     NULL},
    {OPT_ACCURACY, 0, "accuracy", NULL, "print how close the two are in the papers' measures: S, S-hat, EMD and MAE",
     NULL},
    RSC_HEADING("output"),
    {OPT_SOURCE_ROOT, 0, "source-root", "DIR", "print file names relative to DIR (default: the current folder)", NULL},
    {RSC_OPT_OUTPUT, 'o', "output", "FILE", "write here (.json, .sarif by suffix); - is standard output", NULL},
    {RSC_OPT_FORMAT, 0, "format", "FORMAT", "text (default), json, sarif or github", "text json sarif github"},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct comparing {
    struct rsc_session session;
    struct rsc_diff_at at[RSC_DIFF_SIZES_MAX];
    size_t at_count;
    struct rsc_diff_rule rules[RSC_DIFF_RULES_MAX];
    const char *source_root;
    char working_folder[PATH_MAX];
    struct rsc_profile **profiles[2]; /* owned */
    size_t counts[2];
    size_t file_count;
    int wants_accuracy;
    const char *only_diff; /* an option given that --accuracy does not have; NULL: none */
    struct rsc_diff *diffs; /* owned */
    struct rsc_accuracy *accuracies; /* owned */
    struct rsc_accuracy_report accuracy;
    struct rsc_diff_findings findings;
    struct rsc_diff_report report;
};

/* A size given by the name of a cache has that name in the result. */
static int parse_size(struct rsc_session *session, const char *text, size_t length, struct rsc_diff_at *at) {
    const struct rsc_machine *machine = rsc_session_machine(session);
    *at = (struct rsc_diff_at){0};
    if (rsc_session_parse_size(session, text, length, &at->bytes) < 0) return -1;
    for (size_t i = 0; i < machine->level_count && (*text < '0' || *text > '9'); i++)
        if (machine->levels[i].size_bytes == at->bytes) memcpy(at->name, machine->levels[i].name, sizeof at->name);
    return 0;
}

static int parse_sizes(struct comparing *comparing, const char *text) {
    comparing->at_count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (comparing->at_count == RSC_DIFF_SIZES_MAX) return -1;
        if (parse_size(&comparing->session, text, length, &comparing->at[comparing->at_count++]) < 0) return -1;
        if (!text[length]) return 0;
        text += length + 1;
    }
}

static int take_option(struct comparing *comparing, const struct rsc_option_parser *parser, int id) {
    struct rsc_error error;
    char resolved[PATH_MAX];
    switch (id) {
    case RSC_OPERAND:
        if (comparing->file_count == 2)
            return rsc_usage_error(parser->verb, "more than two profiles: %.60s", parser->value);
        comparing->report.names[comparing->file_count++] = parser->value;
        return -1;
    case OPT_ACCURACY: comparing->wants_accuracy = 1; return -1;
    case OPT_AT:
        comparing->only_diff = "--at";
        if (parse_sizes(comparing, parser->value) < 0)
            return rsc_option_refuse(parser,
                                     "not a list of up to 8 sizes in bytes or caches of this machine, as 32K,1M,L2");
        return -1;
    case OPT_FAIL_ON:
        comparing->only_diff = "--fail-on";
        if (rsc_diff_rules_parse(comparing->rules, &comparing->report.rule_count, parser->value, &error) < 0)
            return rsc_option_refuse(parser, error.message);
        return -1;
    case OPT_SOURCE_ROOT:
        comparing->only_diff = "--source-root";
        if (!realpath(parser->value, resolved)) return rsc_option_refuse(parser, "no such folder");
        memcpy(comparing->working_folder, resolved, sizeof resolved);
        comparing->source_root = comparing->working_folder;
        return -1;
    default: return rsc_session_option(&comparing->session, parser, id);
    }
}

static const char *diff_refusal(const struct rsc_profile *old_profile, const struct rsc_profile *new_profile) {
    const struct rsc_made *a = &old_profile->made, *b = &new_profile->made;
    if (a->line_bytes != b->line_bytes || strcmp(a->model ? a->model : "", b->model ? b->model : "")) return "no";
    if (!a->loop || !b->loop) return NULL;
    return !strcmp(a->loop, b->loop) && a->threads == b->threads ? NULL : "another loop";
}

/*
 * Calls `take` for each old profile and the first unpaired new one that `refusal` does not refuse; *made is how
 * many pairs there are. Returns 0 or what `take` returned, or RSC_ENOMEM.
 */
static int for_each_pair(struct comparing *comparing,
                         const char *(*refusal)(const struct rsc_profile *, const struct rsc_profile *),
                         int (*take)(struct comparing *, size_t, const struct rsc_profile *const sides[2],
                                     struct rsc_error *),
                         size_t *made, struct rsc_error *error) {
    size_t old_count = comparing->counts[0], new_count = comparing->counts[1];
    char *taken = calloc(new_count + 1, 1);
    int status = taken ? 0 : rsc_fail_memory(error, "comparison");
    for (size_t i = 0; !status && i < old_count; i++)
        for (size_t j = 0; !status && j < new_count; j++) {
            const struct rsc_profile *sides[2] = {comparing->profiles[0][i], comparing->profiles[1][j]};
            if (taken[j] || refusal(sides[0], sides[1])) continue;
            taken[j] = 1;
            status = take(comparing, *made, sides, error);
            if (!status) ++*made;
            break;
        }
    free(taken);
    return status;
}

static int take_diff(struct comparing *comparing, size_t at, const struct rsc_profile *const sides[2],
                     struct rsc_error *error) {
    return rsc_diff_make(&comparing->diffs[at], sides[0], sides[1], comparing->at, comparing->at_count,
                         rsc_session_machine(&comparing->session), error);
}

static int take_accuracy(struct comparing *comparing, size_t at, const struct rsc_profile *const sides[2],
                         struct rsc_error *error) {
    (void)error;
    comparing->accuracies[at] = rsc_accuracy_of(sides[0], sides[1]);
    return 0;
}

static int measure(struct comparing *comparing, struct rsc_error *error) {
    struct rsc_accuracy_report *report = &comparing->accuracy;
    comparing->accuracies = calloc(comparing->counts[0] + 1, sizeof *comparing->accuracies);
    if (!comparing->accuracies) return rsc_fail_memory(error, "comparison");
    int status = for_each_pair(comparing, rsc_accuracy_refusal, take_accuracy, &report->count, error);
    if (status < 0) return status;
    memcpy(report->names, comparing->report.names, sizeof report->names);
    report->items = comparing->accuracies;
    report->unmatched = comparing->counts[0] + comparing->counts[1] - 2 * report->count;
    if (report->count) return 0;
    return rsc_fail(error, RSC_EFORMAT, "%.200s and %.200s cannot be compared: %s", report->names[0], report->names[1],
                    rsc_accuracy_refusal(comparing->profiles[0][0], comparing->profiles[1][0]));
}

static int compare(struct comparing *comparing, struct rsc_error *error) {
    size_t made = 0;
    comparing->diffs = calloc(comparing->counts[0] + 1, sizeof *comparing->diffs);
    int status = comparing->diffs ? for_each_pair(comparing, diff_refusal, take_diff, &made, error)
                                  : rsc_fail_memory(error, "comparison");
    comparing->report.count = made;
    comparing->report.unmatched = comparing->counts[0] + comparing->counts[1] - 2 * made;
    if (!status && !made)
        status =
            rsc_fail(error, RSC_EFORMAT, "%.200s has no profile with the model and line size of %.200s to compare with",
                     comparing->report.names[1], comparing->report.names[0]);
    for (size_t i = 0; !status && i < made; i++)
        if (!comparing->diffs[i].size_count)
            status = rsc_fail(error, RSC_EFORMAT,
                              "%.200s: every size to compare at is less than a line, or above its --max-distance",
                              comparing->report.names[0]);
    return status;
}

/* A rule about code that no profile counts passes whatever happens. */
static void doubt_rules(const struct comparing *comparing) {
    const struct rsc_diff_report *report = &comparing->report;
    for (size_t r = 0; r < report->rule_count; r++) {
        const struct rsc_diff_rule *rule = &report->rules[r];
        size_t rows = rule->scope == RSC_DIFF_RUN;
        for (size_t i = 0; i < report->count; i++)
            rows += rule->scope == RSC_DIFF_LINE ? report->diffs[i].line_count : report->diffs[i].function_count;
        if (rows) continue;
        rsc_log_line(&comparing->session.log, RSC_LOG_WARNING,
                     "--fail-on %s: neither profile counts %s, so nothing can break it", rule->text,
                     rule->scope == RSC_DIFF_LINE ? "lines of source" : "functions");
    }
}

/* Numbers that grow with the length of a run say nothing where that is as long as the program was watched. */
static int refuse_rules(const struct comparing *comparing, struct rsc_error *error) {
    const struct rsc_diff_report *report = &comparing->report;
    for (size_t i = 0; i < report->count; i++)
        for (size_t r = 0; report->diffs[i].lengths_differ && r < report->rule_count; r++)
            if (rsc_diff_rule_needs_length(&report->rules[r]))
                return rsc_fail(error, RSC_EINVAL,
                                "--fail-on %s needs runs of the same length: the program was watched for a while "
                                "(misses and miss_ratio are compared per reference)",
                                report->rules[r].text);
    return 0;
}

static int judge(struct comparing *comparing, struct rsc_error *error) {
    struct rsc_diff_report *report = &comparing->report;
    int status = 0;
    for (int side = 0; !status && side < 2; side++)
        status = rsc_session_load(report->names[side], &comparing->profiles[side], &comparing->counts[side], error);
    if (!status) status = comparing->wants_accuracy ? measure(comparing, error) : compare(comparing, error);
    if (status < 0 || comparing->wants_accuracy) return status;
    report->diffs = comparing->diffs;
    report->rules = comparing->rules;
    report->findings = &comparing->findings;
    report->source_root = comparing->source_root;
    if (refuse_rules(comparing, error) < 0) return error->code;
    doubt_rules(comparing);
    if (rsc_diff_judge(&comparing->findings, report->diffs, report->count, report->rules, report->rule_count) < 0)
        return rsc_fail_memory(error, "comparison");
    return 0;
}

static int run_diff(const struct rsc_verb *verb, int argc, char **argv) {
    struct comparing *comparing = calloc(1, sizeof *comparing);
    struct rsc_option_parser parser;
    struct rsc_error error;
    int id, leave = -1;
    if (!comparing) return rsc_memory_error(verb);
    rsc_session_start(&comparing->session, verb, argv);
    comparing->session.yields = RSC_RESULT_DIFF;
    if (getcwd(comparing->working_folder, sizeof comparing->working_folder))
        comparing->source_root = comparing->working_folder;
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END)
        leave = take_option(comparing, &parser, id);
    if (comparing->wants_accuracy) comparing->session.yields = RSC_RESULT_ACCURACY;
    if (leave < 0 && comparing->wants_accuracy && comparing->only_diff)
        leave = rsc_usage_error(verb, "--accuracy does not take %s", comparing->only_diff);
    if (leave < 0 && comparing->file_count < 2) leave = rsc_usage_error(verb, "two profiles are needed: OLD NEW");
    if (leave < 0) leave = rsc_session_check_format(&comparing->session);
    if (leave < 0 && judge(comparing, &error) < 0) leave = rsc_session_fail(&comparing->session, &error);
    if (leave < 0)
        leave = rsc_session_deliver_result(&comparing->session,
                                           &(struct rsc_result){.kind = comparing->session.yields,
                                                                .diff = &comparing->report,
                                                                .accuracy = &comparing->accuracy},
                                           0);
    if (leave == RSC_EXIT_OK && comparing->findings.broken) leave = RSC_EXIT_REGRESSION;
    for (size_t i = 0; comparing->diffs && i < comparing->report.count; i++) rsc_diff_free(&comparing->diffs[i]);
    rsc_diff_findings_free(&comparing->findings);
    for (int side = 0; side < 2; side++) rsc_profiles_free(comparing->profiles[side], comparing->counts[side]);
    free(comparing->diffs);
    free(comparing->accuracies);
    free(comparing);
    return leave;
}

const struct rsc_verb rsc_verb_diff = {
    .name = "diff",
    .operands = "OLD NEW",
    .summary = "Compare two profiles and find regressions",
    .about =
        "OLD and NEW are profiles or their JSON. Compares the run, its functions and its lines at each "
        "cache size. Code is matched by function, file and line, not by address. A number counts as "
        "changed only if the two error bars do not overlap, and of the run only by 0.5 % or more. --accuracy prints how close two profiles of "
        "the same references are instead, as an estimate and the exact result.",
    .example = "reusescope diff old.data new.data --at 32K,1M --fail-on 'misses>+5%'",
    .groups = {options, rsc_common_options},
    .run = run_diff,
};
