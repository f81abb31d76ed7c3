/*
 * page.h - a profile as one self-contained HTML page.
 *
 * The page is a template (web/dist/page.html, embedded by the build) with the data
 * as JSON inside; its script draws everything from that. Its content security
 * policy allows only that script, by its hash, and no fetching.
 */
#ifndef RSC_REPORT_PAGE_H
#define RSC_REPORT_PAGE_H

#include "report/report.h"

/* The bundled template; made by the build. */
extern const unsigned char rsc_page_template[];
extern const size_t rsc_page_template_bytes;

/* The placeholder for the data; occurs once in the template. */
#define RSC_PAGE_DATA_MARK "@@DATA@@"

/* Limit of source text in one page; further files are left out. */
#define RSC_PAGE_SOURCE_MAX (8u << 20)

/* Extra contents of a page. A zeroed struct: none. */
struct rsc_page_extras {
    const char *const *names; /* of the profiles, in their order; NULL: none */
    int embed_source;         /* the text of source files that code rows name: rsc_source_read_shareable() */
    const char *const *source_folders; /* where to look for them first */
    size_t source_folder_count;
    /* called for each source file found: embedded (refused is NULL), or why not; NULL: nobody asks */
    void (*report_source)(void *context, const char *name, const char *refused);
    void *context;
    const char *const *documents; /* JSON texts from rsc_page_document_read() */
    size_t document_count;
};

/* Renders the page. Profiles may be empty if style->page has documents. */
rsc_renderer rsc_report_page;

/*
 * Escapes JSON for use inside a script element: `<`, `>`, `&`, U+2028 and U+2029,
 * which valid JSON has only inside strings. The caller frees *escaped, which is
 * NUL-terminated. Returns 0 or RSC_ENOMEM.
 */
int rsc_page_escape(const char *json, size_t bytes, char **escaped, size_t *escaped_bytes);

/*
 * Reads a result other than a profile that a page can show: JSON of `sim`
 * (reusescope-sim/1) or `loops` (reusescope-loops/1). Returns which, and the text, which
 * the caller frees; 0 if the file is something else, or cannot be read (the profile
 * loader then reports why); RSC_EFORMAT if parts are missing; RSC_ENOMEM.
 */
enum { RSC_PAGE_SIMULATION = 1, RSC_PAGE_LOOPS = 2 };
int rsc_page_document_read(const char *path, char **text, struct rsc_error *error);

#endif
