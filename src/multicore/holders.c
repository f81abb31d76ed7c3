/* holders.c - see holders.h. */
#include "multicore/holders.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

int rsc_holders_init(struct rsc_holders *holders) {
    memset(holders, 0, sizeof *holders);
    return rsc_line_map_init(&holders->map);
}

void rsc_holders_free(struct rsc_holders *holders) {
    rsc_line_map_free(&holders->map);
    for (uint32_t i = 0; i < holders->list_count; i++) free(holders->lists[i].stacks);
    free(holders->lists);
    memset(holders, 0, sizeof *holders);
}

uint64_t rsc_holders_bytes(const struct rsc_holders *holders) {
    uint64_t bytes = rsc_line_map_bytes(&holders->map) + holders->list_room * sizeof *holders->lists;
    for (uint32_t i = 0; i < holders->list_count; i++) bytes += holders->lists[i].room * sizeof *holders->lists[i].stacks;
    return bytes;
}

uint32_t *rsc_holders_word(struct rsc_holders *holders, uint64_t line, int *status) {
    uint32_t unit = rsc_line_map_add(&holders->map, line, status);
    if (!unit) return NULL;
    holders->lines += holders->map.units[unit] == 0; /* whoever asks becomes a holder */
    return &holders->map.units[unit];
}

/* An empty list, or UINT32_MAX. */
static uint32_t take_list(struct rsc_holders *holders) {
    if (holders->free_list) {
        uint32_t number = holders->free_list - 1;
        holders->free_list = holders->lists[number].next_free;
        holders->lists[number].count = 0;
        return number;
    }
    if (holders->list_count == holders->list_room) {
        uint32_t room = holders->list_room ? 2 * holders->list_room : 64;
        struct rsc_holder_list *lists = realloc(holders->lists, room * sizeof *lists);
        if (!lists) return UINT32_MAX;
        holders->lists = lists;
        holders->list_room = room;
    }
    holders->lists[holders->list_count] = (struct rsc_holder_list){0};
    return holders->list_count++;
}

static int push(struct rsc_holder_list *list, uint32_t stack) {
    if (list->count == list->room) {
        uint32_t room = list->room ? 2 * list->room : 4;
        uint32_t *stacks = realloc(list->stacks, room * sizeof *stacks);
        if (!stacks) return RSC_ENOMEM;
        list->stacks = stacks;
        list->room = room;
    }
    list->stacks[list->count++] = stack;
    return 0;
}

int rsc_holders_add(struct rsc_holders *holders, uint32_t *word, uint32_t stack) {
    if (!(*word & RSC_HOLDERS_LISTED)) {
        if (stack < RSC_HOLDERS_BITS) {
            *word |= 1u << stack;
            return 0;
        }
        uint32_t number = take_list(holders);
        if (number == UINT32_MAX) return RSC_ENOMEM;
        for (uint32_t bits = *word; bits; bits &= bits - 1)
            if (push(&holders->lists[number], (uint32_t)__builtin_ctz(bits)) < 0) return RSC_ENOMEM;
        *word = RSC_HOLDERS_LISTED | number;
    }
    return push(&holders->lists[*word & ~RSC_HOLDERS_LISTED], stack);
}

int rsc_holders_set_only(struct rsc_holders *holders, uint32_t *word, uint32_t stack) {
    if (*word & RSC_HOLDERS_LISTED) {
        uint32_t number = *word & ~RSC_HOLDERS_LISTED;
        holders->lists[number].next_free = holders->free_list;
        holders->free_list = number + 1;
    }
    *word = 0;
    return rsc_holders_add(holders, word, stack);
}
