/* sharing.c - see sharing.h. */
#include "multicore/sharing.h"

#include <stdlib.h>
#include <string.h>

/* The counters of a row, by what it counts. Counter 0 is the tally's own. */
enum { TAKEN = 1 + RSC_SHARING_TAKEN, FALSE_TAKEN, MISSED, FALSE_MISSED };

static void forget_line(void *owner, uint32_t row) {
    struct rsc_sharing *sharing = owner;
    sharing->lines[row] = (struct rsc_sharing_line){0};
}

int rsc_sharing_init(struct rsc_sharing *sharing) {
    memset(sharing, 0, sizeof *sharing);
    sharing->lines = calloc(RSC_SHARING_LINES, sizeof *sharing->lines);
    sharing->pending = malloc(RSC_SHARING_LINES * sizeof *sharing->pending);
    if (sharing->lines && sharing->pending && rsc_space_saving_init(&sharing->cells, RSC_SHARING_CELLS) == 0 &&
        rsc_space_saving_init(&sharing->table, RSC_SHARING_LINES) == 0) {
        sharing->table.leaving = forget_line;
        sharing->table.owner = sharing;
        return 0;
    }
    rsc_sharing_free(sharing);
    return RSC_ENOMEM;
}

void rsc_sharing_free(struct rsc_sharing *sharing) {
    rsc_space_saving_free(&sharing->cells);
    rsc_space_saving_free(&sharing->table);
    free(sharing->lines);
    free(sharing->pending);
    memset(sharing, 0, sizeof *sharing);
}

/* ---- counting ---- */

static void add_user(struct rsc_sharing_line *line, uint32_t stack, uint64_t bytes, uint32_t writes) {
    uint32_t at = 0;
    while (at < line->user_count && line->users[at].stack != stack) at++;
    if (at == RSC_SHARING_USERS_MAX) return;
    if (at == line->user_count) line->users[line->user_count++] = (struct rsc_sharing_bytes){.stack = stack};
    line->users[at].used |= bytes;
    if (line->users[at].writes < UINT32_MAX) line->users[at].writes += writes;
}

/* The space-saving rule again, for very few rows. */
static void add_pair(struct rsc_sharing_line *line, uint32_t writer, uint32_t victim) {
    uint32_t least = 0;
    for (uint32_t i = 0; i < line->pair_count; i++) {
        struct rsc_sharing_pair *pair = &line->pairs[i];
        if (pair->writer == writer && pair->victim == victim) {
            pair->taken++;
            return;
        }
        if (pair->taken < line->pairs[least].taken) least = i;
    }
    if (line->pair_count < RSC_SHARING_PLACES_MAX) {
        least = line->pair_count++;
        line->pairs[least].taken = 0;
    }
    line->pairs[least].writer = writer;
    line->pairs[least].victim = victim;
    line->pairs[least].taken++;
}

void rsc_sharing_count_cell(struct rsc_sharing *sharing, uint32_t by, uint32_t from, uint32_t what) {
    rsc_space_saving_count(&sharing->cells, (uint64_t)by << 20 | from, 1 + what);
}

void rsc_sharing_take_falsely(struct rsc_sharing *sharing, const struct rsc_taking *taking) {
    uint32_t row = rsc_space_saving_find(&sharing->table, taking->line);
    if (row == RSC_SPACE_NO_ROW) row = rsc_space_saving_admit(&sharing->table, taking->line);
    rsc_space_saving_add(&sharing->table, row, FALSE_TAKEN);
    struct rsc_sharing_line *line = &sharing->lines[row];
    add_user(line, taking->by, taking->written, 1);
    add_user(line, taking->from, taking->used, 0);
    add_pair(line, taking->writer, taking->victim);
    if (line->object) return;
    const struct rsc_sharing_pending *last = &sharing->pending[sharing->pending_count];
    if (sharing->pending_count && last[-1].row == row && last[-1].reference == taking->reference) return;
    if (sharing->pending_count == RSC_SHARING_LINES) return; /* nobody asks for names */
    sharing->pending[sharing->pending_count++] = (struct rsc_sharing_pending){taking->line, row, taking->reference};
}

void rsc_sharing_miss_falsely(struct rsc_sharing *sharing, uint64_t line) {
    rsc_space_saving_count(&sharing->table, line, FALSE_MISSED);
}

void rsc_sharing_name(struct rsc_sharing *sharing, const uint64_t *objects) {
    for (uint32_t i = 0; objects && i < sharing->pending_count; i++) {
        const struct rsc_sharing_pending *pending = &sharing->pending[i];
        struct rsc_sharing_line *line = &sharing->lines[pending->row];
        if (!line->object && sharing->table.rows[pending->row].key == pending->line)
            line->object = objects[pending->reference];
    }
    sharing->pending_count = 0;
}

/* ---- into a profile ---- */

struct ranked {
    uint64_t misses, taken, key;
    uint32_t row; /* or NO_ROW: not in a table */
};
#define NO_ROW UINT32_MAX

