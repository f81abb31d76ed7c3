/*
 * bench_engine.c - the exact engine beside a plain baseline (hash table and a
 * Fenwick tree over compacted time), interleaved, best of N rounds.
 *
 *   bench_engine [ROUNDS] [TRACE...]
 *
 * Without traces: uniform over 1 M lines, zipf 0.99 over 10 M, cyclic over 1 M,
 * 20 M references each. Every vector width the machine has is run; all must give
 * the same histogram.
 */
#include <reusescope/reusescope.h>
#include <string.h>

#include "base/histogram.h"
#include "base/u64_table.h"
#include "bench/line_list.h"
#include "bench/numbers.h"
#include "distance/exact/exact_state.h"

#define BLOCK 2048u
#define REFERENCES_MAX 20000000u

static struct line_list list = {.most = REFERENCES_MAX};

/* ---- what anybody would write first ---- */

struct baseline {
    struct rsc_u64_table table; /* line -> slot + 1 */
    uint32_t *tree;             /* counts of set slots */
    uint32_t slots, next, live;
};

static void tree_add(struct baseline *base, uint32_t slot, uint32_t amount) {
    for (uint32_t k = slot + 1; k <= base->slots; k += k & -k) base->tree[k] += amount;
}

static int by_slot(const void *left, const void *right) {
    const struct rsc_u64_entry *a = *(struct rsc_u64_entry *const *)left, *b = *(struct rsc_u64_entry *const *)right;
    return a->value < b->value ? -1 : a->value > b->value;
}

/* Lines renumbered by age; the tree is built anew. */
static void baseline_compact(struct baseline *base) {
    struct rsc_u64_entry **order = malloc((base->live + 1) * sizeof *order);
    uint32_t found = 0;
    for (uint64_t i = 0; i <= base->table.mask; i++)
        if (base->table.entries[i].value) order[found++] = &base->table.entries[i];
    qsort(order, found, sizeof *order, by_slot);
    while (base->slots < 4 * found) base->slots *= 2;
    free(base->tree);
    base->tree = calloc((size_t)base->slots + 1, sizeof *base->tree);
    for (base->next = 0; base->next < found; base->next++) {
        order[base->next]->value = base->next + 1;
        tree_add(base, base->next, 1);
    }
    free(order);
}

static uint64_t run_baseline(struct rsc_histogram *rd) {
    struct baseline base = {.slots = 1 << 18};
    uint64_t cold = 0;
    need(rsc_u64_table_init(&base.table, 1024), "table");
    base.tree = calloc((size_t)base.slots + 1, sizeof *base.tree);
    for (uint32_t i = 0; i < list.count; i++) {
        if (base.next == base.slots) baseline_compact(&base);
        if (rsc_u64_table_needs_rebuild(&base.table)) need(rsc_u64_table_rebuild(&base.table), "table");
        struct rsc_u64_entry *entry = rsc_u64_table_find(&base.table, list.lines[i]);
        if (entry->value) {
            uint32_t slot = (uint32_t)entry->value - 1, upto = 0;
            for (uint32_t k = slot + 1; k; k &= k - 1) upto += base.tree[k];
            rd->count[rsc_bin_of_fine(base.live - upto)]++;
            tree_add(&base, slot, (uint32_t)-1);
        } else {
            entry->key = list.lines[i];
            base.table.used++;
            base.live++;
            cold++;
        }
        entry->value = base.next + 1;
        tree_add(&base, base.next++, 1);
    }
    rsc_u64_table_free(&base.table);
    free(base.tree);
    return cold;
}

/* ---- ours ---- */

/*
 * First uses are counted as distance and interval 0. As in accumulate.c, values on both sides of 1024 are counted without
 * asking on which: where they are mixed, a branch would be as random as they are.
 */
static void count_block(struct rsc_histogram *rd_sum, struct rsc_histogram *ri_sum, const uint32_t *rd,
                        const uint64_t *ri, uint32_t count) {
    uint32_t small = 0;
    for (uint32_t i = 0; i < count; i++) small += rd[i] < 1024;
    int mixed = small > count / 16 && small < count - count / 16;
    for (uint32_t i = 0; mixed && i < count; i++)
        rd_sum->count[rsc_bin_of_fine_any(rd[i] == RSC_RD_COLD ? 0 : rd[i])]++;
    for (uint32_t i = 0; !mixed && i < count; i++) rd_sum->count[rsc_bin_of_fine(rd[i] == RSC_RD_COLD ? 0 : rd[i])]++;
    for (uint32_t i = 0; mixed && ri_sum && i < count; i++) ri_sum->count[rsc_bin_of_fine_any(ri[i])]++;
    for (uint32_t i = 0; !mixed && ri_sum && i < count; i++) ri_sum->count[rsc_bin_of_fine(ri[i])]++;
}

