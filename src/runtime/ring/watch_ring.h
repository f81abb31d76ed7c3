/*
 * watch_ring.h - how a program that watches its own reuses (`run --with perf`) reports samples
 * and their outcomes to its parent.
 *
 * A part of the shared memory of ring.h, with one stream per thread that has taken a sample: a
 * ring of words, small on purpose (64 threads touch 4 MiB of it). The thread writes records and
 * never waits: a record that does not fit is dropped and counted. The parent joins them by
 * register: a USE that took a register is open until the HIT with the same register, or ends
 * (censored) with the next USE that takes it, with the END of its thread, or where a thread
 * that was killed had got to (`position`).
 *
 * Positions. An access's position is the number of earlier accesses of its thread, as the
 * countdown of rebuilt code counts them (runtime/pieces/asm_abi.h). A piece's weight is
 * subtracted from the countdown at its start, so a HIT in the middle of one reports the
 * countdown, the position where it would be zero, and all registers (one may hold the
 * countdown): the parent computes the position with the tables.
 */
#ifndef RSC_RUNTIME_RING_WATCH_RING_H
#define RSC_RUNTIME_RING_WATCH_RING_H

#include <stddef.h>
#include <stdint.h>

#define RSC_WATCH_STREAMS 1024u
#define RSC_WATCH_REGISTERS 4u
#define RSC_WATCH_NO_REGISTER 255u
#define RSC_WATCH_WORDS 8128u /* of its ring */
#define RSC_WATCH_FRAMES 48u  /* of a call path, innermost first; deeper ones are truncated */

enum rsc_watched_type {
    RSC_WATCHED_USE = 1,
    RSC_WATCHED_HIT = 2,
    RSC_WATCHED_END = 3, /* the thread ends, and so does the watch of its register */
};

/* Flags in a record's first word. */
#define RSC_WATCH_WRITE 1u    /* USE: a write */
#define RSC_WATCH_RESOLVED 2u /* HIT: position and pc are those of the access itself */
#define RSC_WATCH_LATE 4u     /* HIT: SIGTRAP was blocked: the access was some time earlier */
#define RSC_WATCH_CUT 8u      /* the call path was longer */
#define RSC_WATCH_FAILED 32u  /* END: it could not be armed */
#define RSC_WATCH_TOOK 64u    /* USE: the register held another watch until now */
#define RSC_WATCH_RANGE 16u   /* USE: part of the accesses of a libc function */

/*
 * The first word: bits 0-7 type, 8-15 register or RSC_WATCH_NO_REGISTER, 16-23 flags, 24-39 total words of the
 * record, 40-47 frames, 48-49 for a USE enum rsc_watch_shape. The frames (return addresses) are last.
 */
static inline uint64_t rsc_watch_head(uint32_t type, uint32_t reg, uint32_t flags, uint32_t words, uint32_t frames) {
    return type | (uint64_t)reg << 8 | (uint64_t)flags << 16 | (uint64_t)words << 24 | (uint64_t)frames << 40;
}
static inline uint32_t rsc_watch_head_type(uint64_t head) { return head & 0xff; }
static inline uint32_t rsc_watch_head_register(uint64_t head) { return head >> 8 & 0xff; }
static inline uint32_t rsc_watch_head_flags(uint64_t head) { return head >> 16 & 0xff; }
static inline uint32_t rsc_watch_head_words(uint64_t head) { return head >> 24 & 0xffff; }
static inline uint32_t rsc_watch_head_frames(uint64_t head) { return head >> 40 & 0xff; }
static inline uint64_t rsc_watch_head_with_shape(uint64_t head, uint32_t shape) { return head | (uint64_t)shape << 48; }
static inline uint32_t rsc_watch_head_shape(uint64_t head) { return head >> 48 & 3; }

/* Words of a USE before its frames. */
enum {
    RSC_WATCHED_USE_POSITION = 1, /* of the use */
    RSC_WATCHED_USE_PERIOD,       /* mean accesses between samples when it was chosen */
    RSC_WATCHED_USE_PC,
    RSC_WATCHED_USE_ADDRESS, /* address of the word, a multiple of 8 */
    /* Bits 0-15 words that the access touches, 16-31 accesses of its piece, 32-63 words that those touch. */
    RSC_WATCHED_USE_DENSITY,
    RSC_WATCHED_USE_CHANCE, /* a double's bits: runtime/watch/watch_slots.h */
    /* Accesses so far by libc functions, which count one access per 64-byte line, and the words that they touch. */
    RSC_WATCHED_USE_RANGE_ACCESSES,
    RSC_WATCHED_USE_RANGE_WORDS,
    RSC_WATCHED_USE_COST, /* rsc_watch_cost(); 0 without a PMU */
    RSC_WATCHED_USE_WORDS
};

