/* sampler.c - threads, countdowns, the start of samples and the references that end them; see sampler.h. */
#include "runtime/sampler/sampler.h"

#include <sched.h>
#include <string.h>

#include "runtime/sampler/sampler_state.h"

#define PRUNED_MOST 16u /* at once */
#define PATIENCE 2      /* periods that a sample of a burst waits before it is kept or dropped */
#define BURST_GAP 32u   /* references between samples of a burst, at least in the mean */

/* ---- periods and counts ---- */

void rsc_sampler_set_period(struct rsc_sampler *sampler, double period) {
    uint64_t bits;
    period = period >= 1 ? (double)(uint64_t)period : 1;
    memcpy(&bits, &period, sizeof bits);
    store_relaxed(&sampler->period, bits);
}

int rsc_sampler_double_period(struct rsc_sampler *sampler, double period) {
    double doubled = 2 * period;
    uint64_t now, then;
    memcpy(&now, &period, sizeof now);
    memcpy(&then, &doubled, sizeof then);
    return __atomic_compare_exchange_n(&sampler->period, &now, then, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

double rsc_sampler_weight(const struct rsc_sampler *sampler, uint32_t slot) {
    return sampler->threads[slot].drawn_with;
}

/*
 * Bursts are for the pauses between them. While the oldest sample has waited for two stretches of a burst there are
 * none, and as many samples in shorter bursts say more: those of a burst are alike. Once long waits are dropped, there
 * are pauses. Two, as a burst may be anywhere in its stretch.
 */
static int has_pauses(const struct rsc_sampler *sampler, const struct sampler_thread *thread) {
    const double stretch = sampler->options.burst * thread->drawn_with;
    if (thread->drawn_with >= sampler->options.drop_from) return 1;
    uint64_t oldest = load_relaxed(&sampler->shared_oldest);
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        const uint64_t born = load_relaxed(&sampler->threads[i].oldest);
        if (born && (!oldest || born < oldest)) oldest = born;
    }
    return !oldest || (double)everybodys_references(sampler) - (double)oldest < 2 * stretch;
}

/* The next stretch: a period for one sample, or several for a burst, which is in one part of it. */
static void draw_burst(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    const struct rsc_sampler_options *options = &sampler->options;
    uint64_t bits = load_relaxed(&sampler->period);
    memcpy(&thread->drawn_with, &bits, sizeof bits);
    thread->gap = (uint64_t)thread->drawn_with;
    thread->burst_left = 1;
    thread->burst = 0;
    uint64_t parts = thread->gap / BURST_GAP;
    if (parts > options->burst_parts) parts = options->burst_parts;
    if (options->burst < 2 || parts < 2 || thread->drawn_with < options->burst_from) return;
    uint32_t burst = options->burst;
    if (options->burst_short && !has_pauses(sampler, thread)) {
        burst = options->burst_short;
        parts = parts < burst ? parts : burst;
    }
    thread->gap /= parts;
    thread->drawn_with = (double)(thread->gap * parts);
    thread->burst_left = burst;
    thread->burst = (uint32_t)__atomic_add_fetch(&sampler->bursts, 1, __ATOMIC_RELAXED) & 0xffffff;
    uint64_t part = burst * thread->gap, before = rsc_rng_below(&thread->rng, parts) * part;
    thread->left += before;
    thread->after = (parts - 1) * part - before;
}

static void draw(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    if (!thread->burst_left) draw_burst(sampler, thread);
    /* one of each stretch, anywhere in it */
    uint64_t at = 1 + rsc_rng_below(&thread->rng, thread->gap);
    thread->countdown = thread->left + at;
    thread->left = thread->gap - at;
    if (--thread->burst_left) return;
    thread->left += thread->after;
    thread->after = 0;
}

uint64_t rsc_sampler_countdown(const struct rsc_sampler *sampler, uint32_t slot) {
    return sampler->threads[slot].countdown;
}

void rsc_sampler_pass(struct rsc_sampler *sampler, uint32_t slot, uint64_t count) {
    struct sampler_thread *thread = &sampler->threads[slot];
    thread->countdown -= count;
    add_own(&thread->references, count);
    if (!is_parallel(sampler)) sampler->all_references += count;
}

void rsc_sampler_get_counts(const struct rsc_sampler *sampler, struct rsc_sampler_counts *counts) {
    *counts =
        (struct rsc_sampler_counts){load_relaxed(&sampler->ended_references), load_relaxed(&sampler->ended_analysed),
                                    load_relaxed(&sampler->ended_samples), 0, load_relaxed(&sampler->ended_lost)};
    uint64_t bits = load_relaxed(&sampler->period);
    memcpy(&counts->period, &bits, sizeof bits);
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        const struct sampler_thread *thread = &sampler->threads[i];
        counts->references += load_relaxed(&thread->references);
        counts->analysed += load_relaxed(&thread->analysed);
        counts->samples += load_relaxed(&thread->samples);
        counts->lost_logs += load_relaxed(&thread->lost_logs);
    }
}

