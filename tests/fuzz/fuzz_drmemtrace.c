/* fuzz_drmemtrace.c - any bytes as a drmemtrace. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_drmemtrace_open, rsc_drmemtrace_matches, data, bytes);
    return 0;
}
