/* fuzz_perf_script.c - any bytes as what perf script prints. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_perf_script_open, rsc_perf_script_matches, data, bytes);
    return 0;
}
