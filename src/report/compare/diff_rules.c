/*
 * diff_rules.c - finds broken rules and lines that got worse in a comparison.
 *
 * A rule is broken if the intervals of old and new do not overlap and the estimate has
 * grown by more than the rule allows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "report/compare/diff.h"
#include "report/draw/place_text.h"
#include "report/draw/units.h"

#define WORTH 0.01     /* parts with a smaller share of the misses (references) are ignored */
#define WORSE_LINES 10 /* reported besides broken rules */

static const char *const metrics[] = {"miss_ratio", "misses", "references", "footprint", "cold"};
static const char *const metric_words[] = {"miss ratio", "misses", "references", "footprint", "first touches"};
static const char *const scopes[] = {"", "function.", "line."};

/* ---- reading rules ---- */

static int parse_threshold(struct rsc_diff_rule *rule, const char *text, size_t length) {
    uint64_t whole;
    if (length && *text == '+') text++, length--;
    if (length && text[length - 1] == '%') rule->relative = 1, length--;
    if (!length) return -1;
    if (!rsc_parse_u64(text, length, &whole)) rule->more = (double)whole;
    else if (rsc_parse_fraction(text, length, &rule->more) < 0) {
        /* 2.5: the whole part is parsed separately */
        const char *point = memchr(text, '.', length);
        double below;
        if (!point || rsc_parse_u64(text, (size_t)(point - text), &whole) < 0) return -1;
        if (rsc_parse_fraction(point, length - (size_t)(point - text), &below) < 0) return -1;
        rule->more = (double)whole + below;
    }
    if (rule->relative) rule->more /= 100;
    return 0;
}

static int parse_rule(struct rsc_diff_rule *rule, const char *text, size_t length) {
    *rule = (struct rsc_diff_rule){0};
    if (length >= sizeof rule->text) return -1;
    memcpy(rule->text, text, length);
    for (size_t i = 1; i < 3; i++) {
        size_t prefix = strlen(scopes[i]);
        if (length > prefix && !strncmp(text, scopes[i], prefix)) {
            rule->scope = (enum rsc_diff_scope)i;
            text += prefix, length -= prefix;
        }
    }
    const char *sign = memchr(text, '>', length);
    size_t name = sign ? (size_t)(sign - text) : 0, found = 0;
    while (found < 5 && (strlen(metrics[found]) != name || strncmp(metrics[found], text, name))) found++;
    if (!sign || found == 5 || (rule->scope && found > RSC_DIFF_REFERENCES)) return -1;
    rule->metric = (enum rsc_diff_metric)found;
    return parse_threshold(rule, sign + 1, length - name - 1);
}

int rsc_diff_rule_needs_length(const struct rsc_diff_rule *rule) {
    return rule->scope == RSC_DIFF_RUN && rule->metric != RSC_DIFF_MISS_RATIO && rule->metric != RSC_DIFF_MISSES;
}

int rsc_diff_rules_parse(struct rsc_diff_rule *rules, size_t *count, const char *text, struct rsc_error *error) {
    for (;;) {
        size_t length = strcspn(text, ",");
        if (*count == RSC_DIFF_RULES_MAX) return rsc_fail(error, RSC_EINVAL, "more than %d rules", RSC_DIFF_RULES_MAX);
        if (parse_rule(&rules[*count], text, length) < 0)
            return rsc_fail(error, RSC_EINVAL,
                            "not a rule as miss_ratio>+5%%, misses>+1000, function.misses>+10%% "
                            "(of miss_ratio, misses, references, footprint, cold)");
        ++*count;
        if (!text[length]) return 0;
        text += length + 1;
    }
}

/* ---- applying them ---- */

static int breaks(const struct rsc_diff_rule *rule, const struct rsc_diff_value sides[2]) {
    double old_value = sides[RSC_DIFF_OLD].value, grown = sides[RSC_DIFF_NEW].value - old_value;
    if (rsc_diff_verdict(sides) != RSC_DIFF_WORSE) return 0;
    return grown > (rule->relative ? rule->more * old_value : rule->more);
}

static struct rsc_diff_value certain(uint64_t count) {
    return (struct rsc_diff_value){(double)count, (double)count, (double)count};
}

static int add_finding(struct rsc_diff_findings *findings, struct rsc_diff_finding finding) {
    if (!(findings->count & (findings->count - 1))) {
        size_t room = findings->count ? findings->count * 2 : 1;
        struct rsc_diff_finding *grown = realloc(findings->items, room * sizeof *grown);
        if (!grown) return RSC_ENOMEM;
        findings->items = grown;
    }
    findings->items[findings->count++] = finding;
    return 0;
}

