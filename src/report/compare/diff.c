/*
 * diff.c - matches the code of two profiles and counts both sides.
 *
 * The rows of both are put in one list and sorted by name, so that each function is a
 * range of the list. In it, the old lines are moved and the range is sorted again by
 * line, so that each line is a range of that.
 */
#include "report/compare/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/draw/place_text.h"
#include "report/ranking.h"
#include "report/draw/units.h"
#include "report/text/facts.h"

struct item {
    const struct rsc_code_row *row;
    int side;
    uint64_t line; /* old lines moved; 0: not known */
    const char
        *module; /* last part of the file name; for a build that both sides have, the new side's. NULL: not known */
    int same_build;     /* the other side has the same build of the module */
};

/* ---- names ---- */

/* Length of a symbol without the suffixes of cloned functions. */
static size_t symbol_length(const char *symbol) {
    static const char *const marks[] = {".constprop.", ".isra.", ".part.", ".lto_priv.", ".llvm.", ".cold"};
    size_t length = strlen(symbol);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *at = strstr(symbol, marks[i]);
        if (at && at != symbol && (size_t)(at - symbol) < length) length = (size_t)(at - symbol);
    }
    return length;
}

static int compare_symbols(const char *a, const char *b) {
    if (!a || !b) return (a != NULL) - (b != NULL);
    size_t left = symbol_length(a), right = symbol_length(b);
    int order = memcmp(a, b, left < right ? left : right);
    return order ? order : (left > right) - (left < right);
}

static int compare_ends(const char *a, const char *b) {
    return !a || !b ? (a != NULL) - (b != NULL) : strcmp(rsc_base_name(a), rsc_base_name(b));
}

