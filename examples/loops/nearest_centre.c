/* The nearest of several centres for every point. */
#ifndef POINTS
#define POINTS 400
#endif
#ifndef CENTRES
#define CENTRES 24
#endif
#ifndef DIM
#define DIM 8
#endif

static float point[POINTS][DIM], centre[CENTRES][DIM];
static int nearest[POINTS];

void kernel(void) {
#pragma omp parallel for
    for (int p = 0; p < POINTS; p++) {
        float best = 1e30f;
        int at = 0;
        for (int c = 0; c < CENTRES; c++) {
            float distance = 0;
            for (int d = 0; d < DIM; d++) {
                float step = point[p][d] - centre[c][d];
                distance += step * step;
            }
            if (distance < best) {
                best = distance;
                at = c;
            }
        }
        nearest[p] = at;
    }
}
