/*
 * advise.c - the rules of advise, except those about pairs (advise_pairs.c).
 *
 * A rule is a function that fills its advice, or returns 0 if the profile does not
 * support it. Thresholds reflect what is worth a person's time, not certainty:
 * fixing less than a fifth of all misses can gain at most a fifth.
 */
#include "report/advise/advise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/advise/advise_evidence.h"
#include "report/draw/place_text.h"

#define CLIFF_SHARE 0.3       /* share of the misses that a cache of at most twice the size removes */
#define COLD_SHARE 0.5        /* share of first touches in the misses */
#define UNEVEN 1.5            /* references of the busiest thread over the mean */

typedef int look(const struct rsc_evidence *evidence, struct rsc_advice *advice);

/* Whether a rule about how lines are used has given advice about the place. */
static int is_said(const struct rsc_evidence *evidence, const struct rsc_place *place) {
    for (size_t i = 0; i < evidence->said->count; i++) {
        const struct rsc_advice *advice = &evidence->said->items[i];
        if (strcmp(advice->rule, "interchange") && strcmp(advice->rule, "order") && strcmp(advice->rule, "tiling"))
            continue;
        for (size_t k = 0; k < advice->pair_count; k++)
            if (!rsc_place_compare(&advice->pairs[k].row->reuse, place)) return 1;
    }
    return 0;
}

/* Lines are fetched for one element each. */
static int line_use(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_ranking *lines = &evidence->lines;
    char more[200] = "";
    if (!rsc_misses_matter(evidence)) return 0;
    for (size_t i = 0; i < lines->count; i++) {
        const struct rsc_rank *rank = &lines->ranks[i];
        advice->share = rsc_share_of(evidence, rank->misses);
        if (advice->share < RSC_SHARE_WORTH) return 0; /* the rest are smaller still */
        struct rsc_line_use use = rsc_line_use(evidence, rsc_worst_of_line(evidence, rank));
        advice->place = &((const struct rsc_code_row *)rank->rows[0])->place;
        if (!rsc_line_use_is_little(evidence, &use) || is_said(evidence, advice->place)) continue;
        int records = rsc_line_use_is_of_records(&use);
        uint64_t line_bytes = evidence->profile->made.line_bytes;
        if (use.stride.seen && rsc_stride_is_regular(&use.stride))
            snprintf(more, sizeof more, " Its stride is %s in %s of the steps seen.",
                     rsc_show_bytes(use.stride.bytes).text,
                     rsc_show_percent((double)use.stride.same / (double)use.stride.seen).text);
        if (records)
            snprintf(more + strlen(more), sizeof more - strlen(more),
                     " It uses %u bytes of every %s and none of those between.", use.stride.access_bytes,
                     rsc_show_bytes(use.stride.apart).text);
        snprintf(advice->evidence, sizeof advice->evidence,
                 "%s causes %s of misses; each %s line it fetches serves only %.2f references.%s",
                 rsc_place_in_short(advice->place, 0).text, rsc_show_percent(advice->share).text,
                 rsc_show_bytes(line_bytes).text, use.uses, more);
        snprintf(advice->attempt, sizeof advice->attempt, "%s",
                 records ? "Store what the loop uses side by side: an array of this field instead of an array of whole "
                           "records, or the fields that it uses in records of their own."
                         : "Access memory in storage order (interchange the loops, or transpose the data), or store "
                           "data that is used together side by side: one array per field instead of an array of whole "
                           "records.");
        double used = use.stride.seen ? use.bytes : use.uses * 8; /* where sizes are not known, 8 bytes each */
        rsc_advice_gains_rank(evidence, lines, rank, 1 - used / (double)line_bytes, advice);
        rsc_advice_sureness(evidence, &use.stride, advice);
        if (records) rsc_change_field(advice, advice->place);
        else rsc_change_show(advice, &advice->place, 1);
        return 1;
    }
    return 0;
}

static uint64_t false_misses(const struct rsc_profile *profile) {
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->sharing_count; i++) sum += profile->sharing[i].false_misses;
    return sum;
}

/* "; 10 to 20": the bar of that, if it is uncertain. */
static void say_false_range(const struct rsc_profile *profile, char *to, size_t room) {
    uint64_t low = 0, high = 0, known = 0;
    *to = 0;
    for (size_t i = 0; i < profile->sharing_count; i++) {
        const struct rsc_sharing_row *row = &profile->sharing[i];
        known |= row->bars.taken.high;
        low += row->bars.taken.high ? row->bars.false_misses.low : row->false_misses;
        high += row->bars.taken.high ? row->bars.false_misses.high : row->false_misses;
    }
    if (known) snprintf(to, room, "; %s to %s", rsc_show_short(low).text, rsc_show_short(high).text);
}

