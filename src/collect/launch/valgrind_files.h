/* valgrind_files.h - finds our Valgrind tool and its files, and reports what is missing. */
#ifndef RSC_COLLECT_LAUNCH_VALGRIND_FILES_H
#define RSC_COLLECT_LAUNCH_VALGRIND_FILES_H

#include <reusescope/error.h>

/* Reports what is missing, in one line with the fix; 0 if nothing is. */
int rsc_valgrind_check(struct rsc_error *error);

/* Absolute paths; NULL when not found. Static storage. */
const char *rsc_valgrind_tool_path(void);
const char *rsc_valgrind_launcher_path(void); /* for programs that a followed program starts */
const char *rsc_valgrind_preload_path(void);  /* library that reports heap blocks */

#endif
