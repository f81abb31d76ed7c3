/*
 * sampler_beside.c - the shared distance of a short reuse: the lines that its own thread used meanwhile, and those that
 * the other threads used beside it.
 *
 * A thread records a buffer of references, then analyses it, while others do the same at other moments. Over some
 * hundred references nobody can tell from the order of analysis what others did in that time. So each thread *shows*
 * one of its last buffers, reference by reference. A reuse takes from each thread that runs as many references in a
 * row as that one makes in the time, from anywhere in what it showed: code changes little within some microseconds. If the
 * sampled line is among them, that thread was the first to use it again.
 *
 * That is so where there are cores for all threads and the tool too, or each thread is bound to a core of its own. Otherwise
 * the system may let threads take turns at a core, and the order of analysis is the better guide.
 *
 * Lines are read while their thread may be changing them: then some are of its buffer before, which is as good.
 */
#include "runtime/sampler/sampler_state.h"

#define STALE_AWAITS 10u   /* times await_ticks after which a thread that shows no sign does not run */
#define MET_PER_REUSE 2048u /* references of others that are looked at for one reuse, at most about */
#define THREADS_MOST 64u
#define CORES_MOST 1024u

/* The references of another thread that go with a reuse. */
struct part {
    const struct sampler_thread *thread;
    uint64_t first, count;
};

void rsc_sampler_is_alive(struct sampler_thread *thread) {
    if (thread->shown) store_relaxed(&thread->shown->alive, rsc_sampler_ticks());
}

int rsc_sampler_are_apart(const struct rsc_sampler *sampler) {
    const uint32_t slots = slots_in_use(sampler);
    if (slots > THREADS_MOST || sampler->options.cores < RSC_SAMPLER_CORES_BOUND) return 0;
    uint64_t cores[CORES_MOST / 64] = {0};
    for (uint32_t i = 0; i < slots; i++) {
        const struct sampler_thread *thread = &sampler->threads[i];
        const uint32_t bound_to = __atomic_load_n(&thread->bound_to, __ATOMIC_RELAXED), core = bound_to - 1;
        if (!__atomic_load_n(&thread->taken, __ATOMIC_RELAXED)) continue;
        if (__atomic_load_n(&thread->parked, __ATOMIC_RELAXED) != PARK_NOT) continue;
        if (!bound_to || core >= CORES_MOST || cores[core / 64] >> core % 64 & 1) return 0;
        cores[core / 64] |= 1ull << core % 64;
    }
    return 1;
}

uint32_t rsc_sampler_show(struct sampler_thread *thread, uint32_t at, uint64_t line, uint64_t pc) {
    struct shown *shown = thread->shown;
    if (at >= SHOWN_MOST) return at;
    store_relaxed(&shown->line[at], line);
    store_relaxed(&shown->pc[at++], pc);
    if (load_relaxed(&shown->count) < at) store_relaxed(&shown->count, at);
    return at;
}

void rsc_sampler_keep_pace(struct sampler_thread *thread, uint64_t references, uint64_t ticks) {
    if (!thread->shown || !references || ticks >> 18) return; /* it did not run all the time */
    const uint64_t before = load_relaxed(&thread->shown->pace), now = (ticks << PACE_SHIFT) / references + 1;
    store_relaxed(&thread->shown->pace, before ? before - before / 8 + now / 8 : now);
}

/* Whether the thread runs at the moment, as far as can be known: 1, 0, or -1 if it does but has shown nothing. */
static int runs(const struct rsc_sampler *sampler, const struct sampler_thread *thread, uint64_t now) {
    if (!__atomic_load_n(&thread->taken, __ATOMIC_ACQUIRE) || !__atomic_load_n(&thread->shown, __ATOMIC_ACQUIRE))
        return 0; /* it has not begun */
    if (__atomic_load_n(&thread->parked, __ATOMIC_RELAXED) != PARK_NOT) return 0;
    const uint64_t alive = load_relaxed(&thread->shown->alive);
    if (now > alive && now - alive > STALE_AWAITS * sampler->options.await_ticks) return 0;
    return load_relaxed(&thread->shown->count) && load_relaxed(&thread->shown->pace) ? 1 : -1;
}

int rsc_sampler_settles_itself(const struct rsc_sampler *sampler, const struct sampler_thread *thread, uint64_t since) {
    return thread->shown && rsc_sampler_all_run(sampler) && load_relaxed(&thread->references) - since <= BESIDE_MOST &&
           runs(sampler, thread, rsc_sampler_ticks()) > 0;
}

/* `made` references of the thread, in those of another one by their paces; the fraction is a matter of chance. */
static uint64_t as_many(struct sampler_thread *thread, const struct sampler_thread *other, uint64_t made) {
    const double exact =
        (double)made * (double)load_relaxed(&thread->shown->pace) / (double)load_relaxed(&other->shown->pace);
    const uint64_t least = exact < SHOWN_MOST ? (uint64_t)exact : SHOWN_MOST;
    return least + ((double)rsc_rng_below(&thread->rng, 1 << 20) < (exact - (double)least) * (1 << 20));
}

