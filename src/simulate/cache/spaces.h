/*
 * spaces.h - address spaces: tells the addresses of different processes apart.
 *
 * If a cache's index depends on the process (PID hashing, physical pages), equal
 * addresses of two processes are different blocks. An address then has the number of
 * its process in its top 16 bits; addresses themselves are assumed to be canonical,
 * 48 bits. An access ends where the addresses of its process end.
 */
#ifndef RSC_SIMULATE_CACHE_SPACES_H
#define RSC_SIMULATE_CACHE_SPACES_H

#include <reusescope/trace.h>

#define RSC_SPACE_SHIFT 48
#define RSC_SPACE_MASK ((1ull << RSC_SPACE_SHIFT) - 1)
#define RSC_SPACES_MAX 65536u

struct rsc_spaces {
    uint64_t *pids; /* owned: RSC_SPACES_MAX process ids, by number of the space */
    uint32_t count;
    uint32_t last; /* space found last */
};

/* Returns 0 or RSC_ENOMEM. A zeroed struct may be freed. */
int rsc_spaces_init(struct rsc_spaces *spaces);
void rsc_spaces_free(struct rsc_spaces *spaces);

/* The address with its space. Returns 0, or RSC_ELIMIT when there are too many processes. */
int rsc_spaces_address(struct rsc_spaces *spaces, const struct rsc_batch *batch, uint32_t access, uint64_t *addr);

/* Bytes from an address to the end of its space. */
static inline uint64_t rsc_space_room(uint64_t addr) { return RSC_SPACE_MASK + 1 - (addr & RSC_SPACE_MASK); }

#endif
