/* watch_slots.c - see watch_slots.h. */
#include "runtime/watch/watch_slots.h"

void rsc_watch_slots_init(struct rsc_watch_slots *slots, struct rsc_watch_slot *slot, uint32_t count,
                          enum rsc_watch_replacement replacement, uint64_t seed, uint64_t stream) {
    slots->slot = slot;
    slots->count = count;
    slots->replacement = replacement;
    slots->samples = 0;
    rsc_rng_seed(&slots->rng, seed, stream);
    for (uint32_t i = 0; i < count; i++) slot[i] = (struct rsc_watch_slot){0, 0, 0};
}

/* The first free slot, otherwise the one armed longest ago. */
static uint32_t free_or_oldest(const struct rsc_watch_slots *slots) {
    uint32_t best = 0;
    for (uint32_t i = 0; i < slots->count; i++)
        if (slots->slot[i].armed < slots->slot[best].armed) best = i;
    return best;
}

/*
 * Gauss-Legendre nodes and weights on 0..1. Eight points integrate polynomials of
 * degree 15 exactly: up to 16 slots the only error is rounding.
 */
#define NODES 8u
static const double node[NODES] = {
    0.01985507175123188, 0.10166676129318664, 0.2372337950418355, 0.4082826787521751,
    0.5917173212478249,  0.7627662049581645,  0.8983332387068134, 0.9801449282487682,
};
static const double node_weight[NODES] = {
    0.050614268145188129, 0.11119051722668724, 0.15685332293894364, 0.18134189168918100,
    0.18134189168918100,  0.15685332293894364, 0.11119051722668724, 0.050614268145188129,
};

/*
 * All are occupied. A random order is that of independent uniform positions u: slot s
 * is replaced with probability p_s * integral over its u of the product over the others
 * of (1 - u p_j), that is, of those visited before it being kept. Each watch's chance
 * is multiplied by 1 minus that. Returns P(any is replaced).
 */
static double advance_chances(struct rsc_watch_slots *slots) {
    double all[NODES], none = 1;
    for (uint32_t k = 0; k < NODES; k++) all[k] = node_weight[k];
    for (uint32_t s = 0; s < slots->count; s++) {
        double p = 1 / (double)slots->slot[s].seen;
        none *= 1 - p;
        for (uint32_t k = 0; k < NODES; k++) all[k] *= 1 - node[k] * p;
    }
    for (uint32_t s = 0; s < slots->count; s++) {
        double p = 1 / (double)slots->slot[s].seen, before = 0;
        for (uint32_t k = 0; k < NODES; k++) before += all[k] / (1 - node[k] * p);
        slots->slot[s].chance *= 1 - p * before;
    }
    return 1 - none;
}

/*
 * The slot to replace, or RSC_NO_SLOT. The first acceptance in a random order is
 * uniform among all slots that would accept, so the order itself need not be drawn.
 */
static uint32_t visit(struct rsc_watch_slots *slots) {
    uint32_t chosen = RSC_NO_SLOT, willing = 0;
    for (uint32_t s = 0; s < slots->count; s++) {
        if (rsc_rng_below(&slots->rng, slots->slot[s].seen)) continue;
        if (rsc_rng_below(&slots->rng, ++willing) == 0) chosen = s;
    }
    return chosen;
}

struct rsc_watch_choice rsc_watch_slots_sample(struct rsc_watch_slots *slots) {
    struct rsc_watch_choice choice = {.slot = free_or_oldest(slots), .chance = 1};
    slots->samples++;
    for (uint32_t i = 0; i < slots->count; i++)
        if (slots->slot[i].armed) slots->slot[i].seen++;
    if (slots->slot[choice.slot].armed) {
        if (slots->replacement == RSC_REPLACE_RESERVOIR) {
            choice.slot = visit(slots);
            choice.chance = advance_chances(slots);
        }
        choice.replaced = choice.slot != RSC_NO_SLOT;
    }
    if (choice.slot != RSC_NO_SLOT) {
        struct rsc_watch_slot *slot = &slots->slot[choice.slot];
        slot->armed = slots->samples;
        if (!slot->seen) slot->seen = 1;
        slot->chance = choice.chance;
    }
    return choice;
}

double rsc_watch_slots_release(struct rsc_watch_slots *slots, uint32_t slot) {
    double chance = slots->slot[slot].chance;
    slots->slot[slot] = (struct rsc_watch_slot){0, 0, 0};
    return chance;
}
