/* fuzz_pinatrace.c - any bytes as lines of pinatrace. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_pinatrace_open, rsc_pinatrace_matches, data, bytes);
    return 0;
}
