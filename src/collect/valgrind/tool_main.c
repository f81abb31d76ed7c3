/*
 * tool_main.c - the Valgrind tool `reusescope`: options, and what Valgrind reports of threads, system calls and
 * children; see tool_state.h.
 */
#include <pub_tool_aspacemgr.h>
#include <pub_tool_clientstate.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_options.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_vki.h>
#include <libvex.h>

#include "collect/qemu/guest_code.h"
#include "collect/valgrind/tool_state.h"
#include "collect/valgrind/tool_schedule.h"

#define MAP_DENYWRITE 0x800 /* what the dynamic linker maps libraries with */

/* Of Valgrind's core; its header is not packaged. */
extern Bool VG_(clo_trace_children);

enum {
    CALL_MMAP = 9,
    CALL_MPROTECT = 10,
    CALL_CLOSE = 3,
    CALL_OPENAT = 257,
    CALL_READ = 0,
    CALL_PREAD = 17,
    CALL_FSTAT = 5,
    CALL_NEWFSTATAT = 262,
    CALL_MREMAP = 25
};

/* ---- threads ---- */

#define SLICE_BLOCKS 5000
#define EVENT_COUNTER 8 /* in the registers: blocks until Valgrind lets another thread run (VEX's host_EvC_COUNTER) */

static void limit_blocks(ThreadId thread, Int most) {
    Int left;
    VG_(get_shadow_regs_area)(thread, (UChar *)&left, 0, EVENT_COUNTER, sizeof left);
    if (left <= most) return;
    VG_(set_shadow_regs_area)(thread, 0, EVENT_COUNTER, sizeof most, (const UChar *)&most);
}

/* Of several threads each runs for a short while; the parent interleaves them. */
static void on_create(ThreadId parent, ThreadId child) {
    rsc_schedule_create(parent, child);
    if (parent) rsc_tool_stop_unrolling(); /* the first thread has none */
}

static void on_start(ThreadId thread, ULong blocks) {
    (void)blocks;
    if (!rsc_schedule_may_run(thread)) {
        limit_blocks(thread, 0); /* Valgrind ends its slice at once */
        return;
    }
    rsc_tool_resume(thread);
    if (rsc_schedule_living() > 1) limit_blocks(thread, SLICE_BLOCKS);
}

static void on_stop(ThreadId thread, ULong blocks) {
    Int left;
    (void)blocks;
    if (!rsc_schedule_has(thread)) return;
    rsc_tool_pause(thread);
    VG_(get_shadow_regs_area)(thread, (UChar *)&left, 0, EVENT_COUNTER, sizeof left);
    rsc_schedule_stop(thread, left);
}

/* Threads that ended with the process, in no order. */
static UChar cut_off[RSC_TOOL_THREADS];

static void put_end(ThreadId thread) {
    if (thread == rsc_tool.thread) rsc_tool.thread = 0;
    if (rsc_tool.recording && rsc_tool.lines) {
        rsc_tool_lines_look(0);
        rsc_tool_lines_switch(thread, 1);
    }
    rsc_tool_put(thread, rsc_record_word(RSC_RECORD_SWITCH, 1, 1));
}

static void on_thread_end(ThreadId thread) {
    if (rsc_schedule_has(thread)) put_end(thread);
    else if (thread < RSC_TOOL_THREADS) cut_off[thread] = 1;
    rsc_schedule_end(thread);
}

/* Client code is between two blocks, or has faulted within one. */
static void on_signal(ThreadId thread, Int number, Bool on_other_stack) {
    (void)on_other_stack;
    rsc_schedule_signal(thread);
    rsc_tool.faulted = number == VKI_SIGSEGV || number == VKI_SIGBUS;
}

/* ---- the program's random bytes ---- */

/* The kernel's gift to the new program, at the end of its initial stack: argc, argv, environment, auxiliary vector. */
static void set_random_bytes(ThreadId thread) {
    UWord *word = (UWord *)VG_(get_SP)(thread);
    word += 1 + *word + 1;
    while (*word++) {
    }
    for (; word[0] != 0; word += 2) {
        if (word[0] != 25) continue; /* AT_RANDOM */
        uint64_t state = rsc_tool.seed;
        for (int i = 0; i < 16; i++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            ((UChar *)word[1])[i] = (UChar)(state >> 33);
        }
    }
}

