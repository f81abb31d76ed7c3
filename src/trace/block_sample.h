/*
 * block_sample.h - keeps the accesses to some of a cache's sets.
 *
 * A sample of sets is a field of address bits and the values of it that are
 * kept: one value (the constant-bits method of paper 001, section 3.1.2) or any
 * number of them (random sets). Every cache whose index contains the field sees
 * all references to the sets it keeps and none to the others, so its counts for
 * those sets are those of a full simulation.
 *
 * An access that crosses a boundary of 2^low bytes touches several values of the
 * field: it is cut there, and each part is kept or dropped separately. The cuts do
 * not change a simulator's counts, because no block may be larger than 2^low bytes.
 */
#ifndef RSC_TRACE_BLOCK_SAMPLE_H
#define RSC_TRACE_BLOCK_SAMPLE_H

#include <reusescope/trace.h>

#include "base/cpu.h"

#define RSC_SAMPLE_BITS_MAX 24u /* 16 Mi values: a 1 GiB cache of 64-byte blocks, direct-mapped */

struct rsc_block_sample {
    uint32_t low, width; /* bits low .. low + width - 1; width 1 to RSC_SAMPLE_BITS_MAX */
    uint64_t *values;    /* bitmap of the kept values, 2^width bits and at least 64; owned */
    uint64_t kept;       /* bits set in it */
};

/* Initialises a sample that keeps `value`, or no value yet for RSC_UNKNOWN. */
int rsc_block_sample_init(struct rsc_block_sample *sample, uint32_t low, uint32_t width, uint64_t value,
                          struct rsc_error *error);
void rsc_block_sample_add(struct rsc_block_sample *sample, uint64_t value);
void rsc_block_sample_free(struct rsc_block_sample *sample);

static inline int rsc_block_sample_has(const struct rsc_block_sample *sample, uint64_t addr) {
    uint64_t value = addr >> sample->low & ((1ull << sample->width) - 1);
    return sample->values[value >> 6] >> (value & 63) & 1;
}

/* The share of all values that is kept. */
static inline double rsc_block_sample_fraction(const struct rsc_block_sample *sample) {
    return (double)sample->kept / (double)(1ull << sample->width);
}

/*
 * The sample as a trace header's filter text, as "sets=8-11=3": bits 8 to 11 are 3.
 * Samples of several values have no text. Returns the length, 0 for none.
 */
size_t rsc_block_sample_text(const struct rsc_block_sample *sample, char *text, size_t room);

/*
 * Parses a header's filter text. Returns 1 and sets the field and value; 0 when the
 * trace is not a sample of sets; -1 when it is one, but another filter dropped some
 * of the accesses to its sets (a window, every Nth access, other bits). Filters by
 * kind or thread are allowed.
 */
int rsc_block_sample_parse(const char *filter, uint32_t *low, uint32_t *width, uint64_t *value);

/* ---- taking a sample of batches ---- */

/* Parts that are kept, in columns that grow as needed. */
struct rsc_block_parts {
    uint64_t *addr, *meta, *pc;
    uint32_t count, room;
};

/*
 * Takes accesses first .. end - 1 in blocks of 64, up to an access that must be cut;
 * returns where it stopped. parts has room for all of them. Adds the number of
 * fetches taken to *fetches.
 */
typedef uint32_t rsc_block_take(const struct rsc_block_sample *sample, const struct rsc_batch *in, uint32_t first,
                                uint32_t end, struct rsc_block_parts *parts, uint64_t *fetches);

struct rsc_block_sampler {
    const struct rsc_block_sample *sample;
    struct rsc_block_parts parts; /* owned */
    struct rsc_event *events;     /* owned */
    uint32_t event_room;
    rsc_block_take *take;
    uint64_t fetches; /* among all input accesses, kept or not */
};

/* `sample` must outlive the sampler. */
void rsc_block_sampler_start(struct rsc_block_sampler *sampler, const struct rsc_block_sample *sample,
                             enum rsc_simd simd);

/*
 * Sets *out to the accesses of `in` that the sample keeps, valid until the next call.
 * The columns belong to the sampler; all events, the instruction count and the
 * threads are those of `in`. Fails with RSC_ENOMEM, or with RSC_ELIMIT when one batch
 * has more than 2^31 parts.
 */
int rsc_block_sampler_take(struct rsc_block_sampler *sampler, const struct rsc_batch *in, struct rsc_batch *out,
                           struct rsc_error *error);
/* Adds the accesses of `in` that the sample keeps to `parts`, which the caller empties; events are left out. */
int rsc_block_sampler_add(struct rsc_block_sampler *sampler, const struct rsc_batch *in, struct rsc_error *error);
void rsc_block_sampler_free(struct rsc_block_sampler *sampler);

#define RSC_SAMPLER_BLOCK 64u
RSC_WIDE_DECLARE(rsc_block_take, rsc_block_take);

#endif
