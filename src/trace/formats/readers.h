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

rsc_format_matches rsc_rsct_matches, rsc_din_matches, rsc_lackey_matches, rsc_csv_matches, rsc_list_matches,
    rsc_pinatrace_matches, rsc_perf_script_matches, rsc_drmemtrace_matches;
rsc_format_open rsc_rsct_open, rsc_din_open, rsc_lackey_open, rsc_csv_open, rsc_list_open, rsc_raw64_open,
    rsc_pinatrace_open, rsc_perf_script_open, rsc_drmemtrace_open, rsc_champsim_open, rsc_oracle_general_open,
    rsc_vscsi_open;

/*
 * For a file of no known format: the number of columns of its text (0: it is binary or empty), and in *number which
 * of them looks most like an address (from 1; 0: none).
 */
uint32_t rsc_csv_looks(const unsigned char *head, size_t bytes, int whole, uint32_t *number);

/* A folder of DynamoRIO's traces, whose name is that of the input. */
rsc_format_open rsc_drmemtrace_folder_open;
/* The first time stamp of a drmemtrace file, in microseconds; its time events are relative to it. UINT64_MAX: none yet. */
uint64_t rsc_drmemtrace_first_time(const struct rsc_source *source);

/* rsc_trace_locate() of a native trace. */
int rsc_rsct_locate(struct rsc_source *source, uint64_t instruction, uint64_t *access, struct rsc_error *error);

/* The instruction count of a batch with `fetches` fetches; *seen records whether the trace had any so far. */
static inline uint64_t rsc_instructions_of(uint64_t fetches, int *seen) {
    *seen |= fetches > 0;
    return *seen ? fetches : RSC_UNKNOWN;
}

#endif
