/* sampled_sharing.c - see sampled_sharing.h. */
#include "multicore/sampled_sharing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/rounding.h"
#include "multicore/finished_samples.h"
#include "multicore/sharing.h"

#define LIST_MOST (1u << 17) /* users, and takings; further ones are only in the matrix */
#define UNSEEN 0.1           /* chance of a use so frequent that n samples would show it */

int rsc_sampled_sharing_init(struct rsc_sampled_sharing *sharing) {
    memset(sharing, 0, sizeof *sharing);
    if (!rsc_u64_table_init(&sharing->cell_of, 64) && !rsc_u64_table_init(&sharing->taking_of, 64) &&
        !rsc_u64_table_init(&sharing->user_of, 64) && !rsc_u64_table_init(&sharing->used_by, 64))
        return 0;
    rsc_sampled_sharing_free(sharing);
    return RSC_ENOMEM;
}

void rsc_sampled_sharing_free(struct rsc_sampled_sharing *sharing) {
    rsc_u64_table_free(&sharing->cell_of);
    rsc_u64_table_free(&sharing->taking_of);
    rsc_u64_table_free(&sharing->user_of);
    rsc_u64_table_free(&sharing->used_by);
    free(sharing->cells);
    free(sharing->takings);
    free(sharing->users);
    free(sharing->given_up);
    memset(sharing, 0, sizeof *sharing);
}

/* ---- finding ---- */

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t mixed = (a ^ b * 0xD6E8FEB86659FD93ull) * 0x9E3779B97F4A7C15ull;
    return mixed ^ mixed >> 29;
}

/* The table's entry of a hash, with room for a new one; NULL: out of memory. */
static struct rsc_u64_entry *entry_of(struct rsc_u64_table *table, uint64_t hash) {
    if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return NULL;
    return rsc_u64_table_find(table, hash);
}

static void set_entry(struct rsc_u64_table *table, struct rsc_u64_entry *entry, uint64_t hash, size_t count) {
    if (!entry->value) table->used++;
    *entry = (struct rsc_u64_entry){hash, count};
}

static struct rsc_sampled_cell *find_cell(struct rsc_sampled_sharing *sharing, uint32_t by, uint32_t from) {
    const uint64_t key = (uint64_t)by << 32 | from;
    struct rsc_u64_entry *entry = entry_of(&sharing->cell_of, key);
    if (entry && entry->value) return &sharing->cells[entry->value - 1];
    if (!entry || RSC_GROW(sharing->cells, sharing->cell_room, sharing->cell_count + 1)) return NULL;
    sharing->cells[sharing->cell_count++] = (struct rsc_sampled_cell){.by = by, .from = from};
    set_entry(&sharing->cell_of, entry, key, sharing->cell_count);
    return &sharing->cells[sharing->cell_count - 1];
}

/* NULL: out of memory, or, with *is_full set, out of room. */
static struct rsc_sampled_user *find_user(struct rsc_sampled_sharing *sharing, uint64_t line, uint32_t stack,
                                          int *is_full) {
    const uint64_t hash = mix(line, stack);
    struct rsc_u64_entry *entry = entry_of(&sharing->user_of, hash);
    if (!entry) return NULL;
    for (uint64_t at = entry->value; at; at = sharing->users[at - 1].next)
        if (sharing->users[at - 1].line == line && sharing->users[at - 1].stack == stack)
            return &sharing->users[at - 1];
    if ((*is_full = sharing->user_count == LIST_MOST)) return NULL;
    if (RSC_GROW(sharing->users, sharing->user_room, sharing->user_count + 1)) return NULL;
    sharing->users[sharing->user_count++] =
        (struct rsc_sampled_user){.line = line, .stack = stack, .next = (uint32_t)entry->value};
    set_entry(&sharing->user_of, entry, hash, sharing->user_count);
    return &sharing->users[sharing->user_count - 1];
}

