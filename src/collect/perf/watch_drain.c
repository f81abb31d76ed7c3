/* watch_drain.c - see watch_drain.h. The program can write anything into the streams: everything is bounded. */
#include "collect/perf/watch_drain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/add_counts.h"
#include "base/data_source.h"
#include "base/fail.h"
#include "base/grow.h"
#include "collect/drain/guest_maps.h"
#include "collect/drain/ring_notes.h"
#include "collect/drain/running_thread.h"
#include "collect/perf/watch_code.h"
#include "collect/perf/watch_paths.h"
#include "profile/profile_model.h"
#include "runtime/watch/watch_shapes.h"
#include "trace/source.h"

#define PROCESSES_MAX 65535u
#define RECORD_MAX (RSC_WATCHED_HIT_WORDS + RSC_WATCH_FRAMES)
#define ADDRESS_MASK 0xffffffffffffull
/* Accesses and references: of one thread, a month at 3 GHz; of all threads, 100 years at 1 GHz divided among them. */
#define THREAD_COUNT_MOST (1ull << 53)
#define COUNT_MOST (1ull << 56)
#define PERIOD_MOST (1ull << 47)

/* State of a stream's thread. */
struct cursor {
    uint32_t generation; /* generation of the thread with this number; 0: none yet */
    uint32_t number;
    uint32_t process_number, thread_of_process;
    uint64_t process; /* rsc_process_id() */
    uint64_t space;   /* added to its addresses, as in drain.c */
    uint64_t taken;   /* words */
    uint8_t open[RSC_WATCH_REGISTERS]; /* watches that have not ended */
    uint64_t word[RSC_WATCH_REGISTERS];
    uint8_t shape[RSC_WATCH_REGISTERS]; /* enum rsc_watch_shape */
    int counts_lines; /* an access is one reference: lines are watched */
    /* References so far: */
    uint64_t position, range_accesses, range_words;
    double references, words_per_access;
    uint64_t counted; /* the larger of accesses and references, of COUNT_MOST */
};

struct process {
    uint64_t id;
    uint32_t threads;
};

struct rsc_watch_drain {
    struct rsc_ring *ring;
    struct rsc_watch_record *records; /* from the last call; owned */
    size_t record_count, record_room;
    struct rsc_watch_code *code;
    struct rsc_watch_paths *paths;
    struct rsc_guest_maps *maps;
    char *note_text;
    uint64_t notes_tail;
    uint32_t threads;
    struct process *processes;
    size_t process_count, process_room;
    struct rsc_watch_stats stats; /* of threads that ended */
    uint64_t counted; /* of all cursors so far */
    struct rsc_ancestors ancestors;
    struct cursor cursors[RSC_WATCH_STREAMS];
};

int rsc_watch_drain_new(struct rsc_watch_drain **out, struct rsc_ring *ring, struct rsc_error *error) {
    struct rsc_watch_drain *drain = calloc(1, sizeof *drain);
    *out = NULL;
    if (!drain) return rsc_fail_memory(error, "collector");
    drain->ring = ring;
    rsc_ancestors_find(&drain->ancestors);
    drain->code = rsc_watch_code_new();
    drain->paths = rsc_watch_paths_new();
    drain->maps = rsc_guest_maps_new();
    drain->note_text = malloc(RSC_NOTES_BYTES);
    if (!drain->code || !drain->paths || !drain->maps || !drain->note_text) {
        rsc_watch_drain_free(drain);
        return rsc_fail_memory(error, "collector");
    }
    *out = drain;
    return 0;
}

void rsc_watch_drain_free(struct rsc_watch_drain *drain) {
    if (!drain) return;
    rsc_watch_code_free(drain->code);
    rsc_watch_paths_free(drain->paths);
    rsc_guest_maps_free(drain->maps);
    free(drain->note_text);
    free(drain->records);
    free(drain->processes);
    free(drain);
}

/* ---- notes ---- */

