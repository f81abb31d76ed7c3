/*
 * sampler_logs.c - parallel order: the logs between threads, and when they are read.
 *
 * A thread's log is a ring that only it writes. It has one reader for the shared set
 * (the holder of the lock) and one for every thread with private samples, each with its
 * own cursor. Entries are pairs of atomic words; a reader that was overtaken detects it
 * from the head, and discards what it read.
 */
#include <sched.h>

#include "base/cpu.h"
#include "runtime/sampler/sampler_state.h"

#define AHEAD 8u /* entries of a log that are prefetched */

/* What a thread waits for is mostly there within microseconds: sooner than a system call returns. */
static void rest(uint32_t *tries) {
    rsc_cpu_pause();
    if (++*tries % 128 == 0) sched_yield();
}

void rsc_sampler_lock(struct rsc_sampler *sampler) {
    uint32_t tries = 0;
    if (!is_parallel(sampler)) return;
    while (__atomic_exchange_n(&sampler->shared_lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&sampler->shared_lock, __ATOMIC_RELAXED)) rest(&tries);
}

void rsc_sampler_unlock(struct rsc_sampler *sampler) {
    if (is_parallel(sampler)) __atomic_store_n(&sampler->shared_lock, 0, __ATOMIC_RELEASE);
}

void rsc_sampler_hold_alone(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    if (!is_parallel(sampler) || slots_in_use(sampler) > 1) return;
    rsc_sampler_lock(sampler);
    thread->alone = 1;
    /* what it used without holding the lock went to its log */
    if (has_shared_stack(sampler)) rsc_sampler_merge_log(sampler, thread);
}

void rsc_sampler_let_go(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    if (!thread->alone) return;
    thread->alone = 0;
    if (sampler->options.models & RSC_MODEL_SHARED) rsc_sampler_publish_epoch(sampler);
    rsc_sampler_unlock(sampler);
}

void rsc_sampler_publish_epoch(struct rsc_sampler *sampler) {
    const struct rsc_active_samples *set = &sampler->shared;
    __atomic_store_n(&sampler->shared_skips, set->skips, __ATOMIC_RELAXED);
    __atomic_store_n(&sampler->shared_epoch, (uint64_t)set->renumberings << 32 | set->now, __ATOMIC_RELEASE);
}

static void fetch(const struct rsc_active_samples *set, uint64_t line) {
    uint64_t hash = rsc_active_hash(set->hash_key, line);
    if (!rsc_active_ignores(set, hash)) rsc_active_prefetch(set, hash);
}

/* ---- keeping step ---- */

#define AWAITED_MOST 1024u  /* references: over longer stretches threads keep step by themselves */
#define AWAITED_SLOTS 64u   /* with more threads than that, looking at all takes too long */

#define HELD_UP_TICKS 60000u /* the other may not run, or be in a signal handler that waits for this one */

void rsc_sampler_wait_for_busy(const struct rsc_sampler *sampler) {
    const uint64_t began = rsc_sampler_ticks();
    uint32_t tries = 0;
    while (rsc_sampler_is_held_up(sampler) && rsc_sampler_ticks() - began < HELD_UP_TICKS) rest(&tries);
}

/*
 * Whether a thread has to wait for another one to make as many references since all logs were last read. Of two
 * that wait for each other, the one with the lower number goes on.
 */
static int is_behind(const struct sampler_thread *thread, const struct sampler_thread *other, uint64_t made) {
    const uint64_t references = load_relaxed(&other->references);
    if (other == thread || !__atomic_load_n(&other->taken, __ATOMIC_RELAXED)) return 0;
    if (__atomic_load_n(&other->parked, __ATOMIC_RELAXED) != PARK_NOT) return 0;
    if (other > thread && __atomic_load_n(&other->awaits, __ATOMIC_RELAXED)) return 0;
    if (load_relaxed(&other->stalled) == references + 1) return 0;
    /* one more, for it counts a reference before it reports it */
    return references - load_relaxed(&other->merged_at) <= made;
}

