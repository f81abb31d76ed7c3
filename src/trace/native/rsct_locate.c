/* rsct_locate.c - see rsct_locate.h. */
#include "trace/native/rsct_locate.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "trace/native/rsct_decode.h"

void rsct_locator_free(struct rsct_locator *locator) {
    rsct_unpacker_free(&locator->unpacker);
    rsct_decoder_free(locator->decoder);
    rsct_frame_free(&locator->frame);
    free(locator->fetches);
    *locator = (struct rsct_locator){0};
}

/* Decodes the frame of a row: which accesses are fetches, and the marks. */
static int look_into(struct rsct_locator *locator, const struct rsct_index *index, uint64_t row,
                     struct rsc_input *input, struct rsc_error *error) {
    const uint64_t before = rsc_input_offset(input);
    struct rsc_batch batch;
    const char *problem = NULL;
    uint32_t done = 0;
    int status = 0, back;
    if (locator->row == row + 1) return 0;
    locator->row = 0;
    if (!locator->decoder) {
        status = rsct_unpacker_init(&locator->unpacker, 1, 0, error);
        if (!status) status = rsct_decoder_new(&locator->decoder, 0, 1, 0, error);
        if (status < 0) return status;
    }
    if ((status = rsc_input_seek(input, index->rows[row].offset, error)) < 0) return status;
    status = rsct_frame_read(&locator->frame, input, row, error);
    if (!status) problem = rsct_frame_unpack(&locator->frame, &locator->unpacker);
    if (!status && !problem) problem = rsct_decoder_start(locator->decoder, &locator->frame);
    if (!status && !problem && RSC_GROW(locator->fetches, locator->room, locator->frame.header.accesses))
        problem = "out of memory";
    while (!status && !problem && rsct_decoder_next(locator->decoder, NULL, &batch, UINT64_MAX, &problem) > 0)
        for (uint32_t i = 0; i < batch.count; i++) locator->fetches[done++] = rsc_meta_kind(batch.meta[i]) == RSC_FETCH;
    if (problem) status = rsct_frame_damaged(input, row, locator->frame.offset, problem, error);
    back = rsc_input_seek(input, before, status < 0 ? NULL : error);
    if (status < 0 || back < 0) return status < 0 ? status : back;
    locator->row = row + 1;
    return 0;
}

/* The access of the frame before which `instruction` of its instructions were executed. */
static uint64_t find_in_frame(const struct rsct_locator *locator, const struct rsct_index_row *row,
                              uint64_t instruction) {
    uint32_t count;
    const struct rsct_mark *marks = rsct_decoder_marks(locator->decoder, &count);
    struct rsct_mark low = {0, 0}, high = {row->accesses, row->instructions};
    for (uint32_t i = 0; i < count; i++) {
        if (marks[i].instructions > instruction) {
            high = marks[i];
            break;
        }
        low = marks[i];
    }
    uint64_t fetches = 0, span = high.instructions - low.instructions, nth = instruction - low.instructions;
    for (uint64_t i = low.access; i < high.access; i++) fetches += locator->fetches[i];
    if (fetches != span) return low.access + (uint64_t)((unsigned __int128)nth * (high.access - low.access) / span);
    uint64_t at = low.access;
    for (; at < high.access; at++)
        if (locator->fetches[at] && !nth--) break;
    return at;
}

int rsct_locate(struct rsct_locator *locator, const struct rsct_index *index, struct rsc_input *input,
                uint64_t instruction, uint64_t *access, struct rsc_error *error) {
    *access = index->totals.accesses;
    for (uint64_t i = 0; i < index->count; i++) {
        const struct rsct_index_row *row = &index->rows[i];
        if (!instruction) { /* between two frames */
            *access = row->first;
            return 0;
        }
        if (instruction >= row->instructions) {
            instruction -= row->instructions;
            continue;
        }
        int status = look_into(locator, index, i, input, error);
        if (status < 0) return status;
        if (locator->frame.header.accesses != row->accesses || locator->frame.header.instructions != row->instructions)
            return rsct_frame_damaged(input, i, row->offset, "the index does not agree with it", error);
        *access = row->first + find_in_frame(locator, row, instruction);
        return 0;
    }
    return 0;
}
