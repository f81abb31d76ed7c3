/*
 * readers.h - the two functions of each format for struct rsc_format: one
 * recognises a file, one opens it.
 *
 * Defaults for fields that a format lacks: a missing size is 1 byte, a missing kind
 * a read, a missing thread number 0.
 *
 * Instruction counts: in a text trace an instruction is a fetch. A batch's count is
 * RSC_UNKNOWN until the first fetch of the trace, then the number of fetches in the
 * batch: a trace of data accesses alone has no count. Readers that count
 * differently say so in their file.
 */
#ifndef RSC_TRACE_FORMATS_READERS_H
#define RSC_TRACE_FORMATS_READERS_H

#include "trace/source.h"

int rsc_rsct_matches(const unsigned char *head, size_t bytes, int whole);
/* rsc_trace_locate() of a native trace. */
int rsc_rsct_locate(struct rsc_source *source, uint64_t instruction, uint64_t *access, struct rsc_error *error);
int rsc_rsct_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                  struct rsc_error *error);

int rsc_din_matches(const unsigned char *head, size_t bytes, int whole);
int rsc_din_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                 struct rsc_error *error);

int rsc_lackey_matches(const unsigned char *head, size_t bytes, int whole);
int rsc_lackey_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                    struct rsc_error *error);

int rsc_csv_matches(const unsigned char *head, size_t bytes, int whole);
int rsc_csv_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                 struct rsc_error *error);

int rsc_raw64_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                   struct rsc_error *error);

int rsc_pinatrace_matches(const unsigned char *head, size_t bytes, int whole);
int rsc_pinatrace_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                       struct rsc_error *error);

int rsc_perf_script_matches(const unsigned char *head, size_t bytes, int whole);
int rsc_perf_script_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                         struct rsc_error *error);

int rsc_drmemtrace_matches(const unsigned char *head, size_t bytes, int whole);
int rsc_drmemtrace_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                        struct rsc_error *error);

int rsc_champsim_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                      struct rsc_error *error);

int rsc_oracle_general_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                            struct rsc_error *error);

int rsc_vscsi_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                   struct rsc_error *error);

/* The instruction count of a batch with `fetches` fetches; *seen records whether the trace had any so far. */
static inline uint64_t rsc_instructions_of(uint64_t fetches, int *seen) {
    *seen |= fetches > 0;
    return *seen ? fetches : RSC_UNKNOWN;
}

#endif
