/*
 * advise_gain.c - what an advice would gain, and how sure it is.
 *
 * The gain is counted from the rows that the advice is about: their misses, at the
 * advice's size and in each cache of the machine, of which a change saves a share. It is
 * the most that can be gained.
 */
#include <stdio.h>
#include <string.h>

#include "report/advise/advise_evidence.h"
#include "profile/cost.h"

static uint64_t part(uint64_t misses, double share) {
    return share > 0 ? (uint64_t)((double)misses * (share < 1 ? share : 1)) : 0;
}

static uint64_t saved_at(const struct rsc_ranking *ranking, const struct rsc_rank *rank, uint64_t lines, double share) {
    return part(rsc_rank_misses(ranking, rank, lines ? lines : 1), share);
}

static void add_cycles(const struct rsc_evidence *evidence, uint64_t invalidated, struct rsc_advice *advice) {
    if (rsc_cost_is_known(evidence->profile, evidence->machine))
        advice->gain.cycles = rsc_cost_of_misses(advice->gain.at, invalidated, evidence->machine);
}

void rsc_advice_gains_rank(const struct rsc_evidence *evidence, const struct rsc_ranking *ranking,
                           const struct rsc_rank *rank, double share, struct rsc_advice *advice) {
    struct rsc_advice_gain *gain = &advice->gain;
    const struct rsc_machine *machine = evidence->machine;
    uint64_t line_bytes = evidence->profile->made.line_bytes;
    gain->is_known = 1;
    gain->misses += saved_at(ranking, rank, evidence->size.lines, share);
    for (size_t i = 0; machine && i < machine->level_count; i++)
        gain->at[i] += saved_at(ranking, rank, machine->levels[i].size_bytes / line_bytes, share);
    add_cycles(evidence, 0, advice);
}

void rsc_advice_gains_invalidated(const struct rsc_evidence *evidence, uint64_t misses, struct rsc_advice *advice) {
    advice->gain.is_known = 1;
    advice->gain.misses = misses;
    for (size_t i = 0; evidence->machine && i < evidence->machine->level_count; i++) advice->gain.at[i] = misses;
    add_cycles(evidence, misses, advice);
}

#define STEPS_ALIKE 0.9 /* of the steps seen: a loop that steps regularly */
#define FEW_STEPS 64

void rsc_advice_sureness(const struct rsc_evidence *evidence, const struct rsc_stride *stride,
                         struct rsc_advice *advice) {
    const struct rsc_profile *profile = evidence->profile;
    const char *counted = profile->made.modelled   ? "lines were modelled from watched parts of them"
                          : profile->made.sampling ? "a sample of references was counted"
                          : profile->made.loop     ? "predicted from the source"
                                                   : "every reference was counted";
    int score = profile->made.modelled ? 0 : profile->made.sampling || profile->made.loop ? 1 : 2;
    char steps[120] = "";
    if (stride && !stride->seen) {
        snprintf(steps, sizeof steps, "; strides are not known");
        score -= 1;
    } else if (stride) {
        double alike = (double)stride->same / (double)stride->seen;
        snprintf(steps, sizeof steps, "; %s of %s steps are alike", rsc_show_percent(alike).text,
                 rsc_show_count(stride->seen).text);
        if (stride->seen < FEW_STEPS || (rsc_stride_is_regular(stride) && alike < STEPS_ALIKE)) score -= 1;
    }
    advice->sure = score > 1 ? RSC_SURE_HIGH : score == 1 ? RSC_SURE_MEDIUM : RSC_SURE_LOW;
    snprintf(advice->why_sure, sizeof advice->why_sure, "%s%s", counted, steps);
}
