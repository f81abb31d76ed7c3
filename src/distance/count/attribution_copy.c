/*
 * attribution_copy.c - a copy of an attribution, for models that have been the same so
 * far: both then go on from the same counts, tags and objects.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pages.h"
#include "distance/count/attribution_state.h"

/* Copies what `from` owns into `copy`, where it is all zero. */
static int copy_tables(struct rsc_attribution *copy, const struct rsc_attribution *from) {
    const uint32_t rows = from->places.row_count;
    const size_t sums = sizeof *from->sums << from->sum_bits;
    copy->pair_objects = RSC_COPY(from->pair_objects, from->pairs.row_count, from->pairs.row_count);
    copy->numbered = RSC_COPY(from->numbered, from->number_limit, from->number_limit);
    copy->sums = rsc_pages_copy(from->sums, sums, sums);
    return !copy->pair_objects || !copy->numbered || !copy->sums || rsc_call_paths_copy(&copy->paths, &from->paths) ||
                   rsc_objects_copy(&copy->objects, &from->objects, from->paths.node_limit) ||
                   rsc_places_copy(&copy->places, &from->places) ||
                   rsc_narrow_tally_copy(&copy->code, &from->code, rows) ||
                   rsc_space_saving_copy(&copy->pairs, &from->pairs) ||
                   rsc_space_saving_copy(&copy->things, &from->things) ||
                   rsc_u64_table_copy(&copy->number_of, &from->number_of) ||
                   rsc_stride_votes_copy(&copy->strides, &from->strides, rows, from->code.rows_max)
               ? RSC_ENOMEM
               : 0;
}

int rsc_attribution_copy(struct rsc_attribution **out, struct rsc_attribution *from) {
    *out = NULL;
    if (rsc_attribution_learn_own(from) < 0 || rsc_attribution_make_changes(from, UINT32_MAX) < 0) return RSC_ENOMEM;
    struct rsc_attribution *copy = malloc(sizeof *copy);
    if (!copy) return RSC_ENOMEM;
    *copy = *from;
    copy->paths = (struct rsc_call_paths){0};
    copy->places = (struct rsc_places){0};
    copy->news = copy->learnt = (struct rsc_attribution_news){0};
    copy->change_next = copy->change_end = 0;
    copy->code = (struct rsc_narrow_tally){0};
    copy->sums = NULL;
    copy->pairs = copy->things = (struct rsc_space_saving){0};
    copy->numbered = NULL;
    copy->number_of = (struct rsc_u64_table){0};
    memset(&copy->objects, 0, sizeof copy->objects);
    copy->pair_objects = NULL;
    copy->strides.rows = NULL;
    copy->kept_objects = NULL;
    copy->is_apart = 0;
    if (copy_tables(copy, from) < 0) {
        rsc_attribution_free(copy);
        return RSC_ENOMEM;
    }
    copy->pairs.owner = copy;
    *out = copy;
    return 0;
}
