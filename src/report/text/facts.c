/* facts.c - see facts.h. */
#include "report/text/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/draw/units.h"

#define LABEL 13 /* columns of a fact's name */

void rsc_put_title(struct rsc_text *text, const struct rsc_report_style *style, size_t index, size_t count) {
    rsc_text_tint(text, RSC_BOLD);
    rsc_text_either(text, "── ", "-- ");
    if (count > 1) rsc_text_put(text, "Memory reuse, profile %zu of %zu ", index + 1, count);
    else rsc_text_put(text, "Memory reuse ");
    rsc_text_repeat(text, style->unicode ? "─" : "-", style->width > text->column ? style->width - text->column : 0);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_put(text, "\n");
}

void rsc_put_section(struct rsc_text *text, const struct rsc_report_style *style, const char *title, const char *what) {
    rsc_text_put(text, "\n ");
    rsc_text_tint(text, RSC_BOLD);
    rsc_text_put(text, "%s", title);
    rsc_text_tint(text, RSC_PLAIN);
    if (what[0] && text->column + 2 + rsc_text_columns(what) <= style->width) {
        rsc_text_tint(text, RSC_DIM);
        rsc_text_put(text, "  %s", what);
        rsc_text_tint(text, RSC_PLAIN);
    }
    rsc_text_put(text, "\n");
}

static void begin_fact(struct rsc_text *text, const char *name) {
    rsc_text_put(text, " ");
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "%s", name);
    rsc_text_tint(text, RSC_PLAIN);
    rsc_text_pad_to(text, LABEL);
}

static void put_command(struct rsc_text *text, const struct rsc_made *made, const struct rsc_report_style *style) {
    if (!made->command || !made->command[0]) return;
    begin_fact(text, "command");
    size_t used = 0, room = 0;
    for (char **word = made->command; *word; word++) room += strlen(*word) + 1;
    char *joined = malloc(room);
    if (!joined) {
        text->failed = 1;
        return;
    }
    for (char **word = made->command; *word; word++)
        used += (size_t)snprintf(joined + used, room - used, "%s%s", used ? " " : "", *word);
    rsc_text_foreign(text, joined, style->width - text->column); /* cut, it ends in dots */
    rsc_text_put(text, "\n");
    free(joined);
}

static const char *model_words(const char *model) {
    if (model && !strcmp(model, "private")) return "a stack for each thread";
    if (model && !strcmp(model, "shared")) return "one stack shared by all threads";
    if (model && !strcmp(model, "requests")) return "whole objects";
    return "one stack over all threads";
}

/* `model`: which stack, in words; NULL: left out. */
static void put_how(struct rsc_text *text, const struct rsc_made *made, const struct rsc_report_style *style,
                    const char *model) {
    begin_fact(text, "made by");
    rsc_text_foreign(text, made->by && made->by[0] ? made->by : "unknown", style->width - text->column);
    if (made->source && made->source[0] && text->column + 8 < style->width) {
        rsc_text_put(text, ", from ");
        rsc_text_foreign(text, made->source, style->width - text->column);
    }
    char words[96];
    snprintf(words, sizeof words, ", %s", model ? model : "");
    if (model && text->column + strlen(words) <= style->width) rsc_text_put(text, "%s", words);
    snprintf(words, sizeof words, ", %s", rsc_show_seconds(made->seconds).text);
    if (made->seconds > 0 && text->column + strlen(words) <= style->width) rsc_text_put(text, "%s", words);
    rsc_text_put(text, "\n");
    if (made->loop) {
        begin_fact(text, "loop");
        rsc_text_foreign(text, made->loop, 50);
        rsc_text_put(text, ", %s\n", rsc_show_threads(made->threads).text);
    }
    if (made->modelled) {
        begin_fact(text, "modelled");
        rsc_text_foreign(text, made->modelled, style->width - text->column);
        rsc_text_put(text, "\n");
    }
    if (!made->sampling) return;
    begin_fact(text, "sampling");
    /* it may come from a file: shown on one line, with unsafe characters replaced */
    int plain = strlen(made->sampling) < 250;
    for (const char *s = made->sampling; *s; s++) plain &= *s >= ' ' && *s <= '~';
    if (plain && !style->screen) {
        rsc_text_paragraph(text, LABEL, style->width, made->sampling);
        return;
    }
    rsc_text_foreign(text, made->sampling, style->width - text->column);
    rsc_text_put(text, "\n");
}

