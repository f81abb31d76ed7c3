/*
 * machine.h - the data caches of a machine, marked on every plot.
 */
#ifndef RSC_REPORT_MACHINE_H
#define RSC_REPORT_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#define RSC_MACHINE_LEVELS_MAX 8

struct rsc_machine_level {
    char name[8]; /* "L1d", "L2", "L3" */
    unsigned level;
    uint64_t size_bytes;
};

struct rsc_machine {
    struct rsc_machine_level levels[RSC_MACHINE_LEVELS_MAX]; /* ascending in size */
    size_t level_count;
};

/*
 * Reads the data and unified caches of the first processor below `root`, the
 * folder that holds index0, index1, ... (NULL: this machine's, in sysfs). Missing
 * or invalid entries are left out, so a machine without sysfs has no levels; this
 * never fails.
 */
void rsc_machine_read(struct rsc_machine *machine, const char *root);

/* Parses a size in bytes (as 256K), or a cache of the machine by its name (L1d, L2; L1 is L1d). 0, or -1 for neither. */
int rsc_machine_parse_size(const struct rsc_machine *machine, const char *text, size_t length, uint64_t *bytes);

#endif
