/* place_costs.c - see place_costs.h. */
#include "featherlight/place_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "profile/profile_model.h"

/* A trap reports the next instruction's start: the pc of a reuse may be any byte of its instruction, 15 at most. */
#define INSTRUCTION_BYTES 15u

struct rsc_costly {
    uint64_t pc;
    uint32_t path, cycles, source;
    double weight; /* references it represents */
};

static int by_place(const void *left, const void *right) {
    const struct rsc_costly *a = left, *b = right;
    if (a->pc != b->pc) return a->pc < b->pc ? -1 : 1;
    return a->path < b->path ? -1 : a->path > b->path;
}

static int has_cost(const struct rsc_watched *sample) { return sample->cycles || sample->source; }

int rsc_place_costs_make(struct rsc_place_costs *costs, struct rsc_watch_group *const *shapes, uint32_t shape_count,
                         uint32_t count) {
    size_t total = 0;
    memset(costs, 0, sizeof *costs);
    for (uint32_t g = 0; g < shape_count * count; g++) {
        const struct rsc_watch_group *group = &shapes[g / count][g % count];
        for (size_t i = 0; i < group->count; i++) total += (size_t)has_cost(&group->samples[i]);
    }
    if (!total) return 0;
    costs->list = malloc(total * sizeof *costs->list);
    if (!costs->list) return RSC_ENOMEM;
    for (uint32_t g = 0; g < shape_count * count; g++) {
        const struct rsc_watch_group *group = &shapes[g / count][g % count];
        for (size_t i = 0; i < group->count; i++) {
            const struct rsc_watched *sample = &group->samples[i];
            if (has_cost(sample))
                costs->list[costs->count++] = (struct rsc_costly){sample->use_pc, sample->use_path, sample->cycles,
                                                                  sample->source, sample->stands_for};
        }
    }
    qsort(costs->list, costs->count, sizeof *costs->list, by_place);
    return 0;
}

void rsc_place_costs_free(struct rsc_place_costs *costs) {
    free(costs->list);
    memset(costs, 0, sizeof *costs);
}

/* The samples of the instruction containing the byte at pc: the nearest one that begins there or before. */
static size_t find_place(const struct rsc_place_costs *costs, uint64_t pc, size_t *found) {
    size_t low = RSC_SEARCH(0, costs->count, i, costs->list[i].pc <= pc);
    size_t first = low;
    while (first && costs->list[first - 1].pc == costs->list[low - 1].pc) first--;
    *found = low - first;
    if (*found && pc - costs->list[first].pc >= INSTRUCTION_BYTES) *found = 0;
    return first;
}

void rsc_place_costs_fill(const struct rsc_place_costs *costs, struct rsc_pair_row *pair) {
    if (!costs->count || !pair->reuse.pc) return;
    size_t count = 0, first = find_place(costs, pair->reuse.pc, &count);
    const struct rsc_costly *list = costs->list + first;
    double cycles = 0, timed = 0, placed = 0;
    int same_path = 0;
    for (size_t i = 0; i < count; i++) same_path |= list[i].path == pair->reuse_context;
    for (size_t i = 0; i < count; i++) {
        if (same_path && list[i].path != pair->reuse_context) continue;
        if (list[i].cycles) {
            cycles += list[i].weight * list[i].cycles;
            timed += list[i].weight;
            pair->latency_samples++;
        }
        if (list[i].source) {
            pair->sources[list[i].source] += list[i].weight;
            placed += list[i].weight;
        }
    }
    if (timed > 0) pair->latency = cycles / timed;
    for (int i = 0; placed > 0 && i < RSC_SOURCES; i++) pair->sources[i] /= placed;
}
