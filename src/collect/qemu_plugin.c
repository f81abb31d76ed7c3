/*
 * qemu_plugin.c - runs inside qemu-user and writes what the guest does into the
 * ring (runtime/ring.h).
 *
 * Two modes. *Recording*: every memory access is a word. *Fast*: only instructions
 * are counted. Going from one to the other resets the plugin, which makes QEMU
 * translate everything anew.
 *
 * What counts while recording is how little each access costs. When a block is
 * translated, its plan tells the parent what every word of it will mean. Most
 * accesses are certain from the code (guest_accesses.h): each has its place behind
 * the block's start, and storing it depends on nothing but where the block began.
 * (A pointer moved on by each access would be a chain through memory: 3 ns an
 * access against 1.) And where the first thing a block does to memory is certain,
 * that access writes the start as well, so that no callback is needed for the
 * block itself.
 *
 * Everything else, such as joining what QEMU reports in pieces, telling calls and
 * returns and counting instructions, is the parent's work (expand.h).
 *
 * With regions, --for and --order strict, each block has its callback and all its
 * accesses are loose words, in the order they happen.
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

#include "collect/code_plan.h"
#include "collect/follow.h"
#include "collect/guest_calls.h"
#include "collect/guest_code.h"
#include "collect/qemu_api.h"
#include "collect/turns.h"
#include "runtime/ring.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

/* A translation block, for callbacks that need more than its start. */
struct block {
    uint64_t start_word; /* RSC_START...; 0: its accesses are not recorded */
    const uint64_t *plan; /* for a start with RSC_START_INLINE */
    uint32_t plan_words;
    uint64_t start;
    uint64_t end_pc; /* of its last instruction */
    uint64_t after;  /* address after it */
    uint32_t instructions;
    uint8_t ends; /* enum rsc_plan_end */
    uint8_t in_roi;
};

/* How far ahead of the words being written: 4 to 7 % less time in three interleaved runs of an integer sort on a busy machine. */
#define PREFETCH_WORDS 64

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

/* Where words go that nobody wants. Its first stays zero: no start. */
static uint64_t sink[1 + RSC_START_FIXED_MAX];

static __thread struct {
    struct rsc_ring_writer writer;
    uint64_t *current; /* the start of the block that runs, its fixed words behind it; or the sink */
    int attached, closed;
    const struct block *before; /* the block that just ran; not kept up where blocks have no callback */
    uint64_t uncounted;        /* instructions not yet added to plugin.passed */
    int64_t mmap_fd;           /* of the mmap under way; -1: none that matters */
    uint64_t *returns;         /* [CALLS_MAX]: return addresses of open calls, while waiting for the region's function */
    uint32_t calls;
} thread = {.current = sink, .before = &no_block};

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
    thread.current = sink;
    if (end && !thread.closed) rsc_ring_put(&thread.writer, 1, rsc_record_word(RSC_RECORD_NOTE, 1, end));
}

/* Only between blocks: what a block goes on to write would be lost. */
static int publish(void) {
    thread.current = sink;
    if (thread.closed) return -1;
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
    thread.current = sink;
    rsc_ring_detach(&thread.writer);
    thread.closed = 1;
    free(thread.returns);
    thread.returns = NULL;
}