/* ---- bursts ---- */

static int is_kept(const struct rsc_sampler *sampler, uint32_t burst) {
    const uint32_t rounds = sampler->options.burst_rounds ? sampler->options.burst_rounds : 1;
    uint64_t drawn = rsc_active_hash(rsc_active_key(sampler->options.seed), burst / rounds);
    return burst % rounds == (drawn >> 32) % rounds;
}

static void judge_private(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t now) {
    while (now >= load_relaxed(&thread->due)) {
        uint32_t sample = thread->unjudged;
        struct sample_facts *facts = &thread->facts[sample];
        if (!is_kept(sampler, facts->burst)) {
            rsc_sampler_end_private(sampler, thread, sample, RSC_SAMPLE_DROPPED, NULL);
            continue;
        }
        facts->patience = 0;
        facts->kept = 1;
        rsc_sampler_emit(sampler, RSC_MODEL_PRIVATE, &thread->set, sample, facts, RSC_SAMPLE_KEPT, 0, NULL);
        rsc_sampler_tell_due(&thread->set, thread->facts, &thread->unjudged, &thread->due);
        rsc_sampler_tell_oldest(thread);
    }
}

static void judge_shared(struct rsc_sampler *sampler, uint64_t now) {
    while (now >= load_relaxed(&sampler->shared_due)) {
        uint32_t sample = sampler->shared_unjudged;
        struct sample_facts *facts = &sampler->shared_facts[sample];
        if (facts->is_touched || !is_kept(sampler, facts->burst)) {
            rsc_sampler_end_shared(sampler, sample, RSC_SAMPLE_DROPPED, NULL);
            continue;
        }
        facts->patience = 0;
        facts->kept = 1;
        rsc_sampler_emit(sampler, RSC_MODEL_SHARED, &sampler->shared, sample, facts, RSC_SAMPLE_KEPT, 0, NULL);
        rsc_sampler_tell_due(&sampler->shared, sampler->shared_facts, &sampler->shared_unjudged, &sampler->shared_due);
    }
    rsc_sampler_publish_epoch(sampler);
}

