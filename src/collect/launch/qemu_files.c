/* qemu_files.c - see qemu_files.h. */
#include "collect/launch/qemu_files.h"

#include <unistd.h>

#include "base/fail.h"
#include "collect/launch/launch.h"

static const char *first_that_exists(const char *const *paths) {
    for (; *paths; paths++)
        if (access(*paths, R_OK) == 0) return *paths;
    return NULL;
}

const char *rsc_qemu_plugin_path(void) {
    static char path[PATH_MAX];
    return rsc_launch_own_file("libreusescope-qemu.so", path);
}

const char *rsc_qemu_preload_path(enum rsc_guest guest) {
    static char path[PATH_MAX];
    return rsc_launch_own_file(
        guest == RSC_GUEST_AARCH64 ? "libreusescope-guest-aarch64.so" : "libreusescope-guest-x86_64.so", path);
}

/*
 * QEMU runs a repeated string instruction one element at a time, each as a block. With fast strings turned off, libc
 * copies with vectors instead.
 */
const char *rsc_qemu_cpu(enum rsc_guest guest) { return guest == RSC_GUEST_X86_64 ? "max,-erms" : "max"; }

const char *rsc_qemu_path(enum rsc_guest guest) {
    static const char *const x86_64[] = {"/usr/bin/qemu-x86_64", "/usr/local/bin/qemu-x86_64", NULL};
    static const char *const aarch64[] = {"/usr/bin/qemu-aarch64", "/usr/local/bin/qemu-aarch64", NULL};
    return first_that_exists(guest == RSC_GUEST_AARCH64 ? aarch64 : x86_64);
}

int rsc_qemu_check(enum rsc_guest guest, struct rsc_error *error) {
    if (!rsc_qemu_path(guest))
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s is missing: apt-get install qemu-user",
                        guest == RSC_GUEST_AARCH64 ? "qemu-aarch64" : "qemu-x86_64");
    if (!rsc_qemu_plugin_path())
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "libreusescope-qemu.so is missing beside the tool: build it again (make)");
    return 0;
}
