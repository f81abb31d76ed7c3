/* tool_schedule.c - see tool_schedule.h. */
#include "collect/valgrind/tool_schedule.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/syscall.h>

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_machine.h>
#include <pub_tool_vki.h>
#include <libvex_guest_amd64.h>

#include "collect/valgrind/tool_calls.h"
#include "collect/valgrind/tool_state.h"

/* Of Valgrind's core; their headers are not packaged. */
void VG_(acquire_BigLock)(ThreadId thread, const HChar *who);
void VG_(release_BigLock)(ThreadId thread, UInt state, const HChar *who);
Bool VG_(is_exiting)(ThreadId thread);
SysRes VG_(do_syscall)(UWord number, RegWord a, RegWord b, RegWord c, RegWord d, RegWord e, RegWord f, RegWord g,
                       RegWord h);
#define YIELDING 4 /* VgTs_Yielding */

#define ANY_BITS FUTEX_BITSET_MATCH_ANY
#define SYSCALL_BYTES 2      /* of the instruction */

enum place {
    NOWHERE,       /* there is no such thread */
    TAKES_PART,    /* it has turns, at once or when it gets there */
    WAITS,         /* for a wake of its futex */
    NEEDS_FILE,    /* for data, or room */
    OUTSIDE,       /* in a call that ends when it ends */
};

static struct turn_thread {
    enum place place;
    UInt gate;        /* its futex in the tool; changes when it gets the turn, or need not rest any more */
    int slice_over;   /* its blocks have run */
    int in_call;      /* the kernel is running for it */
    Addr cleared;     /* the kernel clears this word when it has ended; 0: none */
    struct rsc_tool_call made; /* the program's call while it rests */
    int rests;        /* its registers are those of the call in which it rests */
    /* WAITS: */
    Addr futex;
    UInt bits;
    ULong since; /* who waits longest is woken first */
    struct vki_timespec limit;
    /* NEEDS_FILE: */
    Int fd;
    Short events;
} threads[RSC_TOOL_THREADS];

static ThreadId turn;    /* 0: none can run */
static ThreadId highest; /* number so far */
static ThreadId created; /* by the call to clone() that runs */
static int living = 1;
static ULong waits, steps; /* calls that waited; changes of the turn */
static int watchers;       /* threads that wait for their turn, and watch that it passes */
static Addr ending;        /* cleared when the thread that ended last is gone; 0: it is */
static struct vki_timespec second = {1, 0};

int rsc_schedule_has(ThreadId thread) { return turn == thread; }
int rsc_schedule_living(void) { return living; }

/* ---- registers ---- */

#define REGISTER(name) offsetof(VexGuestAMD64State, guest_##name)
static const UInt argument_registers[6] = {REGISTER(RDI), REGISTER(RSI), REGISTER(RDX),
                                           REGISTER(R10), REGISTER(R8),  REGISTER(R9)};

static UWord get(ThreadId thread, UInt which) {
    UWord value;
    VG_(get_shadow_regs_area)(thread, (UChar *)&value, 0, which, sizeof value);
    return value;
}

static void set(ThreadId thread, UInt which, UWord value) {
    VG_(set_shadow_regs_area)(thread, 0, which, sizeof value, (const UChar *)&value);
}

static struct rsc_tool_call get_call(ThreadId thread) {
    struct rsc_tool_call call = {.number = get(thread, REGISTER(RAX))};
    for (int i = 0; i < 6; i++) call.args[i] = get(thread, argument_registers[i]);
    return call;
}

static void set_call(ThreadId thread, const struct rsc_tool_call *call) {
    set(thread, REGISTER(RAX), call->number);
    for (int i = 0; i < 6; i++) set(thread, argument_registers[i], call->args[i]);
}

static UWord failed(Int error) { return (UWord) - (Word)error; }

/* ---- the turn ---- */

static void open_gate(ThreadId thread) {
    threads[thread].gate++;
    VG_(do_syscall)(SYS_futex, (RegWord)&threads[thread].gate, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0, 0, 0);
}

static void give_turn(ThreadId thread) {
    const int is_new = turn != thread;
    turn = thread;
    steps++;
    threads[thread].slice_over = 0;
    if (is_new) open_gate(thread);
}

static int is_ready(const struct turn_thread *of) {
    struct vki_pollfd file = {.fd = of->fd, .events = of->events};
    SysRes polled = VG_(poll)(&file, 1, 0);
    return sr_isError(polled) || sr_Res(polled) != 0;
}

