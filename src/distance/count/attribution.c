/*
 * attribution.c - tags for accesses, counts for references; see attribution.h.
 *
 * The cost is in counting: each reference touches tables of megabytes. So a reference
 * is counted once, in its pair's row. A pair that leaves the table, or is in it at
 * the end, is added to the row of its instruction, so the instruction's row is
 * complete. Small blocks of references are looked up and prefetched first, then
 * counted.
 *
 * Events come with a batch and take effect at their place in it. Calls and returns
 * are followed while tagging. Changes to objects are kept in a list and applied when
 * counting reaches their place; the rest are applied when the next batch comes.
 */
#include "distance/count/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "distance/count/attribution_state.h"

#define CODE_ROWS 65536u
#define PAIR_ROWS 16384u
#define OBJECT_ROWS 4096u
#define TAGS_MAX (1u << 20)
#define CHUNK 128u         /* references looked up together: their cache lines fit L1 */
#define PREFETCH_TAGS 16u
#define INSTRUCTION_BYTES_MAX 15u
#define NO_USE UINT32_MAX  /* no tag */

static uint32_t or_default(uint32_t given, uint32_t usual) { return given ? given : usual; }

/* At most the rows a profile may have, one of them for references without their own. */
static uint32_t rows_of(uint32_t given, uint32_t usual) {
    uint32_t rows = or_default(given, usual);
    return rows < RSC_PROFILE_ROWS_MAX ? rows : RSC_PROFILE_ROWS_MAX - 1;
}

static void add_pair_to_code(void *owner, uint32_t row) {
    struct rsc_attribution *a = owner;
    uint32_t reuse = (uint32_t)a->pairs.rows[row].key;
    if (!a->ended) a->pair_objects[row] = (struct pair_object){0};
    rsc_tally_add_row(&a->code, a->counts[reuse].row, &a->pairs.tally, row);
}

void rsc_attribution_end(struct rsc_attribution *a) {
    if (a->ended) return;
    a->ended = 1;
    for (uint32_t row = 0; row < a->pairs.used; row++) add_pair_to_code(a, row);
}

int rsc_attribution_new(struct rsc_attribution **out, const struct rsc_attribution_options *options,
                        struct rsc_error *error) {
    static const struct rsc_attribution_options usual;
    struct rsc_attribution *a = *out = calloc(1, sizeof *a);
    if (!options) options = &usual;
    if (!a) goto fail;
    uint32_t nodes = or_default(options->context_rows, RSC_CALL_NODES_MAX);
    a->tag_limit = or_default(options->tags, TAGS_MAX);
    a->code_limit = rows_of(options->code_rows, CODE_ROWS);
    a->cap = options->rd_cap && options->rd_cap < UINT32_MAX ? (uint32_t)options->rd_cap : UINT32_MAX;
    if (rsc_call_paths_init(&a->paths, nodes) < 0 || rsc_objects_init(&a->objects, a->paths.node_limit) < 0 ||
        rsc_u64_table_init(&a->tag_of, 4096) < 0 || rsc_u64_table_init(&a->row_of, 4096) < 0 ||
        rsc_tally_init(&a->code, a->code_limit + 1) < 0 ||
        rsc_space_saving_init(&a->pairs, rows_of(options->pair_rows, PAIR_ROWS)) < 0 ||
        rsc_space_saving_init(&a->things, rows_of(options->object_rows, OBJECT_ROWS)) < 0)
        goto fail;
    a->pair_objects = calloc(a->pairs.row_count, sizeof *a->pair_objects);
    if (!a->pair_objects || rsc_stride_votes_init(&a->strides, a->code_limit + 1) < 0) goto fail;
    a->pairs.leaving = add_pair_to_code;
    a->pairs.owner = a;
    a->code_pc = malloc((a->code_limit + 1ull) * sizeof *a->code_pc);
    a->tag_room = 1024;
    a->place = calloc(a->tag_room, sizeof *a->place);
    a->counts = calloc(a->tag_room, sizeof *a->counts);
    if (!a->code_pc || !a->place || !a->counts) goto fail;
    a->code_pc[RSC_CODE_OTHER] = 0;
    a->code_count = 1;
    a->counts[RSC_TAG_NONE] = (struct tag_counts){.row = RSC_CODE_OTHER, .use = NO_USE};
    a->tag_count = 1;
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
    rsc_u64_table_free(&a->tag_of);
    rsc_u64_table_free(&a->row_of);
    rsc_tally_free(&a->code);
    rsc_space_saving_free(&a->pairs);
    rsc_space_saving_free(&a->things);
    free(a->pair_objects);
    rsc_stride_votes_free(&a->strides);
    free(a->code_pc);
    free(a->place);
    free(a->counts);
    free(a->changes);
    free(a);
}

/* ---- changes to objects ---- */

