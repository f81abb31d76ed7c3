/*
 * annealing.c - placing the elements of a random net list by simulated annealing, pthreads without locks: places are
 * exchanged by atomic exchanges, costs are read while others move elements.
 */
#include "program.h"

#define ELEMENTS 60000
#define NETS 5
static struct {
    _Atomic int32_t place;
    int32_t nets[NETS];
} elements[ELEMENTS];
static long moves;

static int distance(int32_t a, int32_t b) { return abs(a % 256 - b % 256) + abs(a / 256 - b / 256); }

static int cost(int element, int32_t place) {
    int sum = 0;
    for (int k = 0; k < NETS; k++)
        sum += distance(place, atomic_load_explicit(&elements[elements[element].nets[k]].place, memory_order_relaxed));
    return sum;
}

/* Two elements change places: taken (-1) first, in order, so that no place is ever held twice. */
static int take_place(int element) {
    int32_t place;
    while ((place = atomic_exchange(&elements[element].place, -1)) < 0) {
    }
    return place;
}

static void *work(void *argument) {
    uint64_t seed = (uint64_t)(intptr_t)argument + 1;
    double heat = 100;
    for (long move = 0; move < moves / threads; move++, heat *= 0.99999) {
        int a = (int)(next_random(&seed) % ELEMENTS), b = (int)(next_random(&seed) % ELEMENTS);
        if (a == b) continue;
        if (a > b) {
            int c = a;
            a = b;
            b = c;
        }
        int32_t at_a = take_place(a), at_b = take_place(b);
        int change = cost(a, at_b) + cost(b, at_a) - cost(a, at_a) - cost(b, at_b);
        int accept = change < 0 || next_fraction(&seed) < exp(-change / heat);
        atomic_store(&elements[a].place, accept ? at_b : at_a);
        atomic_store(&elements[b].place, accept ? at_a : at_b);
    }
    return NULL;
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    uint64_t seed = 7;
    moves = (long)(1000000 * size);
    for (int i = 0; i < ELEMENTS; i++) {
        elements[i].place = i;
        for (int k = 0; k < NETS; k++) elements[i].nets[k] = (int32_t)(next_random(&seed) % ELEMENTS);
    }
    in_threads(work);
    char *seen = memory(ELEMENTS);
    int good = 1;
    for (int i = 0; i < ELEMENTS; i++) {
        int32_t place = elements[i].place;
        good &= place >= 0 && place < ELEMENTS && !seen[place];
        if (good) seen[place] = 1;
    }
    return result("annealing", good, ELEMENTS);
}
