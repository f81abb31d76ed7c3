/* exact_plain.c - exact_kernel.h compiled for the plain machine. */
#include "distance/exact_kernel.h"

const struct rsc_exact_kernel rsc_exact_plain = RSC_EXACT_KERNEL;
