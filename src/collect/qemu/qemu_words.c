/* qemu_words.c - see qemu_words.h. */
#include "collect/qemu/qemu_words.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/qemu/turns.h"

/*
 * Prefetch distance ahead of the words being written: saves 4 to 7 % in three interleaved runs of an integer sort on
 * a busy machine.
 */
#define SPIN_NS 250 /* between times of a loop that waits: fewer iterations of it than can matter */
#define PREFETCH_WORDS 64

/* What a thread ran before its first block. */
static const struct rsc_qemu_block no_block;

/* Sink for words that are not recorded. Its first word stays zero: no start. */
static uint64_t sink[1 + RSC_START_FIXED_MAX];

struct rsc_qemu plugin;
__thread struct rsc_qemu_thread thread = {.current = sink, .before = &no_block};

static pthread_key_t thread_end_key;

/* ---- threads and processes ---- */

static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t process_id(void) { return rsc_process_id(plugin.image, (uint32_t)getpid()); }

static void mark_note(uint64_t end) {
    thread.current = sink;
    if (end && !thread.closed) rsc_ring_put(&thread.writer, 1, rsc_record_word(RSC_RECORD_NOTE, 1, end));
}

void rsc_words_note_maps(void) {
    static char text[1 << 19];
    pthread_mutex_lock(&maps_lock);
    uint64_t end = rsc_ring_note_maps(plugin.ring, RSC_NOTE_MAPS, process_id(), text, sizeof text);
    pthread_mutex_unlock(&maps_lock);
    mark_note(end);
}

