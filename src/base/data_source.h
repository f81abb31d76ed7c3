/* data_source.h - where the data of an access came from, as a PMU reports it. Saved by name, not by number. */
#ifndef RSC_BASE_DATA_SOURCE_H
#define RSC_BASE_DATA_SOURCE_H

enum rsc_data_source {
    RSC_SOURCE_UNKNOWN,
    RSC_SOURCE_L1,
    RSC_SOURCE_BUFFER, /* the line was already being fetched for another access */
    RSC_SOURCE_L2,
    RSC_SOURCE_L3,
    RSC_SOURCE_MEMORY, /* this node's */
    RSC_SOURCE_REMOTE, /* caches or memory of another node */
    RSC_SOURCE_OTHER,  /* devices, memory that is not cached */
    RSC_SOURCES
};

#endif
