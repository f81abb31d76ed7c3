/*
 * advise_evidence.h - evidence for the rules of advise, shared by advise.c and
 * advise_pairs.c.
 */
#ifndef RSC_REPORT_ADVISE_EVIDENCE_H
#define RSC_REPORT_ADVISE_EVIDENCE_H

#include "profile/pair_ancestor.h"
#include "report/advise/advise.h"
#include "report/ranking.h"
#include "report/draw/units.h"

/*
 * Cycles lost to misses per reference, below which no advice about misses is given: a tenth of the half cycle that a
 * reference takes if everything hits.
 */
#define RSC_CYCLES_WORTH 0.05
#define RSC_SHARE_WORTH 0.2 /* least share of all misses for a pair, a line or invalidations */
#define RSC_LITTLE_USE 1.5  /* references to a line each time it is fetched; with two elements or more, no advice */
#define RSC_SMALL_LINES 64  /* distances below this are immediate: the code still works on the line */

/* The advice that the two ends of a pair suggest. */
enum rsc_pair_shape {
    RSC_SHAPE_OTHER,
    RSC_SHAPE_FUSION,
    RSC_SHAPE_INTERCHANGE,
    RSC_SHAPE_TILING,
    RSC_SHAPE_ORDER,  /* no regular stride, and little of each line used */
    RSC_SHAPE_RECORDS /* steps over records, of which it uses a part: said by the line, not the pair */
};

#define RSC_FAR_PAIRS 24 /* examined, from the worst on */

struct rsc_far_pair {
    const struct rsc_rank *rank;
    const struct rsc_pair_row *row; /* the rank's row with most misses */
    enum rsc_pair_shape shape;
    int swaps; /* steps over whole lines, but if the loops were exchanged, other data would be stepped over instead */
    struct rsc_pair_ancestor common;
};

struct rsc_evidence {
    const struct rsc_profile *profile;
    const struct rsc_machine *machine; /* NULL: not known */
    struct rsc_rank_size size;
    double miss_cycles; /* a miss at that size waits */
    uint64_t misses; /* at that size, from the rows' coarse bins */
    double miss_ratio;
    struct rsc_ranking lines, pairs, objects;
    struct rsc_far_pair far[RSC_FAR_PAIRS]; /* pairs with reuses beyond that size, worst first */
    size_t far_count;
    const struct rsc_advices *said; /* given by earlier rules */
};

/*
 * Whether the profile shows what is used of a line that a cache fetches: not if its lines are words, nor if they
 * were modelled from watched parts of them. A reuse is then one of the same bytes, and nothing is known of the others.
 */
static inline int rsc_lines_are_words(const struct rsc_profile *profile) { return profile->made.line_bytes <= 8; }
static inline int rsc_lines_are_seen(const struct rsc_profile *profile) {
    return !rsc_lines_are_words(profile) && !profile->made.modelled;
}

/* "word" or "line". */
static inline const char *rsc_unit_of(const struct rsc_profile *profile) {
    return rsc_lines_are_words(profile) ? "word" : "line";
}

/* How a line that an instruction fetches is used. */
struct rsc_line_use {
    double uses;  /* references to it, by any code, before a long pause: from 1; 0: not known */
    double bytes; /* uses times the bytes of an access, an upper bound of the bytes used; 0: not known */
    struct rsc_stride stride; /* of the instruction; seen 0: not known */
};

/* `uses` 0 where rsc_lines_are_seen() is not so. */
struct rsc_line_use rsc_line_use(const struct rsc_evidence *evidence, const struct rsc_code_row *row);

/* The instruction of a source line with most misses. */
const struct rsc_code_row *rsc_worst_of_line(const struct rsc_evidence *evidence, const struct rsc_rank *line);

/* Whether only a small part of each line is used. */
int rsc_line_use_is_little(const struct rsc_evidence *evidence, const struct rsc_line_use *use);

