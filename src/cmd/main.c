/* main.c - finds the verb and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/affinity.h"
#include "cmd/session.h"

/* In the order of the help. */
#define VERBS(verb)                                                                                            \
    verb(run) verb(attach) verb(cc) verb(analyze) verb(sim) verb(loops) verb(report) verb(annotate) verb(diff) \
        verb(advise) verb(merge) verb(info) verb(gen) verb(convert) verb(dump) verb(doctor) verb(help) verb(version)

#define DECLARED(name) extern const struct rsc_verb rsc_verb_##name;
VERBS(DECLARED)

#define LISTED(name) &rsc_verb_##name,
const struct rsc_verb *const rsc_verbs[] = {VERBS(LISTED) NULL};

const struct rsc_verb *rsc_verb_named(const char *name) {
    for (size_t i = 0; rsc_verbs[i]; i++)
        if (!strcmp(rsc_verbs[i]->name, name)) return rsc_verbs[i];
    return NULL;
}

static int unknown_verb(const char *name) {
    enum { VERBS_MAX = 32 };
    const char *names[VERBS_MAX];
    size_t count = 0;
    for (; rsc_verbs[count] && count < VERBS_MAX; count++) names[count] = rsc_verbs[count]->name;
    const char *closest = strchr(name, '/') ? NULL : rsc_closest(name, names, count);
    if (closest) return rsc_usage_error(NULL, "no verb '%.40s' (did you mean %s?)", name, closest);
    if (strchr(name, '/') && access(name, X_OK) == 0)
        return rsc_usage_error(NULL, "no verb '%.200s' (to watch a program: reusescope run -- %.200s)", name, name);
    return rsc_usage_error(NULL, "no verb '%.40s' (see: reusescope help)", name);
}

int main(int argc, char **argv) {
    rsc_affinity_restore();
    if (argc < 2) {
        rsc_print_help(stderr, NULL);
        return RSC_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "-h") || !strcmp(name, "--help")) name = "help";
    if (!strcmp(name, "record")) name = "run";
    if (!strcmp(name, "-V") || !strcmp(name, "--version")) name = "version";
    const struct rsc_verb *verb = rsc_verb_named(name);
    int status = verb ? verb->run(verb, argc, argv) : unknown_verb(argv[1]);
    /* Output may first fail here: a full disk must not pass for success. */
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == RSC_EXIT_OK) {
        fprintf(stderr, "reusescope: standard output: %s\n", strerror(errno ? errno : EIO));
        status = RSC_EXIT_ERROR;
    }
    return status;
}
