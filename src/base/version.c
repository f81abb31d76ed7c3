/* version.c - the library's version, set by the build. */
#include <reusescope/reusescope.h>

const char *rsc_version(void) { return RSC_VERSION_TEXT; }
