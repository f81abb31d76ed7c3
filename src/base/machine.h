/*
 * machine.h - the data caches of a machine, marked on every plot, and how long a load
 * waits for what they hold.
 */
#ifndef RSC_BASE_MACHINE_H
#define RSC_BASE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#define RSC_MACHINE_LEVELS_MAX 8
#define RSC_MACHINE_PATH 4096

struct rsc_machine_level {
    char name[8]; /* "L1d", "L2", "L3" */
    unsigned level;
    uint64_t size_bytes;
    double cycles; /* a load waits for a line it holds */
};

/* Where the cycles of a machine come from. */
enum rsc_latencies {
    RSC_LATENCIES_TYPICAL,   /* of recent servers: its own are not known */
    RSC_LATENCIES_MEASURED,  /* by doctor --latency */
    RSC_LATENCIES_PUBLISHED, /* from a machine file */
};

struct rsc_machine {
    char name[64]; /* "this", or of a machine file */
    struct rsc_machine_level levels[RSC_MACHINE_LEVELS_MAX]; /* ascending in size */
    size_t level_count;
    double memory_cycles; /* a load waits for a line that no cache holds */
    enum rsc_latencies latencies;
};

/*
 * Reads the data and unified caches of the first processor below `root`, the
 * folder that holds index0, index1, ... (NULL: this machine's, in sysfs). Missing
 * or invalid entries are left out, so a machine without sysfs has no levels; this
 * never fails. Cycles are typical ones or, for this machine, those of the file below.
 */
void rsc_machine_read(struct rsc_machine *machine, const char *root);

/* Puts the caches in order, and gives them and memory typical cycles. */
void rsc_machine_settle(struct rsc_machine *machine);

/* "this machine", or its name. */
const char *rsc_machine_called(const struct rsc_machine *machine);

/* "typical", "measured" or "published". */
const char *rsc_latencies_words(const struct rsc_machine *machine);

/*
 * The file of this machine's measured latencies: this.latency in the folder REUSESCOPE_MACHINES, else in
 * ~/.config/reusescope/machines. A line for each cache and for memory: "l2 14.2", in cycles. -1: no such folder is known.
 */
int rsc_machine_latency_path(char path[RSC_MACHINE_PATH]);

/* Takes the cycles from such a file. Returns 1 if it has all of them; else they stay as they are. */
int rsc_machine_read_latencies(struct rsc_machine *machine, const char *path);

/* The cycles that a load waits if a cache of that size does not hold its line: those of the next larger one. */
double rsc_machine_cycles_beyond(const struct rsc_machine *machine, uint64_t bytes);

/* Parses a size in bytes (as 256K), or a cache of the machine by its name (L1d, L2; L1 is L1d). 0, or -1 for neither. */
int rsc_machine_parse_size(const struct rsc_machine *machine, const char *text, size_t length, uint64_t *bytes);

#endif
