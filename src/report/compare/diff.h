/*
 * diff.h - compares two profiles of one program: the whole run, its functions and its
 * lines, at several cache sizes.
 *
 * A number has changed only if its two intervals do not overlap. Exact profiles have
 * intervals of zero width. The curve of a sampled profile has its own intervals; a part
 * with a share s of all misses gets the half width of the total times sqrt(s), as for
 * independent samples. Rows of bounded tables are extended down by their error.
 *
 * Code is matched by name, never by its address, which differs between runs: by
 * function (without clone suffixes) and the last part of the file name, or of the module
 * name if the file is not known. Modules are matched by build id if both profiles have
 * it, whatever the file name. In such a module, code without a name is matched by its
 * address in the module, which is the same in every run, and lines do not move. In other
 * modules, all old lines of a function are moved by the one distance that matches most
 * of them, so an edit above a function changes nothing in it.
 *
 * A program that was watched for a while (`attach`) made as many references as there was time for. Then counts of the
 * old side are scaled to the references of the new one: what is compared is misses per reference.
 */
#ifndef RSC_REPORT_DIFF_H
#define RSC_REPORT_DIFF_H

#include "profile/row_misses.h"
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

/* A run's change by a smaller share of the old value is noise: the loader's work differs from run to run. */
#define RSC_DIFF_RUN_NOISE 0.005

/* The same for a total of the run, SAME if it changed by less than the noise. */
enum rsc_diff_verdict rsc_diff_run_verdict(const struct rsc_diff_value sides[2]);

struct rsc_diff_size {
    uint64_t bytes, lines;
    char name[8]; /* "L2" if it is the size of a cache of the machine, else "" */
    struct rsc_diff_value miss_ratio[2], misses[2];
    struct rsc_diff_value mpki[2]; /* misses per 1000 instructions; if rsc_diff.has_mpki */
};

/* A function, or a line of one. */
struct rsc_diff_row {
    const struct rsc_place *place; /* of the new profile, else of the old */
    int by_offset;                 /* without a name: it is the code at place->offset */
    int has_line;                  /* 0: only function, file and module of `place` are valid */
    uint64_t references[2];
    struct rsc_diff_value misses[2][RSC_DIFF_SIZES_MAX];
};

/* A module of two builds: the old and the new one. */
struct rsc_diff_module {
    const struct rsc_module_row *sides[2];
};

struct rsc_diff {
    const struct rsc_profile *sides[2];
    int lengths_differ; /* a side was watched for a while, and the numbers of references are not the same */
    double scale[2];    /* of counts in sizes and rows; 1 unless lengths differ */
    struct rsc_diff_size sizes[RSC_DIFF_SIZES_MAX];
    struct rsc_split splits[2][RSC_DIFF_SIZES_MAX]; /* by side */
    size_t size_count;
    int has_mpki;         /* both sides know their instructions */
    size_t unknown_sizes; /* left out: above a --max-distance, or more than RSC_DIFF_SIZES_MAX */
    size_t ranked_at; /* index of the size whose misses changed most; rows are ordered by their change there */
    struct rsc_diff_row *functions, *lines; /* owned */
    size_t function_count, line_count;
    struct rsc_diff_module *rebuilt; /* owned */
    size_t rebuilt_count;
    int same_builds; /* some modules of the new side have a known build id, and all of these are also on the old side */
};

/* A size to compare at: in bytes, or a cache of the machine by its name. */
struct rsc_diff_at {
    uint64_t bytes;
    char name[8];
};

/*
 * Compares two profiles. count 0: the machine's caches, or 32K, 1M and 32M if it has
 * none. Both profiles must live as long as the result and have the same line size and
 * model (else RSC_EINVAL). May return RSC_ENOMEM. A zeroed struct may be freed.
 */
int rsc_diff_make(struct rsc_diff *diff, const struct rsc_profile *old_profile, const struct rsc_profile *new_profile,
                  const struct rsc_diff_at *at, size_t count, const struct rsc_machine *machine,
                  struct rsc_error *error);
void rsc_diff_free(struct rsc_diff *diff);

/* ---- rules (diff_rules.c) ---- */

enum rsc_diff_scope { RSC_DIFF_RUN, RSC_DIFF_FUNCTION, RSC_DIFF_LINE };
enum rsc_diff_metric { RSC_DIFF_MISS_RATIO, RSC_DIFF_MISSES, RSC_DIFF_REFERENCES, RSC_DIFF_FOOTPRINT, RSC_DIFF_COLD };

/* A part's change that is a smaller share of all misses (references) is noise. */
#define RSC_DIFF_NOISE 0.001

/* "miss_ratio>+5%", "misses>+1000", "function.misses>+10%", "line.miss_ratio>+0.02". */
struct rsc_diff_rule {
    char text[48];
    enum rsc_diff_scope scope;
    enum rsc_diff_metric metric;
    double more; /* than the old value by this ... */
    int relative; /* ... times the old value */
};

/* Whether the rule is about a number that grows with the length of a run, whatever its references do. */
int rsc_diff_rule_needs_length(const struct rsc_diff_rule *rule);

/* Appends the rules of a list separated by commas. Returns 0, or RSC_EINVAL with a message in `error`. */
int rsc_diff_rules_parse(struct rsc_diff_rule *rules, size_t *count, const char *text, struct rsc_error *error);

/* A finding: a broken rule, or a line that got worse. */
struct rsc_diff_finding {
    const struct rsc_diff_rule *rule; /* the broken rule; NULL: none */
    enum rsc_diff_scope scope;
    const struct rsc_diff *diff;
    int sized; /* of a cache of ... */
    size_t size; /* ... this size */
    struct rsc_diff_value sides[2];
    const struct rsc_diff_row *row; /* the function or line it is about; NULL: the run */
    const struct rsc_diff_row *where; /* the line to show it at, with the largest gain in misses; NULL: not known */
};

struct rsc_diff_findings {
    struct rsc_diff_finding *items; /* owned */
    size_t count, broken; /* broken ones come first */
};

/*
 * Finds broken rules, and up to ten lines that got worse by at least 1 % of the old
 * run's misses. Rows with less than 1 % of the new run's misses (references) break no
 * rule. Returns 0 or RSC_ENOMEM.
 */
int rsc_diff_judge(struct rsc_diff_findings *findings, const struct rsc_diff *diffs, size_t count,
                   const struct rsc_diff_rule *rules, size_t rule_count);
void rsc_diff_findings_free(struct rsc_diff_findings *findings);

/* A finding as one sentence. */
struct rsc_diff_words {
    char text[640];
};
struct rsc_diff_words rsc_diff_finding_words(const struct rsc_diff_finding *finding);

/* ---- rendering ---- */

struct rsc_diff_report {
    const struct rsc_diff *diffs;
    size_t count;
    const struct rsc_diff_findings *findings;
    const struct rsc_diff_rule *rules;
    size_t rule_count;
    const char *names[2]; /* the files that were compared */
    const char *source_root; /* absolute; file names below it are shown relative to it; NULL: shown unchanged */
    size_t unmatched; /* profiles of either file with no partner in the other */
};

/* A file name as shown: relative to the root if below it. */
const char *rsc_diff_file_name(const struct rsc_diff_report *report, const char *file);

rsc_renderer rsc_diff_text, rsc_diff_json, rsc_diff_sarif, rsc_diff_github;

#endif
