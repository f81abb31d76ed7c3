/*
 * watch_events.c - debug registers through perf_event_open(), and the trap of the reuse.
 *
 * One event per register and thread, opened at the thread's first sample: reads and
 * writes of 8 bytes, SIGTRAP to the thread itself at the access (sigtrap), removed on
 * exec. Arming changes its address; a trap disables it. The signal carries the number of
 * the register and a generation, which distinguishes a late one from a new one.
 *
 * The handler runs on our own stack. While SIGTRAP is blocked, the kernel keeps one trap
 * pending and marks it (TRAP_PERF_FLAG_ASYNC): the reuse was some time earlier.
 */
#include "runtime/trap/watch_thread.h"

#include <errno.h>
#include <link.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>
#ifndef RSC_ASM_STATIC
#include <dlfcn.h>
#endif

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif
#define PERF_FLAG_ASYNC 1u
#define DATA_MARK 0x5253430000000000ull /* in sig_data: "RSC", to recognise our events */
#define DATA_MASK 0xffffff0000000000ull
#define STACK_NEAR (1u << 20) /* bytes above the stack pointer that the unwinder may read */

static uintptr_t own_start, own_stop; /* code of the runtime */
static uint32_t events_open, events_most;

typedef _Unwind_Reason_Code backtrace_function(_Unwind_Trace_Fn, void *);
static backtrace_function *walk;
static uintptr_t (*frame_ip)(struct _Unwind_Context *);

/* ---- events ---- */

static struct perf_event_attr attributes(uint32_t number, uint32_t generation, uint64_t word, int disabled) {
    return (struct perf_event_attr){.type = PERF_TYPE_BREAKPOINT,
                                    .size = sizeof(struct perf_event_attr),
                                    .bp_type = HW_BREAKPOINT_RW,
                                    .bp_len = HW_BREAKPOINT_LEN_8,
                                    .bp_addr = word,
                                    .sample_period = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1,
                                    .sigtrap = 1,
                                    .remove_on_exec = 1,
                                    .disabled = (uint32_t)disabled & 1,
                                    .sig_data = DATA_MARK | (uint64_t)generation << 8 | number};
}

/*
 * A thread with fewer registers samples too, but less: sampling must not take what the
 * program needs. Half of the file descriptors are left to it, and the second to fourth
 * register of each thread are only taken from the first quarter.
 */
static int may_open(uint32_t number) {
    uint32_t open = __atomic_add_fetch(&events_open, 1, __ATOMIC_RELAXED);
    if (open <= (number ? events_most / 2 : events_most)) return 1;
    __atomic_fetch_sub(&events_open, 1, __ATOMIC_RELAXED);
    return 0;
}

void rsc_watch_events_open(struct rsc_watch_thread *thread) {
    struct rsc_watch_area *area = rsc_watch_area;
    uint32_t got = 0;
    for (; got < area->registers && got < RSC_WATCH_REGISTERS; got++) {
        struct perf_event_attr event = attributes(got, 0, (uintptr_t)&thread->words[0], 1);
        if (!may_open(got)) {
            __atomic_fetch_add(&area->short_of_files, 1, __ATOMIC_RELAXED);
            break;
        }
        int fd = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0) {
            __atomic_fetch_sub(&events_open, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&area->refused, (uint32_t)errno, __ATOMIC_RELAXED);
            if (errno == EMFILE || errno == ENFILE) __atomic_fetch_add(&area->short_of_files, 1, __ATOMIC_RELAXED);
            else if (errno == ENOSPC || errno == EBUSY) __atomic_fetch_add(&area->held, 1, __ATOMIC_RELAXED);
            else rsc_watch_turn_off(RSC_WATCH_REFUSED);
            break;
        }
        thread->registers[got] = (struct rsc_watch_register){.fd = fd};
    }
    thread->register_count = thread->stream->registers = got;
}

int rsc_watch_arm(struct rsc_watch_thread *thread, uint32_t number, uint64_t word) {
    struct rsc_watch_register *reg = &thread->registers[number];
    struct perf_event_attr event = attributes(number, ++reg->generation, word, 0);
    reg->address = word;
    reg->armed = 1;
    return ioctl(reg->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &event);
}

