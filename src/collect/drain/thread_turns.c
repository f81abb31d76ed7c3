/* thread_turns.c - see thread_turns.h. */
#include "collect/drain/thread_turns.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"

#define CELL_SHIFT 2   /* cells of 4 bytes */
#define LINE_SHIFT 6   /* kept together by lines of 64: most accesses are near others */
#define TABLE_BITS 15u /* lines of a round: half as many at most */
#define WORDS_MOST (1u << 21)
#define WRITTEN_MOST 4u /* lines that a unit wrote to and that are remembered */

struct unit {
    uint32_t first_word, words;
    uint32_t first_wait, waits;
    uint64_t before; /* accesses that only have to pass */
    uint32_t accesses;
    uint16_t written[WRITTEN_MOST]; /* their places in the table */
    uint8_t written_count, goes_on;
};

/* A unit must come after another thread's. */
struct wait {
    uint32_t thread, unit;
};

struct turn_thread {
    struct unit *units;
    size_t count, room;
    size_t next;     /* to be taken */
    uint64_t waited; /* of those accesses before it */
    uint32_t *after; /* [thread_count]: units of each other thread that the last unit comes after */
    uint32_t after_count;
};

/* Who used 4 bytes last in this round; numbers of threads are plus 1, 0: nobody. */
struct cell {
    uint16_t writer, reader; /* a reader since that write; MANY: several threads */
    uint32_t write_unit, read_unit;
};
#define MANY UINT16_MAX

struct line {
    uint64_t key;
    uint32_t round;
    uint16_t user; /* as in cells */
    struct cell cells[1 << (LINE_SHIFT - CELL_SHIFT)];
};

struct rsc_turns {
    uint64_t quantum;
    int fine;
    struct turn_thread *threads;
    uint32_t thread_count;
    uint64_t *words;
    size_t word_count, word_room;
    struct wait *waits;
    size_t wait_count, wait_room;
    struct line *lines;
    struct line *last; /* used */
    uint32_t round, line_count;
    uint32_t filling; /* the thread of the unit being put together */
    uint32_t turn;    /* the thread whose turn it is */
    uint64_t taken;   /* accesses of this turn */
    uint64_t passed;  /* accesses of this round */
    int has_before;   /* a unit of the round has accesses before it */
};

struct rsc_turns *rsc_turns_new(uint64_t quantum, int fine) {
    struct rsc_turns *turns = calloc(1, sizeof *turns);
    if (!turns) return NULL;
    turns->quantum = quantum;
    turns->fine = fine;
    turns->round = 1;
    turns->lines = calloc(1u << TABLE_BITS, sizeof *turns->lines);
    turns->last = turns->lines;
    if (turns->lines) return turns;
    free(turns);
    return NULL;
}

void rsc_turns_free(struct rsc_turns *turns) {
    if (!turns) return;
    for (uint32_t i = 0; i < turns->thread_count; i++) {
        free(turns->threads[i].units);
        free(turns->threads[i].after);
    }
    free(turns->threads);
    free(turns->words);
    free(turns->waits);
    free(turns->lines);
    free(turns);
}

/* ---- putting a round together ---- */

static int know_thread(struct rsc_turns *turns, uint32_t thread) {
    if (thread < turns->thread_count) return 0;
    struct turn_thread *threads = realloc(turns->threads, (thread + 1) * sizeof *threads);
    if (!threads) return RSC_ENOMEM;
    memset(threads + turns->thread_count, 0, (thread + 1 - turns->thread_count) * sizeof *threads);
    turns->threads = threads;
    turns->thread_count = thread + 1;
    return 0;
}

uint64_t *rsc_turns_begin(struct rsc_turns *turns, uint32_t thread, uint32_t most) {
    if (know_thread(turns, thread) < 0) return NULL;
    struct turn_thread *of = &turns->threads[thread];
    if (rsc_grow(&of->units, &of->room, of->count + 1, sizeof *of->units) < 0 ||
        rsc_grow(&turns->words, &turns->word_room, turns->word_count + most + RSC_TURN_SPARE, sizeof *turns->words) < 0)
        return NULL;
    of->units[of->count] =
        (struct unit){.first_word = (uint32_t)turns->word_count, .first_wait = (uint32_t)turns->wait_count};
    turns->filling = thread;
    return turns->words + turns->word_count;
}

void rsc_turns_pass(struct rsc_turns *turns, uint64_t accesses) {
    struct turn_thread *of = &turns->threads[turns->filling];
    of->units[of->count].before += accesses;
    turns->has_before |= accesses != 0;
}

