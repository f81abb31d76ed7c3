/*
 * collector_perf.c - samples uses and catches their reuses with debug registers. Rebuilt programs choose uses by
 * their countdown; other programs need a PMU that samples addresses. A program that runs already is watched from
 * outside (perf/remote_watch.h).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/add_counts.h"
#include "base/fail.h"
#include "collect/launch/attach.h"
#include "collect/launch/rebuilt_launch.h"
#include "collect/perf/remote_watch.h"
#include "collect/perf/watch_drain.h"

#define LOOK_NS 5000000 /* between reads of the streams: each holds more than 100 pairs */

struct watched_run {
    struct rsc_watch_drain *drain;   /* of a program that was started; NULL: `remote` */
    struct rsc_remote_watch *remote; /* of one that ran already */
    struct rsc_perf_pmu machine; /* for programs that were not rebuilt; kind RSC_PMU_NONE: rebuilt */
    char sampling[200];
    int looked, ended;
};

/* ---- checks ---- */

static int check_machine(const struct rsc_collect_request *request, struct rsc_error *error) {
    struct rsc_perf_breakpoints found;
    char why[400];
    rsc_perf_probe_breakpoints(&found);
    if (found.count && (found.sigtrap || request->attach_to)) return 0;
    rsc_perf_explain_breakpoints(&found, why, sizeof why);
    return rsc_fail(error, RSC_EUNSUPPORTED, "%s: %s", request->attach_to ? "attach" : "--with perf", why);
}

/* Not rebuilt: only a PMU that samples addresses can choose uses. */
static int check_plain(const struct rsc_target *target, struct rsc_error *error) {
    struct rsc_perf_pmu machine;
    struct rsc_error why;
    if (!target->dynamic)
        return rsc_fail(
            error, RSC_EUNSUPPORTED,
            "%s: static and not rebuilt: nothing can be loaded into it. Build it with reusescope cc (it links the collector), or use --with qemu",
            target->path);
    if (rsc_perf_probe_pmu(&machine, "", &why) < 0)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "%s: was not built with reusescope cc, and without a PMU its uses cannot be sampled (%s). "
                        "Rebuild it: reusescope cc gcc ..., or use --with qemu",
                        target->path, why.message);
    return 0;
}

/* Runs already, and was not rebuilt. */
static int check_running(const struct rsc_collect_request *request, struct rsc_error *error) {
    struct rsc_perf_pmu machine;
    struct rsc_error why;
    if (rsc_perf_probe_pmu(&machine, "", &why) == 0) {
        if (request->attach_in_vm || !rsc_perf_is_virtual()) return 0;
        return rsc_fail(
            error, RSC_EUNSUPPORTED,
            "process %d: this is a virtual machine, and some hypervisors lose the cause of a debug trap once in "
            "some 100,000: a program without a handler of SIGTRAP would end. --allow-vm watches it all the same",
            (int)request->attach_to);
    }
    return rsc_fail(error, RSC_EUNSUPPORTED,
                    "process %d: %s was not built with reusescope cc, and without a PMU it cannot be watched while it "
                    "runs (%s). Rebuild it: reusescope cc gcc ..., or start it anew: reusescope run",
                    (int)request->attach_to, request->target->path, why.message);
}

