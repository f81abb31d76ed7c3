/*
 * bench_sort_count.c - would exact distances by sorting and counting inversions, as on the GPU, pay on cores? One thread
 * of it beside one of the exact engine, step by step, in processor time.
 *
 *   bench_sort_count [ROUNDS] [CHUNK...]     references of a chunk (131072 524288 4194304)
 *
 * With prev(i) the last use of i's line, the distance of i is i - prev(i) - 1 less the number of j < i with
 * prev(j) > prev(i). References of a chunk are distributed by hash (partition); a table per part gives prev (look up);
 * then references are sorted by prev, four bits at a time from the top, stably, and in each step every reference adds
 * those before it with a larger digit (count). At the end of a chunk lines get times 1, 2, 3 ... in order of last use, so
 * that all times between are in use (renumber). No step has a table that every reference changes in order, so all could
 * run on many cores. Distances are compared with the exact engine's.
 */
#include <reusescope/reusescope.h>
#include <string.h>

#include "bench/line_list.h"
#include "distance/exact/exact_state.h"

#define REFERENCES 16000000u
#define PARTS 256u
#define SMALL 32u /* references that are compared with each other instead of sorted */

static struct line_list list = {.most = REFERENCES};

/* ---- tables of last uses ---- */

struct table {
    uint64_t *line; /* + 1; 0: empty */
    uint32_t *time;
    uint32_t mask, used;
};
static struct table tables[PARTS];

static uint64_t hash_of(uint64_t line) { return line * 0x9E3779B97F4A7C15ull; }

static void table_make(struct table *table, uint32_t slots) {
    *table = (struct table){calloc(slots, sizeof *table->line), calloc(slots, sizeof *table->time), slots - 1, 0};
    if (!table->line || !table->time) need(-1, "memory");
}

static uint32_t *table_find(struct table *table, uint64_t line) {
    uint32_t at = (uint32_t)(hash_of(line) >> 24) & table->mask;
    while (table->line[at] && table->line[at] != line + 1) at = (at + 1) & table->mask;
    if (table->line[at]) return &table->time[at];
    if (2 * ++table->used <= table->mask) {
        table->line[at] = line + 1;
        return &table->time[at];
    }
    struct table old = *table;
    table_make(table, 2 * (old.mask + 1));
    for (uint32_t i = 0; i <= old.mask; i++)
        if (old.line[i]) *table_find(table, old.line[i] - 1) = old.time[i];
    free(old.line);
    free(old.time);
    return table_find(table, line);
}

/* ---- counting ---- */

struct reference {
    uint32_t prev, id, larger; /* larger: earlier references with a larger prev */
};
typedef uint32_t sixteen __attribute__((vector_size(64)));
static sixteen below[16]; /* [d]: 1 for digits below d */

/* Sorts references first..end-1 by a digit, stably, into `to`; each gets those before it with a larger digit. */
__attribute__((target_clones("avx512f", "avx2", "default"))) static void
count_digit(const struct reference *from, struct reference *to, uint32_t first, uint32_t end, uint32_t shift,
            uint32_t ends[16]) {
    sixteen larger = {0};
    uint32_t place[16] = {0}, sum = first;
    for (uint32_t i = first; i < end; i++) place[from[i].prev >> shift & 15]++;
    for (uint32_t d = 0; d < 16; d++) {
        uint32_t count = place[d];
        place[d] = sum;
        ends[d] = sum += count;
    }
    for (uint32_t i = first; i < end; i++) {
        uint32_t digit = from[i].prev >> shift & 15;
        struct reference now = from[i];
        now.larger += larger[digit];
        larger += below[digit];
        to[place[digit]++] = now;
    }
}