static int some_are_behind(const struct rsc_sampler *sampler, const struct sampler_thread *thread, uint64_t made) {
    for (uint32_t i = 0; i < slots_in_use(sampler); i++)
        if (is_behind(thread, &sampler->threads[i], made)) return 1;
    return 0;
}

/* Nobody has come further for long: whoever is at the same place as then is not waited for again until it is not. */
static void note_stalled(const struct rsc_sampler *sampler, const struct sampler_thread *thread,
                         const uint64_t before[AWAITED_SLOTS], uint32_t slots) {
    for (uint32_t i = 0; i < slots; i++) {
        struct sampler_thread *other = &sampler->threads[i];
        if (other != thread && load_relaxed(&other->references) == before[i])
            store_relaxed(&other->stalled, before[i] + 1);
    }
}

void rsc_sampler_await(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t made) {
    const uint32_t slots = slots_in_use(sampler);
    uint64_t before[AWAITED_SLOTS], began = 0;
    uint32_t tries = 0;
    if (!sampler->options.in_step || thread->alone || slots < 2 || slots > AWAITED_SLOTS || made > AWAITED_MOST) return;
    while (some_are_behind(sampler, thread, made)) {
        if (!began) {
            began = rsc_sampler_ticks();
            for (uint32_t i = 0; i < slots; i++) before[i] = load_relaxed(&sampler->threads[i].references);
            __atomic_store_n(&thread->awaits, 1, __ATOMIC_RELAXED);
            __atomic_add_fetch(&sampler->awaited, 1, __ATOMIC_RELAXED);
        } else if (rsc_sampler_ticks() - began > sampler->options.await_ticks) {
            note_stalled(sampler, thread, before, slots);
            break;
        }
        rsc_sampler_is_alive(thread);
        rest(&tries);
    }
    if (!began) return;
    __atomic_sub_fetch(&sampler->awaited, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&thread->awaits, 0, __ATOMIC_RELAXED);
}

/* ---- writing ---- */

