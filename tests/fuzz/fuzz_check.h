/* fuzz_check.h - what must hold whatever the bytes are: a fuzz target ends where it does not. */
#ifndef RSC_TESTS_FUZZ_CHECK_H
#define RSC_TESTS_FUZZ_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* All that a fuzz target defines: libFuzzer calls it, or a plain main with the files of the corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define FUZZ_CHECK(holds)                                                             \
    do {                                                                              \
        if (!(holds)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #holds); \
            abort();                                                                  \
        }                                                                             \
    } while (0)

#endif
