/* cc_command.c - see cc_command.h. */
#include "collect/launch/cc_command.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/own_file.h"

#define FILES_DEEP 8 /* response files that name response files */

/* ---- finding our files ---- */

#if defined(__x86_64__)
/* The folder of one of our files. */
static int find_folder(const char *name, char *folder, size_t room) {
    char path[PATH_MAX], whole[PATH_MAX];
    if (!rsc_own_file(name, path)) return -1;
    *strrchr(path, '/') = 0;
    if (!realpath(path, whole) || strlen(whole) >= room) return -1;
    memcpy(folder, whole, strlen(whole) + 1);
    return 0;
}

int rsc_cc_find(struct rsc_cc_files *files, struct rsc_error *error) {
    if (find_folder("cc/as", files->pass, sizeof files->pass) < 0)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "this build has no assembler pass: apt-get install libzydis-dev, then build it again (make)");
    if (find_folder("libreusescope-asm.so", files->library, sizeof files->library) < 0)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "libreusescope-asm.so is missing beside the tool: build it again (make)");
    return 0;
}
#else
int rsc_cc_find(struct rsc_cc_files *files, struct rsc_error *error) {
    memset(files, 0, sizeof *files);
    return rsc_fail(error, RSC_EUNSUPPORTED, "programs are rebuilt on x86-64 only");
}
#endif

/* ---- reading the command line ---- */

struct look {
    struct rsc_cc_command *command;
    struct rsc_error *error;
    int pic, is_shared, is_static, is_relocatable, makes_no_file, has_lto, has_non_call, other_linker;
    int inputs;
    int takes_value;     /* the next argument belongs to this option */
    int language_is_asm; /* -x assembler */
    char *settings;
    size_t settings_used, settings_room;
    int failed;
};

static void add_setting(struct look *look, const char *key, const char *value) {
    size_t wanted = strlen(key) + (value ? strlen(value) + 1 : 0) + 2;
    if (look->settings_used + wanted > look->settings_room) {
        size_t room = (look->settings_used + wanted) * 2;
        char *grown = rsc_arena_alloc(&look->command->arena, room);
        if (!grown) {
            look->failed = 1;
            return;
        }
        if (look->settings_used) memcpy(grown, look->settings, look->settings_used);
        look->settings = grown;
        look->settings_room = room;
    }
    look->settings_used +=
        (size_t)sprintf(look->settings + look->settings_used, value ? "%s=%s\n" : "%s\n", key, value);
}

static int starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

static int is_any(const char *text, const char *const *names) {
    for (; *names; names++)
        if (!strcmp(text, *names)) return 1;
    return 0;
}

static int takes_value(const char *option) {
    static const char *const with[] = {"-o",
                                       "-I",
                                       "-D",
                                       "-U",
                                       "-L",
                                       "-l",
                                       "-x",
                                       "-include",
                                       "-imacros",
                                       "-isystem",
                                       "-iquote",
                                       "-idirafter",
                                       "-iprefix",
                                       "-iwithprefix",
                                       "-isysroot",
                                       "-MF",
                                       "-MT",
                                       "-MQ",
                                       "-Xlinker",
                                       "-Xassembler",
                                       "-Xpreprocessor",
                                       "-Xclang",
                                       "-T",
                                       "-u",
                                       "-z",
                                       "-e",
                                       "-B",
                                       "-aux-info",
                                       "--param",
                                       "-wrapper",
                                       "-specs",
                                       "-mllvm",
                                       "-J",
                                       "-target",
                                       "-arch",
                                       "-dumpbase",
                                       "-dumpdir",
                                       "-iwithprefixbefore",
                                       "-imultilib",
                                       "-G",
                                       "-A",
                                       "--sysroot",
                                       "-rpath",
                                       NULL};
    return is_any(option, with);
}

static int refuse(struct look *look, const char *option, const char *why) {
    return rsc_fail(look->error, RSC_EUNSUPPORTED, "%s: %s", option, why);
}

