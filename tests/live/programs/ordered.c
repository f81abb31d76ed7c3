/*
 * ordered HOW TURNS: threads take turns at the same lines, ordered by HOW they synchronise and by nothing else. In a turn
 * a thread writes each of the 33 lines of `data` twice, in two sweeps.
 *
 * Truth. Private: the first write of a line in a turn is cold or invalidated if another thread had the turn before, and
 * nothing else is; that many are printed. References to `data`: TURNS * 66.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, LINES = 33 };
struct line {
    _Alignas(64) volatile long value;
};
static struct line *data; /* [LINES] */
static struct {
    _Alignas(64) long turns, made, misses, last;
} now = {.last = -1};
static long turns;

static __attribute__((noinline)) void take_turn(long self) {
    if (now.last != self) now.misses += LINES;
    now.last = self;
    for (int sweep = 0; sweep < 2; sweep++)
        for (long i = 0; i < LINES; i++) data[i].value = now.made;
    now.made++;
}
static int is_mine(long self) { return now.made % THREADS == self; }

/* ---- each waits for its turn ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static sem_t semaphores[THREADS];
static mtx_t c11_mutex;
static cnd_t c11_condition;
static int pipes[THREADS][2], events[THREADS], sockets[THREADS][2], epolls[THREADS];
static const struct timespec never = {.tv_sec = 1L << 40};
static uint32_t futex_lock;
static pthread_t all[THREADS];
static atomic_long atomic_turn, exchanged;

static void by_mutex(long self) {
    for (int done = 0; !done;) {
        pthread_mutex_lock(&mutex);
        if (is_mine(self)) done = now.made >= turns || (take_turn(self), 0);
        else done = now.made >= turns;
        pthread_mutex_unlock(&mutex);
        sched_yield();
    }
}

static void by_condition(long self) {
    pthread_mutex_lock(&mutex);
    while (now.made < turns) {
        while (now.made < turns && !is_mine(self)) pthread_cond_wait(&condition, &mutex);
        if (now.made < turns) take_turn(self);
        pthread_cond_broadcast(&condition);
    }
    pthread_mutex_unlock(&mutex);
}

static void by_semaphore(long self) {
    for (long turn = self; turn < turns; turn += THREADS) {
        sem_wait(&semaphores[self]);
        take_turn(self);
        sem_post(&semaphores[(self + 1) % THREADS]);
    }
}

static void by_barrier(long self) {
    for (long turn = 0; turn < turns; turn++) {
        if (turn % THREADS == self) take_turn(self);
        pthread_barrier_wait(&barrier);
    }
}

static void by_rwlock(long self) {
    for (long turn = self; turn < turns;) {
        pthread_rwlock_rdlock(&rwlock);
        int mine = now.made == turn;
        pthread_rwlock_unlock(&rwlock);
        if (mine) {
            pthread_rwlock_wrlock(&rwlock);
            take_turn(self);
            pthread_rwlock_unlock(&rwlock);
            turn += THREADS;
        } else sched_yield();
    }
}

static void by_spinlock(long self) {
    for (long turn = self; turn < turns;) {
        pthread_spin_lock(&spinlock);
        if (now.made == turn) {
            take_turn(self);
            turn += THREADS;
        }
        pthread_spin_unlock(&spinlock);
        sched_yield();
    }
}

static void by_c11(long self) {
    mtx_lock(&c11_mutex);
    while (now.made < turns) {
        while (now.made < turns && !is_mine(self)) cnd_wait(&c11_condition, &c11_mutex);
        if (now.made < turns) take_turn(self);
        cnd_broadcast(&c11_condition);
    }
    mtx_unlock(&c11_mutex);
}

static void by_pipe(long self) {
    char token = 0;
    for (long turn = self; turn < turns; turn += THREADS) {
        if (read(pipes[self][0], &token, 1) != 1) abort();
        take_turn(self);
        if (write(pipes[(self + 1) % THREADS][1], &token, 1) != 1) abort();
    }
}

/* As called by what was compiled with checks of sizes. */
ssize_t __read_chk(int descriptor, void *to, size_t bytes, size_t room);
static void by_checked(long self) {
    char token = 0;
    for (long turn = self; turn < turns; turn += THREADS) {
        if (__read_chk(pipes[self][0], &token, 1, 1) != 1) abort();
        take_turn(self);
        if (write(pipes[(self + 1) % THREADS][1], &token, 1) != 1) abort();
    }
}

/* Nothing is written: a reader comes to the end of a pipe that another thread closes. */
static int (*closed)[2]; /* [turns] */
static void by_close(long self) {
    char token;
    for (long turn = self; turn < turns; turn += THREADS) {
        if (turn && read(closed[turn - 1][0], &token, 1)) abort();
        take_turn(self);
        close(closed[turn][1]);
    }
}

