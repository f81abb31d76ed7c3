/*
 * fusion.c - points that pull at a wall: two loops over the same data, and one in
 * their place. A worked example of docs/guide/advice.md.
 *
 *     fusion before|after [POINTS [STEPS]]     2,000,000 points and 20 steps if not given
 *
 * A step computes the force on each point, then moves the points by it. Written as
 * two loops, the first has gone through all of its arrays when the second begins:
 * what it computed has left the cache and is brought back. One loop moves a point as
 * soon as its force is known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct points {
    long count;
    double *place, *speed, *mass, *force;
};

static void forces(const struct points *points) {
    for (long i = 0; i < points->count; i++)
        points->force[i] = -points->place[i] * points->mass[i] - 0.1 * points->speed[i];
}

static void move(const struct points *points, double time) {
    for (long i = 0; i < points->count; i++) {
        points->speed[i] += time * points->force[i] / points->mass[i];
        points->place[i] += time * points->speed[i];
    }
}

static void forces_and_move(const struct points *points, double time) {
    for (long i = 0; i < points->count; i++) {
        points->force[i] = -points->place[i] * points->mass[i] - 0.1 * points->speed[i];
        points->speed[i] += time * points->force[i] / points->mass[i];
        points->place[i] += time * points->speed[i];
    }
}

static int make(struct points *points) {
    size_t bytes = ((size_t)points->count * sizeof(double) + 63) / 64 * 64;
    double **arrays[] = {&points->place, &points->speed, &points->mass, &points->force};
    for (size_t i = 0; i < 4; i++) {
        *arrays[i] = aligned_alloc(64, bytes);
        if (!*arrays[i]) return -1;
        memset(*arrays[i], 0, bytes);
    }
    for (long i = 0; i < points->count; i++) points->place[i] = 1 + (double)(i % 7), points->mass[i] = 1 + (double)(i % 3);
    return 0;
}

int main(int argc, char **argv) {
    struct points points = {.count = argc > 2 ? atol(argv[2]) : 2000000};
    long steps = argc > 3 ? atol(argv[3]) : 20;
    int fused = argc > 1 && !strcmp(argv[1], "after");
    if (argc < 2 || (!fused && strcmp(argv[1], "before")) || points.count < 8 || points.count > 1 << 28 || steps < 1) {
        fprintf(stderr, "usage: fusion before|after [POINTS [STEPS]]\n");
        return 2;
    }
    if (make(&points) < 0) return 1;
    clock_t start = clock();
    for (long step = 0; step < steps; step++) {
        if (fused) {
            forces_and_move(&points, 0.01);
        } else {
            forces(&points);
            move(&points, 0.01);
        }
    }
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("after %ld steps point 3 is at %.6f\n", steps, points.place[3]);
    free(points.place);
    free(points.speed);
    free(points.mass);
    free(points.force);
    return 0;
}