/* The line with the largest gain in misses at a size, in one function or in all (NULL); NULL: none gained. */
static const struct rsc_diff_row *most_gained(const struct rsc_diff *diff, size_t size,
                                              const struct rsc_diff_row *function) {
    const struct rsc_diff_row *best = NULL;
    double most = 0;
    for (size_t i = 0; i < diff->line_count; i++) {
        const struct rsc_diff_row *line = &diff->lines[i];
        double gained = line->misses[RSC_DIFF_NEW][size].value - line->misses[RSC_DIFF_OLD][size].value;
        if (gained <= most || !line->references[RSC_DIFF_NEW]) continue;
        if (function && strcmp(function->place->function ? function->place->function : "",
                               line->place->function ? line->place->function : ""))
            continue;
        most = gained;
        best = line;
    }
    return best;
}

static int judge_run(struct rsc_diff_findings *findings, const struct rsc_diff *diff,
                     const struct rsc_diff_rule *rule) {
    struct rsc_diff_finding finding = {.rule = rule, .scope = RSC_DIFF_RUN, .diff = diff};
    int status = 0;
    if (rule->metric == RSC_DIFF_MISS_RATIO || rule->metric == RSC_DIFF_MISSES) {
        finding.sized = 1;
        for (size_t i = 0; !status && i < diff->size_count; i++) {
            const struct rsc_diff_size *size = &diff->sizes[i];
            memcpy(finding.sides, rule->metric == RSC_DIFF_MISSES ? size->misses : size->miss_ratio,
                   sizeof finding.sides);
            finding.size = i;
            finding.where = most_gained(diff, i, NULL);
            if (breaks(rule, finding.sides)) status = add_finding(findings, finding);
        }
        return status;
    }
    for (int side = 0; side < 2; side++) {
        const struct rsc_profile *profile = diff->sides[side];
        uint64_t count = rule->metric == RSC_DIFF_REFERENCES  ? profile->references
                         : rule->metric == RSC_DIFF_FOOTPRINT ? rsc_profile_footprint(profile)
                                                              : profile->cold;
        finding.sides[side] = certain(count);
    }
    if (diff->size_count) finding.where = most_gained(diff, diff->ranked_at, NULL);
    return breaks(rule, finding.sides) ? add_finding(findings, finding) : 0;
}

static int worth_a_look(const struct rsc_diff *diff, const struct rsc_diff_row *row, const struct rsc_diff_rule *rule,
                        size_t size) {
    const int counts_references = rule->metric == RSC_DIFF_REFERENCES;
    double part[2], all[2];
    for (int side = 0; side < 2; side++) {
        part[side] = counts_references ? (double)row->references[side] : row->misses[side][size].value;
        all[side] = counts_references ? (double)diff->sides[side]->references * diff->scale[side]
                                      : diff->sizes[size].misses[side].value;
    }
    return part[RSC_DIFF_NEW] >= WORTH * all[RSC_DIFF_NEW] &&
           fabs(part[RSC_DIFF_NEW] - part[RSC_DIFF_OLD]) >= RSC_DIFF_NOISE * fmax(all[0], all[1]);
}

static void row_values(const struct rsc_diff_row *row, const struct rsc_diff_rule *rule, size_t size,
                       struct rsc_diff_value sides[2]) {
    for (int side = 0; side < 2; side++) {
        double references = (double)row->references[side];
        sides[side] = rule->metric == RSC_DIFF_REFERENCES ? certain(row->references[side]) : row->misses[side][size];
        if (rule->metric != RSC_DIFF_MISS_RATIO) continue;
        sides[side].value = references > 0 ? sides[side].value / references : 0;
        sides[side].low = references > 0 ? sides[side].low / references : 0;
        sides[side].high = references > 0 ? sides[side].high / references : 0;
    }
}

static int judge_rows(struct rsc_diff_findings *findings, const struct rsc_diff *diff,
                      const struct rsc_diff_rule *rule) {
    const struct rsc_diff_row *rows = rule->scope == RSC_DIFF_LINE ? diff->lines : diff->functions;
    size_t count = rule->scope == RSC_DIFF_LINE ? diff->line_count : diff->function_count;
    int sized = rule->metric != RSC_DIFF_REFERENCES, status = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t size = 0; !status && size < (sized ? diff->size_count : 1); size++) {
            struct rsc_diff_finding finding = {
                .rule = rule, .scope = rule->scope, .diff = diff, .sized = sized, .size = size, .row = &rows[i]};
            row_values(&rows[i], rule, size, finding.sides);
            if (!worth_a_look(diff, &rows[i], rule, size) || !breaks(rule, finding.sides)) continue;
            finding.where = rows[i].has_line ? &rows[i] : diff->size_count ? most_gained(diff, size, &rows[i]) : NULL;
            status = add_finding(findings, finding);
        }
    return status;
}