void rsc_sampler_judge(struct rsc_sampler *sampler, uint32_t slot) {
    struct sampler_thread *thread = &sampler->threads[slot], *other;
    uint32_t waiting = PARK_WAITING;
    const uint64_t touched_due = load_relaxed(&thread->touched_due);
    if (touched_due && load_relaxed(&thread->references) >= touched_due) {
        rsc_sampler_lock(sampler);
        rsc_sampler_end_touched(sampler, thread, 0);
        rsc_sampler_unlock(sampler);
    }
    if (sampler->options.burst < 2) return;
    uint64_t now = everybodys_references(sampler);
    judge_private(sampler, thread, now);
    if (now >= load_relaxed(&sampler->shared_due)) {
        rsc_sampler_lock(sampler);
        judge_shared(sampler, now);
        rsc_sampler_unlock(sampler);
    }
    thread->other = (thread->other + 1) % slots_in_use(sampler);
    other = &sampler->threads[thread->other];
    if (other == thread || now < load_relaxed(&other->due)) return;
    if (!__atomic_compare_exchange_n(&other->parked, &waiting, PARK_BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    judge_private(sampler, other, now);
    __atomic_store_n(&other->parked, PARK_WAITING, __ATOMIC_RELEASE);
}

/* ---- beginning samples ---- */

/* Facts of a sample that begins now. */
static struct sample_facts facts_of(const struct rsc_sampler *sampler, const struct sampler_thread *thread,
                                    const struct rsc_sample_place *place) {
    return (struct sample_facts){.use = *place,
                                 .born = everybodys_references(sampler),
                                 .own = load_relaxed(&thread->references),
                                 .analysed = everybodys_analysed(sampler),
                                 .parks = load_relaxed(&sampler->parks),
                                 .by = thread,
                                 .weight = thread->drawn_with,
                                 .patience = thread->burst && thread->drawn_with >= sampler->options.drop_from
                                                 ? (uint64_t)(PATIENCE * thread->drawn_with)
                                                 : 0,
                                 .burst = thread->burst};
}

/* The table of active samples is nearly full: later samples are drawn less often, and weigh more. */
static void back_off(struct rsc_sampler *sampler, const struct sampler_thread *thread,
                     const struct rsc_active_samples *set) {
    uint64_t begun = load_relaxed(&sampler->ages[set == &sampler->shared]->begun), *at = &sampler->backed_off;
    if (set->active < set->samples_most - set->samples_most / 4) return;
    /* each time to half as many as there is still room for */
    if (load_relaxed(at) && begun - load_relaxed(at) < set->samples_most / 8) return;
    if (rsc_sampler_double_period(sampler, thread->drawn_with)) store_relaxed(at, begun);
}

static int is_crowded(const struct rsc_active_samples *set) { return set->active > set->samples_most / 2; }

/* The thread with the oldest private sample; NULL: none, or all that have one run and were asked to prune it. */
static struct sampler_thread *oldest_of_all(const struct rsc_sampler *sampler) {
    struct sampler_thread *oldest = NULL;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        struct sampler_thread *thread = &sampler->threads[i];
        uint64_t born = load_relaxed(&thread->oldest);
        if (!born || born >= least) continue;
        if (__atomic_load_n(&thread->asked, __ATOMIC_RELAXED) &&
            __atomic_load_n(&thread->parked, __ATOMIC_RELAXED) == PARK_NOT)
            continue;
        least = born;
        oldest = thread;
    }
    return oldest;
}

static void prune_own(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    if (thread->set.active) rsc_sampler_end_private(sampler, thread, thread->set.oldest, RSC_SAMPLE_PRUNED, NULL);
}

/* Prunes the oldest private sample if that is due; of a running thread, by asking it. Returns whether it did. */
static int prune_oldest(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    struct sampler_thread *owner = oldest_of_all(sampler);
    uint32_t waiting = PARK_WAITING;
    uint64_t born = owner ? load_relaxed(&owner->oldest) : 0;
    uint64_t weight = owner ? load_relaxed(&owner->oldest_weight) : 0;
    if (!born || !rsc_sampler_is_due(sampler, sampler->ages[0], born - 1, (double)(weight >> 1), weight & 1,
                                     everybodys_references(sampler), is_crowded(&thread->set)))
        return 0;
    if (owner == thread || !is_parallel(sampler)) {
        prune_own(sampler, owner);
    } else if (__atomic_compare_exchange_n(&owner->parked, &waiting, PARK_BUSY, 0, __ATOMIC_ACQUIRE,
                                           __ATOMIC_RELAXED)) {
        prune_own(sampler, owner);
        __atomic_store_n(&owner->parked, PARK_WAITING, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&owner->asked, 1, __ATOMIC_RELAXED);
    }
    return 1;
}

static void prune_private(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    __atomic_add_fetch(&sampler->ages[0]->begun, 1, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&thread->asked, 0, __ATOMIC_RELAXED)) prune_own(sampler, thread);
    for (uint32_t i = 0; i < PRUNED_MOST && prune_oldest(sampler, thread); i++) {
    }
}

static void begin_private(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line,
                          const struct rsc_sample_place *place) {
    struct rsc_active_samples *set = &thread->set;
    uint32_t sample;
    if (set->active && is_parallel(sampler)) rsc_sampler_read_logs(sampler, thread);
    prune_private(sampler, thread);
    while ((sample = rsc_active_begin(set, line)) == RSC_NO_SAMPLE)
        rsc_sampler_end_private(sampler, thread, set->oldest, RSC_SAMPLE_CENSORED, NULL);
    thread->facts[sample] = facts_of(sampler, thread, place);
    if (thread->unjudged == RSC_NO_SAMPLE) thread->unjudged = sample;
    rsc_sampler_tell_due(set, thread->facts, &thread->unjudged, &thread->due);
    __atomic_add_fetch(&sampler->filter[filter_of(line)], 1, __ATOMIC_RELAXED);
    rsc_sampler_tell_skips(thread);
    rsc_sampler_tell_oldest(thread);
    back_off(sampler, thread, set);
    if (set->active > 1) return;
    if (is_parallel(sampler)) rsc_sampler_skip_logs(sampler, thread);
    __atomic_store_n(&thread->reading, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&sampler->readers, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&sampler->active, 1, __ATOMIC_RELAXED);
}