/* Waits for the descriptor by something else than reading: what is read comes after the turn. */
static void by_waiting(long self, void (*wait_for)(long)) {
    char token = 0;
    for (long turn = self; turn < turns; turn += THREADS) {
        wait_for(self);
        take_turn(self);
        if (read(pipes[self][0], &token, 1) != 1 || write(pipes[(self + 1) % THREADS][1], &token, 1) != 1) abort();
    }
}
static void wait_by_poll(long self) {
    struct pollfd one = {.fd = pipes[self][0], .events = POLLIN};
    if (poll(&one, 1, -1) != 1) abort();
}
static void wait_by_select(long self) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[self][0], &set);
    if (select(pipes[self][0] + 1, &set, NULL, NULL, NULL) != 1) abort();
}
static void wait_by_epoll(long self) {
    struct epoll_event event;
    if (epoll_wait(epolls[self], &event, 1, -1) != 1) abort();
}
static void by_poll(long self) { by_waiting(self, wait_by_poll); }
static void by_select(long self) { by_waiting(self, wait_by_select); }
static void by_epoll(long self) { by_waiting(self, wait_by_epoll); }

static void by_eventfd(long self) {
    uint64_t token = 1;
    for (long turn = self; turn < turns; turn += THREADS) {
        if (read(events[self], &token, sizeof token) != sizeof token) abort();
        take_turn(self);
        if (write(events[(self + 1) % THREADS], &token, sizeof token) != sizeof token) abort();
    }
}

static void by_socket(long self) {
    char token = 0;
    for (long turn = self; turn < turns; turn += THREADS) {
        if (recv(sockets[self][0], &token, 1, 0) != 1) abort();
        take_turn(self);
        if (send(sockets[(self + 1) % THREADS][1], &token, 1, 0) != 1) abort();
    }
}

static void by_timed_lock(long self) {
    for (int done = 0; !done;) {
        if (pthread_mutex_timedlock(&mutex, &never)) abort();
        if (is_mine(self)) done = now.made >= turns || (take_turn(self), 0);
        else done = now.made >= turns;
        pthread_mutex_unlock(&mutex);
        sched_yield();
    }
}

static void by_timed_condition(long self) {
    pthread_mutex_lock(&mutex);
    while (now.made < turns) {
        while (now.made < turns && !is_mine(self)) pthread_cond_timedwait(&condition, &mutex, &never);
        if (now.made < turns) take_turn(self);
        pthread_cond_broadcast(&condition);
    }
    pthread_mutex_unlock(&mutex);
}

static void by_timed_semaphore(long self) {
    for (long turn = self; turn < turns; turn += THREADS) {
        if (sem_timedwait(&semaphores[self], &never)) abort();
        take_turn(self);
        sem_post(&semaphores[(self + 1) % THREADS]);
    }
}

/* Whoever waits too short a time tries again: time runs out often, and orders nothing. */
static void by_short_waits(long self) {
    for (long turn = self; turn < turns; turn += THREADS) {
        for (;;) {
            struct timespec soon;
            clock_gettime(CLOCK_REALTIME, &soon);
            soon.tv_nsec = (soon.tv_nsec + 20000) % 1000000000;
            if (!sem_timedwait(&semaphores[self], &soon)) break;
        }
        take_turn(self);
        sem_post(&semaphores[(self + 1) % THREADS]);
    }
}

static void by_sigwait(long self) {
    sigset_t set;
    int which;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    all[self] = pthread_self();
    pthread_barrier_wait(&barrier);
    for (long turn = self; turn < turns; turn += THREADS) {
        if (turn && sigwait(&set, &which)) abort();
        take_turn(self);
        if (turn + 1 < turns) pthread_kill(all[(self + 1) % THREADS], SIGUSR1);
    }
}

