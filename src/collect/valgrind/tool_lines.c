/*
 * tool_lines.c - a sample of lines: only references to them reach the ring, as records (drain_lines.c reads the same of
 * rebuilt programs), with the number of references skipped before each.
 *
 * Generated code writes the words of block_code.c to slot->raw, which stays in the processor's cache, with each access's
 * size. When it is full, the words are passed over many at a time: the hash of a line is compared with the limit.
 * Almost all are only counted. Looked at one by one are references to sampled lines, accesses across lines, and blocks
 * whose words are not one reference each (RSC_START_LOOK) or, if call paths are wanted, that end with a call or return.
 *
 * Of calls and returns since the last kept reference only those are recorded that are not undone: a call and the return
 * from it leave the path as it was.
 *
 * If the program is killed the parent takes the words of slot->raw itself, except while they are being looked at.
 */
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_mallocfree.h>
#include <immintrin.h>

#include "base/line_hash.h"
#include "collect/valgrind/tool_state.h"
#include "runtime/pieces/block_accesses.h"

#define ADDRESS RSC_BLOCK_ADDRESS
#define SKIPPED_MOST 0xffffull /* limit of a kept record */
#define PAYLOAD_MOST 0xffffffffffffull
#define CALL_BYTES_MAX 15u /* longest instruction */
#define TOGETHER 16        /* words passed over at a time */
#define EXPANDED_MOST (2 * 1023 + RSC_STRING_PARTS)

struct jump {
    uint64_t from, to; /* from 0: a return */
};

/* How a thread's last block ended; RSC_PLAN_ENDS if that is known to have no effect on the next. */
struct ending {
    uint32_t ends;
    uint64_t end_pc;
};

static struct {
    uint64_t limit, offset;
    uint32_t shift;
    uint64_t skipped, crossings; /* since the last kept reference */
    uint64_t *raw;
    struct ending *threads; /* by ThreadId */
    struct ending *now;     /* of the running thread */
    struct rsc_block_joins joins;
    struct rsc_block_accesses out;
    uint64_t addr[EXPANDED_MOST], meta[EXPANDED_MOST], pc[EXPANDED_MOST];
    struct jump jumps[RSC_RAW_WORDS];
    uint32_t jump_count;
    void (*pass)(const uint64_t *word, const uint64_t *end);
} lines;

/* ---- records ---- */

static void put(uint64_t addr, uint64_t word) {
    if (rsc_tool.recording && rsc_ring_put(&rsc_tool.writer, addr, word) < 0) rsc_tool_stop();
}

static void put_skipped(void) {
    uint64_t some = lines.skipped < PAYLOAD_MOST ? lines.skipped : PAYLOAD_MOST;
    put(lines.crossings, rsc_record_word(RSC_RECORD_SKIPPED, 1, some));
    lines.skipped -= some;
    lines.crossings = 0;
}

static void put_jumps(void) {
    for (uint32_t i = 0; i < lines.jump_count; i++)
        put(lines.jumps[i].to, lines.jumps[i].from ? rsc_record_word(RSC_RECORD_CALL, 1, lines.jumps[i].from)
                                                   : rsc_record_word(RSC_RECORD_RETURN, 1, 0));
    lines.jump_count = 0;
}

/* A return from the last call undoes it; the rule is the analysis's (call_paths.c). */
static void add_jump(uint64_t from, uint64_t to) {
    const struct jump *last = lines.jump_count ? &lines.jumps[lines.jump_count - 1] : NULL;
    if (!from && last && last->from && last->from < to && to - last->from <= CALL_BYTES_MAX) {
        lines.jump_count--;
        return;
    }
    if (lines.jump_count == RSC_RAW_WORDS) put_jumps();
    lines.jumps[lines.jump_count++] = (struct jump){from, to};
}