/* Code without a name is matched by its address in the module if both sides have the same build. */
static int compare_functions(const struct item *left, const struct item *right) {
    const struct rsc_place *a = &left->row->place, *b = &right->row->place;
    int order = compare_symbols(a->function, b->function);
    if (!order) order = (a->file != NULL) - (b->file != NULL);
    if (!order) order = a->file ? compare_ends(a->file, b->file) : compare_ends(left->module, right->module);
    if (order || a->function || a->file || !left->same_build || !right->same_build) return order;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int by_function(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    int order = compare_functions(a, b);
    if (!order) order = a->side - b->side;
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int by_line(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    return a->side - b->side;
}

/* ---- moving lines ---- */

/* Counts the distinct old lines of a range that match a new line when moved by `shift`. Both halves ascend. */
static size_t lines_met(const struct item *old_items, size_t old_count, const struct item *new_items, size_t new_count,
                        int64_t shift) {
    size_t met = 0, at = 0;
    for (size_t i = 0; i < old_count; i++) {
        if (i && old_items[i].line == old_items[i - 1].line) continue;
        int64_t wanted = (int64_t)old_items[i].line + shift;
        while (at < new_count && (int64_t)new_items[at].line < wanted) at++;
        met += at < new_count && (int64_t)new_items[at].line == wanted;
    }
    return met;
}

/* Renumbers the old lines of a range sorted by side and line. In the same build, lines do not move. */
static void move_lines(struct item *items, size_t count) {
    size_t old_count = 0;
    if (count && items[0].same_build && items[count - 1].same_build) return;
    while (old_count < count && items[old_count].side == RSC_DIFF_OLD) old_count++;
    size_t new_count = count - old_count;
    if (!old_count || !new_count || !items[0].line || !items[old_count].line) return;
    int64_t first = (int64_t)items[old_count].line - (int64_t)items[0].line;
    int64_t last = (int64_t)items[count - 1].line - (int64_t)items[old_count - 1].line;
    const int64_t tried[] = {0, first, last};
    int64_t best = 0;
    size_t most = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t met = lines_met(items, old_count, items + old_count, new_count, tried[i]);
        if (met > most) most = met, best = tried[i];
    }
    for (size_t i = 0; i < old_count; i++) items[i].line = (uint64_t)((int64_t)items[i].line + best);
}

/* ---- counting ---- */

enum rsc_diff_verdict rsc_diff_verdict(const struct rsc_diff_value sides[2]) {
    if (sides[RSC_DIFF_NEW].low > sides[RSC_DIFF_OLD].high) return RSC_DIFF_WORSE;
    if (sides[RSC_DIFF_NEW].high < sides[RSC_DIFF_OLD].low) return RSC_DIFF_BETTER;
    return RSC_DIFF_SAME;
}

enum rsc_diff_verdict rsc_diff_run_verdict(const struct rsc_diff_value sides[2]) {
    double before = sides[RSC_DIFF_OLD].value, change = sides[RSC_DIFF_NEW].value - before;
    return fabs(change) < RSC_DIFF_RUN_NOISE * before ? RSC_DIFF_SAME : rsc_diff_verdict(sides);
}

static void add_item(const struct rsc_diff *diff, struct rsc_diff_row *row, const struct item *item) {
    const struct rsc_code_row *code = item->row;
    const double scale = diff->scale[item->side];
    row->references[item->side] += (uint64_t)llround((double)code->references * scale);
    if (!row->place || item->side == RSC_DIFF_NEW) row->place = &code->place;
    for (size_t i = 0; i < diff->size_count; i++) {
        struct rsc_diff_value *value = &row->misses[item->side][i];
        uint64_t misses = code->cold + code->invalidated + rsc_split_far(&diff->splits[item->side][i], &code->rd);
        value->value += (double)misses * scale;
        value->low += (double)(misses > code->error ? misses - code->error : 0) * scale;
        value->high += (double)misses * scale;
    }
}

/*
 * Widens each side by its sampling error. A side that saw none of a row is given the
 * other's share of misses: not seen does not mean absent.
 */
static void widen(const struct rsc_diff *diff, struct rsc_diff_row *row) {
    for (size_t i = 0; i < diff->size_count; i++) {
        const struct rsc_diff_size *size = &diff->sizes[i];
        double share = 0;
        for (int side = 0; side < 2; side++)
            if (size->misses[side].value > 0)
                share = fmax(share, row->misses[side][i].value / size->misses[side].value);
        for (int side = 0; side < 2; side++) {
            struct rsc_diff_value *value = &row->misses[side][i];
            double half = (size->misses[side].high - size->misses[side].low) / 2 * sqrt(fmin(share, 1));
            value->low = fmax(0, value->low - half);
            value->high += half;
        }
    }
}

static double change_of(const struct rsc_diff_row *row, size_t size) {
    return row->misses[RSC_DIFF_NEW][size].value - row->misses[RSC_DIFF_OLD][size].value;
}

/* Sorts (change, index) pairs: insertion in order of change would be quadratic. */
struct ordered {
    double change;
    size_t index;
};

static int by_change(const void *left, const void *right) {
    const struct ordered *a = left, *b = right;
    if (a->change != b->change) return a->change < b->change ? 1 : -1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int order_rows(struct rsc_diff_row **rows, size_t count, size_t size) {
    struct ordered *order = malloc((count + 1) * sizeof *order);
    struct rsc_diff_row *sorted = malloc((count + 1) * sizeof *sorted);
    int status = order && sorted ? 0 : RSC_ENOMEM;
    for (size_t i = 0; !status && i < count; i++) order[i] = (struct ordered){fabs(change_of(&(*rows)[i], size)), i};
    if (!status) {
        qsort(order, count, sizeof *order, by_change);
        for (size_t i = 0; i < count; i++) sorted[i] = (*rows)[order[i].index];
        free(*rows);
        *rows = sorted;
        sorted = NULL;
    }
    free(sorted);
    free(order);
    return status;
}

/* Adds the row of a function and those of its lines. */
static void take_function(struct rsc_diff *diff, struct item *items, size_t count) {
    struct rsc_diff_row *function = &diff->functions[diff->function_count++], *line = NULL;
    for (size_t i = 0; i < count; i++) add_item(diff, function, &items[i]);
    function->by_offset =
        items[0].same_build && !function->place->function && !function->place->file && function->place->offset;
    widen(diff, function);
    move_lines(items, count);
    qsort(items, count, sizeof *items, by_line);
    for (size_t i = 0; i < count; i++) {
        if (!items[i].line) continue;
        if (!i || items[i].line != items[i - 1].line) {
            if (line) widen(diff, line);
            line = &diff->lines[diff->line_count++];
            line->has_line = 1;
        }
        add_item(diff, line, &items[i]);
    }
    if (line) widen(diff, line);
}

/* The other side's module with the same build id; NULL: none, or not known. */
static const struct rsc_module_row *twin_of(const struct rsc_diff *diff, int side,
                                            const struct rsc_module_row *module) {
    const struct rsc_profile *other = diff->sides[!side];
    for (size_t i = 0; module && i < other->module_count; i++)
        if (rsc_module_same_build(module, &other->modules[i])) return &other->modules[i];
    return NULL;
}

static void find_module(const struct rsc_diff *diff, struct item *item) {
    const char *path = item->row->place.module;
    const struct rsc_module_row *twin = twin_of(diff, item->side, rsc_profile_module(diff->sides[item->side], path));
    item->same_build = twin != NULL;
    if (twin && item->side == RSC_DIFF_OLD) path = twin->path;
    item->module = path ? rsc_base_name(path) : NULL;
}

static int match_code(struct rsc_diff *diff) {
    size_t most = diff->sides[0]->code_count + diff->sides[1]->code_count, count = 0;
    struct item *items = malloc((most + 1) * sizeof *items);
    diff->functions = calloc(most + 1, sizeof *diff->functions);
    diff->lines = calloc(most + 1, sizeof *diff->lines);
    int status = items && diff->functions && diff->lines ? 0 : RSC_ENOMEM;
    for (int side = 0; !status && side < 2; side++)
        for (size_t i = 0; i < diff->sides[side]->code_count; i++) {
            const struct rsc_code_row *row = &diff->sides[side]->code[i];
            if (rsc_place_is_other(&row->place)) continue;
            items[count] = (struct item){row, side, rsc_place_has_line(&row->place) ? row->place.line : 0, NULL, 0};
            find_module(diff, &items[count++]);
        }
    if (!status) {
        qsort(items, count, sizeof *items, by_function);
        for (size_t first = 0, end; first < count; first = end) {
            for (end = first + 1; end < count; end++)
                if (compare_functions(&items[first], &items[end])) break;
            take_function(diff, items + first, end - first);
        }
        status = order_rows(&diff->functions, diff->function_count, diff->ranked_at);
    }
    if (!status) status = order_rows(&diff->lines, diff->line_count, diff->ranked_at);
    free(items);
    return status;
}

/* ---- sizes ---- */

static void add_size(struct rsc_diff *diff, uint64_t bytes, const char *name) {
    uint64_t lines = bytes / diff->sides[0]->made.line_bytes;
    int known = lines > 0 && diff->size_count < RSC_DIFF_SIZES_MAX;
    for (int side = 0; side < 2; side++) known &= lines <= rsc_rows_told_apart(diff->sides[side]);
    if (!known) {
        diff->unknown_sizes++;
        return;
    }
    for (int side = 0; side < 2; side++) diff->splits[side][diff->size_count] = rsc_split_at(diff->sides[side], lines);
    struct rsc_diff_size *size = &diff->sizes[diff->size_count++];
    size->bytes = bytes;
    size->lines = lines;
    snprintf(size->name, sizeof size->name, "%s", name);
    for (int side = 0; side < 2; side++) {
        const struct rsc_profile *profile = diff->sides[side];
        if (!profile->mrc_count) continue; /* no references: nothing misses */
        struct rsc_mrc_point at = rsc_profile_mrc_at(profile, lines);
        double references = (double)profile->references * diff->scale[side];
        size->miss_ratio[side] =
            (struct rsc_diff_value){at.miss_ratio, fmin(at.low, at.miss_ratio), fmax(at.high, at.miss_ratio)};
        size->misses[side] =
            (struct rsc_diff_value){rint(at.miss_ratio * references), rint(size->miss_ratio[side].low * references),
                                    rint(size->miss_ratio[side].high * references)};
        double thousands = (double)profile->made.instructions * diff->scale[side] / 1000;
        if (diff->has_mpki)
            size->mpki[side] =
                (struct rsc_diff_value){size->misses[side].value / thousands, size->misses[side].low / thousands,
                                        size->misses[side].high / thousands};
    }
}

static void choose_sizes(struct rsc_diff *diff, const struct rsc_diff_at *at, size_t count,
                         const struct rsc_machine *machine) {
    static const uint64_t usual[] = {32 << 10, 1 << 20, 32 << 20};
    double most = -1;
    if (count)
        for (size_t i = 0; i < count; i++) add_size(diff, at[i].bytes, at[i].name);
    else if (machine && machine->level_count)
        for (size_t i = 0; i < machine->level_count; i++)
            add_size(diff, machine->levels[i].size_bytes, machine->levels[i].name);
    else
        for (size_t i = 0; i < 3; i++) add_size(diff, usual[i], "");
    for (size_t i = 0; i < diff->size_count; i++) {
        double change = fabs(diff->sizes[i].misses[RSC_DIFF_NEW].value - diff->sizes[i].misses[RSC_DIFF_OLD].value);
        if (change > most) most = change, diff->ranked_at = i;
    }
}

/* ---- modules ---- */

/* Modules with the same name on both sides but different builds. */
static int find_rebuilt(struct rsc_diff *diff) {
    const struct rsc_profile *before = diff->sides[RSC_DIFF_OLD], *after = diff->sides[RSC_DIFF_NEW];
    diff->rebuilt = calloc(after->module_count + 1, sizeof *diff->rebuilt);
    if (!diff->rebuilt) return RSC_ENOMEM;
    size_t known = 0, twins = 0;
    for (size_t i = 0; i < after->module_count; i++) {
        const struct rsc_module_row *now = &after->modules[i];
        int twin = twin_of(diff, RSC_DIFF_NEW, now) != NULL;
        known += now->build_id_bytes != 0;
        twins += (size_t)twin;
        if (!now->build_id_bytes || twin) continue;
        for (size_t k = 0; k < before->module_count; k++) {
            const struct rsc_module_row *then = &before->modules[k];
            if (!then->build_id_bytes || strcmp(rsc_base_name(then->path), rsc_base_name(now->path))) continue;
            diff->rebuilt[diff->rebuilt_count++] = (struct rsc_diff_module){{then, now}};
            break;
        }
    }
    diff->same_builds = known && twins == known;
    return 0;
}

/* ---- public ---- */

static int same_text(const char *a, const char *b) { return !strcmp(a ? a : "", b ? b : ""); }

int rsc_diff_make(struct rsc_diff *diff, const struct rsc_profile *old_profile, const struct rsc_profile *new_profile,
                  const struct rsc_diff_at *at, size_t count, const struct rsc_machine *machine,
                  struct rsc_error *error) {
    *diff = (struct rsc_diff){.sides = {old_profile, new_profile}, .scale = {1, 1}};
    if (old_profile->made.line_bytes != new_profile->made.line_bytes ||
        !same_text(old_profile->made.model, new_profile->made.model))
        return rsc_fail(error, RSC_EINVAL, "profiles of different line sizes or models cannot be compared");
    diff->lengths_differ = (rsc_is_attached(old_profile) || rsc_is_attached(new_profile)) && old_profile->references &&
                           new_profile->references && old_profile->references != new_profile->references;
    if (diff->lengths_differ)
        diff->scale[RSC_DIFF_OLD] = (double)new_profile->references / (double)old_profile->references;
    diff->has_mpki = old_profile->made.instructions && new_profile->made.instructions;
    choose_sizes(diff, at, count, machine);
    if (match_code(diff) < 0 || find_rebuilt(diff) < 0) {
        rsc_diff_free(diff);
        return rsc_fail_memory(error, "comparison");
    }
    return 0;
}

void rsc_diff_free(struct rsc_diff *diff) {
    free(diff->functions);
    free(diff->lines);
    free(diff->rebuilt);
    *diff = (struct rsc_diff){0};
}

const char *rsc_diff_file_name(const struct rsc_diff_report *report, const char *file) {
    size_t length = report->source_root ? strlen(report->source_root) : 0;
    if (!length || strncmp(file, report->source_root, length)) return file;
    if (report->source_root[length - 1] == '/') return file[length] ? file + length : file;
    return file[length] == '/' && file[length + 1] ? file + length + 1 : file;
}
