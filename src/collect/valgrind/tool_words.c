/* tool_words.c - see tool_state.h. */
#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>
#include <libvex_guest_amd64.h>

#include "collect/valgrind/tool_state.h"

/* Of Valgrind's core; its header is not packaged. */
SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd, Off64T offset);

#define MAPS_BYTES (1u << 16) /* of a note; a line has up to 8 KiB */
#define PC 0xffffffffffffull
#define RAW_WORDS_LOOKED 2048u /* then slot->raw is looked at: 16 KiB, which stay in the first cache */

struct rsc_tool rsc_tool;

/* For words that nobody wants. */
static uint64_t sink[RSC_BLOCK_WORDS];
static uint64_t *inline_start, *inline_base; /* the last start with its plan, and where its block's words began */
static int instrumented; /* translations made before recording stopped are left */

int rsc_tool_map_ring(int fd) {
    SysRes mapped =
        VG_(am_shared_mmap_file_float_valgrind)(sizeof(struct rsc_ring), VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);
    if (sr_isError(mapped)) return -1;
    rsc_tool.ring = (struct rsc_ring *)sr_Res(mapped);
    rsc_tool.ring_fd = fd;
    if (rsc_tool.ring->magic != RSC_RING_MAGIC) return -1;
    rsc_tool.lines = rsc_tool.ring->keep_lines != 0;
    return rsc_tool.lines ? rsc_tool_lines_open() : 0;
}

/* ---- the slot ---- */

void rsc_tool_stop(void) {
    if (!rsc_tool.recording) return;
    rsc_tool.recording = 0;
    instrumented = 1;
    VG_(memset)(&rsc_tool.writer, 0, sizeof rsc_tool.writer);
}

void rsc_tool_discard(void) {
    if (!instrumented) return;
    instrumented = 0;
    rsc_tool_discard_code(0, ~0ull >> 1);
}

/* The parent is gone, or has enough. */
static int is_over(void) { return !rsc_tool.writer.next || __atomic_load_n(&rsc_tool.ring->enough, __ATOMIC_RELAXED); }

void rsc_tool_attach(void) {
    uint32_t pid = (uint32_t)VG_(getpid)();
    if (rsc_ring_attach_patiently(&rsc_tool.writer, rsc_tool.ring, pid, pid) < 0) {
        rsc_tool_stop();
        return;
    }
    rsc_tool.writer.slot->image = rsc_tool.image;
    rsc_tool.thread = 0;
    if (rsc_tool.lines) rsc_tool_lines_attach();
    rsc_tool.maps_changed = 1;
    rsc_tool_note_maps();
}

void rsc_tool_detach(void) {
    if (rsc_tool.recording && rsc_tool.lines) {
        rsc_tool_lines_look(0);
        rsc_tool_lines_detach();
    }
    if (rsc_tool.recording) rsc_ring_detach(&rsc_tool.writer);
}

void rsc_tool_publish(void) {
    if (rsc_tool.recording && rsc_tool.lines) rsc_tool_lines_look(0);
    if (rsc_tool.recording && (rsc_ring_publish(&rsc_tool.writer) < 0 || is_over())) rsc_tool_stop();
}

void rsc_tool_put(uint64_t addr, uint64_t word) {
    if (rsc_tool.recording && rsc_tool.lines) rsc_tool_lines_look(0);
    if (rsc_tool.recording && rsc_ring_put(&rsc_tool.writer, addr, word) < 0) rsc_tool_stop();
}

/* ---- while client code runs ---- */

static struct rsc_tool_shadow *shadow_of(UChar *guest) {
    return (struct rsc_tool_shadow *)(guest + sizeof(VexGuestAMD64State));
}

static struct rsc_tool_shadow current(void) {
    struct rsc_tool_shadow now = {.next = sink, .end = sink + RSC_BLOCK_WORDS - RSC_BLOCK_SPARE};
    for (uint32_t i = 0; i < RSC_TOOL_SIZES; i++) now.sizes[i] = ((2ull << i) - 1) << 48;
    if (rsc_tool.recording && rsc_tool.lines) {
        now.next = rsc_tool.raw_next;
        now.end = rsc_tool.writer.slot->raw + RAW_WORDS_LOOKED;
    } else if (rsc_tool.recording) {
        now.next = rsc_tool.writer.next;
        now.end = rsc_tool.writer.end;
    }
    return now;
}

