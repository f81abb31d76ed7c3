/*
 * compile_commands.h - how a project compiles one of its files.
 *
 * Only flags that a preprocessor needs are used (-D -U -I -include -std and similar),
 * never the compiler or a plugin named in the file: a compile_commands.json is read,
 * not executed.
 */
#ifndef RSC_LOOPS_FRONT_COMPILE_COMMANDS_H
#define RSC_LOOPS_FRONT_COMPILE_COMMANDS_H

#include <stddef.h>

#include <reusescope/error.h>

#include "base/arena.h"

struct rsc_compile_command {
    struct rsc_arena arena; /* owns the strings */
    const char *directory, *file; /* as the list has them */
    const char **flags;
    size_t flag_count;
};

/*
 * Finds the entry of `source` in `path`, a compile_commands.json or a folder that
 * holds one. On success rsc_compile_command_free() it. RSC_EINVAL when there is no
 * entry, RSC_EFORMAT when the file is not a list of commands, RSC_EIO.
 */
int rsc_compile_command_find(struct rsc_compile_command *command, const char *path, const char *source,
                             struct rsc_error *error);
/*
 * All entries but that of `source`, RSC_COMPILE_COMMANDS_MOST at most: *count of them in *list. Free each, and the list.
 */
#define RSC_COMPILE_COMMANDS_MOST 4096u
int rsc_compile_commands_others(struct rsc_compile_command **list, size_t *count, const char *path, const char *source,
                                struct rsc_error *error);
void rsc_compile_command_free(struct rsc_compile_command *command);

#endif
