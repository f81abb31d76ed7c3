/*
 * analysis.h - shared by `analyze` and `run`: the options of the analysis, and one
 * engine per line size, all fed with the same batches.
 */
#ifndef RSC_CMD_ANALYSIS_H
#define RSC_CMD_ANALYSIS_H

#include "base/pool.h"
#include "cmd/session.h"
#include "collect/symbols/variable_events.h"
#include "engine/engine_spec.h"
#include "trace/batch_columns.h"

#define RSC_LINE_SIZES_MAX 13 /* 1 byte to 4 KiB */
#define RSC_MODELS_MAX 2      /* private and shared */
#define RSC_ENGINES_MAX (RSC_LINE_SIZES_MAX * RSC_MODELS_MAX)

enum {
    RSC_OPT_ENGINE = RSC_OPT_VERB,
    RSC_OPT_LINE,
    RSC_OPT_MODEL,
    RSC_OPT_CORES,
    RSC_OPT_THREADS,
    RSC_OPT_MAX_DISTANCE,
    RSC_OPT_PHASES,
    RSC_OPT_BINS,
    RSC_OPT_NO_CODE,
    RSC_OPT_NO_RI,
    RSC_OPT_TOP_LINES,
    RSC_OPT_SYSROOT,
    RSC_OPT_DEBUGINFOD,
    RSC_OPT_SEED,
    RSC_OPT_CONFIDENCE,
    RSC_OPT_ERROR,
    RSC_OPT_MAX_MEMORY,
    RSC_OPT_ANALYSIS_VERB,
};

extern const struct rsc_option rsc_analysis_options[];

struct rsc_analysis {
    struct rsc_session *session;
    struct rsc_engine_spec spec;      /* --engine, parsed; auto by default */
    struct rsc_engine_options engine; /* .engine: as typed; NULL: not given */
    uint32_t line_bytes[RSC_LINE_SIZES_MAX];
    size_t line_count;
    int lines_given; /* --line was given */
    int both;        /* models private and shared in one pass: two engines per line size, private first */
    size_t count;    /* of engines and of profiles */
    int requests;    /* whole objects, with their own engine and line size */
    unsigned threads;
    const char *sysroot; /* for names of code and data; NULL: none */
    /* Processes that may have named code they made (rsc_symbols_add_jit()), by the top 16 bits of their addresses. */
    const uint32_t *pids; /* [process_count] */
    uint32_t process_count;
    int debuginfod;
    uint64_t max_memory; /* --max-memory, in bytes; 0: not given */
    /* memory.c: the limit, memory the process already used, batches so far, the trace that is read (NULL: none) */
    uint64_t memory_most, memory_before, batches;
    int memory_checked; /* memory_before is known */
    struct rsc_trace *trace;

    uint64_t instructions; /* of all batches so far */
    int instructions_unknown; /* some batch has no count of them */
    char filter[256]; /* with which the trace was written, as far as it was reported; "": none */

    int every_size; /* --every-size */
    struct rsc_every_size *every; /* by engine, every_size.h; NULL: not wanted */

    struct rsc_variable_events variables; /* of the files that were mapped */

    struct rsc_pool *pool; /* of engines that work at once; NULL: not needed so far */
    struct rsc_engine *engines[RSC_ENGINES_MAX];
    struct rsc_profile *profiles[RSC_ENGINES_MAX];
    /* The batch being pushed, shared among workers: */
    const struct rsc_batch *batch;
    const struct rsc_batch_columns *columns;
    int status[RSC_ENGINES_MAX];
    struct rsc_error errors[RSC_ENGINES_MAX];
};

void rsc_analysis_start(struct rsc_analysis *analysis, struct rsc_session *session);

/* Handles an option of rsc_analysis_options, else passes it on to rsc_session_option(). */
int rsc_analysis_option(struct rsc_analysis *analysis, const struct rsc_option_parser *parser, int id);

/* Makes the engines; call after the options. */
int rsc_analysis_open(struct rsc_analysis *analysis, struct rsc_error *error);
/* `columns`: NULL, or the batch's columns besides its accesses. */
int rsc_analysis_push(struct rsc_analysis *analysis, const struct rsc_batch *batch,
                      const struct rsc_batch_columns *columns, struct rsc_error *error);

/*
 * Describes the first engine's progress: "12.3 M references, 11.3 M/s", and for a
 * sample ", 2048 lines sampled, error 0.8 % so far". `accesses` is used if the engine
 * does not report its own count; `seconds` is the time so far.
 */
void rsc_analysis_so_far(const struct rsc_analysis *analysis, uint64_t accesses, double seconds, char *text,
                         size_t room);

/*
 * What was left out of a trace is not in the numbers: when it was written, by filter `then` ("" or NULL: nothing), which is
 * reported once, or now.
 */
void rsc_analysis_heed_filters(struct rsc_analysis *analysis, const char *then);

/* Pushes a whole trace and shows progress. */
int rsc_analysis_read(struct rsc_analysis *analysis, struct rsc_trace *trace, struct rsc_error *error);

/*
 * Ends the engines; profiles[0..count-1] then hold `source` and the command line,
 * and name code and data if the loaded modules are known.
 */
int rsc_analysis_finish(struct rsc_analysis *analysis, const char *source, struct rsc_error *error);

/* Puts the instructions of the analysis into its profiles; rsc_analysis_finish() does. */
void rsc_analysis_set_instructions(struct rsc_analysis *analysis);

void rsc_analysis_close(struct rsc_analysis *analysis);

/*
 * The whole analysis in one process of an MPI job (--engine mpi): the concatenated traces
 * are divided among the ranks. Call after the options; returns the exit status. analyze_ranks.c.
 */
int rsc_analyze_ranks(struct rsc_analysis *analysis, const char *const *paths, size_t path_count);

#endif
