/*
 * profile_model.h - the profile from the inside: what engines fill and what
 * reports read.
 *
 * An engine fills totals, `rd`, `ri`, rows and `made`, then calls
 * rsc_profile_seal(), which derives the lists and the miss ratio curve. A
 * sealed profile is not changed any more. Every histogram in it counts
 * references (sampled results are scaled to references before sealing).
 *
 * Invariant of a sealed exact profile:
 *   total(rd) + rd_capped + cold + invalidated = references
 * and of a sampled one the same with last_touch + pruned + censored added.
 * A row (thread, phase) obeys total(rd) + cold + invalidated <= its references,
 * equal in exact profiles.
 */
#ifndef RSC_PROFILE_PROFILE_MODEL_H
#define RSC_PROFILE_PROFILE_MODEL_H

#include <reusescope/profile.h>

#include "base/data_source.h"
#include "base/histogram.h"

/* What watching cost a program whose reuses were watched as it ran, and what came of it. */
struct rsc_watch_costs {
    int is_known; /* 0: it was not watched so */
    double handler_seconds; /* processor time in handlers and in taking samples, the kernel's part not counted */
    uint64_t samples, traps; /* traps: those that were no reuse too */
    uint64_t dropped;  /* samples and reuses for which there was no room */
    uint64_t censored; /* watches that gave way before the reuse */
};

/* How a profile was made. Strings are owned; NULL prints as null or "". */
struct rsc_made {
    char *by;       /* engine: "exact", "shards:0.01", ... */
    char *source;   /* "trace", "qemu", "asm", "perf", "api" */
    char *model;    /* "single", "private", "shared", "requests" */
    char *sampling; /* what was sampled and how; NULL: nothing */
    char *
        modelled; /* what the references are that were not observed themselves, and of what they are a model; NULL: nothing */
    char **command; /* argv, NULL-terminated; NULL: none */
    uint64_t line_bytes;
    uint64_t threads, workers;
    double seconds; /* wall time, first decoded reference to final histogram */
    double overhead; /* slowdown of the target; NaN: not measured */
    double coverage; /* share of the target's work seen, 0..1; NaN: not measured */
    struct rsc_watch_costs watching; /* in JSON a part of `overhead` */
};

/* One thread's share of the run. */
struct rsc_thread_row {
    uint64_t pid, tid;
    uint64_t references, cold, invalidated;
    struct rsc_histogram rd; /* RSC_BINS_COARSE; distances >= rd_cap are in the bin of rd_cap */
};

/* One stretch of the run. */
struct rsc_phase_row {
    uint64_t first; /* index of its first reference */
    uint64_t references, cold, invalidated;
    struct rsc_histogram rd; /* RSC_BINS_COARSE; distances >= rd_cap are in the bin of rd_cap */
};

/*
 * What one kind of access did in the stack that all kinds share. There are rows
 * only where there is more than one kind. Of exact profiles without kinds that
 * have no name, their rd_fine sum to the profile's rd.
 */
struct rsc_kind_row {
    const char *kind; /* "read", "write" or "fetch" */
    uint64_t references, cold, invalidated;
    struct rsc_histogram rd; /* RSC_BINS_COARSE, as in every row */
    struct rsc_histogram rd_fine; /* RSC_BINS_FINE; in both, distances >= rd_cap are in the bin of rd_cap */
};

/* A place in the code. Strings are owned; NULL where nothing is known. */
struct rsc_place {
    uint64_t pc;
    char *function; /* demangled */
    char *file;
    uint32_t line; /* 0: not known */
    char *module; /* the mapped file pc lies in */
    uint64_t offset; /* pc as the module's own file numbers its addresses, the same in every run; 0: not known. Saved
                      * where no line is known */
    uint32_t loop; /* 1 + index into the profile's loops: the innermost it is in; 0: in none, or not known */
};

/*
 * A loop of the machine code that a place of the profile lies in, or one around such
 * a loop in the same function. A loop of the source that the compiler made several of
 * (a vector loop and what is left over) is several.
 */
struct rsc_loop_row {
    struct rsc_place place; /* its header: the pc it is entered at, the line it begins with */
    uint32_t parent; /* 1 + index of the loop around it, which comes before it; 0: none */
    uint32_t depth; /* loops of the function around it, itself included: from 1 */
};