static uint64_t run_exact(struct rsc_histogram *rd_sum, enum rsc_simd simd, int with_ri, double *bytes_per_line) {
    static uint32_t rd[BLOCK];
    static uint64_t ri[BLOCK];
    struct rsc_histogram ri_sum;
    struct rsc_exact exact;
    uint64_t cold = 0;
    need(rsc_exact_init(&exact, simd, 0), "engine");
    if (!with_ri) rsc_exact_leave_out_ri(&exact);
    need(rsc_histogram_init(&ri_sum, RSC_BINS_FINE), "histogram");
    for (uint32_t done = 0; done < list.count; done += BLOCK) {
        uint32_t part = list.count - done < BLOCK ? list.count - done : BLOCK;
        need(rsc_exact_run(&exact, list.lines + done, part, rd, ri), "engine");
        count_block(rd_sum, with_ri ? &ri_sum : NULL, rd, ri, part);
        for (uint32_t i = 0; i < part; i++) cold += rd[i] == RSC_RD_COLD;
    }
    rd_sum->count[0] -= cold;
    *bytes_per_line = (double)exact.peak_bytes / (double)rsc_exact_distinct(&exact);
    rsc_histogram_free(&ri_sum);
    rsc_exact_free(&exact);
    return cold;
}

static void compare(const char *name, int rounds) {
    double best[1 + 2 * RSC_SIMD_COUNT] = {0}, bytes_per_line[2] = {0}; /* baseline; each width without RI, with RI */
    struct rsc_histogram truth, got;
    uint64_t cold = 0;
    need(rsc_histogram_init(&truth, RSC_BINS_FINE), "histogram");
    for (int round = 0; round < rounds; round++) {
        for (int way = 0; way <= 2 * RSC_SIMD_COUNT; way++) {
            enum rsc_simd simd = (enum rsc_simd)(way ? (way - 1) / 2 : 0);
            int with_ri = way ? (way - 1) % 2 : 0;
            if (!rsc_simd_available(simd)) continue;
            struct rsc_histogram *into = way || round ? &got : &truth;
            if (into == &got) need(rsc_histogram_init(&got, RSC_BINS_FINE), "histogram");
            double start = seconds_now();
            uint64_t found = way ? run_exact(into, simd, with_ri, &bytes_per_line[with_ri]) : run_baseline(into);
            double took = seconds_now() - start;
            if (!best[way] || took < best[way]) best[way] = took;
            if (into == &truth) {
                cold = found;
                continue;
            }
            if (found != cold || memcmp(got.count, truth.count, got.bin_count * sizeof *got.count))
                need(-1, "agreement with the baseline");
            rsc_histogram_free(&got);
        }
    }
    printf("%-28s %9u refs %9llu lines  baseline %6.1f M/s", name, list.count, (unsigned long long)cold,
           list.count / best[0] / 1e6);
    for (int simd = 0; simd < RSC_SIMD_COUNT; simd++) {
        const double *took = best + 1 + 2 * simd;
        if (took[0])
            printf("  %s %6.1f (%.2fx), with RI %6.1f (%.2fx)", rsc_simd_name((enum rsc_simd)simd),
                   list.count / took[0] / 1e6, best[0] / took[0], list.count / took[1] / 1e6, best[0] / took[1]);
        if (simd != (int)rsc_simd_best()) continue;
        put_number("M/s", list.count / took[0] / 1e6, "%s", name);
        put_number("times the baseline", best[0] / took[0], "%s", name);
        put_number("times the baseline with RI", best[0] / took[1], "%s", name);
    }
    put_number("bytes a line", bytes_per_line[0], "%s", name);
    put_number("baseline M/s", list.count / best[0] / 1e6, "%s", name);
    printf("  %.1f bytes/line, with RI %.1f\n", bytes_per_line[0], bytes_per_line[1]);
    rsc_histogram_free(&truth);
}

int main(int argc, char **argv) {
    static const char *const specs[] = {"uniform,lines=1000000", "zipf,lines=10000000,skew=0.99",
                                        "cyclic,lines=1000000"};
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    list.lines = malloc((size_t)REFERENCES_MAX * sizeof *list.lines);
    if (!list.lines || rounds < 1) return 1;
    printf("exact reuse distance, one core, best of %d; baseline: hash + Fenwick tree; M references/s\n", rounds);
    for (size_t i = 0; argc < 3 && i < sizeof specs / sizeof *specs; i++) {
        line_list_make(&list, specs[i]);
        compare(specs[i], rounds);
    }
    for (int i = 2; i < argc; i++) {
        line_list_load(&list, argv[i]);
        compare(argv[i], rounds);
    }
    free(list.lines);
    return 0;
}
