/*
 * known_omp LINES ROUNDS: two OpenMP loops over LINES lines of each of two arrays, on 2 threads. The first reads b and
 * writes a, both of the thread's own half; the second reads a of the other thread's half and writes b of its own.
 *
 * Truth. 4 * LINES * ROUNDS references. Private: of every four, the read in the second loop is of a line that the other
 * thread wrote in the first: invalidated, but cold in the first round; 25 % * (ROUNDS - 1) / ROUNDS. The other three are
 * reuses of lines that nobody else writes. Cold: 3 * LINES (a is touched by both threads).
 */
#include <stdio.h>
#include <stdlib.h>

struct line {
    _Alignas(64) volatile long value;
};

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const long lines = atol(argv[1]), rounds = atol(argv[2]);
    struct line *a = aligned_alloc(64, (size_t)lines * sizeof *a), *b = aligned_alloc(64, (size_t)lines * sizeof *b);
    if (!a || !b) return 1;
    for (long round = 0; round < rounds; round++) {
#pragma omp parallel for num_threads(2) schedule(static)
        for (long i = 0; i < lines; i++) a[i].value = b[i].value + 1;
#pragma omp parallel for num_threads(2) schedule(static)
        for (long i = 0; i < lines; i++) b[i].value = a[lines - 1 - i].value;
    }
    printf("ok %ld\n", b[0].value);
    return 0;
}
