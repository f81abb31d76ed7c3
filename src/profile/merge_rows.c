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

#include "profile/profile_rows.h"

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

/* ---- tables ---- */

/* New indices of the contexts and loops of one of the profiles. */
struct renamed {
    uint32_t *ids;   /* owned */
    uint32_t *loops; /* by 1 + index, to 1 + index; [0] is 0. Owned */
};

static uint32_t new_id(const struct renamed *renamed, uint32_t context) {
    return context == RSC_NO_CONTEXT ? RSC_NO_CONTEXT : renamed->ids[context];
}

static uint32_t new_loop(const struct renamed *renamed, const struct rsc_place *place) {
    return renamed->loops[place->loop];
}

static int same_loop(const void *left, const void *right) {
    const struct rsc_loop_row *a = left, *b = right;
    return same_place(&a->place, &b->place);
}

/* Loops are the same if their headers' lines are and they have the same parent: copies made by the compiler join. */
static int join_loops(struct rsc_profile *merged, const struct rsc_profile *const from[2], struct renamed renamed[2]) {
    struct joint joint;
    int rc = joint_init(&joint, merged, from[0]->loop_count + from[1]->loop_count, same_loop);
    for (int p = 0; p < 2 && !rc; p++) {
        renamed[p].loops = calloc(from[p]->loop_count + 1, sizeof *renamed[p].loops);
        if (!renamed[p].loops) rc = RSC_ENOMEM;
        for (size_t i = 0; i < from[p]->loop_count && !rc; i++) {
            const struct rsc_loop_row *row = &from[p]->loops[i];
            struct source_row source = {row, {renamed[p].loops[row->parent], 0}, 0};
            renamed[p].loops[i + 1] =
                1 + joint_add(&joint, source, hash_number(source.contexts[0], hash_place(&row->place, 0)));
        }
    }
    if (!rc) rc = rsc_profile_set_loops(merged, joint.target_count);
    for (size_t i = 0; i < joint.target_count && !rc; i++) {
        const struct source_row *source = &joint.sources[joint.targets[i].first];
        merged->loops[i].parent = source->contexts[0];
        merged->loops[i].depth = ((const struct rsc_loop_row *)source->row)->depth;
        rc = rsc_place_copy(&merged->loops[i].place, &((const struct rsc_loop_row *)source->row)->place);
    }
    joint_free(&joint);
    return rc;
}

static int join_contexts(struct rsc_profile *merged, const struct rsc_profile *const from[2],
                         struct renamed renamed[2]) {
    struct joint joint;
    int rc = joint_init(&joint, merged, from[0]->context_count + from[1]->context_count, same_context);
    for (int p = 0; p < 2 && !rc; p++) {
        renamed[p].ids = calloc(from[p]->context_count + 1, sizeof *renamed[p].ids);
        if (!renamed[p].ids) rc = RSC_ENOMEM;
        for (size_t i = 0; i < from[p]->context_count && !rc; i++) {
            const struct rsc_context_row *row = &from[p]->contexts[i];
            struct source_row source = {row, {new_id(&renamed[p], row->parent), RSC_NO_CONTEXT}, 0};
            renamed[p].ids[i] = joint_add(&joint, source, hash_number(source.contexts[0], hash_place(&row->place, 0)));
        }
    }
    if (!rc) rc = rsc_profile_set_contexts(merged, joint.target_count);
    for (size_t i = 0; i < joint.target_count && !rc; i++) {
        const struct source_row *source = &joint.sources[joint.targets[i].first];
        merged->contexts[i].parent = source->contexts[0];
        const struct rsc_place *place = &((const struct rsc_context_row *)source->row)->place;
        rc = rsc_place_copy(&merged->contexts[i].place, place);
        merged->contexts[i].place.loop = new_loop(&renamed[joint.targets[i].first >= from[0]->context_count], place);
    }
    joint_free(&joint);
    return rc;
}

