/*
 * check.c - the plugin against the exact engine of the CPU, bit for bit, on random
 * traces of awkward sizes. Built with nvcc it checks a device; built with
 * emulated.cc it checks the same kernels on machines without one.
 *
 *     gpu_check [TRACES [SEED [LONGEST]]]
 *
 * Sizes cluster around tiles and chunks; shapes are all equal, all distinct,
 * cycles, chains of ever older previous uses, hot lines, far apart regions. Chunks
 * are of a fixed length or grow by themselves. Stacks have several line sizes,
 * samples of lines, or are kept per thread. Then the outcome of every reference, of one stack and of private ones with
 * what they take from each other; then HP-RDA on the device against HP-RDA on the CPU, estimate and bounds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"
#include "base/rng.h"
#include "distance/exact/exact_state.h"
#include "distance/gpu/gpu_plugin.h"
#include "distance/hprda/hprda.h"
#include "multicore/coherent_stacks.h"
#include "multicore/gpu_losses.h"

extern const struct rsc_gpu_plugin *rsc_gpu_plugin(void);

struct wanted {
    uint64_t references, distinct, capped;
    uint64_t rd[RSC_GPU_BINS], ri[RSC_GPU_BINS];
};

#define THREADS 5u
static uint64_t thread_at(uint64_t number) { return number * number * 4095; } /* up to 16 bits */

static void *need(void *memory) {
    if (memory) return memory;
    fprintf(stderr, "gpu_check: out of memory\n");
    exit(1);
}

/* Counts `count` lines, which came at `times`, as one stack's. */
static void count_stack(struct wanted *wanted, const uint64_t *lines, const uint64_t *times, uint64_t count,
                        uint64_t cap) {
    struct rsc_exact exact;
    uint64_t *ri = need(malloc((count + 1) * sizeof *ri));
    uint32_t *rd = need(malloc((count + 1) * sizeof *rd));
    if (rsc_exact_init(&exact, rsc_simd_best(), 0) < 0 || rsc_exact_run(&exact, lines, (uint32_t)count, rd, ri) < 0)
        need(NULL);
    for (uint64_t i = 0; i < count; i++) {
        if (rd[i] == RSC_RD_COLD) continue;
        wanted->ri[rsc_bin_of_fine(times[i] - times[i - ri[i]])]++;
        if (cap && rd[i] >= cap) wanted->capped++;
        else wanted->rd[rsc_bin_of_fine(rd[i])]++;
    }
    wanted->references += count;
    wanted->distinct += rsc_exact_distinct(&exact);
    rsc_exact_free(&exact);
    free(ri);
    free(rd);
}

static void on_the_cpu(struct wanted *wanted, const uint64_t *words, uint64_t count,
                       const struct rsc_gpu_options *options, const struct rsc_gpu_stack *stack) {
    uint64_t *lines = need(malloc((count + 1) * sizeof *lines)), *times = need(malloc((count + 1) * sizeof *times));
    memset(wanted, 0, sizeof *wanted);
    for (uint64_t thread = 0; thread < (options->per_thread ? THREADS : 1); thread++) {
        uint64_t kept = 0, time = 0;
        for (uint64_t i = 0; i < count; i++) {
            if (options->per_thread && thread_at(thread) != words[i] >> 48) continue;
            uint64_t line = (options->per_thread ? words[i] << 16 >> 16 : words[i]) >> stack->line_shift;
            uint64_t hash = rsc_gpu_line_hash(line, stack->sample_seed), now = time++;
            if (stack->sampled && (hash < stack->sample_low || hash > stack->sample_high)) continue;
            lines[kept] = line;
            times[kept++] = now;
        }
        count_stack(wanted, lines, times, kept, options->rd_cap);
    }
    free(lines);
    free(times);
}

/* ---- outcomes ---- */

/* What came back, in order, and where it goes; tags are numbers of references. */
struct outcomes {
    uint32_t *rd, *last_tag;
    uint64_t *ri, taken;
    struct rsc_sharing *sharing; /* NULL: one stack */
};

