/*
 * attribution.c - the tables, and tags for accesses; see attribution.h.
 *
 * Events come with a batch and take effect at their place in it. Calls and returns
 * are followed while tagging. Changes to objects are news for counting, which makes
 * them when it reaches their place, or at the latest when the next batch comes.
 */
#include "distance/count/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/word_bits.h"
#include "distance/count/attribution_state.h"
#include "trace/variable_event.h"

#define CODE_ROWS (1u << 20)
#define PAIR_ROWS 16384u
#define OBJECT_ROWS 4096u
#define GROUPS_MAX (1u << 20)
#define SUM_BITS 14u /* 1 MiB; with 2 to 8 MiB a compiler, python3 and java take up to a tenth longer */
#define NUMBERS (1u << 16)
#define FAR_DISTANCE 256u /* lines: from here on a reuse is far, and its object is a vote for the pair's */

static uint32_t or_default(uint32_t given, uint32_t usual) { return given ? given : usual; }

/* At most the rows a profile may have, one of them for references without their own. */
static uint32_t rows_of(uint32_t given, uint32_t usual) {
    uint32_t rows = or_default(given, usual);
    return rows < RSC_PROFILE_ROWS_MAX ? rows : RSC_PROFILE_ROWS_MAX - 1;
}

static size_t sums_bytes(const struct rsc_attribution *a) { return sizeof *a->sums << a->sum_bits; }

/* A row of pairs is about to be replaced, or counting has ended. */
static void add_pair_to_code(void *owner, uint32_t row) {
    struct rsc_attribution *a = owner;
    uint32_t reuse = (uint32_t)a->pairs.rows[row].key;
    if (!a->ended) a->pair_objects[row] = (struct pair_object){0};
    rsc_narrow_tally_add_row(&a->code, rsc_places_row(&a->places, reuse), &a->pairs.tally, row);
}

/* ---- sums ---- */

static int same_object(uint64_t a, uint64_t b) { return a == b || (rsc_object_is_line(a) && rsc_object_is_line(b)); }

static void vote_for_object(struct pair_object *object, uint64_t key, uint32_t votes) {
    if (!object->votes || same_object(object->key, key)) {
        object->key = key;
        object->votes += votes;
    } else if (object->votes >= votes) {
        object->votes -= votes;
    } else {
        *object = (struct pair_object){key, votes - object->votes};
    }
}

/* A sum that leaves: what was found of it while others were looked up, which may have changed since. */
struct leaving {
    uint64_t pair_hash;
    uint32_t pair_row, thing_row; /* or RSC_SPACE_NO_ROW */
    uint32_t place;               /* of its instruction; 0: the pair has a row */
};

/* Counts the key in its row of a filtered table, perhaps `guess`; or, returning RSC_SPACE_NO_ROW, in its cell. */
static inline uint32_t count_in(struct rsc_space_saving *table, uint64_t key, uint64_t hash, uint32_t guess,
                                uint32_t bin, uint32_t count) {
    uint32_t row = guess != RSC_SPACE_NO_ROW && table->rows[guess].key == key
                       ? guess
                       : rsc_space_saving_find_filtered(table, key, hash);
    if (row == RSC_SPACE_NO_ROW) row = rsc_space_saving_offer(table, key, hash, count);
    if (row != RSC_SPACE_NO_ROW) rsc_space_saving_add_sum(table, row, bin, count);
    return row;
}

/*
 * A sum is counted once for code: with its pair, or if the pair has no row with its instruction. A pair that leaves the
 * table, or is in it at the end, is added to the row of its instruction, so the instruction's row is complete.
 */
static void count_sum(struct rsc_attribution *a, const struct rsc_sum *sum, const struct leaving *known) {
    const uint32_t bin = rsc_sum_bin(sum->key), reuse = rsc_sum_reuse(sum->key);
    const struct rsc_numbered_object *thing = &a->numbered[sum->object];
    uint32_t row = RSC_SPACE_NO_ROW;
    if (rsc_sum_has_pair(sum->key))
        row = count_in(&a->pairs, rsc_sum_pair(sum->key), known->pair_hash, known->pair_row, bin, sum->count);
    if (row == RSC_SPACE_NO_ROW) rsc_narrow_tally_add(&a->code, rsc_places_row(&a->places, reuse), bin, sum->count);
    else if (sum->object && bin >= a->far_bin) vote_for_object(&a->pair_objects[row], thing->key, sum->count);
    if (!sum->object) return;
    const uint64_t hash = rsc_space_saving_hash(thing->key);
    row = count_in(&a->things, thing->key, hash, known->thing_row, bin, sum->count);
    if (row != RSC_SPACE_NO_ROW) a->numbered[sum->object].row = row;
}

