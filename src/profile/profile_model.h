/*
 * profile_model.h - the internal profile: engines fill it, reports read it.
 *
 * An engine fills totals, `rd`, `ri`, rows and `made`, then calls
 * rsc_profile_seal(), which derives the lists and the miss ratio curve. A
 * sealed profile no longer changes. Every histogram in it counts references
 * (sampled results are scaled to references before sealing).
 *
 * Invariant of a sealed exact profile:
 *   total(rd) + rd_capped + cold + invalidated = references
 * and of a sampled one the same with last_touch + pruned + censored added.
 * A row (thread, phase) obeys total(rd) + cold + invalidated <= its references,
 * equal in exact profiles.
 */
#ifndef RSC_PROFILE_PROFILE_MODEL_H
#define RSC_PROFILE_PROFILE_MODEL_H

#include <string.h>

#include <reusescope/profile.h>

#include "base/data_source.h"
#include "base/histogram.h"
#include "profile/turn_counts.h"

/* Cost and outcome of watching a program's reuses while it ran. */
struct rsc_watch_costs {
    int is_known; /* 0: the program was not watched */
    double handler_seconds; /* processor time in handlers and in taking samples, without the kernel's part */
    uint64_t samples, traps; /* traps include those that were not reuses */
    uint64_t dropped;  /* samples and reuses dropped for lack of room */
    uint64_t censored; /* watches replaced before the reuse */
};

/* Further threads are counted but get no row. */
#define RSC_THREAD_ROWS_MAX 4096u

#define RSC_SECONDS_MAX 1e12 /* that a profile can state */

