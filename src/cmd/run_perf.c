/* run_perf.c - see run_perf.h. */
#include "cmd/run_perf.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "collect/perf/perf_probe.h"
#include "collect/perf/watch_drain.h"
#include "profile/profile_model.h"

#define LOOK_NS 5000000 /* between looks at the streams: each holds more than 100 pairs */

/* ---- options ---- */

/* featherlight, or nothing said: parameters that only make sense with a simulated PMU are refused. */
static int parse_engine(struct rsc_run_perf *run, struct rsc_error *error) {
    const struct rsc_pmu_options *wanted = rsc_engine_spec_of(&run->analysis->spec, &rsc_engine_featherlight);
    if (!wanted && run->analysis->spec.kind != &rsc_engine_auto)
        return rsc_fail(error, RSC_EINVAL,
                        "--with perf samples: --engine %.40s needs every access (--with asm or qemu)",
                        run->analysis->engine.engine);
    if (wanted) run->pmu = *wanted;
    else rsc_pmu_parse(&run->pmu, NULL, NULL);
    if (run->pmu.skid || run->pmu.shadow || run->pmu.fixed || run->pmu.replacement != RSC_REPLACE_RESERVOIR)
        return rsc_fail(
            error, RSC_EINVAL,
            "--engine featherlight: skid, shadow, spacing and replacement are for traces: here the machine is real");
    if (run->pmu.registers > RSC_WATCH_REGISTERS)
        return rsc_fail(error, RSC_EINVAL, "--engine featherlight: registers=%u: x86-64 has %u debug registers",
                        run->pmu.registers, RSC_WATCH_REGISTERS);
    if (run->pmu.period && run->rate) return rsc_fail(error, RSC_EINVAL, "--rate and period= exclude each other");
    return 0;
}

int rsc_run_perf_check(struct rsc_run_perf *run, struct rsc_error *error) {
    const struct rsc_analysis *analysis = run->analysis;
    const struct rsc_launch_options *options = run->options;
    const struct {
        int given;
        const char *name;
    } whole[] = {
        {options->roi != NULL, "--roi"},
        {options->skip != 0, "--skip"},
        {options->length != 0, "--for"},
        {options->strict, "--order strict"},
        {analysis->engine.phases != 0, "--phases"},
        {analysis->engine.max_distance != 0, "--max-distance"},
        {analysis->engine.bins_per_octave != 0, "--bins"},
        {analysis->engine.top_lines != 0, "--top-lines"},
        {analysis->engine.no_ri, "--no-ri"},
        {analysis->max_memory != 0, "--max-memory"},
        {analysis->engine.error > 0, "--error"},
        {strcmp(analysis->engine.model, "shared") != 0, "--model"},
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (whole[i].given)
            return rsc_fail(error, RSC_EINVAL, "%s needs every access: --with asm or qemu, not perf", whole[i].name);
    if (analysis->lines_given && (analysis->line_count != 1 || (analysis->line_bytes[0] != RSC_FEATHERLIGHT_WORD &&
                                                                analysis->line_bytes[0] != RSC_FEATHERLIGHT_LINE)))
        return rsc_fail(
            error, RSC_EINVAL,
            "--line: debug registers watch words of 8 bytes: --with perf can do --line 8, or 64 as a model");
    int status = parse_engine(run, error);
    if (status < 0 || !analysis->lines_given) return status;
    run->pmu.estimate.line_bytes = analysis->line_bytes[0];
    if (run->pmu.estimate.line_bytes == RSC_FEATHERLIGHT_LINE && run->pmu.registers < RSC_REGISTERS_A_LINE)
        return rsc_fail(error, RSC_EINVAL, "--line 64: needs registers=4: two or four of them watch a part of a line");
    return 0;
}

/* ---- can it be done here? ---- */

static int check_machine(struct rsc_run_perf *run, struct rsc_error *error) {
    struct rsc_perf_breakpoints found;
    char why[400];
    (void)run;
    rsc_perf_probe_breakpoints(&found);
    if (found.count && found.sigtrap) return 0;
    rsc_perf_explain_breakpoints(&found, why, sizeof why);
    return rsc_fail(error, RSC_EUNSUPPORTED, "--with perf: %s", why);
}

/* Not rebuilt: its uses can only be chosen by a PMU that samples addresses. */
static int check_plain(struct rsc_run_perf *run, struct rsc_error *error) {
    struct rsc_error why;
    const char *path = run->target->path;
    if (!run->target->dynamic)
        return rsc_fail(
            error, RSC_EUNSUPPORTED,
            "%s: static and not rebuilt: nothing can be loaded into it. Build it with reusescope cc (it links the collector), or use --with qemu",
            path);
    if (rsc_perf_probe_pmu(&run->machine, "", &why) < 0)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "%s: was not built with reusescope cc, and without a PMU its uses cannot be sampled (%s). "
                        "Rebuild it: reusescope cc gcc ..., or use --with qemu",
                        path, why.message);
    run->options->pmu = &run->machine;
    if (!run->analysis->session->quiet)
        fprintf(stderr, "reusescope: experimental: %s has not been tried on hardware (docs/guide/perf.md)\n",
                run->machine.name);
    return check_machine(run, error);
}

