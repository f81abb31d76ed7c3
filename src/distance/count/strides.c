/* strides.c - see strides.h. */
#include "distance/count/strides.h"

#include <stdlib.h>
#include <string.h>

int rsc_stride_votes_init(struct rsc_stride_votes *votes, uint32_t rows) {
    *votes = (struct rsc_stride_votes){.rows = calloc(rows, sizeof *votes->rows)};
    return votes->rows ? 0 : RSC_ENOMEM;
}

void rsc_stride_votes_free(struct rsc_stride_votes *votes) {
    free(votes->rows);
    votes->rows = NULL;
}

int rsc_stride_votes_copy(struct rsc_stride_votes *copy, const struct rsc_stride_votes *votes, uint32_t used_rows,
                          uint32_t rows) {
    *copy = *votes;
    copy->rows = calloc(rows, sizeof *copy->rows);
    if (!copy->rows) return RSC_ENOMEM;
    memcpy(copy->rows, votes->rows, used_rows * sizeof *copy->rows);
    return 0;
}

void rsc_stride_votes_begin(struct rsc_stride_votes *votes) {
    if (++votes->window) return;
    memset(votes->last, 0, sizeof votes->last); /* the numbers begin anew */
    votes->window = 1;
}

/* From one address to the other the short way round; at most what a profile can hold. */
static uint64_t bytes_between(uint64_t a, uint64_t b) {
    uint64_t up = b - a, bytes = (int64_t)up < 0 ? a - b : up;
    return bytes > INT64_MAX ? INT64_MAX : bytes;
}

static void vote(struct rsc_stride_row *row, uint64_t bytes) {
    row->stride.seen++;
    if (row->stride.bytes == bytes) {
        row->stride.same++;
        row->votes++;
    } else if (row->votes) {
        row->votes--;
    } else {
        row->stride.bytes = bytes;
        row->stride.same = row->votes = 1;
    }
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Most addresses change nothing: they cost one division. */
static void note_address(struct rsc_stride_row *row, uint64_t address) {
    if (!row->has_first) {
        row->first = address;
        row->has_first = 1;
    }
    uint64_t away = bytes_between(row->first, address);
    if (away && (!row->stride.apart || away % row->stride.apart))
        row->stride.apart = common_divisor(row->stride.apart, away);
}

void rsc_stride_votes_step(struct rsc_stride_votes *votes, uint32_t row, uint64_t from, uint64_t to, uint32_t bytes) {
    note_address(&votes->rows[row], from);
    note_address(&votes->rows[row], to);
    vote(&votes->rows[row], bytes_between(from, to));
    votes->rows[row].stride.access_bytes = bytes;
}

void rsc_stride_votes_see(struct rsc_stride_votes *votes, uint32_t row, uint64_t pc, uint32_t thread, uint64_t address,
                          uint32_t bytes) {
    uint32_t slot = ((uint32_t)(pc ^ pc >> 32) * 0x9E3779B1u ^ thread * 0x85EBCA77u) >> 24;
    if (votes->last[slot].window == votes->window && votes->last[slot].row == row && votes->last[slot].thread == thread)
        rsc_stride_votes_step(votes, row, votes->last[slot].address, address, bytes);
    votes->last[slot].window = votes->window;
    votes->last[slot].row = row;
    votes->last[slot].thread = thread;
    votes->last[slot].address = address;
}