static struct rsc_sampled_taking *find_taking(struct rsc_sampled_sharing *sharing, uint64_t line,
                                              const struct rsc_sample_taker *taker, uint64_t written, int *is_full) {
    const uint64_t hash = mix(mix(line, written), (uint64_t)taker->by << 32 | taker->from);
    struct rsc_u64_entry *entry = entry_of(&sharing->taking_of, hash);
    if (!entry) return NULL;
    for (uint64_t at = entry->value; at; at = sharing->takings[at - 1].next) {
        struct rsc_sampled_taking *taking = &sharing->takings[at - 1];
        if (taking->line == line && taking->written == written && taking->by == taker->by &&
            taking->from == taker->from)
            return taking;
    }
    if ((*is_full = sharing->taking_count == LIST_MOST)) return NULL;
    if (RSC_GROW(sharing->takings, sharing->taking_room, sharing->taking_count + 1)) return NULL;
    sharing->takings[sharing->taking_count++] = (struct rsc_sampled_taking){
        .line = line, .by = taker->by, .from = taker->from, .written = written, .next = (uint32_t)entry->value};
    set_entry(&sharing->taking_of, entry, hash, sharing->taking_count);
    return &sharing->takings[sharing->taking_count - 1];
}

/* ---- taking samples ---- */

static uint64_t bytes_of(uint32_t first, uint32_t last) {
    first &= 63, last &= 63;
    return last < first ? 1ull << first : ~0ull >> (63 - last + first) << first;
}

static int add_user(struct rsc_sampled_sharing *sharing, uint64_t line, uint32_t stack, uint64_t bytes,
                    uint32_t samples, double given_up) {
    int is_full = 0;
    struct rsc_sampled_user *user = find_user(sharing, line, stack, &is_full);
    if (!user) return is_full ? 0 : RSC_ENOMEM;
    user->used |= bytes;
    user->samples += samples;
    user->given_up += given_up;
    return 0;
}

/* Notes the bytes that an instruction (0: not known) of a stack used of a line. */
static int add_code_use(struct rsc_sampled_sharing *sharing, uint64_t pc, uint32_t stack, uint64_t bytes) {
    if (!pc || sharing->used_by.used >= LIST_MOST) return 0;
    struct rsc_u64_entry *entry = entry_of(&sharing->used_by, mix(pc, stack));
    if (!entry) return RSC_ENOMEM;
    set_entry(&sharing->used_by, entry, mix(pc, stack), entry->value | bytes);
    return 0;
}

static uint64_t code_use(struct rsc_sampled_sharing *sharing, uint64_t pc, uint32_t stack) {
    return pc ? rsc_u64_table_find(&sharing->used_by, mix(pc, stack))->value : 0;
}

static int add_given_up(struct rsc_sampled_sharing *sharing, uint32_t stack, double weight) {
    uint32_t room = sharing->given_up_count;
    if (stack >= room) {
        while (room <= stack) room = room ? room * 2 : 64;
        double *more = realloc(sharing->given_up, room * sizeof *more);
        if (!more) return RSC_ENOMEM;
        memset(more + sharing->given_up_count, 0, (room - sharing->given_up_count) * sizeof *more);
        sharing->given_up = more;
        sharing->given_up_count = room;
    }
    sharing->given_up[stack] += weight;
    return 0;
}

static void add(struct rsc_taken_weights *sum, const struct rsc_taken_weights *more) {
    sum->taken += more->taken;
    sum->missed += more->missed;
    sum->given_up += more->given_up;
}

int rsc_sampled_sharing_take(struct rsc_sampled_sharing *sharing, const struct rsc_sample_record *record,
                             const struct rsc_sampled_code *code) {
    const struct rsc_sample_taker *taker = &record->taker;
    const uint64_t used = bytes_of(record->use.first, record->use.last), written = bytes_of(taker->first, taker->last);
    const int is_lost = record->outcome == RSC_SAMPLE_PRUNED || record->outcome == RSC_SAMPLE_CENSORED;
    if (add_user(sharing, record->line, taker->from, used, 1, is_lost ? record->weight : 0) < 0) return RSC_ENOMEM;
    if (add_code_use(sharing, code->victim, taker->from, used) < 0) return RSC_ENOMEM;
    if (is_lost && taker->from < RSC_THREADS_MAX && add_given_up(sharing, taker->from, record->weight) < 0)
        return RSC_ENOMEM;
    if (!taker->is_known) return 0;
    const int given_up = record->outcome == RSC_SAMPLE_TAKEN;
    const int missed = given_up || record->outcome == RSC_SAMPLE_INVALIDATED;
    const struct rsc_taken_weights one = {record->weight, missed ? record->weight : 0, given_up ? record->weight : 0};
    struct rsc_sampled_cell *cell = find_cell(sharing, taker->by, taker->from);
    if (!cell || add_user(sharing, record->line, taker->by, written, 0, 0) < 0) return RSC_ENOMEM;
    add(&cell->all, &one);
    if (!(used & written)) add(&cell->apart, &one);
    int is_full = 0;
    struct rsc_sampled_taking *taking = find_taking(sharing, record->line, taker, written, &is_full);
    if (!taking) return is_full ? 0 : RSC_ENOMEM;
    add(&taking->all, &one);
    if (!(used & written)) add(&taking->apart, &one);
    if (!taking->writer) taking->writer = code->writer;
    if (!taking->victim) taking->victim = code->victim;
    if (!taking->object) taking->object = code->object;
    return 0;
}

