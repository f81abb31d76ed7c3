/*
 * faulting.c - a server that was not built with cc: answers each line of its input, while threads sweep over 1,500
 * pages each and give them back after every sweep. Each touch of a page faults, so faults are as many as touches, and
 * between two touches of a page lie 1,499 others. "more" starts a third thread, for a while. Ends with 7 at the end
 * of its input. It lets SIGTRAP pass: on some virtual machines a trap's cause is lost now and then.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THREADS = 2, PAGES = 1500, PAGE = 4096, WHILE = 400 };
static int stop;

static __attribute__((noinline)) void touch(volatile char *memory) {
    for (long i = 0; i < PAGES; i++) memory[i * PAGE] = 1;
}

static void *sweep(void *sweeps) {
    volatile char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(1);
    madvise((char *)memory, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (long left = (long)sweeps; left && !__atomic_load_n(&stop, __ATOMIC_RELAXED); left--) {
        touch(memory);
        madvise((char *)memory, PAGES * PAGE, MADV_DONTNEED);
    }
    munmap((char *)memory, PAGES * PAGE);
    return NULL;
}

static void pass(int number) { (void)number; }

int main(void) {
    signal(SIGTRAP, pass);
    pthread_t threads[THREADS], more;
    char line[256];
    long answers = 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, sweep, (void *)-1L)) return 1;
    while (fgets(line, sizeof line, stdin)) {
        unsigned sum = 0;
        for (const char *at = line; *at; at++) sum = 31 * sum + (unsigned char)*at;
        if (!strcmp(line, "more\n") && (pthread_create(&more, NULL, sweep, (void *)(long)WHILE) || pthread_join(more, NULL)))
            return 1;
        printf("%ld: %u\n", ++answers, sum);
        fflush(stdout);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%ld answers\n", answers);
    return 7;
}
