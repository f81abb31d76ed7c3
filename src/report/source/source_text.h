/*
 * source_text.h - finds source files by their names in debug information.
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
 * Reads a source file. Tries shorter and shorter ends of the name below each folder
 * (src/a.c, then a.c, never outside the folder), then the name itself. Only regular
 * files of up to RSC_SOURCE_BYTES_MAX are read; everything else counts as not found.
 * Returns 1 if found, 0 if not, or RSC_ENOMEM. Call rsc_source_free() in all cases.
 */
int rsc_source_read(struct rsc_source *source, const char *name, const char *const *folders, size_t folder_count);

/*
 * The same for text that is to be handed on: only files below one of the folders or the
 * current one, links followed, that everyone on this machine may read. A file that was
 * found but may not be handed on sets *refused to the reason (else NULL).
 */
int rsc_source_read_shareable(struct rsc_source *source, const char *name, const char *const *folders,
                              size_t folder_count, const char **refused);
void rsc_source_free(struct rsc_source *source);

#endif
