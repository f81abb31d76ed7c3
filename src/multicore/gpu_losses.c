/* gpu_losses.c - see gpu_losses.h. */
#include "multicore/gpu_losses.h"

static struct rsc_taking taking_of(const struct rsc_gpu_loss *loss) {
    return (struct rsc_taking){.line = loss->line,
                               .by = loss->by,
                               .from = loss->from,
                               .writer = loss->writer,
                               .victim = loss->victim,
                               .written = loss->written,
                               .used = loss->used,
                               .reference = loss->reference};
}

/* A reference first finds that its line is gone, and then takes it from others. */
void rsc_gpu_count_losses(struct rsc_sharing *sharing, const struct rsc_gpu_outcomes *outcomes,
                          const uint64_t *objects) {
    const struct rsc_gpu_loss *taken = outcomes->taken, *returned = outcomes->returned;
    const struct rsc_gpu_loss *taken_end = taken + outcomes->taken_count;
    const struct rsc_gpu_loss *returned_end = returned + outcomes->returned_count;
    while (taken < taken_end || returned < returned_end) {
        if (taken == taken_end || (returned < returned_end && returned->reference <= taken->reference)) {
            rsc_sharing_miss(sharing, returned->line, returned->by, returned->from, (int)returned->is_false);
            returned++;
            continue;
        }
        const struct rsc_taking taking = taking_of(taken++);
        rsc_sharing_take(sharing, &taking);
        rsc_sharing_name(sharing, objects);
    }
}