/* How a profile was made. Strings are owned; NULL prints as null or "". */
struct rsc_made {
    char *by;       /* engine: "exact", "shards:0.01", ... */
    char *source;   /* "trace", "qemu", "asm", "perf", "api" */
    char *model;    /* "single", "private", "shared", "requests" */
    char *sampling; /* how it was sampled; NULL: not sampled */
    char *modelled; /* which references were modelled instead of observed, and from what; NULL: none */
    char *loop; /* of loops: the function or name of the loop, and the change; NULL: none */
    char **command; /* argv, NULL-terminated; NULL: none */
    uint64_t line_bytes;
    uint64_t threads, workers;
    double seconds; /* wall time, first decoded reference to final histogram */
    double overhead; /* slowdown of the target; NaN: not measured */
    double coverage; /* share of the target's work seen, 0..1; NaN: not measured */
    uint64_t threads_unseen; /* that no result has anything of: more ran at once than can be watched */
    uint64_t instructions; /* executed while the references were counted; 0: not known */
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
 * The references of one kind of access in the stack that all kinds share. There are
 * rows only if there is more than one kind. In exact profiles whose kinds all have
 * names, their rd_fine sum to the profile's rd.
 */
struct rsc_kind_row {
    const char *kind; /* "read", "write" or "fetch" */
    uint64_t references, cold, invalidated;
    struct rsc_histogram rd; /* RSC_BINS_COARSE, as in every row */
    struct rsc_histogram rd_fine; /* RSC_BINS_FINE; in both, distances >= rd_cap are in the bin of rd_cap */
};

/* A place in the code. Strings are owned; NULL if unknown. */
struct rsc_place {
    uint64_t pc;
    char *function; /* demangled */
    char *file;
    uint32_t line; /* 0: not known */
    char *module; /* the mapped file that contains pc */
    uint64_t offset; /* pc as an address in the module's file, the same in every run; 0: not known. Saved if the line
                      * is not known */
    uint32_t loop; /* 1 + index into the profile's loops, of the innermost around it; 0: none, or not known */
};

/*
 * The function of the code row for all references that have no row of their own: pc 0,
 * the last row, and never ranked.
 */
#define RSC_OTHER_CODE "(other code)"
static inline int rsc_place_is_other(const struct rsc_place *place) {
    return place->pc == 0 && place->function && !strcmp(place->function, RSC_OTHER_CODE);
}

/*
 * A loop of the machine code that contains a place of the profile, or one around such
 * a loop in the same function. If the compiler split a source loop (a vector loop and
 * its remainder), each part is a row.
 */
struct rsc_loop_row {
    struct rsc_place place; /* its header: entry pc and first line */
    uint32_t parent; /* 1 + index of the loop around it, which comes before it; 0: none */
    uint32_t depth; /* nesting depth in the function, from 1 */
};

#define RSC_NO_CONTEXT UINT32_MAX

/*
 * Rows of bounded tables have an `error`: the most of their references that may belong
 * to rows the table had no room for (0: the row is exact).
 */

/*
 * The address step of an instruction from one execution to the next by the same
 * thread, from short stretches of the run: at least `same` of `seen` steps were of
 * `bytes`, up or down.
 */
struct rsc_stride {
    uint64_t bytes;
    uint64_t same, seen; /* seen 0: not known */
    uint64_t apart; /* greatest common divisor of the distances between its addresses; 0: not known, or only one */
    uint32_t access_bytes; /* size of the last access examined */
};

/* The references of one instruction, as the later end (reuse) of each pair. */
struct rsc_code_row {
    struct rsc_place place;
    struct rsc_place *inlined_into; /* owned: callers this was inlined into, innermost first */
    size_t inlined_count;
    uint64_t references, cold, invalidated, error;
    struct rsc_histogram rd; /* RSC_BINS_COARSE */
    struct rsc_stride stride;
};

/* Reuses between two places: where a line was used, and where it was used next. */
struct rsc_pair_row {
    struct rsc_place use, reuse;
    uint32_t use_context, reuse_context; /* index into contexts, or RSC_NO_CONTEXT */
    uint64_t references, error;
    struct rsc_histogram rd;
    char *object; /* the object of one of its farthest reuses; NULL: not known. Owned */
    const char *object_kind; /* as in rsc_object_row; NULL: not known */
    uint32_t object_context; /* of a heap block's allocation, or RSC_NO_CONTEXT; not saved */
    double latency; /* mean cycles of the reuse; 0: not measured */
    uint64_t latency_samples; /* samples in that mean; 0: not known */
    double sources[RSC_SOURCES]; /* shares of its reuses by data source; they sum to 1, or are all 0: not measured */
};

/* An object in memory: all heap blocks of one allocation site, a global, a thread's stack, a mapped file. */
struct rsc_object_row {
    char *name; /* "array allocated at solver.c:88", "grid", "stack of thread 17" */
    const char *kind; /* "heap", "global", "stack", "file" or "other" */
    uint64_t bytes; /* most bytes live at once, summed over blocks */
    uint64_t blocks; /* number of blocks */
    uint32_t context; /* of the allocation, or RSC_NO_CONTEXT */
    uint64_t references, cold, invalidated, error;
    struct rsc_histogram rd;
};

/*
 * One of the cache lines with the most misses in a cache of `lines_at_bytes`. Here
 * `error` applies to misses: at least misses - error are the line's own. In a row
 * with an error, references, cold and rd count only from when the line entered the
 * table.
 */
struct rsc_line_row {
    uint64_t address;
    char *object; /* the object there at the last miss; NULL: not known. Owned */
    const char *object_kind; /* as in rsc_object_row; NULL: not known */
    uint32_t context; /* of a heap block's allocation, or RSC_NO_CONTEXT; not saved */
    uint64_t misses, error;
    uint64_t references, cold;
    struct rsc_histogram rd; /* RSC_BINS_COARSE */
};

/*
 * Additional data of a profile of requests for whole objects. Its lines are bytes: a
 * request's RD is the bytes of distinct other objects since the object's last
 * request, plus its own size, less 1, so that as everywhere a reference hits in a
 * cache of c if and only if RD < c.
 */
struct rsc_request_bytes {
    uint64_t requested; /* sum of the sizes of all requests: total(rd) + cold */
    uint64_t cold; /* of first requests */
    uint64_t footprint; /* largest total size of all objects */
    struct rsc_histogram rd; /* RSC_BINS_FINE; bytes requested by RD. Allocated only in profiles of requests */
    double *miss_ratio; /* [mrc_count], beside mrc: bytes missed / bytes requested; derived. Owned */
    double *low, *high; /* [mrc_count]: its error bars; NULL: exact. Owned */
};

/*
 * One cell of the sharing matrix of private stacks: lines that stack `by` took from
 * stack `from` (invalidated there) by writing to them. A stack is identified by its
 * first thread; without groups of threads (--cores) that is the thread itself. A line
 * is taken falsely if the write touched none of the bytes that `from` had used since
 * it last got the line. Misses are references of `from` to a line it had lost. The
 * misses of all cells sum to the profile's `invalidated` if no cell has an error.
 */
struct rsc_count_range {
    uint64_t low, high;
};

/* Of a row, with the profile's confidence; taken.high is 0 if its counts are exact. */
struct rsc_sharing_bars {
    struct rsc_count_range taken, false_taken, misses, false_misses;
};

struct rsc_sharing_row {
    uint64_t by_pid, by_tid, from_pid, from_tid;
    uint64_t taken, false_taken; /* false_taken of taken */
    uint64_t misses, false_misses; /* false_misses of misses */
    uint64_t error; /* upper bound on further taken + misses of this cell that were counted in other cells */
    struct rsc_sharing_bars bars;
};

/* One stack's use of a falsely shared line. Bytes are counted from the line's first. */
struct rsc_sharing_user {
    uint64_t pid, tid;
    uint32_t first_byte, last_byte; /* the range it used or wrote */
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
    char *object; /* the object there when it was first taken; NULL: not known. Owned */
    const char *object_kind; /* as in rsc_object_row; NULL: not known */
    uint32_t context; /* of a heap block's allocation, or RSC_NO_CONTEXT; not saved */
    uint64_t taken, misses; /* false ones only */
    uint64_t error; /* upper bound on further taken + misses of this line */
    struct rsc_sharing_bars bars; /* only taken and misses */
    struct rsc_sharing_user *users; /* owned; the first seen */
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

/* A file mapped into memory while the profile was made, to resolve places. Strings are owned. */
struct rsc_mapping_row {
    uint64_t start, bytes, file_offset;
    char *path;
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0: not known */
};

/* A file with code that ran, and its build id. Strings are owned. */
struct rsc_module_row {
    char *path;
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0: not known */
};

/* An interval that holds a total with the profile's stated confidence. Not known: the total is exact. */
struct rsc_count_bar {
    uint64_t is_known, low, high;
};

/* Of first touches (in sampled profiles, `cold` or `last_touch` estimates them), and of two other totals. */
struct rsc_total_bars {
    struct rsc_count_bar cold, invalidated, distinct;
};

struct rsc_profile {
    struct rsc_made made;
    const struct rsc_machine *cost_machine; /* not owned: JSON has the cycles that misses cost there; NULL: none */
    uint64_t accesses, references, cold, invalidated, distinct;
    uint64_t last_touch, pruned, censored;
    struct rsc_total_bars bars;
    struct rsc_turns turns; /* of models private and shared */

