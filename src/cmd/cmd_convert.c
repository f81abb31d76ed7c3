/* cmd_convert.c - `reusescope convert`: converts a trace to another format, whole or filtered. */
#include <string.h>

#include "cmd/write_trace.h"
#include "simulate/miss_trace.h"
#include "simulate/sampling/set_choice.h"
#include "trace/filter.h"

enum { OPT_NO_PC = RSC_OPT_WRITE_VERB, OPT_SAMPLE_SETS };

static const struct rsc_option options[] = {
    RSC_HEADING("output"),
    {OPT_NO_PC, 0, "no-pc", NULL, "leave pcs out", NULL},
    RSC_HEADING("filters"),
    {OPT_SAMPLE_SETS, 0, "sample-sets", "1/N,bits:LO-HI=VALUE",
     "keep accesses to the cache sets with this value in address bits LO to HI, for sim", NULL},
    RSC_HEADING("resources"),
    RSC_READ_THREADS_OPTION,
    {0, 0, NULL, NULL, NULL, NULL},
};

/* sampler: NULL, or keeps only some sets. */
static int copy(struct rsc_session *session, struct rsc_write *write, struct rsc_trace *trace,
                struct rsc_block_sampler *sampler, struct rsc_error *error) {
    const struct rsc_batch *batch;
    struct rsc_batch kept;
    struct rsc_trace_info info;
    uint64_t done = 0;
    int status = 0;
    rsc_trace_get_info(trace, &info);
    while (!status && (status = rsc_trace_next(trace, &batch, error)) > 0) {
        done += batch->count;
        if (sampler) {
            if ((status = rsc_block_sampler_take(sampler, batch, &kept, error)) < 0) return status;
            batch = &kept;
        }
        status = rsc_write_push(write, batch, error);
        rsc_progress(session, done, info.accesses, "accesses");
    }
    if (status < 0) return status;
    rsc_trace_get_info(trace, &info);
    /* a sample of sets stands for what was read, a miss stream for the program that missed */
    if (sampler && !rsc_miss_trace_kind(info.filter))
        rsc_trace_writer_set_full(write->writer, info.accesses, info.instructions);
    else if ((*info.filter || !rsc_filter_is_all(&session->filter)) && info.full_accesses != RSC_UNKNOWN)
        rsc_trace_writer_set_full(write->writer, info.full_accesses, info.full_instructions);
    return rsc_write_finish(write, session, error);
}

static int convert(struct rsc_session *session, struct rsc_write *write, const char *path,
                   const struct rsc_set_choice *sets, struct rsc_error *error) {
    struct rsc_trace *trace;
    struct rsc_trace_info info;
    struct rsc_block_sample sample = {0};
    struct rsc_block_sampler sampler = {0};
    char filter[1024], both[4096];
    int status = rsc_session_open(session, &trace, path, 1, error);
    if (status < 0) return status;
    rsc_trace_get_info(trace, &info);
    rsc_filter_text(&session->filter, filter, sizeof filter);
    if (sets->denominator) {
        status = rsc_set_choice_sample(sets, NULL, &sample, error);
        rsc_block_sampler_start(&sampler, &sample, rsc_simd_best());
        if (!status) rsc_block_sample_text(&sample, filter, sizeof filter);
    }
    write->options.source = info.source && *info.source ? info.source : info.format;
    write->options.command = info.command;
    /* Filters a trace that is already filtered: the description lists both, in order. */
    snprintf(both, sizeof both, "%s%s%s", info.filter, *info.filter && filter[0] ? ", then " : "", filter);
    write->options.filter = both;
    if (!status) status = rsc_write_open(write, error);
    if (!status) status = copy(session, write, trace, sets->denominator ? &sampler : NULL, error);
    rsc_block_sampler_free(&sampler);
    rsc_block_sample_free(&sample);
    rsc_trace_writer_close(write->writer);
    rsc_trace_close(trace);
    return status;
}

/* No caches are known here, so the bits must be given. Returns -1, or the exit status. */
static int check_sets(const struct rsc_set_choice *sets, const struct rsc_session *session,
                      const struct rsc_write *write) {
    if (!sets->denominator) return -1;
    if (sets->random || sets->all_values || !sets->bits_given)
        return rsc_usage_error(session->verb,
                               "--sample-sets: convert needs the bits and one value, as 1/16,bits:8-11=3");
    if (strcmp(write->options.format, "rsct"))
        return rsc_usage_error(session->verb, "--sample-sets: only a native trace (.rsct) can record its sample");
    if (write->options.max_bytes)
        return rsc_usage_error(session->verb,
                               "--sample-sets cannot be combined with --max-size: a sample of sets is of all accesses");
    if (!rsc_filter_is_all(&session->filter))
        return rsc_usage_error(
            session->verb, "--sample-sets cannot be combined with other filters: filter first, then take the sample");
    return -1;
}

static int run_convert(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_option_parser parser;
    struct rsc_write write;
    struct rsc_error error;
    struct rsc_set_choice sets = {0};
    const char *path = NULL;
    int id, leave = -1;
    rsc_session_start(&session, verb, argv);
    rsc_write_start(&write);
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == OPT_NO_PC) {
            write.options.pcs = 0;
        } else if (id == OPT_SAMPLE_SETS) {
            if (rsc_set_choice_parse(&sets, parser.value, &error) < 0) leave = rsc_session_fail(&session, &error);
        } else if (id == RSC_OPERAND) {
            if (path) leave = rsc_usage_error(verb, "more than one trace: %.60s", parser.value);
            path = parser.value;
        } else {
            leave = rsc_write_option(&write, &session, &parser, id);
        }
    }
    if (leave >= 0) return leave;
    if (!path) return rsc_usage_error(verb, "a trace is missing: reusescope convert TRACE -o FILE");
    if ((leave = rsc_write_check(&write, &session)) >= 0) return leave;
    if ((leave = check_sets(&sets, &session, &write)) >= 0) return leave;
    return convert(&session, &write, path, &sets, &error) < 0 ? rsc_session_fail(&session, &error) : RSC_EXIT_OK;
}

const struct rsc_verb rsc_verb_convert = {
    .name = "convert",
    .operands = "TRACE",
    .summary = "Convert a trace to native, din or CSV, whole or filtered",
    .about = "Filters combine. A native trace keeps its filter and the totals of the original trace. din keeps "
             "kinds and addresses only; CSV drops events.",
    .example = "reusescope convert app.lackey.gz --kind R,W --window 1M+10M -o app.rsct",
    .groups = {rsc_write_options, options, rsc_trace_options, rsc_common_options},
    .run = run_convert,
};
