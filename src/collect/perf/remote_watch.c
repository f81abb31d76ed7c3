/* remote_watch.c - see remote_watch.h. */
#include "collect/perf/remote_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/grow.h"
#include "collect/perf/watch_paths.h"
#include "profile/profile_model.h"
#include "runtime/ring/ring.h"
#include "runtime/watch/perf_group.h"
#include "runtime/watch/watch_period.h"
#include "runtime/watch/watch_shapes.h"
#include "trace/source.h"

#define WAIT_MS 5
#define SCAN_NS 20000000ull /* between looks for new threads */
#define REMOTE_STARTS 4u
#define MAPS_MOST ((size_t)64 << 20)
#define PROCESS 1u /* as profiles number them */

/* What a slot watches: a word, or up to four of a line. */
struct watch {
    int events[RSC_WATCH_SHAPE_WORDS];
    uint64_t ids[RSC_WATCH_SHAPE_WORDS];
    uint32_t count; /* of events; 0: nothing */
    uint32_t start; /* the interval begins at this trap, from 0 */
    uint32_t traps; /* so far */
    uint64_t use;   /* the sample's position */
    uint64_t last;  /* of the last trap, or when it was armed */
};

struct thread {
    pid_t tid;
    uint32_t number;
    int scanned, ended;
    uint64_t period;
    struct rsc_perf_group group;
    struct rsc_perf_layouts trap_layouts;
    struct rsc_watch_pace pace;
    struct rsc_watch_slots slots;
    struct rsc_watch_slot slot[RSC_WATCH_REGISTERS];
    struct watch watches[RSC_WATCH_REGISTERS];
};

struct rsc_remote_watch {
    struct rsc_remote_options options;
    struct rsc_perf_events events;
    struct thread **threads; /* owned, and each of them; slots keep pointers into their thread */
    size_t count, room;
    pid_t *refused; /* threads whose events could not be opened: not tried again */
    size_t refused_count, refused_room;
    struct pollfd *polled; /* [room_polled] */
    size_t polled_room;
    uint32_t numbers; /* threads seen */
    uint64_t scanned_ns;
    struct rsc_rng rng;
    struct rsc_watch_record *records;
    size_t record_count, record_room;
    struct rsc_guest_maps *maps;
    struct rsc_watch_paths *paths;
    struct rsc_remote_stats stats;
};

/* ---- records ---- */

static int add_record(struct rsc_remote_watch *remote, struct rsc_watch_record record) {
    if (RSC_GROW(remote->records, remote->record_room, remote->record_count + 1)) return RSC_ENOMEM;
    remote->records[remote->record_count++] = record;
    return 0;
}

/* Ends a slot's watch; `gap`: references that it is known to have lasted. */
static int end_watch(struct rsc_remote_watch *remote, struct thread *thread, uint32_t slot,
                     enum rsc_watch_ending ending, uint64_t gap, uint64_t pc, double chance) {
    struct watch *watch = &thread->watches[slot];
    for (uint32_t i = 0; i < watch->count; i++) close(watch->events[i]);
    struct rsc_watch_end end = {.count = watch->use + 1 + gap,
                                .pc = pc,
                                .chance = chance,
                                .slot = slot,
                                .path = RSC_NO_CONTEXT,
                                .ending = ending};
    watch->count = 0;
    return add_record(remote, (struct rsc_watch_record){RSC_WATCH_RECORD_END, thread->number, .end = end});
}

static int release(struct rsc_remote_watch *remote, struct thread *thread, uint32_t slot, enum rsc_watch_ending ending,
                   uint64_t gap, uint64_t pc) {
    return end_watch(remote, thread, slot, ending, gap, pc, rsc_watch_slots_release(&thread->slots, slot));
}

/* What they would show cannot be relied on: records were lost, or the counters did not run all the time. */
static int drop_all(struct rsc_remote_watch *remote, struct thread *thread) {
    int status = 0;
    for (uint32_t slot = 0; slot < thread->slots.count && status >= 0; slot++)
        if (rsc_watch_slots_holds(&thread->slots, slot))
            status = release(remote, thread, slot, RSC_WATCH_DROPPED, 0, 0);
    return status;
}

