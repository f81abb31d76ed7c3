/* simple_pieces_kernel.c - see simple_pieces.h. */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "collect/drain/simple_pieces.h"

#define ADDRESS 0xffffffffffffull
#if defined(__AVX2__)
#define LANES \
    4u /* few pieces have more accesses; twice as wide, stores that cross cache lines cost more than they save */
#else
#define LANES 2u
#endif
typedef uint64_t lanes __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
_Static_assert(RSC_PIECES_SPARE >= LANES && RSC_SIMPLE_SPARE >= LANES, "what is read after the last one");

/* A bit for each word with none of the bits of `mask`. */
static inline uint32_t without(const uint64_t *words, uint64_t mask) {
#if defined(__AVX2__)
    return (uint32_t)_mm256_movemask_pd((__m256d)((*(const lanes *)words & mask) == 0));
#else
    return (uint32_t)!(words[0] & mask) | (uint32_t)!(words[1] & mask) << 1;
#endif
}

/* The columns of a batch, from one access on, and where they come from. */
struct columns {
    uint64_t *addr, *meta, *pc;
    uint64_t space, thread_bits;
    const uint64_t *pcs, *metas; /* by place */
};

/* Accesses from `words` on, as those of the places from `place` on, to the columns from `count` on. */
static inline __attribute__((always_inline)) void put_lanes(const struct columns *to, uint32_t count,
                                                            const uint64_t *words, uint32_t place) {
    *(lanes *)(to->addr + count) = (*(const lanes *)words & ADDRESS) | to->space;
    *(lanes *)(to->meta + count) = *(const lanes *)(to->metas + place) | to->thread_bits;
    *(lanes *)(to->pc + count) = *(const lanes *)(to->pcs + place) | to->space;
}

/* Any piece, one access at a time, from its word *made on. 0: not made. Returns the new count; *made: its words. */
static uint32_t put_each(const struct columns *to, uint32_t count, const uint64_t *words,
                         const struct rsc_block_piece *piece, uint32_t *made) {
    for (; *made < piece->count; ++*made) {
        const uint64_t word = __atomic_load_n(&words[*made], __ATOMIC_RELAXED);
        const uint32_t place = piece->first + *made;
        if (word >> 56 && piece->exit_count) break; /* it was left before */
        to->addr[count] = (word & ADDRESS) | to->space;
        to->meta[count] = to->metas[place] | to->thread_bits;
        to->pc[count] = to->pcs[place] | to->space;
        count += (word & ADDRESS) != 0;
    }
    return count;
}

/* The same, a few at a time for as long as all are made. */
static uint32_t put_any(const struct columns *to, uint32_t count, const uint64_t *words,
                        const struct rsc_block_piece *piece, uint32_t *made) {
    for (*made = 0; *made < piece->count;) {
        const uint32_t left = piece->count - *made, part = left < LANES ? left : LANES;
        uint32_t others = without(words + *made, ADDRESS);
        if (piece->exit_count) others |= ~without(words + *made, ~0ull << 56);
        if (others & ((1u << part) - 1)) return put_each(to, count, words, piece, made);
        put_lanes(to, count, words + *made, piece->first + *made);
        count += part;
        *made += part;
    }
    return count;
}

/* Instructions of a piece that was left after as many accesses. */
static uint32_t instructions_until(const struct rsc_block_pieces *pieces, const struct rsc_block_piece *piece,
                                   uint32_t accesses) {
    uint32_t instructions = piece->instructions;
    for (uint32_t i = 0; accesses < piece->count && i < piece->exit_count; i++)
        if (pieces->exits[piece->exits + i].accesses == accesses)
            instructions = pieces->exits[piece->exits + i].instructions;
    return instructions;
}

/* A call or return among the accesses; there is room. */
static inline void put_jump(struct rsc_event *event, uint32_t count, uint32_t thread,
                            const struct rsc_block_piece *from, uint64_t to, uint64_t space) {
    const int is_call = from->jumps == RSC_PLAN_ENDS_CALL;
    *event = (struct rsc_event){.at = count,
                                .type = is_call ? RSC_EVENT_CALL : RSC_EVENT_RETURN,
                                .thread = thread,
                                .a = (is_call ? from->end_pc : to) | space,
                                .b = is_call ? to | space : 0};
}

void RSC_WIDE(rsc_simple_pieces_take)(const struct rsc_block_pieces *pieces, struct rsc_simple_run *run) {
    const struct columns to = {run->addr, run->meta, run->pc, run->space, run->thread_bits, pieces->pcs, pieces->metas};
    const struct rsc_block_piece before = {.ends = (uint8_t)run->ends,
                                           .jumps = (uint8_t)(run->words[run->at] & RSC_START_CALLS ? run->ends : 0),
                                           .end_pc = run->end_pc};
    const struct rsc_block_piece *last = &before;
    const uint64_t *word = run->words + run->at, *const limit = run->words + run->word_count;
    const uint32_t *const number_of = pieces->number_of, thread = run->thread;
    struct rsc_event *event = run->events + run->event_count;
    uint32_t count = run->count, most = run->end - run->at;
    uint64_t instructions = 0, calls = 0;
    /* A word is at most one access, or one event. */
    if (run->ends == RSC_PLAN_ENDS_REP || count >= run->count_most || run->event_count >= run->event_most) return;
    if (most > run->count_most - count) most = run->count_most - count;
    if (most > run->event_most - run->event_count) most = run->event_most - run->event_count;
    for (const uint64_t *const end = word + most; word < end;) {
        const uint64_t start = __atomic_load_n(word, __ATOMIC_RELAXED);
        const struct rsc_block_piece *piece = &pieces->pieces[number_of[start % RSC_PLAN_WORDS]];
        /* The length is in the plan too, but the next start can be read before the plan is. */
        const uint64_t *words = word + 1, *next = word + rsc_start_length(start);
        if (!start || start != piece->start || next > limit) break;
        if (last->jumps) {
            put_jump(event++, count, thread, last, piece->pc, to.space);
            calls += last->jumps == RSC_PLAN_ENDS_CALL;
        }
        if (piece->count > LANES || piece->exit_count || without(words, ADDRESS) & ((1u << piece->count) - 1)) {
            uint32_t made;
            count = put_any(&to, count, words, piece, &made);
            next = words + made;
            instructions += instructions_until(pieces, piece, made);
        } else {
            put_lanes(&to, count, words, piece->first);
            count += piece->count;
            instructions += piece->instructions;
        }
        word = next;
        last = piece;
    }
    run->at = (uint32_t)(word - run->words);
    run->count = count;
    run->event_count = (uint32_t)(event - run->events);
    run->ends = last->ends;
    run->end_pc = last->end_pc;
    run->instructions += instructions;
    run->calls += calls;
}
