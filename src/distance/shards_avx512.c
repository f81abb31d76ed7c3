/* shards_avx512.c - shards_kernel.h compiled for AVX512. */
#if defined(__x86_64__)
#include "distance/shards_kernel.h"

int rsc_shards_take_avx512(struct rsc_shards *shards, const uint64_t *meta) { return take_kernel(shards, meta); }
#else
typedef int rsc_no_shards_avx512; /* an empty file is no C */
#endif
