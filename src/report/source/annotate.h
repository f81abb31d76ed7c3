/*
 * annotate.h - source text with the references and misses of each line.
 *
 * Built in memory, like all reports. Lines come from the debug information; the source
 * is the file that has that name now.
 */
#ifndef RSC_REPORT_ANNOTATE_H
#define RSC_REPORT_ANNOTATE_H

#include "report/report.h"

#define RSC_ANNOTATE_SIZES_MAX 8

/* A zeroed struct: the default sizes, the three files with most misses, all their lines. */
struct rsc_annotate_options {
    const char *name; /* file of the profiles, for messages */
    uint64_t size_bytes[RSC_ANNOTATE_SIZES_MAX]; /* cache sizes to show misses at */
    size_t size_count;                           /* 0: the machine's L1d, L2 and L3, or 32K, 1M and 32M */
    const char *file_contains;                   /* only files with this in their name; NULL: any */
    const char *function;                        /* only lines of this function; NULL: any */
    int nearby;                                  /* only lines with references ... */
    uint32_t nearby_lines;                       /* ... and this many lines around them */
    int all_files;                               /* not only the first three */
    const char *const *source_folders;           /* folders to search for source before the name itself */
    size_t source_folder_count;
};

/*
 * Annotated source as text. Files are ordered by misses at the first size given
 * (default: at L2). RSC_EFORMAT if no profile has code rows with the requested lines.
 */
rsc_renderer rsc_annotate_text;

/*
 * The numbers as a table, one row per line and size:
 *     profile,file,line,function,size_bytes,references,misses,cold,invalidated,median_lines,error
 * median_lines is empty if the line has no reuses.
 */
rsc_renderer rsc_annotate_csv;

#endif
