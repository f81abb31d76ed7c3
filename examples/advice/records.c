/*
 * records.c - the mass of many bodies, summed up again and again: from whole records,
 * and from an array of masses. An example of docs/guide/advice.md.
 *
 *     records before|after [BODIES [PASSES]]     1,000,000 bodies, 20 passes if not given
 *
 * A record is 72 bytes, of which the loop needs 8: it fetches a line for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct body {
    double mass;
    double place[3], speed[3];
    char name[16];
};

static double weigh(const struct body *bodies, long count, long passes) {
    double sum = 0;
    for (long pass = 0; pass < passes; pass++)
        for (long i = 0; i < count; i++)
            sum += bodies[i].mass;
    return sum;
}

static double weigh_masses(const double *mass, long count, long passes) {
    double sum = 0;
    for (long pass = 0; pass < passes; pass++)
        for (long i = 0; i < count; i++) sum += mass[i];
    return sum;
}

int main(int argc, char **argv) {
    long count = argc > 2 ? atol(argv[2]) : 1000000, passes = argc > 3 ? atol(argv[3]) : 20;
    int split = argc > 1 && !strcmp(argv[1], "after");
    if (argc < 2 || (!split && strcmp(argv[1], "before")) || count < 1 || count > 1 << 26) {
        fprintf(stderr, "usage: records before|after [BODIES [PASSES]]\n");
        return 2;
    }
    struct body *bodies = calloc((size_t)count, sizeof *bodies);
    double *mass = malloc((size_t)count * sizeof *mass), sum;
    if (!bodies || !mass) return 1;
    for (long i = 0; i < count; i++)
        if (split) mass[i] = (double)(i % 13);
        else bodies[i].mass = (double)(i % 13);
    clock_t start = clock();
    sum = split ? weigh_masses(mass, count, passes) : weigh(bodies, count, passes);
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("the bodies weigh %.0f\n", sum);
    free(bodies);
    free(mass);
    return 0;
}
