/* line_choice.c - see line_choice.h. */
#include "distance/shards/line_choice.h"

#include <assert.h>
#include <string.h>

#include "base/numbers.h"
#include "base/rng.h"

#define RATE_LEAST 1e-9 /* of a rate given as text */

void rsc_line_choose(struct rsc_line_choice *choice, double rate, uint64_t seed) {
    assert(rate > 0 && rate <= 1);
    choice->rate = rate;
    choice->limit = rate < 1 ? (uint64_t)(rate * 0x1p64) - 1 : UINT64_MAX;
    choice->offset = rsc_line_offset(seed);
}

int rsc_line_choice_parse(struct rsc_line_choice *choice, const char *rate, uint64_t seed) {
    double parsed;
    if (rsc_parse_rate(rate, strlen(rate), &parsed) < 0 || !(parsed >= RATE_LEAST && parsed < 1)) return -1;
    rsc_line_choose(choice, parsed, seed);
    return 0;
}

double rsc_line_rate(uint64_t limit) { return limit == UINT64_MAX ? 1 : ((double)limit + 1) * 0x1p-64; }

uint64_t rsc_line_offset(uint64_t seed) {
    struct rsc_rng rng;
    rsc_rng_seed(&rng, seed, 0);
    return rsc_rng_u64(&rng);
}
