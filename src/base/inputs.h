/*
 * inputs.h - remembers which files were read, so that no result takes the place of one of them, nor can be read by more
 * users than they can. Whatever opens a file to read what a result is made from reports it here. Of a process, not of a
 * trace or profile: the tool asks for it; in the library alone nothing is remembered.
 */
#ifndef RSC_BASE_INPUTS_H
#define RSC_BASE_INPUTS_H

#include <sys/stat.h>

/* From here on files are remembered. */
void rsc_inputs_remember(void);

/* This file is read. Pipes, devices and folders do not count. */
void rsc_input_opened(int fd);

/* The same for a file that another process reads, by its name. */
void rsc_input_named(const char *path);

/* A file that is not read, but must not be written either: a program that runs. */
void rsc_input_spare(const char *path);

/* Whether this file is one of them. */
int rsc_input_is(const struct stat *file);

/* Permissions of group and others that some file that was read does not give, and so no result may. */
mode_t rsc_inputs_hidden(void);

#endif
