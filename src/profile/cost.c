/* cost.c - see cost.h. */
#include "profile/cost.h"

uint64_t rsc_rows_told_apart(const struct rsc_profile *profile) {
    if (!profile->rd_cap) return UINT64_MAX;
    return rsc_bin_lo(RSC_BINS_COARSE, rsc_bin_of(RSC_BINS_COARSE, profile->rd_cap));
}

int rsc_cost_is_known(const struct rsc_profile *profile, const struct rsc_machine *machine) {
    if (!machine || !machine->level_count || !(machine->memory_cycles > 0) || rsc_profile_is_requests(profile))
        return 0;
    return machine->levels[machine->level_count - 1].size_bytes / profile->made.line_bytes <=
           rsc_rows_told_apart(profile);
}

uint64_t rsc_cost_lines(const struct rsc_profile *profile, const struct rsc_machine *machine, size_t level) {
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

int rsc_cost_has(const struct rsc_row_table *table) {
    return table == &rsc_row_table_code || table == &rsc_row_table_pairs || table == &rsc_row_table_objects;
}

double rsc_cost_of_row(const struct rsc_profile *profile, struct rsc_row_counts row,
                       const struct rsc_machine *machine) {
    uint64_t misses[RSC_MACHINE_LEVELS_MAX];
    for (size_t i = 0; i < machine->level_count; i++) {
        const struct rsc_split split = rsc_split_at(profile, rsc_cost_lines(profile, machine, i));
        misses[i] = rsc_row_misses(row, &split);
    }
    return rsc_cost_of_misses(misses, row.invalidated ? *row.invalidated : 0, machine);
}

double rsc_cost_of_profile(const struct rsc_profile *profile, const struct rsc_machine *machine) {
    uint64_t misses[RSC_MACHINE_LEVELS_MAX];
    for (size_t i = 0; i < machine->level_count; i++)
        misses[i] = rsc_profile_misses(profile, rsc_cost_lines(profile, machine, i));
    return rsc_cost_of_misses(misses, profile->invalidated, machine);
}
