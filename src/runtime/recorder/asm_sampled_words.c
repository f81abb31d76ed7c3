/*
 * asm_sampled_words.c - turns a rebuilt program's words in analysis mode into references
 * for the sampler (asm_sampled.c decides when).
 *
 * Most references are to lines that the thread has just used, and only change counts
 * (rsc_sampler_knows()); others wait until up to 15 more have come. Loops are recorded as
 * runs (asm_abi.h): an access with a constant increment stays in a line for some
 * iterations, and is looked up when it reaches the next.
 */
#include "runtime/recorder/asm_sampled_words.h"

#include "runtime/sampler/sampler_state.h"

#define EXPANDED 64u /* accesses at a time, for an execution that is not processed as a whole */

struct rsc_sampled_process rsc_sampled_process;
#define process rsc_sampled_process

/* ---- single references ---- */

static void begins(struct rsc_sampled_thread *state) {
    double weight = rsc_sampler_weight(process.sampler, state->slot);
    uint64_t begun = __atomic_add_fetch(&process.begun, 1, __ATOMIC_RELAXED);
    state->begun++;
    state->weight += weight;
    if (!process.planned || begun < __atomic_load_n(&process.double_at, __ATOMIC_RELAXED)) return;
    if (rsc_sampler_double_period(process.sampler, weight))
        __atomic_store_n(&process.double_at, begun + process.planned, __ATOMIC_RELAXED);
}

static void use(struct rsc_sampled_thread *state, uint64_t addr, uint64_t word) {
    uint32_t size = rsc_record_size(word);
    uint64_t last = (addr + (size ? size - 1 : 0)) >> process.shift;
    int is_write = rsc_record_type(word) == RSC_RECORD_WRITE;
    struct rsc_sample_place place = {.pc = rsc_record_pc(word)};
    for (uint64_t line = addr >> process.shift; line <= last; line++) {
        state->references++;
        if (rsc_sampler_countdown(process.sampler, state->slot) == 1) begins(state);
        else if (rsc_sampler_is_quiet(process.sampler)) {
            rsc_sampler_pass(process.sampler, state->slot, 1);
            continue;
        }
        state->analysed++;
        rsc_sample_place_bytes(&place, addr, size, line, process.shift);
        rsc_sampler_use(process.sampler, state->slot, line, is_write, &place);
    }
}

void rsc_sampled_pass(struct rsc_sampled_thread *state, uint64_t count) {
    uint64_t most = rsc_sampler_countdown(process.sampler, state->slot) - 1;
    if (count > most) count = most; /* by the references beyond accesses */
    rsc_sampler_pass(process.sampler, state->slot, count);
    state->references += count;
}

static inline int is_in_line(uint64_t addr, uint32_t bytes, uint32_t shift) {
    return (addr + bytes - 1) >> shift == addr >> shift;
}

/*
 * References with an effect wait here until some more have come, so that their places in
 * the table are prefetched together. They stay in order; anything that reads the sampler's
 * state comes after use_pending().
 */
#define PENDING_MOST 16u
struct pending {
    uint64_t addr[PENDING_MOST], word[PENDING_MOST], hash[PENDING_MOST]; /* hash: of its first line */
    uint64_t known; /* references to known lines, in addition */
    uint64_t known_before[PENDING_MOST]; /* how many there had been */
    uint32_t count;
    const struct rsc_active_samples *set; /* the one that they go to at once; NULL: none */
};

/* The set whose table is fetched early. */
static const struct rsc_active_samples *nearest_set(const struct sampler_thread *thread) {
    if (thread->set.active) return &thread->set;
    return thread->alone && process.sampler->shared.active ? &process.sampler->shared : NULL;
}

static void pass_known(struct rsc_sampled_thread *state, struct sampler_thread *thread, uint64_t count) {
    rsc_sampler_pass_known(thread, count);
    state->references += count;
    state->analysed += count;
}

