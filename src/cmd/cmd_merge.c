/*
 * cmd_merge.c - `reusescope merge`: one profile out of those of several ranks or
 * runs.
 *
 * A file may hold several profiles (line sizes, models): each goes with the one
 * of the same line size and model in every other file, the first with the first
 * where there are more of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/session.h"

struct merged {
    struct rsc_session session;
    const char *first_path;
    struct rsc_profile **profiles; /* of the first file, with those of the others added; owned */
    size_t count;
    size_t files;
};

static const char *model_of(const struct rsc_profile *profile) {
    return profile->made.model ? profile->made.model : "single";
}

static int go_together(const struct rsc_profile *a, const struct rsc_profile *b) {
    return a->made.line_bytes == b->made.line_bytes && !strcmp(model_of(a), model_of(b));
}

static int no_partner(const char *has, const char *lacks, const struct rsc_profile *profile, struct rsc_error *error) {
    return rsc_fail(error, RSC_EUNSUPPORTED, "%s has a profile of %llu-byte lines, model %s, and %s has none to merge it with",
                    has, (unsigned long long)profile->made.line_bytes, model_of(profile), lacks);
}

static int add_profile(struct merged *merged, struct rsc_profile *into, const struct rsc_profile *from,
                       const char *path, struct rsc_error *error) {
    struct rsc_error why;
    const char *lost = rsc_profile_merge_loses(into, from);
    int status = rsc_profile_merge(into, from, &why);
    if (status == RSC_EINVAL) /* no fault of the command line: the files do not fit */
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s and %s: %s", merged->first_path, path, why.message);
    if (status < 0) return rsc_fail(error, status, "%s: %s", path, why.message);
    if (lost)
        rsc_log_line(&merged->session.log, RSC_LOG_WARNING, "%s: %s left out: not all files have them alike", path, lost);
    return 0;
}

/* Adds each profile of a file to its partner. */
static int add_file(struct merged *merged, struct rsc_profile **more, size_t count, const char *path,
                    struct rsc_error *error) {
    unsigned char *taken = calloc(merged->count + 1, 1);
    int status = taken ? 0 : rsc_fail_memory(error, "profiles");
    for (size_t i = 0; i < count && !status; i++) {
        size_t at = 0;
        while (at < merged->count && (taken[at] || !go_together(merged->profiles[at], more[i]))) at++;
        if (at == merged->count) {
            status = no_partner(path, merged->first_path, more[i], error);
            continue;
        }
        taken[at] = 1;
        status = add_profile(merged, merged->profiles[at], more[i], path, error);
    }
    for (size_t at = 0; at < merged->count && !status; at++)
        if (!taken[at]) status = no_partner(merged->first_path, path, merged->profiles[at], error);
    free(taken);
    return status;
}

static int take_file(struct merged *merged, const char *path, struct rsc_error *error) {
    struct rsc_profile **loaded;
    size_t count;
    int status = rsc_profiles_load(path, &loaded, &count, error);
    if (status < 0) return status;
    if (!merged->files++) {
        merged->first_path = path;
        merged->profiles = loaded;
        merged->count = count;
        return 0;
    }
    status = add_file(merged, loaded, count, path, error);
    for (size_t i = 0; i < count; i++) rsc_profile_free(loaded[i]);
    free(loaded);
    return status;
}

static int take_options(struct merged *merged, int argc, char **argv) {
    struct rsc_option_parser parser;
    struct rsc_error error;
    int id, leave = -1;
    rsc_options_start(&parser, merged->session.verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id != RSC_OPERAND) leave = rsc_session_option(&merged->session, &parser, id);
        else if (take_file(merged, parser.value, &error) < 0) leave = rsc_session_fail(&merged->session, &error);
    }
    if (leave < 0 && merged->files < 2)
        leave = rsc_usage_error(merged->session.verb, "two or more profiles are wanted: reusescope merge A.data B.data");
    return leave;
}

static int run_merge(const struct rsc_verb *verb, int argc, char **argv) {
    struct merged merged = {0};
    struct rsc_error error;
    rsc_session_start(&merged.session, verb, argv);
    int leave = take_options(&merged, argc, argv);
    /* Runs of one command keep its name; of several, ours says what was merged. */
    for (size_t i = 0; i < merged.count && leave < 0; i++)
        if (!merged.profiles[i]->made.command && rsc_profile_set_command(merged.profiles[i], argv) < 0) {
            rsc_fail_memory(&error, "profiles");
            leave = rsc_session_fail(&merged.session, &error);
        }
    if (leave < 0) leave = rsc_session_deliver(&merged.session, merged.profiles, merged.count, 1);
    for (size_t i = 0; i < merged.count; i++) rsc_profile_free(merged.profiles[i]);
    free(merged.profiles);
    return leave;
}

const struct rsc_verb rsc_verb_merge = {
    .name = "merge",
    .operands = "FILE FILE...",
    .summary = "One profile out of those of several ranks or runs",
    .about = "Counts are added, as if the runs had followed one another and shared no memory.\n"
             "Of files with several profiles, those of one line size and model are merged. The\n"
             "result is drawn on the terminal and kept in reusescope.data, or where -o says.",
    .example = "reusescope merge rank.0.data rank.1.data -o all.data",
    .groups = {rsc_output_options, rsc_common_options},
    .run = run_merge,
};
