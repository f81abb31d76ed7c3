/* fuzz_champsim.c - any bytes as ChampSim's instructions. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_champsim_open, NULL, data, bytes);
    return 0;
}