/* The unit comes after `unit` of another thread, and so after all before that. */
static int wait_for(struct rsc_turns *turns, uint32_t thread, uint32_t unit) {
    struct turn_thread *of = &turns->threads[turns->filling];
    if (thread == turns->filling) return 0;
    if (of->after_count < turns->thread_count) {
        uint32_t *after = realloc(of->after, turns->thread_count * sizeof *after);
        if (!after) return RSC_ENOMEM;
        memset(after + of->after_count, 0, (turns->thread_count - of->after_count) * sizeof *after);
        of->after = after;
        of->after_count = turns->thread_count;
    }
    if (of->after[thread] > unit) return 0; /* it does already */
    of->after[thread] = unit + 1;
    if (rsc_grow(&turns->waits, &turns->wait_room, turns->wait_count + 1, sizeof *turns->waits) < 0) return RSC_ENOMEM;
    turns->waits[turns->wait_count++] = (struct wait){thread, unit};
    return 0;
}

static struct line *line_of(struct rsc_turns *turns, uint64_t key) {
    const uint32_t mask = (1u << TABLE_BITS) - 1;
    uint32_t at = (uint32_t)(key * 0x9E3779B97F4A7C15ull >> (64 - TABLE_BITS));
    while (turns->lines[at].round == turns->round && turns->lines[at].key != key) at = (at + 1) & mask;
    struct line *line = &turns->lines[at];
    if (line->round != turns->round) {
        *line = (struct line){.key = key, .round = turns->round};
        turns->line_count++;
    }
    return line;
}

/* Other threads that read it since it was written. */
static int wait_for_readers(struct rsc_turns *turns, const struct cell *cell) {
    if (cell->reader != MANY) return wait_for(turns, cell->reader - 1u, cell->read_unit);
    int status = 0;
    for (uint32_t i = 0; !status && i < turns->thread_count; i++)
        if (turns->threads[i].count) status = wait_for(turns, i, (uint32_t)turns->threads[i].count - 1);
    return status;
}

static int use_cell(struct rsc_turns *turns, struct cell *cell, uint16_t self, uint32_t unit, int is_write) {
    int status = cell->writer && cell->writer != self ? wait_for(turns, cell->writer - 1u, cell->write_unit) : 0;
    if (is_write) {
        if (!status && cell->reader && cell->reader != self) status = wait_for_readers(turns, cell);
        *cell = (struct cell){.writer = self, .write_unit = unit};
    } else {
        cell->reader = cell->reader && cell->reader != self ? MANY : self;
        cell->read_unit = unit;
    }
    return status;
}

static void use_line(const struct rsc_turns *turns, struct line *line, uint16_t self, struct unit *unit, int is_write) {
    const uint16_t place = (uint16_t)(line - turns->lines);
    if (line->user != self) line->user = line->user ? MANY : self;
    if (!is_write || unit->written_count == WRITTEN_MOST) return;
    for (uint32_t i = 0; i < unit->written_count; i++)
        if (unit->written[i] == place) return;
    unit->written[unit->written_count++] = place;
}

int rsc_turns_access(struct rsc_turns *turns, uint64_t addr, uint32_t size, int is_write) {
    struct turn_thread *of = &turns->threads[turns->filling];
    const uint16_t self = (uint16_t)(turns->filling + 1);
    const uint32_t unit = (uint32_t)of->count, per_line = 1u << (LINE_SHIFT - CELL_SHIFT);
    const uint64_t last = (addr + (size ? size - 1 : 0)) >> CELL_SHIFT;
    struct line *line = turns->last;
    int status = 0;
    of->units[of->count].accesses++;
    for (uint64_t cell = addr >> CELL_SHIFT; !status && cell <= last; cell++) {
        const uint64_t key = cell / per_line;
        if (line->key != key || line->round != turns->round) turns->last = line = line_of(turns, key);
        if (turns->fine) use_line(turns, line, self, &of->units[of->count], is_write);
        status = use_cell(turns, &line->cells[cell % per_line], self, unit, is_write);
    }
    return status;
}

void rsc_turns_end(struct rsc_turns *turns, uint32_t words, int goes_on) {
    struct turn_thread *of = &turns->threads[turns->filling];
    struct unit *unit = &of->units[of->count++];
    unit->words = words;
    turns->word_count += words;
    unit->waits = (uint32_t)(turns->wait_count - unit->first_wait);
    unit->goes_on = goes_on != 0;
}

