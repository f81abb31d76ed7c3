/*
 * cmd_merge.c - `reusescope merge`: merges the profiles of several ranks or runs.
 *
 * A file may hold several profiles (line sizes, models). Each is merged with the
 * profile of the same line size and model in every other file; if there are several
 * such profiles, in file order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/session.h"

struct merged {
    struct rsc_session session;
    const char **paths; /* owned, their text is argv's */
    size_t path_count;
    struct rsc_profile **profiles; /* the first file's, with the others' added; owned */
    size_t count;
    const char *lost; /* the part left out in the last warning; NULL: no warning yet */
};

static const char *model_of(const struct rsc_profile *profile) {
    return profile->made.model ? profile->made.model : "single";
}

static int go_together(const struct rsc_profile *a, const struct rsc_profile *b) {
    return a->made.line_bytes == b->made.line_bytes && !strcmp(model_of(a), model_of(b));
}

static int no_partner(const char *has, const char *lacks, const struct rsc_profile *profile, struct rsc_error *error) {
    return rsc_fail(error, RSC_EUNSUPPORTED,
                    "%s has a profile with %llu-byte lines and model %s; %s has none to merge with it", has,
                    (unsigned long long)profile->made.line_bytes, model_of(profile), lacks);
}

static int add_profile(struct merged *merged, struct rsc_profile *into, const struct rsc_profile *from,
                       const char *path, struct rsc_error *error) {
    struct rsc_error why;
    int crowded =
        into->thread_count < RSC_THREAD_ROWS_MAX && into->thread_count + from->thread_count > RSC_THREAD_ROWS_MAX;
    const char *lost = rsc_profile_merge_loses(into, from);
    int status = rsc_profile_merge(into, from, &why);
    if (status == RSC_EINVAL) /* not a usage error: the files do not match */
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s and %s: %s", merged->paths[0], path, why.message);
    if (status < 0) return rsc_fail(error, status, "%s: %s", path, why.message);
    if (lost && lost != merged->lost)
        rsc_log_line(&merged->session.log, RSC_LOG_WARNING, "%s: %s left out: not the same in all files", path, lost);
    if (lost) merged->lost = lost;
    if (crowded)
        rsc_log_line(&merged->session.log, RSC_LOG_WARNING, "%s: only the first %u threads have rows", path,
                     RSC_THREAD_ROWS_MAX);
    return 0;
}

/* Finds each profile's partner in a file: partner[i] is its number. All must have one. */
static int find_partners(const struct merged *merged, struct rsc_profile *const *more, size_t count, const char *path,
                         size_t *partner, struct rsc_error *error) {
    for (size_t i = 0; i < count; i++) {
        size_t at = 0, taken = 1;
        for (; at < merged->count; at++) {
            taken = !go_together(merged->profiles[at], more[i]);
            for (size_t k = 0; k < i; k++) taken |= partner[k] == at;
            if (!taken) break;
        }
        if (taken) return no_partner(path, merged->paths[0], more[i], error);
        partner[i] = at;
    }
    for (size_t at = 0; at < merged->count; at++) {
        size_t i = 0;
        while (i < count && partner[i] != at) i++;
        if (i == count) return no_partner(merged->paths[0], path, merged->profiles[at], error);
    }
    return 0;
}

static int take_file(struct merged *merged, const char *path, struct rsc_error *error) {
    struct rsc_profile **loaded;
    size_t count;
    int status = rsc_session_load(path, &loaded, &count, error);
    if (status < 0) return status;
    if (!merged->profiles) {
        merged->profiles = loaded;
        merged->count = count;
        return 0;
    }
    size_t *partner = calloc(count, sizeof *partner);
    status = partner ? find_partners(merged, loaded, count, path, partner, error) : rsc_fail_memory(error, "profiles");
    for (size_t i = 0; i < count && !status; i++)
        status = add_profile(merged, merged->profiles[partner[i]], loaded[i], path, error);
    for (size_t i = 0; i < count; i++) rsc_profile_free(loaded[i]);
    free(loaded);
    free(partner);
    return status;
}

/* Runs of one command keep its command line; runs of several get ours, which lists the files. */
static int name_command(struct merged *merged, struct rsc_error *error) {
    for (size_t i = 0; i < merged->count; i++)
        if (!merged->profiles[i]->made.command &&
            rsc_profile_set_command(merged->profiles[i], merged->session.argv) < 0)
            return rsc_fail_memory(error, "profiles");
    return 0;
}

static int take_options(struct merged *merged, int argc, char **argv) {
    struct rsc_option_parser parser;
    int id, leave = -1;
    rsc_options_start(&parser, merged->session.verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == RSC_OPERAND) merged->paths[merged->path_count++] = parser.value;
        else leave = rsc_session_option(&merged->session, &parser, id);
    }
    if (leave >= 0) return leave;
    if (merged->path_count < 2)
        return rsc_usage_error(merged->session.verb, "two or more profiles are needed: reusescope merge A.data B.data");
    return rsc_session_check_output(&merged->session);
}

static int run_merge(const struct rsc_verb *verb, int argc, char **argv) {
    struct merged merged = {0};
    struct rsc_error error;
    merged.paths = calloc((size_t)argc, sizeof *merged.paths);
    if (!merged.paths) return rsc_memory_error(verb);
    rsc_session_start(&merged.session, verb, argv);
    merged.session.may_replace_input = 1; /* `merge all.data new.data -o all.data` adds to a profile */
    int leave = take_options(&merged, argc, argv);
    if (leave < 0) {
        int status = 0;
        for (size_t i = 0; i < merged.path_count && !status; i++) status = take_file(&merged, merged.paths[i], &error);
        if (!status) status = name_command(&merged, &error);
        leave = status < 0 ? rsc_session_fail(&merged.session, &error)
                           : rsc_session_deliver(&merged.session, merged.profiles, merged.count, 1);
    }
    for (size_t i = 0; i < merged.count; i++) rsc_profile_free(merged.profiles[i]);
    free(merged.profiles);
    free(merged.paths);
    return leave;
}

const struct rsc_verb rsc_verb_merge = {
    .name = "merge",
    .operands = "FILE FILE...",
    .summary = "Merge the profiles of several ranks or runs",
    .about = "Adds counts, as if the runs had followed one another and shared no memory. In files with several "
             "profiles, profiles of the same line size and model are merged. Prints the result and keeps it in "
             "reusescope.data or in the file of -o.",
    .example = "reusescope merge rank.0.data rank.1.data -o all.data",
    .groups = {rsc_output_options, rsc_common_options},
    .run = run_merge,
};
