/* qemu_files.h - finds QEMU's emulators and our files for them, and reports what is missing. */
#ifndef RSC_COLLECT_LAUNCH_QEMU_FILES_H
#define RSC_COLLECT_LAUNCH_QEMU_FILES_H

#include <reusescope/error.h>

#include "collect/qemu/guest_code.h"

/* Reports what is missing to run a guest's programs, in one line with the fix; 0 if nothing is. */
int rsc_qemu_check(enum rsc_guest guest, struct rsc_error *error);

/* Absolute paths; NULL when not found. Static storage. */
const char *rsc_qemu_path(enum rsc_guest guest);
const char *rsc_qemu_plugin_path(void);
const char *rsc_qemu_preload_path(enum rsc_guest guest); /* library for the guest */

const char *rsc_qemu_cpu(enum rsc_guest guest); /* QEMU's -cpu */

#endif
