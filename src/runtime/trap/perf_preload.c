/*
 * perf_preload.c - `run --with perf` for programs that were not rebuilt: a preloaded library
 * (LD_PRELOAD) that opens, per thread, PMU events that sample loads and stores with their
 * addresses, and debug registers that catch the reuses.
 *
 * A sample's signal handler reads the access and the group's counters from the event's ring
 * buffer (perf_records.h); registers, records and the trap are those of rebuilt programs
 * (watch_stream.c, watch_events.c, watch_signals.c). The clock is the counters' own; a sample
 * is not used if they had to share the PMU.
 *
 * Experimental: written for Intel's mem-loads and mem-stores and AMD's IBS, but not yet tried
 * on either. The tests run the same code with the kernel's page faults as samples, which have
 * addresses too.
 */
#include "runtime/trap/watch_thread.h"
#include "runtime/watch/perf_group.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SAMPLE_SIGNAL (SIGRTMAX - 3)
#define MAPS_BYTES ((size_t)1 << 20)
#define LEAST_FD 3

/* Functions that the rest of the runtime needs, for code that was not rebuilt: there are no pieces and no windows. */
__thread struct rsc_asm_local rsc_asm_local __attribute__((tls_model("initial-exec"), visibility("hidden")));
void rsc_asm_handler_enter(struct rsc_asm_interrupted *before) { before->local.busy = rsc_asm_local.busy; }
void rsc_asm_handler_leave(const struct rsc_asm_interrupted *before) { rsc_asm_local.busy = before->local.busy; }
void *rsc_asm_next_symbol(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) __builtin_trap(); /* libc lacks a function that it has had for decades */
    return found;
}

static struct {
    struct rsc_ring *ring;
    int follow;
    uint32_t image;
    pthread_key_t key;
    struct rsc_perf_events events;
} process;

uint32_t rsc_asm_image(void) { return process.image; }

static __thread struct rsc_perf_group group __attribute__((tls_model("initial-exec")));

/* ---- events ---- */

/* Its overflows become signals to this thread. */
static int signals_from(int fd) {
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
    return fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, SAMPLE_SIGNAL) == 0 &&
                   fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC | O_NONBLOCK) == 0
               ? 0
               : -1;
}

