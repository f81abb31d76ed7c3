/* emulated.h - what tests may tell and ask the emulated device of emulated.cc. */
#ifndef RSC_GPU_EMULATED_H
#define RSC_GPU_EMULATED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rsc_emulated_use {
    size_t memory; /* device memory in use, bytes */
    long calls;    /* of the run-time library, since rsc_emulated_device() */
};

/* devices: -1 is a machine without driver. fail_after: calls that succeed before all fail; -1: none does. */
void rsc_emulated_device(int devices, size_t memory_bytes, long fail_after);
struct rsc_emulated_use rsc_emulated_use(void);

#ifdef __cplusplus
}
#endif
#endif
