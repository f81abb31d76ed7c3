/*
 * watch_thread.h - inside a rebuilt program that watches its own reuses (`reusescope run
 * --with perf`): the interface between its parts, and to the recorder.
 *
 *   watch_countdown.c  chooses the use: geometric gaps, the exact access; the clock
 *   watch_stream.c     records for the parent, registers for samples, the period
 *   watch_window.c     finds the addresses that the recorded piece touched
 *   watch_events.c     debug registers, through perf_event_open(); the trap of the reuse
 *   watch_signals.c    the program's own use of SIGTRAP, signal masks and stacks
 *   process_ends.c     _exit(), exec and abort()
 *
 * How a sample is taken. The countdown goes below zero at the start of a piece, and
 * rsc_asm_room() is called. It lets only this piece be recorded, into private memory of
 * the thread (the *window*), which has room for one. At the next piece it is called
 * again, finds the sampled access among the recorded ones, and arms a debug register
 * with its word. If a later access of the same piece is the reuse, that is detected here
 * too.
 *
 * All per-thread state is touched only by the thread itself, including its signal
 * handlers; nothing allocates or takes a lock.
 */
#ifndef RSC_RUNTIME_TRAP_WATCH_THREAD_H
#define RSC_RUNTIME_TRAP_WATCH_THREAD_H

#include "runtime/recorder/asm_runtime.h"
#include "runtime/ring/watch_ring.h"
#include "runtime/watch/watch_period.h"
#include "runtime/watch/watch_shapes.h"
#include "runtime/watch/watch_slots.h"

#define RSC_HIDDEN __attribute__((visibility("hidden")))

struct rsc_watch_register {
    int fd;            /* -1: no event yet */
    uint32_t generation; /* of what is armed: identifies an old trap */
    uint64_t address;  /* of the word */
    uint8_t armed, paused;
};

/* A thread that has taken a sample: its own mapping of about 100 KiB, of which it touches some pages. */
struct rsc_watch_thread {
    struct rsc_watch_stream *stream;
    struct rsc_watch_register registers[RSC_WATCH_REGISTERS];
    uint32_t register_count;
    struct rsc_watch_slots
        slots; /* which sample gets a register: one slot per register, or one for all when lines are watched */
    uint32_t slot_count, slot_registers; /* slot_registers: registers per slot, 1 or all */
    uint32_t shape; /* enum rsc_watch_shape of the sample being taken */
    struct rsc_watch_slot slot[RSC_WATCH_REGISTERS];
    size_t bytes; /* of the mapping */
    size_t stack_bytes; /* of `stack` */
    int own_stack; /* the thread's signal stack is ours */
    struct rsc_watch_pace pace;
    /* The window: */
    uint64_t window_position; /* position of the first access of the recorded piece */
    uint64_t window_use; /* position of the access to be sampled */
    uint64_t frames[RSC_WATCH_FRAMES];
    uint32_t frame_count, frames_cut;
    uint64_t words[RSC_ASM_LEAST_ROOM + 8];
    uint8_t stack[] __attribute__((aligned(64)));
};

/* Per thread, in thread-local storage. */
struct rsc_watch_local {
    struct rsc_watch_thread *thread; /* NULL: no sample yet */
    uint64_t reach; /* position at which the countdown is zero: position = reach - counter */
    uint64_t next_use; /* position of the next sample; not before `reach` */
    uint64_t told; /* of a thread without a sample: its accesses in the area's unsampled_accesses */
    uint64_t period; /* accesses between samples */
    struct rsc_rng rng;
    /* While a handler of the program runs, which has its own count: */
    uint64_t outer_position; /* of the interrupted code */
    uintptr_t handler_frame;
    /* A running libc function that touches ranges; 0 bytes: none */
    uintptr_t range_first, range_second;
    uint64_t range_accesses, range_words; /* so far */
    size_t range_bytes;
    uint8_t started, over, in_window, depth, handler_on_stack, is_told;
    uint8_t trap_blocked; /* the program thinks that it has blocked SIGTRAP */
};
extern __thread struct rsc_watch_local rsc_watch_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The process: NULL if it does not watch. */
extern struct rsc_watch_area *rsc_watch_area RSC_HIDDEN;
static inline int rsc_watch_is_on(void) { return __builtin_expect(rsc_watch_area != NULL, 0); }

