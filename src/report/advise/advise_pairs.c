/*
 * advise_pairs.c - advice about reuses that come too late.
 *
 * A pair gives the places where data was used and used again; its call paths and loops
 * show where the two diverge (pair_ancestor.h). Three transformations can bring the two
 * ends together. The loops decide which:
 *
 *   fusion       the ends are in two consecutive loops: fuse them, or run both over one
 *                block of the data before the next block
 *   interchange  one loop that steps over whole lines: it returns for the next bytes of
 *                a line only in the next iteration of the enclosing loop. Make the other
 *                loop the inner one, or transpose the data
 *   tiling       one loop that goes through its data in order and returns to the same
 *                data in the next iteration of the enclosing loop: cut it into tiles
 *
 * Code without (known) loops and irregular strides support none of these; the pair is
 * then reported without a transformation.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/advise/advise_evidence.h"
#include "report/draw/place_text.h"
#include "report/own_code.h"
#include "report/text/worst.h"

#define STEPS_WORTH 3 /* with fewer steps seen, the stride is not known; with few, advice is less sure */
#define SHARE_TO_NAME 0.001 /* of misses: pairs with less are not worth a word */
#define OBJECT_COLUMNS 100

/* ---- how lines of memory are used ---- */

static const struct rsc_code_row *row_of_pc(const struct rsc_profile *profile, uint64_t pc) {
    for (size_t i = 0; i < profile->code_count; i++)
        if (profile->code[i].place.pc == pc) return &profile->code[i];
    return NULL;
}

const struct rsc_code_row *rsc_worst_of_line(const struct rsc_evidence *evidence, const struct rsc_rank *line) {
    const struct rsc_split split = rsc_split_at(evidence->profile, evidence->size.lines);
    const struct rsc_code_row *worst = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < line->row_count; i++) {
        const struct rsc_code_row *row = line->rows[i];
        uint64_t misses = row->cold + row->invalidated + rsc_split_far(&split, &row->rd);
        if (!worst || misses > most) worst = row, most = misses;
    }
    return worst;
}

/* How often a line the instruction touched is touched again before `small` others, and where most often. */
static double again_soon(const struct rsc_evidence *evidence, const struct rsc_code_row *row, uint64_t small,
                         const struct rsc_code_row **next) {
    const struct rsc_profile *profile = evidence->profile;
    const struct rsc_pair_row *most = NULL;
    uint64_t sum = 0, most_count = 0;
    if (profile->made.loop) { /* without pairs: its own reuses, as a loop's reference follows itself */
        uint64_t near = rsc_histogram_total(&row->rd) - rsc_histogram_at_least(&row->rd, small);
        *next = row;
        return row->references ? (double)near / (double)row->references : 0;
    }
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct rsc_pair_row *pair = &profile->pairs[i];
        if (pair->use.pc != row->place.pc) continue;
        uint64_t count = rsc_histogram_total(&pair->rd) - rsc_histogram_at_least(&pair->rd, small);
        sum += count;
        if (count > most_count) most = pair, most_count = count;
    }
    *next = most ? row_of_pc(profile, most->reuse.pc) : NULL;
    if (!*next || !row->references) return 0;
    return sum < row->references ? (double)sum / (double)row->references : 1;
}

/*
 * Follows a line from the instruction on: it is used once, then again with the
 * probability of a reuse that half of the cache would still hold, always along the most
 * common successor. This follows unrolled code from copy to copy; a loop that stays
 * within a line returns to itself.
 */
struct rsc_line_use rsc_line_use(const struct rsc_evidence *evidence, const struct rsc_code_row *row) {
    struct rsc_line_use use = {.stride = row->stride};
    const struct rsc_code_row *at = row, *next;
    if (use.stride.seen < STEPS_WORTH) use.stride.seen = 0;
    if (!rsc_lines_are_seen(evidence->profile)) return use;
    for (double still = 1; still > 0.01 && use.uses < (double)evidence->profile->made.line_bytes; at = next) {
        use.uses += still;
        still *= again_soon(evidence, at, evidence->size.lines / 2, &next);
        if (!next) break;
    }
    if (use.stride.seen) use.bytes = use.uses * use.stride.access_bytes;
    return use;
}

