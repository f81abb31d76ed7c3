/* fuzz_csv.c - any bytes as a csv trace and as a list. */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    fuzz_reader(rsc_csv_open, rsc_csv_matches, data, bytes);
    fuzz_reader(rsc_list_open, rsc_list_matches, data, bytes);
    return 0;
}
