/*
 * page.h - a profile as one HTML page that needs nothing but itself.
 *
 * The page is a template (web/dist/page.html, embedded by the build) and the data
 * as JSON inside of it; its script draws everything from there. Its content
 * security policy lets only that script run, by its hash, and nothing be fetched.
 */
#ifndef RSC_REPORT_PAGE_H
#define RSC_REPORT_PAGE_H

#include "report/report.h"

/* The bundled template; made by the build. */
extern const unsigned char rsc_page_template[];
extern const size_t rsc_page_template_bytes;

/* Stands once in the template, for the data. */
#define RSC_PAGE_DATA_MARK "@@DATA@@"

/* Most source text that one page takes: files after that are left out. */
#define RSC_PAGE_SOURCE_MAX (8u << 20)

/* What else may go into a page. A zeroed struct: nothing. */
struct rsc_page_extras {
    const char *const *names; /* of the profiles, in their order; NULL: none */
    int embed_source;         /* the text of source files that code rows name */
    const char *const *source_folders; /* where to look for them first */
    size_t source_folder_count;
    const char *const *documents; /* JSON texts from rsc_page_document_read() */
    size_t document_count;
};

/* The page. There may be no profiles where style->page has documents. */
rsc_renderer rsc_report_page;

/*
 * JSON text that can stand inside a script element: `<`, `>`, `&`, U+2028 and
 * U+2029, which valid JSON has only inside strings, become escapes. The caller
 * frees *escaped, which is NUL-terminated. Returns 0 or RSC_ENOMEM.
 */
int rsc_page_escape(const char *json, size_t bytes, char **escaped, size_t *escaped_bytes);

/*
 * Reads a result that is no profile but that a page shows: JSON of `sim`
 * (reusescope-sim/1) or `loops` (reusescope-loops/1). Returns 1 and the text, which the caller
 * frees; 0 if the file is something else, or cannot be read (the profile loader
 * then says why); RSC_EFORMAT if it is one with parts missing, RSC_ENOMEM.
 */
int rsc_page_document_read(const char *path, char **text, struct rsc_error *error);

#endif
