/*
 * asm_start.c - see asm_state.h. How the process begins to be watched: when it starts, when
 * it forks, and when a running one is asked to.
 *
 * Without `reusescope run` there is no ring, and every thread gets a long countdown, after
 * which it looks whether `reusescope attach` asks for it (asm_attach.h). Only one thread
 * takes or gives up a ring, while no other is in the runtime; each time is a generation,
 * and a thread that finds itself in another one than last time begins anew.
 */
#include "runtime/recorder/asm_attach.h"
#include "runtime/recorder/asm_lines.h"
#include "runtime/recorder/asm_sampled.h"
#include "runtime/recorder/asm_state.h"
#include "runtime/trap/watch_thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct rsc_asm_process rsc_asm_process;

/* ---- the process ---- */

/* A child that is followed begins where this thread is: what is before must be taken first. */
static void before_fork(void) {
    struct rsc_asm_local *local = &rsc_asm_local;
    local->fork_image = 0;
    if (!rsc_asm_process.follow || !rsc_asm_recording() || rsc_asm_process.lines || rsc_asm_sampling) return;
    local->fork_image = __atomic_add_fetch(&rsc_asm_process.ring->images, 1, __ATOMIC_RELAXED);
    rsc_asm_put(local->fork_image, rsc_record_word(RSC_RECORD_FORK, 1, 0));
    rsc_asm_publish();
}

/* The only thread of a new process; the slot belongs to the old one. */
static void after_fork_in_child(void) {
    uint32_t image = rsc_asm_local.fork_image;
    rsc_asm_process.inside = rsc_asm_process.attaching = 0;
    rsc_asm_local.generation = ++rsc_asm_process.generation;
    rsc_asm_process.pid = (uint32_t)getpid();
    if (!rsc_asm_process.ring) return;
    __atomic_fetch_add(&rsc_asm_process.ring->forks, 1, __ATOMIC_RELAXED);
    rsc_asm_local = (struct rsc_asm_local){.generation = rsc_asm_process.generation};
    rsc_asm_thread = (struct rsc_asm_thread){0};
    rsc_asm_process.maps_noted = 0;
    if (rsc_asm_process.watching) rsc_watch_fork(rsc_asm_process.follow ? rsc_asm_process.ring : NULL);
    if (!rsc_asm_process.follow) {
        rsc_asm_process.ring = NULL;
        rsc_asm_process.watching = 0;
        return;
    }
    rsc_asm_process.image = image ? image : __atomic_add_fetch(&rsc_asm_process.ring->images, 1, __ATOMIC_RELAXED);
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
    rsc_asm_process.ring = ring;
    return 0;
}

/* ---- attaching ---- */