static int check(const struct rsc_collect_request *request, struct rsc_error *error) {
    const struct {
        int given;
        const char *name;
    } whole[] = {
        {request->roi_function || request->roi_marked, "--roi"},
        {request->skip != 0, "--skip"},
        {request->length != 0, "--for"},
        {request->strict, "--order strict"},
        {request->quantum != 0, "--quantum"},
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (whole[i].given)
            return rsc_fail(error, RSC_EINVAL, "%s needs every access: --with asm, valgrind or qemu, not perf",
                            whole[i].name);
    if (request->wanted.pairs.registers > RSC_WATCH_REGISTERS)
        return rsc_fail(error, RSC_EINVAL, "--engine featherlight: registers=%u: x86-64 has %u debug registers",
                        request->wanted.pairs.registers, RSC_WATCH_REGISTERS);
    int status = request->attach_to         ? check_running(request, error)
                 : request->target->rebuilt ? 0
                                            : check_plain(request->target, error);
    return status < 0 ? status : check_machine(request, error);
}

/* ---- while it runs ---- */

static void describe_sampling(struct watched_run *run, const struct rsc_wanted *wanted) {
    const uint32_t registers = wanted->pairs.registers;
    if (run->machine.kind != RSC_PMU_NONE)
        snprintf(run->sampling, sizeof run->sampling, "%s: experimental; %u debug registers%s", run->machine.name,
                 registers, run->remote ? ", set from outside" : "");
    else if (wanted->pairs.period)
        snprintf(run->sampling, sizeof run->sampling,
                 "one access in %llu of each thread, at random, by its countdown; %u debug registers",
                 (unsigned long long)wanted->pairs.period, registers);
    else
        snprintf(
            run->sampling, sizeof run->sampling,
            "%llu accesses a second of each thread's processor time, at random, by its countdown; %u debug registers",
            (unsigned long long)wanted->pairs.rate, registers);
}

static int start_remote(struct rsc_collector *collector, struct rsc_error *error) {
    const struct rsc_collect_request *request = collector->request;
    const struct rsc_wanted *wanted = &request->wanted;
    struct watched_run *run = collector->state;
    const struct rsc_remote_options options = {.pid = request->attach_to,
                                               .period = wanted->pairs.period,
                                               .rate = wanted->pairs.rate,
                                               .seed = request->seed,
                                               .registers = wanted->pairs.registers,
                                               .whole_lines = wanted->pairs.whole_lines != 0};
    int status = rsc_remote_watch_new(&run->remote, &run->machine, &options, error);
    if (status < 0) return status;
    describe_sampling(run, wanted);
    rsc_attach_begin(&collector->launch, request->attach_to, request->attach_seconds);
    return 0;
}

static int start(struct rsc_collector *collector, struct rsc_error *error) {
    const struct rsc_collect_request *request = collector->request;
    struct watched_run *run = collector->state = calloc(1, sizeof *run);
    int status = 0;
    if (!run) return rsc_fail_memory(error, "collector");
    if (!request->target->rebuilt || request->attach_to) status = rsc_perf_probe_pmu(&run->machine, "", error);
    if (status < 0) return status;
    if (request->attach_to) return start_remote(collector, error);
    describe_sampling(run, &request->wanted);
    rsc_rebuilt_prepare(&collector->launch, request);
    status = request->target->rebuilt ? rsc_rebuilt_launch(&collector->launch, request, error)
                                      : rsc_plain_launch(&collector->launch, request, &run->machine, error);
    return status < 0 ? status : rsc_watch_drain_new(&run->drain, collector->launch.ring, error);
}

static int next(struct rsc_collector *collector, struct rsc_batch *batch, struct rsc_batch_columns *columns,
                struct rsc_error *error) {
    const struct timespec moment = {0, LOOK_NS};
    struct watched_run *run = collector->state;
    if (run->ended) return RSC_COLLECT_ENDED;
    if (run->looked && run->drain) nanosleep(&moment, NULL);
    run->looked = 1;
    run->ended = rsc_launch_poll(&collector->launch);
    /* Recorded children may outlive the program. */
    if (run->ended && collector->request->follow && rsc_watch_drain_living(run->drain)) run->ended = 0;
    *batch = (struct rsc_batch){.instructions = RSC_UNKNOWN};
    *columns = (struct rsc_batch_columns){.skipped = NULL};
    int status = run->remote
                     ? rsc_remote_watch_take(run->remote, run->ended, &columns->watched, &columns->watched_count, error)
                     : rsc_watch_drain_take(run->drain, run->ended, &columns->watched, &columns->watched_count, error);
    if (status < 0) return status;
    return columns->watched_count ? RSC_COLLECT_BATCH : RSC_COLLECT_NOTHING;
}

/* ---- afterwards ---- */

static int fill(const void *run, struct rsc_profile *profile) {
    const struct watched_run *of = run;
    return of->remote ? rsc_remote_watch_fill(of->remote, profile) : rsc_watch_drain_fill(of->drain, profile);
}

static void get_stats(const struct watched_run *run, struct rsc_watch_stats *stats) {
    struct rsc_remote_stats remote;
    if (!run->remote) {
        rsc_watch_drain_stats(run->drain, stats);
        return;
    }
    rsc_remote_watch_stats(run->remote, &remote);
    *stats = remote.watch;
}

static int finish(struct rsc_collector *collector, struct rsc_whole_run *whole, struct rsc_error *error) {
    const struct watched_run *run = collector->state;
    const struct rsc_watch_area *area = &collector->launch.ring->watch;
    struct rsc_watch_stats stats;
    if (run->drain && !collector->launch.ring->images)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        run->machine.kind != RSC_PMU_NONE
                            ? "%s: the library that samples was not loaded"
                            : "%s: nothing that it ran was built with reusescope cc (of this version)",
                        collector->request->target->path);
    get_stats(run, &stats);
    if (!stats.samples && run->remote)
        return rsc_fail(error, RSC_EUNSUPPORTED, "process %d: nothing was sampled: it was idle, or ended too soon",
                        (int)collector->request->attach_to);
    if (!stats.samples && area->off)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: nothing could be watched: %s", collector->request->command[0],
                        area->off == RSC_WATCH_SIGNAL_WANTED ? "it waits for SIGTRAP itself"
                                                             : strerror((int)area->refused));
    *whole = (struct rsc_whole_run){.accesses = stats.accesses,
                                    .sampling = run->sampling,
                                    .handler_seconds = 1e-9 * (double)stats.busy_ns,
                                    .traps = rsc_add_counts(stats.hits, stats.own_hits),
                                    .dropped = stats.dropped,
                                    .fill = fill,
                                    .context = run};
    return 0;
}