void rsc_words_note_file(uint64_t start, const struct rsc_qemu_mapping *mapped) {
    char link[64], path[4096], text[4096 + 128];
    snprintf(link, sizeof link, "/proc/self/fd/%d", mapped->fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/') return;
    path[length] = 0;
    int bytes = snprintf(text, sizeof text, "%" PRIx64 "-%" PRIx64 " r%c-p %" PRIx64 " 00:00 0 %s\n", start,
                         start + ((mapped->bytes + 4095) & ~UINT64_C(4095)), mapped->writable ? 'w' : '-',
                         mapped->offset, path);
    mark_note(rsc_ring_note(plugin.ring, RSC_NOTE_MAPS, process_id(), text, (uint32_t)bytes));
}

int rsc_words_publish(void) {
    thread.current = sink;
    thread.region.undo = NULL;
    if (thread.closed) return -1;
    if (plugin.strict) rsc_turn_keep(1);
    int status = rsc_ring_publish(&thread.writer);
    if (plugin.strict) rsc_turn_keep(0);
    return status;
}

void rsc_words_attach(void) {
    uint64_t counted = thread.writer.instructions; /* before the first access */
    if (thread.closed) return;
    thread.attached = 1;
    thread.mapping.fd = -1;
    if (rsc_ring_attach(&thread.writer, plugin.ring, (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)) < 0)
        thread.closed = 1;
    else thread.writer.slot->image = plugin.image;
    thread.writer.room = UINT32_MAX;
    thread.writer.instructions = counted;
    pthread_setspecific(thread_end_key, &thread);
    if (!__atomic_exchange_n(&plugin.maps_noted, 1, __ATOMIC_RELAXED)) rsc_words_note_maps();
    if (plugin.strict) rsc_turn_take();
}

void rsc_words_leave(void) {
    thread.current = sink;
    rsc_ring_detach(&thread.writer);
    thread.attached = 0;
}

void rsc_words_end(void) {
    if (plugin.strict) rsc_turn_give();
    thread.current = sink;
    rsc_ring_detach(&thread.writer);
    thread.closed = 1;
    rsc_region_end();
}

static void thread_ended(void *ignored) {
    (void)ignored;
    rsc_words_end();
}

/* In a new process only this thread remains, and the slot belongs to the old process. */
static void after_fork_in_child(void) {
    pthread_mutex_init(&maps_lock, NULL); /* its holder may not exist in the child */
    memset(&thread.writer, 0, sizeof thread.writer);
    thread.current = sink;
    thread.region.undo = NULL;
    thread.attached = 0;
    thread.closed = plugin.unwatched = !plugin.follow;
    plugin.maps_noted = 0;
    plugin.image = __atomic_add_fetch(&plugin.ring->images, 1, __ATOMIC_RELAXED);
    rsc_turn_reset();
    __atomic_fetch_add(&plugin.ring->forks, 1, __ATOMIC_RELAXED);
}

int rsc_words_install(void) {
    if (pthread_key_create(&thread_end_key, thread_ended) != 0) return -1;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    return 0;
}

/* ---- words ---- */

/*
 * Gets the ring's next block when the current one is full, or for a thread's first word. Returns 0, or -1 if nothing
 * is to be recorded.
 */
static int make_room(void) {
    thread.current = sink;
    thread.region.undo = NULL;
    if (!thread.attached) rsc_words_attach();
    if (!thread.closed) {
        if (plugin.strict) rsc_turn_keep(1);
        int status = rsc_ring_make_room(&thread.writer);
        if (plugin.strict) rsc_turn_keep(0);
        if (thread.slow && status == 0) {
            thread.slow--;
            thread.writer.end = thread.writer.next;
        }
        if (status == 0) return 0;
        thread.closed = 1;
    }
    /* A child that is not followed, or the parent is gone. Otherwise this thread found no slot, and others continue. */
    if (plugin.unwatched || plugin.ring->detached) rsc_qemu_stop_recording();
    return -1;
}

/* The same in the middle of a block, which continues in the ring's next. */
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

void rsc_words_put(uint64_t addr, uint64_t word) {
    if (thread.writer.next >= thread.writer.end && make_room_within() < 0) return;
    rsc_ring_put(&thread.writer, addr, word);
}

/* ---- synchronisation ---- */

static int has_words(void) { return thread.attached && !thread.closed && thread.writer.next != thread.writer.first; }

void rsc_words_mark(void) {
    if (!has_words()) return;
    const struct rsc_slot *slot = thread.writer.slot;
    thread.region.undo = NULL;
    if (slot->blocks[slot->published % RSC_RING_BLOCKS].mark_count < RSC_BLOCK_MARKS) rsc_ring_mark(&thread.writer, 0);
    else make_room_within(); /* publishes */
}

void rsc_words_rest(void) {
    thread.current = sink;
    thread.region.undo = NULL;
    if (has_words()) rsc_ring_mark(&thread.writer, 1);
}

void rsc_words_spin(void) {
    uint64_t now = rsc_ring_now_ns();
    if (now - thread.spun_ns < SPIN_NS) return;
    thread.spun_ns = now;
    thread.slow = 2;
    thread.writer.end = thread.writer.next;
}

/* ---- blocks and accesses ---- */

static inline void start_at(uint64_t *at, uint64_t word) {
    __builtin_prefetch(at + PREFETCH_WORDS, 1); /* the parent touched it last, to clear it */
    *at = word;
    thread.current = at;
    thread.writer.next = at + rsc_start_length(word);
}

static __attribute__((noinline, cold)) void start_slowly(uint64_t word) {
    if (make_room() == 0) start_at(thread.writer.next, word);
}

void rsc_words_on_start(unsigned vcpu, void *user) {
    uint64_t *at = thread.writer.next;
    (void)vcpu;
    if (__builtin_expect(at >= thread.writer.end, 0)) start_slowly((uint64_t)(uintptr_t)user);
    else start_at(at, (uint64_t)(uintptr_t)user);
}

void rsc_words_start_inline(const struct rsc_qemu_block *block) {
    if (thread.writer.next >= thread.writer.end && make_room() < 0) return;
    uint64_t *at = thread.writer.next;
    *at = block->start_word;
    memcpy(at + 1, block->plan, block->plan_words * sizeof *at);
    thread.current = at;
    thread.writer.next = at + 1 + block->plan_words;
}

/* Fixed words as in ring.h. QEMU's info: bits 4-6 are log2 of the size, bits 16-17 read and write. */
static inline uint64_t fixed_word(qemu_plugin_meminfo_t info, uint64_t addr) {
    return addr | (uint64_t)(info >> 4) << 48;
}

void rsc_words_on_fixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    (void)vcpu;
    thread.current[(uintptr_t)user] = fixed_word(info, addr);
}

