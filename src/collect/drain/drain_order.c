/*
 * drain_order.c - in which order the segments of threads (drain_state.h) are taken.
 *
 * A segment begins when no thread has an older record, as far as can be known. Then all that
 * was before a synchronisation in one thread is taken before what came after it in another:
 * the first ended with a mark, and the second begins with a later one. Segments that overlap
 * in time are interleaved record by record, each record at its share of its segment's time.
 *
 * How far that order can be wrong is measured: references of other threads' segments that
 * overlap with a segment may have come before or after each of its own.
 */
#include <string.h>

#include "collect/drain/drain_state.h"

#define LATE_AFTER_NS 20000000ull
#define ASLEEP_AFTER_NS 2000000ull /* a thread may hold back others that long before it is looked at */
#define ASLEEP_LOOK_NS 1000000ull
#define NEVER UINT64_MAX
#define LEAVING_LOOK_NS 4000000ull

static int is_dead(const struct rsc_drain_cursor *cursor, const struct rsc_slot *slot) {
    return cursor->dead_generation && cursor->dead_generation == slot->generation;
}

/* ---- the next segment of a thread ---- */

/* What a thread may have changed meanwhile: read once. */
struct open_block {
    struct rsc_block *block;
    uint32_t words, marks;
    int is_published;
};

static struct open_block look_at_block(const struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    struct open_block found = {.block = &slot->blocks[cursor->consumed % RSC_RING_BLOCKS]};
    found.is_published = __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) > cursor->consumed;
    found.words = __atomic_load_n(&found.block->count, __ATOMIC_ACQUIRE);
    found.marks = __atomic_load_n(&found.block->mark_count, __ATOMIC_ACQUIRE);
    if (found.words > RSC_BLOCK_WORDS) found.words = RSC_BLOCK_WORDS;
    if (found.marks > RSC_BLOCK_MARKS) found.marks = RSC_BLOCK_MARKS;
    return found;
}

/*
 * The slot's next segment. `left`: that many words of the open block are taken even if they are not marked; 0: none.
 * Our writers never publish an empty block.
 */
static int find_block(struct rsc_drain_cursor *cursor, struct rsc_slot *slot, uint32_t left,
                      struct rsc_found_block *found) {
    const struct open_block open = look_at_block(cursor, slot);
    struct rsc_block *block = open.block;
    for (;;) {
        const uint32_t from = cursor->words_taken;
        uint32_t to = open.words;
        *found = (struct rsc_found_block){.words = block->words + from};
        /* A mark, or the block's being published, says that the times before it are written. */
        const int is_marked = cursor->marks_taken < open.marks;
        if (!is_marked && !open.is_published && !left) return 0;
        uint64_t since_ns = cursor->marks_taken ? block->marks[cursor->marks_taken - 1].after_ns : block->start_ns;
        if (since_ns < cursor->taken_ns) since_ns = cursor->taken_ns;
        found->start_ns = since_ns;
        if (is_marked) {
            to = block->marks[cursor->marks_taken].words;
            found->end_ns = block->marks[cursor->marks_taken++].before_ns;
        } else if (open.is_published) {
            found->is_last = 1;
            found->end_ns = block->end_ns;
            found->instructions = block->instructions;
        } else {
            to = left;
            found->end_ns = cursor->asleep_ns;
        }
        if (to > RSC_BLOCK_WORDS) to = RSC_BLOCK_WORDS;
        if (found->end_ns < since_ns) found->end_ns = since_ns;
        found->count = to > from ? to - from : 0;
        cursor->words_taken = from + found->count;
        if (found->count) cursor->taken_ns = found->end_ns;
        if (found->count || found->is_last) return 1;
        if (to == left) return 0;
    }
}

/*
 * Begins the slot's next segment, if there is one: expands it, and returns its block to the ring after the last.
 * `dead`: the thread writes no more. Returns 1 if there was one, even an empty one, 0, or negative.
 */