static int make_change(struct rsc_attribution *a, const struct object_change *change) {
    switch (change->type) {
    case RSC_EVENT_ALLOC: return rsc_objects_add_block(&a->objects, change->start, change->bytes, change->number);
    case RSC_EVENT_FREE: rsc_objects_remove_block(&a->objects, change->start); return 0;
    default: return rsc_objects_map(&a->objects, change->start, change->bytes, change->number, change->is_data);
    }
}

int rsc_attribution_make_changes(struct rsc_attribution *a, uint32_t upto) {
    while (a->change_next < a->change_count && a->changes[a->change_next].at <= upto)
        if (make_change(a, &a->changes[a->change_next++]) < 0) return RSC_ENOMEM;
    return 0;
}

static int note_change(struct rsc_attribution *a, const struct rsc_event *event) {
    struct object_change change = {.at = event->at, .type = event->type, .start = event->a, .bytes = event->b};
    if (event->type == RSC_EVENT_ALLOC) {
        uint32_t pcs = event->data_bytes / 8u;
        change.number =
            pcs ? rsc_call_paths_node(&a->paths, event->data, pcs) : rsc_call_paths_current(&a->paths, event->thread);
    } else if (event->type == RSC_EVENT_MAP) {
        int name = rsc_objects_add_mapping(&a->objects, event);
        if (name == RSC_EFORMAT) return 0;
        if (name < 0) return name;
        uint64_t offset;
        memcpy(&offset, event->data, sizeof offset);
        change.number = (uint32_t)name;
        change.is_data = offset != 0;
    }
    if (a->change_count == a->change_room) {
        uint32_t room = a->change_room ? 2 * a->change_room : 64;
        struct object_change *changes = realloc(a->changes, room * sizeof *changes);
        if (!changes) return RSC_ENOMEM;
        a->changes = changes;
        a->change_room = room;
    }
    a->changes[a->change_count++] = change;
    return 0;
}

static int take_event(struct rsc_attribution *a, const struct rsc_event *event) {
    if (event->thread >= RSC_THREADS_MAX) return 0;
    switch (event->type) {
    case RSC_EVENT_CALL: return rsc_call_paths_call(&a->paths, event->thread, event->a);
    case RSC_EVENT_RETURN: rsc_call_paths_return(&a->paths, event->thread, event->a); return 0;
    case RSC_EVENT_THREAD_START: rsc_call_paths_restart(&a->paths, event->thread); return 0;
    case RSC_EVENT_ALLOC:
    case RSC_EVENT_FREE:
    case RSC_EVENT_MAP: return note_change(a, event);
    default: return 0;
    }
}

/* ---- tags ---- */

/* Adds the entry of a key that is not in the table; NULL: out of memory. */
static struct rsc_u64_entry *table_add(struct rsc_u64_table *table, uint64_t key) {
    if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return NULL;
    struct rsc_u64_entry *entry = rsc_u64_table_find(table, key);
    entry->key = key;
    table->used++;
    return entry;
}

/* The row of an instruction. Returns 0 or RSC_ENOMEM. */
static int code_row(struct rsc_attribution *a, uint64_t pc, uint32_t *row) {
    const struct rsc_u64_entry *known = rsc_u64_table_find(&a->row_of, pc);
    *row = known->value ? (uint32_t)known->value : RSC_CODE_OTHER;
    if (known->value) return 0;
    rsc_objects_see_code(&a->objects, pc);
    if (a->code_count > a->code_limit) return 0;
    struct rsc_u64_entry *entry = table_add(&a->row_of, pc);
    if (!entry) return RSC_ENOMEM;
    *row = a->code_count++;
    entry->value = *row;
    a->code_pc[*row] = pc;
    return 0;
}

static int reserve_tag(struct rsc_attribution *a) {
    if (a->tag_count < a->tag_room) return 0;
    struct tag_place *place = realloc(a->place, 2ull * a->tag_room * sizeof *place);
    if (!place) return RSC_ENOMEM;
    a->place = place;
    struct tag_counts *counts = realloc(a->counts, 2ull * a->tag_room * sizeof *counts);
    if (!counts) return RSC_ENOMEM;
    a->counts = counts;
    a->tag_room *= 2;
    return 0;
}

/* Makes a tag for a place that has none. Returns 0 or RSC_ENOMEM. */
static int new_tag(struct rsc_attribution *a, uint64_t key, uint64_t pc, uint32_t node, uint32_t *tag) {
    /* Call paths fill the table up to its limit; beyond it, each instruction has one place without a call path. */
    uint64_t limit = a->tag_limit + (node == RSC_CALL_ROOT ? (uint64_t)a->code_limit : 0);
    *tag = RSC_TAG_NONE;
    if (key == RSC_CALL_KEY_NONE || a->tag_count > limit) return 0;
    struct tag_counts counts = {.row = RSC_CODE_OTHER, .use = NO_USE};
    if (code_row(a, pc, &counts.row) < 0 || reserve_tag(a) < 0) return RSC_ENOMEM;
    struct rsc_u64_entry *entry = table_add(&a->tag_of, key);
    if (!entry) return RSC_ENOMEM;
    *tag = a->tag_count++;
    entry->value = *tag;
    a->place[*tag] = (struct tag_place){.pc = pc, .node = node};
    a->counts[*tag] = counts;
    return 0;
}

