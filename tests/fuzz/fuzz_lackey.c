/* fuzz_lackey.c - any bytes as a lackey trace. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_lackey_open, rsc_lackey_matches, data, bytes);
    return 0;
}