/* In a new process only this thread is left, and the slot belongs to the old one. */
static void after_fork_in_child(void) {
    pthread_mutex_init(&maps_lock, NULL); /* its holder may not have come along */
    memset(&thread.writer, 0, sizeof thread.writer);
    thread.current = sink;
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

/* ---- words ---- */

/* A full or fresh block of the ring, or a thread's first word. Returns 0, or -1 when nothing is to be recorded. */
static int make_room(void) {
    thread.current = sink;
    if (!thread.attached) attach();
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

/* The same in the middle of a block, which goes on in the ring's next. */
static int make_room_within(void) {
    uint64_t start[1 + RSC_PLAN_MAX] = {*thread.current & RSC_START ? *thread.current | RSC_START_RESUMED : 0};
    uint32_t words = rsc_start_length(*start);
    if (*start & RSC_START_INLINE) {
        words = 3 + rsc_plan_entries(thread.current[2]);
        memcpy(start + 1, thread.current + 1, (words - 1) * sizeof *start);
    }
    if (make_room() < 0) return -1;
    if (!*start) return 0;
    memcpy(thread.writer.next, start, words * sizeof *start);
    thread.current = thread.writer.next;
    thread.writer.next += words;
    return 0;
}

static __attribute__((noinline)) void put(uint64_t addr, uint64_t word) {
    if (thread.writer.next >= thread.writer.end && make_room_within() < 0) return;
    rsc_ring_put(&thread.writer, addr, word);
}

/* ---- blocks and accesses ---- */

static inline void start_at(uint64_t *at, uint64_t word) {
    __builtin_prefetch(at + PREFETCH_WORDS, 1); /* the parent had it last, to clear it */
    *at = word;
    thread.current = at;
    thread.writer.next = at + rsc_start_length(word);
}

static __attribute__((noinline, cold)) void start_slowly(uint64_t word) {
    if (make_room() == 0) start_at(thread.writer.next, word);
}

static void on_start(unsigned vcpu, void *user) {
    uint64_t *at = thread.writer.next;
    (void)vcpu;
    if (__builtin_expect(at >= thread.writer.end, 0)) start_slowly((uint64_t)(uintptr_t)user);
    else start_at(at, (uint64_t)(uintptr_t)user);
}

/* A block whose plan found no room in the ring: it is written out every time. */
static void start_inline(const struct block *block) {
    if (thread.writer.next >= thread.writer.end && make_room() < 0) return;
    uint64_t *at = thread.writer.next;
    *at = block->start_word;
    memcpy(at + 1, block->plan, block->plan_words * sizeof *at);
    thread.current = at;
    thread.writer.next = at + 1 + block->plan_words;
}

/* As ring.h has fixed words. QEMU's info: bits 4-6 are log2 of the size, bits 16-17 read and write. */
static inline uint64_t fixed_word(qemu_plugin_meminfo_t info, uint64_t addr) {
    return addr | (uint64_t)(info >> 4 | 0x8000) << 48;
}

/* One certain access; in pieces, the last stays. user: its place. */
static void on_fixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    (void)vcpu;
    thread.current[(uintptr_t)user] = fixed_word(info, addr);
}

/* A read and then a write: QEMU 7.2 cannot be asked for reads alone (it takes reads for writes and writes for both). */
static void on_fixed_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    (void)vcpu;
    thread.current[(uintptr_t)user + (info >> 17 & 1)] = fixed_word(info, addr);
}

static __attribute__((noinline, cold)) void lead_slowly(qemu_plugin_meminfo_t info, uint64_t addr, uint64_t word) {
    start_slowly(word);
    thread.current[1] = fixed_word(info, addr);
}

/* The first access of a block, of one piece. user: the block's start. */
static void on_leading(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    uint64_t *at = thread.writer.next, word = (uint64_t)(uintptr_t)user;
    (void)vcpu;
    if (__builtin_expect(at >= thread.writer.end, 0)) {
        lead_slowly(info, addr, word);
        return;
    }
    at[1] = fixed_word(info, addr);
    start_at(at, word);
}

static void on_leading_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (info >> 17 & 1) thread.current[2] = fixed_word(info, addr);
    else on_leading(vcpu, info, addr, user);
}

static inline uint64_t loose_word(qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    return (uint64_t)(uintptr_t)user | (addr & 0xffffffffffffull) | (uint64_t)(info >> 4 & 7) << 48 |
           (uint64_t)(info >> 16 & 3) << 51;
}

/* Pieces of one access stay together while there is room for that. */
static __attribute__((noinline, cold)) void put_loose_slowly(uint64_t word) {
    struct rsc_ring_writer *writer = &thread.writer;
    int continues = writer->next && writer->next != writer->first && writer->next[-1] >> 51 == word >> 51 &&
                    writer->next < writer->end + RSC_BLOCK_SPARE / 2;
    if (!continues && make_room_within() < 0) return;
    *writer->next++ = word;
}

/* Any other access. user: rsc_loose_user(). */
static void on_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    uint64_t *at = thread.writer.next;
    (void)vcpu;
    if (__builtin_expect(at >= thread.writer.end, 0)) {
        put_loose_slowly(loose_word(info, addr, user));
        return;
    }
    *at = loose_word(info, addr, user);
    thread.writer.next = at + 1;
}

/*
 * With a region, a block may begin outside of it and end inside, or the other way
 * round: what it does counts while the region lasts.
 */
static void on_region_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (plugin.in_region) on_loose(vcpu, info, addr, user);
}

static void on_nothing(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    (void)vcpu, (void)info, (void)addr, (void)user;
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
    if (before->ends == RSC_PLAN_ENDS_CALL) {
        thread.returns[thread.calls++ % CALLS_MAX] = before->after;
    } else if (before->ends == RSC_PLAN_ENDS_RETURN) {
        uint32_t calls = thread.calls, least = calls > CALLS_MAX ? calls - CALLS_MAX : 0;
        while (calls > least && thread.returns[(calls - 1) % CALLS_MAX] != now->start) calls--;
        if (calls > least) thread.calls = calls - 1;
        return;
    }
    if (now->in_roi && !before->in_roi && thread.calls) region_begin(thread.returns[(thread.calls - 1) % CALLS_MAX]);
}

