/* sweep.c - fills a heap block and adds it to a global array, three times: misses whose owners are known. */
#include <stdio.h>
#include <stdlib.h>

#define LENGTH (1 << 15)
static double grid[LENGTH];

int main(void) {
    double *block = malloc(4 * LENGTH * sizeof *block), sum = 0;
    if (!block) return 1;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4 * LENGTH; i++) block[i] = i;
        for (int i = 0; i < LENGTH; i++) sum += grid[i] += block[i];
    }
    printf("%g\n", sum);
    free(block);
    return 0;
}
