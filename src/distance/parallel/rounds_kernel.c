/*
 * rounds_kernel.c - the loops of the parallel engine; compiled once per vector width. engine_rounds.c describes
 * them.
 *
 * `tagged` and `with_ri` are constants where they are inlined.
 */
#include "base/cpu.h"
#include "distance/parallel/rounds_state.h"
#include "distance/exact/recent.h"

#define INLINE static inline __attribute__((always_inline))

/* As in exact_kernel.c, but decided per piece. */
#define FILTER_PAYS(answered, count) ((answered) >= (count) / 8)
#define FILTER_REST 9u

/* ---- gathering: references that the filter cannot answer, by part ---- */

/*
 * Turns the unanswered references of a block, from `done` of the piece on, into stays. `stay_of` is the stay of each
 * lane. Returns the number of stays.
 */
INLINE uint32_t note_stays(struct rounds_worker *worker, const struct rounds_stays *out, uint64_t base, uint32_t stays,
                           uint32_t done, int tagged, uint16_t *stay_of) {
    const struct rsc_unanswered *rest = &worker->filter.unanswered;
    for (uint32_t k = 0; k < rest->count; k++, stays++) {
        uint32_t lane = rest->lane[k];
        worker->line[stays] = rest->line[k];
        out->at[base + stays] = (uint16_t)(done + rest->index[k]);
        out->left[base + stays] = (uint16_t)(rest->leaves[k] ? rest->left_time[k] + 1 : 0);
        out->above[base + stays] = rest->above[k];
        if (rest->leaves[k]) {
            worker->last_use[stay_of[lane]] = (uint16_t)rest->left_time[k];
            if (tagged) worker->tag[stay_of[lane]] = rest->left_tag[k];
        }
        stay_of[lane] = (uint16_t)stays;
    }
    return stays;
}

/* The same with a filter of one line: each line leaves when the next one comes. */
INLINE uint32_t note_single_stays(struct rounds_worker *worker, const struct rounds_stays *out, uint64_t base,
                                  uint32_t stays, uint32_t done, const uint32_t *tags) {
    const struct rsc_unanswered *rest = &worker->filter.unanswered;
    uint32_t count = rest->count;
    memcpy(worker->line + stays, rest->line, count * sizeof *rest->line);
    memset(out->above + base + stays, 1, count);
    for (uint32_t k = 0; k < count; k++)
        out->left[base + stays + k] = out->at[base + stays + k] = (uint16_t)(done + rest->index[k]);
    for (uint32_t k = stays == 0; k < count; k++)
        worker->last_use[stays + k - 1] = (uint16_t)(done + rest->index[k] - 1);
    for (uint32_t k = stays == 0; tags && k < count; k++) worker->tag[stays + k - 1] = tags[done + rest->index[k] - 1];
    if (stays == 0 && count) out->above[base] = 0; /* the piece begins with it: left is 0 already */
    return stays + count;
}

/* Counts the references that the filter answered in a block of `count` from `done` of the piece on. */
INLINE void count_answered(struct rounds_engine *engine, struct rounds_worker *worker, uint32_t done, uint32_t count,
                           uint64_t at, int with_ri) {
    const struct rsc_unanswered *rest = &worker->filter.unanswered;
    const struct rounds_columns *round = engine->round;
    uint32_t kept = 0, next = 0;
    if (engine->grid.cells) {
        for (uint32_t k = 0; k < rest->count; k++)
            worker->rd[rest->index[k]] = RSC_RD_COLD; /* until they are answered */
        rsc_phase_part_count(&worker->phases, round->first + at + done, worker->rd, count,
                             engine->tags.rd_cap ? engine->tags.rd_cap : UINT64_MAX);
    }
    for (uint32_t k = 0; k <= rest->count; k++) {
        uint32_t end = k < rest->count ? rest->index[k] : count, part = end - next;
        if (part) {
            memmove(worker->rd + kept, worker->rd + next, part * sizeof *worker->rd);
            if (with_ri) memmove(worker->ri + kept, worker->ri + next, part * sizeof *worker->ri);
            if (round->who) memcpy(worker->who + kept, round->who + at + done + next, part * sizeof *worker->who);
        }
        kept += part;
        next = end + 1;
    }
    rsc_accumulate_part(&worker->sum, worker->who, worker->rd, with_ri ? worker->ri : NULL, kept);
    rsc_rounds_show(engine, worker->rd, kept);
}

