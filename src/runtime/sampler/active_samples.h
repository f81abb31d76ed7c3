/*
 * active_samples.h - the part of an LRU stack that active samples need: how many distinct
 * lines, and holes, are above each sampled line (paper 000, section 3).
 *
 * One table serves all active samples. Time is divided into *epochs*, a new one with
 * each sample, and the table holds the epoch of each line's last use. A line is in the
 * distance set of the sample that began epoch s if and only if its epoch is s or later, so
 *     distance(s) = sum of above[e] over e >= s, minus the sampled line itself,
 * where above[e] counts the lines whose last use was in epoch e, and the holes there. A
 * reference costs one look-up; two counters change only if the line's epoch is older,
 * however many samples are active.
 *
 * Holes are kept by epoch too. The order within an epoch does not matter to any sample,
 * so the rules of section 2 hold exactly:
 *   a line taken away   its place becomes a hole: above[] does not change
 *   a line used         moves to the top and fills the topmost hole above its old
 *                       place, which becomes the hole; without one, its old place
 *                       closes; a new line only fills the topmost hole.
 * A sampled line that is taken away keeps its sample, so that its next use is known to
 * be a miss, and that it comes (rsc_active_is_taken()).
 *
 * A distance set larger than `exact_lines` is kept as a sketch: level j of the stack has
 * only lines whose hash ends in j zeros, with its own counts and holes, and reaches back
 * about `exact_lines` of *those* lines. A distance comes from the lowest level that
 * reaches back to its sample, and is 2^j times its count, with variance count * 4^j (1 -
 * 2^-j): a relative error of at most 1/sqrt(exact_lines / 2). RSC_LEVELS limits the range.
 * A level forgets lines of its oldest epochs first; epochs are also begun between samples,
 * to keep them small. Once the newest sample, and so every one, has `exact_lines` lines of
 * a level above it, the next level is enough for all, and lines outside it are ignored
 * (`skips`, rsc_active_ignores()) until another sample begins.
 *
 * The caller provides all memory, zeroed: rsc_active_bytes(). Nothing here allocates,
 * locks, or calls libc beyond memory functions. Samples are numbers 0 .. samples_most - 1,
 * whose other facts the caller keeps.
 */
#ifndef RSC_RUNTIME_SAMPLER_ACTIVE_SAMPLES_H
#define RSC_RUNTIME_SAMPLER_ACTIVE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* Levels of the sketch: distances up to exact_lines * 2^(RSC_LEVELS - 1) can be measured. */
#define RSC_LEVELS 14u

#define RSC_NO_SAMPLE UINT32_MAX

/* A line of the table; epoch 0: empty. */
struct rsc_active_line {
    uint64_t line;
    uint32_t epoch;
    uint32_t sample_level; /* number of its active sample plus 1, times 16; and its level */
};

struct rsc_active_level {
    int32_t *above;       /* [epochs] */
    int32_t *above_block; /* [epochs / 64]: sums of 64 */
    int32_t *holes;       /* [epochs] */
    uint64_t *has_holes;  /* [epochs / 64]: bits */
    uint32_t top_hole;    /* no hole is above this epoch; 0: there is none */
    uint32_t reaches;     /* epoch from which on the level has all its lines */
};

#define RSC_ACTIVE_RECENT 64u
#define RSC_ACTIVE_MARKS 4096u /* counters that identify lines without a sample */

struct rsc_active_samples {
    /*
     * Lines without a sample that were used in the epoch beside them: while it lasts, using them again changes
     * nothing.
     */
    struct {
        uint64_t line;
        uint64_t epoch; /* 0: none */
    } recent[RSC_ACTIVE_RECENT];
    struct rsc_active_line *lines;
    uint32_t line_mask, lines_used, lines_limit;
    uint32_t exact_lines;
    uint32_t level_lines; /* lines that a level may have before it forgets some */
    uint32_t skips; /* no sample needs the levels below this: they reach back to no epoch (`reaches` is now + 1) */
    uint16_t *marks; /* [RSC_ACTIVE_MARKS]: samples whose line maps there */
    uint32_t epochs; /* room; a multiple of 64 */
    uint32_t now; /* the current epoch, from 1 */
    uint32_t in_epoch; /* lines of level 0 that entered the current one */
    uint32_t *renumbered; /* [epochs]: current number of epochs before the last renumbering; 0: older than any sample */
    uint32_t renumberings;
    struct rsc_active_level level[RSC_LEVELS];

    /* Samples: by number; a list from oldest to newest, and a free list. */
    uint32_t *sample_epoch;
    uint64_t *sample_line;
    uint8_t *sample_taken; /* 1: its line is in the table, but not in the stack */
    uint32_t *older, *newer; /* RSC_NO_SAMPLE at the ends */
    uint32_t oldest, newest, free;
    uint32_t samples_most, active;
    uint64_t hash_key;
};

