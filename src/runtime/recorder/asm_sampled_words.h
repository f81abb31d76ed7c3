/*
 * asm_sampled_words.h - shared by asm_sampled.c (modes) and asm_sampled_words.c (turns
 * words into references).
 */
#ifndef RSC_RUNTIME_RECORDER_ASM_SAMPLED_WORDS_H
#define RSC_RUNTIME_RECORDER_ASM_SAMPLED_WORDS_H

#include "runtime/recorder/asm_sampled.h"
#include "runtime/pieces/piece_expand.h"
#include "runtime/sampler/sampler.h"

struct rsc_sampled_process {
    struct rsc_sampler *sampler;
    uint64_t planned; /* samples with one period; 0: the period is fixed */
    uint64_t begun, double_at;
    int one_at_a_time;
    int hides_private; /* private samples are for its shared ones only */
    uint32_t shift;      /* shift from addresses to lines */
    uint32_t lines_most; /* lines that an access of a plain piece may touch */
};
extern struct rsc_sampled_process rsc_sampled_process RSC_SAMPLED_HIDDEN;

/* A thread's state, in slot->own. */
struct rsc_sampled_thread {
    struct rsc_piece_table place;
    uint32_t slot;   /* owned by the sampler */
    uint32_t buffer; /* words */
    uint32_t wanted; /* references they should make */
    uint32_t fast_counts; /* it comes from fast mode: the first piece of the buffer shows how far it got */
    uint64_t passed;      /* accesses in fast mode, including that piece */
    uint64_t references, analysed, begun;
    uint64_t steps_for; /* samples begun when steps were last noted */
    double weight; /* of those begun */
    uint64_t buffer_since; /* ticks when the thread began to write its buffer */
    uint32_t unseen; /* buffers until it is looked at which cores the thread may run on */
    uint32_t unshown; /* buffers so far: one of several is shown to others */
};

/* Counts this many accesses in fast mode. */
RSC_SAMPLED_HIDDEN void rsc_sampled_pass(struct rsc_sampled_thread *state, uint64_t count);

/* Processes the words since the thread's buffer was empty. */
RSC_SAMPLED_HIDDEN void rsc_sampled_words(struct rsc_asm_local *local, struct rsc_sampled_thread *state,
                                          uint64_t *words, uint32_t count);

static inline uint64_t rsc_sampled_bits(double value) {
    union {
        double value;
        uint64_t bits;
    } both = {.value = value};
    return both.bits;
}

#endif
