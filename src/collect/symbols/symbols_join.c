/*
 * symbols_join.c - joins the code rows of processes that run the same program.
 *
 * Each process has pcs of its own, so a program that forks a thousand times has a thousand rows for one instruction.
 * Once rows are named, those at the same address of the same module's file are the same code: their counts add up under
 * the lowest pc, which is the first process's. Rows without a module stay apart.
 */
#include "collect/symbols/symbols_module.h"

#ifdef RSC_HAVE_LIBDW

#include <stdlib.h>
#include <string.h>

#include "profile/profile_rows.h"
#include "profile/row_tables.h"

static int has_module(const struct rsc_code_row *row) { return row->place.module && row->place.offset; }

/* The same code is adjacent, lowest pc first; rows without a module come last. */
static int by_code(const void *left, const void *right) {
    const struct rsc_code_row *a = left, *b = right;
    if (has_module(a) != has_module(b)) return has_module(b) - has_module(a);
    if (has_module(a)) {
        if (a->place.offset != b->place.offset) return a->place.offset < b->place.offset ? -1 : 1;
        int order = strcmp(a->place.module, b->place.module);
        if (order) return order;
    }
    return a->place.pc < b->place.pc ? -1 : a->place.pc > b->place.pc;
}

static int same_code(const struct rsc_code_row *a, const struct rsc_code_row *b) {
    return has_module(a) && has_module(b) && a->place.offset == b->place.offset &&
           !strcmp(a->place.module, b->place.module);
}

void symbols_join_code(struct rsc_profile *profile) {
    size_t kept = 0, count = profile->code_count;
    if (!count) return; /* no array */
    qsort(profile->code, count, sizeof *profile->code, by_code);
    for (size_t i = 0; i < count; i++) {
        struct rsc_code_row *row = &profile->code[i], *to = kept ? &profile->code[kept - 1] : NULL;
        if (to && same_code(to, row)) {
            if (row->stride.seen > to->stride.seen) to->stride = row->stride;
            rsc_row_add_counts(&rsc_row_table_code, to, row);
            rsc_row_clear(&rsc_row_table_code, row);
        } else if (row != &profile->code[kept++]) {
            profile->code[kept - 1] = *row;
        }
    }
    profile->code_count = kept;
    qsort(profile->code, kept, sizeof *profile->code, rsc_code_order);
}

#endif
