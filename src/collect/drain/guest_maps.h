/*
 * guest_maps.h - the guest's memory map: turns /proc/PID/maps into MAP events, one per
 * region.
 */
#ifndef RSC_COLLECT_DRAIN_GUEST_MAPS_H
#define RSC_COLLECT_DRAIN_GUEST_MAPS_H

#include <stddef.h>
#include <stdint.h>

/* Largest data of a MAP event: file offset, build-id length, build id, name. */
#define RSC_MAP_DATA_MAX (8 + 1 + 64 + 4096)

struct rsc_guest_map {
    uint64_t process; /* rsc_process_id() */
    uint64_t start, bytes;
    uint32_t data_bytes;
    uint8_t data[RSC_MAP_DATA_MAX];
};

struct rsc_guest_maps;
struct rsc_guest_maps *rsc_guest_maps_new(void);
void rsc_guest_maps_free(struct rsc_guest_maps *maps);

/*
 * Parses the text of a maps file; `native`: of a process without QEMU in it. New
 * regions are queued. Returns 0 or RSC_ENOMEM.
 */
int rsc_guest_maps_text(struct rsc_guest_maps *maps, uint64_t process, int native, const char *text, size_t bytes);

/*
 * Queues the stack of a process's first thread, named in native text, as "[stack:TID]", even if the process has
 * ended. Returns 1, 0 if no text named it, or RSC_ENOMEM.
 */
int rsc_guest_maps_first_stack(struct rsc_guest_maps *maps, uint64_t process, uint64_t tid);

/* Queues this region as "[stack:TID]". */
int rsc_guest_maps_stack_at(struct rsc_guest_maps *maps, uint64_t process, uint64_t tid, uint64_t start,
                            uint64_t bytes);

/* Queues the region of a thread's stack pointer as "[stack:TID]"; found in /proc/PID/maps while the process lives. */
int rsc_guest_maps_stack(struct rsc_guest_maps *maps, uint64_t process, uint64_t tid, uint64_t stack_pointer);

/* How often a region was left out, as there were too many. */
uint64_t rsc_guest_maps_lost(const struct rsc_guest_maps *maps);

/* The next queued region, or NULL. Valid until the next call. */
const struct rsc_guest_map *rsc_guest_maps_next(struct rsc_guest_maps *maps);

#endif
