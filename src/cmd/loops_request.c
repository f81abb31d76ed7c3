/* loops_request.c - see loops_request.h. */
#include "cmd/loops_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/loops_machine.h"
#include "report/draw/units.h"

static void now_doing(struct rsc_loops_request *request, const struct rsc_loops_found *loop, const char *what,
                      uint32_t threads) {
    int used = loop->line ? snprintf(request->doing, sizeof request->doing, "loops: %.60s:%u", loop->file, loop->line)
                          : snprintf(request->doing, sizeof request->doing, "loops: %.60s", loop->name);
    if (what) used += snprintf(request->doing + used, sizeof request->doing - (size_t)used, ", %.40s", what);
    if (threads) snprintf(request->doing + used, sizeof request->doing - (size_t)used, ", %u threads", threads);
    else snprintf(request->doing + used, sizeof request->doing - (size_t)used, ", counting lines");
}

/* Adds to the list of what time did not suffice for. */
static void note_left_out(struct rsc_loops_found *loop, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note_left_out(struct rsc_loops_found *loop, const char *format, ...) {
    size_t used = strlen(loop->left_out);
    va_list arguments;
    if (used) used += (size_t)snprintf(loop->left_out + used, sizeof loop->left_out - used, ", ");
    if (used >= sizeof loop->left_out) return;
    va_start(arguments, format);
    vsnprintf(loop->left_out + used, sizeof loop->left_out - used, format, arguments);
    va_end(arguments);
}

/* Rounding can push sums of samples above 1. */
static void keep_in_range(struct rsc_mrc_point *point, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double *ratio[] = {&point[i].miss_ratio, &point[i].low, &point[i].high};
        for (int k = 0; k < 3; k++) *ratio[k] = *ratio[k] < 0 ? 0 : *ratio[k] > 1 ? 1 : *ratio[k];
    }
}

const char *rsc_loops_shown_file(const struct rsc_loops_request *request, const char *file) {
    const char *slash = request->session->no_command && file && *file == '/' ? strrchr(file, '/') : NULL;
    return slash ? slash + 1 : file;
}

/* One thread count: the model's result, with the caches of the machine. */
static int analyse_at(struct rsc_loops_request *request, struct rsc_loops_analysis *analysis, uint32_t threads,
                      struct rsc_loops_result **out, struct rsc_error *error) {
    struct rsc_loops_result *result;
    int status = rsc_loops_analyse(analysis, threads, &request->interleave, &result, error);
    if (status) return status;
    keep_in_range(result->mrc, result->mrc_count);
    keep_in_range(result->own.mrc, result->own.mrc_count);
    for (size_t r = 0; r < result->row_count; r++)
        result->rows[r].file = rsc_loops_shown_file(request, result->rows[r].file);
    if (request->findings.machine)
        status =
            rsc_loops_machine_answer(&request->caches, analysis, &request->interleave, &request->model, result, error);
    if (status) rsc_loops_result_free(result);
    else *out = result;
    return status;
}

static int analyse_variant(struct rsc_loops_request *request, struct rsc_loops_found *loop,
                           struct rsc_loops_variant *variant, const struct rsc_loop_program *program, uint32_t region,
                           struct rsc_error *error) {
    struct rsc_loops_analysis *analysis = NULL;
    now_doing(request, loop, variant->what, 0);
    int status = rsc_loops_analysis_new(&analysis, program, region, &request->model, error);
    if (!status && !(variant->result = calloc(request->thread_count, sizeof *variant->result)))
        status = rsc_fail_memory(error, "results");
    if (!status) {
        variant->references = rsc_loops_references(analysis);
        variant->distinct = rsc_loops_distinct(analysis);
    }
    for (size_t i = 0; i < request->thread_count && !status && variant->references; i++) {
        now_doing(request, loop, variant->what, request->threads[i]);
        status = analyse_at(request, analysis, request->threads[i], &variant->result[i], error);
        variant->result_count += !status;
    }
    if (status && request->watch.stopped && variant->result_count) { /* what there is stays */
        for (size_t i = variant->result_count; i < request->thread_count; i++)
            note_left_out(loop, "%s%s%s", rsc_show_threads(request->threads[i]).text, variant->what ? " of " : "",
                          variant->what ? variant->what : "");
        status = 0;
    }
    rsc_loops_analysis_free(analysis);
    return status;
}

/* A changed copy of the program, owned by the request. */
static int change_program(struct rsc_loops_request *request, struct rsc_loops_variant *variant, uint32_t region,
                          const struct rsc_loop_program **program, struct rsc_error *error) {
    struct rsc_loop_program **larger =
        realloc(request->changed, (request->changed_count + 1) * sizeof *request->changed);
    if (!larger) return rsc_fail_memory(error, "results");
    request->changed = larger;
    struct rsc_loop_program **changed = &larger[request->changed_count];
    int status = rsc_loops_what_if(changed, request->program, region, variant->what, &variant->note, error);
    if (status) return status;
    (*changed)->watch = &request->watch;
    request->changed_count++;
    *program = *changed;
    return rsc_loop_layout(*changed, request->model.line_bytes, error);
}

