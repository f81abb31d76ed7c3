/* asm_sync.c - see asm_sync.h. */
#include "runtime/recorder/asm_sync.h"

int rsc_asm_has_others;

void rsc_asm_sync_before_in_c(enum rsc_asm_sync how) {
    if (!rsc_asm_sampling) rsc_asm_mark(how != RSC_SYNC_RELEASES);
    else if (how == RSC_SYNC_RELEASES) rsc_asm_releases();
    else rsc_asm_waits();
}

void rsc_asm_sync_after_in_c(void) {
    if (!rsc_asm_sampling) rsc_asm_mark(0);
    else rsc_asm_met();
}
