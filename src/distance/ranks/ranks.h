/*
 * ranks.h - processes (*ranks*) that analyse one trace together: their communication.
 *
 * Rank r has the r-th part of the trace. Messages only go between neighbours, and few
 * are in flight at a time, each with its own *ticket*. Messages from one rank to
 * another arrive in the order sent.
 *
 * There are two implementations: the MPI plugin (mpi_plugin.c, loaded on request),
 * and threads of one process in the tests.
 */
#ifndef RSC_DISTANCE_RANKS_RANKS_H
#define RSC_DISTANCE_RANKS_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#define RSC_RANK_TICKETS 4u

/* The largest message: what an MPI count can hold, and more than needed. */
#define RSC_RANK_MESSAGE_MAX ((size_t)1 << 30)

struct rsc_ranks {
    uint32_t rank, size;
    /*
     * 0: ranks have slices of one trace, with common thread numbers. 1: each rank has
     * its own traces, and (pid, tid) identify threads.
     */
    int own_traces;
    uint32_t touches_per_message; /* 0: the default; the same on all ranks. Tests set it to get many messages */

    /* Each starts one message under a free ticket; `data` stays in use until the ticket was waited for. */
    int (*start_send)(struct rsc_ranks *ranks, uint32_t ticket, uint32_t to, const void *data, size_t bytes,
                      struct rsc_error *error);
    int (*start_receive)(struct rsc_ranks *ranks, uint32_t ticket, uint32_t from, void *data, size_t room,
                         struct rsc_error *error);
    /*
     * Waits until one of the messages whose tickets are bits of `tickets` is complete.
     * Returns its ticket, which is free again, or a negative code. *bytes is the
     * length received. On rank 0 it may also return the failure of another rank, as
     * `check` does.
     */
    int (*wait_any)(struct rsc_ranks *ranks, uint32_t tickets, size_t *bytes, struct rsc_error *error);
    /*
     * Several ranks may fail at once, but only one should report. `fail` reports a failure
     * here to rank 0 and waits to be ended; if it returns, nothing happened for some seconds
     * and the caller must report. On rank 0 it returns at once. `check` is called by rank 0
     * from time to time: it returns 0, or the code and error of a failed rank, named in the
     * message, and sets is_told. Only for the thread that may call MPI.
     */
    void (*fail)(struct rsc_ranks *ranks, const struct rsc_error *error);
    int (*check)(struct rsc_ranks *ranks, struct rsc_error *error);
    int is_told;
    /* Ends all ranks with exit status `status`. MPI's does not return. */
    void (*abort)(struct rsc_ranks *ranks, int status);
};

/* A message of any length; the caller frees *data. */
int rsc_ranks_send_sized(struct rsc_ranks *ranks, uint32_t to, const void *data, size_t bytes, struct rsc_error *error);
int rsc_ranks_receive_sized(struct rsc_ranks *ranks, uint32_t from, void **data, size_t *bytes,
                            struct rsc_error *error);

/*
 * All ranks call it with their own status: *status 0, or a negative code and its
 * error. Afterwards all have the same *status: 0, or the code and error of the lowest
 * failed rank, named in the message. Returns 0, or a negative code and error if the
 * exchange itself failed, or a rank that had already finished failed since: then all
 * must be ended.
 */
int rsc_ranks_agree(struct rsc_ranks *ranks, int *status, struct rsc_error *error);

/* Puts "rank 2 of 5: " before the message, if there are several ranks. */
void rsc_ranks_name_rank(const struct rsc_ranks *ranks, struct rsc_error *error);

/*
 * The ranks of this process's MPI job; without mpirun there is one. The first call
 * loads the plugin and initialises MPI if that was not done; MPI is then finalised
 * when the process ends. RSC_EUNSUPPORTED if the plugin or MPI is missing. The result
 * lives as long as the process.
 */
int rsc_ranks_of_mpi(struct rsc_ranks **ranks, struct rsc_error *error);

/* The plugin's entry point: rsc_mpi_plugin_open. `version` is RSC_MPI_PLUGIN_VERSION of the caller. */
#define RSC_MPI_PLUGIN_VERSION 1u
typedef int rsc_mpi_plugin_open_t(uint32_t version, struct rsc_ranks **ranks, struct rsc_error *error);

#endif
