/*
 * sampled_sharing.h - the sharing matrix and false sharing, from private samples whose line another
 * stack wrote (rsc_sample_taker).
 *
 * A sample whose line is taken is the last use of the line by its stack before that: there is one
 * such reference for each time a line is taken, so the weights of these samples estimate `taken`,
 * and those of the ones that were used again, or might have been when they were given up, `misses`.
 * Both are exact if every reference is sampled.
 *
 * False sharing needs the bytes that a stack used while it had the line, of which a sample shows one
 * use. So a line is counted as taken falsely if the write touched none of the bytes that *any* sample
 * of that stack used of it. Where there are few samples, other lines help: code of that stack that used
 * the bytes written of any line probably used them here too, as a loop over an array does. Bars: at most,
 * the write touched none of the sample's own bytes; at least, a use that no sample of the line and stack
 * has shown may be as frequent as n samples allow, which leaves 0.1^(1/n) of the count, and nothing if
 * its code used the bytes written of another line.
 *
 * Memory is bounded: lines beyond the limit are counted in the matrix only.
 */
#ifndef RSC_MULTICORE_SAMPLED_SHARING_H
#define RSC_MULTICORE_SAMPLED_SHARING_H

#include "base/u64_table.h"
#include "profile/profile_model.h"
#include "runtime/sampler/sampler.h"

/* Sums of weights. */
struct rsc_taken_weights {
    double taken, missed; /* missed: of those, used again */
    double given_up;      /* of missed: given up before it was known */
};

/* Lines taken by one stack from another. */
struct rsc_sampled_cell {
    uint32_t by, from;
    struct rsc_taken_weights all, apart; /* apart: the write touched none of the sample's own bytes */
    struct rsc_taken_weights falsely, surely; /* falsely and its lower bound; filled at the end */
};

/* Of one line, by one stack from another, by writes to the same bytes. */
struct rsc_sampled_taking {
    uint64_t line, writer, victim; /* pcs: of the first */
    uint64_t object;               /* as numbered by objects.h; 0: not known */
    uint32_t by, from;
    uint64_t written; /* bytes */
    uint32_t next;    /* of the same hash, + 1; 0: none */
    int is_false;     /* decided at the end */
    struct rsc_taken_weights all, apart;
};

/* A stack's use of a line. */
struct rsc_sampled_user {
    uint64_t line, used; /* bytes */
    uint32_t stack, samples;
    double given_up; /* weights of samples given up that were not taken before */
    uint32_t next;   /* as above */
};

struct rsc_sampled_sharing {
    struct rsc_sampled_cell *cells; /* all lists are owned */
    size_t cell_count, cell_room;
    struct rsc_sampled_taking *takings;
    size_t taking_count, taking_room;
    struct rsc_sampled_user *users;
    size_t user_count, user_room;
    struct rsc_u64_table cell_of, taking_of, user_of; /* index + 1, by hash */
    struct rsc_u64_table used_by; /* the bytes that an instruction used of any line, by it and stack */
    double *given_up; /* by stack: the same; owned */
    uint32_t given_up_count;
};

/* Returns 0 or RSC_ENOMEM. A zeroed one may always be freed. */
int rsc_sampled_sharing_init(struct rsc_sampled_sharing *sharing);
void rsc_sampled_sharing_free(struct rsc_sampled_sharing *sharing);

/*
 * Takes a finished private sample. If its line was taken: pcs of the write and of the sampled use, 0 if not known, and
 * the object at the first byte written. Returns 0 or RSC_ENOMEM.
 */
struct rsc_sampled_code {
    uint64_t writer, victim, object;
};
int rsc_sampled_sharing_take(struct rsc_sampled_sharing *sharing, const struct rsc_sample_record *record,
                             const struct rsc_sampled_code *code);

/* How to scale and to name. */
struct rsc_sampled_sharing_scale {
    double weight, size, z; /* of all samples, their equivalent number, and the quantile of the bars */
    uint32_t line_shift;
    void *owner;
    void (*stack)(void *owner, uint32_t stack, uint64_t *pid, uint64_t *tid);
};

/*
 * Fills sharing and false_sharing of a profile whose totals are set; objects[i] receives the object of false_sharing
 * row i, at most RSC_SHARING_LINES_KEPT (sharing.h). Returns 0 or RSC_ENOMEM.
 */
int rsc_sampled_sharing_fill(struct rsc_sampled_sharing *sharing, const struct rsc_sampled_sharing_scale *scale,
                             struct rsc_profile *profile, uint64_t *objects);

#endif