/* ---- at the end ---- */

/* A line that was taken falsely. */
struct false_line {
    uint64_t line;
    size_t first, count; /* its takings */
    struct rsc_taken_weights falsely, surely, apart;
    double given_up; /* of the stacks that lost it */
};

static int by_line(const void *left, const void *right) {
    const struct rsc_sampled_taking *a = left, *b = right;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->by != b->by) return a->by < b->by ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->written < b->written ? -1 : a->written > b->written;
}

static int worse_line_first(const void *left, const void *right) {
    const struct false_line *a = left, *b = right;
    if (a->falsely.missed != b->falsely.missed) return a->falsely.missed < b->falsely.missed ? 1 : -1;
    if (a->falsely.taken != b->falsely.taken) return a->falsely.taken < b->falsely.taken ? 1 : -1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static int worse_cell_first(const void *left, const void *right) {
    const struct rsc_sampled_cell *a = left, *b = right;
    if (a->all.missed != b->all.missed) return a->all.missed < b->all.missed ? 1 : -1;
    if (a->all.taken != b->all.taken) return a->all.taken < b->all.taken ? 1 : -1;
    if (a->by != b->by) return a->by < b->by ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Of n uses, each of any of the bytes that the code uses: how likely it is that none is of those written. */
static double chance_unseen(uint64_t used, uint64_t written, uint32_t n) {
    return pow(1 - (double)__builtin_popcountll(used & written) / (double)__builtin_popcountll(used), n);
}

/* Decides which takings were false, and adds these to their cells. Returns how many lines have one. */
static size_t find_false(struct rsc_sampled_sharing *sharing, struct false_line *lines, double size) {
    size_t count = 0;
    for (size_t i = 0; i < sharing->taking_count; i++) {
        struct rsc_sampled_taking *taking = &sharing->takings[i];
        int is_full = 0;
        const struct rsc_sampled_user *victim = find_user(sharing, taking->line, taking->from, &is_full);
        struct rsc_sampled_cell *cell = find_cell(sharing, taking->by, taking->from);
        if (!cell || !victim || victim->used & taking->written) continue;
        const uint64_t of_code = isinf(size) ? 0 : code_use(sharing, taking->victim, taking->from);
        const int elsewhere = (of_code & taking->written) != 0;
        if (elsewhere && chance_unseen(of_code, taking->written, victim->samples) > UNSEEN) continue;
        const double share = elsewhere     ? 0
                             : isinf(size) ? 1
                                           : pow(UNSEEN, 1.0 / (victim->samples ? victim->samples : 1));
        const struct rsc_taken_weights surely = {taking->all.taken * share, taking->all.missed * share,
                                                 taking->all.given_up * share};
        taking->is_false = 1;
        add(&cell->falsely, &taking->all);
        add(&cell->surely, &surely);
        if (!count || lines[count - 1].line != taking->line)
            lines[count++] = (struct false_line){.line = taking->line, .first = i};
        lines[count - 1].count = i + 1 - lines[count - 1].first;
        add(&lines[count - 1].falsely, &taking->all);
        add(&lines[count - 1].surely, &surely);
        add(&lines[count - 1].apart, &taking->apart);
        lines[count - 1].given_up += victim->given_up;
    }
    return count;
}

struct filling {
    const struct rsc_sampled_sharing_scale *scale;
    double references;
};

/* The bar of a count: samples of weight `least` to `most`. Holds the count itself. */
static struct rsc_count_range range_of(const struct filling *filling, double least, double most, uint64_t count) {
    const struct rsc_sampled_sharing_scale *scale = filling->scale;
    double low, high, unused, all = scale->weight > 0 ? scale->weight : 1;
    rsc_wilson(fmin(1, least / all), scale->size, scale->z, &low, &unused);
    rsc_wilson(fmin(1, most / all), scale->size, scale->z, &unused, &high);
    struct rsc_count_range range = {(uint64_t)(low * filling->references), (uint64_t)ceil(high * filling->references)};
    if (range.low > count) range.low = count;
    if (range.high < count) range.high = count;
    return range;
}

static uint64_t part_of(uint64_t count, double part, double all) {
    return all > 0 ? (uint64_t)llround((double)count * fmin(1, part / all)) : 0;
}

static int fill_cells(struct rsc_sampled_sharing *sharing, const struct filling *filling, struct rsc_profile *profile) {
    const struct rsc_sampled_sharing_scale *scale = filling->scale;
    size_t count = sharing->cell_count < RSC_PROFILE_ROWS_MAX ? sharing->cell_count : RSC_PROFILE_ROWS_MAX;
    double factor = scale->weight > 0 ? filling->references / scale->weight : 0, *shares;
    uint64_t *whole = malloc((count + 1) * sizeof *whole);
    int status = (shares = malloc((count + 1) * sizeof *shares)) && whole ? 0 : RSC_ENOMEM;
    if (count) qsort(sharing->cells, sharing->cell_count, sizeof *sharing->cells, worse_cell_first);
    for (size_t i = 0; !status && i < count; i++) shares[i] = sharing->cells[i].all.missed * factor;
    if (!status) status = rsc_round_rows(shares, count, profile->invalidated, whole);
    if (!status) status = rsc_profile_set_sharing(profile, count);
    for (size_t i = 0; !status && i < count; i++) {
        const struct rsc_sampled_cell *cell = &sharing->cells[i];
        struct rsc_sharing_row *row = &profile->sharing[i];
        /* the samples of the stack that were given up may all have been taken by this one */
        const double unknown = cell->from < sharing->given_up_count ? sharing->given_up[cell->from] : 0;
        scale->stack(scale->owner, cell->by, &row->by_pid, &row->by_tid);
        scale->stack(scale->owner, cell->from, &row->from_pid, &row->from_tid);
        row->misses = whole[i];
        row->taken = (uint64_t)llround(cell->all.taken * factor);
        if (row->taken < row->misses) row->taken = row->misses;
        row->false_misses = part_of(row->misses, cell->falsely.missed, cell->all.missed);
        row->false_taken = part_of(row->taken, cell->falsely.taken, cell->all.taken);
        if (isinf(scale->size)) continue;
        row->bars.taken = range_of(filling, cell->all.taken, cell->all.taken + unknown, row->taken);
        row->bars.misses =
            range_of(filling, cell->all.missed - cell->all.given_up, cell->all.missed + unknown, row->misses);
        row->bars.false_taken = range_of(filling, cell->surely.taken, cell->apart.taken + unknown, row->false_taken);
        row->bars.false_misses = range_of(filling, cell->surely.missed - cell->surely.given_up,
                                          cell->apart.missed + unknown, row->false_misses);
    }
    free(shares);
    free(whole);
    return status;
}

/* ---- lines ---- */

/* The stacks of a line's takings, each once. */
static size_t list_stacks(const struct rsc_sampled_taking *takings, size_t count, uint32_t *stacks) {
    size_t found = 0;
    for (size_t i = 0; i < 2 * count && found < RSC_SHARING_USERS_MAX; i++) {
        uint32_t stack = i % 2 ? takings[i / 2].from : takings[i / 2].by;
        size_t k = 0;
        while (k < found && stacks[k] != stack) k++;
        if (k == found) stacks[found++] = stack;
    }
    return found;
}

static int more_taken_first(const void *left, const void *right) {
    const struct rsc_sharing_place *a = left, *b = right;
    if (a->taken != b->taken) return a->taken < b->taken ? 1 : -1;
    if (a->writer.pc != b->writer.pc) return a->writer.pc < b->writer.pc ? -1 : 1;
    return a->victim.pc < b->victim.pc ? -1 : a->victim.pc > b->victim.pc;
}

static int fill_users(struct rsc_sampled_sharing *sharing, const struct filling *filling,
                      const struct rsc_sampled_taking *takings, size_t count, double factor,
                      struct rsc_false_sharing_row *row) {
    const struct rsc_sampled_sharing_scale *scale = filling->scale;
    uint32_t part = scale->line_shift > 6 ? 1u << (scale->line_shift - 6) : 1; /* bytes per bit */
    uint32_t stacks[RSC_SHARING_USERS_MAX];
    struct rsc_sharing_place places[RSC_SHARING_PLACES_MAX] = {{{0}, {0}, 0}};
    size_t users = list_stacks(takings, count, stacks), place_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        if (!takings[i].is_false || !takings[i].writer) continue;
        while (k < place_count &&
               (places[k].writer.pc != takings[i].writer || places[k].victim.pc != takings[i].victim))
            k++;
        if (k == RSC_SHARING_PLACES_MAX) continue;
        if (k == place_count) place_count++;
        places[k].writer.pc = takings[i].writer;
        places[k].victim.pc = takings[i].victim;
        places[k].taken += (uint64_t)llround(takings[i].all.taken * factor);
    }
    qsort(places, place_count, sizeof *places, more_taken_first);
    if (rsc_false_sharing_set(row, users, place_count) < 0) return RSC_ENOMEM;
    for (size_t i = 0; i < place_count; i++) row->places[i] = places[i];
    for (size_t i = 0; i < users; i++) {
        struct rsc_sharing_user *user = &row->users[i];
        int is_full = 0;
        const struct rsc_sampled_user *used =
            find_user(sharing, row->address >> scale->line_shift, stacks[i], &is_full);
        uint64_t bytes = used && used->used ? used->used : 1;
        double taken = 0;
        for (size_t k = 0; k < count; k++)
            if (takings[k].by == stacks[i] && takings[k].is_false) taken += takings[k].all.taken;
        scale->stack(scale->owner, stacks[i], &user->pid, &user->tid);
        user->first_byte = (uint32_t)__builtin_ctzll(bytes) * part;
        user->last_byte = (64 - (uint32_t)__builtin_clzll(bytes)) * part - 1;
        user->taken = (uint64_t)llround(taken * factor);
    }
    return 0;
}

static int fill_lines(struct rsc_sampled_sharing *sharing, const struct filling *filling, struct false_line *lines,
                      size_t count, struct rsc_profile *profile, uint64_t *objects) {
    const struct rsc_sampled_sharing_scale *scale = filling->scale;
    double factor = scale->weight > 0 ? filling->references / scale->weight : 0, shares[RSC_SHARING_LINES_KEPT];
    uint64_t whole[RSC_SHARING_LINES_KEPT];
    qsort(lines, count, sizeof *lines, worse_line_first);
    if (count > RSC_SHARING_LINES_KEPT) count = RSC_SHARING_LINES_KEPT;
    for (size_t i = 0; i < count; i++) shares[i] = lines[i].falsely.missed * factor;
    if (rsc_round_rows(shares, count, profile->invalidated, whole) < 0 ||
        rsc_profile_set_false_sharing(profile, count) < 0)
        return RSC_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct rsc_false_sharing_row *row = &profile->false_sharing[i];
        const struct false_line *line = &lines[i];
        const struct rsc_sampled_taking *takings = &sharing->takings[line->first];
        row->address = line->line << scale->line_shift;
        row->misses = whole[i];
        row->taken = (uint64_t)llround(line->falsely.taken * factor);
        if (row->taken < row->misses) row->taken = row->misses;
        objects[i] = 0;
        for (size_t k = 0; k < line->count && !objects[i]; k++)
            if (takings[k].is_false) objects[i] = takings[k].object;
        if (fill_users(sharing, filling, takings, line->count, factor, row) < 0) return RSC_ENOMEM;
        if (isinf(scale->size)) continue;
        row->bars.taken = range_of(filling, line->surely.taken, line->apart.taken + line->given_up, row->taken);
        row->bars.misses = range_of(filling, line->surely.missed - line->surely.given_up,
                                    line->apart.missed + line->given_up, row->misses);
    }
    return 0;
}

int rsc_sampled_sharing_fill(struct rsc_sampled_sharing *sharing, const struct rsc_sampled_sharing_scale *scale,
                             struct rsc_profile *profile, uint64_t *objects) {
    struct filling filling = {scale, (double)profile->references};
    struct false_line *lines = malloc((sharing->taking_count + 1) * sizeof *lines);
    if (!lines) return RSC_ENOMEM;
    if (sharing->taking_count) /* they are not found by hash any more */
        qsort(sharing->takings, sharing->taking_count, sizeof *sharing->takings, by_line);
    size_t count = find_false(sharing, lines, scale->size);
    int status = fill_lines(sharing, &filling, lines, count, profile, objects);
    if (!status) status = fill_cells(sharing, &filling, profile); /* the cells move */
    free(lines);
    return status;
}
