/*
 * cmd_run.c - `reusescope run`: a program under the collector, analysed while it
 * runs; ends as the program ends.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "cmd/analysis.h"
#include "cmd/run_perf.h"
#include "cmd/run_sample.h"
#include "collect/drain/drain.h"
#include "collect/launch/launch.h"
#include "engine/engine_auto.h"

enum {
    OPT_WITH = RSC_OPT_ANALYSIS_VERB,
    OPT_TRACE,
    OPT_NO_ANALYSIS,
    OPT_ROI,
    OPT_SKIP,
    OPT_FOR,
    OPT_FOLLOW,
    OPT_ORDER,
    OPT_SEED,
    OPT_NATIVE,
    OPT_RATE,
    OPT_SAMPLE,
};

static const struct rsc_option options[] = {
    RSC_HEADING("program"),
    {OPT_WITH, 0, "with", "COLLECTOR",
     "asm (built with reusescope cc), qemu (any program), perf (samples; costs a few percent) or auto (default: asm "
     "where possible, else qemu)",
     "auto asm qemu perf"},
    {OPT_ROI, 0, "roi", "FUNCTION",
     "watch only while FUNCTION runs; 'marked': between reusescope_begin() and reusescope_end()", NULL},
    {OPT_SKIP, 0, "skip", "N", "skip the first N instructions", NULL},
    {OPT_FOR, 0, "for", "N", "watch N instructions, then let the program run on", NULL},
    {OPT_FOLLOW, 0, "follow", NULL, "also watch forked children and programs it starts", NULL},
    {OPT_ORDER, 0, "order", "ORDER", "thread order: time (default) or strict (one at a time, round-robin)",
     "time strict"},
    {OPT_SEED, 0, "seed", "S", "seed for the program's startup random bytes (default 1), for repeatable runs", NULL},
    {OPT_NATIVE, 0, "native", NULL,
     "first run the program once unwatched (no input or output), to measure the slowdown", NULL},
    RSC_HEADING("recording"),
    {OPT_TRACE, 0, "trace", "FILE", "also record a native trace (%p: process id)", NULL},
    {OPT_NO_ANALYSIS, 0, "no-analysis", NULL, "with --trace: only record", NULL},
    RSC_HEADING("sampling"),
    {OPT_SAMPLE, 0, "sample", "SAMPLE",
     "for programs built with reusescope cc: lines:RATE (default lines:1/64), 1/N (one reference in N) or none (every "
     "reference)",
     "lines:1/64 1/10000 none"},
    {OPT_RATE, 0, "rate", "N", "with --with perf: samples per second of each thread's processor time (default 300)",
     NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct run {
    struct rsc_session session;
    struct rsc_analysis analysis;
    struct rsc_launch_options launch_options;
    struct rsc_target target;
    struct rsc_launch launch;
    struct rsc_drain *drain;
    struct rsc_roi roi; /* of a rebuilt program */
    const char *trace_path;
    char trace_name[4096];
    struct rsc_trace_writer *writer;
    int only_record;
    int trace_full;
    int measure_native;
    enum { WITH_AUTO, WITH_ASM, WITH_QEMU, WITH_PERF } with;
    uint64_t rate; /* of --with perf; 0: not given */
    int seed_given;
    int model_given;
    int both_by_default; /* and where it turns out that there was one thread, the models are the same: one is shown */
    struct rsc_run_sample sample; /* taken by the program itself */
    double native_seconds; /* processor time without us; 0: not measured */
    char **command; /* the program and its arguments */
};

/* ---- options ---- */

static int parse_count(const struct rsc_option_parser *parser, uint64_t *value) {
    if (rsc_parse_u64(parser->value, strlen(parser->value), value) < 0)
        return rsc_option_refuse(parser, "not a number");
    return -1;
}

