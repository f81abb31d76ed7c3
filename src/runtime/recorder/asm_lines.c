/*
 * asm_lines.c - `--sample lines:RATE` inside a rebuilt program: only a thread's references to sampled
 * lines reach the ring.
 *
 * The thread writes its words to a private buffer (slot->raw) that stays in the processor's cache.
 * When it is full, the thread computes addresses from them; each one with a small enough hash becomes
 * a record, with the number of references skipped before it. Calls are reported when something is
 * kept within them. Everything is counted. If the program is killed, only the words being filtered at
 * that moment are lost: the parent filters the rest of the buffer itself (collect/drain/drain.c).
 *
 * Addresses of plain accesses are first gathered, then hashed and compared, eight at a time with
 * AVX-512. Consecutive executions of one piece, the case of inner loops, skip the gathering: first
 * the sums of registers that several accesses share, then per access the hash and a comparison.
 * (Gathers in place of the sums took four times as long.) The plain code handles exceptions (an
 * access across lines, one that was not made).
 */
#include "runtime/recorder/asm_lines.h"

#include <stddef.h>

#include "base/line_hash.h"
#include "runtime/pieces/own_calls.h"
#include "runtime/recorder/asm_runtime.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ADDRESS RSC_PIECE_ADDRESS
#define SKIPPED_MOST 0xffffull   /* limit of a kept record */
#define PAYLOAD_MOST 0xffffffffffffull
#define FILTER_ENTRIES_MAX 64u   /* of a piece that is filtered eight executions at a time */

#define PENDING 512u /* pending accesses */
#define EXPANDED 64u /* accesses at a time, for an execution that is filtered alone */

#define ROOM_MOST (RSC_RAW_WORDS - RSC_BLOCK_SPARE)
#define ROOM_LEAST 64u
#define OPEN_NS \
    50000 /* words may stand for hundreds of loop iterations: the buffer should be filtered about this often */

/* An execution whose accesses are pending. */
struct pending_piece {
    const struct rsc_piece *piece;
    uint64_t first; /* of its accesses there */
};

/* A thread's state, in slot->own. The parent continues from its calls when the thread is gone: they come first. */
struct lines {
    struct rsc_own_calls calls;
    struct rsc_piece_table place;
    uint64_t limit, offset;
    uint32_t shift;
    uint32_t stack_told;
    uint64_t began_ns; /* when the buffer was last empty */
    uint64_t
        goes_on_ns; /* the buffer was full then: the time that filtering it takes is not the program's; 0: it was not */
    uint64_t skipped, crossings, instructions; /* as in the slot, which is current while no words are being filtered */
    uint32_t unknown;
    uint32_t closed; /* the parent is gone */
    uint32_t room; /* words of the buffer that may be written before it is filtered */
    struct rsc_ring_writer *writer;
    uint32_t pending, pending_pieces;
    uint64_t tagged[PENDING]; /* address; in bits 48 to 63 the size minus 1 */
    struct pending_piece pieces[PENDING + 1];
};
_Static_assert(sizeof(struct lines) <= 8 * RSC_OWN_WORDS, "it fits");
_Static_assert(offsetof(struct lines, calls) == 0, "calls are first");

static int with_avx512;

/* ---- to the ring ---- */

static void put(struct lines *lines, uint64_t addr, uint64_t word) {
    struct rsc_ring_writer *writer = lines->writer;
    if (lines->closed) return;
    if (__builtin_expect(writer->next >= writer->end, 0)) {
        if (rsc_ring_make_room(writer) < 0) {
            lines->closed = 1;
            return;
        }
        writer->slot->blocks[writer->slot->published % RSC_RING_BLOCKS].start_ns = lines->began_ns;
        __atomic_store_n(&writer->slot->open_since_ns, lines->began_ns, __ATOMIC_RELEASE);
    }
    writer->next[0] = word;
    writer->next[1] = addr;
    writer->next += 2;
}

