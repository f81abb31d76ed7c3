/*
 * time_choice.h - which intervals of a trace are simulated, and how each begins.
 *
 *     N,LEN[,systematic|random[:SEED]][,accesses]      30,10M
 *
 * N intervals of LEN instructions each, or of LEN accesses (for traces without
 * instruction counts). Systematic intervals are in the middle of N equal parts of the
 * trace; random ones are drawn from the trace divided into consecutive intervals.
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
 * Fills starts[choice->intervals], ascending, for a trace of length `total`; both in
 * the unit of the choice. RSC_EINVAL when the intervals do not fit.
 */
int rsc_time_choice_place(const struct rsc_time_choice *choice, uint64_t total, uint64_t *starts,
                          struct rsc_error *error);

#endif