/* Everything so far is reported; samples that began meanwhile come before what follows. */
static void use_pending(struct rsc_sampled_thread *state, struct sampler_thread *thread, struct pending *pending);
static inline void notice(struct rsc_sampled_thread *state, struct sampler_thread *thread, struct pending *pending) {
    if (process.one_at_a_time || !rsc_sampler_has_news(process.sampler, thread)) return;
    use_pending(state, thread, pending);
    rsc_sampler_check_known(process.sampler, thread);
}

static __attribute__((noinline)) void use_pending(struct rsc_sampled_thread *state, struct sampler_thread *thread,
                                                  struct pending *pending) {
    if (!pending->known && !pending->count) return; /* as always in sequential order */
    uint64_t passed = 0, used = 0;
    for (uint32_t i = 0; i < pending->count; i++) {
        const uint64_t line = pending->addr[i] >> process.shift;
        if (thread->alone && is_in_line(pending->addr[i], rsc_record_size(pending->word[i]), process.shift) &&
            rsc_sampler_use_alone(process.sampler, thread, line, pending->hash[i])) {
            used++;
            continue;
        }
        pass_known(state, thread, pending->known_before[i] - passed + used);
        passed = pending->known_before[i];
        used = 0;
        use(state, pending->addr[i], pending->word[i]);
    }
    pass_known(state, thread, pending->known - passed + used);
    pending->known = pending->count = 0;
    pending->set = nearest_set(thread);
    rsc_sampler_check_known(process.sampler, thread);
}

/* Whether this many more accesses begin no sample. */
static inline int are_unsampled(const struct sampler_thread *thread, const struct pending *pending, uint64_t accesses) {
    return thread->countdown > pending->known + process.lines_most * (accesses + pending->count);
}

/* An access that begins no sample: is only counted, or waits. */
static inline __attribute__((always_inline)) void see(struct rsc_sampled_thread *state, struct sampler_thread *thread,
                                                      struct pending *pending, const struct rsc_piece_access *entry,
                                                      uint64_t addr, uint32_t shift) {
    const uint64_t line = addr >> shift;
    const int is_write = rsc_record_type(entry->word) == RSC_RECORD_WRITE;
    const int in_line = is_in_line(addr, entry->size, shift);
    if (__builtin_expect(in_line && rsc_sampler_knows(thread, line, is_write), 1)) {
        pending->known++;
        return;
    }
    if (pending->count == PENDING_MOST) use_pending(state, thread, pending);
    /* which lines are ignored is a matter of chance: no branch would foresee it */
    const uint64_t hash = rsc_active_hash(process.sampler->hash_key, line);
    const uint32_t waits = !in_line | !rsc_sampler_ignores(process.sampler, thread, line, hash, is_write);
    const uint32_t at = pending->count;
    pending->hash[at] = hash;
    pending->addr[at] = addr;
    pending->known_before[at] = pending->known;
    pending->word[at] = entry->word;
    pending->count = at + waits;
    pending->known += !waits;
    if (pending->set) {
        const void *home = &pending->set->lines[rsc_active_home(pending->set, hash)];
        __builtin_prefetch(waits ? home : pending, 1);
    }
    rsc_sampler_note_known(thread, line, is_write);
}

/* Private stacks of others: reads by this thread do not affect them. */
static int reads_matter(const struct sampler_thread *thread) {
    return thread->set.active || has_shared_stack(process.sampler) ||
           __atomic_load_n(&process.sampler->shared_active, __ATOMIC_RELAXED);
}

/* ---- pieces ---- */

/* None of the piece's references begins a sample. */
static void use_piece_unsampled(struct rsc_sampled_thread *state, struct sampler_thread *thread,
                                struct pending *pending, const struct rsc_piece *piece, const uint64_t *words) {
    const struct rsc_piece_access *entry = piece->accesses, *end = entry + piece->count;
    const uint32_t shift = process.shift;
    const int reads = reads_matter(thread);
    for (; entry < end; entry++) {
        uint64_t base = words[entry->base], index = words[entry->index];
        if (__builtin_expect(!rsc_piece_reached(entry, base, index), 0)) continue;
        if (!reads && rsc_record_type(entry->word) != RSC_RECORD_WRITE) pending->known++;
        else see(state, thread, pending, entry, rsc_piece_sum(entry, base, index, 0), shift);
    }
}

/* ---- runs ---- */