/* The kernel takes and gives the lock: the program itself changes no word of it, so only the calls order anything. */
static void by_futex(long self) {
    for (int done = 0; !done;) {
        syscall(SYS_futex, &futex_lock, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
        if (is_mine(self)) done = now.made >= turns || (take_turn(self), 0);
        else done = now.made >= turns;
        syscall(SYS_futex, &futex_lock, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
        sched_yield();
    }
}

/* Atomics alone, the last with instructions that are ordinary loads and stores. */
static void by_exchange(long self) {
    for (long turn = self; turn < turns; turn += THREADS) {
        while (atomic_fetch_add(&exchanged, 0) != turn) __builtin_ia32_pause();
        take_turn(self);
        atomic_fetch_add(&exchanged, 1);
    }
}
static void by_release(long self) {
    for (long turn = self; turn < turns; turn += THREADS) {
        while (atomic_load_explicit(&atomic_turn, memory_order_acquire) != turn) sched_yield();
        take_turn(self);
        atomic_store_explicit(&atomic_turn, turn + 1, memory_order_release);
    }
}

/* A pipeline: thread i passes to i + 1; the first takes back what the last has done. */
static void by_queue(long self) {
    for (long turn = self; turn < turns; turn += THREADS) {
        pthread_mutex_lock(&mutex);
        while (now.turns != turn) pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
        take_turn(self);
        pthread_mutex_lock(&mutex);
        now.turns = turn + 1;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
}

/* Whoever comes takes it: work that is stolen. The lock is not held meanwhile, and the work is in nobody's queue. */
static void by_stealing(long self) {
    static int is_free = 1;
    for (int done = 0; !done;) {
        pthread_mutex_lock(&mutex);
        int mine = is_free && now.made < turns;
        done = now.made >= turns;
        if (mine) is_free = 0;
        pthread_mutex_unlock(&mutex);
        if (mine) {
            take_turn(self);
            pthread_mutex_lock(&mutex);
            is_free = 1;
            pthread_mutex_unlock(&mutex);
        }
        sched_yield();
    }
}

static void (*how)(long);
static void *run(void *self) {
    how((long)self);
    return NULL;
}
static int run_c11(void *self) {
    how((long)self);
    return 0;
}

/* ---- threads that come and go ---- */

static void *one_turn(void *self) {
    take_turn((long)self);
    return NULL;
}
static int one_c11_turn(void *self) {
    take_turn((long)self);
    return 0;
}
static void churn(int c11) {
    for (long turn = 0; turn < turns; turn++) {
        pthread_t thread;
        thrd_t c11_thread;
        if (turn % 2 == 0) take_turn(0);
        else if (c11) {
            if (thrd_create(&c11_thread, one_c11_turn, (void *)turn) != thrd_success) abort();
            thrd_join(c11_thread, NULL);
        } else {
            if (pthread_create(&thread, NULL, one_turn, (void *)turn)) abort();
            pthread_join(thread, NULL);
        }
    }
}

/* One of them runs it, and all others come after that one: then the next has its turn. */
static pthread_once_t onces[4096];
static __thread long caller;
static void once(void) { take_turn(caller); }
static void by_once(long self) {
    caller = self;
    for (long turn = 0; turn < turns && turn < 4096; turn++) pthread_once(&onces[turn], once);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(long);
    } ways[] = {{"mutex", by_mutex},     {"condition", by_condition}, {"semaphore", by_semaphore}, {"barrier", by_barrier},
                {"rwlock", by_rwlock},   {"spinlock", by_spinlock},   {"c11", by_c11},             {"pipe", by_pipe},
                {"futex", by_futex},     {"exchange", by_exchange},   {"release", by_release},     {"queue", by_queue},
                {"stealing", by_stealing}, {"once", by_once},         {"poll", by_poll},           {"select", by_select},
                {"epoll", by_epoll},     {"eventfd", by_eventfd},     {"socket", by_socket},       {"timed-lock", by_timed_lock},
                {"timed-condition", by_timed_condition}, {"timed-semaphore", by_timed_semaphore}, {"short-waits", by_short_waits},
                {"sigwait", by_sigwait}, {"checked", by_checked},     {"close", by_close}};
    if (argc < 3) return 2;
    turns = atol(argv[2]);
    if (!(data = aligned_alloc(64, LINES * sizeof *data))) return 1;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(argv[1], ways[i].name)) how = ways[i].run;
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, NULL, THREADS);
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_condition);
    for (int i = 0; i < THREADS; i++) {
        sem_init(&semaphores[i], 0, i == 0);
        struct epoll_event readable = {.events = EPOLLIN};
        events[i] = eventfd(i == 0, 0);
        epolls[i] = epoll_create1(0);
        if (pipe(pipes[i]) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]) || events[i] < 0 ||
            epoll_ctl(epolls[i], EPOLL_CTL_ADD, pipes[i][0], &readable))
            return 1;
    }
    closed = calloc(turns, sizeof *closed);
    for (long turn = 0; how == by_close && turn < turns; turn++)
        if (pipe(closed[turn])) return 1;
    if (write(pipes[0][1], "", 1) != 1 || write(sockets[0][1], "", 1) != 1) return 1;
    if (!strcmp(argv[1], "churn")) churn(0);
    else if (!strcmp(argv[1], "churn-c11")) churn(1);
    else if (!how) return 2;
    else {
        sigset_t signals; /* for sigwait */
        sigemptyset(&signals);
        sigaddset(&signals, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        thrd_t c11_thread[THREADS];
        for (long i = 0; i < THREADS; i++) {
            if (how == by_c11) thrd_create(&c11_thread[i], run_c11, (void *)i);
            else pthread_create(&all[i], NULL, run, (void *)i);
        }
        for (long i = 0; i < THREADS; i++) {
            if (how == by_c11) thrd_join(c11_thread[i], NULL);
            else pthread_join(all[i], NULL);
        }
    }
    printf("%zu %ld %ld\n", LINES * sizeof *data, now.made * 2 * LINES, now.misses);
    return 0;
}
