/*
 * callgrind.c - profiles in the format of Valgrind's callgrind, for KCachegrind,
 * QCachegrind and callgrind_annotate.
 *
 * Two events: misses at one cache size, which viewers show first, and references. Each function has its own cost
 * by source line, and calls with the cost of everything below them. How often a function
 * was called is not in a profile: each call is written once. With several profiles, the
 * first is written: the format has one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "base/fail.h"
#include "base/grow.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"
#include "report/export/stacks.h"
#include "report/report.h"

/* The cost of a line of a function (callee NO_CALLEE), or of its calls of another. */
struct cost {
    uint32_t function, callee, line; /* function and callee: frames */
    uint64_t references, misses;
};
#define NO_CALLEE UINT32_MAX

struct costs {
    struct cost *costs; /* owned */
    size_t count, room;
};

static int add(struct costs *costs, struct cost cost) {
    if (RSC_GROW(costs->costs, costs->room, costs->count + 1)) return RSC_ENOMEM;
    costs->costs[costs->count++] = cost;
    return 0;
}

/* By function, its own lines before its calls. */
static int in_order(const void *left, const void *right) {
    const struct cost *a = left, *b = right;
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    int a_calls = a->callee != NO_CALLEE, b_calls = b->callee != NO_CALLEE;
    if (a_calls != b_calls) return a_calls - b_calls;
    if (a->callee != b->callee) return a->callee < b->callee ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int is_line(const struct rsc_stacks *stacks, uint32_t frame) { return stacks->frames[frame].line != 0; }

/* A stack's cost: of its last function's line, and of each call above; a call that recurs counts once. */
static int add_stack(struct costs *costs, const struct rsc_stacks *stacks, const struct rsc_stack *stack) {
    const uint32_t *path = stacks->path + stack->first;
    uint32_t last = stack->depth - 1, line = 0;
    if (last > 0 && is_line(stacks, path[last])) line = stacks->frames[path[last--]].line;
    int status = add(costs, (struct cost){path[last], NO_CALLEE, line, stack->references, stack->misses});
    for (uint32_t k = 0; k < last && !status; k++) {
        int recurs = 0;
        for (uint32_t j = 0; j < k && !recurs; j++) recurs = path[j] == path[k] && path[j + 1] == path[k + 1];
        if (!recurs) status = add(costs, (struct cost){path[k], path[k + 1], 0, stack->references, stack->misses});
    }
    return status;
}

/* Equal ones become one. */
static void sum_up(struct costs *costs) {
    size_t kept = 0;
    if (costs->count) qsort(costs->costs, costs->count, sizeof *costs->costs, in_order);
    for (size_t i = 0; i < costs->count; i++) {
        if (kept && !in_order(&costs->costs[kept - 1], &costs->costs[i])) {
            costs->costs[kept - 1].references += costs->costs[i].references;
            costs->costs[kept - 1].misses += costs->costs[i].misses;
        } else {
            costs->costs[kept++] = costs->costs[i];
        }
    }
    costs->count = kept;
}

/* "fl=path" or "cfi=path". Names of files come from the program: control characters would end the line. */
static void put_name(struct rsc_text *text, const char *key, const char *name) {
    rsc_text_put(text, "%s=", key);
    rsc_text_foreign(text, name ? name : "???", 4000);
    rsc_text_put(text, "\n");
}

static void put_costs(struct rsc_text *text, const struct costs *costs, const struct rsc_stacks *stacks) {
    for (size_t i = 0; i < costs->count; i++) {
        const struct cost *cost = &costs->costs[i];
        const struct rsc_stack_frame *function = &stacks->frames[cost->function];
        if (!i || cost[-1].function != cost->function) {
            rsc_text_put(text, "\n");
            put_name(text, "fl", function->file);
            put_name(text, "fn", function->name);
        }
        if (cost->callee != NO_CALLEE) {
            put_name(text, "cfi", stacks->frames[cost->callee].file);
            put_name(text, "cfn", stacks->frames[cost->callee].name);
            rsc_text_put(text, "calls=1 0\n");
        }
        rsc_text_put(text, "%u %" PRIu64 " %" PRIu64 "\n", cost->line, cost->misses, cost->references);
    }
}

static void put_head(struct rsc_text *text, const struct rsc_profile *profile, const struct rsc_rank_size *size,
                     const struct rsc_stacks *stacks) {
    uint64_t references = 0, misses = 0;
    for (size_t i = 0; i < stacks->count; i++) {
        references += stacks->stacks[i].references;
        misses += stacks->stacks[i].misses;
    }
    rsc_text_put(text, "# callgrind format\nversion: 1\ncreator: reusescope %s\ncmd: ", rsc_version());
    for (char **word = profile->made.command; word && *word; word++) {
        rsc_text_put(text, "%s", word > profile->made.command ? " " : "");
        rsc_text_foreign(text, *word, 1000);
    }
    rsc_text_put(text, "\npart: 1\npositions: line\nevent: Misses : misses in %s\nevent: References : references\n",
                 rsc_show_bytes(size->bytes).text);
    rsc_text_put(text, "events: Misses References\nsummary: %" PRIu64 " %" PRIu64 "\n", misses, references);
}

int rsc_report_callgrind(const struct rsc_result *result, const struct rsc_report_style *style, char **text,
                         size_t *bytes, struct rsc_error *error) {
    static const struct rsc_report_style plain;
    struct rsc_stacks stacks = {0};
    struct costs costs = {0};
    struct rsc_text out;
    int status = 0;
    rsc_text_init(&out, 1, 0); /* names are UTF-8 */
    if (result->count) {
        const struct rsc_profile *profile = result->profiles[0];
        struct rsc_rank_size size = rsc_rank_size(profile, style ? style : &plain, style ? style->at_bytes : 0);
        status = rsc_stacks_make(&stacks, profile, size.lines);
        for (size_t i = 0; i < stacks.count && !status; i++) status = add_stack(&costs, &stacks, &stacks.stacks[i]);
        sum_up(&costs);
        if (!status) put_head(&out, profile, &size, &stacks);
        if (!status) put_costs(&out, &costs, &stacks);
    }
    free(costs.costs);
    rsc_stacks_free(&stacks);
    if (rsc_text_take(&out, text, bytes)) status = RSC_ENOMEM;
    else if (status) free(*text);
    return status ? rsc_fail_memory(error, "callgrind file") : 0;
}
