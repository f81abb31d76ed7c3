/*
 * reader_raw64.c - bare little-endian 64-bit addresses.
 *
 * The file is the address column: bytes go from the input into the batch as
 * they are. Every access is a one-byte read by thread 0.
 */
#include "trace/formats/record_reader.h"

static const uint64_t meta[RSC_BATCH_ACCESSES] = {[0 ... RSC_BATCH_ACCESSES - 1] = 1}; /* rsc_meta(1, RSC_READ, 0) */

static uint32_t take(const unsigned char *bytes, uint32_t records, const struct rsc_columns *to,
                     struct rsc_batch *batch, const char **problem, uint64_t *notes) {
    (void)to;
    (void)problem;
    (void)notes;
    const void *addr = bytes; /* aligned: a range starts at a boundary of 64 bytes */
    *batch = (struct rsc_batch){.count = records, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    return records;
}

static const struct rsc_record_format raw64 = {.name = "raw64",
                                               .unit = "address",
                                               .bad = "address",
                                               .bytes = 8,
                                               .per_batch = RSC_BATCH_ACCESSES,
                                               .indexed = 1,
                                               .take = take};

int rsc_raw64_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                   struct rsc_error *error) {
    return rsc_record_reader_open(out, &raw64, input, options, error);
}
