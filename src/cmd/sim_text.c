/* sim_text.c - see sim_text.h. */
#include "cmd/sim_text.h"

#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "report/text_buffer.h"
#include "report/units.h"

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* Numbers stand right in their columns. */
static void put_right(struct rsc_text *text, unsigned end, const char *number) {
    unsigned columns = rsc_text_columns(number);
    rsc_text_pad_to(text, end > columns ? end - columns : 0);
    rsc_text_put(text, "%s", number);
}

static void put_level(struct rsc_text *text, const struct rsc_sim_result *result,
                      const struct rsc_sim_level_result *level) {
    const struct rsc_level_counts *counts = &level->counts;
    uint64_t accesses = rsc_kinds_sum(counts->accesses), misses = rsc_kinds_sum(counts->misses);
    double per_instruction = rsc_sim_mpi(result, level);
    char config[160], per[40];
    rsc_cache_config_text(&level->config, config, sizeof config);
    rsc_text_put(text, "%s", level->config.name);
    rsc_text_pad_to(text, 5);
    rsc_text_put(text, "%s", config);
    put_right(text, 36, rsc_show_short(accesses).text);
    put_right(text, 45, rsc_show_short(misses).text);
    put_right(text, 54, rsc_show_share(ratio(misses, accesses)).text);
    if (isnan(per_instruction)) snprintf(per, sizeof per, "%.3f", 1000 * ratio(misses, result->references));
    else snprintf(per, sizeof per, "%.3f", 1000 * per_instruction);
    put_right(text, 63, per);
    put_right(text, 72, rsc_show_short(counts->writebacks).text);
    rsc_text_put(text, "\n");
}

int rsc_sim_text(const struct rsc_sim_result *result, char **out, size_t *bytes, struct rsc_error *error) {
    struct rsc_text text;
    rsc_text_init(&text, 0, 0);
    rsc_text_put(&text, "%s references", rsc_show_count(result->references).text);
    if (result->instructions != RSC_UNKNOWN)
        rsc_text_put(&text, ", %s instructions", rsc_show_count(result->instructions).text);
    if (result->warm_accesses)
        rsc_text_put(&text, ", after %s accesses of warming up", rsc_show_count(result->warm_accesses).text);
    rsc_text_put(&text, "\n\n     cache");
    put_right(&text, 36, "accesses");
    put_right(&text, 45, "misses");
    put_right(&text, 54, "ratio");
    put_right(&text, 63, result->instructions == RSC_UNKNOWN ? "/k refs" : "MPKI");
    put_right(&text, 72, "wr-backs");
    rsc_text_put(&text, "\n");
    for (size_t i = 0; i < result->level_count; i++) put_level(&text, result, &result->levels[i]);
    return rsc_text_take(&text, out, bytes) < 0 ? rsc_fail_memory(error, "text") : 0;
}
