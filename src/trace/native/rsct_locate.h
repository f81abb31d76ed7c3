/*
 * rsct_locate.h - the access at which a number of instructions was executed.
 *
 * The index leads to the frame. Inside it, marks (rsct_format.h) count instructions exactly; between two marks, fetches
 * do where there is one per instruction, and otherwise an even spread is assumed.
 */
#ifndef RSC_TRACE_NATIVE_RSCT_LOCATE_H
#define RSC_TRACE_NATIVE_RSCT_LOCATE_H

#include "trace/native/rsct_frame.h"
#include "trace/native/rsct_index.h"

/* Keeps the frame that was looked into last. Zeroed: empty. */
struct rsct_locator {
    struct rsct_unpacker unpacker;
    struct rsct_decoder *decoder; /* owned; NULL: not used yet */
    struct rsct_frame frame;
    uint64_t row;     /* of the index, + 1; 0: none */
    uint8_t *fetches; /* owned: whether an access of the frame is a fetch */
    uint32_t room;
};

void rsct_locator_free(struct rsct_locator *locator);

/*
 * Sets *access to the access before which `instruction` instructions were executed, by instructions of the whole trace;
 * past the end, to the number of accesses. Leaves the input where it was.
 */
int rsct_locate(struct rsct_locator *locator, const struct rsct_index *index, struct rsc_input *input,
                uint64_t instruction, uint64_t *access, struct rsc_error *error);

#endif
