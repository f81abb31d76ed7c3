/*
 * mpi_plugin.c - ranks over MPI: the plugin libreusescope-mpi.so, the only part of
 * reusescope that is linked with MPI (cmake/mpi.cmake). See ranks.h.
 *
 * There is one communicator of our own, so that a program that uses MPI itself is
 * not disturbed. MPI is a thing of the whole process, and so is the state here.
 */
#include <mpi.h>
#include <stdlib.h>

#include "base/fail.h"
#include "distance/ranks.h"

#define TAG 1

extern __attribute__((visibility("default"))) rsc_mpi_plugin_open_t rsc_mpi_plugin_open;

static struct mpi_ranks {
    struct rsc_ranks ranks; /* first: this is what others see */
    MPI_Comm comm;
    MPI_Request requests[RSC_RANK_TICKETS];
    int is_open;
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
    return explain(MPI_Isend(data, (int)bytes, MPI_BYTE, (int)to, TAG, mpi.comm, &mpi.requests[ticket]), "send", error);
}

static int mpi_start_receive(struct rsc_ranks *ranks, uint32_t ticket, uint32_t from, void *data, size_t room,
                             struct rsc_error *error) {
    (void)ranks;
    if (room > RSC_RANK_MESSAGE_MAX) return rsc_fail(error, RSC_ELIMIT, "MPI: a message of %zu bytes", room);
    return explain(MPI_Irecv(data, (int)room, MPI_BYTE, (int)from, TAG, mpi.comm, &mpi.requests[ticket]), "receive",
                   error);
}

static int mpi_wait_any(struct rsc_ranks *ranks, uint32_t tickets, size_t *bytes, struct rsc_error *error) {
    MPI_Request waited[RSC_RANK_TICKETS];
    MPI_Status about;
    int which = MPI_UNDEFINED, count = 0;
    (void)ranks;
    for (uint32_t i = 0; i < RSC_RANK_TICKETS; i++)
        waited[i] = tickets >> i & 1 ? mpi.requests[i] : MPI_REQUEST_NULL;
    int status = explain(MPI_Waitany(RSC_RANK_TICKETS, waited, &which, &about), "wait", error);
    if (status < 0) return status;
    if (which == MPI_UNDEFINED) return rsc_fail(error, RSC_EINVAL, "MPI: waited for nothing");
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
    if (MPI_Finalized(&done) == MPI_SUCCESS && !done) MPI_Finalize();
}

static int initialise(struct rsc_error *error) {
    int done = 0, granted;
    int status = explain(MPI_Initialized(&done), "initialise", error);
    if (status < 0 || done) return status;
    /* Other threads of the tool (decoding ahead, line sizes) never call MPI. */
    status = explain(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &granted), "initialise", error);
    if (status < 0) return status;
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
        mpi.ranks = (struct rsc_ranks){.rank = (uint32_t)rank,
                                       .size = (uint32_t)size,
                                       .start_send = mpi_start_send,
                                       .start_receive = mpi_start_receive,
                                       .wait_any = mpi_wait_any,
                                       .abort = mpi_abort};
        mpi.is_open = 1;
    }
    *ranks = &mpi.ranks;
    return 0;
}
