/*
 * asm_runtime.c - see asm_runtime.h. The threads of the process: each one's mode, and
 * everything but accesses that is written into the ring. asm_start.c is the process.
 *
 * The process requests a mode (rsc_asm_process.recording), and each thread follows when its
 * own countdown ends or its block is full: no thread writes to another's countdown. The
 * time that the last one took is kept as the lag.
 */
#include "runtime/recorder/asm_runtime.h"
#include "runtime/trap/watch_thread.h"

#include "runtime/recorder/asm_attach.h"
#include "runtime/recorder/asm_lines.h"
#include "runtime/recorder/asm_sampled.h"
#include "runtime/recorder/asm_state.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef RSC_ASM_STATIC
int rsc_asm_ready;
#else
#include <dlfcn.h>
static int is_ours(void *function) {
    Dl_info own, its;
    return dladdr((void *)rsc_asm_next_symbol, &own) && dladdr(function, &its) && own.dli_fbase == its.dli_fbase;
}

void *rsc_asm_next_symbol(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    /* In a program that was not rebuilt, libc comes before us: the calls go to libc's functions. */
    if (!found) found = dlsym(RTLD_DEFAULT, name);
    /* libc lacks a function that it has had for decades; or the program was linked without its OpenMP library */
    if (!found || is_ours(found)) __builtin_trap();
    return found;
}
#endif

#define NEVER ((int64_t)1 << 62)
#define EARLY 4096 /* accesses until a thread that ran before the library was ready checks again */
#define MAPS_BYTES ((size_t)1 << 20)
#define GOODBYES 3 /* rounds of thread-specific destructors that may still follow ours */

int rsc_asm_sampling;

/* In executables their own definition comes first (asm_module.c). */
__thread struct rsc_asm_thread rsc_asm_thread __attribute__((tls_model("initial-exec"), visibility("default"), weak));
__thread struct rsc_asm_local rsc_asm_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Into the runtime, if another thread does not change the ring at the moment: 1, and go_out() must follow. The order of
 * the two accesses here and in may_change() keeps either of the two threads out.
 */
static int come_in(struct rsc_asm_local *local) {
    if (!rsc_asm_process.attachable) return 1;
    __atomic_fetch_add(&rsc_asm_process.inside, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&rsc_asm_process.attaching, __ATOMIC_SEQ_CST)) {
        __atomic_fetch_sub(&rsc_asm_process.inside, 1, __ATOMIC_SEQ_CST);
        return 0;
    }
    if (local->generation != rsc_asm_process.generation && !local->depth) {
        *local = (struct rsc_asm_local){.generation = rsc_asm_process.generation, .busy = local->busy};
        rsc_asm_thread.next = rsc_asm_thread.limit = NULL; /* of the ring before */
    }
    return 1;
}
static void go_out(void) {
    if (rsc_asm_process.attachable) __atomic_fetch_sub(&rsc_asm_process.inside, 1, __ATOMIC_SEQ_CST);
}

/* Out of the runtime, unless it was called within. */
static void not_busy(int was_busy) {
    rsc_asm_local.busy = (uint8_t)was_busy;
    if (!was_busy) rsc_asm_jump_follows();
}

/* ---- reports about the process ---- */

static uint64_t process_id(void) { return rsc_process_id(rsc_asm_process.image, rsc_asm_process.pid); }

/* A record that marks the place of a note among the thread's records. */
static void mark_note(uint64_t end) {
    if (end && rsc_asm_sampling) rsc_asm_tell(1, rsc_record_word(RSC_RECORD_NOTE, 1, end));
    else if (end && rsc_asm_local.recording) rsc_asm_put(1, rsc_record_word(RSC_RECORD_NOTE, 1, end));
}

static void leave_note(enum rsc_note_type type, const void *data, size_t bytes) {
    mark_note(rsc_ring_note(rsc_asm_process.ring, type, process_id(), data, (uint32_t)bytes));
}

static void note_maps(void) {
    char *text = mmap(NULL, MAPS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED) return;
    mark_note(rsc_ring_note_maps(rsc_asm_process.ring, RSC_NOTE_NATIVE_MAPS, process_id(), text, MAPS_BYTES));
    munmap(text, MAPS_BYTES);
}

static void note_program(void) {
    char path[4096];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
    if (bytes > 0 && (size_t)bytes < sizeof path) leave_note(RSC_NOTE_PROGRAM, path, (size_t)bytes);
}

