/*
 * fuzz_input.c - any bytes as a file, plain or compressed: read in pieces with
 * looks ahead in between, what is looked at is what is read next, and plain
 * bytes come out as they went in.
 */
#include "fuzz_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static unsigned char piece[100000];
    static const uint32_t pieces[] = {1, 4093, 70000, 17, 100000};
    static const uint32_t looks[] = {0, 1, RSC_INPUT_PEEK_MAX, 300};
    struct rsc_input *input = fuzz_input(data, bytes);
    struct rsc_error error = {0};
    uint64_t taken = 0;
    int64_t got = 0;
    if (!input) return 0;
    int plain = !strcmp(rsc_input_compression(input), "none");
    for (unsigned turn = 0; taken < FUZZ_BYTES_MAX; turn++) {
        const unsigned char *seen = NULL;
        unsigned char first = 0;
        uint32_t look = looks[turn % 4], wanted = pieces[turn % 5];
        int64_t ahead = rsc_input_peek(input, look, &seen, &error);
        if (ahead > 0) first = seen[0];
        got = ahead < 0 ? ahead : rsc_input_read(input, piece, wanted, &error);
        if (got <= 0) break;
        FUZZ_CHECK(ahead == 0 || first == piece[0]);
        FUZZ_CHECK(!plain || memcmp(piece, data + taken, (size_t)got) == 0);
        taken += (uint64_t)got;
        FUZZ_CHECK(rsc_input_offset(input) == taken);
    }
    if (got < 0) fuzz_check_failure((int)got, &error);
    FUZZ_CHECK(!plain || got < 0 || taken == bytes || taken >= FUZZ_BYTES_MAX);
    rsc_input_close(input);
    return 0;
}