/* The next thread that can run gets the turn. */
static void pass_turn(void) {
    const ThreadId from = turn;
    for (ThreadId thread = 1; thread <= highest; thread++)
        if (threads[thread].place == NEEDS_FILE && is_ready(&threads[thread])) threads[thread].place = TAKES_PART;
    for (ThreadId n = 1; n <= highest; n++) {
        const ThreadId thread = (from + n - 1) % highest + 1;
        if (threads[thread].place != TAKES_PART) continue;
        give_turn(thread);
        return;
    }
    turn = 0;
    steps++;
    /* Nobody would look at files: those who need them wait in the kernel. */
    for (ThreadId thread = 1; thread <= highest; thread++) {
        if (threads[thread].place != NEEDS_FILE) continue;
        threads[thread].place = OUTSIDE;
        open_gate(thread);
    }
}

/* A call that was not expected to take long has kept the turn for a second: it may wait for another thread. */
static void free_turn(ULong seen) {
    if (!turn || steps != seen || !threads[turn].in_call) return;
    threads[turn].place = OUTSIDE;
    pass_turn();
}

/* A thread that has ended is still there for a moment: its word is not cleared yet, and its number is taken. */
static void see_off(void) {
    for (int tries = 0; ending && tries < 100000; tries++) {
        if (!VG_(am_is_valid_for_client)(ending, sizeof(UInt), VKI_PROT_READ) || !*(volatile UInt *)ending) break;
        struct vki_timespec moment = {0, 10000};
        VG_(do_syscall)(SYS_nanosleep, (RegWord)&moment, 0, 0, 0, 0, 0, 0, 0);
    }
    ending = 0;
}

/* Takes part, from now on, and returns with the turn; or without it in a thread that must end. */
static void take_turn(ThreadId thread) {
    struct turn_thread *of = &threads[thread];
    of->in_call = 0;
    of->place = TAKES_PART;
    if (!turn) give_turn(thread);
    while (turn != thread && !VG_(is_exiting)(thread)) {
        const UInt gate = of->gate;
        const ULong seen = steps;
        watchers++;
        VG_(release_BigLock)(thread, YIELDING, "reusescope");
        SysRes waited = VG_(do_syscall)(SYS_futex, (RegWord)&of->gate, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, gate,
                                        (RegWord)&second, 0, 0, 0, 0);
        VG_(acquire_BigLock)(thread, "reusescope");
        watchers--;
        if (sr_isError(waited) && sr_Err(waited) == ETIMEDOUT) free_turn(seen);
    }
    if (turn == thread) see_off();
}

/* ---- threads ---- */

void rsc_schedule_reset(ThreadId thread) {
    const Addr cleared = threads[thread].cleared;
    VG_(memset)(threads, 0, sizeof threads);
    threads[thread].place = TAKES_PART;
    threads[thread].cleared = cleared;
    turn = highest = thread;
    living = 1;
    watchers = 0;
    ending = 0;
}

void rsc_schedule_create(ThreadId parent, ThreadId child) {
    if (!parent || child >= RSC_TOOL_THREADS) return; /* the first thread has none */
    const struct rsc_tool_call clone = get_call(parent);
    threads[child] = (struct turn_thread){.place = TAKES_PART,
                                          .gate = threads[child].gate,
                                          .cleared = clone.args[0] & CLONE_CHILD_CLEARTID ? clone.args[3] : 0};
    if (child > highest) highest = child;
    created = child;
    living++;
}

void rsc_schedule_not_created(void) {
    if (!created) return;
    threads[created].place = NOWHERE;
    created = 0;
    living--;
}

void rsc_schedule_arrive(ThreadId thread) { take_turn(thread); }

static UWord wake(Addr futex, UInt most, UInt bits);

void rsc_schedule_end(ThreadId thread) {
    struct turn_thread *of = &threads[thread];
    living--;
    of->place = NOWHERE;
    of->rests = 0;
    if (turn != thread) return; /* the process ends */
    see_off();
    ending = of->cleared;
    if (ending) wake(ending, ~0u, ANY_BITS);
    pass_turn();
}

void rsc_schedule_stop(ThreadId thread, Int left) {
    if (left <= 0) threads[thread].slice_over = 1;
}

/* Valgrind ends a slice, or has ended a call. (--wrap) */
void __real_vgPlain_poll_signals(ThreadId thread);
void __wrap_vgPlain_poll_signals(ThreadId thread);
void __wrap_vgPlain_poll_signals(ThreadId thread) {
    if (turn == thread && threads[thread].slice_over) pass_turn();
    if (!threads[thread].rests) take_turn(thread);
    __real_vgPlain_poll_signals(thread);
}

