/*
 * loops_result.h - what `reusescope loops` found, on its way to text, JSON, CSV
 * and profiles.
 */
#ifndef RSC_CMD_LOOPS_RESULT_H
#define RSC_CMD_LOOPS_RESULT_H

#include "cmd/session.h"
#include "loops/tree/loop_tree.h"
#include "loops/model/loops_model.h"

/* One way to run a loop: as the source says, or as a what-if question. */
struct rsc_loops_variant {
    char *what;       /* NULL: as it is. Owned */
    const char *note; /* about a what-if: NULL, or why it may compute something else */
    const struct rsc_loop_program *program;
    struct rsc_loop_program *changed; /* owned; NULL: the program as it was read */
    uint64_t references, distinct;
    struct rsc_loops_result **result; /* by number of threads; owned */
    size_t result_count;
};

struct rsc_loops_found {
    uint32_t region;
    struct rsc_loops_variant *variant; /* owned; the first is the loop as it is. None: not analysed */
    size_t variant_count;
};

struct rsc_loops_findings {
    const char *file;                 /* as it was given */
    struct rsc_loop_program *program; /* owned */
    uint64_t line_bytes;
    uint64_t at_bytes;            /* cache size for the list of references */
    struct rsc_loops_found *loop; /* owned */
    size_t loop_count;
};

void rsc_loops_findings_free(struct rsc_loops_findings *findings);

/* "static", "dynamic,4", "static collapse(2)", "sequential"; several different ones joined by "; ". */
void rsc_loops_schedule_text(const struct rsc_loop_region *region, char *text, size_t room);

/* Each makes text that the caller frees; 0 or RSC_ENOMEM. */
int rsc_loops_text(const struct rsc_loops_findings *findings, const struct rsc_report_style *style, char **text,
                   size_t *bytes);
int rsc_loops_json(const struct rsc_loops_findings *findings, char **text, size_t *bytes);
int rsc_loops_csv(const struct rsc_loops_findings *findings, char **text, size_t *bytes);

/* A profile of one result, sealed; NULL when memory is out. */
struct rsc_profile *rsc_loops_profile(const struct rsc_loops_findings *findings,
                                      const struct rsc_loops_variant *variant, const struct rsc_loop_region *region,
                                      const struct rsc_loops_result *result, char *const *command);

#endif
