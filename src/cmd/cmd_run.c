/*
 * cmd_run.c - `reusescope run`: watches a program with one of the collectors (collect/collector.h),
 * analyses its accesses while it runs, and exits with its status.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/inputs.h"
#include "cmd/run_engines.h"
#include "cmd/run_says.h"
#include "engine/engine_auto.h"
#include "profile/order_bounds.h"

struct run {
    struct rsc_session session;
    struct rsc_analysis analysis;
    struct rsc_run_asked asked;
    struct rsc_target target;
    struct rsc_collector collector;
    struct rsc_whole_run whole;
    uint32_t pid; /* of the program */
    struct rsc_run_facts facts;
    char trace_name[4096];
    struct rsc_trace_writer *writer;
    int trace_full; /* there is no room for more: accesses are not recorded, but analysed */
    int trace_failed;
    struct rsc_error trace_error;
    struct rsc_run_base base;
    struct rsc_target plain; /* of --native=BINARY */
    int not_run; /* exit status of a shell for a program that it cannot run; 0: this one can be run */
    int both_by_default; /* if only one thread ran, the models are the same and only one is shown */
};

/* ---- choosing ---- */

/* Whether to show both models if there are threads: of every reference, or of a sample that a program takes itself. */
static int models_are_free(const struct run *run) {
    const struct rsc_collector_kind *kind = run->collector.kind;
    if (run->asked.model_given || run->asked.lines) return 0;
    if (rsc_live_taken(&run->analysis.spec) == RSC_TAKES_SAMPLES) return rsc_collector_gives(kind, RSC_TAKES_SAMPLES);
    return rsc_collector_gives(kind, RSC_TAKES_ACCESSES) && run->analysis.engine.error <= 0 &&
           rsc_engine_spec_is_exact(&run->analysis.spec);
}

/*
 * Programs with threads are shown with both models. For a single thread the models are the
 * same, and cost little more than one; the choice must be made before the first reference.
 */
static void choose_models(struct run *run) {
    struct rsc_analysis *analysis = &run->analysis;
    if (!models_are_free(run) || run->asked.only_record) return;
    if (!run->asked.request.follow && !analysis->engine.cores && !rsc_target_may_thread(&run->target)) return;
    analysis->engine.model = "both";
    analysis->both = run->both_by_default = 1;
}

static int open_trace(struct run *run, struct rsc_error *error) {
    char command[8192], source[64];
    size_t used = 0;
    if (!run->asked.trace_path) return 0;
    snprintf(source, sizeof source, "reusescope run (%s)", run->collector.kind->name);
    for (char *const *word = run->asked.request.command; *word && used < sizeof command; word++)
        used += (size_t)snprintf(command + used, sizeof command - used, "%s%s",
                                 word == run->asked.request.command ? "" : " ", *word);
    struct rsc_trace_writer_options writer = {.struct_bytes = sizeof writer,
                                              .source = source,
                                              .command = run->session.no_command ? NULL : command,
                                              .pcs = 1,
                                              .keep_partial = 1,
                                              .whole_frames = run->collector.kind != &rsc_collector_valgrind};
    rsc_expand_name(run->asked.trace_path, run->trace_name, sizeof run->trace_name);
    return rsc_trace_writer_open(&run->writer, run->trace_name, &writer, error);
}

/* Runs the program, or the binary of --native=BINARY with its arguments, unwatched. */
static int run_base(struct run *run, struct rsc_error *error) {
    struct rsc_target *plain = &run->plain;
    size_t count = 0;
    if (!run->base.binary) return rsc_launch_native(&run->target, run->asked.request.command, &run->base.run, error);
    while (run->asked.request.command[count]) count++;
    char **words = malloc((count + 1) * sizeof *words);
    if (!words) return rsc_fail_memory(error, "--native");
    memcpy(words, run->asked.request.command, (count + 1) * sizeof *words);
    words[0] = plain->script[0] ? plain->script : plain->path;
    int status = rsc_launch_native(plain, words, &run->base.run, error);
    free(words);
    return status;
}

/* Finds the program, which nothing that is written may replace. */
static int find_program(struct run *run, const char *name, struct rsc_target *target, struct rsc_error *error) {
    const struct rsc_session *session = &run->session;
    const char *output = session->output ? session->output : RSC_DATA_FILE;
    int status = rsc_target_find(target, name, error);
    if (status < 0 && status != RSC_EUNSUPPORTED && target == &run->target && !run->asked.request.attach_to)
        run->not_run = (strchr(name, '/') ? access(name, F_OK) == 0 : target->path[0] != 0) ? RSC_EXIT_NOT_EXECUTABLE
                                                                                            : RSC_EXIT_NOT_FOUND;
    rsc_input_spare(target->path);
    rsc_input_spare(target->script);
    if (!status && run->asked.trace_path) status = rsc_session_spare_opened(session, run->asked.trace_path, error);
    if (!status && !run->asked.only_record) status = rsc_session_spare_opened(session, output, error);
    return status;
}

