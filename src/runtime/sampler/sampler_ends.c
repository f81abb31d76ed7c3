/* sampler_ends.c - which samples are pruned, and what becomes of samples that end: their records; see sampler.h. */
#include "runtime/sampler/sampler_state.h"

/*
 * Periods that a sample waits before it may be pruned. The 1 % that may be pruned cost
 * 0.16 references of analysis per reference of the program; at 16, `pipeline` of
 * bench/programs/multicore keeps the misses that its 99th percentile of 6 lines cuts off.
 */
#define PRUNE_PERIODS 16

/* ---- pruning ---- */

static uint32_t age_bin(uint64_t age) {
    if (age < 16) return (uint32_t)age;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(age);
    uint32_t bin = (octave - 3) * 16 + (uint32_t)(age >> (octave - 4) & 15);
    return bin < AGE_BINS ? bin : AGE_BINS - 1;
}
static uint64_t greatest_in_bin(uint32_t bin) {
    if (bin < 16) return bin;
    uint32_t octave = bin / 16 + 3;
    return ((16ull + bin % 16 + 1) << (octave - 4)) - 1;
}

/* The references that a sample of this weight stands for, beside those dropped. */
static double stands_for(const struct rsc_sampler *sampler, double weight, int kept) {
    return kept ? weight * sampler->options.burst_rounds : weight;
}

/*
 * Pruned samples count with the age they had reached: without them, the quantile
 * would fall with every one of them, and eat its way down the ages.
 */
static void count_age(struct ages *all, uint64_t age, double weight, int pruned) {
    if (pruned) __atomic_fetch_add(&all->pruned, (uint64_t)weight, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->bins[age_bin(age)], (uint64_t)weight, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->weight, (uint64_t)weight, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->ended, 1, __ATOMIC_RELAXED);
}

/* The age from which on the oldest sample may be pruned; recomputed when there are 1/16 more samples than last time. */
static uint64_t prune_limit(const struct rsc_sampler *sampler, struct ages *all) {
    uint64_t ended = load_relaxed(&all->ended), at = load_relaxed(&all->limit_at), sum = 0;
    if (ended < sampler->options.prune_after) return UINT64_MAX;
    if (at && ended - at <= at / 16) return load_relaxed(&all->limit);
    const double wanted = sampler->options.prune_quantile * (double)load_relaxed(&all->weight);
    uint32_t bin = 0;
    for (; bin + 1 < AGE_BINS; bin++) {
        sum += load_relaxed(&all->bins[bin]);
        if ((double)sum >= wanted) break;
    }
    store_relaxed(&all->limit, greatest_in_bin(bin));
    store_relaxed(&all->limit_at, ended);
    return greatest_in_bin(bin);
}

/*
 * Whether to prune the oldest sample, as another one begins: it has waited for longer
 * than 99 % (prune_quantile) of all. Ages, not distances: it is the wait that costs
 * analysis mode, and the distance of a sample whose thread is blocked does not grow. While
 * there is room, this is strict and pruned samples stand for at most 1 % of all references,
 * which is what they may widen error bars by: short waits end first, so until a program has
 * come round once, *all* of its long ones are longer than 99 % of those ended. Paper 000
 * prunes those; here waiting for them only costs analysis mode, until half of the places for
 * samples are taken. A sample that has not waited long is not pruned either: if 99 % of waits
 * are tiny, the rest is all there is to find, and cheap to wait for.
 */
int rsc_sampler_is_due(const struct rsc_sampler *sampler, struct ages *all, uint64_t born, double weight, int kept,
                       uint64_t now, int crowded) {
    const double pruned = (double)load_relaxed(&all->pruned) + stands_for(sampler, weight, kept);
    if (sampler->options.prune_quantile >= 1 || now <= born) return 0;
    if ((double)(now - born) < PRUNE_PERIODS * weight || now - born <= prune_limit(sampler, all)) return 0;
    return crowded || pruned <= (1 - sampler->options.prune_quantile) * (double)now;
}

/* ---- ending samples ---- */

/* What becomes of a sample whose line was taken, or that no level of its stack reaches back to. */
static uint32_t adapted(uint32_t outcome, int taken, int too_far) {
    if (taken && outcome == RSC_SAMPLE_REUSED) return RSC_SAMPLE_INVALIDATED;
    if (outcome == RSC_SAMPLE_DROPPED || outcome == RSC_SAMPLE_KEPT) return outcome;
    if (taken && outcome != RSC_SAMPLE_LAST_TOUCH) return RSC_SAMPLE_TAKEN;
    return outcome == RSC_SAMPLE_REUSED && too_far ? RSC_SAMPLE_PRUNED : outcome;
}

