/*
 * watch_shapes.h - which words debug registers watch around a sampled one: the word itself, or for models of 64-byte
 * lines (featherlight/line_model.h) one of three shapes, chosen at random. A quarter is 16 aligned bytes.
 */
#ifndef RSC_RUNTIME_WATCH_WATCH_SHAPES_H
#define RSC_RUNTIME_WATCH_WATCH_SHAPES_H

#include <stdint.h>

enum rsc_watch_shape {
    RSC_WATCH_WORD,
    RSC_WATCH_QUARTER, /* its quarter of the line */
    RSC_WATCH_HALF,    /* its quarter and the other one of the same half */
    RSC_WATCH_ACROSS,  /* its quarter and the one at the same place of the other half */
    RSC_WATCH_SHAPES
};
#define RSC_WATCH_LINE_SHAPES 3u /* from RSC_WATCH_QUARTER on */
#define RSC_WATCH_SHAPE_WORDS 4u /* at most */

/* The word numbers (addresses / 8) of a shape around `word`, which is among them; returns how many. */
static inline uint32_t rsc_watch_shape_words(enum rsc_watch_shape shape, uint64_t word, uint64_t *words) {
    uint64_t quarter = word & ~1ull, other = quarter ^ (shape == RSC_WATCH_HALF ? 2 : 4);
    if (shape == RSC_WATCH_WORD) {
        words[0] = word;
        return 1;
    }
    words[0] = quarter;
    words[1] = quarter + 1;
    words[2] = other;
    words[3] = other + 1;
    return shape == RSC_WATCH_QUARTER ? 2 : 4;
}

#endif
