/*
 * summary.c - the summary in words.
 *
 * Each statement is a function that prints its sentence, or nothing if the profile
 * does not support it. Sizes are those of a fully associative LRU cache.
 */
#include "report/text/summary.h"

#include <stdio.h>
#include <string.h>

#include "report/draw/units.h"

#define SENTENCE 512
#define STEEP_WINDOW 1.42 /* falls are searched in windows of half an octave of size */
#define STEEP_WORTH 0.02  /* and mentioned if two percentage points or more */
#define SMALL_BYTES 4096  /* every program has falls below this size */

static void say(struct rsc_text *text, const struct rsc_report_style *style, const char *sentence) {
    if (!sentence[0]) return;
    rsc_text_either(text, " • ", " - ");
    rsc_text_paragraph(text, 3, style->width, sentence);
}

static const char *lines_word(uint64_t lines) { return lines == 1 ? "line" : "lines"; }

static uint64_t reuses_of(const struct rsc_profile *profile) {
    uint64_t reuses = 0;
    for (size_t i = 0; i < profile->rd_list_count; i++) reuses += profile->rd_list[i].count;
    return reuses;
}

uint64_t rsc_summary_quantile(const struct rsc_profile *profile, double fraction) {
    uint64_t distance = rsc_profile_rd_quantile(profile, fraction);
    uint64_t footprint = rsc_profile_footprint(profile);
    if (distance == UINT64_MAX || profile->made.sampling || !footprint) return distance;
    return distance < footprint ? distance : footprint - 1;
}

static void say_reuses(const struct rsc_profile *profile, char *to) {
    if (!reuses_of(profile)) {
        snprintf(to, SENTENCE, "No line is used twice: every reference is a first touch.");
        if (profile->cold != profile->references) snprintf(to, SENTENCE, "No reuse distance was seen.");
        return;
    }
    uint64_t half = rsc_summary_quantile(profile, 0.5), most = rsc_summary_quantile(profile, 0.9);
    uint64_t line = profile->made.line_bytes;
    if (half == UINT64_MAX) {
        snprintf(to, SENTENCE,
                 "More than half of all reuses are %s lines (%s) or more apart: longer distances were not counted.",
                 rsc_show_count(profile->rd_cap).text, rsc_show_bytes(rsc_lines_to_bytes(profile->rd_cap, line)).text);
        return;
    }
    size_t used = (size_t)snprintf(to, SENTENCE, "Half of all reuses come within %s %s (%s)", rsc_show_count(half).text,
                                   lines_word(half), rsc_show_bytes(rsc_lines_to_bytes(half, line)).text);
    if (!half) used = (size_t)snprintf(to, SENTENCE, "Half of all reuses touch no other line in between");
    if (most == UINT64_MAX || most == half) snprintf(to + used, SENTENCE - used, ".");
    else
        snprintf(to + used, SENTENCE - used, ", nine in ten within %s %s (%s).", rsc_show_count(most).text,
                 lines_word(most), rsc_show_bytes(rsc_lines_to_bytes(most, line)).text);
}

static void say_levels(const struct rsc_profile *profile, const struct rsc_report_style *style, char *to) {
    size_t used = 0, said = 0;
    uint64_t known = profile->rd_capped ? profile->rd_cap : UINT64_MAX;
    for (size_t i = 0; style->machine && i < style->machine->level_count; i++) {
        const struct rsc_machine_level *level = &style->machine->levels[i];
        uint64_t lines = level->size_bytes / profile->made.line_bytes;
        if (lines > known || !lines || used > SENTENCE - 160) continue;
        struct rsc_mrc_point at = rsc_profile_mrc_at(profile, lines);
        if (!said) used += (size_t)snprintf(to + used, SENTENCE - used, "In %s's ", rsc_machine_called(style->machine));
        used += (size_t)snprintf(to + used, SENTENCE - used, "%s%s (%s) %s", said ? ", in " : "", level->name,
                                 rsc_show_bytes(level->size_bytes).text, rsc_show_percent(at.miss_ratio).text);
        if (at.high > at.low)
            used += (size_t)snprintf(to + used, SENTENCE - used, " (%s to %s)", rsc_show_percent(at.low).text,
                                     rsc_show_percent(at.high).text);
        if (!said++) used += (size_t)snprintf(to + used, SENTENCE - used, " of references miss");
        if (lines >= profile->distinct && profile->distinct) break; /* larger ones do no better */
    }
    if (said) snprintf(to + used, SENTENCE - used, ".");
}

