/*
 * bench_racetrack.c - the paper's validation of relative progress (paper 004,
 * section 3.4), natively: threads of a matrix product are repeatedly stopped at the
 * same time and report their progress.
 *
 *     bench_racetrack [THREADS [N [RUNS [INTERVAL_US [SECONDS]]]]]
 *
 * At each stop a thread is drawn as the base; the others' progress less the base's,
 * modulo one pass over the shared matrix (N * N inner iterations), is the relative
 * progress. The first tenth of the stops and those after the first thread ended are
 * left out. Racetrack needs it to be uniform: chi-square over 20 bins. Stops follow
 * each other so closely that they are not independent, so a second test takes only
 * stops a whole pass apart. Also printed: the diffusion of the lead of thread 1 over
 * thread 0, in references (4 an iteration), which is drift's parameter.
 *
 * On a busy machine a stop takes as long as the scheduler needs to run every thread, and
 * little work is done between two. So those that have stopped sleep, and a run is ended
 * after SECONDS (default 10): what it has measured until then counts.
 */
#include <math.h>
#include <pthread.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rng.h"
#include "tests/chi_square.h"
#include "bench/measure.h"
#include "bench/numbers.h"

#define THREADS_MAX 64
#define BINS 20
#define STOPS_MAX 200000

static int threads = 4, n = 384, interval_us = 100;
static double *a, *b, *c;

/* One a cache line: what a thread has done, and where it says so when stopped. */
struct progress {
    _Alignas(64) volatile uint64_t iterations;
    volatile uint64_t told;
};
static struct progress progress[THREADS_MAX];
static _Thread_local int self;
static sem_t arrived;
static atomic_int stop_number;

/* A run goes through these once. Threads can be stopped in each of them. */
enum phase { STARTING, WORKING, ENDED };
static atomic_int phase, ready;

/* Only calls that a signal handler may make. Waits until all have told. */
static void on_stop(int signal_number) {
    (void)signal_number;
    int number = atomic_load(&stop_number);
    progress[self].told = progress[self].iterations;
    sem_post(&arrived);
    while (atomic_load(&stop_number) == number) syscall(SYS_futex, &stop_number, FUTEX_WAIT, number, NULL, NULL, 0);
}

static void stop_all(const pthread_t *thread) {
    for (int t = 0; t < threads; t++) pthread_kill(thread[t], SIGUSR1);
    for (int t = 0; t < threads; t++)
        while (sem_wait(&arrived) != 0) continue;
}

static void let_go(void) {
    atomic_fetch_add(&stop_number, 1);
    syscall(SYS_futex, &stop_number, FUTEX_WAKE, threads, NULL, NULL, 0);
}

static void *work(void *arg) {
    self = (int)(intptr_t)arg;
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&phase) == STARTING) usleep(20);
    int from = n * self / threads, to = n * (self + 1) / threads;
    for (int i = from; i < to && atomic_load(&phase) == WORKING; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                c[i * n + j] += a[i * n + k] * b[k * n + j];
                progress[self].iterations++;
            }
    while (atomic_load(&phase) == WORKING) usleep(200); /* can be stopped until the sampler has done */
    return NULL;
}

static double chi_square_p(const double *bin, double total) {
    double sum = 0, expected = total / BINS;
    for (int i = 0; i < BINS; i++) sum += (bin[i] - expected) * (bin[i] - expected) / expected;
    return chi_square_tail(BINS - 1, sum);
}

