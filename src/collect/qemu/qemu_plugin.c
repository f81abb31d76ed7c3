/*
 * qemu_plugin.c - runs inside qemu-user and writes the guest's accesses into the ring
 * (runtime/ring/ring.h).
 *
 * Two modes. *Recording*: every memory access is a word. *Fast*: only instructions are
 * counted. Switching resets the plugin, which makes QEMU translate everything again.
 *
 * qemu_words.c writes the words, following the plan that is made here for each block.
 * The parent does everything else, such as joining what QEMU reports in pieces,
 * recognising calls and returns, and counting instructions (expand.h).
 *
 * With regions, --for and --order strict, each block has a callback and all its
 * accesses are loose words, in execution order. A region given by function belongs to a
 * thread (region.c), so code is always translated for recording: threads that are
 * outside drop their accesses.
 *
 * Each process has one copy; a forked child takes its own slot if children are
 * followed, otherwise it stops recording.
 */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/qemu/code_plan.h"
#include "collect/qemu/follow.h"
#include "collect/qemu/guest_calls.h"
#include "collect/qemu/qemu_words.h"
#include "collect/qemu/turns.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

/* ---- modes ---- */

static void register_all(qemu_plugin_id_t id);

static void after_reset(qemu_plugin_id_t id) {
    /* A region may have begun or ended since the reset was requested. */
    plugin.recording = plugin.region == REGION_NONE ? !plugin.recording : plugin.in_region;
    plugin.passed = 0;
    __atomic_store_n(&plugin.switching, 0, __ATOMIC_RELEASE);
    register_all(id);
}

static void switch_mode(void) {
    if (!__atomic_exchange_n(&plugin.switching, 1, __ATOMIC_ACQ_REL)) qemu_plugin_reset(plugin.id, after_reset);
}

/* Counts towards --skip and --for; threads add their counts every few thousand instructions. */
static void count_towards_switch(uint32_t instructions) {
    uint64_t limit = plugin.recording ? plugin.length : plugin.skip;
    if (!limit || plugin.region != REGION_NONE) return;
    thread.uncounted += instructions;
    if (thread.uncounted < 1024 && thread.uncounted < limit) return;
    uint64_t passed = __atomic_add_fetch(&plugin.passed, thread.uncounted, __ATOMIC_RELAXED);
    thread.uncounted = 0;
    if (passed < limit) return;
    if (plugin.recording) plugin.skip = 0; /* the window has ended: fast to the end */
    switch_mode();
}

void rsc_qemu_stop_recording(void) {
    plugin.skip = plugin.length = 0;
    plugin.region = REGION_NONE;
    if (plugin.recording) switch_mode();
}

static void region_begin(void) {
    if (plugin.in_region) return;
    plugin.in_region = 1;
    if (!plugin.recording) switch_mode();
}

static void region_end(void) {
    if (!plugin.in_region) return;
    plugin.in_region = 0;
    if (plugin.recording) switch_mode();
}

/*
 * The jump that ended the previous block, now that its target is known. Returns the number of instructions that
 * begin.
 */
static inline uint32_t after_jump(const struct rsc_qemu_block *before, const struct rsc_qemu_block *now,
                                  int recording) {
    if (before->ends == RSC_PLAN_ENDS_CALL) {
        if (plugin.contexts && recording)
            rsc_words_put(now->start, rsc_record_word(RSC_RECORD_CALL, 1, before->end_pc));
    } else if (before->ends == RSC_PLAN_ENDS_RETURN) {
        if (plugin.contexts && recording) rsc_words_put(now->start, rsc_record_word(RSC_RECORD_RETURN, 1, 0));
    } else if (before->ends == RSC_PLAN_ENDS_REP && now->start == before->end_pc) {
        return 0; /* the same instruction continues */
    }
    return now->instructions;
}

static void on_inline_block(unsigned vcpu, void *user) {
    (void)vcpu;
    rsc_words_start_inline(user);
}

static int is_recording(void) {
    return plugin.region == REGION_FUNCTION ? thread.region.inside != 0 : plugin.recording;
}

