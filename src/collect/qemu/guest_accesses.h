/*
 * guest_accesses.h - which memory accesses an instruction makes, where its bytes
 * determine that: as QEMU 7.2 executes it, not only by its definition.
 */
#ifndef RSC_COLLECT_QEMU_GUEST_ACCESSES_H
#define RSC_COLLECT_QEMU_GUEST_ACCESSES_H

#include "collect/qemu/guest_code.h"

/*
 * With `certain`: this many reads (0 or 1), then this many writes (0 or 1), each time
 * the instruction completes. QEMU reports each access in `pieces` of one size, end to
 * end and lowest first. Without: anything may happen.
 */
struct rsc_guest_accesses {
    uint8_t certain, reads, writes, pieces;
};

struct rsc_guest_accesses rsc_guest_accesses(enum rsc_guest guest, const void *code, size_t bytes);

#endif
