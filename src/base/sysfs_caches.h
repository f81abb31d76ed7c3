/*
 * sysfs_caches.h - the caches of a processor, as the kernel describes them.
 */
#ifndef RSC_BASE_SYSFS_CACHES_H
#define RSC_BASE_SYSFS_CACHES_H

#include <stddef.h>
#include <stdint.h>

#define RSC_SYSFS_CACHES_MAX 16

struct rsc_sysfs_cache {
    unsigned level;      /* 1 to 9 */
    char type;           /* 'D'ata, 'I'nstruction or 'U'nified */
    uint64_t size_bytes;
    uint32_t ways, line_bytes; /* 0: unknown */
};

/*
 * Reads the caches of the first processor below `root`, the folder that holds index0,
 * index1, ... (NULL: this machine's). Missing or invalid entries are skipped; it
 * cannot fail. Returns the number of caches.
 */
size_t rsc_sysfs_caches_read(struct rsc_sysfs_cache caches[RSC_SYSFS_CACHES_MAX], const char *root);

#endif
