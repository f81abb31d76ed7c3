/*
 * attribution_kernel.c - counts references in the tables of attribution_state.h; compiled
 * once per vector width.
 *
 * Each reference touches tables of megabytes. So it is counted once for code: in its
 * pair's row, or if the pair has none in its instruction's. A pair that leaves the
 * table, or is in it at the end, is added to the row of its instruction, so the
 * instruction's row is complete. Small chunks of references are looked up and
 * prefetched first, then counted.
 */
#include <string.h>

#include "base/cpu.h"
#include "distance/count/attribution_state.h"

#define CHUNK 128u /* references looked up together: their cache lines fit L1 */

/* From this distance on a reuse is far, and its data is named: 256 lines. */
#define FAR_DISTANCE 256u

/* Set in the key of a reference that makes no pair: no tag has that bit. */
#define NO_PAIR (1ull << 63)

struct chunk {
    uint8_t bin[CHUNK];
    uint64_t pair[CHUNK];     /* the use's tag << 32 | the reuse's */
    uint64_t hash[CHUNK];
    uint32_t pair_row[CHUNK]; /* the pair's row, or RSC_SPACE_NO_ROW */
    uint32_t admitted;        /* pairs that got a row since they were looked up */
};

/* ---- pairs and code ---- */

/*
 * As rsc_tally_bin() for all of them. A coarse bin is the exponent of a distance and two more bits, which
 * are the top of its float; the compiler makes vectors of this.
 */
static void bins_of(const uint32_t *rd, uint32_t cap, uint8_t *bin, uint32_t count) {
    uint32_t large = cap < UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        float value = (float)(int32_t)rd[i];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint32_t at = rd[i] < 4 ? 1 + rd[i] : (bits >> 21) - 511;
        at = rd[i] == UINT32_MAX ? RSC_TALLY_COLD : at;
        bin[i] = (uint8_t)(rd[i] == UINT32_MAX - 1 ? RSC_TALLY_INVALIDATED : at);
        large |= (rd[i] + 2) >> 24; /* floats are exact below */
    }
    if (!large) return;
    for (uint32_t i = 0; i < count; i++) bin[i] = (uint8_t)rsc_tally_bin(rd[i], cap);
}

