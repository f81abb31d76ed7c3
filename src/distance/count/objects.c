/* objects.c - see objects.h: blocks, then mappings, then variables, then lookups. */
#include "distance/count/objects.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"
#include "base/search.h"

#define BLOCKS_MAX (1u << 24)   /* live at once; further ones are ignored */
#define RANGES_MAX (1u << 16)
#define NAMES_MAX (1u << 12)    /* memory mapped under further names has none */
#define MAPPINGS_MAX (1u << 16) /* of files */
#define VARIABLES_MAX (1u << 16) /* further ones are counted by line */
#define BETWEEN_BYTES 64u       /* memory no further from a block is the heap's: the sizes of blocks are kept there */
#define CODE_SEARCHED 1024u     /* newest mappings searched for the file of a pc */
#define BUILD_ID_BYTES_MAX 32u

/* Room for one more of `count` things; sizes double. */
static int reserve(void **things, uint32_t *room, uint32_t count, size_t bytes) {
    if (count < *room) return 0;
    uint32_t wanted = *room ? 2 * *room : 64;
    void *larger = realloc(*things, wanted * bytes);
    if (!larger) return RSC_ENOMEM;
    *things = larger;
    *room = wanted;
    return 0;
}

static int name_number(struct rsc_objects *objects, const char *text, size_t length);

int rsc_objects_init(struct rsc_objects *objects, uint32_t sites) {
    memset(objects, 0, sizeof *objects);
    rsc_arena_init(&objects->arena);
    objects->sites = calloc(sites, sizeof *objects->sites);
    if (objects->sites && name_number(objects, "", 0) == 0 &&
        reserve((void **)&objects->blocks, &objects->block_room, 0, sizeof *objects->blocks) == 0 &&
        reserve((void **)&objects->ranges, &objects->range_room, 0, sizeof *objects->ranges) == 0 &&
        rsc_u64_table_init(&objects->variable_of, 64) == 0)
        return 0;
    rsc_objects_free(objects);
    return RSC_ENOMEM;
}

void rsc_objects_free(struct rsc_objects *objects) {
    free(objects->blocks);
    free(objects->sites);
    free(objects->ranges);
    free(objects->variables);
    free(objects->placed);
    rsc_u64_table_free(&objects->variable_of);
    free(objects->names);
    free(objects->mappings);
    rsc_arena_free(&objects->arena);
    memset(objects, 0, sizeof *objects);
}

static uint64_t end_of(uint64_t start, uint64_t bytes) {
    return bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
}

/* Marks the objects in start .. end - 1 as changed. */
static void forget(struct rsc_objects *objects, uint64_t start, uint64_t end) {
    uint64_t first = start >> 6, last = (end - 1) >> 6;
    first -= first > 0; /* what is between blocks has changed, too: BETWEEN_BYTES */
    last += last < UINT64_MAX >> 6;
    uint64_t first_page = first >> 6, pages = (last >> 6) - first_page;
    if (last - first >= RSC_OBJECT_CACHE) {
        memset(objects->cache, 0, sizeof objects->cache);
        memset(objects->pages, 0, sizeof objects->pages);
        return;
    }
    for (uint64_t line = first; line <= last; line++) objects->cache[line & (RSC_OBJECT_CACHE - 1)].bytes = 0;
    for (uint64_t page = 0; page <= pages; page++)
        objects->pages[(first_page + page) & (RSC_OBJECT_PAGES - 1)].mark = 0;
}

/* ---- blocks ---- */

/* The block that starts at or before `address` (0: none), and where the next one starts. */
static uint32_t block_before(const struct rsc_objects *objects, uint64_t address, uint64_t *next_start) {
    const struct rsc_heap_block *blocks = objects->blocks;
    uint32_t before = 0, at = objects->block_root;
    *next_start = UINT64_MAX;
    while (at) {
        if (blocks[at].start <= address) {
            before = at;
            at = blocks[at].right;
        } else {
            *next_start = blocks[at].start;
            at = blocks[at].left;
        }
    }
    return before;
}

/* Inserts a block with a new start into the treap: above all blocks of lower priority, which it splits in two. */
static void tree_insert(struct rsc_objects *objects, uint32_t added) {
    struct rsc_heap_block *blocks = objects->blocks;
    uint32_t *link = &objects->block_root;
    while (*link && blocks[*link].priority >= blocks[added].priority)
        link = blocks[*link].start < blocks[added].start ? &blocks[*link].right : &blocks[*link].left;
    uint32_t at = *link, *left = &blocks[added].left, *right = &blocks[added].right;
    *link = added;
    while (at) {
        if (blocks[at].start < blocks[added].start) {
            *left = at;
            left = &blocks[at].right;
            at = *left;
        } else {
            *right = at;
            right = &blocks[at].left;
            at = *right;
        }
    }
    *left = *right = 0;
}

