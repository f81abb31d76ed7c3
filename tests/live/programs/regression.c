/*
 * A table of numbers summed row by row. Built with -DPLANTED the loops of one
 * function are the wrong way round; with -DTWIN there is a comment's worth of
 * other lines above it and the same work: nothing a comparison should mind.
 */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 256, COLUMNS = 64 };

#ifdef TWIN
/* Moved down by an edit above. */
static int twin_was_here(int value) {
    return value;
}
#else
#define twin_was_here(value) (value)
#endif

static long sum_table(const long *table) {
    long sum = 0;
#ifdef PLANTED
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++) sum += table[i * COLUMNS + j];
#else
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) sum += table[i * COLUMNS + j];
#endif
    return sum;
}

int main(void) {
    long *table = malloc(sizeof *table * ROWS * COLUMNS);
    if (!table) return 1;
    for (int i = 0; i < ROWS * COLUMNS; i++) table[i] = i;
    printf("%ld\n", twin_was_here((int)(sum_table(table) % 1000)));
    free(table);
    return 0;
}