static void keep(uint64_t addr, uint32_t size, int is_write, uint64_t pc) {
    if (lines.jump_count) put_jumps();
    if (lines.skipped > SKIPPED_MOST) put_skipped();
    put(addr | lines.skipped << 48, rsc_record_word(is_write ? RSC_RECORD_KEPT_WRITE : RSC_RECORD_KEPT_READ, size, pc));
    lines.skipped = 0;
}

/* ---- references ---- */

static int is_kept(uint64_t line) { return rsc_line_hash(line, lines.offset) <= lines.limit; }

/* An access, split into lines. */
static void look_at(uint64_t addr, uint32_t size, int is_write, uint64_t pc) {
    const uint64_t end = addr + (size ? size - 1 : 0), last = end >> lines.shift;
    for (uint64_t line = addr >> lines.shift;; line++, lines.crossings++) {
        if (is_kept(line)) {
            const uint64_t first = line << lines.shift, line_end = first + (1ull << lines.shift) - 1;
            const uint64_t from = first > addr ? first : addr, to = line_end < end ? line_end : end;
            keep(from, size ? (uint32_t)(to - from + 1) : 0, is_write, pc);
        } else {
            lines.skipped++;
        }
        if (line >= last) return;
    }
}

/* Accesses that were expanded. */
static void look_at_expanded(void) {
    for (uint32_t i = 0; i < lines.out.count; i++)
        look_at(lines.addr[i], (uint32_t)(lines.meta[i] & 0xff), (int)(lines.meta[i] >> 32 & 1), lines.pc[i]);
    lines.out.count = 0;
}

static void end_strings(void) {
    rsc_block_put_strings(&lines.out, &lines.joins, 1);
    look_at_expanded();
}

/* ---- blocks ---- */

_Static_assert(offsetof(struct rsc_ring, watch) + sizeof(struct rsc_watch_area) >=
                   offsetof(struct rsc_ring, plans) + sizeof(uint64_t[RSC_PLAN_WORDS + 1024]),
               "what a plan's head claims is within the ring, even if something wrote over it");

/* The plan of a start; NULL: not one of ours, something wrote over it. */
static const uint64_t *plan_of(const uint64_t *start) {
    const uint64_t offset = *start & 0xffffffffu;
    if (*start & RSC_START_INLINE) return start + 1;
    return offset < RSC_PLAN_WORDS - 2 ? rsc_tool.ring->plans + offset : NULL;
}

/* The start after a block shows where that block's jump went, or that its string is over. */
static void follow(const uint64_t *start) {
    struct ending *ending = lines.now;
    const uint64_t *plan = plan_of(start), pc = plan ? *plan & ADDRESS : 0;
    if (ending->ends == RSC_PLAN_ENDS_REP && pc == ending->end_pc) return;
    if (ending->ends == RSC_PLAN_ENDS_REP) end_strings();
    else add_jump(ending->ends == RSC_PLAN_ENDS_CALL ? ending->end_pc : 0, pc);
    ending->ends = RSC_PLAN_ENDS;
}

/* A record among a block's words: an allocation needs its call path. */
static void pass_on_record(const uint64_t *word) {
    look_at_expanded();
    put_jumps();
    put(word[1], word[0]);
}

/* All words of a block. Returns where they end. */
static const uint64_t *look_at_block(const uint64_t *start, const uint64_t *end) {
    const uint64_t *plan = plan_of(start), *word = start + 1;
    if (!plan) return word;
    const uint32_t entries = rsc_plan_entries(plan[1]), ends = (uint32_t)(plan[0] >> 58 & 15);
    if (*start & RSC_START_INLINE) word += 2 + entries + rsc_plan_exits(plan[1]);
    if (lines.now->ends == RSC_PLAN_ENDS_REP) rsc_tool.writer.instructions--; /* the same instruction goes on */
    lines.joins.joins = 0;
    for (uint32_t entry = 0; word < end && !(*word & RSC_START);) {
        if (*word >> 56) {
            if (word + 1 < end) pass_on_record(word);
            word += 2;
            continue;
        }
        if (entry < entries && *word & ADDRESS) {
            const uint64_t what = plan[2 + entry], flags = what & (RSC_BLOCK_READS | RSC_BLOCK_WRITES);
            if (flags)
                rsc_block_put_any(&lines.out, &lines.joins, *word & ADDRESS, rsc_record_pc(what), rsc_record_size(what),
                                  what & ~((1ull << 56) - 1));
        }
        entry++;
        word++;
    }
    look_at_expanded();
    if (ends == RSC_PLAN_ENDS_REP || (ends != RSC_PLAN_ENDS && rsc_tool.contexts))
        *lines.now = (struct ending){ends, plan[1] & ADDRESS};
    else lines.now->ends = RSC_PLAN_ENDS;
    if (word < end && lines.now->ends != RSC_PLAN_ENDS) follow(word);
    return word < end ? word : end;
}