/* Reports what limited the recording. */
static void warn(const struct rsc_watch_area *area, uint32_t registers, const struct rsc_watch_stats *stats,
                 struct rsc_run_facts *facts) {
    if (area->off == RSC_WATCH_SIGNAL_WANTED)
        rsc_facts_add(
            facts,
            "warning: the program waits for SIGTRAP itself (sigwait or signalfd): it was not watched from then on");
    else if (area->off == RSC_WATCH_REFUSED)
        rsc_facts_add(facts, "warning: the program could open no more debug registers during the run: %s",
                      strerror((int)area->refused));
    else if (area->off)
        rsc_facts_add(facts, "warning: the handler of SIGTRAP could not be installed: nothing was watched");
    if (area->held)
        rsc_facts_add(
            facts, "warning: %u threads got fewer than %u debug registers: a debugger or another profiler holds them",
            area->held, registers);
    if (area->short_of_files)
        rsc_facts_add(
            facts,
            "warning: %u threads got fewer than %u debug registers, to leave the program its file descriptors (ulimit -n)",
            area->short_of_files, registers);
    if (area->multiplexed)
        rsc_facts_add(
            facts,
            "warning: %llu samples were not used: the PMU's counters had to be shared (end other users of perf, or the NMI watchdog: sysctl kernel.nmi_watchdog=0)",
            (unsigned long long)area->multiplexed);
    if (area->crowded_out)
        rsc_facts_add(facts, "warning: %u threads were not sampled: more than %u at a time", area->crowded_out,
                      RSC_WATCH_STREAMS);
    if (stats->late_hits)
        rsc_facts_add(facts, "warning: %llu reuses came while SIGTRAP was blocked: dropped",
                      (unsigned long long)stats->late_hits);
    if (stats->dropped)
        rsc_facts_add(facts, "warning: %llu records were dropped: the sampling rate is too high for this machine",
                      (unsigned long long)stats->dropped);
    if (stats->corrupt)
        rsc_facts_add(facts, "warning: %llu records are corrupt (overwritten by the program?): left out",
                      (unsigned long long)stats->corrupt);
    const unsigned long long ended = area->unsampled_threads;
    if (ended)
        rsc_facts_add(facts, "%llu thread%s ended before the first sample, %llu accesses in all: not in the result",
                      ended, ended == 1 ? "" : "s", (unsigned long long)area->unsampled_accesses);
}

