/*
 * gpu_plugin.h - the interface between the tool and libreusescope-cuda.so.
 *
 * The plugin exports one function, rsc_gpu_plugin(), which returns the table below. A
 * session takes one stream of words (addresses) and computes exact distances for each
 * of its stacks. A stack has a line size (the line of a word is word >> line_shift)
 * and may take only the lines of a sample: distances are then among the sample's
 * lines, intervals in the whole stream. By kind and thread it counts when it is asked
 * to; what it does not count itself is counted from the outcome of every reference (watch()).
 *
 * Every function that can fail returns 0 or a negative RSC_E... code and fills
 * `message` with one line. After a failure a session can only be closed. A session
 * belongs to one thread at a time; only block() may be called by any, at any time.
 */
#ifndef RSC_DISTANCE_GPU_GPU_PLUGIN_H
#define RSC_DISTANCE_GPU_GPU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RSC_GPU_PLUGIN_VERSION 5u
#define RSC_GPU_PLUGIN_FILE "libreusescope-cuda.so"
#define RSC_GPU_PLUGIN_SYMBOL "rsc_gpu_plugin"
#define RSC_GPU_STACKS_MAX 16u
#define RSC_GPU_BINS 4480u /* RSC_BINS_FINE */
#define RSC_GPU_MESSAGE_BYTES 400u
#define RSC_GPU_KINDS 4u           /* RSC_KIND_SLOTS */
#define RSC_GPU_ROW_THREADS 256u   /* rows of threads, at most */
#define RSC_GPU_FINE_BINS 2432u    /* RSC_BINS_FINE, and below RSC_BINS_COARSE, of a 32-bit distance */
#define RSC_GPU_COARSE_BINS 124u

struct rsc_gpu_stack {
    uint32_t line_shift; /* log2 of the line size, 0 to 12 */
    uint32_t sampled;    /* 1: only lines with sample_low <= rsc_gpu_line_hash(line, sample_seed) <= sample_high */
    uint64_t sample_low, sample_high, sample_seed;
};