/* A fact in our own words: wrapped if needed. */
static void put_fact(struct rsc_text *text, const struct rsc_report_style *style, const char *name, const char *words) {
    begin_fact(text, name);
    rsc_text_paragraph(text, LABEL, style->width, words);
}

/* Threads are numbered: one that a filter left out, or that made no reference, has a row too. */
static struct rsc_shown show_active_threads(const struct rsc_profile *profile) {
    uint64_t active = 0;
    for (size_t i = 0; i < profile->thread_count; i++) active += profile->threads[i].references > 0;
    int all_known = !profile->made.sampling && profile->thread_count == profile->made.threads;
    return rsc_show_threads(all_known ? active : profile->made.threads);
}

static void put_request_facts(struct rsc_text *text, const struct rsc_profile *profile,
                              const struct rsc_report_style *style) {
    const struct rsc_request_bytes *bytes = &profile->requests;
    char words[256];
    snprintf(words, sizeof words, "%s by %s, %s", rsc_show_count(profile->references).text,
             show_active_threads(profile).text, rsc_show_bytes(bytes->requested).text);
    put_fact(text, style, "requests", words);
    snprintf(words, sizeof words, "%s object%s, %s at most", rsc_show_count(profile->distinct).text,
             profile->distinct == 1 ? "" : "s", rsc_show_bytes(bytes->footprint).text);
    put_fact(text, style, "footprint", words);
    snprintf(words, sizeof words, "%s first request%s, %s of requests and %s of bytes",
             rsc_show_count(profile->cold).text, profile->cold == 1 ? "" : "s",
             rsc_show_percent((double)profile->cold / (double)profile->references).text,
             rsc_show_percent(bytes->requested ? (double)bytes->cold / (double)bytes->requested : 0).text);
    put_fact(text, style, "cold", words);
}

/* "620 fetches, 200 reads, 90 writes": the most first. */
static void put_kind_fact(struct rsc_text *text, const struct rsc_profile *profile,
                          const struct rsc_report_style *style) {
    char words[256];
    size_t used = 0;
    unsigned char said[RSC_KIND_NAMES] = {0};
    if (!profile->kind_count) return;
    for (size_t n = 0; n < profile->kind_count; n++) {
        size_t most = RSC_KIND_NAMES;
        for (size_t i = 0; i < profile->kind_count; i++)
            if (!said[i] && (most == RSC_KIND_NAMES || profile->kinds[i].references > profile->kinds[most].references))
                most = i;
        const struct rsc_kind_row *row = &profile->kinds[most];
        said[most] = 1;
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s %s%s", n ? ", " : "",
                                 rsc_show_count(row->references).text, row->kind,
                                 row->references == 1          ? ""
                                 : !strcmp(row->kind, "fetch") ? "es"
                                                               : "s");
    }
    put_fact(text, style, "kinds", words);
}

int rsc_is_attached(const struct rsc_profile *profile) {
    char *const *command = profile->made.command;
    return command && command[0] && command[1] && !strcmp(command[1], "attach");
}

const char *rsc_instead_of_sample(const struct rsc_profile *profile) {
    const char *source = profile->made.source;
    if (rsc_is_attached(profile)) return "; watch it for longer";
    if (source && !strcmp(source, "asm")) return "; run --sample none is exact";
    if (source && !strcmp(source, "perf")) return "; sample more often (--rate), or run --with qemu";
    return "; --engine exact is exact";
}

/* The bar of a total, as a share of `whole` or in lines; and in words if it says nothing. */
#define USELESS_TIMES 8 /* a footprint known to less than a factor of this */
static void add_bar(char *words, size_t room, const struct rsc_profile *profile, const struct rsc_count_bar *bar,
                    uint64_t whole) {
    size_t used = strlen(words);
    const char *known = "", *instead = "";
    if (!bar->is_known || bar->low == bar->high) return;
    if (whole ? (double)(bar->high - bar->low) > RSC_USELESS_SHARE * (double)whole
              : bar->high / USELESS_TIMES > bar->low)
        known = whole ? ": too few samples to tell" : ": not known from this sample",
        instead = rsc_instead_of_sample(profile);
    if (whole)
        snprintf(words + used, room - used, " (%s to %s)%s%s", rsc_show_percent((double)bar->low / (double)whole).text,
                 rsc_show_percent((double)bar->high / (double)whole).text, known, instead);
    else
        snprintf(words + used, room - used, " (%s to %s lines)%s%s", rsc_show_count(bar->low).text,
                 rsc_show_count(bar->high).text, known, instead);
}