/* Counts in references first..end-1, which are in order of time and whose prevs agree above `shift`. */
static void count_larger(struct reference *from, struct reference *to, uint32_t first, uint32_t end, uint32_t shift,
                         uint32_t *larger) {
    if (end - first <= SMALL || !shift) {
        for (uint32_t i = first; i < end; i++) {
            uint32_t count = from[i].larger;
            for (uint32_t k = first; k < i; k++) count += from[k].prev > from[i].prev;
            larger[from[i].id] = count;
        }
        return;
    }
    uint32_t ends[16], at = first;
    count_digit(from, to, first, end, shift - 4, ends);
    for (uint32_t d = 0; d < 16; at = ends[d++])
        if (at < ends[d]) count_larger(to, from, at, ends[d], shift - 4, larger);
}

/* ---- the whole ---- */

enum { PARTITION, LOOK_UP, COUNT, DISTANCES, RENUMBER, STEPS };

struct pair {
    uint64_t line;
    uint32_t id;
};

/* Gives the lines times 1, 2, 3 ... in order of last use; returns their number. */
static uint32_t renumber(uint64_t *bits, uint32_t *before, uint32_t times) {
    uint32_t words = times / 64 + 1, live = 0;
    memset(bits, 0, words * sizeof *bits);
    for (uint32_t p = 0; p < PARTS; p++)
        for (uint32_t i = 0; i <= tables[p].mask; i++)
            if (tables[p].line[i]) bits[tables[p].time[i] / 64] |= 1ull << (tables[p].time[i] & 63);
    for (uint32_t w = 0; w < words; live += (uint32_t)__builtin_popcountll(bits[w++])) before[w] = live;
    for (uint32_t p = 0; p < PARTS; p++)
        for (uint32_t i = 0; i <= tables[p].mask; i++) {
            uint32_t time = tables[p].time[i], word = time / 64;
            uint64_t lower = bits[word] & ((1ull << (time & 63)) - 1);
            if (tables[p].line[i]) tables[p].time[i] = before[word] + (uint32_t)__builtin_popcountll(lower) + 1;
        }
    return live;
}

/* Returns the sum of all distances, and adds the seconds of each step. */
static uint64_t sort_and_count(uint32_t chunk, double seconds[STEPS]) {
    struct pair *pairs = malloc(chunk * sizeof *pairs);
    struct reference *one = malloc(chunk * sizeof *one), *other = malloc(chunk * sizeof *other);
    uint32_t *prev = malloc(chunk * sizeof *prev), *larger = malloc(chunk * sizeof *larger), old = 0;
    uint64_t *bits = malloc((size_t)REFERENCES / 4), sum = 0;
    uint32_t *before = malloc((size_t)REFERENCES / 4);
    if (!pairs || !one || !other || !prev || !larger || !bits || !before) need(-1, "memory");
    for (uint32_t p = 0; p < PARTS; p++) table_make(&tables[p], 1024);
    for (uint32_t at = 0; at < list.count; at += chunk) {
        uint32_t count = list.count - at < chunk ? list.count - at : chunk, known = 0, first[PARTS + 1] = {0},
                 next[PARTS], top = 4;
        const uint64_t *lines = list.lines + at;
        double now[STEPS + 1] = {cpu_seconds_now()};
        for (uint32_t i = 0; i < count; i++) first[(hash_of(lines[i]) >> 56) + 1]++;
        for (uint32_t p = 0; p < PARTS; p++) next[p] = first[p + 1] += first[p];
        for (uint32_t p = 0; p < PARTS; p++) next[p] = first[p];
        for (uint32_t i = 0; i < count; i++) pairs[next[hash_of(lines[i]) >> 56]++] = (struct pair){lines[i], i};
        now[1] = cpu_seconds_now();
        for (uint32_t p = 0; p < PARTS; p++)
            for (uint32_t i = first[p]; i < first[p + 1]; i++) {
                uint32_t *time = table_find(&tables[p], pairs[i].line);
                prev[pairs[i].id] = *time;
                *time = old + 1 + pairs[i].id;
            }
        now[2] = cpu_seconds_now();
        for (uint32_t i = 0; i < count; i++)
            if (prev[i]) one[known++] = (struct reference){prev[i], i, 0};
        while (((uint64_t)old + count) >> top) top += 4;
        count_larger(one, other, 0, known, top, larger);
        now[3] = cpu_seconds_now();
        for (uint32_t i = 0; i < count; i++)
            if (prev[i]) sum += old + i - prev[i] - larger[i];
        now[4] = cpu_seconds_now();
        old = renumber(bits, before, old + count);
        now[5] = cpu_seconds_now();
        for (int step = 0; step < STEPS; step++) seconds[step] += now[step + 1] - now[step];
    }
    for (uint32_t p = 0; p < PARTS; p++) {
        free(tables[p].line);
        free(tables[p].time);
    }
    void *all[] = {pairs, one, other, prev, larger, bits, before};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return sum;
}