static void tree_remove(struct rsc_objects *objects, uint32_t gone) {
    struct rsc_heap_block *blocks = objects->blocks;
    uint32_t *link = &objects->block_root;
    while (*link != gone) link = blocks[*link].start < blocks[gone].start ? &blocks[*link].right : &blocks[*link].left;
    uint32_t left = blocks[gone].left, right = blocks[gone].right;
    while (left && right) {
        if (blocks[left].priority >= blocks[right].priority) {
            *link = left;
            link = &blocks[left].right;
            left = *link;
        } else {
            *link = right;
            link = &blocks[right].left;
            right = *link;
        }
    }
    *link = left ? left : right;
}

static void block_drop(struct rsc_objects *objects, uint32_t block) {
    struct rsc_heap_block *gone = &objects->blocks[block];
    objects->sites[gone->site].live_bytes -= gone->end - gone->start;
    forget(objects, gone->start, gone->end);
    tree_remove(objects, block);
    gone->left = objects->block_free;
    objects->block_free = block;
}

/* A free index among the blocks; *place is 0 when none is left. */
static int block_place(struct rsc_objects *objects, uint32_t *place) {
    *place = objects->block_free;
    if (*place) {
        objects->block_free = objects->blocks[*place].left;
        return 0;
    }
    if (objects->block_count + 1 >= BLOCKS_MAX) return 0;
    if (reserve((void **)&objects->blocks, &objects->block_room, objects->block_count + 1, sizeof *objects->blocks))
        return RSC_ENOMEM;
    *place = ++objects->block_count;
    return 0;
}

int rsc_objects_add_block(struct rsc_objects *objects, uint64_t start, uint64_t bytes, uint32_t site) {
    uint64_t end = end_of(start, bytes ? bytes : 1), next_start;
    uint32_t block;
    if (end == start) return 0; /* the last byte of the address space */
    while ((block = block_before(objects, end - 1, &next_start)) && objects->blocks[block].end > start)
        block_drop(objects, block);
    if (block_place(objects, &block) < 0) return RSC_ENOMEM;
    if (!block) return 0;
    struct rsc_heap_site *at = &objects->sites[site];
    at->blocks++;
    at->live_bytes += end - start;
    if (at->live_bytes > at->peak_bytes) at->peak_bytes = at->live_bytes;
    /* priorities only need to be unordered */
    uint64_t mixed = (start ^ (at->blocks << 40) ^ block) * 0x9E3779B97F4A7C15ull;
    mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9ull;
    objects->blocks[block] =
        (struct rsc_heap_block){.start = start, .end = end, .site = site, .priority = (uint32_t)(mixed >> 32)};
    tree_insert(objects, block);
    forget(objects, start, end);
    objects->known = 1;
    return 0;
}

void rsc_objects_remove_block(struct rsc_objects *objects, uint64_t start) {
    uint64_t next_start;
    uint32_t block = block_before(objects, start, &next_start);
    if (block && objects->blocks[block].start == start) block_drop(objects, block);
}

/* ---- mappings ---- */

static const char *kind_of(const char *name) {
    if (!strcmp(name, "[heap]")) return "heap";
    if (!strncmp(name, "[stack", 6)) return "stack";
    return name[0] == '[' || !name[0] ? "other" : "file";
}

/* The number of a name; "" is 0. */
static int name_number(struct rsc_objects *objects, const char *text, size_t length) {
    for (uint32_t i = objects->name_count; i-- > 0;) {
        const char *name = objects->names[i].name;
        if (!strncmp(name, text, length) && !name[length]) return (int)i;
    }
    if (objects->name_count == NAMES_MAX) return 0;
    if (reserve((void **)&objects->names, &objects->name_room, objects->name_count, sizeof *objects->names))
        return RSC_ENOMEM;
    char *name = rsc_arena_strndup(&objects->arena, text, length);
    if (!name) return RSC_ENOMEM;
    objects->names[objects->name_count] = (struct rsc_mapped_name){.name = name, .kind = kind_of(name)};
    return (int)objects->name_count++;
}

/* Its data is now one object per line. */
static void set_has_code(struct rsc_objects *objects, int name) {
    if (objects->names[name].has_code) return;
    objects->names[name].has_code = 1;
    rsc_objects_forget_marks(objects);
}