    struct rsc_histogram rd, ri; /* RSC_BINS_FINE */
    uint64_t rd_cap; /* distances >= this are counted together; 0: no cap */
    uint64_t rd_capped; /* references with RD >= rd_cap, which are NOT in rd */

    /* Sampled profiles: bounds on the count of each bin of rd. Not allocated if all counts are exact. */
    struct rsc_histogram rd_low, rd_high;

    uint32_t bins_per_octave; /* 0, or the binning of the two below */
    struct rsc_histogram rd_binned, ri_binned; /* distances >= rd_cap are in the bin of rd_cap */

    struct rsc_thread_row *threads; /* owned */
    size_t thread_count;
    struct rsc_phase_row *phases; /* owned */
    size_t phase_count;

    struct rsc_kind_row *kinds; /* owned; those of read, write, fetch that occur */
    size_t kind_count;

    uint64_t lines_at_bytes; /* cache size of the rows below; 0: not requested */
    uint64_t lines_asked; /* rows requested */
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

/* The most rows per table: bounds what a hostile file can make a reader allocate. */
#define RSC_PROFILE_ROWS_MAX (1u << 17)

/* The most profiles per file. */
#define RSC_PROFILES_MAX 4096

/* A zeroed profile with its histograms allocated; NULL when out of memory. */
struct rsc_profile *rsc_profile_new(void);

/*
 * Replace the table by `count` zeroed rows, with histograms where they have one. Return 0,
 * RSC_ENOMEM, or RSC_ELIMIT beyond RSC_PROFILE_ROWS_MAX (RSC_KIND_NAMES, RSC_SHARING_..._MAX).
 * row_tables.c
 */
int rsc_profile_set_threads(struct rsc_profile *profile, size_t count);
int rsc_profile_set_phases(struct rsc_profile *profile, size_t count);
int rsc_profile_set_kinds(struct rsc_profile *profile, size_t count);
int rsc_profile_set_lines(struct rsc_profile *profile, size_t count);
int rsc_profile_set_code(struct rsc_profile *profile, size_t count);
int rsc_profile_set_pairs(struct rsc_profile *profile, size_t count);
int rsc_profile_set_objects(struct rsc_profile *profile, size_t count);
int rsc_profile_set_contexts(struct rsc_profile *profile, size_t count);
int rsc_profile_set_loops(struct rsc_profile *profile, size_t count);
int rsc_profile_set_modules(struct rsc_profile *profile, size_t count);
int rsc_profile_set_sharing(struct rsc_profile *profile, size_t count);
int rsc_profile_set_false_sharing(struct rsc_profile *profile, size_t count);
int rsc_false_sharing_set(struct rsc_false_sharing_row *row, size_t users, size_t places);

/* Adds a module for each mapping that has a build id or contains a place. Returns 0 or RSC_ENOMEM. */
int rsc_profile_take_modules(struct rsc_profile *profile);

/* The first module of that path; NULL: none. */
const struct rsc_module_row *rsc_profile_module(const struct rsc_profile *profile, const char *path);

/* 1 if both are known to be the same build. */
int rsc_module_same_build(const struct rsc_module_row *a, const struct rsc_module_row *b);

/* A build id as lower-case digits, "" if not known. */
#define RSC_BUILD_ID_TEXT 65
void rsc_module_id_text(const struct rsc_module_row *module, char text[RSC_BUILD_ID_TEXT]);

/* Names by enum rsc_data_source; that of RSC_SOURCE_UNKNOWN is "". */
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

/* Whether it was made from samples of references, some of which have no distance. */
static inline int rsc_profile_is_sample(const struct rsc_profile *profile) {
    return profile->last_touch || profile->pruned || profile->censored;
}

/* First touches: counted, or of a sample as many as there are lines; of several private stacks the last touches seen. */
static inline uint64_t rsc_profile_first_touches(const struct rsc_profile *profile) {
    int several = profile->made.threads > 1 && profile->made.model && !strcmp(profile->made.model, "private");
    if (!rsc_profile_is_sample(profile)) return profile->cold;
    return several ? profile->cold + profile->last_touch : profile->distinct;
}

/* Allocates rd_low and rd_high. Returns 0 or RSC_ENOMEM. rd_bars.c */
int rsc_profile_set_bars(struct rsc_profile *profile);
static inline int rsc_profile_has_bars(const struct rsc_profile *profile) { return profile->rd_low.count != NULL; }

/* Replaces a string of `made` by a copy (NULL clears). Returns 0 or RSC_ENOMEM. */
int rsc_profile_set_text(char **field, const char *text);
int rsc_profile_set_command(struct rsc_profile *profile, char *const *argv); /* NULL clears */

/* For profiles given to others: drops the command line and the folders of absolute paths (profile_share.c). */
void rsc_profile_forget_origin(struct rsc_profile *profile);

/* Derives the lists and, unless there is one already, the curve. Returns 0 or RSC_ENOMEM. */
int rsc_profile_seal(struct rsc_profile *profile);

/*
 * Replaces `mrc` by the curve computed from `rd` (mrc.c lists the sizes), with low
 * and high equal to miss_ratio. rsc_profile_seal() calls it; a sampled
 * engine calls it first, sets low and high, then seals. Returns 0 or RSC_ENOMEM.
 */
int rsc_profile_derive_mrc(struct rsc_profile *profile);

/*
 * Replaces the curve by one from count[d] references at distance d, for d below `room`: exact at every size. A
 * point is left out where the ones before and after it have the same ratio. Returns 0 or RSC_ENOMEM.
 */
int rsc_profile_derive_every_size(struct rsc_profile *profile, const uint64_t *count, uint64_t room);

/* The point that rsc_profile_miss_ratio() uses, with its error bar; sizes between points are interpolated. */
struct rsc_mrc_point rsc_profile_mrc_at(const struct rsc_profile *profile, uint64_t lines);

/* Returns 0 if the invariant above holds, else RSC_EFORMAT with "NAME: ..." and the difference. */
int rsc_profile_check_sum(const struct rsc_profile *profile, const char *name, struct rsc_error *error);

/* Non-empty bins of any histogram as an owned list; the bin that cap (0: none) falls into ends at cap - 1. */
int rsc_histogram_list(const struct rsc_histogram *histogram, uint64_t cap, struct rsc_bin **list, size_t *count);

/*
 * Writes one or several profiles as a JSON document: one gives
 * "reusescope-profile/1", more "reusescope-profiles/1".
 */
struct rsc_json;
void rsc_profile_to_json(const struct rsc_profile *profile, struct rsc_json *json);
int rsc_profiles_json_text(struct rsc_profile *const *profiles, size_t count, char **text, size_t *bytes,
                           struct rsc_error *error);

/* The container: see docs/design/profile-container.md. */
int rsc_profiles_save(struct rsc_profile *const *profiles, size_t count, const char *path, int keep_old,
                      struct rsc_error *error);

/* rsc_profiles_load() for JSON text in memory; messages use `name`. */
/* Whether the file starts like a container or JSON: if it cannot be loaded, it is a damaged profile, not something else. */
int rsc_profiles_recognise(const char *path);

/* Refuses JSON text with more values than rsc_profiles_parse() takes; whoever writes one asks this too. RSC_ELIMIT. */
int rsc_profiles_check_size(const char *text, size_t bytes, const char *name, struct rsc_error *error);

/* The same for the rows of all profiles of a file. */
int rsc_profiles_check_rows(struct rsc_profile *const *profiles, size_t count, struct rsc_error *error);

int rsc_profiles_parse(const char *text, size_t bytes, const char *name, struct rsc_profile ***profiles, size_t *count,
                       struct rsc_error *error);

/*
 * Adds the counts of `from` to `into`, as if the second run had followed the first
 * with empty memory and caches: no line of one is a line of the other, so distinct
 * adds like everything else (for two runs over the same data it is an upper bound).
 * Threads and phases are appended; equal kinds, code, pairs, objects and contexts
 * join; of the lines of both, those with the most misses are kept. Extra bins, kinds
 * and lines are dropped unless both have them (rsc_profile_merge_loses()). Both must
 * have the same line size, model, cap and cache size of the lines.
 *
 * If one is sampled, the curve is the mean of the two weighted by references, and
 * the weighted halves of the error bars add as independent errors do: by their
 * squares. `made.sampling` notes that. Runs that sample the same addresses by the
 * same hash are not independent: give them different seeds.
 *
 * `into` is sealed again. On failure (RSC_EINVAL, RSC_ELIMIT, RSC_ENOMEM) it is
 * unchanged.
 */
int rsc_profile_merge(struct rsc_profile *into, const struct rsc_profile *from, struct rsc_error *error);

/* The tables a merge drops because only one of the two has them, as text ("kinds and lines"); NULL: none. */
const char *rsc_profile_merge_loses(const struct rsc_profile *a, const struct rsc_profile *b);

#endif
