/*
 * emulated.cc - the whole plugin on the CPU, for tests: the same session and the
 * same kernels against emulate.h. Tiles are small, so that small traces have many.
 */
#define RSC_GPU_EMULATED
#ifndef RSC_GPU_THREADS
#define RSC_GPU_THREADS 64
#define RSC_GPU_ITEMS 4
#define RSC_GPU_TILE_BITS 8
#endif
#include "emulate.h"

#include "session.cu"

#include "plugin.cu"

/* For tests: device memory in bytes, and the run-time call that fails (-1: none). */
extern "C" void rsc_emulated_limits(size_t memory_bytes, long fail_after);
extern "C" void rsc_emulated_limits(size_t memory_bytes, long fail_after) {
    emulated::memory_bytes = memory_bytes;
    emulated::fail_after = fail_after;
    emulated::release_stacks();
}
extern "C" size_t rsc_emulated_memory_used(void);
extern "C" size_t rsc_emulated_memory_used(void) { return emulated::memory_used; }
