/* rank.c - ranks of the nodes of a graph in compressed rows: sweeps over edges, gathers from a vector. */
#include "program.h"

#define NODES 60000
#define DEGREE 12

int main(int argc, char **argv) {
    long rounds = sized(argc, argv, 400);
    uint32_t *edges = memory(sizeof(uint32_t[NODES][DEGREE]));
    double *rank = memory(NODES * sizeof *rank), *next = memory(NODES * sizeof *next), *other;
    for (long i = 0; i < NODES; i++) {
        rank[i] = 1.0 / NODES;
        for (int j = 0; j < DEGREE; j++) { /* half of them near */
            uint64_t r = any();
            edges[i * DEGREE + j] = (uint32_t)(r & 1 ? (r >> 8) % NODES : ((uint64_t)i + (r >> 8) % 64) % NODES);
        }
    }
    for (long round = 0; round < rounds; round++, other = rank, rank = next, next = other)
        for (long i = 0; i < NODES; i++) {
            double sum = 0;
            for (int j = 0; j < DEGREE; j++) sum += rank[edges[i * DEGREE + j]];
            next[i] = 0.15 / NODES + 0.85 * sum / DEGREE;
        }
    printf("%g\n", rank[NODES / 3]);
    return 0;
}
