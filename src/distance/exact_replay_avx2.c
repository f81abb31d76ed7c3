/* exact_replay_avx2.c - exact_replay_kernel.h compiled for AVX2. */
#if defined(__x86_64__)
#include "distance/exact_replay_kernel.h"

void rsc_exact_take_out_avx2(struct rsc_exact *exact, const uint64_t *lines, uint32_t count,
                             struct rsc_replayed *replayed) {
    take_out_kernel(exact, lines, count, replayed);
}
#else
typedef int rsc_no_replay_avx2; /* an empty file is no C */
#endif