void rsc_words_on_fixed_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    (void)vcpu;
    thread.current[(uintptr_t)user + (info >> 17 & 1)] = fixed_word(info, addr);
}

static __attribute__((noinline, cold)) void lead_slowly(qemu_plugin_meminfo_t info, uint64_t addr, uint64_t word) {
    start_slowly(word);
    thread.current[1] = fixed_word(info, addr);
}

void rsc_words_on_leading(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    uint64_t *at = thread.writer.next, word = (uint64_t)(uintptr_t)user;
    (void)vcpu;
    if (__builtin_expect(at >= thread.writer.end, 0)) {
        lead_slowly(info, addr, word);
        return;
    }
    at[1] = fixed_word(info, addr);
    start_at(at, word);
}

void rsc_words_on_leading_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (info >> 17 & 1) thread.current[2] = fixed_word(info, addr);
    else rsc_words_on_leading(vcpu, info, addr, user);
}

static inline uint64_t loose_word(qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    return (uint64_t)(uintptr_t)user | (addr & 0xffffffffffffull) | (uint64_t)(info >> 4 & 7) << 48 |
           (uint64_t)(info >> 16 & 3) << 51;
}

/* Pieces of one access stay together if there is room. */
static __attribute__((noinline, cold)) void put_loose_slowly(uint64_t word) {
    struct rsc_ring_writer *writer = &thread.writer;
    int continues = writer->next && writer->next != writer->first && writer->next[-1] >> 51 == word >> 51 &&
                    writer->next < writer->end + RSC_BLOCK_SPARE / 2;
    if (!continues && make_room_within() < 0) return;
    *writer->next++ = word;
}

void rsc_words_on_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    uint64_t *at = thread.writer.next;
    (void)vcpu;
    if (__builtin_expect(at >= thread.writer.end, 0)) {
        put_loose_slowly(loose_word(info, addr, user));
        return;
    }
    *at = loose_word(info, addr, user);
    thread.writer.next = at + 1;
}

/* Called by QEMU's own code, not by translated code: always inlined, for the address that the callback returns to. */
static inline __attribute__((always_inline)) int is_emulators(void) {
    return (uintptr_t)__builtin_return_address(0) - plugin.emulator < plugin.emulator_bytes;
}

void rsc_words_on_last_fixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (!is_emulators()) rsc_words_on_fixed(vcpu, info, addr, user);
}

void rsc_words_on_last_fixed_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (!is_emulators()) rsc_words_on_fixed_update(vcpu, info, addr, user);
}

void rsc_words_on_last_leading(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (!is_emulators()) rsc_words_on_leading(vcpu, info, addr, user);
}

void rsc_words_on_last_leading_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (!is_emulators()) rsc_words_on_leading_update(vcpu, info, addr, user);
}

void rsc_words_on_last_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (!is_emulators()) rsc_words_on_loose(vcpu, info, addr, user);
}

void rsc_words_on_region_last(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (!is_emulators()) rsc_words_on_region_loose(vcpu, info, addr, user);
}

void rsc_words_on_region_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (plugin.region == REGION_FUNCTION ? thread.region.inside : (uint32_t)plugin.in_region)
        rsc_words_on_loose(vcpu, info, addr, user);
}

void rsc_words_on_region_jump(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    if (is_emulators()) return;
    thread.region.stack = addr;
    rsc_words_on_region_loose(vcpu, info, addr, user);
}

void rsc_words_undo(uint64_t *from) {
    thread.current = sink;
    if (thread.writer.next > from) memset(from, 0, (size_t)(thread.writer.next - from) * sizeof *from);
    thread.writer.next = from;
}