static void put_skipped(struct lines *lines) {
    while (lines->skipped | lines->crossings) {
        uint64_t some = lines->skipped < PAYLOAD_MOST ? lines->skipped : PAYLOAD_MOST;
        put(lines, lines->crossings, rsc_record_word(RSC_RECORD_SKIPPED, 1, some));
        lines->skipped -= some;
        lines->crossings = 0;
    }
}

/* Reports the current call stack to the parent. */
static void put_calls(struct lines *lines) {
    struct rsc_own_calls *calls = &lines->calls;
    if (calls->told < calls->with_them) put(lines, calls->left + 1, rsc_record_word(RSC_RECORD_RETURN, 1, calls->told));
    for (; calls->told < calls->count; calls->told++) {
        const struct rsc_own_frame *frame = &calls->frames[calls->told];
        if (!lines->stack_told && frame->stack) {
            lines->stack_told = 1;
            put(lines, frame->stack, rsc_record_word(RSC_RECORD_STACK, 1, 0));
        }
        put(lines, frame->target, rsc_record_word(RSC_RECORD_CALL, 1, frame->pc));
    }
    calls->with_them = calls->told;
}

/* A reference to a sampled line: the bytes from `addr` to the end of the access or of the line. */
static __attribute__((noinline)) void keep(struct lines *lines, uint64_t addr, uint32_t size, uint64_t word) {
    enum rsc_record_type type =
        rsc_record_type(word) == RSC_RECORD_WRITE ? RSC_RECORD_KEPT_WRITE : RSC_RECORD_KEPT_READ;
    if (lines->calls.told != lines->calls.count || lines->calls.told != lines->calls.with_them) put_calls(lines);
    if (lines->skipped > SKIPPED_MOST) put_skipped(lines);
    put(lines, addr | lines->skipped << 48, rsc_record_word(type, size, rsc_record_pc(word)));
    lines->skipped = 0;
}

/* ---- references ---- */

static inline int is_kept(const struct lines *lines, uint64_t line) {
    return rsc_line_hash(line, lines->offset) <= lines->limit;
}

/* An access, split into lines. */
static inline void look_at(struct lines *lines, uint64_t addr, uint64_t word) {
    const uint32_t shift = lines->shift, size = rsc_record_size(word);
    uint64_t end = addr + (size ? size - 1 : 0), line = addr >> shift, last = end >> shift;
    for (;; line++, lines->crossings++) {
        if (__builtin_expect(is_kept(lines, line), 0)) {
            uint64_t line_start = line << shift, from = line_start > addr ? line_start : addr;
            uint64_t line_end = line_start + (1ull << shift) - 1, to = line_end < end ? line_end : end;
            keep(lines, from, size ? (uint32_t)(to - from + 1) : 0, word);
        } else {
            lines->skipped++;
        }
        if (line >= last) return;
    }
}

/* One execution, or one iteration of a run, access by access. words[0] becomes zero, so that "none" needs no branch. */
static void look_at_piece(struct lines *lines, const struct rsc_piece *piece, uint64_t *words, uint32_t turn) {
    struct rsc_piece_progress progress = {.turn = turn};
    struct rsc_record records[EXPANDED];
    words[0] = 0;
    while (progress.turn == turn) {
        uint32_t count = rsc_piece_expand(piece, words, turn + 1, &progress, records, EXPANDED);
        for (uint32_t i = 0; i < count; i++) look_at(lines, records[i].addr, records[i].word);
    }
}

/* ---- many at a time ---- */

/* Pending access number `at`, which is kept or crosses lines; `piece` advances with it. */
static void look_at_pending(struct lines *lines, uint32_t at, uint32_t *piece) {
    while (lines->pieces[*piece + 1].first <= at) ++*piece;
    const struct pending_piece *of = &lines->pieces[*piece];
    look_at(lines, lines->tagged[at] & ADDRESS, of->piece->accesses[at - of->first].word);
}