int rsc_objects_add_mapping(struct rsc_objects *objects, const struct rsc_event *event) {
    const uint8_t *data = event->data;
    if (event->data_bytes < 9 || event->data_bytes - 9u < data[8]) return RSC_EFORMAT;
    uint32_t id_bytes = data[8];
    const char *text = (const char *)data + 9 + id_bytes;
    size_t length = strnlen(text, event->data_bytes - 9u - id_bytes);
    uint64_t offset;
    memcpy(&offset, data, sizeof offset);
    int name = name_number(objects, text, length);
    if (name < 0 || strcmp(objects->names[name].kind, "file") || objects->mapping_count == MAPPINGS_MAX) return name;

    if (id_bytes > BUILD_ID_BYTES_MAX) id_bytes = 0;
    if (id_bytes) set_has_code(objects, name);
    if (reserve((void **)&objects->mappings, &objects->mapping_room, objects->mapping_count, sizeof *objects->mappings))
        return RSC_ENOMEM;
    uint8_t *build_id = rsc_arena_alloc(&objects->arena, id_bytes);
    if (!build_id) return RSC_ENOMEM;
    memcpy(build_id, data + 9, id_bytes);
    objects->mappings[objects->mapping_count++] = (struct rsc_mapping){
        .start = event->a,
        .bytes = event->b,
        .file_offset = offset,
        .path = objects->names[name].name,
        .build_id = build_id,
        .build_id_bytes = id_bytes,
    };
    return name;
}

void rsc_objects_see_code(struct rsc_objects *objects, uint64_t pc) {
    for (uint32_t i = 0; i < objects->mapping_count && i < CODE_SEARCHED; i++) {
        const struct rsc_mapping *mapping = &objects->mappings[objects->mapping_count - 1 - i];
        if (pc - mapping->start >= mapping->bytes) continue;
        int name = name_number(objects, mapping->path, strlen(mapping->path));
        if (name >= 0) set_has_code(objects, name);
        return;
    }
}

/* ---- a copy ---- */

static int copy_names(struct rsc_objects *copy, const struct rsc_objects *objects) {
    for (copy->name_count = 0; copy->name_count < objects->name_count; copy->name_count++) {
        struct rsc_mapped_name *name = &copy->names[copy->name_count];
        name->name = rsc_arena_strdup(&copy->arena, name->name);
        if (!name->name) return RSC_ENOMEM;
    }
    for (uint32_t i = 0; i < objects->mapping_count; i++) {
        struct rsc_mapping *mapping = &copy->mappings[i];
        void *build_id = rsc_arena_alloc(&copy->arena, mapping->build_id_bytes);
        int name = name_number(copy, mapping->path, strlen(mapping->path));
        if (!build_id || name < 0) return RSC_ENOMEM;
        mapping->build_id = memcpy(build_id, mapping->build_id, mapping->build_id_bytes);
        mapping->path = copy->names[name].name;
    }
    return 0;
}

int rsc_objects_copy(struct rsc_objects *copy, const struct rsc_objects *objects, uint32_t sites) {
    *copy = *objects;
    rsc_arena_init(&copy->arena);
    copy->blocks = RSC_COPY(objects->blocks, objects->block_count + 1, objects->block_room);
    copy->sites = RSC_COPY(objects->sites, sites, sites);
    copy->ranges = RSC_COPY(objects->ranges, objects->range_count, objects->range_room);
    copy->variables = RSC_COPY(objects->variables, objects->variable_count, objects->variable_room);
    copy->placed = RSC_COPY(objects->placed, objects->placed_count, objects->placed_room);
    copy->names = RSC_COPY(objects->names, objects->name_count, objects->name_room);
    copy->mappings = RSC_COPY(objects->mappings, objects->mapping_count, objects->mapping_room);
    int failed = rsc_u64_table_copy(&copy->variable_of, &objects->variable_of) < 0;
    if (!failed && copy->blocks && copy->sites && copy->ranges && copy->variables && copy->placed && copy->names &&
        copy->mappings && copy_names(copy, objects) == 0)
        return 0;
    rsc_objects_free(copy);
    return RSC_ENOMEM;
}

