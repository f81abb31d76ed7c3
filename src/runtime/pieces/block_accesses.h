/*
 * block_accesses.h - accesses that words of Valgrind's tool (ring.h) stand for: strings with a repeat prefix, joined
 * within lines of 64 bytes as for QEMU, pieces of one access, a read and a write of one address. Shared by the parent
 * and by the tool, which needs accesses where it chooses lines itself.
 */
#ifndef RSC_RUNTIME_PIECES_BLOCK_ACCESSES_H
#define RSC_RUNTIME_PIECES_BLOCK_ACCESSES_H

#include "runtime/ring/ring.h"

#define RSC_BLOCK_ADDRESS 0xffffffffffffull
#define RSC_STRING_PARTS 16u
#define RSC_JOINED_LESS_THAN 128u /* bytes */

/* Where accesses are put: columns as in a batch (trace/source.h). The caller provides room. */
struct rsc_block_accesses {
    uint64_t *addr, *meta, *pc;
    uint32_t count;
    uint64_t space, thread; /* set in addresses and pcs; in meta */
};

/* An access by a string instruction, which the next iteration may extend. */
struct rsc_string_part {
    uint64_t addr, pc;
    uint32_t size;
    uint8_t is_write, open;
};

struct rsc_block_joins {
    int joins; /* the last word was a piece that the next may extend */
    uint64_t string_pc;
    struct rsc_string_part parts[RSC_STRING_PARTS];
    uint32_t part_count;
};

static inline void rsc_block_put(struct rsc_block_accesses *to, uint64_t addr, uint64_t pc, uint64_t size,
                                 uint64_t is_write) {
    uint32_t at = to->count++;
    to->addr[at] = (addr & RSC_BLOCK_ADDRESS) | to->space;
    to->meta[at] = size | is_write << 32 | to->thread;
    to->pc[at] = (pc & RSC_BLOCK_ADDRESS) | to->space;
}

/* Strings that cannot grow any more; `all`: none can. */
static inline void rsc_block_put_strings(struct rsc_block_accesses *to, struct rsc_block_joins *joins, int all) {
    uint32_t done = 0;
    for (; done < joins->part_count && (all || !joins->parts[done].open); done++) {
        const struct rsc_string_part *part = &joins->parts[done];
        rsc_block_put(to, part->addr, part->pc, part->size, part->is_write);
    }
    joins->part_count -= done;
    for (uint32_t i = 0; i < joins->part_count; i++) joins->parts[i] = joins->parts[i + done];
}

/* Of the parts of a kind, one stays open for writing, and two for reading: cmps has two. */
static inline void rsc_block_close_parts(struct rsc_block_joins *joins, int is_write) {
    int open = 0;
    for (uint32_t i = joins->part_count; i-- > 0;) {
        struct rsc_string_part *part = &joins->parts[i];
        if (part->is_write == is_write && part->open && ++open > (is_write ? 0 : 1)) part->open = 0;
    }
}

static inline void rsc_block_put_string(struct rsc_block_accesses *to, struct rsc_block_joins *joins, uint64_t addr,
                                        uint64_t pc, uint32_t size, int is_write) {
    if (joins->part_count && joins->string_pc != pc) rsc_block_put_strings(to, joins, 1);
    joins->string_pc = pc;
    for (uint32_t i = 0; i < joins->part_count; i++) {
        struct rsc_string_part *part = &joins->parts[i];
        if (!part->open || part->is_write != is_write || part->addr >> 6 != addr >> 6) continue;
        if (addr != part->addr + part->size && addr + size != part->addr) continue;
        if (part->size >= RSC_JOINED_LESS_THAN) continue; /* not by a string of the program */
        if (addr < part->addr) part->addr = addr;
        part->size += size;
        return;
    }
    rsc_block_close_parts(joins, is_write);
    rsc_block_put_strings(to, joins, joins->part_count == RSC_STRING_PARTS);
    joins->parts[joins->part_count++] = (struct rsc_string_part){addr, pc, size, (uint8_t)is_write, 1};
}

/* An access of any kind; `flags` as in its plan (RSC_BLOCK_...). Puts at most two, and strings that are complete. */
static inline void rsc_block_put_any(struct rsc_block_accesses *to, struct rsc_block_joins *joins, uint64_t addr,
                                     uint64_t pc, uint32_t size, uint64_t flags) {
    const uint32_t last = to->count - 1;
    if (flags & RSC_BLOCK_REP) {
        if (flags & RSC_BLOCK_READS) rsc_block_put_string(to, joins, addr, pc, size, 0);
        if (flags & RSC_BLOCK_WRITES) rsc_block_put_string(to, joins, addr, pc, size, 1);
        return;
    }
    if (joins->joins && to->count && to->pc[last] == (pc | to->space) &&
        (to->addr[last] & RSC_BLOCK_ADDRESS) + (to->meta[last] & 0xff) == addr &&
        (to->meta[last] & 0xff) + size <= RSC_JOINED_LESS_THAN) {
        to->meta[last] += size;
        return;
    }
    if (flags & RSC_BLOCK_READS) rsc_block_put(to, addr, pc, size, 0);
    if (flags & RSC_BLOCK_WRITES) rsc_block_put(to, addr, pc, size, 1);
    joins->joins = (flags & RSC_BLOCK_PIECE) != 0;
}

#endif