/* ---- for asm_runtime.c and asm_start.c ---- */

void rsc_watch_start(struct rsc_ring *ring) RSC_HIDDEN;
void rsc_watch_fork(struct rsc_ring *ring) RSC_HIDDEN; /* in the child; NULL: not followed */
void rsc_watch_room(const void *const *call) RSC_HIDDEN; /* like rsc_asm_room_in_c() (asm_runtime.h) */
void rsc_watch_thread_end(void) RSC_HIDDEN;
void rsc_watch_handler_enter(struct rsc_asm_interrupted *before) RSC_HIDDEN;
void rsc_watch_handler_leave(const struct rsc_asm_interrupted *before) RSC_HIDDEN;

/* Where the thread is, for a process that may end now. */
void rsc_watch_tell(void) RSC_HIDDEN;

/*
 * For process_ends.c, provided by either runtime: the process is about to become another program; it could not; it calls
 * abort(); it ends.
 */
void rsc_process_execs(void) RSC_HIDDEN;
void rsc_process_stays(void) RSC_HIDDEN;
void rsc_process_aborts(void) RSC_HIDDEN;
void rsc_process_ends(void) RSC_HIDDEN;

/* Provided by asm_start.c, which has the process's state. */
void rsc_asm_watch_begins(void)
    RSC_HIDDEN; /* the first sample of a thread: its end must be reported, and the parent needs its maps */
uint32_t rsc_asm_image(void) RSC_HIDDEN;

/*
 * Around libc functions, which touch `bytes` from `first` on and, alternating, from `second` (0: nothing):
 * before, and when done. writes: bit 0 the first is written, bit 1 the second.
 */
void rsc_watch_range_begins(uintptr_t first, uintptr_t second, size_t bytes) RSC_HIDDEN;
void rsc_watch_range_ends(uintptr_t first, uintptr_t second, size_t bytes, uint64_t pc, int writes) RSC_HIDDEN;

/* ---- between the parts ---- */

/* One access of a piece, and whether it was made. */
struct rsc_watch_access {
    uint64_t address, pc;
    uint64_t bytes; /* 0: not made */
    int writes;
};

/*
 * The n-th access, as the countdown counts them, of the piece executed in `words` (words[0] is its table's address).
 * `pick` chooses among elements.
 */
void rsc_watch_window_access(const uint64_t *words, uint32_t n, uint64_t pick,
                             struct rsc_watch_access *access) RSC_HIDDEN;
/* The first from the n-th on that touches a word; UINT32_MAX: none. */
uint32_t rsc_watch_window_touches(const uint64_t *words, uint32_t n, uint64_t word,
                                  struct rsc_watch_access *access) RSC_HIDDEN;
/* Words that all of them touch. */
uint64_t rsc_watch_window_words(const uint64_t *words) RSC_HIDDEN;

static inline uint64_t rsc_watch_words_of(uint64_t address, uint64_t bytes) {
    return bytes ? ((address + bytes - 1) >> 3) - (address >> 3) + 1 : 0;
}

/* Events. Arming returns 0, or -1 if no register is available. */
int rsc_watch_events_start(void) RSC_HIDDEN;
void rsc_watch_events_open(struct rsc_watch_thread *thread) RSC_HIDDEN;
int rsc_watch_arm(struct rsc_watch_thread *thread, uint32_t number, uint64_t word) RSC_HIDDEN;
void rsc_watch_disarm(struct rsc_watch_thread *thread, uint32_t number) RSC_HIDDEN;
void rsc_watch_disarm_slot(struct rsc_watch_thread *thread,
                           uint32_t slot) RSC_HIDDEN; /* watch_stream.c; all its armed registers */
void rsc_watch_events_close(struct rsc_watch_thread *thread, int in_child) RSC_HIDDEN;

/* Return addresses of the callers of the frame whose pc is, or whose call returns to, `pc`. */
uint32_t rsc_watch_unwind(struct rsc_watch_thread *thread, uint64_t pc, uint64_t stack, uint64_t *frames,
                          uint32_t *cut) RSC_HIDDEN;