/* The jump that ended the block before, now that its target is known. Returns the instructions that now begin. */
static inline uint32_t after_jump(const struct block *before, const struct block *now) {
    if (before->ends == RSC_PLAN_ENDS_CALL) {
        if (plugin.contexts && plugin.recording)
            put(now->start, rsc_record_word(RSC_RECORD_CALL, 1, before->end_pc));
    } else if (before->ends == RSC_PLAN_ENDS_RETURN) {
        if (plugin.contexts && plugin.recording) put(now->start, rsc_record_word(RSC_RECORD_RETURN, 1, 0));
        if (plugin.roi_return && now->start == plugin.roi_return) region_end();
    } else if (before->ends == RSC_PLAN_ENDS_REP && now->start == before->end_pc) {
        return 0; /* the same instruction goes on */
    }
    return now->instructions;
}

static void on_inline_block(unsigned vcpu, void *user) {
    (void)vcpu;
    start_inline(user);
}

/* A block where more has to be done than to record it. */
static void on_block(unsigned vcpu, void *user) {
    const struct block *block = user, *before = thread.before;
    uint32_t instructions = block->instructions;
    if (__builtin_expect(!thread.attached, 0)) attach();
    if (__builtin_expect(plugin.strict, 0) && rsc_turn_is_over(block->instructions)) {
        publish();
        rsc_turn_pass();
    }
    if (before && plugin.region == REGION_FUNCTION && !plugin.in_region) follow_calls(before, block);
    if (before->ends) instructions = after_jump(before, block);
    thread.before = block;
    if (plugin.recording) thread.writer.instructions += instructions;
    else if (thread.writer.slot) thread.writer.slot->unrecorded_instructions += instructions;
    count_towards_switch(instructions);
    if (block->start_word & RSC_START_INLINE) start_inline(block);
    else if (block->start_word) on_start(vcpu, (void *)(uintptr_t)block->start_word);
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

/* Callbacks for the accesses of a recorded block. */
static void watch_accesses(const struct rsc_survey *survey, const struct qemu_plugin_tb *tb, uint64_t start_word) {
    uint32_t place = 1;
    for (uint32_t i = 0; i < survey->count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        struct rsc_guest_accesses accesses = survey->insns[i].accesses;
        if (!survey->insns[i].is_fixed) {
            qemu_plugin_register_vcpu_mem_cb(insn, plugin.region == REGION_NONE ? on_loose : on_region_loose, QEMU_NO_REGS,
                                             QEMU_MEM_RW, (void *)(uintptr_t)rsc_loose_user(survey->fixed + i));
            continue;
        }
        int both = accesses.reads && accesses.writes;
        if (i == survey->leading)
            qemu_plugin_register_vcpu_mem_cb(insn, both ? on_leading_update : on_leading, QEMU_NO_REGS, QEMU_MEM_RW,
                                             (void *)(uintptr_t)start_word);
        else
            qemu_plugin_register_vcpu_mem_cb(insn, both ? on_fixed_update : on_fixed, QEMU_NO_REGS, QEMU_MEM_RW,
                                             (void *)(uintptr_t)place);
        place += both ? 2 : 1;
    }
}

/*
 * QEMU's helpers (for xsave or atomics, say) call what was registered last, even if
 * that was before a reset: an instruction that may use one must have something
 * registered.
 */
static void watch_nothing(const struct rsc_survey *survey, const struct qemu_plugin_tb *tb) {
    for (size_t i = 0; i < survey->count; i++) {
        enum rsc_guest_insn sort = survey->insns[i].sort;
        if (sort == RSC_GUEST_REP || sort == RSC_GUEST_WIDE || sort == RSC_GUEST_STORE)
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_nothing, QEMU_NO_REGS, QEMU_MEM_RW, NULL);
    }
}