static void note_module(const struct rsc_asm_module *module) { leave_note(RSC_NOTE_MODULE, module, sizeof *module); }

/* ---- modules ---- */

RSC_EXPORT void rsc_asm_register(const void *start, const void *stop) {
    struct rsc_asm_module module;
    rsc_asm_initialise();
    if (!start || start == stop) return;
    int kept = errno, was_busy = rsc_asm_local.busy;
    while (!was_busy && !come_in(&rsc_asm_local)) sched_yield();
    rsc_asm_local.busy = 1; /* the runtime's own copies are not the program's accesses */
    if (!rsc_asm_process.ring) rsc_asm_registry_know(start, stop);
    else if (rsc_asm_registry_add(rsc_asm_process.ring, start, stop, rsc_asm_process.lines || rsc_asm_sampling,
                                  &module) == 0) {
        if (rsc_asm_process.maps_noted) note_maps();
        note_module(&module);
    }
    errno = kept;
    if (!was_busy) go_out();
    not_busy(was_busy);
}

RSC_EXPORT void rsc_asm_unregister(const void *start, const void *stop) {
    (void)stop;
    rsc_asm_registry_remove(start);
}

/* ---- threads ---- */

static void first_words(void);

uint32_t rsc_asm_image(void) { return rsc_asm_process.image; }

void rsc_asm_watch_begins(void) {
    pthread_setspecific(rsc_asm_process.key, (void *)1);
    rsc_asm_samples_thread();
    if (!rsc_asm_process.maps_noted) first_words();
}

static void attach(int part) {
    struct rsc_asm_local *local = &rsc_asm_local;
    local->attached = 1;
    if (rsc_ring_attach_patiently(&local->writer, rsc_asm_process.ring, rsc_asm_process.pid,
                                  (uint32_t)syscall(SYS_gettid)) < 0) {
        local->closed = 1;
        return;
    }
    local->writer.slot->image = rsc_asm_process.image;
    local->writer.slot->part = (uint32_t)part;
    if (rsc_asm_process.lines) rsc_asm_lines_start(&local->writer);
    local->writer.room = !rsc_asm_process.lines ? UINT32_MAX : 0;
    if (rsc_asm_sampling && rsc_asm_sampled_start(local) < 0) local->closed = 1;
    if (part) return;
    pthread_setspecific(rsc_asm_process.key, (void *)1);
    rsc_asm_samples_thread();
}

/* Fast mode until something may be requested of the thread; forever, if nothing can be. */
static void go_fast(void) {
    int64_t given = NEVER;
    rsc_asm_local.recording = 0;
    rsc_asm_thread.next = rsc_asm_thread.limit = NULL;
    int may_be_wanted = rsc_asm_process.marked || rsc_asm_process.skip || rsc_asm_process.recording;
    if (rsc_asm_process.ring && may_be_wanted && !rsc_asm_local.closed && !rsc_asm_process.ring->detached) {
        uint64_t left = rsc_asm_process.skip - __atomic_load_n(&rsc_asm_process.passed, __ATOMIC_RELAXED);
        given = rsc_asm_process.skip && left < RSC_ASM_CAP ? (int64_t)left : RSC_ASM_CAP;
    } else if (rsc_asm_process.attachable) {
        given = RSC_ATTACH_POLL;
    }
    rsc_asm_local.given = rsc_asm_thread.counter = given;
}

/* A thread that found no slot, or whose parent is gone, runs on. */
static void close_thread(void) {
    rsc_asm_local.closed = 1;
    go_fast();
}

static void first_words(void) {
    if (__atomic_exchange_n(&rsc_asm_process.maps_noted, 1, __ATOMIC_RELAXED)) return;
    struct rsc_asm_module module;
    note_program();
    note_maps();
    for (uint32_t at = 0; rsc_asm_registry_next(&at, &module);) note_module(&module);
}

/* Leaves with room for another piece, or in fast mode if the parent is gone. `call`: as of rsc_asm_room_in_c(). */
static void go_on_recording(const void *const *call) {
    struct rsc_asm_local *local = &rsc_asm_local;
    rsc_asm_thread.run = RSC_ASM_RUN_MOST;
    if (rsc_asm_sampling) {
        if (rsc_asm_sampled_room(local, &rsc_asm_thread, call ? rsc_asm_weight_behind(*call) : 0) < 0) close_thread();
        return;
    }
    int status = rsc_asm_process.lines ? rsc_asm_lines_look(&local->writer, rsc_asm_thread.next, 0)
                                       : rsc_ring_make_room(&local->writer);
    if (status < 0) {
        close_thread();
        return;
    }
    if (rsc_asm_process.lines) {
        rsc_asm_lines_buffer(&local->writer, &rsc_asm_thread.next, &rsc_asm_thread.limit);
    } else {
        rsc_asm_thread.next = local->writer.next;
        rsc_asm_thread.limit = local->writer.end;
    }
    local->recording = 1;
    local->given = rsc_asm_thread.counter = RSC_ASM_RECORD;
}

