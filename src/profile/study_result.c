/* study_result.c - see study_result.h. */
#include "profile/study_result.h"

#include <stdlib.h>
#include <string.h>

void rsc_study_free(struct rsc_study *study) {
    for (size_t i = 0; study->caches && i < study->cache_count; i++) {
        struct rsc_study_cache *cache = &study->caches[i];
        for (int f = 0; f < RSC_STUDY_FRACTIONS; f++) {
            free(cache->sets[f].ranges);
            free(cache->sets[f].paper.mpi);
        }
        for (size_t q = 0; q < cache->time_count; q++) free(cache->times[q].intervals);
    }
    free(study->caches);
    memset(study, 0, sizeof *study);
}
