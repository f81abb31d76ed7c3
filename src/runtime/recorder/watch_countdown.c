/*
 * watch_countdown.c - the countdown of rebuilt code as sampler and clock: see
 * watch_thread.h.
 *
 * Invariant, whenever rebuilt code runs outside a window: position = reach - counter,
 * counting the current piece as done. The access at position `next_use` is the next sample;
 * the countdown ends there, or earlier (TELL_MOST) to report the position: a thread that is
 * killed has lost less than that.
 * Gaps are geometric, to avoid resonance with the program's periods; their mean is
 * fixed, or adjusted every few samples to reach the requested rate, and reported with
 * each sample: a sample stands for the mean gap at its time.
 *
 * Handlers of the program have their own count, because the interrupted code may have
 * the countdown in a register: it is added when they return, and they take no samples.
 * One that is left by longjmp() is noticed when its countdown ends.
 */
#include "runtime/trap/watch_thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NEVER ((int64_t)1 << 62)
#define TELL_MOST (1 << 18) /* accesses between reports of the position */
#define PERIOD_FIRST 16384u  /* accesses, until a thread's speed is known */

static struct rsc_ring *watched_ring;

/* Accesses between two samples: geometric with mean `period`. */
static uint64_t next_gap(void) { return rsc_rng_geometric(&rsc_watch_local.rng, (double)rsc_watch_local.period) - 1; }

static uint64_t position(void) { return rsc_watch_local.reach - (uint64_t)rsc_asm_thread.counter; }

/* The same, also in a window and in a handler. */
static uint64_t position_now(void) {
    const struct rsc_watch_local *local = &rsc_watch_local;
    if (local->depth) return local->outer_position + (uint64_t)(RSC_ASM_CAP - rsc_asm_thread.counter);
    if (!local->in_window) return position();
    const struct rsc_asm_block *block = (const void *)(uintptr_t)local->thread->words[0];
    return local->thread->window_position + (block ? rsc_asm_block_weight(block) : 0);
}

/* ---- threads ---- */

/* A thread without a sample is counted only. */
static void tell_unsampled(uint64_t now) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (!rsc_watch_area) return;
    __atomic_fetch_add(&rsc_watch_area->unsampled_accesses, now - local->told, __ATOMIC_RELAXED);
    if (!local->is_told) __atomic_fetch_add(&rsc_watch_area->unsampled_threads, 1, __ATOMIC_RELAXED);
    local->told = now;
    local->is_told = 1;
}

static void tell(uint64_t now) {
    if (rsc_watch_local.thread) rsc_watch_tell_position(rsc_watch_local.thread, now);
    else tell_unsampled(now);
}

void rsc_watch_tell(void) {
    if (rsc_watch_local.started && !rsc_watch_local.over && !rsc_asm_local.busy) tell(position_now());
}

/* For its first sample. NULL: not available. */
static struct rsc_watch_thread *open_thread(void) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (local->is_told) {
        __atomic_fetch_sub(&rsc_watch_area->unsampled_accesses, local->told, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&rsc_watch_area->unsampled_threads, 1, __ATOMIC_RELAXED);
        local->told = local->is_told = 0;
    }
    return rsc_watch_open_thread();
}

/* Stops sampling; accesses from now on are not counted. */
static void end_watching(void) {
    struct rsc_watch_local *local = &rsc_watch_local;
    local->over = 1;
    local->in_window = 0;
    rsc_asm_thread.next = rsc_asm_thread.limit = NULL;
    rsc_asm_thread.counter = NEVER;
}

/* ---- samples ---- */

/* The first access of the recorded piece, from the n-th on, to anything watched around a word; UINT32_MAX: none. */
static uint32_t touches_watched(const struct rsc_watch_thread *thread, uint32_t n, uint64_t word,
                                struct rsc_watch_access *access) {
    uint64_t watched[RSC_WATCH_SHAPE_WORDS];
    uint32_t count = rsc_watch_shape_words((enum rsc_watch_shape)thread->shape, word >> 3, watched), first = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct rsc_watch_access one;
        uint32_t at = rsc_watch_window_touches(thread->words, n, watched[i] << 3, &one);
        if (at >= first) continue;
        first = at;
        *access = one;
    }
    return first;
}

