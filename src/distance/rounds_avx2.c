/* rounds_avx2.c - rounds_kernel.h compiled for AVX2. */
#if defined(__x86_64__)
#include "distance/rounds_kernel.h"

void rsc_rounds_gather_avx2(struct rounds_engine *engine, struct rounds_worker *worker, uint32_t piece) {
    gather_for(engine, worker, piece);
}

int rsc_rounds_look_up_avx2(struct rounds_engine *engine, uint32_t part) { return look_up_for(engine, part); }

void rsc_rounds_count_lines_avx2(struct rsc_rank_bitmap *rank, uint32_t lines) { count_lines(rank, lines); }

void rsc_rounds_answer_avx2(struct rounds_engine *engine, struct rounds_worker *worker, struct rounds_slice *slice) {
    answer_for(engine, worker, slice);
}

void rsc_rounds_renumber_avx2(struct rounds_engine *engine, uint32_t part, uint64_t *new_time) {
    renumber(engine, part, new_time);
}
#else
typedef int rsc_no_avx2; /* an empty file is no C */
#endif