int rsc_line_use_is_little(const struct rsc_evidence *evidence, const struct rsc_line_use *use) {
    uint64_t line_bytes = evidence->profile->made.line_bytes;
    if (!(use->uses > 0)) return 0;
    if (!use->stride.seen) return use->uses < RSC_LITTLE_USE;
    if (use->bytes > (double)line_bytes / 2) return 0;
    return use->stride.bytes >= line_bytes || !rsc_stride_is_regular(&use->stride) || rsc_line_use_is_of_records(use);
}

int rsc_line_use_is_of_records(const struct rsc_line_use *use) {
    return use->stride.seen && use->stride.access_bytes && use->stride.apart >= 2ull * use->stride.access_bytes &&
           rsc_stride_is_regular(&use->stride) && use->stride.bytes == use->stride.apart;
}

/* ---- shapes ---- */

/*
 * Whether a loop that steps over whole lines also goes through other data in order, to
 * which it does not come back in the next iteration of the loop around it. Exchanged, it
 * would step over that data instead. Data that it comes back to at once would stay in
 * place: the other loop is then the right inner one.
 */
static int goes_on_elsewhere(const struct rsc_evidence *evidence, const struct rsc_code_row *row, uint64_t distance) {
    const struct rsc_profile *profile = evidence->profile;
    uint64_t from = distance / 4 < RSC_SMALL_LINES ? distance / 4 : RSC_SMALL_LINES;
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_code_row *other = &profile->code[i];
        const struct rsc_stride *stride = &other->stride;
        if (!other->place.loop || !row->place.loop || !rsc_loop_same(profile, other->place.loop, row->place.loop))
            continue;
        if (2 * other->references < row->references || stride->seen < STEPS_WORTH || !rsc_stride_is_regular(stride) ||
            !stride->bytes || stride->bytes >= profile->made.line_bytes)
            continue;
        uint64_t soon = rsc_histogram_at_least(&other->rd, from) - rsc_histogram_at_least(&other->rd, 4 * distance);
        uint64_t late = other->cold + rsc_histogram_at_least(&other->rd, 4 * distance);
        if (late > soon) return 1;
    }
    return 0;
}

/* One loop for both ends: its stride decides. */
static enum rsc_pair_shape shape_of_loop(const struct rsc_evidence *evidence, struct rsc_far_pair *far) {
    const struct rsc_code_row *row = row_of_pc(evidence->profile, far->row->reuse.pc);
    if (!row) return RSC_SHAPE_OTHER;
    struct rsc_line_use use = rsc_line_use(evidence, row);
    int little = rsc_line_use_is_little(evidence, &use);
    if (use.stride.seen && !rsc_stride_is_regular(&use.stride)) return little ? RSC_SHAPE_ORDER : RSC_SHAPE_OTHER;
    if (!little) return RSC_SHAPE_TILING;
    if (rsc_line_use_is_of_records(&use)) return RSC_SHAPE_RECORDS;
    far->swaps = goes_on_elsewhere(evidence, row, rsc_rank_median(&evidence->pairs, far->rank, evidence->size.lines));
    return far->swaps ? RSC_SHAPE_TILING : RSC_SHAPE_INTERCHANGE;
}

static uint32_t root_of(const struct rsc_profile *profile, uint32_t context) {
    while (context != RSC_NO_CONTEXT && profile->contexts[context].parent != RSC_NO_CONTEXT)
        context = profile->contexts[context].parent;
    return context;
}

/* Whether the two ends are on different threads, by where these began: then neither runs after the other. */
static int on_two_threads(const struct rsc_profile *profile, const struct rsc_pair_row *row) {
    return profile->made.threads > 1 && row->use_context != RSC_NO_CONTEXT && row->reuse_context != RSC_NO_CONTEXT &&
           root_of(profile, row->use_context) != root_of(profile, row->reuse_context);
}