static void go_recording(const void *const *call) {
    struct rsc_asm_local *local = &rsc_asm_local;
    if (!local->attached) attach(local->depth > 0);
    if (local->closed) {
        go_fast();
        return;
    }
    uint64_t lag = rsc_ring_now_ns() - __atomic_load_n(&rsc_asm_process.wanted_ns, __ATOMIC_RELAXED);
    uint64_t most = __atomic_load_n(&rsc_asm_process.ring->lag_ns, __ATOMIC_RELAXED);
    while (rsc_asm_process.marked && lag > most &&
           !__atomic_compare_exchange_n(&rsc_asm_process.ring->lag_ns, &most, lag, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    go_on_recording(call);
    if ((local->recording || rsc_asm_sampling) && !local->closed && !rsc_asm_process.maps_noted) first_words();
}

/* Publishes the current block. */
static void hand_over(void) {
    struct rsc_asm_local *local = &rsc_asm_local;
    int status = 0, was_busy = local->busy;
    if (!was_busy && !come_in(local)) return;
    if (!local->attached || local->closed || (!local->recording && !rsc_asm_sampling)) {
        if (!was_busy) go_out();
        return;
    }
    local->busy = 1; /* system calls of the ring are not the program's */
    if (rsc_asm_sampling) rsc_ring_publish(&local->writer);
    else if (rsc_asm_process.lines) status = rsc_asm_lines_look(&local->writer, rsc_asm_thread.next, 1);
    else {
        if (rsc_asm_thread.next) local->writer.next = rsc_asm_thread.next;
        status = rsc_ring_publish(&local->writer);
    }
    if (!rsc_asm_sampling && status < 0) close_thread();
    else if (!rsc_asm_sampling) rsc_asm_thread.next = rsc_asm_thread.limit = NULL; /* its next word will ask for room */
    if (!was_busy) go_out();
    not_busy(was_busy);
}

/* Counts the accesses since the countdown began towards --skip. */
static void count(void) {
    int64_t done = rsc_asm_local.given - rsc_asm_thread.counter;
    if (!rsc_asm_process.skip || rsc_asm_process.recording || done <= 0) return;
    if (__atomic_add_fetch(&rsc_asm_process.passed, (uint64_t)done, __ATOMIC_RELAXED) < rsc_asm_process.skip) return;
    rsc_asm_process.skip = 0;
    __atomic_store_n(&rsc_asm_process.wanted_ns, rsc_ring_now_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&rsc_asm_process.recording, 1, __ATOMIC_RELEASE);
}

void rsc_asm_room_in_c(const void *const *call) {
    struct rsc_asm_local *local = &rsc_asm_local;
    int kept = errno;
    if (rsc_asm_process.watching) {
        rsc_watch_room(call);
        errno = kept;
        return;
    }
    if (local->busy) { /* a handler that did not go through ours, in the middle of this */
        rsc_asm_thread.counter = EARLY;
        return;
    }
    if (!rsc_asm_process.ready) {
        rsc_asm_thread.counter = EARLY;
        return;
    }
    if (!come_in(local)) {
        rsc_asm_thread.counter = EARLY;
        return;
    }
    local->busy = 1;
    if (rsc_asm_process.attachable && !local->depth && (!rsc_asm_process.ring || rsc_asm_process.ring->detached))
        rsc_asm_attach_if_asked();
    if (rsc_asm_process.ring && !local->closed && !rsc_asm_sampling) count();
    if (rsc_asm_process.ring && rsc_asm_process.ring->enough) rsc_asm_process.recording = rsc_asm_process.marked = 0;
    if (!rsc_asm_process.ring || local->closed || rsc_asm_process.ring->detached) go_fast();
    else if (!__atomic_load_n(&rsc_asm_process.recording, __ATOMIC_ACQUIRE)) {
        hand_over();
        if (!local->closed) go_fast();
    } else if (local->recording || (rsc_asm_sampling && local->attached)) {
        if (rsc_asm_thread.next && !rsc_asm_process.lines && !rsc_asm_sampling)
            local->writer.next = rsc_asm_thread.next;
        go_on_recording(call);
    } else go_recording(call);
    go_out();
    not_busy(0);
    errno = kept;
}

void rsc_asm_put(uint64_t addr, uint64_t word) {
    if (rsc_asm_thread.next >= rsc_asm_thread.limit) {
        rsc_asm_local.busy = 0;
        rsc_asm_room_in_c(NULL);
        if (!rsc_asm_local.recording && !rsc_asm_counts(1)) return;
    }
    rsc_asm_thread.next[0] = word;
    rsc_asm_thread.next[1] = addr;
    rsc_asm_thread.next += 2;
}

/* Whether the sampler may be called for this thread now. */
static int may_sample(const struct rsc_asm_local *local) {
    return rsc_asm_sampling && rsc_asm_process.ring && local->attached && !local->closed && !local->busy &&
           !local->depth;
}

void rsc_asm_tell_from(uint64_t addr, uint64_t word, uint64_t caller) {
    struct rsc_asm_local *local = &rsc_asm_local;
    if (!rsc_asm_sampling) {
        if (caller) rsc_asm_put(caller, rsc_record_word(RSC_RECORD_CALLER, 1, 0));
        rsc_asm_put(addr, word);
        return;
    }
    if (!rsc_asm_process.ring || !local->attached || local->closed || local->depth) return;
    int kept = errno, was_busy = local->busy;
    if (!was_busy && !come_in(local)) return;
    local->busy = 1;
    if (local->attached && caller) rsc_asm_sampled_put(local, caller, rsc_record_word(RSC_RECORD_CALLER, 1, 0));
    if (local->attached && was_busy) rsc_asm_sampled_put(local, addr, word); /* a handler interrupted the sampler */
    else if (local->attached) rsc_asm_sampled_event(local, &rsc_asm_thread, addr, word);
    errno = kept;
    if (!was_busy) go_out();
    not_busy(was_busy);
}

void rsc_asm_tell(uint64_t addr, uint64_t word) { rsc_asm_tell_from(addr, word, 0); }

/* Calls the sampler about a synchronisation. */
static void synchronise(void (*how)(struct rsc_asm_local *, struct rsc_asm_thread *)) {
    struct rsc_asm_local *local = &rsc_asm_local;
    if (!may_sample(local)) return;
    int kept = errno;
    if (!come_in(local)) return;
    local->busy = 1;
    if (local->attached) how(local, &rsc_asm_thread);
    errno = kept;
    go_out();
    not_busy(0);
}

int rsc_asm_counts(uint64_t accesses) {
    struct rsc_asm_local *local = &rsc_asm_local;
    int recorded = 0, kept = errno;
    if (local->recording) return !local->busy;
    if (!may_sample(local) || !__atomic_load_n(&rsc_asm_process.recording, __ATOMIC_RELAXED)) return 0;
    if (rsc_asm_thread.counter > (int64_t)accesses) {
        rsc_asm_thread.counter -= (int64_t)accesses;
        return 0;
    }
    if (!come_in(local)) return 0;
    local->busy = 1;
    if (local->attached) recorded = rsc_asm_sampled_counts(local, &rsc_asm_thread, accesses);
    errno = kept;
    go_out();
    not_busy(0);
    return recorded;
}

void rsc_asm_releases(void) { synchronise(rsc_asm_sampled_releases); }
void rsc_asm_waits(void) { synchronise(rsc_asm_sampled_waits); }
void rsc_asm_met(void) { synchronise(rsc_asm_sampled_met); }

void rsc_asm_publish(void) {
    int kept = errno;
    if (rsc_asm_process.watching) rsc_watch_tell();
    hand_over();
    errno = kept;
}

void rsc_asm_mark(int rests) {
    struct rsc_asm_local *local = &rsc_asm_local;
    int kept = errno, status;
    /* At rest, or with an empty block: its next word asks for room. */
    if (!local->attached || local->closed || !local->recording || !rsc_asm_thread.next) return;
    local->busy = 1;
    if (rsc_asm_process.lines) status = rsc_asm_lines_mark(&local->writer, rsc_asm_thread.next, rests);
    else {
        local->writer.next = rsc_asm_thread.next;
        status = rsc_ring_mark(&local->writer, rests);
    }
    if (status < 0) close_thread();
    else if (rsc_asm_process.lines || local->writer.next >= local->writer.end)
        rsc_asm_thread.next = rsc_asm_thread.limit = NULL;
    errno = kept;
    not_busy(0);
}

/* Signal handlers write to their own slot: the interrupted code has words still to write. */
void rsc_asm_handler_enter(struct rsc_asm_interrupted *before) {
    if (rsc_asm_process.watching) {
        rsc_watch_handler_enter(before);
        return;
    }
    before->thread = rsc_asm_thread;
    before->local = rsc_asm_local;
    rsc_asm_thread = (struct rsc_asm_thread){0};
    /* The sampler is not reentrant: accesses of handlers are not sampled. */
    uint8_t closed = before->local.closed || rsc_asm_sampling || rsc_asm_process.attachable;
    rsc_asm_local =
        (struct rsc_asm_local){.closed = closed, .depth = (uint8_t)(before->local.depth + 1), .handler = before};
}

void rsc_asm_unwinds(uintptr_t stack) {
    if (rsc_asm_recording() && !rsc_asm_process.lines && !rsc_asm_sampling)
        rsc_asm_put(stack, rsc_record_word(RSC_RECORD_UNWIND, 1, 0));
}

void rsc_asm_handler_leave(const struct rsc_asm_interrupted *before) {
    struct rsc_asm_local *local = &rsc_asm_local;
    int kept = errno;
    if (rsc_asm_process.watching) {
        rsc_watch_handler_leave(before);
        return;
    }
    if (rsc_asm_process.ring && local->attached && !local->closed && local->writer.slot) {
        if (rsc_asm_process.lines) {
            local->busy = 1;
            if (local->recording) rsc_asm_lines_look(&local->writer, rsc_asm_thread.next, 1);
        } else if (local->recording && rsc_asm_thread.next) {
            local->writer.next = rsc_asm_thread.next;
        }
        rsc_ring_detach(&local->writer);
    }
    rsc_asm_local = before->local;
    rsc_asm_thread = before->thread;
    errno = kept;
}

/* A marker in the program (region.h), or an equivalent request. */
void rsc_asm_marker_in_c(long begins) {
    int kept = errno;
    if (!rsc_asm_process.ring || rsc_asm_local.busy) return;
    if (rsc_asm_process.marked && begins && !rsc_asm_process.recording) {
        __atomic_store_n(&rsc_asm_process.wanted_ns, rsc_ring_now_ns(), __ATOMIC_RELAXED);
        __atomic_store_n(&rsc_asm_process.recording, 1, __ATOMIC_RELEASE);
    }
    if (rsc_asm_process.recording && !rsc_asm_local.recording && !rsc_asm_local.closed) go_recording(NULL);
    if (rsc_asm_local.recording) rsc_asm_put(1, rsc_record_word(RSC_RECORD_MARKER, 1, (uint64_t)begins));
    if (rsc_asm_process.marked && !begins && rsc_asm_process.recording) {
        __atomic_store_n(&rsc_asm_process.recording, 0, __ATOMIC_RELEASE);
        hand_over();
        if (!rsc_asm_local.closed) go_fast();
    }
    errno = kept;
}

/* For a thread or process that ends: no sampling from here on. */
static void end_sampling(void) {
    struct rsc_asm_local *local = &rsc_asm_local;
    if (!come_in(local)) return;
    local->busy = 1;
    if (local->attached) rsc_asm_sampled_end(local, &rsc_asm_thread);
    local->closed = 1;
    go_fast();
    go_out();
    local->busy = 0;
}

static __attribute__((destructor)) void process_ends(void) {
    if (may_sample(&rsc_asm_local)) end_sampling();
}

/* For a thread that ends. Other destructors may follow, after this one in the last round: it continues to record. */
void rsc_asm_thread_ends(void *round) {
    struct rsc_asm_local *local = &rsc_asm_local;
    if ((intptr_t)round <= GOODBYES) {
        pthread_setspecific(rsc_asm_process.key, (void *)((intptr_t)round + 1));
        return;
    }
    rsc_asm_samples_thread_end();
    local->handler = NULL; /* of a handler that ended the thread */
    if (rsc_asm_process.watching) rsc_watch_thread_end();
    if (!rsc_asm_process.ring || !local->attached || local->closed) return;
    if (rsc_asm_sampling) end_sampling();
    else hand_over();
    if (local->attached) rsc_ring_leave(&local->writer);
}
