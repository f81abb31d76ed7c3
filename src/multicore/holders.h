/*
 * holders.h - which stacks hold a line: who must give it up when somebody writes.
 *
 * Per line one word. Stacks 0 to 30 are bits of it; where a later one holds the
 * line, the word names a list instead. Holders only ever come one by one and go all
 * at once, when one of them, or a newcomer, writes. So a list is filled from the
 * front and then free for others: what all writes together go through is no more
 * than all references together put there.
 */
#ifndef RSC_MULTICORE_HOLDERS_H
#define RSC_MULTICORE_HOLDERS_H

#include <stdint.h>

#include "base/line_map.h"

struct rsc_holder_list {
    uint32_t *stacks; /* owned */
    uint32_t count, room;
    uint32_t next_free; /* the next list that is free + 1; 0: none */
};

struct rsc_holders {
    struct rsc_line_map map; /* a unit is the word: bits, or RSC_HOLDERS_LISTED and the number of a list. 0: nobody ever */
    uint64_t lines;          /* that anybody ever held */
    struct rsc_holder_list *lists; /* owned */
    uint32_t list_count, list_room;
    uint32_t free_list; /* + 1; 0: none */
};

#define RSC_HOLDERS_BITS 31u
#define RSC_HOLDERS_LISTED 0x80000000u

/* Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_holders_init(struct rsc_holders *holders);
void rsc_holders_free(struct rsc_holders *holders);
uint64_t rsc_holders_bytes(const struct rsc_holders *holders);

/* The word of a line, made if it is new; NULL: none to be had (*status says why). Valid until the next one is made. */
uint32_t *rsc_holders_word(struct rsc_holders *holders, uint64_t line, int *status);

/* Adds a stack that does not hold the line yet. Returns 0 or RSC_ENOMEM. */
int rsc_holders_add(struct rsc_holders *holders, uint32_t *word, uint32_t stack);

/* Makes `stack` the only holder. Returns 0 or RSC_ENOMEM. */
int rsc_holders_set_only(struct rsc_holders *holders, uint32_t *word, uint32_t stack);

/* The one holder there is, or UINT32_MAX where there are more or none. */
static inline uint32_t rsc_holders_only(uint32_t word, const struct rsc_holders *holders) {
    if (word & RSC_HOLDERS_LISTED) {
        const struct rsc_holder_list *list = &holders->lists[word & ~RSC_HOLDERS_LISTED];
        return list->count == 1 ? list->stacks[0] : UINT32_MAX;
    }
    return word && !(word & (word - 1)) ? (uint32_t)__builtin_ctz(word) : UINT32_MAX;
}

#endif
