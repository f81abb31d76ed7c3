/*
 * loops_request.h - what one `loops` command asks, and putting the questions to the models: every loop that can be
 * analysed, as it is and with each change of --what-if, at every thread count.
 */
#ifndef RSC_CMD_LOOPS_REQUEST_H
#define RSC_CMD_LOOPS_REQUEST_H

#include "cmd/loops_input.h"
#include "loops/model/loops_model.h"
#include "profile/profile_model.h"
#include "simulate/cache/cache_config.h"

#define RSC_LOOPS_THREADS_MAX 64
#define RSC_LOOPS_WHAT_IFS_MAX 64

struct rsc_loops_request {
    struct rsc_session *session;
    struct rsc_loops_input input;
    struct rsc_loops_options model;
    struct rsc_interleave interleave;
    const char *like; /* a profile; NULL: none */
    int interleave_given, threads_given, line_given;
    struct rsc_sim_config caches; /* of findings.machine */
    uint32_t threads[RSC_LOOPS_THREADS_MAX];
    size_t thread_count;
    struct {
        const char *what;
        size_t applied, refused; /* by loops */
        struct rsc_error why;    /* the first refusal */
    } what_if[RSC_LOOPS_WHAT_IFS_MAX];
    size_t what_if_count;
    const char *loop;
    int skip, list, emit, all;
    struct rsc_loop_program *program;   /* owned */
    struct rsc_loop_program **changed;  /* owned: by what-if questions */
    size_t changed_count;
    struct rsc_loops_findings findings; /* points into the programs */
    struct rsc_loop_watch watch;
    double began, seconds_max; /* 0: no limit */
    char doing[160];           /* for the line of progress */
};

/* Analyses the loops of the findings, which are of these regions. A loop that the models do not take has that as its gap. */
int rsc_loops_ask_all(struct rsc_loops_request *request, const uint32_t *regions, struct rsc_error *error);

/* For sharing, absolute paths lose their folders. */
const char *rsc_loops_shown_file(const struct rsc_loops_request *request, const char *file);

#endif