/* Empties the filter at the end of a piece, oldest line first. */
INLINE void empty_filter(struct rounds_worker *worker, struct rounds_piece *piece, const uint16_t *stay_of,
                         int tagged) {
    struct rsc_recent *recent = &worker->filter.recent;
    piece->left_count = recent->count;
    for (uint32_t i = 0; i < piece->left_count; i++) {
        uint32_t oldest = 0;
        for (uint32_t lane = 1; lane < piece->left_count; lane++)
            if (recent->time[lane] < recent->time[oldest]) oldest = lane;
        piece->left[i] = (uint16_t)recent->time[oldest];
        worker->last_use[stay_of[oldest]] = (uint16_t)recent->time[oldest];
        if (tagged) worker->tag[stay_of[oldest]] = recent->tag[oldest];
        recent->time[oldest] = UINT64_MAX;
    }
    recent->count = 0;
    recent->last = 0;
    memset(recent->order, 0, sizeof recent->order);
}

/* Distributes the stays to parts, in order. */
INLINE void deal(struct rounds_engine *engine, struct rounds_worker *worker, struct rounds_piece *piece, uint64_t base,
                 int tagged) {
    const struct rounds_stays *out = &engine->stays;
    uint32_t counts[4][RSC_PARTS] = {{0}}, next[RSC_PARTS], stays = piece->stays, i = 0, sum = 0;
    uint64_t multiplier = engine->part_multiplier, *key = out->key + base;
    struct rounds_use *use = out->use + base;
    for (uint32_t k = 0; k < stays; k++) worker->part[k] = (uint8_t)((worker->line[k] >> 4) * multiplier >> 58);
    for (; i + 4 <= stays; i += 4) /* four counters, so that neighbours of one part do not wait for each other */
        for (uint32_t k = 0; k < 4; k++) counts[k][worker->part[i + k]]++;
    for (; i < stays; i++) counts[0][worker->part[i]]++;
    for (uint32_t part = 0; part < RSC_PARTS; part++) {
        next[part] = sum;
        piece->part_end[part] = sum += counts[0][part] + counts[1][part] + counts[2][part] + counts[3][part];
    }
    for (uint32_t k = 0; k < stays; k++) {
        uint32_t to = next[worker->part[k]]++;
        key[to] = worker->line[k];
        use[to] = (struct rounds_use){(uint16_t)k, worker->last_use[k]};
        if (tagged) out->last_tag[base + to] = worker->tag[k];
    }
}

INLINE void gather(struct rounds_engine *engine, struct rounds_worker *worker, uint32_t piece_number, int tagged,
                   int with_ri) {
    struct rounds_columns *round = engine->round;
    struct rounds_piece *piece = &engine->piece[piece_number];
    struct rsc_exact *filter = &worker->filter;
    struct rsc_recent *recent = &filter->recent;
    uint64_t base = (uint64_t)piece_number * engine->piece_length, *lines = round->line + base;
    const uint32_t *tags = tagged ? round->tag + base : NULL;
    uint16_t stay_of[RSC_RECENT_LANES];
    uint32_t stays = 0, answered = 0;
    if (RECENT_WIDTH == 1) recent->one = 1;
    for (uint32_t done = 0, count; done < piece->count; done += count) {
        count = piece->count - done < RSC_ROUNDS_BLOCK ? piece->count - done : RSC_ROUNDS_BLOCK;
        filter->now = done;
        recent_repeats(filter, lines + done, tagged ? tags + done : NULL, count, worker->rd, worker->ri,
                       worker->last_tag, with_ri);
#if defined(__AVX2__)
        if (!recent->one)
            answered +=
                recent_answer(filter, tagged ? tags + done : NULL, worker->rd, worker->ri, worker->last_tag, with_ri);
#endif
        if (!recent->one) {
            stays = note_stays(worker, &engine->stays, base, stays, done, tagged, stay_of);
        } else {
            stays = note_single_stays(worker, &engine->stays, base, stays, done, tags);
            stay_of[0] = (uint16_t)(stays - 1);
            recent->count = 1;
            recent->line[0] = lines[done + count - 1];
            recent->time[0] = done + count - 1;
            if (tagged) recent->tag[0] = tags[done + count - 1];
        }
        for (uint32_t i = 0; tagged && i < count; i++)
            lines[done + i] = rsc_outcome(worker->rd[i], worker->last_tag[i]);
        if (filter->unanswered.count < count || engine->grid.cells)
            count_answered(engine, worker, done, count, base, with_ri);
    }
    piece->stays = stays;
    empty_filter(worker, piece, stay_of, tagged);
    deal(engine, worker, piece, base, tagged);
    if (recent->one) {
        if (recent->rest-- == 0) recent->one = 0;
    } else if (!FILTER_PAYS(answered, piece->count)) {
        recent->one = 1;
        recent->rest = FILTER_REST;
    }
}