/* Whether the instruction uses a part of each record and never the bytes between: a field in an array of structures. */
int rsc_line_use_is_of_records(const struct rsc_line_use *use);

/* Whether most of the steps seen are the same. */
static inline int rsc_stride_is_regular(const struct rsc_stride *stride) { return 2 * stride->same > stride->seen; }

/* Whether that number of misses, at `cycles` each, is worth advice. */
static inline int rsc_is_worth(const struct rsc_evidence *evidence, double misses, double cycles) {
    return misses * cycles >= RSC_CYCLES_WORTH * (double)evidence->profile->references;
}
static inline int rsc_misses_matter(const struct rsc_evidence *evidence) {
    return rsc_is_worth(evidence, evidence->miss_ratio * (double)evidence->profile->references, evidence->miss_cycles);
}

/* ---- gain and sureness (advise_gain.c) ---- */

/* Adds what is gained if `share` of a rank's misses are avoided. */
void rsc_advice_gains_rank(const struct rsc_evidence *evidence, const struct rsc_ranking *ranking,
                           const struct rsc_rank *rank, double share, struct rsc_advice *advice);

/* Gains that many misses at every size: those to lines that other threads wrote. */
void rsc_advice_gains_invalidated(const struct rsc_evidence *evidence, uint64_t misses, struct rsc_advice *advice);

/* How sure advice is: by how the profile was made and, where it is about strides, by how regular they are. */
void rsc_advice_sureness(const struct rsc_evidence *evidence, const struct rsc_stride *stride,
                         struct rsc_advice *advice);

/* ---- the source (advise_code.c) ---- */

/*
 * The line of the loop right around the loop at `inner`: that of `outer`, or one between the two in the source. Compilers
 * join two loops that both begin with the inner one. 0: `outer` is not in the same file.
 */
uint32_t rsc_source_loop_around(const struct rsc_place *outer, const struct rsc_place *inner);

/* Shows two loops, the outer one first, exchanged; or as they are, if other statements are between them. */
void rsc_change_exchange(struct rsc_advice *advice, const struct rsc_place *inner, uint32_t outer_line);

/* Shows the same two loops cut into tiles, of which two fit in `size_bytes`. */
void rsc_change_tile(struct rsc_advice *advice, const struct rsc_place *inner, uint32_t outer_line,
                     uint64_t size_bytes);

/* Shows a use of a field of an array of structures as one of an array of its own. */
void rsc_change_field(struct rsc_advice *advice, const struct rsc_place *place);

/* Shows the lines of places as they are. Places may be NULL or the same. */
void rsc_change_show(struct rsc_advice *advice, const struct rsc_place *const *places, size_t count);

/* Fills `far`. */
void rsc_evidence_shape_pairs(struct rsc_evidence *evidence);

/* The rules; each returns 1 if it fills its advice. */
int rsc_advise_fusion(const struct rsc_evidence *evidence, struct rsc_advice *advice);
int rsc_advise_interchange(const struct rsc_evidence *evidence, struct rsc_advice *advice);
int rsc_advise_tiling(const struct rsc_evidence *evidence, struct rsc_advice *advice);
int rsc_advise_order(const struct rsc_evidence *evidence, struct rsc_advice *advice);
int rsc_advise_long_distance(const struct rsc_evidence *evidence, struct rsc_advice *advice);

/* ---- text ---- */

static inline double rsc_share_of(const struct rsc_evidence *evidence, uint64_t misses) {
    return evidence->misses ? (double)misses / (double)evidence->misses : 0;
}

static inline struct rsc_shown rsc_lines_as_bytes(const struct rsc_evidence *evidence, uint64_t lines) {
    return rsc_show_bytes(rsc_lines_to_bytes(lines, evidence->profile->made.line_bytes));
}

/* Names come from files and must not contain terminal control characters. */
static inline void rsc_make_plain(char *text) {
    for (; *text; text++)
        if (*text < ' ' || *text > '~') *text = '?';
}

#endif
