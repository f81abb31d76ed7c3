/* parallel_plain.c - parallel_kernel.h compiled for any machine. */
#include "distance/parallel_kernel.h"

void rsc_parallel_gather_plain(struct parallel_engine *engine, struct parallel_worker *worker, uint32_t piece) {
    gather_for(engine, worker, piece);
}

int rsc_parallel_look_up_plain(struct parallel_engine *engine, uint32_t part) { return look_up_for(engine, part); }

void rsc_parallel_count_lines_plain(struct rsc_rank_bitmap *rank, uint32_t lines) { count_lines(rank, lines); }

void rsc_parallel_answer_plain(struct parallel_engine *engine, struct parallel_worker *worker, struct parallel_slice *slice) {
    answer_for(engine, worker, slice);
}

void rsc_parallel_renumber_plain(struct parallel_engine *engine, uint32_t part, uint64_t *new_time) {
    renumber(engine, part, new_time);
}
