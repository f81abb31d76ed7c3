/* fuzz_din.c - any bytes as a din trace. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_din_open, rsc_din_matches, data, bytes);
    return 0;
}