VG_REGPARM(1) void rsc_tool_make_room(UChar *guest) {
    struct rsc_tool_shadow *shadow = shadow_of(guest);
    if (rsc_tool.recording && rsc_tool.lines) {
        rsc_tool.raw_next = shadow->next;
        rsc_tool_lines_look(shadow->instructions);
        if (is_over()) rsc_tool_stop();
        else rsc_tool_note_maps();
    } else if (rsc_tool.recording) {
        rsc_tool.writer.next = shadow->next;
        if (rsc_ring_make_room(&rsc_tool.writer) < 0 || is_over()) rsc_tool_stop();
        else rsc_tool_note_maps();
    }
    *shadow = current();
}

VG_REGPARM(2) void rsc_tool_start_inline(UChar *guest, const uint64_t *plan) {
    uint32_t entries = rsc_plan_entries(plan[2]), exits = (uint32_t)(plan[2] >> 58);
    uint64_t *next = shadow_of(guest)->next;
    VG_(memcpy)(next, plan, (3 + entries + exits) * sizeof *plan);
    inline_start = next;
    inline_base = shadow_of(guest)->next = next + 2 + entries + exits; /* the block's words follow, one after */
}

/*
 * The start of the block that has words from `next` on. It is before them if the fault was behind an exit, as in a loop
 * that Valgrind unrolled: words up to the exit are counted already. NULL: not found.
 */
static uint64_t *start_of(uint64_t *next, const uint64_t *first) {
    if (next == inline_base) return inline_start;
    for (uint64_t *word = next; word >= first; word--) {
        if (*word & RSC_START) return word;
        if (word == inline_base && *inline_start & RSC_START_INLINE) return inline_start;
    }
    return NULL;
}

/*
 * A fault left a block in the middle: its words are there but are not counted. The last one is of the access that
 * faulted, if the instruction at fault made any. The words of the accesses after it are 0, as if they were not made.
 */
static void keep_words_of_fault(ThreadId thread) {
    uint64_t **next = rsc_tool.lines ? &rsc_tool.raw_next : &rsc_tool.writer.next;
    const uint64_t *end =
        rsc_tool.lines ? rsc_tool.writer.slot->raw + RSC_RAW_WORDS - RSC_BLOCK_SPARE : rsc_tool.writer.end;
    if (!*next || *next >= end || rsc_tool.ring->unread) return;
    if (!**next && *next != inline_base) return;
    uint64_t *start = start_of(*next, rsc_tool.lines ? rsc_tool.writer.slot->raw : rsc_tool.writer.first),
             *last = start;
    if (!start || !*start) return;
    for (uint64_t *word = start; word < end + RSC_BLOCK_SPARE; word++)
        if (*word) last = word;
    const uint64_t *plan = *start & RSC_START_INLINE ? start + 1 : rsc_tool.ring->plans + (*start & 0xffffffffu);
    uint64_t *first =
        *start & RSC_START_INLINE ? start + 3 + rsc_plan_entries(plan[1]) + rsc_plan_exits(plan[1]) : start + 1;
    if (last >= first && (rsc_tool.faulted || rsc_record_pc(plan[2 + (last - first)]) == (VG_(get_IP)(thread) & PC)))
        *last = 0;
    uint64_t counted = 0; /* of its instructions, at the exit that was passed */
    for (uint32_t i = 0; i < rsc_plan_exits(plan[1]); i++) {
        const uint64_t exit = plan[2 + rsc_plan_entries(plan[1]) + i];
        if (first + (exit & 0xffff) == *next) counted = exit >> 16;
    }
    *next = first + rsc_plan_entries(plan[1]);
    if (!rsc_tool.lines) return;
    *start |= RSC_START_LOOK;
    rsc_tool.writer.instructions += (plan[0] >> 48 & 0x3ff) - counted; /* as for a block that ran to its end */
}