/* The first range that ends after `address`. */
static uint32_t range_from(const struct rsc_objects *objects, uint64_t address) {
    uint32_t low = 0, high = objects->range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (objects->ranges[middle].end > address) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* Makes a gap from start to end and returns its index. There must be room for two more ranges. */
static uint32_t ranges_cut(struct rsc_objects *objects, uint64_t start, uint64_t end) {
    struct rsc_mapped_range *ranges = objects->ranges;
    uint32_t first = range_from(objects, start), last = first;
    if (first < objects->range_count && ranges[first].start < start) {
        uint32_t parts = ranges[first].end > end ? 2 : 1;
        if (parts == 2) {
            memmove(ranges + first + 1, ranges + first, (objects->range_count - first) * sizeof *ranges);
            objects->range_count++;
        }
        ranges[first].end = start;
        last = ++first;
    }
    while (last < objects->range_count && ranges[last].end <= end) last++;
    if (last < objects->range_count && ranges[last].start < end) ranges[last].start = end;
    memmove(ranges + first, ranges + last, (objects->range_count - last) * sizeof *ranges);
    objects->range_count -= last - first;
    return first;
}

static void remove_variables(struct rsc_objects *objects, uint64_t start, uint64_t end);

int rsc_objects_map(struct rsc_objects *objects, uint64_t start, uint64_t bytes, uint32_t name, int is_data) {
    uint64_t end = end_of(start, bytes);
    if (end == start || objects->range_count + 2 > RANGES_MAX) return 0;
    if (reserve((void **)&objects->ranges, &objects->range_room, objects->range_count + 2, sizeof *objects->ranges))
        return RSC_ENOMEM;
    uint32_t at = ranges_cut(objects, start, end);
    struct rsc_mapped_range *ranges = objects->ranges;
    const struct rsc_mapped_range *below = at && ranges[at - 1].end == start ? &ranges[at - 1] : NULL;
    if (!objects->names[name].name[0] && below && below->is_data && objects->names[below->name].has_code) {
        name = below->name; /* its .bss */
        is_data = 1;
    }
    if (!below || below->name != name) remove_variables(objects, start, end);
    memmove(ranges + at + 1, ranges + at, (objects->range_count - at) * sizeof *ranges);
    ranges[at] = (struct rsc_mapped_range){.start = start, .end = end, .name = name, .is_data = (uint32_t)is_data};
    objects->range_count++;
    objects->names[name].bytes += end - start;
    objects->names[name].mappings++;
    forget(objects, start, end);
    objects->known = 1;
    return 0;
}

/* ---- variables ---- */

/* The first that ends after `address`. */
static uint32_t placed_from(const struct rsc_objects *objects, uint64_t address) {
    return (uint32_t)RSC_SEARCH(0, objects->placed_count, i, objects->placed[i].end <= address);
}

static void remove_variables(struct rsc_objects *objects, uint64_t start, uint64_t end) {
    uint32_t first = placed_from(objects, start), last = first;
    while (last < objects->placed_count && objects->placed[last].start < end) last++;
    if (first == last) return;
    memmove(objects->placed + first, objects->placed + last, (objects->placed_count - last) * sizeof *objects->placed);
    objects->placed_count -= last - first;
}

/* The number of a variable: its old one if it was there before. UINT32_MAX: there are no more. Or RSC_ENOMEM. */
static int variable_number(struct rsc_objects *objects, uint64_t start, uint64_t bytes, uint32_t *number) {
    if (rsc_u64_table_needs_rebuild(&objects->variable_of) && rsc_u64_table_rebuild(&objects->variable_of))
        return RSC_ENOMEM;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&objects->variable_of, start);
    *number = entry->value ? (uint32_t)entry->value - 1 : UINT32_MAX;
    if (entry->value && objects->variables[*number].bytes == bytes) return 0;
    *number = UINT32_MAX;
    if (objects->variable_count == VARIABLES_MAX) return 0;
    if (reserve((void **)&objects->variables, &objects->variable_room, objects->variable_count,
                sizeof *objects->variables))
        return RSC_ENOMEM;
    objects->variable_of.used += !entry->value;
    *number = objects->variable_count++;
    objects->variables[*number] = (struct rsc_variable){start, bytes};
    *entry = (struct rsc_u64_entry){start, *number + 1ull};
    return 0;
}

int rsc_objects_add_variable(struct rsc_objects *objects, uint64_t start, uint64_t bytes) {
    uint64_t end = end_of(start, bytes);
    uint32_t number, range = range_from(objects, start);
    if (end == start) return 0;
    if (variable_number(objects, start, bytes, &number) < 0 ||
        reserve((void **)&objects->placed, &objects->placed_room, objects->placed_count, sizeof *objects->placed))
        return RSC_ENOMEM;
    if (number == UINT32_MAX) return 0;
    remove_variables(objects, start, end);
    uint32_t at = placed_from(objects, start);
    memmove(objects->placed + at + 1, objects->placed + at, (objects->placed_count - at) * sizeof *objects->placed);
    objects->placed[at] = (struct rsc_variable_range){start, end, number};
    objects->placed_count++;
    if (range < objects->range_count && objects->ranges[range].start <= start)
        set_has_code(objects, (int)objects->ranges[range].name);
    forget(objects, start, end);
    objects->known = 1;
    return 0;
}