void rsc_watch_disarm(struct rsc_watch_thread *thread, uint32_t number) {
    thread->registers[number].armed = 0;
    ioctl(thread->registers[number].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* In a forked child the events belong to its parent: it only closes the files. */
void rsc_watch_events_close(struct rsc_watch_thread *thread, int in_child) {
    for (uint32_t i = 0; i < thread->register_count; i++) {
        thread->registers[i].armed = 0;
        close(thread->registers[i].fd);
    }
    if (in_child) __atomic_store_n(&events_open, 0, __ATOMIC_RELAXED);
    else __atomic_fetch_sub(&events_open, thread->register_count, __ATOMIC_RELAXED);
    thread->register_count = 0;
}

/* ---- call paths ---- */

struct walking {
    uint64_t pc, *frames;
    uint32_t count, most, cut;
    int found;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *to) {
    struct walking *walking = to;
    uint64_t ip = frame_ip(context);
    if (!walking->found) {
        walking->found = ip == walking->pc;
        return _URC_NO_REASON;
    }
    if (!ip) return _URC_END_OF_STACK;
    if (walking->count == walking->most) {
        walking->cut = 1;
        return _URC_END_OF_STACK;
    }
    walking->frames[walking->count++] = ip;
    return _URC_NO_REASON;
}

/* The unwinder reads return addresses: watched ones must not trap for that. */
static void pause_near(struct rsc_watch_thread *thread, uint64_t stack, int pause) {
    for (uint32_t i = 0; i < thread->register_count; i++) {
        struct rsc_watch_register *reg = &thread->registers[i];
        if (pause ? !reg->armed || reg->address - stack >= STACK_NEAR : !reg->paused) continue;
        reg->paused = (uint8_t)pause;
        ioctl(reg->fd, pause ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
    }
}

uint32_t rsc_watch_unwind(struct rsc_watch_thread *thread, uint64_t pc, uint64_t stack, uint64_t *frames,
                          uint32_t *cut) {
    struct walking walking = {.pc = pc, .frames = frames, .most = rsc_watch_area->frames};
    *cut = 0;
    if (!walk || !walking.most) return 0;
    pause_near(thread, stack, 1);
    walk(on_frame, &walking);
    pause_near(thread, stack, 0);
    *cut = walking.cut;
    return walking.count;
}

/* ---- the trap ---- */

static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static void put_hit(struct rsc_watch_thread *thread, uint32_t slot, uint64_t word, const ucontext_t *context,
                    uint32_t flags) {
    uint64_t record[RSC_WATCHED_HIT_WORDS], frames[RSC_WATCH_FRAMES],
        pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    uint32_t cut, words = RSC_WATCHED_HIT_WORDS;
    uint32_t count = rsc_watch_unwind(thread, pc, (uint64_t)context->uc_mcontext.gregs[REG_RSP], frames, &cut);
    record[RSC_WATCHED_HIT_CHANCE] = rsc_watch_bits(rsc_watch_slots_release(&thread->slots, slot));
    record[RSC_WATCHED_HIT_PC] = pc;
    for (int i = 0; i < 16; i++) record[RSC_WATCHED_HIT_GENERAL + i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    flags |= rsc_watch_place_hit(thread, word, record);
    if (flags & RSC_WATCH_RESOLVED) words = RSC_WATCHED_HIT_WORDS_RESOLVED;
    record[0] = rsc_watch_head(RSC_WATCHED_HIT, slot, flags | (cut ? RSC_WATCH_CUT : 0), words + count, count);
    rsc_watch_put(thread, record, words, frames, count);
    thread->stream->hits++;
}

static void on_perf_trap(uint64_t data, uint32_t perf_flags, const ucontext_t *context) {
    struct rsc_watch_thread *thread = rsc_watch_local.thread;
    uint32_t number = data & 0xff, generation = (uint32_t)(data >> 8);
    uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (!thread || number >= thread->register_count) return;
    struct rsc_watch_register *reg = &thread->registers[number];
    if (!reg->armed || reg->paused || (reg->generation & 0xffffffff) != generation) return;
    int late = perf_flags & PERF_FLAG_ASYNC;
    if (!late && (rsc_asm_local.busy || (pc >= own_start && pc < own_stop))) {
        thread->stream->own_hits++; /* our own use of the program's stack */
        return;
    }
    uint64_t began = rsc_watch_cpu_ns(), word = reg->address;
    uint8_t was_busy = rsc_asm_local.busy;
    rsc_asm_local.busy = 1; /* the unwinder's calls of libc are not the program's accesses */
    /* Other registers with the same word were hit too, but only one SIGTRAP can be pending. */
    for (uint32_t i = 0; i < thread->slot_count; i++) {
        if (thread->slot_registers > 1 ? i != number / thread->slot_registers
                                       : !thread->registers[i].armed || thread->registers[i].address != word)
            continue;
        rsc_watch_disarm_slot(thread, i);
        if (late) thread->stream->late_hits++;
        put_hit(thread, i, word, context, late ? RSC_WATCH_LATE : 0);
    }
    rsc_asm_local.busy = was_busy;
    thread->stream->busy_ns += rsc_watch_cpu_ns() - began;
}

static void on_trap(int number, siginfo_t *info, void *context) {
    int kept = errno;
    uint64_t data;
    uint32_t flags;
    /* Some C libraries lack these members: si_perf_data, si_perf_type, si_perf_flags after si_addr. */
    __builtin_memcpy(&data, (const char *)info + 24, sizeof data);
    __builtin_memcpy(&flags, (const char *)info + 36, sizeof flags);
    if (info->si_code == TRAP_PERF && (data & DATA_MASK) == DATA_MARK) on_perf_trap(data & ~DATA_MASK, flags, context);
    else rsc_watch_foreign_trap(number, info, context);
    errno = kept;
}

/* ---- the process ---- */

static int find_own(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    uintptr_t inside = (uintptr_t)on_trap;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || inside < start ||
            inside >= start + header->p_memsz)
            continue;
        own_start = start;
        own_stop = start + header->p_memsz;
        return 1;
    }
    return 0;
}

#ifdef RSC_ASM_STATIC
extern backtrace_function _Unwind_Backtrace __attribute__((weak));
extern uintptr_t _Unwind_GetIP(struct _Unwind_Context *) __attribute__((weak));
static void find_unwinder(void) {
    walk = _Unwind_Backtrace;
    frame_ip = _Unwind_GetIP;
    own_start = (uintptr_t)rsc_asm_room;
    own_stop = own_start + 256;
    (void)find_own;
}
#else
static void find_unwinder(void) {
    dl_iterate_phdr(find_own, NULL);
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW);
    if (!library) return; /* call paths are left out */
    walk = (backtrace_function *)dlsym(library, "_Unwind_Backtrace");
    frame_ip = (uintptr_t (*)(struct _Unwind_Context *))dlsym(library, "_Unwind_GetIP");
    if (!frame_ip) walk = NULL;
}
#endif

int rsc_watch_events_start(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct rlimit files;
    events_most =
        getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 1u << 20 ? (uint32_t)files.rlim_cur / 2 : 1u << 19;
    find_unwinder();
    return rsc_asm_real_sigaction(SIGTRAP, &action, NULL);
}