/* Threads that must end need not wait for their turn. (--wrap) */
void __real_vgPlain_nuke_all_threads_except(ThreadId thread, UInt why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId thread, UInt why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId thread, UInt why) {
    __real_vgPlain_nuke_all_threads_except(thread, why);
    for (ThreadId other = 1; other <= highest; other++)
        if (other != thread && threads[other].place != NOWHERE) open_gate(other);
}

/* ---- resting ---- */

void __real_vgPlain_client_syscall(ThreadId thread, UInt how);
void __wrap_vgPlain_client_syscall(ThreadId thread, UInt how);

#define HANDLED (~0ul >> 1) /* instead of a result: a signal's handler is about to run */

/*
 * Waits in the kernel until the gate opens; limit NULL: for ever. Returns the result, or HANDLED, or not at all when a
 * signal interrupts it: come_back() has been, or will be called.
 */
static UWord rest(ThreadId thread, UInt how, const struct vki_timespec *limit) {
    struct turn_thread *of = &threads[thread];
    const struct rsc_tool_call resting = {SYS_futex,
                                          {(UWord)&of->gate, FUTEX_WAIT_PRIVATE, of->gate, (UWord)limit, 0, 0}};
    of->made = get_call(thread);
    of->rests = 1;
    set_call(thread, &resting);
    __real_vgPlain_client_syscall(thread, how); /* passes the turn: rsc_schedule_call() */
    if (!of->rests) return HANDLED;
    of->rests = 0;
    const UWord result = get(thread, REGISTER(RAX));
    set_call(thread, &of->made);
    return result;
}

/* A signal has interrupted a rest: registers become those after the program's own call. */
static void come_back(ThreadId thread) {
    struct turn_thread *of = &threads[thread];
    if (!of->rests) return;
    const UWord result = get(thread, REGISTER(RAX)), pc = get(thread, REGISTER(RIP));
    const int again = result == SYS_futex; /* Valgrind has set it to be called again */
    const int is_futex = of->made.number == SYS_futex;
    of->rests = 0;
    set_call(thread, &of->made);
    if (is_futex && of->place == TAKES_PART) { /* woken */
        set(thread, REGISTER(RAX), 0);
        if (again) set(thread, REGISTER(RIP), pc + SYSCALL_BYTES);
    } else if (result == failed(EINTR) || (!again && is_futex && of->made.args[3])) {
        set(thread, REGISTER(RAX), result);
    } else if (!again) {
        set(thread, REGISTER(RIP), pc - SYSCALL_BYTES);
    }
    of->place = TAKES_PART;
}

int rsc_schedule_may_run(ThreadId thread) {
    const int interrupted = threads[thread].rests;
    come_back(thread);
    return !interrupted && turn == thread;
}

void rsc_schedule_signal(ThreadId thread) { come_back(thread); }

/* ---- futexes ---- */

static ThreadId longest_waiting(Addr futex, UInt bits) {
    ThreadId found = 0;
    for (ThreadId thread = 1; thread <= highest; thread++) {
        const struct turn_thread *of = &threads[thread];
        if (of->place == WAITS && of->futex == futex && of->bits & bits && (!found || of->since < threads[found].since))
            found = thread;
    }
    return found;
}

/* Woken threads rest on until they get the turn. Returns how many. */
static UWord wake(Addr futex, UInt most, UInt bits) {
    UWord count = 0;
    for (ThreadId thread; count < most && (thread = longest_waiting(futex, bits)); count++)
        threads[thread].place = TAKES_PART;
    return count;
}

static UWord requeue(Addr from, UInt most, Addr to) {
    UWord count = 0;
    for (ThreadId thread; from != to && count < most && (thread = longest_waiting(from, ANY_BITS)); count++) {
        threads[thread].futex = to;
        threads[thread].since = ++waits;
    }
    return count;
}