static int keep_outcomes(void *context, const struct rsc_gpu_outcomes *outcomes) {
    struct outcomes *all = context;
    memcpy(all->rd + all->taken, outcomes->rd, outcomes->count * sizeof *all->rd);
    if (outcomes->last_tag)
        memcpy(all->last_tag + all->taken, outcomes->last_tag, outcomes->count * sizeof *all->last_tag);
    if (outcomes->ri) memcpy(all->ri + all->taken, outcomes->ri, outcomes->count * sizeof *all->ri);
    all->taken += outcomes->count;
    if (all->sharing) rsc_gpu_count_losses(all->sharing, outcomes, NULL);
    return 0;
}

static uint64_t awkward_size(struct rsc_rng *rng, uint64_t tile, uint64_t chunk, uint64_t most) {
    static const int off[] = {-1, 0, 1};
    uint64_t by = (uint64_t)(int64_t)off[rsc_rng_below(rng, 3)], size;
    switch (rsc_rng_below(rng, 10)) {
    case 0: size = rsc_rng_below(rng, 3); break;
    case 1: size = tile + by; break;
    case 2: size = 2 * tile + by; break;
    case 3: size = chunk + by; break;
    case 4: size = 2 * chunk - 1; break;
    case 5: size = 3 * chunk + by; break;
    case 6: size = 32 * (1 + rsc_rng_below(rng, 8)) + by; break;
    default: size = rsc_rng_below(rng, most + 1);
    }
    return size > most ? most : size;
}

static void fill(struct rsc_rng *rng, uint64_t *words, uint64_t count, uint32_t shift) {
    unsigned shape = (unsigned)rsc_rng_below(rng, 11);
    uint64_t lines = 1 + rsc_rng_below(rng, 2 * count + 2), at = 0;
    uint64_t base = rsc_rng_below(rng, 3) ? 0 : rsc_rng_u64(rng) >> (rsc_rng_below(rng, 2) ? 8 : 16);
    if (rsc_rng_below(rng, 2)) lines = 1 + rsc_rng_below(rng, 1 + lines / 8);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t line;
        switch (shape) {
        case 0: line = 7; break;                                            /* all equal */
        case 1: line = i; break;                                            /* all distinct */
        case 2: line = i % lines; break;                                    /* cycle */
        case 3: line = i % (2 * lines) < lines ? i % lines : lines - 1 - i % lines; break; /* there and back: chains */
        case 4: line = rsc_rng_below(rng, lines) * rsc_rng_below(rng, lines) / lines; break; /* hot lines */
        case 5: line = rsc_rng_below(rng, 8) ? 3 : rsc_rng_below(rng, lines); break;
        case 6: line = rsc_rng_below(rng, lines) << 16 << rsc_rng_below(rng, 3); break; /* a region each */
        case 7: line = rsc_rng_u64(rng) % 5 << 40 | rsc_rng_below(rng, lines); break; /* far apart */
        case 8: line = (at += rsc_rng_below(rng, 3)); break; /* slowly on */
        case 9: line = count - i; break;
        default: line = rsc_rng_below(rng, lines); break;
        }
        words[i] = base + (line << shift) + (shift ? rsc_rng_below(rng, 1u << shift) : 0);
    }
}

/* Of every six traces one is sampled, and one has a thread in each word. */
static void choose_lines(struct rsc_rng *rng, struct rsc_gpu_options *options, uint64_t *words, uint64_t count) {
    unsigned draw = (unsigned)rsc_rng_below(rng, 6);
    if (draw == 0) {
        uint64_t share = rsc_rng_below(rng, 4) ? UINT64_MAX / 8 : UINT64_MAX / 2;
        for (uint32_t i = 0; i < options->stack_count; i++) {
            uint64_t low = rsc_rng_below(rng, 2) ? 0 : share + i;
            struct rsc_gpu_stack sample = {options->stacks[i].line_shift, 1, low, low + share - 1, rsc_rng_u64(rng)};
            options->stacks[i] = sample;
        }
        if (rsc_rng_below(rng, 2)) options->stacks[options->stack_count - 1].sampled = 0;
    } else if (draw == 1) {
        uint64_t thread = 0;
        options->per_thread = 1;
        for (uint64_t i = 0; i < count; i++) {
            if (!rsc_rng_below(rng, 3)) thread = thread_at(rsc_rng_below(rng, THREADS));
            words[i] = words[i] << 16 >> 16 | thread << 48;
        }
    }
}

static int differ(const char *what, uint64_t got, uint64_t wanted) {
    if (got == wanted) return 0;
    fprintf(stderr, "gpu_check: %s: %" PRIu64 ", should be %" PRIu64 "\n", what, got, wanted);
    return 1;
}