static enum rsc_pair_shape shape_of(const struct rsc_evidence *evidence, struct rsc_far_pair *far) {
    const struct rsc_pair_ancestor *common = &far->common;
    const struct rsc_profile *profile = evidence->profile;
    int in_use = common->use_loop != 0, in_reuse = common->reuse_loop != 0;
    int apart = common->use != common->reuse && rsc_place_compare(common->use, common->reuse);
    if (in_use && in_reuse && apart) {
        /* two calls may lead to the same loop: it runs twice */
        int same_call = common->use->pc == common->reuse->pc || on_two_threads(profile, far->row);
        if (!rsc_loop_same(profile, common->use_loop, common->reuse_loop) || !same_call) return RSC_SHAPE_FUSION;
    }
    if (in_use && in_reuse && !rsc_loop_same(profile, common->use_loop, common->reuse_loop)) return RSC_SHAPE_FUSION;
    if (in_use != in_reuse && !common->loop) return RSC_SHAPE_OTHER; /* one end is outside any loop */
    if (!common->around && !in_use) return RSC_SHAPE_OTHER;
    return shape_of_loop(evidence, far);
}

static const struct rsc_pair_row *heaviest(const struct rsc_evidence *evidence, const struct rsc_rank *rank) {
    const struct rsc_split split = rsc_split_at(evidence->profile, evidence->size.lines);
    const struct rsc_pair_row *most = NULL;
    uint64_t most_misses = 0;
    for (size_t i = 0; i < rank->row_count; i++) {
        const struct rsc_pair_row *row = rank->rows[i];
        uint64_t misses = rsc_split_far(&split, &row->rd);
        if (!most || misses > most_misses) most = row, most_misses = misses;
    }
    return most;
}

void rsc_evidence_shape_pairs(struct rsc_evidence *evidence) {
    for (size_t i = 0; i < evidence->pairs.count && evidence->far_count < RSC_FAR_PAIRS; i++) {
        const struct rsc_rank *rank = &evidence->pairs.ranks[i];
        if (!rank->misses) continue;
        struct rsc_far_pair *far = &evidence->far[evidence->far_count++];
        *far = (struct rsc_far_pair){.rank = rank, .row = heaviest(evidence, rank)};
        far->common = rsc_pair_ancestor(evidence->profile, far->row);
        far->shape = shape_of(evidence, far);
    }
}

/* ---- words ---- */

struct words {
    char text[256];
};

/* " (grid (solver.c:12))", or nothing. */
static struct words words_of_object(const struct rsc_pair_row *pair) {
    struct words words = {""};
    if (pair->object) snprintf(words.text, sizeof words.text, " of %.*s", OBJECT_COLUMNS, pair->object);
    rsc_make_plain(words.text);
    return words;
}

static const struct rsc_place *place_of_loop(const struct rsc_profile *profile, uint32_t loop) {
    return loop ? &profile->loops[loop - 1].place : NULL;
}

/* "the loop at solver.c:70 (relax)". */
static struct words words_of_loop_at(const struct rsc_place *place) {
    struct words words = {"the loop"};
    if (!place) return words;
    struct rsc_place_short name = rsc_place_in_short(place, 0);
    char function[256];
    if (place->function && place->file && place->line) {
        rsc_collapse_function(place->function, function, sizeof function);
        snprintf(words.text, sizeof words.text, "the loop at %s (%.80s%s)", name.text, function,
                 strlen(function) > 80 ? "..." : "");
    } else snprintf(words.text, sizeof words.text, "the loop at %s", name.text);
    rsc_make_plain(words.text);
    return words;
}

static struct words words_of_loop(const struct rsc_profile *profile, uint32_t loop) {
    return words_of_loop_at(place_of_loop(profile, loop));
}

