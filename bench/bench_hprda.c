/*
 * bench_hprda.c - HP-RDA (paper 002, on the CPU) beside the exact engine: what
 * the approximation costs and what it buys.
 *
 *   bench_hprda [ROUNDS] [TRACE...]
 *
 * Without traces: the generated ones below, 10 M references each. For local
 * traces of 256 to 16384 references, with and without the effective factor: the
 * paper's error rate e over H bins (one an octave, and one for no distance),
 * overlap of the histograms (bins as in profiles), mean absolute error and mean
 * width of the bound of the miss ratio curve; on one thread million references a
 * processor second and their ratio to the exact engine on one core (and for machines, bench/numbers.h,
 * to a balanced tree, as in the paper); on two threads
 * million references a second by the wall clock, and the ratio to one thread by
 * the wall clock, which only a quiet machine shows; and where the time goes. Rounds
 * are interleaved, the best of each counts. The exact engine also yields reuse
 * intervals, HP-RDA does not.
 */
#include <reusescope/reusescope.h>
#include <string.h>

#include "bench/balanced_tree.h"
#include "bench/line_list.h"
#include "bench/numbers.h"
#include "distance/exact/exact_state.h"
#include "distance/hprda/hprda.h"
#include "profile/metrics.h"

#define BLOCK 2048u
#define REFERENCES_MAX 10000000u
#define SIZES 7 /* 256 to 16384 */

static struct line_list list = {.most = REFERENCES_MAX};

static struct rsc_profile *make_profile(const struct rsc_histogram *rd, uint64_t distinct) {
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) need(-1, "profile");
    profile->made.line_bytes = 64;
    profile->references = list.count;
    profile->cold = profile->distinct = distinct;
    rsc_histogram_merge(&profile->rd, rd);
    need(rsc_profile_seal(profile), "profile");
    return profile;
}

/* ---- the two ---- */

static double processor_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double run_exact(struct rsc_profile **profile) {
    static uint32_t rd[BLOCK];
    static uint64_t ri[BLOCK];
    struct rsc_histogram rd_sum, ri_sum;
    struct rsc_exact exact;
    need(rsc_exact_init(&exact, rsc_simd_best(), 0), "engine");
    need(rsc_histogram_init(&rd_sum, RSC_BINS_FINE), "histogram");
    need(rsc_histogram_init(&ri_sum, RSC_BINS_FINE), "histogram");
    double begun = processor_now();
    for (uint32_t done = 0; done < list.count; done += BLOCK) {
        uint32_t part = list.count - done < BLOCK ? list.count - done : BLOCK;
        need(rsc_exact_run(&exact, list.lines + done, part, rd, ri), "engine");
        for (uint32_t i = 0; i < part; i++) {
            if (rd[i] == RSC_RD_COLD) continue;
            rd_sum.count[rsc_bin_of_fine(rd[i])]++;
            ri_sum.count[rsc_bin_of_fine(ri[i])]++;
        }
    }
    double took = processor_now() - begun;
    if (!*profile) *profile = make_profile(&rd_sum, rsc_exact_distinct(&exact));
    rsc_histogram_free(&rd_sum);
    rsc_histogram_free(&ri_sum);
    rsc_exact_free(&exact);
    return took;
}

/* What the paper compares with: a balanced tree of the last uses. */
static double run_tree(const struct rsc_profile *truth) {
    struct tree tree;
    struct rsc_histogram sum;
    need(tree_init(&tree, (uint32_t)truth->distinct), "tree");
    need(rsc_histogram_init(&sum, RSC_BINS_FINE), "histogram");
    double begun = processor_now();
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t distance;
        need(tree_use(&tree, list.lines[i], &distance), "tree");
        if (distance != TREE_COLD) sum.count[rsc_bin_of_fine(distance)]++;
    }
    double took = processor_now() - begun;
    if (memcmp(sum.count, truth->rd.count, sum.bin_count * sizeof *sum.count)) need(-1, "agreement with the tree");
    rsc_histogram_free(&sum);
    tree_free(&tree);
    return took;
}

struct row {
    double best[2]; /* seconds by the wall clock, on one and two threads */
    double processor; /* seconds, on one thread */
    double parts[RSC_HPRDA_SECONDS_COUNT]; /* of the best round on one thread */
    double width;   /* of the bound, mean over sizes */
    struct rsc_profile *profile;
};

/* Mean over the sizes of the curve of high - low. */
static double bound_width(const struct rsc_hprda *hprda) {
    struct rsc_profile *low = make_profile(&hprda->sums.low, hprda->distinct);
    struct rsc_profile *high = make_profile(&hprda->sums.high, hprda->distinct);
    double width = rsc_profile_mrc_error(low, high, NULL);
    rsc_profile_free(low);
    rsc_profile_free(high);
    return width;
}

static void run_hprda(struct row *row, uint32_t local, int no_adjust, uint32_t workers) {
    const struct rsc_hprda_options options = {.local = local, .no_adjust = no_adjust, .workers = workers};
    struct rsc_hprda hprda;
    need(rsc_hprda_init(&hprda, &options), "hp-rda");
    double begun = seconds_now(), processor = processor_now();
    for (uint32_t done = 0; done < list.count; done += BLOCK)
        need(rsc_hprda_push(&hprda, list.lines + done, list.count - done < BLOCK ? list.count - done : BLOCK),
             "hp-rda");
    need(rsc_hprda_finish(&hprda), "hp-rda");
    double took = seconds_now() - begun;
    double *best = &row->best[workers - 1];
    processor = processor_now() - processor;
    if (!*best || took < *best) *best = took;
    if (workers == 1 && (!row->processor || processor < row->processor)) {
        row->processor = processor;
        memcpy(row->parts, hprda.seconds, sizeof row->parts);
    }
    if (!row->profile) {
        row->profile = make_profile(&hprda.sums.estimate, hprda.distinct);
        row->width = bound_width(&hprda);
    }
    rsc_hprda_free(&hprda);
}

