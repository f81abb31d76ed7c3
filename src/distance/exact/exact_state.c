/* exact_state.c - set-up, growth and compaction of the exact engine's state. */
#include "distance/exact/exact_state.h"

#include <assert.h>
#include <string.h>

#include "base/pages.h"

/* Places in the bitmap per distinct line: trades rare compaction against the spread of set bits. 4
 * instead of 8 was 4% to 18% slower (uniform, zipf, cyclic, compiler trace, with RI; a quiet
 * 16-core Xeon). */
#define PLACES_PER_LINE 8u
#define PLACES_MIN (1u << 16)

static void note_peak(struct rsc_exact *exact, uint64_t extra_bytes) {
    uint64_t bytes = rsc_line_map_bytes(&exact->map) + rsc_rank_bytes(&exact->rank) + exact->old_time_bytes;
    if (bytes + extra_bytes > exact->peak_bytes) exact->peak_bytes = bytes + extra_bytes;
}

int rsc_exact_init(struct rsc_exact *exact, enum rsc_simd simd, uint64_t places_least) {
    memset(exact, 0, sizeof *exact);
    exact->places_least = places_least ? places_least : PLACES_MIN;
    exact->kernel = RSC_WIDE_PICK(simd, &rsc_exact);
    if (rsc_line_map_init(&exact->map) < 0 || rsc_rank_init(&exact->rank, exact->places_least) < 0) {
        rsc_exact_free(exact);
        return RSC_ENOMEM;
    }
    exact->places = rsc_rank_places(&exact->rank);
    rsc_line_map_look_ahead(&exact->map);
    note_peak(exact, 0);
    return 0;
}

void rsc_exact_free(struct rsc_exact *exact) {
    rsc_line_map_free(&exact->map);
    rsc_rank_free(&exact->rank);
    rsc_pages_free(exact->old_time, exact->old_time_bytes);
    exact->old_time = NULL;
    exact->old_time_bytes = 0;
}

void rsc_exact_leave_out_ri(struct rsc_exact *exact) { exact->no_ri = 1; }

static int run(struct rsc_exact *exact, const uint64_t *lines, const uint32_t *tags, uint32_t count, uint32_t *rd,
               uint64_t *ri, uint32_t *last_tag) {
    for (uint32_t done = 0; done < count;) {
        uint32_t part = count - done < RSC_EXACT_BLOCK ? count - done : RSC_EXACT_BLOCK;
        int status = exact->kernel->run(exact, lines + done, tags ? tags + done : NULL, part, rd + done,
                                        ri ? ri + done : NULL, last_tag ? last_tag + done : NULL);
        if (status < 0) return status;
        done += part;
    }
    note_peak(exact, 0);
    return 0;
}

int rsc_exact_run(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, uint32_t *rd, uint64_t *ri) {
    return run(exact, lines, NULL, count, rd, ri, NULL);
}

int rsc_exact_run_tagged(struct rsc_exact *exact, const uint64_t *lines, const uint32_t *tags, uint32_t count,
                         uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    if (!exact->map.extra && rsc_line_map_add_extra(&exact->map) < 0) return RSC_ENOMEM;
    return run(exact, lines, tags, count, rd, ri, last_tag);
}

int rsc_exact_exchange(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, uint32_t *slots) {
    int status = exact->kernel->exchange(exact, lines, count, slots);
    note_peak(exact, 0);
    return status;
}

uint32_t rsc_exact_add(struct rsc_exact *exact, uint64_t line, int *status) {
    struct rsc_recent *recent = &exact->recent;
    uint32_t unit = rsc_line_map_add(&exact->map, line, status);
    for (uint32_t moved = 0; unit && moved < exact->map.moved_count; moved++) /* neighbours may be in the filter */
        for (uint32_t lane = 0; lane < recent->count; lane++)
            if (recent->unit[lane] == exact->map.moved_from[moved]) recent->unit[lane] = exact->map.moved_to[moved];
    return unit;
}

int rsc_exact_shrink_recent(struct rsc_exact *exact, uint32_t keep) {
    struct rsc_recent *recent = &exact->recent;
    while (recent->count > keep) {
        uint32_t oldest = 0, last = recent->count - 1;
        for (uint32_t lane = 1; lane < recent->count; lane++)
            if (recent->time[lane] < recent->time[oldest]) oldest = lane;
        uint64_t place = recent->time[oldest] - exact->time_of_place;
        if (place >= exact->places) {
            int status = rsc_exact_compact(exact, recent->time[oldest]);
            if (status < 0) return status;
            place = exact->compacted;
        }
        uint32_t slot = rsc_rank_slot((uint32_t)place);
        rsc_rank_set(&exact->rank, slot);
        exact->map.units[recent->unit[oldest]] = slot + 1;
        if (exact->map.extra) exact->map.extra[recent->unit[oldest]] = recent->tag[oldest];
        recent->line[oldest] = recent->line[last];
        recent->order[oldest] = recent->order[last];
        recent->time[oldest] = recent->time[last];
        recent->tag[oldest] = recent->tag[last];
        recent->unit[oldest] = recent->unit[last];
        recent->order[last] = 0;
        if (recent->last == last) recent->last = oldest;
        recent->count--;
    }
    return 0;
}

int rsc_exact_make_room(struct rsc_exact *exact, uint32_t count) {
    if (rsc_exact_has_room(exact, count)) return 0;
    int status = rsc_exact_shrink_recent(exact, 0);
    if (status < 0 || rsc_exact_has_room(exact, count)) return status;
    return rsc_exact_compact(exact, exact->now);
}

int rsc_exact_compact(struct rsc_exact *exact, uint64_t time) {
    uint64_t live = exact->rank.set;
    uint64_t places = live * PLACES_PER_LINE;
    if (places < exact->places_least) places = exact->places_least;
    if (places > RSC_RANK_PLACES_MAX) places = RSC_RANK_PLACES_MAX;
    if (places < live + live / 4) return RSC_ELIMIT;

    uint64_t time_bytes = exact->no_ri ? 0 : (live + 1) * sizeof(uint64_t);
    uint64_t *new_time = NULL;
    if (time_bytes && !(new_time = rsc_pages_new(time_bytes))) return RSC_ENOMEM;
    struct rsc_rank_bitmap larger = {0};
    if (places > exact->places) {
        int status = rsc_rank_init(&larger, places + places / 2 > RSC_RANK_PLACES_MAX ? places : places + places / 2);
        if (status < 0) {
            rsc_pages_free(new_time, time_bytes);
            return status;
        }
    }
    note_peak(exact, time_bytes + rsc_rank_bytes(&larger));
    exact->kernel->renumber(exact, new_time);
    if (larger.lines) {
        rsc_rank_free(&exact->rank);
        exact->rank = larger;
    }
    rsc_rank_fill(&exact->rank, live);
    assert(exact->rank.set == live); /* a bit per line held */
    rsc_pages_free(exact->old_time, exact->old_time_bytes);
    exact->old_time = new_time;
    exact->old_time_bytes = time_bytes;
    exact->compacted = live;
    exact->compacted_slot = rsc_rank_slot((uint32_t)live);
    exact->time_of_place = time - live;
    exact->places = rsc_rank_places(&exact->rank);
    return 0;
}