/* FUTEX_WAKE_OP: changes a word and compares what it was. */
static UWord wake_after_change(const struct rsc_tool_call *call) {
    const UInt change = (UInt)call->args[5];
    UInt *word = (UInt *)call->args[4];
    UInt operand = change >> 12 & 0xfff;
    const UInt compared = change & 0xfff;
    if (change >> 31) operand = 1u << (operand & 31);
    const Int was = (Int)*word, than = (Int)(compared << 20) >> 20;
    if (!(change >> 31)) operand = (UInt)((Int)(operand << 20) >> 20);
    switch (change >> 28 & 7) {
    case 0: *word = operand; break;
    case 1: *word += operand; break;
    case 2: *word |= operand; break;
    case 3: *word &= ~operand; break;
    default: *word ^= operand; break;
    }
    const int holds[6] = {was == than, was != than, was<than, was <= than, was> than, was >= than};
    UWord count = wake(call->args[0], (UInt)call->args[2], ANY_BITS);
    if ((change >> 24 & 15) < 6 && holds[change >> 24 & 15])
        count += wake(call->args[4], (UInt)call->args[3], ANY_BITS);
    return count;
}

/* Memory that other processes may have too, and wake its futexes. The last range grows when there are more. */
static struct {
    Addr start, end;
} shared[64];
static UInt shared_count;

static void note_shared(Addr start, UWord bytes) {
    if (shared_count < sizeof shared / sizeof *shared) {
        shared[shared_count].start = start;
        shared[shared_count++].end = start + bytes;
        return;
    }
    if (start < shared[shared_count - 1].start) shared[shared_count - 1].start = start;
    if (start + bytes > shared[shared_count - 1].end) shared[shared_count - 1].end = start + bytes;
}

static int is_shared(Addr word) {
    const NSegment *segment = VG_(am_find_nsegment)(word);
    for (UInt i = 0; i < shared_count; i++)
        if (word >= shared[i].start && word < shared[i].end) return 1;
    return segment && segment->kind == SkShmC;
}

static void follow_shared(const struct rsc_tool_call *call, UWord result) {
    if ((call->number == SYS_mmap && call->args[3] & VKI_MAP_SHARED) ||
        (call->number == SYS_mremap && is_shared(call->args[0])))
        note_shared(result, call->number == SYS_mmap ? call->args[1] : call->args[2]);
}

static int is_word(UWord word, UInt protection) {
    return !(word & 3) && VG_(am_is_valid_for_client)(word, sizeof(UInt), protection);
}