#define RUN_ENTRIES_MAX 32u /* of a run whose iterations are processed together */
#define NEVER UINT32_MAX

/* Iterations from this one on in which the access stays in its line; for one across lines, only this one. */
static inline uint32_t turns_in_line(uint64_t addr, uint32_t bytes, int32_t step, uint32_t shift) {
    const uint32_t line_bytes = 1u << shift, inside = (uint32_t)addr & (line_bytes - 1), after = inside + bytes;
    if (__builtin_expect(after > line_bytes, 0)) return 1;
    if (!step) return NEVER;
    const uint32_t room = step > 0 ? line_bytes - after : inside, each = step > 0 ? (uint32_t)step : -(uint32_t)step;
    return (each & (each - 1) ? room / each : room >> __builtin_ctz(each)) + 1;
}

struct run_access {
    const struct rsc_piece_access *entry;
    uint32_t next; /* for one with a constant increment: the iteration of its next look-up */
};

/* Iterations of a run, none of which begins a sample. */
static void use_turns_unsampled(struct rsc_sampled_thread *state, struct sampler_thread *thread,
                                struct pending *pending, const struct rsc_piece *piece, const uint64_t *words,
                                uint32_t first, uint32_t turns) {
    const uint32_t shift = process.shift, end = first + turns;
    const int reads = reads_matter(thread);
    struct run_access all[RUN_ENTRIES_MAX];
    uint32_t count = 0, moving = 0, uncounted = 0, least = NEVER;
    for (uint32_t i = 0; i < piece->count; i++) {
        const struct rsc_piece_access *entry = &piece->accesses[i];
        uint64_t base = words[entry->base], index = words[entry->index];
        uint32_t moves = entry->base_moves | entry->index_moves;
        if (!moves && !rsc_piece_reached(entry, base, index)) continue;
        if (!reads && rsc_record_type(entry->word) != RSC_RECORD_WRITE) {
            uncounted++;
            continue;
        }
        moving += moves != 0;
        if (!moves) least = first;
        all[count++] = (struct run_access){entry, moves ? NEVER : first};
    }
    const uint32_t even = count - moving;
    for (uint32_t turn = first; turn < end; turn++) {
        if (!moving) { /* up to where one reaches another line */
            uint32_t quiet = least < end ? least : end;
            pending->known += (uint64_t)(quiet - turn) * (even + uncounted);
            turn = quiet;
            if (turn == end) break;
        }
        pending->known += uncounted;
        if (turn != least) {
            pending->known += even;
            for (uint32_t i = 0; i < count; i++)
                if (all[i].next == NEVER && (all[i].entry->base_moves | all[i].entry->index_moves))
                    see(state, thread, pending, all[i].entry, rsc_piece_address(all[i].entry, words, turn), shift);
            continue;
        }
        least = NEVER;
        for (uint32_t i = 0; i < count; i++) {
            struct run_access *access = &all[i];
            const struct rsc_piece_access *entry = access->entry;
            if (access->next == turn) {
                uint64_t addr = rsc_piece_address(entry, words, turn);
                uint32_t stays = turns_in_line(addr, entry->size, entry->step, shift);
                access->next = stays == NEVER ? NEVER : turn + stays;
                see(state, thread, pending, entry, addr, shift);
            } else if (entry->base_moves | entry->index_moves) {
                see(state, thread, pending, entry, rsc_piece_address(entry, words, turn), shift);
            } else {
                pending->known++;
            }
            if (access->next < least) least = access->next;
        }
    }
}

/* ---- any piece ---- */

/* How many of `turns` iterations begin no sample: a lower bound. */
static uint32_t unsampled_turns(const struct sampler_thread *thread, const struct pending *pending, uint32_t accesses,
                                uint32_t turns) {
    while (turns && !are_unsampled(thread, pending, (uint64_t)accesses * turns)) turns /= 2;
    return turns;
}

