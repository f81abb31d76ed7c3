/*
 * sim_sampling.h - the part of `sim` that simulates samples: options, runs and
 * results.
 */
#ifndef RSC_CMD_SIM_SAMPLING_H
#define RSC_CMD_SIM_SAMPLING_H

#include "cmd/session.h"
#include "simulate/sampling/set_choice.h"
#include "simulate/simulator.h"
#include "simulate/sampling/time_choice.h"

/* Numbered after those of cmd_sim.c. */
enum {
    RSC_OPT_SAMPLE_SETS = RSC_OPT_VERB + 200,
    RSC_OPT_SAMPLE_TIME,
    RSC_OPT_COLD_START,
    RSC_OPT_SIM_CONFIDENCE,
    RSC_OPT_STUDY,
};

extern const struct rsc_option rsc_sampling_options[];

struct rsc_sampling {
    struct rsc_set_choice sets;
    struct rsc_time_choice time;
    int cold_start; /* enum rsc_cold_start; -1: not given */
    double confidence; /* of estimates, in percent; 0: not given */
    int study;
};

void rsc_sampling_start(struct rsc_sampling *sampling);

/* Handles an option of the table above, else passes it on to rsc_session_option(). */
int rsc_sampling_option(struct rsc_sampling *sampling, struct rsc_session *session,
                        const struct rsc_option_parser *parser, int id);

/* Whether any sampling was asked for. */
int rsc_sampling_wanted(const struct rsc_sampling *sampling);

/* Whether a trace is a sample of sets; then it is simulated as one, asked for or not. */
int rsc_sampling_is_sample(struct rsc_trace *trace);

/*
 * Simulates samples and delivers the result. `trace` is open and
 * rsc_sampling_is_sample(), and stays open; if NULL, `path` is opened. Prints
 * errors; returns the exit status.
 */
int rsc_sampling_run(const struct rsc_sampling *sampling, struct rsc_session *session,
                     const struct rsc_sim_config *config, const struct rsc_sim_options *options,
                     struct rsc_trace *trace, const char *path);

#endif
