/*
 * analyze_ranks.c - `reusescope analyze --engine mpi`: the work of one process of an MPI
 * job. Each rank reads its share of the traces; only rank 0 prints and writes files.
 *
 * Failures found before the work begins are shared among all ranks: one message is
 * printed and every rank exits by itself. A rank that fails later notifies rank 0, which
 * prints the error and aborts the job: the others may have hours to go.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/analysis.h"
#include "cmd/shares.h"

/* The steps until all ranks agree on *status. Returns as rsc_ranks_agree() does. */
static int prepare(struct rsc_analysis *analysis, struct rsc_ranks *ranks, struct rsc_shares *shares,
                   const char *const *paths, size_t path_count, int *status, int *leave, struct rsc_error *error) {
    *status = rsc_analysis_open(analysis, error);
    if (!*status) *status = rsc_shares_plan(shares, analysis->session, ranks, paths, path_count, error);
    if (!*status && !ranks->rank) *leave = rsc_session_check_output(analysis->session);
    if (!*status && *leave >= 0) *status = rsc_fail(error, RSC_EIO, "the result could not be written");
    return rsc_ranks_agree(ranks, status, error);
}

/* Like rsc_analysis_read(), but rank 0 also checks whether another rank has failed. */
static int read_share(struct rsc_analysis *analysis, struct rsc_ranks *ranks, struct rsc_trace *trace,
                      struct rsc_error *error) {
    const struct rsc_batch *batch;
    uint64_t done = 0;
    int status;
    while ((status = rsc_trace_next(trace, &batch, error)) > 0) {
        status = rsc_analysis_push(analysis, batch, NULL, error);
        if (!status) status = ranks->check(ranks, error);
        if (status < 0) break;
        done += batch->count;
        rsc_progress(analysis->session, done, RSC_UNKNOWN, "accesses of the first rank");
    }
    rsc_progress_end(analysis->session);
    return status;
}

/* What rank 0 needs to know of another's share. All ranks run the same program, so the layout is the same. */
struct share_facts {
    uint64_t instructions;
    int32_t instructions_unknown;
    char filter[sizeof((struct rsc_analysis *)0)->filter];
};

/* After the engines have exchanged all they had to. */
static int gather_facts(struct rsc_analysis *analysis, struct rsc_ranks *ranks, struct rsc_error *error) {
    struct share_facts own = {analysis->instructions, analysis->instructions_unknown, ""};
    int status = 0;
    memcpy(own.filter, analysis->filter, sizeof own.filter);
    if (ranks->rank) return rsc_ranks_send_sized(ranks, 0, &own, sizeof own, error);
    for (uint32_t from = 1; !status && from < ranks->size; from++) {
        struct share_facts *facts;
        size_t bytes;
        status = rsc_ranks_receive_sized(ranks, from, (void **)&facts, &bytes, error);
        if (status < 0) return status;
        if (bytes != sizeof *facts) {
            status = rsc_fail(error, RSC_EFORMAT, "rank %u sent %zu bytes where %zu were expected", from, bytes,
                              sizeof *facts);
        } else {
            analysis->instructions += facts->instructions;
            analysis->instructions_unknown |= facts->instructions_unknown;
            rsc_analysis_heed_filters(analysis, facts->filter);
        }
        free(facts);
    }
    if (!status) rsc_analysis_set_instructions(analysis);
    return status;
}

static int work(struct rsc_analysis *analysis, struct rsc_ranks *ranks, const struct rsc_shares *shares,
                struct rsc_error *error) {
    struct rsc_session *session = analysis->session;
    int status = 0;
    for (size_t i = 0; !status && i < shares->count; i++) {
        struct rsc_trace_info info;
        struct rsc_trace *trace = NULL;
        session->filter.first = shares->items[i].first;
        session->filter.count = shares->items[i].count;
        status = rsc_session_open(session, &trace, shares->items[i].path, 1, error);
        if (!status) {
            rsc_trace_get_info(trace, &info);
            rsc_analysis_heed_filters(analysis, info.filter);
            status = read_share(analysis, ranks, trace, error);
        }
        rsc_trace_close(trace);
    }
    if (!status) status = rsc_analysis_finish(analysis, "trace", error);
    return status < 0 ? status : gather_facts(analysis, ranks, error);
}

int rsc_analyze_ranks(struct rsc_analysis *analysis, const char *const *paths, size_t path_count) {
    struct rsc_session *session = analysis->session;
    struct rsc_shares shares = {0};
    struct rsc_ranks *ranks;
    struct rsc_error error;
    int leave = -1;
    int status = rsc_ranks_of_mpi(&ranks, &error);
    if (status < 0 && rsc_launched_as() && strcmp(rsc_launched_as(), "0")) return RSC_EXIT_ERROR;
    if (status < 0) return rsc_session_fail(session, &error);
    if (rsc_launched_as() && !session->colour) session->colour = -1; /* its terminal may be the launcher's */
    if (ranks->rank) {
        session->quiet = 1;
        session->verbose = 0;
    }
    int failed = prepare(analysis, ranks, &shares, paths, path_count, &status, &leave, &error);
    if (!failed && status < 0) {
        /* Rank 0 prints it. The launcher returns the status of the first rank to exit, so all exit with the same. */
        if (leave < 0 && !ranks->rank) leave = rsc_session_fail(session, &error);
        if (leave < 0) leave = error.code == RSC_EINVAL ? RSC_EXIT_USAGE : RSC_EXIT_ERROR;
        rsc_shares_free(&shares);
        return leave;
    }
    if (!failed) failed = work(analysis, ranks, &shares, &error);
    rsc_shares_free(&shares);
    if (failed < 0) {
        if (!ranks->is_told) rsc_ranks_name_rank(ranks, &error);
        ranks->fail(ranks, &error);
        leave = rsc_session_fail(session, &error);
        ranks->abort(ranks, leave);
        return leave;
    }
    return ranks->rank ? RSC_EXIT_OK : rsc_session_deliver(session, analysis->profiles, analysis->count, 1);
}
