/* mergesort.c - merge sort of records, bottom up: log2(n) sweeps over two arrays. */
#include "program.h"

struct record {
    uint64_t key, value;
};

static void merge(const struct record *from, struct record *to, long left, long middle, long right) {
    long a = left, b = middle;
    for (long i = left; i < right; i++)
        to[i] = a < middle && (b >= right || from[a].key <= from[b].key) ? from[a++] : from[b++];
}

int main(int argc, char **argv) {
    long count = sized(argc, argv, 1500000);
    struct record *now = memory((size_t)count * sizeof *now), *next = memory((size_t)count * sizeof *next), *other;
    for (long i = 0; i < count; i++) now[i] = (struct record){any(), (uint64_t)i};
    for (long width = 1; width < count; width *= 2, other = now, now = next, next = other)
        for (long left = 0; left < count; left += 2 * width) {
            long middle = left + width < count ? left + width : count;
            merge(now, next, left, middle, middle + width < count ? middle + width : count);
        }
    printf("%llu\n", (unsigned long long)now[count / 2].value);
    return 0;
}
