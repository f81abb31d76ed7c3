/* first_level.c - see first_level.h. */
#include "simulate/first_level.h"

#include <stdlib.h>

#include "simulate/simulator_state.h"

struct rsc_first_level {
    struct rsc_sim *sim;
};

int rsc_first_level_new(struct rsc_first_level **out, struct rsc_sim *sim, struct rsc_error *error) {
    (void)sim;
    (void)error;
    *out = NULL;
    return 0;
}
void rsc_first_level_free(struct rsc_first_level *first) { free(first); }
int rsc_first_level_push(struct rsc_first_level *level, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                         struct rsc_error *error) {
    return rsc_hierarchy_push(&level->sim->segments[0].hierarchy, batch, first, end, error);
}
void rsc_first_level_flush(struct rsc_first_level *level) { (void)level; }
