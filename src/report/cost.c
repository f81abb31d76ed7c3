/* cost.c - see cost.h. */
#include "report/cost.h"

int rsc_cost_is_known(const struct rsc_profile *profile, const struct rsc_machine *machine) {
    if (!machine || !machine->level_count || rsc_profile_is_requests(profile)) return 0;
    return machine->levels[machine->level_count - 1].size_bytes / profile->made.line_bytes <=
           rsc_rows_told_apart(profile);
}

static uint64_t lines_of(const struct rsc_profile *profile, const struct rsc_machine *machine, size_t level) {
    uint64_t lines = machine->levels[level].size_bytes / profile->made.line_bytes;
    return lines ? lines : 1;
}

double rsc_cost_of_misses(const uint64_t misses[RSC_MACHINE_LEVELS_MAX], uint64_t invalidated,
                          const struct rsc_machine *machine) {
    size_t count = machine->level_count;
    double sum = (double)invalidated * machine->levels[count - 1].cycles;
    for (size_t i = 0; i < count; i++) {
        uint64_t here = misses[i] > invalidated ? misses[i] - invalidated : 0, next = 0;
        if (i + 1 < count) next = misses[i + 1] > invalidated ? misses[i + 1] - invalidated : 0;
        double cycles = i + 1 < count ? machine->levels[i + 1].cycles : machine->memory_cycles;
        if (here > next) sum += (double)(here - next) * cycles;
    }
    return sum;
}

static double cost_of_rank(const struct rsc_ranking *ranking, const struct rsc_rank *rank,
                           const struct rsc_machine *machine) {
    uint64_t misses[RSC_MACHINE_LEVELS_MAX];
    for (size_t i = 0; i < machine->level_count; i++)
        misses[i] = rsc_rank_misses(ranking, rank, lines_of(ranking->profile, machine, i));
    return rsc_cost_of_misses(misses, rank->invalidated, machine);
}

double rsc_cost_of_profile(const struct rsc_profile *profile, const struct rsc_machine *machine) {
    uint64_t misses[RSC_MACHINE_LEVELS_MAX];
    for (size_t i = 0; i < machine->level_count; i++)
        misses[i] = rsc_profile_coarse_misses(profile, lines_of(profile, machine, i));
    return rsc_cost_of_misses(misses, profile->invalidated, machine);
}

void rsc_ranking_by_cycles(struct rsc_ranking *ranking, const struct rsc_machine *machine) {
    for (size_t i = 0; i < ranking->count; i++)
        ranking->ranks[i].cost = cost_of_rank(ranking, &ranking->ranks[i], machine);
    rsc_ranking_sort(ranking);
}