static int begin_segment(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead) {
    /* In this order: blocks published before the end are found. */
    int ended = dead || __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == RSC_SLOT_ENDED;
    struct rsc_found_block found;
    if (cursor->rebuilt.under_way) {
        drain->mode->go_on(drain, cursor, slot);
        return 1;
    }
    uint32_t left = cursor->generation == slot->generation ? cursor->asleep_words : 0;
    if (dead)
        left = rsc_drain_count_unpublished(slot->blocks[cursor->consumed % RSC_RING_BLOCKS].words, RSC_BLOCK_WORDS);
    if (!find_block(cursor, slot, left, &found)) return ended ? drain->mode->begin_left(drain, cursor, slot, dead) : 0;
    if (!found.count) {
        rsc_drain_free_block(drain, cursor, slot);
        return 1;
    }
    int status = rsc_drain_ready(drain, cursor, slot);
    cursor->others = 0;
    cursor->is_new = 1;
    cursor->segment = ++drain->segments;
    cursor->begin_ns = found.start_ns;
    cursor->end_ns = found.end_ns;
    if (!status) status = drain->mode->begin(drain, cursor, slot, &found);
    cursor->segment_steps =
        cursor->block_steps ? cursor->block_steps : drain->mode->steps(cursor->records, cursor->count);
    return status < 0 ? status : 1;
}

/* Begins segments until one has records. At most as many as a ring holds, so no program can keep us here. */
static int begin_some(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int dead) {
    int status = 1;
    for (uint32_t i = 0; i <= RSC_RING_BLOCKS * (RSC_BLOCK_MARKS + 1) && !cursor->count && status > 0; i++)
        status = begin_segment(drain, cursor, slot, dead);
    return status < 0 ? status : 0;
}

/* Frees the slot of a thread that ended and whose blocks are all taken. */
static int retire(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    int dead = is_dead(cursor, slot);
    if ((__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != RSC_SLOT_ENDED && !dead) || cursor->count ||
        cursor->rebuilt.under_way || __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) > cursor->consumed)
        return 0;
    int status = 0;
    if (drain->mode->gone && cursor->generation == slot->generation) drain->mode->gone(drain, cursor, slot);
    if (dead) { /* its unpublished words were taken too: the next thread starts after them */
        struct rsc_block *block = &slot->blocks[cursor->consumed % RSC_RING_BLOCKS];
        memset(block->words, 0, cursor->words_taken * sizeof *block->words);
        block->mark_count = cursor->words_taken = cursor->marks_taken = 0;
        slot->published = cursor->consumed;
        slot->open_since_ns = 0;
    }
    if (cursor->generation == slot->generation && cursor->generation && !cursor->is_part)
        status = rsc_drain_add_event(drain, RSC_EVENT_THREAD_END, cursor->number, 0, 0, NULL, 0);
    drain->stats.waits += slot->waits;
    drain->stats.waited_ns += slot->waited_ns;
    drain->stats.unrecorded_instructions += slot->unrecorded_instructions;
    slot->waits = slot->waited_ns = slot->unrecorded_instructions = 0;
    /* The next thread has this generation too until it counts it up: it is neither dead nor asleep. */
    cursor->generation = cursor->dead_generation = 0;
    cursor->asleep_words = 0;
    cursor->asleep_ns = 0;
    __atomic_store_n(&slot->state, RSC_SLOT_FREE, __ATOMIC_RELEASE);
    rsc_drain_tell_freed(drain->ring, slot);
    return status;
}

/* Checks whether a thread that is about to end is gone: every few milliseconds, when it has nothing else to take. */
static void look_after(struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    if (cursor->count || is_dead(cursor, slot) ||
        __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) > cursor->consumed)
        return;
    uint64_t now = rsc_ring_now_ns();
    if (now - cursor->looked_ns < LEAVING_LOOK_NS) return;
    cursor->looked_ns = now;
    if (!rsc_thread_state(slot->pid, slot->tid)) cursor->dead_generation = slot->generation;
}

/* ---- threads that wait where nothing is marked ---- */

/*
 * Whether the thread sleeps, in a call that we do not know of: then its words are complete, except for the last piece
 * of code, which a signal may have interrupted. The others can be taken.
 */
static int fell_asleep(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    const uint64_t *words = slot->blocks[cursor->consumed % RSC_RING_BLOCKS].words;
    if (!drain->mode->whole || rsc_drain_ready(drain, cursor, slot) < 0) return 0;
    uint32_t before = rsc_drain_count_unpublished(words, RSC_BLOCK_WORDS);
    if (rsc_thread_state(slot->pid, slot->tid) != 'S') return 0;
    uint64_t now = rsc_ring_now_ns();
    if (rsc_drain_count_unpublished(words, RSC_BLOCK_WORDS) != before ||
        __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) > cursor->consumed)
        return 0;
    cursor->asleep_words = cursor->words_taken < before
                               ? cursor->words_taken + drain->mode->whole(drain, cursor, words + cursor->words_taken,
                                                                          before - cursor->words_taken)
                               : cursor->words_taken;
    cursor->asleep_ns = now;
    return 1;
}