INLINE void gather_for(struct rounds_engine *engine, struct rounds_worker *worker, uint32_t piece) {
    if (engine->round->tag) engine->no_ri ? gather(engine, worker, piece, 1, 0) : gather(engine, worker, piece, 1, 1);
    else engine->no_ri ? gather(engine, worker, piece, 0, 0) : gather(engine, worker, piece, 0, 1);
}

/* ---- looking up: when each line of a part was used before ---- */

/* Prefetch distances of a line: its bucket, its unit. */
#define LOOK_BUCKET 12u
#define LOOK_UNIT 6u

INLINE void find_bucket(const struct rsc_line_map *map, uint64_t line) {
    __builtin_prefetch(map->buckets + rsc_line_map_home(map, line));
}

/* The line's unit, or 0 if it needs the slow path: a line alone in a block of others, or one of a trio. */
INLINE uint32_t find_unit(const struct rsc_line_map *map, uint64_t line) {
    struct rsc_line_bucket *bucket;
    uint32_t entry;
    if (!rsc_line_map_find(map, line, rsc_line_map_home(map, line), &bucket, &entry)) return 0;
    uint32_t where = bucket->where[entry], first = rsc_line_map_first_unit(where);
    __builtin_prefetch(map->units + first, 1);
    if (where >> 30 == RSC_UNITS_FULL) return first + (uint32_t)(line & 15);
    return where >> 30 == RSC_UNITS_SINGLE && bucket->key[entry] == line ? first : 0;
}

/* The slow path of find_unit(). Adding a line may move units that were already found: `ahead` of them. */
INLINE uint32_t make_unit(struct rsc_line_map *map, uint64_t line, uint32_t *found, int *status) {
    uint32_t where = rsc_line_map_where(map, line, rsc_line_map_home(map, line));
    uint32_t unit = where ? rsc_line_map_unit(map, line, where) : 0;
    if (unit) return unit;
    unit = rsc_line_map_add(map, line, status);
    for (uint32_t moved = 0; unit && moved < map->moved_count; moved++)
        for (uint32_t i = 0; i < LOOK_UNIT; i++)
            if (found[i] == map->moved_from[moved]) found[i] = map->moved_to[moved];
    return unit;
}

