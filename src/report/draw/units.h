/*
 * units.h - numbers for people, each with its unit.
 *
 *     rsc_show_bytes(1310720).text      "1.25 MiB"
 *     rsc_show_count(1234567).text      "1,234,567"
 *     rsc_show_short(1234567).text      "1.23 M"
 *     rsc_show_percent(0.0312).text     "3.12 %"
 */
#ifndef RSC_REPORT_UNITS_H
#define RSC_REPORT_UNITS_H

#include <stdint.h>

struct rsc_shown {
    char text[40];
};

/* Binary units, three significant digits; UINT64_MAX is "16 EiB". */
struct rsc_shown rsc_show_bytes(uint64_t bytes);

/* In full, with thousands separators. */
struct rsc_shown rsc_show_count(uint64_t count);

/* In six columns or fewer: in full to 9,999, then three digits and k, M, G, T, P, E. */
struct rsc_shown rsc_show_short(uint64_t count);

/* The same of a sum of cycles, which may exceed 64 bits. */
struct rsc_shown rsc_show_cycles(double cycles);

/*
 * Three digits; 0 % and 100 % only for exactly that value (else "> 99.9 %",
 * "< 0.001 %").
 */
struct rsc_shown rsc_show_percent(double ratio);

/* The same in seven columns for tables: one decimal, "<0.1 %". */
struct rsc_shown rsc_show_share(double ratio);

/* "1.25 s", "12 ms", "2 min 5 s". */
struct rsc_shown rsc_show_seconds(double seconds);

/* "1 thread", "64 threads". */
struct rsc_shown rsc_show_threads(uint64_t threads);

/* " (one cache per thread)", " (one cache for all threads)", or "" for other models, which may be NULL. */
const char *rsc_show_model(const char *model);

/* lines * line_bytes; UINT64_MAX if that overflows. */
uint64_t rsc_lines_to_bytes(uint64_t lines, uint64_t line_bytes);

#endif
