/*
 * report.h - renders results as text, JSON, CSV, folded stacks, an HTML page or for the
 * viewers speedscope, KCachegrind and pprof.
 *
 * Kinds of results: profiles, a simulation, object caches, a study of sampling, loops, a comparison,
 * its accuracy, advice, annotated source, a table. A table in report.c lists the formats of each kind,
 * and which kinds can be saved as profiles. Everything is built in memory; the caller
 * decides where it goes (terminal, pager, file).
 */
#ifndef RSC_REPORT_REPORT_H
#define RSC_REPORT_REPORT_H

#include "profile/loops_result.h"
#include "profile/objects_result.h"
#include "profile/profile_model.h"
#include "profile/sim_result.h"
#include "profile/study_result.h"
#include "base/machine.h"

enum rsc_report_format {
    RSC_REPORT_NONE = 0, /* no such format */
    RSC_REPORT_TEXT,
    RSC_REPORT_JSON,
    RSC_REPORT_CSV,
    RSC_REPORT_FOLDED,
    RSC_REPORT_SPEEDSCOPE,
    RSC_REPORT_CALLGRIND,
    RSC_REPORT_PPROF,
    RSC_REPORT_HTML,
    RSC_REPORT_SARIF,
    RSC_REPORT_GITHUB, /* annotations of lines, as a GitHub workflow prints them */
    RSC_REPORT_FORMATS,
};

enum rsc_result_kind {
    RSC_RESULT_PROFILES,
    RSC_RESULT_SIM,
    RSC_RESULT_OBJECTS,
    RSC_RESULT_STUDY,
    RSC_RESULT_LOOPS,
    RSC_RESULT_DIFF,
    RSC_RESULT_ACCURACY,
    RSC_RESULT_ADVICE,
    RSC_RESULT_ANNOTATION,
    RSC_RESULT_TABLE,
    RSC_RESULT_KINDS,
};

/* The result of a verb. Only the pointer of its kind is used; nothing is owned. */
struct rsc_result {
    enum rsc_result_kind kind;
    struct rsc_profile *const *profiles; /* sealed; also the input of advice, annotated source and tables */
    size_t count;                        /* of profiles */
    const struct rsc_sim_result *sim;
    const struct rsc_objects_result *objects;
    const struct rsc_study *study;
    const struct rsc_loops_findings *loops;
    const struct rsc_diff_report *diff;
    const struct rsc_accuracy_report *accuracy;
    const struct rsc_annotate_options *annotate;
    const struct rsc_table *table;
};

#define RSC_REPORT_WIDTH_MIN 40
#define RSC_REPORT_WIDTH_MAX 200

/* How text is drawn. A zeroed style is 80 columns of plain ASCII without cache marks. */
struct rsc_report_style {
    unsigned width; /* columns; 0: 80; kept between RSC_REPORT_WIDTH_MIN and _MAX */
    int unbounded;  /* not for a terminal: source is not cut to the width */
    int unicode;    /* block and braille characters, else only ASCII */
    int colour;     /* ANSI colours: one for each cache level that would serve a reference */
    const struct rsc_machine *machine; /* whose caches to mark; NULL: none */
    int costs; /* JSON and CSV have the cycles that misses cost there; text and pages always do */
    uint64_t at_bytes; /* cache size for ranking code, pairs and objects; 0: the one that matters (rsc_rank_size()) */
    int references;    /* stacks are weighed by references, not by misses at that size */
    const struct rsc_page_extras *page; /* extra contents of an HTML page (page.h); NULL: none */
    /* Profiles as text: */
    uint32_t sections;     /* only these (rsc_report_section_of_name()); 0: all */
    int screen;            /* instead, the first screen: at most RSC_SCREEN_LINES */
    unsigned lines_taken;  /* of the screen, printed before */
    const char *data_file; /* the profile in commands to type next; "": the default; NULL: no such commands */
    unsigned curve_rows;   /* at most; 0: 12 */
    const char *source_root; /* paths below it are printed relative to it; NULL: as they are */
    int full_names;        /* C++ names with their template arguments */
};

#define RSC_SCREEN_LINES 40

/* The section of a text report with this name, for `sections`; 0: none. */
uint32_t rsc_report_section_of_name(const char *name, size_t length);

/* By suffix: .txt, .json, .csv, .folded, .speedscope.json, .callgrind, .pb.gz, .html, .sarif; RSC_REPORT_NONE for all others and "-". */
enum rsc_report_format rsc_report_format_of_path(const char *path);

/* By name, as --format takes it: text, json, csv, folded, speedscope, callgrind, pprof, html, sarif, github. */
enum rsc_report_format rsc_report_format_of_name(const char *name);

/* The name of a format, except RSC_REPORT_NONE. */
const char *rsc_report_format_name(enum rsc_report_format format);

/* Whether results of a kind are rendered in a format. */
int rsc_report_renders(enum rsc_result_kind kind, enum rsc_report_format format);

/* Lists the formats of a kind: "text, json, csv, html". Returns words. */
const char *rsc_report_format_list(enum rsc_result_kind kind, char words[80]);

/*
 * Renders a result into *text, NUL-terminated, `*bytes` without the NUL; the
 * caller frees it. `style` is used only for text, stacks and pages and may be NULL.
 * Returns 0, RSC_ENOMEM, or RSC_EINVAL for a format that the kind does not have.
 */
int rsc_report_render(const struct rsc_result *result, enum rsc_report_format format,
                      const struct rsc_report_style *style, char **text, size_t *bytes, struct rsc_error *error);

/* Whether results of a kind can be saved as a container of profiles; and saving one, as rsc_profiles_save(). */
int rsc_report_saves(enum rsc_result_kind kind);
int rsc_report_save(const struct rsc_result *result, const char *path, int keep_old, struct rsc_error *error);

/* One format of one kind, with the contract of rsc_report_render(). */
typedef int rsc_renderer(const struct rsc_result *result, const struct rsc_report_style *style, char **text,
                         size_t *bytes, struct rsc_error *error);

/* The drawn report: the first screen, or sections with everything that is known (text.c). */
rsc_renderer rsc_report_text;

/*
 * One tidy table (csv.c describes the columns):
 *     profile,model,line_bytes,table,name,lo,hi,count,value,low,high
 */
rsc_renderer rsc_report_csv;

/* Misses and references by call path, for flame graph tools (flame.c), KCachegrind (callgrind.c) and pprof (pprof.c). */
rsc_renderer rsc_report_folded, rsc_report_speedscope, rsc_report_callgrind, rsc_report_pprof;

#endif
