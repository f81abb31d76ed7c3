/* private_stacks_types.cuh - what the kernels of private_stacks.cuh and the host's side of them (private_stacks.h) share. */
#ifndef RSC_GPU_PRIVATE_STACKS_TYPES_CUH
#define RSC_GPU_PRIVATE_STACKS_TYPES_CUH

#include "device.cuh"
#include "distance/gpu/gpu_plugin.h"

/* Items: pairs of a stack and a line that it ever used, from before the chunk; then the chunk's references, in order. */
struct Pairs {
    u64 *line, *time, *used; /* of its last use, in references of the stack; bytes since it came */
    u32 *stack, *state, *tag;
};
struct Items {
    Pairs pair;
    u32 pairs, references;
    const u64 *words, *bytes;
    const u32 *who, *tags; /* who: stack << 1 | writes; tags: NULL: none */
    u32 shift;
};

/* Where each stack begins: among the chunk's references ordered by stack, and among the lines and holes it had before.
 * `count` + 1 of both. */
struct Starts {
    const u32 *reference, *bit;
    const u64 *time; /* references of the stack before the chunk */
    u32 count;
};

/* A set of numbers below `count`, 32 to a word; before[] becomes the running sum of counts. */
struct Marks {
    u32 *bits, *counts, *before;
};

#endif