static void begin_shared(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line,
                         const struct rsc_sample_place *place) {
    struct rsc_active_samples *set = &sampler->shared;
    uint64_t now = everybodys_references(sampler);
    uint32_t sample;
    __atomic_add_fetch(&sampler->ages[1]->begun, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < PRUNED_MOST && set->active; i++) {
        const struct sample_facts *oldest = &sampler->shared_facts[set->oldest];
        if (!rsc_sampler_is_due(sampler, sampler->ages[1], oldest->born, oldest->weight, (int)oldest->kept, now,
                                is_crowded(set)))
            break;
        rsc_sampler_end_shared(sampler, set->oldest, RSC_SAMPLE_PRUNED, NULL);
    }
    while ((sample = rsc_active_begin(set, line)) == RSC_NO_SAMPLE)
        rsc_sampler_end_shared(sampler, set->oldest, RSC_SAMPLE_CENSORED, NULL);
    sampler->shared_facts[sample] = facts_of(sampler, thread, place);
    if (sampler->shared_unjudged == RSC_NO_SAMPLE) sampler->shared_unjudged = sample;
    rsc_sampler_tell_due(set, sampler->shared_facts, &sampler->shared_unjudged, &sampler->shared_due);
    back_off(sampler, thread, set);
    __atomic_add_fetch(&sampler->filter[filter_of(line)], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&sampler->shared_active, set->active, __ATOMIC_RELAXED);
    rsc_sampler_tell_shared_oldest(sampler);
    if (set->active == 1) __atomic_add_fetch(&sampler->active, 1, __ATOMIC_RELAXED);
}

/* ---- references ---- */

/* A sample begins or ends in the thread: others stand by (rsc_sampler_stand_by()) until the reference is done. */
static void keep_others(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    if (thread->is_busy || thread->alone || !sampler->options.in_step) return;
    thread->is_busy = 1;
    __atomic_add_fetch(&sampler->busy, 1, __ATOMIC_RELAXED);
}
static void let_others(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    if (!thread->is_busy) return;
    thread->is_busy = 0;
    __atomic_sub_fetch(&sampler->busy, 1, __ATOMIC_RELAXED);
}

static void use_private(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line, int begins,
                        const struct rsc_sample_place *place) {
    struct rsc_active_samples *set = &thread->set;
    if (set->active && (begins || !rsc_active_knows(set, line))) {
        uint32_t sample = begins ? rsc_active_find(set, line) : rsc_active_use(set, line, set->now);
        rsc_sampler_tell_skips(thread);
        if (sample != RSC_NO_SAMPLE) {
            if (is_parallel(sampler)) { /* it may have been taken long ago */
                keep_others(sampler, thread);
                rsc_sampler_await(sampler, thread, load_relaxed(&thread->references) - thread->facts[sample].own);
                rsc_sampler_read_logs(sampler, thread);
                if (thread->shown) rsc_sampler_look_beside(sampler, thread, sample);
            }
            rsc_sampler_end_private(sampler, thread, sample, RSC_SAMPLE_REUSED, place);
            if (!begins && set->active) rsc_active_use(set, line, set->now);
        }
    }
    if (begins) begin_private(sampler, thread, line, place);
}

static void use_shared_now(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line, int begins,
                           const struct rsc_sample_place *place) {
    struct rsc_active_samples *set = &sampler->shared;
    const int only_find = begins || !has_shared_stack(sampler);
    if (set->active && (only_find || !rsc_active_knows(set, line))) {
        uint32_t sample = only_find ? rsc_active_find(set, line) : rsc_active_use(set, line, set->now);
        if (sample != RSC_NO_SAMPLE) {
            const struct sample_facts *facts = &sampler->shared_facts[sample];
            int ended = 1;
            if (facts->by == thread && thread->shown && thread->beside.since == facts->own)
                rsc_sampler_end_beside(sampler, sample, &thread->beside, place);
            else if (only_find) rsc_sampler_end_shared(sampler, sample, RSC_SAMPLE_REUSED, place);
            else ended = rsc_sampler_touch_shared(sampler, sample, thread, place);
            if (ended && !only_find && set->active) rsc_active_use(set, line, set->now);
        }
    }
    if (begins) begin_shared(sampler, thread, line, place);
    if (thread->alone) rsc_sampler_publish_epoch(sampler);
}

