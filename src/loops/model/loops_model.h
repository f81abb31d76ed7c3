/*
 * loops_model.h - the miss ratio curve of a region of a loop tree at any number
 * of threads, without running it.
 *
 *     struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
 *     struct rsc_interleave interleave;
 *     struct rsc_loops_analysis *analysis;
 *     struct rsc_loops_result *result;
 *     rsc_interleave_parse(&interleave, "drift", &error);
 *     rsc_loops_analysis_new(&analysis, program, region, &options, &error);
 *     rsc_loops_analyse(analysis, 64, &interleave, &result, &error);     (any number of times)
 *     ... rsc_loops_result_at(result, 512) ...
 *     rsc_loops_result_free(result);
 *     rsc_loops_analysis_free(analysis);
 *
 * What is done once for all numbers of threads (counts of the nests, distinct
 * lines) belongs to the analysis; a result belongs to one number of threads and one
 * interleaving. docs/design/loops.md has the models.
 */
#ifndef RSC_LOOPS_MODEL_LOOPS_MODEL_H
#define RSC_LOOPS_MODEL_LOOPS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#include "profile/loops_result.h"

struct rsc_loop_program;

/* How the threads' references follow each other in time. */
enum rsc_interleave_kind {
    RSC_INTERLEAVE_DRIFT,     /* even locally, threads run apart as a random walk does; together again at barriers */
    RSC_INTERLEAVE_IID,       /* every reference is of a thread drawn anew (paper 004, assumption 1) */
    RSC_INTERLEAVE_LOCKSTEP,  /* one reference of each thread in turn */
    RSC_INTERLEAVE_BURSTY,    /* a thread runs for `burst` references on average, then one is drawn anew */
    RSC_INTERLEAVE_RACETRACK, /* paper 004 in full: classes, negative binomial, T r, racetrack, one base T */
    RSC_INTERLEAVE_KINDS,
};

struct rsc_interleave {
    enum rsc_interleave_kind kind;
    double burst;     /* bursty: mean length of a burst in references */
    double diffusion; /* drift: variance of a thread's lead per reference of progress, in references */
};

/* "drift[:DIFFUSION]", "drift:recorded" (docs/design/loops.md), "iid", "lockstep", "bursty:N" or "racetrack". RSC_EINVAL for anything else. */
int rsc_interleave_parse(struct rsc_interleave *out, const char *text, struct rsc_error *error);
/* The name that parse takes, written to `text` ("bursty:2000"). Returns text. */
const char *rsc_interleave_name(const struct rsc_interleave *interleave, char *text, size_t text_bytes);

struct rsc_loops_options {
    uint64_t line_bytes; /* a power of two */
    uint64_t seed; /* of the samples; results are the same from the same seed */
    uint32_t samples; /* references looked at for each number of threads; 0: every one (exhaustive). At the
                              default fewer are, where many threads make each one costly */
    uint64_t exact_limit; /* at one thread, regions up to this many references are enumerated and exact */
    double confidence; /* of the error bars, in percent */
    int band; /* low and high also span the other interleavings */
    int private_view; /* also what each core's own cache sees */
    uint32_t base_threads; /* racetrack: where private intervals are collected; the paper uses 4 */
    const char *schedule; /* NULL: as the source says; "static", "dynamic,4"...: for every parallel loop */
};
#define RSC_LOOPS_SAMPLES_DEFAULT 3072
#define RSC_LOOPS_OPTIONS_DEFAULT \
    ((struct rsc_loops_options){64, 1, RSC_LOOPS_SAMPLES_DEFAULT, 10000000, 90, 1, 1, 4, NULL})

struct rsc_loops_analysis;

/*
 * Analyses region number `region` of a sealed and laid out program, which must
 * outlive the analysis and may not change.
 * RSC_EUNSUPPORTED names what the models cannot take (an access that crosses
 * lines), RSC_ELIMIT a region past 2^62 references.
 */
int rsc_loops_analysis_new(struct rsc_loops_analysis **out, const struct rsc_loop_program *program, uint32_t region,
                           const struct rsc_loops_options *options, struct rsc_error *error);
void rsc_loops_analysis_free(struct rsc_loops_analysis *analysis);

/* At one thread, and exact. More threads add only what each does, or has, for itself. */
uint64_t rsc_loops_references(const struct rsc_loops_analysis *analysis);
uint64_t rsc_loops_distinct(const struct rsc_loops_analysis *analysis);

/* `threads` from 1 to 4096. The program must outlive the result. */
int rsc_loops_analyse(struct rsc_loops_analysis *analysis, uint32_t threads, const struct rsc_interleave *interleave,
                      struct rsc_loops_result **out, struct rsc_error *error);

/*
 * `what` is "tile=i:32,j:32", "interchange=i,j" or "chunk=4": a new program (sealed,
 * not laid out), to be freed as any, in which region number `region` is so changed. Whether the
 * program still computes the same is checked where dependences are simple, and
 * said in *note (a static string, or NULL where it was proved): otherwise that is
 * the user's to know. RSC_EINVAL where no loop has that name or the form does not
 * allow it (bounds of one loop in terms of the other for interchange).
 */
int rsc_loops_what_if(struct rsc_loop_program **out, const struct rsc_loop_program *program, uint32_t region,
                      const char *what, const char **note, struct rsc_error *error);

#endif
