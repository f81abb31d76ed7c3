/* piece_expand.c - see piece_expand.h. */
#include "runtime/pieces/piece_expand.h"

static inline uint64_t word_of(const uint64_t *words, uint32_t number) { return number ? words[number] : 0; }

static inline uint64_t sized(uint64_t word, uint64_t size) { return (word & ~(0xffull << 48)) | size << 48; }

/* The elements of a masked access that are accessed: bits from `count` on are ignored. */
static uint64_t live_bits(const struct rsc_piece_access *access, uint64_t mask) {
    return access->count < 64 ? mask & ((1ull << access->count) - 1) : mask;
}

/* ---- strings ---- */

/* Number of elements that an execution completed. */
static uint64_t string_count(const struct rsc_piece_access *access, const uint64_t *words) {
    uint64_t count = word_of(words, access->index), left = 0;
    if (access->flags & RSC_ASM_BY_EQUAL) left = word_of(words, access->count);
    return word_of(words, access->base) ? count - (left < count ? left : count) : 0;
}

/* First element from `from` on that begins in another line. */
static uint64_t next_line(uint64_t start, uint64_t from, uint32_t size, uint64_t count) {
    uint64_t at = start + from * size, line_end = (at / RSC_PIECE_LINE + 1) * RSC_PIECE_LINE;
    uint64_t element = from + (line_end - at + size - 1) / size;
    return element < count ? element : count;
}

/* Whether the two accesses belong to one instruction, whose elements alternate. */
static int take_turns(const struct rsc_piece_access *access) {
    return access[1].kind == RSC_ASM_STRING && rsc_record_pc(access[0].word) == rsc_record_pc(access[1].word);
}

/*
 * For one access or two: one record per line, in the order of the first element in each.
 * *element is `count` when all are done.
 */
static struct rsc_record *put_string(const struct rsc_piece_access *accesses, uint32_t streams, const uint64_t *words,
                                     uint64_t count, uint64_t *element, struct rsc_record *next,
                                     const struct rsc_record *end) {
    const uint32_t size = accesses->size;
    uint64_t start[2], at = *element;
    for (uint32_t i = 0; i < streams; i++)
        start[i] = (word_of(words, accesses[i].base) + (uint64_t)accesses[i].disp) & RSC_PIECE_ADDRESS;
    while (at < count && end - next >= 2) {
        uint64_t nearest = count;
        for (uint32_t i = 0; i < streams; i++) {
            uint64_t address = start[i] + at * size, stop = next_line(start[i], at, size, count);
            int begins = !at || address / RSC_PIECE_LINE != (address - size) / RSC_PIECE_LINE;
            if (begins)
                *next++ = (struct rsc_record){address & RSC_PIECE_ADDRESS, sized(accesses[i].word, (stop - at) * size)};
            if (stop < nearest) nearest = stop;
        }
        at = nearest;
    }
    *element = at;
    return next;
}

/* ---- elements of vectors ---- */

static struct rsc_record *put_masked(const struct rsc_piece_access *access, uint64_t start, uint64_t mask,
                                     struct rsc_record *next) {
    for (mask = live_bits(access, mask); mask;) {
        uint32_t first = (uint32_t)__builtin_ctzll(mask);
        uint64_t behind = mask + (1ull << first); /* the lowest run of bits is cleared by the carry */
        uint32_t run = (behind ? (uint32_t)__builtin_ctzll(behind) : 64) - first;
        *next++ = (struct rsc_record){(start + first * access->size) & RSC_PIECE_ADDRESS,
                                      sized(access->word, run * access->size)};
        mask &= behind;
    }
    return next;
}

static uint64_t gathered_mask(const struct rsc_piece_access *access, const uint64_t *words) {
    uint32_t index_words = (access->count * (access->flags & RSC_ASM_INDEX_8 ? 8u : 4u) + 7) / 8;
    return live_bits(access, words[access->index + index_words]);
}

static uint64_t gathered_address(const struct rsc_piece_access *access, const uint64_t *words, uint32_t element) {
    const uint64_t *indices = words + access->index;
    int64_t index = access->flags & RSC_ASM_INDEX_8 ? (int64_t)indices[element]
                                                    : (int32_t)(indices[element / 2] >> (element % 2 ? 32 : 0));
    return (word_of(words, access->base) + (uint64_t)access->disp + (uint64_t)index * access->scale) &
           RSC_PIECE_ADDRESS;
}

static struct rsc_record *put_gathered(const struct rsc_piece_access *access, const uint64_t *words,
                                       struct rsc_record *next) {
    for (uint64_t mask = gathered_mask(access, words); mask; mask &= mask - 1)
        *next++ = (struct rsc_record){gathered_address(access, words, (uint32_t)__builtin_ctzll(mask)), access->word};
    return next;
}