/* "after a median of 85.0 k other lines (5.19 MiB)". */
static struct words words_of_distance(const struct rsc_evidence *evidence, const struct rsc_far_pair *far) {
    struct words words;
    uint64_t median = rsc_rank_median(&evidence->pairs, far->rank, evidence->size.lines);
    int open = median >= rsc_rows_told_apart(evidence->profile);
    snprintf(words.text, sizeof words.text, "after a median of %s%s other %ss (%s)", open ? "at least " : "",
             rsc_show_short(median).text, rsc_unit_of(evidence->profile), rsc_lines_as_bytes(evidence, median).text);
    return words;
}

/* Appends to a text, as far as there is room. */
static __attribute__((format(printf, 2, 3))) void say(char *text, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, RSC_ADVICE_TEXT - used, format, arguments);
    va_end(arguments);
}

/*
 * Adds up all pairs of a shape; NULL if their share is too small. The advice is about
 * the first of them.
 */
static const struct rsc_far_pair *gather(const struct rsc_evidence *evidence, enum rsc_pair_shape shape,
                                         struct rsc_advice *advice) {
    const struct rsc_far_pair *first = NULL;
    uint64_t misses = 0;
    for (size_t i = 0; i < evidence->far_count; i++) {
        const struct rsc_far_pair *far = &evidence->far[i];
        if (far->shape != shape) continue;
        if (!first) first = far;
        misses += far->rank->misses;
        if (advice->pair_count < RSC_ADVICE_PAIRS)
            advice->pairs[advice->pair_count++] =
                (struct rsc_advice_pair){far->row, rsc_share_of(evidence, far->rank->misses),
                                         rsc_rank_median(&evidence->pairs, far->rank, evidence->size.lines)};
    }
    advice->share = rsc_share_of(evidence, misses);
    if (!first || advice->share < RSC_SHARE_WORTH || !rsc_misses_matter(evidence)) return NULL;
    advice->place = &first->row->reuse;
    advice->other = &first->row->use;
    advice->loop = first->common.around;
    uint64_t reach = rsc_rank_quantile(&evidence->pairs, first->rank, evidence->size.lines, 0.9);
    if (reach < rsc_rows_told_apart(evidence->profile) && !rsc_lines_are_words(evidence->profile))
        advice->pays_below = rsc_lines_to_bytes(reach, evidence->profile->made.line_bytes);
    return first;
}

/* What all pairs of a shape would gain if `share` of their misses were avoided. */
static void tell_gain(const struct rsc_evidence *evidence, enum rsc_pair_shape shape, double share,
                      struct rsc_advice *advice) {
    for (size_t i = 0; i < evidence->far_count; i++)
        if (evidence->far[i].shape == shape)
            rsc_advice_gains_rank(evidence, &evidence->pairs, evidence->far[i].rank, share, advice);
}

/* The share of misses that is avoided if all bytes of each line are used before it is left. */
static double share_of_whole_lines(const struct rsc_evidence *evidence, const struct rsc_line_use *use) {
    double used = use->stride.seen ? use->bytes : use->uses * 8; /* where sizes are not known, 8 bytes each */
    return 1 - used / (double)evidence->profile->made.line_bytes;
}

/* " 3 more pairs are like it; together they are 61 % of misses." Those with next to none are not counted. */
static void tell_others(const struct rsc_evidence *evidence, const struct rsc_far_pair *first,
                        struct rsc_advice *advice) {
    size_t others = 0;
    for (size_t i = 0; i < evidence->far_count; i++) {
        const struct rsc_far_pair *far = &evidence->far[i];
        others +=
            far != first && far->shape == first->shape && rsc_share_of(evidence, far->rank->misses) >= SHARE_TO_NAME;
    }
    if (others)
        say(advice->evidence, " %zu more pair%s like it: together %s of misses.", others, others > 1 ? "s are" : " is",
            rsc_show_percent(advice->share).text);
    if (first->row->latency > 0)
        say(advice->evidence, " The reuse takes %.0f cycles on average%s%s.", first->row->latency,
            rsc_source_words(first->row).text[0] ? ", its data comes " : "", rsc_source_words(first->row).text);
    if (advice->pays_below)
        say(advice->attempt, " It helps in caches of less than %s.", rsc_show_bytes(advice->pays_below).text);
}