/* One execution, or one iteration of a run, access by access. */
static void use_turn(struct rsc_sampled_thread *state, const struct rsc_piece *piece, const uint64_t *words,
                     uint32_t turn) {
    struct rsc_piece_progress progress = {.turn = turn};
    struct rsc_record records[EXPANDED];
    while (progress.turn == turn) {
        uint32_t count = rsc_piece_expand(piece, words, turn + 1, &progress, records, EXPANDED);
        for (uint32_t i = 0; i < count; i++) use(state, records[i].addr, records[i].word);
    }
}

/* An execution, or the iterations of a run. */
static void use_piece(struct rsc_sampled_thread *state, struct sampler_thread *thread, struct pending *pending,
                      const struct rsc_piece *piece, const uint64_t *words, uint32_t turns) {
    const int together = piece->narrow && !process.one_at_a_time && (!piece->is_run || piece->count <= RUN_ENTRIES_MAX);
    for (uint32_t turn = 0; turn < turns;) {
        uint32_t some = together && !rsc_sampler_is_quiet(process.sampler)
                            ? unsampled_turns(thread, pending, piece->count, turns - turn)
                            : 0;
        notice(state, thread, pending);
        if (some) {
            if (piece->is_run) use_turns_unsampled(state, thread, pending, piece, words, turn, some);
            else use_piece_unsampled(state, thread, pending, piece, words);
            turn += some;
            continue;
        }
        use_pending(state, thread, pending);
        if (piece->narrow && rsc_sampler_is_quiet(process.sampler) && are_unsampled(thread, pending, piece->count))
            rsc_sampled_pass(state, piece->count);
        else use_turn(state, piece, words, turn);
        turn++;
    }
}

/* ---- steps ---- */

/*
 * The piece that begins at words[at], and how many turns of it are there; NULL: a record, or nothing. *next: where what
 * comes after it begins.
 */
static const struct rsc_piece *piece_at(struct rsc_sampled_thread *state, const uint64_t *words, uint32_t at,
                                        uint32_t count, uint32_t *turns, uint32_t *next) {
    const uint64_t word = words[at];
    const struct rsc_piece *piece = word && !(word >> 48) ? rsc_asm_find_piece(&state->place, word) : NULL;
    if (!piece) {
        *next = at + (word >> 48 ? 2 : 1);
        return NULL;
    }
    *turns = piece->is_run ? rsc_piece_whole_turns(piece, words + at, count - at) : 1;
    *next = at + (piece->is_run ? piece->words + *turns * piece->turn_words : piece->reserved);
    return piece;
}

#define STEPS_MOST 8u   /* accesses of a piece whose step is noted */
#define STEP_PIECES 64u /* pieces searched for its next execution */

/* Of a piece with words `before`: to its next execution, with words `after`, or to the next iteration of a run. */
static void put_steps(struct rsc_asm_local *local, const struct rsc_sampled_thread *state,
                      const struct rsc_piece *piece, const uint64_t *before, const uint64_t *after, int in_run) {
    uint32_t count = piece->count < STEPS_MOST ? piece->count : STEPS_MOST;
    for (uint32_t i = 0, at = (uint32_t)(state->begun % piece->count); i < count; i++, at = (at + 1) % piece->count) {
        const struct rsc_piece_access *access = &piece->accesses[at];
        uint64_t from, to;
        if (!rsc_piece_span(access, before, 0, &from)) continue;
        if (in_run) to = from + rsc_piece_address(access, before, 1) - rsc_piece_address(access, before, 0);
        else if (!rsc_piece_span(access, after, 0, &to)) continue;
        uint64_t word = rsc_record_word(RSC_RECORD_STEP, rsc_record_size(access->word), rsc_record_pc(access->word));
        rsc_asm_sampled_put(local, from, word);
        rsc_asm_sampled_put(local, to, word);
    }
}

/*
 * Notes where the accesses of the buffer's first piece go next: the strides of the code
 * that samples begin in. Once for each sample begun.
 */