/* A block that needs more than recording. */
static void on_block(unsigned vcpu, void *user) {
    const struct rsc_qemu_block *block = user, *before = thread.before;
    const int by_function = plugin.region == REGION_FUNCTION;
    uint32_t instructions = block->instructions;
    if (__builtin_expect(!thread.attached, 0)) rsc_words_attach();
    if (__builtin_expect(plugin.strict, 0) && rsc_turn_is_over(block->instructions)) {
        rsc_words_publish();
        rsc_turn_pass();
    }
    const int jump_counts = by_function ? rsc_region_follow(before, block) : plugin.recording;
    if (before->ends) instructions = after_jump(before, block, jump_counts);
    thread.before = block;
    if (is_recording()) thread.writer.instructions += instructions;
    else if (thread.writer.slot) thread.writer.slot->unrecorded_instructions += instructions;
    count_towards_switch(instructions);
    if (by_function && !is_recording()) return;
    if (block->start_word & RSC_START_INLINE) rsc_words_start_inline(block);
    else if (block->start_word) rsc_words_on_start(vcpu, (void *)(uintptr_t)block->start_word);
}

static void on_marker(unsigned vcpu, void *user) {
    int begins = (int)(intptr_t)user;
    (void)vcpu;
    if (is_recording()) rsc_words_put(1, rsc_record_word(RSC_RECORD_MARKER, 1, (uint64_t)begins));
    if (plugin.region != REGION_MARKED) return;
    if (begins) region_begin();
    else region_end();
}

/* ---- translation ---- */

/* Also matches the compiler's names for copies of a function: f.constprop.0, f.isra.0, f._omp_fn.0. */
static int is_roi(const struct qemu_plugin_insn *insn) {
    const char *symbol = plugin.region == REGION_FUNCTION ? qemu_plugin_insn_symbol(insn) : NULL;
    size_t length = strlen(plugin.roi);
    return symbol && !strncmp(symbol, plugin.roi, length) && (!symbol[length] || symbol[length] == '.');
}

/*
 * Whether the region could begin in this block. The mode changes only after the block, so its accesses are
 * instrumented in advance.
 */
static int may_enter_region(const struct qemu_plugin_tb *tb) {
    size_t count = qemu_plugin_tb_n_insns(tb);
    for (size_t i = 0; plugin.region == REGION_MARKED && i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        if (rsc_guest_classify(plugin.guest, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)) ==
            RSC_GUEST_BEGIN)
            return 1;
    }
    return 0;
}

/* The callback for one instruction's accesses. is_last: it is the last of its block, and they are certain. */
static qemu_mem_cb loose_callback(int is_last, int jumps) {
    if (plugin.region == REGION_NONE) return is_last ? rsc_words_on_last_loose : rsc_words_on_loose;
    if (jumps) return rsc_words_on_region_jump;
    return is_last ? rsc_words_on_region_last : rsc_words_on_region_loose;
}

static qemu_mem_cb fixed_callback(int is_last, int is_leading, int both) {
    if (is_leading && is_last) return both ? rsc_words_on_last_leading_update : rsc_words_on_last_leading;
    if (is_leading) return both ? rsc_words_on_leading_update : rsc_words_on_leading;
    if (is_last) return both ? rsc_words_on_last_fixed_update : rsc_words_on_last_fixed;
    return both ? rsc_words_on_fixed_update : rsc_words_on_fixed;
}

/* Callbacks for the accesses of a recorded block. */
static void watch_accesses(const struct rsc_survey *survey, const struct qemu_plugin_tb *tb, uint64_t start_word) {
    uint32_t place = 1;
    for (uint32_t i = 0; i < survey->count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        struct rsc_guest_accesses accesses = survey->insns[i].accesses;
        const int is_last = i + 1 == survey->count && accesses.certain;
        if (!survey->insns[i].is_fixed) {
            const int jumps = i + 1 == survey->count && survey->ends != RSC_PLAN_ENDS;
            qemu_plugin_register_vcpu_mem_cb(insn, loose_callback(is_last, jumps), QEMU_NO_REGS, QEMU_MEM_RW,
                                             (void *)(uintptr_t)rsc_loose_user(survey->fixed + i));
            continue;
        }
        const int both = accesses.reads && accesses.writes, is_leading = i == survey->leading;
        qemu_plugin_register_vcpu_mem_cb(insn, fixed_callback(is_last, is_leading, both), QEMU_NO_REGS, QEMU_MEM_RW,
                                         (void *)(uintptr_t)(is_leading ? start_word : place));
        place += both ? 2 : 1;
    }
}