static int compare(const struct rsc_gpu_result *got, const struct wanted *wanted) {
    int wrong = differ("references", got->references, wanted->references) |
                differ("distinct", got->distinct, wanted->distinct) | differ("capped", got->rd_capped, wanted->capped);
    for (uint32_t bin = 0; bin < RSC_GPU_BINS && !wrong; bin++) {
        char name[32];
        snprintf(name, sizeof name, "rd bin %u", bin);
        wrong |= differ(name, got->rd[bin], wanted->rd[bin]);
        snprintf(name, sizeof name, "ri bin %u", bin);
        wrong |= differ(name, got->ri[bin], wanted->ri[bin]);
    }
    return wrong;
}

/* Who used word i, as the upper half of an access's meta: kinds 0 to 4, of which 3 and 4 share a row, and 300 threads. */
static uint32_t who_of(uint64_t i) { return (uint32_t)((i * 0x9E3779B97F4A7C15ull >> 40) % 300 << 8 | i * 7 % 5); }

/* The words through the plugin in parts of any size, watched from word `from` on, as references of private stacks or (NULL)
 * of one; exits on failure. */
static void on_the_device(struct rsc_gpu_result *results, struct rsc_gpu_bounds *bounds, struct rsc_gpu_rows *rows,
                          const struct rsc_gpu_options *options, const uint64_t *words, uint64_t count,
                          const struct rsc_gpu_watch *watch, uint64_t from,
                          const struct rsc_private_references *private_ones, struct rsc_rng *rng) {
    const struct rsc_gpu_plugin *plugin = rsc_gpu_plugin();
    char message[RSC_GPU_MESSAGE_BYTES];
    void *session;
    int status = plugin->open(&session, options, message);
    if (!status && watch && !from) status = plugin->watch(session, watch, results, message);
    if (!status && !watch && !rsc_rng_below(rng, 4)) { /* all at once: chunks shrink towards the end */
        status = plugin->push(session, words, count, message);
        count = 0;
    }
    for (uint64_t done = 0; !status && done < count;) {
        struct rsc_gpu_block *block;
        if (watch && from && done == from) status = plugin->watch(session, watch, results, message);
        if (!status) status = plugin->block(session, &block, message);
        if (status) break;
        size_t part = 1 + (size_t)rsc_rng_below(rng, block->room);
        if (part > count - done) part = (size_t)(count - done);
        if (watch && done < from && part > from - done) part = (size_t)(from - done);
        memcpy(block->words, words + done, part * sizeof *words);
        for (size_t i = 0; block->tags && i < part; i++) block->tags[i] = (uint32_t)(done + i);
        for (size_t i = 0; i < part; i++) {
            const uint32_t who = private_ones ? private_ones->who[done + i] : 0;
            block->who[i] = private_ones ? who << 1 | who >> 31 : who_of(done + i);
        }
        if (private_ones) memcpy(block->bytes, private_ones->bytes + done, part * sizeof *block->bytes);
        status = plugin->send(session, block, part, message);
        done += part;
    }
    if (!status) status = plugin->finish(session, results, message);
    if (!status && bounds) status = plugin->bounds(session, bounds, message);
    if (!status && rows) status = plugin->rows(session, rows, message);
    if (status) {
        fprintf(stderr, "gpu_check: %s\n", message);
        exit(1);
    }
    plugin->close(session);
}

/* Rows of the words from `from` on, whose distances are rd. */
static int compare_rows(const struct rsc_gpu_rows *got, const uint32_t *rd, uint64_t cap, uint64_t from,
                        uint64_t length) {
    struct rsc_gpu_rows *wanted = need(calloc(1, sizeof *wanted));
    for (uint64_t i = from; i < length; i++) {
        const uint32_t who = who_of(i), thread = who >> 8, kind = (who & 0xff) < 3 ? who & 0xff : 3;
        const uint64_t distance = cap && rd[i] > cap ? cap : rd[i];
        uint64_t *fine = &wanted->kinds[kind].cold, *coarse = thread < 256 ? &wanted->threads[thread].cold : NULL;
        if (rd[i] != RSC_RD_COLD) {
            fine = &wanted->kinds[kind].rd[rsc_bin_of_fine(distance)];
            if (coarse) coarse = &wanted->threads[thread].rd[rsc_bin_of_coarse(distance)];
        }
        ++*fine;
        if (coarse) ++*coarse;
    }
    int wrong = memcmp(got, wanted, sizeof *wanted) != 0;
    if (wrong) fprintf(stderr, "gpu_check: rows differ\n");
    free(wanted);
    return wrong;
}

