/*
 * watch_stream.c - shared by all ways of sampling inside a watched program: the
 * thread's stream of records, its registers, its period.
 */
#include "runtime/trap/watch_thread.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct rsc_watch_area *rsc_watch_area;
__thread struct rsc_watch_local rsc_watch_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

uint64_t rsc_watch_cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

/* ---- records ---- */

void rsc_watch_put(struct rsc_watch_thread *thread, const uint64_t *words, uint32_t count, const uint64_t *frames,
                   uint32_t frame_count) {
    struct rsc_watch_stream *stream = thread->stream;
    uint64_t at = stream->written;
    if (at - __atomic_load_n(&stream->taken, __ATOMIC_ACQUIRE) + count + frame_count > RSC_WATCH_WORDS) {
        stream->dropped++;
        return;
    }
    for (uint32_t i = 0; i < count; i++) stream->words[at++ % RSC_WATCH_WORDS] = words[i];
    for (uint32_t i = 0; i < frame_count; i++) stream->words[at++ % RSC_WATCH_WORDS] = frames[i];
    __atomic_store_n(&stream->written, at, __ATOMIC_RELEASE);
}

void rsc_watch_tell_position(struct rsc_watch_thread *thread, uint64_t now) {
    struct rsc_watch_stream *stream = thread->stream;
    stream->position = now;
    stream->range_accesses = rsc_watch_local.range_accesses;
    stream->range_words = rsc_watch_local.range_words;
}

/* A register's watch ends without a reuse: the thread ends, or it could not be armed. */
static void put_end(struct rsc_watch_thread *thread, uint32_t reg, uint64_t at, uint32_t flags) {
    uint64_t record[RSC_WATCHED_END_WORDS] = {rsc_watch_head(RSC_WATCHED_END, reg, flags, RSC_WATCHED_END_WORDS, 0), at,
                                              rsc_watch_bits(rsc_watch_slots_release(&thread->slots, reg)),
                                              rsc_watch_local.range_accesses, rsc_watch_local.range_words};
    rsc_watch_put(thread, record, RSC_WATCHED_END_WORDS, NULL, 0);
}

/* ---- threads ---- */

