/* generate_spec.h - the parsed specification of a generator; generate.h documents the keys. */
#ifndef RSC_TRACE_GENERATE_GENERATE_SPEC_H
#define RSC_TRACE_GENERATE_GENERATE_SPEC_H

#include <stdint.h>

#include <reusescope/error.h>

#define RSC_GENERATOR_LINE 64u /* bytes */

/* The patterns of mix come first. */
enum rsc_pattern {
    RSC_PATTERN_UNIFORM,
    RSC_PATTERN_ZIPF,
    RSC_PATTERN_CYCLIC,
    RSC_PATTERN_STRIDE,
    RSC_PATTERN_STENCIL,
    RSC_PATTERN_CHASE,
    RSC_PATTERN_MIX,
    RSC_PATTERN_COUNT,
};

struct rsc_generator_spec {
    enum rsc_pattern pattern;
    uint64_t lines, stride, base, threads, size; /* stride and size in bytes */
    double skew, write;
};

/* RSC_EINVAL names the key at fault and what is allowed. */
int rsc_generator_spec_parse(struct rsc_generator_spec *spec, const char *text, struct rsc_error *error);

#endif