/* Collector, models, engines and files: every check that can fail before the program runs. */
static int open_run(struct run *run, struct rsc_error *error) {
    const struct rsc_collector_kind *kind = run->asked.with;
    const char *name = run->asked.request.command[0];
    int status = find_program(run, name, &run->target, error);
    run->base = (struct rsc_run_base){.measured = run->asked.native, .binary = run->asked.native_binary};
    if (!status && run->base.binary) status = find_program(run, run->base.binary, &run->plain, error);
    run->asked.request.target = &run->target;
    if (!status && !kind) status = rsc_collector_choose(&kind, &run->asked.request, error);
    if (status < 0) return status;
    rsc_collector_init(&run->collector, kind, &run->asked.request);
    status = rsc_run_choose_sample(&run->analysis, &run->asked, kind, error);
    if (status < 0) return status;
    choose_models(run);
    status = rsc_run_engines_open(&run->analysis, &run->asked, kind, error);
    if (!status && run->asked.with) status = kind->check(&run->asked.request, error);
    if (!status) status = open_trace(run, error);
    if (!status && run->base.measured) status = run_base(run, error);
    return status;
}

/* ---- looping ---- */

static int deliver_batch(struct run *run, const struct rsc_batch *batch, const struct rsc_batch_columns *columns,
                         struct rsc_error *error) {
    if (run->writer && !run->trace_full) {
        int status = rsc_trace_writer_push(run->writer, batch, error);
        if (status < 0) return status;
        run->trace_full = status > 0;
    }
    return run->asked.only_record ? 0 : rsc_analysis_push(&run->analysis, batch, columns, error);
}

/* Consumes records until the program has ended and none are left. */
static int watch(struct run *run, struct rsc_error *error) {
    struct rsc_collector *collector = &run->collector;
    struct rsc_batch batch = {.count = 0};
    struct rsc_batch_columns columns;
    int status;
    while ((status = collector->kind->next(collector, &batch, &columns, error)) != RSC_COLLECT_ENDED) {
        if (status == RSC_COLLECT_BATCH) status = deliver_batch(run, &batch, &columns, error);
        if (status < 0) return status;
        rsc_run_progress(&run->analysis, collector, &run->base);
    }
    rsc_progress_end(&run->session);
    collector->kind->describe(collector, &run->facts);
    return collector->kind->finish(collector, &run->whole, error);
}

/* ---- delivering ---- */

/* With one thread, the private and the shared stack are the same: only the shared one makes a profile. */
static void leave_one_of_equals(struct rsc_analysis *analysis) {
    for (size_t i = 0; i < analysis->count; i += RSC_MODELS_MAX) {
        rsc_engine_free(analysis->engines[i]);
        analysis->engines[i / RSC_MODELS_MAX] = analysis->engines[i + 1];
        if (i) analysis->engines[i] = NULL;
        analysis->engines[i + 1] = NULL;
    }
    analysis->count /= RSC_MODELS_MAX;
}

/* A rebuilt program counts its instructions by block, in and out of the part that was asked for. */
static int counts_other_instructions(const struct run *run) {
    const struct rsc_collect_request *request = &run->asked.request;
    return run->collector.kind == &rsc_collector_rebuilt &&
           (request->roi_function || request->roi_marked || request->skip || request->length);
}

static int finish(struct run *run, struct rsc_error *error) {
    struct rsc_analysis *analysis = &run->analysis;
    analysis->instructions_unknown |= counts_other_instructions(run);
    const struct rsc_batch nothing = {.instructions = RSC_UNKNOWN};
    const struct rsc_batch_columns end = {.whole = &run->whole};
    int status = run->writer ? rsc_trace_writer_finish(run->writer, &run->trace_error) : 0;
    run->trace_failed = status < 0; /* the analysis is delivered all the same */
    if (run->asked.only_record) return 0;
    status = 0;
    if (run->asked.request.wanted.what != RSC_TAKES_ACCESSES)
        status = rsc_analysis_push(analysis, &nothing, &end, error);
    run->pid = run->collector.launch.pid > 0 ? (uint32_t)run->collector.launch.pid : 0;
    analysis->pids = run->whole.process_count ? run->whole.pids : &run->pid;
    analysis->process_count = run->whole.process_count ? run->whole.process_count : run->pid != 0;
    if (run->both_by_default && run->facts.threads <= 1) leave_one_of_equals(analysis);
    if (status >= 0) status = rsc_analysis_finish(analysis, run->collector.kind->name, error);
    if (status < 0) return status;
    for (size_t i = 0; run->whole.order && i < analysis->count; i++)
        rsc_order_bounds_apply(run->whole.order, analysis->profiles[i]);
    for (size_t i = 0; i < analysis->count; i++)
        if (analysis->engine.error > 0 && !rsc_auto_kept_word(analysis->profiles[i], analysis->engine.error))
            rsc_log_line(&run->session.log, RSC_LOG_WARNING, "the error bars are wider than --error %g allows",
                         analysis->engine.error);
    return 0;
}

