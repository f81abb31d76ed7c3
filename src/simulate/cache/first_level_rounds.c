/* first_level_rounds.c - the fast first level with several workers; see first_level_state.h. */
#include "simulate/cache/first_level_state.h"
#include "simulate/simulator_state.h"

/* Identifies the calling thread by the address of a thread-local variable. */
static uintptr_t this_thread(void) {
    static _Thread_local char here;
    return (uintptr_t)&here;
}

/* Takes the seat this thread had before if it is free, else another. There is one seat per worker of a round. */
static uint32_t take_seat(struct rsc_first_level *level) {
    const uintptr_t self = this_thread();
    for (int wish = 0; wish < 3; wish++) { /* this thread's seat, one never used, any */
        for (uint32_t s = 0; s < level->part_count; s++) {
            uintptr_t who = atomic_load_explicit(&level->seats[s].who, memory_order_relaxed);
            if ((wish == 0 && who != self) || (wish == 1 && who)) continue;
            if (atomic_exchange_explicit(&level->seats[s].taken, 1, memory_order_acq_rel)) continue;
            atomic_store_explicit(&level->seats[s].who, self, memory_order_relaxed);
            return s;
        }
    }
    return level->part_count; /* not reached */
}

static void serve_part(struct rsc_first_level *level, uint32_t p) {
    const struct rsc_fast_side *side = &level->sides[level->side];
    const uint32_t parts = level->part_count;
    const struct rsc_fast_list *tail = &side->lists[parts * parts + p];
    for (uint32_t i = 0; i < side->share_count; i++) {
        const struct rsc_fast_share *share = &side->shares[i];
        const struct rsc_fast_list *list = &side->lists[share->seat * parts + p];
        level->serve(&level->parts[p], list->references + share->part[p].from, share->part[p].to - share->part[p].from);
    }
    level->serve(&level->parts[p], tail->references, tail->used);
}

static void gather_share(struct rsc_first_level *level, struct rsc_fast_share *share, uint32_t seat) {
    struct rsc_fast_gather *gather = &level->seats[seat].gather;
    rsc_fast_forget_recent(gather);
    share->seat = seat;
    for (uint32_t p = 0; p < level->part_count; p++) share->part[p].from = gather->dealt[p].used;
    share->stop = rsc_fast_gather_some(level, gather, level->batch, share->first, share->end);
    for (uint32_t p = 0; p < level->part_count; p++) share->part[p].to = gather->dealt[p].used;
    share->counts = gather->counts;
    gather->counts = (struct rsc_fast_counts){0};
}

/* One worker's round. */
static void work(void *argument, size_t unused) {
    struct rsc_first_level *level = argument;
    struct rsc_fast_side *next = &level->sides[!level->side];
    uint32_t seat = take_seat(level), i;
    (void)unused;
    serve_part(level, seat);
    while ((i = atomic_fetch_add_explicit(&level->next_share, 1, memory_order_relaxed)) < next->share_count)
        gather_share(level, &next->shares[i], seat);
}

/* Lets all workers serve this side and gather the shares of the other, then swaps the sides. */
static void work_together(struct rsc_first_level *level) {
    const uint32_t parts = level->part_count, next = !level->side;
    for (uint32_t i = 0; i < (parts + 1) * parts; i++) level->sides[next].lists[i].used = 0;
    for (uint32_t s = 0; s < parts; s++) {
        struct rsc_fast_seat *seat = &level->seats[s];
        seat->gather.dealt = &level->sides[next].lists[s * parts];
        seat->gather.fullest = 0;
        atomic_store_explicit(&seat->taken, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&level->next_share, 0, memory_order_relaxed);
    rsc_pool_for(level->sim->pool, parts, work, level);
    level->side = next;
    level->tail.dealt = &level->sides[next].lists[parts * parts];
    level->tail.fullest = 0;
}

void rsc_fast_serve_all(struct rsc_first_level *level) {
    if (level->part_count == 1) {
        level->serve(&level->parts[0], level->tail.list.references, level->tail.list.used);
        level->tail.list.used = 0;
        return;
    }
    if (!level->sides[level->side].share_count && !level->tail.fullest) return;
    level->sides[!level->side].share_count = 0;
    work_together(level);
}

uint32_t rsc_fast_round(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    struct rsc_fast_side *next = &level->sides[!level->side];
    uint32_t kept = 0;
    level->batch = batch;
    for (next->share_count = 0; first < end && next->share_count < RSC_FAST_SHARES; next->share_count++) {
        struct rsc_fast_share *share = &next->shares[next->share_count];
        share->first = first;
        share->end = first = end - first < RSC_FAST_SHARE ? end : first + RSC_FAST_SHARE;
    }
    work_together(level);
    rsc_fast_forget_recent(&level->tail); /* its blocks are from before the round */
    /* Keep the shares up to the first one that stopped early; those after it are gathered again. */
    while (kept < next->share_count) {
        struct rsc_fast_share *share = &next->shares[kept++];
        rsc_fast_take_counts(level, &share->counts);
        first = share->stop;
        if (share->stop < share->end) break;
    }
    next->share_count = kept;
    return first;
}