static void note_steps(struct rsc_asm_local *local, struct rsc_sampled_thread *state, const uint64_t *words,
                       uint32_t count) {
    const struct rsc_piece *first = NULL;
    uint32_t first_at = 0;
    if (state->steps_for == state->begun) return;
    for (uint32_t at = 0, next, turns, pieces = 0; at < count && pieces < STEP_PIECES; at = next) {
        const struct rsc_piece *piece = piece_at(state, words, at, count, &turns, &next);
        if (!piece) continue;
        int is_next = first == piece;
        if (!first && piece->narrow && piece->count) {
            first = piece;
            first_at = at;
        }
        if (is_next || (first == piece && turns > 1)) {
            state->steps_for = state->begun;
            put_steps(local, state, piece, words + first_at, words + at, !is_next);
            return;
        }
        pieces++;
    }
}

/* ---- what others are shown ---- */

#define SHOW_EVERY 8u /* buffers */

/* The references of the buffer, before it is used. */
static void show(struct rsc_sampled_thread *state, struct sampler_thread *thread, uint64_t *words, uint32_t count) {
    struct rsc_record records[EXPANDED];
    uint32_t shown = 0;
    if (!thread->shown || slots_in_use(process.sampler) < 2 || !rsc_sampler_all_run(process.sampler)) return;
    if (state->unshown++ % SHOW_EVERY && load_relaxed(&thread->shown->count) >= SHOWN_MOST / 2) return;
    for (uint32_t at = 0, next, turns; at < count && shown < SHOWN_MOST; at = next) {
        const uint64_t word = words[at];
        const struct rsc_piece *piece = piece_at(state, words, at, count, &turns, &next);
        const uint32_t type = word >> 48 ? rsc_record_type(word) : 0;
        if (type == RSC_RECORD_READ || type == RSC_RECORD_WRITE)
            shown = rsc_sampler_show(thread, shown, words[at + 1] >> process.shift, rsc_record_pc(word));
        if (!piece) continue;
        struct rsc_piece_progress progress = {0};
        words[at] = 0; /* "none", for addresses without registers */
        while (progress.turn < turns && shown < SHOWN_MOST) {
            uint32_t more = rsc_piece_expand(piece, words + at, turns, &progress, records, EXPANDED);
            for (uint32_t i = 0; i < more; i++)
                shown =
                    rsc_sampler_show(thread, shown, records[i].addr >> process.shift, rsc_record_pc(records[i].word));
        }
        words[at] = word;
    }
}

void rsc_sampled_words(struct rsc_asm_local *local, struct rsc_sampled_thread *state, uint64_t *words, uint32_t count) {
    struct sampler_thread *thread = &process.sampler->threads[state->slot];
    struct pending pending;
    note_steps(local, state, words, count);
    show(state, thread, words, count);
    rsc_sampler_hold_alone(process.sampler, thread);
    rsc_sampler_find_needs(process.sampler, thread);
    pending.known = pending.count = 0;
    pending.set = nearest_set(thread);
    for (uint32_t at = 0; at < count;) {
        uint64_t word = words[at];
        if (word >> 48) {
            uint32_t type = rsc_record_type(word);
            use_pending(state, thread, &pending);
            notice(state, thread, &pending);
            if (type == RSC_RECORD_READ || type == RSC_RECORD_WRITE) use(state, words[at + 1], word);
            else if (type != RSC_RECORD_LOCK && type != RSC_RECORD_BARRIER)
                rsc_asm_sampled_put(local, words[at + 1], word);
            at += 2;
            continue;
        }
        const struct rsc_piece *piece = word ? rsc_asm_find_piece(&state->place, word) : NULL;
        if (!piece) {
            at++;
            continue;
        }
        uint32_t turns = piece->is_run ? rsc_piece_whole_turns(piece, words + at, count - at) : 1;
        words[at] = 0; /* "none", for addresses without registers */
        if (!thread->alone) rsc_sampler_stand_by(process.sampler);
        if (rsc_sampler_is_awaited(process.sampler)) use_pending(state, thread, &pending);
        if (state->fast_counts && turns) {
            state->fast_counts = 0;
            rsc_sampled_pass(state, state->passed > piece->weight ? state->passed - piece->weight : 0);
        }
        use_piece(state, thread, &pending, piece, words + at, turns);
        at += piece->is_run ? piece->words + turns * piece->turn_words : piece->reserved;
    }
    use_pending(state, thread, &pending);
    rsc_sampler_let_go(process.sampler, thread);
}
