/*
 * random_loops.h - loop trees drawn at random, as text: triangular and floored
 * bounds, steps of either sign, guards, shared loops of every schedule, collapsed
 * and nowait ones, loops around parallel constructs, singles, barriers, private
 * arrays. Small enough to be enumerated.
 */
#ifndef RSC_TESTS_RANDOM_LOOPS_H
#define RSC_TESTS_RANDOM_LOOPS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "loops/tree/loop_text.h"

struct random_loops {
    struct rsc_rng rng;
    char text[16384];
    size_t length;
    int depth;       /* variables v0 .. in scope */
    int in_parallel, in_share;
    int budget;      /* statements left */
};

static void say(struct random_loops *loops, const char *format, ...) {
    va_list list;
    va_start(list, format);
    loops->length += (size_t)vsnprintf(loops->text + loops->length, sizeof loops->text - loops->length, format, list);
    va_end(list);
}

static int pick(struct random_loops *loops, int n) { return (int)rsc_rng_below(&loops->rng, (uint64_t)n); }

static void say_sum(struct random_loops *loops, int variables, int most) {
    say(loops, "%d", pick(loops, most));
    for (int i = 0; i < variables && loops->depth; i++) {
        int c = pick(loops, 4) - 1;
        if (c) say(loops, " %c %d*v%d", c < 0 ? '-' : '+', abs(c), pick(loops, loops->depth));
    }
}

static void say_reference(struct random_loops *loops) {
    const char *verb = pick(loops, 3) ? "read" : "write";
    switch (pick(loops, 5)) {
    case 0:
        say(loops, "%s a[", verb);
        say_sum(loops, 1, 3);
        say(loops, "][");
        say_sum(loops, 1, 3);
        say(loops, "]\n");
        break;
    case 1:
        say(loops, "%s b[", verb);
        say_sum(loops, 2, 6);
        say(loops, "]\n");
        break;
    case 2:
        say(loops, "%s c byte ", verb);
        say(loops, "%d", 8 * pick(loops, 20));
        for (int i = 0; i < 3 && loops->depth; i++)
            say(loops, " + %d*v%d", 8 * pick(loops, 30), pick(loops, loops->depth));
        say(loops, " size 8\n");
        break;
    case 3: say(loops, "%s s\n", verb); break;
    default:
        if (loops->depth >= 2)
            say(loops, "%s a[v%d][v%d]\n", verb, pick(loops, loops->depth), pick(loops, loops->depth));
        else say(loops, "%s b[0]\n", verb);
    }
}

static void say_body(struct random_loops *loops, int statements);

static void say_loop(struct random_loops *loops, int share) {
    int v = loops->depth;
    int collapse = share && !pick(loops, 4) ? 2 : 1;
    int triangular =
        collapse == 2 && pick(loops, 2); /* of two, the inner one's bounds may only have the outer variable */
    for (int g = 0; g < collapse; g++) {
        int down = !pick(loops, 4), step = pick(loops, 5) ? 1 : 2 + pick(loops, 2);
        char low[64], high[64];
        int outer = triangular ? g : v;
        int form = outer ? pick(loops, 6) : 5;
        int w = triangular ? v : outer ? pick(loops, outer) : 0;
        snprintf(low, sizeof low, "%d", pick(loops, 3));
        snprintf(high, sizeof high, "%d", 2 + pick(loops, 9));
        if (form == 0) snprintf(low, sizeof low, "v%d", w);
        if (form == 1) snprintf(high, sizeof high, "v%d + %d", w, pick(loops, 4));
        if (form == 2)
            snprintf(low, sizeof low, "%s(%d, 3*v%d)", down ? "min" : "max", 1, w),
                snprintf(high, sizeof high, "%s(9, 3*v%d + 2)", down ? "max" : "min", w);
        if (form == 3) snprintf(low, sizeof low, "ceil((v%d - 1) / 2)", w);
        if (form == 4) snprintf(high, sizeof high, "floor((2*v%d + 9) / 3)", w);
        if (form == 2 && down) snprintf(low, sizeof low, "3*v%d", w), snprintf(high, sizeof high, "3*v%d + 2", w);
        say(loops, "for v%d = %s to %s step %d", loops->depth, down ? high : low, down ? low : high,
            down ? -step : step);
        if (share && !g) {
            static const char *const kinds[] = {"static",  "static 1",  "static 2", "static 3",
                                                "dynamic", "dynamic 2", "guided",   "guided 2"};
            say(loops, " share %s", kinds[pick(loops, 8)]);
            if (collapse > 1) say(loops, " collapse %d", collapse);
            if (!pick(loops, 4)) say(loops, " nowait");
        }
        say(loops, " {\n");
        loops->depth++;
    }
    int was = loops->in_share;
    loops->in_share |= share;
    say_body(loops, 1 + pick(loops, 3));
    loops->in_share = was;
    loops->depth = v;
    for (int g = 0; g < collapse; g++) say(loops, "}\n");
}