static int take_option(struct run *run, const struct rsc_option_parser *parser, int id) {
    struct rsc_launch_options *launch = &run->launch_options;
    switch (id) {
    case OPT_WITH:
        if (!strcmp(parser->value, "auto")) run->with = WITH_AUTO;
        else if (!strcmp(parser->value, "asm")) run->with = WITH_ASM;
        else if (!strcmp(parser->value, "qemu")) run->with = WITH_QEMU;
        else if (!strcmp(parser->value, "perf")) run->with = WITH_PERF;
        else return rsc_option_refuse(parser, "not one of auto, asm, qemu, perf");
        return -1;
    case OPT_TRACE: run->trace_path = parser->value; return -1;
    case OPT_NO_ANALYSIS: run->only_record = 1; return -1;
    case OPT_ROI: launch->roi = parser->value; return -1;
    case OPT_SKIP: return parse_count(parser, &launch->skip);
    case OPT_FOR: {
        int leave = parse_count(parser, &launch->length);
        return leave < 0 && !launch->length ? rsc_option_refuse(parser, "not a number from 1 up") : leave;
    }
    case OPT_FOLLOW: launch->follow = 1; return -1;
    case OPT_ORDER:
        launch->strict = !strcmp(parser->value, "strict");
        if (!launch->strict && strcmp(parser->value, "time"))
            return rsc_option_refuse(parser, "not one of time, strict");
        return -1;
    case OPT_SEED: run->seed_given = 1; return parse_count(parser, &launch->seed);
    case OPT_NATIVE: run->measure_native = 1; return -1;
    case OPT_RATE: {
        int leave = parse_count(parser, &run->rate);
        return leave < 0 && (!run->rate || run->rate > 100000)
                   ? rsc_option_refuse(parser, "not a number from 1 to 100000")
                   : leave;
    }
    case OPT_SAMPLE: return rsc_run_sample_option(&run->sample, parser);
    case RSC_OPT_MODEL: run->model_given = 1; return rsc_analysis_option(&run->analysis, parser, id);
    default: return rsc_analysis_option(&run->analysis, parser, id);
    }
}

/* Options up to "--" or the first operand; the rest is the program's. */
static int take_options(struct run *run, int argc, char **argv) {
    const struct rsc_verb *verb = run->session.verb;
    struct rsc_option_parser parser;
    int id;
    rsc_options_start(&parser, verb, argc, argv);
    while ((id = rsc_options_next(&parser)) != RSC_OPTIONS_END && id != RSC_OPERAND) {
        int leave = take_option(run, &parser, id);
        if (leave >= 0) return leave;
    }
    if (id != RSC_OPERAND) return rsc_usage_error(verb, "a program is missing: reusescope run -- ./app");
    run->command = argv + parser.next - 1;
    run->launch_options.sysroot = run->analysis.sysroot;
    if (run->analysis.spec.kind->can & RSC_RUNS_ON_RANKS)
        return rsc_usage_error(
            verb, "--engine mpi is for traces: record them (--trace), then reusescope analyze --engine mpi");
    if (run->with != WITH_PERF && (run->analysis.spec.kind->can & RSC_WATCHES_WORDS))
        return rsc_usage_error(
            verb,
            "--engine featherlight watches reuses while the program runs: that is --with perf (or record a trace, "
            "--trace FILE --no-analysis, then reusescope analyze --engine featherlight)");
    if (run->only_record && !run->trace_path) return rsc_usage_error(verb, "--no-analysis needs --trace FILE");
    if (run->trace_path && !strcmp(run->trace_path, "-"))
        return rsc_usage_error(verb, "--trace -: standard output is the program's; name a file");
    if (run->launch_options.roi && !*run->launch_options.roi)
        return rsc_usage_error(verb, "--roi: the name of a function is missing");
    if (run->with == WITH_ASM && run->launch_options.strict)
        return rsc_usage_error(verb,
                               "--order strict needs --with qemu: rebuilt programs run their threads as they come");
    if (run->with == WITH_ASM && run->seed_given)
        return rsc_usage_error(verb,
                               "--seed needs --with qemu: rebuilt programs get their random bytes from the kernel");
    if (run->rate && run->with != WITH_PERF)
        return rsc_usage_error(verb, "--rate needs --with perf: the others see every access");
    if (run->with == WITH_PERF && run->trace_path)
        return rsc_usage_error(verb, "--trace needs every access: --with asm or qemu, not perf");
    if (run->launch_options.roi && (run->launch_options.skip || run->launch_options.length))
        return rsc_usage_error(verb, "--roi and --skip or --for exclude each other");
    return run->only_record ? -1 : rsc_session_check_output(&run->session);
}