void rsc_put_facts(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    char words[256];
    put_command(text, &profile->made, style);
    put_how(text, &profile->made, style, model_words(profile->made.model));
    if (!profile->references) {
        put_fact(text, style, "accesses", profile->made.sampling ? "none sampled" : "no accesses");
        return;
    }
    if (rsc_profile_is_requests(profile)) {
        put_request_facts(text, profile, style);
        return;
    }
    snprintf(words, sizeof words, "%s access%s by %s", rsc_show_count(profile->accesses).text,
             profile->accesses == 1 ? "" : "es", show_active_threads(profile).text);
    put_fact(text, style, "accesses", words);
    snprintf(words, sizeof words, "%s reference%s to lines of %s", rsc_show_count(profile->references).text,
             profile->references == 1 ? "" : "s", rsc_show_bytes(profile->made.line_bytes).text);
    put_fact(text, style, "references", words);
    put_kind_fact(text, profile, style);
    snprintf(words, sizeof words, "%s distinct line%s, %s", rsc_show_count(profile->distinct).text,
             profile->distinct == 1 ? "" : "s",
             rsc_show_bytes(rsc_lines_to_bytes(profile->distinct, profile->made.line_bytes)).text);
    add_bar(words, sizeof words, profile, &profile->bars.distinct, 0);
    put_fact(text, style, "footprint", words);
    /* samples see last touches instead: every line has one of each */
    uint64_t cold = rsc_profile_first_touches(profile);
    snprintf(words, sizeof words, "%s first touch%s, %s of references", rsc_show_count(cold).text,
             cold == 1 ? "" : "es", rsc_show_percent((double)cold / (double)profile->references).text);
    add_bar(words, sizeof words, profile, &profile->bars.cold, profile->references);
    put_fact(text, style, "cold", words);
    if (profile->made.threads_unseen) {
        snprintf(words, sizeof words, "%s threads: more ran at once than can be watched",
                 rsc_show_count(profile->made.threads_unseen).text);
        put_fact(text, style, "not seen", words);
    }
    if (!profile->invalidated) return;
    snprintf(words, sizeof words, "%s references to lines another thread had written, %s",
             rsc_show_count(profile->invalidated).text,
             rsc_show_percent((double)profile->invalidated / (double)profile->references).text);
    add_bar(words, sizeof words, profile, &profile->bars.invalidated, profile->references);
    put_fact(text, style, "invalidated", words);
}

void rsc_put_screen_facts(struct rsc_text *text, const struct rsc_profile *profile,
                          const struct rsc_report_style *style, int both_models) {
    char words[400];
    if (rsc_profile_is_requests(profile) || !profile->references) {
        rsc_put_facts(text, profile, style);
        return;
    }
    put_command(text, &profile->made, style);
    put_how(text, &profile->made, style,
            both_models || profile->made.threads <= 1 ? NULL : model_words(profile->made.model));
    snprintf(words, sizeof words, "%s by %s, to %s line%s of %s (%s)", rsc_show_count(profile->references).text,
             show_active_threads(profile).text, rsc_show_count(profile->distinct).text,
             profile->distinct == 1 ? "" : "s", rsc_show_bytes(profile->made.line_bytes).text,
             rsc_show_bytes(rsc_lines_to_bytes(profile->distinct, profile->made.line_bytes)).text);
    add_bar(words, sizeof words, profile, &profile->bars.distinct, 0);
    put_fact(text, style, "references", words);
    if (!profile->made.threads_unseen) return;
    snprintf(words, sizeof words, "%s threads: more ran at once than can be watched",
             rsc_show_count(profile->made.threads_unseen).text);
    put_fact(text, style, "not seen", words);
}