static void look_at_all_pending_plainly(struct lines *lines, uint32_t from) {
    uint32_t piece = 0;
    for (uint32_t i = from; i < lines->pending; i++) look_at_pending(lines, i, &piece);
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f,avx512dq")))
#define TOGETHER 64u /* executions whose registers are summed at a time */

static WIDE void look_at_all_pending(struct lines *lines) {
    const __m512i offset = _mm512_set1_epi64((int64_t)lines->offset), limit = _mm512_set1_epi64((int64_t)lines->limit);
    const __m512i inside = _mm512_set1_epi64((int64_t)((1ull << lines->shift) - 1)),
                  address = _mm512_set1_epi64((int64_t)ADDRESS);
    const __m128i shift = _mm_cvtsi32_si128((int)lines->shift);
    uint32_t at = 0, piece = 0;
    for (; at + 8 <= lines->pending; at += 8) {
        __m512i tagged = _mm512_loadu_si512(lines->tagged + at), start = _mm512_and_si512(tagged, address);
        __m512i last = _mm512_add_epi64(_mm512_and_si512(start, inside), _mm512_srli_epi64(tagged, 48));
        __m512i hash = _mm512_mullo_epi64(_mm512_add_epi64(_mm512_srl_epi64(start, shift), offset),
                                          _mm512_set1_epi64((int64_t)RSC_LINE_HASH_FIRST));
        hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)),
                                  _mm512_set1_epi64((int64_t)RSC_LINE_HASH_SECOND));
        uint32_t some = (uint32_t)_mm512_cmple_epu64_mask(hash, limit) | _mm512_cmpgt_epu64_mask(last, inside),
                 done = 0;
        for (; __builtin_expect(some, 0); some &= some - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(some);
            lines->skipped += lane - done;
            look_at_pending(lines, at + lane, &piece);
            done = lane + 1;
        }
        lines->skipped += 8 - done;
    }
    _mm256_zeroupper();
    look_at_all_pending_plainly(lines, at);
}

/*
 * The sums of each form of the piece in some executions, or iterations, from `first` on. Returns 1 if any has
 * registers of zero: it may not have been reached.
 */
static int put_together(const struct rsc_piece *piece, const uint64_t *words, uint32_t first, uint32_t count,
                        uint64_t (*sums)[TOGETHER]) {
    uint64_t zero = 0;
    for (uint32_t number = 0; number < piece->form_count; number++) {
        const struct rsc_piece_form *form = &piece->forms[number];
        const size_t base_moves = form->base_moves, index_moves = form->index_moves;
        const uint64_t *base = words + form->base + first * base_moves,
                       *index = words + form->index + first * index_moves;
        const uint64_t scale = form->scale, step = (uint64_t)(int64_t)form->step;
        uint64_t *to = sums[number];
        if (!form->base) { /* word 0 is the table */
            for (uint32_t i = 0; i < count; i++) to[i] = form->index ? index[i * index_moves] * scale : 0;
        } else if (!(base_moves | index_moves) || (!base_moves && !form->index)) {
            uint64_t a = *base, b = form->index ? *index : 0;
            for (uint32_t i = 0; i < count; i++) to[i] = a + b * scale;
            zero |= !(a | b);
        } else if (!form->index) {
            for (uint32_t i = 0; i < count; i++) {
                to[i] = base[i * base_moves];
                zero |= to[i] == 0;
            }
        } else {
            for (uint32_t i = 0; i < count; i++) {
                uint64_t a = base[i * base_moves], b = index[i * index_moves];
                to[i] = a + b * scale;
                zero |= (a | b) == 0;
            }
        }
        if (step)
            for (uint32_t i = 0; i < count; i++) to[i] += (first + i) * step;
    }
    return zero != 0;
}