/* ---- the rules ---- */

int rsc_advise_fusion(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    const struct rsc_far_pair *far = gather(evidence, RSC_SHAPE_FUSION, advice);
    if (!far) return 0;
    struct words use = words_of_loop(profile, far->common.use_loop),
                 reuse = words_of_loop(profile, far->common.reuse_loop);
    say(advice->evidence, "%s of misses are %ss%s that %s uses (at %s) and %s uses again (at %s) %s.",
        rsc_show_percent(rsc_share_of(evidence, far->rank->misses)).text, rsc_unit_of(profile),
        words_of_object(far->row).text, use.text, rsc_place_in_short(&far->row->use, 0).text,
        rsc_loop_same(profile, far->common.use_loop, far->common.reuse_loop) ? "the same loop, called again,"
                                                                             : reuse.text,
        rsc_place_in_short(&far->row->reuse, 0).text, words_of_distance(evidence, far).text);
    if (far->common.around)
        say(advice->evidence, " Both run inside %s.", words_of_loop(profile, far->common.around).text);
    say(advice->attempt,
        "Fuse the two loops, so that the second use comes right after the first; or run both block by block, with "
        "blocks of less than %s.",
        rsc_show_bytes(evidence->size.bytes).text);
    tell_others(evidence, far, advice);
    tell_gain(evidence, RSC_SHAPE_FUSION, 1, advice);
    rsc_change_show(advice,
                    (const struct rsc_place *[]){place_of_loop(profile, far->common.use_loop), &far->row->use,
                                                 place_of_loop(profile, far->common.reuse_loop), &far->row->reuse},
                    4);
    return 1;
}

/* The loop that steps, and the enclosing loop whose next iteration reuses the data. */
static void loops_of(const struct rsc_profile *profile, const struct rsc_far_pair *far, uint32_t *inner,
                     uint32_t *outer) {
    uint32_t context = far->row->reuse_context;
    *inner = far->row->reuse.loop ? far->row->reuse.loop : rsc_loop_around(profile, 0, &context);
    /* the compiler's copies of one loop do not enclose each other */
    *outer = *inner;
    while ((*outer = rsc_loop_around(profile, *outer, &context)) && rsc_loop_same(profile, *inner, *outer)) continue;
}

/* "the loop at a.c:20 (f)", or "one of the loops at a.c:20, a.c:19" if it is not known which. */
static struct words words_of_loops_around(const struct rsc_profile *profile, uint32_t outer) {
    struct words words;
    uint32_t last = outer, count = 1;
    snprintf(words.text, sizeof words.text, "one of the loops at %s",
             rsc_place_in_short(&profile->loops[outer - 1].place, 0).text);
    for (uint32_t loop = profile->loops[outer - 1].parent; loop && count < 4; loop = profile->loops[loop - 1].parent) {
        if (rsc_loop_same(profile, loop, last)) continue;
        size_t used = strlen(words.text);
        snprintf(words.text + used, sizeof words.text - used, ", %s",
                 rsc_place_in_short(&profile->loops[loop - 1].place, 0).text);
        last = loop;
        count++;
    }
    return count > 1 ? words : words_of_loop(profile, outer);
}

