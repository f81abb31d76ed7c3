/*
 * annotate.h - source text with what each line's references did.
 *
 * Built in memory, like all reports. Lines are those of the debug information;
 * the source is whatever now goes by that name.
 */
#ifndef RSC_REPORT_ANNOTATE_H
#define RSC_REPORT_ANNOTATE_H

#include "report/report.h"

#define RSC_ANNOTATE_SIZES_MAX 8

/* A zeroed struct: the default sizes, the three files with most misses, all their lines. */
struct rsc_annotate_options {
    const char *name; /* of the file that the profiles come from, for messages */
    uint64_t size_bytes[RSC_ANNOTATE_SIZES_MAX]; /* cache sizes to show misses at */
    size_t size_count;                           /* 0: the machine's L1d, L2 and L3, or 32K, 1M and 32M */
    const char *file_contains;                   /* only files with this in their name; NULL: any */
    const char *function;                        /* only lines of this function; NULL: any */
    int nearby;                                  /* only lines that have references, and so many around them ... */
    uint32_t nearby_lines;                       /* ... */
    int all_files;                               /* not just three */
    const char *const *source_folders;           /* where to look for source, before the name itself */
    size_t source_folder_count;
};

/*
 * Annotated source as text. Files come by their misses at the first size given
 * (by default: at L2). RSC_EFORMAT if no profile has rows of code with lines that
 * the options ask for.
 */
rsc_renderer rsc_annotate_text;

/*
 * The numbers as a table, a row for each line and size:
 *     profile,file,line,function,size_bytes,references,misses,cold,invalidated,median_lines,error
 * median_lines is empty where the line has no reuses.
 */
rsc_renderer rsc_annotate_csv;

#endif
