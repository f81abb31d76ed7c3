/*
 * sharing_loops.h - loop trees drawn at random in which threads share lines in many ways, as text: several references of
 * one line under different conditions, scalars beside arrays, accesses of several sizes to the same bytes, chunk borders
 * within lines, private arrays, strides backwards and past a line, phases that come back to each other's lines, with
 * sequential parts, singles, barriers and nowait between them. Small enough to be simulated.
 */
#ifndef RSC_TESTS_SHARING_LOOPS_H
#define RSC_TESTS_SHARING_LOOPS_H

#include "property/random_loops.h"

#define SAID_MOST 32
#define SHARED_TRIPS 44 /* iterations of a shared loop, at most */

struct sharing_loops {
    struct random_loops loops;
    struct said { /* references so far, by the variables they need: they are said again */
        char text[96];
        int depth;
    } said[SAID_MOST];
    int said_count;
    int even; /* conditions come in pairs of which one holds, so that iterations make equally many references */
    int schedules; /* drawn among this many kinds, the first ones */
};

/* A variable in scope, the innermost ones more often. */
static int pick_variable(struct random_loops *loops) {
    int a = pick(loops, loops->depth), b = pick(loops, loops->depth);
    return a > b ? a : b;
}

static void say_access(struct sharing_loops *sharing) {
    struct random_loops *loops = &sharing->loops;
    static const int strides[] = {1, 1, 1, 2, 3, 8, 9, 17, -1, -2, -8};
    const char *verb = pick(loops, 5) < 3 ? "read" : "write";
    char text[96] = "";
    if (sharing->said_count && pick(loops, 5) < 2) {
        const struct said *again = &sharing->said[pick(loops, sharing->said_count)];
        if (again->depth <= loops->depth) {
            say(loops, "%s %s\n", verb, again->text);
            return;
        }
    }
    int v = loops->depth ? pick_variable(loops) : 0, w = loops->depth ? pick(loops, loops->depth) : 0,
        at = pick(loops, 4);
    int by = strides[pick(loops, 11)], other = pick(loops, 2) ? 0 : strides[pick(loops, 11)];
    switch (loops->depth ? pick(loops, 9) : 6 + pick(loops, 2)) {
    case 0: snprintf(text, sizeof text, "a[v%d + %d][v%d + %d]", w, pick(loops, 2), v, at); break;
    case 1:
    case 2: snprintf(text, sizeof text, "b[%d*v%d + %d*v%d + %d]", by, v, other, w, at); break;
    case 3: {
        int size = 1 << pick(loops, 4);
        snprintf(text, sizeof text, "c byte %d*v%d + %d*v%d + %d size %d", size * by, v, size * other, w, size * at,
                 size);
        break;
    }
    case 4: snprintf(text, sizeof text, "p[v%d + %d]", v, at); break;
    case 5: snprintf(text, sizeof text, "h[v%d]", v); break;
    case 6: snprintf(text, sizeof text, "h[%d]", at); break;
    case 7: snprintf(text, sizeof text, "%s", pick(loops, 3) ? "s" : "q"); break;
    default: snprintf(text, sizeof text, "b[%d*v%d + %d]", strides[pick(loops, 3)], v, 8 * at);
    }
    say(loops, "%s %s\n", verb, text);
    if (sharing->said_count < SAID_MOST)
        snprintf(sharing->said[sharing->said_count].text, sizeof text, "%s", text),
            sharing->said[sharing->said_count++].depth = loops->depth;
}

static void say_condition(struct random_loops *loops) {
    int v = pick_variable(loops), w = pick(loops, loops->depth);
    static const char *const tests[] = {">=", "==", "!=", "<="};
    switch (pick(loops, 5)) {
    case 0: say(loops, "v%d + v%d", v, w); break;
    case 1: say(loops, "v%d %s %d", v, tests[pick(loops, 4)], pick(loops, 12)); return;
    case 2: say(loops, "v%d - v%d %s %d", v, w, tests[pick(loops, 4)], pick(loops, 4)); return;
    default: say(loops, "v%d", v);
    }
    say(loops, " %% %d %s %d", 2 + pick(loops, 3), pick(loops, 2) ? "==" : "!=", pick(loops, 2));
}

static void say_either(struct sharing_loops *sharing) {
    struct random_loops *loops = &sharing->loops;
    int v = pick_variable(loops), modulus = 2 + pick(loops, 2), accesses = 1 + pick(loops, 2);
    for (int side = 0; side < 2; side++) {
        say(loops, "when v%d %% %d %s 0 {\n", v, modulus, side ? "!=" : "==");
        for (int i = 0; i < accesses; i++) say_access(sharing);
        say(loops, "}\n");
    }
}

