/* version.c - the library's version, set by the build, and the number of its binary interface. */
#include <reusescope/reusescope.h>

const char *rsc_version(void) { return RSC_VERSION_TEXT; }

int rsc_abi(void) { return RSC_ABI; }