/* The parent cannot see what is mapped at this moment. */
static void put_stack(ThreadId thread) {
    const NSegment *stack = VG_(am_find_nsegment)(VG_(get_SP)(thread) - 1);
    if (stack)
        rsc_tool_put(stack->start, rsc_record_word(RSC_RECORD_STACK, 1, (uint64_t)(stack->end + 1 - stack->start)));
}

static void on_first_instruction(ThreadId thread) {
    static int started;
    if (started) {
        rsc_schedule_arrive(thread);
        if (!rsc_schedule_has(thread)) return;
        rsc_tool_resume(thread);
        put_stack(thread);
        return;
    }
    started = 1;
    rsc_schedule_reset(thread);
    set_random_bytes(thread);
    rsc_tool_attach();
}

/* ---- system calls ---- */

static int left_for_exec; /* the slot was given up for a program that is being started */

/* Programs are tried in every folder of PATH: most do not exist. */
static int can_start(const HChar *path) {
    struct vg_stat file;
    return path && !sr_isError(VG_(stat)(path, &file)) && VKI_S_ISREG(file.mode) &&
           VG_(access)(path, False, False, True) == 0;
}

/* A program that can be followed: x86-64, or a script. Not a set-user-id program. */
static int can_follow(const HChar *path) {
    UChar head[20];
    struct vg_stat file;
    if (sr_isError(VG_(stat)(path, &file)) || file.mode & (VKI_S_ISUID | VKI_S_ISGID)) return 0;
    SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(opened)) return 0;
    Int got = VG_(read)((Int)sr_Res(opened), head, sizeof head);
    VG_(close)((Int)sr_Res(opened));
    if (got >= 2 && head[0] == '#' && head[1] == '!') return 1;
    return got == sizeof head && !VG_(memcmp)(head, "\177ELF\2\1", 6) && head[18] == 62; /* EM_X86_64 */
}

/* A file of ours for the new program, under its old number, even if this program closed what it did not open. */
static void pass_on(int fd) {
    HChar name[64];
    struct vg_stat there;
    if (fd < 0 || VG_(fstat)(fd, &there) == 0) return;
    VG_(sprintf)(name, "/proc/%u/fd/%d", rsc_tool.ring->parent_pid, fd);
    SysRes opened = VG_(open)(name, VKI_O_RDWR, 0);
    if (sr_isError(opened) || (Int)sr_Res(opened) == fd) return;
    VG_(dup2)((Int)sr_Res(opened), fd);
    VG_(close)((Int)sr_Res(opened));
}

/* The file that execveat() names: in a folder, or an open file itself. */
static const HChar *path_at(Int fd, const HChar *path) {
    static HChar whole[2 * VKI_PATH_MAX], link[64];
    if (fd == VKI_AT_FDCWD || !VG_(am_is_valid_for_client)((Addr)path, 1, VKI_PROT_READ) || path[0] == '/') return path;
    VG_(sprintf)(link, "/proc/self/fd/%d", fd);
    SSizeT length = VG_(readlink)(link, whole, VKI_PATH_MAX);
    if (length <= 0) return NULL;
    VG_(snprintf)(whole + length, VKI_PATH_MAX, "%s%s", path[0] ? "/" : "", path);
    return whole;
}

static void before_exec(const HChar *path) {
    left_for_exec = can_start(path);
    if (!left_for_exec) return;
    VG_(clo_trace_children) = rsc_tool.recording && can_follow(path);
    if (VG_(clo_trace_children)) {
        pass_on(rsc_tool.ring_fd);
        pass_on(rsc_tool.log_fd);
    } else __atomic_fetch_add(&rsc_tool.ring->execs, 1, __ATOMIC_RELAXED);
    rsc_tool_detach();
}

