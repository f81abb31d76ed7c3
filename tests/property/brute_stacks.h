/*
 * brute_stacks.h - private stacks with invalidation, the slow way: each stack is an
 * array of lines and holes, top first, searched and shifted by hand; bytes are
 * single flags. Shares no code with src/multicore.
 */
#ifndef RSC_TESTS_BRUTE_STACKS_H
#define RSC_TESTS_BRUTE_STACKS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/trace.h>

#define BRUTE_STACKS 96
#define BRUTE_COLD (-1)
#define BRUTE_INVALIDATED (-2)
#define BRUTE_USERS 8
#define BRUTE_PAIRS 64

/* What one stack knows of one line. */
struct brute_copy {
    uint64_t line;
    int held;
    uint64_t used_at;           /* reference of the stack */
    uint64_t pc;                /* of its last use */
    int lost_to, lost_falsely;  /* while it is not held */
    unsigned char parts[64];    /* bytes used since it came, or 64ths of a larger line */
};

struct brute_slot {
    int hole;
    uint64_t line;
};

struct brute_stack {
    struct brute_slot *slots; /* top first */
    uint64_t depth, slot_room;
    struct brute_copy *copies;
    uint64_t copy_count, copy_room;
    uint64_t now;
};

struct brute_cell {
    uint64_t taken, false_taken, misses, false_misses;
};

struct brute_false {
    uint64_t line, taken, misses;
    struct {
        int stack;
        int first, last; /* parts */
        uint64_t taken;
    } users[BRUTE_USERS];
    int user_count;
    struct {
        uint64_t writer, victim, taken;
    } pairs[BRUTE_PAIRS];
    int pair_count;
};

struct brute {
    uint64_t line_bytes;
    struct brute_stack stacks[BRUTE_STACKS];
    struct brute_cell cells[BRUTE_STACKS][BRUTE_STACKS];
    struct brute_false *lines;
    uint64_t line_count, line_room;
    uint64_t *seen; /* distinct lines */
    uint64_t distinct, seen_room;
};

static inline struct brute_copy *brute_find(struct brute_stack *stack, uint64_t line) {
    for (uint64_t i = 0; i < stack->copy_count; i++)
        if (stack->copies[i].line == line) return &stack->copies[i];
    return NULL;
}

static inline struct brute_false *brute_false_of(struct brute *brute, uint64_t line) {
    for (uint64_t i = 0; i < brute->line_count; i++)
        if (brute->lines[i].line == line) return &brute->lines[i];
    if (brute->line_count == brute->line_room)
        brute->lines = realloc(brute->lines, (brute->line_room = 2 * brute->line_room + 16) * sizeof *brute->lines);
    brute->lines[brute->line_count] = (struct brute_false){.line = line};
    return &brute->lines[brute->line_count++];
}

static inline void brute_user(struct brute_false *row, int stack, int first, int last, int taken) {
    int at = 0;
    while (at < row->user_count && row->users[at].stack != stack) at++;
    if (at == BRUTE_USERS) return;
    if (at == row->user_count) {
        row->user_count++;
        row->users[at].stack = stack;
        row->users[at].first = first;
        row->users[at].last = last;
        row->users[at].taken = 0;
    }
    if (first < row->users[at].first) row->users[at].first = first;
    if (last > row->users[at].last) row->users[at].last = last;
    row->users[at].taken += (uint64_t)taken;
}

static inline void brute_pair(struct brute_false *row, uint64_t writer, uint64_t victim) {
    int at = 0;
    while (at < row->pair_count && (row->pairs[at].writer != writer || row->pairs[at].victim != victim)) at++;
    if (at == BRUTE_PAIRS) abort();
    if (at == row->pair_count) {
        row->pair_count++;
        row->pairs[at].writer = writer;
        row->pairs[at].victim = victim;
        row->pairs[at].taken = 0;
    }
    row->pairs[at].taken++;
}

