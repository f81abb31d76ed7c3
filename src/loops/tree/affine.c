/* affine.c - see affine.h. Numbers stay under 2^56, so sums and products of two fit 128 bits easily. */
#include "loops/tree/affine.h"

static int store(int64_t *into, __int128 value) {
    if (value > RSC_LOOP_VALUE_MAX || value < -RSC_LOOP_VALUE_MAX) return RSC_ELIMIT;
    *into = (int64_t)value;
    return 0;
}

struct rsc_affine rsc_affine_number(int64_t number) { return (struct rsc_affine){.constant = number}; }

struct rsc_affine rsc_affine_variable(uint32_t depth) {
    struct rsc_affine affine = {0};
    affine.coefficient[depth] = 1;
    return affine;
}

int rsc_affine_is_number(const struct rsc_affine *affine) {
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++)
        if (affine->coefficient[d]) return 0;
    return 1;
}

int rsc_affine_add(struct rsc_affine *into, const struct rsc_affine *more, int64_t scale) {
    int status = store(&into->constant, into->constant + (__int128)scale * more->constant);
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX && !status; d++)
        status = store(&into->coefficient[d], into->coefficient[d] + (__int128)scale * more->coefficient[d]);
    return status;
}

int rsc_affine_multiply(struct rsc_affine *into, const struct rsc_affine *by) {
    struct rsc_affine left = *into, right = *by, product = {0};
    if (!rsc_affine_is_number(&right)) {
        if (!rsc_affine_is_number(&left)) return RSC_EUNSUPPORTED;
        left = *by;
        right = *into;
    }
    int status = rsc_affine_add(&product, &left, right.constant);
    if (!status) *into = product;
    return status;
}