int main(int argc, char **argv) {
    int runs = 10, seconds = 10, cut = 0;
    if (argc > 1) threads = atoi(argv[1]);
    if (argc > 2) n = atoi(argv[2]);
    if (argc > 3) runs = atoi(argv[3]);
    if (argc > 4) interval_us = atoi(argv[4]);
    if (argc > 5) seconds = atoi(argv[5]);
    if (threads < 2 || threads > THREADS_MAX || n < 16 || runs < 1 || interval_us < 1 || seconds < 1) {
        fprintf(stderr, "usage: bench_racetrack [THREADS [N [RUNS [INTERVAL_US [SECONDS]]]]]\n");
        return 2;
    }
    size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    a = calloc(1, bytes), b = calloc(1, bytes), c = calloc(1, bytes);
    uint64_t(*stop)[THREADS_MAX] = malloc(sizeof *stop * STOPS_MAX);
    if (!a || !b || !c || !stop || sem_init(&arrived, 0, 0) != 0) return 1;
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 1, 0);
    double all[BINS] = {0}, apart[BINS] = {0}, all_total = 0, apart_total = 0;
    double window[3] = {1e4, 1e5, 1e6}, sum[3] = {0}, squares[3] = {0}, count[3] = {0};
    double pass = (double)n * n;
    for (int r = 0; r < runs; r++) {
        pthread_t thread[THREADS_MAX];
        memset((void *)progress, 0, sizeof progress);
        atomic_store(&phase, STARTING);
        atomic_store(&ready, 0);
        for (int t = 0; t < threads; t++)
            if (pthread_create(&thread[t], NULL, work, (void *)(intptr_t)t) != 0) {
                fprintf(stderr, "bench_racetrack: only %d threads can be started\n", t);
                return 1;
            }
        while (atomic_load(&ready) < threads) usleep(10);
        atomic_store(&phase, WORKING);
        double until = seconds_now() + seconds;
        uint64_t share = pass * n / threads;
        int stops = 0, ended = 0;
        while (stops < STOPS_MAX && !ended) {
            usleep((useconds_t)interval_us);
            stop_all(thread);
            for (int t = 0; t < threads; t++) {
                stop[stops][t] = progress[t].told;
                ended |= progress[t].told + n * n >= share;
            }
            stops += !ended;
            let_go();
            if (ended || seconds_now() < until) continue;
            cut++;
            ended = 1;
        }
        atomic_store(&phase, ENDED);
        for (int t = 0; t < threads; t++) pthread_join(thread[t], NULL);
        double last[3] = {0}, before[3] = {0}, last_apart = 0;
        for (int s = stops / 10; s < stops; s++) {
            int base = (int)rsc_rng_below(&rng, (uint64_t)threads);
            int far = (double)stop[s][base] - last_apart >= pass;
            if (far) last_apart = (double)stop[s][base];
            for (int t = 0; t < threads; t++) {
                if (t == base) continue;
                double relative = fmod((double)stop[s][t] - (double)stop[s][base], pass);
                if (relative < 0) relative += pass;
                int bin = (int)(BINS * relative / pass);
                all[bin < BINS ? bin : BINS - 1]++;
                all_total++;
                if (far) apart[bin < BINS ? bin : BINS - 1]++, apart_total++;
            }
            double made = 2.0 * (double)(stop[s][0] + stop[s][1]),
                   lead = 4.0 * ((double)stop[s][1] - (double)stop[s][0]);
            for (int w = 0; w < 3; w++) {
                if (made - last[w] < window[w]) continue;
                if (last[w] > 0) {
                    double change = lead - before[w];
                    sum[w] += change / sqrt(made - last[w]);
                    squares[w] += change * change / (made - last[w]);
                    count[w]++;
                }
                last[w] = made;
                before[w] = lead;
            }
        }
    }
    printf("%d threads, n=%d, %d runs: %.0f relative places, chi-square p = %.3g; a pass apart: %.0f, p = %.3g\n",
           threads, n, runs, all_total, all_total > 0 ? chi_square_p(all, all_total) : 0, apart_total,
           apart_total > 0 ? chi_square_p(apart, apart_total) : 0);
    put_number("places", all_total, "%d threads", threads);
    put_number("p", all_total > 0 ? chi_square_p(all, all_total) : 0, "%d threads", threads);
    put_number("places a pass apart", apart_total, "%d threads", threads);
    put_number("p a pass apart", apart_total > 0 ? chi_square_p(apart, apart_total) : 0, "%d threads", threads);
    for (int i = 0; i < BINS; i++)
        put_number("share", all[i] / (all_total > 0 ? all_total : 1), "%d threads/%d", threads, i);
    if (cut) printf("%d of the runs were ended after %d s: the machine is busy\n", cut, seconds);
    printf("share of each twentieth of a pass, all stops (uniform: 5%%):");
    for (int i = 0; i < BINS; i++) printf(" %.1f", 100 * all[i] / (all_total > 0 ? all_total : 1));
    printf("\ndiffusion of the lead, references, over windows of 1e4, 1e5, 1e6:");
    for (int w = 0; w < 3; w++) {
        double m = count[w] > 0 ? sum[w] / count[w] : 0;
        if (count[w] >= 8) printf(" %.3g", (squares[w] / count[w] - m * m) / 2);
        else printf(" -");
    }
    printf("\n");
    free(a), free(b), free(c), free(stop);
    return 0;
}
