/* row_order.c - the order of rows in a profile: most references first; ties in the order of places and names. */
#include <string.h>

#include "profile/profile_rows.h"

int rsc_code_order(const void *left, const void *right) {
    const struct rsc_code_row *a = left, *b = right;
    int other = rsc_place_is_other(&a->place) - rsc_place_is_other(&b->place);
    if (other) return other; /* it stays last */
    if (a->references != b->references) return a->references < b->references ? 1 : -1;
    return a->place.pc < b->place.pc ? -1 : a->place.pc > b->place.pc;
}

int rsc_pair_order(const void *left, const void *right) {
    const struct rsc_pair_row *a = left, *b = right;
    if (a->references != b->references) return a->references < b->references ? 1 : -1;
    if (a->use.pc != b->use.pc) return a->use.pc < b->use.pc ? -1 : 1;
    if (a->reuse.pc != b->reuse.pc) return a->reuse.pc < b->reuse.pc ? -1 : 1;
    if (a->use_context != b->use_context) return a->use_context < b->use_context ? -1 : 1;
    return a->reuse_context < b->reuse_context ? -1 : a->reuse_context > b->reuse_context;
}

int rsc_object_order(const void *left, const void *right) {
    const struct rsc_object_row *a = left, *b = right;
    if (a->references != b->references) return a->references < b->references ? 1 : -1;
    if (a->context != b->context) return a->context < b->context ? -1 : 1;
    return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}
