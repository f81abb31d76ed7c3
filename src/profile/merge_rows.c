/*
 * merge_rows.c - merges the rows of two profiles.
 *
 * Rows join where they mean the same thing to a reader: code by module,
 * function, file and line (by pc if the line is not known) and what it was inlined
 * into; pairs by both ends and their call paths; objects by name, kind and call
 * path. Call paths join from their roots down: parents come before children, so a
 * parent's new index is known before its children's, and the new order also has
 * parents first. All other rows then refer to contexts by their new indices. Loops
 * join from the outermost inwards in the same way.
 *
 * A row is not joined into one that would then have more references than the
 * merged profile: it stays separate. This only happens in tables that count
 * references twice (see `error`).
 *
 * Each table takes two steps: every row of both profiles is assigned a target row of
 * the merged table; then the table is allocated, and rows are added to their
 * targets.
 */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/add_counts.h"
#include "profile/profile_rows.h"
#include "profile/row_tables.h"

/* ---- targets ---- */

struct source_row {
    const void *row;
    uint32_t contexts[2]; /* its contexts, by their new indices */
    uint64_t references;
};

struct target {
    uint32_t first; /* the source row it was made for */
    uint64_t references;
};

/* The source rows of one table and their targets, found by open addressing. */
struct joint {
    int (*same)(const void *a, const void *b);
    uint64_t references_max; /* of a target */
    struct source_row *sources;
    uint32_t *target_of; /* for each source row */
    size_t source_count;
    struct target *targets;
    size_t target_count;
    uint32_t *slots; /* target + 1; 0: free */
    size_t mask;
};

static int joint_init(struct joint *joint, const struct rsc_profile *merged, size_t rows,
                      int (*same)(const void *a, const void *b)) {
    size_t capacity = 16;
    while (capacity < 2 * rows) capacity *= 2;
    *joint = (struct joint){.same = same, .references_max = merged->references, .mask = capacity - 1};
    joint->sources = calloc(rows + 1, sizeof *joint->sources);
    joint->target_of = calloc(rows + 1, sizeof *joint->target_of);
    joint->targets = calloc(rows + 1, sizeof *joint->targets);
    joint->slots = calloc(capacity, sizeof *joint->slots);
    return joint->sources && joint->target_of && joint->targets && joint->slots ? 0 : RSC_ENOMEM;
}

static void joint_free(struct joint *joint) {
    free(joint->sources);
    free(joint->target_of);
    free(joint->targets);
    free(joint->slots);
}

static int is_target_of(const struct joint *joint, const struct target *target, const struct source_row *source) {
    const struct source_row *first = &joint->sources[target->first];
    return first->contexts[0] == source->contexts[0] && first->contexts[1] == source->contexts[1] &&
           joint->same(first->row, source->row);
}

/* Assigns the next source row its target, and returns the target. */
static uint32_t joint_add(struct joint *joint, struct source_row source, uint64_t hash) {
    uint32_t number = (uint32_t)joint->source_count++;
    joint->sources[number] = source;
    size_t slot = hash & joint->mask;
    while (joint->slots[slot] && !is_target_of(joint, &joint->targets[joint->slots[slot] - 1], &source))
        slot = (slot + 1) & joint->mask;
    /* A full target gives its slot to a new target with the same key. */
    struct target *target = joint->slots[slot] ? &joint->targets[joint->slots[slot] - 1] : NULL;
    if (!target || target->references + source.references > joint->references_max) {
        target = &joint->targets[joint->target_count++];
        target->first = number;
        joint->slots[slot] = (uint32_t)joint->target_count;
    }
    target->references += source.references;
    return joint->target_of[number] = (uint32_t)(target - joint->targets);
}

/* ---- keys of rows ---- */

static uint64_t hash_text(const char *text, uint64_t seed) {
    return text ? XXH3_64bits_withSeed(text, strlen(text) + 1, seed) : XXH3_64bits_withSeed("", 0, seed);
}

static uint64_t hash_number(uint64_t number, uint64_t seed) {
    return XXH3_64bits_withSeed(&number, sizeof number, seed);
}

static int same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* Does the source line identify the place, so that the pc is not needed? */
static int has_line(const struct rsc_place *place) { return place->file && place->line; }

static uint64_t hash_place(const struct rsc_place *place, uint64_t seed) {
    uint64_t hash = hash_text(place->module, hash_text(place->function, hash_text(place->file, seed)));
    return hash_number(has_line(place) ? place->line : place->pc, hash);
}

static int same_place(const struct rsc_place *a, const struct rsc_place *b) {
    return a->line == b->line && (has_line(a) || a->pc == b->pc) && same_text(a->file, b->file) &&
           same_text(a->function, b->function) && same_text(a->module, b->module);
}

