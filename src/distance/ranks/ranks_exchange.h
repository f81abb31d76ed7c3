/*
 * ranks_exchange.h - passes first touches from rank to rank.
 *
 * A rank's first touches look cold to it; only the ranks before it know whether they
 * are (exact_replay.h). Each rank sends them, in order, to the rank before it, which
 * takes those lines out of its own state. Touches of lines it held are corrected
 * there; the others go on, after its own first touches, to the rank before that one.
 * Lines that rank 0 does not hold are cold. Nothing is ever sent back.
 *
 * No rank needs the length of the other parts: a touch carries its offset from the
 * *start* of the sender's part, and each rank it passes adds its own length.
 *
 * A line reaches a rank at most once, from the first later part that uses it. So no
 * rank sees more touches than the trace has lines, for any number of ranks.
 */
#ifndef RSC_DISTANCE_RANKS_RANKS_EXCHANGE_H
#define RSC_DISTANCE_RANKS_RANKS_EXCHANGE_H

#include "distance/count/accumulate.h"
#include "distance/exact/exact_replay.h"
#include "distance/ranks/ranks.h"

/* A first touch, as sent. 42 bits of lines of 64 bytes cover the whole address space. */
struct rsc_touch {
    uint64_t line;
    uint64_t since;         /* references from the start of the sender's part to this one */
    uint64_t above_and_who; /* distinct lines between, so far (42 bits); rsc_touch_who() << 42 */
};
#define RSC_TOUCH_WHO_SHIFT 42u
_Static_assert(sizeof(struct rsc_touch) == 24, "bytes of a first touch on the wire");
_Static_assert(RSC_KIND_SLOTS == 4 && RSC_THREADS_MAX <= 1u << 20, "22 bits of who made it");

/* Kind slot (2 bits) and thread number (20 bits). */
static inline uint64_t rsc_touch_who(uint32_t thread, uint32_t kind_slot) {
    return ((uint64_t)thread << 2 | kind_slot) << RSC_TOUCH_WHO_SHIFT;
}
static inline uint32_t rsc_touch_thread(const struct rsc_touch *touch) {
    return (uint32_t)(touch->above_and_who >> (RSC_TOUCH_WHO_SHIFT + 2));
}
static inline uint32_t rsc_touch_kind(const struct rsc_touch *touch) {
    return (uint32_t)(touch->above_and_who >> RSC_TOUCH_WHO_SHIFT) & 3;
}
static inline uint64_t rsc_touch_above(const struct rsc_touch *touch) {
    return touch->above_and_who & ((1ull << RSC_TOUCH_WHO_SHIFT) - 1);
}

/*
 * Touches in one message. While one block is replayed the next is in flight, so a block
 * only needs to be large enough to hide the fixed cost of a message: 32 Ki are 768 KiB,
 * and take milliseconds to replay where a message takes microseconds.
 */
#define RSC_TOUCH_BLOCK 32768u

/* First touches waiting to be sent, oldest first. */
struct rsc_touch_queue {
    struct rsc_touch_block *first, *last;
    uint64_t blocks;
    uint32_t per_block; /* touches in one, the last may have fewer; set by the creator */
};
/* Returns 0 or RSC_ENOMEM. */
int rsc_touch_queue_add(struct rsc_touch_queue *queue, struct rsc_touch touch);
void rsc_touch_queue_free(struct rsc_touch_queue *queue);
/* Gives every touch the thread number map[its own]. */
void rsc_touch_queue_renumber(struct rsc_touch_queue *queue, const uint32_t *map);

/* A rank's part in the exchange. */
struct rsc_exchange {
    struct rsc_ranks *ranks;
    struct rsc_exact *exact;       /* state at the end of this rank's part; used up */
    uint64_t references;           /* in this rank's part */
    struct rsc_touch_queue *queue; /* its first touches, with `since` and `above` within the part; emptied */
    /* Reports the last use of a touch, or (rd RSC_RD_UNKNOWN: rank 0 only) that it is cold. Returns 0 or RSC_ENOMEM. */
    int (*settle)(void *user, uint32_t thread, uint32_t kind, uint64_t rd, uint64_t ri);
    void *user;

    uint64_t replayed, sent_bytes; /* statistics; filled in */
    struct rsc_exchange_progress *progress;
};
#define RSC_RD_UNKNOWN UINT64_MAX

/*
 * All ranks call it. After a failure messages may still be in flight: all ranks must
 * be ended (rsc_ranks.abort) before the exchange is freed.
 */
int rsc_exchange_run(struct rsc_exchange *exchange, struct rsc_error *error);
void rsc_exchange_free(struct rsc_exchange *exchange);

#endif
