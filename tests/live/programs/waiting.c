/*
 * waiting: every way in which a thread that waits goes on: woken, timed out, interrupted by a signal with and without
 * SA_RESTART, cancelled, left behind by the end of the process. Prints what happened, the same in every run.
 * With an argument: starts itself without one from a thread while others wait.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int files[2];
static volatile sig_atomic_t handled, has_returned;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int word, first_word, other_word, woken;

static void handle(int number) { handled = number; }

static void set_handler(int flags) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
    handled = has_returned = 0;
}

static struct timespec in_a_moment(void) {
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_nsec += 30000000;
    if (when.tv_nsec >= 1000000000) when.tv_sec++, when.tv_nsec -= 1000000000;
    return when;
}

static long futex(int *at, int operation, long value, const void *limit, int *second, int third) {
    return syscall(SYS_futex, at, operation, value, limit, second, third);
}

static void *wait_semaphore(void *unused) {
    (void)unused;
    char *result = sem_wait(&semaphore) ? strerror(errno) : "posted";
    has_returned = 1;
    return result;
}

static void *wait_file(void *unused) {
    char letter = 0;
    (void)unused;
    char *result = read(files[0], &letter, 1) == 1 ? "read" : strerror(errno);
    has_returned = 1;
    return result;
}

static void *wait_condition(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &mutex);
    for (;;) pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return unused;
}

static void *wait_word(void *at) {
    while (futex(at, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 6) && errno == EINTR) {}
    __atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Signals it until it was interrupted, or with SA_RESTART a few times: it may not have begun to wait. */
static void interrupt(pthread_t thread, int restarts) {
    for (int times = 0; restarts ? times < 5 || !handled : !has_returned; times++) {
        pthread_kill(thread, SIGUSR1);
        usleep(5000);
    }
}

static void interrupted(void *(*wait)(void *), const char *name, int flags) {
    pthread_t thread;
    void *result;
    set_handler(flags);
    pthread_create(&thread, NULL, wait, NULL);
    interrupt(thread, flags);
    if (flags) {
        if (wait == wait_file) {
            if (write(files[1], "x", 1) != 1) return;
        } else sem_post(&semaphore);
    }
    pthread_join(thread, &result);
    printf("%s, %s: %s\n", name, flags ? "restarted" : "interrupted", (const char *)result);
}

static void cancelled(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, wait_condition, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("cancelled: %d, mutex %d\n", result == PTHREAD_CANCELED, pthread_mutex_trylock(&mutex));
    pthread_mutex_unlock(&mutex);
}

static void limited(void) {
    struct timespec when = in_a_moment(), moment = {0, 20000000};
    int result = sem_timedwait(&semaphore, &when) ? errno : 0;
    printf("semaphore: %s", strerror(result));
    when = in_a_moment();
    pthread_mutex_lock(&mutex);
    printf(", condition: %s", strerror(pthread_cond_timedwait(&condition, &mutex, &when)));
    when = in_a_moment();
    printf(", mutex: %s", strerror(pthread_mutex_timedlock(&mutex, &when)));
    pthread_mutex_unlock(&mutex);
    printf(", word: %s", futex(&word, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0) ? strerror(errno) : "woken");
    printf(", other value: %s\n", futex(&word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) ? strerror(errno) : "woken");
}

static void woken_by_number(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, wait_word, &first_word);
    /* All wait when all could be moved. */
    for (long moved = 0; moved < 4;) moved += futex(&first_word, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void *)9, &word, 0);
    printf("wrong bits %ld", futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, NULL, NULL, 1));
    printf(", wrong value %s", futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)9, &other_word, 5) < 0 ? strerror(errno) : "");
    printf(", woken and moved %ld", futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)2, &other_word, 0));
    /* Adds 3 to the other word and wakes there, as it was 0. */
    const int change = FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 0);
    printf(", woken by operation %ld", futex(&word, FUTEX_WAKE_OP_PRIVATE, 9, (void *)1, &other_word, change));
    printf(", other word %d", other_word);
    printf(", left %ld", futex(&other_word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf(", in all %d\n", woken);
}

static void between_processes(void) {
    sem_t *both = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(both, 1, 0);
    sem_init(both + 1, 1, 0);
    pid_t child = fork();
    for (int i = 0; i < 20; i++) {
        sem_post(&both[!child]);
        sem_wait(&both[!!child]);
    }
    if (!child) _exit(7);
    int status = 0;
    waitpid(child, &status, 0);
    printf("processes: %d\n", WEXITSTATUS(status));
}

static void without_waiting(void) {
    char letter;
    int pair[2];
    fcntl(files[0], F_SETFL, O_NONBLOCK);
    printf("empty pipe: %s", read(files[0], &letter, 1) < 0 ? strerror(errno) : "read");
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return;
    printf(", empty socket: %s", recv(pair[0], &letter, 1, MSG_DONTWAIT) < 0 ? strerror(errno) : "read");
    struct pollfd look = {.fd = pair[0], .events = POLLIN};
    printf(", poll: %d\n", poll(&look, 1, 0));
}

static void *start_again(void *path) {
    execl(path, path, NULL);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t idle[3], other;
    if (pipe(files)) return 1;
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < 3; i++) pthread_create(&idle[i], NULL, wait_condition, NULL);
    if (argc > 1) {
        pthread_create(&other, NULL, start_again, argv[0]);
        pthread_join(other, NULL);
        return 1;
    }
    interrupted(wait_semaphore, "semaphore", 0);
    interrupted(wait_semaphore, "semaphore", SA_RESTART);
    interrupted(wait_file, "file", 0);
    interrupted(wait_file, "file", SA_RESTART);
    cancelled();
    limited();
    woken_by_number();
    between_processes();
    without_waiting();
    fflush(stdout);
    return 3; /* while three wait */
}