/* The recorded piece: takes its sample, and what follows it in the piece. Returns the position after the piece. */
static uint64_t close_window(struct rsc_watch_thread *thread) {
    struct rsc_watch_local *local = &rsc_watch_local;
    const uint64_t *words = thread->words;
    const struct rsc_asm_block *block = (const void *)(uintptr_t)words[0];
    uint32_t weight = block ? rsc_asm_block_weight(block) : 0;
    uint64_t n = thread->window_use - thread->window_position, end = thread->window_position + weight, word;
    struct rsc_watch_access access = {0};
    local->in_window = 0;
    if (block && n < weight) rsc_watch_window_access(words, (uint32_t)n, rsc_rng_u64(&local->rng) >> 1, &access);
    if (access.bytes && rsc_watch_can_watch(thread, access.address)) {
        struct rsc_watch_use use = {thread->window_use,
                                    access.pc,
                                    access.address,
                                    access.bytes,
                                    weight,
                                    rsc_watch_window_words(words),
                                    access.writes ? RSC_WATCH_WRITE : 0,
                                    0};
        uint32_t reg = rsc_watch_take_sample(thread, &use, &word);
        uint32_t again = touches_watched(thread, (uint32_t)n + 1, word, &access);
        if (reg != RSC_WATCH_NO_REGISTER && again != UINT32_MAX)
            rsc_watch_put_resolved(thread, reg, thread->window_position + again, access.pc, thread->frames,
                                   thread->frame_count);
        else rsc_watch_word(thread, reg, word, end);
    } else {
        thread->stream->void_samples++;
    }
    uint32_t used = (uint32_t)(rsc_asm_thread.next - thread->words);
    if (used > RSC_ASM_LEAST_ROOM) used = RSC_ASM_LEAST_ROOM;
    for (uint32_t i = 0; i < used; i++) thread->words[i] = 0; /* unwritten words must be zero */
    rsc_watch_adjust_period(thread);
    return end;
}

void rsc_watch_thread_end(void) {
    struct rsc_watch_local *local = &rsc_watch_local;
    struct rsc_watch_thread *thread = local->thread;
    if (!local->started || local->over) return;
    rsc_asm_local.busy = 1;
    uint64_t now = local->in_window && !local->depth ? close_window(thread) : position_now();
    if (thread) rsc_watch_close_thread(thread, now);
    else tell_unsampled(now);
    end_watching();
    rsc_asm_local.busy = 0;
}

/* Position of the next sample; not before `from`, which would be in the past. */
static void choose_next(uint64_t from) {
    uint64_t next = rsc_watch_local.next_use + 1 + next_gap();
    rsc_watch_local.next_use = next < from ? from : next;
}

/* Records the next piece, `weight` accesses from `at` on. */
static void open_window(struct rsc_watch_thread *thread, uint64_t at) {
    struct rsc_watch_local *local = &rsc_watch_local;
    thread->window_position = at;
    thread->window_use = local->next_use;
    local->in_window = 1;
    rsc_asm_thread.next = thread->words;
    rsc_asm_thread.limit = thread->words + 1; /* one piece: after it there is no room */
    rsc_asm_thread.run = 1;
    rsc_asm_thread.counter = RSC_ASM_RECORD;
}

/* Fast from here on; the current piece has been counted. */
static void run_on(uint64_t done) {
    struct rsc_watch_local *local = &rsc_watch_local;
    const int64_t left = (int64_t)(local->next_use - done);
    rsc_asm_thread.next = rsc_asm_thread.limit = NULL;
    rsc_asm_thread.counter = left < TELL_MOST ? left : TELL_MOST;
    local->reach = done + (uint64_t)rsc_asm_thread.counter;
}

static void start_thread(uint32_t weight) {
    struct rsc_watch_local *local = &rsc_watch_local;
    local->started = 1;
    rsc_rng_seed(&local->rng, rsc_watch_area->seed,
                 1 + (uint64_t)rsc_asm_image() * 0x100000001ull + (uint64_t)syscall(SYS_gettid));
    local->period = rsc_watch_area->period ? rsc_watch_area->period : PERIOD_FIRST;
    local->next_use = next_gap();
    rsc_asm_watch_begins();
    if (local->next_use < weight) local->next_use = weight;
    run_on(weight);
}