#ifdef __CUDACC__
__host__ __device__
#endif
    /* Selects the lines of a sample. Two rounds of multiplication, so that every bit of the line affects the upper
     * ones, which are compared. */
    static inline uint64_t
    rsc_gpu_line_hash(uint64_t line, uint64_t seed) {
    uint64_t mixed = (line + seed) * 0x9E3779B97F4A7C15ull;
    return (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93ull;
}

/* Computes the published approximation instead of exact distances (hprda.h), for one stack. 0 is the default of each
 * except `on`. */
struct rsc_gpu_hprda_options {
    uint32_t on;
    uint32_t local, fragment; /* references in a local trace, in a fragment */
    uint32_t group; /* references processed at a time, rounded up to blocks; default a fragment, or what fits */
    uint32_t no_adjust;
};

struct rsc_gpu_options {
    uint32_t struct_bytes;
    uint32_t device;
    struct rsc_gpu_stack stacks[RSC_GPU_STACKS_MAX];
    uint32_t stack_count;
    uint32_t per_thread; /* 1: words have a thread in bits 48 to 63; each thread has its own stacks and time */
    uint32_t no_ri;
    uint32_t timing; /* 1: keep rsc_gpu_timing */
    uint64_t rd_cap; /* distances from here on are counted in rd_capped; 0: none */
    uint64_t chunk_words; /* words per chunk; 0: chosen from free memory, the lines seen, and the words still to come */
    uint32_t private_stacks; /* 1: words come in blocks with who and bytes; see struct rsc_gpu_loss */
    uint64_t memory_bytes; /* of the device, at most; 0: the free memory, shared with other sessions */
    struct rsc_gpu_hprda_options hprda;
};

/* Of one stack. */
struct rsc_gpu_result {
    uint64_t references; /* to lines of the sample */
    uint64_t distinct; /* lines, or (thread, line) pairs; each had one cold reference */
    uint64_t rd_capped;
    uint64_t rd[RSC_GPU_BINS], ri[RSC_GPU_BINS];
};

/* Distances that are none. */
#define RSC_GPU_FIRST_USE 0xffffffffu
#define RSC_GPU_TAKEN_AWAY 0xfffffffeu /* from a private stack, since its last use */

/*
 * With private stacks: a write takes its line from another stack, or a stack comes back to a line that was taken from it
 * (then only line, reference, by, from and is_false are set).
 */
struct rsc_gpu_loss {
    uint64_t line, written, used; /* used: bytes, by the stack that loses the line, since it came */
    uint32_t reference; /* of the outcomes: the write, or the one that comes back */
    uint32_t by, from; /* stacks */
    uint32_t writer, victim; /* tags of the write, and of the last use before it */
    uint32_t is_false; /* no byte was both written and used */
};

/* Of consecutive references, in order. */
struct rsc_gpu_outcomes {
    uint32_t count;
    const uint32_t *rd; /* or RSC_GPU_FIRST_USE, RSC_GPU_TAKEN_AWAY. Distances from the cap on are as they are */
    const uint32_t *last_tag; /* of the previous use, 0 for a first one; NULL: not wanted */
    const uint64_t *ri; /* 0 for a first use; NULL: not wanted */
    const struct rsc_gpu_loss *taken, *returned; /* by reference; what one write takes, by stack */
    uint32_t taken_count, returned_count;
};

/* What the device counts by kind of access and by thread. Distances from the cap on are counted as the cap. */
struct rsc_gpu_rows {
    struct {
        uint64_t cold, rd[RSC_GPU_FINE_BINS];
    } kinds[RSC_GPU_KINDS];
    struct {
        uint64_t cold, rd[RSC_GPU_COARSE_BINS];
    } threads[RSC_GPU_ROW_THREADS];
};

/* Page-locked columns that the device copies from. A block is the session's; whoever asked for it fills it. */
struct rsc_gpu_block {
    uint64_t *words;
    uint32_t *tags; /* NULL: words have none */
    uint32_t
        *who; /* rsc_meta_who(), copied only while the device counts rows; for private stacks: stack << 1 | writes */
    uint64_t *bytes; /* that each reference touches, one bit per byte or 64th of its line; NULL: no private stacks */
    size_t room;
};

struct rsc_gpu_watch {
    uint32_t rows; /* 1: count by kind and thread, on the device; nothing else below is set */
    uint32_t tags; /* 1: words have tags; only before the first word */
    uint32_t intervals; /* 1: outcomes have ri */
    /*
     * Takes outcomes, which are gone when it returns; called by commit(), push(), push_device() and finish(), while
     * the device computes. Returns 0 or an error.
     */
    int (*take)(void *context, const struct rsc_gpu_outcomes *outcomes);
    void *context;
};

/* For hp-rda: histograms of the smallest and the largest possible distance of each reuse. */
struct rsc_gpu_bounds {
    uint64_t fragments;
    uint64_t low[RSC_GPU_BINS], high[RSC_GPU_BINS];
};

/* Milliseconds of device time, summed over chunks and stacks. `ids` includes sampling and ordering by thread. */
struct rsc_gpu_timing {
    double copy, ids, sort, pairs, rank, count, last, carry;
    double runs, local, merge_locals, merge_blocks, adjust; /* of hp-rda */
    uint64_t chunks;
    uint64_t device_bytes; /* most memory in use */
    char device_name[64];
};

struct rsc_gpu_plugin {
    uint32_t version; /* RSC_GPU_PLUGIN_VERSION */
    uint32_t struct_bytes;

    /* Fails with RSC_EUNSUPPORTED and reports what is missing: the driver, or a device. */
    int (*open)(void **session, const struct rsc_gpu_options *options, char *message);

    /* Allocates the memory for chunks of `words` words and `lines` lines in advance. */
    int (*reserve)(void *session, uint64_t words, uint64_t lines, char *message);

    /*
     * From the next word on rows are counted, or every reference's outcome goes to watch->take. `so_far` is of the
     * references before. For one stack of all lines, once each, rows first; the result of finish() is of all references.
     * For private stacks, before the first word: everything is in the outcomes, results have only references and distinct lines.
     */
    int (*watch)(void *session, const struct rsc_gpu_watch *watch, struct rsc_gpu_result *so_far, char *message);

    /* The rows counted so far, zeros without watch->rows. */
    int (*rows)(void *session, struct rsc_gpu_rows *rows, char *message);

    /* A block to fill, for any thread. It waits where many blocks are being copied. */
    int (*block)(void *session, struct rsc_gpu_block **block, char *message);
    /* The block's first `count` words are the session's next. The block goes back to the session. */
    int (*send)(void *session, struct rsc_gpu_block *block, size_t count, char *message);

    /* Words owned by the caller, valid until finish() returns, without tags. The copy only overlaps from page-locked
     * memory. */
    int (*push)(void *session, const uint64_t *words, uint64_t count, char *message);
    /* Words already in the device's memory. */
    int (*push_device)(void *session, const uint64_t *words, uint64_t count, char *message);

    /* results[stack_count]. */
    int (*finish)(void *session, struct rsc_gpu_result *results, char *message);
    int (*bounds)(void *session, struct rsc_gpu_bounds *bounds, char *message); /* after finish(), only for hp-rda */
    int (*timing)(void *session, struct rsc_gpu_timing *timing, char *message);
    void (*close)(void *session); /* NULL is allowed */
};

typedef const struct rsc_gpu_plugin *(*rsc_gpu_plugin_function)(void);

#ifdef __cplusplus
}
#endif
#endif
