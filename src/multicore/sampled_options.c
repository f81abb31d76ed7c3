/* sampled_options.c - see sampled_options.h. */
#include "multicore/sampled_options.h"

#include <string.h>

#include "base/fail.h"
#include "base/key_values.h"
#include "base/numbers.h"

/* Whether the text is `word` or `word:VALUE`, and then where the value starts. */
static int has_value(const char *text, size_t length, const char *word, const char **value, size_t *value_length) {
    size_t stem = strlen(word);
    if (length <= stem + 1 || memcmp(text, word, stem) || text[stem] != ':') return 0;
    *value = text + stem + 1;
    *value_length = length - stem - 1;
    return 1;
}

static int parse_number(const char *text, size_t length, uint64_t low, uint64_t high, uint64_t *value) {
    return rsc_parse_u64(text, length, value) < 0 || *value < low || *value > high ? -1 : 0;
}

static int parse_ordering(const char *text, size_t length, struct rsc_sampler_options *sampler) {
    sampler->order = RSC_ORDER_PARALLEL;
    if (rsc_is_word(text, length, "parallel")) return 0;
    sampler->order = RSC_ORDER_SEQUENTIAL;
    return rsc_is_word(text, length, "sequential") ? 0 : -1;
}

static int parse_error_kind(const char *text, size_t length, struct rsc_error_bound *bound) {
    const char *value;
    size_t value_length;
    uint64_t bins = RSC_ERROR_BINS;
    bound->share = RSC_ERROR_SHARE;
    bound->bins = RSC_ERROR_BINS;
    bound->kind = RSC_ERROR_RELATIVE;
    if (rsc_is_word(text, length, "relative")) return 0;
    if (has_value(text, length, "relative", &value, &value_length))
        return rsc_parse_rate(value, value_length, &bound->share) < 0 || bound->share >= 1 ? -1 : 0;
    bound->kind = RSC_ERROR_AGGREGATE;
    if (rsc_is_word(text, length, "aggregate")) return 0;
    if (has_value(text, length, "aggregate", &value, &value_length)) {
        int status = parse_number(value, value_length, 1, 1u << 20, &bins);
        bound->bins = (uint32_t)bins;
        return status;
    }
    bound->kind = RSC_ERROR_BUCKET;
    return rsc_is_word(text, length, "bucket") ? 0 : -1;
}

/* ---- keys ---- */

static int take_period(void *into, const char *value, size_t length) {
    struct rsc_sampled_options *options = into;
    uint64_t number;
    if (parse_number(value, length, 1, 1ull << 52, &number) < 0) return -1;
    options->period = (double)number;
    return 0;
}

static int take_lines(void *into, const char *value, size_t length) {
    struct rsc_sampled_options *options = into;
    return rsc_parse_rate(value, length, &options->line_rate);
}

static int take_ordering(void *into, const char *value, size_t length) {
    struct rsc_sampled_options *options = into;
    options->ordering_given = 1;
    return parse_ordering(value, length, &options->sampler);
}

static int take_prune(void *into, const char *value, size_t length) {
    struct rsc_sampled_options *options = into;
    options->sampler.prune_quantile = 1;
    return rsc_is_word(value, length, "off") ? 0 : rsc_parse_rate(value, length, &options->sampler.prune_quantile);
}

static int take_error_kind(void *into, const char *value, size_t length) {
    struct rsc_sampled_options *options = into;
    return parse_error_kind(value, length, &options->bound);
}

#define PLACE(field) offsetof(struct rsc_sampled_options, field), sizeof(((struct rsc_sampled_options *)0)->field)

static const struct rsc_key keys[] = {
    {"period", "a number of references from 1 up", .take = take_period},
    {"lines", "a part of all lines, such as 1/64", .take = take_lines},
    {"ordering", "sequential or parallel", .take = take_ordering},
    {"exact", "a number of lines from 256 to 16M", PLACE(sampler.exact_lines), 256, 1u << 24, NULL, NULL},
    {"active", "a number of samples from 4 to 4M", PLACE(sampler.samples_most), 4, 1u << 22, NULL, NULL},
    {"prune", "a part of all distances, such as 0.99, or off", .take = take_prune},
    {"prune-after", "a number of samples from 1 up", PLACE(sampler.prune_after), 1, UINT32_MAX, NULL, NULL},
    {"error-kind", "bucket, relative, relative:SHARE, aggregate or aggregate:BINS", .take = take_error_kind},
    {.name = NULL},
};

int rsc_sampled_options_parse(struct rsc_sampled_options *options, const char *text, struct rsc_error *error) {
    *options = (struct rsc_sampled_options){.bound = {RSC_ERROR_BUCKET, 0, 0, RSC_ERROR_SHARE, RSC_ERROR_BINS}};
    options->sampler.samples_most = 16384;
    int status = rsc_key_values_parse(options, keys, "engine 'sampled'", text, error);
    if (!status && options->line_rate > 0 && options->ordering_given)
        return rsc_fail(error, RSC_EINVAL,
                        "engine 'sampled': ordering: a sample of lines is exact in itself, in the order of the trace");
    return status;
}