/* The same for a program that is watched from outside. */
static void warn_remote(const struct rsc_remote_watch *remote, struct rsc_run_facts *facts) {
    struct rsc_remote_stats stats;
    rsc_remote_watch_stats(remote, &stats);
    if (stats.unwatched)
        rsc_facts_add(facts, "warning: %u threads were not watched: %s%s", stats.unwatched, strerror((int)stats.code),
                      stats.code == EPERM || stats.code == ENOMEM
                          ? " (sysctl kernel.perf_event_mlock_kb limits how many)"
                      : stats.code == EMFILE ? " (ulimit -n limits how many)"
                                             : "");
    if (stats.held)
        rsc_facts_add(facts, "warning: %u of %llu watches could not be set: %s%s", stats.held,
                      (unsigned long long)stats.watch.samples, strerror((int)stats.held_code),
                      stats.held_code == ENOSPC ? " (a debugger or another profiler holds debug registers)" : "");
    if (stats.multiplexed)
        rsc_facts_add(
            facts,
            "warning: %llu samples were not used: the PMU's counters had to be shared (end other users of perf, or the NMI watchdog: sysctl kernel.nmi_watchdog=0)",
            (unsigned long long)stats.multiplexed);
    if (stats.watch.dropped)
        rsc_facts_add(facts, "warning: %llu records were dropped: the sampling rate is too high for this machine",
                      (unsigned long long)stats.watch.dropped);
}

static void describe(const struct rsc_collector *collector, struct rsc_run_facts *facts) {
    const struct watched_run *run = collector->state;
    const struct rsc_launch *launch = &collector->launch;
    struct rsc_watch_stats stats;
    get_stats(run, &stats);
    *facts = (struct rsc_run_facts){
        .accesses = stats.accesses, .threads = stats.threads, .coverage = rsc_rebuilt_coverage(launch->ring)};
    if (run->machine.kind != RSC_PMU_NONE)
        rsc_facts_add(facts, "experimental: %s has not been tried on hardware (docs/guide/perf.md)", run->machine.name);
    rsc_facts_add(
        facts,
        RSC_DETAIL
        "%.1f s, %.1f million accesses by %llu thread%s, %llu samples, %llu reuses caught; %.3f s in handlers",
        launch->seconds, 1e-6 * (double)stats.accesses, (unsigned long long)stats.threads,
        stats.threads == 1 ? "" : "s", (unsigned long long)stats.samples, (unsigned long long)stats.hits,
        1e-9 * (double)stats.busy_ns);
    if (!isnan(facts->coverage))
        rsc_facts_add(
            facts,
            RSC_DETAIL
            "unseen: %.0f %% of its processor time was in code that was not rebuilt: reuses there are caught, uses are not sampled",
            100 * (1 - facts->coverage));
    if (run->remote) warn_remote(run->remote, facts);
    else warn(&launch->ring->watch, collector->request->wanted.pairs.registers, &stats, facts);
}

static void close_run(struct rsc_collector *collector) {
    struct watched_run *run = collector->state;
    if (!run) return;
    rsc_watch_drain_free(run->drain);
    rsc_remote_watch_free(run->remote);
    free(run);
    collector->state = NULL;
}

const struct rsc_collector_kind rsc_collector_perf = {
    .name = "perf",
    .gives = 1u << RSC_TAKES_PAIRS,
    .only_by_name = 1,
    .check = check,
    .start = start,
    .next = next,
    .finish = finish,
    .describe = describe,
    .close = close_run,
};
