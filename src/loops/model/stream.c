/* stream.c - see stream.h. */
#include "loops/model/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/model/interleave.h"

int rsc_stream_new(struct rsc_stream **out, struct rsc_plan *plan, const struct rsc_interleave *interleave,
                   uint64_t line_bytes, uint64_t seed, int hands_out, struct rsc_error *error) {
    if (interleave->kind == RSC_INTERLEAVE_RACETRACK)
        return rsc_fail(error, RSC_EINVAL, "racetrack is a model, not an interleaving that can be simulated");
    struct rsc_stream *stream = calloc(1, sizeof *stream);
    int status = stream ? 0 : rsc_fail_memory(error, "simulation of threads");
    if (status >= 0) {
        stream->plan = plan;
        stream->interleave = *interleave;
        stream->runner = calloc(plan->threads, sizeof *stream->runner);
        stream->active = calloc(plan->threads, sizeof *stream->active);
        stream->due = calloc(plan->threads, sizeof *stream->due);
        if (hands_out) stream->handed_out = calloc(plan->nest->segment_count + (size_t)1, sizeof *stream->handed_out);
        if (!stream->runner || !stream->active || !stream->due || (hands_out && !stream->handed_out))
            status = rsc_fail_memory(error, "simulation of threads");
        rsc_rng_seed(&stream->rng, seed, 6);
    }
    for (uint32_t t = 0; status >= 0 && t < plan->threads; t++)
        status = rsc_walk_new(&stream->runner[t].walk, plan, t, line_bytes, stream->handed_out, error);
    if (status < 0) {
        rsc_stream_free(stream);
        return status;
    }
    if (plan->nest->phase_count) rsc_stream_start(stream, 0, NULL);
    *out = stream;
    return 0;
}

void rsc_stream_free(struct rsc_stream *stream) {
    if (!stream) return;
    for (uint32_t t = 0; stream->runner && t < stream->plan->threads; t++) rsc_walk_free(stream->runner[t].walk);
    free(stream->runner);
    free(stream->active);
    free(stream->due);
    free(stream->handed_out);
    free(stream);
}

/* ---- drift ---- */

static void next_block(struct rsc_stream *stream, struct rsc_stream_runner *runner) {
    double length = rsc_drift_block(&stream->interleave);
    double spread = sqrt(stream->interleave.diffusion / length);
    double took = 1 + spread * rsc_rng_normal(&stream->rng);
    if (took < 0.1) took = 0.1;
    runner->pace = took;
    runner->block_left = length;
}

/* due[] is a heap by the time of the next reference. */
static void sift_down(struct rsc_stream *stream, uint32_t at) {
    struct rsc_stream_due *heap = stream->due, moved = heap[at];
    uint32_t count = stream->active_count;
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count) child += heap[child + 1].time < heap[child].time;
        if (heap[child].time >= moved.time) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* ---- turns ---- */

void rsc_stream_start(struct rsc_stream *stream, uint32_t phase, const int64_t *place) {
    stream->phase = phase;
    stream->active_count = 0;
    int drift = stream->interleave.kind == RSC_INTERLEAVE_DRIFT;
    for (uint32_t t = 0; t < stream->plan->threads; t++) {
        struct rsc_stream_runner *runner = &stream->runner[t];
        if (place) rsc_walk_seek(runner->walk, phase, place[t]);
        else rsc_walk_start(runner->walk, phase);
        runner->at = runner->count = 0;
        runner->ended = 0;
        stream->due[t] = (struct rsc_stream_due){rsc_rng_double(&stream->rng), t};
        if (drift) next_block(stream, runner);
        stream->active[stream->active_count++] = t;
    }
    for (uint32_t i = drift ? stream->active_count / 2 : 0; i--;) sift_down(stream, i);
    stream->turn = 0;
    stream->turn_left = 0;
}

/* Whether the thread has another reference in this phase. */
static int ready(struct rsc_stream_runner *runner) {
    if (runner->at < runner->count) return 1;
    if (runner->ended) return 0;
    runner->count = rsc_walk_next(runner->walk, runner->line, runner->reference, RSC_STREAM_BUFFER);
    runner->at = 0;
    runner->ended = !runner->count;
    return runner->count > 0;
}

/* The index in `active` of the thread whose turn it is. */
static uint32_t choose(struct rsc_stream *stream) {
    switch (stream->interleave.kind) {
    case RSC_INTERLEAVE_LOCKSTEP: return stream->turn < stream->active_count ? stream->turn : (stream->turn = 0);
    case RSC_INTERLEAVE_IID: return (uint32_t)rsc_rng_below(&stream->rng, stream->active_count);
    case RSC_INTERLEAVE_BURSTY:
        if (!stream->turn_left || stream->turn >= stream->active_count) {
            stream->turn = (uint32_t)rsc_rng_below(&stream->rng, stream->active_count);
            stream->turn_left = rsc_rng_geometric(&stream->rng, stream->interleave.burst);
        }
        return stream->turn;
    default: return 0;
    }
}

static void leave(struct rsc_stream *stream, uint32_t place) {
    stream->active_count--;
    stream->turn_left = 0;
    if (stream->interleave.kind == RSC_INTERLEAVE_DRIFT) {
        stream->due[0] = stream->due[stream->active_count];
        if (stream->active_count) sift_down(stream, 0);
        return;
    }
    /* Keeps the order of the others, for lockstep. */
    memmove(stream->active + place, stream->active + place + 1,
            (stream->active_count - place) * sizeof *stream->active);
}

uint32_t rsc_stream_next(struct rsc_stream *stream, uint64_t *line, uint32_t *reference, uint32_t *thread,
                         uint32_t count) {
    uint32_t made = 0;
    int drift = stream->interleave.kind == RSC_INTERLEAVE_DRIFT;
    while (made < count) {
        if (!stream->active_count) {
            if (stream->phase + 1 >= stream->plan->nest->phase_count) break;
            rsc_stream_start(stream, stream->phase + 1, NULL);
        }
        uint32_t place = choose(stream), t = drift ? stream->due[0].thread : stream->active[place];
        struct rsc_stream_runner *runner = &stream->runner[t];
        if (!ready(runner)) {
            leave(stream, place);
            continue;
        }
        line[made] = runner->line[runner->at];
        reference[made] = runner->reference[runner->at++];
        if (thread) thread[made] = t;
        made++;
        switch (stream->interleave.kind) {
        case RSC_INTERLEAVE_LOCKSTEP: stream->turn++; break;
        case RSC_INTERLEAVE_BURSTY: stream->turn_left--; break;
        case RSC_INTERLEAVE_DRIFT:
            stream->due[0].time += runner->pace;
            if (--runner->block_left <= 0) next_block(stream, runner);
            sift_down(stream, 0);
            break;
        default: break;
        }
    }
    return made;
}
