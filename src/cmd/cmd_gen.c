/* cmd_gen.c - `reusescope gen`: generates synthetic traces with known reuse. */
#include <string.h>

#include "base/numbers.h"
#include "cmd/write_trace.h"
#include "trace/generate/generate.h"

enum { OPT_COUNT = RSC_OPT_WRITE_VERB, OPT_SEED };

static const struct rsc_option options[] = {
    RSC_HEADING("trace"),
    {OPT_COUNT, 'n', "count", "N", "number of accesses (K, M, G are powers of two)", NULL},
    {OPT_SEED, 0, "seed", "S", "seed of the random numbers (default 1)", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

static int generate(struct rsc_session *session, struct rsc_write *write, const char *spec, uint64_t count,
                    uint64_t seed, struct rsc_error *error) {
    struct rsc_source *source;
    struct rsc_batch batch;
    uint64_t done = 0;
    int status = rsc_generator_open(&source, spec, count, seed, error);
    if (status < 0) return status;
    status = rsc_write_open(write, error);
    while (!status && (status = source->ops->next(source, &batch, error)) > 0) {
        status = rsc_write_push(write, &batch, error);
        done += batch.count;
        rsc_progress(session, done, count, "accesses");
    }
    source->ops->close(source);
    if (status >= 0) status = rsc_write_finish(write, session, error);
    rsc_trace_writer_close(write->writer);
    return status;
}

static int run_gen(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_option_parser parser;
    struct rsc_write write;
    struct rsc_error error;
    const char *spec = NULL;
    uint64_t count = 0, seed = 1;
    int id, leave = -1;
    rsc_session_start(&session, verb, argv);
    rsc_write_start(&write);
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == OPT_COUNT || id == OPT_SEED) {
            if (rsc_parse_u64(parser.value, strlen(parser.value), id == OPT_COUNT ? &count : &seed) < 0)
                leave = rsc_option_refuse(&parser, "not a number");
        } else if (id == RSC_OPERAND) {
            if (spec) leave = rsc_usage_error(verb, "more than one specification: %.60s", parser.value);
            spec = parser.value;
        } else {
            leave = rsc_write_option(&write, &session, &parser, id);
        }
    }
    if (leave >= 0) return leave;
    if (!spec)
        return rsc_usage_error(verb, "a specification is missing: reusescope gen zipf,lines=64K -n 1M -o t.rsct");
    if (!count) return rsc_usage_error(verb, "a count is missing: -n COUNT, 1 or more");
    if ((leave = rsc_write_check(&write, &session)) >= 0) return leave;
    write.options.source = "reusescope gen";
    write.options.command = spec;
    return generate(&session, &write, spec, count, seed, &error) < 0 ? rsc_session_fail(&session, &error) : RSC_EXIT_OK;
}

const struct rsc_verb rsc_verb_gen = {
    .name = "gen",
    .operands = "KIND[,key=value...]",
    .summary = "Generate a trace: uniform, zipf, cyclic, stride, stencil, chase, mix",
    .about = "Keys: lines (64-byte lines touched), skew (of zipf), stride (bytes), threads, write (fraction of "
             "writes), base (first address), size (bytes per access). The same specification and seed give the "
             "same bytes on every machine.",
    .example = "reusescope gen zipf,lines=1M,skew=0.99,write=0.2 -n 10M --seed 7 -o z.rsct",
    .groups = {options, rsc_write_options, rsc_common_options},
    .run = run_gen,
};