int rsc_advise_interchange(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    const struct rsc_far_pair *far = gather(evidence, RSC_SHAPE_INTERCHANGE, advice);
    uint32_t inner, outer;
    if (!far) return 0;
    struct rsc_line_use use = rsc_line_use(evidence, row_of_pc(profile, far->row->reuse.pc));
    loops_of(profile, far, &inner, &outer);
    say(advice->evidence, "%s of misses: %s comes back to a line%s only %s.",
        rsc_show_percent(rsc_share_of(evidence, far->rank->misses)).text, rsc_place_in_short(&far->row->reuse, 0).text,
        words_of_object(far->row).text, words_of_distance(evidence, far).text);
    if (use.stride.seen)
        say(advice->evidence,
            " The stride in %s is %s (%s of the steps seen): at most %.0f bytes of each %s line are used "
            "before it is left.",
            words_of_loop(profile, inner).text, rsc_show_bytes(use.stride.bytes).text,
            rsc_show_percent((double)use.stride.same / (double)use.stride.seen).text, use.bytes,
            rsc_show_bytes(profile->made.line_bytes).text);
    else
        say(advice->evidence, " In %s, a line serves only %.2f references each time it is fetched.",
            words_of_loop(profile, inner).text, use.uses);
    if (outer) {
        struct rsc_place around = *place_of_loop(profile, outer);
        uint32_t line = rsc_source_loop_around(&around, place_of_loop(profile, inner));
        if (line) around.line = line;
        say(advice->attempt,
            "Interchange it with %s, so that the next iteration uses the next bytes of the line; or transpose the "
            "data, so that data used together is side by side.",
            words_of_loop_at(&around).text);
        if (line) rsc_change_exchange(advice, place_of_loop(profile, inner), line);
    } else
        say(advice->attempt,
            "Store the data so that the next iteration uses the next bytes: transpose it, or use one array per field "
            "instead of an array of whole records.");
    tell_others(evidence, far, advice);
    tell_gain(evidence, RSC_SHAPE_INTERCHANGE, share_of_whole_lines(evidence, &use), advice);
    rsc_advice_sureness(evidence, &use.stride, advice);
    return 1;
}

/* A transposition: whichever loop is the inner one, it steps over whole lines of something. */
static int advise_both_ways(const struct rsc_evidence *evidence, const struct rsc_far_pair *far, uint32_t inner,
                            uint32_t outer, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    say(advice->evidence,
        "%s of misses: %s steps over whole lines%s and comes back to a line (at %s) only %s. It goes through other data "
        "in order: with the loops interchanged it would step over that instead.",
        rsc_show_percent(rsc_share_of(evidence, far->rank->misses)).text, words_of_loop(profile, inner).text,
        words_of_object(far->row).text, rsc_place_in_short(&far->row->reuse, 0).text,
        words_of_distance(evidence, far).text);
    say(advice->attempt,
        "Cut both loops into tiles, so that the lines of both fit in %s until all of their bytes are used.",
        rsc_show_bytes(evidence->size.bytes).text);
    uint32_t line = outer ? rsc_source_loop_around(place_of_loop(profile, outer), place_of_loop(profile, inner)) : 0;
    if (line) rsc_change_tile(advice, place_of_loop(profile, inner), line, evidence->size.bytes);
    tell_others(evidence, far, advice);
    return 1;
}

int rsc_advise_tiling(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    const struct rsc_far_pair *far = gather(evidence, RSC_SHAPE_TILING, advice);
    uint32_t inner, outer;
    if (!far) return 0;
    loops_of(profile, far, &inner, &outer);
    const struct rsc_code_row *row = row_of_pc(profile, far->row->reuse.pc);
    struct rsc_stride stride = row ? rsc_line_use(evidence, row).stride : (struct rsc_stride){0};
    rsc_advice_sureness(evidence, &stride, advice);
    tell_gain(evidence, RSC_SHAPE_TILING, 1, advice);
    if (far->swaps) return advise_both_ways(evidence, far, inner, outer, advice);
    say(advice->evidence, "%s of misses: %s goes through its data%s%s, and %s comes back to a %s only %s",
        rsc_show_percent(rsc_share_of(evidence, far->rank->misses)).text, words_of_loop(profile, inner).text,
        words_of_object(far->row).text, rsc_lines_are_seen(profile) ? " in order" : "",
        rsc_place_in_short(&far->row->reuse, 0).text, rsc_unit_of(profile), words_of_distance(evidence, far).text);
    if (outer) say(advice->evidence, ", in a later iteration of %s.", words_of_loops_around(profile, outer).text);
    else say(advice->evidence, ", when it is run again.");
    say(advice->attempt,
        "Cut it into tiles of less than %s, and do all the work of %s on one tile before going on to the next.",
        rsc_show_bytes(evidence->size.bytes).text, outer ? "the loop around it" : "every run of it");
    if (!rsc_lines_are_seen(profile))
        say(advice->attempt,
            " If it uses little of each line, which these reuses do not show, interchange the loops instead: an exact "
            "profile with lines of 64 bytes shows it.");
    tell_others(evidence, far, advice);
    rsc_change_show(
        advice,
        (const struct rsc_place *[]){place_of_loop(profile, outer), place_of_loop(profile, inner), &far->row->reuse},
        3);
    return 1;
}

