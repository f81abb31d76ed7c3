/*
 * property_loops_what_if.c - what-if changes of loops against the same loops written by hand with the change.
 *
 * Loops are drawn at random as text, once as they are and once changed: every thread makes the same accesses in the same
 * order. RSC_SEED and RSC_ROUNDS choose other loops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loops/model/loops_model.h"
#include "loops/nest/walk.h"
#include "property/random_loops.h"

#define ROOM 200000u

static struct random_loops drawn, by_hand; /* by_hand draws nothing */
static char change[200];

/* Of three loops around each other: i, j and k. */
static struct loop {
    char name;
    int from, to, step;
    int above; /* the loop whose variable is added to `to`; -1: none */
    int tile;  /* its width; 0: not tiled */
    int shared;
} loop[3];

static char body[500], schedule[40];

static void draw_loops(int above) {
    static const char *const kinds[] = {"static", "static 2", "dynamic 3", "guided"};
    int shared = pick(&drawn, 2);
    for (int d = 0; d < 3; d++) {
        int down = !pick(&drawn, 4), from = pick(&drawn, 3), to = 4 + pick(&drawn, 10);
        loop[d] = (struct loop){.name = "ijk"[d],
                                .from = down ? to : from,
                                .to = down ? from : to,
                                .step = down ? -1 : 1,
                                .above = -1,
                                .shared = d == shared};
        if (d > shared && above && !pick(&drawn, 2)) loop[d].above = pick(&drawn, d);
    }
    snprintf(schedule, sizeof schedule, "share %s%s", kinds[pick(&drawn, 4)], pick(&drawn, 3) ? "" : " nowait");
    body[0] = 0;
    for (int r = 1 + pick(&drawn, 4); r--;) {
        size_t length = strlen(body);
        const char *verb = pick(&drawn, 2) ? "read" : "write";
        int c = 1 + pick(&drawn, 3), v = pick(&drawn, 3), w = pick(&drawn, 3);
        switch (pick(&drawn, 4)) {
        case 0: snprintf(body + length, sizeof body - length, "%s a[%c][%c]\n", verb, "ijk"[v], "ijk"[w]); break;
        case 1:
            snprintf(body + length, sizeof body - length, "%s b[%d*%c - %c + 20]\n", verb, c, "ijk"[v], "ijk"[w]);
            break;
        case 2:
            snprintf(body + length, sizeof body - length, "when %c %% 2 == 0 { %s b[%c] }\n", "ijk"[v], verb, "ijk"[w]);
            break;
        default:
            snprintf(body + length, sizeof body - length, "when i + k >= j + %d { %s a[k][%c] }\n", c, verb, "ijk"[v]);
        }
    }
}

static void say_arrays(struct random_loops *to, int more) {
    say(to, "loops 1\narray a 8 [60][%d]\narray b 4 [200]\nnest n {\n", 61 + more);
}

/* One loop's line, in its tile if it is tiled. */
static void say_header(struct random_loops *to, const struct loop *l, const char *share) {
    char last[64], low[64];
    if (l->above >= 0) snprintf(last, sizeof last, "%d + %c", l->to, loop[l->above].name);
    else snprintf(last, sizeof last, "%d", l->to);
    snprintf(low, sizeof low, "%d", l->from);
    if (!l->tile) {
        say(to, "for %c = %s to %s step %d %s {\n", l->name, low, last, l->step, share);
        return;
    }
    char first_in[64], last_in[64];
    snprintf(first_in, sizeof first_in, "%d*%c%c", l->tile, l->name, l->name);
    snprintf(last_in, sizeof last_in, "%d*%c%c + %d", l->tile, l->name, l->name, l->tile - 1);
    if (l->step > 0) say(to, "for %c = max(%s, %s) to min(%s, %s) {\n", l->name, low, first_in, last, last_in);
    else say(to, "for %c = min(%s, %s) to max(%s, %s) step -1 {\n", l->name, low, last_in, last, first_in);
}

static void say_loops(struct random_loops *to, int from, int end) {
    for (int d = from; d < end; d++) {
        if (loop[d].shared) say(to, "parallel {\n");
        say_header(to, &loop[d], loop[d].shared ? schedule : "");
    }
}

static void say_ends(struct random_loops *to, int from, int end) {
    for (int d = from; d < end; d++) say(to, loop[d].shared ? "} }\n" : "}\n");
}

static void say_all(struct random_loops *to, int more) {
    say_arrays(to, more);
    say_loops(to, 0, 3);
    say(to, "%s", body);
    say_ends(to, 0, 3);
    say(to, "}\n");
}