/* Words of the thread that are not yet taken are not older than this. */
static uint64_t guard_of(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot,
                         uint64_t open_ns) {
    if (!open_ns || !cursor->asleep_ns) return open_ns ? open_ns : NEVER;
    if (rsc_ring_now_ns() - cursor->asleep_ns > ASLEEP_LOOK_NS && !fell_asleep(drain, cursor, slot))
        cursor->asleep_ns = cursor->asleep_words = 0;
    return open_ns > cursor->asleep_ns ? open_ns : cursor->asleep_ns;
}

/* ---- which threads ---- */

/*
 * In 256ths of a nanosecond, in which a core makes several references. They are compared within a run, so 2^55 ns more
 * or less are the same: the machine may have been up for years.
 */
#define SAME_NS ((1ull << 55) - 1)
static uint64_t time_of(const struct rsc_drain_cursor *cursor) {
    return (cursor->start_ns & SAME_NS) * 256 + cursor->passed * cursor->step_ns_256;
}
static uint64_t in_256ths(uint64_t ns) { return ns == NEVER ? NEVER : (ns & SAME_NS) * 256; }

/* Segments that just began may have run at the same time as those of other threads. */
static void note_overlaps(struct rsc_drain *drain) {
    for (uint32_t i = 0; i < drain->ready_count; i++) {
        struct rsc_drain_cursor *new = drain->ready[i];
        if (!new->is_new) continue;
        new->is_new = 0;
        for (uint32_t k = 0; k < drain->ready_count; k++) {
            struct rsc_drain_cursor *other = drain->ready[k];
            if (k == i || (other->is_new && k > i)) continue; /* its own turn comes */
            if (other->begin_ns >= new->end_ns || other->end_ns <= new->begin_ns) continue;
            other->others += new->segment_steps;
            new->others += other->segment_steps;
        }
    }
}

/*
 * Looks for the slot's next segment. Returns 1 if it has one, or 0: then words that are not yet taken are not older
 * than *guard_ns.
 */
static int look_at_slot(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot, int ended,
                        uint64_t *guard_ns) {
    /* Read before looking for a block, so that a block published in between is found. */
    uint64_t open_ns = __atomic_load_n(&slot->open_since_ns, __ATOMIC_ACQUIRE);
    int left = cursor->left_generation && cursor->left_generation == slot->generation; /* it may still write */
    /* Threads of rebuilt programs do not report their end; QEMU's may not come to it before another ends the program. */
    if (ended && !left && (drain->mode->rebuilt || drain->mode == &rsc_drain_qemu))
        cursor->dead_generation = slot->generation;
    int gone = (ended && !left) || is_dead(cursor, slot);
    int status = begin_some(drain, cursor, slot, gone);
    *guard_ns = NEVER;
    if (status < 0 || cursor->count) return status < 0 ? status : 1;
    if (!ended && !gone) *guard_ns = guard_of(drain, cursor, slot, open_ns);
    return 0;
}

/* ---- a program that overwrites the ring ---- */

/* Recording ends, the program runs on; what is in the ring is taken. */
static void end_recording(struct rsc_drain *drain) {
    if (!drain->stats.overwritten) __atomic_store_n(&drain->ring->detached, 1, __ATOMIC_RELEASE);
    drain->stats.overwritten = 1;
}

/*
 * Puts a slot into a state that our writers can have left it in. They publish at most as many blocks as the ring has, and
 * only the parent counts those taken; a free slot has none, and a thread keeps its ids. Otherwise the parent could wait
 * for the program, and the program for the parent.
 */
