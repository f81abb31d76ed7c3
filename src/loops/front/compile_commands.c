/* compile_commands.c - reads compile_commands.json (the JSON Compilation Database of clang's tools). */
#include "loops/front/compile_commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "base/fail.h"
#include "base/inputs.h"
#include "profile/json_read.h"

#define LIST_BYTES_MAX (1 << 30)

/* Flags with a value, attached or as the next word. */
static const char *const with_value[] = {"-D",         "-U",       "-I",       "-isystem", "-iquote",
                                         "-idirafter", "-include", "-imacros", "-isysroot"};
/* Flags of one word, by prefix. */
static const char *const one_word[] = {"-std=", "--sysroot=", "-nostdinc", "-ansi",   "-m32",
                                       "-m64",  "-mavx",      "-msse",     "-march=", "-pthread"};

static int add(struct rsc_compile_command *command, const char *flag, size_t room) {
    if (command->flag_count == room) return 0;
    char *copy = rsc_arena_strdup(&command->arena, flag);
    if (!copy) return -1;
    command->flags[command->flag_count++] = copy;
    return 0;
}

/* Takes a flag, and its value if that is the next word; returns how many words were used, -1 when out of memory. */
static int take(struct rsc_compile_command *command, const char *flag, const char *value, size_t room) {
    for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++) {
        size_t length = strlen(with_value[k]);
        if (strncmp(flag, with_value[k], length)) continue;
        if (flag[length]) return add(command, flag, room) ? -1 : 1;
        if (!value) return 1;
        /* as one word: gcc would read a separate word that starts with @ as a file of flags */
        char *joined = rsc_arena_alloc(&command->arena, length + strlen(value) + 1);
        if (!joined) return -1;
        memcpy(joined, flag, length);
        strcpy(joined + length, value);
        return add(command, joined, room) ? -1 : 2;
    }
    for (size_t k = 0; k < sizeof one_word / sizeof *one_word; k++)
        if (!strncmp(flag, one_word[k], strlen(one_word[k]))) return add(command, flag, room) ? -1 : 1;
    return 1;
}

/* Splits a command line as a shell does: quotes and backslashes, nothing else. */
static char **split(struct rsc_arena *arena, const char *line, size_t *count) {
    char *text = rsc_arena_alloc(arena, strlen(line) + 1),
         **words = rsc_arena_alloc(arena, (strlen(line) / 2 + 2) * sizeof *words);
    char quote = 0, *to = text;
    int in_word = 0;
    *count = 0;
    if (!text || !words) return NULL;
    for (const char *at = line; *at; at++) {
        if (!quote && (*at == ' ' || *at == '\t' || *at == '\n')) {
            if (in_word) *to++ = '\0';
            in_word = 0;
            continue;
        }
        if (!in_word) words[(*count)++] = to;
        in_word = 1;
        if (!quote && (*at == '\'' || *at == '"')) quote = *at;
        else if (quote && *at == quote) quote = 0;
        else if (*at == '\\' && quote != '\'' && at[1]) *to++ = *++at;
        else *to++ = *at;
    }
    *to = '\0';
    return words;
}

static int read_flags(struct rsc_compile_command *command, json_t *entry, struct rsc_error *error) {
    json_t *arguments = json_object_get(entry, "arguments");
    const char *line = json_string_value(json_object_get(entry, "command"));
    size_t count = json_array_size(arguments);
    char **words = NULL;
    if (!json_is_array(arguments)) {
        if (!line || strlen(line) > (1u << 20))
            return rsc_fail(error, RSC_EFORMAT, "compile commands: an entry has neither command nor arguments");
        if (!(words = split(&command->arena, line, &count))) return rsc_fail_memory(error, "compile commands");
    }
    if (count > (1u << 16))
        return rsc_fail(error, RSC_ELIMIT, "compile commands: an entry of more than 65536 arguments");
    if (!(command->flags = rsc_arena_alloc(&command->arena, (count + 1) * sizeof *command->flags)))
        return rsc_fail_memory(error, "compile commands");
    for (size_t i = 1; i < count;) { /* the first is the compiler */
        const char *flag = words ? words[i] : json_string_value(json_array_get(arguments, i));
        const char *value =
            i + 1 < count ? (words ? words[i + 1] : json_string_value(json_array_get(arguments, i + 1))) : NULL;
        int used = flag ? take(command, flag, value, count) : 1;
        if (used < 0) return rsc_fail_memory(error, "compile commands");
        i += (size_t)used;
    }
    return 0;
}

