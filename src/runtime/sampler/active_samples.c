/* active_samples.c - see active_samples.h. */
#include "runtime/sampler/active_samples.h"

#include <string.h>

/* A level that forgets keeps 3/4 of its lines, minus one epoch, minus what a renumbering merges: at least 9/16. */
#define EPOCH_LINES(lines) ((lines) / 8)
#define JOINED_LINES(lines) ((lines) / 16)
#define CHECKPOINTS 2048u /* possible epochs between samples: 16 to 32 per octave of distance after a renumbering */

static uint64_t hash_of(const struct rsc_active_samples *set, uint64_t line) {
    return rsc_active_hash(set->hash_key, line);
}

/* ---- memory ---- */

static uint32_t level_lines_of(const struct rsc_active_options *options) {
    return (options->exact_lines + 35) / 36 * 64; /* 9/16 of it are exact_lines */
}
/* Half of a level's lines are in no higher level; of the last level all are. A tenth is added for chance. */
static uint64_t limit_of(uint64_t level_lines) { return level_lines * (RSC_LEVELS + 1) / 2 * 11 / 10; }
static uint32_t table_of(uint64_t limit) {
    uint32_t room = 64;
    while (room < limit + limit / 3) room *= 2;
    return room;
}
static uint32_t epochs_of(const struct rsc_active_options *options) {
    return (2 * options->samples_most + 2 * CHECKPOINTS + 63) / 64 * 64;
}

/* From NULL on, the end is the size: not pointer arithmetic, which needs an object. */
static void *carve(char **at, size_t bytes) {
    void *piece = *at;
    *at = (char *)((uintptr_t)*at + (bytes + 63) / 64 * 64);
    return piece;
}

/* Places every array from `start` on; returns the end. `set` is all zeros except its sizes. */
static char *lay_out(struct rsc_active_samples *set, char *start) {
    char *at = start;
    set->lines = carve(&at, (set->line_mask + 1ull) * sizeof *set->lines);
    set->renumbered = carve(&at, set->epochs * sizeof *set->renumbered);
    for (uint32_t j = 0; j < RSC_LEVELS; j++) {
        set->level[j].above = carve(&at, set->epochs * sizeof(int32_t));
        set->level[j].above_block = carve(&at, set->epochs / 64 * sizeof(int32_t));
        set->level[j].holes = carve(&at, set->epochs * sizeof(int32_t));
        set->level[j].has_holes = carve(&at, set->epochs / 64 * sizeof(uint64_t));
    }
    set->marks = carve(&at, RSC_ACTIVE_MARKS * sizeof(uint16_t));
    set->sample_epoch = carve(&at, set->samples_most * sizeof(uint32_t));
    set->sample_line = carve(&at, set->samples_most * sizeof(uint64_t));
    set->sample_taken = carve(&at, set->samples_most);
    set->older = carve(&at, set->samples_most * sizeof(uint32_t));
    set->newer = carve(&at, set->samples_most * sizeof(uint32_t));
    return at;
}

static void size_up(struct rsc_active_samples *set, const struct rsc_active_options *options) {
    memset(set, 0, sizeof *set);
    set->exact_lines = options->exact_lines;
    set->level_lines = level_lines_of(options);
    /* sampled lines are never forgotten: they come on top */
    set->lines_limit = (uint32_t)limit_of(set->level_lines) + options->samples_most;
    set->line_mask = table_of(set->lines_limit) - 1;
    set->epochs = epochs_of(options);
    set->samples_most = options->samples_most;
}

size_t rsc_active_bytes(const struct rsc_active_options *options) {
    struct rsc_active_samples set;
    size_up(&set, options);
    return (size_t)(uintptr_t)lay_out(&set, NULL);
}

