/*
 * pair_ancestor.c - see pair_ancestor.h.
 *
 * In both trees a parent has a lower index than its children: from two nodes, going
 * up from the node with the higher index leads to their common ancestor, and the
 * last steps are its two children on the paths.
 */
#include "profile/pair_ancestor.h"

#include <string.h>

/* ---- loops ---- */

static uint32_t loop_parent(const struct rsc_profile *profile, uint32_t loop) {
    return profile->loops[loop - 1].parent;
}

static int same_text(const char *a, const char *b) { return a && b && !strcmp(a, b); }

int rsc_loop_same(const struct rsc_profile *profile, uint32_t a, uint32_t b) {
    const struct rsc_place *x = &profile->loops[a - 1].place, *y = &profile->loops[b - 1].place;
    return a == b ||
           (x->line && x->line == y->line && same_text(x->file, y->file) && same_text(x->function, y->function));
}

uint32_t rsc_loop_around(const struct rsc_profile *profile, uint32_t loop, uint32_t *context) {
    uint32_t around = loop ? loop_parent(profile, loop) : 0;
    while (!around && *context != RSC_NO_CONTEXT) {
        around = profile->contexts[*context].place.loop;
        *context = profile->contexts[*context].parent;
    }
    return around;
}

/* ---- paths ---- */

/* The outermost loop of the first function that has one, on the path from a call, `site`, to an end. 0: none. */
static uint32_t loop_below(const struct rsc_profile *profile, const struct rsc_place *end, uint32_t context,
                           uint32_t site) {
    uint32_t loop = end->loop;
    for (; context != site; context = profile->contexts[context].parent)
        if (profile->contexts[context].place.loop) loop = profile->contexts[context].place.loop;
    while (loop && loop_parent(profile, loop)) loop = loop_parent(profile, loop);
    return loop;
}

struct rsc_pair_ancestor rsc_pair_ancestor(const struct rsc_profile *profile, const struct rsc_pair_row *pair) {
    struct rsc_pair_ancestor common = {.use = &pair->use, .reuse = &pair->reuse};
    uint32_t use = pair->use_context, reuse = pair->reuse_context;
    uint32_t use_site = RSC_NO_CONTEXT, reuse_site = RSC_NO_CONTEXT;
    while (use != reuse) { /* RSC_NO_CONTEXT, the root, counts as lowest */
        if (use != RSC_NO_CONTEXT && (reuse == RSC_NO_CONTEXT || use > reuse)) {
            use_site = use;
            use = profile->contexts[use].parent;
        } else {
            reuse_site = reuse;
            reuse = profile->contexts[reuse].parent;
        }
    }
    uint32_t above = common.context = use;
    if (use_site != RSC_NO_CONTEXT) common.use = &profile->contexts[use_site].place;
    if (reuse_site != RSC_NO_CONTEXT) common.reuse = &profile->contexts[reuse_site].place;
    uint32_t a = common.use->loop, b = common.reuse->loop;
    while (a != b) {
        if (a > b) common.use_loop = a, a = loop_parent(profile, a);
        else common.reuse_loop = b, b = loop_parent(profile, b);
    }
    common.loop = a;
    if (!common.use_loop && use_site != RSC_NO_CONTEXT)
        common.use_loop = loop_below(profile, &pair->use, pair->use_context, use_site);
    if (!common.reuse_loop && reuse_site != RSC_NO_CONTEXT)
        common.reuse_loop = loop_below(profile, &pair->reuse, pair->reuse_context, reuse_site);
    common.around = common.loop ? common.loop : rsc_loop_around(profile, 0, &above);
    return common;
}