int rsc_turns_has(const struct rsc_turns *turns, uint32_t thread) {
    return thread < turns->thread_count && turns->threads[thread].count;
}

int rsc_turns_any(const struct rsc_turns *turns) { return turns->word_count != 0; }

int rsc_turns_full(const struct rsc_turns *turns) {
    return turns->word_count > WORDS_MOST || turns->line_count > 1u << (TABLE_BITS - 1);
}

/* ---- taking turns ---- */

static int may_run(const struct rsc_turns *turns, const struct unit *unit) {
    for (uint32_t i = 0; i < unit->waits; i++) {
        const struct wait *wait = &turns->waits[unit->first_wait + i];
        if (turns->threads[wait->thread].next <= wait->unit) return 0;
    }
    return 1;
}

static void end_round(struct rsc_turns *turns) {
    for (uint32_t i = 0; i < turns->thread_count; i++) {
        struct turn_thread *thread = &turns->threads[i];
        thread->count = thread->next = 0;
        thread->waited = 0;
        if (thread->after_count) memset(thread->after, 0, thread->after_count * sizeof *thread->after);
    }
    turns->word_count = turns->wait_count = 0;
    turns->line_count = 0;
    turns->passed = 0;
    turns->has_before = 0;
    turns->round++;
}

/* Accesses before the unit pass, as many as the turn has left. Returns whether the unit is still within this turn. */
static int pass(struct rsc_turns *turns, struct turn_thread *of, const struct unit *next) {
    const uint64_t left = next->before - of->waited, room = turns->quantum - turns->taken;
    const uint64_t some = left < room ? left : room;
    of->waited += some;
    turns->taken += some;
    turns->passed += some;
    return turns->taken < turns->quantum;
}

/* Turns in which accesses only pass, in all threads that can go on: all at once. */
static void pass_turns(struct rsc_turns *turns) {
    uint64_t least = UINT64_MAX;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < turns->thread_count; i++) {
            struct turn_thread *of = &turns->threads[i];
            const struct unit *next = &of->units[of->next];
            if (of->next >= of->count || !may_run(turns, next)) continue;
            const uint64_t whole = (next->before - of->waited) / turns->quantum;
            if (!pass) {
                least = whole < least ? whole : least;
            } else {
                of->waited += least * turns->quantum;
                turns->passed += least * turns->quantum;
            }
        }
}

static int wrote_what_others_use(const struct rsc_turns *turns, const struct unit *unit) {
    for (uint32_t i = 0; i < unit->written_count; i++)
        if (turns->lines[unit->written[i]].user == MANY) return 1;
    return 0;
}

/* Takes what the thread can do in this turn. Returns 0 if that is nothing. */
static int take_units(struct rsc_turns *turns, struct turn_thread *of, struct rsc_turn_units *units) {
    *units = (struct rsc_turn_units){.thread = turns->turn};
    for (; of->next < of->count; of->next++) {
        const struct unit *next = &of->units[of->next];
        const int goes_on = of->next && of->units[of->next - 1].goes_on;
        if ((turns->taken >= turns->quantum && !goes_on) || !may_run(turns, next)) break;
        if (units->words && (units->count + next->words > RSC_TURN_WORDS ||
                             units->words + units->count != turns->words + next->first_word))
            break;
        if (next->before && !pass(turns, of, next)) break;
        if (!units->words) {
            units->words = turns->words + next->first_word;
            units->passed = turns->passed;
        }
        of->waited = 0;
        units->count += next->words;
        turns->taken += next->accesses;
        turns->passed += next->accesses;
        if (turns->taken < turns->quantum && wrote_what_others_use(turns, next)) turns->taken = turns->quantum;
    }
    return units->words != NULL;
}

int rsc_turns_next(struct rsc_turns *turns, struct rsc_turn_units *units) {
    /* The first unit in the order of execution that is left waits for none: some thread can always go on. */
    for (uint32_t tried = 0; tried <= turns->thread_count; tried++) {
        const uint64_t passed = turns->passed;
        if (turns->turn < turns->thread_count && take_units(turns, &turns->threads[turns->turn], units)) return 1;
        if (turns->passed != passed) tried = 0;
        turns->turn = turns->turn + 1 < turns->thread_count ? turns->turn + 1 : 0;
        turns->taken = 0;
        if (!turns->turn && turns->has_before) pass_turns(turns);
    }
    end_round(turns);
    return 0;
}
