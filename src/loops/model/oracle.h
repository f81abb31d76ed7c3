/*
 * oracle.h - simulates a region's threads under an interleaving, reference by
 * reference, through the exact engine. The models are tested against it, and it gives
 * the result at one thread.
 */
#ifndef RSC_LOOPS_MODEL_ORACLE_H
#define RSC_LOOPS_MODEL_ORACLE_H

#include "loops/model/loops_model.h"
#include "loops/nest/plan.h"

struct rsc_oracle {
    uint64_t references, distinct;
    uint64_t *reuses; /* [distinct + 1]: reuses of at least this distance */
    struct rsc_histogram ri; /* RSC_BINS_FINE */
    struct rsc_histogram *by_reference; /* RSC_BINS_COARSE, one per reference of the nest; NULL unless requested */
    uint64_t *cold_by_reference;
    uint64_t *count_by_reference;
    uint32_t reference_count;
};

/*
 * Called with the references in order, if given: thread, line and the reference's
 * number. Returning non-zero stops the simulation with RSC_ELIMIT.
 */
typedef int rsc_oracle_visit(void *context, uint32_t thread, uint64_t line, uint32_t reference);

/*
 * Simulates all threads of the plan. Racetrack is not an interleaving: RSC_EINVAL.
 * Free *out with rsc_oracle_free(), also after a failure.
 */
int rsc_oracle_run(struct rsc_oracle *out, struct rsc_plan *plan, const struct rsc_interleave *interleave,
                   uint64_t line_bytes, uint64_t seed, int by_reference, rsc_oracle_visit *visit, void *context,
                   struct rsc_error *error);
void rsc_oracle_free(struct rsc_oracle *oracle);

/* Miss ratio of a cache of `lines` lines: exact. */
double rsc_oracle_miss_ratio(const struct rsc_oracle *oracle, uint64_t lines);

#endif
