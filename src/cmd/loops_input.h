/* loops_input.h - the input options of `loops`, and reading the input. */
#ifndef RSC_CMD_LOOPS_INPUT_H
#define RSC_CMD_LOOPS_INPUT_H

#include "cmd/session.h"
#include "loops/front/c_source.h"

#define RSC_LOOPS_FLAGS_MAX 512
#define RSC_LOOPS_SETTINGS_MAX 256
#define RSC_LOOPS_BASES_MAX 256
#define RSC_LOOPS_CHANCES_MAX 256

enum {
    RSC_OPT_DEFINE = RSC_OPT_VERB,
    RSC_OPT_INCLUDE,
    RSC_OPT_SET,
    RSC_OPT_FUNCTION,
    RSC_OPT_BASE,
    RSC_OPT_COMPILE_COMMANDS,
    RSC_OPT_COUNT_SCALARS,
    RSC_OPT_TAKEN,
    RSC_OPT_TOGETHER,
    RSC_OPT_MAX_SECONDS,
    RSC_OPT_LOOPS_VERB,
};

extern const struct rsc_option rsc_loops_input_options[];

struct rsc_loops_input {
    const char *path;
    const char *flags[RSC_LOOPS_FLAGS_MAX]; /* owned: "-DN=8" */
    size_t flag_count;
    struct rsc_loop_setting settings[RSC_LOOPS_SETTINGS_MAX]; /* names are owned */
    size_t setting_count;
    struct {
        char *name; /* owned */
        uint64_t address;
    } bases[RSC_LOOPS_BASES_MAX];
    size_t base_count;
    struct rsc_c_chance chances[RSC_LOOPS_CHANCES_MAX];
    size_t chance_count;
    const char *compile_commands;
    struct rsc_c_options source;
};

/* Handles an option of the table. Returns -1 to go on, -2 for an id of another table, or the exit status. */
int rsc_loops_input_option(struct rsc_loops_input *input, const struct rsc_option_parser *parser, int id);

/* Reads the file's program, sealed and laid out, and its text form, which the caller frees. */
int rsc_loops_input_read(struct rsc_loops_input *input, uint64_t line_bytes, struct rsc_loop_program **program,
                         char **text, size_t *bytes, struct rsc_error *error);

/* The name of a setting that matched nothing, or NULL. */
const char *rsc_loops_input_unused(const struct rsc_loops_input *input);

void rsc_loops_input_free(struct rsc_loops_input *input);

#endif
