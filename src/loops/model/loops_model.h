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
 * The analysis holds what is computed once for all numbers of threads (counts of the
 * nests, distinct lines); a result is for one number of threads and one interleaving.
 * docs/design/loops.md describes the models.
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
    RSC_INTERLEAVE_DRIFT,     /* locally even; threads drift apart like a random walk and rejoin at barriers */
    RSC_INTERLEAVE_IID,       /* each reference is of a randomly drawn thread (paper 004, assumption 1) */
    RSC_INTERLEAVE_LOCKSTEP,  /* one reference of each thread, round-robin */
    RSC_INTERLEAVE_BURSTY,    /* a thread runs for `burst` references on average, then a new one is drawn */
    RSC_INTERLEAVE_RACETRACK, /* paper 004 in full: classes, negative binomial, T r, racetrack, one base T */
    RSC_INTERLEAVE_KINDS,
};

struct rsc_interleave {
    enum rsc_interleave_kind kind;
    double burst;     /* bursty: mean length of a burst in references */
    double diffusion; /* drift: variance of a thread's lead per reference of progress, in references */
};

/* "drift[:DIFFUSION]", "drift:recorded" (docs/design/loops.md), "iid", "lockstep", "bursty:N" or "racetrack". RSC_EINVAL for
 * anything else. */
int rsc_interleave_parse(struct rsc_interleave *out, const char *text, struct rsc_error *error);
/* The name that parse takes, written to `text` ("bursty:2000"). Returns text. */
const char *rsc_interleave_name(const struct rsc_interleave *interleave, char *text, size_t text_bytes);

struct rsc_loops_options {
    uint64_t line_bytes; /* a power of two */
    uint64_t seed; /* of the samples; the same seed gives the same results */
    uint32_t samples; /* references sampled for each number of threads; 0: all (exhaustive); RSC_LOOPS_SAMPLES_AUTO: as
                         many as the error that is left asks for */
    uint64_t exact_limit; /* at one thread, regions up to this many references are enumerated and exact */
    uint64_t whole_limit; /* at several, regions up to this many are simulated whole, unless samples are asked for */
    double confidence; /* of the error bars, in percent */
    int band; /* low and high also span the other interleavings */
    int private_view; /* also model private caches */
    uint32_t base_threads; /* racetrack: number of threads for collecting private intervals; the paper uses 4 */
    const char *schedule; /* NULL: the source's; "static", "dynamic,4"...: for every parallel loop */
    uint32_t
        workers; /* threads that make an analysis, which are none of its results; 0: one for each processor; at most 8 */
};
#define RSC_LOOPS_SAMPLES_AUTO UINT32_MAX
#define RSC_LOOPS_OPTIONS_DEFAULT \
    ((struct rsc_loops_options){64, 1, RSC_LOOPS_SAMPLES_AUTO, 10000000, 1 << 19, 90, 1, 1, 4, NULL, 0})

struct rsc_loops_analysis;

/*
 * Analyses region number `region` of a sealed and laid out program, which must
 * outlive the analysis and may not change.
 * RSC_EUNSUPPORTED for what the models do not support (an access that crosses
 * lines), RSC_ELIMIT for a region past 2^62 references, or when the program's watch
 * ended the work (loop_tree.h; also in rsc_loops_analyse()).
 */
int rsc_loops_analysis_new(struct rsc_loops_analysis **out, const struct rsc_loop_program *program, uint32_t region,
                           const struct rsc_loops_options *options, struct rsc_error *error);
void rsc_loops_analysis_free(struct rsc_loops_analysis *analysis);

/* References and distinct lines at one thread, exact. More threads add only replicated work and private data. */
uint64_t rsc_loops_references(const struct rsc_loops_analysis *analysis);
uint64_t rsc_loops_distinct(const struct rsc_loops_analysis *analysis);

/* `threads` from 1 to 4096. The program must outlive the result. */
int rsc_loops_analyse(struct rsc_loops_analysis *analysis, uint32_t threads, const struct rsc_interleave *interleave,
                      struct rsc_loops_result **out, struct rsc_error *error);

/*
 * Draws one order of all threads' references and calls `visit` with them, in order: addresses of lines, and meta as in
 * a batch (trace.h; sizes are 1). A visit that is negative ends it, and is returned. Racetrack, which has no order, is
 * drawn as iid.
 */
typedef int rsc_loops_visit(void *context, const uint64_t *addr, const uint64_t *meta, uint32_t count,
                            struct rsc_error *error);
int rsc_loops_replay(struct rsc_loops_analysis *analysis, uint32_t threads, const struct rsc_interleave *interleave,
                     uint64_t seed, rsc_loops_visit *visit, void *context, struct rsc_error *error);

/*
 * Applies `what` ("tile=i:32,j:32", "interchange=i,j" or "chunk=4") to region number
 * `region` of a copy of the program (sealed, not laid out), which the caller frees. If
 * the dependences are simple enough to prove that the program still computes the same,
 * *note is NULL; otherwise it is a static string that warns the user. RSC_EINVAL if no
 * loop has that name or the form does not allow the change (for interchange, bounds of
 * one loop that depend on the other).
 */
int rsc_loops_what_if(struct rsc_loop_program **out, const struct rsc_loop_program *program, uint32_t region,
                      const char *what, const char **note, struct rsc_error *error);

#endif