/* For how long a call waits at most, from now on: a limit of FUTEX_WAIT_BITSET is a time. */
static struct vki_timespec time_left(const struct rsc_tool_call *call) {
    const Word second_ns = 1000000000;
    struct vki_timespec limit = *(const struct vki_timespec *)call->args[3], now;
    if ((call->args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT || limit.tv_nsec < 0 || limit.tv_nsec >= second_ns) return limit;
    VG_(do_syscall)(SYS_clock_gettime, call->args[1] & FUTEX_CLOCK_REALTIME ? VKI_CLOCK_REALTIME : VKI_CLOCK_MONOTONIC,
                    (RegWord)&now, 0, 0, 0, 0, 0, 0);
    limit.tv_sec -= now.tv_sec + (limit.tv_nsec < now.tv_nsec);
    limit.tv_nsec += (limit.tv_nsec < now.tv_nsec ? second_ns : 0) - now.tv_nsec;
    return limit.tv_sec < 0 ? (struct vki_timespec){0, 0} : limit;
}

static UWord wait_for_wake(ThreadId thread, UInt how, const struct rsc_tool_call *call) {
    struct turn_thread *of = &threads[thread];
    if (*(volatile UInt *)call->args[0] != (UInt)call->args[2]) {
        rsc_tool_note_call(thread);
        return failed(EAGAIN);
    }
    of->place = WAITS;
    of->futex = call->args[0];
    of->bits = (call->args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET ? (UInt)call->args[5] : ANY_BITS;
    of->since = ++waits;
    if (call->args[3]) of->limit = time_left(call);
    for (;;) {
        const UWord result = rest(thread, how, call->args[3] ? &of->limit : NULL);
        if (result == HANDLED) return HANDLED;
        if (of->place == TAKES_PART) return 0;
        if (VG_(is_exiting)(thread) || (result && result != failed(EAGAIN))) return result;
    }
}

/* Whether the call is answered here; then *result. */
static int answer_futex(ThreadId thread, UInt how, const struct rsc_tool_call *call, UWord *result) {
    const UWord operation = call->args[1] & FUTEX_CMD_MASK;
    const int is_wait = operation == FUTEX_WAIT || (operation == FUTEX_WAIT_BITSET && (UInt)call->args[5]);
    if (!is_word(call->args[0], VKI_PROT_READ)) return 0;
    if (is_wait && call->args[3] &&
        !VG_(am_is_valid_for_client)(call->args[3], sizeof(struct vki_timespec), VKI_PROT_READ))
        return 0;
    if (!(call->args[1] & FUTEX_PRIVATE_FLAG) && is_shared(call->args[0])) return 0;
    switch (operation) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (!is_wait) return 0;
        *result = wait_for_wake(thread, how, call);
        return 1;
    case FUTEX_WAKE:
        rsc_tool_note_call(thread);
        *result = wake(call->args[0], (UInt)call->args[2], ANY_BITS);
        return 1;
    case FUTEX_WAKE_BITSET:
        if (!(UInt)call->args[5]) return 0;
        rsc_tool_note_call(thread);
        *result = wake(call->args[0], (UInt)call->args[2], (UInt)call->args[5]);
        return 1;
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        if (!is_word(call->args[4], VKI_PROT_READ)) return 0;
        rsc_tool_note_call(thread);
        if (operation == FUTEX_CMP_REQUEUE && *(volatile UInt *)call->args[0] != (UInt)call->args[5]) {
            *result = failed(EAGAIN);
            return 1;
        }
        *result = wake(call->args[0], (UInt)call->args[2], ANY_BITS);
        const UWord moved = requeue(call->args[0], (UInt)call->args[3], call->args[4]);
        if (operation == FUTEX_CMP_REQUEUE) *result += moved;
        return 1;
    case FUTEX_WAKE_OP:
        if (!is_word(call->args[4], VKI_PROT_READ | VKI_PROT_WRITE)) return 0;
        rsc_tool_note_call(thread);
        *result = wake_after_change(call);
        return 1;
    default: return 0;
    }
}

/* ---- calls that wait ---- */

/* Returns with the turn when the file is ready; or without it, if all wait; or HANDLED. */
static UWord wait_for_file(ThreadId thread, UInt how, const struct rsc_tool_call *call, Short events) {
    struct turn_thread *of = &threads[thread];
    of->fd = (Int)call->args[0];
    of->events = events;
    if (events == POLLOUT && rsc_call_may_be_too_large(call)) {
        of->place = OUTSIDE;
        return 0;
    }
    while (of->place != OUTSIDE && !VG_(is_exiting)(thread) && !is_ready(of) && !rsc_call_must_not_wait(call)) {
        of->place = NEEDS_FILE;
        do {
            const UWord result = rest(thread, how, NULL);
            if (result == HANDLED) return HANDLED;
            if (result == failed(EINTR)) return result;
        } while (of->place == NEEDS_FILE && !VG_(is_exiting)(thread));
        if (of->place == TAKES_PART) take_turn(thread);
    }
    return 0;
}

void rsc_schedule_call(ThreadId thread) {
    struct turn_thread *of = &threads[thread];
    of->in_call = 1;
    if (turn != thread) return;
    if (of->place != TAKES_PART) {
        pass_turn();
        return;
    }
    /* Somebody must see if this takes long. */
    for (ThreadId other = 1; !watchers && other <= highest; other++) {
        if (threads[other].place != TAKES_PART || !threads[other].rests) continue;
        open_gate(other);
        return;
    }
}

void rsc_schedule_called(ThreadId thread) {
    threads[thread].in_call = 0;
    created = 0;
}

/* The program's call, made by the kernel. */
static void call_kernel(ThreadId thread, UInt how, const struct rsc_tool_call *call) {
    struct turn_thread *of = &threads[thread];
    if (rsc_call_waits_outside(call)) of->place = OUTSIDE;
    if (call->number == SYS_set_tid_address) of->cleared = call->args[0];
    __real_vgPlain_client_syscall(thread, how);
    if (call->number == SYS_mmap || call->number == SYS_mremap) follow_shared(call, get(thread, REGISTER(RAX)));
    if (call->number == SYS_sched_yield && turn == thread) pass_turn();
}

/* Every call of the program. (--wrap) */
void __wrap_vgPlain_client_syscall(ThreadId thread, UInt how) {
    const struct rsc_tool_call call = get_call(thread);
    const Short events = rsc_call_events(call.number);
    UWord result = 0;
    if (living > 1 && call.number == SYS_futex && answer_futex(thread, how, &call, &result)) {
        if (result != HANDLED) set(thread, REGISTER(RAX), result);
    } else {
        if (living > 1 && events) result = wait_for_file(thread, how, &call, events);
        if (!result) call_kernel(thread, how, &call);
        else if (result != HANDLED) set(thread, REGISTER(RAX), result);
    }
    if (!VG_(is_exiting)(thread)) take_turn(thread);
}
