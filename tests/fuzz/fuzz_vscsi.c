/* fuzz_vscsi.c - any bytes as vscsi requests. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_vscsi_open, NULL, data, bytes);
    return 0;
}