/* ---- while it runs ---- */

static int to_sample(void *to, uint32_t thread, const struct rsc_watch_sample *sample, struct rsc_error *error) {
    return rsc_featherlight_sample(to, thread, sample, error);
}
static int to_ending(void *to, uint32_t thread, const struct rsc_watch_end *end, struct rsc_error *error) {
    return rsc_featherlight_ending(to, thread, end, error);
}
static int to_thread(void *to, uint32_t thread, uint64_t pid, uint64_t tid, uint64_t references, uint64_t accesses,
                     struct rsc_error *error) {
    return rsc_featherlight_thread(to, thread, pid, tid, references, accesses, error);
}

static int watch(struct rsc_run_perf *run, struct rsc_watch_drain *drain, struct rsc_error *error) {
    const struct timespec moment = {0, LOOK_NS};
    for (;;) {
        int ended = rsc_launch_poll(run->launch);
        /* Children that are watched may outlive the program. */
        if (ended && run->options->follow && rsc_watch_drain_living(drain)) ended = 0;
        int status = rsc_watch_drain_take(drain, ended, error);
        if (status < 0 || ended) return status;
        nanosleep(&moment, NULL);
    }
}

/* ---- afterwards ---- */

static double cpu_seconds(const struct rsc_launch *launch) {
    const struct rusage *usage = &launch->usage;
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* What kept it from watching as it should. */
static void warn(const struct rsc_run_perf *run, const struct rsc_watch_stats *stats) {
    const struct rsc_watch_area *area = &run->launch->ring->watch;
    const char *warning = "reusescope: warning: ";
    if (area->off == RSC_WATCH_SIGNAL_WANTED)
        fprintf(stderr,
                "%sthe program waits for SIGTRAP itself (sigwait or signalfd): it was not watched from then on\n",
                warning);
    else if (area->off == RSC_WATCH_REFUSED)
        fprintf(stderr, "%sthe program was refused debug registers from some time on: %s\n", warning,
                strerror((int)area->refused));
    else if (area->off)
        fprintf(stderr, "%sthe handler of SIGTRAP could not be installed: nothing was watched\n", warning);
    if (area->held)
        fprintf(stderr, "%s%u threads got fewer than %u debug registers: a debugger or another profiler holds them\n",
                warning, area->held, run->pmu.registers);
    if (area->short_of_files)
        fprintf(
            stderr,
            "%s%u threads got fewer than %u debug registers, to leave the program its file descriptors (ulimit -n)\n",
            warning, area->short_of_files, run->pmu.registers);
    if (area->multiplexed)
        fprintf(
            stderr,
            "%s%llu samples were not used: the PMU's counters had to be shared (end other users of perf, or the NMI watchdog: sysctl kernel.nmi_watchdog=0)\n",
            warning, (unsigned long long)area->multiplexed);
    if (area->crowded_out)
        fprintf(stderr, "%s%u threads were not sampled: more than %u at a time\n", warning, area->crowded_out,
                RSC_WATCH_STREAMS);
    if (stats->late_hits)
        fprintf(stderr, "%s%llu reuses came while SIGTRAP was blocked: dropped\n", warning,
                (unsigned long long)stats->late_hits);
    if (stats->dropped)
        fprintf(stderr, "%s%llu records were dropped: the sampling rate is too high for this machine\n", warning,
                (unsigned long long)stats->dropped);
    if (area->unsampled_threads)
        fprintf(
            stderr,
            "reusescope: %llu threads ended before their first sample, %.1f million accesses in all: they are not in the result\n",
            (unsigned long long)area->unsampled_threads, 1e-6 * (double)area->unsampled_accesses);
}

static void say(const struct rsc_run_perf *run, const struct rsc_watch_stats *stats, double slowdown) {
    const struct rsc_launch *launch = run->launch;
    double cpu = cpu_seconds(launch);
    if (isnan(slowdown))
        fprintf(stderr, "reusescope: slowdown not measured (--native runs the program once more, without us)\n");
    else
        fprintf(stderr, "reusescope: slowdown %.2fx in processor time (%.2f s, without us %.2f s)\n", slowdown, cpu,
                run->native_seconds);
    fprintf(
        stderr,
        "reusescope: %.1f s, %.1f million accesses by %llu thread%s, %llu samples, %llu reuses caught; %.3f s in handlers\n",
        launch->seconds, 1e-6 * (double)stats->accesses, (unsigned long long)stats->threads,
        stats->threads == 1 ? "" : "s", (unsigned long long)stats->samples, (unsigned long long)stats->hits,
        1e-9 * (double)stats->busy_ns);
    if (launch->ring->samples >= 20)
        fprintf(
            stderr,
            "reusescope: unseen: %.0f %% of its processor time was in code that was not rebuilt: reuses there are caught, uses are not sampled\n",
            100 * (double)launch->ring->samples_unseen / (double)launch->ring->samples);
}

static int fill_made(struct rsc_run_perf *run, struct rsc_profile *profile, const struct rsc_watch_stats *stats,
                     const struct rsc_featherlight_totals *totals) {
    struct rsc_made *made = &profile->made;
    const struct rsc_ring *ring = run->launch->ring;
    made->overhead = run->native_seconds > 0 ? cpu_seconds(run->launch) / run->native_seconds : NAN;
    made->coverage = ring->samples >= 20 ? 1 - (double)ring->samples_unseen / (double)ring->samples : NAN;
    made->seconds = run->launch->seconds;
    made->workers = 1;
    made->watching = (struct rsc_watch_costs){.is_known = 1,
                                              .handler_seconds = 1e-9 * (double)stats->busy_ns,
                                              .samples = totals->samples,
                                              .traps = stats->hits + stats->own_hits,
                                              .dropped = stats->dropped + totals->dropped,
                                              .censored = totals->replaced};
    return 0;
}

static int make_profile(struct rsc_run_perf *run, struct rsc_watch_drain *drain, struct rsc_featherlight *feather,
                        struct rsc_error *error) {
    struct rsc_profile *profile = NULL;
    struct rsc_watch_stats stats;
    struct rsc_featherlight_totals totals;
    rsc_watch_drain_stats(drain, &stats);
    rsc_featherlight_totals(feather, &totals);
    const struct rsc_watch_area *area = &run->launch->ring->watch;
    if (!stats.samples && area->off)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: nothing could be watched: %s", run->command[0],
                        area->off == RSC_WATCH_SIGNAL_WANTED ? "it waits for SIGTRAP itself"
                                                             : strerror((int)area->refused));
    int status = rsc_featherlight_finish(feather, &profile, error);
    if (status < 0) return status;
    run->analysis->profiles[0] = profile;
    run->analysis->line_count = run->analysis->count = 1;
    status = rsc_watch_drain_fill(drain, profile, error);
    if (!status) status = fill_made(run, profile, &stats, &totals);
    if (!status && rsc_profile_seal(profile) < 0) status = rsc_fail_memory(error, "profile");
    if (!status) status = rsc_analysis_name(run->analysis, "perf", error);
    if (!status && !run->analysis->session->quiet) say(run, &stats, profile->made.overhead);
    if (!status && !run->analysis->session->quiet) warn(run, &stats);
    return status;
}

