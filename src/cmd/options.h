/*
 * options.h - option tables, and parsing with them.
 *
 * Each verb lists the groups of options it takes. Help, completions and the test
 * that compares man pages read the same tables, so an option exists everywhere
 * or nowhere. An option's `id` is what a verb switches on. Help prints options
 * under their headings; sections with the same heading become one.
 */
#ifndef RSC_CMD_OPTIONS_H
#define RSC_CMD_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

struct rsc_option {
    int id;
    char letter;       /* -o; 0: none */
    const char *name;  /* "output", without dashes */
    const char *value; /* name of the value in help; NULL: takes none; "[=NAME]": optional, only as --name=VALUE */
    const char *help;
    const char *words; /* values for completion, separated by spaces; NULL: any */
};

/* A row that opens a section of the help; the rows up to the next heading belong to it. */
#define RSC_HEADING(text) {0, 0, NULL, NULL, text, NULL}

#define RSC_GROUPS_MAX 5

struct rsc_verb {
    const char *name;
    const char *operands; /* "TRACE", "[FILE...]" */
    const char *summary;  /* one line, no full stop */
    const char *about;    /* a paragraph or two for help */
    const char *example;  /* a command line that works */
    const char *order;    /* printed after an unknown option; NULL: where help is */
    const struct rsc_option *groups[RSC_GROUPS_MAX]; /* each ends with a row of NULLs */
    int (*run)(const struct rsc_verb *verb, int argc, char **argv); /* main's */
};

/* All verbs, ending with NULL; main.c. */
extern const struct rsc_verb *const rsc_verbs[];
const struct rsc_verb *rsc_verb_named(const char *name);

/* Walks all options of a verb in the order of its tables, without the headings. Starts as {.verb = verb}. */
struct rsc_option_walk {
    const struct rsc_verb *verb;
    int group;
    const struct rsc_option *row;
    const char *heading; /* of the option */
};

/* The next option, or NULL at the end. */
const struct rsc_option *rsc_option_walk_next(struct rsc_option_walk *walk);

struct rsc_option_parser {
    const struct rsc_verb *verb;
    int argc;
    char **argv;
    int next;        /* index into argv */
    int only_operands; /* after "--" */
    const char *rest_of_letters; /* in the middle of -qv */
    const struct rsc_option *option;
    const char *value; /* of the option, or the operand itself */
};

enum { RSC_OPERAND = -1, RSC_OPTIONS_END = -2, RSC_OPTIONS_BAD = -3 };

/* Whether the option may be given without its value. */
int rsc_option_value_is_optional(const struct rsc_option *option);

/* Starts after the names of tool and verb. */
void rsc_options_start(struct rsc_option_parser *parser, const struct rsc_verb *verb, int argc, char **argv);

/*
 * The id of the next option (with parser->value), RSC_OPERAND, RSC_OPTIONS_END,
 * or RSC_OPTIONS_BAD after printing the usage error.
 */
int rsc_options_next(struct rsc_option_parser *parser);

/* Prints "reusescope VERB: --name VALUE: message" and returns the usage exit status. */
int rsc_option_refuse(const struct rsc_option_parser *parser, const char *message);

/* Takes the value as a number from low to high. Returns -1, or the usage exit status after refusing it with `message`. */
int rsc_option_number(const struct rsc_option_parser *parser, uint64_t low, uint64_t high, const char *message,
                      uint64_t *number);
int rsc_option_fraction(const struct rsc_option_parser *parser, double low, double high, const char *message,
                        double *number);

/* Prints "reusescope VERB: message" (without a verb: "reusescope: message") and returns the usage exit status. */
int rsc_usage_error(const struct rsc_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a verb that gets no memory to begin with. Returns the exit status of an error. */
int rsc_memory_error(const struct rsc_verb *verb);

/* Closest name by edit distance, or NULL when none is close. */
const char *rsc_closest(const char *typed, const char *const *names, size_t count);

#endif