int rsc_advise_order(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    const struct rsc_far_pair *far = gather(evidence, RSC_SHAPE_ORDER, advice);
    if (!far) return 0;
    struct rsc_line_use use = rsc_line_use(evidence, row_of_pc(profile, far->row->reuse.pc));
    uint32_t inner, outer;
    loops_of(profile, far, &inner, &outer);
    say(advice->evidence,
        "%s of misses: %s jumps through its data%s (%s of the steps seen have the most common stride), and each %s line "
        "that %s fetches serves only %.2f references, at most %.0f bytes. It is used again only %s.",
        rsc_show_percent(rsc_share_of(evidence, far->rank->misses)).text, words_of_loop(profile, inner).text,
        words_of_object(far->row).text, rsc_show_percent((double)use.stride.same / (double)use.stride.seen).text,
        rsc_show_bytes(profile->made.line_bytes).text, rsc_place_in_short(&far->row->reuse, 0).text, use.uses,
        use.bytes, words_of_distance(evidence, far).text);
    say(advice->attempt,
        "Put the data in the order it is used in: link or sort it once by its place in memory, allocate the nodes of a "
        "list one after the other, or copy them into an array. Or use the data in the order it lies in.");
    tell_others(evidence, far, advice);
    tell_gain(evidence, RSC_SHAPE_ORDER, share_of_whole_lines(evidence, &use), advice);
    rsc_advice_sureness(evidence, &use.stride, advice);
    rsc_change_show(advice, (const struct rsc_place *[]){place_of_loop(profile, inner), &far->row->reuse}, 2);
    return 1;
}

/* Whether it is about code of a library, which the user's code, named by other advice, calls. */
static int is_beside_the_point(const struct rsc_evidence *evidence, const struct rsc_far_pair *far) {
    const struct rsc_code_row *row = row_of_pc(evidence->profile, far->row->reuse.pc);
    return row && !rsc_own_place(row) && evidence->said->count;
}

int rsc_advise_long_distance(const struct rsc_evidence *evidence, struct rsc_advice *advice) {
    const struct rsc_far_pair *far = gather(evidence, RSC_SHAPE_OTHER, advice);
    if (!far || is_beside_the_point(evidence, far)) return 0;
    const char *unit = rsc_unit_of(evidence->profile);
    int itself = !rsc_place_compare(&far->row->use, &far->row->reuse);
    say(advice->evidence, "%s of misses are %ss%s used at %s and again at %s %s.",
        rsc_show_percent(rsc_share_of(evidence, far->rank->misses)).text, unit, words_of_object(far->row).text,
        rsc_place_in_short(&far->row->use, 0).text,
        itself ? "the same line" : rsc_place_in_short(&far->row->reuse, 0).text, words_of_distance(evidence, far).text);
    say(advice->attempt,
        itself ? "Work in blocks of less than %s: finish all work on a block before going on to the next."
               : "Bring the two places together: run the second on a block of less than %s right after the first.",
        rsc_show_bytes(evidence->size.bytes).text);
    tell_others(evidence, far, advice);
    tell_gain(evidence, RSC_SHAPE_OTHER, 1, advice);
    rsc_change_show(advice, (const struct rsc_place *[]){&far->row->use, &far->row->reuse}, 2);
    return 1;
}
