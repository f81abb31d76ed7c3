/*
 * mpi_plugin.c - ranks over MPI: the plugin libreusescope-mpi.so, the only part of
 * reusescope that is linked with MPI (cmake/mpi.cmake). See ranks.h.
 *
 * It has its own communicator, so a program that uses MPI itself is not disturbed.
 * MPI is global to the process, and so is the state here.
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "distance/ranks/ranks.h"

enum { TAG_MESSAGE = 1, TAG_FAILURE = 2 };

/* How long a failed rank waits for rank 0, which may be blocked on a slow disk or pipe, to end it. */
#define PATIENCE_SECONDS 5.0

extern __attribute__((visibility("default"))) rsc_mpi_plugin_open_t rsc_mpi_plugin_open;

static struct mpi_ranks {
    struct rsc_ranks ranks; /* first: others see only this */
    MPI_Comm comm;
    MPI_Request requests[RSC_RANK_TICKETS];
    MPI_Request failing;      /* rank 0: receives the message of a failed rank */
    struct rsc_error failure; /* that */
    int is_open;
    int is_ours; /* MPI was initialised here; otherwise the program also ends the ranks */
} mpi;

static int explain(int code, const char *what, struct rsc_error *error) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS) return 0;
    MPI_Error_string(code, text, &length);
    return rsc_fail(error, RSC_EIO, "MPI: %s: %s", what, text);
}

static int mpi_start_send(struct rsc_ranks *ranks, uint32_t ticket, uint32_t to, const void *data, size_t bytes,
                          struct rsc_error *error) {
    (void)ranks;
    if (bytes > RSC_RANK_MESSAGE_MAX) return rsc_fail(error, RSC_ELIMIT, "MPI: a message of %zu bytes", bytes);
    return explain(MPI_Isend(data, (int)bytes, MPI_BYTE, (int)to, TAG_MESSAGE, mpi.comm, &mpi.requests[ticket]), "send",
                   error);
}

static int mpi_start_receive(struct rsc_ranks *ranks, uint32_t ticket, uint32_t from, void *data, size_t room,
                             struct rsc_error *error) {
    (void)ranks;
    if (room > RSC_RANK_MESSAGE_MAX) return rsc_fail(error, RSC_ELIMIT, "MPI: a message of %zu bytes", room);
    return explain(MPI_Irecv(data, (int)room, MPI_BYTE, (int)from, TAG_MESSAGE, mpi.comm, &mpi.requests[ticket]),
                   "receive", error);
}

/* Returns the error of another rank that has failed. */
static int hear(struct rsc_error *error) {
    mpi.failing = MPI_REQUEST_NULL;
    mpi.ranks.is_told = 1;
    if (error) *error = mpi.failure;
    return mpi.failure.code;
}

static int mpi_check(struct rsc_ranks *ranks, struct rsc_error *error) {
    int has_failed = 0;
    if (ranks->rank || mpi.failing == MPI_REQUEST_NULL) return 0;
    int status = explain(MPI_Test(&mpi.failing, &has_failed, MPI_STATUS_IGNORE), "test", error);
    return status < 0 || !has_failed ? status : hear(error);
}

static void mpi_fail(struct rsc_ranks *ranks, const struct rsc_error *error) {
    const struct timespec pause = {.tv_nsec = 1000000};
    MPI_Request sending;
    int is_sent;
    if (!ranks->rank || !mpi.is_ours) return;
    if (MPI_Isend(error, sizeof *error, MPI_BYTE, 0, TAG_FAILURE, mpi.comm, &sending) != MPI_SUCCESS) return;
    for (double since = MPI_Wtime(); MPI_Wtime() - since < PATIENCE_SECONDS; nanosleep(&pause, NULL))
        if (sending != MPI_REQUEST_NULL) MPI_Test(&sending, &is_sent, MPI_STATUS_IGNORE);
}