/* Every outcome from some word on, against the exact engine. Returns how many were compared; exits where they differ. */
static uint64_t check_outcomes(unsigned long number, uint64_t seed, uint64_t *words, uint64_t longest, uint64_t tile,
                               struct rsc_gpu_result *result) {
    struct rsc_rng rng;
    struct rsc_exact exact;
    rsc_rng_seed(&rng, seed + 1, number);
    struct rsc_gpu_options options = {
        .struct_bytes = sizeof options, .stack_count = 1, .no_ri = !rsc_rng_below(&rng, 4)};
    if (rsc_rng_below(&rng, 2)) options.chunk_words = 1 + rsc_rng_below(&rng, longest);
    if (!rsc_rng_below(&rng, 5)) options.rd_cap = 1 + rsc_rng_below(&rng, 500);
    uint64_t length = awkward_size(&rng, tile, options.chunk_words ? options.chunk_words : 4 * tile, longest);
    uint64_t from = rsc_rng_below(&rng, 2) ? 0 : rsc_rng_below(&rng, length + 1);
    struct outcomes all = {.rd = need(malloc((length + 1) * sizeof *all.rd)),
                           .last_tag = need(malloc((length + 1) * sizeof *all.last_tag)),
                           .ri = need(malloc((length + 1) * sizeof *all.ri))};
    struct rsc_gpu_watch watch = {
        .tags = !from, .intervals = rsc_rng_below(&rng, 2) != 0, .take = keep_outcomes, .context = &all};
    uint32_t *rd = need(malloc((length + 1) * sizeof *rd));
    uint64_t *ri = need(malloc((length + 1) * sizeof *ri));
    fill(&rng, words, length, 0);
    struct rsc_gpu_watch by_row = {.rows = 1};
    struct rsc_gpu_rows *rows = need(malloc(sizeof *rows));
    on_the_device(result, NULL, NULL, &options, words, length, &watch, from, NULL, &rng);
    on_the_device(result, NULL, rows, &options, words, length, &by_row, from, NULL, &rng);
    if (rsc_exact_init(&exact, rsc_simd_best(), 0) < 0 || rsc_exact_run(&exact, words, (uint32_t)length, rd, ri) < 0)
        need(NULL);
    int wrong = differ("outcomes", all.taken, from < length ? length - from : 0) |
                differ("distinct", result->distinct, rsc_exact_distinct(&exact)) |
                (from < length && compare_rows(rows, rd, options.rd_cap, from, length));
    for (uint64_t i = from; i < length && !wrong; i++) {
        const int first = rd[i] == RSC_RD_COLD;
        wrong |= differ("distance", all.rd[i - from], rd[i]);
        if (watch.tags) wrong |= differ("tag", all.last_tag[i], first ? 0 : i - ri[i]);
        if (watch.intervals) wrong |= differ("interval", all.ri[i - from], first ? 0 : ri[i]);
    }
    if (wrong) {
        fprintf(stderr, "gpu_check: seed %" PRIu64 ", outcomes of trace %lu: %" PRIu64 " words from %" PRIu64 " on\n",
                seed, number, length, from);
        exit(1);
    }
    rsc_exact_free(&exact);
    free(all.rd);
    free(all.last_tag);
    free(all.ri);
    free(rd);
    free(ri);
    free(rows);
    return length - from;
}

/* ---- private stacks ---- */