/* ---- samples ---- */

/* Opens a register of the thread, which the kernel switches off after `traps`. Returns the event, or -1. */
static int open_register(const struct thread *thread, uint64_t word, uint32_t traps, uint64_t *id) {
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                   .size = sizeof attr,
                                   .bp_type = HW_BREAKPOINT_RW,
                                   .bp_len = HW_BREAKPOINT_LEN_8,
                                   .bp_addr = word << 3,
                                   .sample_period = 1,
                                   .sample_type = rsc_perf_sample_type(RSC_PERF_INTEL, 0),
                                   .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .wakeup_events = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attr, thread->tid, -1, thread->group.leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return -1;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, thread->group.loads) == 0 && ioctl(fd, PERF_EVENT_IOC_ID, id) == 0 &&
        ioctl(fd, PERF_EVENT_IOC_REFRESH, traps) == 0)
        return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

static int arm(struct rsc_remote_watch *remote, struct thread *thread, uint32_t slot, uint64_t address, uint64_t at,
               uint32_t shape) {
    uint64_t words[RSC_WATCH_SHAPE_WORDS];
    struct watch *watch = &thread->watches[slot];
    uint32_t count = rsc_watch_shape_words((enum rsc_watch_shape)shape, address >> 3, words);
    *watch = (struct watch){.use = at, .last = at, .start = (uint32_t)rsc_rng_below(&remote->rng, REMOTE_STARTS)};
    for (uint32_t i = 0; i < count; i++) {
        int fd = open_register(thread, words[i], watch->start + 2, &watch->ids[i]);
        if (fd >= 0) {
            watch->events[watch->count++] = fd;
            continue;
        }
        if (errno == ESRCH) thread->ended = 1;
        else {
            remote->stats.held++;
            remote->stats.held_code = (uint32_t)errno;
        }
        return release(remote, thread, slot, RSC_WATCH_DROPPED, 0, 0);
    }
    rsc_perf_group_now(&thread->group, &watch->last);
    return 0;
}

static int take_sample(struct rsc_remote_watch *remote, struct thread *thread, const struct rsc_perf_sample *sample) {
    thread->group.seen++;
    thread->group.memory += sample->is_memory;
    remote->stats.multiplexed += sample->is_shared;
    if (sample->is_shared) return drop_all(remote, thread);
    if (!sample->is_memory || sample->address < 4096 || sample->address >= (1ull << 47) - 4096) {
        remote->stats.watch.void_samples++;
        return 0;
    }
    uint64_t at = rsc_perf_group_advance(&thread->group, sample->count);
    struct rsc_watch_choice choice = rsc_watch_slots_sample(&thread->slots);
    int status = 0;
    if (choice.replaced) {
        const struct watch *old = &thread->watches[choice.slot];
        status = end_watch(remote, thread, choice.slot, RSC_WATCH_REPLACED, at > old->last ? at - old->last : 0, 0,
                           choice.chance);
    }
    uint32_t shape = RSC_WATCH_WORD;
    if (remote->options.whole_lines)
        shape = RSC_WATCH_QUARTER + (uint32_t)rsc_rng_below(&remote->rng, RSC_WATCH_LINE_SHAPES);
    struct rsc_watch_sample use = {.count = at + 1,
                                   .address = sample->address,
                                   .pc = sample->ip,
                                   .context = sample->ip,
                                   .stands_for = thread->period,
                                   .slot = choice.slot,
                                   .path = RSC_NO_CONTEXT,
                                   .chance = choice.chance,
                                   .cycles = sample->latency < UINT32_MAX ? (uint32_t)sample->latency : UINT32_MAX,
                                   .source = rsc_perf_source(sample->source),
                                   .shape = shape};
    if (status >= 0)
        status = add_record(remote, (struct rsc_watch_record){RSC_WATCH_RECORD_SAMPLE, thread->number, .sample = use});
    if (status >= 0 && choice.slot != RSC_NO_SLOT)
        status = arm(remote, thread, choice.slot, sample->address, at, shape);
    remote->stats.watch.samples++;
    if (remote->options.period) return status;
    uint64_t period = rsc_watch_pace_sample(&thread->pace, sample->running_ns, remote->options.rate, thread->period);
    if (period != thread->period) rsc_perf_group_set_period(&thread->group, period);
    thread->period = period;
    return status;
}

