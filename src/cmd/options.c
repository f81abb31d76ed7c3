/* options.c - parses command lines with the tables of options.h, like getopt_long. */
#include "cmd/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/exit.h"
#include "base/numbers.h"

void rsc_options_start(struct rsc_option_parser *parser, const struct rsc_verb *verb, int argc, char **argv) {
    *parser = (struct rsc_option_parser){.verb = verb, .argc = argc, .argv = argv, .next = 2};
}

int rsc_usage_error(const struct rsc_verb *verb, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    rsc_make_one_line(message);
    if (verb) fprintf(stderr, "reusescope %s: %s\n", verb->name, message);
    else fprintf(stderr, "reusescope: %s\n", message);
    return RSC_EXIT_USAGE;
}

int rsc_memory_error(const struct rsc_verb *verb) {
    rsc_usage_error(verb, "out of memory");
    return RSC_EXIT_ERROR;
}

int rsc_option_refuse(const struct rsc_option_parser *parser, const char *message) {
    if (!parser->value) return rsc_usage_error(parser->verb, "--%s: %s", parser->option->name, message);
    return rsc_usage_error(parser->verb, "--%s %.60s: %s", parser->option->name, parser->value, message);
}

int rsc_option_number(const struct rsc_option_parser *parser, uint64_t low, uint64_t high, const char *message,
                      uint64_t *number) {
    if (!rsc_parse_u64(parser->value, strlen(parser->value), number) && *number >= low && *number <= high) return -1;
    return rsc_option_refuse(parser, message);
}

int rsc_option_fraction(const struct rsc_option_parser *parser, double low, double high, const char *message,
                        double *number) {
    if (!rsc_parse_fraction(parser->value, strlen(parser->value), number) && *number >= low && *number <= high)
        return -1;
    return rsc_option_refuse(parser, message);
}

const struct rsc_option *rsc_option_walk_next(struct rsc_option_walk *walk) {
    while (walk->group < RSC_GROUPS_MAX && walk->verb->groups[walk->group]) {
        const struct rsc_option *row = walk->row ? walk->row + 1 : walk->verb->groups[walk->group];
        walk->row = row;
        if (row->name) return row;
        walk->heading = row->help;
        if (row->help) continue;
        walk->row = NULL;
        walk->group++;
    }
    return NULL;
}

static const struct rsc_option *find_option(const struct rsc_verb *verb, const char *name, size_t length, char letter) {
    struct rsc_option_walk walk = {.verb = verb};
    const struct rsc_option *option;
    while ((option = rsc_option_walk_next(&walk)))
        if (letter ? option->letter == letter : strlen(option->name) == length && !memcmp(option->name, name, length))
            break;
    return option;
}

/* Edits to turn one short word into another. */
static unsigned edit_distance(const char *from, const char *to) {
    enum { LONGEST = 32 };
    unsigned row[LONGEST + 1];
    size_t columns = strlen(to), rows = strlen(from);
    if (columns > LONGEST || rows > LONGEST) return LONGEST;
    for (size_t c = 0; c <= columns; c++) row[c] = (unsigned)c;
    for (size_t r = 1; r <= rows; r++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)r;
        for (size_t c = 1; c <= columns; c++) {
            unsigned best = diagonal + (from[r - 1] != to[c - 1]);
            if (row[c] + 1 < best) best = row[c] + 1;
            if (row[c - 1] + 1 < best) best = row[c - 1] + 1;
            diagonal = row[c];
            row[c] = best;
        }
    }
    return row[columns];
}

const char *rsc_closest(const char *typed, const char *const *names, size_t count) {
    const char *closest = NULL;
    unsigned least = 3; /* more than two edits: no suggestion */
    for (size_t i = 0; i < count; i++) {
        unsigned distance = edit_distance(typed, names[i]);
        if (distance < least && distance < strlen(names[i])) {
            least = distance;
            closest = names[i];
        }
    }
    return closest;
}

static int unknown_option(const struct rsc_verb *verb, const char *typed) {
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX], *bare = typed + strspn(typed, "-");
    char word[32];
    size_t count = 0;
    struct rsc_option_walk walk = {.verb = verb};
    for (const struct rsc_option *option; count < NAMES_MAX && (option = rsc_option_walk_next(&walk));)
        names[count++] = option->name;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(bare, "="), bare);
    const char *closest = typed[1] == '-' ? rsc_closest(word, names, count) : NULL;
    if (closest) rsc_usage_error(verb, "unknown option %.60s (did you mean --%s?)", typed, closest);
    else if (verb->order) rsc_usage_error(verb, "unknown option %.60s (%s)", typed, verb->order);
    else rsc_usage_error(verb, "unknown option %.60s (see: reusescope help %s)", typed, verb->name);
    return RSC_OPTIONS_BAD;
}

int rsc_option_value_is_optional(const struct rsc_option *option) { return option->value && option->value[0] == '['; }

static int take_value(struct rsc_option_parser *parser, const char *attached) {
    const struct rsc_option *option = parser->option;
    parser->value = attached;
    if (!option->value && attached) {
        rsc_usage_error(parser->verb, "--%s takes no value", option->name);
        return RSC_OPTIONS_BAD;
    }
    if (option->value && !attached && !rsc_option_value_is_optional(option)) {
        if (parser->next >= parser->argc) {
            rsc_usage_error(parser->verb, "--%s needs a value: --%s %s", option->name, option->name, option->value);
            return RSC_OPTIONS_BAD;
        }
        parser->value = parser->argv[parser->next++];
    }
    return option->id;
}

static int next_letter(struct rsc_option_parser *parser) {
    char letter = *parser->rest_of_letters++;
    const char *rest = *parser->rest_of_letters ? parser->rest_of_letters : NULL;
    parser->option = find_option(parser->verb, NULL, 0, letter);
    if (!parser->option) {
        char typed[3] = {'-', letter, 0};
        return unknown_option(parser->verb, typed);
    }
    if (!parser->option->value) {
        parser->rest_of_letters = rest;
        return take_value(parser, NULL);
    }
    parser->rest_of_letters = NULL;
    return take_value(parser, rest);
}

int rsc_options_next(struct rsc_option_parser *parser) {
    if (parser->rest_of_letters) return next_letter(parser);
    if (parser->next >= parser->argc) return RSC_OPTIONS_END;
    char *word = parser->argv[parser->next++];
    if (!parser->only_operands && !strcmp(word, "--")) {
        parser->only_operands = 1;
        return rsc_options_next(parser);
    }
    if (parser->only_operands || word[0] != '-' || !word[1]) {
        parser->value = word;
        return RSC_OPERAND;
    }
    if (word[1] != '-') {
        parser->rest_of_letters = word + 1;
        return next_letter(parser);
    }
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
    parser->option = find_option(parser->verb, word + 2, length, 0);
    if (!parser->option) return unknown_option(parser->verb, word);
    return take_value(parser, equals ? equals + 1 : NULL);
}