/* Whether the reference, or one of two, is to a sampled line, or may be. */
static int is_sampled(uint64_t word) {
    const uint64_t addr = word & ADDRESS, inside = (1ull << lines.shift) - 1;
    return (addr & inside) + (word >> 48 & 0xff) > inside || is_kept(addr >> lines.shift);
}

/* A block, or a word for which is_sampled(). Returns where it ends. */
static __attribute__((noinline)) const uint64_t *look_at_word(const uint64_t *word, const uint64_t *end) {
    if (*word & RSC_START) return look_at_block(word, end);
    const uint64_t *start = word - 1;
    while (start > lines.raw && !(*start & RSC_START)) start--;
    const uint64_t *plan = plan_of(start);
    if (plan) {
        const uint64_t what = plan[2 + (word - start - 1) % 1024];
        look_at(*word & ADDRESS, rsc_record_size(what), (what & RSC_BLOCK_WRITES) != 0, rsc_record_pc(what));
    }
    return word + 1;
}

/* ---- many words at a time ---- */

/*
 * Passes over words up to `end`. Each width finds, in 16 words: those to look at, and starts, which are not references.
 */
struct found {
    uint32_t look, starts;
};

/* Looks at what was found in the 16 words. Returns the next word. */
static inline __attribute__((always_inline)) const uint64_t *take_found(const uint64_t *word, const uint64_t *end,
                                                                        struct found found) {
    uint32_t done = 0;
    for (; found.look; found.look &= found.look - 1) {
        const uint32_t at = (uint32_t)__builtin_ctz(found.look), before = (1u << at) - (1u << done);
        lines.skipped += at - done - (uint32_t)__builtin_popcount(found.starts & before);
        const uint64_t *next = look_at_word(word + at, end);
        if (next != word + at + 1) return next;
        done = at + 1;
    }
    lines.skipped += TOGETHER - done - (uint32_t)__builtin_popcount(found.starts >> done);
    return word + TOGETHER;
}

static void pass_plain(const uint64_t *word, const uint64_t *end) {
    while (word < end) {
        const uint64_t is_start = *word & RSC_START;
        if (is_start ? (*word & RSC_START_LOOK) != 0 : is_sampled(*word)) {
            word = look_at_word(word, end);
        } else {
            lines.skipped += !is_start;
            word++;
        }
    }
}

__attribute__((target("avx2,popcnt"))) static void pass_avx2(const uint64_t *word, const uint64_t *end) {
    typedef uint64_t four __attribute__((vector_size(32)));
    typedef uint64_t four_unaligned __attribute__((vector_size(32), aligned(8)));
    const four inside = (four){} + ((1ull << lines.shift) - 1), offset = (four){} + lines.offset;
    const four limit = (four){} + lines.limit;
    while (end - word >= TOGETHER) {
        struct found found = {0, 0};
        for (int i = 0; i < TOGETHER; i += 4) {
            const four words = *(const four_unaligned *)(word + i), address = words & ADDRESS;
            four mixed = ((address >> lines.shift) + offset) * RSC_LINE_HASH_FIRST;
            mixed = (mixed ^ mixed >> 32) * RSC_LINE_HASH_SECOND;
            const four starts = words << 1, last = (address & inside) + (words >> 48 & 0xff);
            const four look = ((four)(mixed <= limit) | (four)(last > inside)) & ~starts;
            found.look |= (uint32_t)_mm256_movemask_pd((__m256d)(look | (words & RSC_START_LOOK) << 6)) << i;
            found.starts |= (uint32_t)_mm256_movemask_pd((__m256d)starts) << i;
        }
        word = take_found(word, end, found);
    }
    pass_plain(word, end);
}

