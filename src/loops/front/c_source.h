/*
 * c_source.h - loop trees from C source with OpenMP.
 *
 * The source is never executed. Preprocessing and parsing happen in a child process
 * with limits on time and memory, which returns the text form: a source that crashes
 * the compiler is an error and does not end the tool.
 */
#ifndef RSC_LOOPS_FRONT_C_SOURCE_H
#define RSC_LOOPS_FRONT_C_SOURCE_H

#include "loops/tree/loop_text.h"

/* How often a condition that depends on data holds; line 0: those without a chance of their own. */
struct rsc_c_chance {
    uint32_t line;
    double share; /* 0 to 1 */
};

/* Another file of the project, whose functions the source may call. */
struct rsc_c_other {
    const char *path, *directory;
    const char *const *flags;
    size_t flag_count;
};

struct rsc_c_options {
    const char *const *flags; /* for the preprocessor: "-DN=1024", "-Iinclude" ... */
    size_t flag_count;
    const char *directory;             /* where the preprocessor runs; NULL: here */
    const struct rsc_c_other *others;
    size_t other_count;
    struct rsc_loop_setting *settings; /* values of variables */
    size_t setting_count;
    const struct rsc_c_chance *chances; /* of several for a line the last counts; none: 0.5 */
    size_t chance_count;
    const char *function; /* NULL: every function of the file that no other function in it calls */
    int count_scalars;    /* scalar variables are in memory, not in registers */
    int together;         /* all loops of a function, in sequence, are one region */
    int schedule_given;   /* schedule(runtime) is not a gap: another schedule will be used */
    double seconds_max;   /* wall time for all of it; 0: 30 */
};

/*
 * The program of a C file as text (docs/guide/loop-tree.md), which the caller frees.
 * Settings that were used for a variable are marked.
 * RSC_EUNSUPPORTED without libclang or a compiler, RSC_EFORMAT for source that does
 * not compile, RSC_ELIMIT when time or memory was not enough.
 */
int rsc_c_source_read(const char *path, const struct rsc_c_options *options, char **text, size_t *bytes,
                      struct rsc_error *error);

/* Whether a file's name is one of C++. */
int rsc_c_source_is_cxx(const char *path);

/* Whether C source can be read here: 0, or RSC_EUNSUPPORTED with the fix. */
int rsc_c_source_check(struct rsc_error *error);

#endif