static int open_events(void) {
    if (rsc_perf_group_open(&group, &process.events, 0, rsc_watch_local.period, RSC_PERF_RING_OWN) < 0) return -1;
    if (signals_from(group.loads) < 0 || (group.stores >= 0 && signals_from(group.stores) < 0)) return -1;
    return ioctl(group.leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

uint32_t rsc_watch_place_hit(struct rsc_watch_thread *thread, uint64_t word, uint64_t *record) {
    (void)thread;
    (void)word;
    int status = rsc_perf_group_now(&group, &record[RSC_WATCHED_HIT_REACH]);
    record[RSC_WATCHED_HIT_COUNTER] = record[RSC_WATCHED_HIT_RANGE_ACCESSES] = record[RSC_WATCHED_HIT_RANGE_WORDS] = 0;
    record[RSC_WATCHED_HIT_PC]--;
    return RSC_WATCH_RESOLVED | (status < 0 ? RSC_WATCH_LATE : 0);
}

/* ---- samples ---- */

static void take(struct rsc_watch_thread *thread, const struct rsc_perf_sample *sample, const ucontext_t *context) {
    uint64_t word, pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    group.seen++;
    group.memory += sample->is_memory;
    if (sample->is_shared) __atomic_fetch_add(&rsc_watch_area->multiplexed, 1, __ATOMIC_RELAXED);
    if (sample->is_shared || !sample->is_memory || !rsc_watch_can_watch(thread, sample->address)) {
        thread->stream->void_samples++;
        return;
    }
    thread->frame_count = rsc_watch_unwind(thread, pc, (uint64_t)context->uc_mcontext.gregs[REG_RSP], thread->frames,
                                           &thread->frames_cut);
    struct rsc_watch_use use = {rsc_perf_group_advance(&group, sample->count),
                                sample->ip,
                                sample->address,
                                1,
                                0,
                                0,
                                sample->is_store ? RSC_WATCH_WRITE : 0,
                                rsc_watch_cost(sample->latency, rsc_perf_source(sample->source))};
    uint32_t reg = rsc_watch_take_sample(thread, &use, &word);
    rsc_watch_word(thread, reg, word, use.position);
}

static void on_sample(int number, siginfo_t *info, void *context) {
    struct rsc_watch_thread *thread = rsc_watch_local.thread;
    uint64_t record[RSC_PERF_RECORD_MAX / 8], lost = 0;
    uint32_t bytes;
    struct rsc_perf_sample sample;
    int kept = errno;
    (void)number;
    (void)info;
    if (!thread || !group.page || rsc_asm_local.busy) return;
    rsc_asm_local.busy = 1;
    uint64_t began = rsc_watch_cpu_ns();
    while ((bytes = rsc_perf_group_next(&group, record)))
        if (rsc_perf_decode(&group.layouts, record, bytes, &sample, &lost) == RSC_PERF_SAMPLE)
            take(thread, &sample, context);
    thread->stream->dropped += lost;
    uint64_t period = rsc_watch_local.period;
    rsc_watch_adjust_period(thread);
    if (period != rsc_watch_local.period) rsc_perf_group_set_period(&group, rsc_watch_local.period);
    if (rsc_watch_area->off || process.ring->detached) ioctl(group.leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    thread->stream->busy_ns += rsc_watch_cpu_ns() - began;
    rsc_asm_local.busy = 0;
    errno = kept;
}

/* ---- threads ---- */

static void begin_thread(void) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (!process.ring || rsc_watch_area->off) return;
    rsc_asm_local.busy = 1;
    rsc_rng_seed(&local->rng, rsc_watch_area->seed,
                 1 + (uint64_t)process.image * 0x100000001ull + (uint64_t)syscall(SYS_gettid));
    local->started = 1;
    local->period = rsc_watch_area->period ? rsc_watch_area->period : RSC_PERF_PERIOD_FIRST;
    if (rsc_watch_open_thread()) {
        pthread_setspecific(process.key, (void *)1);
        if (open_events() < 0) {
            __atomic_store_n(&rsc_watch_area->refused, (uint32_t)errno, __ATOMIC_RELAXED);
            rsc_perf_group_close(&group);
            rsc_watch_turn_off(RSC_WATCH_REFUSED);
        }
    }
    rsc_asm_local.busy = 0;
}

static void end_thread(void *unused) {
    struct rsc_watch_thread *thread = rsc_watch_local.thread;
    uint64_t now = 0;
    (void)unused;
    if (!thread) return;
    rsc_asm_local.busy = 1;
    if (group.leader >= LEAST_FD) ioctl(group.leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    if (group.page) rsc_perf_group_now(&group, &now);
    rsc_watch_close_thread(thread, now);
    rsc_perf_group_close(&group);
    rsc_asm_local.busy = 0;
}

/* ---- ends: process_ends.c ---- */

static void tell(void) {
    struct rsc_watch_thread *thread = rsc_watch_local.thread;
    uint64_t now;
    int kept = errno;
    if (!thread || !group.page || rsc_asm_local.busy) return;
    rsc_asm_local.busy = 1;
    if (rsc_perf_group_now(&group, &now) == 0) rsc_watch_tell_position(thread, now);
    rsc_asm_local.busy = 0;
    errno = kept;
}

void rsc_process_execs(void) { tell(); }
void rsc_process_stays(void) {}
void rsc_process_aborts(void) { tell(); }

/* A child of vfork() is still its parent to us. */
void rsc_process_ends(void) {
    const struct rsc_watch_thread *thread = rsc_watch_local.thread;
    if (thread && thread->stream->pid == (uint32_t)getpid()) end_thread(NULL);
}

/* ---- new threads ---- */

struct start {
    void *(*routine)(void *);
    void *argument;
};

static void *start_thread(void *to) {
    struct start start = *(struct start *)to;
    free(to);
    begin_thread();
    return start.routine(start.argument);
}

RSC_INTERPOSE(int, pthread_create,
              (pthread_t * thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)) {
    struct start *start = process.ring ? malloc(sizeof *start) : NULL;
    if (!start) return RSC_REAL(pthread_create)(thread, attributes, routine, argument);
    *start = (struct start){routine, argument};
    int status = RSC_REAL(pthread_create)(thread, attributes, start_thread, start);
    if (status) free(start);
    return status;
}

/* ---- signals: the program's use of ours ---- */

RSC_INTERPOSE(int, sigaction, (int number, const struct sigaction *action, struct sigaction *before)) {
    struct sigaction ours;
    if (rsc_watch_is_on() && number == SIGTRAP) return rsc_watch_trap_action(action, before);
    if (rsc_watch_is_on() && action) {
        ours = *action;
        sigdelset(&ours.sa_mask, SIGTRAP);
        sigdelset(&ours.sa_mask, SAMPLE_SIGNAL);
        action = &ours;
    }
    return RSC_REAL(sigaction)(number, action, before);
}

int rsc_asm_real_sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    return RSC_REAL(sigaction)(number, action, before);
}

typedef void (*plain_handler)(int);
RSC_INTERPOSE(plain_handler, signal, (int number, plain_handler handler)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    if (!rsc_watch_is_on() || number != SIGTRAP) return RSC_REAL(signal)(number, handler);
    return rsc_watch_trap_action(&action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

/* ---- the process ---- */

static void note_maps(void) {
    char *text = mmap(NULL, MAPS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED) return;
    rsc_ring_note_maps(process.ring, RSC_NOTE_NATIVE_MAPS, rsc_process_id(process.image, (uint32_t)getpid()), text,
                       MAPS_BYTES);
    munmap(text, MAPS_BYTES);
}

static void after_fork_in_child(void) {
    struct rsc_watch_local *local = &rsc_watch_local;
    if (!process.ring) return;
    __atomic_fetch_add(&process.ring->forks, 1, __ATOMIC_RELAXED);
    if (local->thread) rsc_watch_forget_thread(local->thread);
    rsc_perf_group_close(&group);
    *local = (struct rsc_watch_local){.trap_blocked = local->trap_blocked};
    if (!process.follow) {
        process.ring = NULL;
        rsc_watch_area = NULL;
        return;
    }
    process.image = __atomic_add_fetch(&process.ring->images, 1, __ATOMIC_RELAXED);
    note_maps();
    begin_thread();
}

static uint64_t setting(const char *text, const char *name) {
    size_t length = strlen(name);
    for (; text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL)
        if (!strncmp(text, name, length) && text[length] == '=') return strtoull(text + length + 1, NULL, 10);
    return 0;
}

static int map_ring(int fd) {
    struct stat file;
    if (fstat(fd, &file) != 0 || (size_t)file.st_size < sizeof(struct rsc_ring)) return -1;
    struct rsc_ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (ring == MAP_FAILED || ring->magic != RSC_RING_MAGIC || ring->detached) return -1;
    process.ring = ring;
    return 0;
}

/* Programs it starts must not load the library: it is the first in LD_PRELOAD. */
static void leave_environment(void) {
    const char *list = getenv("LD_PRELOAD"), *rest = list ? strpbrk(list, ": ") : NULL;
    if (rest) setenv("LD_PRELOAD", rest + 1, 1);
    else unsetenv("LD_PRELOAD");
    unsetenv(RSC_PERF_ENVIRONMENT);
}

static __attribute__((constructor(101))) void initialise(void) {
    struct sigaction action = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    const char *text = secure_getenv(RSC_PERF_ENVIRONMENT);
    if (!text || map_ring((int)setting(text, "ring")) < 0) return;
    process.follow = setting(text, "follow") != 0;
    process.events.layouts.layout = setting(text, "ibs") ? RSC_PERF_AMD_IBS : RSC_PERF_INTEL;
    process.events.layouts.has_weight = setting(text, "latency") != 0;
    process.events.type = (uint32_t)setting(text, "type");
    process.events.loads = setting(text, "loads");
    process.events.stores = setting(text, "stores");
    process.events.leader = setting(text, "leader");
    process.events.config1 = setting(text, "config1");
    process.events.config2 = setting(text, "config2");
    process.events.precise = (int)setting(text, "precise");
    process.events.exclude = (int)setting(text, "exclude");
    process.image = __atomic_add_fetch(&process.ring->images, 1, __ATOMIC_RELAXED);
    if (!process.follow) {
        close((int)setting(text, "ring"));
        leave_environment();
    }
    sigaddset(&action.sa_mask, SIGTRAP); /* a trap meanwhile waits until the sample is taken */
    if (pthread_key_create(&process.key, end_thread) != 0 ||
        rsc_asm_real_sigaction(SAMPLE_SIGNAL, &action, NULL) != 0) {
        process.ring = NULL;
        return;
    }
    rsc_watch_area = &process.ring->watch;
    rsc_watch_sample_signal = SAMPLE_SIGNAL;
    sigset_t wanted; /* a program may be started with signals blocked */
    sigemptyset(&wanted);
    sigaddset(&wanted, SAMPLE_SIGNAL);
    sigaddset(&wanted, SIGTRAP);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &wanted, NULL, 8);
    if (rsc_watch_events_start() < 0) rsc_watch_turn_off(RSC_WATCH_SIGNAL_TAKEN);
    pthread_atfork(NULL, NULL, after_fork_in_child);
    note_maps();
    begin_thread();
}

static __attribute__((destructor(101))) void finish(void) { end_thread(NULL); }