static void unwind_use(struct rsc_watch_thread *thread, const void *back) {
    thread->frame_count = rsc_watch_unwind(thread, (uintptr_t)back, (uintptr_t)__builtin_frame_address(0),
                                           thread->frames, &thread->frames_cut);
}

/* ---- handlers of the program ---- */

static int is_on_signal_stack(void) {
    stack_t stack;
    return syscall(SYS_sigaltstack, NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
}

/*
 * Whether the handler that counts was left without returning. Then the running code is above its frame on the
 * stack. Both are addresses of the program: our own frames here may be larger than the kernel's signal frame.
 */
static int handler_was_left(const void *const *call) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (is_on_signal_stack() != local->handler_on_stack) return 1;
    return (uintptr_t)call > local->handler_frame;
}

void rsc_watch_handler_enter(struct rsc_asm_interrupted *before) {
    struct rsc_watch_local *local = &rsc_watch_local;
    before->thread = rsc_asm_thread;
    before->local.busy = rsc_asm_local.busy;
    before->watch_frame = local->handler_frame;
    before->watch_on_stack = local->handler_on_stack;
    rsc_asm_local.busy = 0;
    /* In a window, or while closing one, there is no countdown: the position is where the window began. */
    if (local->depth++ == 0)
        local->outer_position =
            rsc_asm_thread.counter > RSC_ASM_RECORD / 2 || !local->thread ? position() : local->thread->window_position;
    local->handler_frame = (uintptr_t)before;
    local->handler_on_stack = (uint8_t)is_on_signal_stack();
    rsc_asm_thread = (struct rsc_asm_thread){.counter = RSC_ASM_CAP};
}

/* Accesses of a handler: the interrupted code's next sample is as far away as before. */
static void count_handler(void) {
    const uint64_t count = (uint64_t)(RSC_ASM_CAP - rsc_asm_thread.counter);
    rsc_watch_local.reach += count;
    rsc_watch_local.next_use += count;
}

void rsc_watch_handler_leave(const struct rsc_asm_interrupted *before) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (!local->depth) return; /* left by longjmp() once, and now from within */
    count_handler();
    local->depth--;
    local->handler_frame = before->watch_frame;
    local->handler_on_stack = before->watch_on_stack;
    rsc_asm_local.busy = before->local.busy;
    rsc_asm_thread = before->thread;
}

/* Its countdown has ended: it continues, or it was left some time ago and the program runs again. */
static void room_in_handler(const void *const *call) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (!handler_was_left(call)) {
        count_handler();
        local->outer_position += (uint64_t)(RSC_ASM_CAP - rsc_asm_thread.counter);
        rsc_asm_thread.counter = RSC_ASM_CAP;
        return;
    }
    uint64_t done = local->outer_position + (uint64_t)(RSC_ASM_CAP - rsc_asm_thread.counter);
    local->depth = local->in_window = 0;
    rsc_asm_local.busy = 0;
    local->next_use = done;
    choose_next(done);
    run_on(done);
}

/* ---- the countdown has ended, or the window is full ---- */

static void room(const void *back) {
    struct rsc_watch_local *local = &rsc_watch_local;
    struct rsc_watch_thread *thread = local->thread;
    int64_t counter = rsc_asm_thread.counter;
    uint32_t weight = rsc_asm_weight_behind(back);
    if (!local->started) {
        start_thread(weight);
        return;
    }
    uint64_t at =
        local->reach - (uint64_t)counter - weight; /* position of the first access of the piece that runs now */
    if (!local->in_window && local->next_use >= at + weight) {
        tell(at);
        run_on(at + weight);
        return;
    }
    uint64_t began = rsc_watch_cpu_ns();
    if (!thread && !(thread = open_thread())) {
        end_watching();
        return;
    }
    if (local->in_window) {
        at = close_window(thread);
        choose_next(at);
    } else if (local->next_use < at) {
        local->next_use = at; /* it would never be reached */
    }
    if (local->next_use < at + weight) {
        unwind_use(thread, back);
        open_window(thread, at);
    } else {
        run_on(at + weight);
    }
    thread->stream->busy_ns += rsc_watch_cpu_ns() - began;
}