/* A line that another thread wrote comes from its cache, which takes as long as from the largest of all. */
static int sharing_matters(const struct rsc_evidence *evidence, uint64_t misses) {
    const struct rsc_machine *machine = evidence->machine;
    double cycles = machine && machine->level_count ? machine->levels[machine->level_count - 1].cycles
                                                    : rsc_machine_cycles_beyond(NULL, 2 << 20);
    return rsc_is_worth(evidence, (double)misses, cycles);
}

/* "thread 1 bytes 0-7, thread 2 bytes 8-15": the first users of a line. */
static void say_users(const struct rsc_false_sharing_row *line, char *to, size_t room) {
    size_t used = 0;
    *to = 0;
    for (size_t i = 0; i < line->user_count && i < 3 && used < room; i++)
        used += (size_t)snprintf(to + used, room - used, "%sthread %llu bytes %u-%u", i ? ", " : "",
                                 (unsigned long long)line->users[i].tid, (unsigned)line->users[i].first_byte,
                                 (unsigned)line->users[i].last_byte);
}

/* Lines invalidated by writes to other bytes than those used. */
static int false_sharing(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    uint64_t misses = false_misses(profile);
    advice->share = rsc_share_of(evidence, misses);
    if (advice->share < RSC_SHARE_WORTH || !sharing_matters(evidence, misses) || !profile->false_sharing_count)
        return 0;
    const struct rsc_false_sharing_row *worst = &profile->false_sharing[0];
    char users[160], where[120] = "", code[300] = "", range[100];
    say_false_range(profile, range, sizeof range);
    say_users(worst, users, sizeof users);
    if (worst->object) snprintf(where, sizeof where, " in %.100s", worst->object);
    if (worst->place_count) {
        advice->place = &worst->places[0].writer;
        advice->other = &worst->places[0].victim;
        snprintf(code, sizeof code, ": %s writes to it and takes it from %s", rsc_place_in_short(advice->place, 0).text,
                 rsc_place_in_short(advice->other, 0).text);
    }
    rsc_make_plain(where);
    snprintf(
        advice->evidence, sizeof advice->evidence,
        "%s of misses (%s%s) are to lines that another thread wrote other bytes of. The worst is line 0x%llx%s (%s)%s.",
        rsc_show_percent(advice->share).text, rsc_show_count(misses).text, range, (unsigned long long)worst->address,
        where, users, code);
    snprintf(advice->attempt, sizeof advice->attempt,
             "Give each thread's part its own line: pad or align it to %s (_Alignas(%llu)), or let each thread work "
             "on a local variable and store the result at the end.",
             rsc_show_bytes(profile->made.line_bytes).text, (unsigned long long)profile->made.line_bytes);
    rsc_advice_gains_invalidated(evidence, misses, advice);
    rsc_change_show(advice, (const struct rsc_place *[]){advice->place, advice->other}, 2);
    return 1;
}

/* Lines invalidated by other threads' writes, without known false sharing. */
static int sharing(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    uint64_t taken = profile->invalidated - (profile->sharing_count ? false_misses(profile) : 0), most = 0;
    const char *object = NULL;
    advice->share = rsc_share_of(evidence, taken);
    if (advice->share < RSC_SHARE_WORTH || !sharing_matters(evidence, taken)) return 0;
    for (size_t i = 0; i < evidence->objects.count; i++)
        if (evidence->objects.ranks[i].invalidated > most) {
            most = evidence->objects.ranks[i].invalidated;
            object = ((const struct rsc_object_row *)evidence->objects.ranks[i].rows[0])->name;
        }
    for (size_t i = 0, worst = 0; i < profile->code_count; i++)
        if (profile->code[i].invalidated > worst && !rsc_place_is_other(&profile->code[i].place))
            worst = profile->code[i].invalidated, advice->place = &profile->code[i].place;
    char where[200] = "";
    if (object)
        snprintf(where, sizeof where, " Most are in %.120s (%s).", object,
                 rsc_show_percent((double)most / (double)profile->invalidated).text);
    rsc_make_plain(where);
    snprintf(advice->evidence, sizeof advice->evidence,
             "%s of misses (%s) are to lines that another thread had written since.%s",
             rsc_show_percent(advice->share).text, rsc_show_count(taken).text, where);
    rsc_advice_gains_invalidated(evidence, taken, advice);
    rsc_change_show(advice, &advice->place, 1);
    if (profile->sharing_count) {
        snprintf(advice->attempt, sizeof advice->attempt,
                 "They share what they write there: let each thread sum up, or queue, on its own and join the results "
                 "less often, or give the work on one datum to one thread.");
        return 1;
    }
    snprintf(advice->attempt, sizeof advice->attempt,
             "If threads write different variables there, it is false sharing: give each thread's its own line of %s "
             "(_Alignas, padding). If they share the variable, let each sum up on its own and join at the end.",
             rsc_show_bytes(profile->made.line_bytes).text);
    return 1;
}

