/*
 * ring_writer.c - the watched program's side of ring.h: no allocation, no stdio,
 * only system calls for waiting.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/ring/ring.h"

#define WAIT_MS 50 /* between checks that the parent is alive */
#define CROWDED_TRIES 40 /* waits of WAIT_MS for a slot, without any being freed */
/*
 * Between marks of a thread that does not synchronise, at most: the order of threads is known that well. ROOM_MOST words
 * take some microseconds, so that marking costs a few percent.
 */
#define MARK_NS 20000
#define ROOM_MOST 2048u
#define ROOM_LEAST 64u

uint64_t rsc_ring_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void futex_wait(uint32_t *word, uint32_t value, long milliseconds) {
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

/* `pending`: blocks of this thread that have not been taken; RSC_RING_BLOCKS for one that must not wait. */
static void signal_parent(struct rsc_ring *ring, uint64_t pending) {
    __atomic_fetch_add(&ring->published_signal, 1, __ATOMIC_SEQ_CST);
    uint32_t sleeps = __atomic_load_n(&ring->parent_sleeps, __ATOMIC_SEQ_CST);
    const uint32_t some = __atomic_load_n(&ring->takes_turns, __ATOMIC_RELAXED) ? RSC_RING_BLOCKS : RSC_RING_SOME;
    if (sleeps == RSC_PARENT_WAITS_FOR_ANY || (sleeps == RSC_PARENT_WAITS_FOR_SOME && pending >= some))
        syscall(SYS_futex, &ring->published_signal, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* A process that has ended but has not been waited for. */
static int is_zombie(uint32_t pid) {
    char name[32] = "/proc/", text[256], digits[12];
    size_t at = sizeof "/proc/" - 1, digit = 0;
    do digits[digit++] = (char)('0' + pid % 10);
    while (pid /= 10);
    while (digit) name[at++] = digits[--digit];
    memcpy(name + at, "/stat", sizeof "/stat");
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *state = strrchr(text, ')'); /* "PID (NAME) STATE ..." */
    return state && state[1] == ' ' && state[2] == 'Z';
}

static int parent_is_gone(struct rsc_ring *ring) {
    if (__atomic_load_n(&ring->detached, __ATOMIC_RELAXED)) return 1;
    if ((kill((pid_t)ring->parent_pid, 0) == 0 || errno != ESRCH) && !is_zombie(ring->parent_pid)) return 0;
    __atomic_store_n(&ring->detached, 1, __ATOMIC_RELAXED);
    return 1;
}

/*
 * A thread that waits until half of its ring is free, or all (rsc_ring_goes_on_at()); NULL: none. Killed threads rarely
 * look like one, and not for long.
 */
static struct rsc_slot *who_waits(struct rsc_ring *ring) {
    if (!__atomic_load_n(&ring->some_wait, __ATOMIC_RELAXED)) return NULL;
    uint32_t used = __atomic_load_n(&ring->slots_used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used && i < RSC_RING_SLOTS; i++) {
        struct rsc_slot *slot = &ring->slots[i];
        if (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) != RSC_SLOT_FREE &&
            __atomic_load_n(&slot->waits_now, __ATOMIC_RELAXED) &&
            __atomic_load_n(&slot->published, __ATOMIC_RELAXED) - __atomic_load_n(&slot->consumed, __ATOMIC_RELAXED) >
                rsc_ring_goes_on_at(ring))
            return slot;
    }
    __atomic_store_n(&ring->some_wait, 0, __ATOMIC_RELAXED);
    return NULL;
}

/* The slot whose blocks the thread waits for: its own if that is full, else that of a thread that waits; NULL: none. */
static struct rsc_slot *waited_for(const struct rsc_ring_writer *writer) {
    struct rsc_slot *own = writer->slot;
    const uint64_t pending = own->published - __atomic_load_n(&own->consumed, __ATOMIC_ACQUIRE);
    return pending >= RSC_RING_BLOCKS ? own : who_waits(writer->ring);
}

/*
 * Waits until the ring has a free block, and until no other thread waits for one. Returns 0, or -1 if the parent is
 * gone.
 */
static int wait_for_room(struct rsc_ring_writer *writer) {
    struct rsc_slot *own = writer->slot;
    uint64_t began = 0;
    for (;;) {
        struct rsc_slot *slot = waited_for(writer);
        if (!slot) break;
        uint32_t signal_seen = __atomic_load_n(&slot->consumed_signal, __ATOMIC_ACQUIRE);
        if (waited_for(writer) != slot) continue; /* the signal may have been the one to wait for */
        if (slot == own && !own->waits_now) {
            __atomic_store_n(&own->waits_now, 1, __ATOMIC_RELAXED);
            __atomic_store_n(&writer->ring->some_wait, 1, __ATOMIC_RELAXED);
            signal_parent(writer->ring, RSC_RING_BLOCKS);
            continue; /* the parent may have freed one in between */
        }
        if (!began) {
            began = rsc_ring_now_ns();
            own->waits++;
        }
        if (parent_is_gone(writer->ring)) break;
        futex_wait(&slot->consumed_signal, signal_seen, WAIT_MS);
    }
    __atomic_store_n(&own->waits_now, 0, __ATOMIC_RELAXED);
    if (began) own->waited_ns += rsc_ring_now_ns() - began;
    return __atomic_load_n(&writer->ring->detached, __ATOMIC_RELAXED) ? -1 : 0;
}

/* Starts with an empty open block, which nobody waits for. */
static int open_block(struct rsc_ring_writer *writer) {
    if (wait_for_room(writer) < 0) {
        writer->next = writer->end = NULL;
        return -1;
    }
    writer->first = writer->slot->blocks[writer->slot->published % RSC_RING_BLOCKS].words;
    writer->next = writer->end = writer->first;
    writer->instructions = 0;
    return 0;
}

/* Returns 1 if all slots are taken, 2 if some of them will soon be free. */
static int try_attach(struct rsc_ring_writer *writer, struct rsc_ring *ring, uint32_t pid, uint32_t tid) {
    int taken = 1;
    memset(writer, 0, sizeof *writer);
    if (__atomic_load_n(&ring->detached, __ATOMIC_RELAXED)) return -1;
    const uint32_t from = __atomic_load_n(&ring->freed_last, __ATOMIC_RELAXED), most = rsc_ring_slots(ring);
    for (uint32_t n = 0; n < most; n++) {
        const uint32_t i = (from + n) % most;
        struct rsc_slot *slot = &ring->slots[i];
        uint32_t unused = RSC_SLOT_FREE, state = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);
        if (state == RSC_SLOT_ENDED || state == RSC_SLOT_LEAVING) taken = 2;
        if (state != RSC_SLOT_FREE) continue;
        /* The parent reads pid and tid only once the thread has written something, which comes later. */
        if (!__atomic_compare_exchange_n(&slot->state, &unused, RSC_SLOT_LIVE, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        slot->pid = pid;
        slot->tid = tid;
        __atomic_fetch_add(&slot->generation, 1, __ATOMIC_RELEASE);
        uint32_t used = __atomic_load_n(&ring->slots_used, __ATOMIC_RELAXED);
        while (used < i + 1 &&
               !__atomic_compare_exchange_n(&ring->slots_used, &used, i + 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        }
        writer->ring = ring;
        writer->slot = slot;
        slot->opened_ns = rsc_ring_now_ns();
        return open_block(writer);
    }
    return taken;
}

int rsc_ring_attach(struct rsc_ring_writer *writer, struct rsc_ring *ring, uint32_t pid, uint32_t tid) {
    int status = try_attach(writer, ring, pid, tid);
    if (status <= 0) return status;
    __atomic_fetch_add(&ring->crowded_out, 1, __ATOMIC_RELAXED);
    return -1;
}

int rsc_ring_attach_patiently(struct rsc_ring_writer *writer, struct rsc_ring *ring, uint32_t pid, uint32_t tid) {
    int tries = 0, status;
    for (;;) {
        const uint32_t freed = __atomic_load_n(&ring->freed, __ATOMIC_ACQUIRE);
        status = try_attach(writer, ring, pid, tid);
        if (status != 2 || tries == CROWDED_TRIES || parent_is_gone(ring)) break;
        signal_parent(ring, RSC_RING_BLOCKS);
        futex_wait(&ring->freed, freed, WAIT_MS);
        tries = freed == __atomic_load_n(&ring->freed, __ATOMIC_ACQUIRE) ? tries + 1 : 0;
    }
    if (status <= 0) return status;
    __atomic_fetch_add(&ring->crowded_out, 1, __ATOMIC_RELAXED);
    return -1;
}

int rsc_ring_publish(struct rsc_ring_writer *writer) {
    if (!writer->slot) return -1;
    struct rsc_slot *slot = writer->slot;
    if (!writer->next) return -1;
    if (writer->next == writer->first) return 0;
    struct rsc_block *block = &slot->blocks[slot->published % RSC_RING_BLOCKS];
    block->end_ns = rsc_ring_now_ns();
    block->instructions = writer->instructions;
    __atomic_store_n(&block->count, (uint32_t)(writer->next - writer->first), __ATOMIC_RELEASE);
    __atomic_store_n(&slot->published, slot->published + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->open_since_ns, 0, __ATOMIC_RELEASE);
    slot->opened_ns = block->end_ns;
    signal_parent(writer->ring, slot->published - __atomic_load_n(&slot->consumed, __ATOMIC_RELAXED));
    return open_block(writer);
}

static struct rsc_block *open_one(const struct rsc_ring_writer *writer) {
    return &writer->slot->blocks[writer->slot->published % RSC_RING_BLOCKS];
}

/* Words that may come before the next mark. */
static void allow(struct rsc_ring_writer *writer) {
    uint64_t *most = writer->first + RSC_BLOCK_WORDS - RSC_BLOCK_SPARE;
    if (writer->room > ROOM_MOST) writer->room = ROOM_MOST;
    writer->end = writer->room && most - writer->next > writer->room ? writer->next + writer->room : most;
}

/* Words may stand for a thousand loop iterations. */
static void fit_room(struct rsc_ring_writer *writer, uint64_t time_ns) {
    if (time_ns > MARK_NS && writer->room > ROOM_LEAST) writer->room /= 2;
    else if (time_ns < MARK_NS / 4 && writer->room < ROOM_MOST) writer->room *= 2;
}

int rsc_ring_mark_at(struct rsc_ring_writer *writer, uint64_t before_ns, enum rsc_mark_how how) {
    if (!writer->next) return -1;
    struct rsc_slot *slot = writer->slot;
    struct rsc_block *block = open_one(writer);
    const uint32_t words = (uint32_t)(writer->next - writer->first), count = block->mark_count;
    const int is_new = words && (!count || block->marks[count - 1].words != words), rests = how == RSC_MARK_RESTS;
    uint64_t now = rests || (is_new && how == RSC_MARK_GOES_ON) ? before_ns : rsc_ring_now_ns();
    if (is_new) {
        if (count >= RSC_BLOCK_MARKS) return rsc_ring_publish(writer);
        block->marks[count] = (struct rsc_mark){before_ns, now, words, 0};
        __atomic_store_n(&block->mark_count, count + 1, __ATOMIC_RELEASE);
    } else if (words && !rests) {
        block->marks[count - 1].after_ns = now;
    }
    if (!words || (rests && writer->room)) writer->end = writer->next;
    __atomic_store_n(&slot->open_since_ns, !words || rests ? 0 : now, __ATOMIC_RELEASE);
    if (__atomic_load_n(&writer->ring->parent_sleeps, __ATOMIC_RELAXED) == RSC_PARENT_WAITS_FOR_ANY)
        signal_parent(writer->ring, RSC_RING_BLOCKS);
    return 0;
}

int rsc_ring_mark(struct rsc_ring_writer *writer, int rests) {
    return rsc_ring_mark_at(writer, rsc_ring_now_ns(), rests ? RSC_MARK_RESTS : RSC_MARK_PASSES);
}

/* Notes the time of the next word. Before that, so that the parent cannot take a later one of another thread: that there
 * will be one. */
static uint64_t begin_words(struct rsc_slot *slot, uint64_t not_before_ns) {
    __atomic_store_n(&slot->open_since_ns, not_before_ns, __ATOMIC_SEQ_CST);
    uint64_t now = rsc_ring_now_ns();
    __atomic_store_n(&slot->open_since_ns, now, __ATOMIC_RELEASE);
    return now;
}

int rsc_ring_make_room(struct rsc_ring_writer *writer) {
    if (!writer->next) return -1;
    if (writer->ring->unread) writer->next = writer->first;
    struct rsc_slot *slot = writer->slot;
    if (writer->next != writer->first) {
        struct rsc_block *block = open_one(writer);
        const uint64_t since_ns = slot->open_since_ns;
        int fits = writer->room && block->mark_count < RSC_BLOCK_MARKS &&
                   writer->next + ROOM_LEAST <= writer->first + RSC_BLOCK_WORDS - RSC_BLOCK_SPARE;
        if (!fits) {
            if (rsc_ring_publish(writer) < 0) return -1;
        } else if (!since_ns && block->mark_count) { /* at rest */
            struct rsc_mark *last = &block->marks[block->mark_count - 1];
            last->after_ns = begin_words(slot, last->before_ns);
        } else {
            uint64_t now = rsc_ring_now_ns();
            fit_room(writer, now - since_ns);
            if (rsc_ring_mark_at(writer, now, RSC_MARK_PASSES) < 0) return -1;
        }
    }
    if (writer->next == writer->first) open_one(writer)->start_ns = begin_words(slot, slot->opened_ns);
    allow(writer);
    return 0;
}

void rsc_ring_detach(struct rsc_ring_writer *writer) {
    if (!writer->slot) return;
    rsc_ring_publish(writer);
    __atomic_store_n(&writer->slot->state, RSC_SLOT_ENDED, __ATOMIC_RELEASE);
    signal_parent(writer->ring, RSC_RING_BLOCKS);
    memset(writer, 0, sizeof *writer);
}

void rsc_ring_leave(struct rsc_ring_writer *writer) {
    if (!writer->slot) return;
    __atomic_store_n(&writer->slot->state, RSC_SLOT_LEAVING, __ATOMIC_RELEASE);
}

uint64_t *rsc_ring_plan(struct rsc_ring *ring, uint32_t words) {
    if (__atomic_load_n(&ring->plan_words, __ATOMIC_RELAXED) > RSC_PLAN_WORDS - words) return NULL;
    uint64_t at = __atomic_fetch_add(&ring->plan_words, words, __ATOMIC_RELAXED);
    return at <= RSC_PLAN_WORDS - words ? &ring->plans[at] : NULL;
}

uint64_t rsc_ring_note(struct rsc_ring *ring, enum rsc_note_type type, uint64_t process, const void *data,
                       uint32_t bytes) {
    struct rsc_note note = {bytes, type, process};
    uint32_t unlocked = 0, whole = (uint32_t)sizeof note + ((bytes + 7) & ~7u);
    /* Held while a few kilobytes are copied; a killed holder must not block the others forever. */
    for (int tries = 0;
         !__atomic_compare_exchange_n(&ring->notes_lock, &unlocked, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
         tries++, unlocked = 0) {
        if (tries == 200) {
            __atomic_fetch_add(&ring->notes_lost, 1, __ATOMIC_RELAXED);
            return 0;
        }
        struct timespec moment = {0, 100000};
        nanosleep(&moment, NULL);
    }
    uint64_t end = 0, head = ring->notes_head, tail = __atomic_load_n(&ring->notes_tail, __ATOMIC_ACQUIRE);
    if (head - tail + whole > RSC_NOTES_BYTES) {
        __atomic_fetch_add(&ring->notes_lost, 1, __ATOMIC_RELAXED);
    } else {
        const uint8_t *parts[2] = {(const uint8_t *)&note, data};
        uint32_t lengths[2] = {(uint32_t)sizeof note, bytes};
        uint64_t at = head;
        for (int p = 0; p < 2; p++)
            for (uint32_t i = 0; i < lengths[p]; i++) ring->notes[at++ % RSC_NOTES_BYTES] = parts[p][i];
        end = head + whole;
        __atomic_store_n(&ring->notes_head, end, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&ring->notes_lock, 0, __ATOMIC_RELEASE);
    signal_parent(ring, RSC_RING_BLOCKS);
    return end;
}