void rsc_watch_room(const void *const *call) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (local->depth) {
        room_in_handler(call);
        return;
    }
    if (local->over || !rsc_watch_area || rsc_watch_area->off || watched_ring->detached) {
        if (!local->over) rsc_watch_thread_end();
        end_watching();
        return;
    }
    if (rsc_asm_local.busy) { /* a handler that did not go through ours */
        rsc_asm_thread.counter = RSC_ASM_CAP;
        return;
    }
    rsc_asm_local.busy = 1;
    room(*call);
    rsc_asm_local.busy = 0;
}

/* ---- accesses of libc functions ---- */

#define RANGE_STEP 64u /* bytes: one access per line, as recorded by asm_strings.c */

static uint64_t lines_of(uintptr_t at, size_t bytes) {
    return at && bytes ? (at + bytes - 1) / RANGE_STEP - at / RANGE_STEP + 1 : 0;
}

/* The n-th access of two alternating ranges: its start and length. */
static void nth_of_ranges(uintptr_t first, uintptr_t second, size_t bytes, uint64_t n, int *is_second,
                          struct rsc_watch_access *access) {
    uint64_t one = lines_of(first, bytes), other = lines_of(second, bytes), both = one < other ? one : other;
    *is_second = n < 2 * both ? (int)(n & 1) : other > one;
    uint64_t line = n < 2 * both ? n / 2 : n - both;
    uintptr_t start = *is_second ? second : first, from = line ? (start / RANGE_STEP + line) * RANGE_STEP : start;
    uintptr_t end = (from / RANGE_STEP + 1) * RANGE_STEP;
    access->address = from;
    access->bytes = (end < start + bytes ? end : start + bytes) - from;
}

void rsc_watch_range_begins(uintptr_t first, uintptr_t second, size_t bytes) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (rsc_asm_local.busy || !local->started || local->over || local->depth) return;
    if (local->in_window) { /* an access by libc may be the reuse */
        rsc_asm_local.busy = 1;
        uint64_t at = close_window(local->thread);
        choose_next(at);
        run_on(at);
        rsc_asm_local.busy = 0;
    }
    local->range_first = first;
    local->range_second = second;
    local->range_bytes = bytes;
}

/* The n-th access by libc is the sample. */
static void sample_range(struct rsc_watch_thread *thread, uintptr_t first, uintptr_t second, size_t bytes, uint64_t n,
                         uint64_t pc, int writes) {
    struct rsc_watch_access access = {0};
    int is_second;
    uint64_t word;
    nth_of_ranges(first, second, bytes, n, &is_second, &access);
    struct rsc_watch_use use = {rsc_watch_local.next_use,
                                pc,
                                access.address,
                                access.bytes,
                                0,
                                0,
                                RSC_WATCH_RANGE | (writes >> is_second & 1 ? RSC_WATCH_WRITE : 0),
                                0};
    if (!rsc_watch_can_watch(thread, access.address)) {
        thread->stream->void_samples++;
        return;
    }
    uint32_t reg = rsc_watch_take_sample(thread, &use, &word);
    rsc_watch_word(thread, reg, word, use.position);
}

/* Counts the accesses, some of which may be samples. */
void rsc_watch_range_ends(uintptr_t first, uintptr_t second, size_t bytes, uint64_t pc, int writes) {
    struct rsc_watch_local *local = &rsc_watch_local;
    uint64_t count = lines_of(first, bytes) + lines_of(second, bytes);
    if (rsc_asm_local.busy) return; /* nested: the unwinder in a trap */
    local->range_bytes = 0;
    if (!local->started || local->over || !count) return;
    uint64_t words = rsc_watch_words_of(first, bytes) + (second ? rsc_watch_words_of(second, bytes) : 0),
             at = position();
    if (local->depth || local->in_window) {
        if (local->depth) rsc_asm_thread.counter -= (int64_t)count;
        local->range_accesses += local->depth ? count : 0;
        local->range_words += local->depth ? words : 0;
        return;
    }
    if (local->next_use < at + count) {
        rsc_asm_local.busy = 1;
        struct rsc_watch_thread *thread = local->thread ? local->thread : open_thread();
        if (!thread) {
            end_watching();
            rsc_asm_local.busy = 0;
            return;
        }
        uint64_t began = rsc_watch_cpu_ns(), accesses_before = local->range_accesses, words_before = local->range_words;
        unwind_use(thread, (const void *)(uintptr_t)(pc + 1));
        for (; local->next_use < at + count; choose_next(at)) {
            uint64_t n = local->next_use < at ? 0 : local->next_use - at;
            local->range_accesses = accesses_before + n;
            local->range_words = words_before + n * words / count;
            sample_range(thread, first, second, bytes, n, pc, writes);
            rsc_watch_adjust_period(thread);
        }
        local->range_accesses = accesses_before;
        local->range_words = words_before;
        thread->stream->busy_ns += rsc_watch_cpu_ns() - began;
        rsc_asm_local.busy = 0;
    }
    local->range_accesses += count;
    local->range_words += words;
    if (local->reach < at + count) tell(at + count);
    run_on(at + count);
}

