/*
 * grow.h - room for more items in an array that grows by doubling.
 *
 *     if (RSC_GROW(list->items, list->room, list->count + 1)) return RSC_ENOMEM;
 *
 * And a copy of such an array:
 *
 *     copy->items = RSC_COPY(list->items, list->count, list->room);
 */
#ifndef RSC_BASE_GROW_H
#define RSC_BASE_GROW_H

#include <stddef.h>

#include <reusescope/error.h>

/*
 * Makes *(ITEM **)list, from malloc or NULL, hold `wanted` items of `item_bytes`, if *room says it does not. New items
 * are not initialised. Returns 0, or RSC_ENOMEM with the list unchanged.
 */
int rsc_grow(void *list, size_t *room, size_t wanted, size_t item_bytes);

/* The same for an array and its room, of any integer type. */
#define RSC_GROW(list, room, wanted)                                                                             \
    ({                                                                                                           \
        size_t rsc_room_ = (room), rsc_wanted_ = (wanted);                                                       \
        int rsc_failed_ = rsc_wanted_ > rsc_room_ && rsc_grow(&(list), &rsc_room_, rsc_wanted_, sizeof *(list)); \
        (room) = (__typeof__(room))rsc_room_;                                                                    \
        rsc_failed_;                                                                                             \
    })

/* A new array with room for `room` items and a copy of the first `count`; NULL only when out of memory. */
void *rsc_copy_of(const void *list, size_t count, size_t room, size_t item_bytes);
#define RSC_COPY(list, count, room) rsc_copy_of((list), (count), (room), sizeof *(list))

#endif
