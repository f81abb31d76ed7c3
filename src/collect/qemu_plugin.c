/*
 * qemu_plugin.c - runs inside qemu-user and writes what the guest does into the
 * ring (runtime/ring.h).
 *
 * Two modes. *Recording*: every memory access is a record; a callback at the
 * start of each translation block counts instructions and, because a block runs
 * straight through, tells one execution of an instruction from the next. *Fast*:
 * only the count. Going from one to the other resets the plugin, which makes QEMU
 * translate everything anew.
 *
 * QEMU reports a 16-byte access as two of 8, a 32-byte one as four, and rep
 * strings byte by byte. Pieces of one execution of one instruction that lie end
 * to end are joined here; rep strings, one block an iteration, are joined up to
 * line boundaries and count as one instruction.
 *
 * Calls and returns are known when the block they end has run and the next one
 * begins: that gives call sites and targets without reading registers.
 *
 * One copy is loaded per process; a forked child takes a slot of its own when
 * children are followed, else it stops recording.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/follow.h"
#include "collect/guest_calls.h"
#include "collect/guest_code.h"
#include "collect/qemu_api.h"
#include "collect/turns.h"
#include "runtime/ring.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

/* An instruction that touches memory, as known at translation. */
struct insn {
    uint64_t pc;
    uint8_t is_rep, only_writes;
};

/* A translation block. */
struct block {
    uint64_t start;
    uint64_t end_pc; /* of its last instruction */
    uint64_t after;  /* address after it */
    uint32_t instructions;
    uint8_t ends; /* the last instruction: call, return, rep string, or 0 */
    uint8_t in_roi;
};

#define CALLS_MAX 256u /* deeper calls overwrite the outermost */

enum region { REGION_NONE, REGION_FUNCTION, REGION_MARKED };

static struct {
    qemu_plugin_id_t id;
    struct rsc_ring *ring;
    enum rsc_guest guest;
    int contexts, follow, strict;
    enum region region;
    char roi[256];
    int ring_fd;
    uint32_t image;        /* rsc_slot.image of this process's threads */
    uint64_t guest_base;   /* host address of the guest's address 0 */
    uint64_t skip, length; /* instructions before and while recording; length 0: to the end */
    /* While running: */
    int recording; /* mode of what is translated now */
    int switching; /* a reset is under way */
    int in_region;
    int maps_noted; /* what is loaded at the start */
    int unwatched;  /* a child that is not followed */
    uint64_t passed; /* instructions counted towards skip or length */
    uint64_t roi_return;
} plugin;

/* What a thread ran before its first block. */
static const struct block no_block;

static __thread struct {
    struct rsc_ring_writer writer;
    int attached, closed;
    /* The record that may still grow, and what it belongs to: */
    struct rsc_record *last;
    const struct insn *last_insn;
    uint64_t last_sequence;
    struct rsc_record *rep[3]; /* open reads (cmps has two) and write of a rep string */
    uint64_t rep_pc, rep_sequence;
    uint64_t sequence;         /* block executions */
    const struct block *before; /* the block that just ran */
    uint64_t uncounted;        /* instructions not yet added to plugin.passed */
    int64_t mmap_fd;           /* of the mmap under way; -1: none that matters */
    uint64_t *returns;         /* [CALLS_MAX]: return addresses of open calls, while waiting for the region's function */
    uint32_t calls;
} thread = {.before = &no_block};

static pthread_key_t thread_end_key;

/* ---- threads and processes ---- */

/* A copy of /proc/self/maps for the parent: what is loaded where. */
static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER;
static void note_maps(void) {
    static char text[1 << 19];
    size_t used = 0;
    ssize_t got = 0;
    pthread_mutex_lock(&maps_lock);
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used < sizeof text && (got = read(fd, text + used, sizeof text - used)) > 0) used += (size_t)got;
    if (fd >= 0) close(fd);
    uint64_t process = rsc_process_id(plugin.image, (uint32_t)getpid()), end = 0;
    if (used) end = rsc_ring_note(plugin.ring, RSC_NOTE_MAPS, process, text, (uint32_t)used);
    pthread_mutex_unlock(&maps_lock);
    if (end && !thread.closed) rsc_ring_put(&thread.writer, 1, rsc_record_word(RSC_RECORD_NOTE, 1, end));
}

static void forget_open_records(void) {
    thread.last = NULL;
    thread.rep_pc = 0;
}

