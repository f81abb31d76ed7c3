/*
 * report.h - results for people and for other programs: text, JSON, CSV, folded
 * stacks, speedscope, an HTML page.
 *
 * A result is of one kind: profiles, a simulation, a study of sampling, loops, a comparison, advice, annotated
 * source, a table. One
 * table (report.c) has which kind is rendered in which format, and which can be kept as
 * profiles. Everything is built in memory and handed over; where it goes (terminal,
 * pager, file) is the caller's business.
 */
#ifndef RSC_REPORT_REPORT_H
#define RSC_REPORT_REPORT_H

#include "profile/loops_result.h"
#include "profile/profile_model.h"
#include "profile/sim_result.h"
#include "profile/study_result.h"
#include "report/draw/machine.h"

enum rsc_report_format {
    RSC_REPORT_NONE = 0, /* no format goes by that name */
    RSC_REPORT_TEXT,
    RSC_REPORT_JSON,
    RSC_REPORT_CSV,
    RSC_REPORT_FOLDED,
    RSC_REPORT_SPEEDSCOPE,
    RSC_REPORT_HTML,
    RSC_REPORT_SARIF,
    RSC_REPORT_GITHUB, /* annotations of lines, as a GitHub workflow prints them */
    RSC_REPORT_FORMATS,
};

enum rsc_result_kind {
    RSC_RESULT_PROFILES,
    RSC_RESULT_SIM,
    RSC_RESULT_STUDY,
    RSC_RESULT_LOOPS,
    RSC_RESULT_DIFF,
    RSC_RESULT_ADVICE,
    RSC_RESULT_ANNOTATION,
    RSC_RESULT_TABLE,
    RSC_RESULT_KINDS,
};

/* What a verb yields. Of the pointers only that of its kind is looked at; nothing is owned. */
struct rsc_result {
    enum rsc_result_kind kind;
    struct rsc_profile *const *profiles; /* sealed; also what advice, annotated source and tables are of */
    size_t count;                        /* of profiles */
    const struct rsc_sim_result *sim;
    const struct rsc_study *study;
    const struct rsc_loops_findings *loops;
    const struct rsc_diff_report *diff;
    const struct rsc_annotate_options *annotate;
    const struct rsc_table *table;
};

#define RSC_REPORT_WIDTH_MIN 40
#define RSC_REPORT_WIDTH_MAX 200

/* How text is drawn. A zeroed style is 80 columns of plain ASCII without cache marks. */
struct rsc_report_style {
    unsigned width; /* columns; 0: 80; kept between RSC_REPORT_WIDTH_MIN and _MAX */
    int unbounded;  /* nobody's window is the limit: source need not be cut to the width */
    int unicode;    /* block and braille characters, else only ASCII */
    int colour;     /* ANSI colours: one for each cache level that would serve a reference */
    const struct rsc_machine *machine; /* whose caches to mark; NULL: none */
    uint64_t at_bytes; /* cache size at which code, pairs and objects are ranked; 0: the machine's L2, else 1 MiB */
    int references;    /* stacks are weighed by references, not by misses at that size */
    const struct rsc_page_extras *page; /* what else goes into an HTML page (page.h); NULL: nothing */
    int brief; /* of text, what fits in RSC_REPORT_BRIEF_LINES a profile: a sentence, facts, curve, words, worst lines and pairs */
};

#define RSC_REPORT_BRIEF_LINES 55 /* and 5 of next commands */

/* By suffix: .txt, .json, .csv, .folded, .speedscope.json, .html, .sarif; RSC_REPORT_NONE for any other, "-" included. */
enum rsc_report_format rsc_report_format_of_path(const char *path);

/* By name, as --format takes it: text, json, csv, folded, speedscope, html, sarif, github. */
enum rsc_report_format rsc_report_format_of_name(const char *name);

/* The name again. Not of RSC_REPORT_NONE. */
const char *rsc_report_format_name(enum rsc_report_format format);

/* Whether results of a kind are rendered in a format. */
int rsc_report_renders(enum rsc_result_kind kind, enum rsc_report_format format);

/* The formats of a kind as words: "text, json, csv, html". Returns words. */
const char *rsc_report_format_list(enum rsc_result_kind kind, char words[80]);

/*
 * Renders a result into *text, NUL-terminated, `*bytes` without the NUL; the
 * caller frees it. style matters for text, stacks and pages only and may be NULL. Return 0 or
 * RSC_ENOMEM (RSC_EINVAL for a format that the kind does not have).
 */
int rsc_report_render(const struct rsc_result *result, enum rsc_report_format format,
                      const struct rsc_report_style *style, char **text, size_t *bytes, struct rsc_error *error);

/* Whether results of a kind can be kept as a container of profiles, and keeping one, as rsc_profiles_save(). */
int rsc_report_saves(enum rsc_result_kind kind);
int rsc_report_save(const struct rsc_result *result, const char *path, int keep_old, struct rsc_error *error);

/* One format of one kind, with the contract of rsc_report_render(). */
typedef int rsc_renderer(const struct rsc_result *result, const struct rsc_report_style *style, char **text,
                         size_t *bytes, struct rsc_error *error);

/*
 * The drawn report: totals, histogram, curve, quantiles, what that means in
 * words, the worst lines, pairs and objects, phases, threads.
 */
rsc_renderer rsc_report_text;

/*
 * One tidy table (csv.c describes the columns):
 *     profile,model,line_bytes,table,name,lo,hi,count,value,low,high
 */
rsc_renderer rsc_report_csv;

/* Misses or references by call path, for tools that draw flame graphs (flame.c). */
rsc_renderer rsc_report_folded, rsc_report_speedscope;

#endif
