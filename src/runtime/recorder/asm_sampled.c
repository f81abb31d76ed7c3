/*
 * asm_sampled.c - `--engine sampled` inside a rebuilt program: fast mode until a thread's
 * countdown ends, then analysis mode for all threads until the samples have ended
 * (sampler.h, paper 000).
 *
 *   fast      the program's code counts down to the next sampled reference, but at most
 *             RSC_POLL: then the thread checks whether others have samples. The check does
 *             not disturb the count: the countdown is only added to.
 *   analysis  the thread writes its words to a private buffer (slot->raw), small at
 *             first, and passes each reference to the sampler when it is full
 *             (asm_sampled_words.c). After the last sample has ended, the rest of the
 *             buffer is only counted.
 *
 * A thread enters analysis mode at a whole piece of code. Once its words are there, the
 * sampled reference follows from the countdown and the piece's weight. On return to fast
 * mode the current piece does not count itself, and is counted here.
 *
 * Finished samples are records in the ring, from which only the parent makes a profile.
 * Samples left when the program ends or is killed are known to the parent from the number
 * begun (slot->sampled_begun).
 *
 * Orders. Parallel: threads run freely. Sequential: one thread at a time is in the sampler,
 * and one that is more than a buffer of references ahead of the slowest runnable one waits for
 * it, but at most WAIT_NS: that one may be waiting for this one.
 */
#include "runtime/recorder/asm_sampled.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/recorder/asm_cancel.h"
#include "runtime/recorder/asm_sampled_words.h"
#include "runtime/sampler/sampler_state.h"

#define RSC_POLL 4096      /* accesses until a thread in fast mode checks what others do */
#define FAST_LEAST 64      /* minimum references to the next sample for which fast mode pays */
#define SEQUENTIAL_BUFFER 256u /* words */
/*
 * References between analyses of a buffer: most samples end soon, so the first ones are early. The
 * number of words needed is learnt from the previous buffer; loop iterations are recorded in
 * RUN_PARTs of it, so that a run does not go far beyond. Others see a thread's uses when it
 * analyses: with 4,096, shared stacks on idle cores were known to 87.7 % (seven programs, parallel
 * order), with 1,024 and 256 to 88.8 and 88.9 %. 512 cost about as much as 4,096.
 */
#define WANTED_LEAST 128u
#define WANTED_MOST 512u
#define RUN_PART 16u
#define BUFFER_LEAST 64u /* words */
#define BUFFER_MOST 2048u
#define WAIT_NS 200000
#define PUBLISH_AFTER_NS 20000000 /* marks order samples among threads: a block may take long */
#define THREADS_MOST RSC_RING_SLOTS
#define THREADS_LEAST 64u
#define CORE_WORDS 128u /* 8,192 cores */
#define CORES_EVERY 256u /* buffers */

#define whole rsc_sampled_process

static struct {
    struct rsc_ring *ring;
    uint64_t apart; /* references that threads may be apart; 0: any number */
    uint32_t identities;
    uint32_t turn, turns; /* a fair lock */
    /* References of analysis of each thread, since last none was in it; UINT64_MAX: not in analysis mode. */
    uint64_t ahead[THREADS_MOST];
    void *memory; /* of the sampler */
    size_t memory_bytes;
} process;

_Static_assert(sizeof(struct rsc_sampled_thread) <= 8 * RSC_OWN_WORDS, "it fits");

static struct rsc_sampled_thread *state_of(const struct rsc_asm_local *local) {
    return (struct rsc_sampled_thread *)local->writer.slot->own;
}

/* ---- to the ring ---- */

void rsc_asm_sampled_put(struct rsc_asm_local *local, uint64_t addr, uint64_t word) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    rsc_ring_put(&local->writer, addr, word);
    rsc_asm_cancel_allow(before);
}

/*
 * The thread synchronises with others: what it reported so far comes before what they report after that, and what it reports
 * next is as late as it is. So a block has been allocated before others use it, and freed after. At rest there is nothing.
 */
static void mark(struct rsc_asm_local *local) {
    if (local->writer.slot->open_since_ns) rsc_ring_mark(&local->writer, 1);
}