static int add_variant(struct rsc_loops_request *request, struct rsc_loops_found *loop, uint32_t region, char *what,
                       struct rsc_error *error) {
    struct rsc_loops_variant *larger = realloc(loop->variant, (loop->variant_count + 1) * sizeof *larger);
    const struct rsc_loop_program *program = request->program;
    int status = 0;
    if (!larger) {
        free(what);
        return rsc_fail_memory(error, "results");
    }
    loop->variant = larger;
    struct rsc_loops_variant *variant = &loop->variant[loop->variant_count++];
    *variant = (struct rsc_loops_variant){.what = what};
    if (what) status = change_program(request, variant, region, &program, error);
    return status ? status : analyse_variant(request, loop, variant, program, region, error);
}

/* chunk=1,4,64 is three changes; every other value is one. */
static int ask(struct rsc_loops_request *request, struct rsc_loops_found *loop, uint32_t region, const char *question,
               struct rsc_error *error) {
    static const char chunk[] = "chunk=";
    int status = 0, several = !strncmp(question, chunk, sizeof chunk - 1);
    const char *at = several ? question + sizeof chunk - 1 : question;
    do {
        size_t length = several ? strcspn(at, ",") : strlen(at);
        char *what = malloc(length + sizeof chunk);
        if (!what) return rsc_fail_memory(error, question);
        snprintf(what, length + sizeof chunk, "%s%.*s", several ? chunk : "", (int)length, at);
        status = add_variant(request, loop, region, what, error);
        at += length + (at[length] == ',');
    } while (!status && several && *at);
    return status;
}

/* Errors that are about one loop, and leave the others as they are. */
static int is_about_loop(int status) { return status == RSC_ELIMIT || status == RSC_EUNSUPPORTED; }

/* A loop that is too large, or has a reference that the models do not take, has that as its gap; the others are analysed. */
static int leave_out(struct rsc_loops_found *loop, const struct rsc_loop_region *region, struct rsc_error *error) {
    struct rsc_loops_gap *larger = realloc(loop->gap, (loop->gap_count + 1) * sizeof *larger);
    const char *why = error->message;
    size_t place = region->file ? strlen(region->file) : 0;
    unsigned line = loop->line;
    int used = 0;
    if (!larger) return rsc_fail_memory(error, "results");
    rsc_loops_drop_variant(loop);
    if (place && !strncmp(why, region->file, place) && sscanf(why + place, ":%u: %n", &line, &used) == 1 && used)
        why += place + (size_t)used; /* the gap has a place of its own */
    snprintf(loop->refused, sizeof loop->refused, "%.255s", why);
    loop->refusal = error->code;
    loop->gap = larger;
    loop->gap[loop->gap_count++] =
        (struct rsc_loops_gap){.file = loop->file, .line = line, .text = "", .reason = loop->refused};
    return 0;
}

/* A change that some loops do not allow is only left out there. */
static int ask_all(struct rsc_loops_request *request, struct rsc_loops_found *loop, uint32_t region,
                   struct rsc_error *error) {
    int status = 0;
    for (size_t i = 0; i < request->what_if_count && !status; i++) {
        size_t variants = loop->variant_count;
        status = request->watch.stopped ? RSC_ELIMIT : ask(request, loop, region, request->what_if[i].what, error);
        if (status && request->watch.stopped) {
            if (loop->variant_count > variants) rsc_loops_drop_variant(loop);
            note_left_out(loop, "what if %s", request->what_if[i].what);
            request->what_if[i].applied++; /* the loop might have allowed it: no error */
            status = 0;
        } else if (status == RSC_EINVAL || is_about_loop(status)) {
            rsc_loops_drop_variant(loop);
            if (!request->what_if[i].refused++) request->what_if[i].why = *error;
            status = 0;
        } else if (!status) request->what_if[i].applied++;
    }
    return status;
}

/* A change that no loop allows is an error. */
static int say_refused(const struct rsc_loops_request *request, struct rsc_error *error) {
    for (size_t i = 0; i < request->what_if_count; i++) {
        size_t applied = request->what_if[i].applied, refused = request->what_if[i].refused;
        if (!refused) continue;
        if (!applied) {
            *error = request->what_if[i].why;
            return error->code;
        }
        rsc_log_line(&request->session->log, RSC_LOG_WARNING, "%s (left out for %zu of %zu loops)",
                     request->what_if[i].why.message, refused, refused + applied);
    }
    return 0;
}

int rsc_loops_ask_all(struct rsc_loops_request *request, const uint32_t *regions, struct rsc_error *error) {
    int status = 0;
    for (size_t l = 0; l < request->findings.loop_count && !status; l++) {
        struct rsc_loops_found *loop = &request->findings.loop[l];
        if (loop->gap_count && !request->skip) continue;
        status = add_variant(request, loop, regions[l], NULL, error);
        if (is_about_loop(status)) {
            if (request->watch.stopped)
                rsc_fail(error, RSC_ELIMIT, "%s: out of time (--max-seconds %g)", loop->name, request->seconds_max);
            status = leave_out(loop, &request->program->region[regions[l]], error);
        } else if (!status) status = ask_all(request, loop, regions[l], error);
    }
    rsc_progress_end(request->session);
    if (request->watch.stopped)
        rsc_log_line(&request->session->log, RSC_LOG_WARNING,
                     "out of time (--max-seconds %g): the result names what was left out", request->seconds_max);
    return status ? status : say_refused(request, error);
}