/* `most` bins are used by some row: e of all rows is over that H, else the one that spreads widest would look best. */
static void print_row(const char *name, const struct row *row, uint32_t local, int no_adjust,
                      const struct rsc_profile *truth, double exact, double tree, uint32_t most) {
    uint32_t used;
    double all = 0;
    for (int i = 0; i < RSC_HPRDA_SECONDS_COUNT; i++) all += row->parts[i];
    double rate = rsc_profile_error_rate(row->profile, truth, rsc_bins_per_octave(1), &used) * used / most;
    printf("%6u %-3s %6.3f%% %3u %8.4f %8.4f %8.4f %7.1f %6.2fx %7.1f %6.2fx   %4.1f %4.1f %4.1f %4.1f\n", local,
           no_adjust ? "no" : "yes", 100 * rate, most, rsc_profile_overlap(row->profile, truth),
           rsc_profile_mrc_error(row->profile, truth, NULL), row->width, list.count / row->processor / 1e6,
           exact / row->processor, list.count / row->best[1] / 1e6, row->best[0] / row->best[1],
           100 * row->parts[0] / all, 100 * row->parts[1] / all, 100 * row->parts[2] / all, 100 * row->parts[3] / all);
    static const char *const parts[] = {"local", "merge threads", "merge blocks", "adjust"};
    const char *way = no_adjust ? "not adjusted" : "adjusted";
    put_number("e", rate, "%s/%u/%s", name, local, way);
    put_number("H", most, "%s/%u/%s", name, local, way);
    put_number("overlap", rsc_profile_overlap(row->profile, truth), "%s/%u/%s", name, local, way);
    put_number("curve error", rsc_profile_mrc_error(row->profile, truth, NULL), "%s/%u/%s", name, local, way);
    put_number("M/s", list.count / row->processor / 1e6, "%s/%u/%s", name, local, way);
    put_number("times exact", exact / row->processor, "%s/%u/%s", name, local, way);
    put_number("two threads over one", row->best[0] / row->best[1], "%s/%u/%s", name, local, way);
    put_number("times the tree", tree / row->processor, "%s/%u/%s", name, local, way);
    put_number("two threads, times the tree", tree / row->best[1], "%s/%u/%s", name, local, way);
    for (int i = 0; i < 4; i++) put_number(parts[i], row->parts[i] / all, "%s/%u/%s", name, local, way);
}

static void compare(const char *name, int rounds) {
    struct row rows[SIZES][2] = {0};
    struct rsc_profile *truth = NULL;
    double exact = 0, tree = 0;
    for (int round = 0; round < rounds; round++) {
        double took = run_exact(&truth);
        if (!exact || took < exact) exact = took;
        took = run_tree(truth);
        if (!tree || took < tree) tree = took;
        for (uint32_t size = 0; size < SIZES; size++)
            for (int no_adjust = 0; no_adjust < 2; no_adjust++)
                for (uint32_t workers = 1; workers <= 2; workers++)
                    run_hprda(&rows[size][no_adjust], 256u << size, no_adjust, workers);
    }
    printf("\n%s: %u references, %llu lines; exact %.1f M/s, balanced tree %.1f M/s\n", name, list.count,
           (unsigned long long)truth->distinct, list.count / exact / 1e6, list.count / tree / 1e6);
    put_number("M/s", list.count / exact / 1e6, "%s/exact", name);
    put_number("times the tree", tree / exact, "%s/exact", name);
    put_number("M/s", list.count / tree / 1e6, "%s/tree", name);
    put_number("lines", (double)truth->distinct, "%s", name);
    put_number("references", list.count, "%s", name);
    printf(
        " local adj       e   H  overlap  mrc mae    bound 1t M/s exact=1 2t wall   1t=1   local merge block adjust %%\n");
    uint32_t most = 0;
    for (uint32_t size = 0; size < SIZES; size++)
        for (int no_adjust = 0; no_adjust < 2; no_adjust++) {
            uint32_t used;
            rsc_profile_error_rate(rows[size][no_adjust].profile, truth, rsc_bins_per_octave(1), &used);
            if (used > most) most = used;
        }
    for (uint32_t size = 0; size < SIZES; size++)
        for (int no_adjust = 0; no_adjust < 2; no_adjust++) {
            print_row(name, &rows[size][no_adjust], 256u << size, no_adjust, truth, exact, tree, most);
            rsc_profile_free(rows[size][no_adjust].profile);
        }
    rsc_profile_free(truth);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const char *const specs[] = {"uniform,lines=1000000",      "zipf,lines=10000000,skew=0.99",
                                        "cyclic,lines=1000000",       "stencil,lines=100000",
                                        "mix,lines=200000,threads=4", "zipf,lines=3000,skew=0.8"};
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    list.lines = malloc((size_t)REFERENCES_MAX * sizeof *list.lines);
    if (!list.lines || rounds < 1) return 1;
    printf("HP-RDA beside the exact engine on one core (%s), best of %d; OpenMP: %s\n", rsc_simd_name(rsc_simd_best()),
           rounds, rsc_hprda_has_openmp() ? "yes" : "no, one thread in both columns");
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
