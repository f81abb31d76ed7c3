/* hprda_types.cuh - what HP-RDA's kernels (hprda.cuh) leave in the device's memory, and the host knows of it. */
#ifndef RSC_GPU_HPRDA_TYPES_CUH
#define RSC_GPU_HPRDA_TYPES_CUH

#include "device.cuh"

#ifndef RSC_GPU_MERGE_THREADS
#define RSC_GPU_MERGE_THREADS 512
#endif
constexpr u32 BLOCK_TRACES = 64, MERGE_THREADS = RSC_GPU_MERGE_THREADS;
constexpr u32 LOCAL_BINS = 1024 + 6 * 64; /* every 16-bit value */
constexpr u32 TRACE_LEVELS = 7;           /* spans of up to 64 traces */

typedef unsigned long long Counter;

struct LastLine {
    u64 line;
    u32 known;
};

/* Sums and largest ones of spans of consecutive counts, as rsc_hprda_spans has them; most[level * stride + piece]. */
struct Spans {
    const u64 *total;
    const u32 *most;
    u32 stride;
};

/* A line in a block; `trace` is 1 + the last local trace that has it. */
struct Node {
    u64 line;
    u32 first, latest, first_low, latest_low;
    u32 trace, unused;
};

/* Where a line was seen last. When a fragment ends, latest and latest_low become those of the fragment. */
struct LineState {
    u64 line;
    u32 fragment, block, latest, latest_low;
};

/* Counters the host reads between groups. */
enum { HPRDA_LINES, HPRDA_IN_FRAGMENT, HPRDA_WAITING_BLOCKS, HPRDA_WAITING_FRAGMENTS, HPRDA_KEPT, HPRDA_COUNTERS };

#endif
