/*
 * asm_runtime.h - the internal interface of the runtime that is linked into programs rebuilt
 * by `reusescope cc`. Its interface with the rebuilt code is asm_abi.h.
 *
 *   asm_start.c    the process: its start, its ring, fork, attaching (asm_state.h)
 *   asm_runtime.c  modes, modules; the thread: its countdown
 *   asm_registry.c modules and their tables
 *   asm_attach.c   how a program that runs already is asked to be watched
 *   asm_entry.c    calls from rebuilt code into C, preserving every register; markers
 *   asm_samples.c  measures the time spent in code that was not rebuilt
 *   asm_strings.c, asm_heap.c, asm_processes.c, asm_jumps.c   libc's functions, interposed
 *   asm_sync.c     what happens at every synchronisation; asm_locks.c, asm_openmp.c and
 *                  asm_waits.c interpose the functions that synchronise
 *   watch_*.c      instead of recording: sampled reuses, by debug registers (watch_thread.h)
 *   asm_module.c   linked into every executable and shared object: registers its tables
 *
 * It is a shared library, loaded once per process, or an archive in static executables.
 * Nothing here allocates memory or takes a lock during which rebuilt code could run: rebuilt
 * code runs in signal handlers, and calls the runtime from there.
 */
#ifndef RSC_RUNTIME_RECORDER_ASM_RUNTIME_H
#define RSC_RUNTIME_RECORDER_ASM_RUNTIME_H

#define RSC_ASM_RUNTIME 1

#include <stddef.h>
#include <stdint.h>

#include "runtime/pieces/piece_table.h"
#include "runtime/ring/ring.h"

/* A thread's state beside struct rsc_asm_thread. Small: a library loaded late has few bytes of static TLS. */
struct rsc_asm_local {
    struct rsc_ring_writer writer; /* its next is valid only between pieces of rebuilt code */
    int64_t given;                 /* the countdown's initial value */
    uint8_t attached;              /* has a slot, or was refused one */
    uint8_t closed;                /* records no more */
    uint8_t recording;
    uint8_t depth; /* signal handlers running */
    uint8_t busy;  /* inside the runtime */
    int sample_timer; /* minus 1; 0: none */
    uint32_t generation; /* of the process's ring (asm_start.c) */
    uint32_t fork_image; /* of the process that the thread is forking; 0: none was chosen */
    uint64_t new_caller; /* of operator new, for the allocation that it is about to make; 0: none */
    struct rsc_asm_interrupted *handler; /* what the running signal handler interrupted; NULL: none */
};
extern __thread struct rsc_asm_local rsc_asm_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* In a static executable libc copies memory before thread-local storage exists. */
#ifdef RSC_ASM_STATIC
extern int rsc_asm_ready __attribute__((visibility("hidden")));
static inline int rsc_asm_recording(void) { return rsc_asm_ready && rsc_asm_local.recording && !rsc_asm_local.busy; }
#else
static inline int rsc_asm_recording(void) { return rsc_asm_local.recording && !rsc_asm_local.busy; }
#endif

/* Threads sample their references (asm_sampled.c): records other than references are reported in every mode. */
extern int rsc_asm_sampling __attribute__((visibility("hidden")));
void rsc_asm_tell(uint64_t addr, uint64_t word) __attribute__((visibility("hidden")));
/* The same; `caller` is the code it happened for. */
void rsc_asm_tell_from(uint64_t addr, uint64_t word, uint64_t caller) __attribute__((visibility("hidden")));

/* The thread is about to let others go on, or to wait for them; it has synchronised with them. */
void rsc_asm_releases(void) __attribute__((visibility("hidden")));
void rsc_asm_waits(void) __attribute__((visibility("hidden")));
void rsc_asm_met(void) __attribute__((visibility("hidden")));

/*
 * libc is about to make this many accesses for the program. Returns whether the thread records them; while it is
 * between samples they are counted.
 */
int rsc_asm_counts(uint64_t accesses) __attribute__((visibility("hidden")));

/* Whether the thread records what libc does for it, or counts it. */
static inline int rsc_asm_sees(void) {
    return rsc_asm_recording() || (__builtin_expect(rsc_asm_sampling, 0) && !rsc_asm_local.busy);
}

/* Appends a record to the words of the thread's rebuilt code. Only while rsc_asm_recording(). */
void rsc_asm_put(uint64_t addr, uint64_t word) __attribute__((visibility("hidden")));

/* Publishes the thread's words, so that they have the right time if the thread now waits. */
void rsc_asm_publish(void) __attribute__((visibility("hidden")));

/* Marks the thread's words (ring.h): those it writes next are later. `rests`: it may wait now. */
void rsc_asm_mark(int rests) __attribute__((visibility("hidden")));

/* State saved when a signal arrives, so that its handler may record; restored afterwards. */
struct rsc_asm_interrupted {
    struct rsc_asm_thread thread;
    struct rsc_asm_local local;
    uintptr_t watch_frame; /* of the handler that this one interrupts (watch_countdown.c) */
    uint8_t watch_on_stack;
    void *back[5]; /* for __builtin_longjmp() to the end of the handler (asm_jumps.c) */
};
void rsc_asm_handler_enter(struct rsc_asm_interrupted *before) __attribute__((visibility("hidden")));
void rsc_asm_handler_leave(const struct rsc_asm_interrupted *before) __attribute__((visibility("hidden")));