/* One thread does more work than the others. */
static int imbalance(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    const struct rsc_thread_row *most = NULL;
    double sum = 0;
    if (profile->thread_count < 2) return 0;
    for (size_t i = 0; i < profile->thread_count; i++) {
        sum += (double)profile->threads[i].references;
        if (!most || profile->threads[i].references > most->references) most = &profile->threads[i];
    }
    size_t at_work = 0; /* a thread that only starts the others and waits for them does not count */
    for (size_t i = 0; i < profile->thread_count; i++)
        at_work += 100 * (double)profile->threads[i].references >= (double)most->references;
    double mean = sum / (double)at_work, times = mean > 0 ? (double)most->references / mean : 0;
    if (times < UNEVEN) return 0;
    advice->share = (double)most->references / sum;
    snprintf(advice->evidence, sizeof advice->evidence,
             "Thread %s makes %s of all references of %s threads, %.1f times the mean: the others wait for it.",
             rsc_show_count(most->tid).text, rsc_show_percent(advice->share).text, rsc_show_count(at_work).text, times);
    snprintf(
        advice->attempt, sizeof advice->attempt,
        "Hand out smaller pieces of work (schedule(dynamic) or guided for loops whose turns differ), and let what one "
        "thread does alone, such as filling arrays, be done by all.");
    return 1;
}

/* A little more cache, or a little less data, would be enough. */
static int cache_cliff(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    if (!rsc_misses_matter(evidence) || profile->rd_capped) return 0;
    if (rsc_lines_are_words(profile)) return 0; /* the lines around them need more cache, how much is not known */
    double here = evidence->miss_ratio;
    double twice = rsc_profile_miss_ratio(profile, 2 * evidence->size.lines);
    if (here - twice < CLIFF_SHARE * here) return 0;
    const struct rsc_mrc_point *at = NULL;
    for (size_t i = 0; i < profile->mrc_count && !at; i++)
        if (profile->mrc[i].lines > evidence->size.lines && here - profile->mrc[i].miss_ratio >= 0.9 * (here - twice))
            at = &profile->mrc[i];
    if (!at || at->lines > 2 * evidence->size.lines) return 0;
    uint64_t more = at->bytes - evidence->size.bytes;
    advice->share = (here - at->miss_ratio) / here;
    advice->gain.is_known = 1;
    advice->gain.misses = (uint64_t)(advice->share * (double)evidence->misses);
    snprintf(advice->evidence, sizeof advice->evidence,
             "%s more cache than %s would remove %s of the misses: the miss ratio falls from %s to %s at %s.",
             rsc_show_bytes(more).text, rsc_show_bytes(evidence->size.bytes).text, rsc_show_percent(advice->share).text,
             rsc_show_percent(here).text, rsc_show_percent(at->miss_ratio).text, rsc_show_bytes(at->bytes).text);
    snprintf(
        advice->attempt, sizeof advice->attempt,
        "Make the data that is used repeatedly %s smaller: smaller blocks, smaller types, no unused fields. Or run "
        "it on a machine with a cache of %s.",
        rsc_show_bytes(more).text, rsc_show_bytes(at->bytes).text);
    return 1;
}

/* First touches by anything but the dynamic loader, which nobody can change. */
static uint64_t own_first_touches(const struct rsc_profile *profile) {
    uint64_t own = rsc_profile_first_touches(profile); /* samples show how many, not by which code */
    for (size_t i = 0; i < profile->code_count; i++)
        if (rsc_place_is_loader(&profile->code[i].place))
            own -= profile->code[i].cold < own ? profile->code[i].cold : own;
    return own;
}