/* The memory of a ring that is given up goes back; threads that had words to write still may, to nobody. */
static void give_up_ring(void) {
    mmap(rsc_asm_process.ring, sizeof *rsc_asm_process.ring, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    rsc_asm_process.ring = NULL;
    rsc_asm_process.recording = rsc_asm_sampling = 0;
    rsc_asm_sampled_forget();
    rsc_asm_process.generation++;
}

/* A ring whose program samples its own references: the only kind that a running program can be given. */
static void take_ring(int fd) {
    int taken = map_ring(fd) == 0;
    if (taken && (!rsc_asm_process.ring->sampled || rsc_asm_sampled_prepare(rsc_asm_process.ring) < 0)) {
        munmap(rsc_asm_process.ring, sizeof *rsc_asm_process.ring);
        rsc_asm_process.ring = NULL;
        taken = 0;
    }
    syscall(SYS_close, fd);
    if (!taken) return;
    rsc_asm_registry_move(rsc_asm_process.ring);
    rsc_asm_sampling = (int)rsc_asm_process.ring->sampled;
    rsc_asm_process.follow = rsc_asm_process.marked = rsc_asm_process.lines = rsc_asm_process.maps_noted = 0;
    rsc_asm_process.skip = 0;
    rsc_asm_process.wanted_ns = rsc_ring_now_ns();
    rsc_asm_process.generation++;
    rsc_asm_process.recording = 1;
    rsc_asm_process.image = __atomic_add_fetch(&rsc_asm_process.ring->images, 1, __ATOMIC_RELEASE);
}

/* Alone in the runtime? Then others stay out until rsc_asm_process.attaching is 0 again. */
static int may_change(void) {
    if (__atomic_exchange_n(&rsc_asm_process.attaching, 1, __ATOMIC_SEQ_CST)) return 0;
    if (__atomic_load_n(&rsc_asm_process.inside, __ATOMIC_SEQ_CST) == 1) return 1;
    __atomic_store_n(&rsc_asm_process.attaching, 0, __ATOMIC_SEQ_CST);
    rsc_asm_process.looked_ns = 0; /* soon again */
    return 0;
}

void rsc_asm_attach_if_asked(void) {
    struct rsc_asm_local *local = &rsc_asm_local;
    uint64_t now = rsc_ring_now_ns();
    if (now - __atomic_load_n(&rsc_asm_process.looked_ns, __ATOMIC_RELAXED) < RSC_ATTACH_LOOK_NS) return;
    __atomic_store_n(&rsc_asm_process.looked_ns, now, __ATOMIC_RELAXED);
    int fd = rsc_asm_process.ring ? -1 : rsc_attach_request(rsc_asm_process.user, rsc_asm_process.pid);
    if (!rsc_asm_process.ring && fd < 0) return;
    if (!may_change()) {
        if (fd >= 0) syscall(SYS_close, fd);
        return;
    }
    if (rsc_asm_process.ring) give_up_ring();
    else take_ring(fd);
    *local = (struct rsc_asm_local){.generation = rsc_asm_process.generation, .busy = 1};
    rsc_asm_thread.next = rsc_asm_thread.limit = NULL;
    __atomic_store_n(&rsc_asm_process.attaching, 0, __ATOMIC_SEQ_CST);
}

/* Started without the tool, which may ask later. Not with the rights of another user. */
static void become_attachable(void) {
    if (getauxval(AT_SECURE) || pthread_key_create(&rsc_asm_process.key, rsc_asm_thread_ends) != 0) return;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    rsc_asm_process.pid = (uint32_t)getpid();
    rsc_asm_process.user = (uint32_t)geteuid();
    rsc_asm_process.attachable = 1;
}

/* "ring=200,follow=0,skip=0,marked=0,samples=1,watch=0,plain=0" */
static uint64_t setting(const char *text, const char *name) {
    size_t length = strlen(name);
    for (; text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL)
        if (!strncmp(text, name, length) && text[length] == '=') return strtoull(text + length + 1, NULL, 10);
    return 0;
}

/* Also called from rsc_asm_register(): in a static executable, constructors run in any order. */
__attribute__((constructor(101))) void rsc_asm_initialise(void) {
    if (rsc_asm_process.ready) return;
    const char *text = secure_getenv(RSC_ASM_ENVIRONMENT);
    if (text && map_ring((int)setting(text, "ring")) == 0) {
        rsc_asm_process.follow = setting(text, "follow") != 0;
        rsc_asm_process.marked = setting(text, "marked") != 0;
        rsc_asm_process.skip = setting(text, "skip");
        rsc_asm_process.watching = setting(text, "watch") != 0;
        rsc_asm_process.recording = !rsc_asm_process.watching && !rsc_asm_process.marked && !rsc_asm_process.skip;
        rsc_asm_process.lines = rsc_asm_process.ring->keep_lines != 0;
        rsc_asm_sampling = rsc_asm_process.ring->sampled && rsc_asm_sampled_prepare(rsc_asm_process.ring) == 0
                               ? (int)rsc_asm_process.ring->sampled
                               : 0;
        if (rsc_asm_process.lines) rsc_asm_lines_prepare(setting(text, "plain") != 0);
        rsc_asm_process.wanted_ns = rsc_ring_now_ns();
        rsc_asm_process.pid = (uint32_t)getpid();
        rsc_asm_process.image = __atomic_add_fetch(&rsc_asm_process.ring->images, 1, __ATOMIC_RELAXED);
        if (pthread_key_create(&rsc_asm_process.key, rsc_asm_thread_ends) != 0) rsc_asm_process.ring = NULL;
        pthread_atfork(before_fork, NULL, after_fork_in_child);
        if (!rsc_asm_process.follow) close((int)setting(text, "ring"));
        if (!rsc_asm_process.ring) rsc_asm_process.watching = 0;
        if (rsc_asm_process.ring && setting(text, "samples")) rsc_asm_samples_start(rsc_asm_process.ring);
        if (rsc_asm_process.watching) rsc_watch_start(rsc_asm_process.ring);
        /* Already counted at its start as a program that is not watched. */
        if (rsc_asm_process.ring && rsc_asm_process.follow && rsc_asm_process.image > 1)
            __atomic_fetch_sub(&rsc_asm_process.ring->execs, 1, __ATOMIC_RELAXED);
    }
    if (!text) become_attachable();
    if (text && !rsc_asm_process.follow)
        unsetenv(RSC_ASM_ENVIRONMENT); /* neither the program nor programs it starts may see it */
    rsc_asm_process.ready = 1;
#ifdef RSC_ASM_STATIC
    rsc_asm_ready = 1;
#endif
    rsc_asm_thread.counter = 0;
}

/* The thread that ends the process runs no thread-specific destructors. */
static __attribute__((destructor(101))) void finish(void) {
    if (rsc_asm_process.watching) rsc_watch_thread_end();
}

/* A child of vfork() is still its parent to us. */
void rsc_process_ends(void) {
    if ((uint32_t)getpid() == rsc_asm_process.pid) finish();
}