/* Eight executions of a plain piece. Returns 0 if the plain code must handle them. */
static WIDE int look_at_eight(struct lines *lines, const struct rsc_piece *piece, uint64_t (*sums)[TOGETHER],
                              uint32_t first) {
    const __m512i offset = _mm512_set1_epi64((int64_t)lines->offset), limit = _mm512_set1_epi64((int64_t)lines->limit);
    const __m512i inside = _mm512_set1_epi64((int64_t)((1ull << lines->shift) - 1)),
                  address = _mm512_set1_epi64((int64_t)ADDRESS);
    const __m128i shift = _mm_cvtsi32_si128((int)lines->shift);
    __mmask8 kept[FILTER_ENTRIES_MAX], any = 0, odd = 0;
    for (uint32_t i = 0; i < piece->count; i++) {
        const struct rsc_piece_access *entry = &piece->accesses[i];
        __m512i at = _mm512_add_epi64(_mm512_loadu_si512(sums[entry->form] + first), _mm512_set1_epi64(entry->disp));
        at = _mm512_and_si512(at, address);
        __m512i last = _mm512_add_epi64(_mm512_and_si512(at, inside), _mm512_set1_epi64(entry->size - 1));
        odd |= _mm512_cmpgt_epu64_mask(last, inside);
        __m512i hash = _mm512_mullo_epi64(_mm512_add_epi64(_mm512_srl_epi64(at, shift), offset),
                                          _mm512_set1_epi64((int64_t)RSC_LINE_HASH_FIRST));
        hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)),
                                  _mm512_set1_epi64((int64_t)RSC_LINE_HASH_SECOND));
        kept[i] = _mm512_cmple_epu64_mask(hash, limit);
        any |= kept[i];
    }
    if (__builtin_expect(odd, 0)) return 0;
    uint32_t done = 0; /* executions */
    for (uint32_t left = any; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), before = 0;
        lines->skipped += (uint64_t)(lane - done) * piece->count;
        for (uint32_t i = 0; i < piece->count; i++) {
            if (!(kept[i] >> lane & 1)) continue;
            const struct rsc_piece_access *entry = &piece->accesses[i];
            lines->skipped += i - before;
            keep(lines, (sums[entry->form][first + lane] + (uint64_t)entry->disp) & ADDRESS, entry->size, entry->word);
            before = i + 1;
        }
        lines->skipped += piece->count - before;
        done = lane + 1;
    }
    lines->skipped += (uint64_t)(8 - done) * piece->count;
    return 1;
}

/* As many of `count` executions, or iterations, as make multiples of eight. Returns how many that is. */
static WIDE uint32_t look_at_many(struct lines *lines, const struct rsc_piece *piece, uint64_t *words, uint32_t count) {
    uint64_t sums[RSC_PIECE_FORMS_MAX][TOGETHER];
    uint32_t at = 0;
    for (count &= ~7u; at < count;) {
        uint32_t some = count - at < TOGETHER ? count - at : TOGETHER;
        int odd = put_together(piece, words, at, some, sums);
        for (uint32_t i = 0; i < some; i += 8)
            if (odd || !look_at_eight(lines, piece, sums, i))
                for (uint32_t k = at + i; k < at + i + 8; k++)
                    look_at_piece(lines, piece, piece->is_run ? words : words + (size_t)k * piece->reserved,
                                  piece->is_run ? k : 0);
        at += some;
    }
    _mm256_zeroupper();
    return at;
}
#else
static void look_at_all_pending(struct lines *lines) { look_at_all_pending_plainly(lines, 0); }
static uint32_t look_at_many(struct lines *lines, const struct rsc_piece *piece, uint64_t *words, uint32_t count) {
    (void)lines, (void)piece, (void)words, (void)count;
    return 0;
}
#endif

static inline void finish_pending(struct lines *lines) {
    if (!lines->pending) return;
    lines->pieces[lines->pending_pieces].first = UINT64_MAX;
    if (with_avx512) look_at_all_pending(lines);
    else look_at_all_pending_plainly(lines, 0);
    lines->pending = lines->pending_pieces = 0;
}

/*
 * Adds the accesses of an execution, or of an iteration, to the pending ones, or filters them at once if that is not
 * possible.
 */