static int look_at_option(struct look *look, const char *option) {
    static const char *const no_file[] = {"-c",
                                          "-S",
                                          "-E",
                                          "-M",
                                          "-MM",
                                          "-fsyntax-only",
                                          "--version",
                                          "-dumpversion",
                                          "-dumpmachine",
                                          "-dumpspecs",
                                          "-dumpfullversion",
                                          "-###",
                                          "--help",
                                          "-emit-llvm",
                                          "--print-targets",
                                          NULL};
    if (is_any(option, no_file) || starts(option, "-print-") || starts(option, "--print-") || starts(option, "--help="))
        look->makes_no_file = 1;
    if (!strcmp(option, "-flto") || starts(option, "-flto=")) look->has_lto = 1;
    if (!strcmp(option, "-fno-lto")) look->has_lto = 0;
    if (!strcmp(option, "-fnon-call-exceptions")) look->has_non_call = 1;
    if (!strcmp(option, "-fno-non-call-exceptions")) look->has_non_call = 0;
    if (!strcmp(option, "-fPIC") || !strcmp(option, "-fpic")) look->pic = 1;
    if (!strcmp(option, "-fPIE") || !strcmp(option, "-fpie") || !strcmp(option, "-fno-pic") ||
        !strcmp(option, "-fno-PIC") || !strcmp(option, "-fno-pie") || !strcmp(option, "-fno-PIE"))
        look->pic = 0;
    if (!strcmp(option, "-shared") || !strcmp(option, "--shared")) look->is_shared = 1;
    if (!strcmp(option, "-static") || !strcmp(option, "-static-pie") || !strcmp(option, "--static"))
        look->is_static = 1;
    if (!strcmp(option, "-r") || !strcmp(option, "-Wl,-r")) look->is_relocatable = 1;
    if (starts(option, "-fuse-ld=gold")) look->other_linker = 1;
    if (!strcmp(option, "-m32") || !strcmp(option, "-mx32") || !strcmp(option, "-m16"))
        return refuse(look, option, "only 64-bit programs are rebuilt");
    if (!strcmp(option, "-masm=intel")) return refuse(look, option, "assembly must be in AT&T syntax to be rebuilt");
    if (starts(option, "--target=") && !starts(option, "--target=x86_64"))
        return refuse(look, option, "only x86-64 programs are rebuilt");
    if (!strcmp(option, "-fintegrated-as") || !strcmp(option, "-integrated-as"))
        return refuse(look, option, "a separate assembler program is needed to rebuild the code");
    return 0;
}

static void look_at_input(struct look *look, const char *path) {
    size_t length = strlen(path);
    look->inputs++;
    int is_source = length > 2 && path[length - 2] == '.' && (path[length - 1] == 's' || path[length - 1] == 'S');
    if (length > 3 && !strcmp(path + length - 3, ".sx")) is_source = 1;
    if ((is_source || look->language_is_asm) && !strchr(path, '\n')) add_setting(look, "source", path);
}

static int look_at_file(struct look *look, const char *path, int deep);

static int look_at(struct look *look, const char *argument, int deep) {
    if (look->takes_value) {
        if (look->takes_value == 'x') look->language_is_asm = starts(argument, "assembler");
        if (look->takes_value == 't' && !starts(argument, "x86_64"))
            return refuse(look, argument, "only x86-64 programs are rebuilt");
        look->takes_value = 0;
        return 0;
    }
    if (argument[0] == '@' && argument[1] && access(argument + 1, R_OK) == 0)
        return look_at_file(look, argument + 1, deep + 1);
    if (argument[0] != '-' || !argument[1]) {
        look_at_input(look, argument);
        return 0;
    }
    if (takes_value(argument)) {
        look->takes_value = !strcmp(argument, "-x") ? 'x' : !strcmp(argument, "-target") ? 't' : 1;
        if (!strcmp(argument, "-l")) look->inputs++;
        return 0;
    }
    if (starts(argument, "-x")) look->language_is_asm = starts(argument + 2, "assembler");
    if (starts(argument, "-l")) look->inputs++;
    return look_at_option(look, argument);
}

/* Reads a response file: words, quoted as compilers do. The compiler reads the file again itself. */
static int look_at_file(struct look *look, const char *path, int deep) {
    FILE *file = deep <= FILES_DEEP ? fopen(path, "re") : NULL;
    char word[8192];
    size_t used = 0;
    int c, quote = 0, is_word = 0, status = 0;
    if (!file) return rsc_fail(look->error, RSC_EIO, "@%.200s: cannot be read", path);
    do {
        c = getc(file);
        if (c == EOF || (!quote && isspace(c))) {
            word[used] = 0;
            if (is_word) status = look_at(look, rsc_arena_strdup(&look->command->arena, word), deep);
            used = 0;
            is_word = 0;
            continue;
        }
        is_word = 1;
        if (c == '\\') {
            c = getc(file);
            if (c == EOF) break;
        } else if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? 0 : c;
            continue;
        }
        if (used + 1 < sizeof word) word[used++] = (char)c;
    } while (c != EOF && status >= 0);
    fclose(file);
    return status;
}

/* ---- the new command line ---- */

struct words {
    struct rsc_cc_command *command;
    int count, room, failed;
};

static void add_word(struct words *words, const char *word) {
    if (words->failed || !word || words->count + 1 >= words->room) {
        words->failed = 1;
        return;
    }
    words->command->argv[words->count++] = (char *)word;
    words->command->argv[words->count] = NULL;
}

