/* qemu_files.h - QEMU's emulators and our parts for them: where they are, and what is missing. */
#ifndef RSC_COLLECT_LAUNCH_QEMU_FILES_H
#define RSC_COLLECT_LAUNCH_QEMU_FILES_H

#include <reusescope/error.h>

#include "collect/qemu/guest_code.h"

/* What is missing to run a guest's programs, as one line with the fix; 0 when nothing is. */
int rsc_qemu_check(enum rsc_guest guest, struct rsc_error *error);

/* Absolute paths; NULL when not found. Static storage. */
const char *rsc_qemu_path(enum rsc_guest guest);
const char *rsc_qemu_plugin_path(void);
const char *rsc_qemu_preload_path(enum rsc_guest guest); /* of the library in the guest */

const char *rsc_qemu_cpu(enum rsc_guest guest); /* QEMU's -cpu */

#endif