static inline __attribute__((always_inline)) void put_off_piece(struct lines *lines, const struct rsc_piece *piece,
                                                                uint64_t *words, uint32_t turn) {
    uint64_t sums[RSC_PIECE_FORMS_MAX], zero = 0;
    words[0] = 0;
    if (lines->pending + piece->count > PENDING) finish_pending(lines);
    for (uint32_t i = 0; i < piece->form_count; i++) {
        const struct rsc_piece_form *form = &piece->forms[i];
        uint64_t base = words[form->base + turn * form->base_moves],
                 index = words[form->index + turn * form->index_moves];
        sums[i] = base + index * form->scale + turn * (uint64_t)(int64_t)form->step;
        zero |= !(base | index) & (form->base != 0);
    }
    if (__builtin_expect(zero || !piece->form_count || piece->count > PENDING, 0)) {
        finish_pending(lines);
        look_at_piece(lines, piece, words, turn);
        return;
    }
    uint64_t *to = lines->tagged + lines->pending;
    for (uint32_t i = 0; i < piece->count; i++) {
        const struct rsc_piece_access *entry = &piece->accesses[i];
        to[i] = ((sums[entry->form] + (uint64_t)entry->disp) & ADDRESS) | (uint64_t)(entry->size - 1u) << 48;
    }
    lines->pieces[lines->pending_pieces++] = (struct pending_piece){piece, lines->pending};
    lines->pending += piece->count;
}

/* ---- words ---- */

/* Records in the buffer that are reported unchanged, or are accesses of libc functions. */
static void look_at_record(struct lines *lines, uint64_t word, uint64_t addr) {
    uint32_t type = rsc_record_type(word);
    if (type == RSC_RECORD_LOCK || type == RSC_RECORD_BARRIER) return; /* no analysis of a sample uses them */
    finish_pending(lines);
    if (type == RSC_RECORD_READ || type == RSC_RECORD_WRITE) {
        look_at(lines, addr, word);
        return;
    }
    if (type == RSC_RECORD_ALLOC) put_calls(lines); /* where it was allocated */
    put(lines, addr, word);
}

static void look_at_words(struct lines *lines, uint64_t *words, uint32_t count) {
    for (uint32_t at = 0; at < count;) {
        uint64_t word = words[at];
        if (word >> 48) {
            look_at_record(lines, word, words[at + 1]);
            at += 2;
            continue;
        }
        const struct rsc_piece *piece = word ? rsc_asm_find_piece(&lines->place, word) : NULL;
        if (!piece) {
            lines->unknown += word != 0;
            at++;
            continue;
        }
        uint32_t times = 1, done = 0, step = piece->reserved;
        if (lines->calls.ends) {
            finish_pending(lines);
            rsc_own_calls_begin(&lines->calls, piece->pc);
        }
        if (piece->is_run) times = at + step <= count ? rsc_piece_whole_turns(piece, words + at, count - at) : 0;
        if (!piece->ends) {
            for (const uint64_t *next = words + at + step;
                 !piece->is_run && next + step <= words + count && *next == word; next += step)
                times++;
            if (times >= 8 && with_avx512 && piece->form_count && piece->count <= FILTER_ENTRIES_MAX) {
                finish_pending(lines);
                done = look_at_many(lines, piece, words + at, times);
            }
        }
        if (piece->is_run)
            for (; done < times; done++) put_off_piece(lines, piece, words + at, done);
        else
            for (; done < times; done++) put_off_piece(lines, piece, words + at + done * step, 0);
        if (piece->ends) rsc_own_calls_end(&lines->calls, piece, words + at);
        lines->instructions += (uint64_t)times * piece->instructions;
        at += piece->is_run ? piece->words + times * piece->turn_words : times * step;
    }
    finish_pending(lines);
}

/* ---- the thread ---- */

static struct lines *lines_of(const struct rsc_ring_writer *writer) { return (struct lines *)writer->slot->own; }

void rsc_asm_lines_prepare(int plain) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    with_avx512 = !plain && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
    (void)plain;
#endif
}