static int same_code(const void *left, const void *right) {
    const struct rsc_code_row *a = left, *b = right;
    if (!same_place(&a->place, &b->place) || a->inlined_count != b->inlined_count) return 0;
    for (size_t i = 0; i < a->inlined_count; i++) {
        const struct rsc_place *x = &a->inlined_into[i], *y = &b->inlined_into[i];
        if (x->line != y->line || !same_text(x->file, y->file) || !same_text(x->function, y->function)) return 0;
    }
    return 1;
}

static int same_pair(const void *left, const void *right) {
    const struct rsc_pair_row *a = left, *b = right;
    return same_place(&a->use, &b->use) && same_place(&a->reuse, &b->reuse);
}

static int same_object(const void *left, const void *right) {
    const struct rsc_object_row *a = left, *b = right;
    return same_text(a->name, b->name) && same_text(a->kind, b->kind);
}

static int same_context(const void *left, const void *right) {
    const struct rsc_context_row *a = left, *b = right;
    return same_place(&a->place, &b->place);
}

/* Loops are the same if their headers' lines are and they have the same parent: copies made by the compiler join. */
static int same_loop(const void *left, const void *right) {
    const struct rsc_loop_row *a = left, *b = right;
    return same_place(&a->place, &b->place);
}

/* ---- new indices ---- */

/* New indices of the contexts and loops of one of the profiles: by 1 + the old index, as 1 + the new one; [0] is 0. */
struct renamed {
    uint32_t *contexts, *loops; /* owned */
};

static uint32_t new_context(const struct renamed *renamed, uint32_t context) {
    return renamed->contexts[context + 1] - 1; /* RSC_NO_CONTEXT + 1 is 0 */
}

/* Gives a copied row its new indices. */
static void rename_row(const struct rsc_row_table *table, char *row, const struct renamed *renamed) {
    for (size_t i = 0; i < table->field_count; i++) {
        const struct rsc_field *field = &table->fields[i];
        void *at = row + field->at;
        uint32_t *index = at;
        if (field->sort == RSC_FIELD_PLACE) index = &((struct rsc_place *)at)->loop;
        if (field->sort == RSC_FIELD_PLACE || field->sort == RSC_FIELD_LOOP_PARENT) *index = renamed->loops[*index];
        if (field->sort == RSC_FIELD_CONTEXT || field->sort == RSC_FIELD_CONTEXT_PARENT)
            *index = new_context(renamed, *index);
    }
}

/* Hashes what identifies a row, and sets its contexts (or its loop) by their new indices. */
static uint64_t loop_key(const void *source, const struct renamed *renamed, uint32_t contexts[2]) {
    const struct rsc_loop_row *row = source;
    contexts[0] = renamed->loops[row->parent];
    return hash_number(contexts[0], hash_place(&row->place, 0));
}

static uint64_t context_key(const void *source, const struct renamed *renamed, uint32_t contexts[2]) {
    const struct rsc_context_row *row = source;
    contexts[0] = new_context(renamed, row->parent);
    return hash_number(contexts[0], hash_place(&row->place, 0));
}

static uint64_t code_key(const void *source, const struct renamed *renamed, uint32_t contexts[2]) {
    const struct rsc_code_row *row = source;
    contexts[0] = renamed->loops[row->place.loop];
    return hash_place(&row->place, 0);
}

static uint64_t pair_key(const void *source, const struct renamed *renamed, uint32_t contexts[2]) {
    const struct rsc_pair_row *row = source;
    contexts[0] = new_context(renamed, row->use_context);
    contexts[1] = new_context(renamed, row->reuse_context);
    return hash_place(&row->use, hash_place(&row->reuse, (uint64_t)contexts[0] << 32 | contexts[1]));
}

static uint64_t object_key(const void *source, const struct renamed *renamed, uint32_t contexts[2]) {
    const struct rsc_object_row *row = source;
    contexts[0] = new_context(renamed, row->context);
    return hash_text(row->name, hash_text(row->kind, contexts[0]));
}

/* ---- adding rows: what is not a count, before the counts ---- */

static void add_code(void *into, const void *source) {
    struct rsc_code_row *to = into;
    const struct rsc_code_row *row = source;
    if (row->stride.seen > to->stride.seen) to->stride = row->stride;
}

static double sum_of_sources(const struct rsc_pair_row *row) {
    double sum = 0;
    for (int i = 0; i < RSC_SOURCES; i++) sum += row->sources[i];
    return sum;
}

static void merge_sources(struct rsc_pair_row *to, const struct rsc_pair_row *row) {
    double before = sum_of_sources(to) > 0 ? (double)to->references : 0, more = (double)row->references;
    if (!(sum_of_sources(row) > 0)) return;
    if (!(before + more > 0)) more = 1;
    for (int i = 0; i < RSC_SOURCES; i++)
        to->sources[i] = (to->sources[i] * before + row->sources[i] * more) / (before + more);
}

