/* memory.c - see memory.h. */
#include "cmd/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "report/draw/units.h"
#include "trace/source.h"

#define CHECK_EVERY 16u /* batches */
#define LINES_UNKNOWN (1ull << 48)

/* ---- available memory ---- */

/* The number after `field` in a file of "field: number kB" lines, in bytes; UINT64_MAX: none. */
static uint64_t kib_field(const char *path, const char *field) {
    FILE *file = fopen(path, "r");
    char line[256];
    uint64_t bytes = UINT64_MAX;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, field, strlen(field))) bytes = strtoull(line + strlen(field), NULL, 10) << 10;
    if (file) fclose(file);
    return bytes;
}

static uint64_t number_in(const char *folder, const char *name) {
    char path[4400], text[64] = "";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    int read = file && fgets(text, sizeof text, file) && *text >= '0' && *text <= '9';
    if (file) fclose(file);
    return read ? strtoull(text, NULL, 10) : UINT64_MAX; /* "max" means unlimited */
}

/* The least available in this process's control groups (version 2), from the innermost out. */
static uint64_t group_available(void) {
    char line[4096] = "", folder[4200];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "r");
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file)) found = !strncmp(line, "0::/", 4);
    if (file) fclose(file);
    if (!found) return least;
    line[strcspn(line, "\n")] = 0;
    snprintf(folder, sizeof folder, "/sys/fs/cgroup%s", line + 3);
    while (strlen(folder) >= strlen("/sys/fs/cgroup")) {
        uint64_t most = number_in(folder, "memory.max"), used = number_in(folder, "memory.current");
        if (most != UINT64_MAX && used != UINT64_MAX && (most > used ? most - used : 0) < least)
            least = most > used ? most - used : 0;
        *strrchr(folder, '/') = 0;
    }
    return least;
}

static uint64_t limit_available(int which, const char *field) {
    struct rlimit limit;
    uint64_t used = kib_field("/proc/self/status", field);
    if (getrlimit((__rlimit_resource_t)which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || used == UINT64_MAX)
        return UINT64_MAX;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Bytes this process may still allocate: the least of the system's free memory, control groups and resource limits. */
static uint64_t memory_available(void) {
    uint64_t least = least_of(kib_field("/proc/meminfo", "MemAvailable:"), group_available());
    least = least_of(least, limit_available(RLIMIT_AS, "VmSize:"));
    return least_of(least, limit_available(RLIMIT_DATA, "VmData:"));
}

/* ---- memory needed ---- */

/* Memory of all engines, given the number of lines per line size. rsc_memory_check() catches low estimates. */
static uint64_t bytes_for(const struct rsc_analysis *analysis, const uint64_t *lines) {
    size_t each = analysis->count / analysis->line_count; /* engines per line size */
    uint64_t bytes = 0;
    for (size_t i = 0; i < analysis->count; i++) bytes += rsc_engine_memory(analysis->engines[i], lines[i / each]);
    return bytes;
}

/* The largest sample that fits in a limit: about 160 bytes per line plus 1 MiB. 0: none does. */
static unsigned lines_that_fit(uint64_t limit) {
    uint64_t lines = 65536;
    while (lines >= 64 && lines * 160 + (1 << 20) > limit / 2) lines /= 2;
    return lines >= 64 ? (unsigned)lines : 0;
}

static int refuse(const struct rsc_analysis *analysis, uint64_t needs, const char *of, struct rsc_error *error) {
    char suggestion[96];
    unsigned lines = lines_that_fit(analysis->memory_most);
    if (analysis->requests || !lines) snprintf(suggestion, sizeof suggestion, "raise the limit with --max-memory");
    else snprintf(suggestion, sizeof suggestion, "--engine shards-max:%u fits, and has error bars", lines);
    return rsc_fail(error, RSC_ENOMEM, "%s needs up to %s of memory, and the limit is %s (%s): %s", of,
                    rsc_show_bytes(needs).text, rsc_show_bytes(analysis->memory_most).text,
                    analysis->max_memory ? "--max-memory" : "80 % of available memory; --max-memory changes it",
                    suggestion);
}

void rsc_memory_start(struct rsc_analysis *analysis) {
    uint64_t available = memory_available();
    analysis->memory_most = analysis->max_memory ? analysis->max_memory : available / 5 * 4;
    analysis->batches = 0;
    analysis->memory_checked = 0;
}

/* Estimates distinct lines from a sample: reads the whole trace, in a fraction of the time of an exact analysis. */
static int count_lines(struct rsc_analysis *analysis, const char *path, uint32_t line_bytes, uint64_t *distinct,
                       struct rsc_error *error) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = "shards-max:4096", .line_bytes = line_bytes};
    struct rsc_trace *trace = NULL;
    struct rsc_profile *profile = NULL;
    struct rsc_log log = analysis->session->log;
    analysis->session->log.write = NULL; /* the analysis pass will report problems of the trace */
    int status = rsc_session_open(analysis->session, &trace, path, 1, error);
    if (!status) status = rsc_analyze_trace(trace, &options, &profile, error);
    if (!status) *distinct = profile->distinct;
    rsc_profile_free(profile);
    rsc_trace_close(trace);
    analysis->session->log = log;
    return status;
}

