/*
 * ordered_omp HOW TURNS: as ordered.c, for OpenMP: threads take turns at the same lines, ordered by HOW they synchronise.
 * Truth as there. `loop`: one item for each thread, whose turns are ordered by the ends of loops.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, LINES = 33 };
struct line {
    _Alignas(64) volatile long value;
};
static struct line (*data)[LINES]; /* [THREADS] */
static struct {
    _Alignas(64) long made, misses, last;
} now[THREADS];
static long turns;

static __attribute__((noinline)) void take_turn(long item) {
    const long self = omp_get_thread_num() + 1;
    if (now[item].last != self) now[item].misses += LINES;
    now[item].last = self;
    for (int sweep = 0; sweep < 2; sweep++)
        for (long i = 0; i < LINES; i++) data[item][i].value = now[item].made;
    now[item].made++;
}

static void by_region(void) {
    for (long turn = 0; turn < turns; turn++) {
#pragma omp parallel num_threads(THREADS)
        if (omp_get_thread_num() == turn % THREADS) take_turn(0);
    }
}

static void by_barrier(void) {
#pragma omp parallel num_threads(THREADS)
    for (long turn = 0; turn < turns; turn++) {
        if (omp_get_thread_num() == turn % THREADS) take_turn(0);
#pragma omp barrier
    }
}

/* The end of a loop; which thread has which item is left to the schedule. */
#define LOOPS(name, schedule)                                       \
    static void name(void) {                                        \
        _Pragma("omp parallel num_threads(THREADS)")                \
        for (long turn = 0; turn < turns / THREADS; turn++) {       \
            _Pragma(schedule)                                       \
            for (long i = 0; i < THREADS; i++) take_turn((i + turn) % THREADS); \
        }                                                           \
    }
LOOPS(by_static, "omp for schedule(static, 1)")
LOOPS(by_dynamic, "omp for schedule(dynamic, 1)")
LOOPS(by_guided, "omp for schedule(guided, 1)")
LOOPS(by_runtime, "omp for schedule(runtime)")

static void by_ordered(void) {
#pragma omp parallel for num_threads(THREADS) schedule(static, 1) ordered
    for (long turn = 0; turn < turns; turn++) {
#pragma omp ordered
        take_turn(0);
    }
}

static void by_ordered_dynamic(void) {
#pragma omp parallel for num_threads(THREADS) schedule(dynamic, 1) ordered
    for (long turn = 0; turn < turns; turn++) {
#pragma omp ordered
        take_turn(0);
    }
}

static void by_critical(void) {
#pragma omp parallel num_threads(THREADS)
    for (long turn = omp_get_thread_num(); turn < turns; turn += THREADS) {
#pragma omp critical
        take_turn(0);
    }
}

static void by_named(void) {
#pragma omp parallel num_threads(THREADS)
    for (long turn = omp_get_thread_num(); turn < turns; turn += THREADS) {
#pragma omp critical(one)
        take_turn(0);
    }
}

static void by_lock(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS)
    for (long turn = omp_get_thread_num(); turn < turns; turn += THREADS) {
        omp_set_lock(&lock);
        take_turn(0);
        omp_unset_lock(&lock);
    }
}

static void by_single(void) {
#pragma omp parallel num_threads(THREADS)
    for (long turn = 0; turn < turns; turn++) {
#pragma omp single
        take_turn(0);
    }
}

static void by_sections(void) {
#pragma omp parallel num_threads(THREADS)
    for (long turn = 0; turn < turns / 3; turn++) {
#pragma omp sections
        {
#pragma omp section
            take_turn(0);
#pragma omp section
            take_turn(1);
#pragma omp section
            take_turn(2);
        }
    }
}

/* Each task needs the one before. */
static void by_depend(void) {
    int token = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (long turn = 0; turn < turns; turn++) {
#pragma omp task depend(inout : token) firstprivate(turn)
        take_turn(0 * turn);
    }
    (void)token;
}

static void by_taskwait(void) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (long turn = 0; turn < turns / THREADS; turn++) {
        for (long i = 0; i < THREADS; i++) {
#pragma omp task firstprivate(i)
            take_turn(i);
        }
#pragma omp taskwait
    }
}

static void by_taskloop(void) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    for (long turn = 0; turn < turns / THREADS; turn++) {
#pragma omp taskloop grainsize(1)
        for (long i = 0; i < THREADS; i++) take_turn(i);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"region", by_region},     {"barrier", by_barrier},   {"static", by_static},   {"dynamic", by_dynamic},
                {"guided", by_guided},     {"runtime", by_runtime},   {"ordered", by_ordered}, {"ordered-dynamic", by_ordered_dynamic},
                {"critical", by_critical}, {"named", by_named},       {"lock", by_lock},       {"single", by_single},
                {"sections", by_sections}, {"depend", by_depend},     {"taskwait", by_taskwait}, {"taskloop", by_taskloop}};
    long references = 0, misses = 0;
    if (argc < 3) return 2;
    turns = atol(argv[2]);
    if (!(data = aligned_alloc(64, THREADS * sizeof *data))) return 1;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(argv[1], ways[i].name)) ways[i].run();
    for (long i = 0; i < THREADS; i++) {
        references += now[i].made * 2 * LINES;
        misses += now[i].misses;
    }
    printf("%zu %ld %ld\n", THREADS * sizeof *data, references, misses);
    return references ? 0 : 2;
}
