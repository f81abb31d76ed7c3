/*
 * tool_state.h - shared by the parts of our Valgrind tool, which runs inside a watched program and writes its accesses
 * into the ring (runtime/ring/ring.h). It records; everything else (calls, regions, joining pieces, counting
 * instructions) the parent does (collect/drain/drain_valgrind.c).
 *
 *   tool_main.c    options, threads, system calls, forks
 *   tool_schedule.c which thread runs (tool_schedule.h)
 *   tool_calls.c   which system calls wait
 *   block_code.c   adds the recording to a block of code, and makes its plan
 *   keep_loads.c   keeps loads that Valgrind's optimiser would remove
 *   tool_words.c   the writer: ring blocks, notes of what is mapped
 *   tool_lines.c   chooses references to sampled lines, where only those are wanted
 *   tool_libc.c    the few C library functions that ring_writer.c calls; a tool is linked without a C library
 *
 * Valgrind runs one thread at a time, so a process has one slot of the ring and its words are in the order of
 * execution; a record tells the parent when another thread runs.
 */
#ifndef RSC_COLLECT_VALGRIND_TOOL_STATE_H
#define RSC_COLLECT_VALGRIND_TOOL_STATE_H

#include <pub_tool_basics.h>
#include <pub_tool_tooliface.h>

#include "runtime/ring/ring.h"

#define RSC_TOOL_THREADS 4097u /* Valgrind's --max-threads, and one */

struct rsc_tool {
    struct rsc_ring *ring;
    int ring_fd, log_fd; /* log_fd: Valgrind's messages; also its --log-fd */
    int follow;          /* forked children and started programs too */
    int contexts;        /* call paths are wanted */
    int recording;       /* words go to the ring, not to the sink */
    int lines;           /* only references to sampled lines: words go to slot->raw first */
    int plain;           /* for tests: 1: no vector code, 2: no AVX-512 */
    uint64_t *raw_next;  /* there; current only while no client code runs */
    const HChar *roi;    /* the region's function; NULL: none */
    int roi_own;         /* only that of the program itself: libraries may have one of the same name */
    uint64_t seed;       /* for the program's startup random bytes */
    uint32_t image;      /* rsc_slot.image of this process */
    ThreadId thread;     /* the thread of the last words; 0: none yet */
    int faulted;         /* an access of client code that has not stopped yet, and a handler is about to run */
    int maps_changed;    /* the parent does not know it yet */
    struct rsc_ring_writer writer; /* current only while no client code runs */
};
extern struct rsc_tool rsc_tool;

/*
 * While client code runs, its thread's first shadow registers hold where the next word goes and where a new block of
 * code must not begin any more; for a sample of lines also instructions so far, and (size - 1) << 48 for sizes of 2, 4,
 * 8, 16 and 32 bytes.
 */
#define RSC_TOOL_SIZES 5
struct rsc_tool_shadow {
    uint64_t *next, *end;
    uint64_t instructions;
    uint64_t sizes[RSC_TOOL_SIZES];
};

/* ---- tool_main.c ---- */

/* A thread calls the system. */
void rsc_tool_note_call(ThreadId thread);

/* ---- tool_words.c ---- */

/* Maps the ring. Returns 0 or -1. */
int rsc_tool_map_ring(int fd);

/* Takes a slot for this process, and reports what is mapped. */
void rsc_tool_attach(void);

/* Publishes and gives up the slot. */
void rsc_tool_detach(void);

/* The parent gets what is written so far. */
void rsc_tool_publish(void);

/* The words are thrown away from now on; new code is not instrumented. */
void rsc_tool_stop(void);

/* Drops code that still writes words, if recording has stopped. Only between blocks of code, as in system calls. */
void rsc_tool_discard(void);

/* Writes a record between blocks of code. */
void rsc_tool_put(uint64_t addr, uint64_t word);

/* Reports what is mapped, if that has changed. */
void rsc_tool_note_maps(void);

/* Reports the file that was mapped there just now. */
void rsc_tool_note_file(Addr start);

/* Client code of this thread begins or stops running. */
void rsc_tool_resume(ThreadId thread);
void rsc_tool_pause(ThreadId thread);

/* Called by generated code when the ring's block is full. guest: the thread's registers, shadows behind them. */
VG_REGPARM(1) void rsc_tool_make_room(UChar *guest);

/* Called by generated code that has no room for its plan in the ring: writes the start and the plan out. */
VG_REGPARM(2) void rsc_tool_start_inline(UChar *guest, const uint64_t *plan);

/* ---- tool_lines.c ---- */

/* Once per process, when the ring is mapped. */
int rsc_tool_lines_open(void);

/* A slot was taken, or is about to be given up. */
void rsc_tool_lines_attach(void);
void rsc_tool_lines_detach(void);

/* Looks at the words up to raw_next: afterwards there are none. */
void rsc_tool_lines_look(uint64_t instructions);

/* Another thread runs from here on, or the thread that ran has ended. There are no words. */
void rsc_tool_lines_switch(ThreadId thread, int has_ended);

/* ---- block_code.c ---- */
IRSB *rsc_tool_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                          const VexGuestExtents *extents, const VexArchInfo *machine, IRType guest_word,
                          IRType host_word);

/* Of Valgrind's core; its header is not packaged. */
void VG_(discard_translations)(Addr start, ULong range, const HChar *who);

/* Drops the translations of a range of the program's code. */
static inline void rsc_tool_discard_code(Addr start, ULong range) {
    VG_(discard_translations)(start, range, "reusescope");
}

/* ---- keep_loads.c ---- */

/* Drops translations of loops that were unrolled, and unrolls none from now on. Only between blocks of code. */
void rsc_tool_stop_unrolling(void);

/* ---- between keep_loads.c and block_code.c ---- */

/*
 * A hint is an AbiHint statement (which does nothing) with this in `len`: what (enum rsc_tool_hint) in bits 8-15,
 * bytes in bits 0-7. Its base is the address, or the value.
 */
#define RSC_TOOL_HINT 0x52530000
enum rsc_tool_hint {
    RSC_HINT_LOAD,
    RSC_HINT_PIECE,       /* one element of a gather; 0 if its mask is off */
    RSC_HINT_ALLOC_BYTES, /* then its address: */
    RSC_HINT_ALLOC,
    RSC_HINT_FREE,
};

#endif