int rsc_memory_plan(struct rsc_analysis *analysis, const char *path, struct rsc_error *error) {
    struct rsc_trace *trace = NULL;
    struct rsc_trace_info info;
    struct stat there;
    uint64_t lines[RSC_LINE_SIZES_MAX], needs;
    for (size_t i = 0; i < analysis->line_count; i++) lines[i] = LINES_UNKNOWN;
    if (bytes_for(analysis, lines) <= analysis->memory_most || !strcmp(path, "-") || stat(path, &there) < 0 ||
        !S_ISREG(there.st_mode))
        return 0;
    int status = rsc_session_open(analysis->session, &trace, path, 0, error);
    if (status < 0) return status;
    rsc_trace_get_info(trace, &info);
    /* an access takes at least 2 bytes of text; compressed sizes allow no estimate */
    uint64_t most = info.accesses != RSC_UNKNOWN       ? info.accesses
                    : strcmp(info.compression, "none") ? LINES_UNKNOWN
                                                       : info.file_bytes / 2;
    rsc_trace_close(trace);
    for (size_t i = 0; i < analysis->line_count; i++) lines[i] = most;
    if (bytes_for(analysis, lines) <= analysis->memory_most) return 0;
    for (size_t i = 0; i < analysis->line_count; i++) {
        status = count_lines(analysis, path, analysis->line_bytes[i], &lines[i], error);
        if (status < 0) return status;
    }
    needs = bytes_for(analysis, lines);
    if (needs <= analysis->memory_most) return 0;
    char of[128];
    snprintf(of, sizeof of, "this analysis of about %s lines%s", rsc_show_short(lines[analysis->line_count - 1]).text,
             analysis->line_count > 1 ? " of the last size" : "");
    return refuse(analysis, needs, of, error);
}

/* Memory of engines that count it themselves; RSC_UNKNOWN: some do not. */
static uint64_t counted_bytes(const struct rsc_analysis *analysis) {
    uint64_t sum = 0;
    for (size_t i = 0; i < analysis->count; i++) {
        uint64_t bytes = rsc_engine_bytes(analysis->engines[i]);
        if (bytes == RSC_UNKNOWN) return bytes;
        sum += bytes;
    }
    return sum;
}

/* What the process has grown by since the first check, without what reading takes. */
static uint64_t grown_bytes(struct rsc_analysis *analysis) {
    /* without pages of the trace's file, which the kernel can reclaim */
    uint64_t now = kib_field("/proc/self/status", "RssAnon:"), reading = 0;
    if (now == UINT64_MAX) return 0;
    if (analysis->trace) reading = rsc_trace_reading_bytes(analysis->trace); /* not the analysis's; bounded */
    now = now > reading ? now - reading : 0;
    if (!analysis->memory_checked) analysis->memory_before = now; /* memory used for reading */
    analysis->memory_checked = 1;
    return now > analysis->memory_before ? now - analysis->memory_before : 0;
}

int rsc_memory_check(struct rsc_analysis *analysis, struct rsc_error *error) {
    if (analysis->spec.kind->can & RSC_MEMORY_IS_BOUNDED) return 0;
    uint64_t used = counted_bytes(analysis);
    if (used == RSC_UNKNOWN) used = grown_bytes(analysis);
    /* growing needs half as much again for a while, for the old and the new tables */
    if (used + used / 2 <= analysis->memory_most || used < (4 << 20)) return 0;
    return refuse(analysis, used + used / 2, "the analysis has grown and now", error);
}

int rsc_memory_check_batch(struct rsc_analysis *analysis, struct rsc_error *error) {
    return analysis->batches++ % CHECK_EVERY ? 0 : rsc_memory_check(analysis, error);
}