static int publish(void) {
    forget_open_records();
    if (plugin.strict) rsc_turn_keep(1);
    int status = rsc_ring_publish(&thread.writer);
    if (plugin.strict) rsc_turn_keep(0);
    return status;
}

static void attach(void) {
    uint64_t counted = thread.writer.instructions; /* before the first access */
    if (thread.closed) return;
    thread.attached = 1;
    thread.mmap_fd = -1;
    if (rsc_ring_attach(&thread.writer, plugin.ring, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)) < 0)
        thread.closed = 1;
    else
        thread.writer.slot->image = plugin.image;
    thread.writer.instructions = counted;
    pthread_setspecific(thread_end_key, &thread);
    if (!__atomic_exchange_n(&plugin.maps_noted, 1, __ATOMIC_RELAXED)) note_maps();
    if (plugin.strict) rsc_turn_take();
}

static void thread_ended(void *ignored) {
    (void)ignored;
    if (plugin.strict) rsc_turn_give();
    forget_open_records();
    rsc_ring_detach(&thread.writer);
    thread.closed = 1;
    free(thread.returns);
    thread.returns = NULL;
}

/* In a new process only this thread is left, and the slot belongs to the old one. */
static void after_fork_in_child(void) {
    pthread_mutex_init(&maps_lock, NULL); /* its holder may not have come along */
    memset(&thread.writer, 0, sizeof thread.writer);
    forget_open_records();
    thread.attached = 0;
    thread.closed = plugin.unwatched = !plugin.follow;
    plugin.maps_noted = 0;
    plugin.image = __atomic_add_fetch(&plugin.ring->images, 1, __ATOMIC_RELAXED);
    rsc_turn_reset();
    __atomic_fetch_add(&plugin.ring->forks, 1, __ATOMIC_RELAXED);
}

static void switch_mode(void);

/* Nobody wants to know any more: the program runs on, no slower than it must. */
static void stop_recording(void) {
    plugin.skip = plugin.length = 0;
    plugin.region = REGION_NONE;
    if (plugin.recording) switch_mode();
}

/* ---- records ---- */

/* A full or fresh block, or a thread's first record. Returns 0, or -1 when nothing is to be recorded. */
static __attribute__((noinline, cold)) int make_room(void) {
    if (!thread.attached) attach();
    forget_open_records();
    if (!thread.closed) {
        if (plugin.strict) rsc_turn_keep(1);
        int status = rsc_ring_make_room(&thread.writer);
        if (plugin.strict) rsc_turn_keep(0);
        if (status == 0) return 0;
        thread.closed = 1;
    }
    /* A child that is not followed, or the parent is gone. Else this thread found no slot, and others go on. */
    if (plugin.unwatched || plugin.ring->detached) stop_recording();
    return -1;
}

static inline struct rsc_record *put(uint64_t addr, uint64_t word) {
    struct rsc_record *record = thread.writer.next;
    if (__builtin_expect(record == thread.writer.end, 0)) {
        if (make_room() < 0) return NULL;
        record = thread.writer.next;
    }
    *record = (struct rsc_record){addr, word};
    thread.writer.next = record + 1;
    return record;
}

/* Is this another iteration of the rep string before? Each but the first is a block of its own. */
static int same_rep(uint64_t pc) {
    return thread.rep_pc == pc && (thread.sequence == thread.rep_sequence ||
                                   (thread.sequence == thread.rep_sequence + 1 && thread.before->start == pc));
}

/* Pieces of a rep string grow their record within a line, upwards or downwards. */
static void put_rep(uint64_t addr, uint32_t size, enum rsc_record_type type, uint64_t pc) {
    if (!same_rep(pc)) memset(thread.rep, 0, sizeof thread.rep);
    thread.rep_pc = pc;
    thread.rep_sequence = thread.sequence;
    for (int i = 0; i < 3; i++) {
        struct rsc_record *open = thread.rep[i];
        if (!open || rsc_record_type(open->word) != type || open->addr >> 6 != addr >> 6) continue;
        if (addr != open->addr + rsc_record_size(open->word) && addr + size != open->addr) continue;
        if (addr < open->addr) open->addr = addr;
        open->word += (uint64_t)size << 48;
        return;
    }
    struct rsc_record *made = put(addr, rsc_record_word(type, size, pc));
    if (thread.rep_pc != pc) memset(thread.rep, 0, sizeof thread.rep); /* a new block: those before are gone */
    thread.rep_pc = pc;
    if (type == RSC_RECORD_WRITE) {
        thread.rep[2] = made;
    } else {
        thread.rep[0] = thread.rep[1];
        thread.rep[1] = made;
    }
}

