/* help.c - prints help and shell completions from the option tables. Help fits 80 columns. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cmd/session.h"
#include "cmd/help.h"

enum { COLUMNS = 80, OPTION_COLUMN = 30 };

/* Wraps text at COLUMNS. It starts at `column`; further lines are indented by `indent`. */
static void print_wrapped(FILE *to, const char *text, int column, int indent) {
    int at = column;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        int length = (int)strcspn(text, " ");
        if (at > column && at + 1 + length > COLUMNS) {
            fprintf(to, "\n%*s", indent, "");
            at = column = indent;
        }
        at += fprintf(to, "%s%.*s", at > column ? " " : "", length, text);
        text += length;
    }
    fputc('\n', to);
}

static void print_option(FILE *to, const struct rsc_option *option) {
    char head[64];
    snprintf(head, sizeof head, "%s%c%s--%s%s%s", option->letter ? "-" : " ", option->letter ? option->letter : ' ',
             option->letter ? ", " : "  ", option->name,
             option->value && !rsc_option_value_is_optional(option) ? " " : "", option->value ? option->value : "");
    if (strlen(head) <= 26) fprintf(to, "  %-26s  ", head);
    else fprintf(to, "  %s\n%*s", head, OPTION_COLUMN, "");
    print_wrapped(to, option->help, OPTION_COLUMN, OPTION_COLUMN);
}

/* Prints all options under their headings, in the order in which the headings first appear in the tables. */
static void print_options(FILE *to, const struct rsc_verb *verb) {
    enum { HEADINGS_MAX = 16 };
    const char *headings[HEADINGS_MAX];
    const struct rsc_option *option;
    int count = 0;
    for (struct rsc_option_walk walk = {.verb = verb}; rsc_option_walk_next(&walk);) {
        int known = 0;
        assert(walk.heading); /* every table opens with one */
        while (known < count && strcmp(headings[known], walk.heading) != 0) known++;
        assert(known < HEADINGS_MAX);
        if (known == count) headings[count++] = walk.heading;
    }
    for (int h = 0; h < count; h++) {
        fprintf(to, "\n%s:\n", headings[h]);
        for (struct rsc_option_walk walk = {.verb = verb}; (option = rsc_option_walk_next(&walk));)
            if (!strcmp(walk.heading, headings[h])) print_option(to, option);
    }
}

static void print_tool_help(FILE *to) {
    fputs("reusescope: how programs, traces and loops reuse memory, at every cache size\n\n"
          "usage: reusescope VERB [options] ...\n\nverbs:\n",
          to);
    for (size_t i = 0; rsc_verbs[i]; i++) fprintf(to, "  %-10s %s\n", rsc_verbs[i]->name, rsc_verbs[i]->summary);
    fputs("\nstart with:\n"
          "  reusescope run -- ./app                          profile a program\n"
          "  reusescope gen zipf,lines=64K -n 1M -o t.rsct    generate a trace\n"
          "  reusescope analyze t.rsct                        analyse the trace\n"
          "  reusescope help analyze                          all options of a verb\n",
          to);
}

void rsc_print_help(FILE *to, const struct rsc_verb *verb) {
    if (!verb) {
        print_tool_help(to);
        return;
    }
    fprintf(to, "usage: reusescope %s [options]%s%s\n\n%s.\n", verb->name, *verb->operands ? " " : "", verb->operands,
            verb->summary);
    if (verb->about) {
        fputc('\n', to);
        print_wrapped(to, verb->about, 0, 0);
    }
    print_options(to, verb);
    if (verb->example) fprintf(to, "\nexample:\n  %s\n", verb->example);
    fprintf(to, "\nmore: man reusescope-%s\n", verb->name);
}

/* ---- completions ---- */

static void print_verbs(FILE *to) {
    for (size_t i = 0; rsc_verbs[i]; i++) fprintf(to, "%s%s", i ? " " : "", rsc_verbs[i]->name);
}

/* Operands of `help` are verbs; those of others, files. */
static int takes_verbs(const struct rsc_verb *verb) { return !strcmp(verb->operands, "[VERB]"); }

static void bash_verb(FILE *to, const struct rsc_verb *verb) {
    fprintf(to, "    %s) case $previous in\n", verb->name);
    const struct rsc_option *option;
    for (struct rsc_option_walk walk = {.verb = verb}; (option = rsc_option_walk_next(&walk));)
        if (option->words) fprintf(to, "        --%s) words='%s' ;;\n", option->name, option->words);
    fputs("        *) words='", to);
    if (takes_verbs(verb)) {
        print_verbs(to);
        fputc(' ', to);
    }
    for (struct rsc_option_walk walk = {.verb = verb}; (option = rsc_option_walk_next(&walk));)
        fprintf(to, "--%s ", option->name);
    fputs("' ;;\n        esac ;;\n", to);
}

