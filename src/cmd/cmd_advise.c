/* cmd_advise.c - `reusescope advise`: suggests changes to the code from a profile, with evidence. */
#include "cmd/session.h"

static const struct rsc_option options[] = {
    RSC_HEADING("output"),
    {RSC_OPT_AT, 0, "at", "SIZE", "cache size the advice is for, as 1M or L2 (default: as report)", "L1d L2 L3"},
    RSC_MACHINE_OPTION(""),
    {RSC_OPT_OUTPUT, 'o', "output", "FILE", "write here (.json: as JSON); - is standard output", NULL},
    {RSC_OPT_FORMAT, 0, "format", "FORMAT", "text (default) or json", "text json"},
    {0, 0, NULL, NULL, NULL, NULL},
};

static int run_advise(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_result result = {.kind = RSC_RESULT_ADVICE};
    struct rsc_profile **profiles = NULL;
    struct rsc_error error;
    const char *path = NULL;
    rsc_session_start(&session, verb, argv);
    session.yields = RSC_RESULT_ADVICE;
    int leave = rsc_session_take(&session, argc, NULL, NULL, "profile", &path);
    if (leave < 0) leave = rsc_session_check_format(&session);
    if (leave >= 0) return leave;
    if (rsc_session_load(path ? path : RSC_DATA_FILE, &profiles, &result.count, &error) < 0)
        return rsc_session_fail(&session, &error);
    result.profiles = profiles;
    leave = rsc_session_deliver_result(&session, &result, 0);
    rsc_profiles_free(profiles, result.count);
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
