/*
 * time_choice.h - which intervals of a trace are simulated, and how each begins.
 *
 *     N,LEN[,systematic|random[:SEED]][,accesses]      30,10M
 *
 * N intervals of LEN instructions each; of LEN accesses where that is said (for
 * traces without instruction counts). Systematic ones stand in the middle of N
 * equal parts of the trace; random ones are drawn from the trace laid out in
 * intervals end to end.
 */
#ifndef RSC_SIMULATE_SAMPLING_TIME_CHOICE_H
#define RSC_SIMULATE_SAMPLING_TIME_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#include "profile/sim_result.h"

/* enum rsc_cold_start of that name, or -1. */
int rsc_cold_start_named(const char *name);

struct rsc_time_choice {
    uint64_t intervals; /* 0: no sampling */
    uint64_t length;
    int in_accesses; /* else instructions */
    int random;
    uint64_t seed;
};

int rsc_time_choice_parse(struct rsc_time_choice *choice, const char *text, struct rsc_error *error);

/*
 * Fills starts[choice->intervals], ascending, in the unit of the choice, for a
 * trace of `total` of them. RSC_EINVAL when they do not fit in it.
 */
int rsc_time_choice_place(const struct rsc_time_choice *choice, uint64_t total, uint64_t *starts,
                          struct rsc_error *error);

#endif
