/*
 * asm_runtime.c - see asm_runtime.h. The process and its threads: each thread's mode,
 * and everything but accesses that is written into the ring.
 *
 * The process requests a mode (process.recording), and each thread follows when its own
 * countdown ends or its block is full: no thread writes to another's countdown. The
 * time that the last one took is kept as the lag.
 *
 * Without `reusescope run` there is no ring, and every thread gets a long countdown, after
 * which it looks whether `reusescope attach` asks for it (asm_attach.h). Only one thread
 * takes or gives up a ring, while no other is in the runtime; each time is a generation,
 * and a thread that finds itself in another one than last time begins anew.
 */
#include "runtime/recorder/asm_runtime.h"
#include "runtime/trap/watch_thread.h"

#include "runtime/recorder/asm_attach.h"
#include "runtime/recorder/asm_lines.h"
#include "runtime/recorder/asm_sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

static struct {
    int ready;
    struct rsc_ring *ring; /* NULL: not run by reusescope */
    int follow, marked;
    uint64_t skip; /* accesses */
    uint32_t image, pid;
    int recording;        /* the mode requested of every thread */
    int watching;         /* or instead: sampled reuses */
    uint64_t passed;      /* accesses counted towards skip */
    uint64_t wanted_ns;   /* since when recording is requested */
    int maps_noted;
    int lines; /* threads filter their own words and keep sampled lines: asm_lines.c */
    pthread_key_t key;
    /* For a program that was not started by reusescope: */
    int attachable;
    uint32_t user;
    uint32_t generation; /* rings taken and given up */
    uint32_t inside;     /* threads in the runtime */
    uint32_t attaching;  /* one takes or gives up a ring: others stay out */
    uint64_t looked_ns;  /* when last a thread looked for a request */
} process;

/* In executables their own definition comes first (asm_module.c). */
__thread struct rsc_asm_thread rsc_asm_thread __attribute__((tls_model("initial-exec"), visibility("default"), weak));
__thread struct rsc_asm_local rsc_asm_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Into the runtime, if another thread does not change the ring at the moment: 1, and go_out() must follow. The order of
 * the two accesses here and in may_change() keeps either of the two threads out.
 */
static int come_in(struct rsc_asm_local *local) {
    if (!process.attachable) return 1;
    __atomic_fetch_add(&process.inside, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&process.attaching, __ATOMIC_SEQ_CST)) {
        __atomic_fetch_sub(&process.inside, 1, __ATOMIC_SEQ_CST);
        return 0;
    }
    if (local->generation != process.generation && !local->depth) {
        *local = (struct rsc_asm_local){.generation = process.generation, .busy = local->busy};
        rsc_asm_thread.next = rsc_asm_thread.limit = NULL; /* of the ring before */
    }
    return 1;
}
static void go_out(void) {
    if (process.attachable) __atomic_fetch_sub(&process.inside, 1, __ATOMIC_SEQ_CST);
}

/* Out of the runtime, unless it was called within. */
static void not_busy(int was_busy) {
    rsc_asm_local.busy = (uint8_t)was_busy;
    if (!was_busy) rsc_asm_jump_follows();
}

/* ---- reports about the process ---- */

static uint64_t process_id(void) { return rsc_process_id(process.image, process.pid); }

/* A record that marks the place of a note among the thread's records. */
static void mark_note(uint64_t end) {
    if (end && rsc_asm_sampling) rsc_asm_tell(1, rsc_record_word(RSC_RECORD_NOTE, 1, end));
    else if (end && rsc_asm_local.recording) rsc_asm_put(1, rsc_record_word(RSC_RECORD_NOTE, 1, end));
}

static void leave_note(enum rsc_note_type type, const void *data, size_t bytes) {
    mark_note(rsc_ring_note(process.ring, type, process_id(), data, (uint32_t)bytes));
}

static void note_maps(void) {
    char *text = mmap(NULL, MAPS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED) return;
    mark_note(rsc_ring_note_maps(process.ring, RSC_NOTE_NATIVE_MAPS, process_id(), text, MAPS_BYTES));
    munmap(text, MAPS_BYTES);
}

static void note_program(void) {
    char path[4096];
    ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
    if (bytes > 0 && (size_t)bytes < sizeof path) leave_note(RSC_NOTE_PROGRAM, path, (size_t)bytes);
}

