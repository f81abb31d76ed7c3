/* block_pieces.c - see block_pieces.h. */
#include "collect/drain/block_pieces.h"

#include <stdlib.h>

#define ADDRESS 0xffffffffffffull
#define NONE (~0u)
#define ENTRIES_MOST (1024u + RSC_PIECES_SPARE) /* more than a plan's head can claim */

void rsc_block_pieces_free(struct rsc_block_pieces *pieces) {
    free(pieces->number_of);
    free(pieces->pieces);
    free(pieces->pcs);
    free(pieces->metas);
    free(pieces->flags);
    free(pieces->exits);
}

/* Room for one more of each array, of `bytes` each. */
static int grow(void *array, uint32_t *room, uint64_t wanted, size_t bytes) {
    uint64_t more = *room ? *room : 4096;
    void **at = array;
    while (more < wanted) more *= 2;
    if (more == *room) return 0;
    void *grown = more > UINT32_MAX ? NULL : realloc(*at, more * bytes);
    if (!grown) return -1;
    *at = grown;
    *room = (uint32_t)more;
    return 0;
}

static int make_room(struct rsc_block_pieces *pieces) {
    if (!pieces->number_of) {
        pieces->number_of = calloc(RSC_PLAN_WORDS, sizeof *pieces->number_of); /* touched where there are plans */
        pieces->count = 1;
        pieces->place_count = ENTRIES_MOST; /* those before are for number 0 */
        pieces->exit_count = ENTRIES_MOST;
    }
    const int is_first = !pieces->pieces;
    uint32_t pc_room = pieces->place_room, meta_room = pieces->place_room;
    const uint64_t places = (uint64_t)pieces->place_count + ENTRIES_MOST;
    if (!pieces->number_of || grow(&pieces->pieces, &pieces->room, pieces->count + 1ull, sizeof *pieces->pieces) < 0 ||
        grow(&pieces->pcs, &pc_room, places, sizeof *pieces->pcs) < 0 ||
        grow(&pieces->metas, &meta_room, places, sizeof *pieces->metas) < 0 ||
        grow(&pieces->flags, &pieces->place_room, places, sizeof *pieces->flags) < 0)
        return -1;
    if (is_first) pieces->pieces[0] = (struct rsc_block_piece){0};
    return grow(&pieces->exits, &pieces->exit_room, (uint64_t)pieces->exit_count + RSC_BLOCK_EXITS_MAX,
                sizeof *pieces->exits);
}

/* Whether each word of the piece is one read or one write. (The next piece after a string may continue it.) */
static int is_simple(const struct rsc_block_pieces *pieces, const struct rsc_block_piece *piece) {
    int simple = piece->ends != RSC_PLAN_ENDS_REP;
    for (uint32_t i = 0; simple && i < piece->count; i++) {
        const uint64_t flags = pieces->flags[piece->first + i];
        simple = flags == RSC_BLOCK_READS || flags == RSC_BLOCK_WRITES;
    }
    return simple;
}

/*
 * Copies a plan into piece `number`, whose places and exits begin there. Each word is read once. Returns -1, or 1 if there
 * are no records among its words.
 */
static int copy(struct rsc_block_pieces *pieces, uint32_t number, uint32_t first, uint32_t first_exit,
                const uint64_t *plan, uint64_t room, uint32_t *used) {
    if (room < 2) return -1;
    const uint64_t head = __atomic_load_n(&plan[0], __ATOMIC_RELAXED);
    const uint64_t tail = __atomic_load_n(&plan[1], __ATOMIC_RELAXED);
    const uint32_t count = rsc_plan_entries(tail), exits = rsc_plan_exits(tail);
    if (room - 2 < (uint64_t)count + exits) return -1;
    pieces->pieces[number] = (struct rsc_block_piece){.pc = head & ADDRESS,
                                                      .end_pc = tail & ADDRESS,
                                                      .first = first,
                                                      .exits = first_exit,
                                                      .count = (uint16_t)count,
                                                      .instructions = (uint16_t)(head >> 48 & 0x3ff),
                                                      .exit_count = (uint16_t)exits,
                                                      .ends = (uint8_t)(head >> 58 & 15),
                                                      .in_region = (uint8_t)(head >> 63)};
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t entry = __atomic_load_n(&plan[2 + i], __ATOMIC_RELAXED), flags = entry & ~((1ull << 56) - 1);
        pieces->pcs[first + i] = entry & ADDRESS;
        pieces->metas[first + i] = (entry >> 48 & 0xff) | (uint64_t)((entry & RSC_BLOCK_WRITES) != 0) << 32;
        pieces->flags[first + i] = flags;
    }
    for (uint32_t i = 0; i < exits; i++) {
        const uint64_t left = __atomic_load_n(&plan[2 + count + i], __ATOMIC_RELAXED);
        pieces->exits[first_exit + i] = (struct rsc_block_exit){(uint16_t)left, (uint16_t)(left >> 16)};
    }
    *used = 2 + count + exits;
    return head & RSC_PLAN_RECORDS ? 0 : 1;
}

uint32_t rsc_block_pieces_learn(struct rsc_block_pieces *pieces, const uint64_t *plans, uint64_t start) {
    const uint64_t offset = start & 0xffffffffu;
    uint32_t used, number = pieces->count;
    if (offset >= RSC_PLAN_WORDS || make_room(pieces) < 0) return NONE;
    number = pieces->count;
    const int status =
        copy(pieces, number, pieces->place_count, pieces->exit_count, plans + offset, RSC_PLAN_WORDS - offset, &used);
    if (status < 0) return NONE;
    struct rsc_block_piece *piece = &pieces->pieces[number];
    if (status && is_simple(pieces, piece) && rsc_start_length(start) == piece->count + 1u &&
        (start & (RSC_START_RESUMED | RSC_START_COUNTED | RSC_START_LOOK)) == 0)
        piece->start = start;
    if (start & RSC_START_CALLS) piece->jumps = piece->ends;
    pieces->place_count += piece->count;
    pieces->exit_count += piece->exit_count;
    pieces->number_of[offset] = number;
    pieces->count++;
    return number;
}

uint32_t rsc_block_pieces_read(struct rsc_block_pieces *pieces, const uint64_t *plan, uint64_t room, uint32_t *used) {
    return make_room(pieces) < 0 || copy(pieces, 0, 0, 0, plan, room, used) < 0 ? NONE : 0;
}