/* What each thread that runs does meanwhile. Returns how many there are; -1: one has shown nothing yet. */
static int find_parts(const struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t made,
                      struct part parts[THREADS_MOST]) {
    const uint64_t now = rsc_sampler_ticks();
    uint32_t count = 0;
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        const struct sampler_thread *other = &sampler->threads[i];
        const int running = other == thread ? 0 : runs(sampler, other, now);
        if (running < 0 || (running && count == THREADS_MOST)) return -1;
        if (!running) continue;
        const uint64_t shown = load_relaxed(&other->shown->count);
        uint64_t wanted = as_many(thread, other, made);
        if (wanted > shown) wanted = shown;
        parts[count++] = (struct part){other, rsc_rng_below(&thread->rng, shown - wanted + 1), wanted};
    }
    return (int)count;
}

/* Where the line is first used in one of the parts, as a share of the time; 1: it is not. */
static double first_use(const struct part *parts, uint32_t count, uint64_t line, struct rsc_sample_place *by) {
    double first = 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct shown *shown = parts[i].thread->shown;
        const uint64_t most = (uint64_t)(first * (double)parts[i].count);
        for (uint64_t k = 0; k < most; k++) {
            if (load_relaxed(&shown->line[parts[i].first + k]) != line) continue;
            first = (double)k / (double)parts[i].count;
            *by = (struct rsc_sample_place){.pc = load_relaxed(&shown->pc[parts[i].first + k]),
                                            .thread = parts[i].thread->identity};
            break;
        }
    }
    return first;
}

/* Whether the line is met for the first time in this reuse. */
static int is_new(struct shown *own, uint64_t line) {
    uint32_t at = (uint32_t)(line * 0x9E3779B97F4A7C15ull >> 52) % MET_MOST;
    while (own->met[at].reuse == own->reuses) {
        if (own->met[at].line == line) return 0;
        at = (at + 1) % MET_MOST;
    }
    own->met[at].line = line;
    own->met[at].reuse = own->reuses;
    return 1;
}

/* Lines of the parts, up to `share` of the time, that the thread itself has not used since the sample began. */
static uint64_t count_lines(struct sampler_thread *thread, uint32_t sample, const struct part *parts, uint32_t count,
                            double share, uint64_t *references) {
    uint64_t lines = 0, looked_at = 0, looked = 0;
    const uint64_t line = thread->set.sample_line[sample];
    thread->shown->reuses++;
    for (uint32_t i = 0; i < count; i++) {
        const struct shown *shown = parts[i].thread->shown;
        const uint64_t end = parts[i].first + (uint64_t)(share * (double)parts[i].count);
        *references += end - parts[i].first;
        if (looked_at >= MET_PER_REUSE) continue;
        looked++;
        looked_at += end - parts[i].first;
        for (uint64_t k = parts[i].first; k < end; k++) {
            const uint64_t other = load_relaxed(&shown->line[k]);
            if (other != line && is_new(thread->shown, other) && !rsc_active_used_since(&thread->set, other, sample))
                lines++;
        }
    }
    return looked < count ? lines * count / looked : lines;
}

/* References of the others in the time of `made` of the thread, if all of them run; otherwise 0. */
static double count_others(const struct rsc_sampler *sampler, const struct sampler_thread *thread, uint64_t made) {
    const uint64_t now = rsc_sampler_ticks();
    double all = 0;
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        const struct sampler_thread *other = &sampler->threads[i];
        if (other == thread || !__atomic_load_n(&other->taken, __ATOMIC_ACQUIRE)) continue;
        if (runs(sampler, other, now) <= 0) return 0;
        all += (double)made * (double)load_relaxed(&thread->shown->pace) / (double)load_relaxed(&other->shown->pace);
    }
    return all;
}

void rsc_sampler_look_beside(struct rsc_sampler *sampler, struct sampler_thread *thread, uint32_t sample) {
    struct rsc_beside *beside = &thread->beside;
    struct part parts[THREADS_MOST];
    const uint64_t since = thread->facts[sample].own, made = load_relaxed(&thread->references) - since;
    beside->since = UINT64_MAX;
    rsc_sampler_is_alive(thread);
    if (thread->alone || !rsc_sampler_all_run(sampler) || made > BESIDE_FAR) return;
    if (!load_relaxed(&thread->shown->pace)) return;
    beside->others = 0;
    if (made > BESIDE_MOST) {
        beside->others = count_others(sampler, thread, made);
        beside->distance = rsc_active_distance(&thread->set, sample).lines;
        beside->interval = made;
        if (beside->others > 0) beside->since = since;
        return;
    }
    const int count = find_parts(sampler, thread, made, parts);
    if (count < 0) return;
    const struct rsc_active_distance own = rsc_active_distance(&thread->set, sample);
    const double share = first_use(parts, (uint32_t)count, thread->set.sample_line[sample], &beside->by);
    beside->is_by_other = share < 1;
    beside->interval = (uint64_t)(share * (double)made);
    beside->distance = (uint64_t)(share * (double)own.lines + 0.5) +
                       count_lines(thread, sample, parts, (uint32_t)count, share, &beside->interval);
    beside->since = since;
}
