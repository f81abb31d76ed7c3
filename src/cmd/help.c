/* help.c - help texts and shell completions, from the option tables. */
#include <stdio.h>
#include <string.h>

#include "cmd/session.h"
#include "cmd/help.h"

static void print_option(FILE *to, const struct rsc_option *option) {
    char head[64];
    snprintf(head, sizeof head, "%s%c%s--%s%s%s", option->letter ? "-" : " ", option->letter ? option->letter : ' ',
             option->letter ? ", " : "  ", option->name, option->value ? " " : "", option->value ? option->value : "");
    if (strlen(head) <= 26) fprintf(to, "  %-26s  %s\n", head, option->help);
    else fprintf(to, "  %s\n  %-26s  %s\n", head, "", option->help);
}

static void print_tool_help(FILE *to) {
    fputs("reusescope: how a program, a trace or a loop reuses memory, and what every cache size makes of it\n\n"
          "usage: reusescope VERB [options] ...\n\nverbs:\n",
          to);
    for (size_t i = 0; rsc_verbs[i]; i++) fprintf(to, "  %-10s %s\n", rsc_verbs[i]->name, rsc_verbs[i]->summary);
    fputs("\nstart with:\n"
          "  reusescope run -- ./app                          watch a program\n"
          "  reusescope gen zipf,lines=64K -n 1M -o t.rsct    make a trace\n"
          "  reusescope analyze t.rsct                        its distances and miss ratio curve\n"
          "  reusescope help analyze                          all about a verb\n",
          to);
}

void rsc_print_help(FILE *to, const struct rsc_verb *verb) {
    if (!verb) {
        print_tool_help(to);
        return;
    }
    fprintf(to, "usage: reusescope %s [options]%s%s\n\n%s.\n", verb->name, *verb->operands ? " " : "", verb->operands,
            verb->summary);
    if (verb->about) fprintf(to, "\n%s\n", verb->about);
    fputs("\noptions:\n", to);
    for (int g = 0; g < RSC_GROUPS_MAX && verb->groups[g]; g++)
        for (const struct rsc_option *option = verb->groups[g]; option->name; option++) print_option(to, option);
    if (verb->example) fprintf(to, "\nexample:\n  %s\n", verb->example);
    fprintf(to, "\nmore: man reusescope-%s\n", verb->name);
}

/* ---- completions ---- */

static void bash_verb(FILE *to, const struct rsc_verb *verb) {
    fprintf(to, "    %s) case $previous in\n", verb->name);
    for (int g = 0; g < RSC_GROUPS_MAX && verb->groups[g]; g++)
        for (const struct rsc_option *option = verb->groups[g]; option->name; option++) {
            if (!option->words) continue;
            fprintf(to, "        --%s) words='%s' ;;\n", option->name, option->words);
        }
    fputs("        *) words='", to);
    for (int g = 0; g < RSC_GROUPS_MAX && verb->groups[g]; g++)
        for (const struct rsc_option *option = verb->groups[g]; option->name; option++)
            fprintf(to, "--%s ", option->name);
    fputs("' ;;\n        esac ;;\n", to);
}

static void bash_completion(FILE *to) {
    fputs("# bash completion for reusescope; made by: reusescope help --completion bash\n"
          "_reusescope() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='",
          to);
    for (size_t i = 0; rsc_verbs[i]; i++) fprintf(to, "%s ", rsc_verbs[i]->name);
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
        for (int g = 0; g < RSC_GROUPS_MAX && rsc_verbs[i]->groups[g]; g++)
            for (const struct rsc_option *option = rsc_verbs[i]->groups[g]; option->name; option++) {
                fprintf(to, "complete -c reusescope -n '__fish_seen_subcommand_from %s' -l %s", rsc_verbs[i]->name,
                        option->name);
                if (option->letter) fprintf(to, " -s %c", option->letter);
                if (option->value) fputs(" -r", to);
                if (option->words) fprintf(to, " -a '%s'", option->words);
                fputs(" -d '", to);
                quoted(to, option->help, "");
                fputs("'\n", to);
            }
    }
}

static void zsh_verb(FILE *to, const struct rsc_verb *verb) {
    fprintf(to, "    %s) _arguments", verb->name);
    for (int g = 0; g < RSC_GROUPS_MAX && verb->groups[g]; g++)
        for (const struct rsc_option *option = verb->groups[g]; option->name; option++) {
            fprintf(to, " \\\n        '--%s%s[", option->name, option->value ? "=" : "");
            quoted(to, option->help, "[]:");
            fputc(']', to);
            if (option->words) fprintf(to, ":%s:(%s)", option->name, option->words);
            else if (option->value) fprintf(to, ":%s:_files", option->name);
            fputc('\'', to);
        }
    fputs(" \\\n        '*:file:_files' ;;\n", to);
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