#define RSC_NO_CONTEXT UINT32_MAX

/*
 * Rows of bounded tables carry `error`: at most so many of their references may
 * belong to rows that the table had no room for (0: the row is exact).
 */

/*
 * How far an instruction goes from one execution to the next by the same thread, from
 * short stretches of the run: of `seen` such steps `same` or more were of `bytes`,
 * up or down.
 */
struct rsc_stride {
    uint64_t bytes;
    uint64_t same, seen; /* seen 0: not known */
    uint32_t access_bytes; /* of the last access that was looked at */
};

/* What one instruction's references did, as the later end (reuse) of each pair. */
struct rsc_code_row {
    struct rsc_place place;
    struct rsc_place *inlined_into; /* owned: callers this was inlined into, innermost first */
    size_t inlined_count;
    uint64_t references, cold, invalidated, error;
    struct rsc_histogram rd; /* RSC_BINS_COARSE */
    struct rsc_stride stride;
};

/* Uses and reuses of a line by two places: where the data was touched, and where again. */
struct rsc_pair_row {
    struct rsc_place use, reuse;
    uint32_t use_context, reuse_context; /* index into contexts, or RSC_NO_CONTEXT */
    uint64_t references, error;
    struct rsc_histogram rd;
    char *object; /* what one of its farthest reuses lay in; NULL: not known. Owned */
    const char *object_kind; /* as in rsc_object_row; NULL: not known */
    uint32_t object_context; /* of a heap block's allocation, or RSC_NO_CONTEXT; not saved */
    double latency; /* mean cycles that the reuse took; 0: not measured */
    uint64_t latency_samples; /* the mean is of so many; 0: not known */
    double sources
        [RSC_SOURCES]; /* shares of its reuses by where their data came from; they sum to 1, or all are 0: not measured */
};

/* A thing in memory: all heap blocks of one allocation site, a global, a thread's stack, a mapped file. */
struct rsc_object_row {
    char *name; /* "array allocated at solver.c:88", "grid", "stack of thread 17" */
    const char *kind; /* "heap", "global", "stack", "file" or "other" */
    uint64_t bytes; /* most that were live at once, summed over blocks */
    uint64_t blocks; /* how many there were */
    uint32_t context; /* of the allocation, or RSC_NO_CONTEXT */
    uint64_t references, cold, invalidated, error;
    struct rsc_histogram rd;
};

/*
 * One of the cache lines that miss most in a cache of `lines_at_bytes`. Here
 * `error` is about misses: at least misses - error are the line's own. A row
 * with an error has references, cold and rd only from when the table had room
 * for it.
 */
struct rsc_line_row {
    uint64_t address;
    char *object; /* what lay there when it last missed; NULL: not known. Owned */
    const char *object_kind; /* as in rsc_object_row; NULL: not known */
    uint32_t context; /* of a heap block's allocation, or RSC_NO_CONTEXT; not saved */
    uint64_t misses, error;
    uint64_t references, cold;
    struct rsc_histogram rd; /* RSC_BINS_COARSE */
};

/*
 * What a profile of requests for whole objects has beyond others. Its lines are
 * bytes: a request's RD is the bytes of distinct other objects since the object's
 * last request, plus its own size, less 1, so that as everywhere a reference
 * hits in a cache of c just if RD < c.
 */
struct rsc_request_bytes {
    uint64_t requested; /* sum of the sizes of all requests: total(rd) + cold */
    uint64_t cold; /* of first requests */
    uint64_t footprint; /* most bytes that all objects had together */
    struct rsc_histogram rd; /* RSC_BINS_FINE; bytes requested by RD. Not allocated: no profile of requests */
    double *miss_ratio; /* [mrc_count], beside mrc: bytes missed / bytes requested; derived. Owned */
};

/*
 * One cell of the sharing matrix of private stacks: lines that stack `by` took from
 * stack `from` by writing to them. A stack is named by its first thread; without
 * groups of threads (--cores) that is the thread itself. A line is taken falsely
 * where the write was to none of the bytes that `from` had used since the line last
 * came to it. Misses are what came of it: references of `from` to a line it had lost.
 * The misses of all cells sum to the profile's `invalidated` where no cell has an error.
 */