/* Processes are numbered as they appear; NULL when out of memory. */
static struct process *find_process(struct rsc_watch_drain *drain, uint64_t id) {
    for (size_t i = 0; i < drain->process_count; i++)
        if (drain->processes[i].id == id) return &drain->processes[i];
    if (drain->process_count == PROCESSES_MAX) return &drain->processes[PROCESSES_MAX - 1];
    if (RSC_GROW(drain->processes, drain->process_room, drain->process_count + 1)) return NULL;
    drain->processes[drain->process_count] = (struct process){.id = id};
    return &drain->processes[drain->process_count++];
}

static int take_notes(struct rsc_watch_drain *drain) {
    struct rsc_note note;
    struct rsc_asm_module module;
    const struct rsc_guest_map *map;
    const uint64_t end =
        __atomic_load_n(&drain->ring->notes_head, __ATOMIC_ACQUIRE); /* what comes meanwhile can wait */
    while (rsc_ring_notes_next(drain->ring, &drain->notes_tail, end, &note, drain->note_text)) {
        int status = 0;
        if (note.type == RSC_NOTE_NATIVE_MAPS) {
            status = rsc_guest_maps_text(drain->maps, note.process, 1, drain->note_text, note.bytes);
        } else if (note.type == RSC_NOTE_MODULE && note.bytes == sizeof module) {
            memcpy(&module, drain->note_text, sizeof module);
            status = rsc_watch_code_add(drain->code, note.process, &module, drain->ring);
        }
        if (status < 0) return status;
    }
    rsc_ring_notes_taken(drain->ring, drain->notes_tail);
    while ((map = rsc_guest_maps_next(drain->maps))) {
        const struct process *process = find_process(drain, map->process);
        if (!process) return RSC_ENOMEM;
        uint64_t space = (uint64_t)(process - drain->processes) << 48;
        if (rsc_watch_paths_mapped(drain->paths, map, space) < 0) return RSC_ENOMEM;
    }
    return 0;
}

/* ---- positions ---- */

/* A thread's position: its accesses, and how many of these libc's functions made. */
struct progress {
    uint64_t position, range_accesses, range_words;
};

/* How many references a thread has made at `at`; words_per_access of 0: not known, and then it is set. */
static double references_of(const struct cursor *cursor, const struct progress *at, double *words_per_access) {
    if (cursor->counts_lines) return (double)at->position;
    double before = cursor->words_per_access > 0 ? cursor->words_per_access : *words_per_access;
    if (!(*words_per_access > 0)) *words_per_access = before > 0 ? before : 1;
    if (!(before > 0)) before = *words_per_access;
    double in_ranges = (double)(int64_t)(at->range_accesses - cursor->range_accesses);
    double in_pieces = (double)(int64_t)(at->position - cursor->position) - in_ranges;
    return cursor->references + in_pieces * (before + *words_per_access) / 2 +
           (double)(int64_t)(at->range_words - cursor->range_words);
}

/* Whether a program can have come so far; if so, it is counted. */
static int can_be(struct rsc_watch_drain *drain, struct cursor *cursor, uint64_t position, double references) {
    if (position > THREAD_COUNT_MOST || !(references <= (double)THREAD_COUNT_MOST)) return 0;
    const uint64_t whole = (uint64_t)references, most = position > whole ? position : whole;
    const uint64_t more = most > cursor->counted ? most - cursor->counted : 0;
    if (more > COUNT_MOST - drain->counted) return 0;
    drain->counted += more;
    cursor->counted += more;
    return 1;
}

/*
 * References up to and including the access there, if a piece touches this many words per access (0: not known). A place
 * where no program can be is where the thread was last.
 */
static uint64_t references_at(struct rsc_watch_drain *drain, struct cursor *cursor, struct progress at,
                              double words_per_access) {
    const double references = fmax(0, references_of(cursor, &at, &words_per_access));
    if (!can_be(drain, cursor, at.position, references)) {
        drain->stats.corrupt++;
        return (uint64_t)cursor->references + 1;
    }
    /* A step back by a few accesses (a trap within the window) does not affect what follows. */
    if (at.position >= cursor->position) {
        cursor->position = at.position;
        cursor->range_accesses = at.range_accesses;
        cursor->range_words = at.range_words;
        cursor->references = references;
        cursor->words_per_access = words_per_access;
    }
    return (uint64_t)references + 1;
}

/* ---- records ---- */