static uint64_t who(uint32_t thread, uint8_t first, uint8_t last) {
    return thread | (uint64_t)first << 32 | (uint64_t)last << 40;
}

/* A finished sample: five or six records, described in ring.h. */
static void emit(void *context, const struct rsc_sample_record *record) {
    struct rsc_ring_writer *writer = &rsc_asm_local.writer;
    (void)context;
    uint32_t variance_bits;
    float variance = (float)record->variance;
    __builtin_memcpy(&variance_bits, &variance, sizeof variance_bits);
    if (!writer->slot || (whole.hides_private && record->model == RSC_MODEL_PRIVATE)) return;
    uint64_t what = record->model | record->outcome << 8 | record->kept << 16 | (uint64_t)record->burst << 24;
    rsc_ring_put(writer, record->line, rsc_record_word(RSC_RECORD_SAMPLE, 1, what));
    rsc_ring_put(writer, record->distance, rsc_record_word(RSC_RECORD_SAMPLE, 2, record->use.pc));
    rsc_ring_put(writer, record->interval, rsc_record_word(RSC_RECORD_SAMPLE, 3, record->reuse.pc));
    rsc_ring_put(writer, rsc_sampled_bits(record->weight),
                 rsc_record_word(RSC_RECORD_SAMPLE, 4, who(record->use.thread, record->use.first, record->use.last)));
    if (record->taker.is_known)
        rsc_ring_put(writer, who(record->taker.by, record->taker.first, record->taker.last),
                     rsc_record_word(RSC_RECORD_SAMPLE, 6, record->taker.pc));
    rsc_ring_put(writer, variance_bits, rsc_record_word(RSC_RECORD_SAMPLE, 5, record->reuse.thread));
}

/* ---- keeping step ---- */

static uint64_t slowest(void) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < slots_in_use(whole.sampler); i++) {
        uint64_t ahead = __atomic_load_n(&process.ahead[i], __ATOMIC_RELAXED);
        if (ahead < least) least = ahead;
    }
    return least;
}

/* Advances by this many references; waits for threads that are far behind. */
static void keep_step(struct rsc_sampled_thread *state, uint64_t references) {
    uint64_t *own = &process.ahead[state->slot];
    if (!process.apart) return;
    uint64_t now = *own == UINT64_MAX ? slowest() : *own;
    if (now == UINT64_MAX) now = 0;
    __atomic_store_n(own, now += references, __ATOMIC_RELAXED);
    for (uint64_t began = 0; now > slowest() + process.apart;) {
        if (!began) began = rsc_ring_now_ns();
        else if (rsc_ring_now_ns() - began > WAIT_NS) {
            __atomic_store_n(own, slowest() + process.apart,
                             __ATOMIC_RELAXED); /* it will not come: do not wait again at once */
            return;
        }
        sched_yield();
    }
}

static void leave_step(const struct rsc_sampled_thread *state) {
    if (process.apart) __atomic_store_n(&process.ahead[state->slot], UINT64_MAX, __ATOMIC_RELAXED);
}

static void lock(void) {
    uint32_t mine = __atomic_fetch_add(&process.turns, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&process.turn, __ATOMIC_ACQUIRE) != mine) sched_yield();
}
static void unlock(void) { __atomic_store_n(&process.turn, process.turn + 1, __ATOMIC_RELEASE); }

/* ---- modes ---- */

static void tell_counts(struct rsc_asm_local *local, const struct rsc_sampled_thread *state) {
    struct rsc_slot *slot = local->writer.slot;
    slot->sampled_references = state->references;
    slot->sampled_analysed = state->analysed;
    slot->sampled_begun = state->begun;
    slot->sampled_weight = rsc_sampled_bits(state->weight);
    if (slot->open_since_ns && rsc_ring_now_ns() - slot->open_since_ns > PUBLISH_AFTER_NS)
        rsc_ring_publish(&local->writer);
}

static void clear(uint64_t *words, size_t count) {
#if defined(__x86_64__)
    __asm__ volatile("rep stosq" : "+D"(words), "+c"(count) : "a"(0) : "memory");
#else
    while (count) words[--count] = 0;
#endif
}

