/*
 * ranks.h - processes (*ranks*) that analyse one trace together: the few things
 * they need of each other.
 *
 * Rank r has the r-th part of the trace. Everything goes between neighbours, and
 * at most a few messages are on their way at a time, each with a *ticket* of its
 * own. Messages from one rank to another arrive in the order they were sent.
 *
 * Two things implement this: the MPI plugin (mpi_plugin.c, loaded when asked
 * for), and threads of one process in the tests.
 */
#ifndef RSC_DISTANCE_RANKS_RANKS_H
#define RSC_DISTANCE_RANKS_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#define RSC_RANK_TICKETS 4u

/* The largest message: what an MPI count can hold, and more than anybody needs. */
#define RSC_RANK_MESSAGE_MAX ((size_t)1 << 30)

struct rsc_ranks {
    uint32_t rank, size;
    /*
     * 0: ranks have slices of one trace, in which a thread has the same number
     * everywhere. 1: each has traces of its own, and (pid, tid) tell threads apart.
     */
    int own_traces;
    uint32_t touches_per_message; /* 0: the default; the same on all ranks. For tests that want many messages */

    /* Each starts one message under a free ticket; `data` stays in use until that was waited for. */
    int (*start_send)(struct rsc_ranks *ranks, uint32_t ticket, uint32_t to, const void *data, size_t bytes,
                      struct rsc_error *error);
    int (*start_receive)(struct rsc_ranks *ranks, uint32_t ticket, uint32_t from, void *data, size_t room,
                         struct rsc_error *error);
    /*
     * Waits until one of the messages whose tickets are bits of `tickets` is through,
     * and returns its ticket, which is free again, or a negative code. *bytes is the
     * length of what was received. On rank 0 it may also return the failure of another
     * rank, as `check` does.
     */
    int (*wait_any)(struct rsc_ranks *ranks, uint32_t tickets, size_t *bytes, struct rsc_error *error);
    /*
     * Several ranks may fail at once, and one shall speak. `fail` tells rank 0 of a failure
     * here and waits to be ended; when it returns nothing has come of that in some seconds
     * and it is for the caller to speak. On rank 0 it returns at once. `check` is for rank
     * 0 to call from time to time: 0, or the code and error of a rank that has failed, which
     * the message names, and is_told is set. Only for the thread that may call MPI.
     */
    void (*fail)(struct rsc_ranks *ranks, const struct rsc_error *error);
    int (*check)(struct rsc_ranks *ranks, struct rsc_error *error);
    int is_told;
    /* Ends all ranks, which leave with `status`. MPI's does not return. */
    void (*abort)(struct rsc_ranks *ranks, int status);
};

/* A message of any length; *data is then the caller's to free. */
int rsc_ranks_send_sized(struct rsc_ranks *ranks, uint32_t to, const void *data, size_t bytes, struct rsc_error *error);
int rsc_ranks_receive_sized(struct rsc_ranks *ranks, uint32_t from, void **data, size_t *bytes,
                            struct rsc_error *error);

/*
 * All ranks call it with how things stand with them: *status 0, or a negative code and
 * its error. Then all have the same in *status: 0, or the code and error of the lowest
 * rank that has one, which the message then names. Returns 0, or a negative code and
 * error where that failed itself, or a rank that was already through has failed since:
 * then all must be ended.
 */
int rsc_ranks_agree(struct rsc_ranks *ranks, int *status, struct rsc_error *error);

/* Puts "rank 2 of 5: " before the message, where there are several ranks. */
void rsc_ranks_name_rank(const struct rsc_ranks *ranks, struct rsc_error *error);

/*
 * The ranks of the MPI job this process belongs to; without mpirun there is one. The
 * first call loads the plugin and, if nobody has, initialises MPI, which is then
 * finalised when the process ends. RSC_EUNSUPPORTED where plugin or MPI is missing.
 * What is returned lives as long as the process.
 */
int rsc_ranks_of_mpi(struct rsc_ranks **ranks, struct rsc_error *error);

/* What the plugin has: rsc_mpi_plugin_open. `version` is RSC_MPI_PLUGIN_VERSION of the caller. */
#define RSC_MPI_PLUGIN_VERSION 1u
typedef int rsc_mpi_plugin_open_t(uint32_t version, struct rsc_ranks **ranks, struct rsc_error *error);

#endif