/* Looks up the tag of a place in the table. Returns 0 or RSC_ENOMEM. */
static int look_up_tag(struct rsc_attribution *a, uint64_t pc, uint32_t node, uint32_t *tag) {
    uint64_t key = rsc_call_paths_key(&a->paths, node, pc);
    const struct rsc_u64_entry *entry = rsc_u64_table_find(&a->tag_of, key);
    if (__builtin_expect(!entry->value && a->tag_count > a->tag_limit, 0)) {
        node = RSC_CALL_ROOT;
        key = rsc_call_paths_key(&a->paths, node, pc);
        entry = rsc_u64_table_find(&a->tag_of, key);
    }
    *tag = (uint32_t)entry->value;
    return __builtin_expect(!entry->value, 0) ? new_tag(a, key, pc, node, tag) : 0;
}

/*
 * Tags the accesses first .. end - 1, with no call in between. Code mostly repeats
 * its path: the tag that followed last time is tried first. The table is prefetched
 * where code jumps.
 */
static int give_tags(struct rsc_attribution *a, const struct rsc_batch *batch, uint32_t first, uint32_t end,
                     uint32_t *tags) {
    uint64_t thread = UINT64_MAX;
    uint32_t node = RSC_CALL_ROOT, tag = a->tag_before;
    for (uint32_t i = first; i < end; i++) {
        if (batch->meta[i] >> 40 != thread) {
            thread = batch->meta[i] >> 40;
            node = rsc_call_paths_current(&a->paths, (uint32_t)thread);
        }
        uint64_t pc = batch->pc ? batch->pc[i] : 0;
        if (batch->pc && i + PREFETCH_TAGS < batch->count) {
            uint64_t soon = batch->pc[i + PREFETCH_TAGS];
            if (soon - batch->pc[i + PREFETCH_TAGS - 1] > INSTRUCTION_BYTES_MAX)
                rsc_u64_table_prefetch(&a->tag_of, (uint64_t)node << 48 | soon);
        }
        if (a->place[tag].pc != pc || a->place[tag].node != node || tag == RSC_TAG_NONE) {
            uint32_t guess = a->counts[tag].next;
            if (a->place[guess].pc != pc || a->place[guess].node != node || guess == RSC_TAG_NONE) {
                if (look_up_tag(a, pc, node, &guess) < 0) return RSC_ENOMEM;
                a->counts[tag].next = guess;
            }
            tag = guess;
        }
        tags[i] = tag;
    }
    a->tag_before = tag;
    return 0;
}

/* Strides, in windows of the run that do not depend on how batches are cut. */
static void see_strides(struct rsc_attribution *a, const struct rsc_batch *batch, const uint32_t *tags) {
    for (uint64_t i = 0; batch->pc && i < batch->count; i++) {
        uint64_t at = (a->accesses + i) % RSC_STRIDE_EVERY;
        if (at >= RSC_STRIDE_WINDOW) {
            i += RSC_STRIDE_EVERY - 1 - at;
            continue;
        }
        if (!at) rsc_stride_votes_begin(&a->strides);
        uint32_t row = a->counts[tags[i]].row;
        if (row != RSC_CODE_OTHER)
            rsc_stride_votes_see(&a->strides, row, rsc_meta_thread(batch->meta[i]), batch->addr[i],
                                 rsc_meta_size(batch->meta[i]));
    }
    a->accesses += batch->count;
}

int rsc_attribution_tags(struct rsc_attribution *a, const struct rsc_batch *batch, uint32_t *tags) {
    uint32_t done = 0;
    if (rsc_attribution_make_changes(a, UINT32_MAX) < 0) return RSC_ENOMEM;
    a->change_next = a->change_count = 0;
    for (uint32_t e = 0; e < batch->event_count; e++) {
        const struct rsc_event *event = &batch->events[e];
        uint32_t at = event->at < batch->count ? event->at : batch->count;
        if (at > done) {
            if (give_tags(a, batch, done, at, tags) < 0) return RSC_ENOMEM;
            done = at;
        }
        if (take_event(a, event) < 0) return RSC_ENOMEM;
    }
    if (give_tags(a, batch, done, batch->count, tags) < 0) return RSC_ENOMEM;
    see_strides(a, batch, tags);
    return 0;
}