/* Before and after an instruction that synchronises. */
static void on_order(unsigned vcpu, void *user) {
    (void)vcpu;
    if (!plugin.has_others || !is_recording()) return;
    if ((intptr_t)user == RSC_GUEST_SPINS) rsc_words_spin();
    else rsc_words_mark();
}

/* Returns whether a block has such instructions. */
static int watch_order(const struct qemu_plugin_tb *tb) {
    const size_t count = qemu_plugin_tb_n_insns(tb);
    enum rsc_guest_order before = RSC_GUEST_UNORDERED;
    int any = 0;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        enum rsc_guest_order order =
            rsc_guest_order(plugin.guest, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
        intptr_t how = order == RSC_GUEST_UNORDERED ? (intptr_t)before : (intptr_t)order;
        /* The last instruction's end is the next block's start. */
        if (order == RSC_GUEST_ATOMIC && i + 1 == count)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_order, QEMU_NO_REGS, (void *)(intptr_t)RSC_GUEST_SPINS);
        if (how != RSC_GUEST_UNORDERED)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_order, QEMU_NO_REGS, (void *)how);
        before = order == RSC_GUEST_ATOMIC ? order : RSC_GUEST_UNORDERED;
        any |= order != RSC_GUEST_UNORDERED;
    }
    return any;
}

static void on_nothing(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    (void)vcpu, (void)info, (void)addr, (void)user;
}

/*
 * QEMU's helpers (for example xsave or atomics) call the last registered callback, even
 * one from before a reset: an instruction that may use a helper must have a callback
 * registered.
 */
static void watch_nothing(const struct rsc_survey *survey, const struct qemu_plugin_tb *tb) {
    for (size_t i = 0; i < survey->count; i++) {
        enum rsc_guest_insn sort = survey->insns[i].sort;
        if (sort == RSC_GUEST_REP || sort == RSC_GUEST_WIDE || sort == RSC_GUEST_STORE)
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_nothing, QEMU_NO_REGS, QEMU_MEM_RW,
                                             NULL);
    }
}

/* Plan and callbacks of a block whose accesses are recorded. `ordered`: times are between them, so they are loose. */
static void record_block(struct rsc_qemu_block *block, struct rsc_survey *survey, const struct qemu_plugin_tb *tb,
                         int usual, int ordered) {
    const uint64_t flags = usual ? RSC_START_COUNTED | (plugin.contexts ? RSC_START_CALLS : 0) : 0;
    rsc_survey_block(survey, plugin.guest, tb, usual && !ordered);
    uint64_t *plan = rsc_ring_plan(plugin.ring, rsc_survey_plan_words(survey));
    if (plan) {
        block->start_word =
            RSC_START | flags | (uint64_t)(plan - plugin.ring->plans) | (uint64_t)(1 + survey->fixed) << 32;
    } else { /* no room in the ring: no fixed words, and the plan is written out every time */
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
    /* Never freed: QEMU does not report when it drops a translation. */
    struct rsc_qemu_block *block = calloc(1, sizeof *block);
    /* Recording, threads unordered, to the end of the program. */
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
    if (plugin.region == REGION_FUNCTION) {
        block->function = qemu_plugin_insn_symbol(first);
        block->moves_stack = (uint8_t)rsc_region_moves_stack(tb);
    }
    if (plugin.recording || may_enter_region(tb)) record_block(block, &survey, tb, usual, watch_order(tb));
    else watch_nothing(&survey, tb);
    if (!usual) qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_NO_REGS, block);
    else if (block->start_word & RSC_START_INLINE)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_inline_block, QEMU_NO_REGS, block);
    else if (block->start_word && survey.leading == count)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, rsc_words_on_start, QEMU_NO_REGS,
                                             (void *)(uintptr_t)block->start_word);
    if (usual && !(block->start_word & RSC_START_INLINE)) free(block);
}

/* ---- system calls ---- */

/*
 * The guest's process becomes another program. If the process is watched, that is started here, under
 * QEMU again; if that fails, QEMU lets the kernel start it.
 */