struct rsc_active_options {
    uint32_t exact_lines; /* 256 to 2^24: distance sets up to this size are exact */
    uint32_t samples_most; /* 1 to 2^24: active at once */
    uint64_t seed; /* of the hash that chooses lines for the levels */
};

/* The levels of a line, and its place, by its hash: the same in all sets with one seed. */
static inline uint64_t rsc_active_key(uint64_t seed) { return (seed + 1) * 0xA0761D6478BD642Full; }
static inline uint64_t rsc_active_hash(uint64_t key, uint64_t line) {
    uint64_t mixed = (line + key) * 0x9E3779B97F4A7C15ull;
    mixed ^= mixed >> 32;
    mixed *= 0xD6E8FEB86659FD93ull;
    return mixed ^ mixed >> 29;
}
static inline uint32_t rsc_active_level_of(uint64_t hash) {
    return (uint32_t)__builtin_ctzll(hash | 1ull << (RSC_LEVELS - 1));
}
static inline uint32_t rsc_active_home(const struct rsc_active_samples *set, uint64_t hash) {
    return (uint32_t)(hash >> 32) & set->line_mask;
}
static inline uint32_t rsc_active_mark(uint64_t hash) { return (uint32_t)(hash >> 14) % RSC_ACTIVE_MARKS; }

/* Whether using or taking the line of this hash would change nothing that any sample needs, and end none. */
static inline int rsc_active_ignores(const struct rsc_active_samples *set, uint64_t hash) {
    return rsc_active_level_of(hash) < set->skips && !set->marks[rsc_active_mark(hash)];
}

/* Bytes of memory, 64-byte aligned, for rsc_active_init(): about 200 per exact line and 200 per sample. */
size_t rsc_active_bytes(const struct rsc_active_options *options);
void rsc_active_init(struct rsc_active_samples *set, const struct rsc_active_options *options, void *zeroed);

/*
 * The line is used, in epoch `when` (usually set->now; earlier for late reports).
 * Returns RSC_NO_SAMPLE; or the line's active sample, and then nothing was done: end
 * that one, and call again.
 */
uint32_t rsc_active_use(struct rsc_active_samples *set, uint64_t line, uint32_t when);
/* The same for a caller that has its hash. */
uint32_t rsc_active_use_hashed(struct rsc_active_samples *set, uint64_t line, uint64_t hash, uint32_t when);

/*
 * Whether rsc_active_use(set, line, set->now) would change nothing and find no sample. Most references of most
 * programs are to a few lines, and need no look-up in a table of megabytes.
 */
static inline uint32_t rsc_active_recent(uint64_t line) { return (uint32_t)(line ^ line >> 6) % RSC_ACTIVE_RECENT; }
static inline int rsc_active_knows(const struct rsc_active_samples *set, uint64_t line) {
    uint32_t at = rsc_active_recent(line);
    return set->recent[at].line == line && set->recent[at].epoch == set->now;
}

/* Prefetches the place of a line that will soon be used or taken: the table is larger than the caches near a core. */
static inline void rsc_active_prefetch(const struct rsc_active_samples *set, uint64_t hash) {
    __builtin_prefetch(&set->lines[rsc_active_home(set, hash)], 1);
}

/* The active sample of the line, or RSC_NO_SAMPLE. */
uint32_t rsc_active_find(const struct rsc_active_samples *set, uint64_t line);

/* Whether the line was used, and not taken, since the sample began; for samples that began so lately that none is ignored. */
int rsc_active_used_since(const struct rsc_active_samples *set, uint64_t line, uint32_t sample);

/*
 * Another stack wrote the line: removes it. Its active sample, if any, goes on as a taken one, which it may have been
 * before. Returns that sample, or RSC_NO_SAMPLE.
 */
uint32_t rsc_active_take(struct rsc_active_samples *set, uint64_t line);
static inline int rsc_active_is_taken(const struct rsc_active_samples *set, uint32_t sample) {
    return set->sample_taken[sample];
}

/*
 * Begins a sample with the current use of `line`: do not also call rsc_active_use().
 * The line must have no active sample. Returns its number, or RSC_NO_SAMPLE when
 * samples_most are active.
 */
uint32_t rsc_active_begin(struct rsc_active_samples *set, uint64_t line);

struct rsc_active_distance {
    uint64_t lines; /* lines and holes above the sampled line */
    double variance; /* of `lines`, from the sketch; 0: exact */
    int too_far; /* no level reaches back that far: `lines` is a lower bound */
};
struct rsc_active_distance rsc_active_distance(const struct rsc_active_samples *set, uint32_t sample);

void rsc_active_end(struct rsc_active_samples *set, uint32_t sample);

#endif
