/* request.h - a request from one level of a hierarchy to the next. */
#ifndef RSC_SIMULATE_CACHE_REQUEST_H
#define RSC_SIMULATE_CACHE_REQUEST_H

#include <stdint.h>

enum rsc_op {
    RSC_OP_READ,       /* a block, or part of it */
    RSC_OP_WRITE,      /* data of one access */
    RSC_OP_WRITE_BACK, /* a block from above */
    RSC_OP_PREFETCH,   /* a block, speculatively */
};

/* The meaning of a trace's writes. */
enum rsc_stream_writes {
    RSC_WRITES_OF_PROGRAM,
    RSC_WRITES_BACK,          /* of a miss stream: write-backs, by the thread that evicted them */
    RSC_WRITES_BACK_BY_OWNER, /* write-backs, by a thread of the process whose block it is */
};

struct rsc_request {
    uint64_t addr;
    uint32_t bytes;
    uint32_t access; /* index in the batch of the access behind it */
    uint32_t thread;
    uint8_t op;   /* enum rsc_op */
    uint8_t kind; /* enum rsc_kind of the access behind it */
    uint16_t reserved;
};

/* A request that the program caused, at any level, in contrast to write-backs and prefetches. */
static inline int rsc_is_demand(const struct rsc_request *request) {
    return request->op == RSC_OP_READ || request->op == RSC_OP_WRITE;
}
static inline int rsc_is_write(const struct rsc_request *request) {
    return request->op == RSC_OP_WRITE || request->op == RSC_OP_WRITE_BACK;
}

#endif