/* The next buffer is for twice as many references, up to WANTED_MOST; `words` had `references`. */
static void fit_buffer(struct rsc_sampled_thread *state, uint64_t words, uint64_t references) {
    if (state->wanted < WANTED_MOST) state->wanted *= 2;
    uint64_t fits = words * state->wanted / (references + 1), most = 2ull * state->buffer;
    if (fits > most) fits = most;
    if (fits > BUFFER_MOST) fits = BUFFER_MOST;
    state->buffer = fits < BUFFER_LEAST ? BUFFER_LEAST : (uint32_t)fits;
}

/* The program may bind its threads at any time, which costs a system call to know. */
static void note_core(struct rsc_sampled_thread *state, struct sampler_thread *own) {
    if (state->unseen--) return;
    unsigned long cores[CORE_WORDS] = {0};
    uint32_t bound_to = 0, count = 0;
    state->unseen = CORES_EVERY;
    if (syscall(SYS_sched_getaffinity, 0, sizeof cores, cores) <= 0) return;
    for (uint32_t i = 0; i < CORE_WORDS && count < 2; i++) {
        count += (uint32_t)__builtin_popcountl(cores[i]);
        if (cores[i]) bound_to = i * 64 + (uint32_t)__builtin_ctzl(cores[i]) + 1;
    }
    __atomic_store_n(&own->bound_to, count == 1 ? bound_to : 0, __ATOMIC_RELAXED);
}

/* Analyses what the thread has written. */
static void look(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_sampled_thread *state = state_of(local);
    struct rsc_slot *slot = local->writer.slot;
    uint64_t before = state->references;
    const int was_fast = state->fast_counts; /* the first words count references made in fast mode */
    if (!local->recording || !thread->next) return;
    uint32_t count = (uint32_t)(thread->next - slot->raw);
    const uint64_t took = rsc_sampler_ticks() - state->buffer_since;
    struct sampler_thread *own = &whole.sampler->threads[state->slot];
    __atomic_store_n(&slot->raw_busy, 1, __ATOMIC_RELEASE);
    if (whole.one_at_a_time) lock();
    rsc_sampler_is_alive(own);
    if (!whole.one_at_a_time) note_core(state, own);
    rsc_sampled_words(local, state, slot->raw, count);
    rsc_sampler_judge(whole.sampler, state->slot);
    if (whole.one_at_a_time) unlock();
    clear(slot->raw, count);
    thread->next = slot->raw;
    fit_buffer(state, count, state->references - before);
    if (!was_fast) rsc_sampler_keep_pace(own, state->references - before, took);
    rsc_sampler_is_alive(own);
    state->buffer_since = rsc_sampler_ticks();
    tell_counts(local, state);
    __atomic_store_n(&slot->raw_busy, 0, __ATOMIC_RELEASE);
    if (!rsc_sampler_is_quiet(whole.sampler)) keep_step(state, state->references - before);
}

/* A block is freed after what the thread did with it: the samples that end there come first. */
void rsc_asm_sampled_event(struct rsc_asm_local *local, struct rsc_asm_thread *thread, uint64_t addr, uint64_t word) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    if (rsc_record_type(word) == RSC_RECORD_FREE && local->recording) look(local, thread);
    rsc_ring_put(&local->writer, addr, word);
    rsc_asm_cancel_allow(before);
}

static void go_fast(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_sampled_thread *state = state_of(local);
    uint64_t left = rsc_sampler_countdown(whole.sampler, state->slot) - 1;
    local->recording = 0;
    thread->next = thread->limit = NULL;
    local->given = thread->counter = (int64_t)(left < RSC_POLL ? left : RSC_POLL);
    state->buffer = BUFFER_LEAST;
    state->wanted = WANTED_LEAST;
    leave_step(state);
}

static void go_analysing(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_sampled_thread *state = state_of(local);
    thread->next = local->writer.slot->raw;
    thread->limit = thread->next + (whole.one_at_a_time ? SEQUENTIAL_BUFFER : state->buffer);
    thread->run = whole.one_at_a_time ? 1 : state->wanted / RUN_PART;
    if (!local->recording) state->buffer_since = rsc_sampler_ticks();
    local->recording = 1;
    local->given = thread->counter = RSC_ASM_RECORD;
}