struct rsc_sharing_row {
    uint64_t by_pid, by_tid, from_pid, from_tid;
    uint64_t taken, false_taken; /* false_taken of taken */
    uint64_t misses, false_misses; /* false_misses of misses */
    uint64_t error; /* at most so many more of taken + misses were not told apart from other cells */
};

/* What one stack did in a falsely shared line. Bytes are counted from the line's first. */
struct rsc_sharing_user {
    uint64_t pid, tid;
    uint32_t first_byte, last_byte; /* of those it used or wrote, the first and the last */
    uint64_t taken; /* times it took the line falsely */
};

/* Who took it from whom, by code. */
struct rsc_sharing_place {
    struct rsc_place writer, victim; /* the write; the last use before it by the stack that lost the line */
    uint64_t taken;
};

/* A line that was taken falsely. */
struct rsc_false_sharing_row {
    uint64_t address;
    char *object; /* what lay there when it was first taken; NULL: not known. Owned */
    const char *object_kind; /* as in rsc_object_row; NULL: not known */
    uint32_t context; /* of a heap block's allocation, or RSC_NO_CONTEXT; not saved */
    uint64_t taken, misses; /* both false ones only */
    uint64_t error; /* at most so many more of taken + misses may be this line's */
    struct rsc_sharing_user *users; /* owned; the first that were seen */
    size_t user_count;
    struct rsc_sharing_place *places; /* owned; most taken first */
    size_t place_count;
};
#define RSC_SHARING_USERS_MAX 8u /* of a line */
#define RSC_SHARING_PLACES_MAX 4u /* of a line */

/* A node of the tree of call paths: a call site, and the node of its caller. */
struct rsc_context_row {
    uint32_t parent; /* index, less than its own, or RSC_NO_CONTEXT for a root */
    struct rsc_place place;
};

/* Memory that a file was mapped to while the profile was made: for naming places. Strings are owned. */
struct rsc_mapping_row {
    uint64_t start, bytes, file_offset;
    char *path;
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0: not known */
};

/* A file that code ran from, and which build of it. Strings are owned. */
struct rsc_module_row {
    char *path;
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0: not known */
};

struct rsc_profile {
    struct rsc_made made;
    uint64_t accesses, references, cold, invalidated, distinct;
    uint64_t last_touch, pruned, censored;

    struct rsc_histogram rd, ri; /* RSC_BINS_FINE */
    uint64_t rd_cap; /* distances >= this are told apart no further; 0: no cap */
    uint64_t rd_capped; /* references with RD >= rd_cap, which are NOT in rd */

    /* Sampled profiles: where the count of each bin of rd lies. Not allocated where nothing is uncertain. */
    struct rsc_histogram rd_low, rd_high;

    uint32_t bins_per_octave; /* 0, or the binning of the two below */
    struct rsc_histogram rd_binned, ri_binned; /* distances >= rd_cap are in the bin of rd_cap */

    struct rsc_thread_row *threads; /* owned */
    size_t thread_count;
    struct rsc_phase_row *phases; /* owned */
    size_t phase_count;

    struct rsc_kind_row *kinds; /* owned; read, write, fetch as far as they occur */
    size_t kind_count;

    uint64_t lines_at_bytes; /* cache size of the rows below; 0: not asked for */
    uint64_t lines_asked; /* how many rows were wanted */
    struct rsc_line_row *lines; /* owned; most certain misses (misses - error) first */
    size_t line_count;

    struct rsc_request_bytes requests; /* of model "requests" only */

    struct rsc_code_row *code; /* all owned; most references first */
    size_t code_count;
    struct rsc_pair_row *pairs;
    size_t pair_count;
    struct rsc_object_row *objects;
    size_t object_count;
    struct rsc_context_row *contexts; /* parents before children */
    size_t context_count;

    struct rsc_module_row *modules; /* owned; each path and build id once */
    size_t module_count;

    struct rsc_loop_row *loops; /* owned; outer before inner */
    size_t loop_count;

