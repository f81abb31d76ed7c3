/* ranks.c - whole messages, and agreement on a common status. */
#include "distance/ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Sends or receives one message completely. */
static int send_message(struct rsc_ranks *ranks, uint32_t to, const void *data, size_t bytes, struct rsc_error *error) {
    size_t ignored;
    int status = ranks->start_send(ranks, 0, to, data, bytes, error);
    if (!status) status = ranks->wait_any(ranks, 1, &ignored, error);
    return status;
}

/* Receives exactly `bytes`; anything else is an error. */
static int receive_message(struct rsc_ranks *ranks, uint32_t from, void *data, size_t bytes, struct rsc_error *error) {
    size_t got = 0;
    int status = ranks->start_receive(ranks, 0, from, data, bytes, error);
    if (!status) status = ranks->wait_any(ranks, 1, &got, error);
    if (!status && got != bytes)
        status = rsc_fail(error, RSC_EFORMAT, "rank %u sent %zu bytes where %zu were expected", from, got, bytes);
    return status;
}

int rsc_ranks_send_sized(struct rsc_ranks *ranks, uint32_t to, const void *data, size_t bytes,
                         struct rsc_error *error) {
    uint64_t announced = bytes;
    int status = send_message(ranks, to, &announced, sizeof announced, error);
    return status < 0 || !bytes ? status : send_message(ranks, to, data, bytes, error);
}

int rsc_ranks_receive_sized(struct rsc_ranks *ranks, uint32_t from, void **data, size_t *bytes,
                            struct rsc_error *error) {
    uint64_t announced;
    *data = NULL;
    *bytes = 0;
    int status = receive_message(ranks, from, &announced, sizeof announced, error);
    if (status < 0) return status;
    if (announced > RSC_RANK_MESSAGE_MAX)
        return rsc_fail(error, RSC_EFORMAT, "rank %u announced %llu bytes", from, (unsigned long long)announced);
    *data = malloc(announced + 1);
    if (!*data) return rsc_fail_memory(error, "a message");
    if (announced) status = receive_message(ranks, from, *data, announced, error);
    if (status < 0) {
        free(*data);
        *data = NULL;
        return status;
    }
    *bytes = announced;
    return 0;
}

void rsc_ranks_name_rank(const struct rsc_ranks *ranks, struct rsc_error *error) {
    char message[sizeof error->message];
    if (ranks->size < 2 || !error) return;
    memcpy(message, error->message, sizeof message);
    int used = snprintf(error->message, sizeof error->message, "rank %u of %u: ", ranks->rank, ranks->size);
    strncat(error->message, message, sizeof error->message - (size_t)used - 1); /* a long one is truncated */
}

/* The status of a rank, as sent. All ranks run the same program, so the layout is the same. */
struct standing {
    int32_t status;
    struct rsc_error error;
};

int rsc_ranks_agree(struct rsc_ranks *ranks, int *status, struct rsc_error *error) {
    struct standing own = {.status = *status}, other;
    int failed = 0;
    if (*status < 0) {
        own.error = *error;
        rsc_ranks_name_rank(ranks, &own.error);
    }
    if (ranks->rank) {
        failed = send_message(ranks, 0, &own, sizeof own, error);
        if (!failed) failed = receive_message(ranks, 0, &own, sizeof own, error);
    }
    for (uint32_t from = 1; !ranks->rank && !failed && from < ranks->size; from++) {
        failed = receive_message(ranks, from, &other, sizeof other, error);
        if (!failed && !own.status && other.status) own = other;
    }
    for (uint32_t to = 1; !ranks->rank && !failed && to < ranks->size; to++)
        failed = send_message(ranks, to, &own, sizeof own, error);
    if (failed < 0) return failed;
    if (own.status < 0) *error = own.error;
    *status = own.status;
    return 0;
}