/* Values a loop's variable may have, whatever the others. */
static void range_of(const struct loop *l, int *least, int *most) {
    int extra_least = 0, extra_most = 0;
    if (l->above >= 0) range_of(&loop[l->above], &extra_least, &extra_most);
    *least = l->step > 0 ? l->from : l->to + extra_least;
    *most = l->step > 0 ? l->to + extra_most : l->from;
}

/* Tiles some of the loops from the shared one inwards; the tile loops come in the order named. */
static void draw_tiles(void) {
    int first = loop[1].shared, order[3], named = 0, outermost = 3;
    int start = pick(&drawn, 3);
    for (int n = 0; n < 3; n++) {
        int d = (start + n) % 3;
        if (d >= first && (pick(&drawn, 2) || !named)) order[named++] = d;
    }
    if (!named) order[named++] = 2;
    say_all(&drawn, 0);
    snprintf(change, sizeof change, "tile=");
    for (int n = 0; n < named; n++) {
        size_t length = strlen(change);
        if (order[n] < outermost) outermost = order[n];
        loop[order[n]].tile = 1 + pick(&drawn, 7);
        snprintf(change + length, sizeof change - length, "%s%c:%d", n ? "," : "", loop[order[n]].name,
                 loop[order[n]].tile);
    }
    say_arrays(&by_hand, 0);
    int shares_tiles = loop[first].tile > 0; /* the tiles are shared, not the loop */
    say_loops(&by_hand, 0, outermost);
    if (shares_tiles) say(&by_hand, "parallel {\n");
    for (int n = 0; n < named; n++) {
        const struct loop *l = &loop[order[n]];
        int least, most;
        range_of(l, &least, &most);
        least = (int)rsc_floor_divide(least, l->tile);
        most = (int)rsc_floor_divide(most, l->tile);
        say(&by_hand, "for %c%c = %d to %d step %d %s {\n", l->name, l->name, l->step > 0 ? least : most,
            l->step > 0 ? most : least, l->step, l->shared ? schedule : "");
    }
    for (int d = outermost; d < 3; d++) {
        if (loop[d].shared && !shares_tiles) say(&by_hand, "parallel {\n");
        say_header(&by_hand, &loop[d], loop[d].shared && !shares_tiles ? schedule : "");
    }
    say(&by_hand, "%s", body);
    for (int n = 0; n < named + 3; n++) say(&by_hand, "}\n");
    say(&by_hand, "} }\n"); /* of the construct, and of the nest */
}

/* The two loops change places; the construct and the schedule stay where they are. */
static void draw_interchange(void) {
    int first = loop[1].shared, a = first + pick(&drawn, 3 - first), b = first + pick(&drawn, 3 - first);
    if (a == b) b = a == 2 ? a - 1 : a + 1;
    say_all(&drawn, 0);
    snprintf(change, sizeof change, "interchange=%c,%c", loop[a].name, loop[b].name);
    struct loop kept = loop[a];
    loop[a] = loop[b];
    loop[b] = kept;
    loop[b].shared = loop[a].shared;
    loop[a].shared = kept.shared;
    say_all(&by_hand, 0);
}

/* The loops j and another one of the same bounds are inside i, one after the other. */
static void draw_fusion(void) {
    char other[sizeof body];
    int both = loop[1].shared && pick(&drawn, 2); /* each is in a construct of its own */
    snprintf(other, sizeof other, "%s", body);
    snprintf(change, sizeof change, "fuse=j");
    for (struct random_loops *to = &drawn;; to = &by_hand) {
        say_arrays(to, 0);
        say_loops(to, 0, 1);
        if (loop[1].shared) say(to, "parallel {\n");
        say_header(to, &loop[1], loop[1].shared ? schedule : "");
        say(to, "for k = 0 to 3 {\n%s}\n", body);
        if (to == &drawn) {
            say(to, both ? "} }\nparallel {\n" : "}\n");
            say_header(to, &loop[1], loop[1].shared ? schedule : "");
        }
        say(to, "for k = 2 to 5 {\nread a[j][k]\n%s}\n}\n", other);
        say(to, !loop[1].shared ? "read b[0]\n" : both ? "}\nread b[0]\n" : "read b[0]\n}\n");
        say_ends(to, 0, 1);
        say(to, "}\n");
        if (to == &by_hand) break;
    }
}

