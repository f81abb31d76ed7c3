/*
 * pipeline.c - pictures through four stages with bounded queues between them, pthreads: make, blur, histogram, and a
 * ranking against a database. Each stage has THREADS / 4 threads, at least one.
 */
#include "program.h"

#define PIXELS 4096
#define ROOM 8
#define KNOWN 512
#define BINS 64
#define CHECKED 64

struct picture {
    int number;
    uint8_t pixels[PIXELS], blurred[PIXELS];
    uint32_t histogram[BINS];
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct picture *items[ROOM];
    int first, count, writers;
};

static struct queue queues[3];
static uint32_t known[KNOWN][BINS];
static long pictures;
static _Atomic long next_picture;
static _Atomic uint64_t answer; /* of every CHECKED-th picture */

static void put(struct queue *queue, struct picture *item) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count == ROOM) pthread_cond_wait(&queue->changed, &queue->lock);
    queue->items[(queue->first + queue->count++) % ROOM] = item;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static struct picture *take(struct queue *queue) {
    struct picture *item = NULL;
    pthread_mutex_lock(&queue->lock);
    while (!queue->count && queue->writers) pthread_cond_wait(&queue->changed, &queue->lock);
    if (queue->count) {
        item = queue->items[queue->first];
        queue->first = (queue->first + 1) % ROOM;
        queue->count--;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    return item;
}

static void leave(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->writers--;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static void make(struct picture *picture) {
    uint64_t seed = (uint64_t)picture->number;
    for (int i = 0; i < PIXELS; i += 8) {
        uint64_t word = next_random(&seed);
        memcpy(picture->pixels + i, &word, 8);
    }
}

static void blur(struct picture *picture) {
    for (int i = 0; i < PIXELS; i++) {
        int sum = 0;
        for (int k = -2; k <= 2; k++)
            sum += picture->pixels[(i + k * 64) & (PIXELS - 1)] + picture->pixels[(i + k) & (PIXELS - 1)];
        picture->blurred[i] = (uint8_t)(sum / 10);
    }
}

static void count(struct picture *picture) {
    memset(picture->histogram, 0, sizeof picture->histogram);
    for (int i = 0; i < PIXELS; i++) picture->histogram[picture->blurred[i] * BINS / 256]++;
}

static int rank(const struct picture *picture) {
    int best = 0;
    uint64_t least = UINT64_MAX;
    for (int k = 0; k < KNOWN; k++) {
        uint64_t sum = 0;
        for (int i = 0; i < BINS; i++) sum += (uint64_t)labs((long)known[k][i] - (long)picture->histogram[i]);
        if (sum < least) {
            least = sum;
            best = k;
        }
    }
    return best;
}

static void *work(void *argument) {
    int stage = (int)((intptr_t)argument % 4);
    struct picture *picture;
    if (stage == 0) {
        for (long number; (number = next_picture++) < pictures;) {
            picture = memory(sizeof *picture);
            picture->number = (int)number;
            make(picture);
            put(&queues[0], picture);
        }
    } else {
        while ((picture = take(&queues[stage - 1]))) {
            if (stage == 1) blur(picture);
            if (stage == 2) count(picture);
            if (stage < 3) put(&queues[stage], picture);
            else {
                int best = rank(picture);
                if (picture->number % CHECKED == 0) answer += (uint64_t)(picture->number + 1) * (uint64_t)(best + 1);
                free(picture);
            }
        }
    }
    if (stage < 3) leave(&queues[stage]);
    return NULL;
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    if (threads < 4) threads = 4;
    pictures = (long)(700 * size) + 1;
    for (int k = 0; k < KNOWN; k++) {
        struct picture picture = {.number = 1000000 + k};
        make(&picture);
        blur(&picture);
        count(&picture);
        memcpy(known[k], picture.histogram, sizeof known[k]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        pthread_cond_init(&queues[i].changed, NULL);
        queues[i].writers = (threads + 3 - i) / 4;
    }
    in_threads(work);
    uint64_t expected = 0;
    struct picture picture = {0};
    for (long i = 0; i < pictures; i += CHECKED) { /* again, alone */
        picture.number = (int)i;
        make(&picture);
        blur(&picture);
        count(&picture);
        expected += (uint64_t)(i + 1) * (uint64_t)(rank(&picture) + 1);
    }
    return result("pipeline", answer == expected, (double)answer);
}