static int take_trap(struct rsc_remote_watch *remote, struct thread *thread, uint32_t slot,
                     const struct rsc_perf_sample *trap) {
    struct watch *watch = &thread->watches[slot];
    remote->stats.watch.hits++;
    uint64_t at = rsc_perf_group_advance(&thread->group, trap->count), gap = at > watch->last ? at - watch->last : 0;
    watch->last = at;
    if (watch->traps++ <= watch->start) return 0;
    /* The trap comes after the instruction. */
    return release(remote, thread, slot, RSC_WATCH_REUSED, gap ? gap : 1, trap->ip - 1);
}

/* The slot that an event belongs to; RSC_NO_SLOT: none (any more). */
static uint32_t slot_of(const struct thread *thread, uint64_t id) {
    for (uint32_t slot = 0; slot < thread->slots.count; slot++)
        for (uint32_t i = 0; i < thread->watches[slot].count; i++)
            if (thread->watches[slot].ids[i] == id) return slot;
    return RSC_NO_SLOT;
}

static int take_ring(struct rsc_remote_watch *remote, struct thread *thread) {
    uint64_t record[RSC_PERF_RECORD_MAX / 8];
    struct rsc_perf_sample sample;
    uint32_t bytes;
    int status = 0;
    while (status >= 0 && (bytes = rsc_perf_group_next(&thread->group, record))) {
        uint64_t id = record[1]; /* of a sample: its event */
        int chosen = id == thread->group.layouts.loads_id || id == thread->group.layouts.stores_id;
        const struct rsc_perf_layouts *layouts = chosen ? &thread->group.layouts : &thread->trap_layouts;
        uint32_t slot;
        enum rsc_perf_record kind = rsc_perf_decode(layouts, record, bytes, &sample, &remote->stats.watch.dropped);
        if (kind == RSC_PERF_LOST) status = drop_all(remote, thread);
        else if (kind != RSC_PERF_SAMPLE) continue;
        else if (chosen) status = take_sample(remote, thread, &sample);
        else if ((slot = slot_of(thread, id)) != RSC_NO_SLOT) status = take_trap(remote, thread, slot, &sample);
    }
    return status;
}

/* ---- threads ---- */

static void close_thread(struct thread *thread) {
    for (uint32_t slot = 0; slot < RSC_WATCH_REGISTERS; slot++)
        for (uint32_t i = 0; i < thread->watches[slot].count; i++) close(thread->watches[slot].events[i]);
    rsc_perf_group_close(&thread->group);
    free(thread);
}

/* Whether its events are open; otherwise errno. */
static int open_thread(struct rsc_remote_watch *remote, pid_t tid, struct thread **out) {
    struct thread *thread = calloc(1, sizeof *thread);
    *out = thread;
    if (!thread) return RSC_ENOMEM;
    thread->tid = tid;
    thread->scanned = 1;
    thread->period = remote->options.period ? remote->options.period : RSC_PERF_PERIOD_FIRST;
    rsc_watch_slots_init(&thread->slots, thread->slot, remote->options.whole_lines ? 1 : remote->options.registers,
                         RSC_REPLACE_RESERVOIR, remote->options.seed, (uint64_t)tid);
    if (rsc_perf_group_open(&thread->group, &remote->events, tid, thread->period, RSC_PERF_RING_OUTSIDE) == 0 &&
        ioctl(thread->group.leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) == 0) {
        thread->trap_layouts = (struct rsc_perf_layouts){RSC_PERF_INTEL, 0, thread->group.layouts.loads_id,
                                                         thread->group.layouts.stores_id};
        return 0;
    }
    int code = errno;
    close_thread(thread);
    *out = NULL;
    errno = code;
    return -1;
}

