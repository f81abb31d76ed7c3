/*
 * stacks.c - see stacks.h.
 *
 * Every code row has a tail of frames (inlined callers, function, line). Each
 * pair with a call path takes its references from the row of its reuse, at most
 * those that are left, and puts the path before that row's tail; the row's
 * remaining references have no path. So each row is counted exactly once, even if
 * the bounded table dropped pairs.
 */
#include "report/export/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/draw/place_text.h"
#include "report/draw/text_buffer.h"

/* The innermost frames of a call path are kept: recursion may be deep, and there are many pairs. */
#define DEPTH_MAX 256u

void rsc_stacks_free(struct rsc_stacks *stacks) {
    for (size_t i = 0; i < stacks->frame_count; i++) free(stacks->frames[i].name);
    free(stacks->frames);
    free(stacks->slots);
    free(stacks->path);
    free(stacks->stacks);
    *stacks = (struct rsc_stacks){0};
}

/* ---- frames ---- */

static size_t hash_of(const char *name, const char *file, uint32_t line) {
    uint64_t hash = 0xcbf29ce484222325ull ^ line;
    for (const char *text = name; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    for (const char *text = file ? file : ""; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return (size_t)(hash ^ hash >> 32);
}

static int same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static uint32_t *slot_of(const struct rsc_stacks *stacks, const char *name, const char *file, uint32_t line) {
    size_t at = hash_of(name, file, line) & (stacks->slot_count - 1);
    for (; stacks->slots[at]; at = (at + 1) & (stacks->slot_count - 1)) {
        const struct rsc_stack_frame *frame = &stacks->frames[stacks->slots[at] - 1];
        if (frame->line == line && !strcmp(frame->name, name) && same_text(frame->file, file)) break;
    }
    return &stacks->slots[at];
}

static int grow_slots(struct rsc_stacks *stacks) {
    if (stacks->frame_count * 2 < stacks->slot_count) return 0;
    size_t count = stacks->slot_count ? stacks->slot_count * 2 : 1024;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots) return RSC_ENOMEM;
    free(stacks->slots);
    stacks->slots = slots;
    stacks->slot_count = count;
    for (size_t i = 0; i < stacks->frame_count; i++) {
        const struct rsc_stack_frame *frame = &stacks->frames[i];
        *slot_of(stacks, frame->name, frame->file, frame->line) = (uint32_t)i + 1;
    }
    return 0;
}

/* The index of a frame, added if new; takes ownership of `name`. Negative: RSC_ENOMEM. */
static int64_t frame_of(struct rsc_stacks *stacks, char *name, const char *file, uint32_t line) {
    if (!name || grow_slots(stacks) < 0) {
        free(name);
        return RSC_ENOMEM;
    }
    uint32_t *slot = slot_of(stacks, name, file, line);
    if (*slot) {
        free(name);
        return *slot - 1;
    }
    if (RSC_GROW(stacks->frames, stacks->frame_room, stacks->frame_count + 1)) {
        free(name);
        return RSC_ENOMEM;
    }
    stacks->frames[stacks->frame_count] = (struct rsc_stack_frame){name, file, line};
    *slot = (uint32_t)++stacks->frame_count;
    return *slot - 1;
}

/* Text for a frame: unprintable characters become '?', and ';', which separates frames, a comma. */
static char *frame_text(const char *before, const char *foreign, const char *after) {
    struct rsc_text text;
    char *taken = NULL;
    size_t bytes;
    rsc_text_init(&text, 1, 0);
    rsc_text_put(&text, "%s", before);
    rsc_text_foreign(&text, foreign, 2000);
    rsc_text_put(&text, "%s", after);
    if (rsc_text_take(&text, &taken, &bytes)) return NULL;
    for (char *at = taken; *at; at++)
        if (*at == ';') *at = ',';
    return taken;
}

static int64_t function_frame(struct rsc_stacks *stacks, const struct rsc_place *place) {
    char *name;
    if (place->function && place->function[0]) name = frame_text("", place->function, "");
    else if (place->module && place->module[0]) name = frame_text("[", rsc_base_name(place->module), "]");
    else name = strdup("[unknown]");
    return frame_of(stacks, name, place->file, 0);
}

/* The source line; if the function is not known either, the address; -1: neither. */
static int64_t line_frame(struct rsc_stacks *stacks, const struct rsc_place *place, int *there) {
    char number[24];
    *there = 1;
    if (rsc_place_has_line(place)) {
        snprintf(number, sizeof number, ":%" PRIu32, place->line);
        return frame_of(stacks, frame_text("", rsc_base_name(place->file), number), place->file, place->line);
    }
    *there = !place->function;
    if (!*there) return 0;
    snprintf(number, sizeof number, "0x%" PRIx64, place->pc);
    return frame_of(stacks, strdup(number), NULL, 0);
}

/* ---- paths ---- */

static int push_frame(struct rsc_stacks *stacks, int64_t frame) {
    if (frame < 0) return (int)frame;
    if (RSC_GROW(stacks->path, stacks->path_room, stacks->path_count + 1)) return RSC_ENOMEM;
    stacks->path[stacks->path_count++] = (uint32_t)frame;
    return 0;
}

static int push_tail(struct rsc_stacks *stacks, const struct rsc_place *place, const struct rsc_code_row *row) {
    int there, status = 0;
    for (size_t i = row ? row->inlined_count : 0; i-- > 0 && !status;)
        status = push_frame(stacks, function_frame(stacks, &row->inlined_into[i]));
    if (!status) status = push_frame(stacks, function_frame(stacks, place));
    int64_t line = status ? 0 : line_frame(stacks, place, &there);
    return status || !there ? status : push_frame(stacks, line);
}

static int push_context(struct rsc_stacks *stacks, const struct rsc_profile *profile, uint32_t context) {
    uint32_t chain[DEPTH_MAX], depth = 0;
    int status = 0;
    for (; context < profile->context_count && depth < DEPTH_MAX; context = profile->contexts[context].parent)
        chain[depth++] = context;
    while (depth-- > 0 && !status)
        status = push_frame(stacks, function_frame(stacks, &profile->contexts[chain[depth]].place));
    return status;
}

/* Adds the stack whose frames are the path from `first` on. */
static int add_stack(struct rsc_stacks *stacks, size_t first, uint64_t references, uint64_t misses) {
    if (!references && !misses) {
        stacks->path_count = first;
        return 0;
    }
    if (RSC_GROW(stacks->stacks, stacks->room, stacks->count + 1)) return RSC_ENOMEM;
    stacks->stacks[stacks->count++] =
        (struct rsc_stack){(uint32_t)first, (uint32_t)(stacks->path_count - first), references, misses};
    return 0;
}

/* ---- rows ---- */

/* A code row, and the references that no pair has taken yet. */
struct left {
    const struct rsc_code_row *row;
    uint64_t references, misses;
};

static int by_pc(const void *left, const void *right) {
    uint64_t a = ((const struct left *)left)->row->place.pc, b = ((const struct left *)right)->row->place.pc;
    return (a > b) - (a < b);
}

static struct left *left_of(struct left *left, size_t count, uint64_t pc) {
    struct rsc_code_row row = {.place = {.pc = pc}};
    struct left wanted = {.row = &row};
    return count ? bsearch(&wanted, left, count, sizeof *left, by_pc) : NULL;
}

static int add_pairs(struct rsc_stacks *stacks, const struct rsc_profile *profile, struct left *left,
                     uint64_t size_lines, int *paths) {
    const struct rsc_split split = rsc_split_at(profile, size_lines);
    int status = 0;
    for (size_t i = 0; i < profile->pair_count && !status; i++) {
        const struct rsc_pair_row *pair = &profile->pairs[i];
        struct left *row = left_of(left, profile->code_count, pair->reuse.pc);
        if (pair->reuse_context == RSC_NO_CONTEXT || !row) continue;
        uint64_t references = pair->references, misses = rsc_split_far(&split, &pair->rd);
        if (references > row->references) references = row->references;
        if (misses > row->misses) misses = row->misses;
        row->references -= references;
        row->misses -= misses;
        size_t first = stacks->path_count;
        *paths = 1;
        status = push_context(stacks, profile, pair->reuse_context);
        if (!status) status = push_tail(stacks, &row->row->place, row->row);
        if (!status) status = add_stack(stacks, first, references, misses);
    }
    return status;
}

static int add_rest(struct rsc_stacks *stacks, const struct rsc_profile *profile, const struct left *left, int paths) {
    int status = 0;
    for (size_t i = 0; i < profile->code_count && !status; i++) {
        size_t first = stacks->path_count;
        if (paths) status = push_frame(stacks, frame_of(stacks, strdup("[call path not known]"), NULL, 0));
        if (!status) status = push_tail(stacks, &left[i].row->place, left[i].row);
        if (!status) status = add_stack(stacks, first, left[i].references, left[i].misses);
    }
    return status;
}

/* ---- whole profile ---- */

static int compare_stacks(const void *left, const void *right, void *context) {
    const struct rsc_stack *a = left, *b = right;
    const uint32_t *path = context;
    for (uint32_t i = 0; i < a->depth && i < b->depth; i++)
        if (path[a->first + i] != path[b->first + i]) return path[a->first + i] < path[b->first + i] ? -1 : 1;
    return (a->depth > b->depth) - (a->depth < b->depth);
}

static void join_same(struct rsc_stacks *stacks) {
    size_t kept = 0;
    if (stacks->count) qsort_r(stacks->stacks, stacks->count, sizeof *stacks->stacks, compare_stacks, stacks->path);
    for (size_t i = 0; i < stacks->count; i++) {
        if (kept && !compare_stacks(&stacks->stacks[kept - 1], &stacks->stacks[i], stacks->path)) {
            stacks->stacks[kept - 1].references += stacks->stacks[i].references;
            stacks->stacks[kept - 1].misses += stacks->stacks[i].misses;
        } else {
            stacks->stacks[kept++] = stacks->stacks[i];
        }
    }
    stacks->count = kept;
}

/* References and misses outside all rows of code. */
static int add_unknown(struct rsc_stacks *stacks, const struct rsc_profile *profile, uint64_t size_lines) {
    uint64_t references = profile->references, misses = rsc_profile_misses(profile, size_lines);
    for (size_t i = 0; i < stacks->count; i++) {
        const struct rsc_stack *stack = &stacks->stacks[i];
        references -= stack->references < references ? stack->references : references;
        misses -= stack->misses < misses ? stack->misses : misses;
    }
    size_t first = stacks->path_count;
    int status = push_frame(stacks, frame_of(stacks, strdup("[unknown]"), NULL, 0));
    return status ? status : add_stack(stacks, first, references, misses);
}

int rsc_stacks_make(struct rsc_stacks *stacks, const struct rsc_profile *profile, uint64_t size_lines) {
    struct left *left = calloc(profile->code_count + 1, sizeof *left);
    int paths = 0;
    stacks->count = stacks->path_count = 0;
    if (!left) return RSC_ENOMEM;
    const struct rsc_split split = rsc_split_at(profile, size_lines);
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_code_row *row = &profile->code[i];
        left[i] = (struct left){row, row->references, row->cold + row->invalidated + rsc_split_far(&split, &row->rd)};
    }
    if (profile->code_count) qsort(left, profile->code_count, sizeof *left, by_pc);
    int status = add_pairs(stacks, profile, left, size_lines, &paths);
    if (!status) status = add_rest(stacks, profile, left, paths);
    if (!status) status = add_unknown(stacks, profile, size_lines);
    if (!status) join_same(stacks);
    free(left);
    return status;
}
