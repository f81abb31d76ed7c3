/* fuzz_oracle_general.c - any bytes as oracleGeneral requests. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_oracle_general_open, NULL, data, bytes);
    return 0;
}
