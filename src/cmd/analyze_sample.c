/* analyze_sample.c - see analyze_sample.h. */
#include "cmd/analyze_sample.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "multicore/sampled_options.h"

/* The references of "1/N"; 0: it is not that. */
static uint64_t one_in(const char *text) {
    uint64_t period;
    if (strncmp(text, "1/", 2) || rsc_parse_u64(text + 2, strlen(text + 2), &period) < 0) return 0;
    return period && period <= 1ull << 52 ? period : 0;
}

int rsc_sample_option(struct rsc_sample_request *request, const struct rsc_option_parser *parser, const char **field) {
    const char *value = parser->value;
    struct rsc_sampler_options sampler = {0};
    struct rsc_error_bound bound;
    double rate;
    if (field == &request->sample) {
        int lines = !strncmp(value, "lines:", 6);
        if (lines ? rsc_rate_parse(value + 6, strlen(value + 6), &rate) < 0 : !one_in(value))
            return rsc_option_refuse(parser,
                                     "not one reference in so many, as 1/1000, nor a part of all lines, as lines:1/64");
    } else if (field == &request->ordering) {
        if (rsc_ordering_parse(value, strlen(value), &sampler) < 0)
            return rsc_option_refuse(parser, "not sequential, parallel or skew:REFERENCES");
    } else if (rsc_error_kind_parse(value, strlen(value), &bound) < 0) {
        return rsc_option_refuse(parser, "not bucket, relative[:SHARE] or aggregate[:BINS]");
    }
    *field = value;
    return -1;
}

int rsc_sample_settle(struct rsc_sample_request *request, struct rsc_analysis *analysis, struct rsc_error *error) {
    const char *engine = analysis->engine.engine;
    const char *given = request->sample ? "--sample" : request->ordering ? "--ordering" : "--error-kind";
    if (!request->sample && !request->ordering && !request->error_kind) return 0;
    if (analysis->requests || (engine && strcmp(engine, "sampled") && strncmp(engine, "sampled:", 8)))
        return rsc_fail(error, RSC_EINVAL, "%s: only --engine sampled takes it", given);
    if (request->error_kind && !(analysis->engine.error > 0))
        return rsc_fail(error, RSC_EINVAL, "--error-kind says what --error bounds, which is missing");
    if (request->ordering && request->sample && !strncmp(request->sample, "lines:", 6))
        return rsc_fail(error, RSC_EINVAL,
                        "--ordering: a sample of lines is exact in itself, in the order of the trace");
    int used = snprintf(request->engine, sizeof request->engine, "%.200s", engine ? engine : "sampled");
    char between = strchr(request->engine, ':') ? ',' : ':';
    size_t room = sizeof request->engine;
    if (request->sample && !strncmp(request->sample, "lines:", 6))
        used += snprintf(request->engine + used, room - (size_t)used, "%clines=%.40s", between, request->sample + 6);
    else if (request->sample)
        used += snprintf(request->engine + used, room - (size_t)used, "%cperiod=%llu", between,
                         (unsigned long long)one_in(request->sample));
    if (request->sample) between = ',';
    if (request->ordering)
        used += snprintf(request->engine + used, room - (size_t)used, "%cordering=%.40s", between, request->ordering);
    if (request->ordering) between = ',';
    if (request->error_kind)
        snprintf(request->engine + used, room - (size_t)used, "%cerror-kind=%.40s", between, request->error_kind);
    analysis->engine.engine = request->engine;
    return 0;
}
