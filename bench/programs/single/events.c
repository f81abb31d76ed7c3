/* events.c - a simulation: a heap of events by time, and machines whose queues they change. */
#include "program.h"

#define MACHINES 20000

struct event {
    uint64_t time;
    uint32_t machine, kind;
};
static struct event heap[4 * MACHINES];
static struct {
    uint64_t busy_until, served, waiting[5];
} machine[MACHINES];
static long events;

static void put(struct event event) {
    long at = events++;
    for (; at && heap[(at - 1) / 2].time > event.time; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = event;
}

static struct event take(void) {
    struct event first = heap[0], last = heap[--events];
    long at = 0, child;
    while ((child = 2 * at + 1) < events) {
        child += child + 1 < events && heap[child + 1].time < heap[child].time;
        if (heap[child].time >= last.time) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

int main(int argc, char **argv) {
    long steps = sized(argc, argv, 3000000);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < MACHINES; i++) put((struct event){any() % 1000, i, 0});
    for (long i = 0; i < steps; i++) {
        struct event event = take();
        uint32_t at = event.machine;
        machine[at].waiting[event.kind]++;
        machine[at].served += event.kind == 4;
        if (machine[at].busy_until < event.time) machine[at].busy_until = event.time + any() % 50;
        sum += machine[at].busy_until;
        put((struct event){event.time + 1 + any() % 1000, event.kind < 4 ? at : (uint32_t)(any() % MACHINES),
                           (event.kind + 1) % 5});
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