/* The fall of the curve between two of its points. */
struct fall {
    size_t from, to;
    double depth;
};

static struct fall find_fall(const struct rsc_profile *profile, uint64_t smallest_bytes) {
    const struct rsc_mrc_point *mrc = profile->mrc;
    struct fall best = {0};
    for (size_t from = 0, to = 0; from + 1 < profile->mrc_count; from++) {
        if (mrc[from].bytes < smallest_bytes) continue;
        if (to <= from) to = from + 1;
        while (to + 1 < profile->mrc_count && (double)mrc[to + 1].lines <= STEEP_WINDOW * (double)mrc[from].lines) to++;
        double depth = mrc[from].miss_ratio - mrc[to].miss_ratio;
        if (depth > best.depth) best = (struct fall){from, to, depth};
    }
    /* A cliff is narrower than the window: drop the flat parts before and after it, a twentieth of the fall in each. */
    const double little = best.depth / 20, top = mrc[best.from].miss_ratio, bottom = mrc[best.to].miss_ratio;
    while (best.from + 1 < best.to && top - mrc[best.from + 1].miss_ratio < little) best.from++;
    while (best.from + 1 < best.to && mrc[best.to - 1].miss_ratio - bottom < little) best.to--;
    return best;
}

static void say_fall(const struct rsc_profile *profile, char *to) {
    struct fall fall = find_fall(profile, SMALL_BYTES);
    const char *where = "Beyond 4 KiB the";
    if (profile->rd_capped) return; /* a steeper fall may lie beyond the cap */
    if (fall.depth < STEEP_WORTH) {
        fall = find_fall(profile, 0);
        where = "The";
    }
    if (fall.depth < STEEP_WORTH) return;
    const struct rsc_mrc_point *high = &profile->mrc[fall.from], *low = &profile->mrc[fall.to];
    struct rsc_shown from = rsc_show_bytes(high->bytes), until = rsc_show_bytes(low->bytes);
    char place[96];
    if (!strcmp(from.text, until.text)) snprintf(place, sizeof place, "at about %s", from.text);
    else snprintf(place, sizeof place, "between %s and %s", from.text, until.text);
    snprintf(to, SENTENCE, "%s miss ratio falls most steeply %s: from %s to %s.", where, place,
             rsc_show_percent(high->miss_ratio).text, rsc_show_percent(low->miss_ratio).text);
}

static void say_footprint(const struct rsc_profile *profile, const struct rsc_report_style *style, char *to) {
    uint64_t bytes = rsc_lines_to_bytes(profile->distinct, profile->made.line_bytes);
    const struct rsc_machine_level *level = NULL;
    if (!profile->distinct || !style->machine || !style->machine->level_count) return;
    for (size_t i = style->machine->level_count; i-- > 0;)
        if (style->machine->levels[i].size_bytes >= bytes) level = &style->machine->levels[i];
    if (level) {
        snprintf(to, SENTENCE, "All memory touched (%s) fits in %s (%s).", rsc_show_bytes(bytes).text, level->name,
                 rsc_show_bytes(level->size_bytes).text);
        return;
    }
    level = &style->machine->levels[style->machine->level_count - 1];
    double times = (double)bytes / (double)level->size_bytes;
    snprintf(to, SENTENCE, "The memory touched (%s) is %.*f times the size of %s (%s).", rsc_show_bytes(bytes).text,
             times < 1.1   ? 2
             : times < 100 ? 1
                           : 0,
             times, level->name, rsc_show_bytes(level->size_bytes).text);
}