/* ---- while it runs ---- */

/* Does the program record by itself? */
static int rebuilt(const struct run *run) { return run->launch_options.rebuilt; }

/* A region that is found here and not by QEMU. */
static int by_function(const struct run *run) {
    return rebuilt(run) && run->launch_options.roi && strcmp(run->launch_options.roi, "marked");
}

static int open_trace(struct run *run, struct rsc_error *error) {
    struct rsc_trace_writer_options writer = {.struct_bytes = sizeof writer,
                                              .source = rebuilt(run) ? "reusescope run (asm)" : "reusescope run (qemu)",
                                              .pcs = 1};
    char command[8192];
    size_t used = 0;
    if (!run->trace_path) return 0;
    for (char **word = run->command; *word && used < sizeof command; word++)
        used += (size_t)snprintf(command + used, sizeof command - used, "%s%s", word == run->command ? "" : " ", *word);
    writer.command = run->session.no_command ? NULL : command;
    rsc_expand_name(run->trace_path, run->trace_name, sizeof run->trace_name);
    return rsc_trace_writer_open(&run->writer, run->trace_name, &writer, error);
}

static int deliver_batch(struct run *run, const struct rsc_batch *batch, struct rsc_error *error) {
    if (run->writer && !run->trace_full) {
        int status = rsc_trace_writer_push(run->writer, batch, error);
        if (status < 0) return status;
        run->trace_full = status > 0;
    }
    if (rsc_run_sample_taken(&run->sample))
        return rsc_run_sample_push(&run->sample, &run->analysis, run->drain, batch, error);
    return run->only_record ? 0 : rsc_analysis_push(&run->analysis, batch, error);
}

