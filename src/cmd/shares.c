/* shares.c - see shares.h. */
#include "cmd/shares.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

/* The start of part `index` when `whole` is divided into `parts`. */
static uint64_t beginning(uint64_t whole, uint64_t index, uint64_t parts) {
    return (uint64_t)((unsigned __int128)whole * index / parts);
}

static int has_window(const struct rsc_filter *filter) { return filter->first || filter->count != UINT64_MAX; }

static int check_options(const struct rsc_session *session, const struct rsc_ranks *ranks, const char *const *paths,
                         size_t path_count, struct rsc_error *error) {
    if (path_count > 1 && has_window(&session->filter))
        return rsc_fail(error, RSC_EINVAL, "--window counts the accesses of one trace: it cannot be used with several");
    if ((path_count > 1 || ranks->size > 1) && session->filter.every > 1)
        return rsc_fail(error, RSC_EINVAL,
                        "--every counts from the beginning of the trace: it cannot be used with parts of it");
    if (path_count < ranks->size && session->salvage)
        return rsc_fail(error, RSC_EINVAL,
                        "--salvage cannot be used with slices: lost accesses cannot be counted beforehand");
    for (size_t i = 0; ranks->size > 1 && i < path_count; i++)
        if (!strcmp(paths[i], "-"))
            return rsc_fail(error, RSC_EINVAL, "standard input cannot be shared by %u ranks: name a file", ranks->size);
    return 0;
}

/* A missing trace must be found now, not hours later. Pipes are not opened as a test. */
static int check_readable(struct rsc_session *session, const char *path, struct rsc_error *error) {
    struct rsc_trace *trace = NULL;
    struct stat there;
    if (!strcmp(path, "-") || (stat(path, &there) == 0 && !S_ISREG(there.st_mode))) return 0;
    int status = rsc_session_open(session, &trace, path, 0, error);
    rsc_trace_close(trace);
    return status;
}

static int plan_whole(struct rsc_shares *shares, struct rsc_session *session, const struct rsc_ranks *ranks,
                      const char *const *paths, size_t path_count, struct rsc_error *error) {
    size_t first = beginning(path_count, ranks->rank, ranks->size);
    size_t end = beginning(path_count, ranks->rank + 1, ranks->size);
    for (size_t i = first; i < end; i++) {
        int status = check_readable(session, paths[i], error);
        if (status < 0) return status;
        shares->items[shares->count++] = (struct rsc_share){paths[i], session->filter.first, session->filter.count};
    }
    return 0;
}

/* The number of accesses of a trace, which its index must give. */
static int count_accesses(struct rsc_session *session, const char *path, uint64_t *accesses, struct rsc_error *error) {
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .format = session->from};
    struct rsc_trace *trace = NULL;
    struct rsc_trace_info info;
    int status = rsc_trace_open(&trace, path, &options, error);
    if (status < 0) return status;
    rsc_trace_get_info(trace, &info);
    *accesses = info.accesses;
    if (info.accesses == RSC_UNKNOWN) {
        status = rsc_trace_seek(trace, 0, error); /* reports an error in the index */
        if (status == RSC_EUNSUPPORTED || !status)
            status = rsc_fail(
                error, RSC_EUNSUPPORTED,
                "%s: only an uncompressed native trace in a file can be cut into slices: use reusescope convert, "
                "or give one trace per rank",
                path);
    }
    rsc_trace_close(trace);
    return status;
}

static int plan_slices(struct rsc_shares *shares, struct rsc_session *session, const struct rsc_ranks *ranks,
                       const char *const *paths, size_t path_count, struct rsc_error *error) {
    const struct rsc_filter *filter = &session->filter;
    uint64_t *accesses = malloc(path_count * sizeof *accesses), total = 0, before = 0;
    int status = accesses ? 0 : rsc_fail_memory(error, "traces");
    for (size_t i = 0; !status && i < path_count; i++) {
        status = count_accesses(session, paths[i], &accesses[i], error);
        if (!status) total += accesses[i];
    }
    uint64_t low = filter->first < total ? filter->first : total;
    uint64_t wanted = filter->count < total - low ? filter->count : total - low;
    uint64_t first = low + beginning(wanted, ranks->rank, ranks->size);
    uint64_t end = low + beginning(wanted, ranks->rank + 1, ranks->size);
    for (size_t i = 0; !status && i < path_count; before += accesses[i++]) {
        uint64_t behind = before + accesses[i];
        uint64_t from = first > before ? first : before, to = end < behind ? end : behind;
        if (from >= to) continue;
        /* The rank with the end of a trace also reads its index, which must agree with the accesses read. */
        shares->items[shares->count++] =
            (struct rsc_share){paths[i], from - before, to == behind ? UINT64_MAX : to - from};
    }
    free(accesses);
    return status;
}

int rsc_shares_plan(struct rsc_shares *shares, struct rsc_session *session, struct rsc_ranks *ranks,
                    const char *const *paths, size_t path_count, struct rsc_error *error) {
    *shares = (struct rsc_shares){.items = malloc(path_count * sizeof *shares->items)};
    if (!shares->items) return rsc_fail_memory(error, "traces");
    int status = check_options(session, ranks, paths, path_count, error);
    if (status < 0) return status;
    ranks->own_traces = path_count > 1;
    return path_count < ranks->size ? plan_slices(shares, session, ranks, paths, path_count, error)
                                    : plan_whole(shares, session, ranks, paths, path_count, error);
}

void rsc_shares_free(struct rsc_shares *shares) {
    free(shares->items);
    *shares = (struct rsc_shares){0};
}