/* Size and type of a record by QEMU's access info: bits 4-6 are log2 of the size, bits 16-17 read and write. */
#define TAG(rw, shift) ((uint64_t)(1u << (shift)) << 48 | (uint64_t)((rw)&1 ? RSC_RECORD_READ : RSC_RECORD_WRITE) << 56)
#define TAGS(rw) {TAG(rw, 0), TAG(rw, 1), TAG(rw, 2), TAG(rw, 3), TAG(rw, 4), TAG(rw, 5), TAG(rw, 6), TAG(rw, 6)}
static const uint64_t record_tags[4][8] = {TAGS(1), TAGS(1), TAGS(2), TAGS(3)};

/* Off the path of on_plain_access(), so that that needs no stack: a full block, or a read and a write in one. */
static __attribute__((noinline)) void put_slowly(qemu_plugin_meminfo_t info, uint64_t addr, uint64_t pc) {
    put(addr, pc | record_tags[info >> 16 & 3][info >> 4 & 7]);
    if ((info >> 16 & 3) == QEMU_MEM_RW) put(addr, pc | record_tags[QEMU_MEM_W][info >> 4 & 7]);
}

/* An instruction that accesses one place of up to 8 bytes: nearly all of them. */
static void on_plain_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    struct rsc_record *record = thread.writer.next;
    (void)vcpu;
    if (__builtin_expect(record == thread.writer.end || (info >> 16 & 3) == QEMU_MEM_RW, 0)) {
        put_slowly(info, addr, (uint64_t)(uintptr_t)user);
        return;
    }
    record->addr = addr;
    record->word = (uint64_t)(uintptr_t)user | record_tags[info >> 16 & 3][info >> 4 & 7];
    thread.writer.next = record + 1;
}

static void on_nothing(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    (void)vcpu, (void)info, (void)addr, (void)user;
}

/* One whose pieces may have to be joined. */
static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    const struct insn *insn = user;
    (void)vcpu;
    uint32_t rw = info >> 16 & 3, size = 1u << (info >> 4 & 7);
    if (__builtin_expect(insn->only_writes, 0) && !(rw &= QEMU_MEM_W)) return;
    if (__builtin_expect(insn->is_rep, 0)) {
        if (rw & QEMU_MEM_R) put_rep(addr, size, RSC_RECORD_READ, insn->pc);
        if (rw & QEMU_MEM_W) put_rep(addr, size, RSC_RECORD_WRITE, insn->pc);
        thread.last_insn = insn;
        thread.last = NULL;
        return;
    }
    enum rsc_record_type type = rw & QEMU_MEM_R ? RSC_RECORD_READ : RSC_RECORD_WRITE;
    struct rsc_record *last = thread.last;
    if (insn == thread.last_insn && thread.last_sequence == thread.sequence && last &&
        rsc_record_type(last->word) == type && addr == last->addr + rsc_record_size(last->word) &&
        rsc_record_size(last->word) < 128) {
        last->word += (uint64_t)size << 48;
        return;
    }
    last = put(addr, rsc_record_word(type, size, insn->pc));
    if (rw == QEMU_MEM_RW) last = put(addr, rsc_record_word(RSC_RECORD_WRITE, size, insn->pc));
    thread.last = last;
    thread.last_insn = insn;
    thread.last_sequence = thread.sequence;
}

/*
 * With a region, a block may begin outside of it and end inside, or the other way
 * round: what it does counts while the region lasts.
 */
static void on_region_plain_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (plugin.in_region) on_plain_access(vcpu, info, addr, user);
}

static void on_region_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (plugin.in_region) on_access(vcpu, info, addr, user);
}

/* ---- modes ---- */

static void register_all(qemu_plugin_id_t id);

static void after_reset(qemu_plugin_id_t id) {
    /* A region may have begun or ended again since the reset was asked for. */
    plugin.recording = plugin.region == REGION_NONE ? !plugin.recording : plugin.in_region;
    plugin.passed = 0;
    __atomic_store_n(&plugin.switching, 0, __ATOMIC_RELEASE);
    register_all(id);
}

static void switch_mode(void) {
    if (!__atomic_exchange_n(&plugin.switching, 1, __ATOMIC_ACQ_REL)) qemu_plugin_reset(plugin.id, after_reset);
}