void rsc_active_init(struct rsc_active_samples *set, const struct rsc_active_options *options, void *zeroed) {
    size_up(set, options);
    lay_out(set, zeroed);
    set->hash_key = rsc_active_key(options->seed);
    set->now = 1;
    for (uint32_t j = 0; j < RSC_LEVELS; j++) set->level[j].reaches = 1;
    set->oldest = set->newest = RSC_NO_SAMPLE;
    set->free = 0;
    for (uint32_t i = 0; i < set->samples_most; i++) set->newer[i] = i + 1 < set->samples_most ? i + 1 : RSC_NO_SAMPLE;
}

/* ---- counts by epoch ---- */

static void add_above(struct rsc_active_level *level, uint32_t epoch, int32_t change) {
    level->above[epoch] += change;
    level->above_block[epoch / 64] += change;
}

/* Sum of above[] from an epoch to the current one. */
static int64_t count_from(const struct rsc_active_level *level, uint32_t epoch, uint32_t now) {
    int64_t sum = 0;
    for (; epoch <= now && epoch % 64; epoch++) sum += level->above[epoch];
    for (; epoch + 63 <= now; epoch += 64) sum += level->above_block[epoch / 64];
    for (; epoch <= now; epoch++) sum += level->above[epoch];
    return sum;
}

static void add_hole(struct rsc_active_level *level, uint32_t epoch) {
    if (!level->holes[epoch]++) level->has_holes[epoch / 64] |= 1ull << epoch % 64;
    if (epoch > level->top_hole) level->top_hole = epoch;
}

static void drop_top_hole(struct rsc_active_level *level) {
    uint32_t word = level->top_hole / 64;
    if (--level->holes[level->top_hole]) return;
    level->has_holes[word] &= ~(1ull << level->top_hole % 64);
    while (word && !level->has_holes[word]) word--;
    uint64_t bits = level->has_holes[word];
    level->top_hole = bits ? word * 64 + 63 - (uint32_t)__builtin_clzll(bits) : 0;
}

/* A line of this level and those below moves from epoch `from` (0: new) to `to`. */
static void move_line(struct rsc_active_samples *set, uint32_t of_level, uint32_t from, uint32_t to) {
    for (uint32_t j = 0; j <= of_level; j++) {
        struct rsc_active_level *level = &set->level[j];
        if (level->top_hole > from) {
            add_above(level, level->top_hole, -1);
            drop_top_hole(level);
            if (from) add_hole(level, from);
        } else if (from) {
            add_above(level, from, -1);
        }
        add_above(level, to, 1);
    }
}

/* ---- the table ---- */

/* The line's place, or the empty one for it. */
static struct rsc_active_line *place_of(const struct rsc_active_samples *set, uint64_t line, uint64_t hash) {
    uint32_t at = rsc_active_home(set, hash);
    while (set->lines[at].epoch && set->lines[at].line != line) at = (at + 1) & set->line_mask;
    return &set->lines[at];
}

/* Removes the entry and moves up entries that probing would no longer find. */
static void remove_line(struct rsc_active_samples *set, uint32_t hole) {
    uint32_t at = hole;
    for (;;) {
        at = (at + 1) & set->line_mask;
        if (!set->lines[at].epoch) break;
        uint32_t home = rsc_active_home(set, hash_of(set, set->lines[at].line));
        if (((at - home) & set->line_mask) < ((at - hole) & set->line_mask)) continue;
        set->lines[hole] = set->lines[at];
        hole = at;
    }
    set->lines[hole].epoch = 0;
    set->lines_used--;
}

/* Forgets every line that no sample can need: of an epoch before the oldest sample, or forgotten by its level. */
static void forget_lines(struct rsc_active_samples *set) {
    uint32_t oldest = set->active ? set->sample_epoch[set->oldest] : set->now + 1;
    for (uint32_t i = 0; i <= set->line_mask;) {
        const struct rsc_active_line *entry = &set->lines[i];
        uint32_t reaches = set->level[entry->sample_level & 15].reaches;
        if (entry->epoch && entry->sample_level < 16 && (entry->epoch < oldest || entry->epoch < reaches))
            remove_line(set, i);
        else i++;
    }
}