/* ---- watch_stream.c ---- */

/*
 * Sets up what a thread needs from its first sample on: a stream, registers, a stack for the handler. NULL: not
 * available.
 */
struct rsc_watch_thread *rsc_watch_open_thread(void) RSC_HIDDEN;
/* Ends all watches, at position `now`, and frees what the thread had. */
void rsc_watch_close_thread(struct rsc_watch_thread *thread, uint64_t now) RSC_HIDDEN;
/* The parent knows the thread's position if it ends without rsc_watch_close_thread(). */
void rsc_watch_tell_position(struct rsc_watch_thread *thread, uint64_t now) RSC_HIDDEN;
/* In a forked child: releases what the forking thread had. */
void rsc_watch_forget_thread(struct rsc_watch_thread *thread) RSC_HIDDEN;

struct rsc_watch_use {
    uint64_t position, pc, address, bytes;
    uint32_t piece_accesses;
    uint64_t piece_words;
    uint32_t flags;
    uint64_t cost; /* rsc_watch_cost() */
};

/* Writes the sample of one word of an access, and may give it a slot: returns that, or RSC_WATCH_NO_REGISTER. */
uint32_t rsc_watch_take_sample(struct rsc_watch_thread *thread, const struct rsc_watch_use *use,
                               uint64_t *word) RSC_HIDDEN;
/* Arms the register (none: does nothing); if that fails, reports a failed end at position `at`. */
void rsc_watch_word(struct rsc_watch_thread *thread, uint32_t reg, uint64_t word, uint64_t at) RSC_HIDDEN;
int rsc_watch_can_watch(const struct rsc_watch_thread *thread, uint64_t word) RSC_HIDDEN;
void rsc_watch_put_resolved(struct rsc_watch_thread *thread, uint32_t reg, uint64_t at, uint64_t pc,
                            const uint64_t *frames, uint32_t frame_count) RSC_HIDDEN;
void rsc_watch_adjust_period(struct rsc_watch_thread *thread) RSC_HIDDEN;

/*
 * Writes the place of the trapped access into a HIT's REACH, COUNTER, PC and RANGE words (PC is
 * after the instruction so far); returns flags: with RSC_WATCH_RESOLVED, position and pc are the
 * access's own. In watch_countdown.c or perf_preload.c.
 */
uint32_t rsc_watch_place_hit(struct rsc_watch_thread *thread, uint64_t word, uint64_t *record) RSC_HIDDEN;

/* Writes a record of `count` words with `frames` after them; dropped if there is no room. */
void rsc_watch_put(struct rsc_watch_thread *thread, const uint64_t *words, uint32_t count, const uint64_t *frames,
                   uint32_t frame_count) RSC_HIDDEN;

/* Processor time of the thread. */
uint64_t rsc_watch_cpu_ns(void) RSC_HIDDEN;
void rsc_watch_turn_off(enum rsc_watch_off why) RSC_HIDDEN;

/* Signals. */
struct sigaction;
extern int rsc_watch_sample_signal RSC_HIDDEN; /* signal of the samples; 0: none */
void rsc_watch_foreign_trap(int number, void *info, void *context) RSC_HIDDEN;
/* Around sigwait() and its like; in asm_waits.c, and nowhere in the preload for the PMU. */
void rsc_watch_signal_awaited(void) RSC_HIDDEN __attribute__((weak));
void rsc_watch_signal_came(void) RSC_HIDDEN __attribute__((weak));
/* The signal of timers of ours (asm_samples.c; 0: none), and whether a siginfo_t is of one: the program must not see it. */
int rsc_watch_timer_signal(void) RSC_HIDDEN __attribute__((weak));
int rsc_watch_timer_came(const void *info) RSC_HIDDEN __attribute__((weak));
int rsc_watch_trap_action(const struct sigaction *action, struct sigaction *before) RSC_HIDDEN;
size_t rsc_watch_stack_bytes(void) RSC_HIDDEN; /* of our own signal stack */
void rsc_watch_stack_begins(struct rsc_watch_thread *thread) RSC_HIDDEN;
void rsc_watch_stack_ends(struct rsc_watch_thread *thread) RSC_HIDDEN;

#endif
