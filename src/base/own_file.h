/* own_file.h - finds the files that come with the tool and the library. */
#ifndef RSC_BASE_OWN_FILE_H
#define RSC_BASE_OWN_FILE_H

#include <limits.h>

/*
 * Finds a file by its name, which may contain folders: next to the tool or library that this code is in (a build tree),
 * or in the library folder of its prefix. Returns 1 with its path, or 0.
 */
int rsc_own_file(const char *name, char path[PATH_MAX]);

#endif