/* Stacks that take lines from each other more or less often; few bytes of a line, or all. */
static void draw_references(struct rsc_private_references *references, struct rsc_rng *rng) {
    uint64_t *bytes = need(malloc((references->count + 1ull) * sizeof *bytes));
    uint32_t *who = need(malloc((references->count + 1ull) * sizeof *who));
    uint32_t *tags = need(malloc((references->count + 1ull) * sizeof *tags)), stack = 0;
    const uint64_t stacks = 1 + rsc_rng_below(rng, rsc_rng_below(rng, 4) ? 6 : 90);
    const uint64_t writes = rsc_rng_below(rng, 101), stays = 1 + rsc_rng_below(rng, rsc_rng_below(rng, 2) ? 3 : 200);
    for (uint32_t i = 0; i < references->count; i++) {
        if (!rsc_rng_below(rng, stays)) stack = (uint32_t)rsc_rng_below(rng, stacks);
        who[i] = stack | (rsc_rng_below(rng, 100) < writes ? RSC_PRIVATE_WRITES : 0);
        bytes[i] = rsc_rng_below(rng, 30) ? 0xffull << 8 * rsc_rng_below(rng, 8) : ~0ull;
        tags[i] = i;
    }
    references->bytes = bytes;
    references->who = who;
    references->tags = tags;
}

/* The exact engine's stacks; stacks are numbered as they come there, but any numbers will do. */
static void stacks_on_the_cpu(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references,
                              uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    if (rsc_coherent_stacks_init(stacks, rsc_simd_best(), 0, 0) < 0) need(NULL);
    for (uint32_t i = 0; i < 90; i++)
        if (rsc_coherent_stacks_add(stacks) == UINT32_MAX) need(NULL);
    for (uint32_t done = 0; done < references->count; done += RSC_PRIVATE_BLOCK) {
        const uint32_t left = references->count - done;
        struct rsc_private_references part = {references->lines + done, references->who + done,
                                              references->bytes + done, references->tags + done,
                                              left < RSC_PRIVATE_BLOCK ? left : RSC_PRIVATE_BLOCK};
        if (rsc_coherent_stacks_run(stacks, &part, rd + done, ri + done, last_tag + done) < 0) need(NULL);
        rsc_sharing_name(&stacks->sharing, NULL);
    }
}

static int compare_sharing(const struct rsc_sharing *got, const struct rsc_sharing *wanted) {
    return differ("cells", got->cells.used, wanted->cells.used) | differ("lines", got->table.used, wanted->table.used) |
           differ("matrix", memcmp(got->few, wanted->few, sizeof got->few) != 0, 0) |
           differ("shared lines", memcmp(got->lines, wanted->lines, RSC_SHARING_LINES * sizeof *got->lines) != 0, 0);
}

/* Returns how many references were compared; exits where they differ. */
static uint64_t check_private(unsigned long number, uint64_t seed, uint64_t *words, uint64_t longest, uint64_t tile,
                              struct rsc_gpu_result *result) {
    struct rsc_rng rng;
    struct rsc_coherent_stacks stacks;
    struct rsc_sharing sharing;
    rsc_rng_seed(&rng, seed + 3, number);
    struct rsc_gpu_options options = {.struct_bytes = sizeof options, .stack_count = 1, .private_stacks = 1};
    if (rsc_rng_below(&rng, 2))
        options.chunk_words = 1 + rsc_rng_below(&rng, longest / (1 + rsc_rng_below(&rng, 8)) + 1);
    uint64_t length = awkward_size(&rng, tile, options.chunk_words ? options.chunk_words : 4 * tile, longest);
    fill(&rng, words, length, 0);
    for (uint64_t i = 0; i < length; i++) words[i] >>= 6; /* lines of a stack end at 2^58 */
    struct rsc_private_references references = {.lines = words, .count = (uint32_t)length};
    draw_references(&references, &rng);
    struct outcomes all = {.rd = need(malloc((length + 1) * sizeof *all.rd)),
                           .last_tag = need(malloc((length + 1) * sizeof *all.last_tag)),
                           .ri = need(malloc((length + 1) * sizeof *all.ri)),
                           .sharing = &sharing};
    struct rsc_gpu_watch watch = {.tags = 1, .intervals = 1, .take = keep_outcomes, .context = &all};
    uint32_t *rd = need(malloc((length + 1) * sizeof *rd)), *last_tag = need(malloc((length + 1) * sizeof *last_tag));
    uint64_t *ri = need(malloc((length + 1) * sizeof *ri));
    if (rsc_sharing_init(&sharing) < 0) need(NULL);
    stacks_on_the_cpu(&stacks, &references, rd, ri, last_tag);
    on_the_device(result, NULL, NULL, &options, words, length, &watch, 0, &references, &rng);
    int wrong = differ("outcomes", all.taken, length) | differ("distinct", result->distinct, stacks.copies.lines) |
                compare_sharing(&sharing, &stacks.sharing);
    for (uint64_t i = 0; i < length && !wrong; i++)
        wrong = differ("distance", all.rd[i], rd[i]) | differ("tag", all.last_tag[i], last_tag[i]) |
                differ("interval", all.ri[i], ri[i]);
    if (wrong) {
        fprintf(stderr,
                "gpu_check: seed %" PRIu64 ", private stacks of trace %lu: %" PRIu64 " words in chunks of %" PRIu64
                "\n",
                seed, number, length, options.chunk_words);
        exit(1);
    }
    rsc_coherent_stacks_free(&stacks);
    rsc_sharing_free(&sharing);
    free((void *)references.bytes);
    free((void *)references.who);
    free((void *)references.tags);
    free(all.rd);
    free(all.last_tag);
    free(all.ri);
    free(rd);
    free(last_tag);
    free(ri);
    return length;
}

