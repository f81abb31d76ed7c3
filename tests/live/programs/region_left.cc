/*
 * Threads that call work() together and leave it in every way there is. both() makes 2,001 accesses of its own (1,000
 * reads, 1,000 writes, and its return) and is called inside of work() and outside of it; what main() prints first is
 * how often inside. Functions named outside_... are never inside. As C it has no exceptions.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
#define EXPORT extern "C" __attribute__((noinline))
#else
#define EXPORT __attribute__((noinline))
#endif
enum { THREADS = 4, ROUNDS = 20, CELLS = 1000 };
static __thread volatile int cells[CELLS];
static __thread jmp_buf place;
static __thread volatile int inside_calls;

EXPORT void both(void) {
    for (int i = 0; i < CELLS; i++) cells[i]++;
}

EXPORT int deeper(int how, int depth);

/* how: 0 returns, 1 longjmp, 2 an exception, 3 the thread ends, 4 a longjmp within. */
EXPORT int work(int how, int depth) {
    both();
    inside_calls++;
    int below = 0;
    jmp_buf mine;
    if (how == 4 && depth == 0) {
        volatile int came_back = 0;
        if (setjmp(mine) == 0) {
            came_back = 1;
            longjmp(mine, 1);
        }
        below = came_back;
    } else if (depth) below = deeper(how, depth - 1);
    else if (how == 1) longjmp(place, 1);
#ifdef __cplusplus
    else if (how == 2) throw 1;
#endif
    else if (how == 3) pthread_exit(NULL);
    both();
    inside_calls++;
    return below + 1;
}

EXPORT int deeper(int how, int depth) { return work(how, depth) + 1; }

/* After the jump it does much before its next call. */
EXPORT int outside_jump(int depth) {
    int sum = 0;
    if (setjmp(place) == 0) return work(1, depth);
    for (int i = 0; i < CELLS; i++) sum += cells[i] & 1;
    return sum;
}

#ifdef __cplusplus
EXPORT int outside_catch(int depth) {
    int sum = 0;
    try {
        return work(2, depth);
    } catch (int thrown) {
        for (int i = 0; i < CELLS; i++) sum += cells[i] & thrown;
    }
    return sum;
}
#else
EXPORT int outside_catch(int depth) { return depth; }
#endif

EXPORT void outside_round(int round) {
    both();
    work(0, round % 3);
    both();
    outside_jump(round % 3);
    both();
    outside_catch(round % 3);
    both();
    work(4, round % 2);
    both();
}

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_up(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    total += inside_calls;
    pthread_mutex_unlock(&lock);
}

static void *thread(void *argument) {
    pthread_cleanup_push(add_up, NULL);
    for (int round = 0; round < ROUNDS; round++) outside_round(round);
    if (argument) work(3, 1);
    both();
    pthread_cleanup_pop(1);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    const int count = argc > 1 ? atoi(argv[1]) : THREADS;
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, thread, (void *)(i % 2));
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    inside_calls = 0;
    outside_round(1);
    add_up(NULL);
    printf("%d\n", total);
    return 0;
}
