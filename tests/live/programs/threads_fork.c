/* Three threads work while a fourth forks and enters and leaves the region: QEMU has to stop them all each time. */
#include <pthread.h>
#include <reusescope/region.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;
static volatile long cells[3][8];

static void *work(void *cell) {
    while (!stop) ((volatile long *)cell)[0]++;
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int forked = 0, status;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)cells[i]) != 0) return 1;
    for (int i = 0; i < 5; i++) {
        reusescope_begin();
        pid_t pid = fork();
        if (pid == 0) _exit(40 + i);
        reusescope_end();
        if (waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 40 + i) forked++;
    }
    stop = 1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("forked %d times\n", forked);
    return 0;
}
