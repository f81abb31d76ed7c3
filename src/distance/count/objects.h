/*
 * objects.h - the object at an address, at the current time: a heap block, a mapping,
 * or unknown.
 *
 * Heap blocks are a treap ordered by address, mappings a sorted array of ranges that
 * later mappings cut into. In front of both is a direct-mapped cache by 64-byte line:
 * an entry holds the part of a line that is one object. A change in a range clears
 * the entries of its lines, so an entry is never stale. An entry also keeps a number
 * of the caller's for the object, and so does an entry by page, for pages that are
 * one object: stacks and arrays need only those.
 *
 * A mapping of a file with executed code holds variables, which symbols later
 * identify by address. Large ones are announced (variable_event.h): each is one
 * object, however many lines it has. The rest of the file's data is one object per
 * line, and its instructions are one object per file. Unnamed memory after the data
 * of such a file is its .bss. Any other mapping is one object per name. Memory of
 * which nothing is known but that heap blocks are near is the allocator's own.
 */
#ifndef RSC_DISTANCE_COUNT_OBJECTS_H
#define RSC_DISTANCE_COUNT_OBJECTS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/u64_table.h"
#include "distance/count/attribution.h"

/*
 * An object's key. Bits 62-63 are its sort, the rest identify it: a large variable or
 * the 64-byte line of small ones, the call-path node of a heap block's allocation, or
 * the name of a mapping.
 */
enum rsc_object_sort { RSC_OBJECT_UNKNOWN = 0, RSC_OBJECT_MAPPED = 1, RSC_OBJECT_HEAP = 2, RSC_OBJECT_GLOBAL = 3 };
static inline enum rsc_object_sort rsc_object_sort(uint64_t key) { return (enum rsc_object_sort)(key >> 62); }
static inline uint64_t rsc_object_number(uint64_t key) { return key << 2 >> 2; }

/* Set in the key of a global that is a large variable: the bits below are its index in `variables`. */
#define RSC_OBJECT_VARIABLE (1ull << 61)
static inline int rsc_object_is_line(uint64_t key) {
    return rsc_object_sort(key) == RSC_OBJECT_GLOBAL && !(key & RSC_OBJECT_VARIABLE);
}

/* The number of the heap's memory between blocks. */
#define RSC_HEAP_BETWEEN ((1u << 30) - 1)
#define RSC_HEAP_BETWEEN_NAME "heap between blocks"

/* A name of mapped memory: a path, "[stack]", "" ... */
struct rsc_mapped_name {
    const char *name; /* in the arena */
    const char *kind; /* as in struct rsc_object_row */
    int has_code;     /* code ran from it, or it has a build id */
    uint64_t bytes, mappings;
};

/* The blocks allocated at a call-path node. */
struct rsc_heap_site {
    uint64_t live_bytes, peak_bytes, blocks;
};

struct rsc_heap_block {
    uint64_t start, end;
    uint32_t left, right; /* indices; 0: none */
    uint32_t site;
    uint32_t priority; /* no child has a higher one */
};

struct rsc_mapped_range {
    uint64_t start, end;
    uint32_t name;
    uint32_t is_data; /* of a file, not from its beginning */
};

struct rsc_variable {
    uint64_t start, bytes;
};

/* Where a variable is now. */
struct rsc_variable_range {
    uint64_t start, end;
    uint32_t number; /* in `variables` */
};

#define RSC_OBJECT_CACHE 4096u
struct rsc_object_part {
    uint64_t start;
    uint32_t bytes : 8; /* 0: empty entry */
    uint32_t mark : 24; /* the caller's number for data there; 0: none */
    uint32_t what; /* number << 2 | sort; RSC_OBJECT_GLOBAL only for variables */
};

#define RSC_OBJECT_PAGES 2048u
struct rsc_object_page {
    uint64_t page; /* address >> 12 */
    uint32_t mark; /* 0: empty entry */
    uint32_t reserved;
};

struct rsc_objects {
    int known; /* anything was ever mapped or allocated */
    struct rsc_object_part cache[RSC_OBJECT_CACHE];
    struct rsc_object_page pages[RSC_OBJECT_PAGES];

    struct rsc_heap_block *blocks; /* [0] is not used; owned */
    uint32_t block_count, block_room, block_root, block_free;
    struct rsc_heap_site *sites; /* by call-path node; owned */