/* Each level forgets its oldest epochs until it has at most `lines` lines. */
static void shorten_reach(struct rsc_active_samples *set, uint32_t lines) {
    for (uint32_t j = 0; j < RSC_LEVELS; j++) {
        struct rsc_active_level *level = &set->level[j];
        uint32_t epoch = set->now;
        int64_t sum = level->above[epoch];
        while (epoch > level->reaches && sum + level->above[epoch - 1] <= lines) sum += level->above[--epoch];
        if (epoch > level->reaches) level->reaches = epoch;
    }
}

/* Room for one more line. Returns whether lines were moved. */
static int make_room(struct rsc_active_samples *set) {
    if (set->lines_used < set->lines_limit) return 0;
    uint32_t enough = set->lines_limit - (uint32_t)(limit_of(set->level_lines) / 10);
    forget_lines(set);
    for (uint32_t lines = set->level_lines / 4 * 3; set->lines_used > enough; lines = lines / 4 * 3) {
        shorten_reach(set, lines);
        forget_lines(set);
        if (lines < EPOCH_LINES(set->level_lines)) break;
    }
    return 1;
}

/* ---- renumbering ---- */

/*
 * Which epochs stay separate: those begun by samples, and enough of the others that no
 * two neighbours could be merged without becoming too large for their depth. Writes
 * renumbered[] and returns the number of epochs left.
 */
static uint32_t choose_epochs(struct rsc_active_samples *set, uint32_t oldest) {
    uint32_t *to = set->renumbered;
    int64_t depth = 0, size = 0;
    /* From the newest down: mark[e] = 1 if an epoch must begin there. */
    for (uint32_t e = 1; e <= set->now; e++) to[e] = 0;
    for (uint32_t i = set->oldest; i != RSC_NO_SAMPLE; i = set->newer[i]) to[set->sample_epoch[i]] = 1;
    for (uint32_t e = set->now; e >= oldest; e--) {
        int64_t lines = set->level[0].above[e],
                large = JOINED_LINES(depth > set->level_lines ? depth : set->level_lines);
        if (size && size + lines > large) {
            to[e + 1] = 1;
            size = 0;
        }
        size = to[e] ? 0 : size + lines;
        depth += lines;
    }
    uint32_t number = 0;
    for (uint32_t e = oldest; e <= set->now; e++) {
        number += to[e] || e == oldest;
        to[e] = number;
    }
    return number;
}

static void renumber_level(struct rsc_active_samples *set, struct rsc_active_level *level) {
    const uint32_t *to = set->renumbered;
    /* no epoch gets a higher number, so an ascending loop overwrites nothing unread */
    for (uint32_t e = 1; e <= set->now; e++) {
        int32_t above = level->above[e], holes = level->holes[e];
        level->above[e] = level->holes[e] = 0;
        if (!to[e]) continue;
        level->above[to[e]] += above;
        level->holes[to[e]] += holes;
    }
    uint32_t reaches = level->reaches;
    if (reaches <= set->now) level->reaches = to[reaches] ? to[reaches] + (to[reaches - 1] == to[reaches]) : 1;
    memset(level->above_block, 0, set->epochs / 64 * sizeof *level->above_block);
    memset(level->has_holes, 0, set->epochs / 64 * sizeof *level->has_holes);
    level->top_hole = 0;
    for (uint32_t e = 1; e <= set->now; e++) {
        level->above_block[e / 64] += level->above[e];
        if (!level->holes[e]) continue;
        level->has_holes[e / 64] |= 1ull << e % 64;
        level->top_hole = e;
    }
}

