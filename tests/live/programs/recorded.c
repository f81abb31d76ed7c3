/* Two threads that write until there is a file "stop". */
#include <pthread.h>
#include <unistd.h>
static volatile int cells[2][4096];
static void *work(void *own) {
    while (access("stop", F_OK))
        for (int i = 0; i < 4096 * 64; i++) ((volatile int *)own)[i % 4096]++;
    return NULL;
}
int main(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, work, (void *)cells[1])) return 1;
    work((void *)cells[0]);
    return pthread_join(other, NULL);
}