static int add_record(struct rsc_watch_drain *drain, struct rsc_watch_record record, struct rsc_error *error) {
    if (RSC_GROW(drain->records, drain->record_room, drain->record_count + 1))
        return rsc_fail_memory(error, "collector");
    drain->records[drain->record_count++] = record;
    return 0;
}

static int end_watch(struct rsc_watch_drain *drain, struct cursor *cursor, uint32_t reg, struct rsc_watch_end end,
                     struct rsc_error *error) {
    cursor->open[reg] = 0;
    end.slot = reg;
    if (end.ending != RSC_WATCH_REUSED) end.path = RSC_NO_CONTEXT;
    return add_record(drain, (struct rsc_watch_record){RSC_WATCH_RECORD_END, cursor->number, .end = end}, error);
}

static uint64_t mixed(uint64_t path, uint64_t pc) {
    uint64_t z = pc ^ (path + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    return z ^ z >> 27;
}

static int take_use(struct rsc_watch_drain *drain, struct cursor *cursor, const uint64_t *words, const uint64_t *frames,
                    uint32_t frame_count, struct rsc_error *error) {
    uint32_t reg = rsc_watch_head_register(words[0]), flags = rsc_watch_head_flags(words[0]), path;
    uint64_t density = words[RSC_WATCHED_USE_DENSITY], own = density & 0xffff, accesses = density >> 16 & 0xffff;
    double chance = rsc_watch_double(words[RSC_WATCHED_USE_CHANCE]);
    double words_per_access = accesses && density >> 32 ? (double)(density >> 32) / (double)accesses : 0;
    if (!own || !(chance >= 0 && chance <= 1)) return 0; /* never written by our code */
    uint64_t count =
        references_at(drain, cursor,
                      (struct progress){words[RSC_WATCHED_USE_POSITION], words[RSC_WATCHED_USE_RANGE_ACCESSES],
                                        words[RSC_WATCHED_USE_RANGE_WORDS]},
                      words_per_access);
    if (reg < RSC_WATCH_REGISTERS && cursor->open[reg]) {
        /* It was replaced; or its trap's record found no room. */
        struct rsc_watch_end end = {.count = count,
                                    .ending = flags & RSC_WATCH_TOOK ? RSC_WATCH_REPLACED : RSC_WATCH_DROPPED};
        int status = end_watch(drain, cursor, reg, end, error);
        if (status < 0) return status;
    }
    if (rsc_watch_paths_add(drain->paths, cursor->space, frames, frame_count, &path) < 0)
        return rsc_fail_memory(error, "call paths");
    uint64_t pc = (words[RSC_WATCHED_USE_PC] & ADDRESS_MASK) | cursor->space;
    const uint64_t period =
        words[RSC_WATCHED_USE_PERIOD] < PERIOD_MOST ? words[RSC_WATCHED_USE_PERIOD] : PERIOD_MOST; /* times 16 bits */
    struct rsc_watch_sample sample = {.count = count,
                                      .address = (words[RSC_WATCHED_USE_ADDRESS] & ADDRESS_MASK) | cursor->space,
                                      .pc = pc,
                                      .context = mixed(path, pc),
                                      .stands_for = period * (cursor->counts_lines ? 1 : own),
                                      .shape = rsc_watch_head_shape(words[0]),
                                      .slot = reg < RSC_WATCH_REGISTERS ? reg : RSC_NO_SLOT,
                                      .path = path,
                                      .chance = chance,
                                      .cycles = rsc_watch_cost_cycles(words[RSC_WATCHED_USE_COST]),
                                      .source = rsc_watch_cost_source(words[RSC_WATCHED_USE_COST]) % RSC_SOURCES};
    if (sample.slot != RSC_NO_SLOT) {
        cursor->open[reg] = 1;
        cursor->word[reg] = words[RSC_WATCHED_USE_ADDRESS];
        cursor->shape[reg] = (uint8_t)rsc_watch_head_shape(words[0]);
    }
    return add_record(drain, (struct rsc_watch_record){RSC_WATCH_RECORD_SAMPLE, cursor->number, .sample = sample},
                      error);
}

static int is_watched(const struct cursor *cursor, uint32_t reg, uint64_t address) {
    uint64_t words[RSC_WATCH_SHAPE_WORDS];
    uint32_t count = rsc_watch_shape_words((enum rsc_watch_shape)cursor->shape[reg], cursor->word[reg] >> 3, words);
    for (uint32_t i = 0; i < count; i++)
        if (words[i] == address >> 3) return 1;
    return 0;
}

/* Position of the reuse: computed from the countdown, the registers and the code's tables. */
static uint64_t position_of(struct rsc_watch_drain *drain, struct cursor *cursor, const uint64_t *words,
                            struct rsc_watch_place *place) {
    uint64_t counter = words[RSC_WATCHED_HIT_COUNTER], stack = words[RSC_WATCHED_HIT_GENERAL + 4];
    uint32_t reg = rsc_watch_head_register(words[0]);
    rsc_watch_code_find(drain->code, cursor->process, words[RSC_WATCHED_HIT_PC], place);
    if (place->where == RSC_WATCH_IN_PIECE) {
        if (place->counter_register >= 0) counter = words[RSC_WATCHED_HIT_GENERAL + place->counter_register];
        return words[RSC_WATCHED_HIT_REACH] - counter - place->weight + place->index;
    }
    /* A call or a return has just moved the stack pointer past the word: it was the last access of its piece. */
    if (is_watched(cursor, reg, stack) || is_watched(cursor, reg, stack - 8)) {
        place->where = RSC_WATCH_ELSEWHERE;
        return words[RSC_WATCHED_HIT_REACH] - counter - 1;
    }
    return words[RSC_WATCHED_HIT_REACH] - counter;
}

static int take_hit(struct rsc_watch_drain *drain, struct cursor *cursor, const uint64_t *words, const uint64_t *frames,
                    uint32_t frame_count, struct rsc_error *error) {
    uint32_t reg = rsc_watch_head_register(words[0]), flags = rsc_watch_head_flags(words[0]);
    struct rsc_watch_place place = {.where = RSC_WATCH_IN_PIECE, .pc = words[RSC_WATCHED_HIT_PC]};
    if (reg >= RSC_WATCH_REGISTERS || !cursor->open[reg]) return 0; /* its use was dropped for lack of room */
    uint64_t position = words[RSC_WATCHED_HIT_REACH];
    if (!(flags & RSC_WATCH_RESOLVED)) position = position_of(drain, cursor, words, &place);
    double words_per_access = place.weight ? (double)place.words / (double)place.weight : 0;
    struct rsc_watch_end end = {.count =
                                    references_at(drain, cursor,
                                                  (struct progress){position, words[RSC_WATCHED_HIT_RANGE_ACCESSES],
                                                                    words[RSC_WATCHED_HIT_RANGE_WORDS]},
                                                  words_per_access),
                                .pc = (place.pc & ADDRESS_MASK) | cursor->space,
                                .chance = rsc_watch_double(words[RSC_WATCHED_HIT_CHANCE]),
                                .ending = RSC_WATCH_REUSED};
    if (place.where == RSC_WATCH_INSERTED) {
        end.ending = RSC_WATCH_REPLACED; /* not reused so far: censored */
        drain->stats.inserted++;
    } else if (flags & RSC_WATCH_LATE || !(end.chance > 0 && end.chance <= 1)) {
        end.ending = RSC_WATCH_DROPPED;
    } else if (rsc_watch_paths_add(drain->paths, cursor->space, frames, frame_count, &end.path) < 0) {
        return rsc_fail_memory(error, "call paths");
    }
    return end_watch(drain, cursor, reg, end, error);
}

static int take_end(struct rsc_watch_drain *drain, struct cursor *cursor, const uint64_t *words,
                    struct rsc_error *error) {
    uint32_t reg = rsc_watch_head_register(words[0]);
    if (reg >= RSC_WATCH_REGISTERS || !cursor->open[reg]) return 0;
    struct rsc_watch_end end = {
        .count = references_at(drain, cursor,
                               (struct progress){words[RSC_WATCHED_END_POSITION], words[RSC_WATCHED_END_RANGE_ACCESSES],
                                                 words[RSC_WATCHED_END_RANGE_WORDS]},
                               0) -
                 1,
        .chance = rsc_watch_double(words[RSC_WATCHED_END_CHANCE]),
        .ending = rsc_watch_head_flags(words[0]) & RSC_WATCH_FAILED ? RSC_WATCH_DROPPED : RSC_WATCH_UNUSED};
    return end_watch(drain, cursor, reg, end, error);
}

/* ---- streams ---- */

static int start_thread(struct rsc_watch_drain *drain, struct cursor *cursor, const struct rsc_watch_stream *stream,
                        struct rsc_error *error) {
    uint64_t taken = cursor->taken, id = rsc_process_id(stream->image, stream->pid);
    struct process *process = find_process(drain, id);
    if (!process) return rsc_fail_memory(error, "collector");
    if (drain->threads >= RSC_THREADS_MAX) return rsc_fail(error, RSC_ELIMIT, "more than %u threads", RSC_THREADS_MAX);
    uint32_t number = (uint32_t)(process - drain->processes);
    *cursor = (struct cursor){.generation = stream->generation,
                              .number = drain->threads++,
                              .process = id,
                              .taken = taken,
                              .process_number = number + 1,
                              .thread_of_process = ++process->threads,
                              .space = (uint64_t)number << 48,
                              .counts_lines = drain->ring->watch.lines != 0};
    return 0;
}

static int take_record(struct rsc_watch_drain *drain, struct cursor *cursor, const uint64_t *words,
                       struct rsc_error *error) {
    uint32_t count = rsc_watch_head_words(words[0]), frames = rsc_watch_head_frames(words[0]), fixed = count - frames;
    const uint32_t flags = rsc_watch_head_flags(words[0]);
    if (frames > count) return 0;
    switch (rsc_watch_head_type(words[0])) {
    case RSC_WATCHED_USE:
        return fixed == RSC_WATCHED_USE_WORDS ? take_use(drain, cursor, words, words + fixed, frames, error) : 0;
    case RSC_WATCHED_HIT:
        if (fixed != (flags & RSC_WATCH_RESOLVED ? RSC_WATCHED_HIT_WORDS_RESOLVED : RSC_WATCHED_HIT_WORDS)) return 0;
        return take_hit(drain, cursor, words, words + fixed, frames, error);
    case RSC_WATCHED_END: return fixed == RSC_WATCHED_END_WORDS ? take_end(drain, cursor, words, error) : 0;
    default: return 0;
    }
}

static int take_words(struct rsc_watch_drain *drain, struct cursor *cursor, struct rsc_watch_stream *stream,
                      struct rsc_error *error) {
    uint64_t written = __atomic_load_n(&stream->written, __ATOMIC_ACQUIRE), words[RECORD_MAX];
    if (written - cursor->taken > RSC_WATCH_WORDS) cursor->taken = written; /* never written by our code */
    while (cursor->taken < written) {
        uint64_t head = stream->words[cursor->taken % RSC_WATCH_WORDS];
        uint32_t count = rsc_watch_head_words(head);
        if (!count || count > RECORD_MAX || count > written - cursor->taken) {
            cursor->taken = written;
            break;
        }
        for (uint32_t i = 0; i < count; i++) words[i] = stream->words[(cursor->taken + i) % RSC_WATCH_WORDS];
        words[0] = head;
        cursor->taken += count;
        int status = take_record(drain, cursor, words, error);
        if (status < 0) return status;
    }
    __atomic_store_n(&stream->taken, cursor->taken, __ATOMIC_RELEASE);
    return 0;
}

static void add_stats(struct rsc_watch_stats *stats, const struct rsc_watch_stream *stream, uint64_t accesses) {
    stats->threads++;
    stats->accesses += accesses;
    stats->samples = rsc_add_counts(stats->samples, stream->samples);
    stats->hits = rsc_add_counts(stats->hits, stream->hits);
    stats->own_hits = rsc_add_counts(stats->own_hits, stream->own_hits);
    stats->late_hits = rsc_add_counts(stats->late_hits, stream->late_hits);
    stats->dropped = rsc_add_counts(stats->dropped, stream->dropped);
    stats->void_samples = rsc_add_counts(stats->void_samples, stream->void_samples);
    stats->busy_ns = rsc_add_counts(stats->busy_ns, stream->busy_ns);
}

/*
 * A thread's progress, and its end. Watches that are still open: a thread that ended by itself reported how they ended,
 * but there was no room; one that was killed did not.
 */
static int tell_thread(struct rsc_watch_drain *drain, struct cursor *cursor, const struct rsc_watch_stream *stream,
                       int was_killed, struct rsc_error *error) {
    struct progress at = {stream->position, stream->range_accesses, stream->range_words};
    if (at.position < cursor->position)
        at = (struct progress){cursor->position, cursor->range_accesses, cursor->range_words};
    uint64_t references = references_at(drain, cursor, at, 0) - 1;
    for (uint32_t reg = 0; reg < RSC_WATCH_REGISTERS; reg++) {
        if (!cursor->open[reg]) continue;
        struct rsc_watch_end end = {.count = references,
                                    .chance = rsc_watch_double(stream->chances[reg]),
                                    .ending = was_killed ? RSC_WATCH_UNUSED : RSC_WATCH_DROPPED};
        int status = end_watch(drain, cursor, reg, end, error);
        if (status < 0) return status;
    }
    struct rsc_watch_progress progress = {cursor->process_number, cursor->thread_of_process, references,
                                          cursor->position};
    return add_record(drain, (struct rsc_watch_record){RSC_WATCH_RECORD_PROGRESS, cursor->number, .progress = progress},
                      error);
}

int rsc_watch_drain_take(struct rsc_watch_drain *drain, int ended, const struct rsc_watch_record **records,
                         size_t *count, struct rsc_error *error) {
    struct rsc_watch_area *area = &drain->ring->watch;
    drain->record_count = 0;
    uint32_t used = __atomic_load_n(&area->streams_used, __ATOMIC_ACQUIRE);
    if (take_notes(drain) < 0) return rsc_fail_memory(error, "collector");
    for (uint32_t i = 0; i < used && i < RSC_WATCH_STREAMS; i++) {
        struct rsc_watch_stream *stream = &area->streams[i];
        struct cursor *cursor = &drain->cursors[i];
        uint32_t state = __atomic_load_n(&stream->state, __ATOMIC_ACQUIRE);
        int status = 0, over = ended || state == RSC_SLOT_ENDED;
        if (state != RSC_SLOT_LIVE && state != RSC_SLOT_ENDED) continue;
        if (!cursor->generation || cursor->generation != stream->generation)
            status = start_thread(drain, cursor, stream, error);
        if (status >= 0) status = take_words(drain, cursor, stream, error);
        if (status >= 0 && over) status = tell_thread(drain, cursor, stream, state == RSC_SLOT_LIVE, error);
        if (status < 0) return status;
        if (!over) continue;
        add_stats(&drain->stats, stream, cursor->position);
        cursor->generation = 0;
        __atomic_store_n(&stream->state, RSC_SLOT_FREE, __ATOMIC_RELEASE);
    }
    *records = drain->records;
    *count = drain->record_count;
    return 0;
}

unsigned rsc_watch_drain_living(const struct rsc_watch_drain *drain) {
    const struct rsc_watch_area *area = &drain->ring->watch;
    uint32_t used = __atomic_load_n(&area->streams_used, __ATOMIC_ACQUIRE);
    unsigned living = 0;
    for (uint32_t i = 0; i < used && i < RSC_WATCH_STREAMS; i++) {
        const struct rsc_watch_stream *stream = &area->streams[i];
        if (__atomic_load_n(&stream->state, __ATOMIC_ACQUIRE) == RSC_SLOT_LIVE &&
            rsc_thread_running(&drain->ancestors, stream->pid, stream->tid) == RSC_THREAD_RUNS)
            living++;
    }
    return living;
}

void rsc_watch_drain_stats(const struct rsc_watch_drain *drain, struct rsc_watch_stats *stats) {
    *stats = drain->stats;
}

int rsc_watch_drain_fill(const struct rsc_watch_drain *drain, struct rsc_profile *profile) {
    return rsc_watch_paths_fill(drain->paths, profile);
}