static int is_known(struct rsc_remote_watch *remote, pid_t tid) {
    for (size_t i = 0; i < remote->count; i++)
        if (remote->threads[i]->tid == tid) return remote->threads[i]->scanned = 1;
    for (size_t i = 0; i < remote->refused_count; i++)
        if (remote->refused[i] == tid) return 1;
    return 0;
}

static int meet_thread(struct rsc_remote_watch *remote, pid_t tid) {
    struct thread *thread = NULL;
    if (is_known(remote, tid)) return 0;
    int status = RSC_GROW(remote->threads, remote->room, remote->count + 1) ||
                         RSC_GROW(remote->polled, remote->polled_room, remote->count + 1) ||
                         RSC_GROW(remote->refused, remote->refused_room, remote->refused_count + 1)
                     ? RSC_ENOMEM
                     : 0;
    if (status == 0 && remote->numbers < RSC_THREADS_MAX) status = open_thread(remote, tid, &thread);
    if (status == RSC_ENOMEM) return status;
    if (!thread) {
        if (errno == ESRCH) return 0; /* it has just ended */
        remote->refused[remote->refused_count++] = tid;
        remote->stats.unwatched++;
        remote->stats.code = (uint32_t)errno;
        return 0;
    }
    thread->number = remote->numbers++;
    remote->threads[remote->count++] = thread;
    return 0;
}

static int scan(struct rsc_remote_watch *remote) {
    char path[64];
    int status = 0;
    const struct dirent *entry;
    remote->scanned_ns = rsc_ring_now_ns();
    snprintf(path, sizeof path, "/proc/%d/task", (int)remote->options.pid);
    DIR *folder = opendir(path);
    for (size_t i = 0; i < remote->count; i++) remote->threads[i]->scanned = 0;
    while (folder && status >= 0 && (entry = readdir(folder)))
        if (atoi(entry->d_name) > 0) status = meet_thread(remote, atoi(entry->d_name));
    if (folder) closedir(folder);
    for (size_t i = 0; i < remote->count; i++) remote->threads[i]->ended |= !remote->threads[i]->scanned;
    return status;
}

/* Its watches end, and its progress is counted. `gone`: the thread has ended, not just the watching. */
static int finish_thread(struct rsc_remote_watch *remote, struct thread *thread, int gone) {
    uint64_t at = 0;
    rsc_perf_group_now(&thread->group, &at);
    int status = 0;
    for (uint32_t slot = 0; slot < thread->slots.count && status >= 0; slot++) {
        uint64_t last = thread->watches[slot].last;
        if (rsc_watch_slots_holds(&thread->slots, slot))
            status = release(remote, thread, slot, gone ? RSC_WATCH_UNUSED : RSC_WATCH_REPLACED,
                             at > last ? at - last : 0, 0);
    }
    struct rsc_watch_progress progress = {PROCESS, thread->number + 1, at, at};
    remote->stats.watch.threads++;
    remote->stats.watch.accesses += at;
    if (status < 0) return status;
    return add_record(remote,
                      (struct rsc_watch_record){RSC_WATCH_RECORD_PROGRESS, thread->number, .progress = progress});
}

/* ---- the process ---- */

static int read_maps(struct rsc_remote_watch *remote) {
    char path[64], *text = NULL;
    size_t used = 0, room = 0;
    ssize_t got = 1;
    int status = 0;
    const struct rsc_guest_map *map;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)remote->options.pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !status && used < MAPS_MOST && got > 0) {
        if (RSC_GROW(text, room, used + 65536)) status = RSC_ENOMEM;
        else if ((got = read(fd, text + used, room - used)) > 0) used += (size_t)got;
    }
    if (fd >= 0) close(fd);
    if (!status && used)
        status =
            rsc_guest_maps_text(remote->maps, rsc_process_id(PROCESS, (uint32_t)remote->options.pid), 1, text, used);
    free(text);
    while (!status && (map = rsc_guest_maps_next(remote->maps))) status = rsc_watch_paths_mapped(remote->paths, map, 0);
    return status < 0 ? RSC_ENOMEM : 0;
}

