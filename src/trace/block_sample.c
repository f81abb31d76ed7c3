/* block_sample.c - see block_sample.h. */
#include "trace/block_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

int rsc_block_sample_init(struct rsc_block_sample *sample, uint32_t low, uint32_t width, uint64_t value,
                          struct rsc_error *error) {
    uint64_t words = width > 6 ? 1ull << (width - 6) : 1;
    *sample = (struct rsc_block_sample){.low = low, .width = width, .values = calloc(words, sizeof *sample->values)};
    if (!sample->values) return rsc_fail_memory(error, "sample of sets");
    if (value != RSC_UNKNOWN) rsc_block_sample_add(sample, value);
    return 0;
}

void rsc_block_sample_add(struct rsc_block_sample *sample, uint64_t value) {
    uint64_t *word = &sample->values[value >> 6], bit = 1ull << (value & 63);
    sample->kept += !(*word & bit);
    *word |= bit;
}

void rsc_block_sample_free(struct rsc_block_sample *sample) {
    free(sample->values);
    *sample = (struct rsc_block_sample){0};
}

/* ---- the text of a header ---- */

size_t rsc_block_sample_text(const struct rsc_block_sample *sample, char *text, size_t room) {
    if (sample->kept != 1) return 0;
    uint64_t value = 0;
    while (!sample->values[value >> 6]) value += 64;
    value += (uint64_t)__builtin_ctzll(sample->values[value >> 6]);
    int wrote = snprintf(text, room, "sets=%u-%u=%llu", sample->low, sample->low + sample->width - 1,
                         (unsigned long long)value);
    return wrote > 0 && (size_t)wrote < room ? (size_t)wrote : 0;
}

/* LO-HI=VALUE */
static int parse_field(const char *text, uint32_t *low, uint32_t *width, uint64_t *value) {
    uint64_t first, last;
    const char *dash = strchr(text, '-'), *equals = dash ? strchr(dash, '=') : NULL;
    if (!equals || rsc_parse_u64(text, (size_t)(dash - text), &first) < 0 ||
        rsc_parse_u64(dash + 1, (size_t)(equals - dash - 1), &last) < 0 ||
        rsc_parse_u64(equals + 1, strlen(equals + 1), value) < 0)
        return -1;
    if (first > last || last > 63 || last - first >= RSC_SAMPLE_BITS_MAX || *value >> (last - first + 1)) return -1;
    *low = (uint32_t)first;
    *width = (uint32_t)(last - first + 1);
    return 1;
}

int rsc_block_sample_parse(const char *filter, uint32_t *low, uint32_t *width, uint64_t *value) {
    static const char *const before[] = {
        "sets=", "bits=", "window=", "every="}; /* what also drops part of a set's past */
    const char *found = filter ? strstr(filter, "sets=") : NULL;
    if (!found) return 0;
    if (found != filter && (found - filter < 7 || strncmp(found - 7, ", then ", 7))) return -1;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const char *other = strstr(filter, before[i]);
        if (other && other < found) return -1;
    }
    return parse_field(found + 5, low, width, value);
}

/* ---- taking a sample of batches ---- */

void rsc_block_sampler_start(struct rsc_block_sampler *sampler, const struct rsc_block_sample *sample,
                             enum rsc_simd simd) {
    *sampler = (struct rsc_block_sampler){.sample = sample, .take = RSC_WIDE_PICK(simd, rsc_block_take)};
}

void rsc_block_sampler_free(struct rsc_block_sampler *sampler) {
    free(sampler->parts.addr);
    free(sampler->parts.meta);
    free(sampler->parts.pc);
    free(sampler->events);
    *sampler = (struct rsc_block_sampler){0};
}

static int grow_column(uint64_t **column, uint64_t room) {
    uint64_t *larger = realloc(*column, room * sizeof **column);
    if (!larger) return RSC_ENOMEM;
    *column = larger;
    return 0;
}

static int grow(struct rsc_block_parts *parts, uint64_t wanted, struct rsc_error *error) {
    if (wanted > 1u << 31) return rsc_fail(error, RSC_ELIMIT, "a batch has more than 2^31 parts");
    uint64_t room = wanted + wanted / 2 + 4096;
    if (grow_column(&parts->addr, room) < 0 || grow_column(&parts->meta, room) < 0 || grow_column(&parts->pc, room) < 0)
        return rsc_fail_memory(error, "sample of sets");
    parts->room = (uint32_t)room;
    return 0;
}