static void bash_completion(FILE *to) {
    fputs("# bash completion for reusescope; made by: reusescope help --completion bash\n"
          "_reusescope() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    if [ \"$current\" = = ]; then current=\n"
          "    elif [ \"$previous\" = = ]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='",
          to);
    print_verbs(to);
    fputs("'\n    else case ${COMP_WORDS[1]} in\n", to);
    for (size_t i = 0; rsc_verbs[i]; i++) bash_verb(to, rsc_verbs[i]);
    fputs("    esac; fi\n"
          "    case $current in\n"
          "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
          "    *) COMPREPLY=($(compgen -W \"${words//--*/}\" -- \"$current\") $(compgen -f -- \"$current\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -o filenames -F _reusescope reusescope\n",
          to);
}

static void quoted(FILE *to, const char *text, const char *special) {
    for (; *text; text++) {
        if (*text == '\'') fputs("'\\''", to);
        else {
            if (strchr(special, *text)) fputc('\\', to);
            fputc(*text, to);
        }
    }
}

static void fish_completion(FILE *to) {
    fputs("# fish completion for reusescope; made by: reusescope help --completion fish\n", to);
    for (size_t i = 0; rsc_verbs[i]; i++) {
        fprintf(to, "complete -c reusescope -n __fish_use_subcommand -a %s -d '", rsc_verbs[i]->name);
        quoted(to, rsc_verbs[i]->summary, "");
        fputs("'\n", to);
        if (takes_verbs(rsc_verbs[i])) {
            fprintf(to, "complete -c reusescope -n '__fish_seen_subcommand_from %s' -f -a '", rsc_verbs[i]->name);
            print_verbs(to);
            fputs("'\n", to);
        }
        const struct rsc_option *option;
        for (struct rsc_option_walk walk = {.verb = rsc_verbs[i]}; (option = rsc_option_walk_next(&walk));) {
            fprintf(to, "complete -c reusescope -n '__fish_seen_subcommand_from %s' -l %s", rsc_verbs[i]->name,
                    option->name);
            if (option->letter) fprintf(to, " -s %c", option->letter);
            if (option->value && !rsc_option_value_is_optional(option)) fputs(" -r", to);
            if (option->words) fprintf(to, " -a '%s'", option->words);
            fputs(" -d '", to);
            quoted(to, option->help, "");
            fputs("'\n", to);
        }
    }
}

static void zsh_verb(FILE *to, const struct rsc_verb *verb) {
    fprintf(to, "    %s) _arguments", verb->name);
    const struct rsc_option *option;
    for (struct rsc_option_walk walk = {.verb = verb}; (option = rsc_option_walk_next(&walk));) {
        int optional = rsc_option_value_is_optional(option);
        fprintf(to, " \\\n        '--%s%s[", option->name, optional ? "=-" : option->value ? "=" : "");
        quoted(to, option->help, "[]:");
        fputc(']', to);
        if (option->words) fprintf(to, ":%s:(%s)", option->name, option->words);
        else if (option->value) fprintf(to, "%s:%s:_files", optional ? ":" : "", option->name);
        fputc('\'', to);
    }
    if (!takes_verbs(verb)) {
        fputs(" \\\n        '*:file:_files' ;;\n", to);
        return;
    }
    fputs(" \\\n        '*:verb:(", to);
    print_verbs(to);
    fputs(")' ;;\n", to);
}

static void zsh_completion(FILE *to) {
    fputs("#compdef reusescope\n# made by: reusescope help --completion zsh\nlocal -a verbs\nverbs=(\n", to);
    for (size_t i = 0; rsc_verbs[i]; i++) {
        fprintf(to, "    '%s:", rsc_verbs[i]->name);
        quoted(to, rsc_verbs[i]->summary, ":");
        fputs("'\n", to);
    }
    fputs(")\nif (( CURRENT == 2 )); then\n    _describe verb verbs\nelse\n"
          "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n",
          to);
    for (size_t i = 0; rsc_verbs[i]; i++) zsh_verb(to, rsc_verbs[i]);
    fputs("    esac\nfi\n", to);
}

int rsc_print_completion(FILE *to, const char *shell) {
    if (!strcmp(shell, "bash")) bash_completion(to);
    else if (!strcmp(shell, "fish")) fish_completion(to);
    else if (!strcmp(shell, "zsh")) zsh_completion(to);
    else return -1;
    return 0;
}
