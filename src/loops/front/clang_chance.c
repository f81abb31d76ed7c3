/*
 * clang_chance.c - conditions that depend on data: they are assumed to hold in a share of the iterations.
 *
 * The iterations are those in which a weighted sum E of loop variables is a multiple of m: every m-th one, in
 * every loop the condition depends on. So the tree stays affine and is analysed as any other. A share p up to
 * one half needs two such sums, 1/m plus what is left of p; a larger one is the complement of 1 - p.
 *
 * The variables are those of the condition's own references: mask[i] holds or not for all j. A condition
 * without references depends on all loops around it. E starts at a number made of the condition's text, so
 * equal conditions agree and different ones do not.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "loops/front/clang_front.h"

#define SHARE_DEFAULT 0.5
#define MODULUS_MAX 10000

/* *own: whether it is given for this line. */
static double share_of(const struct front *front, unsigned line, int *own) {
    const struct rsc_c_options *options = front->options;
    double share = SHARE_DEFAULT;
    *own = 0;
    for (size_t i = 0; i < options->chance_count; i++) {
        if (options->chances[i].line ? options->chances[i].line != line : *own) continue;
        share = options->chances[i].share;
        *own = options->chances[i].line != 0;
    }
    return share;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint32_t hash_text(const char *text) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        if (!isspace((unsigned char)*text)) hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* The number of an iteration of a loop: its variable, or a quotient if the step has a divisor of m. */
static int iteration_number(struct front *front, const struct rsc_loop_node *loop, int64_t modulus,
                            struct rsc_affine *number) {
    uint64_t step = (uint64_t)(loop->step < 0 ? -loop->step : loop->step);
    *number = rsc_affine_variable(loop->depth);
    if (greatest_divisor(step, (uint64_t)modulus) == 1) return 0;
    struct value value;
    value_number(&value, number);
    value_floor_divide(front, &value, (int64_t)step);
    return value_affine(front, &value, number);
}

/* Whether E is a multiple of m. `used`: bits of the depths that matter. */
static int every_mth(struct front *front, uint32_t used, int64_t modulus, uint32_t start) {
    static const int64_t weights[] = {1, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67};
    struct rsc_affine sum = rsc_affine_number((int64_t)(start % (uint64_t)modulus));
    const struct rsc_loop_node *inside = front->at;
    unsigned w = 0;
    for (const struct rsc_loop_node *node = inside; node; node = node->parent) {
        struct rsc_affine number;
        if (node->kind != RSC_NODE_LOOP || !(used >> node->depth & 1)) continue;
        while (greatest_divisor((uint64_t)weights[w], (uint64_t)modulus) != 1 &&
               w + 1 < sizeof weights / sizeof *weights)
            w++;
        if (iteration_number(front, node, modulus, &number) || rsc_affine_add(&sum, &number, weights[w])) return -1;
        if (w + 1 < sizeof weights / sizeof *weights) w++;
    }
    return front_decide(front, RSC_WHEN_DIVISIBLE, &sum, modulus);
}

/* Bits of the loops that the condition depends on. */
static uint32_t loops_of(const struct front *front, size_t made) {
    uint32_t all = 0, used = 0;
    for (const struct rsc_loop_node *node = front->at; node; node = node->parent)
        if (node->kind == RSC_NODE_LOOP && !rsc_loop_is_let(node)) all |= 1u << node->depth;
    for (size_t i = made; i < front->pending_count; i++)
        for (uint32_t d = 0; d < RSC_LOOP_DEPTH_MAX; d++)
            if (front->pending[i].offset.coefficient[d]) used |= 1u << d;
    return used & all ? used & all : all;
}

/* The smallest m with 1/m <= share; 0: the share is too small to matter. */
static int64_t modulus_of(double share) {
    int64_t modulus = share * MODULUS_MAX < 1 ? 0 : (int64_t)(1 / share - 1e-9) + 1;
    return modulus < 2 ? 0 : modulus;
}

/* What was read up to here is read whether the condition holds or not: once, before the first of its guards. */
static int write_what_was_read(struct front *front) {
    struct paths *paths = front->paths;
    if (!paths || front->flushed) return -1;
    int first_time = paths->cursor == paths->count;
    if (first_time && paths->count + 2 > FRONT_DECISIONS_MAX) return -1;
    if (first_time) front_flush(front);
    front->pending_count = 0;
    front->flushed = 0; /* other paths drop it here, so the statement can still be split */
    return 0;
}

int front_chance(struct front *front, CXCursor condition, size_t made, const char *reason) {
    const char *file;
    unsigned line;
    if (!front->at || front->no_chance || strstr(reason, "(--set ")) return -1; /* a number that the user can give */
    uint32_t used = loops_of(front, made), start = hash_text(front_source(front, condition));
    front_place(front, condition, &file, &line);
    int own;
    double share = share_of(front, line, &own), real = 0;
    int opposite = share > 0.5, holds = 0, parts = 0;
    int64_t modulus[2];
    if (!used) return -1;
    if (opposite) share = 1 - share;
    while (parts < 2 && (modulus[parts] = modulus_of((share - real) / (1 - real))))
        real += (1 - real) / (double)modulus[parts++];
    if (parts && write_what_was_read(front)) return -1;
    for (int i = 0; i < parts && !holds; i++) holds = every_mth(front, used, modulus[i], i ? start / 65536 : start);
    if (holds < 0) return -1;
    front_assumption(front, condition, "assumed to hold in %.3g %% of iterations: %.150s",
                     100 * (opposite ? 1 - real : real), reason);
    return holds != opposite;
}

int front_given_chance(struct front *front, CXCursor condition, size_t made, char *reason, size_t room) {
    const char *file;
    unsigned line;
    int own;
    front_place(front, condition, &file, &line);
    share_of(front, line, &own);
    if (own) return front_chance(front, condition, made, reason);
    if (front->no_chance) return -1;
    char *copy = rsc_arena_strdup(&front->arena, reason);
    if (copy) snprintf(reason, room, "%.110s (--taken %u=PERCENT assumes how often)", copy, line);
    return -1;
}
