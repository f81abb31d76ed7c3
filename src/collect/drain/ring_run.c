/* ring_run.c - see ring_run.h. */
#include "collect/drain/ring_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"

#define WAIT_MS 20u

int rsc_ring_run_start(struct rsc_collector *collector, struct rsc_error *error) {
    const struct rsc_collect_request *request = collector->request;
    struct rsc_ring_run *run = collector->state = calloc(1, sizeof *run);
    if (!run) return rsc_fail_memory(error, "collector");
    int status = rsc_drain_new(&run->drain, collector->launch.ring, error);
    if (!status && request->roi_function)
        status = rsc_roi_open(&run->roi, request->target->path, request->roi_function, error);
    if (!status && !request->follow) rsc_drain_set_one_process(run->drain);
    return status;
}

size_t rsc_ring_run_roi(const struct rsc_collector *collector) {
    const struct rsc_roi *roi = &((const struct rsc_ring_run *)collector->state)->roi;
    return roi->program_count ? roi->programs[0].named : 0;
}

int rsc_ring_run_next(struct rsc_collector *collector, struct rsc_batch *batch, struct rsc_batch_columns *columns,
                      struct rsc_error *error) {
    struct rsc_ring_run *run = collector->state;
    int status = rsc_drain_next(run->drain, run->ended, batch, error);
    if (status < 0) return status;
    if (status > 0) {
        rsc_drain_columns(run->drain, columns);
        return RSC_COLLECT_BATCH;
    }
    if (run->ended) return RSC_COLLECT_ENDED;
    run->ended = rsc_launch_poll(&collector->launch);
    /* Recorded children may outlive the program. */
    if (run->ended && collector->request->follow && rsc_drain_living(run->drain)) run->ended = 0;
    if (!run->ended) rsc_drain_wait(run->drain, WAIT_MS);
    return RSC_COLLECT_NOTHING;
}

int rsc_ring_run_finish(struct rsc_collector *collector, struct rsc_whole_run *whole, struct rsc_error *error) {
    const struct rsc_ring_run *run = collector->state;
    (void)error;
    rsc_drain_get_whole(run->drain, whole);
    return 0;
}

void rsc_ring_run_close(struct rsc_collector *collector) {
    struct rsc_ring_run *run = collector->state;
    if (!run) return;
    rsc_drain_free(run->drain);
    rsc_roi_close(&run->roi);
    free(run);
    collector->state = NULL;
}

/* What the bars of shared and invalidated references come from. */
static void describe_order(struct rsc_run_facts *facts, const struct rsc_drain_stats *stats) {
    const struct rsc_order_bounds *order = &stats->order;
    uint64_t uncertain = order->references - order->bin[0].references;
    if (stats->threads < 2 || !uncertain) return;
    rsc_facts_add(
        facts,
        RSC_DETAIL
        "order of threads: certain at synchronisations; in between known to %.1f us on average, so that 90 %% "
        "of references have their place to within %.0f of other threads; %.2f %% may be invalidated or not",
        order->time_ns / (double)uncertain / 1e3, rsc_order_bounds_quantile(order, 0.9),
        order->recorded ? 100 * (double)order->conflicts / (double)order->recorded : 0);
}

void rsc_ring_run_describe(const struct rsc_collector *collector, struct rsc_run_facts *facts,
                           struct rsc_drain_stats *stats) {
    const struct rsc_ring_run *run = collector->state;
    double seconds = collector->launch.seconds;
    rsc_drain_get_stats(run->drain, stats);
    *facts = (struct rsc_run_facts){.accesses = stats->accesses,
                                    .threads = stats->threads,
                                    .instructions = stats->instructions + stats->unrecorded_instructions,
                                    .coverage = NAN};
    rsc_facts_add(
        facts,
        RSC_DETAIL "%.1f s, %.1f million accesses by %llu thread%s in %.1f million instructions, %.1f M accesses/s",
        seconds, (double)stats->accesses / 1e6, (unsigned long long)stats->threads, stats->threads == 1 ? "" : "s",
        (double)stats->instructions / 1e6, (double)stats->accesses / seconds / 1e6);
    describe_order(facts, stats);
}

static double seconds_of(const struct timeval *time) { return (double)time->tv_sec + 1e-6 * (double)time->tv_usec; }

