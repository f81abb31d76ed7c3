/*
 * interchange.c - the sums of a table's columns, weighted by row: column by column,
 * and row by row. A worked example of docs/guide/advice.md.
 *
 *     interchange before|after [ROWS [COLUMNS]]     8192 rows of 4096 if not given
 *
 * One column after the other, each step goes a whole row ahead: of each line of memory
 * one number is used, and the next is wanted when the whole column is done. With the
 * loops exchanged, numbers are taken as they lie.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void by_columns(const double *table, const double *weight, double *sum, long rows, long columns) {
    for (long j = 0; j < columns; j++)
        for (long i = 0; i < rows; i++) sum[j] += table[i * columns + j] * weight[i];
}

static void by_rows(const double *table, const double *weight, double *sum, long rows, long columns) {
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++) sum[j] += table[i * columns + j] * weight[i];
}

int main(int argc, char **argv) {
    long rows = argc > 2 ? atol(argv[2]) : 8192, columns = argc > 3 ? atol(argv[3]) : 4096;
    int exchanged = argc > 1 && !strcmp(argv[1], "after");
    if (argc < 2 || (!exchanged && strcmp(argv[1], "before")) || rows < 1 || rows > 1 << 20 || columns < 2 || columns > 1 << 20) {
        fprintf(stderr, "usage: interchange before|after [ROWS [COLUMNS]]\n");
        return 2;
    }
    double *table = malloc((size_t)rows * (size_t)columns * sizeof *table);
    double *weight = malloc((size_t)rows * sizeof *weight), *sum = calloc((size_t)columns, sizeof *sum);
    if (!table || !weight || !sum) return 1;
    for (long i = 0; i < rows; i++) weight[i] = 1 + (double)(i % 5);
    for (long i = 0; i < rows * columns; i++) table[i] = (double)(i % 1024);
    clock_t start = clock();
    (exchanged ? by_rows : by_columns)(table, weight, sum, rows, columns);
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("the second column sums up to %.0f\n", sum[1]);
    free(table);
    free(weight);
    free(sum);
    return 0;
}