INLINE int look_up(struct rounds_engine *engine, uint32_t part_number, int tagged) {
    struct rounds_part *part = &engine->part[part_number];
    struct rsc_line_map *map = &part->map;
    uint32_t found[LOOK_UNIT] = {0};
    for (uint32_t p = 0; p < engine->piece_count; p++) {
        const struct rounds_piece *piece = &engine->piece[p];
        uint64_t base = (uint64_t)p * engine->piece_length, *key = engine->stays.key + base;
        const struct rounds_use *use = engine->stays.use + base;
        const uint32_t *tag = tagged ? engine->stays.last_tag + base : NULL;
        uint32_t slot = rsc_rank_slot((uint32_t)(engine->first_place + base)), turn = 0;
        uint32_t from = part_number ? piece->part_end[part_number - 1] : 0, end = piece->part_end[part_number];
        for (uint32_t i = from; i < from + LOOK_BUCKET && i < end; i++) find_bucket(map, key[i]);
        for (uint32_t i = from; i < from + LOOK_UNIT && i < end; i++) found[i - from] = find_unit(map, key[i]);
        for (uint32_t i = from; i < end; i++, turn = turn + 1 < LOOK_UNIT ? turn + 1 : 0) {
            uint64_t line = key[i];
            uint32_t unit = found[turn];
            if (__builtin_expect(!unit, 0)) {
                int status;
                unit = make_unit(map, line, found, &status);
                if (!unit) return status;
            }
            uint32_t held = map->units[unit];
            part->distinct += held == 0;
            map->units[unit] = slot + rsc_rank_slot(use[i].last) + 1;
            key[i] = held;
            if (tagged) {
                key[i] |= (uint64_t)map->extra[unit] << 32;
                map->extra[unit] = tag[i];
            }
            if (i + LOOK_BUCKET < end) find_bucket(map, key[i + LOOK_BUCKET]);
            if (i + LOOK_UNIT < end) found[turn] = find_unit(map, key[i + LOOK_UNIT]);
        }
    }
    return 0;
}

INLINE int look_up_for(struct rounds_engine *engine, uint32_t part) {
    return engine->round->tag ? look_up(engine, part, 1) : look_up(engine, part, 0);
}

/* ---- answering: distances, by a stack ---- */

#define ANSWER_AHEAD 8u

INLINE uint64_t time_of_slot(const struct rounds_engine *engine, uint32_t slot) {
    return slot >= engine->compacted_slot ? engine->time_of_place + rsc_rank_place(slot)
                                          : engine->old_time[rsc_rank_place(slot)];
}

/* Counts `count` stays from number `first` of the piece on, whose distances are in the worker's arrays. */
INLINE void count_stays(struct rounds_engine *engine, struct rounds_worker *worker, uint64_t base, uint32_t first,
                        uint32_t count, int tagged, int with_ri) {
    struct rounds_columns *round = engine->round;
    const uint16_t *at = engine->stays.at + base + first;
    for (uint32_t i = 0; round->who && i < count; i++) worker->who[i] = round->who[base + at[i]];
    for (uint32_t i = 0; tagged && i < count; i++)
        round->line[base + at[i]] = rsc_outcome(worker->rd[i], worker->last_tag[i]);
    for (uint32_t i = 0; engine->grid.cells && i < count; i++)
        if (worker->rd[i] != RSC_RD_COLD)
            rsc_phase_part_not_cold(&worker->phases, round->first + base + at[i], worker->rd[i],
                                    engine->tags.rd_cap ? engine->tags.rd_cap : UINT64_MAX);
    rsc_accumulate_part(&worker->sum, worker->who, worker->rd, with_ri ? worker->ri : NULL, count);
    rsc_rounds_show(engine, worker->rd, count);
}

