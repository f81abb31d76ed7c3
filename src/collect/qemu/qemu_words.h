/*
 * qemu_words.h - between the two halves of the QEMU plugin: qemu_plugin.c handles
 * translation, mode changes and system calls; qemu_words.c writes the words while the
 * program runs.
 *
 * The cost per access matters most while recording. When a block is translated, its
 * plan gives the parent the meaning of each of its words. Most accesses are certain
 * from the code (guest_accesses.h): each has a fixed place after the block's start, and
 * storing it depends only on where the block began. (A pointer advanced by each access
 * would be a dependency chain through memory: 3 ns per access instead of 1.) If the
 * first memory access of a block is certain, it writes the start as well, so the block
 * itself needs no callback.
 */
#ifndef RSC_COLLECT_QEMU_QEMU_WORDS_H
#define RSC_COLLECT_QEMU_QEMU_WORDS_H

#include "collect/qemu/guest_code.h"
#include "collect/qemu/qemu_api.h"
#include "runtime/ring/ring.h"

/* A translation block, for callbacks that need more than its start. */
struct rsc_qemu_block {
    uint64_t start_word; /* RSC_START...; 0: its accesses are not recorded */
    const uint64_t *plan; /* for a start with RSC_START_INLINE */
    uint32_t plan_words;
    uint64_t start;
    uint64_t end_pc; /* of its last instruction */
    uint64_t after;  /* address after it */
    uint32_t instructions;
    uint8_t ends; /* enum rsc_plan_end */
    /* For a region given by function: */
    uint8_t in_roi;
    const char *function; /* its symbol; NULL: not known */
    uint8_t moves_stack; /* it may be where longjmp() or an exception leaves other calls */
};

/* A thread's place in a region given by function (region.c). */
struct rsc_qemu_region {
    uint64_t stack; /* of the last call or return: where the return address is; 0: not known */
    uint64_t top;   /* the first of those; a larger one is on another stack, such as a signal handler's */
    struct rsc_qemu_call *calls; /* open ones; owned */
    uint32_t count, room;
    uint32_t inside; /* in the region's function while this many are open; 0: not in it */
    uint64_t *undo; /* words from here on count only if the next call or return is still inside; NULL: all count */
    uint64_t undo_instructions;
};

enum region { REGION_NONE, REGION_FUNCTION, REGION_MARKED };

/* Of the process; one copy of the plugin is loaded into each. */
extern struct rsc_qemu {
    qemu_plugin_id_t id;
    struct rsc_ring *ring;
    enum rsc_guest guest;
    int contexts, follow, strict;
    enum region region;
    char roi[256];
    int ring_fd;
    uint32_t image;        /* rsc_slot.image of this process's threads */
    uintptr_t emulator, emulator_bytes; /* QEMU's own code */
    uint64_t guest_base;   /* host address of the guest's address 0 */
    uint64_t skip, length; /* instructions before recording, and recorded; length 0: to the end */
    /* While running: */
    int recording; /* mode for new translations */
    int switching; /* a reset is under way */
    int in_region;
    int maps_noted; /* what is loaded at startup */
    int unwatched;  /* a child that is not followed */
    int has_others; /* there was a second thread */
    uint64_t passed; /* instructions counted towards skip or length */
} plugin;

/* A file that the program maps, if `fd` is not negative. */
struct rsc_qemu_mapping {
    uint64_t bytes, offset;
    int fd, writable, executable;
};

extern __thread struct rsc_qemu_thread {
    struct rsc_ring_writer writer;
    uint64_t *current; /* start of the running block, followed by its fixed words; or the sink */
    int attached, closed;
    const struct rsc_qemu_block *before; /* the block that just ran; not updated where blocks have no callback */
    uint64_t uncounted;        /* instructions not yet added to plugin.passed */
    struct rsc_qemu_mapping mapping; /* that the thread is asking for */
    struct rsc_qemu_region region;
    uint32_t slow; /* this many words still take the slow path, which notes their time */
    uint64_t spun_ns; /* when that was last requested by a loop that waits */
} thread;

/* ---- qemu_plugin.c ---- */

/* Recording is over: the program runs on with as little overhead as possible. */
void rsc_qemu_stop_recording(void);

/* ---- region.c ---- */

/* Whether a block sets the stack pointer and then jumps to an address from a register or from memory. */
int rsc_region_moves_stack(const struct qemu_plugin_tb *tb);

/* The thread goes from one block to the next. Returns whether the jump between them is part of the region. */
int rsc_region_follow(const struct rsc_qemu_block *before, const struct rsc_qemu_block *now);

/* The thread has ended. */
void rsc_region_end(void);

/* ---- qemu_words.c: threads ---- */

/* Call first. -1: out of thread keys. */
int rsc_words_install(void);

/* Takes a slot for this thread and notes what it ran before. */
void rsc_words_attach(void);

/* Publishes pending words and gives up the slot; the thread may attach again. */
void rsc_words_leave(void);

/* The thread has ended. */
void rsc_words_end(void);

/* Only between blocks: later words of a block would be lost. */
int rsc_words_publish(void);

/* The thread synchronises: what follows is later. Anywhere in a block. */
void rsc_words_mark(void);

/* It may wait now. Only between blocks. */
void rsc_words_rest(void);

/* It waits in a loop: what follows the loop gets its own time. */
void rsc_words_spin(void);

/* Sends a copy of /proc/self/maps to the parent: what is loaded where. */
void rsc_words_note_maps(void);

/* Reports a file that the program has just mapped. */
void rsc_words_note_file(uint64_t start, const struct rsc_qemu_mapping *mapped);

/* Writes a record. */
void rsc_words_put(uint64_t addr, uint64_t word);

/* ---- qemu_words.c: callbacks ---- */

/* A block begins. user: its start word. */
void rsc_words_on_start(unsigned vcpu, void *user);

/* A block whose plan found no room in the ring begins: the plan is written out every time. */
void rsc_words_start_inline(const struct rsc_qemu_block *block);

/* One certain access; of its pieces, the last stays. user: its place. */
void rsc_words_on_fixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/* A read and then a write: QEMU 7.2 cannot report reads alone (it takes reads for writes and writes for both). */
void rsc_words_on_fixed_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/* The first access of a block, of one piece. user: the block's start word. */
void rsc_words_on_leading(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);
void rsc_words_on_leading_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/*
 * The same for the last instruction of a block. QEMU leaves its callback in place when the instruction is a jump that it
 * looks up, and reports its own accesses to it when it then delivers a signal: they are not the program's.
 */
void rsc_words_on_last_fixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);
void rsc_words_on_last_fixed_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);
void rsc_words_on_last_leading(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);
void rsc_words_on_last_leading_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);
void rsc_words_on_last_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/* Any other access. user: rsc_loose_user(). */
void rsc_words_on_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/*
 * With a region, a block may begin outside and end inside, or the reverse: its accesses
 * count while inside.
 */
void rsc_words_on_region_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/* The same for the last instruction of a block, and of one that ends with a call or return. */
void rsc_words_on_region_last(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);
void rsc_words_on_region_jump(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/* Takes back the words from there on. */
void rsc_words_undo(uint64_t *from);

#endif
