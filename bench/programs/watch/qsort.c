/* qsort.c - sorts a million integers with libc's qsort(). */
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(void) {
    enum { COUNT = 1000000 };
    int *numbers = malloc(COUNT * sizeof *numbers);
    unsigned seed = 1;
    for (int i = 0; i < COUNT; i++) numbers[i] = (int)((seed = seed * 1103515245u + 12345u) >> 1);
    qsort(numbers, COUNT, sizeof *numbers, by_value);
    printf("%d\n", numbers[COUNT / 2]);
    return 0;
}
