/*
 * reader_champsim.c - ChampSim's instruction traces.
 *
 * 64 bytes per instruction, all little-endian:
 *
 *      0  u64     address of the instruction
 *      8  u8      1 for a branch; 9 u8 1 if it was taken; else 0
 *     10  u8[2]   registers written, 12 u8[4] registers read
 *     16  u64[2]  addresses written; 0: none
 *     32  u64[4]  addresses read; 0: none
 *
 * An instruction becomes a fetch, its reads, then its writes, in that order, each
 * of one byte: the format has no sizes. It has no threads and no header either, so
 * it is read by name only, and only the two flags reveal a file in another format or
 * one with missing bytes.
 */
#include <string.h>

#include "trace/formats/record_reader.h"

#define RECORD_BYTES 64u
#define READS 4u
#define WRITES 2u
#define ACCESSES_PER_RECORD (1u + READS + WRITES)
#define RECORDS 2048u /* in a batch: their accesses fit */
_Static_assert(RECORDS *ACCESSES_PER_RECORD <= RSC_BATCH_ACCESSES, "a block fits a batch");

/* Adds the accesses of a record. The next access overwrites an unused slot, so there is no branch on an address. */
static uint32_t take_record(const unsigned char *record, const struct rsc_columns *to, uint32_t count) {
    uint64_t words[RECORD_BYTES / 8];
    memcpy(words, record, sizeof words);
    uint64_t *addr = to->addr, *meta = to->meta, *pc = to->pc;
    addr[count] = pc[count] = words[0];
    meta[count++] = rsc_meta(1, RSC_FETCH, 0);
    for (uint32_t i = 0; i < READS; i++) {
        addr[count] = words[4 + i];
        pc[count] = words[0];
        meta[count] = rsc_meta(1, RSC_READ, 0);
        count += words[4 + i] != 0;
    }
    for (uint32_t i = 0; i < WRITES; i++) {
        addr[count] = words[2 + i];
        pc[count] = words[0];
        meta[count] = rsc_meta(1, RSC_WRITE, 0);
        count += words[2 + i] != 0;
    }
    return count;
}

static uint32_t take(const unsigned char *bytes, uint32_t records, const struct rsc_columns *to,
                     struct rsc_batch *batch, const char **problem, uint64_t *notes) {
    uint32_t taken = 0, count = 0;
    (void)notes;
    for (; taken < records && (bytes[8] | bytes[9]) <= 1; taken++, bytes += RECORD_BYTES)
        count = take_record(bytes, to, count);
    if (taken < records) *problem = "its branch flags are neither 0 nor 1";
    *batch =
        (struct rsc_batch){.count = count, .addr = to->addr, .meta = to->meta, .pc = to->pc, .instructions = taken};
    return taken;
}

static const struct rsc_record_format champsim = {.name = "champsim",
                                                  .source = "ChampSim",
                                                  .unit = "instruction",
                                                  .bad = "invalid record",
                                                  .bytes = RECORD_BYTES,
                                                  .per_batch = RECORDS,
                                                  .has_pc = 1,
                                                  .take = take};

int rsc_champsim_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                      struct rsc_error *error) {
    return rsc_record_reader_open(out, &champsim, input, options, error);
}