static uint64_t exact(double *seconds) {
    static uint32_t rd[LINE_LIST_BLOCK];
    static uint64_t ri[LINE_LIST_BLOCK];
    struct rsc_exact engine;
    uint64_t sum = 0;
    double start = cpu_seconds_now();
    need(rsc_exact_init(&engine, rsc_simd_best(), 0), "engine");
    rsc_exact_leave_out_ri(&engine);
    for (uint32_t at = 0; at < list.count; at += LINE_LIST_BLOCK) {
        uint32_t part = list.count - at < LINE_LIST_BLOCK ? list.count - at : LINE_LIST_BLOCK;
        need(rsc_exact_run(&engine, list.lines + at, part, rd, ri), "engine");
        for (uint32_t i = 0; i < part; i++) sum += rd[i] == RSC_RD_COLD ? 0 : rd[i];
    }
    *seconds = cpu_seconds_now() - start;
    rsc_exact_free(&engine);
    return sum;
}

static void compare(const char *name, uint32_t chunk, int rounds) {
    double best = 0, all, least[STEPS] = {0}, least_all = 0;
    for (int round = 0; round < rounds; round++) {
        double seconds[STEPS] = {0};
        uint64_t truth = exact(&all);
        if (!best || all < best) best = all;
        if (sort_and_count(chunk, seconds) != truth) need(-1, "agreement with the exact engine");
        all = seconds[PARTITION] + seconds[LOOK_UP] + seconds[COUNT] + seconds[DISTANCES] + seconds[RENUMBER];
        if (least_all && all >= least_all) continue;
        least_all = all;
        memcpy(least, seconds, sizeof least);
    }
    double each = 1e9 / list.count;
    printf("%-30s chunk %8u  exact %5.1f  sort and count %6.1f ns (%.2fx): partition %.1f, look up %.1f, count %.1f, "
           "distances %.1f, renumber %.1f\n",
           name, chunk, best * each, least_all * each, least_all / best, least[PARTITION] * each, least[LOOK_UP] * each,
           least[COUNT] * each, least[DISTANCES] * each, least[RENUMBER] * each);
}

int main(int argc, char **argv) {
    static const char *const specs[] = {"uniform,lines=1000000", "zipf,lines=10000000,skew=0.99"};
    static const uint32_t chunks[] = {1u << 17, 1u << 19, 1u << 22};
    int rounds = argc > 1 ? atoi(argv[1]) : 3;
    list.lines = malloc((size_t)REFERENCES * sizeof *list.lines);
    if (!list.lines || rounds < 1) return 1;
    for (uint32_t d = 0; d < 16; d++)
        for (uint32_t k = 0; k < d; k++) below[d][k] = 1;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        line_list_make(&list, specs[i]);
        for (int c = 2; c < argc; c++) compare(specs[i], (uint32_t)atoi(argv[c]), rounds);
        for (size_t c = 0; argc < 3 && c < sizeof chunks / sizeof *chunks; c++) compare(specs[i], chunks[c], rounds);
    }
    free(list.lines);
    return 0;
}