static void start_program(const struct rsc_follow_call *call) {
    struct rsc_follow follow = {.guest = plugin.guest,
                                .guest_base = plugin.guest_base,
                                .ring_fd = plugin.ring_fd,
                                .parent_pid = plugin.ring->parent_pid};
    struct rsc_target target;
    __atomic_fetch_add(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
    if (thread.closed) return;
    if (rsc_follow_read(&follow, call) == 0 && rsc_follow_find(&follow, &target)) {
        rsc_words_leave();
        __atomic_fetch_sub(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
        rsc_follow_exec(&follow, &target); /* returns on failure: this program continues */
        __atomic_fetch_add(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
    }
    rsc_follow_free(&follow);
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                       uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
    const struct rsc_guest_syscalls *calls = rsc_guest_syscalls(plugin.guest);
    (void)id, (void)vcpu, (void)a7, (void)a8;
    if (!thread.attached) rsc_words_attach();
    if (number == calls->getpid && a1 == RSC_GUEST_CALL_MAGIC) {
        if (!plugin.recording) return;
        if (a2 == RSC_GUEST_ALLOC) rsc_words_put(a3, rsc_record_word(RSC_RECORD_ALLOC, 1, a4));
        if (a2 == RSC_GUEST_FREE) rsc_words_put(a3, rsc_record_word(RSC_RECORD_FREE, 1, 0));
        return;
    }
    /* The dynamic linker's MAP_DENYWRITE: what it maps of a library is reported with its code. */
    const int loads = number == calls->mmap && !(a3 & PROT_EXEC) && (a4 & MAP_DENYWRITE);
    thread.mapping =
        (struct rsc_qemu_mapping){.bytes = a2,
                                  .offset = a6,
                                  .fd = number != calls->mmap || loads || (a4 & MAP_ANONYMOUS) ? -1 : (int)a5,
                                  .writable = (a3 & PROT_WRITE) != 0,
                                  .executable = (a3 & PROT_EXEC) != 0};
    const int starts_program = number == calls->execve || number == calls->execveat;
    if (number == calls->execve) start_program(&(struct rsc_follow_call){AT_FDCWD, a1, a2, a3, 0});
    if (number == calls->execveat) start_program(&(struct rsc_follow_call){(int)a1, a2, a3, a4, (int)a5});
    if (number == calls->clone || number == calls->clone3) plugin.has_others = 1;
    if (starts_program || number == calls->exit_group || number == calls->exit || plugin.strict) rsc_words_publish();
    else if (plugin.has_others || rsc_guest_may_block(calls, number)) rsc_words_rest();
    if (plugin.strict) rsc_turn_give();
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result) {
    (void)id, (void)vcpu;
    const struct rsc_guest_syscalls *calls = rsc_guest_syscalls(plugin.guest);
    if (number == calls->execve || number == calls->execveat) /* it failed: nothing was started */
        __atomic_fetch_sub(&plugin.ring->execs, 1, __ATOMIC_RELAXED);
    if (plugin.strict && thread.attached && !thread.closed) rsc_turn_take();
    const struct rsc_qemu_mapping mapped = thread.mapping;
    thread.mapping.fd = -1;
    if (mapped.fd < 0 || (result < 0 && result >= -4095)) return;
    if (mapped.executable) rsc_words_note_maps();
    else rsc_words_note_file((uint64_t)result, &mapped);
}

static void at_exit(qemu_plugin_id_t id, void *user) {
    (void)id, (void)user;
    if (thread.attached && !thread.closed) rsc_words_end();
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
     * The system maps downwards. QEMU's next mapping, its buffer for translated code,
     * must not be below the ring: its calls to our code reach 2 GiB, and must load the
     * address when it is farther.
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

/* The first file that the dynamic linker lists is the program: QEMU. */
static int find_emulator(struct dl_phdr_info *file, size_t bytes, void *ignored) {
    (void)bytes, (void)ignored;
    for (int i = 0; i < file->dlpi_phnum; i++) {
        if (file->dlpi_phdr[i].p_type != PT_LOAD || !(file->dlpi_phdr[i].p_flags & PF_X)) continue;
        plugin.emulator = file->dlpi_addr + file->dlpi_phdr[i].p_vaddr;
        plugin.emulator_bytes = file->dlpi_phdr[i].p_memsz;
    }
    return 1;
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
    if (rsc_words_install() < 0) return -1;
    dl_iterate_phdr(find_emulator, NULL);
    plugin.recording = plugin.region != REGION_MARKED && plugin.skip == 0;
    register_all(id);
    return 0;
}
