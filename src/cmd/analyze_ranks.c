/*
 * analyze_ranks.c - `reusescope analyze --engine mpi`: what one process of an MPI job
 * does. Each reads its share of the traces; rank 0 alone says anything and writes files.
 *
 * What can be known to fail before the work begins is agreed on, so that it is said once
 * and all end by themselves. A rank that fails later says so and ends the job: the others
 * may have hours to go.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/analysis.h"
#include "cmd/shares.h"

/* What the launcher says we are, where MPI itself cannot be asked; NULL: there is none. */
static const char *launched_as(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank ? rank : getenv("PMI_RANK");
}

/* Launchers give their processes a terminal as standard output, and pass on what they write: nobody sits there. */
static void expect_nobody(struct rsc_session *session) {
    if (!session->colour) session->colour = -1;
    setenv("PAGER", "", 1);
}

static int prepare(struct rsc_analysis *analysis, struct rsc_ranks *ranks, struct rsc_shares *shares,
                   const char *const *paths, size_t path_count, int *leave, struct rsc_error *error) {
    int status = rsc_analysis_open(analysis, error);
    if (!status) status = rsc_shares_plan(shares, analysis->session, ranks, paths, path_count, error);
    if (!status && !ranks->rank) *leave = rsc_session_check_output(analysis->session);
    if (!status && *leave >= 0) status = rsc_fail(error, RSC_EIO, "the result could not be written");
    return rsc_ranks_agree(ranks, status, error);
}

static int work(struct rsc_analysis *analysis, const struct rsc_shares *shares, struct rsc_error *error) {
    struct rsc_session *session = analysis->session;
    int status = 0;
    for (size_t i = 0; !status && i < shares->count; i++) {
        struct rsc_trace *trace = NULL;
        session->filter.first = shares->items[i].first;
        session->filter.count = shares->items[i].count;
        status = rsc_session_open(session, &trace, shares->items[i].path, analysis->threads > 1, error);
        if (!status) status = rsc_analysis_read(analysis, trace, error);
        rsc_trace_close(trace);
    }
    if (!status) status = rsc_analysis_finish(analysis, "trace", error);
    return status;
}

int rsc_analyze_ranks(struct rsc_analysis *analysis, const char *const *paths, size_t path_count) {
    struct rsc_session *session = analysis->session;
    struct rsc_shares shares = {0};
    struct rsc_ranks *ranks;
    struct rsc_error error;
    int leave = -1;
    int status = rsc_ranks_of_mpi(&ranks, &error);
    if (status < 0 && launched_as() && strcmp(launched_as(), "0")) return RSC_EXIT_ERROR; /* rank 0 says it for all */
    if (status < 0) return rsc_session_fail(session, &error);
    if (launched_as()) expect_nobody(session);
    if (ranks->rank) {
        session->quiet = 1;
        session->verbose = 0;
    }
    status = prepare(analysis, ranks, &shares, paths, path_count, &leave, &error);
    if (status < 0) {
        /* Said by rank 0; the launcher ends with the status of whoever ends first, so all have the same. */
        if (leave < 0 && !ranks->rank) leave = rsc_session_fail(session, &error);
        if (leave < 0) leave = error.code == RSC_EINVAL ? RSC_EXIT_USAGE : RSC_EXIT_ERROR;
        rsc_shares_free(&shares);
        return leave;
    }
    status = work(analysis, &shares, &error);
    rsc_shares_free(&shares);
    if (status < 0) {
        rsc_ranks_name_rank(ranks, &error);
        leave = rsc_session_fail(session, &error);
        ranks->abort(ranks, leave);
        return leave;
    }
    return ranks->rank ? RSC_EXIT_OK : rsc_session_deliver(session, analysis->profiles, analysis->line_count, 1);
}