/* It failed: this program runs on. */
static void after_exec(void) {
    if (!left_for_exec) return;
    if (!VG_(clo_trace_children)) __atomic_fetch_sub(&rsc_tool.ring->execs, 1, __ATOMIC_RELAXED);
    if (rsc_tool.recording) rsc_tool_attach();
}

/* Calls of the dynamic linker while it loads a library: what is mapped changes with each. */
static int is_loading(UInt number) {
    return number == CALL_MMAP || number == CALL_CLOSE || number == CALL_OPENAT || number == CALL_READ ||
           number == CALL_PREAD || number == CALL_FSTAT || number == CALL_NEWFSTATAT;
}

void rsc_tool_note_call(ThreadId thread) {
    rsc_tool_discard();
    if (rsc_schedule_living() > 1) rsc_tool_put(thread, rsc_record_word(RSC_RECORD_CALLED, 1, 0));
}

/* A thread without the turn has written what there was before it left. */
static void before_call(ThreadId thread, UInt number, UWord *args, UInt count) {
    const struct rsc_guest_syscalls *calls = rsc_guest_syscalls(RSC_GUEST_X86_64);
    (void)count;
    if (rsc_schedule_has(thread)) {
        rsc_tool_note_call(thread);
        if (!is_loading(number)) rsc_tool_note_maps();
        if (number == calls->execve) before_exec((const HChar *)args[0]);
        else if (number == calls->execveat) before_exec(path_at((Int)args[0], (const HChar *)args[1]));
        else if (rsc_guest_may_block(calls, number)) rsc_tool_publish();
    }
    rsc_schedule_call(thread);
}

static void after_call(ThreadId thread, UInt number, UWord *args, UInt count, SysRes result) {
    const struct rsc_guest_syscalls *calls = rsc_guest_syscalls(RSC_GUEST_X86_64);
    (void)count;
    if (number == calls->clone && sr_isError(result)) rsc_schedule_not_created();
    rsc_schedule_called(thread);
    if (number == calls->execve || number == calls->execveat) after_exec();
    if (number != CALL_MMAP || sr_isError(result) || (args[3] & VKI_MAP_ANONYMOUS)) return;
    if (args[3] & MAP_DENYWRITE) rsc_tool.maps_changed = 1;
    else rsc_tool_note_file(sr_Res(result));
}

/* ---- children ---- */

/* The slot belongs to the old process. */
static void after_fork(ThreadId thread) {
    __atomic_fetch_add(&rsc_tool.ring->forks, 1, __ATOMIC_RELAXED);
    rsc_schedule_reset(thread);
    VG_(memset)(cut_off, 0, sizeof cut_off);
    if (!rsc_tool.recording) return;
    VG_(memset)(&rsc_tool.writer, 0, sizeof rsc_tool.writer);
    if (!rsc_tool.follow) {
        rsc_tool_stop();
        return;
    }
    rsc_tool.image = __atomic_add_fetch(&rsc_tool.ring->images, 1, __ATOMIC_RELAXED);
    rsc_tool_attach();
}

/* ---- loading ---- */

static Bool take_option(const HChar *text) {
    const HChar *seed;
    Int number;
    if VG_INT_CLO (text, "--ring", number) {
        rsc_tool.ring_fd = number;
        return True;
    }
    if VG_INT_CLO (text, "--messages", number) {
        rsc_tool.log_fd = number;
        return True;
    }
    if VG_INT_CLO (text, "--follow", number) {
        rsc_tool.follow = number != 0;
        return True;
    }
    if VG_INT_CLO (text, "--contexts", number) {
        rsc_tool.contexts = number != 0;
        return True;
    }
    if VG_INT_CLO (text, "--plain", number) {
        rsc_tool.plain = number;
        return True;
    }
    if VG_STR_CLO (text, "--roi", rsc_tool.roi) return True;
    if VG_INT_CLO (text, "--roi-own", number) {
        rsc_tool.roi_own = number;
        return True;
    }
    if VG_STR_CLO (text, "--seed", seed) { /* of 64 bits: the parent wrote it */
        rsc_tool.seed = VG_(strtoull10)(seed, NULL);
        return True;
    }
    return False;
}