INLINE void answer_piece(struct rounds_engine *engine, struct rounds_worker *worker, struct rsc_rank_bitmap *rank,
                         uint32_t number, int tagged, int with_ri) {
    const struct rounds_piece *piece = &engine->piece[number];
    uint64_t base = (uint64_t)number * engine->piece_length, *before = worker->line;
    const uint64_t *key = engine->stays.key + base;
    const struct rounds_use *use = engine->stays.use + base;
    const uint16_t *at = engine->stays.at + base, *left = engine->stays.left + base;
    const uint8_t *above = engine->stays.above + base;
    uint32_t slot = rsc_rank_slot((uint32_t)(engine->first_place + base)), stays = piece->stays;
    uint64_t time = engine->round->first + base;
    for (uint32_t i = 0; i < stays; i++) before[use[i].number] = key[i];
    for (uint32_t done = 0, count; done < stays; done += count) {
        count = stays - done < RSC_ROUNDS_BLOCK ? stays - done : RSC_ROUNDS_BLOCK;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t k = done + i, soon = k + ANSWER_AHEAD < stays ? (uint32_t)before[k + ANSWER_AHEAD] : 0;
            if (soon) {
                rsc_rank_prefetch(rank, soon - 1);
                if (with_ri && soon <= engine->compacted_slot)
                    __builtin_prefetch(engine->old_time + rsc_rank_place(soon - 1));
            }
            uint32_t held = (uint32_t)before[k];
            worker->rd[i] = RSC_RD_COLD;
            if (with_ri) worker->ri[i] = 0;
            if (tagged) worker->last_tag[i] = (uint32_t)(before[k] >> 32);
            if (held) {
                if (with_ri) worker->ri[i] = time + at[k] - time_of_slot(engine, held - 1);
                uint32_t lower = rsc_rank_take(rank, held - 1);
                worker->rd[i] = above[k] + (uint32_t)rank->set - lower;
            }
            if (left[k]) rsc_rank_set(rank, slot + rsc_rank_slot(left[k] - 1u));
        }
        count_stays(engine, worker, base, done, count, tagged, with_ri);
    }
    for (uint32_t i = 0; i < piece->left_count; i++) rsc_rank_set(rank, slot + rsc_rank_slot(piece->left[i]));
}

/* Sets the beginning of the stack to `lines` lines of copied words. */
INLINE void count_lines(struct rsc_rank_bitmap *rank, uint32_t lines) {
    for (uint32_t line = 0; line < lines; line++) rsc_rank_count_line(rank->lines + (uint64_t)line * 8);
    rsc_rank_take_over(rank, lines);
}

INLINE void answer_for(struct rounds_engine *engine, struct rounds_worker *worker, struct rounds_slice *slice) {
    for (uint32_t p = slice->first_piece; p < slice->end_piece; p++) {
        if (engine->round->tag)
            engine->no_ri ? answer_piece(engine, worker, &slice->rank, p, 1, 0)
                          : answer_piece(engine, worker, &slice->rank, p, 1, 1);
        else
            engine->no_ri ? answer_piece(engine, worker, &slice->rank, p, 0, 0)
                          : answer_piece(engine, worker, &slice->rank, p, 0, 1);
    }
}

/* ---- compaction: every line's new slot, by the counts of slice 0's stack ---- */

INLINE void renumber(struct rounds_engine *engine, uint32_t part, uint64_t *new_time) {
    const struct rsc_rank_bitmap *rank = &engine->slice[0].rank;
    struct rsc_line_map *map = &engine->part[part].map;
    for (uint64_t unit = 0; unit < map->unit_count; unit++) {
        uint32_t soon = unit + ANSWER_AHEAD < map->unit_count ? map->units[unit + ANSWER_AHEAD] - 1 : UINT32_MAX;
        uint32_t slot = map->units[unit] - 1;
        if (soon < RSC_UNIT_OTHER - 1) rsc_rank_prefetch(rank, soon);
        if (slot >= RSC_UNIT_OTHER - 1) continue;
        uint32_t place = rsc_rank_before(rank, slot);
        if (new_time) new_time[place] = time_of_slot(engine, slot);
        map->units[unit] = rsc_rank_slot(place) + 1;
    }
}

void RSC_WIDE(rsc_rounds_gather)(struct rounds_engine *engine, struct rounds_worker *worker, uint32_t piece) {
    gather_for(engine, worker, piece);
}

int RSC_WIDE(rsc_rounds_look_up)(struct rounds_engine *engine, uint32_t part) { return look_up_for(engine, part); }

void RSC_WIDE(rsc_rounds_count_lines)(struct rsc_rank_bitmap *rank, uint32_t lines) { count_lines(rank, lines); }

void RSC_WIDE(rsc_rounds_answer)(struct rounds_engine *engine, struct rounds_worker *worker,
                                 struct rounds_slice *slice) {
    answer_for(engine, worker, slice);
}

void RSC_WIDE(rsc_rounds_renumber)(struct rounds_engine *engine, uint32_t part, uint64_t *new_time) {
    renumber(engine, part, new_time);
}