/* At most RSC_PIECE_ROOM records for any kind but strings. */
static struct rsc_record *put_elements(const struct rsc_piece_access *access, const uint64_t *words,
                                       struct rsc_record *next) {
    uint64_t base = word_of(words, access->base), start = base + (uint64_t)access->disp;
    uint64_t mask = live_bits(access, word_of(words, access->index));
    if (access->kind == RSC_ASM_GATHERED) return put_gathered(access, words, next);
    if (!mask || (access->base && !base)) return next; /* no element, or not reached */
    if (access->kind == RSC_ASM_MASKED) return put_masked(access, start, mask, next);
    uint64_t word = access->word;
    if (access->kind == RSC_ASM_PACKED) word = sized(word, (uint32_t)__builtin_popcountll(mask) * access->size);
    *next++ = (struct rsc_record){start & RSC_PIECE_ADDRESS, word};
    return next;
}

/* ---- an execution ---- */

/*
 * The rest of an iteration, as far as there is room. A separate function, which leaves plain iterations all the
 * registers.
 */
static __attribute__((noinline)) struct rsc_record *put_turn(const struct rsc_piece *piece, const uint64_t *words,
                                                             struct rsc_piece_progress *progress,
                                                             struct rsc_record *next, const struct rsc_record *end) {
    while (progress->access < piece->count && end - next >= (ptrdiff_t)RSC_PIECE_ROOM) {
        const struct rsc_piece_access *access = &piece->accesses[progress->access];
        uint32_t streams = 1;
        if (access->kind == RSC_ASM_PLAIN) {
            next = rsc_piece_put(access, words, progress->turn, next);
        } else if (access->kind == RSC_ASM_STRING) {
            uint64_t count = string_count(access, words);
            if (progress->access + 1u < piece->count && take_turns(access)) streams = 2;
            next = put_string(access, streams, words, count, &progress->element, next, end);
            if (progress->element < count) return next;
            progress->element = 0;
        } else {
            next = put_elements(access, words, next);
        }
        progress->access += streams;
    }
    return next;
}

/* Whole iterations of a plain piece, as many as fit. */
static __attribute__((noinline)) struct rsc_record *put_turns(const struct rsc_piece *piece, const uint64_t *words,
                                                              uint32_t turns, struct rsc_piece_progress *progress,
                                                              struct rsc_record *next, const struct rsc_record *end) {
    uint64_t turn = progress->turn, last = turns, room = (uint64_t)(end - next);
    if ((last - turn) * piece->count > room) last = turn + room / piece->count;
    for (; turn < last; turn++) next = rsc_piece_put_plain(piece, words, turn, next);
    progress->turn = (uint32_t)turn;
    return next;
}

uint32_t rsc_piece_expand(const struct rsc_piece *piece, const uint64_t *words, uint32_t turns,
                          struct rsc_piece_progress *progress, struct rsc_record *records, uint32_t room) {
    struct rsc_record *next = records, *end = records + room;
    while (progress->turn < turns) {
        if (piece->plain && !progress->access) next = put_turns(piece, words, turns, progress, next, end);
        if (progress->turn == turns) break;
        next = put_turn(piece, words, progress, next, end);
        if (progress->access < piece->count) break;
        progress->turn++;
        progress->access = 0;
    }
    return (uint32_t)(next - records);
}

/* ---- one access ---- */

/* The n-th of the bits that are set; mask is not 0. */
static uint32_t nth_bit(uint64_t mask, uint32_t n) {
    while (n--) mask &= mask - 1;
    return (uint32_t)__builtin_ctzll(mask);
}

uint64_t rsc_piece_span(const struct rsc_piece_access *access, const uint64_t *words, uint64_t pick,
                        uint64_t *address) {
    uint64_t base = word_of(words, access->base), index = word_of(words, access->index), mask;
    *address = (base + (uint64_t)access->disp) & RSC_PIECE_ADDRESS;
    switch (access->kind) {
    case RSC_ASM_PLAIN:
        *address = rsc_piece_sum(access, base, index, 0);
        return rsc_piece_reached(access, base, index) ? access->size : 0;
    case RSC_ASM_STRING: return string_count(access, words) * access->size;
    case RSC_ASM_GATHERED:
        if (!(mask = gathered_mask(access, words))) return 0;
        *address =
            gathered_address(access, words, nth_bit(mask, (uint32_t)(pick % (uint32_t)__builtin_popcountll(mask))));
        return access->size;
    default: break;
    }
    mask = live_bits(access, index);
    if (!mask || (access->base && !base)) return 0;
    if (access->kind == RSC_ASM_ANY) return access->size;
    if (access->kind == RSC_ASM_PACKED) return (uint32_t)__builtin_popcountll(mask) * (uint64_t)access->size;
    uint32_t low = (uint32_t)__builtin_ctzll(mask), high = 63u - (uint32_t)__builtin_clzll(mask);
    *address = (*address + low * (uint64_t)access->size) & RSC_PIECE_ADDRESS;
    return (high - low + 1) * (uint64_t)access->size;
}

int rsc_piece_touches(const struct rsc_piece_access *access, const uint64_t *words, uint64_t first, uint64_t last) {
    uint64_t address, picks = 1;
    if (access->kind == RSC_ASM_GATHERED) picks = (uint32_t)__builtin_popcountll(gathered_mask(access, words));
    for (uint64_t pick = 0; pick < picks; pick++) {
        uint64_t bytes = rsc_piece_span(access, words, pick, &address);
        if (bytes && address <= last && address + bytes > first) return 1;
    }
    return 0;
}