static void draw_change(void) {
    int what = pick(&drawn, 6);
    draw_loops(what == 0 || what > 2);
    switch (what) {
    case 0: draw_tiles(); break;
    case 1:
        for (int d = 0; d < 3; d++) loop[d].above = -1;
        draw_interchange();
        break;
    case 2: draw_fusion(); break;
    case 3: {
        int more = 1 + pick(&drawn, 20);
        say_all(&drawn, 0);
        say_all(&by_hand, more);
        snprintf(change, sizeof change, "pad=a:%d", more);
        break;
    }
    default: {
        static const char *const kinds[] = {"static", "dynamic", "guided"};
        int kind = pick(&drawn, 3), chunk = 1 + pick(&drawn, 5), nowait = strstr(schedule, "nowait") != NULL;
        say_all(&drawn, 0);
        if (what == 5) { /* the chunk alone */
            for (kind = 2; kind && !strstr(schedule, kinds[kind]); kind--);
            snprintf(change, sizeof change, "chunk=%d", chunk);
        } else snprintf(change, sizeof change, "schedule=%s,%d", kinds[kind], chunk);
        snprintf(schedule, sizeof schedule, "share %s %d%s", kinds[kind], chunk, nowait ? " nowait" : "");
        say_all(&by_hand, 0);
    }
    }
}

/* All accesses of all threads as byte and kind, phase by phase and thread by thread; where each phase ends. */
static uint32_t all_accesses(const struct rsc_loop_program *program, uint32_t threads, uint64_t *out) {
    struct rsc_error error;
    struct rsc_nest *nest;
    struct rsc_plan *plan;
    uint32_t count = 0, reference;
    assert_int_equal(rsc_nest_new(&nest, program, 0, UINT32_MAX, 64, &error), 0);
    assert_int_equal(rsc_plan_new(&plan, nest, threads, NULL, &error), 0);
    for (uint32_t t = 0; t < threads; t++) {
        struct rsc_walk *walk;
        assert_int_equal(rsc_walk_new(&walk, plan, t, 1, NULL, &error), 0);
        for (uint32_t p = 0; p < nest->phase_count; p++) {
            rsc_walk_start(walk, p);
            for (; rsc_walk_next(walk, &out[count], &reference, 1); count++) {
                assert_true(count + 2 < ROOM);
                out[count] = out[count] << 1 | (uint64_t)nest->reference[reference]->is_write;
            }
            out[count++] = UINT64_MAX;
        }
        rsc_walk_free(walk);
    }
    rsc_plan_free(plan);
    rsc_nest_free(nest);
    return count;
}

static struct rsc_loop_program *read_loops(const struct random_loops *loops) {
    struct rsc_loop_program *program;
    struct rsc_error error;
    if (rsc_loop_text_read(loops->text, loops->length, "drawn", NULL, 0, &program, &error) < 0)
        fail_msg("%s, in\n%s", error.message, loops->text);
    assert_int_equal(rsc_loop_layout(program, 64, &error), 0);
    return program;
}

static void changes_are_those_by_hand(void **state) {
    (void)state;
    const char *from = getenv("RSC_SEED"), *rounds = getenv("RSC_ROUNDS");
    uint64_t first = from ? strtoull(from, NULL, 0) : 1, count = rounds ? strtoull(rounds, NULL, 0) : 600, made = 0;
    uint64_t *changed = malloc(ROOM * sizeof *changed), *wanted = malloc(ROOM * sizeof *wanted);
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct rsc_loop_program *before, *after, *hand;
        struct rsc_error error;
        const char *note;
        memset(&drawn, 0, sizeof drawn);
        memset(&by_hand, 0, sizeof by_hand);
        rsc_rng_seed(&drawn.rng, seed, 23);
        draw_change();
        before = read_loops(&drawn);
        hand = read_loops(&by_hand);
        if (rsc_loops_what_if(&after, before, 0, change, &note, &error) < 0)
            fail_msg("seed %llu, %s: %s, in\n%s", (unsigned long long)seed, change, error.message, drawn.text);
        assert_int_equal(rsc_loop_layout(after, 64, &error), 0);
        for (uint32_t threads = 1; threads < 5; threads += 2) {
            uint32_t length = all_accesses(hand, threads, wanted);
            if (all_accesses(after, threads, changed) != length || memcmp(changed, wanted, length * sizeof *wanted))
                fail_msg("seed %llu T=%u, %s of\n%s\nis not\n%s", (unsigned long long)seed, threads, change, drawn.text,
                         by_hand.text);
            made += length;
        }
        rsc_loop_program_free(before);
        rsc_loop_program_free(after);
        rsc_loop_program_free(hand);
    }
    printf("%llu accesses\n", (unsigned long long)made);
    assert_true(made > 1000 * count);
    free(changed);
    free(wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(changes_are_those_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