static void renumber(struct rsc_active_samples *set) {
    uint32_t oldest = set->active ? set->sample_epoch[set->oldest] : set->now;
    forget_lines(set);
    uint32_t left = choose_epochs(set, oldest);
    for (uint32_t j = 0; j < RSC_LEVELS; j++) renumber_level(set, &set->level[j]);
    for (uint32_t i = 0; i <= set->line_mask; i++) set->lines[i].epoch = set->renumbered[set->lines[i].epoch];
    for (uint32_t i = set->oldest; i != RSC_NO_SAMPLE; i = set->newer[i])
        set->sample_epoch[i] = set->renumbered[set->sample_epoch[i]];
    memset(set->recent, 0, sizeof set->recent); /* epochs are renumbered */
    set->now = left;
    set->in_epoch = (uint32_t)set->level[0].above[left];
    set->renumberings++;
}

static void next_epoch(struct rsc_active_samples *set) {
    if (set->now + 1 == set->epochs) renumber(set);
    set->now++;
    set->in_epoch = 0;
    for (uint32_t j = 0; j < set->skips; j++) set->level[j].reaches = set->now + 1;
}

/* ---- unneeded levels ---- */

/*
 * Whether the newest sample, and so every one, does not need a level: the level does not reach back far
 * enough; or it has too many lines to be used, and the next level has enough for the stated error.
 */
static int is_spare(const struct rsc_active_samples *set, uint32_t level, uint32_t epoch) {
    if (set->level[level].reaches > epoch) return 1;
    return count_from(&set->level[level], epoch, set->now) > (int64_t)set->exact_lines + 1 &&
           count_from(&set->level[level + 1], epoch, set->now) > (int64_t)set->exact_lines / 2;
}

static void skip_levels(struct rsc_active_samples *set) {
    if (!set->active) return;
    uint32_t epoch = set->sample_epoch[set->newest];
    while (set->skips + 1 < RSC_LEVELS && is_spare(set, set->skips, epoch))
        set->level[set->skips++].reaches = set->now + 1;
}

/* For an epoch that has just begun. */
static void need_all_levels(struct rsc_active_samples *set) {
    for (uint32_t j = 0; j < set->skips; j++) set->level[j].reaches = set->now;
    set->skips = 0;
}

/* ---- uses ---- */

/* Moves the last use of the line, whose place this is, to epoch `when`. */
static void put_line(struct rsc_active_samples *set, struct rsc_active_line *entry, uint64_t line, uint64_t hash,
                     uint32_t when) {
    uint32_t before = entry->epoch;
    if (before >= when) return;
    if (!before) {
        set->lines_used++;
        *entry = (struct rsc_active_line){line, 0, rsc_active_level_of(hash)};
    }
    entry->epoch = when;
    move_line(set, entry->sample_level & 15, before, when);
    set->in_epoch++;
}

uint32_t rsc_active_use_hashed(struct rsc_active_samples *set, uint64_t line, uint64_t hash, uint32_t when) {
    if (rsc_active_ignores(set, hash)) return RSC_NO_SAMPLE;
    struct rsc_active_line *entry = place_of(set, line, hash);
    if (entry->epoch && entry->sample_level >= 16) return entry->sample_level / 16 - 1;
    if (rsc_active_level_of(hash) < set->skips) return RSC_NO_SAMPLE;
    if (entry->epoch == set->now || when == set->now) {
        uint32_t at = rsc_active_recent(line);
        set->recent[at].line = line;
        set->recent[at].epoch = set->now;
    }
    if (entry->epoch >= when) return RSC_NO_SAMPLE;
    if (!entry->epoch && make_room(set)) entry = place_of(set, line, hash);
    put_line(set, entry, line, hash, when);
    if (set->in_epoch < EPOCH_LINES(set->level_lines)) return RSC_NO_SAMPLE;
    skip_levels(set);
    next_epoch(set);
    return RSC_NO_SAMPLE;
}

uint32_t rsc_active_use(struct rsc_active_samples *set, uint64_t line, uint32_t when) {
    return rsc_active_use_hashed(set, line, hash_of(set, line), when);
}