static void emit_at(struct rsc_sampler *sampler, uint32_t model, const struct rsc_active_samples *set, uint32_t sample,
                    const struct sample_facts *facts, uint32_t outcome, struct rsc_active_distance distance,
                    uint64_t interval, const struct rsc_sample_place *reuse) {
    uint64_t now = everybodys_references(sampler);
    if (outcome != RSC_SAMPLE_LAST_TOUCH && outcome != RSC_SAMPLE_DROPPED && outcome != RSC_SAMPLE_KEPT)
        count_age(sampler->ages[model == RSC_MODEL_SHARED], now > facts->born ? now - facts->born : 0,
                  stands_for(sampler, facts->weight, facts->kept), outcome != RSC_SAMPLE_REUSED);
    struct rsc_sample_record record = {
        .model = model,
        .outcome = adapted(outcome, rsc_active_is_taken(set, sample), distance.too_far),
        .use = facts->use,
        .line = set->sample_line[sample],
        .distance = distance.lines,
        .variance = distance.variance,
        .interval = interval,
        .weight = facts->weight,
        .burst = facts->burst,
        .kept = facts->kept,
    };
    if (reuse) record.reuse = *reuse;
    if (rsc_active_is_taken(set, sample)) record.taker = facts->taker;
    if (model == RSC_MODEL_PRIVATE) record.taker.from = facts->by->identity;
    sampler->options.emit(sampler->options.emit_context, &record);
}

void rsc_sampler_emit(struct rsc_sampler *sampler, uint32_t model, const struct rsc_active_samples *set,
                      uint32_t sample, const struct sample_facts *facts, uint32_t outcome, uint64_t interval,
                      const struct rsc_sample_place *reuse) {
    struct rsc_active_distance distance = {0};
    if (model == RSC_MODEL_PRIVATE || has_shared_stack(sampler)) distance = rsc_active_distance(set, sample);
    emit_at(sampler, model, set, sample, facts, outcome, distance, interval, reuse);
}

/* Publishes which lines the thread's set does not need. */
void rsc_sampler_tell_skips(struct sampler_thread *thread) {
    if (__atomic_load_n(&thread->skips, __ATOMIC_RELAXED) != thread->set.skips)
        __atomic_store_n(&thread->skips, thread->set.skips, __ATOMIC_RELAXED);
}

void rsc_sampler_tell_oldest(struct sampler_thread *thread) {
    const struct sample_facts *facts = &thread->facts[thread->set.oldest];
    store_relaxed(&thread->oldest_weight, thread->set.active ? (uint64_t)facts->weight << 1 | facts->kept : 0);
    store_relaxed(&thread->oldest, thread->set.active ? facts->born + 1 : 0);
}

void rsc_sampler_tell_shared_oldest(struct rsc_sampler *sampler) {
    const struct rsc_active_samples *set = &sampler->shared;
    store_relaxed(&sampler->shared_oldest, set->active ? sampler->shared_facts[set->oldest].born + 1 : 0);
}

/* When the oldest sample that is neither kept nor dropped must be. */
void rsc_sampler_tell_due(const struct rsc_active_samples *set, const struct sample_facts *facts, uint32_t *unjudged,
                          uint64_t *due) {
    while (*unjudged != RSC_NO_SAMPLE && !facts[*unjudged].patience) *unjudged = set->newer[*unjudged];
    uint64_t when = *unjudged == RSC_NO_SAMPLE ? UINT64_MAX : facts[*unjudged].born + facts[*unjudged].patience;
    if (load_relaxed(due) != when) store_relaxed(due, when);
}

void rsc_sampler_end_private(struct rsc_sampler *sampler, struct sampler_thread *thread, uint32_t sample,
                             uint32_t outcome, const struct rsc_sample_place *reuse) {
    rsc_sampler_emit(sampler, RSC_MODEL_PRIVATE, &thread->set, sample, &thread->facts[sample], outcome,
                     load_relaxed(&thread->references) - thread->facts[sample].own, reuse);
    __atomic_sub_fetch(&sampler->filter[filter_of(thread->set.sample_line[sample])], 1, __ATOMIC_RELAXED);
    if (thread->unjudged == sample) thread->unjudged = thread->set.newer[sample];
    rsc_active_end(&thread->set, sample);
    rsc_sampler_tell_due(&thread->set, thread->facts, &thread->unjudged, &thread->due);
    rsc_sampler_tell_skips(thread);
    rsc_sampler_tell_oldest(thread);
    if (thread->set.active) return;
    __atomic_store_n(&thread->reading, 0, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&sampler->readers, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&sampler->active, 1, __ATOMIC_RELAXED);
}

/* The sample has been passed on: it is forgotten. */
static void forget_shared(struct rsc_sampler *sampler, uint32_t sample) {
    struct rsc_active_samples *set = &sampler->shared;
    __atomic_sub_fetch(&sampler->filter[filter_of(set->sample_line[sample])], 1, __ATOMIC_RELAXED);
    if (sampler->shared_unjudged == sample) sampler->shared_unjudged = set->newer[sample];
    rsc_active_end(set, sample);
    rsc_sampler_tell_due(set, sampler->shared_facts, &sampler->shared_unjudged, &sampler->shared_due);
    __atomic_store_n(&sampler->shared_active, set->active, __ATOMIC_RELAXED);
    rsc_sampler_tell_shared_oldest(sampler);
    if (!set->active) __atomic_sub_fetch(&sampler->active, 1, __ATOMIC_RELAXED);
}