static void use_shared(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line, int begins,
                       const struct rsc_sample_place *place) {
    const int is_stack = has_shared_stack(sampler);
    if (!begins && !__atomic_load_n(&sampler->shared_active, __ATOMIC_RELAXED)) return;
    /* in parallel order only sampled lines are handled now; the rest goes to the log */
    const int at_once = !is_parallel(sampler) || thread->alone;
    if (!begins && !(at_once && is_stack) && !__atomic_load_n(&sampler->filter[filter_of(line)], __ATOMIC_RELAXED))
        return;
    if (at_once) {
        use_shared_now(sampler, thread, line, begins, place);
        return;
    }
    rsc_sampler_lock(sampler);
    uint32_t sample = rsc_active_find(&sampler->shared, line);
    const struct sample_facts *facts = sample == RSC_NO_SAMPLE ? NULL : &sampler->shared_facts[sample];
    const int is_known = facts && facts->by == thread && thread->shown && thread->beside.since == facts->own;
    if (facts && !is_known && is_stack && sampler->options.in_step) {
        rsc_sampler_unlock(sampler); /* those waited for may need it */
        keep_others(sampler, thread);
        rsc_sampler_await(sampler, thread, load_relaxed(&thread->references) - load_relaxed(&thread->merged_at));
        rsc_sampler_lock(sampler);
        sample = rsc_active_find(&sampler->shared, line);
    }
    if (begins || sample != RSC_NO_SAMPLE) {
        if (is_stack && (begins || !is_known || thread->beside.others > 0))
            rsc_sampler_merge_in_step(sampler, thread, begins || is_known);
        use_shared_now(sampler, thread, line, begins, place);
        rsc_sampler_publish_epoch(sampler);
    }
    rsc_sampler_unlock(sampler);
}

/* Sequential order: removes the line from every other stack. */
static void take_from_others(struct rsc_sampler *sampler, struct sampler_thread *writer, uint64_t line,
                             const struct rsc_sample_place *place) {
    if (sampler->readers <= writer->reading) return;
    for (uint32_t i = 0; i < sampler->slots; i++) {
        struct sampler_thread *thread = &sampler->threads[i];
        if (thread == writer || !thread->reading) continue;
        uint32_t sample = rsc_active_take(&thread->set, line);
        if (sample == RSC_NO_SAMPLE || thread->facts[sample].taker.is_known) continue;
        thread->facts[sample].taker = (struct rsc_sample_taker){
            .pc = place->pc,
            .context = place->context,
            .by = writer->identity,
            .first = place->first,
            .last = place->last,
            .is_known = 1,
        };
    }
}

void rsc_sampler_use(struct rsc_sampler *sampler, uint32_t slot, uint64_t line, int is_write,
                     const struct rsc_sample_place *place) {
    struct sampler_thread *thread = &sampler->threads[slot];
    const struct rsc_sampler_options *options = &sampler->options;
    int begins = --thread->countdown == 0;
    add_own(&thread->references, 1);
    if (!is_parallel(sampler)) sampler->all_references++;
    if (!begins && rsc_sampler_is_quiet(sampler)) return;
    struct rsc_sample_place here = *place;
    if (!options->places_have_threads) here.thread = thread->identity;
    add_own(&thread->analysed, 1);
    if (begins) keep_others(sampler, thread);
    if (options->models & RSC_MODEL_PRIVATE) use_private(sampler, thread, line, begins, &here);
    if (options->models & RSC_MODEL_SHARED) use_shared(sampler, thread, line, begins, &here);
    if (thread->alone) { /* nobody to tell */
    } else if (is_parallel(sampler)) rsc_sampler_tell(sampler, thread, line, is_write, &here);
    else if (is_write) take_from_others(sampler, thread, line, &here);
    if (begins) {
        add_own(&thread->samples, 1);
        draw(sampler, thread);
        /* threads must report lines again that they reported before: the new sample has not seen them */
        if (is_parallel(sampler)) {
            __atomic_add_fetch(&sampler->turn, 1, __ATOMIC_RELEASE);
            if (options->in_step) rsc_sampler_check_known(sampler, thread);
        }
    }
    let_others(sampler, thread);
}