static int same_file(const char *directory, const char *file, const char *wanted) {
    char path[PATH_MAX];
    struct stat a, b;
    if (file[0] == '/') snprintf(path, sizeof path, "%s", file);
    else snprintf(path, sizeof path, "%s/%s", directory, file);
    return stat(path, &a) == 0 && stat(wanted, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int read_list(json_t **list, const char *path, struct rsc_error *error) {
    struct stat status;
    *list = NULL;
    FILE *file = fopen(path, "rbe");
    if (!file || fstat(fileno(file), &status) < 0) {
        int reason = errno;
        if (file) fclose(file);
        return rsc_fail_errno(error, reason, path);
    }
    rsc_input_opened(fileno(file));
    size_t room = status.st_size > 0 && status.st_size < LIST_BYTES_MAX ? (size_t)status.st_size : 0;
    char *text = room ? malloc(room) : NULL;
    size_t bytes = text ? fread(text, 1, room, file) : 0;
    fclose(file);
    int result = !room   ? rsc_fail(error, RSC_EFORMAT, "%s: empty, not a file, or larger than 1 GiB", path)
                 : !text ? rsc_fail_memory(error, path)
                         : rsc_json_read(list, text, bytes, path, error);
    free(text);
    return result;
}

/* The list of a compile_commands.json, or of the one in a folder; `whole` gets its path. */
static int open_list(json_t **list, const char *path, char whole[PATH_MAX], struct rsc_error *error) {
    struct stat folder;
    if (stat(path, &folder) == 0 && S_ISDIR(folder.st_mode))
        snprintf(whole, PATH_MAX, "%s/compile_commands.json", path);
    else snprintf(whole, PATH_MAX, "%s", path);
    int status = read_list(list, whole, error);
    if (!status && !json_is_array(*list)) status = rsc_fail(error, RSC_EFORMAT, "%s: not a list of commands", whole);
    return status;
}

/* One entry of the list, if it is that of the source or (wants_source 0) is not. Returns 1 if it was read, 0 if not. */
static int read_entry(struct rsc_compile_command *command, json_t *entry, const char *source, int wants_source,
                      struct rsc_error *error) {
    const char *directory = json_string_value(json_object_get(entry, "directory"));
    const char *file = json_string_value(json_object_get(entry, "file"));
    *command = (struct rsc_compile_command){0};
    if (!directory || !file || same_file(directory, file, source) != wants_source) return 0;
    command->directory = rsc_arena_strdup(&command->arena, directory);
    command->file = rsc_arena_strdup(&command->arena, file);
    int status = command->directory && command->file ? read_flags(command, entry, error)
                                                     : rsc_fail_memory(error, "compile commands");
    if (!status) return 1;
    rsc_compile_command_free(command);
    return status;
}

int rsc_compile_command_find(struct rsc_compile_command *command, const char *path, const char *source,
                             struct rsc_error *error) {
    char whole[PATH_MAX];
    json_t *list = NULL;
    *command = (struct rsc_compile_command){0};
    int status = open_list(&list, path, whole, error);
    for (size_t i = 0; i < json_array_size(list) && !status; i++)
        status = read_entry(command, json_array_get(list, i), source, 1, error);
    if (!status) status = rsc_fail(error, RSC_EINVAL, "%s: no command compiles %s", whole, source);
    json_decref(list);
    return status > 0 ? 0 : status;
}

int rsc_compile_commands_others(struct rsc_compile_command **list, size_t *count, const char *path, const char *source,
                                struct rsc_error *error) {
    char whole[PATH_MAX];
    json_t *all = NULL;
    int status = open_list(&all, path, whole, error);
    size_t entries = json_array_size(all);
    if (entries > RSC_COMPILE_COMMANDS_MOST) entries = RSC_COMPILE_COMMANDS_MOST;
    *count = 0;
    *list = calloc(entries + 1, sizeof **list);
    if (!status && !*list) status = rsc_fail_memory(error, whole);
    for (size_t i = 0; i < entries && status >= 0; i++) {
        status = read_entry(&(*list)[*count], json_array_get(all, i), source, 0, error);
        *count += status > 0;
    }
    json_decref(all);
    return status < 0 ? status : 0;
}

void rsc_compile_command_free(struct rsc_compile_command *command) {
    rsc_arena_free(&command->arena);
    *command = (struct rsc_compile_command){0};
}
