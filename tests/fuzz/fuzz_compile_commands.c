/*
 * fuzz_compile_commands.c - any bytes as a compile_commands.json.
 *
 * The entry of a source is found or refused with a line that says something; so are all others. Flags that are taken
 * begin no program and name no plugin.
 */
#include <string.h>

#include "fuzz_check.h"
#include "fuzz_file.h"
#include "loops/front/compile_commands.h"

static void check(int status, const struct rsc_error *error) {
    FUZZ_CHECK(status == 0 ||
               (status < 0 && error->code == status && error->message[0] && !strchr(error->message, '\n')));
}

static void check_command(const struct rsc_compile_command *command) {
    FUZZ_CHECK(command->directory && command->file);
    for (size_t i = 0; i < command->flag_count; i++) {
        const char *flag = command->flags[i];
        FUZZ_CHECK(flag && strncmp(flag, "-fplugin", 8) && strncmp(flag, "-wrapper", 8) && strncmp(flag, "-B", 2) &&
                   flag[0] != '@');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    struct rsc_compile_command command, *others = NULL;
    struct rsc_error error = {0};
    size_t count = 0;
    const char *path = fuzz_file(data, bytes);
    int status = rsc_compile_command_find(&command, path, "/dev/null", &error);
    check(status, &error);
    if (!status) {
        check_command(&command);
        rsc_compile_command_free(&command);
    }
    status = rsc_compile_commands_others(&others, &count, path, "/dev/null", &error);
    check(status, &error);
    FUZZ_CHECK(count <= RSC_COMPILE_COMMANDS_MOST);
    for (size_t i = 0; i < count; i++) {
        if (!status) check_command(&others[i]);
        rsc_compile_command_free(&others[i]);
    }
    free(others);
    return 0;
}
