/* forkjoin.c - merge sort that forks a thread for one half until there are THREADS of them, and joins to merge. */
#include "program.h"

#define INSERTION 16
struct job {
    uint32_t *data, *spare;
    long count;
    int forks;
};

static void sort(struct job *job);
static void *sort_in_thread(void *argument) {
    sort(argument);
    return NULL;
}

static void insert(uint32_t *data, long count) {
    for (long i = 1; i < count; i++) {
        uint32_t value = data[i];
        long at = i;
        for (; at && data[at - 1] > value; at--) data[at] = data[at - 1];
        data[at] = value;
    }
}

static void sort(struct job *job) {
    if (job->count <= INSERTION) {
        insert(job->data, job->count);
        return;
    }
    long half = job->count / 2;
    struct job left = {job->data, job->spare, half, job->forks / 2};
    struct job right = {job->data + half, job->spare + half, job->count - half, job->forks - job->forks / 2};
    pthread_t thread;
    int forked = job->forks > 1 && pthread_create(&thread, NULL, sort_in_thread, &left) == 0;
    if (!forked) sort(&left);
    sort(&right);
    if (forked) pthread_join(thread, NULL);
    uint32_t *a = job->data, *a_end = a + half, *b = a_end, *b_end = job->data + job->count, *to = job->spare;
    while (a < a_end && b < b_end) *to++ = *a <= *b ? *a++ : *b++;
    while (a < a_end) *to++ = *a++;
    while (b < b_end) *to++ = *b++;
    for (long i = 0; i < job->count; i++) job->data[i] = job->spare[i];
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    long count = (long)(800000 * size) + 1;
    uint32_t *data = memory((size_t)count * sizeof *data), *spare = memory((size_t)count * sizeof *spare);
    uint64_t seed = 3, sum = 0, after = 0;
    for (long i = 0; i < count; i++) sum += data[i] = (uint32_t)next_random(&seed);
    struct job job = {data, spare, count, threads};
    sort(&job);
    int good = 1;
    for (long i = 0; i < count; i++) {
        after += data[i];
        good &= !i || data[i - 1] <= data[i];
    }
    return result("forkjoin", good && after == sum, (double)data[count / 2]);
}
