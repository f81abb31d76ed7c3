/* fuzz_raw64.c - any bytes as bare addresses. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_raw64_open, NULL, data, bytes);
    return 0;
}