/* Narrows low .. last, bytes of a mapping around `address`, to its variable or to bytes of none. Returns what it is. */
static uint32_t narrow_to_variable(const struct rsc_objects *objects, uint64_t address, uint64_t *low, uint64_t *last,
                                   uint32_t otherwise) {
    uint32_t at = placed_from(objects, address);
    const struct rsc_variable_range *placed = &objects->placed[at];
    if (at && placed[-1].end > *low) *low = placed[-1].end;
    if (at == objects->placed_count) return otherwise;
    if (placed->start > address) {
        if (placed->start <= *last) *last = placed->start - 1;
        return otherwise;
    }
    if (placed->start > *low) *low = placed->start;
    if (placed->end <= *last) *last = placed->end - 1;
    return placed->number << 2 | RSC_OBJECT_GLOBAL;
}

/* ---- looking up ---- */

void rsc_objects_search(struct rsc_objects *objects, uint64_t address, struct rsc_object_part *part) {
    uint64_t low = address & ~63ull, high = low + 64, next_start; /* high is 0 in the last line: see `last` */
    uint64_t last = high - 1;
    uint32_t what = RSC_OBJECT_UNKNOWN, block = block_before(objects, address, &next_start);
    const uint64_t next_block = next_start;
    if (next_start <= last) last = next_start - 1;
    const struct rsc_heap_block *found = &objects->blocks[block];
    if (block && found->end > address) {
        if (found->start > low) low = found->start;
        if (found->end <= last) last = found->end - 1;
        what = found->site << 2 | RSC_OBJECT_HEAP;
    } else {
        if (block && found->end > low) low = found->end;
        uint32_t at = range_from(objects, address);
        const struct rsc_mapped_range *range = &objects->ranges[at];
        if (at && range[-1].end > low) low = range[-1].end;
        if (at < objects->range_count) {
            if (range->start > address) {
                if (range->start <= last) last = range->start - 1;
            } else {
                if (range->start > low) low = range->start;
                if (range->end <= last) last = range->end - 1;
                what = range->name << 2 | RSC_OBJECT_MAPPED;
                if (objects->placed_count) what = narrow_to_variable(objects, address, &low, &last, what);
            }
        }
        uint64_t line = address & ~63ull;
        if (what == RSC_OBJECT_UNKNOWN && ((block && line < BETWEEN_BYTES + found->end) ||
                                           (next_block != UINT64_MAX && next_block - line < BETWEEN_BYTES + 64)))
            what = RSC_HEAP_BETWEEN << 2 | RSC_OBJECT_HEAP;
    }
    *part = (struct rsc_object_part){.start = low, .bytes = (uint32_t)(last - low + 1) & 0xff, .what = what};
}

/* ---- the caller's numbers ---- */

/* Whether the page of an address is one object. */
static int is_whole_page(const struct rsc_objects *objects, uint64_t address) {
    uint64_t first = address & ~0xfffull, last = first + 0xfff, next_start;
    const struct rsc_heap_block *block = &objects->blocks[block_before(objects, last, &next_start)];
    if (block != objects->blocks && block->end > first) return block->start <= first && block->end > last;
    uint32_t at = range_from(objects, first), variable = placed_from(objects, first);
    if (variable < objects->placed_count && objects->placed[variable].start <= last)
        return objects->placed[variable].start <= first && objects->placed[variable].end > last;
    return at < objects->range_count && objects->ranges[at].start <= first && objects->ranges[at].end > last;
}

void rsc_objects_keep_mark(struct rsc_objects *objects, uint64_t address, uint64_t key, uint32_t mark) {
    struct rsc_object_part *part = &objects->cache[address >> 6 & (RSC_OBJECT_CACHE - 1)];
    if (address - part->start < part->bytes) part->mark = mark & RSC_OBJECT_MARK_MAX;
    /* a page is one object only if its lines are */
    if (part->bytes < 64 || rsc_object_is_line(key) || !is_whole_page(objects, address)) return;
    objects->pages[address >> 12 & (RSC_OBJECT_PAGES - 1)] =
        (struct rsc_object_page){.page = address >> 12, .mark = mark};
}

void rsc_objects_forget_marks(struct rsc_objects *objects) {
    for (uint32_t i = 0; i < RSC_OBJECT_CACHE; i++) objects->cache[i].mark = 0;
    memset(objects->pages, 0, sizeof objects->pages);
}
