/*
 * source_text.h - source files, found by the names that debug information gives
 * them.
 */
#ifndef RSC_REPORT_SOURCE_TEXT_H
#define RSC_REPORT_SOURCE_TEXT_H

#include <stddef.h>

#define RSC_SOURCE_BYTES_MAX (16u << 20)

struct rsc_source {
    char *text;         /* owned; every line is NUL-terminated in it */
    const char **lines; /* owned; lines[0] is line 1 */
    size_t line_count;
};

/*
 * Reads a source file: below each folder, tried with ever shorter ends of the
 * name (src/a.c, then a.c, but nothing that climbs out of the folder), then under
 * the name itself. Only regular files of up to RSC_SOURCE_BYTES_MAX are read;
 * anything else, and a file that is not there, is not found. Returns 1 if it was
 * found, 0 if not, or RSC_ENOMEM. rsc_source_free() is for all three.
 */
int rsc_source_read(struct rsc_source *source, const char *name, const char *const *folders, size_t folder_count);
void rsc_source_free(struct rsc_source *source);

#endif
