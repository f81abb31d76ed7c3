/*
 * guest_accesses.h - which memory accesses an instruction makes, as far as that is
 * certain from its bytes: how QEMU 7.2 carries them out, not only what they mean.
 */
#ifndef RSC_COLLECT_QEMU_GUEST_ACCESSES_H
#define RSC_COLLECT_QEMU_GUEST_ACCESSES_H

#include "collect/qemu/guest_code.h"

/*
 * With `certain`: so many reads (0 or 1), then so many writes (0 or 1), each time
 * the instruction completes. Each access is reported by QEMU in `pieces` of one
 * size, end to end and lowest first. Without: anything may happen.
 */
struct rsc_guest_accesses {
    uint8_t certain, reads, writes, pieces;
};

struct rsc_guest_accesses rsc_guest_accesses(enum rsc_guest guest, const void *code, size_t bytes);

#endif
