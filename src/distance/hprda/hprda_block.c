/* hprda_block.c - the local traces of a block, and their merging; see hprda_block.h. */
#include "distance/hprda/hprda_block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/cpu.h"

#define TABLE_FIRST 2048u

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

int rsc_hprda_work_init(struct rsc_hprda_work *work, uint32_t local) {
    uint32_t block = local * RSC_HPRDA_BLOCK_TRACES;
    memset(work, 0, sizeof *work);
    work->local = local;
    work->analyse_local = RSC_WIDE_PICK(rsc_simd_best(), rsc_hprda_local);
    work->bits = calloc(local / 64 + 1, sizeof *work->bits);
    work->owner = malloc(local * sizeof *work->owner);
    work->infos = malloc(block * sizeof *work->infos);
    work->lines = malloc(block * sizeof *work->lines);
    if (work->bits && work->owner && work->infos && work->lines && rsc_u64_table_init(&work->table, TABLE_FIRST) == 0 &&
        rsc_hprda_tally_init(&work->tally, local, block) == 0)
        return 0;
    rsc_hprda_work_free(work);
    return RSC_ENOMEM;
}

void rsc_hprda_work_free(struct rsc_hprda_work *work) {
    rsc_u64_table_free(&work->table);
    free(work->bits);
    free(work->owner);
    free(work->infos);
    free(work->lines);
    rsc_hprda_spans_free(&work->counts);
    rsc_hprda_tally_free(&work->tally);
    memset(work, 0, sizeof *work);
}

void rsc_hprda_block_free(struct rsc_hprda_block *block) {
    free(block->nodes);
    memset(block, 0, sizeof *block);
}

/* Makes an empty table for the next block. A table much larger than the last block needed is freed: clearing it
 * costs too. */
static int clear_table(struct rsc_u64_table *table) {
    uint64_t used = table->used;
    if (used < table->mask / 16 && table->mask / 16 > TABLE_FIRST) {
        rsc_u64_table_free(table);
        return rsc_u64_table_init(table, used);
    }
    memset(table->entries, 0, rsc_u64_table_bytes(table));
    table->used = 0;
    return 0;
}

static int analyse_locals(struct rsc_hprda_work *work, const uint64_t *references, uint32_t count) {
    if (clear_table(&work->table) < 0) return RSC_ENOMEM;
    rsc_hprda_spans_clear(&work->counts);
    work->line_count = work->info_count = 0;
    for (uint32_t start = 0; start < count; start += work->local) {
        uint32_t length = count - start < work->local ? count - start : work->local;
        work->info_start[work->counts.count] = work->info_count;
        uint32_t before = work->info_count;
        if (work->analyse_local(work, references + start, length, start) < 0) return RSC_ENOMEM;
        if (rsc_hprda_spans_add(&work->counts, work->info_count - before) < 0) return RSC_ENOMEM;
    }
    work->info_start[work->counts.count] = work->info_count;
    return 0;
}

/* Formula 1 between the local traces of the block. */
static void merge_locals(struct rsc_hprda_work *work) {
    const struct rsc_hprda_spans *counts = &work->counts;
    struct rsc_hprda_tally *tally = &work->tally;
    for (uint32_t trace = 0; trace < counts->count; trace++) {
        for (uint32_t i = work->info_start[trace]; i < work->info_start[trace + 1]; i++) {
            struct rsc_hprda_info info = work->infos[i];
            struct rsc_hprda_line *line = &work->lines[info.line];
            uint32_t between = (uint32_t)rsc_hprda_span_sum(counts, line->trace, trace);
            uint32_t most = larger(rsc_hprda_span_most(counts, line->trace, trace), info.first);
            if (line->trace) {
                uint32_t distance = line->latest + between + info.first;
                uint32_t high = distance < work->line_count ? distance : work->line_count - 1;
                tally->merged[distance]++;
                tally->low.count[rsc_bin_of_fine(larger(most, line->latest))]++;
                tally->high.count[rsc_bin_of_fine(high)]++;
            } else {
                line->first = between + info.first;
                line->first_low = most;
            }
            line->trace = trace + 1;
            line->latest = info.latest;
        }
    }
}

/* Nodes of the block's lines, by part. */
static int leave_nodes(struct rsc_hprda_work *work, struct rsc_hprda_block *block) {
    const struct rsc_hprda_spans *counts = &work->counts;
    uint32_t next[RSC_HPRDA_PARTS] = {0}, sum = 0;
    if (work->line_count > block->room) {
        free(block->nodes);
        block->nodes = malloc(work->line_count * sizeof *block->nodes);
        block->room = block->nodes ? work->line_count : 0;
        if (!block->nodes) return RSC_ENOMEM;
    }
    for (uint32_t i = 0; i < work->line_count; i++) next[rsc_hprda_part(work->lines[i].line)]++;
    for (uint32_t part = 0; part < RSC_HPRDA_PARTS; part++) {
        uint32_t size = next[part];
        block->start[part] = next[part] = sum;
        sum += size;
    }
    block->start[RSC_HPRDA_PARTS] = sum;
    for (uint32_t i = 0; i < work->line_count; i++) {
        const struct rsc_hprda_line *line = &work->lines[i];
        block->nodes[next[rsc_hprda_part(line->line)]++] = (struct rsc_hprda_node){
            .line = line->line,
            .first = line->first,
            .first_low = line->first_low,
            .latest = line->latest + (uint32_t)rsc_hprda_span_sum(counts, line->trace, counts->count),
            .latest_low = larger(line->latest, rsc_hprda_span_most(counts, line->trace, counts->count)),
        };
    }
    block->distinct = work->line_count;
    block->local_counts = rsc_hprda_span_sum(counts, 0, counts->count);
    return 0;
}

int rsc_hprda_block_run(struct rsc_hprda_work *work, struct rsc_hprda_block *block, const uint64_t *references,
                        uint32_t count) {
    assert(count > 0 && count <= work->local * RSC_HPRDA_BLOCK_TRACES);
    double begun = rsc_hprda_clock();
    int status = analyse_locals(work, references, count);
    double analysed = rsc_hprda_clock();
    work->local_seconds += analysed - begun;
    if (status < 0) return status;
    merge_locals(work);
    status = leave_nodes(work, block);
    work->merge_seconds += rsc_hprda_clock() - analysed;
    return status;
}