static int make_room(struct rsc_asm_local *local, struct rsc_asm_thread *thread, uint32_t accesses) {
    struct rsc_sampled_thread *state = state_of(local);
    if (local->recording) {
        look(local, thread);
    } else if (local->given > 0 && thread->counter < local->given) { /* from fast mode */
        uint64_t left = rsc_sampler_countdown(whole.sampler, state->slot) - 1;
        uint64_t more = left > (uint64_t)local->given ? left - (uint64_t)local->given : 0;
        if (more > RSC_POLL) more = RSC_POLL;
        if (rsc_sampler_is_quiet(whole.sampler) && thread->counter + (int64_t)more >= 0) {
            thread->counter += (int64_t)more;
            local->given += (int64_t)more;
            rsc_sampler_is_alive(&whole.sampler->threads[state->slot]);
            local->writer.slot->sampled_references = state->references + (uint64_t)(local->given - thread->counter);
            return 0;
        }
        state->passed = (uint64_t)(local->given - thread->counter);
        state->fast_counts = 1;
        go_analysing(local, thread);
        return 0;
    }
    if (!local->writer.next || process.ring->detached) return -1;
    if (rsc_sampler_is_quiet(whole.sampler) &&
        rsc_sampler_countdown(whole.sampler, state->slot) > FAST_LEAST + accesses) {
        rsc_sampled_pass(state, accesses);
        go_fast(local, thread);
    } else {
        go_analysing(local, thread);
    }
    return 0;
}

int rsc_asm_sampled_room(struct rsc_asm_local *local, struct rsc_asm_thread *thread, uint32_t accesses) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    int status = make_room(local, thread, accesses);
    rsc_asm_cancel_allow(before);
    return status;
}

/* Counts the references of fast mode, and analyses what was written. */
static void catch_up(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_sampled_thread *state = state_of(local);
    if (local->recording) look(local, thread);
    else if (local->given > 0 && thread->counter < local->given && thread->counter >= 0) {
        rsc_sampled_pass(state, (uint64_t)(local->given - thread->counter));
        local->given = thread->counter;
        tell_counts(local, state);
    }
}

static int count_held(struct rsc_asm_local *local, struct rsc_asm_thread *thread, uint64_t accesses) {
    struct rsc_sampled_thread *state = state_of(local);
    if (local->recording) return 1;
    if (local->given <= 0 || thread->counter < 0) return 0;
    catch_up(local, thread);
    if (!rsc_sampler_is_quiet(whole.sampler) || rsc_sampler_countdown(whole.sampler, state->slot) <= accesses) {
        go_analysing(local, thread);
        return 1;
    }
    rsc_sampled_pass(state, accesses);
    go_fast(local, thread);
    tell_counts(local, state);
    return 0;
}

int rsc_asm_sampled_counts(struct rsc_asm_local *local, struct rsc_asm_thread *thread, uint64_t accesses) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    int recorded = count_held(local, thread, accesses);
    rsc_asm_cancel_allow(before);
    return recorded;
}

/* Fast mode ends: what follows comes after what others did. */
static void leave_fast(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    if (local->recording || local->given <= 0 || rsc_sampler_is_quiet(whole.sampler)) return;
    catch_up(local, thread);
    go_analysing(local, thread);
}

void rsc_asm_sampled_releases(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    if (local->recording) look(local, thread);
    else leave_fast(local, thread);
    mark(local);
    rsc_asm_cancel_allow(before);
}

void rsc_asm_sampled_waits(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    struct rsc_sampled_thread *state = state_of(local);
    catch_up(local, thread);
    mark(local);
    leave_step(state);
    rsc_sampler_park(whole.sampler, state->slot);
    rsc_asm_cancel_allow(before);
}

static void met_held(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_sampled_thread *state = state_of(local);
    rsc_sampler_unpark(whole.sampler, state->slot);
    leave_fast(local, thread);
    if (local->recording) look(local, thread);
    mark(local);
    if (!local->recording) return;
    if (whole.one_at_a_time) lock();
    rsc_sampler_sync(whole.sampler, state->slot);
    if (whole.one_at_a_time) unlock();
}