/* ---- threads ---- */

uint32_t rsc_sampler_thread_begin(struct rsc_sampler *sampler, uint32_t identity) {
    uint32_t slot = 0, nobody = 0;
    while (slot < sampler->options.threads_most &&
           !__atomic_compare_exchange_n(&sampler->threads[slot].taken, &nobody, 1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        nobody = 0;
        slot++;
    }
    if (slot == sampler->options.threads_most) return RSC_NO_THREAD;
    struct sampler_thread *thread = &sampler->threads[slot];
    if (!thread->laid_out) rsc_sampler_lay_out_slot(sampler, thread);
    thread->identity = identity;
    thread->known_turn = thread->left = thread->after = 0;
    thread->burst_left = 0;
    thread->unjudged = RSC_NO_SAMPLE;
    store_relaxed(&thread->due, UINT64_MAX);
    store_relaxed(&thread->stalled, 0);
    __atomic_store_n(&thread->bound_to, 0, __ATOMIC_RELAXED);
    thread->woke = 1;
    thread->beside.since = UINT64_MAX;
    if (thread->shown) store_relaxed(&thread->shown->count, 0);
    __atomic_store_n(&thread->asked, 0, __ATOMIC_RELAXED);
    rsc_rng_seed(&thread->rng, sampler->options.seed, identity);
    draw(sampler, thread);
    uint32_t slots = slots_in_use(sampler);
    while (slots < slot + 1 &&
           !__atomic_compare_exchange_n(&sampler->slots, &slots, slot + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
    return slot;
}

/* Adds a count of an ending thread to the totals of ended threads. */
static void hand_over(uint64_t *from, uint64_t *to) {
    __atomic_add_fetch(to, load_relaxed(from), __ATOMIC_RELAXED);
    store_relaxed(from, 0);
}

void rsc_sampler_thread_end(struct rsc_sampler *sampler, uint32_t slot) {
    struct sampler_thread *thread = &sampler->threads[slot];
    rsc_sampler_sync(sampler, slot);
    while (thread->set.active)
        rsc_sampler_end_private(sampler, thread, thread->set.oldest, RSC_SAMPLE_LAST_TOUCH, NULL);
    if (is_parallel(sampler) && has_shared_stack(sampler)) {
        rsc_sampler_lock(sampler);
        rsc_sampler_merge_log(sampler, thread);
        rsc_sampler_end_touched(sampler, thread, 1);
        rsc_sampler_unlock(sampler);
    }
    hand_over(&thread->references, &sampler->ended_references);
    hand_over(&thread->analysed, &sampler->ended_analysed);
    hand_over(&thread->samples, &sampler->ended_samples);
    hand_over(&thread->lost_logs, &sampler->ended_lost);
    __atomic_store_n(&thread->taken, 0, __ATOMIC_RELEASE);
}

void rsc_sampler_sync(struct rsc_sampler *sampler, uint32_t slot) {
    struct sampler_thread *thread = &sampler->threads[slot];
    if (is_parallel(sampler) && thread->set.active) rsc_sampler_read_logs(sampler, thread);
}

void rsc_sampler_park(struct rsc_sampler *sampler, uint32_t slot) {
    __atomic_add_fetch(&sampler->parks, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&sampler->threads[slot].parked, PARK_WAITING, __ATOMIC_RELEASE);
}

void rsc_sampler_unpark(struct rsc_sampler *sampler, uint32_t slot) {
    uint32_t waiting = PARK_WAITING;
    if (__atomic_load_n(&sampler->threads[slot].parked, __ATOMIC_RELAXED) == PARK_NOT) return;
    while (!__atomic_compare_exchange_n(&sampler->threads[slot].parked, &waiting, PARK_NOT, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        waiting = PARK_WAITING;
        sched_yield();
    }
    rsc_sampler_is_alive(&sampler->threads[slot]);
    sampler->threads[slot].woke = 1;
}

void rsc_sampler_finish(struct rsc_sampler *sampler) {
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        if (!sampler->threads[i].taken) continue;
        sampler->threads[i].parked = PARK_NOT;
        rsc_sampler_thread_end(sampler, i);
    }
    while (sampler->shared.active) rsc_sampler_end_shared(sampler, sampler->shared.oldest, RSC_SAMPLE_LAST_TOUCH, NULL);
}
