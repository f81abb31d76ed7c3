/* cmd_report.c - `reusescope report`: show profiles again, as text or in another format. */
#include <stdlib.h>

#include "base/fail.h"
#include "cmd/session.h"

enum { OPT_INPUT = RSC_OPT_VERB };

static const struct rsc_option options[] = {
    {OPT_INPUT, 'i', "input", "FILE", "a profile to show, like an operand", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct profile_list {
    struct rsc_profile **profiles;
    size_t count;
};

/* Appends all profiles of a file. */
static int load(struct profile_list *list, const char *path, struct rsc_error *error) {
    struct rsc_profile **loaded;
    size_t count;
    int status = rsc_profiles_load(path, &loaded, &count, error);
    if (status < 0) return status;
    struct rsc_profile **joined = realloc(list->profiles, (list->count + count + 1) * sizeof *joined);
    if (!joined) {
        for (size_t i = 0; i < count; i++) rsc_profile_free(loaded[i]);
        free(loaded);
        return rsc_fail_memory(error, "profiles");
    }
    list->profiles = joined;
    for (size_t i = 0; i < count; i++) list->profiles[list->count++] = loaded[i];
    free(loaded);
    return 0;
}

static int run_report(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_option_parser parser;
    struct profile_list list = {0};
    struct rsc_error error;
    int id, files = 0, leave = -1;
    rsc_session_start(&session, verb, argv);
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == RSC_OPERAND || id == OPT_INPUT) {
            files++;
            if (load(&list, parser.value, &error) < 0) leave = rsc_session_fail(&session, &error);
        } else {
            leave = rsc_session_option(&session, &parser, id);
        }
    }
    if (leave < 0 && !files && load(&list, RSC_DATA_FILE, &error) < 0) leave = rsc_session_fail(&session, &error);
    if (leave < 0) leave = rsc_session_deliver(&session, list.profiles, list.count, 0);
    for (size_t i = 0; i < list.count; i++) rsc_profile_free(list.profiles[i]);
    free(list.profiles);
    return leave;
}

const struct rsc_verb rsc_verb_report = {
    .name = "report",
    .operands = "[FILE...]",
    .summary = "Show profiles: histogram, miss ratio curve, what they mean",
    .about = "FILE is a profile or a JSON file that an analysis wrote (default: reusescope.data).\n"
             "The caches marked on the picture are this machine's.",
    .example = "reusescope report --format json -o -",
    .groups = {options, rsc_output_options, rsc_common_options},
    .run = run_report,
};