static void say_body(struct random_loops *loops, int statements) {
    for (int i = 0; i < statements; i++) {
        int plain = !loops->in_parallel || loops->in_share;
        loops->budget--;
        int what = pick(loops, 10);
        if (loops->budget <= 0 || what < 3 || loops->depth > 4) {
            say_reference(loops);
        } else if (what < 6) {
            say_loop(loops, !plain && pick(loops, 4));
        } else if (what < 8 && loops->depth) {
            static const char *const tests[] = {">=", "==", "!=", "<="};
            if (pick(loops, 3))
                say(loops, "when v%d - v%d %s %d {\n", pick(loops, loops->depth), pick(loops, loops->depth),
                    tests[pick(loops, 4)], pick(loops, 4) - 1);
            else say(loops, "when v%d %% 2 %s 0 {\n", pick(loops, loops->depth), pick(loops, 2) ? "==" : "!=");
            say_body(loops, 1 + pick(loops, 2));
            say(loops, "}\n");
        } else if (loops->in_parallel && !loops->in_share) {
            if (pick(loops, 2)) say(loops, "barrier\n");
            say(loops, "single%s {\n", pick(loops, 2) ? " nowait" : "");
            loops->in_share++;
            say_body(loops, 1);
            loops->in_share--;
            say(loops, "}\n");
        } else if (!loops->in_parallel && loops->depth < 2) {
            say(loops, "parallel%s {\n", pick(loops, 6) ? "" : " threads 2");
            loops->in_parallel = 1;
            say_loop(loops, 1);
            if (pick(loops, 2)) say_body(loops, 1);
            loops->in_parallel = 0;
            say(loops, "}\n");
        } else {
            say_reference(loops);
        }
    }
}

/* A sealed program laid out at 64-byte lines, or NULL where the draw makes none (values out of bounds). */
__attribute__((unused)) static struct rsc_loop_program *random_program(struct random_loops *loops, uint64_t seed,
                                                                       struct rsc_error *error) {
    memset(loops, 0, sizeof *loops);
    rsc_rng_seed(&loops->rng, seed, 17);
    loops->budget = 14;
    say(loops, "loops 1\narray a 8 [%d][%d]\narray b 4 [%d]\narray c 8 [3000]\narray s 8%s\nnest n {\n", 64,
        16 + pick(loops, 9), 300, pick(loops, 2) ? " private" : "");
    int wrapped = pick(loops, 2);
    if (wrapped) {
        say(loops, "for v0 = 0 to %d {\n", 1 + pick(loops, 3));
        loops->depth = 1;
    }
    say(loops, "parallel {\n");
    loops->in_parallel = 1;
    say_loop(loops, 1);
    if (pick(loops, 2)) say_body(loops, 1 + pick(loops, 2));
    loops->in_parallel = 0;
    say(loops, "}\n");
    if (pick(loops, 2)) say_body(loops, 1);
    if (wrapped) say(loops, "}\n");
    say(loops, "}\n");
    struct rsc_loop_program *program = NULL;
    if (rsc_loop_text_read(loops->text, loops->length, "random", NULL, 0, &program, error) < 0) return NULL;
    if (rsc_loop_layout(program, 64, error) < 0) {
        rsc_loop_program_free(program);
        return NULL;
    }
    return program;
}

#endif
