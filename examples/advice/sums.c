/*
 * sums.c - the sums of a table's columns: column by column, and row by row. An example
 * of docs/guide/advice.md, with everything in main.
 *
 *     sums before|after [PASSES]     20 if not given
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef ROWS
#define ROWS 2048
#define COLUMNS 1024
#endif
static double table[ROWS][COLUMNS], sums[COLUMNS];

int main(int argc, char **argv) {
    int passes = argc > 2 ? atoi(argv[2]) : 20;
    if (argc < 2 || (strcmp(argv[1], "before") && strcmp(argv[1], "after")) || passes < 1) {
        fprintf(stderr, "usage: sums before|after [PASSES]\n");
        return 2;
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) table[i][j] = (i + j) % 13;
    clock_t start = clock();
    for (int pass = 0; pass < passes; pass++) {
        if (!strcmp(argv[1], "before")) {
            for (int j = 0; j < COLUMNS; j++) {
                double sum = sums[j];
                for (int i = 0; i < ROWS; i++)
                    sum += table[i][j];
                sums[j] = sum;
            }
        } else {
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLUMNS; j++) sums[j] += table[i][j];
        }
    }
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("the second column sums up to %.0f\n", sums[1]);
    return 0;
}