/* ---- counting ---- */

struct chunk {
    uint8_t bin[CHUNK];
    uint64_t pair[CHUNK];     /* the use's tag << 32 | the reuse's */
    uint32_t pair_row[CHUNK]; /* its last row, or RSC_SPACE_NO_ROW */
    uint8_t changed[CHUNK];   /* references whose tag had a different previous use last time */
};

void rsc_attribution_keep_objects(struct rsc_attribution *a, uint64_t *objects) { a->kept_objects = objects; }

/* From this distance on a reuse is far, and its data is named: 256 lines. */
#define FAR_DISTANCE 256u

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

static void count_objects(struct rsc_attribution *a, const struct rsc_batch *batch, const uint32_t *from,
                          const struct chunk *chunk, uint32_t begin, uint32_t count, uint64_t *kept) {
    const uint8_t *bin = chunk->bin + begin;
    uint32_t far = rsc_tally_bin(FAR_DISTANCE, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        int is_fetch = rsc_meta_kind(batch->meta[from[i]]) == RSC_FETCH;
        uint64_t key = rsc_objects_find(&a->objects, batch->addr[from[i]], is_fetch);
        rsc_space_saving_count(&a->things, key, bin[i]);
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
        while (part < count && from[part] < until) part++;
        if (a->objects.known) count_objects(a, batch, from + done, chunk, done, part - done, kept ? kept + done : NULL);
        done = part;
    }
    return 0;
}

static void look_up(struct rsc_attribution *a, struct chunk *chunk, const uint32_t *from, const uint32_t *tags,
                    const uint32_t *rd, const uint32_t *last_tag, uint32_t count) {
    uint32_t changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tag = tags[from[i]], bin = rsc_tally_bin(rd[i], a->cap);
        const struct tag_counts *counts = &a->counts[tag];
        chunk->bin[i] = (uint8_t)bin;
        chunk->pair[i] = (uint64_t)last_tag[i] << 32 | tag;
        if (counts->use == last_tag[i]) {
            chunk->pair_row[i] = counts->pair_row;
            __builtin_prefetch(&a->pairs.tally.rows[counts->pair_row].count[bin], 1);
        } else {
            chunk->changed[changed++] = (uint8_t)i;
            rsc_space_saving_prefetch(&a->pairs, chunk->pair[i]);
        }
    }
    for (uint32_t k = 0; k < changed; k++) {
        uint32_t i = chunk->changed[k], row = rsc_space_saving_find(&a->pairs, chunk->pair[i]);
        chunk->pair_row[i] = row;
        if (row == RSC_SPACE_NO_ROW) continue;
        a->counts[(uint32_t)chunk->pair[i]].use = last_tag[i];
        a->counts[(uint32_t)chunk->pair[i]].pair_row = row;
        __builtin_prefetch(&a->pairs.tally.rows[row].count[chunk->bin[i]], 1);
    }
}

static void count_chunk(struct rsc_attribution *a, struct chunk *chunk, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bin = chunk->bin[i], row = chunk->pair_row[i];
        uint64_t key = chunk->pair[i];
        if (bin == RSC_TALLY_COLD || bin == RSC_TALLY_INVALIDATED) {
            rsc_tally_add(&a->code, a->counts[(uint32_t)key].row, bin);
            continue;
        }
        if (row == RSC_SPACE_NO_ROW || a->pairs.rows[row].key != key) {
            struct tag_counts *counts = &a->counts[(uint32_t)key];
            row = rsc_space_saving_find(&a->pairs, key);
            if (row == RSC_SPACE_NO_ROW) row = rsc_space_saving_admit(&a->pairs, key);
            counts->use = (uint32_t)(key >> 32);
            counts->pair_row = chunk->pair_row[i] = row;
        }
        rsc_space_saving_add(&a->pairs, row, bin);
    }
}

int rsc_attribution_count(struct rsc_attribution *a, const struct rsc_batch *batch, const uint32_t *from,
                          const uint32_t *tags, const uint32_t *rd, const uint32_t *last_tag, uint32_t count) {
    struct chunk chunk;
    for (uint32_t done = 0; done < count; done += CHUNK) {
        uint32_t part = count - done < CHUNK ? count - done : CHUNK;
        look_up(a, &chunk, from + done, tags, rd + done, last_tag + done, part);
        count_chunk(a, &chunk, part);
        uint64_t *kept = a->kept_objects ? a->kept_objects + done : NULL;
        if (kept) memset(kept, 0, part * sizeof *kept);
        if ((a->objects.known || a->change_next < a->change_count) &&
            count_among_changes(a, batch, from + done, &chunk, part, kept) < 0)
            return RSC_ENOMEM;
    }
    return a->code.failed || a->pairs.tally.failed || a->things.tally.failed ? RSC_ENOMEM : 0;
}
