/*
 * reusescope/reusescope.h - the whole public interface.
 *
 * Link with -lreusescope (pkg-config reusescope). examples/reuse.c is a
 * complete program.
 */
#ifndef REUSESCOPE_H
#define REUSESCOPE_H

#include <reusescope/engine.h>
#include <reusescope/error.h>
#include <reusescope/profile.h>
#include <reusescope/trace.h>

#define RSC_VERSION_MAJOR 0
#define RSC_VERSION_MINOR 1
#define RSC_VERSION_PATCH 0

/*
 * The binary interface: the number in libreusescope.so.N. New functions, and new
 * fields at the end of structs with struct_bytes, keep the number; any other change
 * to what tests/abi/reusescope.abi describes raises it.
 */
#define RSC_ABI 0

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the linked library, as "0.1.0". */
RSC_API const char *rsc_version(void);

/* RSC_ABI of the linked library, for bindings that load it at run time. */
RSC_API int rsc_abi(void);

#ifdef __cplusplus
}
#endif
#endif