static void look_up(struct rsc_attribution *a, struct chunk *chunk, const uint32_t *tags, const uint32_t *rd,
                    const uint32_t *last_tag, uint32_t count) {
    const struct rsc_space_saving *pairs = &a->pairs;
    bins_of(rd, a->cap, chunk->bin, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t none = rd[i] >= UINT32_MAX - 1 ? NO_PAIR >> 32 : 0;
        chunk->pair[i] = (uint64_t)(last_tag[i] | none) << 32 | tags[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        chunk->hash[i] = rsc_space_saving_hash(chunk->pair[i]);
        rsc_space_saving_prefetch(pairs, chunk->hash[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = rsc_space_saving_find_hashed(pairs, chunk->pair[i], chunk->hash[i]);
        chunk->pair_row[i] = row;
        if (row != RSC_SPACE_NO_ROW) __builtin_prefetch(&pairs->tally.rows[row].count[chunk->bin[i]], 1);
    }
    chunk->admitted = 0;
}

/* A row for a pair that had none when it was looked up, or lost it since; or RSC_SPACE_NO_ROW. */
static uint32_t row_for(struct rsc_attribution *a, struct chunk *chunk, uint32_t i, uint32_t count) {
    uint64_t pair = chunk->pair[i], replaced = a->pairs.replaced;
    uint32_t row = chunk->admitted ? rsc_space_saving_find_hashed(&a->pairs, pair, chunk->hash[i]) : RSC_SPACE_NO_ROW;
    if (row == RSC_SPACE_NO_ROW) row = rsc_space_saving_offer(&a->pairs, pair, chunk->hash[i]);
    if (row == RSC_SPACE_NO_ROW) return row;
    chunk->admitted++;
    if (a->pairs.replaced != replaced)
        for (uint32_t k = i + 1; k < count; k++)
            chunk->pair_row[k] = chunk->pair_row[k] == row ? RSC_SPACE_NO_ROW : chunk->pair_row[k];
    return row;
}

static __attribute__((noinline)) void count_slowly(struct rsc_attribution *a, struct chunk *chunk, uint32_t i,
                                                   uint32_t count) {
    uint64_t pair = chunk->pair[i];
    uint32_t row = pair & NO_PAIR ? RSC_SPACE_NO_ROW : row_for(a, chunk, i, count);
    chunk->pair_row[i] = row;
    if (row != RSC_SPACE_NO_ROW) rsc_tally_add(&a->pairs.tally, row, chunk->bin[i]);
    else rsc_narrow_tally_add(&a->code, rsc_places_row(&a->places, (uint32_t)pair), chunk->bin[i], 1);
}

static void count_chunk(struct rsc_attribution *a, struct chunk *chunk, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (chunk->pair_row[i] == RSC_SPACE_NO_ROW) count_slowly(a, chunk, i, count);
        else rsc_tally_add(&a->pairs.tally, chunk->pair_row[i], chunk->bin[i]);
    }
}

/* ---- objects ---- */

static int same_object(uint64_t a, uint64_t b) {
    return a == b || (rsc_object_sort(a) == RSC_OBJECT_GLOBAL && rsc_object_sort(b) == RSC_OBJECT_GLOBAL);
}

static void vote_for_object(struct rsc_attribution *a, uint64_t pair, uint32_t row, uint64_t key) {
    if (row == RSC_SPACE_NO_ROW || a->pairs.rows[row].key != pair) return; /* it lost its row since it was counted */
    struct pair_object *object = &a->pair_objects[row];
    if (!object->votes || same_object(object->key, key)) {
        object->key = key;
        object->votes++;
    } else {
        object->votes--;
    }
}

/* Counts an access to an object whose row is not kept with it. Returns its key. */
static __attribute__((noinline)) uint64_t count_object_slowly(struct rsc_attribution *a, uint64_t address, int is_fetch,
                                                              uint32_t bin) {
    uint64_t key = rsc_objects_find(&a->objects, address, is_fetch);
    uint64_t hash = rsc_space_saving_hash(key);
    uint32_t row = rsc_space_saving_find_hashed(&a->things, key, hash);
    if (row == RSC_SPACE_NO_ROW) row = rsc_space_saving_offer(&a->things, key, hash);
    if (row == RSC_SPACE_NO_ROW) return key;
    rsc_tally_add(&a->things.tally, row, bin);
    if (!is_fetch) rsc_objects_keep_mark(&a->objects, address, key, row + 1);
    return key;
}

static void count_objects(struct rsc_attribution *a, const struct rsc_batch *batch, const uint32_t *from,
                          const struct chunk *chunk, uint32_t begin, uint32_t count, uint64_t *kept) {
    const uint8_t *bin = chunk->bin + begin;
    uint32_t far = rsc_tally_bin(FAR_DISTANCE, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = batch->addr[from[i]], key;
        int is_fetch = a->has_fetches && rsc_meta_kind(batch->meta[from[i]]) == RSC_FETCH;
        uint32_t mark = is_fetch ? 0 : rsc_objects_mark(&a->objects, address);
        if (mark) {
            rsc_tally_add(&a->things.tally, mark - 1, bin[i]);
            if (bin[i] < far && !kept) continue;
            key = a->things.rows[mark - 1].key;
        } else {
            key = count_object_slowly(a, address, is_fetch, bin[i]);
        }
        /* a line that was taken away makes no pair, at any distance */
        if (bin[i] >= far && bin[i] != RSC_TALLY_INVALIDATED)
            vote_for_object(a, chunk->pair[begin + i], chunk->pair_row[begin + i], key);
        if (kept) kept[i] = key;
    }
}

/* Counts objects as of each reference's place among the changes. */
static int count_among_changes(struct rsc_attribution *a, const struct rsc_batch *batch, const uint32_t *from,
                               const struct chunk *chunk, uint32_t count, uint64_t *kept) {
    for (uint32_t done = 0; done < count;) {
        uint32_t part = done;
        if (rsc_attribution_make_changes(a, from[done]) < 0) return RSC_ENOMEM;
        uint32_t until = a->change_next < a->change_count ? a->changes[a->change_next].at : UINT32_MAX;
        if (from[count - 1] < until) part = count;
        while (part < count && from[part] < until) part++;
        if (a->objects.known) count_objects(a, batch, from + done, chunk, done, part - done, kept ? kept + done : NULL);
        done = part;
    }
    return 0;
}

int RSC_WIDE(rsc_attribution_run)(struct rsc_attribution *a, const struct rsc_batch *batch, const uint32_t *from,
                                  const uint32_t *tags, const uint32_t *rd, const uint32_t *last_tag, uint32_t count) {
    struct chunk chunk;
    for (uint32_t done = 0; done < count; done += CHUNK) {
        uint32_t part = count - done < CHUNK ? count - done : CHUNK;
        look_up(a, &chunk, tags + done, rd + done, last_tag + done, part);
        count_chunk(a, &chunk, part);
        uint64_t *kept = a->kept_objects ? a->kept_objects + done : NULL;
        if (kept) memset(kept, 0, part * sizeof *kept);
        if ((a->objects.known || a->change_next < a->change_count) &&
            count_among_changes(a, batch, from + done, &chunk, part, kept) < 0)
            return RSC_ENOMEM;
    }
    return a->code.failed || a->pairs.tally.failed || a->things.tally.failed ? RSC_ENOMEM : 0;
}
