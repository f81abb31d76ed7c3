/*
 * collector_rebuilt.c - a program built with `reusescope cc`, which records itself (runtime/recorder/): every access,
 * the references to a sample of lines, or finished samples of references.
 */
#include <math.h>

#include "base/fail.h"
#include "collect/drain/ring_run.h"
#include "collect/launch/attach.h"
#include "collect/launch/rebuilt_launch.h"

static int check(const struct rsc_collect_request *request, struct rsc_error *error) {
    if (request->strict)
        return rsc_fail(error, RSC_EINVAL,
                        "--order strict needs --with qemu: rebuilt programs run their threads as they come");
    if (request->quantum)
        return rsc_fail(error, RSC_EINVAL,
                        "--quantum needs --with valgrind: rebuilt programs run their threads at the same time");
    /*
     * If requested by name, the program may be a script that starts a rebuilt program, or one that loads a rebuilt
     * library.
     */
    if (!request->target->rebuilt && !request->by_name)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: not built with reusescope cc", request->target->path);
    return 0;
}

static int start(struct rsc_collector *collector, struct rsc_error *error) {
    const struct rsc_collect_request *request = collector->request;
    rsc_rebuilt_prepare(&collector->launch, request);
    int status = rsc_ring_run_start(collector, error);
    if (!status && request->attach_to)
        status = rsc_attach_start(&collector->launch, request->attach_to, request->attach_seconds,
                                  request->attach_patience, error);
    else if (!status) status = rsc_rebuilt_launch(&collector->launch, request, error);
    if (status < 0) return status;
    struct rsc_ring_run *run = collector->state;
    if (request->roi_function) rsc_drain_set_region(run->drain, &run->roi);
    rsc_drain_set_most(run->drain, request->length);
    return 0;
}

static int finish(struct rsc_collector *collector, struct rsc_whole_run *whole, struct rsc_error *error) {
    if (!collector->launch.ring->images)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "%s: nothing that it ran was built with reusescope cc (of this version)",
                        collector->request->target->path);
    int status = rsc_ring_run_finish(collector, whole, error);
    whole->goes_on = collector->launch.let_go;
    return status;
}

static void describe(const struct rsc_collector *collector, struct rsc_run_facts *facts) {
    const struct rsc_ring *ring = collector->launch.ring;
    struct rsc_drain_stats stats;
    rsc_ring_run_describe(collector, facts, &stats);
    facts->coverage = rsc_rebuilt_coverage(ring);
    const struct rsc_ring_waited waited = rsc_ring_run_waited(collector, &stats);
    double unseen = 1 - facts->coverage;
    if (isnan(unseen))
        rsc_facts_add(facts,
                      RSC_DETAIL "%s; unseen: the run was too short to measure the share of code that was not rebuilt",
                      waited.text);
    else
        rsc_facts_add(facts,
                      RSC_DETAIL
                      "%s; unseen: %.0f %% of its processor time was in code that was not rebuilt (%llu samples)",
                      waited.text, 100 * unseen, (unsigned long long)ring->samples);
    if (unseen > 0.1)
        rsc_facts_add(
            facts,
            "warning: %.0f %% of the processor time is not in the result: rebuild those libraries with reusescope cc too, or use --with qemu",
            100 * unseen);
    if (collector->request->roi_marked)
        rsc_facts_add(facts, "the last thread started recording %.1f ms late", 1e-6 * (double)ring->lag_ns);
    if (stats.unknown)
        rsc_facts_add(facts, "warning: %llu records are corrupt (overwritten by the program?)",
                      (unsigned long long)stats.unknown);
    if (ring->modules_lost)
        rsc_facts_add(facts,
                      "warning: %llu libraries were not watched: there are too many, or their tables are too large",
                      (unsigned long long)ring->modules_lost);
    rsc_ring_run_warn(collector, facts, &stats);
}

const struct rsc_collector_kind rsc_collector_rebuilt = {
    .name = "asm",
    .gives = 1u << RSC_TAKES_ACCESSES | 1u << RSC_TAKES_LINES | 1u << RSC_TAKES_SAMPLES,
    .samples_by_default = 1,
    .check = check,
    .start = start,
    .next = rsc_ring_run_next,
    .finish = finish,
    .describe = describe,
    .close = rsc_ring_run_close,
};
