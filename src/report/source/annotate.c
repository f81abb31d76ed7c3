/*
 * annotate.c - prints source files with the references and misses of each line.
 *
 * First the plan: the requested lines by file, files ordered by misses. Then, file by
 * file, the source with the numbers in columns before it; columns are dropped if they
 * leave too little room for the source.
 */
#include "report/source/annotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/draw/place_text.h"
#include "report/ranking.h"
#include "report/source/source_text.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"

#define FILES_SHOWN 3
#define COLUMN 7        /* of a number: six digits and units, and a blank */
#define SOURCE_LEAST 24 /* columns left for the source */
#define TAB 8

/* ---- the plan ---- */

struct source_file {
    const char *name;
    const struct rsc_rank **lines; /* into plan.lines, ascending by line */
    size_t line_count;
    uint64_t references, misses, error;
    double cycles; /* 0: not ordered by them */
};

struct plan {
    const struct rsc_profile *profile;
    struct rsc_rank_size rank_size;
    struct rsc_rank_size sizes[RSC_ANNOTATE_SIZES_MAX];
    size_t size_count;
    struct rsc_ranking ranking;
    const struct rsc_rank **lines; /* owned */
    size_t line_count;
    struct source_file *files; /* owned; most misses first */
    size_t file_count, shown;
    uint64_t all_misses;
    double all_cycles; /* 0: not ordered by them */
};

static const struct rsc_place *place_of(const struct rsc_rank *rank) {
    return &((const struct rsc_code_row *)rank->rows[0])->place;
}

/* Whether the function has this name, whatever its arguments. */
static int is_named(const char *function, const char *name) {
    size_t length = strlen(name);
    return function && !strncmp(function, name, length) && (!function[length] || function[length] == '(');
}

static int is_wanted(const struct rsc_rank *rank, const struct rsc_annotate_options *options) {
    if (options->file_contains && !strstr(place_of(rank)->file, options->file_contains)) return 0;
    if (!options->function) return 1;
    for (size_t i = 0; i < rank->row_count; i++)
        if (is_named(((const struct rsc_code_row *)rank->rows[i])->place.function, options->function)) return 1;
    return 0;
}

