/*
 * turn_counts.c - see turn_counts.h.
 *
 * With T threads, each drawn anew after bursts of N accesses on average, a turn is T / (T - 1) bursts long, since the
 * same thread may be drawn again. So N is the mean turn times (T - 1) / T; independent accesses have N = 1, and threads
 * in lockstep have turns of one access.
 */
#include "profile/turn_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/trace.h>

#include "base/grow.h"
#include "base/word_bits.h"

#define THREAD_SHIFT 40 /* of rsc_meta_thread() */

static void end_window(struct rsc_turn_counter *counter) {
    struct rsc_turns *sum = &counter->sum;
    sum->accesses += counter->accesses;
    sum->turns += counter->turns;
    if (counter->threads > 1) {
        sum->mixed += counter->accesses;
        sum->mixed_turns += counter->turns;
        sum->threads += (uint64_t)counter->threads * counter->accesses;
        sum->regular += counter->regular;
    }
    counter->window++;
    counter->accesses = counter->threads = 0;
    counter->turns = counter->regular = 0;
}

static struct rsc_turn_thread *find_thread(struct rsc_turn_counter *counter, uint32_t number) {
    uint32_t before = counter->thread_room;
    if (number >= before) {
        if (RSC_GROW(counter->thread, counter->thread_room, (size_t)number + 1)) return NULL;
        memset(counter->thread + before, 0, (counter->thread_room - before) * sizeof *counter->thread);
    }
    return &counter->thread[number];
}

/* The first access from `at` on of another thread. */
static uint32_t turn_end(const uint64_t *meta, uint32_t at, uint32_t count) {
    uint64_t thread = meta[at] >> THREAD_SHIFT;
    while (at < count && meta[at] >> THREAD_SHIFT == thread) at++;
    return at;
}

static int add_turn(struct rsc_turn_counter *counter, uint32_t number, uint32_t length) {
    struct rsc_turn_thread *thread = find_thread(counter, number);
    if (!thread) return RSC_ENOMEM;
    if (!counter->sum.turns && !counter->turns) counter->window = 1;
    if (number != counter->now || (!counter->sum.turns && !counter->turns)) {
        uint64_t turn = counter->sum.turns + ++counter->turns,
                 waited = thread->last_turn ? turn - thread->last_turn : 0;
        counter->regular += waited && waited == counter->waited;
        counter->waited = waited;
        thread->last_turn = turn;
        counter->now = number;
    }
    thread->accesses += length;
    while (length) {
        uint32_t room = RSC_TURNS_WINDOW - counter->accesses, part = length < room ? length : room;
        if (thread->window != counter->window) {
            thread->window = counter->window;
            counter->threads++;
        }
        counter->accesses += part;
        length -= part;
        if (counter->accesses == RSC_TURNS_WINDOW) end_window(counter);
    }
    return 0;
}

int rsc_turns_count(struct rsc_turn_counter *counter, const uint64_t *meta, uint32_t count) {
    const int is_one = count && !(rsc_word_bits(meta, count).differ >> THREAD_SHIFT);
    int status = 0;
    for (uint32_t at = 0; at < count && !status;) {
        uint32_t end = is_one ? count : turn_end(meta, at, count);
        status = add_turn(counter, rsc_meta_thread(meta[at]), end - at);
        at = end;
    }
    return status;
}

void rsc_turns_finish(struct rsc_turn_counter *counter, struct rsc_turns *out) {
    uint64_t most = 0;
    end_window(counter);
    for (uint32_t i = 0; i < counter->thread_room; i++)
        if (counter->thread[i].accesses > most) most = counter->thread[i].accesses;
    counter->sum.others = counter->sum.accesses - most;
    *out = counter->sum;
    free(counter->thread);
    memset(counter, 0, sizeof *counter);
}

int rsc_turns_nearest(const struct rsc_turns *turns, double *threads, char *text, size_t text_bytes) {
    if (!turns->turns || !turns->others) return -1;
    double at_once = turns->mixed ? (double)turns->threads / (double)turns->mixed : 2, length;
    if (turns->mixed >= turns->others / 2 && turns->mixed_turns) {
        length = (double)turns->mixed / (double)turns->mixed_turns;
    } else { /* turns are longer than windows: all of the work that was divided */
        double divided = 2 * (double)turns->others;
        if (divided > (double)turns->accesses) divided = (double)turns->accesses;
        length = divided / (double)turns->turns;
    }
    *threads = at_once;
    double share = (double)turns->regular / (double)(turns->mixed_turns ? turns->mixed_turns : 1);
    double burst = length * (at_once - 1) / at_once;
    /* Two threads always alternate: there the length alone decides, which is 2 on average if they are independent. */
    if (length < 1.5 && share > 0.8) snprintf(text, text_bytes, "lockstep");
    else if (burst < 1.5) snprintf(text, text_bytes, "iid");
    else snprintf(text, text_bytes, "bursty:%.0f", burst);
    return 0;
}
