/*
 * gpu_plugin.h - the interface between the tool and libreusescope-cuda.so.
 *
 * The plugin exports one function, rsc_gpu_plugin(), which returns the table
 * below. A session computes, for each of its line sizes, the exact distances of
 * one stream of words; a word is an address (its line is word >> shift).
 *
 * Every function that can fail returns 0 or a negative RSC_E... code and fills
 * `message` with one line. After a failure a session can only be closed. A session
 * belongs to one thread at a time.
 */
#ifndef RSC_DISTANCE_GPU_PLUGIN_H
#define RSC_DISTANCE_GPU_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RSC_GPU_PLUGIN_VERSION 1u
#define RSC_GPU_PLUGIN_FILE "libreusescope-cuda.so"
#define RSC_GPU_PLUGIN_SYMBOL "rsc_gpu_plugin"
#define RSC_GPU_LINE_SIZES_MAX 13u
#define RSC_GPU_BINS 4480u /* RSC_BINS_FINE */
#define RSC_GPU_MESSAGE_BYTES 400u

struct rsc_gpu_options {
    uint32_t struct_bytes;
    uint32_t device;
    uint32_t line_shifts[RSC_GPU_LINE_SIZES_MAX]; /* log2 of the line sizes, 0 to 12 */
    uint32_t line_count;
    uint32_t private_stacks; /* 1: one stack a thread, words have the thread in bits 48 to 63 */
    uint32_t no_ri;
    uint32_t timing;         /* 1: keep rsc_gpu_timing */
    uint64_t rd_cap;         /* distances from here on are counted in rd_capped; 0: none */
    uint64_t sample_below;   /* 0: all; else only lines whose 64-bit hash is below this (SHARDS) */
    uint64_t chunk_words;    /* words of a chunk; 0: from free memory */
    uint64_t memory_bytes;   /* of the device, at most; 0: what is free */
};

/* Of one line size. */
struct rsc_gpu_result {
    uint64_t references; /* that passed the filter */
    uint64_t distinct;   /* lines, or (thread, line) pairs; each had one cold reference */
    uint64_t rd_capped;
    uint64_t rd[RSC_GPU_BINS], ri[RSC_GPU_BINS];
};

/* Milliseconds of device time, summed over chunks and line sizes. */
struct rsc_gpu_timing {
    double copy, ids, sort, pairs, rank, count, last, carry;
    uint64_t chunks;
    uint64_t device_bytes; /* most memory in use */
    char device_name[64];
};

struct rsc_gpu_plugin {
    uint32_t version; /* RSC_GPU_PLUGIN_VERSION */
    uint32_t struct_bytes;

    /* Fails with RSC_EUNSUPPORTED and says what is missing: the driver, or a device. */
    int (*open)(void **session, const struct rsc_gpu_options *options, char *message);

    /* Takes the memory for chunks of `words` words and `lines` lines now rather than when they come. */
    int (*reserve)(void *session, uint64_t words, uint64_t lines, char *message);

    /* Room for the caller's next words, in memory the device can copy from; *room is at least 1. */
    int (*buffer)(void *session, uint64_t **words, size_t *room, char *message);
    /* The first `count` words of the buffer are filled. */
    int (*commit)(void *session, size_t count, char *message);

    /* Words in page-locked memory of the caller's, who keeps them until finish() or wait() returns. */
    int (*push)(void *session, const uint64_t *words, uint64_t count, char *message);
    /* Words that are in the device's memory already. */
    int (*push_device)(void *session, const uint64_t *words, uint64_t count, char *message);

    /* results[line_count], in the order of line_shifts. */
    int (*finish)(void *session, struct rsc_gpu_result *results, char *message);
    int (*timing)(void *session, struct rsc_gpu_timing *timing, char *message);
    void (*close)(void *session); /* NULL is allowed */
};

typedef const struct rsc_gpu_plugin *(*rsc_gpu_plugin_function)(void);

#ifdef __cplusplus
}
#endif
#endif
