/* wave.c - shallow water on a torus, OpenMP: three loops a step over nine arrays, none of which stays in a cache. */
#include "program.h"

#define N 384
typedef double field[N][N];
static field *u, *v, *h, *u_next, *v_next, *h_next, *flow_x, *flow_y, *pressure;

static field *new_field(void) { return memory(sizeof(field)); }

static double mass(void) {
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += (*h)[i][j];
    return sum;
}

static void step(void) {
    const double dt = 0.01;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                (*flow_x)[i][j] = (*u)[i][j] * (*h)[i][j];
                (*flow_y)[i][j] = (*v)[i][j] * (*h)[i][j];
                (*pressure)[i][j] = (*h)[i][j] + 0.5 * ((*u)[i][j] * (*u)[i][j] + (*v)[i][j] * (*v)[i][j]);
            }
#pragma omp for
        for (int i = 0; i < N; i++) {
            int up = i ? i - 1 : N - 1, down = i + 1 < N ? i + 1 : 0;
            for (int j = 0; j < N; j++) {
                int left = j ? j - 1 : N - 1, right = j + 1 < N ? j + 1 : 0;
                (*u_next)[i][j] = (*u)[i][j] - dt * 0.5 * ((*pressure)[down][j] - (*pressure)[up][j]);
                (*v_next)[i][j] = (*v)[i][j] - dt * 0.5 * ((*pressure)[i][right] - (*pressure)[i][left]);
                (*h_next)[i][j] =
                    (*h)[i][j] -
                    dt * 0.5 * ((*flow_x)[down][j] - (*flow_x)[up][j] + (*flow_y)[i][right] - (*flow_y)[i][left]);
            }
        }
#pragma omp for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                (*u)[i][j] = (*u_next)[i][j];
                (*v)[i][j] = (*v_next)[i][j];
                (*h)[i][j] = (*h_next)[i][j];
            }
    }
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    field **all[] = {&u, &v, &h, &u_next, &v_next, &h_next, &flow_x, &flow_y, &pressure};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) *all[i] = new_field();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) (*h)[i][j] = 1 + 0.1 * sin(2 * M_PI * i / N) * cos(4 * M_PI * j / N);
    double before = mass();
    for (int i = 0; i < (int)(20 * size) + 1; i++) step();
    double after = mass();
    return result("wave", fabs(after - before) < 1e-6 * before, after);
}