/* Processor time that the program has used so far; 0: not known, or it has ended. */
static double cpu_so_far(const struct run *run) {
    struct timespec used;
    clockid_t clock;
    if (!run->launch.running || clock_getcpuclockid(run->launch.pid, &clock) || clock_gettime(clock, &used)) return 0;
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/*
 * What a program by itself does in a nanosecond, for a guess at the slowdown
 * before it is known: instructions a program waits with, and instructions of one
 * that computes.
 */
#define INSTRUCTIONS_PER_NS_LOW 1.0
#define INSTRUCTIONS_PER_NS_HIGH 4.0
#define INSTRUCTIONS_LEAST 1e6 /* before, it is the time to start that is measured */

/*
 * With --native: its time so far over what all of it takes without us, which the
 * slowdown in the end is no less than. Else a guess from its instructions.
 */
static void slowdown_so_far(const struct run *run, const struct rsc_drain_stats *stats, char *text, size_t room) {
    double used = cpu_so_far(run), instructions = (double)(stats->instructions + stats->unrecorded_instructions);
    *text = 0;
    if (!(used > 0)) return;
    if (run->native_seconds > 0) snprintf(text, room, ", slowdown at least %.1fx", used / run->native_seconds);
    else if (instructions > INSTRUCTIONS_LEAST)
        snprintf(text, room, ", slowdown perhaps %.0f to %.0fx", 1e9 * used * INSTRUCTIONS_PER_NS_LOW / instructions,
                 1e9 * used * INSTRUCTIONS_PER_NS_HIGH / instructions);
}

static void show_progress(struct run *run) {
    struct rsc_drain_stats stats;
    char text[120], slowdown[64], line[200];
    if (!rsc_progress_due(&run->session)) return;
    rsc_drain_get_stats(run->drain, &stats);
    rsc_analysis_so_far(&run->analysis, stats.accesses, rsc_progress_seconds(&run->session), text, sizeof text);
    slowdown_so_far(run, &stats, slowdown, sizeof slowdown);
    snprintf(line, sizeof line, "run: %s%s", text, slowdown);
    rsc_progress_say(&run->session, line);
}

/* Takes what the program does until it has ended and all of it is taken. */
static int watch(struct run *run, struct rsc_error *error) {
    struct rsc_batch batch;
    int status, ended = 0;
    for (;;) {
        while ((status = rsc_drain_next(run->drain, ended, &batch, error)) > 0) {
            if ((status = deliver_batch(run, &batch, error)) < 0) return status;
            show_progress(run);
        }
        if (status < 0) return status;
        if (ended) return 0;
        ended = rsc_launch_poll(&run->launch);
        /* Children that are watched may outlive the program. */
        if (ended && run->launch_options.follow && rsc_drain_living(run->drain)) ended = 0;
        if (!ended) rsc_drain_wait(run->drain, 20);
        show_progress(run);
    }
}

/* ---- afterwards ---- */

static double cpu_seconds(const struct timeval *time) { return (double)time->tv_sec + 1e-6 * (double)time->tv_usec; }

/* Samples of where the processor is, at least: one in ten of a few says nothing. */
#define SAMPLES_LEAST 20u

/* The share of its processor time that a rebuilt program spent in code that is recorded; NAN when samples are too few. */
static double share_seen(const struct rsc_ring *ring) {
    return ring->samples >= SAMPLES_LEAST ? 1 - (double)ring->samples_unseen / (double)ring->samples : NAN;
}

static void say_what_was_not_rebuilt(const struct run *run, const struct rsc_drain_stats *stats) {
    const struct rsc_ring *ring = run->launch.ring;
    double unseen = 1 - share_seen(ring);
    if (isnan(unseen))
        fprintf(
            stderr,
            "reusescope: it waited %.1f s for the analysis; unseen: too short a run to tell how much of it was in code that was not rebuilt\n",
            1e-9 * (double)stats->waited_ns);
    else
        fprintf(
            stderr,
            "reusescope: it waited %.1f s for the analysis; unseen: %.0f %% of its processor time was in code that was not rebuilt (%llu samples)\n",
            1e-9 * (double)stats->waited_ns, 100 * unseen, (unsigned long long)ring->samples);
    if (unseen > 0.1)
        fprintf(
            stderr,
            "reusescope: warning: %.0f %% of the processor time is not in the result: rebuild those libraries with reusescope cc too, or use --with qemu\n",
            100 * unseen);
    if (run->launch_options.roi && !by_function(run))
        fprintf(stderr, "reusescope: all threads recorded %.1f ms after they were to\n", 1e-6 * (double)ring->lag_ns);
    if (stats->unknown)
        fprintf(stderr, "reusescope: warning: %llu words of the program make no sense: something wrote over them\n",
                (unsigned long long)stats->unknown);
    if (ring->modules_lost)
        fprintf(
            stderr,
            "reusescope: warning: %llu libraries were not watched: there are too many, or their tables are too large\n",
            (unsigned long long)ring->modules_lost);
}

/* Is the engine the exact one, by default or by name? */
static int is_exact(const struct rsc_analysis *analysis) {
    return analysis->engine.error <= 0 && rsc_engine_spec_is_exact(&analysis->spec);
}

static void say_how_it_went(struct run *run) {
    struct rsc_drain_stats stats;
    const struct rsc_launch *launch = &run->launch;
    double user = cpu_seconds(&launch->usage.ru_utime), kernel = cpu_seconds(&launch->usage.ru_stime);
    rsc_drain_get_stats(run->drain, &stats);
    uint64_t all = stats.instructions + stats.unrecorded_instructions;
    double seen = all ? (double)stats.instructions / (double)all : 1;
    if (rebuilt(run)) seen = share_seen(launch->ring);
    double slowdown = run->native_seconds > 0 ? (user + kernel) / run->native_seconds : NAN;
    for (size_t i = 0; i < run->analysis.count; i++) {
        if (!run->analysis.profiles[i]) continue;
        run->analysis.profiles[i]->made.coverage = seen;
        run->analysis.profiles[i]->made.overhead = slowdown;
    }
    if (run->session.quiet) return;
    if (isnan(slowdown))
        fprintf(stderr, "reusescope: slowdown not measured (--native runs the program once more, without us)\n");
    else
        fprintf(stderr, "reusescope: slowdown %.1fx in processor time (%.2f s, without us %.2f s)\n", slowdown,
                user + kernel, run->native_seconds);
    fprintf(
        stderr,
        "reusescope: %.1f s, %.1f million accesses by %llu thread%s in %.1f million instructions, %.1f M accesses/s\n",
        launch->seconds, (double)stats.accesses / 1e6, (unsigned long long)stats.threads, stats.threads == 1 ? "" : "s",
        (double)stats.instructions / 1e6, (double)stats.accesses / launch->seconds / 1e6);
    rsc_run_sample_say(&run->sample, &run->analysis, run->drain);
    if (rebuilt(run)) say_what_was_not_rebuilt(run, &stats);
    else
        fprintf(
            stderr,
            "reusescope: it waited %.1f s for the analysis; unseen: %.1f %% of its instructions, and its time in the kernel (%.0f %% of processor time)\n",
            1e-9 * (double)stats.waited_ns, 100 * (1 - seen), user + kernel > 0 ? 100 * kernel / (user + kernel) : 0);
    if (stats.late)
        fprintf(stderr, "reusescope: %llu of %llu blocks came out of order (threads more than 20 ms apart)\n",
                (unsigned long long)stats.late, (unsigned long long)stats.blocks);
    if (launch->ring->execs || (launch->ring->forks && !run->launch_options.follow))
        fprintf(
            stderr,
            "reusescope: warning: not watched: %llu forked children, %llu programs it started (--follow watches them)\n",
            (unsigned long long)(run->launch_options.follow ? 0 : launch->ring->forks),
            (unsigned long long)launch->ring->execs);
    if (launch->ring->crowded_out)
        fprintf(stderr, "reusescope: warning: %u threads were not seen: more than %u at a time\n",
                launch->ring->crowded_out, RSC_RING_SLOTS);
    if (stats.processes_mixed)
        fprintf(
            stderr,
            "reusescope: warning: more than 65535 processes: the memory of those after the first 65534 is counted as one\n");
    if (run->launch_options.roi && !stats.accesses)
        fprintf(stderr, "reusescope: warning: nothing seen: %s%s\n", run->launch_options.roi,
                strcmp(run->launch_options.roi, "marked")
                    ? " was not called, was inlined, or is not a function of the program itself"
                    : ": reusescope_begin() was not called");
    if (stats.left)
        fprintf(stderr, "reusescope: warning: %llu threads of children with a session of their own run on, unwatched\n",
                (unsigned long long)stats.left);
    if (stats.threads > 1 && run->analysis.profiles[0] && !rebuilt(run) && !run->model_given && !run->both_by_default &&
        is_exact(&run->analysis))
        fprintf(
            stderr,
            "reusescope: one stack for all threads: it did not look as if there would be any (--model both has private stacks too)\n");
    if (run->trace_full) fprintf(stderr, "reusescope: warning: %s: ended early: the disk is full\n", run->trace_name);
}

/* How the program ended is how we end: its status, or 128 + its signal. */
static int exit_status(struct run *run) {
    int status = run->launch.status;
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    fprintf(stderr, "reusescope: %s: ended by signal %d (%s)\n", run->command[0], number, strsignal(number));
    if (number == SIGILL && run->target.guest == RSC_GUEST_X86_64 && !rebuilt(run))
        fprintf(stderr, "reusescope: QEMU 7.2 knows no AVX-512: if the program chooses its code by what the processor "
                        "has, that is not it; else build it for x86-64-v3 or less\n");
    return 128 + number;
}

/* One thread has one stack, whether others share it or not. */
static void leave_one_of_equals(struct run *run) {
    struct rsc_analysis *analysis = &run->analysis;
    struct rsc_drain_stats stats;
    rsc_drain_get_stats(run->drain, &stats);
    if (stats.threads > 1) return;
    for (size_t i = 0; i < analysis->count; i += RSC_MODELS_MAX) {
        rsc_profile_free(analysis->profiles[i]);
        analysis->profiles[i / RSC_MODELS_MAX] = analysis->profiles[i + 1];
        if (i) analysis->profiles[i] = NULL;
        analysis->profiles[i + 1] = NULL;
    }
    analysis->count /= RSC_MODELS_MAX;
}

static int finish(struct run *run, struct rsc_error *error) {
    int status = 0;
    if (run->writer) status = rsc_trace_writer_finish(run->writer, error);
    if (status > 0) run->trace_full = 1;
    if (status > 0) status = 0;
    if (!status) status = rsc_run_sample_finish(&run->sample, &run->analysis, run->drain, error);
    if (!status && !run->only_record)
        status = rsc_analysis_finish(&run->analysis, rebuilt(run) ? "asm" : "qemu", error);
    if (!status && run->both_by_default) leave_one_of_equals(run);
    for (size_t i = 0; !status && !run->only_record && i < run->analysis.count; i++)
        if (run->analysis.engine.error > 0 &&
            !rsc_auto_kept_word(run->analysis.profiles[i], run->analysis.engine.error))
            rsc_log_line(&run->session.log, RSC_LOG_WARNING, "the error bars are wider than --error %g allows",
                         run->analysis.engine.error);
    return status;
}

/* We cannot go on, but the program can: it is not left behind on the terminal. */
static void let_it_finish(struct run *run) {
    if (!run->launch.running) return;
    __atomic_store_n(&run->launch.ring->detached, 1, __ATOMIC_RELEASE);
    while (!rsc_launch_poll(&run->launch)) usleep(2000);
}

/* By itself when it was built so, unless something is asked for that only QEMU does. */
static void choose_collector(struct run *run) {
    int only_qemu = run->launch_options.strict || run->seed_given;
    run->launch_options.rebuilt =
        run->with == WITH_ASM || (run->with == WITH_AUTO && run->target.rebuilt && !only_qemu);
}

/*
 * Under QEMU, programs with threads are shown with both models. They take twice the
 * time of one, and for a single thread they are the same: which it will be has to be
 * known before the first reference.
 */
static void choose_models(struct run *run) {
    struct rsc_analysis *analysis = &run->analysis;
    if (run->model_given || rebuilt(run) || run->only_record || !is_exact(analysis)) return;
    if (!run->launch_options.follow && !analysis->engine.cores && !rsc_target_may_thread(&run->target)) return;
    analysis->engine.model = "both";
    analysis->both = run->both_by_default = 1;
}

static int fail(struct run *run, const struct rsc_error *error) {
    int leave = rsc_session_fail(&run->session, error);
    return leave == RSC_EXIT_USAGE && error->code != RSC_EINVAL ? RSC_EXIT_ERROR : leave;
}

/* Sampled: no batches, an analysis of its own. */
static int run_sampled(struct run *run) {
    struct rsc_run_perf perf = {.analysis = &run->analysis,
                                .target = &run->target,
                                .command = run->command,
                                .options = &run->launch_options,
                                .launch = &run->launch,
                                .rate = run->rate};
    struct rsc_error error;
    int leave;
    run->launch.ring_fd = -1;
    int status = rsc_run_perf_check(&perf, &error);
    if (!status) status = rsc_target_find(&run->target, run->command[0], &error);
    if (!status && run->measure_native)
        status = rsc_launch_native_seconds(&run->target, run->command, &perf.native_seconds, &error);
    if (!status) status = rsc_run_perf(&perf, &error);
    if (status < 0) {
        let_it_finish(run);
        leave = fail(run, &error);
    } else {
        leave = rsc_session_deliver(&run->session, run->analysis.profiles, 1, 1);
        if (leave == RSC_EXIT_OK) leave = exit_status(run);
    }
    rsc_launch_close(&run->launch);
    return leave;
}

static int run_program(struct run *run) {
    struct rsc_error error;
    int leave = RSC_EXIT_OK;
    if (run->with == WITH_PERF) return run_sampled(run);
    int status = rsc_target_find(&run->target, run->command[0], &error);
    if (!status) choose_collector(run);
    if (!status) choose_models(run);
    if (!status && !rebuilt(run)) status = rsc_launch_check(run->target.guest, &error);
    struct rsc_run_facts facts = {rebuilt(run), by_function(run), run->only_record, run->trace_path};
    if (!status) status = rsc_run_sample_open(&run->sample, &run->analysis, &run->launch_options, &facts, &error);
    if (!status && !rsc_run_sample_taken(&run->sample)) status = rsc_analysis_open(&run->analysis, &error);
    if (!status) status = open_trace(run, &error);
    run->launch.ring_fd = -1;
    if (!status && by_function(run))
        status = rsc_roi_open(&run->roi, run->target.path, run->launch_options.roi, &error);
    if (!status && run->measure_native)
        status = rsc_launch_native_seconds(&run->target, run->command, &run->native_seconds, &error);
    if (!status) status = rsc_launch_start(&run->launch, &run->target, run->command, &run->launch_options, &error);
    if (!status) status = rsc_drain_new(&run->drain, run->launch.ring, &error);
    if (!status && by_function(run)) rsc_drain_set_region(run->drain, &run->roi);
    if (!status && rebuilt(run)) rsc_drain_set_most(run->drain, run->launch_options.length);
    if (!status) status = watch(run, &error);
    rsc_progress_end(&run->session);
    if (!status && rebuilt(run) && !run->launch.ring->images)
        status = rsc_fail(&error, RSC_EUNSUPPORTED, "%s: nothing that it ran was built with reusescope cc",
                          run->target.path);
    if (!status && !run->launch.ring->images) /* QEMU has said why */
        status = rsc_fail(&error, RSC_EUNSUPPORTED, "%s: QEMU did not start the collector", run->target.path);
    if (!status) status = finish(run, &error);
    if (status < 0) {
        let_it_finish(run);
        leave = fail(run, &error);
    } else {
        say_how_it_went(run);
        if (!run->only_record)
            leave = rsc_session_deliver(&run->session, run->analysis.profiles, run->analysis.count, 1);
        else rsc_hint(&run->session, "reusescope analyze %s", run->trace_name);
        if (leave == RSC_EXIT_OK) leave = exit_status(run);
    }
    rsc_drain_free(run->drain);
    rsc_run_sample_free(&run->sample);
    rsc_roi_close(&run->roi);
    rsc_launch_close(&run->launch);
    rsc_trace_writer_close(run->writer);
    return leave;
}

static int run_run(const struct rsc_verb *verb, int argc, char **argv) {
    struct run *run = calloc(1, sizeof *run);
    if (!run) return RSC_EXIT_ERROR;
    rsc_session_start(&run->session, verb, argv);
    rsc_analysis_start(&run->analysis, &run->session);
    run->analysis.engine.model = "shared";
    run->launch_options = (struct rsc_launch_options){.contexts = 1, .objects = 1, .seed = 1};
    int leave = take_options(run, argc, argv);
    if (leave < 0) leave = run_program(run);
    rsc_analysis_close(&run->analysis);
    free(run);
    return leave;
}

const struct rsc_verb rsc_verb_run = {
    .name = "run",
    .operands = "[--] PROGRAM [ARGUMENTS]",
    .summary = "Watch a program and show how it reuses memory",
    .about = "Analyses the program's memory accesses while it runs, threads in parallel. A program built with "
             "`reusescope cc` runs natively; by default the lines of 1/64 of memory are followed. Any other "
             "program, for x86-64 or AArch64, runs unmodified under QEMU's user-mode emulator, and every "
             "access is counted. The exit status is the program's own, or 128 plus the signal that ended it.",
    .example = "reusescope run -- ./solver --size 512",
    .groups = {options, rsc_analysis_options, rsc_output_options, rsc_common_options},
    .run = run_run,
};