/* ---- HP-RDA ---- */

static int differ_in_bins(const char *what, const uint64_t *got, const struct rsc_histogram *wanted) {
    for (uint32_t bin = 0; bin < RSC_GPU_BINS; bin++) {
        char name[32];
        snprintf(name, sizeof name, "%s bin %u", what, bin);
        if (differ(name, got[bin], wanted->count[bin])) return 1;
    }
    return 0;
}

static int compare_hprda(const struct rsc_gpu_result *got, const struct rsc_gpu_bounds *bounds,
                         const struct rsc_hprda *wanted) {
    return differ("references", got->references, wanted->references) |
           differ("distinct", got->distinct, wanted->distinct) |
           differ("fragments", bounds->fragments, wanted->fragment_counts.count) |
           differ_in_bins("estimate", got->rd, &wanted->sums.estimate) |
           differ_in_bins("low", bounds->low, &wanted->sums.low) |
           differ_in_bins("high", bounds->high, &wanted->sums.high);
}

/* Local traces, fragments and groups of any length: a trace is some of each. */
static struct rsc_gpu_hprda_options draw_hprda(struct rsc_rng *rng, uint64_t longest) {
    struct rsc_gpu_hprda_options hprda = {.on = 1, .no_adjust = !rsc_rng_below(rng, 3)};
    hprda.local = 2 + (uint32_t)rsc_rng_below(rng, rsc_rng_below(rng, 2) ? 30 : 300);
    if (rsc_rng_below(rng, 3)) hprda.fragment = 1 + (uint32_t)rsc_rng_below(rng, longest);
    if (rsc_rng_below(rng, 2)) hprda.group = 1 + (uint32_t)rsc_rng_below(rng, longest);
    if (!rsc_rng_below(rng, 16)) hprda.local = rsc_rng_below(rng, 2) ? 0 : 2048; /* 0: the default, the same */
    return hprda;
}

/* Returns how many references were compared; exits where they differ. */
static uint64_t check_hprda(unsigned long number, uint64_t seed, uint64_t *words, uint64_t longest,
                            struct rsc_gpu_result *result, struct rsc_gpu_bounds *bounds) {
    struct rsc_rng rng;
    struct rsc_hprda hprda;
    rsc_rng_seed(&rng, ~seed, number);
    struct rsc_gpu_options options = {.struct_bytes = sizeof options, .stack_count = 1, .stacks = {{.line_shift = 6}}};
    if (rsc_rng_below(&rng, 2)) options.chunk_words = 1 + rsc_rng_below(&rng, longest);
    options.hprda = draw_hprda(&rng, longest);
    options.memory_bytes = 512 << 20; /* a group for short traces, not for a whole fragment */
    uint64_t length =
        awkward_size(&rng, 64 * options.hprda.local, options.hprda.fragment ? options.hprda.fragment : 1000, longest);
    fill(&rng, words, length, rsc_rng_below(&rng, 8) ? 6 : 4); /* 4: four lines to one, runs */
    on_the_device(result, bounds, NULL, &options, words, length, NULL, 0, NULL, &rng);
    const struct rsc_hprda_options wanted = {
        .local = options.hprda.local, .fragment = options.hprda.fragment, .no_adjust = (int)options.hprda.no_adjust};
    if (rsc_hprda_init(&hprda, &wanted) < 0) need(NULL);
    for (uint64_t i = 0; i < length; i++) words[i] >>= 6;
    if (rsc_hprda_push(&hprda, words, (uint32_t)length) < 0 || rsc_hprda_finish(&hprda) < 0) need(NULL);
    if (compare_hprda(result, bounds, &hprda)) {
        fprintf(stderr,
                "gpu_check: seed %" PRIu64 ", hp-rda trace %lu: %" PRIu64
                " words, local %u, fragment %u, group %u, no_adjust %u\n",
                seed, number, length, options.hprda.local, options.hprda.fragment, options.hprda.group,
                options.hprda.no_adjust);
        exit(1);
    }
    rsc_hprda_free(&hprda);
    return length;
}