#define WIDE __attribute__((target("avx512f,avx512dq,popcnt")))

struct wide {
    __m512i inside, offset, limit, address, size, look, start, first, second;
    __m128i shift;
};

WIDE static inline __attribute__((always_inline)) struct wide widen(void) {
    return (struct wide){.inside = _mm512_set1_epi64((Long)((1ull << lines.shift) - 1)),
                         .offset = _mm512_set1_epi64((Long)lines.offset),
                         .limit = _mm512_set1_epi64((Long)lines.limit),
                         .address = _mm512_set1_epi64((Long)ADDRESS),
                         .size = _mm512_set1_epi64(0xff),
                         .look = _mm512_set1_epi64((Long)RSC_START_LOOK),
                         .start = _mm512_set1_epi64((Long)RSC_START),
                         .first = _mm512_set1_epi64((Long)RSC_LINE_HASH_FIRST),
                         .second = _mm512_set1_epi64((Long)RSC_LINE_HASH_SECOND),
                         .shift = _mm_cvtsi32_si128((Int)lines.shift)};
}

/* Of eight words, those to look at, and some starts. */
WIDE static inline __attribute__((always_inline)) uint32_t suspects(const struct wide *wide, __m512i words) {
    __m512i mixed = _mm512_srl_epi64(_mm512_and_si512(words, wide->address), wide->shift);
    mixed = _mm512_mullo_epi64(_mm512_add_epi64(mixed, wide->offset), wide->first);
    mixed = _mm512_mullo_epi64(_mm512_xor_si512(mixed, _mm512_srli_epi64(mixed, 32)), wide->second);
    const __m512i last = _mm512_add_epi64(_mm512_and_si512(words, wide->inside),
                                          _mm512_and_si512(_mm512_srli_epi64(words, 48), wide->size));
    return (uint32_t)_mm512_cmple_epu64_mask(mixed, wide->limit) | _mm512_cmpgt_epu64_mask(last, wide->inside) |
           _mm512_test_epi64_mask(words, wide->look);
}

/* Several multiplications at a time: each waits for the one before. */
#define AT_ONCE 32
WIDE static const uint64_t *pass_unsampled(const uint64_t *word, const uint64_t *end) {
    const struct wide wide = widen();
    const uint64_t *first = word;
    __m512i starts = _mm512_setzero_si512();
    for (; end - word >= AT_ONCE; word += AT_ONCE) {
        const __m512i a = _mm512_loadu_si512(word), b = _mm512_loadu_si512(word + 8), c = _mm512_loadu_si512(word + 16),
                      d = _mm512_loadu_si512(word + 24);
        if (suspects(&wide, a) | suspects(&wide, b) | suspects(&wide, c) | suspects(&wide, d)) break;
        const __m512i some = _mm512_add_epi64(_mm512_srli_epi64(a, 62), _mm512_srli_epi64(b, 62)),
                      more = _mm512_add_epi64(_mm512_srli_epi64(c, 62), _mm512_srli_epi64(d, 62));
        starts = _mm512_add_epi64(starts, _mm512_add_epi64(some, more));
    }
    lines.skipped += (uint64_t)(word - first) - (uint64_t)_mm512_reduce_add_epi64(starts);
    return word;
}