/* Counts towards --skip and --for; threads add up every few thousand instructions. */
static void count_towards_switch(uint32_t instructions) {
    uint64_t limit = plugin.recording ? plugin.length : plugin.skip;
    if (!limit || plugin.region != REGION_NONE) return;
    thread.uncounted += instructions;
    if (thread.uncounted < 1024 && thread.uncounted < limit) return;
    uint64_t passed = __atomic_add_fetch(&plugin.passed, thread.uncounted, __ATOMIC_RELAXED);
    thread.uncounted = 0;
    if (passed < limit) return;
    if (plugin.recording) plugin.skip = 0; /* the window is over: fast to the end */
    switch_mode();
}

static void region_begin(uint64_t return_to) {
    if (plugin.in_region) return;
    plugin.in_region = 1;
    plugin.roi_return = return_to;
    if (!plugin.recording) switch_mode();
}

static void region_end(void) {
    if (!plugin.in_region) return;
    plugin.in_region = 0;
    plugin.roi_return = 0;
    if (plugin.recording) switch_mode();
}

/* While waiting for the region's function: where it will return to, also when it is entered by a jump (a tail call). */
static void follow_calls(const struct block *before, const struct block *now) {
    if (!thread.returns && !(thread.returns = calloc(CALLS_MAX, sizeof *thread.returns))) return;
    if (before->ends == RSC_GUEST_CALL) {
        thread.returns[thread.calls++ % CALLS_MAX] = before->after;
    } else if (before->ends == RSC_GUEST_RETURN) {
        uint32_t calls = thread.calls, least = calls > CALLS_MAX ? calls - CALLS_MAX : 0;
        while (calls > least && thread.returns[(calls - 1) % CALLS_MAX] != now->start) calls--;
        if (calls > least) thread.calls = calls - 1;
        return;
    }
    if (now->in_roi && !before->in_roi && thread.calls) region_begin(thread.returns[(thread.calls - 1) % CALLS_MAX]);
}

/* The jump that ended the block before, now that its target is known. Returns the instructions that now begin. */
static inline uint32_t after_jump(const struct block *before, const struct block *now) {
    if (before->ends == RSC_GUEST_CALL) {
        if (plugin.contexts && plugin.recording)
            put(now->start, rsc_record_word(RSC_RECORD_CALL, 1, before->end_pc));
    } else if (before->ends == RSC_GUEST_RETURN) {
        if (plugin.contexts && plugin.recording) put(now->start, rsc_record_word(RSC_RECORD_RETURN, 1, 0));
        if (plugin.roi_return && now->start == plugin.roi_return) region_end();
    } else if (before->ends == RSC_GUEST_REP && now->start == before->end_pc) {
        return 0; /* the same instruction goes on */
    }
    return now->instructions;
}

/* The usual case: recording, threads as they come, to the end of the program. */
static __attribute__((noinline)) void on_block_after_jump(const struct block *block) {
    uint32_t instructions = after_jump(thread.before, block);
    thread.before = block;
    thread.sequence++;
    thread.writer.instructions += instructions;
}

static void on_recorded_block(unsigned vcpu, void *user) {
    const struct block *block = user;
    (void)vcpu;
    if (thread.before->ends) {
        on_block_after_jump(block);
        return;
    }
    thread.before = block;
    thread.sequence++;
    thread.writer.instructions += block->instructions;
}

static void on_block(unsigned vcpu, void *user) {
    const struct block *block = user, *before = thread.before;
    uint32_t instructions = block->instructions;
    (void)vcpu;
    if (__builtin_expect(!thread.attached, 0)) attach();
    if (before && plugin.region == REGION_FUNCTION && !plugin.in_region) follow_calls(before, block);
    if (before->ends) instructions = after_jump(before, block);
    thread.before = block;
    thread.sequence++;
    if (plugin.recording) thread.writer.instructions += instructions;
    else if (thread.writer.slot) thread.writer.slot->unrecorded_instructions += instructions;
    count_towards_switch(instructions);
    if (__builtin_expect(plugin.strict, 0) && rsc_turn_is_over(block->instructions)) {
        publish();
        rsc_turn_pass();
    }
}

static void on_marker(unsigned vcpu, void *user) {
    int begins = (int)(intptr_t)user;
    (void)vcpu;
    if (plugin.recording) put(1, rsc_record_word(RSC_RECORD_MARKER, 1, (uint64_t)begins));
    if (plugin.region != REGION_MARKED) return;
    if (begins) region_begin(0);
    else region_end();
}

