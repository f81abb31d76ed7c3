/* jackknife.c - see jackknife.h. */
#include "estimate/jackknife.h"

#include <assert.h>
#include <math.h>

double rsc_jackknife_error(const double *without, uint32_t count) {
    double sum = 0, squares = 0;
    assert(count >= 2);
    for (uint32_t i = 0; i < count; i++) sum += without[i];
    for (uint32_t i = 0; i < count; i++) squares += pow(without[i] - sum / count, 2);
    return sqrt(squares * (count - 1) / count);
}