int rsc_active_used_since(const struct rsc_active_samples *set, uint64_t line, uint32_t sample) {
    const struct rsc_active_line *entry = place_of(set, line, hash_of(set, line));
    return entry->epoch && entry->epoch >= set->sample_epoch[sample];
}

uint32_t rsc_active_find(const struct rsc_active_samples *set, uint64_t line) {
    const struct rsc_active_line *entry = place_of(set, line, hash_of(set, line));
    return entry->epoch && entry->sample_level >= 16 ? entry->sample_level / 16 - 1 : RSC_NO_SAMPLE;
}

uint32_t rsc_active_take(struct rsc_active_samples *set, uint64_t line) {
    uint64_t hash = hash_of(set, line);
    if (rsc_active_ignores(set, hash)) return RSC_NO_SAMPLE;
    struct rsc_active_line *entry = place_of(set, line, hash);
    uint32_t sample = entry->sample_level / 16, at = rsc_active_recent(line);
    if (!entry->epoch) return RSC_NO_SAMPLE;
    if (sample && set->sample_taken[sample - 1]) return sample - 1;
    if (set->recent[at].line == line) set->recent[at].epoch = 0;
    for (uint32_t j = 0; j <= (entry->sample_level & 15); j++) add_hole(&set->level[j], entry->epoch);
    if (!sample) {
        remove_line(set, (uint32_t)(entry - set->lines));
        return RSC_NO_SAMPLE;
    }
    set->sample_taken[sample - 1] = 1;
    return sample - 1;
}

/* ---- samples ---- */

uint32_t rsc_active_begin(struct rsc_active_samples *set, uint64_t line) {
    uint32_t sample = set->free;
    if (sample == RSC_NO_SAMPLE) return sample;
    make_room(set);
    next_epoch(set);
    need_all_levels(set);
    uint64_t hash = hash_of(set, line);
    struct rsc_active_line *entry = place_of(set, line, hash);
    put_line(set, entry, line, hash, set->now);
    set->marks[rsc_active_mark(hash)]++;
    entry->sample_level = (sample + 1) * 16 + (entry->sample_level & 15);
    set->free = set->newer[sample];
    set->sample_epoch[sample] = set->now;
    set->sample_line[sample] = line;
    set->sample_taken[sample] = 0;
    set->older[sample] = set->newest;
    set->newer[sample] = RSC_NO_SAMPLE;
    if (set->newest != RSC_NO_SAMPLE) set->newer[set->newest] = sample;
    else set->oldest = sample;
    set->newest = sample;
    set->active++;
    return sample;
}

struct rsc_active_distance rsc_active_distance(const struct rsc_active_samples *set, uint32_t sample) {
    uint32_t epoch = set->sample_epoch[sample], own_level = rsc_active_level_of(hash_of(set, set->sample_line[sample])),
             j = 0;
    while (j + 1 < RSC_LEVELS && set->level[j].reaches > epoch) j++;
    int64_t count = count_from(&set->level[j], epoch, set->now) - (own_level >= j);
    if (count < 0) count = 0;
    uint64_t lines = (uint64_t)count << j;
    return (struct rsc_active_distance){lines, (double)lines * (double)((1u << j) - 1), set->level[j].reaches > epoch};
}

void rsc_active_end(struct rsc_active_samples *set, uint32_t sample) {
    uint64_t line = set->sample_line[sample], hash = hash_of(set, line);
    struct rsc_active_line *entry = place_of(set, line, hash);
    set->marks[rsc_active_mark(hash)]--;
    entry->sample_level &= 15;
    if (set->sample_taken[sample]) remove_line(set, (uint32_t)(entry - set->lines));
    uint32_t before = set->older[sample], after = set->newer[sample];
    if (before != RSC_NO_SAMPLE) set->newer[before] = after;
    else set->oldest = after;
    if (after != RSC_NO_SAMPLE) set->older[after] = before;
    else set->newest = before;
    set->newer[sample] = set->free;
    set->free = sample;
    set->active--;
    skip_levels(set); /* the newest may have changed */
}