/* The misses that no cache can avoid, and the cache size that comes near that. */
static void say_floor(const struct rsc_profile *profile, char *to) {
    const struct rsc_mrc_point *last = &profile->mrc[profile->mrc_count - 1];
    size_t enough = 0;
    if (profile->rd_capped || !reuses_of(profile)) return;
    while (profile->mrc[enough].miss_ratio > last->miss_ratio + 0.01) enough++;
    /* where little is missed at all, a point is much */
    const int is_near = enough || profile->mrc[0].miss_ratio <= last->miss_ratio * 1.1 + 1e-4;
    while (!is_near && profile->mrc[enough].miss_ratio > last->miss_ratio * 1.1 + 1e-4) enough++;
    struct rsc_shown floor = rsc_show_percent(last->miss_ratio);
    const char *cause = profile->invalidated ? "first touches and invalidations" : "first touches";
    if (!enough)
        snprintf(to, SENTENCE, "A single line of cache does as well as any size: %s of references miss, the %s.",
                 floor.text, cause);
    else
        snprintf(to, SENTENCE, "A cache of %s comes within %s of the least possible, %s: the %s.",
                 rsc_show_bytes(profile->mrc[enough].bytes).text, is_near ? "1 percentage point" : "a tenth",
                 floor.text, cause);
}

/* ---- requests for whole objects ---- */

static void say_requests(const struct rsc_profile *profile, char *to) {
    if (!reuses_of(profile)) {
        snprintf(to, SENTENCE, "No object is requested twice.");
        return;
    }
    /* RD is one byte less than the cache size needed */
    uint64_t half = rsc_summary_quantile(profile, 0.5) + 1, most = rsc_summary_quantile(profile, 0.9) + 1;
    snprintf(to, SENTENCE, "Half of all repeated requests hit in a cache of %s, nine in ten in one of %s.",
             rsc_show_bytes(half).text, rsc_show_bytes(most).text);
}

static void say_request_floor(const struct rsc_profile *profile, char *to) {
    size_t last = profile->mrc_count - 1, enough = 0;
    if (!reuses_of(profile)) return;
    while (profile->mrc[enough].miss_ratio > profile->mrc[last].miss_ratio + 0.01) enough++;
    snprintf(to, SENTENCE,
             "A cache of %s comes within 1 percentage point of the least possible: %s of requests and %s of bytes are "
             "first requests.",
             rsc_show_bytes(profile->mrc[enough].bytes).text, rsc_show_percent(profile->mrc[last].miss_ratio).text,
             rsc_show_percent(profile->requests.miss_ratio[last]).text);
}

static void put_request_summary(struct rsc_text *text, const struct rsc_profile *profile,
                                const struct rsc_report_style *style) {
    char sentence[SENTENCE] = "";
    say_requests(profile, sentence);
    say(text, style, sentence);
    say_fall(profile, (sentence[0] = 0, sentence));
    say(text, style, sentence);
    say_request_floor(profile, (sentence[0] = 0, sentence));
    say(text, style, sentence);
}

void rsc_put_summary(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    char sentence[SENTENCE] = "";
    if (rsc_profile_is_requests(profile)) {
        put_request_summary(text, profile, style);
        return;
    }
    say_reuses(profile, sentence);
    say(text, style, sentence);
    say_levels(profile, style, (sentence[0] = 0, sentence));
    say(text, style, sentence);
    say_fall(profile, (sentence[0] = 0, sentence));
    say(text, style, sentence);
    say_footprint(profile, style, (sentence[0] = 0, sentence));
    say(text, style, sentence);
    say_floor(profile, (sentence[0] = 0, sentence));
    say(text, style, sentence);
}