/* Index of a word in the current ranges. */
static uint64_t range_position(uint64_t word) {
    const struct rsc_watch_local *local = &rsc_watch_local;
    for (int second = 0; second < 2; second++) {
        uintptr_t start = second ? local->range_second : local->range_first;
        if (!start || word + 8 <= start || word >= start + local->range_bytes) continue;
        uint64_t line = word > start ? word / RANGE_STEP - start / RANGE_STEP : 0;
        return position() + (local->range_first && local->range_second ? 2 * line + (uint64_t)second : line);
    }
    return position();
}

/* ---- the trap of a reuse: the countdown at that point ---- */

uint32_t rsc_watch_place_hit(struct rsc_watch_thread *thread, uint64_t word, uint64_t *record) {
    const struct rsc_watch_local *local = &rsc_watch_local;
    uint64_t pc = record[RSC_WATCHED_HIT_PC];
    record[RSC_WATCHED_HIT_REACH] = local->reach;
    if (local->depth)
        record[RSC_WATCHED_HIT_REACH] = local->outer_position + RSC_ASM_CAP; /* a handler counts on from there */
    record[RSC_WATCHED_HIT_COUNTER] = (uint64_t)rsc_asm_thread.counter;
    record[RSC_WATCHED_HIT_RANGE_ACCESSES] = local->range_accesses;
    record[RSC_WATCHED_HIT_RANGE_WORDS] = local->range_words;
    if (local->depth) return 0;
    if (local->in_window) {
        /* In the recording copy: its words show which access it was. */
        const struct rsc_asm_block *block = (const void *)(uintptr_t)thread->words[0];
        struct rsc_watch_access access;
        uint32_t n = rsc_watch_window_touches(thread->words, 0, word, &access);
        /* Otherwise it is in code that the piece called. */
        record[RSC_WATCHED_HIT_REACH] = thread->window_position + (n != UINT32_MAX ? n
                                                                   : block         ? rsc_asm_block_weight(block)
                                                                                   : 0);
        record[RSC_WATCHED_HIT_PC] = n != UINT32_MAX ? access.pc : pc - 1;
        return RSC_WATCH_RESOLVED;
    }
    if (!local->range_bytes) return 0;
    uint64_t done = range_position(word) - position();
    record[RSC_WATCHED_HIT_REACH] = position() + done;
    record[RSC_WATCHED_HIT_RANGE_ACCESSES] += done;
    record[RSC_WATCHED_HIT_RANGE_WORDS] += 8 * done; /* of lines of 64 bytes; fewer at its ends */
    record[RSC_WATCHED_HIT_PC] = pc - 1;
    return RSC_WATCH_RESOLVED;
}

/* ---- the process ---- */

void rsc_watch_start(struct rsc_ring *ring) {
    watched_ring = ring;
    rsc_watch_area = &ring->watch;
    if (rsc_watch_events_start() < 0) rsc_watch_turn_off(RSC_WATCH_SIGNAL_TAKEN);
}

void rsc_watch_fork(struct rsc_ring *ring) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (local->thread) rsc_watch_forget_thread(local->thread);
    uint8_t blocked = local->trap_blocked;
    *local = (struct rsc_watch_local){.trap_blocked = blocked};
    watched_ring = ring;
    rsc_watch_area = ring ? &ring->watch : NULL;
}
