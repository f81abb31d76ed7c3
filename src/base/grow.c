/* grow.c - see grow.h. */
#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *rsc_copy_of(const void *list, size_t count, size_t room, size_t item_bytes) {
    void *copy = malloc(room ? room * item_bytes : 1);
    if (copy && count) memcpy(copy, list, count * item_bytes);
    return copy;
}

int rsc_grow(void *list, size_t *room, size_t wanted, size_t item_bytes) {
    size_t more = *room > 8 ? *room : 8;
    void *items;
    if (wanted <= *room) return 0;
    while (more < wanted) {
        if (more > SIZE_MAX / 2 / item_bytes) return RSC_ENOMEM;
        more *= 2;
    }
    memcpy(&items, list, sizeof items); /* whatever the type of the pointer there */
    items = realloc(items, more * item_bytes);
    if (!items) return RSC_ENOMEM;
    memcpy(list, &items, sizeof items);
    *room = more;
    return 0;
}
