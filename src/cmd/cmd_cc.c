/*
 * cmd_cc.c - `reusescope cc`: wraps a compiler command so that `run` can watch the
 * program at near native speed. Execs the compiler, so its exit status is ours.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "cmd/session.h"
#include "collect/launch/cc_command.h"

#define EXAMPLE "reusescope cc gcc -O2 -g app.c -o app"

enum {
    OPT_VERIFY = RSC_OPT_VERB,
    OPT_STRICT,
    OPT_ONLY,
    OPT_LEAVE,
    OPT_MAX_BLOCKS,
    OPT_NO_CALLS,
    OPT_ASSEMBLER,
    OPT_KEEP,
};

static const struct rsc_option options[] = {
    RSC_HEADING("what to rebuild"),
    {OPT_ONLY, 0, "only", "FUNCTIONS", "rebuild only these functions (linker names, separated by commas)", NULL},
    {OPT_LEAVE, 0, "skip", "FUNCTIONS", "leave these functions as they are", NULL},
    {OPT_MAX_BLOCKS, 0, "max-blocks", "N",
     "rebuild only the first N blocks of each file, to find where a program goes wrong", NULL},
    {OPT_NO_CALLS, 0, "no-calls", NULL, "do not record the stack accesses of calls and returns", NULL},
    {OPT_ASSEMBLER, 0, "assembler", NULL, "also rebuild assembler sources (.s, .S); only if a compiler wrote them",
     NULL},
    RSC_HEADING("checks"),
    {OPT_VERIFY, 0, "verify", NULL, "check that each object, without the inserted code, equals the compiler's", NULL},
    {OPT_STRICT, 0, "strict", NULL,
     "fail where an access would not be recorded (inline assembly, unknown instructions)", NULL},
    {OPT_KEEP, 0, "keep", NULL, "keep the assembly before and after, and print where it is", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct cc {
    struct rsc_session session;
    struct rsc_cc_options options;
    char **arguments; /* the compiler and its arguments */
};

static int take_option(struct cc *cc, const struct rsc_option_parser *parser, int id) {
    uint64_t count;
    switch (id) {
    case OPT_VERIFY: cc->options.verify = 1; return -1;
    case OPT_STRICT: cc->options.strict = 1; return -1;
    case OPT_ONLY: cc->options.only = parser->value; break;
    case OPT_LEAVE: cc->options.skip = parser->value; break;
    case OPT_MAX_BLOCKS:
        if (rsc_option_number(parser, 0, UINT64_MAX, "not a number", &count) >= 0) return RSC_EXIT_USAGE;
        cc->options.max_blocks = parser->value;
        break;
    case OPT_NO_CALLS: cc->options.no_calls = 1; return -1;
    case OPT_ASSEMBLER: cc->options.assembler = 1; return -1;
    case OPT_KEEP: cc->options.keep = 1; return -1;
    default: return rsc_session_option(&cc->session, parser, id);
    }
    return strchr(parser->value, '\n') || !*parser->value ? rsc_option_refuse(parser, "a name is missing") : -1;
}

static int take_options(struct cc *cc, int argc, char **argv) {
    struct rsc_option_parser parser;
    int id;
    rsc_options_start(&parser, cc->session.verb, argc, argv);
    while ((id = rsc_options_next(&parser)) != RSC_OPTIONS_END && id != RSC_OPERAND) {
        int leave = take_option(cc, &parser, id);
        if (leave >= 0) return leave;
    }
    if (id != RSC_OPERAND) return rsc_usage_error(cc->session.verb, "a compiler is missing: " EXAMPLE);
    cc->arguments = argv + parser.next - 1;
    cc->options.quiet = cc->session.quiet;
    cc->options.verbose = cc->session.verbose;
    return -1;
}

static int run_cc(const struct rsc_verb *verb, int argc, char **argv) {
    struct cc cc = {0};
    struct rsc_cc_files files;
    struct rsc_cc_command command = {0};
    struct rsc_error error;
    rsc_session_start(&cc.session, verb, argv);
    int leave = take_options(&cc, argc, argv);
    if (leave >= 0) return leave;
    if (rsc_cc_find(&files, &error) < 0 || rsc_cc_arrange(&command, cc.arguments, &cc.options, &files, &error) < 0) {
        leave = rsc_session_fail(&cc.session, &error);
    } else if (setenv("REUSESCOPE_CC", command.settings, 1) != 0) {
        rsc_fail_memory(&error, "the environment");
        leave = rsc_session_fail(&cc.session, &error);
    } else {
        execvp(command.argv[0], command.argv);
        if (errno == ENOENT)
            rsc_fail(&error, RSC_EIO, "%s: no such compiler; one comes first: " EXAMPLE, cc.arguments[0]);
        else rsc_fail_errno(&error, errno, cc.arguments[0]);
        leave = rsc_session_fail(&cc.session, &error);
    }
    rsc_cc_free(&command);
    return leave;
}

const struct rsc_verb rsc_verb_cc = {
    .name = "cc",
    .operands = "COMPILER [ARGUMENTS]",
    .summary = "Build a program so that `run` can watch it at near native speed",
    .about = "Put it before any gcc, g++, gfortran or clang command that compiles or links for x86-64, or into "
             "CC, CXX and FC of a project. It adds a second copy of the generated code that records memory "
             "accesses; which copy runs is decided at run time. The program behaves as before on its own, and "
             "`reusescope run` needs no emulator for it.",
    .example = EXAMPLE,
    .order = "a compiler comes before its options: " EXAMPLE,
    .groups = {options, rsc_common_options},
    .run = run_cc,
};
