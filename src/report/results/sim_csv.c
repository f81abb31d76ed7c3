/*
 * sim_csv.c - a simulation as a table, one row per cache.
 *
 * TLBs follow the caches, a row for each and for each page size. Columns:
 *     name, config, alternative      the cache; alternative n is the nth other of its name
 *     accesses, misses, writebacks   counted; in a sampled simulation, in the sample
 *     local_miss_ratio, global_miss_ratio, mpki     misses per access of the cache, per
 *                                    reference, per thousand instructions; empty: not known
 *     estimate, low, high            for a sample: misses per thousand instructions (accesses
 *                                    if instructions are not known) of the whole trace
 */
#include <inttypes.h>
#include <math.h>

#include "base/fail.h"
#include "report/draw/text_buffer.h"
#include "report/results/results.h"

static void put_number(struct rsc_text *text, double value) {
    if (isfinite(value)) rsc_text_put(text, ",%.10g", value);
    else rsc_text_put(text, ",");
}

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

int rsc_sim_csv(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                struct rsc_error *error) {
    const struct rsc_sim_result *result = of->sim;
    struct rsc_text out;
    (void)style;
    rsc_text_init(&out, 1, 0);
    rsc_text_put(&out, "name,config,alternative,accesses,misses,writebacks,local_miss_ratio,global_miss_ratio,mpki,"
                       "estimate,low,high\n");
    for (size_t i = 0; i < result->level_count; i++) {
        const struct rsc_sim_level_result *level = &result->levels[i];
        const struct rsc_estimate *estimate = level->estimate;
        uint64_t accesses = rsc_kinds_sum(level->counts.accesses), misses = rsc_kinds_sum(level->counts.misses);
        rsc_text_put(&out, "%s,\"%s\",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64, level->cache.name, level->cache.text,
                     level->alternative, accesses, misses, level->counts.writebacks);
        put_number(&out, ratio(misses, accesses));
        put_number(&out, ratio(misses, result->references));
        put_number(&out, 1000 * (estimate ? rsc_estimate_mpi(estimate) : rsc_sim_mpi(result, level)));
        put_number(&out, estimate ? 1000 * estimate->mpi : NAN);
        put_number(&out, estimate ? 1000 * estimate->low : NAN);
        put_number(&out, estimate ? 1000 * estimate->high : NAN);
        rsc_text_put(&out, "\n");
    }
    for (size_t i = 0; i < result->page_count; i++)
        for (size_t k = 0; k < result->pages[i].tlb_count; k++) {
            const struct rsc_sim_tlb_result *tlb = &result->pages[i].tlbs[k];
            uint64_t accesses = rsc_kinds_sum(tlb->accesses), misses = rsc_kinds_sum(tlb->misses);
            rsc_text_put(&out, "%s,\"%s\",0,%" PRIu64 ",%" PRIu64 ",0", tlb->tlb.name, tlb->tlb.text, accesses, misses);
            put_number(&out, ratio(misses, accesses));
            put_number(&out, ratio(misses, result->references));
            put_number(&out, result->instructions == RSC_UNKNOWN ? NAN : 1000 * ratio(misses, result->instructions));
            rsc_text_put(&out, ",,,\n");
        }
    return rsc_text_take(&out, text, bytes) < 0 ? rsc_fail_memory(error, "CSV") : 0;
}