static int worse_first(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    if (a->misses != b->misses) return a->misses < b->misses ? 1 : -1;
    if (a->taken != b->taken) return a->taken < b->taken ? 1 : -1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* The rows of a table, with room for more. */
static struct ranked *rank(struct rsc_space_saving *table, uint32_t more) {
    struct ranked *list = malloc((table->used + 1ull + more) * sizeof *list);
    for (uint32_t row = 0; list && row < table->used; row++) {
        struct rsc_tally *tally = &table->tally;
        list[row] = (struct ranked){rsc_tally_count(tally, row, MISSED) + rsc_tally_count(tally, row, FALSE_MISSED),
                                    rsc_tally_count(tally, row, TAKEN) + rsc_tally_count(tally, row, FALSE_TAKEN),
                                    table->rows[row].key, row};
    }
    if (list) qsort(list, table->used, sizeof *list, worse_first);
    return list;
}

/* Appends the cells of the first stacks, which are in no table, to a list with room for them. */
static uint32_t rank_few(const struct rsc_sharing *sharing, struct ranked *list) {
    uint32_t count = 0;
    for (uint32_t by = 0; by < RSC_SHARING_FEW; by++) {
        for (uint32_t from = 0; from < RSC_SHARING_FEW; from++) {
            const uint64_t *cell = sharing->few[by][from];
            uint64_t taken = cell[RSC_SHARING_TAKEN] + cell[RSC_SHARING_FALSE_TAKEN];
            if (taken)
                list[count++] = (struct ranked){cell[RSC_SHARING_MISSED] + cell[RSC_SHARING_FALSE_MISSED], taken,
                                                (uint64_t)by << 20 | from, NO_ROW};
        }
    }
    return count;
}

static int fill_cells(struct rsc_sharing *sharing, const struct rsc_sharing_names *names, struct rsc_profile *profile) {
    struct rsc_space_saving *table = &sharing->cells;
    struct ranked *list = rank(table, RSC_SHARING_FEW * RSC_SHARING_FEW);
    if (!list) return RSC_ENOMEM;
    uint32_t count = table->used + rank_few(sharing, list + table->used);
    qsort(list, count, sizeof *list, worse_first);
    int status = rsc_profile_set_sharing(profile, count);
    for (uint32_t i = 0; !status && i < count; i++) {
        struct rsc_sharing_row *row = &profile->sharing[i];
        uint32_t by = (uint32_t)(list[i].key >> 20), from = (uint32_t)(list[i].key & 0xfffff), at = list[i].row;
        names->stack(names->owner, by, &row->by_pid, &row->by_tid);
        names->stack(names->owner, from, &row->from_pid, &row->from_tid);
        row->taken = list[i].taken;
        row->misses = list[i].misses;
        row->false_taken = at == NO_ROW ? sharing->few[by][from][RSC_SHARING_FALSE_TAKEN]
                                        : rsc_tally_count(&table->tally, at, FALSE_TAKEN);
        row->false_misses = at == NO_ROW ? sharing->few[by][from][RSC_SHARING_FALSE_MISSED]
                                         : rsc_tally_count(&table->tally, at, FALSE_MISSED);
        row->error = at == NO_ROW ? 0 : table->error[at];
    }
    free(list);
    return status;
}

static int more_often_first(const void *left, const void *right) {
    const struct rsc_sharing_pair *a = left, *b = right;
    if (a->taken != b->taken) return a->taken < b->taken ? 1 : -1;
    if (a->writer != b->writer) return a->writer < b->writer ? -1 : 1;
    return a->victim < b->victim ? -1 : a->victim > b->victim;
}

static int fill_line(const struct rsc_sharing_names *names, struct rsc_sharing_line *line,
                     struct rsc_false_sharing_row *row) {
    uint32_t part = names->line_shift > 6 ? 1u << (names->line_shift - 6) : 1; /* bytes per bit */
    int status = rsc_false_sharing_set(row, line->user_count, names->pc ? line->pair_count : 0);
    for (uint32_t i = 0; !status && i < line->user_count; i++) {
        struct rsc_sharing_user *user = &row->users[i];
        const struct rsc_sharing_bytes *bytes = &line->users[i];
        names->stack(names->owner, bytes->stack, &user->pid, &user->tid);
        user->first_byte = (uint32_t)__builtin_ctzll(bytes->used) * part;
        user->last_byte = (64 - (uint32_t)__builtin_clzll(bytes->used)) * part - 1;
        user->taken = bytes->writes;
    }
    qsort(line->pairs, line->pair_count, sizeof *line->pairs, more_often_first);
    for (uint32_t i = 0; !status && i < row->place_count; i++) {
        row->places[i].writer.pc = names->pc(names->owner, line->pairs[i].writer);
        row->places[i].victim.pc = names->pc(names->owner, line->pairs[i].victim);
        row->places[i].taken = line->pairs[i].taken;
    }
    return status;
}

int rsc_sharing_fill(struct rsc_sharing *sharing, const struct rsc_sharing_names *names, struct rsc_profile *profile,
                     uint64_t objects[RSC_SHARING_LINES_KEPT]) {
    struct rsc_space_saving *table = &sharing->table;
    if (table->tally.failed || sharing->cells.tally.failed || fill_cells(sharing, names, profile) < 0)
        return RSC_ENOMEM;
    struct ranked *list = rank(table, 0);
    if (!list) return RSC_ENOMEM;
    uint32_t kept = table->used < RSC_SHARING_LINES_KEPT ? table->used : RSC_SHARING_LINES_KEPT;
    int status = rsc_profile_set_false_sharing(profile, kept);
    for (uint32_t i = 0; !status && i < kept; i++) {
        struct rsc_false_sharing_row *row = &profile->false_sharing[i];
        struct rsc_sharing_line *line = &sharing->lines[list[i].row];
        row->address = list[i].key << names->line_shift;
        row->taken = list[i].taken;
        row->misses = list[i].misses;
        row->error = table->error[list[i].row];
        objects[i] = line->object;
        status = fill_line(names, line, row);
    }
    free(list);
    return status;
}
