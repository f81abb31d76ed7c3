/* main.c - finds the verb and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/session.h"

extern const struct rsc_verb rsc_verb_run, rsc_verb_analyze, rsc_verb_report, rsc_verb_annotate, rsc_verb_merge,
    rsc_verb_info, rsc_verb_gen, rsc_verb_convert, rsc_verb_dump, rsc_verb_doctor, rsc_verb_help, rsc_verb_version,
    rsc_verb_cc;

const struct rsc_verb *const rsc_verbs[] = {
    &rsc_verb_run, &rsc_verb_cc, &rsc_verb_analyze, &rsc_verb_report, &rsc_verb_annotate, &rsc_verb_merge, &rsc_verb_info,
    &rsc_verb_gen, &rsc_verb_convert, &rsc_verb_dump, &rsc_verb_doctor, &rsc_verb_help,   &rsc_verb_version, NULL,
};

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
    const char *closest = rsc_closest(name, names, count);
    if (closest) return rsc_usage_error(NULL, "no verb '%.40s' (did you mean %s?)", name, closest);
    return rsc_usage_error(NULL, "no verb '%.40s' (see: reusescope help)", name);
}

int main(int argc, char **argv) {
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
    /* What was printed may only fail to be written here: a full disk must not pass for success. */
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == RSC_EXIT_OK) {
        fprintf(stderr, "reusescope: standard output: %s\n", strerror(errno ? errno : EIO));
        status = RSC_EXIT_ERROR;
    }
    return status;
}
