/* access_tags.c - see access_tags.h. */
#include "distance/count/access_tags.h"

#include <stdlib.h>

#include "base/fail.h"

int rsc_access_tags_give(struct rsc_access_tags *tags, const struct rsc_batch *batch, struct rsc_error *error) {
    if (tags->attribute == 0 && batch->count) tags->attribute = batch->pc ? 1 : 2;
    if (tags->attribute == 2) {
        rsc_attribution_free(tags->attribution);
        tags->attribution = NULL;
        return 0;
    }
    if (!tags->attribution) {
        struct rsc_attribution_options options = {.rd_cap = tags->rd_cap};
        int status = rsc_attribution_new(&tags->attribution, &options, error);
        if (status < 0) return status;
        if (tags->objects) rsc_attribution_keep_objects(tags->attribution, tags->objects);
    }
    if (batch->count > tags->room) {
        free(tags->tag);
        tags->tag = malloc(batch->count * sizeof *tags->tag);
        tags->room = tags->tag ? batch->count : 0;
        if (!tags->tag) return rsc_fail_memory(error, "tags");
    }
    if (rsc_attribution_tags(tags->attribution, batch, tags->tag) < 0) return rsc_fail_memory(error, "tags");
    return 0;
}

void rsc_access_tags_free(struct rsc_access_tags *tags) {
    rsc_attribution_free(tags->attribution);
    free(tags->tag);
    tags->attribution = NULL;
    tags->tag = NULL;
    tags->room = 0;
}
