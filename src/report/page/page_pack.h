/*
 * page_pack.h - JSON with every list of keys and every long string once: rows of a profile repeat them thousands of
 * times.
 *
 * Packed, an object is [shape, value...], where shapes[shape] has its keys; an array is [-1, item...]; a string of
 * PACKED_STRING bytes or more is [-2, index], from strings[]. Everything else is as it was. web/src/pack.js undoes it.
 */
#ifndef RSC_REPORT_PAGE_PACK_H
#define RSC_REPORT_PAGE_PACK_H

#include <stddef.h>
#include <stdio.h>

/* Writes `"shapes":[..],"strings":[..],"KEY":PACKED`. Returns 0, or RSC_ENOMEM if `json`, which is valid, was too much. */
int rsc_page_pack(const char *json, size_t bytes, const char *key, FILE *to);

#endif