/* Lines that got worse at the size that changed most. */
static int tell_worse(struct rsc_diff_findings *findings, const struct rsc_diff *diff) {
    size_t size = diff->ranked_at, told = 0;
    int status = 0;
    for (size_t i = 0; diff->size_count && !status && told < WORSE_LINES && i < diff->line_count; i++) {
        const struct rsc_diff_row *row = &diff->lines[i];
        struct rsc_diff_finding finding = {
            .scope = RSC_DIFF_LINE, .diff = diff, .sized = 1, .size = size, .row = row, .where = row};
        for (int side = 0; side < 2; side++) finding.sides[side] = row->misses[side][size];
        double grown = finding.sides[RSC_DIFF_NEW].value - finding.sides[RSC_DIFF_OLD].value;
        if (rsc_diff_verdict(finding.sides) != RSC_DIFF_WORSE) continue;
        if (grown < WORTH * diff->sizes[size].misses[RSC_DIFF_OLD].value || grown <= 0) continue;
        told++;
        status = add_finding(findings, finding);
    }
    return status;
}

int rsc_diff_judge(struct rsc_diff_findings *findings, const struct rsc_diff *diffs, size_t count,
                   const struct rsc_diff_rule *rules, size_t rule_count) {
    int status = 0;
    *findings = (struct rsc_diff_findings){0};
    for (size_t i = 0; !status && i < count; i++)
        for (size_t r = 0; !status && r < rule_count; r++)
            status = (rules[r].scope == RSC_DIFF_RUN ? judge_run : judge_rows)(findings, &diffs[i], &rules[r]);
    findings->broken = findings->count;
    for (size_t i = 0; !status && i < count; i++) status = tell_worse(findings, &diffs[i]);
    if (status < 0) rsc_diff_findings_free(findings);
    return status;
}

void rsc_diff_findings_free(struct rsc_diff_findings *findings) {
    free(findings->items);
    *findings = (struct rsc_diff_findings){0};
}

/* ---- in words ---- */

static struct rsc_shown shown_value(enum rsc_diff_metric metric, double value, const struct rsc_profile *profile) {
    if (metric == RSC_DIFF_MISS_RATIO) return rsc_show_percent(value);
    if (metric == RSC_DIFF_FOOTPRINT)
        return rsc_show_bytes(rsc_lines_to_bytes((uint64_t)value, profile->made.line_bytes));
    return rsc_show_count((uint64_t)llround(value));
}

/* A line of the loader is named like any other. */
static struct rsc_place_short line_in_short(const struct rsc_diff_row *row) {
    struct rsc_place place = *row->place;
    place.module = NULL;
    return rsc_place_in_short(&place, 1);
}

struct rsc_diff_words rsc_diff_finding_words(const struct rsc_diff_finding *finding) {
    enum rsc_diff_metric metric = finding->rule ? finding->rule->metric : RSC_DIFF_MISSES;
    const struct rsc_diff_size *size = &finding->diff->sizes[finding->size];
    double old_value = finding->sides[RSC_DIFF_OLD].value, grown = finding->sides[RSC_DIFF_NEW].value - old_value;
    struct rsc_shown before = shown_value(metric, old_value, finding->diff->sides[0]);
    struct rsc_shown after = shown_value(metric, finding->sides[RSC_DIFF_NEW].value, finding->diff->sides[1]);
    struct rsc_diff_words words = {""};
    char at[80] = "", by[48] = "", whose[176] = "", gained[176] = "";
    if (finding->sized)
        snprintf(at, sizeof at, " in %s%s%s%s", size->name[0] ? size->name : "a cache of ", size->name[0] ? " (" : "",
                 rsc_show_bytes(size->bytes).text, size->name[0] ? ")" : "");
    if (old_value > 0 && grown < 99 * old_value) snprintf(by, sizeof by, " (+%.3g %%)", 100 * grown / old_value);
    else if (old_value > 0) snprintf(by, sizeof by, " (%.3g times)", 1 + grown / old_value);
    if (finding->row) snprintf(whose, sizeof whose, " of %s", line_in_short(finding->row).text);
    if (finding->row && !finding->row->has_line) {
        const struct rsc_place *place = finding->row->place;
        if (place->function) snprintf(whose, sizeof whose, " of function %.100s", place->function);
        else
            snprintf(whose, sizeof whose, " of unnamed code in %.100s",
                     place->file     ? rsc_base_name(place->file)
                     : place->module ? rsc_base_name(place->module)
                                     : "no module");
    }
    if (finding->where && finding->where != finding->row)
        snprintf(gained, sizeof gained, "; the line that gained most misses is %s", line_in_short(finding->where).text);
    snprintf(words.text, sizeof words.text, "%s%s%s: %s, was %s%s%s", metric_words[metric], whose, at, after.text,
             before.text, by, gained);
    rsc_make_one_line(words.text);
    return words;
}
