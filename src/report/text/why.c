/* why.c - see why.h. */
#include "report/text/why.h"

#include <stdio.h>

#include "report/draw/place_text.h"
#include "report/draw/units.h"

/* The instruction of a rank with most misses. */
static const struct rsc_place *worst_place(const struct rsc_why *why, const struct rsc_rank *rank,
                                           uint64_t size_lines) {
    const struct rsc_split split = rsc_split_at(why->lines->profile, size_lines);
    const struct rsc_code_row *worst = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < rank->row_count; i++) {
        const struct rsc_code_row *row = rank->rows[i];
        uint64_t misses = row->cold + row->invalidated + rsc_split_far(&split, &row->rd);
        if (worst && misses <= most) continue;
        worst = row;
        most = misses;
    }
    return &worst->place;
}

/* The pair with most misses that ends there; NULL if none is known. */
static const struct rsc_pair_row *worst_pair_to(const struct rsc_ranking *pairs, const struct rsc_place *place) {
    for (size_t i = 0; i < pairs->count && pairs->ranks[i].misses; i++) {
        const struct rsc_pair_row *pair = pairs->ranks[i].rows[0];
        if (!rsc_place_compare(&pair->reuse, place)) return pair;
    }
    return NULL;
}

static void say_use(const struct rsc_why *why, const struct rsc_place *place, char *to, size_t room) {
    const struct rsc_pair_row *pair = worst_pair_to(why->pairs, place);
    if (!pair) return;
    const char *what = rsc_place_has_line(place) ? "line" : place->function ? "function" : "instruction";
    if (!rsc_place_compare(&pair->use, place)) snprintf(to, room, "; last used by this same %s", what);
    else snprintf(to, room, "; last used at %s", rsc_place_in_short(&pair->use, why->unicode).text);
}

static void show_distance(const struct rsc_why *why, uint64_t lines, char *to, size_t room) {
    const struct rsc_profile *profile = why->lines->profile;
    snprintf(to, room, "%s%s", lines >= rsc_rows_told_apart(profile) ? "at least " : "",
             rsc_show_bytes(rsc_lines_to_bytes(lines, profile->made.line_bytes)).text);
}

/*
 * Where the rank misses: at the size it is ranked by; or, if that holds all it comes back to, in the largest smaller cache
 * of the machine whose misses cost more than its first touches.
 */
static struct rsc_rank_size size_to_explain(const struct rsc_why *why, const struct rsc_rank *rank, uint64_t *misses) {
    const struct rsc_machine *machine = why->machine;
    const double first_touches = machine ? (double)rank->misses * machine->memory_cycles : 0;
    *misses = rank->misses;
    if (rank->misses > rank->cold + rank->invalidated) return why->size;
    for (size_t i = machine ? machine->level_count : 0; i-- > 0;) {
        const struct rsc_machine_level *level = &machine->levels[i];
        uint64_t lines = level->size_bytes / why->lines->profile->made.line_bytes;
        if (lines >= why->size.lines || lines >= rsc_rows_told_apart(why->lines->profile)) continue;
        uint64_t here = rsc_rank_misses(why->lines, rank, lines);
        double cycles = i + 1 < machine->level_count ? level[1].cycles : machine->memory_cycles;
        if (here == rank->misses || (double)(here - rank->misses) * cycles <= first_touches) continue;
        *misses = here;
        return (struct rsc_rank_size){.lines = lines, .bytes = level->size_bytes, .level = level};
    }
    return why->size;
}

struct rsc_why_words rsc_why_line(const struct rsc_why *why, const struct rsc_rank *rank) {
    struct rsc_why_words words = {.use = ""};
    uint64_t misses;
    const struct rsc_rank_size size = size_to_explain(why, rank, &misses);
    const uint64_t far = misses - rank->cold - rank->invalidated;
    char cache[64], distance[64];
    if (!misses) return words;
    if (size.level) snprintf(cache, sizeof cache, "%s holds", size.level->name);
    else snprintf(cache, sizeof cache, "%s can hold", rsc_show_bytes(size.bytes).text);
    if (rank->cold >= far && rank->cold >= rank->invalidated) {
        snprintf(words.reason, sizeof words.reason, "%s first touches: streaming through new memory",
                 rank->cold == misses ? "all its misses are" : "mostly");
        return words;
    }
    if (rank->invalidated >= far) {
        snprintf(words.reason, sizeof words.reason, "mostly lines that another thread had written in between");
        return words;
    }
    say_use(why, worst_place(why, rank, size.lines), words.use, sizeof words.use);
    uint64_t median = rsc_rank_median(why->lines, rank, 0);
    if (median >= size.lines) {
        show_distance(why, median, distance, sizeof distance);
        snprintf(words.reason, sizeof words.reason, "data returns after a median of %s, more than %s", distance, cache);
        return words;
    }
    show_distance(why, rsc_rank_median(why->lines, rank, size.lines), distance, sizeof distance);
    snprintf(words.reason, sizeof words.reason, "%s of references return after a median of %s, more than %s",
             rsc_show_percent((double)far / (double)rank->references).text, distance, cache);
    return words;
}