int main(int count, char **arguments) {
    const char *wished = getenv("RSC_PROPERTY_TRACES");
    unsigned long traces = count > 1 ? strtoul(arguments[1], NULL, 10) : wished ? strtoul(wished, NULL, 10) : 1000;
    uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    uint64_t longest = count > 3 ? strtoull(arguments[3], NULL, 10) : 3000;
    uint64_t tile = getenv("RSC_GPU_CHECK_TILE") ? strtoull(getenv("RSC_GPU_CHECK_TILE"), NULL, 10) : 256;
    struct wanted *wanted = need(malloc(sizeof *wanted));
    struct rsc_gpu_result *results = need(malloc(RSC_GPU_STACKS_MAX * sizeof *results));
    uint64_t *words = need(malloc((longest + 1) * sizeof *words)), references = 0;
    for (unsigned long t = 0; t < traces; t++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, t);
        struct rsc_gpu_options options = {
            .struct_bytes = sizeof options, .stack_count = 1, .stacks = {{.line_shift = 6}}};
        if (rsc_rng_below(&rng, 3))
            options.chunk_words = 1 + rsc_rng_below(&rng, longest / (1 + rsc_rng_below(&rng, 8)) + 1);
        if (!rsc_rng_below(&rng, 4)) options.chunk_words = tile * (1 + rsc_rng_below(&rng, 3));
        if (!rsc_rng_below(&rng, 5)) options.rd_cap = 1 + rsc_rng_below(&rng, 500);
        if (!rsc_rng_below(&rng, 8)) options.stacks[0].line_shift = (uint32_t)rsc_rng_below(&rng, 13);
        if (!rsc_rng_below(&rng, 4)) options.stacks[options.stack_count++].line_shift = 12;
        if (!rsc_rng_below(&rng, 8)) options.stacks[options.stack_count++].line_shift = 0;
        uint64_t length = awkward_size(&rng, tile, options.chunk_words ? options.chunk_words : 4 * tile, longest);
        fill(&rng, words, length, 6);
        choose_lines(&rng, &options, words, length);
        on_the_device(results, NULL, NULL, &options, words, length, NULL, 0, NULL, &rng);
        for (uint32_t i = 0; i < options.stack_count; i++) {
            on_the_cpu(wanted, words, length, &options, &options.stacks[i]);
            if (compare(&results[i], wanted)) {
                fprintf(stderr,
                        "gpu_check: seed %" PRIu64 ", trace %lu: %" PRIu64 " words in chunks of %" PRIu64
                        ", line %u%s%s\n",
                        seed, t, length, options.chunk_words, 1u << options.stacks[i].line_shift,
                        options.stacks[i].sampled ? ", sampled" : "", options.per_thread ? ", per thread" : "");
                return 1;
            }
        }
        references += length * options.stack_count;
    }
    printf("%lu traces, %" PRIu64 " references: identical\n", traces, references);
    references = 0;
    for (unsigned long t = 0; t < traces; t++) references += check_outcomes(t, seed, words, longest, tile, results);
    printf("outcomes: %lu traces, %" PRIu64 " references: identical\n", traces, references);
    references = 0;
    for (unsigned long t = 0; t < traces; t++) references += check_private(t, seed, words, longest, tile, results);
    printf("private stacks: %lu traces, %" PRIu64 " references: identical\n", traces, references);
    struct rsc_gpu_bounds *bounds = need(malloc(sizeof *bounds));
    references = 0;
    for (unsigned long t = 0; t < traces; t++) references += check_hprda(t, seed, words, longest, results, bounds);
    printf("hp-rda: %lu traces, %" PRIu64 " references: identical\n", traces, references);
    free(bounds);
    free(wanted);
    free(results);
    free(words);
    return 0;
}