/* Everyone but `by` loses the line. */
static inline void brute_invalidate(struct brute *brute, int by, uint64_t line, int first, int last, uint64_t pc) {
    for (int other = 0; other < BRUTE_STACKS; other++) {
        struct brute_copy *copy = other == by ? NULL : brute_find(&brute->stacks[other], line);
        if (!copy || !copy->held) continue;
        int overlap = 0, low = -1, high = -1;
        for (int part = 0; part < 64; part++) {
            if (!copy->parts[part]) continue;
            overlap |= part >= first && part <= last;
            if (low < 0) low = part;
            high = part;
        }
        copy->held = 0;
        copy->lost_to = by;
        copy->lost_falsely = !overlap;
        struct brute_stack *stack = &brute->stacks[other];
        for (uint64_t i = 0; i < stack->depth; i++)
            if (!stack->slots[i].hole && stack->slots[i].line == line) stack->slots[i].hole = 1;
        brute->cells[by][other].taken++;
        if (overlap) continue;
        brute->cells[by][other].false_taken++;
        struct brute_false *row = brute_false_of(brute, line);
        row->taken++;
        brute_user(row, by, first, last, 1);
        brute_user(row, other, low, high, 0);
        brute_pair(row, pc, copy->pc);
    }
}

/* Takes the slot at `at` out and puts `line` on top. */
static inline void brute_lift(struct brute_stack *stack, uint64_t line, uint64_t at) {
    memmove(stack->slots + 1, stack->slots, at * sizeof *stack->slots);
    stack->slots[0] = (struct brute_slot){0, line};
}

/*
 * One reference; first..last are the parts of the line it touches. Returns its
 * distance, BRUTE_COLD or BRUTE_INVALIDATED; *ri in references of the stack.
 */
static inline int64_t brute_reference(struct brute *brute, int who, uint64_t line, int writes, int first, int last,
                                      uint64_t pc, uint64_t *ri) {
    struct brute_stack *stack = &brute->stacks[who];
    struct brute_copy *copy = brute_find(stack, line);
    int64_t distance = BRUTE_COLD;
    uint64_t hole = 0;
    while (hole < stack->depth && !stack->slots[hole].hole) hole++; /* the topmost, or depth */
    if (stack->depth + 1 >= stack->slot_room)
        stack->slots = realloc(stack->slots, (stack->slot_room = 2 * stack->slot_room + 16) * sizeof *stack->slots);
    *ri = 0;
    if (copy && copy->held) {
        uint64_t at = 0;
        while (stack->slots[at].hole || stack->slots[at].line != line) at++;
        distance = (int64_t)at;
        *ri = stack->now - copy->used_at;
        if (hole < at) {
            stack->slots[at].hole = 1; /* its old slot is the hole now, */
            brute_lift(stack, line, hole); /* and the topmost is filled */
        } else {
            brute_lift(stack, line, at);
        }
    } else {
        if (copy) {
            distance = BRUTE_INVALIDATED;
            brute->cells[copy->lost_to][who].misses++;
            brute->cells[copy->lost_to][who].false_misses += (uint64_t)copy->lost_falsely;
            if (copy->lost_falsely) brute_false_of(brute, line)->misses++;
        }
        if (hole == stack->depth) stack->depth++;
        brute_lift(stack, line, hole);
        if (!copy) {
            if (stack->copy_count == stack->copy_room)
                stack->copies =
                    realloc(stack->copies, (stack->copy_room = 2 * stack->copy_room + 16) * sizeof *stack->copies);
            copy = &stack->copies[stack->copy_count++];
        }
        *copy = (struct brute_copy){.line = line, .held = 1};
    }
    copy->used_at = stack->now++;
    copy->pc = pc;
    for (int part = first; part <= last; part++) copy->parts[part] = 1;
    if (writes) brute_invalidate(brute, who, line, first, last, pc);
    uint64_t known = 0;
    while (known < brute->distinct && brute->seen[known] != line) known++;
    if (known == brute->distinct) {
        if (brute->distinct == brute->seen_room)
            brute->seen = realloc(brute->seen, (brute->seen_room = 2 * brute->seen_room + 16) * sizeof *brute->seen);
        brute->seen[brute->distinct++] = line;
    }
    return distance;
}

static inline void brute_free(struct brute *brute) {
    for (int i = 0; i < BRUTE_STACKS; i++) {
        free(brute->stacks[i].slots);
        free(brute->stacks[i].copies);
    }
    free(brute->lines);
    free(brute->seen);
    free(brute);
}

#endif
