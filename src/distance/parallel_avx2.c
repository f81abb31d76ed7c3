/* parallel_avx2.c - parallel_kernel.h compiled for AVX2. */
#if defined(__x86_64__)
#include "distance/parallel_kernel.h"

void rsc_parallel_gather_avx2(struct parallel_engine *engine, struct parallel_worker *worker, uint32_t piece) {
    gather_for(engine, worker, piece);
}

int rsc_parallel_look_up_avx2(struct parallel_engine *engine, uint32_t part) { return look_up_for(engine, part); }

void rsc_parallel_count_lines_avx2(struct rsc_rank_bitmap *rank, uint32_t lines) { count_lines(rank, lines); }

void rsc_parallel_answer_avx2(struct parallel_engine *engine, struct parallel_worker *worker, struct parallel_slice *slice) {
    answer_for(engine, worker, slice);
}

void rsc_parallel_renumber_avx2(struct parallel_engine *engine, uint32_t part, uint64_t *new_time) {
    renumber(engine, part, new_time);
}
#else
typedef int rsc_no_avx2; /* an empty file is no C */
#endif
