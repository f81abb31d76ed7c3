/* help.h - shell completions from the option tables; rsc_print_help() is in session.h. */
#ifndef RSC_CMD_HELP_H
#define RSC_CMD_HELP_H

#include <stdio.h>

/* Prints a completion script for bash, zsh or fish. Returns 0, or -1 for another shell. */
int rsc_print_completion(FILE *to, const char *shell);

#endif
