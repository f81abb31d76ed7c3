/*
 * diff.h - two profiles of one program compared: the whole run, its functions and
 * its lines, at several cache sizes.
 *
 * A number has changed only if its two intervals are apart. Exact profiles have
 * intervals of no width. Of a sampled one, the curve has its own; misses of a
 * part with a share s of all misses are given the half width of all of them times
 * sqrt(s), as of independent samples. Rows of bounded tables reach down by their
 * error.
 *
 * Code is one by its names, never by its address, which differs from run to run:
 * the function (without what a compiler appends to clones) and the last part of
 * its file's name, or of the module's where no file is known. A module is one by its
 * build id where both profiles have it, whatever its file is called: then code
 * without a name is matched by its address in the module, which is the same in
 * every run, and lines are where they were. Else lines within a function are
 * matched after moving all of the old ones by the one number of lines that lets
 * most of them meet: an edit above a function changes nothing in it.
 */
#ifndef RSC_REPORT_DIFF_H
#define RSC_REPORT_DIFF_H

#include "report/report.h"

#define RSC_DIFF_SIZES_MAX 8
#define RSC_DIFF_RULES_MAX 16

enum { RSC_DIFF_OLD, RSC_DIFF_NEW };

/* An estimate with its interval: low <= value <= high. */
struct rsc_diff_value {
    double value, low, high;
};

enum rsc_diff_verdict { RSC_DIFF_SAME, RSC_DIFF_WORSE, RSC_DIFF_BETTER };

/* WORSE if the new interval is above the old one. */
enum rsc_diff_verdict rsc_diff_verdict(const struct rsc_diff_value sides[2]);

struct rsc_diff_size {
    uint64_t bytes, lines;
    char name[8]; /* "L2" where it is that of a cache of the machine, else "" */
    struct rsc_diff_value miss_ratio[2], misses[2];
};

/* A function, or a line of one. */
struct rsc_diff_row {
    const struct rsc_place *place; /* of the new profile if it has it, else of the old */
    int by_offset;                 /* without a name: it is the code at place->offset */
    int has_line;                  /* else only function, file and module of `place` count */
    uint64_t references[2];
    struct rsc_diff_value misses[2][RSC_DIFF_SIZES_MAX];
};

/* A module of two builds: the old and the new one. */
struct rsc_diff_module {
    const struct rsc_module_row *sides[2];
};

struct rsc_diff {
    const struct rsc_profile *sides[2];
    struct rsc_diff_size sizes[RSC_DIFF_SIZES_MAX];
    size_t size_count;
    size_t unknown_sizes; /* left out: beyond what a cap lets be known, or beyond RSC_DIFF_SIZES_MAX */
    size_t ranked_at; /* index of the size whose misses changed most: rows are in the order of their change there */
    struct rsc_diff_row *functions, *lines; /* owned */
    size_t function_count, line_count;
    struct rsc_diff_module *rebuilt; /* owned */
    size_t rebuilt_count;
    int same_builds; /* every module of the new side whose build id is known is in the old one too, and there is one */
};

/* A size to compare at: in bytes, or a cache of the machine by its name. */
struct rsc_diff_at {
    uint64_t bytes;
    char name[8];
};

/*
 * Compares. count 0: the machine's caches, or 32K, 1M and 32M if there are none.
 * Both profiles must live as long as the result and have one line size and model
 * (RSC_EINVAL). RSC_ENOMEM. A zeroed struct may be freed.
 */
int rsc_diff_make(struct rsc_diff *diff, const struct rsc_profile *old_profile, const struct rsc_profile *new_profile,
                  const struct rsc_diff_at *at, size_t count, const struct rsc_machine *machine,
                  struct rsc_error *error);
void rsc_diff_free(struct rsc_diff *diff);

/* ---- what fails (diff_rules.c) ---- */

enum rsc_diff_scope { RSC_DIFF_RUN, RSC_DIFF_FUNCTION, RSC_DIFF_LINE };
enum rsc_diff_metric { RSC_DIFF_MISS_RATIO, RSC_DIFF_MISSES, RSC_DIFF_REFERENCES, RSC_DIFF_FOOTPRINT, RSC_DIFF_COLD };

/* "miss_ratio>+5%", "misses>+1000", "function.misses>+10%", "line.miss_ratio>+0.02". */
struct rsc_diff_rule {
    char text[48];
    enum rsc_diff_scope scope;
    enum rsc_diff_metric metric;
    double more; /* than the old value by this ... */
    int relative; /* ... times the old value */
};

/* Appends the rules of a list separated by commas. 0, or RSC_EINVAL with what is wrong in `error`. */
int rsc_diff_rules_parse(struct rsc_diff_rule *rules, size_t *count, const char *text, struct rsc_error *error);

/* Something to be told: a rule that is broken, or a line that got worse. */
struct rsc_diff_finding {
    const struct rsc_diff_rule *rule; /* NULL: none is broken */
    enum rsc_diff_scope scope;
    const struct rsc_diff *diff;
    int sized; /* of a cache of ... */
    size_t size; /* ... this size */
    struct rsc_diff_value sides[2];
    const struct rsc_diff_row *row; /* the function or line it is about; NULL: the run */
    const struct rsc_diff_row *where; /* the line to show it at: the one that gained most misses; NULL: none is known */
};

struct rsc_diff_findings {
    struct rsc_diff_finding *items; /* owned */
    size_t count, broken; /* broken ones come first */
};

/*
 * What is broken, and up to ten lines that got worse by a hundredth of the old
 * run's misses or more. Rows with less than a hundredth of the new run's misses
 * (references) break no rule. Returns 0 or RSC_ENOMEM.
 */
int rsc_diff_judge(struct rsc_diff_findings *findings, const struct rsc_diff *diffs, size_t count,
                   const struct rsc_diff_rule *rules, size_t rule_count);
void rsc_diff_findings_free(struct rsc_diff_findings *findings);

/* One sentence. */
struct rsc_diff_words {
    char text[640];
};
struct rsc_diff_words rsc_diff_finding_words(const struct rsc_diff_finding *finding);

/* ---- to be shown ---- */

struct rsc_diff_report {
    const struct rsc_diff *diffs;
    size_t count;
    const struct rsc_diff_findings *findings;
    const struct rsc_diff_rule *rules;
    size_t rule_count;
    const char *names[2]; /* the files that were compared */
    const char *source_root; /* absolute: names of files below it are shown from there; NULL: as they are */
    size_t unmatched; /* profiles of either file with no partner in the other */
};

/* A file's name as it is shown: from the root where it lies below it. */
const char *rsc_diff_file_name(const struct rsc_diff_report *report, const char *file);

rsc_renderer rsc_diff_text, rsc_diff_json, rsc_diff_sarif, rsc_diff_github;

#endif
