/*
 * record_reader.h - the source of every format of fixed-width records: a format only turns
 * records into accesses.
 *
 * Everything else (reading, batches, cut and invalid records, the end, several threads) is
 * done here. Ranges of records are pieces (trace/pieces.h); those of an uncompressed file
 * are read by the thread that decodes them.
 */
#ifndef RSC_TRACE_FORMATS_RECORD_READER_H
#define RSC_TRACE_FORMATS_RECORD_READER_H

#include "trace/formats/readers.h"
#include "trace/pieces.h"

struct rsc_record_format {
    const char *name;   /* for messages */
    const char *source; /* in the trace's info; NULL: not known */
    const char *unit;   /* what a record is: "address", "request" */
    const char *bad;    /* how the message about an invalid one opens: "request", "invalid record" */
    uint32_t bytes;     /* of a record */
    uint32_t per_batch; /* records in a batch */
    int has_pc;
    int indexed; /* a record is one access */
    /*
     * Makes a batch of `records` records: columns in `to`, or anywhere that lasts as long as `bytes`. Returns how many
     * were valid; *problem says what is wrong with the next. *notes counts for `finish`.
     */
    uint32_t (*take)(const unsigned char *bytes, uint32_t records, const struct rsc_columns *to,
                     struct rsc_batch *batch, const char **problem, uint64_t *notes);
    /* Warns at the end about what `notes` counted; NULL: nothing. */
    void (*finish)(const struct rsc_log *log, const char *name, uint64_t notes);
};

int rsc_record_reader_open(struct rsc_source **out, const struct rsc_record_format *format, struct rsc_input *input,
                           const struct rsc_reader_options *options, struct rsc_error *error);

#endif
