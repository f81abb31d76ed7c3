/* hashjoin.c - joins two tables by a hash table with chains: built from one, probed with the other in random order. */
#include "program.h"

struct row {
    uint64_t key, payload;
    struct row *next;
};

int main(int argc, char **argv) {
    long probes = sized(argc, argv, 6000000), rows = 200000, buckets = 1 << 17;
    struct row *table = memory((size_t)rows * sizeof *table), **heads = memory((size_t)buckets * sizeof *heads);
    uint64_t sum = 0;
    for (long i = 0; i < rows; i++) {
        table[i] = (struct row){any() % (2 * (uint64_t)rows), (uint64_t)i, NULL};
        struct row **head = &heads[table[i].key * 0x9E3779B97F4A7C15ull >> 47];
        table[i].next = *head;
        *head = &table[i];
    }
    for (long i = 0; i < probes; i++) {
        uint64_t key = any() % (2 * (uint64_t)rows);
        for (const struct row *row = heads[key * 0x9E3779B97F4A7C15ull >> 47]; row; row = row->next)
            if (row->key == key) sum += row->payload;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