static void repair(struct rsc_drain *drain, struct rsc_drain_cursor *cursor, struct rsc_slot *slot) {
    const uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    const uint64_t ahead = __atomic_load_n(&slot->published, __ATOMIC_ACQUIRE) - cursor->consumed;
    if (__atomic_load_n(&slot->consumed, __ATOMIC_RELAXED) != cursor->consumed)
        __atomic_store_n(&slot->consumed, cursor->consumed, __ATOMIC_RELEASE);
    if (ahead > RSC_RING_BLOCKS) {
        __atomic_store_n(&slot->published, cursor->consumed + RSC_RING_BLOCKS, __ATOMIC_RELEASE);
        end_recording(drain);
    }
    const int is_freed = state == RSC_SLOT_FREE && (ahead || cursor->count || cursor->rebuilt.under_way) &&
                         __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == RSC_SLOT_FREE; /* not taken meanwhile */
    if (is_freed || state > RSC_SLOT_STARTING) {
        __atomic_store_n(&slot->state, RSC_SLOT_ENDED, __ATOMIC_RELEASE);
        end_recording(drain);
    }
    if (cursor->generation && cursor->generation == slot->generation && cursor->ids != rsc_drain_ids(slot)) {
        cursor->ids = rsc_drain_ids(slot);
        end_recording(drain);
    }
}

/* Whether a thread of its own records into the slot, or has and was not read yet: one that waits elsewhere has nothing. */
static int is_at_work(const struct rsc_drain_cursor *cursor, const struct rsc_slot *slot) {
    return !slot->part && (cursor->count || __atomic_load_n(&slot->open_since_ns, __ATOMIC_RELAXED) ||
                           __atomic_load_n(&slot->published, __ATOMIC_RELAXED) != cursor->consumed);
}

/* Looks at every slot. Returns 1 if a segment began: what was seen of slots before it may be old. */
static int look_at_slots(struct rsc_drain *drain, int ended, uint64_t *guard_ns) {
    *guard_ns = ended ? NEVER : rsc_ring_now_ns(); /* what is not seen from here on, new slots too, comes later */
    uint32_t used = __atomic_load_n(&drain->ring->slots_used, __ATOMIC_ACQUIRE);
    uint32_t threads = 0;
    int began = 0;
    drain->ready_count = 0;
    if (used < drain->slots_seen || used > RSC_RING_SLOTS) {
        used = RSC_RING_SLOTS;
        end_recording(drain);
    }
    drain->slots_seen = used;
    for (uint32_t i = 0; i < used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *slot = &drain->ring->slots[i];
        struct rsc_drain_cursor *cursor = &drain->cursors[i];
        repair(drain, cursor, slot);
        uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
        if (state == RSC_SLOT_FREE) continue;
        threads += (uint32_t)is_at_work(cursor, slot);
        if (!cursor->count) {
            uint64_t guard;
            if (state == RSC_SLOT_LEAVING) look_after(cursor, slot);
            int status = look_at_slot(drain, cursor, slot, ended, &guard);
            if (status < 0 || (!status && (status = retire(drain, cursor, slot)) < 0)) return status;
            if (guard < *guard_ns) *guard_ns = guard;
            if (!cursor->count) continue;
            began = 1;
        }
        cursor->slot = slot;
        drain->ready[drain->ready_count++] = cursor;
    }
    if (threads > drain->at_work) drain->at_work = threads;
    if (rsc_drain_wants_turns(drain)) __atomic_store_n(&drain->ring->takes_turns, 1, __ATOMIC_RELAXED);
    return began;
}

/*
 * Whether the oldest record must wait, as a running thread could still publish an older one. A thread that is later than
 * LATE_AFTER_NS does not hold back what is older than that.
 */
static int held_back(struct rsc_drain *drain, uint64_t time_ns, uint64_t *guard_ns) {
    if (time_ns <= *guard_ns) {
        drain->held_since_ns = 0;
        return 0;
    }
    uint64_t now = rsc_ring_now_ns(), held_ns;
    if (!drain->held_since_ns) drain->held_since_ns = now;
    held_ns = now - drain->held_since_ns;
    if (held_ns < ASLEEP_AFTER_NS) return 1;
    for (uint32_t i = 0; i < drain->ring->slots_used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *slot = &drain->ring->slots[i];
        uint64_t open_ns = __atomic_load_n(&slot->open_since_ns, __ATOMIC_ACQUIRE);
        struct rsc_drain_cursor *cursor = &drain->cursors[i];
        if (cursor->count || !open_ns || open_ns >= time_ns || cursor->asleep_ns) continue;
        fell_asleep(drain, cursor, slot);
    }
    if (held_ns < LATE_AFTER_NS) return 1;
    /* The thread we wait for may be dead: then stop waiting. */
    if (now - drain->looked_ns > LATE_AFTER_NS) {
        drain->looked_ns = now;
        rsc_drain_living(drain);
    }
    if (*guard_ns < now - LATE_AFTER_NS) *guard_ns = now - LATE_AFTER_NS;
    return 0;
}