static int explain(const struct rsc_remote_watch *remote, struct rsc_error *error) {
    int pid = (int)remote->options.pid, code = (int)remote->stats.code;
    if (!remote->stats.unwatched || code == ESRCH)
        return rsc_fail(error, RSC_EUNSUPPORTED, "process %d: it has ended", pid);
    if (code == EACCES || code == EPERM)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "process %d: not permitted to sample it (kernel.perf_event_paranoid is %d; a program that "
                        "changed its user or must not be traced needs root): sysctl kernel.perf_event_paranoid=2",
                        pid, rsc_perf_paranoid());
    return rsc_fail(error, RSC_EUNSUPPORTED, "process %d: its threads cannot be sampled: %s", pid, strerror(code));
}

int rsc_remote_watch_new(struct rsc_remote_watch **out, const struct rsc_perf_pmu *pmu,
                         const struct rsc_remote_options *options, struct rsc_error *error) {
    struct rlimit files;
    struct rsc_remote_watch *remote = *out = calloc(1, sizeof *remote);
    if (!remote) return rsc_fail_memory(error, "collector");
    remote->options = *options;
    rsc_perf_events_of(pmu, &remote->events);
    rsc_rng_seed(&remote->rng, options->seed, (uint64_t)options->pid);
    remote->maps = rsc_guest_maps_new();
    remote->paths = rsc_watch_paths_new();
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) { /* several files per thread */
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    int status = remote->maps && remote->paths ? 0 : RSC_ENOMEM;
    if (status == 0) status = read_maps(remote);
    if (status == 0) status = scan(remote);
    if (status < 0) rsc_fail_memory(error, "collector");
    else if (!remote->count) status = explain(remote, error);
    if (status == 0) return 0;
    rsc_remote_watch_free(remote);
    *out = NULL;
    return status;
}

void rsc_remote_watch_free(struct rsc_remote_watch *remote) {
    if (!remote) return;
    for (size_t i = 0; i < remote->count; i++) close_thread(remote->threads[i]);
    free(remote->threads);
    free(remote->refused);
    free(remote->polled);
    free(remote->records);
    rsc_guest_maps_free(remote->maps);
    rsc_watch_paths_free(remote->paths);
    free(remote);
}

int rsc_remote_watch_take(struct rsc_remote_watch *remote, int ended, const struct rsc_watch_record **records,
                          size_t *count, struct rsc_error *error) {
    int status = 0;
    remote->record_count = 0;
    for (size_t i = 0; i < remote->count; i++)
        remote->polled[i] = (struct pollfd){.fd = remote->threads[i]->group.loads, .events = POLLIN};
    if (!ended) poll(remote->polled, remote->count, WAIT_MS);
    for (size_t i = 0; i < remote->count && status >= 0; i++) {
        status = take_ring(remote, remote->threads[i]);
        remote->threads[i]->ended |= !ended && remote->polled[i].revents & POLLHUP ? 1 : 0;
    }
    if (status >= 0 && !ended && rsc_ring_now_ns() - remote->scanned_ns > SCAN_NS) status = scan(remote);
    if (status >= 0 && ended) status = read_maps(remote); /* what it has loaded since */
    for (size_t i = remote->count; i-- > 0 && status >= 0;) {
        struct thread *thread = remote->threads[i];
        if (!thread->ended && !ended) continue;
        if (thread->ended) status = take_ring(remote, thread);
        if (status >= 0) status = finish_thread(remote, thread, thread->ended);
        close_thread(thread);
        remote->threads[i] = remote->threads[--remote->count];
    }
    *records = remote->records;
    *count = remote->record_count;
    return status < 0 ? rsc_fail_memory(error, "collector") : 0;
}

void rsc_remote_watch_stats(const struct rsc_remote_watch *remote, struct rsc_remote_stats *stats) {
    *stats = remote->stats;
}

int rsc_remote_watch_fill(const struct rsc_remote_watch *remote, struct rsc_profile *profile) {
    return rsc_watch_paths_fill(remote->paths, profile);
}