static void add_code(struct rsc_code_row *to, const struct rsc_code_row *row) {
    to->references += row->references;
    to->cold += row->cold;
    to->invalidated += row->invalidated;
    to->error += row->error;
    if (row->stride.seen > to->stride.seen) to->stride = row->stride;
    rsc_histogram_merge(&to->rd, &row->rd);
}

static int more_code(const void *left, const void *right) {
    const struct rsc_code_row *a = left, *b = right;
    if (a->references != b->references) return a->references < b->references ? 1 : -1;
    return a->place.pc < b->place.pc ? -1 : a->place.pc > b->place.pc;
}

static int join_code(struct rsc_profile *merged, const struct rsc_profile *const from[2],
                     const struct renamed renamed[2]) {
    struct joint joint;
    int rc = joint_init(&joint, merged, from[0]->code_count + from[1]->code_count, same_code);
    for (int p = 0; p < 2 && !rc; p++)
        for (size_t i = 0; i < from[p]->code_count; i++) {
            const struct rsc_code_row *row = &from[p]->code[i];
            joint_add(&joint, (struct source_row){row, {new_loop(&renamed[p], &row->place), 0}, row->references},
                      hash_place(&row->place, 0));
        }
    if (!rc) rc = rsc_profile_set_code(merged, joint.target_count);
    for (size_t i = 0; i < joint.source_count && !rc; i++) {
        struct rsc_code_row *to = &merged->code[joint.target_of[i]];
        if (joint.targets[joint.target_of[i]].first == i) rc = rsc_code_row_copy(to, joint.sources[i].row);
        else add_code(to, joint.sources[i].row);
        to->place.loop = joint.sources[i].contexts[0];
    }
    if (!rc && merged->code_count) qsort(merged->code, merged->code_count, sizeof *merged->code, more_code);
    joint_free(&joint);
    return rc;
}