static inline __attribute__((always_inline)) void prefetch_row(const struct rsc_space_saving *table, uint32_t row,
                                                               uint32_t bin) {
    __builtin_prefetch(&table->rows[row], 1);
    __builtin_prefetch(&table->tally.rows[row].count[bin], 1);
}

/* Each of them needs several cache lines, one after the other: all are looked up together, step by step. */
static void count_leaving(struct rsc_attribution *a) {
    const struct rsc_sum *sums = a->leaving;
    const uint32_t count = a->leaving_count;
    const struct rsc_places *places = &a->places;
    struct leaving known[RSC_SUMS_LEAVING];
    for (uint32_t i = 0; i < count; i++) {
        known[i].pair_hash = rsc_space_saving_hash(rsc_sum_pair(sums[i].key));
        rsc_space_saving_prefetch_filtered(&a->pairs, known[i].pair_hash);
        __builtin_prefetch(&places->chunk_of_group[rsc_sum_reuse(sums[i].key) >> RSC_CHUNK_BITS]);
        __builtin_prefetch(&a->things.rows[a->numbered[sums[i].object].row]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bin = rsc_sum_bin(sums[i].key), tag = rsc_sum_reuse(sums[i].key);
        const struct rsc_numbered_object *thing = &a->numbered[sums[i].object];
        known[i].thing_row = thing->row < a->things.used ? thing->row : RSC_SPACE_NO_ROW;
        if (known[i].thing_row != RSC_SPACE_NO_ROW) prefetch_row(&a->things, thing->row, bin);
        known[i].place = 0;
        known[i].pair_row = RSC_SPACE_NO_ROW;
        if (rsc_sum_has_pair(sums[i].key))
            known[i].pair_row =
                rsc_space_saving_find_filtered(&a->pairs, rsc_sum_pair(sums[i].key), known[i].pair_hash);
        if (known[i].pair_row != RSC_SPACE_NO_ROW) {
            prefetch_row(&a->pairs, known[i].pair_row, bin);
            continue;
        }
        known[i].place = places->chunk_of_group[tag >> RSC_CHUNK_BITS] << RSC_CHUNK_BITS | (tag & RSC_CHUNK_MASK);
        __builtin_prefetch(&places->rows[known[i].place]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (known[i].place) __builtin_prefetch(&a->code.cells[places->rows[known[i].place]], 1);
    for (uint32_t i = 0; i < count; i++) count_sum(a, &sums[i], &known[i]);
    a->leaving_count = 0;
}

void rsc_attribution_take_sum(struct rsc_attribution *a, const struct rsc_sum *sum) {
    if (!sum->count) return;
    a->leaving[a->leaving_count++] = *sum;
    if (a->leaving_count == RSC_SUMS_LEAVING) count_leaving(a);
}

/* All of them. */
static void take_sums(struct rsc_attribution *a) {
    for (uint32_t i = 0; i < 1u << a->sum_bits; i++) {
        struct rsc_sum_set *set = &a->sums[i];
        for (uint32_t way = 0; way < RSC_SUM_WAYS; way++)
            rsc_attribution_take_sum(a, &(struct rsc_sum){set->key[way], set->object[way], set->count[way]});
    }
    count_leaving(a);
    memset(a->sums, 0, sums_bytes(a));
}

int rsc_attribution_renumber(struct rsc_attribution *a) {
    take_sums(a);
    rsc_objects_forget_marks(&a->objects);
    rsc_u64_table_free(&a->number_of);
    a->number_count = 1; /* 0: not known */
    return rsc_u64_table_init(&a->number_of, a->number_limit);
}

uint32_t rsc_attribution_number_object(struct rsc_attribution *a, uint64_t address, int is_fetch) {
    uint64_t key = rsc_objects_find(&a->objects, address, is_fetch);
    struct rsc_u64_entry *entry = rsc_u64_table_find(&a->number_of, key);
    if (!entry->value) {
        if (a->number_count == a->number_limit) return 0;
        a->numbered[a->number_count] = (struct rsc_numbered_object){.key = key};
        *entry = (struct rsc_u64_entry){key, a->number_count++};
        a->number_of.used++;
    }
    if (!is_fetch) rsc_objects_keep_mark(&a->objects, address, key, (uint32_t)entry->value);
    return (uint32_t)entry->value;
}

void rsc_attribution_end(struct rsc_attribution *a) {
    if (a->ended) return;
    take_sums(a);
    a->ended = 1;
    for (uint32_t row = 0; row < a->pairs.used; row++) add_pair_to_code(a, row);
}

int rsc_attribution_new(struct rsc_attribution **out, const struct rsc_attribution_options *options,
                        struct rsc_error *error) {
    static const struct rsc_attribution_options usual;
    struct rsc_attribution *a = *out = calloc(1, sizeof *a);
    if (!options) options = &usual;
    if (!a) goto fail;
    a->run = RSC_WIDE_PICK(rsc_simd_best(), rsc_attribution_run);
    a->times = 1;
    uint32_t nodes = or_default(options->context_rows, RSC_CALL_NODES_MAX);
    uint32_t code_rows = or_default(options->code_rows, CODE_ROWS);
    a->has_gaps = options->has_gaps;
    a->cap = options->rd_cap && options->rd_cap < UINT32_MAX ? (uint32_t)options->rd_cap : UINT32_MAX;
    if (rsc_call_paths_init(&a->paths, nodes) < 0 || rsc_objects_init(&a->objects, a->paths.node_limit) < 0 ||
        rsc_places_init(&a->places, or_default(options->groups, GROUPS_MAX), code_rows) < 0 ||
        rsc_narrow_tally_init(&a->code, code_rows + 1) < 0 ||
        rsc_space_saving_init_filtered(&a->pairs, rows_of(options->pair_rows, PAIR_ROWS)) < 0 ||
        rsc_space_saving_init_filtered(&a->things, rows_of(options->object_rows, OBJECT_ROWS)) < 0 ||
        rsc_stride_votes_init(&a->strides, code_rows + 1) < 0)
        goto fail;
    a->pair_objects = calloc(a->pairs.row_count, sizeof *a->pair_objects);
    a->sum_bits = or_default(options->sum_bits, SUM_BITS);
    a->sums = rsc_pages_new(sums_bytes(a));
    a->number_limit = or_default(options->numbers, NUMBERS);
    a->numbered = calloc(a->number_limit, sizeof *a->numbered);
    a->far_bin = rsc_tally_bin(FAR_DISTANCE, UINT32_MAX);
    a->number_count = 1;
    a->change_at = UINT32_MAX;
    if (!a->pair_objects || !a->sums || !a->numbered || rsc_u64_table_init(&a->number_of, a->number_limit) < 0)
        goto fail;
    a->pairs.leaving = add_pair_to_code;
    a->pairs.owner = a;
    return 0;
fail:
    rsc_attribution_free(a);
    *out = NULL;
    return rsc_fail_memory(error, "attribution");
}

void rsc_attribution_free(struct rsc_attribution *a) {
    if (!a) return;
    rsc_call_paths_free(&a->paths);
    rsc_objects_free(&a->objects);
    rsc_places_free(&a->places);
    rsc_narrow_tally_free(&a->code);
    rsc_space_saving_free(&a->pairs);
    rsc_space_saving_free(&a->things);
    free(a->pair_objects);
    rsc_pages_free(a->sums, sums_bytes(a));
    free(a->numbered);
    rsc_u64_table_free(&a->number_of);
    rsc_stride_votes_free(&a->strides);
    rsc_news_free(&a->news);
    rsc_news_free(&a->learnt);
    free(a);
}

/* ---- changes to objects ---- */

static int make_change(struct rsc_attribution *a, const struct object_change *change) {
    switch (change->type) {
    case RSC_EVENT_ALLOC: return rsc_objects_add_block(&a->objects, change->start, change->bytes, change->number);
    case RSC_EVENT_FREE: rsc_objects_remove_block(&a->objects, change->start); return 0;
    case RSC_EVENT_VARIABLE: return rsc_objects_add_variable(&a->objects, change->start, change->bytes);
    default: return rsc_objects_map(&a->objects, change->start, change->bytes, change->number, change->is_data);
    }
}

int rsc_attribution_make_changes(struct rsc_attribution *a, uint32_t upto) {
    for (; a->change_next < a->change_end; a->change_next++) {
        const struct news_item *item = &a->learnt.items[a->change_next];
        if (item->what != NEWS_CHANGE) continue;
        a->change_at = item->change.at;
        if (a->change_at > upto) return 0;
        if (make_change(a, &item->change) < 0) return RSC_ENOMEM;
    }
    a->change_at = UINT32_MAX;
    return 0;
}

/* ---- news ---- */

static int tell_change(struct rsc_attribution *a, const struct rsc_event *event) {
    struct news_item *item = rsc_news_add(&a->news, NEWS_CHANGE);
    if (!item) return RSC_ENOMEM;
    item->change = (struct object_change){.at = event->at, .type = event->type, .start = event->a, .bytes = event->b};
    if (event->type == RSC_EVENT_ALLOC) {
        uint32_t pcs = event->data_bytes / 8u;
        item->change.number =
            pcs ? rsc_call_paths_node(&a->paths, event->data, pcs) : rsc_call_paths_current(&a->paths, event->thread);
    } else if (event->type == RSC_EVENT_MAP) {
        item->map = rsc_news_copy_event(event);
        if (!item->map) return RSC_ENOMEM;
    }
    return 0;
}

/* Names the mapping of a change. Returns 0 or RSC_ENOMEM. */
static int learn_mapping(struct rsc_attribution *a, struct news_item *item) {
    int name = rsc_objects_add_mapping(&a->objects, item->map);
    if (name == RSC_EFORMAT) item->change.bytes = 0; /* changes nothing */
    else if (name < 0) return name;
    else {
        uint64_t offset;
        memcpy(&offset, item->map->data, sizeof offset);
        item->change.number = (uint32_t)name;
        item->change.is_data = offset != 0;
    }
    return 0;
}

static void learn_access(struct rsc_attribution *a, const struct news_item *item) {
    uint32_t row = rsc_places_row(&a->places, item->tag);
    if (row != RSC_CODE_OTHER)
        rsc_stride_votes_see(&a->strides, row, rsc_places_pc(&a->places, item->tag), item->thread, item->address,
                             item->bytes);
}

static int learn_item(struct rsc_attribution *a, size_t at) {
    struct news_item *item = &a->learnt.items[at];
    switch (item->what) {
    case NEWS_BATCH:
        a->change_end = at;
        if (rsc_attribution_make_changes(a, UINT32_MAX) < 0) return RSC_ENOMEM;
        a->change_next = at + 1;
        return 0;
    case NEWS_CODE: rsc_objects_see_code(&a->objects, item->pc); return 0;
    case NEWS_CHANGE: return item->map ? learn_mapping(a, item) : 0;
    case NEWS_WINDOW: rsc_stride_votes_begin(&a->strides); return 0;
    case NEWS_ACCESS: learn_access(a, item); return 0;
    }
    return 0;
}

void rsc_attribution_news(struct rsc_attribution *a, struct rsc_attribution_news *news) {
    *news = a->news;
    a->news = (struct rsc_attribution_news){0};
    a->is_news = 0;
}

int rsc_attribution_learn(struct rsc_attribution *a, struct rsc_attribution_news *news) {
    int status = rsc_attribution_make_changes(a, UINT32_MAX); /* of the batch before */
    rsc_news_free(&a->learnt);
    a->learnt = *news;
    *news = (struct rsc_attribution_news){0};
    a->has_fetches |= a->learnt.has_fetches;
    a->change_next = a->change_end = 0;
    for (size_t i = 0; !status && i < a->learnt.count; i++) status = learn_item(a, i);
    if (status < 0) return status;
    a->change_end = a->learnt.count;
    return rsc_attribution_make_changes(a, 0); /* finds the first one */
}

int rsc_attribution_learn_own(struct rsc_attribution *a) {
    struct rsc_attribution_news news;
    if (!a->is_news) return 0;
    rsc_attribution_news(a, &news);
    return rsc_attribution_learn(a, &news);
}

void rsc_attribution_count_apart(struct rsc_attribution *a) { a->is_apart = 1; }

static inline __attribute__((always_inline)) int take_event(struct rsc_attribution *a, const struct rsc_event *event) {
    if (event->thread >= RSC_THREADS_MAX) return 0;
    switch (event->type) {
    case RSC_EVENT_CALL: return rsc_call_paths_call(&a->paths, event->thread, event->a);
    case RSC_EVENT_RETURN: rsc_call_paths_return(&a->paths, event->thread, event->a); return 0;
    case RSC_EVENT_THREAD_START: rsc_call_paths_restart(&a->paths, event->thread); return 0;
    case RSC_EVENT_ALLOC:
    case RSC_EVENT_FREE:
    case RSC_EVENT_MAP:
    case RSC_EVENT_VARIABLE: return tell_change(a, event);
    default: return 0;
    }
}

/* ---- tags ---- */

/* The group of a pc in a call path, looked up or made. UINT32_MAX: out of memory. */
static uint32_t find_group(struct rsc_attribution *a, uint64_t pc, uint32_t node) {
    int is_new = 0;
    const uint32_t found = rsc_places_group(&a->places, &a->paths, pc, node, &is_new);
    if (found == UINT32_MAX || !is_new) return found;
    struct news_item *news = rsc_news_add(&a->news, NEWS_CODE);
    if (!news) return UINT32_MAX;
    news->pc = pc;
    return found;
}

/* Puts a group that is number k, 1 or more, of those that followed in front of the others. A loop would call memmove(). */
static inline void put_first(struct rsc_place_group *group, uint32_t found, uint8_t hash, uint32_t k) {
    if (k > 2) {
        group->next[3] = group->next[2];
        group->hash[3] = group->hash[2];
    }
    if (k > 1) {
        group->next[2] = group->next[1];
        group->hash[2] = group->hash[1];
    }
    group->next[1] = group->next[0];
    group->hash[1] = group->hash[0];
    group->next[0] = found;
    group->hash[0] = hash;
}

/* As find_group(), when it is not the one that followed group `last` last; from now on it is. */
static __attribute__((noinline)) uint32_t other_group(struct rsc_attribution *a, uint64_t pc, uint32_t node,
                                                      uint32_t last) {
    struct rsc_place_group *groups = a->places.groups, *before = &groups[last];
    const uint64_t line = pc >> RSC_CHUNK_BITS;
    const uint8_t hash = rsc_places_hash(line, node);
    uint32_t k = 1, found = 0;
    for (; k < RSC_GROUPS_NEXT; k++) {
        found = before->next[k];
        if (before->hash[k] == hash && groups[found].line == line && groups[found].node == node && found) break;
    }
    if (k == RSC_GROUPS_NEXT) {
        k--;
        found = find_group(a, pc, node);
        if (found == UINT32_MAX) return found;
    }
    put_first(before, found, hash, k);
    return found;
}

/* The group of a pc in a call path, after an access of group `last`. */
static inline uint32_t next_group(struct rsc_attribution *a, uint64_t pc, uint32_t node, uint32_t last) {
    const struct rsc_place_group *before = &a->places.groups[last], *guess = &a->places.groups[before->next[0]];
    const uint64_t line = pc >> RSC_CHUNK_BITS;
    if (guess->line == line && guess->node == node && before->next[0]) return before->next[0];
    if (before->line == line && before->node == node && last) return last;
    return other_group(a, pc, node, last);
}

/* Accesses for strides, in windows of the run that do not depend on how batches are cut. */
static int tell_accesses(struct rsc_attribution *a, const struct rsc_batch *batch, const uint32_t *tags) {
    for (uint64_t i = 0; batch->pc && i < batch->count; i++) {
        uint64_t at = (a->accesses + i) % RSC_STRIDE_EVERY;
        if (at >= RSC_STRIDE_WINDOW) {
            i += RSC_STRIDE_EVERY - 1 - at;
            continue;
        }
        if (!at && !rsc_news_add(&a->news, NEWS_WINDOW)) return RSC_ENOMEM;
        struct news_item *item = rsc_news_add(&a->news, NEWS_ACCESS);
        if (!item) return RSC_ENOMEM;
        item->tag = tags[i];
        item->thread = rsc_meta_thread(batch->meta[i]);
        item->bytes = rsc_meta_size(batch->meta[i]);
        item->address = batch->addr[i];
    }
    a->accesses += batch->count;
    return 0;
}

/*
 * Tags all accesses, and takes the events at their places. Whether there are pcs, and more than one thread, are constants
 * where this is inlined.
 */
static inline __attribute__((always_inline)) int tag_batch(struct rsc_attribution *a, const struct rsc_batch *batch,
                                                           uint32_t *restrict tags, int has_pcs, int has_threads) {
    const uint64_t *pcs = batch->pc, *metas = batch->meta;
    uint32_t thread = batch->count ? rsc_meta_thread(batch->meta[0]) : 0, node = UINT32_MAX;
    uint32_t group = a->group_before, base = 0, mask = 0; /* a tag is `base`, and of the pc the bits of `mask` */
    uint64_t line = UINT64_MAX; /* of the access before; UINT64_MAX: not known */
    for (uint32_t i = 0, e = 0;; e++) {
        const uint32_t at = e < batch->event_count ? batch->events[e].at : UINT32_MAX;
        const uint32_t end = at < batch->count ? at : batch->count, left = node;
        if (i < end) node = rsc_call_paths_current(&a->paths, thread);
        if (node != left) line = UINT64_MAX;
        while (i < end) {
            const uint64_t pc = has_pcs ? pcs[i] : 0;
            if (pc >> RSC_CHUNK_BITS == line && (!has_threads || rsc_meta_thread(metas[i]) == thread)) {
                tags[i++] = base | ((uint32_t)pc & mask);
                continue;
            }
            if (has_threads && rsc_meta_thread(metas[i]) != thread) {
                thread = rsc_meta_thread(metas[i]);
                node = rsc_call_paths_current(&a->paths, thread);
            }
            line = pc >> RSC_CHUNK_BITS;
            group = next_group(a, pc, node, group);
            if (group == UINT32_MAX) return RSC_ENOMEM;
            base = group << RSC_CHUNK_BITS;
            mask = group == RSC_GROUP_NONE ? 0 : RSC_CHUNK_MASK;
        }
        if (e == batch->event_count) break;
        if (take_event(a, &batch->events[e]) < 0) return RSC_ENOMEM;
    }
    a->group_before = group;
    return 0;
}

int rsc_attribution_tags(struct rsc_attribution *a, const struct rsc_batch *batch, uint32_t *tags) {
    const struct rsc_word_bits bits = rsc_word_bits(batch->meta, batch->count);
    a->is_news = 1;
    if (a->news.count && !rsc_news_add(&a->news, NEWS_BATCH)) return RSC_ENOMEM;
    int status = !batch->pc                     ? tag_batch(a, batch, tags, 0, 1)
                 : rsc_meta_thread(bits.differ) ? tag_batch(a, batch, tags, 1, 1)
                                                : tag_batch(a, batch, tags, 1, 0);
    if (status < 0) return status;
    if (rsc_meta_kind(bits.any) & RSC_FETCH) a->news.has_fetches = 1;
    return a->has_gaps ? 0 : tell_accesses(a, batch, tags);
}

void rsc_attribution_step(struct rsc_attribution *a, uint32_t tag, uint64_t from, uint64_t to, uint32_t bytes) {
    uint32_t row = rsc_places_row(&a->places, tag);
    if (row != RSC_CODE_OTHER) rsc_stride_votes_step(&a->strides, row, from, to, bytes);
}

/* ---- counting ---- */

uint64_t rsc_attribution_object(struct rsc_attribution *a, uint64_t address) {
    return rsc_attribution_learn_own(a) < 0 ? 0 : rsc_objects_find(&a->objects, address, 0);
}

void rsc_attribution_keep_objects(struct rsc_attribution *a, uint64_t *objects) { a->kept_objects = objects; }

void rsc_attribution_weigh(struct rsc_attribution *a, uint32_t times) { a->times = times; }

int rsc_attribution_count(struct rsc_attribution *a, const struct rsc_batch *batch, uint32_t first,
                          const uint32_t *from, const uint32_t *tags, const uint32_t *rd, const uint32_t *last_tag,
                          uint32_t count) {
    if (!a->is_apart && rsc_attribution_learn_own(a) < 0) return RSC_ENOMEM;
    return a->run(a, batch, first, from, tags, rd, last_tag, count);
}
