/* cmd_help.c - `reusescope help` and `reusescope version`. */
#include <stdio.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "base/cpu.h"
#include "cmd/help.h"
#include "cmd/session.h"

enum { OPT_COMPLETION = RSC_OPT_VERB };

static const struct rsc_option options[] = {
    RSC_HEADING("output"),
    {OPT_COMPLETION, 0, "completion", "SHELL", "print a completion script for bash, zsh or fish", "bash zsh fish"},
    {0, 0, NULL, NULL, NULL, NULL},
};

static int run_help(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_option_parser parser;
    const char *name = NULL;
    int id;
    rsc_session_start(&session, verb, argv);
    rsc_options_start(&parser, verb, argc, argv);
    while ((id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == RSC_OPERAND) {
            name = parser.value;
            continue;
        }
        if (id == OPT_COMPLETION) {
            if (rsc_print_completion(stdout, parser.value) == 0) return RSC_EXIT_OK;
            return rsc_option_refuse(&parser, "not one of bash, zsh, fish");
        }
        int leave = rsc_session_option(&session, &parser, id);
        if (leave >= 0) return leave;
    }
    if (name && !rsc_verb_named(name)) return rsc_usage_error(verb, "no verb '%.40s' (see: reusescope help)", name);
    rsc_print_help(stdout, name ? rsc_verb_named(name) : NULL);
    return RSC_EXIT_OK;
}

const struct rsc_verb rsc_verb_help = {
    .name = "help",
    .operands = "[VERB]",
    .summary = "Show help for a verb, or this list",
    .example = "reusescope help analyze",
    .groups = {options, rsc_common_options},
    .run = run_help,
};

static int run_version(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    rsc_session_start(&session, verb, argv);
    int leave = rsc_session_take(&session, argc, NULL, NULL, NULL, NULL);
    if (leave >= 0) return leave;
    printf("reusescope %s\n", rsc_version());
    if (session.verbose) printf("vector loops: %s\n", rsc_simd_name(rsc_simd_best()));
    return RSC_EXIT_OK;
}

const struct rsc_verb rsc_verb_version = {
    .name = "version",
    .operands = "",
    .summary = "Print the version of this tool",
    .example = "reusescope version -v",
    .groups = {rsc_common_options},
    .run = run_version,
};