static int by_file_and_line(const void *left, const void *right) {
    const struct rsc_place *a = place_of(*(const struct rsc_rank *const *)left);
    const struct rsc_place *b = place_of(*(const struct rsc_rank *const *)right);
    int order = strcmp(a->file, b->file);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int more_misses(const void *left, const void *right) {
    const struct source_file *a = left, *b = right;
    if (a->cycles != b->cycles) return a->cycles < b->cycles ? 1 : -1;
    if (a->misses != b->misses) return a->misses < b->misses ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void choose_sizes(struct plan *plan, const struct rsc_annotate_options *options,
                         const struct rsc_report_style *style) {
    uint64_t bytes[RSC_ANNOTATE_SIZES_MAX] = {32 << 10, 1 << 20, 32 << 20};
    size_t count = 3;
    if (options->size_count) {
        count = options->size_count;
        memcpy(bytes, options->size_bytes, sizeof bytes);
    } else if (style->machine && style->machine->level_count) {
        count = style->machine->level_count < 4 ? style->machine->level_count : 4;
        for (size_t i = 0; i < count; i++) bytes[i] = style->machine->levels[i].size_bytes;
    }
    plan->rank_size = rsc_rank_size(plan->profile, style, options->size_count ? bytes[0] : style->at_bytes);
    for (size_t i = 0; i < count; i++) {
        struct rsc_rank_size size = rsc_rank_size(plan->profile, style, bytes[i]);
        /* Sizes that are equal because of a cap on distances are shown once. */
        if (plan->size_count && plan->sizes[plan->size_count - 1].lines == size.lines) continue;
        plan->sizes[plan->size_count++] = size;
    }
}

static void group_files(struct plan *plan) {
    for (size_t i = 0; i < plan->line_count; i++) {
        const struct rsc_place *place = place_of(plan->lines[i]);
        struct source_file *file = plan->file_count ? &plan->files[plan->file_count - 1] : NULL;
        if (!file || strcmp(file->name, place->file)) {
            file = &plan->files[plan->file_count++];
            file->name = place->file;
            file->lines = &plan->lines[i];
        }
        file->line_count++;
        file->references += plan->lines[i]->references;
        file->misses += plan->lines[i]->misses;
        if (plan->all_cycles > 0) file->cycles += plan->lines[i]->cost;
        file->error += plan->lines[i]->error;
    }
    qsort(plan->files, plan->file_count, sizeof *plan->files, more_misses);
}

static void plan_free(struct plan *plan) {
    rsc_ranking_free(&plan->ranking);
    free(plan->lines);
    free(plan->files);
}

static int plan_make(struct plan *plan, const struct rsc_profile *profile, const struct rsc_annotate_options *options,
                     const struct rsc_report_style *style) {
    *plan = (struct plan){.profile = profile};
    choose_sizes(plan, options, style);
    plan->all_misses = rsc_profile_misses(profile, plan->rank_size.lines);
    if (rsc_ranking_make(&plan->ranking, profile, RSC_RANK_SOURCE, plan->rank_size.lines)) return RSC_ENOMEM;
    if (!options->size_count && !style->at_bytes && rsc_cost_is_known(profile, style->machine)) {
        plan->all_cycles = rsc_cost_of_profile(profile, style->machine);
        rsc_ranking_by_cycles(&plan->ranking, style->machine);
    }
    plan->lines = calloc(plan->ranking.count + 1, sizeof *plan->lines);
    plan->files = calloc(plan->ranking.count + 1, sizeof *plan->files);
    if (!plan->lines || !plan->files) return RSC_ENOMEM;
    for (size_t i = 0; i < plan->ranking.count; i++)
        if (is_wanted(&plan->ranking.ranks[i], options)) plan->lines[plan->line_count++] = &plan->ranking.ranks[i];
    qsort(plan->lines, plan->line_count, sizeof *plan->lines, by_file_and_line);
    group_files(plan);
    plan->shown = options->all_files || plan->file_count < FILES_SHOWN ? plan->file_count : FILES_SHOWN;
    return 0;
}

/* ---- text ---- */

struct page {
    struct rsc_text *text;
    const struct plan *plan;
    const struct rsc_report_style *style;
    size_t sizes;                    /* shown */
    int cycles, median_bytes, median_lines; /* shown? */
};

/* The number of columns that leaves room for the source. */
static void choose_columns(struct page *page) {
    unsigned width = page->style->width, least = COLUMN + COLUMN + SOURCE_LEAST;
    page->sizes = page->plan->size_count;
    page->cycles = page->plan->all_cycles > 0 && width >= least + COLUMN * (page->sizes + 1);
    if (page->cycles) least += COLUMN;
    page->median_bytes = width >= least + COLUMN * page->sizes + COLUMN + 2;
    page->median_lines = page->median_bytes && width >= least + COLUMN * (page->sizes + 2) + 2 + SOURCE_LEAST;
    while (page->sizes > 1 && width < least + COLUMN * page->sizes) page->sizes--;
}

/* "1.25M" for 1.25 MiB. */
static void show_size(uint64_t bytes, char to[40]) {
    struct rsc_shown shown = rsc_show_bytes(bytes);
    size_t used = 0;
    for (const char *c = shown.text; *c; c++)
        if (*c != ' ' && *c != 'i' && (*c != 'B' || bytes < 1024)) to[used++] = *c;
    to[used] = 0;
}

static void put_heading(struct page *page) {
    struct rsc_text *text = page->text;
    const char *over = page->sizes >= 3 ? "misses in a cache of" : page->sizes == 2 ? "misses in" : "misses";
    char size[40];
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%*s%*s", page->cycles ? 2 * COLUMN : COLUMN, "", (int)(COLUMN * page->sizes), over);
    if (page->median_bytes) rsc_text_put(text, "%*s", page->median_lines ? 2 * COLUMN + 2 : COLUMN + 2, "median");
    rsc_text_put(text, "\n%*s", COLUMN, "refs");
    if (page->cycles) rsc_text_put(text, "%*s", COLUMN, "cycles");
    for (size_t i = 0; i < page->sizes; i++) {
        show_size(page->plan->sizes[i].bytes, size);
        rsc_text_put(text, "%*.6s", COLUMN, size);
    }
    if (page->median_lines) rsc_text_put(text, "%*s", COLUMN, "lines");
    if (page->median_bytes) rsc_text_put(text, "%*s", COLUMN + 2, page->median_lines ? "bytes" : "dist.");
    rsc_text_put(text, "%*s  source", COLUMN, "line");
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

static void put_median(struct page *page, const struct rsc_rank *rank) {
    uint64_t median = rsc_rank_median(&page->plan->ranking, rank, 0);
    uint64_t bytes = rsc_lines_to_bytes(median, page->plan->profile->made.line_bytes);
    int known = median != UINT64_MAX;
    if (page->median_lines) rsc_text_put(page->text, "%*s", COLUMN, known ? rsc_show_short(median).text : "-");
    if (page->median_bytes) rsc_text_put(page->text, "%*s", COLUMN + 2, known ? rsc_show_bytes(bytes).text : "-");
}

/* The columns of a line; rank is NULL if it has no references. */
static void put_numbers(struct page *page, const struct rsc_rank *rank, uint64_t number) {
    struct rsc_text *text = page->text;
    unsigned end = (unsigned)(COLUMN * (1 + page->sizes)) + (page->median_bytes ? COLUMN + 2 : 0) +
                   (page->median_lines ? COLUMN : 0) + (page->cycles ? COLUMN : 0);
    if (rank) {
        rsc_text_put(text, "%*s", COLUMN, rsc_show_short(rank->references).text);
        if (page->cycles) rsc_text_put(text, "%*s", COLUMN, rsc_show_cycles(rank->cost).text);
        for (size_t i = 0; i < page->sizes; i++) {
            uint64_t misses = rsc_rank_misses(&page->plan->ranking, rank, page->plan->sizes[i].lines);
            rsc_text_put(text, "%*s", COLUMN, rsc_show_short(misses).text);
        }
        put_median(page, rank);
    }
    rsc_text_pad_to(text, end);
    rsc_text_put(text, "%*" PRIu64, COLUMN, number);
}

/* A line of source, tabs expanded, without trailing blanks. */
static void put_source(struct page *page, const char *line) {
    char plain[4 * RSC_REPORT_WIDTH_MAX + TAB];
    size_t used = 0;
    for (unsigned column = 0; *line && used < 4 * RSC_REPORT_WIDTH_MAX; line++) {
        if (*line == '\t') {
            do plain[used++] = ' ';
            while (++column % TAB);
            continue;
        }
        plain[used++] = *line;
        column += ((unsigned char)*line & 0xc0) != 0x80;
    }
    while (used && plain[used - 1] == ' ') used--;
    plain[used] = 0;
    if (!used) return;
    rsc_text_put(page->text, "  ");
    if (page->text->column < page->style->width)
        rsc_text_foreign(page->text, plain, page->style->width - page->text->column);
}

static double share_of(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

static enum rsc_tint tint_of(const struct page *page, const struct rsc_rank *rank) {
    const struct plan *plan = page->plan;
    double share = !rank                  ? 0
                   : plan->all_cycles > 0 ? rank->cost / plan->all_cycles
                                          : share_of(rank->misses, plan->all_misses);
    return share >= 0.1 ? RSC_RED : share >= 0.01 ? RSC_YELLOW : RSC_PLAIN;
}

static void put_line(struct page *page, const struct rsc_rank *rank, uint64_t number, const char *source) {
    enum rsc_tint tint = tint_of(page, rank);
    if (tint != RSC_PLAIN) rsc_text_tint(page->text, tint);
    put_numbers(page, rank, number);
    if (source) put_source(page, source);
    if (tint != RSC_PLAIN) rsc_text_tint(page->text, RSC_PLAIN);
    rsc_text_put(page->text, "\n");
}

/* The first and last line to show for the file's line `index`, which has references. */
struct stretch {
    uint64_t first, last;
};

static struct stretch stretch_of(const struct source_file *file, size_t index,
                                 const struct rsc_annotate_options *options, size_t source_lines) {
    uint64_t line = place_of(file->lines[index])->line;
    struct stretch whole = {1, source_lines > line ? source_lines : line};
    if (options->nearby) {
        uint64_t last = line + options->nearby_lines;
        whole.first = line > options->nearby_lines ? line - options->nearby_lines : 1;
        whole.last = last < source_lines ? last : source_lines > line ? source_lines : line;
    } else if (options->function) {
        whole.first = place_of(file->lines[0])->line;
        whole.last = place_of(file->lines[file->line_count - 1])->line;
    }
    return whole;
}

static void put_source_lines(struct page *page, const struct source_file *file, const struct rsc_source *source,
                             const struct rsc_annotate_options *options) {
    uint64_t next = 1; /* the first line not yet printed */
    for (size_t i = 0; i < file->line_count; i++) {
        uint64_t line = place_of(file->lines[i])->line;
        struct stretch stretch = stretch_of(file, i, options, source->line_count);
        uint64_t first = stretch.first > next ? stretch.first : next;
        if (i && first > next) rsc_text_put(page->text, "%*s\n", COLUMN, "...");
        /* Lines without references before this one, then those after it up to the next with references. */
        for (next = first; next < line && next <= source->line_count; next++)
            put_line(page, NULL, next, source->lines[next - 1]);
        put_line(page, file->lines[i], line, line <= source->line_count ? source->lines[line - 1] : NULL);
        uint64_t until = i + 1 < file->line_count ? place_of(file->lines[i + 1])->line - 1 : UINT64_MAX;
        if (stretch.last < until) until = stretch.last;
        for (next = line + 1; next <= until && next <= source->line_count; next++)
            put_line(page, NULL, next, source->lines[next - 1]);
    }
    const struct rsc_rank *last = file->lines[file->line_count - 1];
    if (place_of(last)->line > source->line_count)
        rsc_text_paragraph(page->text, 3, page->style->width,
                           "The file has too few lines: it is not the version that was compiled.");
}

static void put_title(struct page *page, const char *name) {
    struct rsc_text *text = page->text;
    unsigned width = page->style->width;
    rsc_text_tint(text, RSC_BOLD);
    rsc_text_either(text, "── ", "-- ");
    rsc_text_foreign_end(text, name, width - text->column - 2);
    rsc_text_put(text, " ");
    rsc_text_repeat(text, page->style->unicode ? "─" : "-", width > text->column ? width - text->column : 0);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

static void put_totals(struct page *page, const struct source_file *file) {
    const struct rsc_rank_size *size = &page->plan->rank_size;
    char words[256];
    size_t used = 0;
    if (page->plan->all_cycles > 0)
        used = (size_t)snprintf(words, sizeof words, "%s of cycles lost, ",
                                rsc_show_percent(file->cycles / page->plan->all_cycles).text);
    snprintf(words + used, sizeof words - used, "%s of misses in %s%s%s%s, %s of references",
             rsc_show_percent(share_of(file->misses, page->plan->all_misses)).text,
             size->level ? size->level->name : "a cache of ", size->level ? " (" : "", rsc_show_bytes(size->bytes).text,
             size->level ? ")" : "",
             rsc_show_percent(share_of(file->references, page->plan->profile->references)).text);
    rsc_text_paragraph(page->text, 3, page->style->width, words);
    if (!file->error) return;
    snprintf(words, sizeof words, "%s%s: references that may belong to lines dropped from a full table",
             page->style->unicode ? "±" : "+-", rsc_show_short(file->error).text);
    rsc_text_paragraph(page->text, 3, page->style->width, words);
}

static void put_missing(struct page *page, const char *name) {
    static const char advice[] = " (--source-path DIR)";
    rsc_text_put(page->text, "   source not found: ");
    unsigned room = page->style->width - page->text->column;
    int fits = rsc_text_foreign_columns(page->text, name) + strlen(advice) <= room;
    rsc_text_foreign_end(page->text, name, room);
    rsc_text_put(page->text, "%s%s\n", fits ? "" : "\n  ", advice);
}

#define BARE_LINES 12  /* of a file without source: all are shown */
#define BARE_SHARE 0.02 /* of more, only those with this share of the file's cycles or misses */

static void put_bare_lines(struct page *page, const struct source_file *file) {
    size_t left_out = 0;
    char words[100];
    for (size_t i = 0; i < file->line_count; i++) {
        const struct rsc_rank *rank = file->lines[i];
        int counts = file->cycles > 0 ? rank->cost >= BARE_SHARE * file->cycles
                                      : (double)rank->misses >= BARE_SHARE * (double)file->misses;
        if (counts || file->line_count <= BARE_LINES) put_line(page, rank, place_of(rank)->line, NULL);
        else left_out++;
    }
    if (!left_out) return;
    snprintf(words, sizeof words, "and %zu lines with less than 2 %% of them each", left_out);
    rsc_text_paragraph(page->text, 3, page->style->width, words);
}

static int put_file(struct page *page, const struct source_file *file, const struct rsc_annotate_options *options) {
    struct rsc_source source;
    int found = rsc_source_read(&source, file->name, options->source_folders, options->source_folder_count);
    if (found < 0) return found;
    put_title(page, file->name);
    put_totals(page, file);
    if (!found) put_missing(page, file->name);
    put_heading(page);
    if (found) put_source_lines(page, file, &source, options);
    else put_bare_lines(page, file);
    rsc_source_free(&source);
    return 0;
}

static void put_rest(struct page *page) {
    const struct plan *plan = page->plan;
    uint64_t misses = 0;
    char words[160];
    if (plan->shown < plan->file_count) {
        for (size_t i = plan->shown; i < plan->file_count; i++) misses += plan->files[i].misses;
        snprintf(words, sizeof words, "%zu more file%s with %s of misses (--all shows them)",
                 plan->file_count - plan->shown, plan->file_count - plan->shown == 1 ? "" : "s",
                 rsc_show_percent(share_of(misses, plan->all_misses)).text);
        rsc_text_put(page->text, "\n");
        rsc_text_paragraph(page->text, 3, page->style->width, words);
    }
    if (plan->rank_size.lowered || plan->sizes[plan->size_count - 1].lowered) {
        rsc_text_put(page->text, "\n");
        rsc_text_paragraph(page->text, 3, page->style->width,
                           "Misses in larger caches are not known: longer distances were not counted "
                           "(--max-distance).");
    }
    misses = 0;
    const struct rsc_split split = rsc_split_at(plan->profile, plan->rank_size.lines);
    for (size_t i = 0; i < plan->profile->code_count; i++) {
        const struct rsc_code_row *row = &plan->profile->code[i];
        if (!rsc_place_has_line(&row->place)) misses += row->cold + row->invalidated + rsc_split_far(&split, &row->rd);
    }
    if (!misses) return;
    snprintf(words, sizeof words, "%s of misses are in code without source lines",
             rsc_show_percent(share_of(misses, plan->all_misses)).text);
    rsc_text_put(page->text, "\n");
    rsc_text_paragraph(page->text, 3, page->style->width, words);
}

/* ---- profiles ---- */

/* The error if no profile has a requested line. */
static int nothing_found(struct rsc_profile *const *profiles, size_t count, const char *name, struct rsc_error *error) {
    size_t rows = 0, lines = 0;
    for (size_t i = 0; i < count; i++) {
        rows += profiles[i]->code_count;
        for (size_t k = 0; k < profiles[i]->code_count; k++)
            if (rsc_place_has_line(&profiles[i]->code[k].place)) lines++;
    }
    if (!rows)
        return rsc_fail(error, RSC_EFORMAT,
                        "%s has no code rows: record it with pcs (reusescope run, or a trace with pcs)", name);
    if (!lines)
        return rsc_fail(error, RSC_EFORMAT, "%s: its code has no source lines: is the program compiled with -g?", name);
    return rsc_fail(error, RSC_EFORMAT, "%s: no source line matches --file and --function", name);
}

/* Hands over the text, unless out of memory (`rc`) or no line was found. */
static int finish(struct rsc_text *out, int rc, size_t lines, const struct rsc_result *result, char **text,
                  size_t *bytes, struct rsc_error *error) {
    int taken = rsc_text_take(out, text, bytes);
    if (!rc && !taken && lines) return 0;
    if (!taken) free(*text);
    if (rc || taken) return rsc_fail_memory(error, "annotated source");
    return nothing_found(result->profiles, result->count, result->annotate->name, error);
}

int rsc_annotate_text(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                      struct rsc_error *error) {
    const struct rsc_annotate_options *options = result->annotate;
    struct rsc_report_style settled = *style;
    struct rsc_text out;
    size_t lines = 0;
    int rc = 0;
    if (!settled.width) settled.width = 80;
    if (settled.unbounded) settled.width = RSC_REPORT_WIDTH_MAX;
    if (settled.width < RSC_REPORT_WIDTH_MIN) settled.width = RSC_REPORT_WIDTH_MIN;
    if (settled.width > RSC_REPORT_WIDTH_MAX) settled.width = RSC_REPORT_WIDTH_MAX;
    rsc_text_init(&out, settled.unicode, settled.colour);
    for (size_t i = 0; i < result->count && !rc; i++) {
        struct plan plan;
        struct page page = {.text = &out, .plan = &plan, .style = &settled};
        rc = plan_make(&plan, result->profiles[i], options, &settled);
        if (!rc && plan.line_count) {
            choose_columns(&page);
            lines += plan.line_count;
            if (out.used) rsc_text_put(&out, "\n");
            if (result->count > 1)
                rsc_text_put(&out, "profile %zu of %zu%s\n", i + 1, result->count,
                             rsc_show_model(result->profiles[i]->made.model));
            for (size_t k = 0; k < plan.shown && !rc; k++) {
                if (k) rsc_text_put(&out, "\n");
                rc = put_file(&page, &plan.files[k], options);
            }
            put_rest(&page);
        }
        plan_free(&plan);
    }
    return finish(&out, rc, lines, result, text, bytes, error);
}

/* ---- CSV ---- */

static void put_csv_line(struct rsc_text *text, const struct plan *plan, size_t index, const struct rsc_rank *rank,
                         const struct rsc_report_style *style) {
    const struct rsc_place *place = place_of(rank);
    uint64_t median = rsc_rank_median(&plan->ranking, rank, 0);
    for (size_t i = 0; i < plan->size_count; i++) {
        rsc_text_put(text, "%zu,\"", index);
        rsc_text_in_quotes(text, place->file);
        rsc_text_put(text, "\",%" PRIu32 ",\"", place->line);
        rsc_text_in_quotes(text, place->function);
        rsc_text_put(text, "\",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", plan->sizes[i].bytes,
                     rank->references, rsc_rank_misses(&plan->ranking, rank, plan->sizes[i].lines), rank->cold,
                     rank->invalidated);
        if (median != UINT64_MAX) rsc_text_put(text, "%" PRIu64, median);
        rsc_text_put(text, ",%" PRIu64, rank->error);
        if (style->costs) rsc_text_put(text, ",");
        if (style->costs && plan->all_cycles > 0) rsc_text_put(text, "%.0f", rank->cost);
        rsc_text_put(text, "\n");
    }
}

int rsc_annotate_csv(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                     struct rsc_error *error) {
    const struct rsc_annotate_options *options = result->annotate;
    struct rsc_text out;
    size_t lines = 0;
    int rc = 0;
    rsc_text_init(&out, 1, 0);
    rsc_text_put(&out,
                 "profile,file,line,function,size_bytes,references,misses,cold,invalidated,median_lines,error%s\n",
                 style->costs ? ",cycles" : "");
    for (size_t i = 0; i < result->count && !rc; i++) {
        struct plan plan;
        rc = plan_make(&plan, result->profiles[i], options, style);
        for (size_t k = 0; k < plan.shown && !rc; k++)
            for (size_t l = 0; l < plan.files[k].line_count; l++)
                put_csv_line(&out, &plan, i, plan.files[k].lines[l], style);
        lines += plan.line_count;
        plan_free(&plan);
    }
    return finish(&out, rc, lines, result, text, bytes, error);
}