void rsc_sampler_end_shared(struct rsc_sampler *sampler, uint32_t sample, uint32_t outcome,
                            const struct rsc_sample_place *reuse) {
    const struct sample_facts *facts = &sampler->shared_facts[sample];
    if (facts->is_touched)
        emit_at(sampler, RSC_MODEL_SHARED, &sampler->shared, sample, facts, RSC_SAMPLE_REUSED, facts->touched,
                facts->touched_interval, &facts->toucher);
    else
        rsc_sampler_emit(sampler, RSC_MODEL_SHARED, &sampler->shared, sample, facts, outcome,
                         everybodys_references(sampler) - facts->born, reuse);
    forget_shared(sampler, sample);
}

/*
 * Others made more references, or fewer, than they do in the time of this thread's, for they had samples to begin and
 * end, or had not: of their lines as many are counted as go with that time.
 */
static void end_far(struct rsc_sampler *sampler, uint32_t sample, const struct rsc_beside *beside,
                    const struct rsc_sample_place *reuse) {
    const struct sample_facts *facts = &sampler->shared_facts[sample];
    struct rsc_active_distance distance = rsc_active_distance(&sampler->shared, sample);
    const uint64_t made = everybodys_analysed(sampler) - facts->analysed;
    const double share = made > beside->interval ? beside->others / (double)(made - beside->interval) : 0;
    if (distance.lines > beside->distance && share > 0.125 && share < 8 &&
        facts->parks == load_relaxed(&sampler->parks))
        distance.lines = beside->distance + (uint64_t)((double)(distance.lines - beside->distance) * share + 0.5);
    emit_at(sampler, RSC_MODEL_SHARED, &sampler->shared, sample, facts, RSC_SAMPLE_REUSED, distance,
            everybodys_references(sampler) - facts->born, reuse);
    forget_shared(sampler, sample);
}

void rsc_sampler_end_beside(struct rsc_sampler *sampler, uint32_t sample, const struct rsc_beside *beside,
                            const struct rsc_sample_place *reuse) {
    if (beside->others > 0 && sampler->shared_facts[sample].is_touched) {
        rsc_sampler_end_shared(sampler, sample, RSC_SAMPLE_REUSED, reuse); /* another thread was first */
        return;
    }
    if (beside->others > 0) {
        end_far(sampler, sample, beside, reuse);
        return;
    }
    emit_at(sampler, RSC_MODEL_SHARED, &sampler->shared, sample, &sampler->shared_facts[sample], RSC_SAMPLE_REUSED,
            (struct rsc_active_distance){.lines = beside->distance}, beside->interval,
            beside->is_by_other ? &beside->by : reuse);
    forget_shared(sampler, sample);
}

int rsc_sampler_touch_shared(struct rsc_sampler *sampler, uint32_t sample, const struct sampler_thread *thread,
                             const struct rsc_sample_place *place) {
    struct sample_facts *facts = &sampler->shared_facts[sample];
    if (facts->by == thread || !rsc_sampler_settles_itself(sampler, facts->by, facts->own)) {
        rsc_sampler_end_shared(sampler, sample, RSC_SAMPLE_REUSED, place);
        return 1;
    }
    if (facts->is_touched) return 0;
    struct sampler_thread *owner = &sampler->threads[facts->by - sampler->threads];
    if (!load_relaxed(&owner->touched_due))
        store_relaxed(&owner->touched_due, load_relaxed(&owner->references) + TOUCHED_LOOK);
    facts->is_touched = 1;
    facts->toucher = place ? *place : (struct rsc_sample_place){0};
    facts->touched = rsc_active_distance(&sampler->shared, sample);
    facts->touched_interval = everybodys_references(sampler) - facts->born;
    return 0;
}

void rsc_sampler_end_touched(struct rsc_sampler *sampler, struct sampler_thread *thread, int all) {
    struct rsc_active_samples *set = &sampler->shared;
    const uint64_t references = load_relaxed(&thread->references);
    uint64_t due = 0;
    for (uint32_t sample = set->active ? set->oldest : RSC_NO_SAMPLE, newer; sample != RSC_NO_SAMPLE; sample = newer) {
        const struct sample_facts *facts = &sampler->shared_facts[sample];
        newer = set->newer[sample];
        if (!facts->is_touched || facts->by != thread) continue;
        if (all || references - facts->own > BESIDE_MOST)
            rsc_sampler_end_shared(sampler, sample, RSC_SAMPLE_REUSED, NULL);
        else due = references + TOUCHED_LOOK;
    }
    store_relaxed(&thread->touched_due, due);
}
