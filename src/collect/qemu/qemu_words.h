/*
 * qemu_words.h - the two halves of the QEMU plugin: what is done when a block is
 * translated, when modes change and at system calls (qemu_plugin.c), and what writes
 * the words while the program runs (qemu_words.c).
 *
 * What counts while recording is how little each access costs. When a block is
 * translated, its plan tells the parent what every word of it will mean. Most
 * accesses are certain from the code (guest_accesses.h): each has its place behind
 * the block's start, and storing it depends on nothing but where the block began.
 * (A pointer moved on by each access would be a chain through memory: 3 ns an
 * access against 1.) And where the first thing a block does to memory is certain,
 * that access writes the start as well, so that no callback is needed for the
 * block itself.
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
    uint8_t in_roi;
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

#define RSC_QEMU_CALLS_MAX 256u /* deeper calls overwrite the outermost */

extern __thread struct rsc_qemu_thread {
    struct rsc_ring_writer writer;
    uint64_t *current; /* the start of the block that runs, its fixed words behind it; or the sink */
    int attached, closed;
    const struct rsc_qemu_block *before; /* the block that just ran; not kept up where blocks have no callback */
    uint64_t uncounted;        /* instructions not yet added to plugin.passed */
    int64_t mmap_fd;           /* of the mmap under way; -1: none that matters */
    uint64_t
        *returns; /* [RSC_QEMU_CALLS_MAX]: return addresses of open calls, while waiting for the region's function */
    uint32_t calls;
} thread;

/* ---- qemu_plugin.c ---- */

/* Nobody wants to know any more: the program runs on, no slower than it must. */
void rsc_qemu_stop_recording(void);

/* ---- qemu_words.c: threads ---- */

/* Before anything else. -1: out of thread keys. */
int rsc_words_install(void);

/* Takes a slot for this thread; what it ran before is kept in mind. */
void rsc_words_attach(void);

/* Publishes what is there, and gives the slot up; the thread may attach again. */
void rsc_words_leave(void);

/* The thread is over. */
void rsc_words_end(void);

/* Only between blocks: what a block goes on to write would be lost. */
int rsc_words_publish(void);

/* A copy of /proc/self/maps for the parent: what is loaded where. */
void rsc_words_note_maps(void);

/* A record. */
void rsc_words_put(uint64_t addr, uint64_t word);

/* ---- qemu_words.c: callbacks ---- */

/* A block begins. user: its start word. */
void rsc_words_on_start(unsigned vcpu, void *user);

/* A block whose plan found no room in the ring begins: its plan is written out every time. */
void rsc_words_start_inline(const struct rsc_qemu_block *block);

/* One certain access; in pieces, the last stays. user: its place. */
void rsc_words_on_fixed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/* A read and then a write: QEMU 7.2 cannot be asked for reads alone (it takes reads for writes and writes for both). */
void rsc_words_on_fixed_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/* The first access of a block, of one piece. user: the block's start word. */
void rsc_words_on_leading(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);
void rsc_words_on_leading_update(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/* Any other access. user: rsc_loose_user(). */
void rsc_words_on_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

/*
 * With a region, a block may begin outside of it and end inside, or the other way
 * round: what it does counts while the region lasts.
 */
void rsc_words_on_region_loose(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user);

#endif