static void say_statements(struct sharing_loops *sharing, int statements) {
    struct random_loops *loops = &sharing->loops;
    for (int i = 0; i < statements; i++) {
        int what = pick(loops, 9);
        loops->budget--;
        if (what < 5 || loops->budget <= 0 || !loops->depth || loops->depth > 4) {
            say_access(sharing);
        } else if (what < 8 && sharing->even) {
            say_either(sharing);
        } else if (what < 8) {
            say(loops, "when ");
            say_condition(loops);
            if (!pick(loops, 4)) {
                say(loops, " and ");
                say_condition(loops);
            }
            say(loops, " {\n");
            say_statements(sharing, 1 + pick(loops, 2));
            say(loops, "}\n");
        } else {
            int v = loops->depth++, down = !pick(loops, 3), most = 1 + pick(loops, 7);
            if (down) say(loops, "for v%d = %d to 0 step -%d {\n", v, most, 1 + pick(loops, 2));
            else if (sharing->even || pick(loops, 3)) say(loops, "for v%d = %d to %d {\n", v, pick(loops, 2), most);
            else say(loops, "for v%d = v%d to v%d + %d {\n", v, pick(loops, v), pick(loops, v), most);
            say_statements(sharing, 1 + pick(loops, 3));
            say(loops, "}\n");
            loops->depth = v;
        }
    }
}

static void say_shared_loop(struct sharing_loops *sharing) {
    static const char *const kinds[] = {"static",   "static",    "static 1", "static 2",  "static 3",
                                        "static 5", "dynamic 1", "dynamic",  "dynamic 3", "guided"};
    struct random_loops *loops = &sharing->loops;
    int v = loops->depth, collapse = !pick(loops, 5), most = 1 + pick(loops, collapse ? 7 : SHARED_TRIPS - 1);
    int form = pick(loops, 5);
    if (form == 0) say(loops, "for v%d = %d to %d step -%d", v, most, pick(loops, 2), 1 + pick(loops, 2));
    else if (form == 1 && v) say(loops, "for v%d = v%d to %d", v, pick(loops, v), most);
    else say(loops, "for v%d = %d to %d step %d", v, pick(loops, 3), most, pick(loops, 4) ? 1 : 2);
    say(loops, " share %s%s%s {\n", kinds[pick(loops, sharing->schedules)], collapse ? " collapse 2" : "",
        pick(loops, 4) ? "" : " nowait");
    loops->depth++;
    sharing->even = !pick(loops, 3);
    if (collapse) {
        int from = pick(loops, 2);
        if (pick(loops, 2)) say(loops, "for v%d = v%d to %d {\n", v + 1, v, most);
        else say(loops, "for v%d = %d to %d {\n", v + 1, from, from + pick(loops, 7));
        loops->depth++;
    }
    say_statements(sharing, 1 + pick(loops, 5));
    for (; loops->depth > v; loops->depth--) say(loops, "}\n");
    sharing->even = 0;
}

static void say_parallel(struct sharing_loops *sharing) {
    struct random_loops *loops = &sharing->loops;
    say(loops, "parallel%s {\n", pick(loops, 8) ? "" : " threads 2");
    for (int i = 1 + pick(loops, 3); i--;) {
        switch (pick(loops, 9)) {
        case 0: say(loops, "barrier\n"); break;
        case 1:
            say(loops, "single%s {\n", pick(loops, 2) ? " nowait" : "");
            say_statements(sharing, 1 + pick(loops, 2));
            say(loops, "}\n");
            break;
        case 2: say_statements(sharing, 1); break; /* every thread */
        default: say_shared_loop(sharing);
        }
    }
    say(loops, "}\n");
}

/* As random_program(); only static schedules, or also dynamic and guided ones. */
static struct rsc_loop_program *sharing_program(struct sharing_loops *sharing, uint64_t seed, int only_static,
                                                struct rsc_error *error) {
    memset(sharing, 0, sizeof *sharing);
    struct random_loops *loops = &sharing->loops;
    rsc_rng_seed(&loops->rng, seed, 19);
    loops->budget = 40;
    sharing->schedules = only_static ? 6 : 10;
    const char *who = pick(loops, 2) ? " private" : "";
    say(loops,
        "loops 1\narray a 8 [][%d]\narray b %d []\narray s %d\narray h %d [64]\narray c 1 []\n"
        "array p 8 [64]%s\narray q 4%s\nnest n {\n",
        5 + pick(loops, 60), 1 << pick(loops, 4), 4 << pick(loops, 2), 1 << pick(loops, 4), who, who);
    int around = pick(loops, 3);
    for (int d = 0; d < around; d++) say(loops, "for v%d = 0 to %d {\n", loops->depth++, 1 + pick(loops, 3));
    for (int i = 1 + pick(loops, 3); i--;) {
        if (pick(loops, 4)) say_parallel(sharing);
        else say_statements(sharing, 1 + pick(loops, 2)); /* thread 0 alone */
    }
    for (int d = 0; d < around; d++) say(loops, "}\n");
    say(loops, "}\n");
    struct rsc_loop_program *program = NULL;
    if (rsc_loop_text_read(loops->text, loops->length, "sharing", NULL, 0, &program, error) < 0) return NULL;
    if (rsc_loop_layout(program, 64, error) < 0) {
        rsc_loop_program_free(program);
        return NULL;
    }
    return program;
}

#endif