/* Reports what was left out and why, for options that only this verb has. */
static void say_the_rest(struct run *run) {
    if (run->session.quiet) return;
    if (run->facts.threads > 1 && run->analysis.profiles[0] && models_are_free(run) && !run->both_by_default)
        rsc_session_say(&run->session,
                        "one stack for all threads: threads were not expected, so only the shared model was "
                        "computed (--model both has private stacks too)");
}

static int deliver(struct run *run) {
    int leave = RSC_EXIT_OK;
    rsc_run_say(&run->analysis, &run->collector, &run->facts, &run->whole, &run->base);
    say_the_rest(run);
    if (run->trace_failed) rsc_session_fail(&run->session, &run->trace_error);
    else if (run->asked.only_record) rsc_hint(&run->session, "reusescope analyze %s", run->trace_name);
    if (!run->asked.only_record)
        leave = rsc_session_deliver(&run->session, run->analysis.profiles, run->analysis.count, 1);
    if (run->trace_failed) return RSC_EXIT_ERROR;
    return leave == RSC_EXIT_OK ? rsc_run_exit_status(&run->collector) : leave;
}

/* On an error, lets the program finish unwatched, so that it is not left running on the terminal. */
static int fail(struct run *run, const struct rsc_error *error) {
    rsc_collector_let_run(&run->collector);
    if (rsc_collector_ended_first(&run->collector)) return rsc_run_exit_status(&run->collector);
    int leave = rsc_session_fail(&run->session, error);
    return run->not_run ? run->not_run : leave;
}

/* Each rank of an MPI job keeps its own result, and only the first one shows it. */
static void speak_as_rank(struct rsc_session *session) {
    const char *rank = rsc_mpi_rank();
    if (!rank || session->output || session->format) return;
    session->output = RSC_RANK_DATA_FILE;
    if (strcmp(rank, "0")) session->quiet = 1;
    if (!session->quiet)
        rsc_session_say(session, "rank 0 of an MPI job; each rank keeps its own result: reusescope merge "
                                 "reusescope.*.data");
}

static int run_program(struct run *run) {
    struct rsc_error error;
    speak_as_rank(&run->session);
    int status = open_run(run, &error);
    if (!status) status = rsc_collector_start(&run->collector, &error);
    if (!status) status = watch(run, &error);
    if (!status) status = finish(run, &error);
    int leave = status < 0 ? fail(run, &error) : deliver(run);
    rsc_collector_close(&run->collector);
    rsc_trace_writer_close(run->writer);
    return leave;
}

int rsc_run_verb(const struct rsc_verb *verb, int argc, char **argv, rsc_run_taker *take) {
    struct run *run = calloc(1, sizeof *run);
    if (!run) return rsc_memory_error(verb);
    rsc_session_start(&run->session, verb, argv);
    rsc_analysis_start(&run->analysis, &run->session);
    rsc_collector_init(&run->collector, NULL, &run->asked.request);
    run->analysis.engine.model = "shared";
    run->asked.request.contexts = run->asked.request.objects = 1;
    run->asked.request.seed = 1;
    int leave = take(&run->asked, &run->analysis, argc, argv);
    if (leave < 0) leave = run_program(run);
    rsc_analysis_close(&run->analysis);
    free(run);
    return leave;
}

static int run_run(const struct rsc_verb *verb, int argc, char **argv) {
    return rsc_run_verb(verb, argc, argv, rsc_run_take_options);
}

const struct rsc_verb rsc_verb_run = {
    .name = "run",
    .operands = "[--] PROGRAM [ARGUMENTS]",
    .summary = "Watch a program and show how it reuses memory",
    .about = "Analyses the program's memory accesses while it runs, threads in parallel. A program built with "
             "`reusescope cc` runs natively and samples its references, with error bars. Any other "
             "program, for x86-64 or AArch64, runs unmodified under Valgrind or QEMU, and every "
             "access is counted. The exit status is the program's own, or 128 plus the signal that ended it; 127 if "
             "there is no such program, 126 if it cannot be run.",
    .example = "reusescope run -- ./solver --size 512",
    .groups = {rsc_run_options, rsc_analysis_options, rsc_output_options, rsc_common_options},
    .run = run_run,
};
