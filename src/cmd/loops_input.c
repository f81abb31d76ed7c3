/* loops_input.c - reads C source or a loop tree's text, with values and addresses from the command line. */
#include "cmd/loops_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/inputs.h"
#include "base/numbers.h"
#include "loops/front/compile_commands.h"

const struct rsc_option rsc_loops_input_options[] = {
    RSC_HEADING("loops"),
    {RSC_OPT_FUNCTION, 0, "function", "NAME", "only the loops of this function", NULL},
    {RSC_OPT_TOGETHER, 0, "together", NULL, "treat all loops of a function as one, in order", NULL},
    RSC_HEADING("source"),
    {RSC_OPT_DEFINE, 'D', "define", "NAME[=VALUE]", "a macro for the preprocessor", NULL},
    {RSC_OPT_INCLUDE, 'I', "include", "DIR", "a folder with headers", NULL},
    {RSC_OPT_SET, 0, "set", "NAME=NUMBER",
     "value of a variable or parameter of the source, or of a param of a .loop file", NULL},
    {RSC_OPT_COMPILE_COMMANDS, 0, "compile-commands", "FILE",
     "take the file's flags, and functions of other files, from this compile_commands.json, or from the one in this folder",
     NULL},
    {RSC_OPT_BASE, 0, "base", "ARRAY=ADDRESS",
     "where an array starts (default: from 0, each at the next line boundary)", NULL},
    {RSC_OPT_COUNT_SCALARS, 0, "count-scalars", NULL, "scalar variables are in memory, not in registers", NULL},
    {RSC_OPT_TAKEN, 0, "taken", "PERCENT",
     "how often conditions that depend on data hold (default 50); LINE=PERCENT: those of a line", NULL},
    {RSC_OPT_MAX_SECONDS, 0, "max-seconds", "N",
     "time limit for all of the work; what was left out is named (default: 30 for reading the source)", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

/* The length of NAME in "NAME=VALUE"; 0 if either is empty. */
static size_t name_length(const char *text) {
    const char *equals = strchr(text, '=');
    return equals && equals > text && equals[1] ? (size_t)(equals - text) : 0;
}

static int add_flag(struct rsc_loops_input *input, const struct rsc_option_parser *parser, char letter) {
    if (input->flag_count == RSC_LOOPS_FLAGS_MAX) return rsc_option_refuse(parser, "too many of these");
    size_t length = strlen(parser->value);
    char *flag = malloc(length + 3);
    if (!flag) return rsc_memory_error(parser->verb);
    flag[0] = '-';
    flag[1] = letter;
    memcpy(flag + 2, parser->value, length + 1);
    input->flags[input->flag_count++] = flag;
    return -1;
}

/* 25, or 12=25 for the conditions of line 12. */
static int add_chance(struct rsc_loops_input *input, const struct rsc_option_parser *parser) {
    size_t length = name_length(parser->value);
    const char *number = length ? parser->value + length + 1 : parser->value;
    char *end;
    uint64_t line = 0;
    double percent = strtod(number, &end);
    if ((length && (rsc_parse_u64(parser->value, length, &line) < 0 || !line || line > UINT32_MAX)) || end == number ||
        *end || !(percent >= 0 && percent <= 100))
        return rsc_option_refuse(parser, "not PERCENT or LINE=PERCENT, from 0 to 100");
    if (input->chance_count == RSC_LOOPS_CHANCES_MAX) return rsc_option_refuse(parser, "too many of these");
    input->chances[input->chance_count++] = (struct rsc_c_chance){.line = (uint32_t)line, .share = percent / 100};
    return -1;
}

static int add_setting(struct rsc_loops_input *input, const struct rsc_option_parser *parser) {
    size_t length = name_length(parser->value);
    const char *number = parser->value + length + 1;
    int minus = length && *number == '-';
    uint64_t value;
    if (!length || rsc_parse_u64(number + minus, strlen(number + minus), &value) < 0)
        return rsc_option_refuse(parser, "not NAME=NUMBER");
    if (value > (uint64_t)RSC_LOOP_VALUE_MAX) return rsc_option_refuse(parser, "larger than 2^56");
    if (input->setting_count == RSC_LOOPS_SETTINGS_MAX) return rsc_option_refuse(parser, "too many of these");
    char *name = strndup(parser->value, length);
    if (!name) return rsc_memory_error(parser->verb);
    input->settings[input->setting_count++] =
        (struct rsc_loop_setting){name, minus ? -(int64_t)value : (int64_t)value, 0};
    return -1;
}

static int add_base(struct rsc_loops_input *input, const struct rsc_option_parser *parser) {
    size_t length = name_length(parser->value);
    uint64_t address;
    if (!length || rsc_parse_u64(parser->value + length + 1, strlen(parser->value + length + 1), &address) < 0)
        return rsc_option_refuse(parser, "not ARRAY=ADDRESS");
    if (address > UINT64_C(1) << 62) return rsc_option_refuse(parser, "an address past 2^62");
    if (input->base_count == RSC_LOOPS_BASES_MAX) return rsc_option_refuse(parser, "too many of these");
    char *name = strndup(parser->value, length);
    if (!name) return rsc_memory_error(parser->verb);
    input->bases[input->base_count].name = name;
    input->bases[input->base_count++].address = address;
    return -1;
}

int rsc_loops_input_option(struct rsc_loops_input *input, const struct rsc_option_parser *parser, int id) {
    switch (id) {
    case RSC_OPT_DEFINE: return add_flag(input, parser, 'D');
    case RSC_OPT_INCLUDE: return add_flag(input, parser, 'I');
    case RSC_OPT_SET: return add_setting(input, parser);
    case RSC_OPT_BASE: return add_base(input, parser);
    case RSC_OPT_FUNCTION: input->source.function = parser->value; return -1;
    case RSC_OPT_COMPILE_COMMANDS: input->compile_commands = parser->value; return -1;
    case RSC_OPT_COUNT_SCALARS: input->source.count_scalars = 1; return -1;
    case RSC_OPT_MAX_SECONDS:
        return rsc_option_fraction(parser, 0.1, 86400, "not a number from 0.1 to 86400", &input->source.seconds_max);
    case RSC_OPT_TAKEN: return add_chance(input, parser);
    case RSC_OPT_TOGETHER: input->source.together = 1; return -1;
    default: return -2;
    }
}

static int read_file(const char *path, char **text, size_t *bytes, struct rsc_error *error) {
    int status = 0;
    errno = 0;
    FILE *file = !strcmp(path, "-") ? stdin : fopen(path, "rb");
    size_t room = 1 << 16;
    *bytes = 0;
    if (!file) return rsc_fail_errno(error, errno, path);
    rsc_input_opened(fileno(file));
    *text = malloc(room);
    while (*text && !status) {
        size_t got = fread(*text + *bytes, 1, room - *bytes, file);
        *bytes += got;
        if (*bytes < room) break;
        if (*bytes > RSC_LOOP_TEXT_BYTES_MAX) status = rsc_fail(error, RSC_ELIMIT, "%s: larger than 16 MiB", path);
        char *larger = realloc(*text, room *= 2);
        if (!larger) free(*text);
        *text = larger;
    }
    if (!*text) status = rsc_fail_memory(error, path);
    if (!status && ferror(file)) status = rsc_fail_errno(error, errno ? errno : EIO, path);
    if (file != stdin) fclose(file);
    if (status) {
        free(*text);
        *text = NULL;
    }
    return status;
}

/* Another process reads them. */
static void note_sources(const char *path, const struct rsc_c_other *others, size_t count) {
    char whole[PATH_MAX];
    rsc_input_named(path);
    for (size_t i = 0; i < count; i++) {
        int absolute = others[i].path[0] == '/';
        snprintf(whole, sizeof whole, "%s%s%s", absolute ? "" : others[i].directory, absolute ? "" : "/",
                 others[i].path);
        rsc_input_named(whole);
    }
}

static int read_source(struct rsc_loops_input *input, char **text, size_t *bytes, struct rsc_error *error) {
    struct rsc_compile_command command = {0};
    struct rsc_compile_command *list = NULL;
    struct rsc_c_other *others = NULL;
    const char *all[2 * RSC_LOOPS_FLAGS_MAX];
    char path[4096];
    size_t count = 0;
    int status = 0;
    input->source.flags = input->flags;
    input->source.flag_count = input->flag_count;
    input->source.settings = input->settings;
    input->source.setting_count = input->setting_count;
    input->source.chances = input->chances;
    input->source.chance_count = input->chance_count;
    snprintf(path, sizeof path, "%s", input->path);
    if (input->compile_commands) {
        status = rsc_compile_command_find(&command, input->compile_commands, input->path, error);
        if (!status && command.flag_count > RSC_LOOPS_FLAGS_MAX)
            status =
                rsc_fail(error, RSC_ELIMIT, "%s: more than %d flags", input->compile_commands, RSC_LOOPS_FLAGS_MAX);
        if (!status && input->path[0] != '/' && !realpath(input->path, path))
            status = rsc_fail_errno(error, errno, input->path);
        for (size_t i = 0; i < command.flag_count && !status; i++) all[i] = command.flags[i];
        for (size_t i = 0; i < input->flag_count && !status; i++)
            all[command.flag_count + i] = input->flags[i]; /* flags from the command line take precedence */
        input->source.flags = all;
        input->source.flag_count = command.flag_count + input->flag_count;
        input->source.directory = command.directory;
        if (!status) status = rsc_compile_commands_others(&list, &count, input->compile_commands, input->path, error);
        if (!status && !(others = calloc(count + 1, sizeof *others))) status = rsc_fail_memory(error, path);
        for (size_t i = 0; i < count && !status; i++)
            others[i] = (struct rsc_c_other){list[i].file, list[i].directory, list[i].flags, list[i].flag_count};
        input->source.others = others;
        input->source.other_count = count;
    }
    if (!status) note_sources(path, others, count);
    if (!status) status = rsc_c_source_read(path, &input->source, text, bytes, error);
    rsc_compile_command_free(&command);
    for (size_t i = 0; i < count; i++) rsc_compile_command_free(&list[i]);
    free(list);
    free(others);
    input->source.others = NULL;
    input->source.other_count = 0;
    return status;
}

static int is_tree(const char *path) {
    const char *suffix = strrchr(path, '.');
    return !strcmp(path, "-") || (suffix && !strcmp(suffix, ".loop"));
}

/* The language that a file's suffix names, if it is one that is not read. */
static const char *other_language(const char *path) {
    static const char *const known[][2] = {{".f", "Fortran"},   {".for", "Fortran"}, {".f77", "Fortran"},
                                           {".f90", "Fortran"}, {".f95", "Fortran"}, {".f03", "Fortran"},
                                           {".f08", "Fortran"}, {".rs", "Rust"},     {".jl", "Julia"}};
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix && i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(suffix, known[i][0])) return known[i][1];
    return NULL;
}

static int place_arrays(struct rsc_loops_input *input, uint64_t line_bytes, struct rsc_loop_program *program,
                        struct rsc_error *error) {
    for (size_t b = 0; b < input->base_count; b++) {
        uint32_t i = 0;
        while (i < program->array_count && strcmp(program->array[i].name, input->bases[b].name)) i++;
        if (i == program->array_count)
            return rsc_fail(error, RSC_EINVAL, "--base %.80s: no array has this name (--emit-ir lists them)",
                            input->bases[b].name);
        if (program->array[i].is_private)
            return rsc_fail(error, RSC_EINVAL, "--base %.80s: the array is private to each thread",
                            input->bases[b].name);
        program->array[i].has_base = 1;
        program->array[i].base = input->bases[b].address;
    }
    return rsc_loop_layout(program, line_bytes, error);
}

int rsc_loops_input_read(struct rsc_loops_input *input, uint64_t line_bytes, struct rsc_loop_program **program,
                         char **text, size_t *bytes, struct rsc_error *error) {
    *program = NULL;
    *text = NULL;
    int tree = is_tree(input->path);
    const char *other = other_language(input->path);
    if (other)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "%s: %s is not read, C and C++ only: write its loops as a .loop file (docs/guide/loop-tree.md)",
                        input->path, other);
    int status = tree ? read_file(input->path, text, bytes, error) : read_source(input, text, bytes, error);
    if (!status)
        status = rsc_loop_text_read(*text, *bytes, input->path, tree ? input->settings : NULL,
                                    tree ? input->setting_count : 0, program, error);
    if (!status) status = place_arrays(input, line_bytes, *program, error);
    if (!status) { /* the text with the given addresses */
        free(*text);
        *text = NULL;
        if (rsc_loop_text_write(*program, text, bytes)) status = rsc_fail_memory(error, input->path);
    }
    if (!status) return 0;
    rsc_loop_program_free(*program);
    *program = NULL;
    free(*text);
    *text = NULL;
    return status;
}

const char *rsc_loops_input_unused(const struct rsc_loops_input *input) {
    for (size_t i = 0; i < input->setting_count; i++)
        if (!input->settings[i].used) return input->settings[i].name;
    return NULL;
}

void rsc_loops_input_free(struct rsc_loops_input *input) {
    for (size_t i = 0; i < input->flag_count; i++) free((void *)input->flags[i]);
    for (size_t i = 0; i < input->setting_count; i++) free((void *)input->settings[i].name);
    for (size_t i = 0; i < input->base_count; i++) free(input->bases[i].name);
}