WIDE static const uint64_t *pass_sampled(const uint64_t *word, const uint64_t *end) {
    const struct wide wide = widen();
    const __m512i a = _mm512_loadu_si512(word), b = _mm512_loadu_si512(word + 8);
    struct found found;
    found.starts = _mm512_test_epi64_mask(a, wide.start) | (uint32_t)_mm512_test_epi64_mask(b, wide.start) << 8;
    found.look = (suspects(&wide, a) | suspects(&wide, b) << 8) & ~found.starts;
    found.look |= _mm512_test_epi64_mask(a, wide.look) | (uint32_t)_mm512_test_epi64_mask(b, wide.look) << 8;
    return take_found(word, end, found);
}

static void pass_avx512(const uint64_t *word, const uint64_t *end) {
    while (end - word >= TOGETHER) {
        word = pass_unsampled(word, end);
        for (int i = 0; i < AT_ONCE && end - word >= TOGETHER; i += TOGETHER) word = pass_sampled(word, end);
    }
    pass_plain(word, end);
}

/* ---- between blocks of code ---- */

int rsc_tool_lines_open(void) {
    const struct rsc_ring *ring = rsc_tool.ring;
    lines.limit = ring->keep_limit;
    lines.shift = (uint32_t)ring->keep_shift & 63;
    lines.threads = VG_(calloc)("rsc.lines", RSC_TOOL_THREADS, sizeof *lines.threads);
    lines.now = lines.threads;
    lines.out = (struct rsc_block_accesses){.addr = lines.addr, .meta = lines.meta, .pc = lines.pc};
    __builtin_cpu_init();
    lines.pass = !rsc_tool.plain && __builtin_cpu_supports("avx512dq")   ? pass_avx512
                 : rsc_tool.plain != 1 && __builtin_cpu_supports("avx2") ? pass_avx2
                                                                         : pass_plain;
    return 0;
}

void rsc_tool_lines_attach(void) {
    /* Lines as the parent numbers them: those of a program that replaced another are other lines (drain.c). */
    lines.offset = rsc_tool.ring->keep_offset + ((uint64_t)(rsc_tool.image - 1) << 48 >> lines.shift);
    lines.raw = rsc_tool.raw_next = rsc_tool.writer.slot->raw;
    lines.skipped = lines.crossings = 0;
    lines.jump_count = 0;
    lines.joins.part_count = 0;
}

/* Facts that the parent needs if the program is killed: they go with slot->raw. */
static void leave_facts(void) {
    struct rsc_slot *slot = rsc_tool.writer.slot;
    slot->skipped = lines.skipped;
    slot->crossings = lines.crossings;
    slot->own_instructions = rsc_tool.writer.instructions;
    slot->own[0] = lines.now->ends;
    slot->own[1] = lines.now->end_pc;
}

static void clear(uint64_t words) {
    uint64_t *to = lines.raw;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(0) : "memory");
}

void rsc_tool_lines_look(uint64_t instructions) {
    const uint64_t *word = lines.raw, *end = rsc_tool.raw_next;
    struct rsc_slot *slot = rsc_tool.writer.slot;
    rsc_tool.writer.instructions += instructions;
    rsc_tool.raw_next = lines.raw;
    if (word == end || !slot) return;
    __atomic_store_n(&slot->raw_busy, 1, __ATOMIC_RELEASE);
    if (lines.now->ends != RSC_PLAN_ENDS) follow(word);
    lines.pass(word, end);
    put_jumps();
    clear((uint64_t)(end - lines.raw));
    if (rsc_tool.recording) leave_facts();
    __atomic_store_n(&slot->raw_busy, 0, __ATOMIC_RELEASE);
}

void rsc_tool_lines_switch(ThreadId thread, int has_ended) {
    end_strings();
    put_skipped();
    lines.now = &lines.threads[thread < RSC_TOOL_THREADS ? thread : 0];
    if (has_ended) lines.now->ends = RSC_PLAN_ENDS;
    if (rsc_tool.recording) leave_facts();
}

void rsc_tool_lines_detach(void) {
    end_strings();
    do put_skipped(); /* also without any: the block then has the instructions */
    while (lines.skipped);
    if (!rsc_tool.recording) return;
    leave_facts();
    rsc_tool.writer.slot->own_instructions = 0; /* in the block */
}
