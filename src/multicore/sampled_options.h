/*
 * sampled_options.h - the parameters after "sampled:", as KEY=VALUE separated by commas:
 *   period=N        references of a thread per sample, on average; overrides --error
 *   lines=1/N       instead: all references to a part of the lines, chosen by hash
 *   ordering=O      sequential (default) or parallel
 *   exact=LINES     distance sets larger than this are sketched
 *   active=N        active samples per stack
 *   prune=Q         drop the oldest sample if its distance is beyond this quantile; off: never
 *   prune-after=N   but not before this many samples have ended
 *   error-kind=K    what --error bounds: bucket (default), relative[:SHARE] or aggregate[:BINS]
 */
#ifndef RSC_MULTICORE_SAMPLED_OPTIONS_H
#define RSC_MULTICORE_SAMPLED_OPTIONS_H

#include <reusescope/error.h>

#include "estimate/sample_plan.h"
#include "runtime/sampler/sampler.h"

struct rsc_sampled_options {
    double period; /* 0: as the error bound needs */
    double line_rate; /* 0: references are sampled, not lines */
    struct rsc_sampler_options sampler; /* the fields that have keys */
    int ordering_given;
    struct rsc_error_bound bound; /* kind, share and bins */
};

/* `text` may be NULL: all defaults. Returns 0 or RSC_EINVAL. */
int rsc_sampled_options_parse(struct rsc_sampled_options *options, const char *text, struct rsc_error *error);

#endif
