/* order_bounds.c - see order_bounds.h. */
#include "profile/order_bounds.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile_model.h"

void rsc_order_bounds_add(struct rsc_order_bounds *bounds, uint64_t others, uint64_t references, uint64_t time_ns) {
    uint32_t bin = others ? 64 - (uint32_t)__builtin_clzll(others) : 0;
    if (bin >= RSC_ORDER_BINS) bin = RSC_ORDER_BINS - 1;
    bounds->references += references;
    bounds->bin[bin].references += references;
    bounds->bin[bin].others += (double)others * (double)references;
    if (others) bounds->time_ns += (double)time_ns * (double)references;
}

static double others_in(const struct rsc_order_bounds *bounds, uint32_t bin) {
    return bounds->bin[bin].references ? bounds->bin[bin].others / (double)bounds->bin[bin].references : 0;
}

double rsc_order_bounds_quantile(const struct rsc_order_bounds *bounds, double share) {
    double sum = 0;
    for (uint32_t i = 0; i < RSC_ORDER_BINS; i++) {
        sum += (double)bounds->bin[i].references;
        if (bounds->bin[i].references && sum >= share * (double)bounds->references) return others_in(bounds, i);
    }
    return 0;
}

/*
 * Distinct lines among `window` successive references, on average: a reference counts if its line is not used again
 * before the window's end (paper 000's intervals; the formula of StatStack).
 */
static double lines_in(const struct rsc_profile *profile, double window) {
    double lines = 0, reused = 0, all = (double)profile->references;
    for (size_t i = 0; i < profile->ri_list_count; i++) {
        const struct rsc_bin *bin = &profile->ri_list[i];
        double interval = bin->hi == UINT64_MAX ? (double)bin->lo : ((double)bin->lo + (double)bin->hi) / 2;
        lines += (double)bin->count * (interval < window ? interval : window);
        reused += (double)bin->count;
    }
    if (!reused || !all) return window;
    lines = (lines + (all - reused) * window) / all;
    return lines < window ? lines : window;
}

/*
 * The curve with every distance changed by up to `shift` lines; *low and *high are of its bars. Only lines of other
 * threads can leave a distance: at most that share of it.
 */
static void shifted(const struct rsc_profile *profile, double lines, double shift, double *low, double *high) {
    double more = lines + shift, own = lines * (double)(profile->thread_count ? profile->thread_count : 1);
    if (own < more) more = own;
    *low = more >= 0x1p62 ? 0 : rsc_profile_mrc_at(profile, (uint64_t)more).low;
    *high = lines - shift < 1 ? 1 : rsc_profile_mrc_at(profile, (uint64_t)(lines - shift)).high;
}

static void widen_shared(const struct rsc_order_bounds *bounds, struct rsc_profile *profile,
                         struct rsc_mrc_point *widened) {
    double shift[RSC_ORDER_BINS];
    for (uint32_t b = 0; b < RSC_ORDER_BINS; b++)
        shift[b] = b && bounds->bin[b].references ? lines_in(profile, 2 * others_in(bounds, b)) : 0;
    for (size_t i = 0; i < profile->mrc_count; i++) {
        double low = 0, high = 0;
        for (uint32_t b = 0; b < RSC_ORDER_BINS; b++) {
            double share = (double)bounds->bin[b].references / (double)bounds->references, one_low, one_high;
            if (!bounds->bin[b].references) continue;
            shifted(profile, (double)profile->mrc[i].lines, shift[b], &one_low, &one_high);
            low += share * one_low;
            high += share * one_high;
        }
        widened[i] = profile->mrc[i];
        if (low < widened[i].low) widened[i].low = low;
        if (high > widened[i].high) widened[i].high = high < 1 ? high : 1;
    }
}

/* A count of which `changes` may belong to another row, or as many of others to it. */
static void widen_count(struct rsc_count_range *range, int is_known, uint64_t count, uint64_t changes, uint64_t most) {
    uint64_t low = is_known ? range->low : count, high = is_known ? range->high : count;
    range->low = low > changes ? low - changes : 0;
    range->high = high < most && changes < most - high ? high + changes : high < most ? most : high;
}

static void widen_sharing(struct rsc_profile *profile, uint64_t changes) {
    const uint64_t most = profile->references;
    for (size_t i = 0; i < profile->sharing_count; i++) {
        struct rsc_sharing_row *row = &profile->sharing[i];
        int is_known = row->bars.taken.high != 0;
        widen_count(&row->bars.taken, is_known, row->taken, changes, most);
        widen_count(&row->bars.false_taken, is_known, row->false_taken, changes, most);
        widen_count(&row->bars.misses, is_known, row->misses, changes, most);
        widen_count(&row->bars.false_misses, is_known, row->false_misses, changes, most);
    }
    for (size_t i = 0; i < profile->false_sharing_count; i++) {
        struct rsc_false_sharing_row *row = &profile->false_sharing[i];
        int is_known = row->bars.taken.high != 0;
        widen_count(&row->bars.taken, is_known, row->taken, changes, most);
        widen_count(&row->bars.misses, is_known, row->misses, changes, most);
    }
}

static void widen_private(const struct rsc_order_bounds *bounds, struct rsc_profile *profile) {
    const double all = (double)profile->references;
    double share = bounds->recorded ? (double)bounds->conflicts / (double)bounds->recorded : 0;
    uint64_t changes = (uint64_t)(share * all + 0.5);
    struct rsc_count_bar *bar = &profile->bars.invalidated;
    uint64_t low = bar->is_known ? bar->low : profile->invalidated, high = bar->is_known ? bar->high : low;
    uint64_t fewer = changes < low ? changes : low, room = profile->references > high ? profile->references - high : 0;
    if (!changes) return;
    widen_sharing(profile, changes);
    *bar = (struct rsc_count_bar){1, low - fewer, high + (changes < room ? changes : room)};
    for (size_t i = 0; i < profile->mrc_count; i++) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        double less = (double)fewer / all, more = (double)(bar->high - high) / all;
        point->low = point->low > less ? point->low - less : 0;
        point->high = point->high + more < 1 ? point->high + more : 1;
    }
}

void rsc_order_bounds_apply(const struct rsc_order_bounds *bounds, struct rsc_profile *profile) {
    if (!bounds->references || !profile->references || !profile->made.model) return;
    profile->turns.grain = (uint64_t)rsc_order_bounds_quantile(bounds, 0.5);
    if (!strcmp(profile->made.model, "private")) {
        widen_private(bounds, profile);
        return;
    }
    if (strcmp(profile->made.model, "shared") || bounds->bin[0].references == bounds->references) return;
    struct rsc_mrc_point *widened = malloc((profile->mrc_count + 1) * sizeof *widened);
    if (!widened) return;
    widen_shared(bounds, profile, widened);
    memcpy(profile->mrc, widened, profile->mrc_count * sizeof *widened);
    free(widened);
}