/* ---- translation ---- */

/* Also under the names compilers give to copies of a function: f.constprop.0, f.isra.0, f._omp_fn.0. */
static int is_roi(const struct qemu_plugin_insn *insn) {
    const char *symbol = plugin.region == REGION_FUNCTION ? qemu_plugin_insn_symbol(insn) : NULL;
    size_t length = strlen(plugin.roi);
    return symbol && !strncmp(symbol, plugin.roi, length) && (!symbol[length] || symbol[length] == '.');
}

/* Could the region begin in this block? The mode changes only after it: its accesses are watched beforehand. */
static int may_enter_region(const struct qemu_plugin_tb *tb) {
    size_t count = qemu_plugin_tb_n_insns(tb);
    if (plugin.region == REGION_FUNCTION) return count && is_roi(qemu_plugin_tb_get_insn(tb, 0));
    for (size_t i = 0; plugin.region == REGION_MARKED && i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (rsc_guest_classify(plugin.guest, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)) == RSC_GUEST_BEGIN)
            return 1;
    }
    return 0;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    size_t count = qemu_plugin_tb_n_insns(tb);
    /* Kept for good: QEMU gives no word when a translation is dropped. */
    struct block *block = calloc(1, sizeof *block);
    int recorded = plugin.recording || may_enter_region(tb);
    struct insn *insns = recorded ? calloc(count, sizeof *insns) : NULL;
    qemu_mem_cb plain_cb = plugin.region == REGION_NONE ? on_plain_access : on_region_plain_access;
    qemu_mem_cb other_cb = plugin.region == REGION_NONE ? on_access : on_region_access;
    (void)id;
    if (!block || (recorded && !insns)) return;
    if (count) {
        struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);
        uint64_t host = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(first);
        if (host) plugin.guest_base = host - qemu_plugin_insn_vaddr(first);
    }
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        size_t bytes = qemu_plugin_insn_size(insn);
        uint64_t pc = qemu_plugin_insn_vaddr(insn);
        enum rsc_guest_insn sort = rsc_guest_classify(plugin.guest, qemu_plugin_insn_data(insn), bytes);
        int plain = sort != RSC_GUEST_REP && sort != RSC_GUEST_WIDE && sort != RSC_GUEST_STORE;
        if (i == 0) block->in_roi = (uint8_t)is_roi(insn);
        if (i == count - 1) {
            block->ends = sort == RSC_GUEST_CALL || sort == RSC_GUEST_RETURN || sort == RSC_GUEST_REP ? (uint8_t)sort : 0;
            block->end_pc = pc;
            block->after = pc + bytes;
        }
        if (sort == RSC_GUEST_BEGIN || sort == RSC_GUEST_END)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker, QEMU_NO_REGS,
                                                   (void *)(intptr_t)(sort == RSC_GUEST_BEGIN));
        if (!recorded) {
            /* QEMU's helpers (for xsave or atomics, say) call what was registered last, even if that was before a reset: an
             * instruction that may use one must have something registered. */
            if (!plain)
                qemu_plugin_register_vcpu_mem_cb(insn, on_nothing, QEMU_NO_REGS, QEMU_MEM_RW, NULL);
            continue;
        }
        if (plain) {
            qemu_plugin_register_vcpu_mem_cb(insn, plain_cb, QEMU_NO_REGS, QEMU_MEM_RW,
                                             (void *)(uintptr_t)(pc & 0xffffffffffffull));
            continue;
        }
        insns[i] = (struct insn){pc, sort == RSC_GUEST_REP, sort == RSC_GUEST_STORE};
        qemu_plugin_register_vcpu_mem_cb(insn, other_cb, QEMU_NO_REGS, QEMU_MEM_RW, &insns[i]);
    }
    block->start = qemu_plugin_tb_vaddr(tb);
    block->instructions = (uint32_t)count;
    int usual = plugin.recording && !plugin.strict && !plugin.length;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, usual ? on_recorded_block : on_block, QEMU_NO_REGS, block);
}

/* ---- system calls ---- */

/*
 * The guest starts another program. When children are followed, that is started
 * here, under QEMU again; if it cannot be, QEMU goes on and lets the kernel do it.
 */
