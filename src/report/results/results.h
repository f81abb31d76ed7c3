/*
 * results.h - renders results other than profiles: simulations, object caches, studies of sampling,
 * loops. report.c lists the formats of each.
 */
#ifndef RSC_REPORT_RESULTS_H
#define RSC_REPORT_RESULTS_H

#include <reusescope/reusescope.h>

#include "report/report.h"

rsc_renderer rsc_sim_text, rsc_sim_json, rsc_sim_csv;
rsc_renderer rsc_objects_text, rsc_objects_json, rsc_objects_csv;
rsc_renderer rsc_study_text, rsc_study_json;
rsc_renderer rsc_loops_text, rsc_loops_json, rsc_loops_csv;

/* Text of a sampled simulation: every level has an estimate. */
int rsc_sampling_text(const struct rsc_sim_result *result, char **text, size_t *bytes, struct rsc_error *error);

/* Warns of hot sets, samples too small for reliable confidence intervals, and too short time intervals. */
void rsc_sampling_warn(const struct rsc_log *log, const struct rsc_sim_result *result);

#endif