static void add_joined(struct words *words, const char *before, const char *folder, const char *behind) {
    size_t bytes = strlen(before) + strlen(folder) + strlen(behind) + 1;
    char *word = rsc_arena_alloc(&words->command->arena, bytes);
    if (word) snprintf(word, bytes, "%s%s%s", before, folder, behind);
    add_word(words, word);
}

/* Whether the compiler is clang; `cc` may be a link to it. */
static int is_clang(const char *compiler) {
    char path[PATH_MAX], whole[PATH_MAX];
    const char *slash = strrchr(compiler, '/');
    if (strstr(slash ? slash : compiler, "clang")) return 1;
    if (slash) return realpath(compiler, whole) && strstr(strrchr(whole, '/'), "clang");
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%.500s", length < 3000 ? (int)length : 0, at, compiler);
        if (access(path, X_OK) == 0) return realpath(path, whole) && strstr(strrchr(whole, '/'), "clang");
        at += length + (at[length] == ':');
    }
    return 0;
}

static void add_runtime(struct words *words, const struct look *look, const struct rsc_cc_files *files) {
    add_word(words, "-x");
    add_word(words, "none");
    add_joined(words, "", files->library,
               look->is_shared ? "/reusescope-asm-shared.o" : "/reusescope-asm-executable.o");
    if (look->is_static && !look->is_shared) {
        add_joined(words, "", files->library, "/reusescope-asm-static.o");
        add_joined(words, "-Wl,@", files->library, "/reusescope-asm-static.wrap");
    } else {
        add_joined(words, "", files->library, "/libreusescope-asm.so");
        add_joined(words, "-Wl,-rpath,", files->library, "");
        /*
         * The runtime has functions of libgomp and libomp, which call the library's own. The compiler adds that library
         * after the runtime, and the linker may drop libraries that nothing needs: then they would call themselves.
         */
        add_word(words, "-Wl,--no-as-needed");
    }
    /*
     * Lets the linker drop the tables of code that is not linked, although the runtime refers to the start of the
     * tables.
     */
    if (!look->other_linker) add_word(words, "-Wl,-z,start-stop-gc");
}

static void settle(struct look *look, const struct rsc_cc_options *options) {
    if (options->verify) add_setting(look, "verify", NULL);
    if (options->strict) add_setting(look, "strict", NULL);
    if (options->no_calls) add_setting(look, "no-calls", NULL);
    if (options->assembler) add_setting(look, "assembler", NULL);
    if (options->keep) add_setting(look, "keep", NULL);
    if (options->quiet) add_setting(look, "quiet", NULL);
    if (options->verbose) add_setting(look, "verbose", NULL);
    if (options->only) add_setting(look, "only", options->only);
    if (options->skip) add_setting(look, "skip", options->skip);
    if (options->max_blocks) add_setting(look, "max-blocks", options->max_blocks);
    if (look->pic || look->is_shared) add_setting(look, "pic", NULL);
    look->command->settings = look->settings_used ? look->settings : (char *)"";
}

int rsc_cc_arrange(struct rsc_cc_command *command, char *const *arguments, const struct rsc_cc_options *options,
                   const struct rsc_cc_files *files, struct rsc_error *error) {
    struct look look = {.command = command, .error = error};
    int count = 0, status = 0;
    memset(command, 0, sizeof *command);
    for (; arguments[count]; count++)
        if (count && (status = look_at(&look, arguments[count], 0)) < 0) return status;
    if (look.has_lto)
        return refuse(&look, "-flto", "the linker would generate the code, which is not rebuilt: remove it (-fno-lto)");
    if (look.has_non_call)
        return refuse(&look, "-fnon-call-exceptions",
                      "exceptions thrown by accesses would not be caught in recording copies");
    struct words words = {.command = command, .room = count + 32};
    command->argv = rsc_arena_alloc(&command->arena, (size_t)words.room * sizeof *command->argv);
    if (!command->argv) return rsc_fail_memory(error, "the command line");
    add_word(&words, arguments[0]);
    add_joined(&words, "-B", files->pass, "/");
    if (is_clang(arguments[0])) {
        add_word(&words, "--start-no-unused-arguments");
        add_word(&words, "-fno-integrated-as");
        add_word(&words, "--end-no-unused-arguments");
    }
    for (int i = 1; i < count; i++) add_word(&words, arguments[i]);
    command->links = !look.makes_no_file && !look.is_relocatable && look.inputs > 0;
    if (command->links) add_runtime(&words, &look, files);
    settle(&look, options);
    return words.failed || look.failed ? rsc_fail_memory(error, "the command line") : 0;
}

void rsc_cc_free(struct rsc_cc_command *command) {
    rsc_arena_free(&command->arena);
    memset(command, 0, sizeof *command);
}