static inline int reserve(struct rsc_block_parts *parts, uint64_t more, struct rsc_error *error) {
    return parts->count + more <= parts->room ? 0 : grow(parts, parts->count + more, error);
}

static inline void put(struct rsc_block_parts *parts, uint64_t addr, uint64_t meta, const uint64_t *pc, uint32_t i) {
    parts->addr[parts->count] = addr;
    parts->meta[parts->count] = meta;
    if (pc) parts->pc[parts->count] = pc[i];
    parts->count++;
}

/* Takes an access that crosses a boundary, part by part. It ends at the latest at the end of the address space. */
static int cut(struct rsc_block_sampler *sampler, const struct rsc_batch *in, uint32_t i, struct rsc_error *error) {
    const uint64_t unit = 1ull << sampler->sample->low, meta = in->meta[i];
    uint64_t addr = in->addr[i], last = addr + (rsc_meta_size(meta) - 1ull);
    if (last < addr) last = UINT64_MAX;
    for (;;) {
        uint64_t end = addr | (unit - 1);
        if (end > last) end = last;
        if (rsc_block_sample_has(sampler->sample, addr)) {
            int status = reserve(&sampler->parts, 1, error);
            if (status < 0) return status;
            put(&sampler->parts, addr, (meta & ~0xffffffffull) | (end - addr + 1), in->pc, i);
        }
        if (end == last) return 0;
        addr = end + 1;
    }
}

/* Takes one access; there is room for it if it crosses no boundary. */
static int take_one(struct rsc_block_sampler *sampler, const struct rsc_batch *in, uint32_t i,
                    struct rsc_error *error) {
    const uint64_t unit = 1ull << sampler->sample->low;
    sampler->fetches += rsc_meta_kind(in->meta[i]) == RSC_FETCH;
    if ((in->addr[i] & (unit - 1)) + rsc_meta_size(in->meta[i]) > unit) return cut(sampler, in, i, error);
    if (rsc_block_sample_has(sampler->sample, in->addr[i])) put(&sampler->parts, in->addr[i], in->meta[i], in->pc, i);
    return 0;
}

/* Accesses first .. end - 1 of the batch. */
static int take(struct rsc_block_sampler *sampler, const struct rsc_batch *in, uint32_t first, uint32_t end,
                struct rsc_error *error) {
    int status = 0;
    while (!status && first < end) {
        if ((status = reserve(&sampler->parts, end - first, error)) < 0) break;
        first = sampler->take(sampler->sample, in, first, end, &sampler->parts, &sampler->fetches);
        /* The access to cut, or the rest if fewer than a block. */
        uint32_t stop = end - first < RSC_SAMPLER_BLOCK ? end : first + 1;
        for (; !status && first < stop; first++) {
            status = take_one(sampler, in, first, error);
            if (!status) status = reserve(&sampler->parts, stop - first, error); /* an access that is cut takes more */
        }
    }
    return status;
}

int rsc_block_sampler_add(struct rsc_block_sampler *sampler, const struct rsc_batch *in, struct rsc_error *error) {
    return take(sampler, in, 0, in->count, error);
}

int rsc_block_sampler_take(struct rsc_block_sampler *sampler, const struct rsc_batch *in, struct rsc_batch *out,
                           struct rsc_error *error) {
    uint32_t done = 0;
    int status = 0;
    if (in->event_count > sampler->event_room) {
        free(sampler->events);
        sampler->events = malloc(in->event_count * sizeof *sampler->events);
        sampler->event_room = sampler->events ? in->event_count : 0;
        if (!sampler->events) return rsc_fail_memory(error, "sample of sets");
    }
    sampler->parts.count = 0;
    for (uint32_t e = 0; !status && e < in->event_count; e++) {
        if (in->events[e].at > done) {
            status = take(sampler, in, done, in->events[e].at, error);
            done = in->events[e].at;
        }
        sampler->events[e] = in->events[e];
        sampler->events[e].at = sampler->parts.count;
    }
    if (!status) status = take(sampler, in, done, in->count, error);
    if (status < 0) return status;
    *out = *in;
    out->count = sampler->parts.count;
    out->addr = sampler->parts.addr;
    out->meta = sampler->parts.meta;
    out->pc = in->pc ? sampler->parts.pc : NULL;
    out->events = sampler->events;
    return 0;
}