static void start_program(uint64_t path, uint64_t argv, uint64_t envp) {
    struct rsc_follow follow = {
        .guest = plugin.guest,
        .path = (const char *)(uintptr_t)(path + plugin.guest_base),
        .argv = (char *const *)(uintptr_t)(argv + plugin.guest_base),
        .envp = (char *const *)(uintptr_t)(envp + plugin.guest_base),
        .guest_base = plugin.guest_base,
        .ring_fd = plugin.ring_fd,
        .parent_pid = plugin.ring->parent_pid,
    };
    struct rsc_target target;
    if (plugin.follow && path && argv && !thread.closed && rsc_follow_find(&follow, &target)) {
        forget_open_records();
        rsc_ring_detach(&thread.writer);
        rsc_follow_exec(&follow, &target);
        thread.attached = 0; /* it failed: this program goes on */
    }
    __atomic_fetch_add(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    const struct rsc_guest_syscalls *calls = rsc_guest_syscalls(plugin.guest);
    (void)id, (void)vcpu, (void)a6, (void)a7, (void)a8;
    if (!thread.attached) attach();
    if (number == calls->getpid && a1 == RSC_GUEST_CALL_MAGIC) {
        if (!plugin.recording) return;
        if (a2 == RSC_GUEST_ALLOC) put(a3, rsc_record_word(RSC_RECORD_ALLOC, 1, a4));
        if (a2 == RSC_GUEST_FREE) put(a3, rsc_record_word(RSC_RECORD_FREE, 1, 0));
        return;
    }
    thread.mmap_fd = number == calls->mmap && (a3 & 4) ? (int64_t)(int32_t)a5 : -1;
    if (number == calls->execve) start_program(a1, a2, a3);
    if (number == calls->execve || number == calls->exit_group || number == calls->exit ||
        plugin.ring->slots_used > 1 || rsc_guest_may_block(calls, number))
        publish();
    if (plugin.strict) rsc_turn_give();
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result) {
    (void)id, (void)vcpu;
    if (number == rsc_guest_syscalls(plugin.guest)->execve) /* it failed: nothing was started */
        __atomic_fetch_sub(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
    if (plugin.strict && thread.attached && !thread.closed) rsc_turn_take();
    if (thread.mmap_fd < 0) return;
    thread.mmap_fd = -1;
    if (result >= 0 || result < -4095) note_maps();
}

static void at_exit(qemu_plugin_id_t id, void *user) {
    (void)id, (void)user;
    if (thread.attached && !thread.closed) thread_ended(NULL);
}

static void register_all(qemu_plugin_id_t id) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
}

/* ---- loading ---- */

static int map_ring(int fd) {
    struct stat file;
    if (fstat(fd, &file) != 0 || (size_t)file.st_size < sizeof(struct rsc_ring)) return -1;
    void *ring = mmap(NULL, sizeof(struct rsc_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED || ((struct rsc_ring *)ring)->magic != RSC_RING_MAGIC) return -1;
    plugin.ring = ring;
    plugin.ring_fd = fd;
    return 0;
}

static int take_argument(const char *text) {
    const char *value = strchr(text, '=');
    if (!value) return -1;
    size_t length = (size_t)(value++ - text);
    uint64_t number = strtoull(value, NULL, 0);
    if (!strncmp(text, "ring", length)) return map_ring((int)number);
    if (!strncmp(text, "contexts", length)) plugin.contexts = number != 0;
    else if (!strncmp(text, "follow", length)) plugin.follow = number != 0;
    else if (!strncmp(text, "strict", length)) plugin.strict = number != 0;
    else if (!strncmp(text, "skip", length)) plugin.skip = number;
    else if (!strncmp(text, "for", length)) plugin.length = number;
    else if (!strncmp(text, "marked", length)) plugin.region = number ? REGION_MARKED : plugin.region;
    else if (!strncmp(text, "roi", length) && strlen(value) < sizeof plugin.roi) {
        strcpy(plugin.roi, value);
        plugin.region = REGION_FUNCTION;
    } else return -1;
    return 0;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    plugin.id = id;
    for (int i = 0; i < argc; i++)
        if (take_argument(argv[i]) < 0) return -1;
    plugin.guest = rsc_guest_named(info->target_name);
    if (!plugin.ring || plugin.guest == RSC_GUEST_UNKNOWN || info->system_emulation) return -1;
    plugin.image = __atomic_add_fetch(&plugin.ring->images, 1, __ATOMIC_RELAXED);
    if (pthread_key_create(&thread_end_key, thread_ended) != 0) return -1;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    plugin.recording = plugin.region == REGION_NONE && plugin.skip == 0;
    register_all(id);
    return 0;
}