struct rsc_ring_waited rsc_ring_run_waited(const struct rsc_collector *collector, const struct rsc_drain_stats *stats) {
    const struct rsc_launch *launch = &collector->launch;
    const double waited = 1e-9 * (double)stats->waited_ns;
    const double ran = seconds_of(&launch->usage.ru_stime) + seconds_of(&launch->usage.ru_utime);
    struct rsc_ring_waited said;
    int length = snprintf(said.text, sizeof said.text, "its threads together waited %.1f s for the analysis", waited);
    if (ran > 0) /* not of a program that goes on */
        snprintf(said.text + length, sizeof said.text - (size_t)length, ", %.0f %% of that and their processor time",
                 100 * waited / (waited + ran));
    return said;
}

void rsc_ring_run_describe_cpu(const struct rsc_collector *collector, struct rsc_run_facts *facts,
                               struct rsc_drain_stats *stats) {
    const struct rsc_launch *launch = &collector->launch;
    double kernel = seconds_of(&launch->usage.ru_stime), all = kernel + seconds_of(&launch->usage.ru_utime);
    rsc_ring_run_describe(collector, facts, stats);
    facts->coverage = facts->instructions ? fmin(1, (double)stats->instructions / (double)facts->instructions) : 1;
    rsc_facts_add(
        facts,
        RSC_DETAIL "%s; unseen: %.1f %% of its instructions, and its time in the kernel (%.0f %% of processor time)",
        rsc_ring_run_waited(collector, stats).text, 100 * (1 - facts->coverage), all > 0 ? 100 * kernel / all : 0);
}

void rsc_ring_run_warn(const struct rsc_collector *collector, struct rsc_run_facts *facts,
                       const struct rsc_drain_stats *stats) {
    const struct rsc_ring *ring = collector->launch.ring;
    const struct rsc_collect_request *request = collector->request;
    const size_t named = rsc_ring_run_roi(collector);
    uint64_t forks = request->follow ? 0 : ring->forks;
    if (stats->overwritten)
        rsc_facts_add(facts,
                      "warning: the program wrote over the memory it shares with the tool: recording ended there");
    if (stats->late)
        rsc_facts_add(facts, "%llu of %llu blocks came out of order (threads more than 20 ms apart)",
                      (unsigned long long)stats->late, (unsigned long long)stats->blocks);
    if (ring->execs || forks) {
        char children[64] = "", programs[64] = "";
        if (forks)
            snprintf(children, sizeof children, "%llu forked child%s", (unsigned long long)forks,
                     forks == 1 ? "" : "ren");
        if (ring->execs)
            snprintf(programs, sizeof programs, "%llu program%s it started", (unsigned long long)ring->execs,
                     ring->execs == 1 ? "" : "s");
        rsc_facts_add(facts, "warning: not watched: %s%s%s (--follow watches %s)", children,
                      forks && ring->execs ? ", " : "", programs, forks + ring->execs == 1 ? "it" : "them");
    }
    facts->threads_unseen = ring->crowded_out;
    if (ring->crowded_out)
        rsc_facts_add(facts, "warning: %u threads were not seen: more than %u at a time", ring->crowded_out,
                      rsc_ring_slots(ring));
    if (stats->maps_lost)
        rsc_facts_add(facts,
                      "warning: %llu reports of mapped files were lost: code and data in these files have no names",
                      (unsigned long long)stats->maps_lost);
    if (stats->processes_mixed)
        rsc_facts_add(
            facts, "warning: more than 65535 processes: the memory of those after the first 65534 is counted as one");
    if (request->roi_marked && !stats->accesses)
        rsc_facts_add(facts, "warning: nothing seen: marked: reusescope_begin() was not called");
    if (request->roi_function && !stats->accesses)
        rsc_facts_add(
            facts,
            "warning: nothing seen: %.200s was not called, was inlined, or is not a function of the program itself",
            request->roi_function);
    if (named > 1)
        rsc_facts_add(facts, "warning: the program has %zu functions named %.200s: the region is all of them", named,
                      request->roi_function);
    if (request->roi_function && stats->calls_lost + ring->calls_lost)
        rsc_facts_add(facts, "warning: %llu calls were too deep to follow: more than %.200s may be counted",
                      (unsigned long long)(stats->calls_lost + ring->calls_lost), request->roi_function);
    if (stats->left)
        rsc_facts_add(facts, "warning: %llu threads of children with a session of their own run on, unwatched",
                      (unsigned long long)stats->left);
}
