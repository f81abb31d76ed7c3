/* split.c - see split.h. */
#include "distance/parallel/split.h"

#include <stdlib.h>

#include "distance/count/late_attribution.h"

int rsc_split_worker_init(struct rsc_split_worker *worker, uint64_t rd_cap, uint32_t bins_per_octave) {
    worker->cap = rd_cap ? rd_cap : UINT64_MAX;
    return rsc_accumulator_init(&worker->sum, 0, rd_cap, bins_per_octave);
}

void rsc_split_worker_free(struct rsc_split_worker *worker) {
    rsc_accumulator_free(&worker->sum);
    rsc_phase_part_free(&worker->phases);
    free(worker->first_line);
    free(worker->first);
    free(worker->held);
}

/* ---- running ---- */

/* Room for the first uses of another block. */
static int reserve_first(struct rsc_split_worker *worker) {
    if (worker->first_room - worker->first_count >= RSC_SPLIT_BLOCK) return 0;
    uint32_t room = 2 * worker->first_room + RSC_SPLIT_BLOCK;
    uint64_t *lines = realloc(worker->first_line, room * sizeof *lines);
    if (lines) worker->first_line = lines;
    struct rsc_first_use *first = realloc(worker->first, room * sizeof *first);
    if (first) worker->first = first;
    if (!lines || !first) return RSC_ENOMEM;
    worker->first_room = room;
    return 0;
}

static void note_first(struct rsc_split_worker *worker, const uint64_t *lines, const uint32_t *who, uint32_t at,
                       uint32_t count) {
    uint32_t found = worker->first_count;
    for (uint32_t i = 0; i < count; i++) {
        if (worker->rd[i] != RSC_RD_COLD) continue;
        worker->first_line[found] = lines[i];
        /* the first uses before it in this chunk lie between */
        worker->first[found] = (struct rsc_first_use){.above = found, .at = at + i, .who = who ? who[i] : 0};
        found++;
    }
    worker->first_count = found;
}

static int run_block(struct rsc_split_worker *worker, struct rsc_chunk *chunk, uint64_t first, uint32_t count) {
    const struct rsc_reference_ring *ring = chunk->ring;
    uint64_t index = rsc_ring_index(ring, first), *lines = ring->line + index;
    const uint32_t *who = chunk->by_who ? ring->who + index : NULL;
    int status = reserve_first(worker);
    if (status < 0) return status;
    if (ring->tag)
        status = rsc_exact_run_tagged(&chunk->state, lines, ring->tag + index, count, worker->rd, worker->ri,
                                      worker->last_tag);
    else status = rsc_exact_run(&chunk->state, lines, count, worker->rd, worker->ri);
    if (status < 0) return status;
    note_first(worker, lines, who, (uint32_t)(first - chunk->begin), count);
    rsc_accumulate_part(&worker->sum, who, worker->rd, chunk->state.no_ri ? NULL : worker->ri, count);
    for (uint32_t i = 0; ring->tag && i < count; i++) lines[i] = rsc_outcome(worker->rd[i], worker->last_tag[i]);
    return 0;
}

int rsc_split_run(struct rsc_split_worker *worker, struct rsc_chunk *chunk, const struct rsc_phase_grid *grid,
                  void (*release)(void *user, uint64_t n), void *user, const atomic_int *stop) {
    worker->first_count = 0;
    if (rsc_accumulator_need_rows(&worker->sum, chunk->threads, chunk->kinds) < 0) return RSC_ENOMEM;
    if (grid && rsc_phase_part_start(&worker->phases, grid, chunk->begin, chunk->end) < 0) return RSC_ENOMEM;
    for (uint64_t at = chunk->begin; at < chunk->end;) {
        uint64_t part = chunk->end - at, side_by_side = rsc_ring_run(chunk->ring, at);
        if (part > side_by_side) part = side_by_side;
        if (part > RSC_SPLIT_BLOCK) part = RSC_SPLIT_BLOCK;
        if (atomic_load_explicit(stop, memory_order_relaxed)) return 0;
        int status = run_block(worker, chunk, at, (uint32_t)part);
        if (status < 0) return status;
        if (grid) rsc_phase_part_count(&worker->phases, at, worker->rd, (uint32_t)part, worker->cap);
        if (!chunk->ring->tag && rsc_ring_done(chunk->ring, at, (uint32_t)part)) release(user, at);
        at += part;
    }
    return rsc_exact_settle(&chunk->state);
}

/* ---- replaying ---- */

/* Found: number `found` of its block. */
static void note_found(struct rsc_split_worker *worker, struct rsc_chunk *chunk, const struct rsc_first_use *use,
                       const struct rsc_replayed *last, uint64_t origin, uint32_t found) {
    uint32_t rd = use->above + last->above;
    uint64_t number = chunk->begin + use->at;
    worker->rd[found] = rd;
    worker->ri[found] = number - (origin + last->time);
    worker->who[found] = use->who;
    if (worker->phases.cells) rsc_phase_part_not_cold(&worker->phases, number, rd, worker->cap);
    if (chunk->ring->tag) chunk->ring->line[rsc_ring_index(chunk->ring, number)] = rsc_outcome(rd, last->tag);
}

void rsc_split_replay(struct rsc_split_worker *worker, struct rsc_chunk *chunk, struct rsc_exact *older,
                      uint64_t origin) {
    uint32_t left = 0;
    for (uint32_t done = 0; done < worker->first_count;) {
        uint32_t part = worker->first_count - done < RSC_SPLIT_BLOCK ? worker->first_count - done : RSC_SPLIT_BLOCK;
        uint32_t found = 0;
        rsc_exact_take_out(older, worker->first_line + done, part, worker->replayed);
        for (uint32_t i = 0; i < part; i++) {
            const struct rsc_replayed *last = &worker->replayed[i];
            struct rsc_first_use use = worker->first[done + i];
            if (last->time != RSC_NOT_HELD) {
                note_found(worker, chunk, &use, last, origin, found++);
                continue;
            }
            use.above += last->above;
            worker->first_line[left] = worker->first_line[done + i];
            worker->first[left++] = use;
        }
        rsc_accumulate_not_cold(&worker->sum, worker->who, worker->rd, older->no_ri ? NULL : worker->ri, found);
        done += part;
    }
    worker->first_count = left;
}

int rsc_split_list(struct rsc_split_worker *worker, struct rsc_chunk *older) {
    worker->held_count = rsc_exact_held(&older->state);
    if (worker->held_count > worker->held_room) {
        free(worker->held);
        worker->held_room = worker->held_count + worker->held_count / 4;
        worker->held = malloc(worker->held_room * sizeof *worker->held);
        if (!worker->held) worker->held_room = 0;
        if (!worker->held) return RSC_ENOMEM;
    }
    rsc_exact_list(&older->state, worker->held);
    for (uint64_t i = 0; i < worker->held_count; i++) worker->held[i].time += older->begin;
    return 0;
}