    struct rsc_mapped_range *ranges; /* ascending, disjoint; owned */
    uint32_t range_count, range_room;
    struct rsc_variable *variables; /* all there ever were; owned */
    uint32_t variable_count, variable_room;
    struct rsc_u64_table variable_of; /* start -> index + 1 of the last one there */
    struct rsc_variable_range *placed; /* ascending, disjoint; owned */
    uint32_t placed_count, placed_room;
    struct rsc_mapped_name *names; /* owned */
    uint32_t name_count, name_room;
    struct rsc_mapping *mappings; /* of files, in order of arrival; owned */
    uint32_t mapping_count, mapping_room;
    struct rsc_arena arena;
};

/* `sites`: maximum number of call-path nodes. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_objects_init(struct rsc_objects *objects, uint32_t sites);
void rsc_objects_free(struct rsc_objects *objects);
int rsc_objects_copy(struct rsc_objects *copy, const struct rsc_objects *objects, uint32_t sites); /* 0 or RSC_ENOMEM */

/* Adds and removes a block. A new block removes blocks it overlaps; removing an unknown block does nothing. Return 0
 * or RSC_ENOMEM. */
int rsc_objects_add_block(struct rsc_objects *objects, uint64_t start, uint64_t bytes, uint32_t site);
void rsc_objects_remove_block(struct rsc_objects *objects, uint64_t start);

/*
 * Reads the data of a MAP event and adds it to the mappings. Returns the number of
 * its name, RSC_ENOMEM, or RSC_EFORMAT for invalid data.
 */
int rsc_objects_add_mapping(struct rsc_objects *objects, const struct rsc_event *event);

/* Maps memory under that name over the range. Returns 0 or RSC_ENOMEM. */
int rsc_objects_map(struct rsc_objects *objects, uint64_t start, uint64_t bytes, uint32_t name, int is_data);

/*
 * Adds a large variable of a mapped file. It stays until another file is mapped over it. Returns 0 or RSC_ENOMEM.
 */
int rsc_objects_add_variable(struct rsc_objects *objects, uint64_t start, uint64_t bytes);

/* Code ran at pc: marks its mapping as code. */
void rsc_objects_see_code(struct rsc_objects *objects, uint64_t pc);

/* The slow half of rsc_objects_find(): fills the cache entry of the line. */
void rsc_objects_search(struct rsc_objects *objects, uint64_t address, struct rsc_object_part *part);

/* The key of the object at `address`, for an instruction fetch or a data access. */
static inline uint64_t rsc_objects_find(struct rsc_objects *objects, uint64_t address, int is_fetch) {
    struct rsc_object_part *part = &objects->cache[address >> 6 & (RSC_OBJECT_CACHE - 1)];
    if (address - part->start >= part->bytes) rsc_objects_search(objects, address, part);
    uint64_t number = part->what >> 2;
    if ((part->what & 3) == RSC_OBJECT_GLOBAL) return (uint64_t)RSC_OBJECT_GLOBAL << 62 | RSC_OBJECT_VARIABLE | number;
    if ((part->what & 3) == RSC_OBJECT_MAPPED && !is_fetch && objects->names[number].has_code)
        return (uint64_t)RSC_OBJECT_GLOBAL << 62 | address >> 6;
    return (uint64_t)(part->what & 3) << 62 | number;
}

/* Keeps a number, 1 to RSC_OBJECT_MARK_MAX, for the object of data at `address`, which rsc_objects_find() returned. */
#define RSC_OBJECT_MARK_MAX ((1u << 24) - 1)
void rsc_objects_keep_mark(struct rsc_objects *objects, uint64_t address, uint64_t key, uint32_t mark);

/* Removes all of them. */
void rsc_objects_forget_marks(struct rsc_objects *objects);

/* The number kept for the object of data at `address`; 0: none. */
static inline uint32_t rsc_objects_mark(const struct rsc_objects *objects, uint64_t address) {
    const struct rsc_object_page *page = &objects->pages[address >> 12 & (RSC_OBJECT_PAGES - 1)];
    if (page->page == address >> 12 && page->mark) return page->mark;
    const struct rsc_object_part *part = &objects->cache[address >> 6 & (RSC_OBJECT_CACHE - 1)];
    return address - part->start < part->bytes ? part->mark : 0;
}

#endif