/* ---- taking ---- */

/* The heap of cursors by time, from `at` downwards. */
static void sift(struct rsc_drain_cursor **heap, uint32_t count, uint32_t at) {
    struct rsc_drain_cursor *moved = heap[at];
    const uint64_t time = time_of(moved);
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && time_of(heap[child + 1]) < time_of(heap[child])) child++;
        if (time_of(heap[child]) >= time) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* The oldest record of the others. */
static uint64_t second(struct rsc_drain_cursor *const *heap, uint32_t count) {
    uint64_t one = count > 1 ? time_of(heap[1]) : NEVER, two = count > 2 ? time_of(heap[2]) : NEVER;
    return one < two ? one : two;
}

static void end_segment(struct rsc_drain *drain, struct rsc_drain_cursor *cursor) {
    cursor->count = 0;
    if (cursor->rebuilt.under_way) return;
    rsc_order_bounds_add(&drain->stats.order, cursor->others, cursor->segment_steps, cursor->end_ns - cursor->begin_ns);
}

/*
 * The oldest thread's segment is taken: goes on with its next one. Not with other threads' new ones: they are not older
 * than the guard.
 */
static int go_on(struct rsc_drain *drain, int ended, uint64_t *guard_ns) {
    struct rsc_drain_cursor *cursor = drain->ready[0];
    struct rsc_slot *slot = cursor->slot;
    uint64_t guard;
    end_segment(drain, cursor);
    int status = look_at_slot(drain, cursor, slot, ended, &guard);
    if (status < 0) return status;
    cursor->slot = slot; /* a new thread may have begun */
    if (guard < *guard_ns) *guard_ns = guard;
    if (!status) drain->ready[0] = drain->ready[--drain->ready_count];
    note_overlaps(drain);
    return 0;
}

/* Takes records of all threads, oldest first, until the batch ends, or a record must wait. */
static int merge(struct rsc_drain *drain, int ended, uint64_t guard_ns) {
    struct rsc_drain_cursor **heap = drain->ready;
    for (uint32_t i = drain->ready_count / 2; i-- > 0;) sift(heap, drain->ready_count, i);
    for (;;) {
        struct rsc_drain_cursor *cursor = heap[0];
        const uint32_t count = drain->ready_count;
        uint64_t time = time_of(cursor), until = second(heap, count), most = 1; /* steps */
        if (in_256ths(guard_ns) < until) until = in_256ths(guard_ns);
        if (until == NEVER || !cursor->step_ns_256) most = UINT64_MAX;
        else if (until > time) most += (until - time) / cursor->step_ns_256;
        const uint32_t before = drain->count;
        int status = drain->mode->take(drain, cursor, cursor->slot, most);
        if (status < 0) return status;
        drain->stats.order.recorded += drain->count - before;
        if (cursor->others || count > 1) rsc_drain_note_conflicts(drain, cursor, before);
        drain->taken_until_ns = time / 256;
        if (cursor->at >= cursor->count && (status = go_on(drain, ended, &guard_ns)) < 0) return status;
        if (!drain->ready_count || rsc_drain_batch_is_full(drain)) return 1;
        sift(heap, drain->ready_count, 0);
        if (time_of(heap[0]) > in_256ths(guard_ns)) return 1;
    }
}

int rsc_drain_take_some(struct rsc_drain *drain, int ended) {
    uint64_t guard_ns, oldest_ns = NEVER;
    int status;
    /*
     * Until nothing began: whatever happened before the records that began was published before them, and is seen by
     * now. Each slot begins one segment at most.
     */
    while ((status = look_at_slots(drain, ended, &guard_ns)) > 0) {
    }
    if (status < 0 || !drain->ready_count) return status;
    note_overlaps(drain);
    for (uint32_t i = 0; i < drain->ready_count; i++)
        if (time_of(drain->ready[i]) / 256 < oldest_ns) oldest_ns = time_of(drain->ready[i]) / 256;
    if (!ended && held_back(drain, oldest_ns, &guard_ns)) return 0;
    return merge(drain, ended, guard_ns);
}