static void describe(const struct rsc_run_perf *run, char *text, size_t room) {
    if (run->options->pmu)
        snprintf(text, room, "%s: experimental; %u debug registers", run->machine.name, run->pmu.registers);
    else if (run->pmu.period)
        snprintf(text, room, "one access in %llu of each thread, at random, by its countdown; %u debug registers",
                 (unsigned long long)run->pmu.period, run->pmu.registers);
    else
        snprintf(
            text, room,
            "%llu accesses a second of each thread's processor time, at random, by its countdown; %u debug registers",
            (unsigned long long)run->rate, run->pmu.registers);
}

int rsc_run_perf(struct rsc_run_perf *run, struct rsc_error *error) {
    struct rsc_featherlight *feather = NULL;
    struct rsc_watch_drain *drain = NULL;
    char sampling[200], by[100];
    int status = run->target->rebuilt ? check_machine(run, error) : check_plain(run, error);
    if (status < 0) return status;
    if (!run->rate) run->rate = RSC_PERF_RATE;
    run->options->rebuilt = run->options->watch = 1;
    run->options->watch_period = run->pmu.period;
    run->options->watch_rate = run->rate;
    run->options->watch_registers = run->pmu.registers;
    run->options->watch_lines = run->pmu.estimate.line_bytes == RSC_FEATHERLIGHT_LINE;
    run->options->contexts = run->analysis->engine.attribute != 2;
    describe(run, sampling, sizeof sampling);
    rsc_pmu_name(&run->pmu, by, sizeof by);
    run->pmu.estimate.by = by;
    run->pmu.estimate.sampling = sampling;
    run->pmu.estimate.seed = run->analysis->engine.seed;
    run->pmu.estimate.confidence = run->analysis->engine.confidence;
    status = rsc_featherlight_new(&feather, &run->pmu.estimate, error);
    if (!status) status = rsc_launch_start(run->launch, run->target, run->command, run->options, error);
    struct rsc_watch_sink sink = {feather, to_sample, to_ending, to_thread};
    if (!status) status = rsc_watch_drain_new(&drain, run->launch->ring, &sink, error);
    if (!status) status = watch(run, drain, error);
    if (!status && !run->launch->ring->images)
        status = rsc_fail(error, RSC_EUNSUPPORTED,
                          run->options->pmu ? "%s: the library that samples was not loaded"
                                            : "%s: nothing that it ran was built with reusescope cc",
                          run->target->path);
    if (!status) status = make_profile(run, drain, feather, error);
    rsc_watch_drain_free(drain);
    rsc_featherlight_free(feather);
    return status;
}
