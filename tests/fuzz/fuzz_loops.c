/*
 * fuzz_loops.c - any bytes as the text form of a loop tree.
 *
 * Reading must end in an error that says something, or in a program that is
 * written as text that reads to the same text, and that can be laid out and copied.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_check.h"
#include "loops/tree/loop_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    struct rsc_loop_program *program, *again;
    struct rsc_error error = {0};
    char *text, *second;
    size_t text_bytes, second_bytes;
    int status = rsc_loop_text_read((const char *)data, bytes, "fuzz", NULL, 0, &program, &error);
    if (status) {
        FUZZ_CHECK(status < 0 && error.code == status && error.message[0] && !strchr(error.message, '\n') && !program);
        return 0;
    }
    FUZZ_CHECK(rsc_loop_text_write(program, &text, &text_bytes) == 0);
    if (rsc_loop_text_read(text, text_bytes, "again", NULL, 0, &again, &error)) {
        fprintf(stderr, "%s\n%s", error.message, text);
        abort();
    }
    FUZZ_CHECK(rsc_loop_text_write(again, &second, &second_bytes) == 0);
    FUZZ_CHECK(text_bytes == second_bytes && !memcmp(text, second, text_bytes));
    free(text);
    free(second);
    rsc_loop_layout(program, 64, &error);
    rsc_loop_program_free(program);
    rsc_loop_program_free(again);
    return 0;
}