static int more_pairs(const void *left, const void *right) {
    const struct rsc_pair_row *a = left, *b = right;
    if (a->references != b->references) return a->references < b->references ? 1 : -1;
    if (a->use.pc != b->use.pc) return a->use.pc < b->use.pc ? -1 : 1;
    if (a->reuse.pc != b->reuse.pc) return a->reuse.pc < b->reuse.pc ? -1 : 1;
    if (a->use_context != b->use_context) return a->use_context < b->use_context ? -1 : 1;
    return a->reuse_context < b->reuse_context ? -1 : a->reuse_context > b->reuse_context;
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

static int add_pair(struct rsc_pair_row *to, const struct source_row *source, int is_first) {
    const struct rsc_pair_row *row = source->row;
    if (row->latency > 0) { /* the mean of those that were measured */
        double before = to->latency > 0 ? (double)to->references : 0, more = (double)row->references;
        to->latency = before + more > 0 ? (to->latency * before + row->latency * more) / (before + more) : row->latency;
    }
    to->latency_samples += row->latency_samples;
    merge_sources(to, row);
    to->references += row->references;
    to->error += row->error;
    rsc_histogram_merge(&to->rd, &row->rd);
    if (!is_first) return 0;
    to->use_context = source->contexts[0];
    to->reuse_context = source->contexts[1];
    to->object_kind = row->object_kind;
    if (rsc_profile_set_text(&to->object, row->object)) return RSC_ENOMEM;
    return rsc_place_copy(&to->use, &row->use) || rsc_place_copy(&to->reuse, &row->reuse) ? RSC_ENOMEM : 0;
}

static int join_pairs(struct rsc_profile *merged, const struct rsc_profile *const from[2],
                      const struct renamed renamed[2]) {
    struct joint joint;
    int rc = joint_init(&joint, merged, from[0]->pair_count + from[1]->pair_count, same_pair);
    for (int p = 0; p < 2 && !rc; p++)
        for (size_t i = 0; i < from[p]->pair_count; i++) {
            const struct rsc_pair_row *row = &from[p]->pairs[i];
            uint32_t use = new_id(&renamed[p], row->use_context), reuse = new_id(&renamed[p], row->reuse_context);
            joint_add(&joint, (struct source_row){row, {use, reuse}, row->references},
                      hash_place(&row->use, hash_place(&row->reuse, (uint64_t)use << 32 | reuse)));
        }
    if (!rc) rc = rsc_profile_set_pairs(merged, joint.target_count);
    for (size_t i = 0; i < joint.source_count && !rc; i++) {
        struct rsc_pair_row *to = &merged->pairs[joint.target_of[i]];
        const struct rsc_pair_row *row = joint.sources[i].row;
        const struct renamed *names = &renamed[i >= from[0]->pair_count];
        int is_first = joint.targets[joint.target_of[i]].first == i;
        rc = add_pair(to, &joint.sources[i], is_first);
        if (!is_first) continue;
        to->use.loop = new_loop(names, &row->use);
        to->reuse.loop = new_loop(names, &row->reuse);
    }
    if (!rc && merged->pair_count) qsort(merged->pairs, merged->pair_count, sizeof *merged->pairs, more_pairs);
    joint_free(&joint);
    return rc;
}

static int more_objects(const void *left, const void *right) {
    const struct rsc_object_row *a = left, *b = right;
    if (a->references != b->references) return a->references < b->references ? 1 : -1;
    if (a->context != b->context) return a->context < b->context ? -1 : 1;
    return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

/* The runs follow one another: live bytes are the maximum of the two, blocks add up. */
static int add_object(struct rsc_object_row *to, const struct source_row *source, int is_first) {
    const struct rsc_object_row *row = source->row;
    if (row->bytes > to->bytes) to->bytes = row->bytes;
    to->blocks = row->blocks > INT64_MAX - to->blocks ? INT64_MAX : to->blocks + row->blocks;
    to->references += row->references;
    to->cold += row->cold;
    to->invalidated += row->invalidated;
    to->error += row->error;
    rsc_histogram_merge(&to->rd, &row->rd);
    if (!is_first) return 0;
    to->context = source->contexts[0];
    to->kind = row->kind;
    return rsc_profile_set_text(&to->name, row->name);
}

static int join_objects(struct rsc_profile *merged, const struct rsc_profile *const from[2],
                        const struct renamed renamed[2]) {
    struct joint joint;
    int rc = joint_init(&joint, merged, from[0]->object_count + from[1]->object_count, same_object);
    for (int p = 0; p < 2 && !rc; p++)
        for (size_t i = 0; i < from[p]->object_count; i++) {
            const struct rsc_object_row *row = &from[p]->objects[i];
            uint32_t context = new_id(&renamed[p], row->context);
            joint_add(&joint, (struct source_row){row, {context, RSC_NO_CONTEXT}, row->references},
                      hash_text(row->name, hash_text(row->kind, context)));
        }
    if (!rc) rc = rsc_profile_set_objects(merged, joint.target_count);
    for (size_t i = 0; i < joint.source_count && !rc; i++)
        rc = add_object(&merged->objects[joint.target_of[i]], &joint.sources[i],
                        joint.targets[joint.target_of[i]].first == i);
    if (!rc && merged->object_count)
        qsort(merged->objects, merged->object_count, sizeof *merged->objects, more_objects);
    joint_free(&joint);
    return rc;
}

int rsc_profile_join_rows(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    const struct rsc_profile *const from[2] = {a, b};
    struct renamed renamed[2] = {{NULL, NULL}, {NULL, NULL}};
    int rc;
    if (!(rc = join_loops(merged, from, renamed)) && !(rc = join_contexts(merged, from, renamed)) &&
        !(rc = join_code(merged, from, renamed)) && !(rc = join_pairs(merged, from, renamed)))
        rc = join_objects(merged, from, renamed);
    for (int p = 0; p < 2; p++) {
        free(renamed[p].ids);
        free(renamed[p].loops);
    }
    return rc;
}