void rsc_asm_lines_start(struct rsc_ring_writer *writer) {
    struct rsc_slot *slot = writer->slot;
    struct lines *lines = lines_of(writer);
    const struct rsc_ring *ring = writer->ring;
    lines->place = (struct rsc_piece_table){0};
    lines->limit = ring->keep_limit;
    lines->offset = ring->keep_offset;
    lines->shift = (uint32_t)ring->keep_shift;
    lines->stack_told = lines->unknown = lines->closed = 0;
    lines->pending = lines->pending_pieces = 0;
    lines->room = ROOM_MOST;
    lines->skipped = lines->crossings = lines->instructions = lines->goes_on_ns = 0;
    slot->skipped = slot->crossings = slot->own_instructions = 0;
    lines->calls.ends = lines->calls.count = lines->calls.told = lines->calls.with_them = 0;
    slot->raw_busy = 0;
}

void rsc_asm_lines_buffer(struct rsc_ring_writer *writer, uint64_t **next, uint64_t **limit) {
    struct lines *lines = lines_of(writer);
    struct rsc_slot *slot = writer->slot;
    /* First that there will be words: the parent must not take later ones of other threads meanwhile. */
    if (!slot->open_since_ns) __atomic_store_n(&slot->open_since_ns, slot->opened_ns, __ATOMIC_SEQ_CST);
    lines->began_ns = rsc_ring_now_ns();
    if (slot->open_since_ns != lines->goes_on_ns)
        __atomic_store_n(&slot->open_since_ns, lines->began_ns, __ATOMIC_RELEASE);
    lines->goes_on_ns = 0;
    *next = slot->raw;
    *limit = slot->raw + lines->room;
}

static void fit_room(struct lines *lines, uint64_t seen_ns) {
    uint64_t open_ns = seen_ns - lines->began_ns;
    if (open_ns > OPEN_NS && lines->room > ROOM_LEAST) lines->room /= 2;
    else if (open_ns < OPEN_NS / 4 && lines->room < ROOM_MOST) lines->room *= 2;
}

/* Not memset(): that is interposed. */
static void clear(uint64_t *words, size_t count) {
#if defined(__x86_64__)
    __asm__ volatile("rep stosq" : "+D"(words), "+c"(count) : "a"(0) : "memory");
#else
    while (count) words[--count] = 0;
#endif
}

/*
 * `seen_ns`: until when the words were written; `publish`: the block instead of a mark. A thread that has only filled
 * its buffer goes on: threads that filter at different times would seem to take turns.
 */
static int look(struct rsc_ring_writer *writer, const uint64_t *next, uint64_t seen_ns, enum rsc_mark_how how,
                int publish) {
    struct rsc_slot *slot = writer->slot;
    struct lines *lines = lines_of(writer);
    uint32_t count = next ? (uint32_t)(next - slot->raw) : 0;
    lines->writer = writer;
    __atomic_store_n(&slot->raw_busy, 1, __ATOMIC_RELEASE);
    if (count) fit_room(lines, seen_ns);
    look_at_words(lines, slot->raw, count);
    if (publish || writer->next != writer->first) put_skipped(lines); /* they give the kept ones their time */
    if (publish) {
        writer->instructions = lines->instructions;
        lines->instructions = 0;
        if (!lines->closed && rsc_ring_publish(writer) < 0) lines->closed = 1;
    } else if (!lines->closed && rsc_ring_mark_at(writer, seen_ns, how) < 0) {
        lines->closed = 1;
    }
    lines->goes_on_ns = how == RSC_MARK_GOES_ON && slot->open_since_ns == seen_ns ? seen_ns : 0;
    clear(slot->raw, count);
    slot->skipped = lines->skipped;
    slot->crossings = lines->crossings;
    slot->own_instructions = lines->instructions;
    __atomic_store_n(&slot->raw_busy, 0, __ATOMIC_RELEASE);
    return lines->closed ? -1 : 0;
}

int rsc_asm_lines_look(struct rsc_ring_writer *writer, const uint64_t *next, int publish) {
    return look(writer, next, rsc_ring_now_ns(), RSC_MARK_GOES_ON, publish);
}

int rsc_asm_lines_mark(struct rsc_ring_writer *writer, const uint64_t *next, int rests) {
    return look(writer, next, rsc_ring_now_ns(), rests ? RSC_MARK_RESTS : RSC_MARK_PASSES, 0);
}
