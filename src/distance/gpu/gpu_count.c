/* gpu_count.c - see gpu_count.h. */
#include "distance/gpu/gpu_count.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define PIECE 65536u /* references that a worker counts at a time */

/* Counts one piece after the other, of any chunk. */
struct gpu_worker {
    struct rsc_accumulator sum;
    struct rsc_phase_part phases;
    pthread_mutex_t lock; /* a piece holds it while it is counted */
};

int rsc_gpu_count_wanted(const struct rsc_engine_options *options) {
    return options->phases || options->bins_per_octave;
}

int rsc_gpu_count_init(struct rsc_gpu_count *count, struct rsc_accumulator *sum,
                       const struct rsc_engine_options *options, struct rsc_error *error) {
    count->sum = sum;
    count->counted = sum->references;
    pthread_mutex_init(&count->lock, NULL);
    int status = rsc_pool_new(&count->pool, 0, error);
    if (status < 0) return status;
    count->workers = rsc_pool_workers(count->pool);
    count->worker = calloc(count->workers, sizeof *count->worker);
    if (!count->worker || rsc_phase_grid_init(&count->grid, sum) < 0) return rsc_fail_memory(error, "gpu engine");
    for (uint32_t w = 0; w < count->workers; w++) pthread_mutex_init(&count->worker[w].lock, NULL);
    for (uint32_t w = 0; w < count->workers; w++)
        if (rsc_accumulator_init(&count->worker[w].sum, 0, options->max_distance, options->bins_per_octave) < 0)
            return rsc_fail_memory(error, "gpu engine");
    return 0;
}

void rsc_gpu_count_free(struct rsc_gpu_count *count) {
    rsc_pool_free(count->pool); /* waits for the attribution */
    for (uint32_t w = 0; count->worker && w < count->workers; w++) {
        rsc_accumulator_free(&count->worker[w].sum);
        rsc_phase_part_free(&count->worker[w].phases);
        pthread_mutex_destroy(&count->worker[w].lock);
    }
    free(count->worker);
    if (count->sum) pthread_mutex_destroy(&count->lock);
    rsc_phase_grid_free(&count->grid);
    rsc_late_tags_free(&count->tags);
    free(count->who);
    free(count->outcomes);
    free(count->objects);
}

int rsc_gpu_count_expect(struct rsc_gpu_count *count, const uint32_t *who, size_t references) {
    if (!references) return 0;
    if (count->who_first > count->who_count) { /* half of it is done with */
        memmove(count->who, count->who + count->who_first, count->who_count * sizeof *count->who);
        count->who_first = 0;
    }
    size_t needed = count->who_first + count->who_count + references;
    if (needed > count->who_room) {
        size_t room = needed + needed / 2;
        uint32_t *larger = realloc(count->who, room * sizeof *larger);
        if (!larger) return RSC_ENOMEM;
        count->who = larger;
        count->who_room = room;
    }
    memcpy(count->who + count->who_first + count->who_count, who, references * sizeof *who);
    count->who_count += references;
    return 0;
}

/* ---- a chunk ---- */

/* There is a worker for each thread of the pool, so one that is free is soon found. */
static struct gpu_worker *free_worker(struct rsc_gpu_count *count) {
    for (uint32_t w = 0;; w = (w + 1) % count->workers)
        if (!pthread_mutex_trylock(&count->worker[w].lock)) return &count->worker[w];
}

static void count_piece(void *argument, size_t index) {
    struct rsc_gpu_count *count = argument;
    const struct rsc_gpu_outcomes *all = count->taking;
    uint32_t first = (uint32_t)index * PIECE, length = all->count - first < PIECE ? all->count - first : PIECE;
    struct gpu_worker *worker = free_worker(count);
    struct rsc_accumulator *sum = &worker->sum;
    uint64_t begin = count->counted + first;
    int status = rsc_accumulator_need_rows(sum, count->sum->threads_seen, count->sum->kinds_seen);
    if (!status && count->grid.cells)
        status = rsc_phase_part_start(&worker->phases, &count->grid, begin, begin + length);
    if (!status) {
        rsc_accumulate_part(sum, count->who + count->who_first + first, all->rd + first,
                            all->ri ? all->ri + first : NULL, length);
        if (count->grid.cells)
            rsc_phase_part_count(&worker->phases, begin, all->rd + first, length,
                                 sum->rd_cap ? sum->rd_cap : UINT64_MAX);
    }
    pthread_mutex_lock(&count->lock);
    if (!status && count->grid.cells) rsc_phase_grid_add(&count->grid, &worker->phases);
    if (status < 0) count->status = status;
    pthread_mutex_unlock(&count->lock);
    pthread_mutex_unlock(&worker->lock);
}

static void attribute_chunk(void *argument) {
    struct rsc_gpu_count *count = argument;
    int status = rsc_late_attribution_count(count->tags.late, count->outcomes, count->outcome_count, count->objects);
    pthread_mutex_lock(&count->lock);
    if (status < 0) count->status = status;
    pthread_mutex_unlock(&count->lock);
}

/* Has the chunk attributed in order, beside what follows. Returns 0 or RSC_ENOMEM. */
static int begin_attribution(struct rsc_gpu_count *count, const struct rsc_gpu_outcomes *outcomes) {
    rsc_pool_wait(count->pool); /* for the chunk before */
    if (outcomes->count > count->outcome_room) {
        free(count->outcomes);
        free(count->objects);
        count->outcomes = malloc(outcomes->count * sizeof *count->outcomes);
        count->objects = count->keep_objects ? malloc(outcomes->count * sizeof *count->objects) : NULL;
        count->outcome_room = count->outcomes && (count->objects || !count->keep_objects) ? outcomes->count : 0;
        if (!count->outcome_room) return RSC_ENOMEM;
    }
    for (uint32_t i = 0; i < outcomes->count; i++)
        count->outcomes[i] = rsc_outcome(outcomes->rd[i], outcomes->last_tag[i]);
    count->outcome_count = outcomes->count;
    rsc_pool_submit(count->pool, attribute_chunk, count);
    return 0;
}

int rsc_gpu_count_take(void *context, const struct rsc_gpu_outcomes *outcomes) {
    struct rsc_gpu_count *count = context;
    assert(outcomes->count <= count->who_count);
    if (count->tags.late && begin_attribution(count, outcomes) < 0) return RSC_ENOMEM;
    count->taking = outcomes;
    rsc_pool_for(count->pool, (outcomes->count + PIECE - 1) / PIECE, count_piece, count);
    count->counted += outcomes->count;
    count->who_count -= outcomes->count;
    count->who_first += outcomes->count;
    pthread_mutex_lock(&count->lock);
    int status = count->status;
    pthread_mutex_unlock(&count->lock);
    return status;
}

int rsc_gpu_count_objects(struct rsc_gpu_count *count, const uint64_t **objects) {
    rsc_pool_wait(count->pool);
    pthread_mutex_lock(&count->lock);
    int status = count->status;
    pthread_mutex_unlock(&count->lock);
    *objects = count->tags.late ? count->objects : NULL;
    return status;
}

int rsc_gpu_count_end(struct rsc_gpu_count *count) {
    assert(!count->who_count);
    rsc_pool_wait(count->pool);
    for (uint32_t w = 0; !count->status && w < count->workers; w++)
        count->status = rsc_accumulator_merge(count->sum, &count->worker[w].sum);
    if (!count->status) count->status = rsc_phase_grid_end(&count->grid, count->sum);
    return count->status;
}
