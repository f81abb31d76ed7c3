/* Distances between all pairs of points in space, each pair once. */
#include <math.h>

#ifndef POINTS
#define POINTS 110
#endif

static struct {
    double x, y, z, mass;
} body[POINTS];
static double distance[POINTS][POINTS];

void kernel(void) {
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < POINTS; i++)
        for (int j = i + 1; j < POINTS; j++) {
            double dx = body[i].x - body[j].x, dy = body[i].y - body[j].y, dz = body[i].z - body[j].z;
            distance[i][j] = sqrt(dx * dx + dy * dy + dz * dz);
        }
}
