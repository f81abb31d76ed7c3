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
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/readers.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file's byte order is the machine's");

#define RECORD_BYTES 64u
#define READS 4u
#define WRITES 2u
#define ACCESSES_PER_RECORD (1u + READS + WRITES)
#define RECORDS 2048u /* read at a time; their accesses fit a batch */
_Static_assert(RECORDS *ACCESSES_PER_RECORD <= RSC_BATCH_ACCESSES, "a block fits a batch");

struct champsim_reader {
    struct rsc_source source;
    struct rsc_input *input;
    uint32_t left_over; /* bytes of a cut last record, once the end was met */
    uint64_t bad_at;    /* offset of an invalid record found in the last batch; RSC_NO_OFFSET: none */
    uint64_t addr[RSC_BATCH_ACCESSES];
    uint64_t meta[RSC_BATCH_ACCESSES];
    uint64_t pc[RSC_BATCH_ACCESSES];
    unsigned char bytes[RECORDS * RECORD_BYTES];
};

static int fail(const struct champsim_reader *reader, struct rsc_error *error) {
    const char *name = rsc_input_name(reader->input);
    if (reader->bad_at != RSC_NO_OFFSET)
        return rsc_fail_at(error, RSC_EFORMAT, reader->bad_at,
                           "%s: invalid record at byte %" PRIu64 ": its branch flags are neither 0 nor 1 (champsim)",
                           name, reader->bad_at);
    uint64_t offset = rsc_input_offset(reader->input) - reader->left_over;
    return rsc_fail_at(error, RSC_EFORMAT, offset,
                       "%s: cut at byte %" PRIu64 ": the last instruction has %" PRIu32 " of its 64 bytes (champsim)",
                       name, offset, reader->left_over);
}

/* Adds the accesses of a record. The next access overwrites an unused slot, so there is no branch on an address. */
static uint32_t take_record(struct champsim_reader *reader, const unsigned char *record, uint32_t count) {
    uint64_t words[RECORD_BYTES / 8];
    memcpy(words, record, sizeof words);
    uint64_t *addr = reader->addr, *meta = reader->meta, *pc = reader->pc;
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

static int champsim_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct champsim_reader *reader = (struct champsim_reader *)source;
    if (reader->left_over || reader->bad_at != RSC_NO_OFFSET) return fail(reader, error);
    uint64_t offset = rsc_input_offset(reader->input);
    int64_t got = rsc_input_read(reader->input, reader->bytes, sizeof reader->bytes, error);
    if (got < 0) return (int)got;
    uint32_t records = (uint32_t)(got / RECORD_BYTES), taken = 0, count = 0;
    reader->left_over = (uint32_t)(got % RECORD_BYTES);
    for (; taken < records; taken++) {
        const unsigned char *record = reader->bytes + taken * RECORD_BYTES;
        if ((record[8] | record[9]) > 1) {
            reader->bad_at = offset + taken * RECORD_BYTES;
            break;
        }
        count = take_record(reader, record, count);
    }
    if (!count) return reader->left_over || reader->bad_at != RSC_NO_OFFSET ? fail(reader, error) : 0;
    *batch = (struct rsc_batch){
        .count = count, .addr = reader->addr, .meta = reader->meta, .pc = reader->pc, .instructions = taken};
    return 1;
}

static void champsim_info(struct rsc_source *source, struct rsc_trace_info *info) {
    (void)source;
    info->source = "ChampSim";
    info->has_pc = 1;
}

static void champsim_close(struct rsc_source *source) { free(source); }

static const struct rsc_source_ops champsim_ops = {
    .next = champsim_next, .info = champsim_info, .close = champsim_close};

int rsc_champsim_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                      struct rsc_error *error) {
    (void)options;
    struct champsim_reader *reader = malloc(sizeof *reader);
    if (!reader) return rsc_fail_memory(error, "champsim reader");
    reader->source = (struct rsc_source){.ops = &champsim_ops};
    reader->input = input;
    reader->left_over = 0;
    reader->bad_at = RSC_NO_OFFSET;
    *out = &reader->source;
    return 0;
}