/* No cache size helps. */
static int cold_dominated(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    const struct rsc_object_row *most = NULL;
    const uint64_t cold = own_first_touches(profile);
    advice->share = rsc_share_of(evidence, cold);
    if (advice->share < COLD_SHARE || !rsc_is_worth(evidence, (double)cold, evidence->miss_cycles)) return 0;
    for (size_t i = 0; i < profile->object_count; i++)
        if (profile->objects[i].cold > (most ? most->cold : 0)) most = &profile->objects[i];
    for (size_t i = 0, worst = 0; i < profile->code_count; i++)
        if (profile->code[i].cold > worst && !rsc_place_is_other(&profile->code[i].place))
            worst = profile->code[i].cold, advice->place = &profile->code[i].place;
    char where[200] = "";
    if (most && most->name) snprintf(where, sizeof where, " Most of it is %.120s.", most->name);
    rsc_make_plain(where);
    snprintf(advice->evidence, sizeof advice->evidence,
             "%s of misses are first touches of memory (%s in all), which no cache avoids.%s",
             rsc_show_percent(advice->share).text, rsc_lines_as_bytes(evidence, profile->distinct).text, where);
    snprintf(
        advice->attempt, sizeof advice->attempt,
        "Touch less memory: reuse buffers, use smaller types, merge the step that produces data with the one that uses "
        "it. Stream in order, so that the prefetcher works, and use huge pages.");
    return 1;
}

static const struct {
    const char *rule, *title;
    look *look;
} rules[] = {
    {"fusion", "Two loops go over the same data", rsc_advise_fusion},
    {"interchange", "A loop steps over whole lines", rsc_advise_interchange},
    {"tiling", "A loop comes back to all its data", rsc_advise_tiling},
    {"order", "Data lies in another order than it is used in", rsc_advise_order},
    {"long-distance", "Data comes back too late", rsc_advise_long_distance},
    {"line-use", "Little of each line is used", line_use},
    {"false-sharing", "Threads write side by side in one line", false_sharing},
    {"sharing", "Threads take lines from each other", sharing},
    {"imbalance", "One thread does more than its part", imbalance},
    {"cache-cliff", "The working set just does not fit", cache_cliff},
    {"cold", "Most misses are first touches", cold_dominated},
};
#define RULES (sizeof rules / sizeof rules[0])

static int larger_share(const void *left, const void *right) {
    const struct rsc_advice *a = left, *b = right;
    if (a->share != b->share) return a->share < b->share ? 1 : -1;
    return strcmp(a->rule, b->rule);
}

int rsc_advise(struct rsc_advices *advices, const struct rsc_profile *profile, const struct rsc_report_style *style) {
    struct rsc_evidence evidence = {.profile = profile,
                                    .machine = style->machine,
                                    .size = rsc_rank_size(profile, style, style->at_bytes),
                                    .said = advices};
    uint64_t lines = evidence.size.lines;
    *advices = (struct rsc_advices){.size_bytes = evidence.size.bytes};
    if (!profile->references || rsc_profile_is_requests(profile))
        return 0; /* the rules do not apply to whole objects */
    evidence.misses = rsc_profile_misses(profile, lines);
    evidence.miss_ratio = rsc_profile_miss_ratio(profile, lines);
    evidence.miss_cycles = rsc_machine_cycles_beyond(style->machine, evidence.size.bytes);
    advices->items = calloc(RULES, sizeof *advices->items);
    int status = advices->items ? 0 : RSC_ENOMEM;
    if (!status) status = rsc_ranking_make(&evidence.lines, profile, RSC_RANK_LINES, lines);
    if (!status) status = rsc_ranking_make(&evidence.pairs, profile, RSC_RANK_PAIRS, lines);
    if (!status) status = rsc_ranking_make(&evidence.objects, profile, RSC_RANK_OBJECTS, lines);
    if (!status) rsc_evidence_shape_pairs(&evidence);
    for (size_t i = 0; !status && i < RULES; i++) {
        struct rsc_advice *advice = &advices->items[advices->count];
        *advice = (struct rsc_advice){.rule = rules[i].rule, .title = rules[i].title};
        if (!rules[i].look(&evidence, advice)) continue;
        if (!advice->why_sure[0]) rsc_advice_sureness(&evidence, NULL, advice);
        advices->count++;
    }
    if (!status) qsort(advices->items, advices->count, sizeof *advices->items, larger_share);
    rsc_ranking_free(&evidence.lines);
    rsc_ranking_free(&evidence.pairs);
    rsc_ranking_free(&evidence.objects);
    if (status < 0) rsc_advices_free(advices);
    return status;
}

void rsc_advices_free(struct rsc_advices *advices) {
    free(advices->items);
    *advices = (struct rsc_advices){0};
}
