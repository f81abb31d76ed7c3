/*
 * bench_requests.c - requests for whole objects: the engine's byte stack beside a
 * plain baseline (hash table and a Fenwick tree of bytes over compacted time),
 * interleaved, best of N rounds by processor time; both must agree.
 *
 *   bench_requests [ROUNDS]
 */
#include <reusescope/reusescope.h>
#include <string.h>

#include "base/histogram.h"
#include "base/rng.h"
#include "bench/measure.h"
#include "distance/requests/byte_stack.h"

#define REQUESTS 10000000u
#define BLOCK 2048u

static uint64_t *objects;
static uint32_t *sizes;

/* One thread: processor time is what it takes, whoever else is on the machine. */
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void make_requests(uint64_t object_count, double skew) {
    struct rsc_rng rng;
    struct rsc_zipf zipf;
    rsc_rng_seed(&rng, 1, 0);
    if (skew > 0) rsc_zipf_init(&zipf, object_count, skew);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        objects[i] = skew > 0 ? rsc_zipf_next(&zipf, &rng) : rsc_rng_below(&rng, object_count);
        /* 64 bytes to 4 MiB by object, the same each time */
        uint64_t mixed = objects[i] * 0x9E3779B97F4A7C15ull;
        sizes[i] = (uint32_t)(64u << (mixed >> 60)) + (uint32_t)(mixed & 63);
    }
}

/* ---- the baseline ---- */

struct baseline {
    struct rsc_u64_table table; /* object -> slot + 1 */
    uint64_t *tree;             /* bytes by slot */
    uint32_t *size;             /* by slot */
    uint32_t slots, next;
    uint64_t bytes;
};

static void tree_add(struct baseline *base, uint32_t slot, uint64_t amount) {
    for (uint32_t k = slot + 1; k <= base->slots; k += k & -k) base->tree[k] += amount;
}

static void baseline_compact(struct baseline *base) {
    uint32_t *moved = malloc(base->slots * sizeof *moved), next = 0, wanted = base->slots;
    while (wanted < 4 * base->table.used) wanted *= 2;
    uint32_t *size = calloc(wanted, sizeof *size);
    for (uint32_t slot = 0; slot < base->slots; slot++)
        if (base->size[slot]) size[next] = base->size[slot], moved[slot] = next++;
    for (uint64_t i = 0; i <= base->table.mask; i++)
        if (base->table.entries[i].value) base->table.entries[i].value = moved[base->table.entries[i].value - 1] + 1ull;
    free(base->size);
    free(base->tree);
    free(moved);
    base->slots = wanted;
    base->size = size;
    base->tree = calloc(wanted + 1ull, sizeof *base->tree);
    for (base->next = 0; base->next < next; base->next++) tree_add(base, base->next, size[base->next]);
}

static uint64_t run_baseline(struct rsc_histogram *rd) {
    struct baseline base = {.slots = 1 << 18};
    uint64_t cold = 0;
    need(rsc_u64_table_init(&base.table, 1024), "table");
    base.tree = calloc(base.slots + 1ull, sizeof *base.tree);
    base.size = calloc(base.slots, sizeof *base.size);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        if (base.next == base.slots) baseline_compact(&base);
        if (rsc_u64_table_needs_rebuild(&base.table)) need(rsc_u64_table_rebuild(&base.table), "table");
        struct rsc_u64_entry *entry = rsc_u64_table_find(&base.table, objects[i]);
        if (entry->value) {
            uint32_t slot = (uint32_t)entry->value - 1;
            uint64_t upto = 0;
            for (uint32_t k = slot + 1; k; k &= k - 1) upto += base.tree[k];
            rd->count[rsc_bin_of_fine(base.bytes - upto + sizes[i] - 1)]++;
            tree_add(&base, slot, -(uint64_t)base.size[slot]);
            base.bytes -= base.size[slot];
            base.size[slot] = 0;
        } else {
            entry->key = objects[i];
            base.table.used++;
            cold++;
        }
        entry->value = base.next + 1ull;
        base.size[base.next] = sizes[i];
        base.bytes += sizes[i];
        tree_add(&base, base.next++, sizes[i]);
    }
    rsc_u64_table_free(&base.table);
    free(base.tree);
    free(base.size);
    return cold;
}

/* ---- ours ---- */

static uint64_t run_stack(struct rsc_histogram *rd, double *bytes_per_object) {
    static uint64_t above[BLOCK], ri[BLOCK];
    struct rsc_byte_stack stack;
    uint64_t cold = 0;
    need(rsc_byte_stack_init(&stack, 0), "stack");
    for (uint32_t done = 0; done < REQUESTS; done += BLOCK) {
        uint32_t part = REQUESTS - done < BLOCK ? REQUESTS - done : BLOCK;
        need(rsc_byte_stack_run(&stack, objects + done, sizes + done, part, above, ri), "stack");
        for (uint32_t i = 0; i < part; i++) {
            if (above[i] == RSC_BYTES_COLD) cold++;
            else rd->count[rsc_bin_of_fine(above[i] + sizes[done + i] - 1)]++;
        }
    }
    *bytes_per_object = (double)stack.peak_memory / (double)stack.table.used;
    rsc_byte_stack_free(&stack);
    return cold;
}

static void compare(const char *name, int rounds) {
    double best[2] = {0}, bytes_per_object = 0;
    uint64_t cold[2] = {0};
    for (int round = 0; round < rounds; round++) {
        struct rsc_histogram rd[2];
        for (int way = 0; way < 2; way++) {
            need(rsc_histogram_init(&rd[way], RSC_BINS_FINE), "histogram");
            double start = processor_seconds();
            cold[way] = way ? run_stack(&rd[way], &bytes_per_object) : run_baseline(&rd[way]);
            double took = processor_seconds() - start;
            if (!best[way] || took < best[way]) best[way] = took;
        }
        if (cold[0] != cold[1] || memcmp(rd[0].count, rd[1].count, rd[0].bin_count * sizeof *rd[0].count))
            need(-1, "agreement with the baseline");
        rsc_histogram_free(&rd[0]);
        rsc_histogram_free(&rd[1]);
    }
    printf("%-28s %u requests %8llu objects  baseline %5.1f M/s  byte stack %5.1f M/s (%.2fx)  %.1f bytes/object\n",
           name, REQUESTS, (unsigned long long)cold[1], REQUESTS / best[0] / 1e6, REQUESTS / best[1] / 1e6,
           best[0] / best[1], bytes_per_object);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    objects = malloc(REQUESTS * sizeof *objects);
    sizes = malloc(REQUESTS * sizeof *sizes);
    if (!objects || !sizes || rounds < 1) return 1;
    printf("requests for whole objects, exact, one core, best of %d; baseline: hash + Fenwick tree, distance only\n",
           rounds);
    make_requests(1000000, 0);
    compare("uniform, 1 M objects", rounds);
    make_requests(10000000, 0.9);
    compare("zipf 0.9, 10 M objects", rounds);
    make_requests(100000, 1.1);
    compare("zipf 1.1, 100 k objects", rounds);
    free(objects);
    free(sizes);
    return 0;
}