static void add_pair(void *into, const void *source) {
    struct rsc_pair_row *to = into;
    const struct rsc_pair_row *row = source;
    if (row->latency > 0) { /* the mean of those that were measured */
        double before = to->latency > 0 ? (double)to->references : 0, more = (double)row->references;
        to->latency = before + more > 0 ? (to->latency * before + row->latency * more) / (before + more) : row->latency;
    }
    to->latency_samples = rsc_add_counts(to->latency_samples, row->latency_samples);
    merge_sources(to, row);
}

/* The runs follow one another: live bytes are the maximum of the two, blocks add up. */
static void add_object(void *into, const void *source) {
    struct rsc_object_row *to = into;
    const struct rsc_object_row *row = source;
    if (row->bytes > to->bytes) to->bytes = row->bytes;
    to->blocks = rsc_add_counts(to->blocks, row->blocks);
}

/* ---- tables ---- */

/* In the order in which they are joined. */
static const struct joined_table {
    const struct rsc_row_table *table;
    int (*same)(const void *a, const void *b); /* but for their contexts */
    uint64_t (*key)(const void *row, const struct renamed *renamed, uint32_t contexts[2]);
    void (*add)(void *to, const void *row);      /* NULL: such rows are equal */
    int (*order)(const void *a, const void *b);  /* NULL: as they are */
    size_t renames;                              /* 1 + offset in struct renamed of the indices this sets; 0: none */
} joined_tables[] = {
    {&rsc_row_table_loops, same_loop, loop_key, NULL, NULL, 1 + offsetof(struct renamed, loops)},
    {&rsc_row_table_contexts, same_context, context_key, NULL, NULL, 1 + offsetof(struct renamed, contexts)},
    {&rsc_row_table_code, same_code, code_key, add_code, rsc_code_order, 0},
    {&rsc_row_table_pairs, same_pair, pair_key, add_pair, rsc_pair_order, 0},
    {&rsc_row_table_objects, same_object, object_key, add_object, rsc_object_order, 0},
};

/* Assigns the rows of one profile their targets. */
static int find_targets(struct joint *joint, const struct joined_table *joined, const struct rsc_profile *from,
                        struct renamed *renamed) {
    size_t count = rsc_row_table_count(joined->table, from);
    uint32_t *names = NULL;
    if (joined->renames) {
        if (!(names = calloc(count + 1, sizeof *names))) return RSC_ENOMEM;
        *(uint32_t **)((char *)renamed + joined->renames - 1) = names;
    }
    for (size_t i = 0; i < count; i++) {
        struct source_row source = {.row = rsc_row_table_row(joined->table, from, i)};
        struct rsc_row_counts counts = rsc_row_counts(joined->table, source.row);
        uint64_t hash = joined->key(source.row, renamed, source.contexts);
        if (counts.references) source.references = *counts.references;
        uint32_t target = joint_add(joint, source, hash);
        if (names) names[i + 1] = target + 1;
    }
    return 0;
}

static int join_table(const struct joined_table *joined, struct rsc_profile *merged,
                      const struct rsc_profile *const from[2], struct renamed renamed[2]) {
    const struct rsc_row_table *table = joined->table;
    size_t first_count = rsc_row_table_count(table, from[0]);
    struct joint joint;
    int rc = joint_init(&joint, merged, first_count + rsc_row_table_count(table, from[1]), joined->same);
    for (int p = 0; p < 2 && !rc; p++) rc = find_targets(&joint, joined, from[p], &renamed[p]);
    if (!rc) rc = rsc_row_table_set(table, merged, joint.target_count);
    for (size_t i = 0; i < joint.source_count && !rc; i++) {
        const void *row = joint.sources[i].row;
        void *to = rsc_row_table_row(table, merged, joint.target_of[i]);
        if (joint.targets[joint.target_of[i]].first == i) {
            rc = rsc_row_copy(table, to, row);
            rename_row(table, to, &renamed[i >= first_count]);
        } else if (joined->add) {
            joined->add(to, row);
            rsc_row_add_counts(table, to, row);
        }
    }
    if (!rc && joined->order && joint.target_count)
        qsort(rsc_row_table_row(table, merged, 0), joint.target_count, table->row_bytes, joined->order);
    joint_free(&joint);
    return rc;
}

int rsc_profile_join_rows(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    const struct rsc_profile *const from[2] = {a, b};
    struct renamed renamed[2] = {{NULL, NULL}, {NULL, NULL}};
    int rc = 0;
    for (size_t i = 0; !rc && i < sizeof joined_tables / sizeof *joined_tables; i++)
        rc = join_table(&joined_tables[i], merged, from, renamed);
    for (int p = 0; p < 2; p++) {
        free(renamed[p].contexts);
        free(renamed[p].loops);
    }
    return rc;
}