void rsc_asm_sampled_met(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    met_held(local, thread);
    rsc_asm_cancel_allow(before);
}

static void end_held(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_sampled_thread *state = state_of(local);
    rsc_sampler_unpark(whole.sampler, state->slot); /* it may have been cancelled while waiting */
    catch_up(local, thread);
    leave_step(state);
    if (whole.one_at_a_time) lock();
    rsc_sampler_thread_end(whole.sampler, state->slot);
    if (whole.one_at_a_time) unlock();
    tell_counts(local, state);
    rsc_ring_publish(&local->writer);
}

void rsc_asm_sampled_end(struct rsc_asm_local *local, struct rsc_asm_thread *thread) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    end_held(local, thread);
    rsc_asm_cancel_allow(before);
}

static int start_held(struct rsc_asm_local *local) {
    struct rsc_sampled_thread *state = state_of(local);
    struct rsc_slot *slot = local->writer.slot;
    uint32_t identity = __atomic_fetch_add(&process.identities, 1, __ATOMIC_RELAXED);
    *state = (struct rsc_sampled_thread){.buffer = BUFFER_LEAST, .wanted = WANTED_LEAST};
    slot->raw_busy = 0;
    clear(slot->raw, RSC_RAW_WORDS); /* of a thread that was killed */
    slot->sampled_references = slot->sampled_analysed = slot->sampled_begun = slot->sampled_weight = 0;
    state->slot = rsc_sampler_thread_begin(whole.sampler, identity);
    if (state->slot == RSC_NO_THREAD) {
        __atomic_fetch_add(&process.ring->crowded_out, 1, __ATOMIC_RELAXED);
        return -1;
    }
    leave_step(state);
    slot->sampled_as = identity + 1ull;
    rsc_asm_sampled_put(local, identity, rsc_record_word(RSC_RECORD_THREAD, 1, 0));
    return 0;
}

int rsc_asm_sampled_start(struct rsc_asm_local *local) {
    struct rsc_asm_cancel before = rsc_asm_cancel_hold();
    int status = start_held(local);
    rsc_asm_cancel_allow(before);
    return status;
}

int rsc_asm_sampled_prepare(struct rsc_ring *ring) {
    struct rsc_sampler_options options = ring->sampler;
    options.places_have_threads = 0;
    options.in_step = 1;
    whole.hides_private = options.order == RSC_ORDER_PARALLEL && options.models == RSC_MODEL_SHARED &&
                          options.cores >= RSC_SAMPLER_CORES_LEAST;
    if (whole.hides_private) options.models |= RSC_MODEL_PRIVATE;
    options.emit = emit;
    options.emit_context = NULL;
    process.ring = ring;
    whole.shift = (uint32_t)ring->keep_shift;
    whole.lines_most = whole.shift < 6 ? (64u >> whole.shift) + 1 : 2;
    whole.planned = ring->sampler_planned;
    whole.double_at = ring->sampler_planned;
    whole.begun = 0;
    process.identities = 0;
    whole.one_at_a_time = options.order == RSC_ORDER_SEQUENTIAL;
    process.apart = whole.one_at_a_time ? SEQUENTIAL_BUFFER : 0;
    for (uint32_t i = 0; i < THREADS_MOST; i++) process.ahead[i] = UINT64_MAX;
    void *memory = MAP_FAILED;
    size_t bytes = 0;
    /* Only touched pages become real, but address space may be limited: then for fewer threads. */
    for (uint32_t most = THREADS_MOST; memory == MAP_FAILED && most >= THREADS_LEAST; most /= 2) {
        options.threads_most = most;
        bytes = rsc_sampler_bytes(&options, NULL);
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (memory == MAP_FAILED) return -1;
    whole.sampler = rsc_sampler_init(&options, memory);
    process.memory = memory;
    process.memory_bytes = bytes;
    return 0;
}

void rsc_asm_sampled_forget(void) {
    munmap(process.memory, process.memory_bytes);
    process.ring = NULL;
    whole.sampler = NULL;
}