    struct rsc_sharing_row *sharing; /* owned; of model "private": most misses first */
    size_t sharing_count;
    struct rsc_false_sharing_row *false_sharing; /* owned; most misses first */
    size_t false_sharing_count;

    struct rsc_mapping_row *mappings; /* owned; not saved with the profile */
    size_t mapping_count;

    /* Derived by rsc_profile_seal(); owned. */
    int sealed;
    struct rsc_bin *rd_list, *ri_list; /* rd_list ends in {rd_cap, UINT64_MAX, rd_capped} if that is not 0 */
    size_t rd_list_count, ri_list_count;
    struct rsc_mrc_point *mrc; /* an engine with error bars derives and edits this before sealing */
    size_t mrc_count;
};

/* Rows a profile may have of each sort: what a hostile file can make a reader allocate ends here. */
#define RSC_PROFILE_ROWS_MAX (1u << 17)

/* A zeroed profile with its histograms allocated; NULL when out of memory. */
struct rsc_profile *rsc_profile_new(void);

/*
 * Allocate `count` zeroed rows with histograms. Return 0, RSC_ENOMEM, or
 * RSC_ELIMIT beyond RSC_PROFILE_ROWS_MAX. What was there before is dropped.
 */
int rsc_profile_set_threads(struct rsc_profile *profile, size_t count);
int rsc_profile_set_phases(struct rsc_profile *profile, size_t count);
int rsc_profile_set_kinds(struct rsc_profile *profile, size_t count); /* count <= RSC_KIND_NAMES */
int rsc_profile_set_lines(struct rsc_profile *profile, size_t count);
int rsc_profile_set_code(struct rsc_profile *profile, size_t count);
int rsc_profile_set_pairs(struct rsc_profile *profile, size_t count);
int rsc_profile_set_objects(struct rsc_profile *profile, size_t count);
int rsc_profile_set_contexts(struct rsc_profile *profile, size_t count); /* no histograms */
int rsc_profile_set_loops(struct rsc_profile *profile, size_t count); /* no histograms */

int rsc_profile_set_modules(struct rsc_profile *profile, size_t count); /* no histograms */

/* Makes modules of the mappings that have a build id or that a place names. Returns 0 or RSC_ENOMEM. */
int rsc_profile_take_modules(struct rsc_profile *profile);

/* The first module of that path; NULL: none. */
const struct rsc_module_row *rsc_profile_module(const struct rsc_profile *profile, const char *path);

/* 1 if both are known to be the same build. */
int rsc_module_same_build(const struct rsc_module_row *a, const struct rsc_module_row *b);

/* A build id as lower-case digits, "" where it is not known. */
#define RSC_BUILD_ID_TEXT 65
void rsc_module_id_text(const struct rsc_module_row *module, char text[RSC_BUILD_ID_TEXT]);
int rsc_profile_set_sharing(struct rsc_profile *profile, size_t count); /* the same */
int rsc_profile_set_false_sharing(struct rsc_profile *profile, size_t count);
/* `users` and `places` are at most RSC_SHARING_..._MAX. */
int rsc_false_sharing_set(struct rsc_false_sharing_row *row, size_t users, size_t places);

/* By enum rsc_data_source; that of RSC_SOURCE_UNKNOWN is "". profile_rows.c */
extern const char *const rsc_source_names[RSC_SOURCES];

/* The kinds a row can have, in the order of enum rsc_kind. */
#define RSC_KIND_NAMES 3u
extern const char *const rsc_kind_names[RSC_KIND_NAMES];

/* Makes it a profile of requests: allocates requests.rd. Returns 0 or RSC_ENOMEM. */
int rsc_profile_set_requests(struct rsc_profile *profile);
static inline int rsc_profile_is_requests(const struct rsc_profile *profile) {
    return profile->requests.rd.count != NULL;
}

/* The largest cache that makes a difference, in lines: one more than the largest distance there can be. */
static inline uint64_t rsc_profile_footprint(const struct rsc_profile *profile) {
    return rsc_profile_is_requests(profile) ? profile->requests.footprint : profile->distinct;
}

/* Allocates rd_binned and ri_binned. per_octave is 0 (drops them) to 64. Returns 0, RSC_ENOMEM or RSC_EINVAL. */
int rsc_profile_set_bins(struct rsc_profile *profile, uint32_t per_octave);