/* The program jumps to this stack pointer: its calls below have ended. */
void rsc_asm_unwinds(uintptr_t stack) __attribute__((visibility("hidden")));

/* The runtime is done: jumps, if a handler that interrupted it wanted to (asm_jumps.c). */
void rsc_asm_jump_follows(void) __attribute__((visibility("hidden")));

/* The C half of rsc_asm_room(), and of a marker in the program (region.h). */
/* `call`: address of the return address of rsc_asm_room() on the program's stack; NULL: it was not called. */
void rsc_asm_room_in_c(const void *const *call) __attribute__((visibility("hidden")));
void rsc_asm_marker_in_c(long begins) __attribute__((visibility("hidden")));

/* Makes markers in the code from `start` to `stop` call the runtime. */
void rsc_asm_patch_markers(uintptr_t start, uintptr_t stop) __attribute__((visibility("hidden")));

/* libc's sigaction(), for handlers that the program must not see. */
struct sigaction;
int rsc_asm_real_sigaction(int number, const struct sigaction *action, struct sigaction *before)
    __attribute__((visibility("hidden")));

/*
 * Modules (asm_registry.c). A module's tables go into the ring; `looks_itself`: its threads need them too. Returns 0,
 * or -1 if there are too many. `next` iterates over them: 0 at the end.
 */
int rsc_asm_registry_add(struct rsc_ring *ring, const void *start, const void *stop, int looks_itself,
                         struct rsc_asm_module *added) __attribute__((visibility("hidden")));
/* A module of a program without a ring; all of them, to a ring that it is given later. */
void rsc_asm_registry_know(const void *start, const void *stop) __attribute__((visibility("hidden")));
void rsc_asm_registry_move(struct rsc_ring *ring) __attribute__((visibility("hidden")));
void rsc_asm_registry_remove(const void *start) __attribute__((visibility("hidden")));
int rsc_asm_registry_next(uint32_t *at, struct rsc_asm_module *module) __attribute__((visibility("hidden")));

/*
 * The piece whose table is at the address, in modules registered with `looks_itself`; NULL: none. `table` is a cache
 * between calls.
 */
const struct rsc_piece *rsc_asm_search_piece(struct rsc_piece_table *table, uint64_t address)
    __attribute__((visibility("hidden")));
static inline const struct rsc_piece *rsc_asm_find_piece(struct rsc_piece_table *table, uint64_t address) {
    if (__builtin_expect(!rsc_piece_table_spans(table, address), 0)) return rsc_asm_search_piece(table, address);
    return rsc_piece_at(table, address);
}

/* A piece's table as copied into the ring, completed; NULL: there is no such module. */
const struct rsc_asm_block *rsc_asm_completed(const struct rsc_asm_block *block) __attribute__((visibility("hidden")));

/* Rebuilt code, for the samples. */
void rsc_asm_samples_range(uintptr_t start, uintptr_t stop) __attribute__((visibility("hidden")));
void rsc_asm_samples_start(struct rsc_ring *ring) __attribute__((visibility("hidden")));
void rsc_asm_samples_thread(void) __attribute__((visibility("hidden")));
void rsc_asm_samples_thread_end(void) __attribute__((visibility("hidden")));
int rsc_asm_samples_signal(void) __attribute__((visibility("hidden"))); /* 0: none */
int rsc_asm_samples_is_one(const void *info) __attribute__((visibility("hidden")));
/* The program's sigaction() for that signal. */
int rsc_asm_samples_action(const struct sigaction *action, struct sigaction *before)
    __attribute__((visibility("hidden")));
/* Calls the program's handler. info: a siginfo_t (libc's headers declare what asm_waits.c interposes otherwise). */
void rsc_asm_handle_signal(int number, void *info, void *context) __attribute__((visibility("hidden")));

/* ---- interposing libc ---- */

#define RSC_EXPORT __attribute__((visibility("default")))

/*
 * RSC_INTERPOSE(type, name, (parameters)) { body }: replaces the program's calls of
 * `name`; RSC_REAL(name) is libc's. In an archive the linker renames both (--wrap).
 */
#ifdef RSC_ASM_STATIC
#define RSC_INTERPOSE(type, name, parameters) \
    extern type __real_##name parameters;     \
    RSC_EXPORT type __wrap_##name parameters; \
    RSC_EXPORT type __wrap_##name parameters
#define RSC_REAL(name) __real_##name
#else
void *rsc_asm_next_symbol(const char *name) __attribute__((visibility("hidden")));
#define RSC_INTERPOSE(type, name, parameters)                                                              \
    static type(*real_##name) parameters;                                                                  \
    typedef type type_of_##name parameters;                                                                \
    static type_of_##name *find_##name(void) {                                                             \
        if (__builtin_expect(!real_##name, 0)) real_##name = (type_of_##name *)rsc_asm_next_symbol(#name); \
        return real_##name;                                                                                \
    }                                                                                                      \
    RSC_EXPORT type name parameters;                                                                       \
    RSC_EXPORT type name parameters
#define RSC_REAL(name) find_##name()
#endif

#endif