static void note_module(const struct rsc_asm_module *module) { leave_note(RSC_NOTE_MODULE, module, sizeof *module); }

/* ---- modules ---- */

static void initialise(void);

RSC_EXPORT void rsc_asm_register(const void *start, const void *stop) {
    struct rsc_asm_module module;
    initialise();
    if (!start || start == stop) return;
    int kept = errno, was_busy = rsc_asm_local.busy;
    while (!was_busy && !come_in(&rsc_asm_local)) sched_yield();
    rsc_asm_local.busy = 1; /* the runtime's own copies are not the program's accesses */
    if (!process.ring) rsc_asm_registry_know(start, stop);
    else if (rsc_asm_registry_add(process.ring, start, stop, process.lines || rsc_asm_sampling, &module) == 0) {
        if (process.maps_noted) note_maps();
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
static void attach_if_asked(void);

uint32_t rsc_asm_image(void) { return process.image; }

void rsc_asm_watch_begins(void) {
    pthread_setspecific(process.key, (void *)1);
    rsc_asm_samples_thread();
    if (!process.maps_noted) first_words();
}

static void attach(int part) {
    struct rsc_asm_local *local = &rsc_asm_local;
    local->attached = 1;
    if (rsc_ring_attach_patiently(&local->writer, process.ring, process.pid, (uint32_t)syscall(SYS_gettid)) < 0) {
        local->closed = 1;
        return;
    }
    local->writer.slot->image = process.image;
    local->writer.slot->part = (uint32_t)part;
    if (process.lines) rsc_asm_lines_start(&local->writer);
    local->writer.room = !process.lines ? UINT32_MAX : 0;
    if (rsc_asm_sampling && rsc_asm_sampled_start(local) < 0) local->closed = 1;
    if (part) return;
    pthread_setspecific(process.key, (void *)1);
    rsc_asm_samples_thread();
}

/* Fast mode until something may be requested of the thread; forever, if nothing can be. */
static void go_fast(void) {
    int64_t given = NEVER;
    rsc_asm_local.recording = 0;
    rsc_asm_thread.next = rsc_asm_thread.limit = NULL;
    int may_be_wanted = process.marked || process.skip || process.recording;
    if (process.ring && may_be_wanted && !rsc_asm_local.closed && !process.ring->detached) {
        uint64_t left = process.skip - __atomic_load_n(&process.passed, __ATOMIC_RELAXED);
        given = process.skip && left < RSC_ASM_CAP ? (int64_t)left : RSC_ASM_CAP;
    } else if (process.attachable) {
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
    if (__atomic_exchange_n(&process.maps_noted, 1, __ATOMIC_RELAXED)) return;
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
    int status =
        process.lines ? rsc_asm_lines_look(&local->writer, rsc_asm_thread.next, 0) : rsc_ring_make_room(&local->writer);
    if (status < 0) {
        close_thread();
        return;
    }
    if (process.lines) {
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
    uint64_t lag = rsc_ring_now_ns() - __atomic_load_n(&process.wanted_ns, __ATOMIC_RELAXED);
    uint64_t most = __atomic_load_n(&process.ring->lag_ns, __ATOMIC_RELAXED);
    while (process.marked && lag > most &&
           !__atomic_compare_exchange_n(&process.ring->lag_ns, &most, lag, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    go_on_recording(call);
    if ((local->recording || rsc_asm_sampling) && !local->closed && !process.maps_noted) first_words();
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
    else if (process.lines) status = rsc_asm_lines_look(&local->writer, rsc_asm_thread.next, 1);
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
    if (!process.skip || process.recording || done <= 0) return;
    if (__atomic_add_fetch(&process.passed, (uint64_t)done, __ATOMIC_RELAXED) < process.skip) return;
    process.skip = 0;
    __atomic_store_n(&process.wanted_ns, rsc_ring_now_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&process.recording, 1, __ATOMIC_RELEASE);
}

void rsc_asm_room_in_c(const void *const *call) {
    struct rsc_asm_local *local = &rsc_asm_local;
    int kept = errno;
    if (process.watching) {
        rsc_watch_room(call);
        errno = kept;
        return;
    }
    if (local->busy) { /* a handler that did not go through ours, in the middle of this */
        rsc_asm_thread.counter = EARLY;
        return;
    }
    if (!process.ready) {
        rsc_asm_thread.counter = EARLY;
        return;
    }
    if (!come_in(local)) {
        rsc_asm_thread.counter = EARLY;
        return;
    }
    local->busy = 1;
    if (process.attachable && !local->depth && (!process.ring || process.ring->detached)) attach_if_asked();
    if (process.ring && !local->closed && !rsc_asm_sampling) count();
    if (process.ring && process.ring->enough) process.recording = process.marked = 0;
    if (!process.ring || local->closed || process.ring->detached) go_fast();
    else if (!__atomic_load_n(&process.recording, __ATOMIC_ACQUIRE)) {
        hand_over();
        if (!local->closed) go_fast();
    } else if (local->recording || (rsc_asm_sampling && local->attached)) {
        if (rsc_asm_thread.next && !process.lines && !rsc_asm_sampling) local->writer.next = rsc_asm_thread.next;
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
    return rsc_asm_sampling && process.ring && local->attached && !local->closed && !local->busy && !local->depth;
}

void rsc_asm_tell_from(uint64_t addr, uint64_t word, uint64_t caller) {
    struct rsc_asm_local *local = &rsc_asm_local;
    if (!rsc_asm_sampling) {
        if (caller) rsc_asm_put(caller, rsc_record_word(RSC_RECORD_CALLER, 1, 0));
        rsc_asm_put(addr, word);
        return;
    }
    if (!process.ring || !local->attached || local->closed || local->depth) return;
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
    if (!may_sample(local) || !__atomic_load_n(&process.recording, __ATOMIC_RELAXED)) return 0;
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
    if (process.watching) rsc_watch_tell();
    hand_over();
    errno = kept;
}

void rsc_asm_mark(int rests) {
    struct rsc_asm_local *local = &rsc_asm_local;
    int kept = errno, status;
    /* At rest, or with an empty block: its next word asks for room. */
    if (!local->attached || local->closed || !local->recording || !rsc_asm_thread.next) return;
    local->busy = 1;
    if (process.lines) status = rsc_asm_lines_mark(&local->writer, rsc_asm_thread.next, rests);
    else {
        local->writer.next = rsc_asm_thread.next;
        status = rsc_ring_mark(&local->writer, rests);
    }
    if (status < 0) close_thread();
    else if (process.lines || local->writer.next >= local->writer.end)
        rsc_asm_thread.next = rsc_asm_thread.limit = NULL;
    errno = kept;
    not_busy(0);
}

/* Signal handlers write to their own slot: the interrupted code has words still to write. */
void rsc_asm_handler_enter(struct rsc_asm_interrupted *before) {
    if (process.watching) {
        rsc_watch_handler_enter(before);
        return;
    }
    before->thread = rsc_asm_thread;
    before->local = rsc_asm_local;
    rsc_asm_thread = (struct rsc_asm_thread){0};
    /* The sampler is not reentrant: accesses of handlers are not sampled. */
    uint8_t closed = before->local.closed || rsc_asm_sampling || process.attachable;
    rsc_asm_local =
        (struct rsc_asm_local){.closed = closed, .depth = (uint8_t)(before->local.depth + 1), .handler = before};
}

void rsc_asm_unwinds(uintptr_t stack) {
    if (rsc_asm_recording() && !process.lines && !rsc_asm_sampling)
        rsc_asm_put(stack, rsc_record_word(RSC_RECORD_UNWIND, 1, 0));
}

void rsc_asm_handler_leave(const struct rsc_asm_interrupted *before) {
    struct rsc_asm_local *local = &rsc_asm_local;
    int kept = errno;
    if (process.watching) {
        rsc_watch_handler_leave(before);
        return;
    }
    if (process.ring && local->attached && !local->closed && local->writer.slot) {
        if (process.lines) {
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
    if (!process.ring || rsc_asm_local.busy) return;
    if (process.marked && begins && !process.recording) {
        __atomic_store_n(&process.wanted_ns, rsc_ring_now_ns(), __ATOMIC_RELAXED);
        __atomic_store_n(&process.recording, 1, __ATOMIC_RELEASE);
    }
    if (process.recording && !rsc_asm_local.recording && !rsc_asm_local.closed) go_recording(NULL);
    if (rsc_asm_local.recording) rsc_asm_put(1, rsc_record_word(RSC_RECORD_MARKER, 1, (uint64_t)begins));
    if (process.marked && !begins && process.recording) {
        __atomic_store_n(&process.recording, 0, __ATOMIC_RELEASE);
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
static void thread_ends(void *round) {
    struct rsc_asm_local *local = &rsc_asm_local;
    if ((intptr_t)round <= GOODBYES) {
        pthread_setspecific(process.key, (void *)((intptr_t)round + 1));
        return;
    }
    rsc_asm_samples_thread_end();
    local->handler = NULL; /* of a handler that ended the thread */
    if (process.watching) rsc_watch_thread_end();
    if (!process.ring || !local->attached || local->closed) return;
    if (rsc_asm_sampling) end_sampling();
    else hand_over();
    if (local->attached) rsc_ring_leave(&local->writer);
}

/* ---- the process ---- */

/* A child that is followed begins where this thread is: what is before must be taken first. */
static void before_fork(void) {
    struct rsc_asm_local *local = &rsc_asm_local;
    local->fork_image = 0;
    if (!process.follow || !rsc_asm_recording() || process.lines || rsc_asm_sampling) return;
    local->fork_image = __atomic_add_fetch(&process.ring->images, 1, __ATOMIC_RELAXED);
    rsc_asm_put(local->fork_image, rsc_record_word(RSC_RECORD_FORK, 1, 0));
    rsc_asm_publish();
}

/* The only thread of a new process; the slot belongs to the old one. */
static void after_fork_in_child(void) {
    uint32_t image = rsc_asm_local.fork_image;
    process.inside = process.attaching = 0;
    rsc_asm_local.generation = ++process.generation;
    process.pid = (uint32_t)getpid();
    if (!process.ring) return;
    __atomic_fetch_add(&process.ring->forks, 1, __ATOMIC_RELAXED);
    rsc_asm_local = (struct rsc_asm_local){.generation = process.generation};
    rsc_asm_thread = (struct rsc_asm_thread){0};
    process.maps_noted = 0;
    if (process.watching) rsc_watch_fork(process.follow ? process.ring : NULL);
    if (!process.follow) {
        process.ring = NULL;
        process.watching = 0;
        return;
    }
    process.image = image ? image : __atomic_add_fetch(&process.ring->images, 1, __ATOMIC_RELAXED);
}

static int map_ring(int fd) {
    struct stat file;
    if (fstat(fd, &file) != 0 || (size_t)file.st_size < sizeof(struct rsc_ring)) return -1;
    struct rsc_ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (ring == MAP_FAILED) return -1;
    if (ring->magic != RSC_RING_MAGIC || ring->detached) {
        munmap(ring, sizeof *ring);
        return -1;
    }
    process.ring = ring;
    return 0;
}

/* ---- attaching ---- */

/* The memory of a ring that is given up goes back; threads that had words to write still may, to nobody. */
static void give_up_ring(void) {
    mmap(process.ring, sizeof *process.ring, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    process.ring = NULL;
    process.recording = rsc_asm_sampling = 0;
    rsc_asm_sampled_forget();
    process.generation++;
}

/* A ring whose program samples its own references: the only kind that a running program can be given. */
static void take_ring(int fd) {
    int taken = map_ring(fd) == 0;
    if (taken && (!process.ring->sampled || rsc_asm_sampled_prepare(process.ring) < 0)) {
        munmap(process.ring, sizeof *process.ring);
        process.ring = NULL;
        taken = 0;
    }
    syscall(SYS_close, fd);
    if (!taken) return;
    rsc_asm_registry_move(process.ring);
    rsc_asm_sampling = (int)process.ring->sampled;
    process.follow = process.marked = process.lines = process.maps_noted = 0;
    process.skip = 0;
    process.wanted_ns = rsc_ring_now_ns();
    process.generation++;
    process.recording = 1;
    process.image = __atomic_add_fetch(&process.ring->images, 1, __ATOMIC_RELEASE);
}

/* Alone in the runtime? Then others stay out until process.attaching is 0 again. */
static int may_change(void) {
    if (__atomic_exchange_n(&process.attaching, 1, __ATOMIC_SEQ_CST)) return 0;
    if (__atomic_load_n(&process.inside, __ATOMIC_SEQ_CST) == 1) return 1;
    __atomic_store_n(&process.attaching, 0, __ATOMIC_SEQ_CST);
    process.looked_ns = 0; /* soon again */
    return 0;
}

static void attach_if_asked(void) {
    struct rsc_asm_local *local = &rsc_asm_local;
    uint64_t now = rsc_ring_now_ns();
    if (now - __atomic_load_n(&process.looked_ns, __ATOMIC_RELAXED) < RSC_ATTACH_LOOK_NS) return;
    __atomic_store_n(&process.looked_ns, now, __ATOMIC_RELAXED);
    int fd = process.ring ? -1 : rsc_attach_request(process.user, process.pid);
    if (!process.ring && fd < 0) return;
    if (!may_change()) {
        if (fd >= 0) syscall(SYS_close, fd);
        return;
    }
    if (process.ring) give_up_ring();
    else take_ring(fd);
    *local = (struct rsc_asm_local){.generation = process.generation, .busy = 1};
    rsc_asm_thread.next = rsc_asm_thread.limit = NULL;
    __atomic_store_n(&process.attaching, 0, __ATOMIC_SEQ_CST);
}

/* Started without the tool, which may ask later. Not with the rights of another user. */
static void become_attachable(void) {
    if (getauxval(AT_SECURE) || pthread_key_create(&process.key, thread_ends) != 0) return;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    process.pid = (uint32_t)getpid();
    process.user = (uint32_t)geteuid();
    process.attachable = 1;
}

/* "ring=200,follow=0,skip=0,marked=0,samples=1,watch=0,plain=0" */
static uint64_t setting(const char *text, const char *name) {
    size_t length = strlen(name);
    for (; text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL)
        if (!strncmp(text, name, length) && text[length] == '=') return strtoull(text + length + 1, NULL, 10);
    return 0;
}

/* Also called from rsc_asm_register(): in a static executable, constructors run in any order. */
static __attribute__((constructor(101))) void initialise(void) {
    if (process.ready) return;
    const char *text = secure_getenv(RSC_ASM_ENVIRONMENT);
    if (text && map_ring((int)setting(text, "ring")) == 0) {
        process.follow = setting(text, "follow") != 0;
        process.marked = setting(text, "marked") != 0;
        process.skip = setting(text, "skip");
        process.watching = setting(text, "watch") != 0;
        process.recording = !process.watching && !process.marked && !process.skip;
        process.lines = process.ring->keep_lines != 0;
        rsc_asm_sampling =
            process.ring->sampled && rsc_asm_sampled_prepare(process.ring) == 0 ? (int)process.ring->sampled : 0;
        if (process.lines) rsc_asm_lines_prepare(setting(text, "plain") != 0);
        process.wanted_ns = rsc_ring_now_ns();
        process.pid = (uint32_t)getpid();
        process.image = __atomic_add_fetch(&process.ring->images, 1, __ATOMIC_RELAXED);
        if (pthread_key_create(&process.key, thread_ends) != 0) process.ring = NULL;
        pthread_atfork(before_fork, NULL, after_fork_in_child);
        if (!process.follow) close((int)setting(text, "ring"));
        if (!process.ring) process.watching = 0;
        if (process.ring && setting(text, "samples")) rsc_asm_samples_start(process.ring);
        if (process.watching) rsc_watch_start(process.ring);
        /* Already counted at its start as a program that is not watched. */
        if (process.ring && process.follow && process.image > 1)
            __atomic_fetch_sub(&process.ring->execs, 1, __ATOMIC_RELAXED);
    }
    if (!text) become_attachable();
    if (text && !process.follow)
        unsetenv(RSC_ASM_ENVIRONMENT); /* neither the program nor programs it starts may see it */
    process.ready = 1;
#ifdef RSC_ASM_STATIC
    rsc_asm_ready = 1;
#endif
    rsc_asm_thread.counter = 0;
}

/* The thread that ends the process runs no thread-specific destructors. */
static __attribute__((destructor(101))) void finish(void) {
    if (process.watching) rsc_watch_thread_end();
}

/* A child of vfork() is still its parent to us. */
void rsc_process_ends(void) {
    if ((uint32_t)getpid() == process.pid) finish();
}