/* Reads a log for waiting threads, which cannot. */
static void read_for_parked(struct rsc_sampler *sampler, const struct sampler_thread *writer) {
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        struct sampler_thread *other = &sampler->threads[i];
        uint32_t waiting = PARK_WAITING;
        if (other == writer || !__atomic_load_n(&other->reading, __ATOMIC_RELAXED)) continue;
        if (!__atomic_compare_exchange_n(&other->parked, &waiting, PARK_BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        rsc_sampler_read_logs(sampler, other);
        __atomic_store_n(&other->parked, PARK_WAITING, __ATOMIC_RELEASE);
    }
}

static uint64_t pack_place(const struct rsc_sampler *sampler, const struct rsc_sample_place *place) {
    uint64_t where = sampler->options.places_have_threads ? place->context : place->pc & LOW_48;
    return where | (uint64_t)place->first << 48 | (uint64_t)place->last << 56;
}

/* In a running program the time; on traces the order of calls. */
static uint64_t now(struct rsc_sampler *sampler) {
    return sampler->options.in_step ? rsc_sampler_ticks() : __atomic_add_fetch(&sampler->told, 1, __ATOMIC_RELAXED);
}

static void append(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line, uint64_t told,
                   const struct rsc_sample_place *place) {
    uint64_t size = sampler->options.log_entries, head = load_relaxed(&thread->log_head);
    if (has_shared_stack(sampler) && head - load_relaxed(&thread->shared_cursor) >= size / 2) {
        rsc_sampler_lock(sampler);
        rsc_sampler_merge_log(sampler, thread);
        rsc_sampler_unlock(sampler);
    }
    if (head % (size / 4) == 0 && sampler->options.models & RSC_MODEL_PRIVATE) read_for_parked(sampler, thread);
    struct log_entry *entry = &thread->log[head & (size - 1)];
    /* a reader that sees one of these words also sees the head from when it was written, or a later one */
    __atomic_store_n(&entry->line, line, __ATOMIC_RELEASE);
    __atomic_store_n(&entry->told, told, __ATOMIC_RELEASE);
    __atomic_store_n(&entry->place, pack_place(sampler, place), __ATOMIC_RELEASE);
    __atomic_store_n(&entry->when, (now(sampler) & LOW_48) | (uint64_t)(thread->identity >> 16) << 48,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&entry->at, (load_relaxed(&thread->references) & LOW_48) | (uint64_t)thread->identity << 48,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&thread->log_head, head + 1, __ATOMIC_RELEASE);
}

/* Whether the shared set needs the line, by its last published state. */
static int is_for_shared(const struct rsc_sampler *sampler, uint64_t hash) {
    return rsc_active_level_of(hash) >= __atomic_load_n(&sampler->shared_skips, __ATOMIC_RELAXED);
}

void rsc_sampler_tell(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line, int is_write,
                      const struct rsc_sample_place *place) {
    uint64_t hash = rsc_active_hash(sampler->hash_key, line);
    int shared = has_shared_stack(sampler) && __atomic_load_n(&sampler->shared_active, __ATOMIC_RELAXED) &&
                 is_for_shared(sampler, hash);
    int private_ones = is_write && rsc_sampler_is_for_others(sampler, thread, line, hash);
    if (!shared && !private_ones) return;
    const int in_step = sampler->options.in_step != 0;
    const uint64_t epoch = in_step ? thread->known_epoch : load_relaxed(&sampler->shared_epoch);
    uint64_t now = (in_step ? thread->known_turn : load_relaxed(&sampler->turn)) << 1 | (uint64_t)private_ones;
    struct recent_line *recent = &thread->recent[(line * 0x9E3779B97F4A7C15ull) >> 52];
    if (recent->line == line && recent->told >= now && recent->told >> 1 == now >> 1) return;
    *recent = (struct recent_line){line, now};
    append(sampler, thread, line, epoch << 1 | (uint64_t)private_ones, place);
}

/* ---- private stacks ---- */

static void take(const struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line,
                 const struct log_entry *entry) {
    const int is_context = sampler->options.places_have_threads != 0;
    uint32_t sample = rsc_active_take(&thread->set, line);
    if (sample == RSC_NO_SAMPLE) return;
    const uint64_t when = entry->when << 16, place = entry->place; /* of 48 bits: only differences count */
    if (thread->facts[sample].taker.is_known && (int64_t)(when - thread->facts[sample].taken_when) >= 0) return;
    thread->facts[sample].taken_when = when;
    thread->facts[sample].taker = (struct rsc_sample_taker){.pc = is_context ? 0 : place & LOW_48,
                                                            .context = is_context ? (uint32_t)place : 0,
                                                            .by = (uint32_t)(entry->at >> 48 | entry->when >> 48 << 16),
                                                            .first = (uint8_t)(place >> 48),
                                                            .last = (uint8_t)(place >> 56),
                                                            .is_known = 1};
}

/*
 * Reads one log up to its head. A thread that was not scheduled may be a whole log
 * behind: it continues with what is left. Its samples stay: they mostly miss writes to
 * other lines, and late writes are usual here; pruning them would be worse, as it would
 * mainly hit long distances.
 */
static void read_log(struct rsc_sampler *sampler, struct sampler_thread *thread, struct sampler_thread *writer,
                     uint64_t *cursor, uint64_t *taken) {
    uint64_t size = sampler->options.log_entries, head = __atomic_load_n(&writer->log_head, __ATOMIC_ACQUIRE);
    for (; *cursor < head; ++*cursor) {
        const struct log_entry *entry = &writer->log[*cursor & (size - 1)];
        uint64_t line = __atomic_load_n(&entry->line, __ATOMIC_ACQUIRE);
        uint64_t told = __atomic_load_n(&entry->told, __ATOMIC_ACQUIRE);
        const struct log_entry copy = {.at = __atomic_load_n(&entry->at, __ATOMIC_ACQUIRE),
                                       .place = __atomic_load_n(&entry->place, __ATOMIC_ACQUIRE),
                                       .when = __atomic_load_n(&entry->when, __ATOMIC_ACQUIRE)};
        uint64_t last = load_relaxed(&writer->log_head);
        if (last - *cursor >= size) {
            add_own(&thread->lost_logs, 1);
            *cursor = last - size / 2;
            continue;
        }
        if (!(told & 1)) continue;
        if (*cursor + AHEAD < head)
            fetch(&thread->set, load_relaxed(&writer->log[(*cursor + AHEAD) & (size - 1)].line));
        ++*taken;
        take(sampler, thread, line, &copy);
    }
}

void rsc_sampler_read_logs(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    uint64_t taken = 0;
    for (uint32_t i = 0; thread->set.active && i < slots_in_use(sampler); i++) {
        struct sampler_thread *writer = &sampler->threads[i];
        if (writer == thread) continue;
        read_log(sampler, thread, writer, &thread->cursor[i], &taken);
    }
    /* a line that was taken may come back to this thread, and then be written again: it must be reported again */
    if (taken) __atomic_add_fetch(&sampler->turn, 1, __ATOMIC_RELAXED);
}

void rsc_sampler_skip_logs(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    for (uint32_t i = 0; i < slots_in_use(sampler); i++)
        thread->cursor[i] = __atomic_load_n(&sampler->threads[i].log_head, __ATOMIC_ACQUIRE);
}

/* ---- the shared stack ---- */

/* The epoch in which an entry was reported, by its current number. */
static uint32_t epoch_now(const struct rsc_active_samples *set, uint64_t told) {
    uint32_t renumberings = (uint32_t)(told >> 32) & 0x7fffffff, epoch = (uint32_t)told;
    if (renumberings == (set->renumberings & 0x7fffffff)) return epoch;
    /* An entry from two renumberings ago is as old as one that was never reported. */
    int one_ago = renumberings == ((set->renumberings - 1) & 0x7fffffff);
    return one_ago && epoch < set->epochs ? set->renumbered[epoch] : 0;
}

/* Reads a log up to what its thread did at `until` of its references. */
static void merge_until(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t until) {
    uint64_t size = sampler->options.log_entries, head = __atomic_load_n(&thread->log_head, __ATOMIC_ACQUIRE);
    struct rsc_active_samples *set = &sampler->shared;
    uint64_t cursor = load_relaxed(&thread->shared_cursor);
    for (; cursor != head; cursor++) {
        const struct log_entry *entry = &thread->log[cursor & (size - 1)];
        uint64_t line = load_relaxed(&entry->line);
        if ((load_relaxed(&entry->at) & LOW_48) > until) break;
        if (set->active && cursor + AHEAD < head)
            fetch(set, load_relaxed(&thread->log[(cursor + AHEAD) & (size - 1)].line));
        uint32_t epoch = epoch_now(set, load_relaxed(&entry->told) >> 1), sample;
        if (!epoch || !set->active) continue; /* before any sample */
        while ((sample = rsc_active_use(set, line, epoch)) != RSC_NO_SAMPLE) {
            /* used while its sample began: counts as before it */
            if (set->sample_epoch[sample] >= epoch) break;
            if (!rsc_sampler_touch_shared(sampler, sample, thread, NULL)) break;
        }
    }
    store_relaxed(&thread->shared_cursor, cursor);
    rsc_sampler_publish_epoch(sampler);
}

static int has_news(const struct sampler_thread *thread) {
    return load_relaxed(&thread->log_head) != load_relaxed(&thread->shared_cursor);
}

void rsc_sampler_merge_log(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    merge_until(sampler, thread, UINT64_MAX);
}

static void merge_all(struct rsc_sampler *sampler) {
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        struct sampler_thread *thread = &sampler->threads[i];
        store_relaxed(&thread->merged_at, load_relaxed(&thread->references));
        if (has_news(thread)) merge_until(sampler, thread, UINT64_MAX);
    }
}

void rsc_sampler_merge_in_step(struct rsc_sampler *sampler, struct sampler_thread *thread, int begins) {
    if (begins || thread->woke || !sampler->options.in_step) {
        thread->woke = 0;
        merge_all(sampler);
        return;
    }
    const uint64_t passed = load_relaxed(&thread->references) - load_relaxed(&thread->merged_at);
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) {
        struct sampler_thread *other = &sampler->threads[i];
        if (!has_news(other)) continue;
        merge_until(sampler, other, other == thread ? UINT64_MAX : load_relaxed(&other->merged_at) + passed);
    }
}