static void print_nothing(void) {}

static void before_program(void) {
    struct vki_rlimit limit = {0, 0};
    if (rsc_tool_map_ring(rsc_tool.ring_fd) < 0) {
        VG_(umsg)("this tool is started by the reusescope run that it was built with\n");
        VG_(exit)(1);
    }
    /* Valgrind would write a core file of its own kind. */
    if (VG_(getrlimit)(VKI_RLIMIT_CORE, &limit) == 0 && limit.rlim_cur) {
        limit.rlim_cur = 0;
        VG_(setrlimit)(VKI_RLIMIT_CORE, &limit);
    }
    rsc_tool.image = __atomic_add_fetch(&rsc_tool.ring->images, 1, __ATOMIC_RELAXED);
    rsc_tool.recording = 1;
}

static void after_program(Int status) {
    (void)status;
    for (ThreadId thread = 1; thread < RSC_TOOL_THREADS; thread++)
        if (cut_off[thread]) put_end(thread);
    rsc_tool_detach();
}

/*
 * Valgrind asks for its folder before any tool is asked anything: ours is beside this program. In the environment it
 * would be the program's too. (The linker sends Valgrind's calls here: --wrap.)
 */
HChar *__real_vgPlain_getenv(const HChar *name);
HChar *__wrap_vgPlain_getenv(const HChar *name);
HChar *__wrap_vgPlain_getenv(const HChar *name) {
    static HChar path[VKI_PATH_MAX];
    if (VG_(strcmp)(name, "VALGRIND_LIB")) return __real_vgPlain_getenv(name);
    SSizeT length = VG_(readlink)("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    HChar *slash = VG_(strrchr)(path, '/');
    if (!slash) return NULL;
    *slash = 0;
    if (!VG_(strchr)(path, ':') && !VG_(strchr)(path, ' ')) return path;
    /* ld.so would split the name in LD_PRELOAD: a descriptor stands for the folder. */
    SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
    Int kept = sr_isError(opened) ? -1 : VG_(fcntl)((Int)sr_Res(opened), VKI_F_DUPFD, 200);
    if (!sr_isError(opened)) VG_(close)((Int)sr_Res(opened));
    if (kept >= 0) VG_(sprintf)(path, "/proc/self/fd/%d", kept);
    return path;
}

/*
 * Of the program's files Valgrind needs the symbols, for --roi. Reading line numbers and frames, which the parent reads
 * itself where names are wanted, takes longer than starting does otherwise. (--wrap; their arguments are not used.)
 */
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void);
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void) {}
void __wrap_vgModuleLocal_read_callframe_info_dwarf3(void);
void __wrap_vgModuleLocal_read_callframe_info_dwarf3(void) {}

static void set_up(void) {
    VG_(details_name)("reusescope");
    VG_(details_version)(NULL);
    VG_(details_description)("records memory accesses for reusescope");
    VG_(details_copyright_author)("the reusescope authors; Valgrind's parts are under the GPL");
    VG_(details_bug_reports_to)("the reusescope project");
    VG_(details_avg_translation_sizeB)(500);
    VG_(basic_tool_funcs)(before_program, rsc_tool_instrument, after_program);
    VG_(needs_command_line_options)(take_option, print_nothing, print_nothing);
    VG_(needs_syscall_wrapper)(before_call, after_call);
    VG_(track_start_client_code)(on_start);
    VG_(track_stop_client_code)(on_stop);
    VG_(track_pre_thread_ll_create)(on_create);
    VG_(track_pre_deliver_signal)(on_signal);
    VG_(track_pre_thread_first_insn)(on_first_instruction);
    VG_(track_pre_thread_ll_exit)(on_thread_end);
    VG_(atfork)(NULL, NULL, after_fork);
    VG_(clo_vex_control).guest_chase = False; /* calls and returns end blocks: the parent sees them */
    VG_(clo_vex_control).iropt_unroll_thresh = 240; /* twice the default: hints count as statements */
}

VG_DETERMINE_INTERFACE_VERSION(set_up)