/* Allocates rd_low and rd_high. Returns 0 or RSC_ENOMEM. rd_bars.c */
int rsc_profile_set_bars(struct rsc_profile *profile);
static inline int rsc_profile_has_bars(const struct rsc_profile *profile) { return profile->rd_low.count != NULL; }

/* Replaces a string of `made` by a copy (NULL clears). Returns 0 or RSC_ENOMEM. */
int rsc_profile_set_text(char **field, const char *text);
int rsc_profile_set_command(struct rsc_profile *profile, char *const *argv); /* NULL clears */

/* For profiles that are shared: leaves out the command line and the folders of absolute paths (profile_share.c). */
void rsc_profile_forget_origin(struct rsc_profile *profile);

/* Derives the lists and, unless there is one already, the curve. Returns 0 or RSC_ENOMEM. */
int rsc_profile_seal(struct rsc_profile *profile);

/*
 * Replaces `mrc` by the curve that follows from `rd` (mrc.c says which sizes),
 * with low and high equal to miss_ratio. rsc_profile_seal() calls it; a sampled
 * engine calls it first, sets low and high, then seals. Returns 0 or RSC_ENOMEM.
 */
int rsc_profile_derive_mrc(struct rsc_profile *profile);

/* Where rsc_profile_miss_ratio() looks, with the error bar: sizes between points are interpolated. */
struct rsc_mrc_point rsc_profile_mrc_at(const struct rsc_profile *profile, uint64_t lines);

/* 0 if the invariant above holds, else RSC_EFORMAT with "NAME: ..." saying by how much it does not. */
int rsc_profile_check_sum(const struct rsc_profile *profile, const char *name, struct rsc_error *error);

/* Non-empty bins of any histogram as an owned list; the bin that cap (0: none) falls into ends at cap - 1. */
int rsc_histogram_list(const struct rsc_histogram *histogram, uint64_t cap, struct rsc_bin **list, size_t *count);

/*
 * Appends every number of one or several profiles as a JSON document: one gives
 * "reusescope-profile/1", more "reusescope-profiles/1".
 */
struct rsc_json;
void rsc_profile_to_json(const struct rsc_profile *profile, struct rsc_json *json);
int rsc_profiles_json_text(struct rsc_profile *const *profiles, size_t count, char **text, size_t *bytes,
                           struct rsc_error *error);

/* The container: see docs/design/profile-container.md. */
int rsc_profiles_save(struct rsc_profile *const *profiles, size_t count, const char *path, int keep_old,
                      struct rsc_error *error);

/* rsc_profiles_load() for JSON text in memory; `name` stands in messages. */
int rsc_profiles_parse(const char *text, size_t bytes, const char *name, struct rsc_profile ***profiles, size_t *count,
                       struct rsc_error *error);

/*
 * Adds the counts of `from` to `into`, as if the second run had followed the
 * first with nothing of it left in memory or cache: no line of one is a line of
 * the other, so distinct adds like everything else (for two runs over the same
 * data it is an upper bound). Threads and phases are appended; kinds, code, pairs,
 * objects and contexts join where they mean the same; of the lines of both, those
 * that miss most stay. Extra bins, kinds and lines are left out unless both have
 * them (rsc_profile_merge_loses()). Both must agree on line size, model, cap and
 * the size that lines were taken at.
 *
 * Where one is sampled, the curve is the mean of the two weighted by references,
 * and the halves of the error bars, weighted so, add as independent errors do: by
 * their squares. `made.sampling` says so. Runs that sample the same addresses by
 * the same hash are not independent: give them different seeds.
 *
 * `into` is sealed again. On failure (RSC_EINVAL, RSC_ELIMIT, RSC_ENOMEM) it is
 * as it was.
 */
int rsc_profile_merge(struct rsc_profile *into, const struct rsc_profile *from, struct rsc_error *error);

/* What a merge leaves out because only one of the two has it, in words ("kinds and lines"); NULL: nothing. */
const char *rsc_profile_merge_loses(const struct rsc_profile *a, const struct rsc_profile *b);

#endif