static struct rsc_watch_stream *take_stream(void) {
    struct rsc_watch_area *area = rsc_watch_area;
    for (uint32_t i = 0; i < RSC_WATCH_STREAMS; i++) {
        struct rsc_watch_stream *stream = &area->streams[i];
        uint32_t unused = RSC_SLOT_FREE;
        if (!__atomic_compare_exchange_n(&stream->state, &unused, RSC_SLOT_STARTING, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        uint32_t used = __atomic_load_n(&area->streams_used, __ATOMIC_RELAXED);
        while (used < i + 1 &&
               !__atomic_compare_exchange_n(&area->streams_used, &used, i + 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        }
        stream->pid = (uint32_t)getpid();
        stream->tid = (uint32_t)syscall(SYS_gettid);
        stream->image = rsc_asm_image();
        stream->position = stream->range_accesses = stream->range_words = stream->samples = stream->hits =
            stream->own_hits = stream->late_hits = 0;
        stream->dropped = stream->void_samples = stream->busy_ns = stream->registers = 0;
        stream->generation++;
        __atomic_store_n(&stream->state, RSC_SLOT_LIVE, __ATOMIC_RELEASE);
        return stream;
    }
    __atomic_fetch_add(&area->crowded_out, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Sets up what a thread needs at its first sample. */
struct rsc_watch_thread *rsc_watch_open_thread(void) {
    struct rsc_watch_local *local = &rsc_watch_local;
    struct rsc_watch_stream *stream = take_stream();
    if (!stream) return NULL;
    size_t stack_bytes = rsc_watch_stack_bytes(), bytes = sizeof(struct rsc_watch_thread) + stack_bytes;
    struct rsc_watch_thread *thread = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (thread == MAP_FAILED) {
        __atomic_store_n(&stream->state, RSC_SLOT_ENDED, __ATOMIC_RELEASE);
        return NULL;
    }
    thread->stream = stream;
    thread->bytes = bytes;
    thread->stack_bytes = stack_bytes;
    local->thread = thread;
    rsc_watch_stack_begins(thread);
    rsc_watch_events_open(thread);
    thread->slot_registers = rsc_watch_area->lines ? RSC_WATCH_REGISTERS : 1;
    thread->slot_count = thread->register_count / thread->slot_registers;
    if (thread->slot_count)
        rsc_watch_slots_init(&thread->slots, thread->slot, thread->slot_count, RSC_REPLACE_RESERVOIR,
                             rsc_rng_u64(&local->rng), 0);
    return thread;
}

void rsc_watch_close_thread(struct rsc_watch_thread *thread, uint64_t now) {
    for (uint32_t i = 0; i < thread->slot_count; i++) {
        if (!rsc_watch_slots_holds(&thread->slots, i)) continue;
        rsc_watch_disarm_slot(thread, i);
        put_end(thread, i, now, 0);
    }
    rsc_watch_events_close(thread, 0);
    rsc_watch_stack_ends(thread);
    rsc_watch_local.thread = NULL;
    rsc_watch_tell_position(thread, now);
    __atomic_store_n(&thread->stream->state, RSC_SLOT_ENDED, __ATOMIC_RELEASE);
    munmap(thread, thread->bytes);
}

void rsc_watch_forget_thread(struct rsc_watch_thread *thread) {
    rsc_watch_events_close(thread, 1);
    rsc_watch_stack_ends(thread);
    munmap(thread, thread->bytes);
}

void rsc_watch_turn_off(enum rsc_watch_off why) {
    uint32_t on = RSC_WATCH_ON;
    if (rsc_watch_area)
        __atomic_compare_exchange_n(&rsc_watch_area->off, &on, why, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* ---- samples ---- */

/* Adjusts the period to the requested rate. */
void rsc_watch_adjust_period(struct rsc_watch_thread *thread) {
    if (rsc_watch_area->period) return;
    rsc_watch_local.period =
        rsc_watch_pace_sample(&thread->pace, rsc_watch_cpu_ns(), rsc_watch_area->rate, rsc_watch_local.period);
}

/* Writes the sample of one word of the access, and may give it a slot. Returns the slot. */
uint32_t rsc_watch_take_sample(struct rsc_watch_thread *thread, const struct rsc_watch_use *use, uint64_t *word) {
    uint64_t record[RSC_WATCHED_USE_WORDS], words = rsc_watch_words_of(use->address, use->bytes);
    struct rsc_watch_choice choice = {.slot = RSC_NO_SLOT};
    if (thread->slot_count) choice = rsc_watch_slots_sample(&thread->slots);
    uint32_t reg = choice.slot == RSC_NO_SLOT ? RSC_WATCH_NO_REGISTER : choice.slot;
    *word = ((use->address >> 3) + rsc_rng_below(&rsc_watch_local.rng, words)) << 3;
    uint64_t most = words > 0xffff ? 0xffff : words,
             sum = use->piece_words > UINT32_MAX ? UINT32_MAX : use->piece_words;
    uint32_t accesses = use->piece_accesses > 0xffff ? 0xffff : use->piece_accesses;
    thread->shape = RSC_WATCH_WORD;
    if (thread->slot_registers > 1)
        thread->shape = RSC_WATCH_QUARTER + (uint32_t)rsc_rng_below(&rsc_watch_local.rng, RSC_WATCH_LINE_SHAPES);
    record[0] =
        rsc_watch_head(RSC_WATCHED_USE, reg,
                       use->flags | (thread->frames_cut ? RSC_WATCH_CUT : 0) | (choice.replaced ? RSC_WATCH_TOOK : 0),
                       RSC_WATCHED_USE_WORDS + thread->frame_count, thread->frame_count);
    record[0] = rsc_watch_head_with_shape(record[0], thread->shape);
    record[RSC_WATCHED_USE_POSITION] = use->position;
    record[RSC_WATCHED_USE_PERIOD] = rsc_watch_local.period;
    record[RSC_WATCHED_USE_PC] = use->pc;
    record[RSC_WATCHED_USE_ADDRESS] = *word;
    record[RSC_WATCHED_USE_DENSITY] = most | (uint64_t)accesses << 16 | sum << 32;
    record[RSC_WATCHED_USE_CHANCE] = rsc_watch_bits(choice.chance);
    record[RSC_WATCHED_USE_RANGE_ACCESSES] = rsc_watch_local.range_accesses;
    record[RSC_WATCHED_USE_RANGE_WORDS] = rsc_watch_local.range_words;
    record[RSC_WATCHED_USE_COST] = use->cost;
    if (reg != RSC_WATCH_NO_REGISTER) rsc_watch_disarm_slot(thread, reg);
    rsc_watch_put(thread, record, RSC_WATCHED_USE_WORDS, thread->frames, thread->frame_count);
    thread->stream->samples++;
    for (uint32_t i = 0; i < thread->slot_count; i++)
        thread->stream->chances[i] = rsc_watch_bits(thread->slot[i].chance);
    rsc_watch_tell_position(thread, use->position + 1);
    return reg;
}

/* A reuse whose position is known here. */
void rsc_watch_put_resolved(struct rsc_watch_thread *thread, uint32_t reg, uint64_t at, uint64_t pc,
                            const uint64_t *frames, uint32_t frame_count) {
    uint64_t chance = rsc_watch_bits(rsc_watch_slots_release(&thread->slots, reg));
    uint64_t record[RSC_WATCHED_HIT_WORDS_RESOLVED] = {rsc_watch_head(RSC_WATCHED_HIT, reg, RSC_WATCH_RESOLVED,
                                                                      RSC_WATCHED_HIT_WORDS_RESOLVED + frame_count,
                                                                      frame_count),
                                                       at,
                                                       0,
                                                       chance,
                                                       rsc_watch_local.range_accesses,
                                                       rsc_watch_local.range_words,
                                                       pc};
    rsc_watch_put(thread, record, RSC_WATCHED_HIT_WORDS_RESOLVED, frames, frame_count);
    thread->stream->hits++;
}

int rsc_watch_can_watch(const struct rsc_watch_thread *thread, uint64_t word) {
    return word >= 4096 && word < (1ull << 47) - 4096 && word - (uintptr_t)thread >= thread->bytes;
}

void rsc_watch_disarm_slot(struct rsc_watch_thread *thread, uint32_t slot) {
    for (uint32_t i = slot * thread->slot_registers; i < (slot + 1) * thread->slot_registers; i++)
        if (thread->registers[i].armed) rsc_watch_disarm(thread, i);
}

void rsc_watch_word(struct rsc_watch_thread *thread, uint32_t slot, uint64_t word, uint64_t at) {
    uint64_t words[RSC_WATCH_SHAPE_WORDS];
    if (slot == RSC_WATCH_NO_REGISTER) return;
    uint32_t count = rsc_watch_shape_words((enum rsc_watch_shape)thread->shape, word >> 3, words);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = slot * thread->slot_registers + i;
        if (rsc_watch_arm(thread, number, words[i] << 3) == 0) continue;
        thread->registers[number].armed = 0;
        rsc_watch_disarm_slot(thread, slot);
        put_end(thread, slot, at, RSC_WATCH_FAILED);
        return;
    }
}
