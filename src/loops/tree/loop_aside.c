/*
 * loop_aside.c - which loops of a program are beside the point: those that initialise or print its data.
 *
 * A loop initialises if it only writes, or its function says so (init_array); it prints if it calls one of the C
 * library's functions that do, or its function says so.
 */
#include <string.h>
#include <strings.h>

#include "loops/tree/loop_tree.h"

static int starts_with(const char *name, const char *word) { return name && !strncasecmp(name, word, strlen(word)); }

static int prints(const struct rsc_loop_region *region) {
    static const char *const calls[] = {"a call of printf,", "a call of fprintf,", "a call of puts,",
                                        "a call of fputs,",  "a call of putchar,", "a call of fputc,",
                                        "a call of putc,",   "a call of fwrite,"};
    for (uint32_t i = 0; i < region->gap_count; i++)
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
            if (!strncmp(region->gap[i].reason, calls[k], strlen(calls[k]))) return 1;
    return starts_with(region->function, "print");
}

static int initialises(const struct rsc_loop_region *region) {
    int reads = 0;
    for (uint32_t i = 0; i < region->node_count; i++)
        reads |= region->node[i]->kind == RSC_NODE_REFERENCE && !region->node[i]->is_write;
    return !reads || starts_with(region->function, "init");
}

int rsc_loop_region_is_aside(const struct rsc_loop_region *region) {
    return region->reference_count && (prints(region) || initialises(region));
}
