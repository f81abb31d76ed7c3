/* core_groups.c - see core_groups.h. */
#include "multicore/core_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/trace.h>

#include "base/fail.h"
#include "base/numbers.h"

static int bad(const char *text, const char *why, struct rsc_error *error) {
    return rsc_fail(error, RSC_EINVAL, "cores '%.60s': %s", text, why);
}

static int compare_ranges(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right; /* `first` comes first */
    return a < b ? -1 : a > b;
}

/* "A" or "A-B" up to `length`. */
static int parse_range(const char *text, size_t length, uint32_t *first, uint32_t *last) {
    uint64_t low, high;
    size_t dash = 0;
    while (dash < length && text[dash] != '-') dash++;
    if (rsc_parse_u64(text, dash, &low) < 0) return -1;
    high = low;
    if (dash < length && rsc_parse_u64(text + dash + 1, length - dash - 1, &high) < 0) return -1;
    if (low > high || high >= RSC_THREADS_MAX) return -1;
    *first = (uint32_t)low;
    *last = (uint32_t)high;
    return 0;
}

int rsc_core_groups_parse(struct rsc_core_groups *groups, const char *text, struct rsc_error *error) {
    memset(groups, 0, sizeof *groups);
    if (!text) return 0;
    groups->ranges = calloc(RSC_CORE_RANGES_MAX, sizeof *groups->ranges);
    if (!groups->ranges) return rsc_fail_memory(error, "groups of cores");
    int status = 0;
    for (const char *at = text; !status;) {
        size_t length = strcspn(at, ",+");
        uint32_t count = groups->range_count;
        if (count == RSC_CORE_RANGES_MAX) status = bad(text, "too many groups", error);
        else if (parse_range(at, length, &groups->ranges[count].first, &groups->ranges[count].last) < 0)
            status = bad(text, "not groups of thread numbers, as 0-1,2-3 or 0+2,1+3", error);
        if (status) break;
        groups->ranges[count].group = groups->group_count;
        groups->range_count++;
        groups->group_count += at[length] != '+';
        if (!at[length]) break;
        at += length + 1;
    }
    if (!status) qsort(groups->ranges, groups->range_count, sizeof *groups->ranges, compare_ranges);
    for (uint32_t i = 1; !status && i < groups->range_count; i++)
        if (groups->ranges[i].first <= groups->ranges[i - 1].last) {
            char why[64];
            snprintf(why, sizeof why, "thread %u appears twice", (unsigned)groups->ranges[i].first);
            status = bad(text, why, error);
        }
    if (status < 0) rsc_core_groups_free(groups);
    return status;
}

void rsc_core_groups_free(struct rsc_core_groups *groups) {
    free(groups->ranges);
    memset(groups, 0, sizeof *groups);
}

void rsc_core_groups_warn(const struct rsc_core_groups *groups, uint64_t thread_count, const struct rsc_log *log) {
    uint32_t used = 0, example = RSC_NO_GROUP; /* a thread of the first empty group */
    unsigned char *is_used = groups->group_count && thread_count ? calloc(groups->group_count, 1) : NULL;
    if (!is_used) return;
    for (uint32_t i = 0; i < groups->range_count; i++) { /* ascending: existing threads come first */
        unsigned char *this_used = &is_used[groups->ranges[i].group];
        if (groups->ranges[i].first < thread_count) {
            used += !*this_used;
            *this_used = 1;
        } else if (example == RSC_NO_GROUP && !*this_used) {
            example = groups->ranges[i].first;
        }
    }
    free(is_used);
    if (used == groups->group_count) return;
    rsc_log_line(log, RSC_LOG_WARNING,
                 "cores: %u of %u groups are empty, such as the one with thread %u: threads are 0 to %llu",
                 (unsigned)(groups->group_count - used), (unsigned)groups->group_count, (unsigned)example,
                 (unsigned long long)thread_count - 1);
}

uint32_t rsc_core_groups_of(const struct rsc_core_groups *groups, uint32_t thread) {
    uint32_t low = 0, high = groups->range_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (groups->ranges[middle].last < thread) low = middle + 1;
        else high = middle;
    }
    return low < groups->range_count && groups->ranges[low].first <= thread ? groups->ranges[low].group : RSC_NO_GROUP;
}