static int mpi_wait_any(struct rsc_ranks *ranks, uint32_t tickets, size_t *bytes, struct rsc_error *error) {
    MPI_Request waited[RSC_RANK_TICKETS + 1];
    MPI_Status about;
    int which = MPI_UNDEFINED, count = 0;
    (void)ranks;
    for (uint32_t i = 0; i < RSC_RANK_TICKETS; i++) waited[i] = tickets >> i & 1 ? mpi.requests[i] : MPI_REQUEST_NULL;
    waited[RSC_RANK_TICKETS] = mpi.failing;
    int status = explain(MPI_Waitany(RSC_RANK_TICKETS + 1, waited, &which, &about), "wait", error);
    if (status < 0) return status;
    if (which == MPI_UNDEFINED) return rsc_fail(error, RSC_EINVAL, "MPI: waited for nothing");
    if (which == (int)RSC_RANK_TICKETS) return hear(error);
    mpi.requests[which] = MPI_REQUEST_NULL;
    MPI_Get_count(&about, MPI_BYTE, &count);
    *bytes = (size_t)count;
    return which;
}

static void mpi_abort(struct rsc_ranks *ranks, int status) {
    (void)ranks;
    MPI_Abort(mpi.comm, status);
}

static void finalize(void) {
    int done = 0;
    if (MPI_Finalized(&done) != MPI_SUCCESS || done) return;
    if (mpi.failing != MPI_REQUEST_NULL && MPI_Cancel(&mpi.failing) == MPI_SUCCESS)
        MPI_Wait(&mpi.failing, MPI_STATUS_IGNORE);
    MPI_Finalize();
}

static int initialise(struct rsc_error *error) {
    int done = 0, granted;
    int status = explain(MPI_Initialized(&done), "initialise", error);
    if (status < 0 || done) return status;
    /* Other threads of the tool (decoding ahead, line sizes) never call MPI. */
    status = explain(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &granted), "initialise", error);
    if (status < 0) return status;
    mpi.is_ours = 1;
    return atexit(finalize) ? rsc_fail_memory(error, "MPI") : 0;
}

int rsc_mpi_plugin_open(uint32_t version, struct rsc_ranks **ranks, struct rsc_error *error) {
    int rank = 0, size = 0;
    if (version != RSC_MPI_PLUGIN_VERSION)
        return rsc_fail(error, RSC_EVERSION, "engine mpi: the plugin is of another version: build again (make)");
    if (!mpi.is_open) {
        int status = initialise(error);
        if (!status) status = explain(MPI_Comm_dup(MPI_COMM_WORLD, &mpi.comm), "communicator", error);
        if (!status) status = explain(MPI_Comm_set_errhandler(mpi.comm, MPI_ERRORS_RETURN), "communicator", error);
        if (!status) status = explain(MPI_Comm_rank(mpi.comm, &rank), "rank", error);
        if (!status) status = explain(MPI_Comm_size(mpi.comm, &size), "size", error);
        if (status < 0) return status;
        for (uint32_t i = 0; i < RSC_RANK_TICKETS; i++) mpi.requests[i] = MPI_REQUEST_NULL;
        mpi.failing = MPI_REQUEST_NULL;
        if (!rank && mpi.is_ours)
            status = explain(MPI_Irecv(&mpi.failure, sizeof mpi.failure, MPI_BYTE, MPI_ANY_SOURCE, TAG_FAILURE,
                                       mpi.comm, &mpi.failing),
                             "receive", error);
        if (status < 0) return status;
        mpi.ranks = (struct rsc_ranks){.rank = (uint32_t)rank,
                                       .size = (uint32_t)size,
                                       .start_send = mpi_start_send,
                                       .start_receive = mpi_start_receive,
                                       .wait_any = mpi_wait_any,
                                       .fail = mpi_fail,
                                       .check = mpi_check,
                                       .abort = mpi_abort};
        mpi.is_open = 1;
    }
    *ranks = &mpi.ranks;
    return 0;
}