void rsc_tool_resume(ThreadId thread) {
    if (rsc_tool.recording && rsc_tool.thread != thread) {
        rsc_tool.thread = thread;
        if (rsc_tool.lines) {
            rsc_tool_lines_look(0);
            rsc_tool_lines_switch(thread, 0);
        }
        rsc_tool_put(thread, rsc_record_word(RSC_RECORD_SWITCH, 1, 0));
    }
    rsc_tool.faulted = 0;
    struct rsc_tool_shadow now = current();
    VG_(set_shadow_regs_area)(thread, 1, 0, sizeof now, (const UChar *)&now);
}

void rsc_tool_pause(ThreadId thread) {
    struct rsc_tool_shadow now;
    if (!rsc_tool.recording) return;
    VG_(get_shadow_regs_area)(thread, (UChar *)&now, 1, 0, sizeof now);
    if (rsc_tool.lines) {
        rsc_tool.raw_next = now.next;
        rsc_tool.writer.instructions += now.instructions;
    } else rsc_tool.writer.next = now.next;
    keep_words_of_fault(thread);
}

/* ---- what is mapped ---- */

static UInt put_line(HChar *text, UInt room, Addr start, Addr end, int read, int write, int execute, uint64_t offset,
                     const HChar *name) {
    return VG_(snprintf)(text, (Int)room, "%lx-%lx %c%c%cp %llx 00:00 0 %s\n", start, end, read ? 'r' : '-',
                         write ? 'w' : '-', execute ? 'x' : '-', (ULong)offset, name ? name : "");
}

static HChar text[MAPS_BYTES];
static UInt used;

static UInt put_segment(const NSegment *segment) {
    const HChar *name = segment->kind == SkFileC ? VG_(am_get_filename)(segment) : NULL;
    return put_line(text + used, MAPS_BYTES - used, segment->start, segment->end + 1, segment->hasR, segment->hasW,
                    segment->hasX, name ? (uint64_t)segment->offset : 0, name);
}

/* Leaves the text as a note, for which the parent sees a record. */
static void leave_note(void) {
    uint64_t process = rsc_process_id(rsc_tool.image, (uint32_t)VG_(getpid)());
    uint64_t end = rsc_ring_note(rsc_tool.ring, RSC_NOTE_NATIVE_MAPS, process, text, used);
    used = 0;
    if (end) rsc_tool_put(1, rsc_record_word(RSC_RECORD_NOTE, 1, end));
}

/*
 * The program's own memory, in the form of /proc/PID/maps. A note ends before a file, so that a file's .bss, which has no
 * name, stays with it.
 */
void rsc_tool_note_maps(void) {
    static Addr *starts;
    static Int room = 1024;
    Int count;
    if (!rsc_tool.maps_changed || !rsc_tool.recording) return;
    rsc_tool.maps_changed = 0;
    if (!starts) starts = VG_(malloc)("reusescope.segments", (SizeT)room * sizeof *starts);
    while ((count = VG_(am_get_segment_starts)(SkFileC | SkAnonC | SkShmC, starts, room)) < 0) {
        room = 2 * -count;
        starts = VG_(realloc)("reusescope.segments", starts, (SizeT)room * sizeof *starts);
    }
    for (Int i = 0; i < count; i++) {
        const NSegment *segment = VG_(am_find_nsegment)(starts[i]);
        if (!segment) continue;
        if (used + 8192 > MAPS_BYTES || (used > MAPS_BYTES / 2 && segment->kind == SkFileC)) leave_note();
        used += put_segment(segment);
    }
    Addr top = VG_(thread_get_stack_max)(1);
    if (top) used += put_line(text + used, MAPS_BYTES - used, top & ~4095ul, (top | 4095) + 1, 1, 1, 0, 0, "[stack]");
    leave_note();
}

void rsc_tool_note_file(Addr start) {
    const NSegment *segment = VG_(am_find_nsegment)(start);
    if (!rsc_tool.recording || !segment || segment->kind != SkFileC) return;
    used = put_segment(segment);
    leave_note();
}