/* Words of a HIT before its frames. With RSC_WATCH_RESOLVED there are no registers, and REACH is the position. */
enum {
    RSC_WATCHED_HIT_REACH = 1, /* position at which the countdown is zero */
    RSC_WATCHED_HIT_COUNTER, /* value in memory */
    RSC_WATCHED_HIT_CHANCE, /* a double's bits */
    RSC_WATCHED_HIT_RANGE_ACCESSES,
    RSC_WATCHED_HIT_RANGE_WORDS,
    RSC_WATCHED_HIT_PC, /* after the instruction; resolved: of it */
    RSC_WATCHED_HIT_GENERAL, /* 16 registers, in the order of instruction encodings */
    RSC_WATCHED_HIT_WORDS_RESOLVED = RSC_WATCHED_HIT_GENERAL,
    RSC_WATCHED_HIT_WORDS = RSC_WATCHED_HIT_GENERAL + 16
};

/* Words of an END. */
enum {
    RSC_WATCHED_END_POSITION = 1,
    RSC_WATCHED_END_CHANCE,
    RSC_WATCHED_END_RANGE_ACCESSES,
    RSC_WATCHED_END_RANGE_WORDS,
    RSC_WATCHED_END_WORDS
};

/* The PMU's data for the use itself: bits 0-31 cycles it took (0: not known), 32-39 enum rsc_data_source. */
static inline uint64_t rsc_watch_cost(uint64_t cycles, uint32_t source) {
    return (cycles < UINT32_MAX ? cycles : UINT32_MAX) | (uint64_t)source << 32;
}
static inline uint32_t rsc_watch_cost_cycles(uint64_t cost) { return (uint32_t)cost; }
static inline uint32_t rsc_watch_cost_source(uint64_t cost) { return cost >> 32 & 0xff; }

static inline uint64_t rsc_watch_bits(double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double rsc_watch_double(uint64_t bits) {
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

struct rsc_watch_stream {
    /* Written by the thread: */
    uint32_t state; /* enum rsc_slot_state (ring.h): LIVE, ENDED; the parent sets FREE again */
    uint32_t pid, tid, image;
    uint64_t written; /* words */
    uint64_t position; /* accesses so far, at the last sample, at the thread's end, or some time in between */
    uint64_t range_accesses, range_words; /* the same: see RSC_WATCHED_USE_RANGE_WORDS */
    uint64_t samples, hits;
    uint64_t own_hits; /* traps that the runtime itself caused */
    uint64_t late_hits; /* see RSC_WATCH_LATE */
    uint64_t dropped; /* records dropped for lack of room */
    uint64_t void_samples; /* the chosen access was not made, or has no address that can be watched */
    uint64_t busy_ns; /* in handlers and in taking samples, without the kernel's part */
    uint32_t registers; /* registers that this thread got */
    uint32_t generation; /* number of times the stream was taken */
    uint64_t
        chances[RSC_WATCH_REGISTERS]; /* of the watches by register, a double's bits: for a thread without an END */
    uint8_t pad0[256 - 144];
    /* Written by the parent: */
    uint64_t taken; /* words */
    uint8_t pad1[256 - 8];
    uint64_t words[RSC_WATCH_WORDS];
};
_Static_assert(sizeof(struct rsc_watch_stream) == 65536, "16 pages, touched as used");

/* Why a program stopped watching, or never started. */
enum rsc_watch_off {
    RSC_WATCH_ON = 0,
    RSC_WATCH_REFUSED, /* perf_event_open() failed with errno `refused` */
    RSC_WATCH_SIGNAL_WANTED, /* it waits for SIGTRAP itself, by sigwait() or signalfd() */
    RSC_WATCH_SIGNAL_TAKEN, /* a handler was installed by other means than the program's sigaction() */
};

struct rsc_watch_area {
    /* Written by the parent before the program starts: */
    uint64_t period; /* accesses between samples; 0: as many as give `rate` */
    uint64_t rate; /* samples per second of a thread's processor time */
    uint64_t seed;
    uint32_t registers; /* registers per thread, at most RSC_WATCH_REGISTERS */
    uint32_t frames; /* of call paths, at most RSC_WATCH_FRAMES; 0: none */
    uint32_t lines; /* watches parts of lines, each with all registers together (watch_shapes.h); otherwise words */
    uint32_t pad0;
    /* Written by the program: */
    uint32_t off; /* enum rsc_watch_off: the first reason */
    uint32_t refused; /* errno of the last event that failed to open */
    uint32_t held; /* threads that got fewer registers because others hold them */
    uint32_t short_of_files; /* threads that got fewer, to leave the program its file descriptors */
    uint32_t streams_used;
    uint32_t crowded_out; /* threads without a stream */
    uint64_t unsampled_accesses; /* of threads that ended without a sample */
    uint64_t unsampled_threads;
    uint64_t multiplexed; /* samples not used because the PMU's counters were shared */
    uint8_t pad[4096 - 88];
    struct rsc_watch_stream streams[RSC_WATCH_STREAMS];
};
_Static_assert(offsetof(struct rsc_watch_area, streams) == 4096, "streams begin at a page");

#endif