/* Plan and callbacks of a block whose accesses are recorded. */
static void record_block(struct block *block, struct rsc_survey *survey, const struct qemu_plugin_tb *tb, int usual) {
    const uint64_t flags = usual ? RSC_START_COUNTED | (plugin.contexts ? RSC_START_CALLS : 0) : 0;
    rsc_survey_block(survey, plugin.guest, tb, usual);
    uint64_t *plan = rsc_ring_plan(plugin.ring, rsc_survey_plan_words(survey));
    if (plan) {
        block->start_word = RSC_START | flags | (uint64_t)(plan - plugin.ring->plans) | (uint64_t)(1 + survey->fixed) << 32;
    } else { /* no room in the ring: nothing is fixed, and the plan is written out every time */
        rsc_survey_block(survey, plugin.guest, tb, 0);
        if (!(plan = calloc(rsc_survey_plan_words(survey), sizeof *plan))) return;
        block->start_word = RSC_START | RSC_START_INLINE | flags;
        block->plan = plan;
        block->plan_words = rsc_survey_plan_words(survey);
    }
    rsc_survey_plan(survey, plan);
    watch_accesses(survey, tb, block->start_word);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    struct rsc_survey survey;
    const size_t count = qemu_plugin_tb_n_insns(tb);
    /* Kept for good: QEMU gives no word when a translation is dropped. */
    struct block *block = calloc(1, sizeof *block);
    /* Recording, threads as they come, to the end of the program. */
    const int usual = plugin.recording && !plugin.strict && !plugin.length && plugin.region == REGION_NONE;
    (void)id;
    if (!block || !count || count > RSC_SURVEY_INSNS) {
        free(block);
        return;
    }
    struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0), *last = qemu_plugin_tb_get_insn(tb, count - 1);
    uint64_t host = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(first);
    if (host) plugin.guest_base = host - qemu_plugin_insn_vaddr(first);
    rsc_survey_block(&survey, plugin.guest, tb, 0);
    for (size_t i = 0; i < count; i++) {
        enum rsc_guest_insn sort = survey.insns[i].sort;
        if (sort == RSC_GUEST_BEGIN || sort == RSC_GUEST_END)
            qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i), on_marker, QEMU_NO_REGS,
                                                   (void *)(intptr_t)(sort == RSC_GUEST_BEGIN));
    }
    block->ends = survey.ends;
    block->start = survey.start;
    block->end_pc = survey.end_pc;
    block->after = block->end_pc + qemu_plugin_insn_size(last);
    block->instructions = (uint32_t)count;
    block->in_roi = (uint8_t)is_roi(first);
    if (plugin.recording || may_enter_region(tb)) record_block(block, &survey, tb, usual);
    else watch_nothing(&survey, tb);
    if (!usual)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_NO_REGS, block);
    else if (block->start_word & RSC_START_INLINE)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_inline_block, QEMU_NO_REGS, block);
    else if (block->start_word && survey.leading == count)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_start, QEMU_NO_REGS, (void *)(uintptr_t)block->start_word);
    if (usual && !(block->start_word & RSC_START_INLINE)) free(block);
}

/* ---- system calls ---- */

/*
 * The guest starts another program. When children are followed, that is started
 * here, under QEMU again; if it cannot be, QEMU goes on and lets the kernel do it.
 */
static void start_program(const struct rsc_follow_call *call) {
    struct rsc_follow follow = {.guest = plugin.guest,
                                .guest_base = plugin.guest_base,
                                .ring_fd = plugin.ring_fd,
                                .parent_pid = plugin.ring->parent_pid};
    struct rsc_target target;
    __atomic_fetch_add(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
    if (!plugin.follow || thread.closed) return;
    if (rsc_follow_read(&follow, call) == 0 && rsc_follow_find(&follow, &target)) {
        thread.current = sink;
        rsc_ring_detach(&thread.writer);
        __atomic_fetch_sub(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
        rsc_follow_exec(&follow, &target);
        __atomic_fetch_add(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
        thread.attached = 0; /* it failed: this program goes on */
    }
    rsc_follow_free(&follow);
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
    const int starts_program = number == calls->execve || number == calls->execveat;
    if (number == calls->execve) start_program(&(struct rsc_follow_call){AT_FDCWD, a1, a2, a3, 0});
    if (number == calls->execveat) start_program(&(struct rsc_follow_call){(int)a1, a2, a3, a4, (int)a5});
    if (starts_program || number == calls->exit_group || number == calls->exit ||
        plugin.ring->slots_used > 1 || rsc_guest_may_block(calls, number))
        publish();
    if (plugin.strict) rsc_turn_give();
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result) {
    (void)id, (void)vcpu;
    const struct rsc_guest_syscalls *calls = rsc_guest_syscalls(plugin.guest);
    if (number == calls->execve || number == calls->execveat) /* it failed: nothing was started */
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
    /*
     * The system maps downwards. What QEMU maps next, its buffer for translated code,
     * must not come to lie below the ring: calls of ours from there reach 2 GiB, and
     * have to load the address when it is farther.
     */
    const size_t gap_bytes = (size_t)1 << 30;
    void *gap = mmap(NULL, gap_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *ring = mmap(NULL, sizeof(struct rsc_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (gap != MAP_FAILED) munmap(gap, gap_bytes);
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
