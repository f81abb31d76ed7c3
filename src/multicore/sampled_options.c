/* sampled_options.c - see sampled_options.h. */
#include "multicore/sampled_options.h"

#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

static int is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && !memcmp(text, word, length);
}

/* Whether the text is `word`, or `word:VALUE`; then where the value is. */
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

int rsc_rate_parse(const char *text, size_t length, double *rate) {
    const char *slash = memchr(text, '/', length);
    size_t before = slash ? (size_t)(slash - text) : length;
    uint64_t part = 1, whole = 100;
    int percent = !slash && length && text[length - 1] == '%';
    if (slash) {
        if (parse_number(text, before, 1, 1ull << 52, &part) < 0 ||
            parse_number(slash + 1, length - before - 1, part, 1ull << 52, &whole) < 0)
            return -1;
        *rate = (double)part / (double)whole;
        return 0;
    }
    if (rsc_parse_fraction(text, length - (size_t)percent, rate) < 0) return -1;
    if (percent) *rate /= 100;
    return *rate >= 1e-15 && *rate <= 1 ? 0 : -1;
}

int rsc_ordering_parse(const char *text, size_t length, struct rsc_sampler_options *sampler) {
    const char *value;
    size_t value_length;
    sampler->skew = 0;
    sampler->order = RSC_ORDER_PARALLEL;
    if (is_word(text, length, "parallel")) return 0;
    if (has_value(text, length, "skew", &value, &value_length))
        return parse_number(value, value_length, 1, 1ull << 40, &sampler->skew);
    sampler->order = RSC_ORDER_SEQUENTIAL;
    return is_word(text, length, "sequential") ? 0 : -1;
}

int rsc_error_kind_parse(const char *text, size_t length, struct rsc_error_bound *bound) {
    const char *value;
    size_t value_length;
    uint64_t bins = RSC_ERROR_BINS;
    bound->share = RSC_ERROR_SHARE;
    bound->bins = RSC_ERROR_BINS;
    bound->kind = RSC_ERROR_RELATIVE;
    if (is_word(text, length, "relative")) return 0;
    if (has_value(text, length, "relative", &value, &value_length))
        return rsc_rate_parse(value, value_length, &bound->share) < 0 || bound->share >= 1 ? -1 : 0;
    bound->kind = RSC_ERROR_AGGREGATE;
    if (is_word(text, length, "aggregate")) return 0;
    if (has_value(text, length, "aggregate", &value, &value_length)) {
        int status = parse_number(value, value_length, 1, 1u << 20, &bins);
        bound->bins = (uint32_t)bins;
        return status;
    }
    bound->kind = RSC_ERROR_BUCKET;
    return is_word(text, length, "bucket") ? 0 : -1;
}

/* One key; what it should be, or NULL where it is. */
static const char *set_key(struct rsc_sampled_options *options, const char *key, size_t key_length, const char *value,
                           size_t length) {
    struct rsc_sampler_options *sampler = &options->sampler;
    uint64_t number;
    if (is_word(key, key_length, "period")) {
        if (parse_number(value, length, 1, 1ull << 52, &number) < 0) return "a number of references from 1 up";
        options->period = (double)number;
    } else if (is_word(key, key_length, "lines")) {
        if (rsc_rate_parse(value, length, &options->line_rate) < 0) return "a part of all lines, such as 1/64";
    } else if (is_word(key, key_length, "ordering")) {
        if (rsc_ordering_parse(value, length, sampler) < 0) return "sequential, parallel or skew:REFERENCES";
    } else if (is_word(key, key_length, "exact")) {
        if (parse_number(value, length, 256, 1u << 24, &number) < 0) return "a number of lines from 256 to 16M";
        sampler->exact_lines = (uint32_t)number;
    } else if (is_word(key, key_length, "active")) {
        if (parse_number(value, length, 4, 1u << 22, &number) < 0) return "a number of samples from 4 to 4M";
        sampler->samples_most = (uint32_t)number;
    } else if (is_word(key, key_length, "prune")) {
        sampler->prune_quantile = 1;
        if (!is_word(value, length, "off") && (rsc_rate_parse(value, length, &sampler->prune_quantile) < 0))
            return "a part of all distances, such as 0.99, or off";
    } else if (is_word(key, key_length, "prune-after")) {
        if (parse_number(value, length, 1, UINT32_MAX, &number) < 0) return "a number of samples from 1 up";
        sampler->prune_after = (uint32_t)number;
    } else if (is_word(key, key_length, "locks")) {
        options->locks = is_word(value, length, "yes");
        if (!options->locks && !is_word(value, length, "no")) return "yes or no";
    } else if (is_word(key, key_length, "error-kind")) {
        if (rsc_error_kind_parse(value, length, &options->bound) < 0)
            return "bucket, relative, relative:SHARE, aggregate or aggregate:BINS";
    } else {
        return "one of period, lines, ordering, exact, active, prune, prune-after, locks, error-kind";
    }
    return NULL;
}

int rsc_sampled_options_parse(struct rsc_sampled_options *options, const char *text, struct rsc_error *error) {
    *options = (struct rsc_sampled_options){.bound = {RSC_ERROR_BUCKET, 0, 0, RSC_ERROR_SHARE, RSC_ERROR_BINS}};
    options->sampler.samples_most = 16384;
    while (text && *text) {
        size_t length = strcspn(text, ","), key = strcspn(text, "=,");
        if (key == length)
            return rsc_fail(error, RSC_EINVAL, "engine 'sampled': '%.*s' is not KEY=VALUE, as period=1000", (int)length,
                            text);
        const char *wanted = set_key(options, text, key, text + key + 1, length - key - 1);
        int known = !wanted || strncmp(wanted, "one of", 6);
        if (wanted)
            return rsc_fail(error, RSC_EINVAL, "engine 'sampled': %.*s: not %s", (int)(known ? length : key), text,
                            wanted);
        text += length;
        if (*text == ',') text++;
    }
    return 0;
}
