/* sim_objects.c - see sim_objects.h. */
#include "cmd/sim_objects.h"

#include <stdlib.h>

#include "base/seconds.h"

int rsc_sim_objects_sizes(struct rsc_sim_objects *objects, const struct rsc_option_parser *parser) {
    struct rsc_error error;
    objects->wanted = 1;
    return rsc_object_sizes_parse(&objects->options, parser->value, &error) < 0
               ? rsc_option_refuse(parser, error.message)
               : -1;
}

int rsc_sim_objects_policies(struct rsc_sim_objects *objects, const struct rsc_option_parser *parser) {
    struct rsc_error error;
    objects->policy_given = 1;
    return rsc_object_policies_parse(&objects->options, parser->value, &error) < 0
               ? rsc_option_refuse(parser, error.message)
               : -1;
}

static int read_all(struct rsc_session *session, struct rsc_object_simulator *simulator, struct rsc_trace *trace,
                    struct rsc_error *error) {
    const struct rsc_batch *batch;
    struct rsc_trace_info info;
    uint64_t done = 0;
    int status;
    rsc_trace_get_info(trace, &info);
    while ((status = rsc_trace_next(trace, &batch, error)) > 0) {
        if ((status = rsc_object_simulator_push(simulator, batch, error)) < 0) break;
        done += batch->count;
        rsc_progress(session, done, info.accesses, "requests");
    }
    rsc_progress_end(session);
    return status;
}

int rsc_sim_objects_run(struct rsc_sim_objects *objects, struct rsc_session *session, const char *path) {
    struct rsc_object_simulator *simulator = NULL;
    struct rsc_objects_result result = {0};
    struct rsc_trace *trace = NULL;
    struct rsc_error error;
    double started = rsc_seconds_now();
    if (!objects->policy_given) rsc_object_policies_parse(&objects->options, "lru", NULL);
    session->without_pcs = session->without_events = 1;
    int status = rsc_session_open(session, &trace, path, 1, &error);
    if (!status) status = rsc_object_simulator_new(&simulator, &objects->options, &error);
    if (!status) status = read_all(session, simulator, trace, &error);
    if (!status) status = rsc_object_simulator_finish(simulator, &result, &error);
    rsc_object_simulator_free(simulator);
    rsc_trace_close(trace);
    result.seconds = rsc_seconds_now() - started;
    result.command = session->argv;
    int leave = status < 0 ? rsc_session_fail(session, &error)
                           : rsc_session_deliver_result(
                                 session, &(struct rsc_result){.kind = RSC_RESULT_OBJECTS, .objects = &result}, 0);
    free(result.rows);
    return leave;
}
